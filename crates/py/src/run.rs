//! One run of a scenario on a separate thread, polled from Python.

use crate::error::raise;
use fourhop_sim::batch::Task;
use fourhop_sim::scenario::{self, Form, Overrides};
use fourhop_sim::trace::{CaptureForm, Request, SeriesPaths};
use fourhop_sim::{PacedUdp, RunError, RunOptions, run};
use fourhop_units::{Bytes, Dur, Rate, Time};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Folder, start, end, nodes, flows, how much of the end to keep.
type Trace = (PathBuf, Option<u64>, Option<u64>, Option<Vec<String>>, Option<Vec<String>>, Option<u64>);

fn request((folder, from, to, nodes, flows, last): Trace) -> Request {
    Request {
        from: from.map_or(Time::ZERO, Time::from_nanos),
        to: to.map_or(Time::NEVER, Time::from_nanos),
        nodes,
        flows,
        last: last.map(Dur::from_nanos),
        ..Request::all(folder)
    }
}

/// A run in progress. Dropping it stops it and waits until it has ended.
#[pyclass(name = "Run", module = "fourhop._core", frozen)]
// The result is already JSON, written by the thread that ran the simulation.
pub struct PyRun(Mutex<Task<Result<String, RunError>>>);

#[pymethods]
impl PyRun {
    /// Starts the run of a scenario (JSON) with `seed`. `pcap_dir` is the folder for captures, `pcap_merged` makes one
    /// file of those of all nodes, `pcap_lost` includes frames lost to collisions and noise. `series_dir` is the folder
    /// for time series, if the scenario asks for them: `seed-N.flows.csv` and `seed-N.queues.csv`, ending in `.part`
    /// until they are complete. `paced_udp` is (number of a flow, bit/s, bytes per datagram): that flow sends like this
    /// instead of its own traffic. `trace` is (folder, start and end in nanoseconds, nodes, flows, nanoseconds to keep)
    /// of a trace of everything; `None`: all.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    #[pyo3(signature = (
        scenario_json, seed, pcap_dir=None, series_dir=None, paced_udp=None, pcap_merged=false, pcap_lost=false,
        trace=None
    ))]
    fn new(
        scenario_json: String,
        seed: u64,
        pcap_dir: Option<PathBuf>,
        series_dir: Option<PathBuf>,
        paced_udp: Option<(usize, u64, u64)>,
        pcap_merged: bool,
        pcap_lost: bool,
        trace: Option<Trace>,
    ) -> PyResult<PyRun> {
        let paced_udp = paced_udp.map(|(flow, bps, payload)| {
            let rate = Rate::from_bps(bps).ok_or_else(|| PyValueError::new_err("rate: found 0, allowed: above 0"))?;
            PyResult::Ok(PacedUdp { flow, rate, payload: Bytes(payload) })
        });
        let series = series_dir.map(|dir| SeriesPaths::new(&dir, seed));
        let capture = CaptureForm { merged: pcap_merged, lost: pcap_lost };
        let options = RunOptions {
            pcap_dir,
            capture,
            series,
            paced_udp: paced_udp.transpose()?,
            trace: trace.map(request),
            ..RunOptions::default()
        };
        let task = Task::start(move |control| {
            // Read on the thread, too: a large scenario takes a while, during which Python continues.
            let scenario = scenario::load(Form::Json, &scenario_json, "<scenario>", Overrides::NONE, control)?;
            let result = run(&scenario, seed, &options, control)?;
            Ok(serde_json::to_string(&result).expect("INVARIANT: a result is JSON"))
        });
        Ok(PyRun(Mutex::new(task)))
    }

    /// Returns the result of the finished run as JSON, waiting at most `timeout_s` without holding the interpreter;
    /// `None` if it has not finished, or was stopped early.
    fn poll(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Option<String>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|_| PyValueError::new_err(format!("timeout_s: found {timeout_s}, allowed: 0 or more")))?;
        match py.detach(|| self.lock().poll(timeout)) {
            None | Some(Err(RunError::Stopped)) => Ok(None),
            Some(Ok(json)) => Ok(Some(json)),
            Some(Err(RunError::Scenario(error))) => Err(raise(py, &error)),
            Some(Err(error @ (RunError::Trace { .. } | RunError::Tables { .. } | RunError::Series { .. }))) => {
                Err(PyOSError::new_err(error.to_string()))
            }
        }
    }

    /// Simulated seconds so far, at most the scenario's duration; for a run that ends by packets, the corresponding
    /// share of the duration.
    fn simulated_s(&self) -> f64 {
        self.lock().control().progress().as_secs_f64()
    }

    /// Asks the run to end.
    fn stop(&self) {
        self.lock().control().stop();
    }
}

impl PyRun {
    /// A panic of the run has been reported already; the task itself is intact.
    fn lock(&self) -> MutexGuard<'_, Task<Result<String, RunError>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PyRun {
    fn drop(&mut self) {
        self.lock().end();
    }
}
