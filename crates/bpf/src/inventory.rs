//! Finds our programs in the kernel, whoever loaded them.

use libbpf_rs::query::{MapInfoIter, ProgInfoIter};
use serde::Serialize;

/// Prefix of all our names.
pub(crate) const OURS: &str = "fh_";

/// A program or a table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Object {
    /// "program" or "table".
    pub kind: &'static str,
    /// Its name, truncated to 15 characters by the kernel.
    pub name: String,
    /// Its id in the kernel.
    pub id: u32,
}

/// All of our programs and tables; empty for a user without permission.
pub fn all() -> Vec<Object> {
    let programs =
        ProgInfoIter::default().map(|program| ("program", program.name.to_string_lossy().into_owned(), program.id));
    let tables = MapInfoIter::default().map(|table| ("table", table.name.to_string_lossy().into_owned(), table.id));
    let all = programs.chain(tables).map(|(kind, name, id)| Object { kind, name, id });
    let mut ours: Vec<Object> = all.filter(|object| object.name.starts_with(OURS)).collect();
    ours.sort();
    ours
}
