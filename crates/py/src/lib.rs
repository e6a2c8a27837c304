//! `fourhop._core`: the simulator for Python. Conversions only; `fourhop_sim` documents the calls.
//!
//! Scenarios and results are passed as JSON: the simulator alone defines the format, and the cost is small compared
//! with a run.

mod error;
mod interrupt;
mod run;
mod scenario;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// Requests huge pages from the kernel, which thousands of nodes need (docs/decisions/allocator.md).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The extension module.
#[pymodule]
mod _core {
    use pyo3::prelude::*;
    use std::hash::{Hash, Hasher};

    #[pymodule_export]
    use crate::run::PyRun;
    #[pymodule_export]
    use crate::scenario::{
        can_run, catalog, check, flows_without_path, keys_meant, ns2, places, quantity, reference, schema, survey,
        to_toml,
    };

    /// Version of the engine; part of the key under which a result is stored.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Largest size of a scenario's text in bytes.
    #[pyfunction]
    fn largest_scenario() -> usize {
        fourhop_sim::scenario::LARGEST
    }

    /// Columns of the time series of flows after `flow` and `time_s`, all numeric: (name, meaning).
    #[pyfunction]
    fn series_columns() -> Vec<(&'static str, &'static str)> {
        fourhop_sim::trace::FLOW_COLUMNS.iter().map(|column| (column.name, column.about)).collect()
    }

    /// All tables of results and traces with their columns as JSON: name, field, type, unit, meaning and, for names,
    /// the possible ones.
    #[pyfunction]
    fn tables() -> String {
        serde_json::to_string(&fourhop_sim::columns::tables()).expect("INVARIANT: tables are JSON")
    }

    /// Fingerprint of the sources from which the engine was built, 16 hexadecimal digits (see build.rs): it differs
    /// between engines of one version with different code.
    #[pyfunction]
    fn build() -> &'static str {
        env!("FOURHOP_BUILD")
    }

    /// A number that depends on the same inputs as the mangled names of the simulator's functions: the compiler, and
    /// the hash that cargo, or packaging/guided.py, gives the crate. A recorded profile finds functions by these names.
    #[pyfunction]
    fn names() -> String {
        // The identity of a type includes that of its crate.
        let mut hasher = std::hash::DefaultHasher::new();
        std::any::TypeId::of::<fourhop_sim::RunOptions>().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}
