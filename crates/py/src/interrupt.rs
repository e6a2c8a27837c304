//! Work that Ctrl-C ends, though it happens outside Python.

use fourhop_sim::batch::Control;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often Python looks whether Ctrl-C was pressed.
const GLANCE: Duration = Duration::from_millis(100);

/// What `work` returns. It happens on a thread of its own, without holding the interpreter: on Ctrl-C its control is
/// stopped and its result forgotten, so that nobody waits where the system does not look at the control, such as in front
/// of a pipe that nobody writes.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Control) -> T + Send + 'static,
) -> PyResult<T> {
    let control = Control::new();
    let theirs = control.clone();
    let (sender, done) = channel();
    let worker = std::thread::spawn(move || {
        // Nobody waits for it any more after Ctrl-C.
        let _ = sender.send(work(&theirs));
    });
    let done = Mutex::new(done);
    loop {
        match py.detach(|| done.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(GLANCE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| control.stop())?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("INVARIANT: a worker that ended has sent its result"),
            },
        }
    }
}
