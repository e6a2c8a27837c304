//! Output of a program: terminal tables redrawn in place, lines, and reports.

use crate::{Error, Tried};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, IsTerminal, StdoutLock, Write};

/// Rows under a header, each column as wide as its widest cell; `right` marks columns of numbers.
pub fn table(head: &[&str], right: &[bool], rows: &[Vec<String>]) -> String {
    let first: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    let all = || std::iter::once(&first).chain(rows);
    let widths: Vec<usize> = (0..head.len())
        .map(|n| all().filter_map(|row| row.get(n)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in all() {
        let cells = row.iter().enumerate().map(|(n, cell)| {
            let width = widths.get(n).copied().unwrap_or(0);
            if right.get(n) == Some(&true) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// Writes to standard output.
///
/// # Errors
/// If it is closed.
pub fn write(what: impl FnOnce(&mut StdoutLock<'_>) -> io::Result<()>) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    what(&mut out).and_then(|()| out.flush()).tried(|| "standard output".to_owned())
}

/// Writes a text to standard output.
///
/// # Errors
/// If it is closed.
pub fn print(text: &str) -> Result<(), Error> {
    write(|out| out.write_all(text.as_bytes()))
}

/// Writes a line to standard output.
///
/// # Errors
/// If standard output is closed, or a file on a full disk.
pub fn line(what: impl Display) -> Result<(), Error> {
    write(|out| writeln!(out, "{what}"))
}

/// Writes a line to standard error. A failure, such as a log on a full disk, is ignored and ends no service, where
/// `eprintln!` panics.
pub fn note(what: impl Display) {
    let _ = writeln!(io::stderr(), "{what}");
}

/// Writes a program's report, as text or as a line of JSON.
///
/// # Errors
/// If standard output is closed.
pub fn report(what: &(impl Display + Serialize), json: bool) -> Result<(), Error> {
    write(|out| if json { writeln!(out, "{}", serde_json::to_string(what)?) } else { write!(out, "{what}") })
}

/// Shows a text in place of the previous one if standard output is a terminal, otherwise after it.
///
/// # Errors
/// If standard output is closed.
pub fn show(text: &str) -> Result<(), Error> {
    let clear = if io::stdout().is_terminal() { "\x1b[H\x1b[J" } else { "" };
    write(|out| write!(out, "{clear}{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["n10".to_owned(), "1.5".to_owned()], vec!["n2".to_owned(), "120".to_owned()]];
        assert_eq!(table(&["node", "ms"], &[false, true], &rows), "node   ms\nn10   1.5\nn2    120\n");
        assert_eq!(table(&["node"], &[], &[]), "node\n");
    }

    #[test]
    fn a_cell_without_a_column_keeps_its_width_and_a_row_has_no_blanks_at_its_end() {
        let rows = [vec!["é".to_owned(), String::new()], vec!["abc".to_owned(), "x".to_owned(), "more".to_owned()]];
        assert_eq!(table(&["n", "m"], &[true, false], &rows), "  n  m\n  é\nabc  x  more\n");
    }
}
