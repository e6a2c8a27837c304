//! Many runs of one scenario on threads of their own, polled from Python.

use crate::error::raise;
use fourhop_sim::batch::Batch;
use fourhop_sim::scenario;
use fourhop_sim::trace::SeriesPaths;
use fourhop_sim::{RunError, RunOptions, run};
use fourhop_units::Time;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Runs of one scenario, one a seed, in progress. Dropping it stops them.
#[pyclass(name = "Batch", module = "fourhop._core", frozen)]
pub struct PyBatch {
    // Results are JSON already: the worker that ran the simulation also writes its text.
    batch: Mutex<Batch<String, RunError>>,
    duration: Time,
}

#[pymethods]
impl PyBatch {
    /// Starts runs of a scenario (JSON) with `seeds`, in their order, `jobs` at a time. `pcap_dir` is where captures go,
    /// into a folder for each seed if there are several; `series_dir` is where time series go, if the scenario asks for
    /// them: `seed-N.flows.csv` and `seed-N.queues.csv`, ending in `.part` until they are whole.
    #[new]
    #[pyo3(signature = (scenario_json, seeds, jobs=1, pcap_dir=None, series_dir=None))]
    fn new(
        py: Python<'_>,
        scenario_json: &str,
        seeds: Vec<u64>,
        jobs: usize,
        pcap_dir: Option<PathBuf>,
        series_dir: Option<PathBuf>,
    ) -> PyResult<PyBatch> {
        let scenario = scenario::load_json(scenario_json, "<scenario>", &[]).map_err(|error| raise(py, &error))?;
        let duration = Time::ZERO + scenario.duration;
        let several = seeds.len() > 1;
        let batch = Batch::start(jobs, seeds, move |seed, control| {
            let pcap_dir = pcap_dir.as_ref().map(|dir| match several {
                true => dir.join(format!("seed-{seed}")),
                false => dir.clone(),
            });
            let series = series_dir.as_ref().map(|dir| SeriesPaths::new(dir, seed));
            let result = run(&scenario, seed, &RunOptions { pcap_dir, series, ..RunOptions::default() }, control)?;
            Ok(serde_json::to_string(&result).expect("INVARIANT: a result is JSON"))
        });
        Ok(PyBatch { batch: Mutex::new(batch), duration })
    }

    /// The next finished run as (seed, JSON), waiting at most `timeout_s` without holding the interpreter; `None` if
    /// none finished. Runs that were stopped early are passed over.
    fn poll(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Option<(u64, String)>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|_| PyValueError::new_err(format!("timeout_s: found {timeout_s}, allowed: 0 or more")))?;
        match py.detach(|| self.lock().poll(timeout)) {
            None | Some((_, Err(RunError::Stopped))) => Ok(None),
            Some((seed, Ok(json))) => Ok(Some((seed, json))),
            Some((_, Err(RunError::Scenario(error)))) => Err(raise(py, &error)),
            Some((_, Err(error @ (RunError::Trace { .. } | RunError::Series { .. })))) => {
                Err(PyOSError::new_err(error.to_string()))
            }
        }
    }

    /// (seed, share done) of each run that has begun and is not done.
    fn progress(&self) -> Vec<(u64, f64)> {
        let running = |&(_, now): &(u64, Time)| now > Time::ZERO && now < self.duration;
        let share = |(seed, now): (u64, Time)| (seed, now.as_nanos() as f64 / self.duration.as_nanos() as f64);
        self.lock().progress().filter(running).map(share).collect()
    }

    /// Have all runs ended and all results been taken?
    fn is_finished(&self) -> bool {
        self.lock().is_finished()
    }

    /// Asks the runs to end and starts no more.
    fn stop(&self) {
        self.lock().stop();
    }
}

impl PyBatch {
    /// A run that panicked has said so; the batch itself is whole.
    fn lock(&self) -> MutexGuard<'_, Batch<String, RunError>> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
