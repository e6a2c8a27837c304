//! Work outside Python that Ctrl-C can interrupt.

use fourhop_sim::batch::{Control, Task};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Interval at which Python checks for Ctrl-C.
const GLANCE: Duration = Duration::from_millis(100);

/// Returns the result of `work`, which runs on a separate thread without holding the interpreter. Ctrl-C stops it
/// without waiting for it to end.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Control) -> T + Send + 'static,
) -> PyResult<T> {
    let task = Mutex::new(Task::start(work));
    loop {
        match py.detach(|| task.lock().unwrap_or_else(PoisonError::into_inner).poll(GLANCE)) {
            Some(result) => return Ok(result),
            None => py.check_signals()?,
        }
    }
}
