//! Many runs of one scenario on all cores.
//!
//! Worker threads take seeds from a shared list and return results as they finish. A run sees only its seed and its
//! [`Control`], so the result of a seed is the same on one thread and on many; only the order of completion differs.

use fourhop_units::{Dur, Time};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a run shares with its owner: it reports how far it is and asks whether to go on.
#[derive(Clone, Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    progress_ns: Arc<AtomicU64>,
}

impl Control {
    /// A control of its own, for a run outside a batch.
    pub fn new() -> Control {
        Control::default()
    }

    /// A control that stops when this one does and keeps its progress to itself.
    pub fn aside(&self) -> Control {
        Control { stop: self.stop.clone(), progress_ns: Arc::default() }
    }

    /// Says that the run has reached `now`.
    pub fn report(&self, now: Time) {
        self.progress_ns.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// How far the run is.
    pub fn progress(&self) -> Time {
        Time::from_nanos(self.progress_ns.load(Ordering::Relaxed))
    }

    /// Asks the run to end early.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Should the run end early?
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs in progress. Dropping it stops them and waits until they have ended.
#[derive(Debug)]
pub struct Batch<T, E> {
    results: Receiver<(u64, Result<T, E>)>,
    workers: Vec<JoinHandle<()>>,
    runs: Vec<(u64, Control)>,
    stop: Arc<AtomicBool>,
}

impl<T: Send + 'static, E: Send + 'static> Batch<T, E> {
    /// Starts `work` for each of `seeds`, in their order, on at most `jobs` threads (at least one).
    pub fn start<F>(jobs: usize, seeds: impl IntoIterator<Item = u64>, work: F) -> Batch<T, E>
    where
        F: Fn(u64, &Control) -> Result<T, E> + Send + Sync + 'static,
    {
        let stop = Arc::new(AtomicBool::new(false));
        let control = || Control { stop: stop.clone(), progress_ns: Arc::default() };
        let runs: Vec<_> = seeds.into_iter().map(|seed| (seed, control())).collect();
        let waiting = Arc::new(Mutex::new(runs.iter().cloned().collect::<VecDeque<_>>()));
        let (sender, results) = channel();
        let work = Arc::new(work);
        let threads = jobs.clamp(1, runs.len().max(1));
        let workers = (0..threads).map(|_| spawn(waiting.clone(), work.clone(), sender.clone())).collect();
        Batch { results, workers, runs, stop }
    }
}

fn spawn<T, E, F>(
    waiting: Arc<Mutex<VecDeque<(u64, Control)>>>,
    work: Arc<F>,
    results: Sender<(u64, Result<T, E>)>,
) -> JoinHandle<()>
where
    T: Send + 'static,
    E: Send + 'static,
    F: Fn(u64, &Control) -> Result<T, E> + Send + Sync + 'static,
{
    std::thread::spawn(move || {
        loop {
            // The lock is held for the take only; a worker that panicked elsewhere leaves the list whole.
            let next = waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop_front();
            let Some((seed, control)) = next else { return };
            if control.is_stopped() {
                return;
            }
            if results.send((seed, work(seed, &control))).is_err() {
                return;
            }
        }
    })
}

impl<T, E> Batch<T, E> {
    /// The next result, waiting at most `timeout` for it. `None` if none came, which [`Batch::is_finished`] explains.
    ///
    /// # Panics
    /// If a run panicked, with its message.
    pub fn poll(&mut self, timeout: Duration) -> Option<(u64, Result<T, E>)> {
        match self.results.recv_timeout(timeout) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.join();
                None
            }
        }
    }

    /// Have all workers ended and all results been taken?
    pub fn is_finished(&self) -> bool {
        self.workers.is_empty()
    }

