//! Configuration files of daemons: TOML, read table by table. All problems are collected, as for a scenario.

use crate::error::{Invalid, Problem};
use crate::key::{Fallback, Key, Kind, Section};
use crate::resolve::{Resolved, resolve};
use crate::sections::Profile;
use crate::tree::{self, Data, Entry, Node};
use crate::value::Values;
use std::path::Path;

/// A key in a daemon's file that is shared with the section of a layer: it has the same kind, default and
/// documentation.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// The key as in the daemon's file.
    pub key: Key,
    /// Name of the key in the section.
    from: &'static str,
    /// Whether the daemon has its own default.
    own_default: bool,
}

impl Shared {
    /// Returns the key `name` of the section `S`.
    ///
    /// # Panics
    /// If the section has no such key.
    pub fn of<S: Section>(name: &'static str) -> Shared {
        let key = S::KEYS.iter().find(|key| key.name == name);
        Shared { key: *key.expect("INVARIANT: tables name keys that exist"), from: name, own_default: false }
    }

    /// Returns several keys of the section `S`.
    pub fn all<S: Section>(names: &[&'static str]) -> Vec<Shared> {
        names.iter().map(|&name| Shared::of::<S>(name)).collect()
    }

    /// Gives the key another name.
    #[must_use]
    pub fn named(self, name: &'static str) -> Shared {
        Shared { key: Key { name, ..self.key }, ..self }
    }

    /// Sets a default that the daemon computes, described in words.
    #[must_use]
    pub fn or_else(self, words: &'static str) -> Shared {
        Shared { key: Key { default: Fallback::Computed(words), ..self.key }, ..self }
    }

    /// Sets other bounds.
    #[must_use]
    pub fn within(self, kind: Kind) -> Shared {
        Shared { key: Key { kind, ..self.key }, ..self }
    }

    /// Sets another default.
    #[must_use]
    pub fn or(self, default: &'static str) -> Shared {
        Shared { key: Key { default: Fallback::Both(default), ..self.key }, own_default: true, ..self }
    }
}

/// Returns the section `S` of `profile`, from tables with keys of it; `complete` is that of the section.
pub fn section<S: Section>(
    profile: Profile,
    tables: &[(&Resolved, &[Shared])],
    complete: impl FnOnce(&mut Values, &dyn Fn(&str) -> bool),
) -> S {
    let default = |key: &Key| Some((key.name, key.default_value(profile)?));
    let mut values: Values = S::KEYS.iter().filter_map(default).collect();
    let mut given = Vec::new();
    for (resolved, shared) in tables.iter().flat_map(|&(resolved, keys)| keys.iter().map(move |key| (resolved, key))) {
        let name = shared.key.name;
        match resolved.values.get(name) {
            Some(value) => values.insert(shared.from, value.clone()),
            None if resolved.is_given(name) => values.remove(shared.from),
            None => continue,
        };
        if resolved.is_given(name) || shared.own_default {
            given.push(shared.from);
        }
    }
    complete(&mut values, &|key| given.contains(&key));
    S::from_values(&values)
}

/// Returns the section `S` with its defaults, for a file without it.
pub fn defaults<S: Section>() -> S {
    section(Profile::Standard, &[], |_, _| {})
}

/// A file being read.
#[derive(Debug)]
pub struct Reader {
    root: Node,
    profile: Profile,
    /// All tables that the file may have, nested ones with their path.
    tables: &'static [&'static str],
    /// Problems found so far.
    problems: Vec<Problem>,
}

/// Reads the file `file` like [`parse`].
///
/// # Errors
/// If it cannot be read; otherwise all its problems.
pub fn read<T>(
    file: &Path,
    tables: &'static [&'static str],
    build: impl FnOnce(&mut Reader) -> Option<T>,
) -> Result<T, Invalid> {
    let name = file.display().to_string();
    match std::fs::read_to_string(file) {
        Ok(text) => parse(&text, &name, tables, build),
        Err(error) => {
            let at = tree::Origin { file: name.into(), line_column: None };
            let found = format!("a file that cannot be read: {error}");
            Err(Invalid { problems: vec![at.problem("", found, "a file in TOML")] })
        }
    }
}

/// Parses a text that may have `tables`; `build` turns them into the daemon's configuration, or adds a problem.
///
/// # Errors
/// All problems of the text.
pub fn parse<T>(
    text: &str,
    file: &str,
    tables: &'static [&'static str],
    build: impl FnOnce(&mut Reader) -> Option<T>,
) -> Result<T, Invalid> {
    let mut reader =
        Reader { root: tree::from_toml(text, file)?, profile: Profile::Standard, tables, problems: Vec::new() };
    let built = build(&mut reader);
    let mut problems = reader.problems;
    match built {
        Some(built) if problems.is_empty() => Ok(built),
        _ => {
            problems.sort_by_key(|problem| (problem.line.is_none(), problem.line, problem.column));
            Err(Invalid { problems })
        }
    }
}

