//! Problems of a file, each with file, line, key, the value found and the allowed values.

use core::fmt;

/// A scenario or another file with errors: all its problems, in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Invalid {
    /// At least one problem.
    pub problems: Vec<Problem>,
}

/// One problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Source of the text: a file name, `--set`, or the name that the caller gave it.
    pub file: String,
    /// Line, counted from 1; `None` if the text has no lines (a scenario built by a program, `--set`).
    pub line: Option<usize>,
    /// Column in characters, counted from 1.
    pub column: Option<usize>,
    /// Path of the key (`flows[2].to`); empty if the problem concerns the whole text.
    pub key: String,
    /// Value found, or [`Problem::MISSING`].
    pub found: String,
    /// Allowed values.
    pub allowed: String,
    /// A suggestion, or the reason why the value is not allowed.
    pub hint: Option<String>,
}

impl Problem {
    /// Text in messages for a missing value.
    pub const MISSING: &str = "nothing";
}

impl fmt::Display for Problem {
    /// `file.toml:12:8: flows[2].to: found 99, allowed: a node number from 0 to 8 (hint)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
            if let Some(column) = self.column {
                write!(f, "{column}:")?;
            }
        }
        if !self.key.is_empty() {
            write!(f, " {}:", self.key)?;
        }
        match &*self.found {
            Problem::MISSING => f.write_str(" missing")?,
            found => write!(f, " found {found}")?,
        }
        write!(f, ", allowed: {}", self.allowed)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Invalid {
    /// One line per problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

/// Returns the one of `names` that is closest to `found`; at most a third of its letters may differ.
pub fn nearest<'a>(found: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = found.chars().count().div_ceil(3).max(1);
    names
        .into_iter()
        .map(|name| (strsim::osa_distance(&found.to_lowercase(), &name.to_lowercase()), name))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Returns [`nearest`] as a hint.
pub fn did_you_mean<'a>(found: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(found, names).map(|name| format!("did you mean \"{name}\"?"))
}
