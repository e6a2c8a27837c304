//! The search for the best rate of paced UDP, on a thread of its own, polled from Python.

use crate::error::raise;
use fourhop_sim::batch::Batch;
use fourhop_sim::best_rate::{Search, SearchError, Trial, best_rate};
use fourhop_sim::scenario;
use fourhop_units::{Bytes, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

type Found = (Option<Trial>, Vec<Trial>);

/// A search in progress. Dropping it stops it.
#[pyclass(name = "BestRate", module = "fourhop._core", frozen)]
pub struct PyBestRate(Mutex<Batch<Found, SearchError>>);

#[pymethods]
impl PyBestRate {
    /// Starts the search on flow number `flow` of a scenario (JSON), between two rates of payload in bit/s.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn new(
        py: Python<'_>,
        scenario_json: &str,
        flow: usize,
        payload_bytes: u64,
        from_bps: u64,
        to_bps: u64,
        loss_bound: f64,
        trials: u32,
        seeds: Vec<u64>,
    ) -> PyResult<PyBestRate> {
        let scenario = scenario::load_json(scenario_json, "<scenario>", &[]).map_err(|error| raise(py, &error))?;
        let rate = |name: &str, bps| {
            Rate::from_bps(bps).ok_or_else(|| PyValueError::new_err(format!("{name}: found 0, allowed: above 0")))
        };
        let (from, to) = (rate("from_bps", from_bps)?, rate("to_bps", to_bps)?);
        let search = Search { flow, payload: Bytes(payload_bytes), from, to, loss_bound, trials, seeds };
        let batch = Batch::start(1, [scenario.seed], move |_, control| best_rate(&scenario, &search, control));
        Ok(PyBestRate(Mutex::new(batch)))
    }

    /// Once it has ended, the best trial, if any kept within the bound, and all trials in their order, as JSON:
    /// `{"best": trial or null, "trials": [{"offered_bps", "goodput_bps", "loss"}, ...]}`. `None` if it goes on after
    /// `timeout_s`, waited without holding the interpreter.
    fn poll(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Option<String>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|_| PyValueError::new_err(format!("timeout_s: found {timeout_s}, allowed: 0 or more")))?;
        match py.detach(|| self.lock().poll(timeout)) {
            None | Some((_, Err(SearchError::Stopped))) => Ok(None),
            Some((_, Ok((best, trials)))) => {
                let json = |trial: &Trial| {
                    serde_json::json!({
                        "offered_bps": trial.offered.bps(), "goodput_bps": trial.goodput_bps, "loss": trial.loss,
                    })
                };
                let trials: Vec<_> = trials.iter().map(json).collect();
                Ok(Some(serde_json::json!({ "best": best.as_ref().map(json), "trials": trials }).to_string()))
            }
            Some((_, Err(SearchError::Scenario(error)))) => Err(raise(py, &error)),
            Some((_, Err(error @ SearchError::NoSuchFlow { .. }))) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    /// Asks the search to end.
    fn stop(&self) {
        self.lock().stop();
    }
}

impl PyBestRate {
    /// A search that panicked has said so; the batch itself is whole.
    fn lock(&self) -> MutexGuard<'_, Batch<Found, SearchError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