impl Reader {
    /// Sets the profile for the defaults of further tables.
    pub fn set_profile(&mut self, profile: Profile) {
        self.profile = profile;
    }

    /// Adds a problem.
    pub fn refuse(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Whether the file has the table `name`.
    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// Resolves the table of the section `S`, which has `shared` keys besides its own. Returns `None` if it has
    /// problems.
    pub fn table<S: Section>(&mut self, shared: &[Shared]) -> Option<(Resolved, S)> {
        let node =
            if S::NAME.is_empty() { Some(self.root.clone()) } else { self.entry(S::NAME).map(|e| e.value.clone()) };
        self.resolved::<S>(node.as_ref(), S::NAME, shared)
    }

    /// Resolves the tables of the section `S`, each under `[[name]]`, if any. Returns `None` if one has problems.
    pub fn tables<S: Section>(&mut self, shared: &[Shared]) -> Option<Vec<(Resolved, S)>> {
        let Some(node) = self.entry(S::NAME).map(|entry| entry.value.clone()) else { return Some(Vec::new()) };
        let Data::List(items) = &node.data else {
            self.refuse(node.at.problem(S::NAME, node.describe(), format!("tables, each under [[{}]]", S::NAME)));
            return None;
        };
        let read: Vec<_> = (items.iter().enumerate())
            .map(|(i, item)| self.resolved::<S>(Some(item), &format!("{}[{i}]", S::NAME), shared))
            .collect();
        read.into_iter().collect()
    }

    /// Resolves the table `name`, which has only `shared` keys. Returns `None` if it has problems.
    pub fn shared(&mut self, name: &'static str, shared: &[Shared]) -> Option<Resolved> {
        let node = self.entry(name).map(|entry| entry.value.clone());
        self.resolve(node.as_ref(), name, shared.iter().map(|shared| shared.key).collect(), name)
    }

    fn resolved<S: Section>(&mut self, node: Option<&Node>, path: &str, shared: &[Shared]) -> Option<(Resolved, S)> {
        let keys = S::KEYS.iter().copied().chain(shared.iter().map(|shared| shared.key)).collect();
        let resolved = self.resolve(node, path, keys, S::NAME)?;
        let section = S::from_values(&resolved.values);
        Some((resolved, section))
    }

    fn resolve(&mut self, node: Option<&Node>, path: &str, keys: Vec<Key>, table: &str) -> Option<Resolved> {
        let below = |other: &&'static str| match table {
            "" => Some(other.split('.').next().unwrap_or(other)),
            table => other.strip_prefix(table)?.strip_prefix('.'),
        };
        let mut besides: Vec<&str> = self.tables.iter().filter_map(below).collect();
        // A table of tables contributes its own name, too.
        besides.dedup();
        let whole = self.root.at.clone();
        resolve(&keys, node, path, &whole, self.profile, None, &besides, &mut self.problems)
    }

    fn entry(&self, path: &str) -> Option<&Entry> {
        let (outer, name) = path.rsplit_once('.').map_or((&self.root, path), |(outer, name)| {
            (self.entry(outer).map_or(&self.root, |entry| &entry.value), name)
        });
        outer.entry(name)
    }
}

/// Returns the keys of all tables of a file, own and shared, as Markdown tables for a document.
pub fn reference(tables: &[(&str, &str, &[Key], &[Shared])]) -> String {
    let mut page = String::new();
    for (title, about, keys, shared) in tables {
        let keys = keys.iter().copied().chain(shared.iter().map(|shared| shared.key));
        page += &format!("\n**{title}** {}\n\n{}", about.trim(), crate::schema::key_table(&keys.collect::<Vec<_>>()));
    }
    page
}

/// Asserts in the test of a document that its keys, between the lines `<!-- keys -->` and `<!-- end of keys -->`, are
/// those of `reference`. If the environment variable `WRITE_DOCS` is set, they are written instead (`make docs`).
///
/// # Panics
/// If the document lacks these lines, differs from `reference`, or cannot be read or written.
pub fn assert_documented(document: &str, reference: &str) {
    let path = Path::new("../../docs").join(document);
    let text = std::fs::read_to_string(&path).expect("a document");
    let (head, rest) = text.split_once("<!-- keys -->\n").expect("a line `<!-- keys -->`");
    let (written, tail) = rest.split_once("<!-- end of keys -->").expect("a line `<!-- end of keys -->`");
    if written != reference {
        assert!(std::env::var_os("WRITE_DOCS").is_some(), "docs/{document}: run `make docs`");
        let current = format!("{head}<!-- keys -->\n{reference}<!-- end of keys -->{tail}");
        std::fs::write(path, current).expect("a document that can be written");
    }
}
