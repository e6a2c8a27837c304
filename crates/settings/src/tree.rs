//! A file as written: tables, lists and plain values, each with its position in the source. TOML, JSON and `--set` are
//! all converted to such a tree, and one pass over it finds every problem.

use crate::error::{Invalid, Problem};
use std::sync::Arc;
use toml_edit::{Document, Item, TableLike, Value};

/// Number of letters of a text that a message shows.
const SHOWN: usize = 60;
/// Largest size in bytes of a scenario in TOML or as an ns-2 style list; in memory it takes many times that.
pub const LARGEST: usize = 64 << 20;

/// A position in the source.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    /// File name, or a substitute.
    pub file: Arc<str>,
    /// Line and column, counted from 1.
    pub line_column: Option<(usize, usize)>,
}

/// A value and its position.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Position in the source.
    pub at: Origin,
    /// The value.
    pub data: Data,
}

/// Type of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Vec<Entry>),
    /// A date or a null, which no key accepts; the text is its description.
    Other(String),
}

/// A key of a table with its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Position of the key in the source.
    pub at: Origin,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Returns the value as messages show it.
    pub fn describe(&self) -> String {
        match &self.data {
            Data::Bool(b) => b.to_string(),
            Data::Int(n) => n.to_string(),
            Data::Float(x) => x.to_string(),
            Data::Text(s) => quoted(s),
            Data::List(items) => match items.len() {
                0 => "an empty list".into(),
                1 => "a list of 1".into(),
                n => format!("a list of {n}"),
            },
            Data::Table(_) => "a table".into(),
            Data::Other(what) => what.clone(),
        }
    }

    /// Returns the entry of a table.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.data {
            Data::Table(entries) => entries.iter().find(|e| e.key == key),
            _ => None,
        }
    }

    /// Returns the text under `key` of a table, if any.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.entry(key)?.value.data {
            Data::Text(s) => Some(s),
            _ => None,
        }
    }
}

/// Converts a number with a decimal point: to an integer if the fraction is zero, since programs write integers like
/// that.
fn number(x: f64) -> Data {
    /// Above this, not every integer has its own floating-point number.
    const LARGEST_WHOLE: f64 = (1_u64 << 53) as f64;
    if x.fract() == 0.0 && x.abs() <= LARGEST_WHOLE { Data::Int(x as i64) } else { Data::Float(x) }
}

/// Returns a text in quotes, truncated if it is long.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

impl Origin {
    /// Returns a problem at this position.
    pub fn problem(&self, key: &str, found: impl Into<String>, allowed: impl Into<String>) -> Problem {
        Problem {
            file: self.file.to_string(),
            line: self.line_column.map(|(line, _)| line),
            column: self.line_column.map(|(_, column)| column),
            key: key.to_owned(),
            found: found.into(),
            allowed: allowed.into(),
            hint: None,
        }
    }
}

/// Converts byte offsets to lines and columns, at the same cost anywhere in the text.
struct Places<'a> {
    file: Arc<str>,
    text: &'a str,
    /// Positions of the first letters at or after each multiple of [`Places::STEP`].
    marks: Vec<Mark>,
}

/// A letter of a text.
#[derive(Clone, Copy)]
struct Mark {
    offset: usize,
    line: usize,
    column: usize,
}

impl Mark {
    /// Returns the position of the letter after `letter`, which is here.
    fn after(self, letter: char) -> Mark {
        let offset = self.offset + letter.len_utf8();
        match letter {
            '\n' => Mark { offset, line: self.line + 1, column: 1 },
            _ => Mark { offset, column: self.column + 1, ..self },
        }
    }
}

impl<'a> Places<'a> {
    /// Bytes between marks.
    const STEP: usize = 256;

