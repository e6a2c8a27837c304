//! `fourhop._core`: the simulator for Python. Conversions only; `fourhop_sim` documents the calls.
//!
//! Scenarios and results are passed as JSON texts: the format is defined once by the simulator, and its cost is small
//! compared with a run.

mod error;
mod interrupt;
mod run;
mod scenario;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// It asks the kernel for huge pages, which thousands of nodes need (docs/decisions/allocator.md).
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

    /// Version of the engine, part of what a result is stored under.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Most bytes of a scenario's text.
    #[pyfunction]
    fn largest_scenario() -> usize {
        fourhop_sim::scenario::LARGEST
    }

    /// The columns of the time series of flows after `flow` and `time_s`, all of them numbers: (name, meaning).
    #[pyfunction]
    fn series_columns() -> Vec<(&'static str, &'static str)> {
        fourhop_sim::trace::FLOW_COLUMNS.iter().map(|column| (column.name, column.about)).collect()
    }

    /// Every table of results and traces with its columns: name, field, type, unit, meaning and, of names, those there
    /// are. JSON.
    #[pyfunction]
    fn tables() -> String {
        serde_json::to_string(&fourhop_sim::columns::tables()).expect("INVARIANT: tables are JSON")
    }

    /// Fingerprint of the sources the engine was built from, 16 hexadecimal digits (see build.rs): two engines of one
    /// version with other code differ in it.
    #[pyfunction]
    fn build() -> &'static str {
        env!("FOURHOP_BUILD")
    }

    /// A number that depends on what the mangled names of the simulator's functions depend on: the compiler, and the
    /// hash that cargo, or packaging/guided.py, gives the crate. By these names a recorded profile finds functions.
    #[pyfunction]
    fn names() -> String {
        // The identity of a type contains that of its crate.
        let mut hasher = std::hash::DefaultHasher::new();
        std::any::TypeId::of::<fourhop_sim::RunOptions>().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}