    /// How far each run is, in the order of the seeds.
    pub fn progress(&self) -> impl Iterator<Item = (u64, Time)> + '_ {
        self.runs.iter().map(|(seed, control)| (*seed, control.progress()))
    }

    /// Simulated time of all runs together.
    pub fn simulated(&self) -> Dur {
        self.progress().map(|(_, now)| now.saturating_since(Time::ZERO)).sum()
    }

    /// Asks all runs to end early and starts no more; what they make of it still comes through [`Batch::poll`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the workers and passes on a panic.
    fn join(&mut self) {
        for worker in self.workers.drain(..) {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl<T, E> Drop for Batch<T, E> {
    fn drop(&mut self) {
        self.stop();
        for worker in self.workers.drain(..) {
            // A panic during a drop would abort; the run's message has been printed.
            let _ = worker.join();
        }
    }
}

/// Work on its own thread that need not be waited for: dropping it stops its control and lets the thread end by itself,
/// or with the process, where the system does not look at the control, such as in front of a pipe that nobody writes.
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
            // Whether anybody still waits for it is their matter.
            let _ = sender.send(work(&theirs));
        });
        Task { control, result, worker: Some(worker) }
    }

    /// What the work returned, once, waiting at most `timeout` for it.
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
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.control.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::{NodeId, Purpose, Stream};

    fn collect(jobs: usize, seeds: core::ops::Range<u64>) -> Vec<(u64, u64)> {
        let mut batch = Batch::start(jobs, seeds, |seed, control| {
            let mut stream = Stream::new(seed, NodeId(0), Purpose::Application);
            let sum = (0..10_000).map(|_| u64::from(stream.bits32())).fold(0, u64::wrapping_add);
            control.report(Time::from_secs(seed));
            Ok::<_, ()>(sum)
        });
        let mut results = Vec::new();
        while !batch.is_finished() {
            results.extend(batch.poll(Duration::from_secs(5)).map(|(seed, r)| (seed, r.unwrap())));
        }
        assert_eq!(batch.simulated(), Dur::from_secs(batch.progress().map(|(seed, _)| seed).sum()));
        results.sort_unstable();
        results
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let one = collect(1, 0..40);
        assert_eq!(one.len(), 40);
        assert_eq!(one, collect(4, 0..40));
        assert_eq!(collect(8, 0..0), []);
    }

    #[test]
    fn stopping_keeps_what_is_there_and_starts_no_more() {
        let mut batch = Batch::start(2, 0..1000, |seed, control| {
            while !control.is_stopped() {
                std::thread::yield_now();
            }
            Err::<(), _>(seed)
        });
        assert_eq!(batch.poll(Duration::from_millis(1)), None);
        assert!(!batch.is_finished());
        batch.stop();
        let mut seeds = Vec::new();
        while !batch.is_finished() {
            seeds.extend(batch.poll(Duration::from_secs(5)).map(|(seed, _)| seed));
        }
        assert!(seeds.len() <= 2, "{seeds:?}");
    }

    #[test]
    fn dropping_ends_the_runs() {
        let (begun, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (begins, ends) = (begun.clone(), ended.clone());
        let batch = Batch::start(2, 0..5, move |_, control| {
            begins.fetch_add(1, Ordering::SeqCst);
            while !control.is_stopped() {
                std::thread::yield_now();
            }
            ends.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(())
        });
        while begun.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
        drop(batch);
        assert_eq!(ended.load(Ordering::SeqCst), 2);
        assert_eq!(Arc::strong_count(&ended), 1, "the workers have let go of the work");
    }

    #[test]
    fn dropping_a_task_stops_it_and_waits_for_nobody() {
        let mut quick = Task::start(|_| 7);
        assert_eq!(quick.poll(Duration::from_secs(5)), Some(7));
        let (sender, told) = channel();
        let mut patient = Task::start(move |control| {
            while !control.is_stopped() {
                std::thread::yield_now();
            }
            sender.send(())
        });
        assert_eq!(patient.poll(Duration::from_millis(1)), None);
        drop(patient);
        assert_eq!(told.recv_timeout(Duration::from_secs(5)), Ok(()));
    }

    #[test]
    #[should_panic(expected = "out of luck")]
    fn a_panic_in_a_task_is_passed_on() {
        Task::start(|_| -> () { panic!("out of luck") }).poll(Duration::from_secs(5));
    }

    #[test]
    #[should_panic(expected = "seed 3 is unlucky")]
    fn a_panic_in_a_run_is_passed_on() {
        let mut batch = Batch::start(1, 3..4, |seed, _| -> Result<(), ()> { panic!("seed {seed} is unlucky") });
        while !batch.is_finished() {
            batch.poll(Duration::from_secs(5));
        }
    }
}