    fn new(file: Arc<str>, text: &'a str) -> Places<'a> {
        let mut here = Mark { offset: 0, line: 1, column: 1 };
        let mut marks = vec![here];
        for letter in text.chars() {
            here = here.after(letter);
            if here.offset >= marks.len() * Places::STEP {
                marks.push(here);
            }
        }
        Places { file, text, marks }
    }

    fn at(&self, offset: usize) -> Origin {
        let offset = offset.min(self.text.len());
        let mark = self.marks[offset / Places::STEP];
        let here = self.text[mark.offset..offset].chars().fold(mark, Mark::after);
        Origin { file: self.file.clone(), line_column: Some((here.line, here.column)) }
    }

    fn span(&self, span: Option<core::ops::Range<usize>>, otherwise: &Origin) -> Origin {
        span.map_or_else(|| otherwise.clone(), |s| self.at(s.start))
    }

    fn table(&self, table: &dyn TableLike, at: Origin) -> Node {
        let mut entries = Vec::new();
        for (name, item) in table.iter() {
            let key_at = self.span(table.key(name).and_then(|k| k.span()), &at);
            let Some(value) = self.item(item, &key_at) else { continue };
            entries.push(Entry { key: name.to_owned(), at: key_at, value });
        }
        Node { at, data: Data::Table(entries) }
    }

    fn item(&self, item: &Item, at: &Origin) -> Option<Node> {
        let here = self.span(item.span(), at);
        match item {
            Item::None => None,
            Item::Value(value) => Some(self.value(value, &here)),
            Item::Table(table) => Some(self.table(table, here)),
            Item::ArrayOfTables(tables) => {
                let tables = tables.iter().map(|t| self.table(t, self.span(t.span(), &here))).collect();
                Some(Node { at: here, data: Data::List(tables) })
            }
        }
    }

    fn value(&self, value: &Value, at: &Origin) -> Node {
        let at = self.span(value.span(), at);
        let data = match value {
            Value::Boolean(b) => Data::Bool(*b.value()),
            Value::Integer(n) => Data::Int(*n.value()),
            Value::Float(x) => number(*x.value()),
            Value::String(s) => Data::Text(s.value().clone()),
            Value::Datetime(d) => Data::Other(format!("the date {}", d.value())),
            Value::Array(items) => Data::List(items.iter().map(|v| self.value(v, &at)).collect()),
            Value::InlineTable(table) => return self.table(table, at),
        };
        Node { at, data }
    }
}

/// Refuses a text that is too long for a scenario.
pub fn check_size(text: &str, file: &str) -> Result<(), Invalid> {
    if text.len() <= LARGEST {
        return Ok(());
    }
    let at = Origin { file: file.into(), line_column: None };
    let problem = at.problem("", format!("{} bytes", text.len()), format!("text of at most {LARGEST} bytes"));
    Err(Invalid { problems: vec![problem] })
}

/// Reads TOML.
///
/// # Errors
/// The first position at which the text is not TOML.
pub fn from_toml(text: &str, file: &str) -> Result<Node, Invalid> {
    check_size(text, file)?;
    let places = Places::new(file.into(), text);
    match Document::parse(text) {
        Ok(document) => Ok(places.table(document.as_table(), places.at(0))),
        Err(error) => {
            let at = error.span().map_or_else(|| places.at(0), |span| places.at(span.start));
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            let mut problem = at.problem("", "text that is not TOML", "a file in TOML");
            problem.hint = Some(message);
            Err(Invalid { problems: vec![problem] })
        }
    }
}

/// Reads JSON. Its parts have no lines: such scenarios come from programs.
///
/// # Errors
/// The first position at which the text is not JSON.
pub fn from_json(text: &str, file: &str) -> Result<Node, Invalid> {
    let at = Origin { file: file.into(), line_column: None };
    serde_json::from_str(text).map(|value| json_node(value, &at)).map_err(|error| {
        // Its columns count bytes, from 0 if the text ends with a line.
        let line = text.split('\n').nth(error.line() - 1).unwrap_or_default();
        let letters = line.bytes().take(error.column()).filter(|byte| byte & 0xc0 != 0x80).count();
        let at = Origin { line_column: Some((error.line(), letters.max(1))), ..at };
        let mut problem = at.problem("", "text that is not JSON", "a scenario in JSON");
        let message = error.to_string();
        problem.hint = Some(message.split(" at line ").next().unwrap_or_default().to_owned());
        Invalid { problems: vec![problem] }
    })
}

fn json_node(value: serde_json::Value, at: &Origin) -> Node {
    use serde_json::Value as Json;
    let data = match value {
        Json::Null => Data::Other("null".into()),
        Json::Bool(b) => Data::Bool(b),
        Json::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(n), _) => Data::Int(n),
            (None, Some(x)) => number(x),
            (None, None) => Data::Other(n.to_string()),
        },
        Json::String(s) => Data::Text(s),
        Json::Array(items) => Data::List(items.into_iter().map(|v| json_node(v, at)).collect()),
        Json::Object(map) => Data::Table(
            map.into_iter().map(|(key, v)| Entry { key, at: at.clone(), value: json_node(v, at) }).collect(),
        ),
    };
    Node { at: at.clone(), data }
}

/// Reads a TOML value, or takes the text itself.
pub fn literal(text: &str, at: &Origin) -> Data {
    let places = Places::new(at.file.clone(), "");
    match text.parse::<Value>() {
        Ok(value) => strip(places.value(&value, at), at).data,
        Err(_) => Data::Text(text.to_owned()),
    }
}

/// Replaces the positions inside an override, which refer to no file, by `at`.
fn strip(mut node: Node, at: &Origin) -> Node {
    node.at = at.clone();
    node.data = match node.data {
        Data::List(items) => Data::List(items.into_iter().map(|n| strip(n, at)).collect()),
        Data::Table(entries) => {
            Data::Table(entries.into_iter().map(|e| Entry { at: at.clone(), value: strip(e.value, at), ..e }).collect())
        }
        plain => plain,
    };
    node
}
