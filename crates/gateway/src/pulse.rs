//! Tells the [guard](fourhop_live::nfqueue::guard) that the workers go round. When they do not, because this process is
//! stopped or a worker hangs, the guard lets packets pass within a second; when they do again, they take their queues
//! back.

use crate::worker::Shared;
use fourhop_live::nfqueue::guard::{BEAT, Guard, Guarded};
use fourhop_live::{Error, Tried};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A guard that has ended is started again after this.
const AGAIN: Duration = Duration::from_secs(1);
/// Workers that have not gone round for so long are said to stand still.
const STILL: Duration = Duration::from_secs(1);

/// The thread that beats. Dropping it ends the guard, which must not be before the workers end.
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
    /// For these queues, whose workers these are.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn start(guarded: Vec<Guarded>, workers: Vec<Arc<Shared>>) -> Result<Pulse, Error> {
        let state = Arc::<State>::default();
        let mut beating = Beating { guarded, workers, state: state.clone(), guard: None, rounds: Vec::new() };
        // The gateway is not ready before its guard is. Without one it goes on, says so, and tries again.
        beating.engage();
        let thread = std::thread::Builder::new().name("pulse".to_owned()).spawn(move || beating.run());
        Ok(Pulse { state, thread: Some(thread.tried(|| "cannot start a thread".to_owned())?) })
    }

    /// Problems of the workers or the guard.
    pub fn problem(&self) -> Option<String> {
        self.state.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
    /// Of the workers at the last beat.
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
            let rounds: Vec<usize> = self.workers.iter().map(|one| one.rounds.load(Ordering::Relaxed)).collect();
            let goes =
                self.rounds.len() != rounds.len() || rounds.iter().zip(&self.rounds).all(|(now, then)| now != then);
            if goes {
                (self.rounds, moved) = (rounds, Instant::now());
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
