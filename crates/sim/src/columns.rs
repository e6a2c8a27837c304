//! Columns of results: every field of a result that appears in a table is declared once, with name, type, unit and
//! meaning. Python takes its schemas and texts from here, and docs/results.md is generated from them.

use crate::result::{FlowResult, RunResult};
use crate::trace::{FLOW_COLUMNS, TableAbout, Tables, unit};
use serde::Serialize;
use std::collections::BTreeMap;

/// A column of a table.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
pub struct Column {
    /// Name, which ends in the unit.
    pub name: &'static str,
    /// The corresponding field in the JSON of a run.
    pub field: &'static str,
    /// Type of the values.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Whether values may be missing.
    pub optional: bool,
    /// Unit, derived from the end of the name.
    pub unit: &'static str,
    /// Description of the value.
    pub about: &'static str,
}

/// The type of values.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// A name.
    Text,
    /// A node number or another whole number.
    Int,
    /// A count.
    Count,
    /// A number.
    Float,
    /// A list of numbers.
    Floats,
    /// Not a column but a separate table.
    Table,
}

/// A Rust type that a field of a result can have.
pub trait Typed {
    /// The corresponding column type.
    const TYPE: Type;
    /// Whether the value may be missing.
    const OPTIONAL: bool = false;
}

macro_rules! typed {
    ($($type:ty: $as:ident;)+) => { $( impl Typed for $type { const TYPE: Type = Type::$as; } )+ };
}

typed! {
    String: Text;
    &'static str: Text;
    u32: Int;
    u64: Count;
    f64: Float;
    Vec<f64>: Floats;
    Vec<FlowResult>: Table;
}

impl<K, V> Typed for BTreeMap<K, V> {
    const TYPE: Type = Type::Table;
}

impl<T: Typed> Typed for Option<T> {
    const TYPE: Type = T::TYPE;
    const OPTIONAL: bool = true;
}

/// Declares a result: a struct whose fields are columns, optionally under another name after `as`. To add a column, add
/// a row.
macro_rules! result {
    ($(#[$meta:meta])* $name:ident { $(
        $(#[doc = $doc:literal])+ $(#[serde($serde:meta)])? $field:ident: $type:ty $(as $column:literal)?;
    )+ }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, serde::Serialize, Debug)]
        pub struct $name { $( $(#[doc = $doc])+ $(#[serde($serde)])? pub $field: $type, )+ }

        impl $name {
            /// Its columns, lists last.
            pub fn columns() -> Vec<$crate::columns::Column> {
                $crate::columns::sorted(&[$(
                    $crate::columns::Column {
                        name: $crate::columns::first(&[$($column,)? stringify!($field)]),
                        field: stringify!($field),
                        kind: <$type as $crate::columns::Typed>::TYPE,
                        optional: <$type as $crate::columns::Typed>::OPTIONAL,
                        unit: $crate::trace::unit($crate::columns::first(&[$($column,)? stringify!($field)])),
                        about: concat!($($doc),+).trim_ascii(),
                    },
                )+])
            }
        }
    };
}
pub(crate) use result;

/// Returns the first element of a list that is never empty.
pub(crate) const fn first(names: &[&'static str]) -> &'static str {
    names[0]
}

/// Returns columns in the order of a table.
pub(crate) fn sorted(columns: &[Column]) -> Vec<Column> {
    let mut found: Vec<_> = columns.iter().copied().filter(|column| column.kind != Type::Table).collect();
    found.sort_by_key(|column| column.kind == Type::Floats);
    found
}

/// All tables: those of results by their columns, those of traces as their files describe them.
#[derive(Clone, Serialize, Debug)]
pub struct AllTables {
    /// `runs`, `flows`, `series` and `queues`.
    pub results: BTreeMap<&'static str, Vec<Column>>,
    /// The tables of a trace.
    pub trace: Vec<TableAbout>,
}

/// Returns all tables.
pub fn tables() -> AllTables {
    let of = |name, kind, optional, about| Column { name, field: name, kind, optional, unit: unit(name), about };
    let time = of("time_s", Type::Float, false, "End of the time step.");
    let mut series = vec![of("flow", Type::Text, false, "Name of the flow."), time];
    series.extend(FLOW_COLUMNS.iter().map(|column| of(column.name, Type::Float, true, column.about)));
    let queues = vec![
        of("node", Type::Int, false, "The node that has the queue."),
        of(
            "to",
            Type::Int,
            true,
            "The neighbour to which a wired queue leads; none: the interface queue of the radio.",
        ),
        time,
        of("queue_packets", Type::Int, false, "Number of packets that wait."),
    ];
    let results =
        [("runs", RunResult::columns()), ("flows", FlowResult::columns()), ("series", series), ("queues", queues)];
    AllTables { results: results.into(), trace: Tables::about() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_say_what_they_hold_and_stand_once() {
        for (table, columns) in tables().results {
            for (i, column) in columns.iter().enumerate() {
                assert!(!column.about.is_empty(), "{table}.{}", column.name);
                assert!(columns[..i].iter().all(|other| other.name != column.name), "{table}.{}", column.name);
            }
        }
        let flows = FlowResult::columns();
        assert_eq!((flows[0].name, flows[0].field), ("flow", "name"));
        assert_eq!(flows.last().map(|column| (column.name, column.unit)), Some(("batch_goodput_bps", "bit/s")));
        assert!(!RunResult::columns().iter().any(|column| column.name == "drops"));
    }
}
