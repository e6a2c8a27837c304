//! The tables of a trace: their columns, rows that wait to be written, and files of them (`docs/trace.md`).

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

/// A column as `meta.json` describes it.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct ColumnAbout {
    /// Its name, which ends in its unit.
    pub name: &'static str,
    /// Its type; values may be missing if `optional`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// May values be missing?
    pub optional: bool,
    /// The unit, by the end of the name.
    pub unit: &'static str,
    /// Its value.
    pub about: &'static str,
    /// The names that it may hold, if it holds names of a list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<&'static str>,
}

/// Rows of one table that wait to be written.
pub trait Rows: Send {
    /// Place of the table among all.
    fn table(&self) -> usize;

    /// How many rows wait.
    fn len(&self) -> usize;

    /// None?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes them out, for somebody else to write.
    fn take(&mut self) -> Box<dyn Rows>;

    /// Writes them as a row group, and forgets them.
    ///
    /// # Errors
    /// If that fails.
    fn write(&mut self, file: &mut TableWriter) -> Result<()>;
}

/// A file of a table.
pub type TableWriter = parquet::file::writer::SerializedFileWriter<BufWriter<File>>;

/// Name, description and columns of a table, and what its files look like.
#[derive(Clone, Serialize, Debug)]
pub struct TableAbout {
    /// Name of its file.
    pub name: &'static str,
    /// Type of a row.
    pub about: &'static str,
    /// Its columns.
    pub columns: Vec<ColumnAbout>,
    /// The same for Parquet.
    #[serde(skip)]
    pub schema: Arc<Type>,
}

/// Where rows go.
pub trait Sink: Send {
    /// Writes rows, which are gone afterwards.
    ///
    /// # Errors
    /// If that fails.
    fn write(&mut self, rows: &mut dyn Rows) -> io::Result<()>;

    /// Starts the next part, if the trace has parts. `meta` is its description so far.
    ///
    /// # Errors
    /// If that fails.
    fn next_part(&mut self, meta: &str) -> io::Result<()>;

    /// There is no more; `meta` is the description of the whole trace.
    ///
    /// # Errors
    /// The first error met.
    fn finish(&mut self, meta: &str) -> io::Result<()>;
}

/// The unit that the name of a column ends in.
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
