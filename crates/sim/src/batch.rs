//! Work on a separate thread: its progress, its result, and how to stop it.
//!
//! A run sees only its scenario, its seed and its [`Control`], so its result is the same whatever else runs.

use fourhop_units::Time;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// State shared by a run and its owner: the run reports progress and asks whether to go on.
#[derive(Clone, Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    progress_ns: Arc<AtomicU64>,
}

impl Control {
    /// Creates a control for work outside a task.
    pub fn new() -> Control {
        Control::default()
    }

    /// Returns a control that stops when this one does but has separate progress.
    pub fn without_progress(&self) -> Control {
        Control { stop: self.stop.clone(), progress_ns: Arc::default() }
    }

    /// Reports that the run has reached `now`.
    pub fn report(&self, now: Time) {
        self.progress_ns.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// Returns the progress of the run.
    pub fn progress(&self) -> Time {
        Time::from_nanos(self.progress_ns.load(Ordering::Relaxed))
    }

    /// Asks the run to end early.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run should end early.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Work on a separate thread that need not be waited for. Dropping it stops its control and lets the thread end by
/// itself; a thread that is blocked in a system call, such as opening a pipe that nobody writes, ends with the process.
/// [`Task::end`] waits.
#[derive(Debug)]
pub struct Task<T> {
    control: Control,
    result: Receiver<T>,
    worker: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Task<T> {
    /// Starts `work`.
    pub fn start(work: impl FnOnce(&Control) -> T + Send + 'static) -> Task<T> {
        let control = Control::new();
        let theirs = control.clone();
        let (sender, result) = channel();
        let worker = std::thread::spawn(move || {
            // The owner may no longer wait for the result.
            let _ = sender.send(work(&theirs));
        });
        Task { control, result, worker: Some(worker) }
    }

    /// Returns the result of the work, once; waits at most `timeout` for it.
    ///
    /// # Panics
    /// If the work panicked, with its message.
    pub fn poll(&mut self, timeout: Duration) -> Option<T> {
        match self.result.recv_timeout(timeout) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                if let Some(Err(panic)) = self.worker.take().map(JoinHandle::join) {
                    std::panic::resume_unwind(panic);
                }
                None
            }
        }
    }

    /// Returns the control that the work shares with its owner.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Stops the work and waits until it has ended. If it panicked, its message has been printed.
    pub fn end(&mut self) {
        self.control.stop();
        let _ = self.worker.take().map(JoinHandle::join);
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.control.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ending_a_task_waits_for_it() {
        let kept = Arc::new(());
        let copy = kept.clone();
        let mut task = Task::start(move |control| {
            control.report(Time::from_secs(3));
            while !control.is_stopped() {
                std::thread::yield_now();
            }
            Arc::strong_count(&copy)
        });
        assert_eq!(task.poll(Duration::from_millis(1)), None);
        task.end();
        assert_eq!(Arc::strong_count(&kept), 1, "the thread has let go of the work");
        assert_eq!(task.control().progress(), Time::from_secs(3));
        assert_eq!(task.poll(Duration::ZERO), Some(2), "what it made of it is still there");
        assert_eq!(task.poll(Duration::ZERO), None);
    }

    #[test]
    fn dropping_a_task_stops_it_and_waits_for_nobody() {
        let mut quick = Task::start(|_| 7);
        assert_eq!(quick.poll(Duration::from_secs(5)), Some(7));
        let (sender, reports) = channel();
        let mut patient = Task::start(move |control| {
            while !control.is_stopped() {
                std::thread::yield_now();
            }
            sender.send(())
        });
        assert_eq!(patient.poll(Duration::from_millis(1)), None);
        drop(patient);
        assert_eq!(reports.recv_timeout(Duration::from_secs(5)), Ok(()));
    }

    #[test]
    #[should_panic(expected = "out of luck")]
    fn a_panic_in_a_task_is_passed_on() {
        Task::start(|_| -> () { panic!("out of luck") }).poll(Duration::from_secs(5));
    }
}
