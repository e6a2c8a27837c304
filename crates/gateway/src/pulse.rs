//! Reports to the [guard](fourhop_live::nfqueue::guard) that the workers are running. When they are not, because this
//! process is stopped or a worker hangs, the guard lets packets pass within a second; once they run again, they take
//! their queues back.

use crate::worker::Shared;
use fourhop_live::nfqueue::guard::{BEAT, Guard, Guarded};
use fourhop_live::{Error, Tried};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Delay before a guard that has ended is started again.
const AGAIN: Duration = Duration::from_secs(1);
/// Workers whose loop has not run for this long are reported as stalled.
const STILL: Duration = Duration::from_secs(1);

/// The thread that sends heartbeats. Dropping it ends the guard, which must not happen before the workers end.
#[derive(Debug)]
pub struct Pulse {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    ended: AtomicBool,
    problem: Mutex<Option<String>>,
}

impl State {
    fn say(&self, problem: Option<String>) {
        let mut said = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(words) = problem.as_ref().filter(|_| *said != problem) {
            log!(4, "{words}");
        }
        *said = problem;
    }
}

impl Pulse {
    /// Starts the guard of these queues, which belong to these workers.
    ///
    /// # Errors
    /// If no thread can be created.
    pub fn start(guarded: Vec<Guarded>, workers: Vec<Arc<Shared>>) -> Result<Pulse, Error> {
        let state = Arc::<State>::default();
        let mut beating = Beating { guarded, workers, state: state.clone(), guard: None, rounds: Vec::new() };
        // The gateway is not ready before its guard is. Without one it continues, reports that, and tries again.
        beating.engage();
        let thread = std::thread::Builder::new().name("pulse".to_owned()).spawn(move || beating.run());
        Ok(Pulse { state, thread: Some(thread.tried(|| "cannot start a thread".to_owned())?) })
    }

    /// Problems of the workers or the guard.
    pub fn problem(&self) -> Option<String> {
        self.state.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
impl Pulse {
    /// A pulse for no workers, with this problem.
    pub fn with(problem: Option<&str>) -> Pulse {
        let problem = Mutex::new(problem.map(str::to_owned));
        Pulse { state: Arc::new(State { problem, ..State::default() }), thread: None }
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Beating {
    guarded: Vec<Guarded>,
    workers: Vec<Arc<Shared>>,
    state: Arc<State>,
    guard: Option<Guard>,
    /// Iterations of the workers at the last heartbeat.
    rounds: Vec<usize>,
}

impl Beating {
    fn engage(&mut self) {
        self.guard = self.noted(Guard::start(&self.guarded));
    }

    fn run(mut self) {
        let mut moved = Instant::now();
        let mut tried = moved;
        while !self.state.ended.load(Ordering::Acquire) {
            if self.guard.is_none() && tried.elapsed() > AGAIN {
                tried = Instant::now();
                self.engage();
            }
            std::thread::sleep(BEAT);
            let goes = self.goes();
            if goes {
                moved = Instant::now();
            } else if moved.elapsed() > STILL {
                self.state.say(Some("a worker hangs: packets pass unpaced".to_owned()));
                continue;
            }
            if let Some(guard) = self.guard.take() {
                let beaten = self.beat(&guard, goes);
                if self.noted(beaten).is_some() {
                    self.state.say(None);
                    self.guard = Some(guard);
                }
            }
        }
    }

    /// Whether all workers have completed an iteration since the last call.
    fn goes(&mut self) -> bool {
        let rounds: Vec<usize> = self.workers.iter().map(|one| one.rounds.load(Ordering::Relaxed)).collect();
        let goes = self.rounds.len() != rounds.len() || rounds.iter().zip(&self.rounds).all(|(now, then)| now != then);
        if goes {
            self.rounds = rounds;
        }
        goes
    }

    fn beat(&self, guard: &Guard, goes: bool) -> Result<(), Error> {
        if guard.gave_up()? {
            log!(4, "packets have passed unpaced because this program hung: pacing again");
            self.workers.iter().for_each(|one| one.given_up.store(true, Ordering::Release));
        }
        if goes { guard.beat() } else { Ok(()) }
    }

    fn noted<T>(&self, done: Result<T, Error>) -> Option<T> {
        done.map_err(|error| self.state.say(Some(error.to_string()))).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a guard, for workers with these numbers of iterations.
    fn beating(rounds: &[usize]) -> Beating {
        let worker = |&rounds: &usize| {
            let shared = Shared::default();
            shared.rounds.store(rounds, Ordering::Relaxed);
            Arc::new(shared)
        };
        let workers = rounds.iter().map(worker).collect();
        Beating { guarded: Vec::new(), workers, state: Arc::default(), guard: None, rounds: Vec::new() }
    }

    #[test]
    fn it_beats_only_when_every_worker_has_gone_round() {
        let mut beating = beating(&[1, 7]);
        assert!(beating.goes(), "at first nothing is known");
        assert!(!beating.goes());
        beating.workers[0].rounds.store(2, Ordering::Relaxed);
        assert!(!beating.goes(), "one of them hangs");
        beating.workers[1].rounds.store(8, Ordering::Relaxed);
        assert!(beating.goes(), "both have gone round since the last beat");
        assert!(!beating.goes());
        assert_eq!(beating.rounds, [2, 8]);
    }

    #[test]
    fn a_problem_is_said_until_it_is_over() {
        let pulse = Pulse::with(None);
        assert_eq!(pulse.problem(), None);
        pulse.state.say(Some("it hangs".to_owned()));
        pulse.state.say(Some("it hangs".to_owned()));
        assert_eq!(pulse.problem().as_deref(), Some("it hangs"));
        pulse.state.say(None);
        assert_eq!(pulse.problem(), None);
    }

    #[test]
    fn what_fails_is_a_problem_and_what_works_is_none() {
        let beating = beating(&[]);
        let problem = || beating.state.problem.lock().unwrap().clone();
        assert_eq!((beating.noted(Ok(7)), problem()), (Some(7), None));
        let source = std::io::ErrorKind::BrokenPipe.into();
        assert_eq!(beating.noted::<u8>(Err(Error { what: "the guard".to_owned(), source })), None);
        assert_eq!(problem().as_deref(), Some("the guard: broken pipe"));
    }

    #[test]
    fn its_thread_has_ended_when_it_is_gone() {
        let (state, done) = (Arc::<State>::default(), Arc::<AtomicBool>::default());
        let (seen, says) = (state.clone(), done.clone());
        let thread = std::thread::spawn(move || {
            while !seen.ended.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            says.store(true, Ordering::Release);
        });
        drop(Pulse { state, thread: Some(thread) });
        assert!(done.load(Ordering::Acquire));
    }
}
