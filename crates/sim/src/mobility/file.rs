//! Movement files: the code common to both formats.

use super::Waypoint;
use crate::topology::Position;
use fourhop_units::Time;

/// The nodes of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Tracks {
    /// Starting positions.
    pub starts: Vec<Position>,
    /// Waypoints of each node.
    pub waypoints: Vec<Vec<Waypoint>>,
}

/// An error in a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: found {found}, allowed: {allowed}")]
pub struct FileError {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// Text found there.
    pub found: String,
    /// Allowed text.
    pub allowed: String,
}

/// Largest number of seconds or metres in a file, the same as in scenarios.
pub(super) const LIMIT: f64 = 1e6;

/// A word of a line, and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub line: usize,
    pub column: usize,
    pub text: &'a str,
}

impl Word<'_> {
    pub fn error(&self, allowed: impl Into<String>) -> FileError {
        let found = if self.text.is_empty() { "the end of the line".to_owned() } else { format!("{:?}", self.text) };
        FileError { line: self.line, column: self.column, found, allowed: allowed.into() }
    }

    /// Parses a number from -1,000,000, or from 0, to 1,000,000.
    pub fn number(&self, what: &str, from_zero: bool) -> Result<f64, FileError> {
        let least = if from_zero { 0.0 } else { -LIMIT };
        let parsed = self.text.parse::<f64>().ok().filter(|x| (least..=LIMIT).contains(x));
        parsed.ok_or_else(|| self.error(format!("{what}, a number from {least} to {LIMIT}")))
    }
}

/// Returns the words of a line, separated by white space and before and after each of `signs`.
pub(super) fn words<'a>(line: usize, text: &'a str, signs: &'static [char]) -> impl Iterator<Item = Word<'a>> {
    let (mut rest, mut column) = (0, 1);
    core::iter::from_fn(move || {
        let start = rest + text[rest..].find(|c: char| !c.is_whitespace())?;
        let at = column + text[rest..start].chars().count();
        let first = text[start..].chars().next()?;
        let length = match signs.contains(&first) {
            true => first.len_utf8(),
            false => {
                text[start..].find(|c: char| c.is_whitespace() || signs.contains(&c)).unwrap_or(text.len() - start)
            }
        };
        rest = start + length;
        column = at + text[start..rest].chars().count();
        Some(Word { line, column: at, text: &text[start..rest] })
    })
}

/// Returns the instant that many seconds after zero, rounded to the nearest nanosecond.
pub(super) fn instant(seconds: f64) -> Time {
    Time::ZERO + fourhop_units::Dur::from_secs_f64(seconds)
}
