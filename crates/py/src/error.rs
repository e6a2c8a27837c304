//! Errors as Python exceptions.

use fourhop_sim::scenario;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

pyo3::import_exception!(fourhop.errors, ScenarioError);

/// Returns the Python exception for a scenario's problems.
pub fn raise(py: Python<'_>, error: &scenario::ScenarioError) -> PyErr {
    match problems(py, error) {
        Ok(problems) => {
            let raised = ScenarioError::new_err(error.to_string());
            match raised.value(py).setattr("problems", problems) {
                Ok(()) => raised,
                Err(failed) => failed,
            }
        }
        Err(failed) => failed,
    }
}

fn problems<'py>(py: Python<'py>, error: &scenario::ScenarioError) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for problem in &error.problems {
        let entry = PyDict::new(py);
        entry.set_item("file", &problem.file)?;
        entry.set_item("line", problem.line)?;
        entry.set_item("column", problem.column)?;
        entry.set_item("key", &problem.key)?;
        entry.set_item("found", &problem.found)?;
        entry.set_item("allowed", &problem.allowed)?;
        entry.set_item("hint", &problem.hint)?;
        list.append(entry)?;
    }
    Ok(list)
}
