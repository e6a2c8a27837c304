//! The tables of a trace: their columns, rows to be written, and files (`docs/trace.md`).

mod cell;
mod folder;
mod rows;

pub use folder::{Folder, Form};
pub use rows::{Frame, Mac, Packet, Position, Queue, Reception, Route, Tables, Tcp};

use parquet::errors::Result;
use parquet::schema::types::Type;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;

/// Description of a column in `meta.json`.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct ColumnAbout {
    /// Name, which ends in the unit.
    pub name: &'static str,
    /// Type of the values, which may be missing if `optional`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether values may be missing.
    pub optional: bool,
    /// Unit, derived from the end of the name.
    pub unit: &'static str,
    /// Description of the value.
    pub about: &'static str,
    /// The possible names, if the column contains names from a list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<&'static str>,
}

/// Rows of one table that are not written yet.
pub trait Rows: Send {
    /// Returns the index of the table among all tables.
    fn table(&self) -> usize;

    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the rows, for somebody else to write.
    fn take(&mut self) -> Box<dyn Rows>;

    /// Writes the rows as a row group, and removes them.
    ///
    /// # Errors
    /// If writing fails.
    fn write(&mut self, file: &mut TableWriter) -> Result<()>;
}

/// Writer for the file of a table.
pub type TableWriter = parquet::file::writer::SerializedFileWriter<BufWriter<File>>;

/// Name, description and columns of a table, and the schema of its files.
#[derive(Clone, Serialize, Debug)]
pub struct TableAbout {
    /// Name of the file.
    pub name: &'static str,
    /// Description of a row.
    pub about: &'static str,
    /// The columns.
    pub columns: Vec<ColumnAbout>,
    /// The columns for Parquet.
    #[serde(skip)]
    pub schema: Arc<Type>,
}

/// Destination of rows.
pub trait Sink: Send {
    /// Writes rows and removes them.
    ///
    /// # Errors
    /// If writing fails.
    fn write(&mut self, rows: &mut dyn Rows) -> io::Result<()>;

    /// Starts the next part, if the trace has parts. `meta` is the description so far.
    ///
    /// # Errors
    /// If writing fails.
    fn next_part(&mut self, meta: &str) -> io::Result<()>;

    /// Ends the trace; `meta` is the description of all of it.
    ///
    /// # Errors
    /// The first error that occurred.
    fn finish(&mut self, meta: &str) -> io::Result<()>;
}

/// Returns the unit in which the name of a column ends.
pub const fn unit(name: &str) -> &'static str {
    const UNITS: [(&str, &str); 9] = [
        ("_ns", "ns"),
        ("_bps", "bit/s"),
        ("_dbm", "dBm"),
        ("_m", "m"),
        ("_s", "s"),
        ("_bytes", "B"),
        ("_segments", "segments"),
        ("bytes", "B"),
        ("payload", "B"),
    ];
    let name = name.as_bytes();
    let mut at = 0;
    while at < UNITS.len() {
        let end = UNITS[at].0.as_bytes();
        let mut same = 0;
        while same < end.len() && same < name.len() && name[name.len() - 1 - same] == end[end.len() - 1 - same] {
            same += 1;
        }
        if same == end.len() {
            return UNITS[at].1;
        }
        at += 1;
    }
    ""
}
