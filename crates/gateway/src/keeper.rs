//! Keeps the rules in place: checks every two seconds whether the kernel still has them, and restores them if another
//! program has removed them, as by flushing or reloading a firewall.

use crate::config::{Backend, Config};
use crate::unpaced::Unpaced;
use crate::worker::Shared;
use crate::{Error, rules};
use fourhop_live::Tried;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval between two checks.
const EVERY: Duration = Duration::from_secs(2);

/// The rules of a running gateway. Dropping it removes them.
#[derive(Debug)]
pub struct Keeper {
    backend: Backend,
    kept: Arc<Mutex<Kept>>,
}

/// State of the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// How often they were restored.
    pub restored: u64,
    /// Why they are not in place.
    pub problem: Option<String>,
    /// Packets that passed without a verdict of this program, as counted by the rules after the queues.
    pub unpaced: u64,
}

#[derive(Debug)]
struct Kept {
    config: Config,
    /// The kernel's rules right after they were set.
    expected: String,
    restored: u64,
    /// Why the rules are not in place.
    problem: Option<String>,
    ended: bool,
    unpaced: Unpaced,
}

impl Keeper {
    /// Installs the rules. They are not watched before [`watch`](Keeper::watch).
    ///
    /// # Errors
    /// The message of the program that installs them.
    pub fn set(config: &Config, backend: Backend) -> Result<Keeper, Error> {
        rules::set(config, backend)?;
        let expected = rules::written(backend);
        let unpaced = Unpaced::default();
        let kept = Kept { config: config.clone(), expected, restored: 0, problem: None, ended: false, unpaced };
        Ok(Keeper { backend, kept: Arc::new(Mutex::new(kept)) })
    }

    /// Starts watching the rules, on a separate thread, because programs that read and write rules may be slow. The
    /// number of packets released by these workers is compared with what the rules have counted.
    ///
    /// # Errors
    /// If no thread can be created.
    pub fn watch(&self, workers: Vec<Arc<Shared>>) -> Result<(), Error> {
        let (kept, backend) = (self.kept.clone(), self.backend);
        let look = move || {
            loop {
                std::thread::sleep(EVERY);
                let mut kept = locked(&kept);
                if kept.ended {
                    return;
                }
                kept.look(backend, &workers);
            }
        };
        std::thread::Builder::new()
            .name("rules".to_owned())
            .spawn(look)
            .tried(|| "cannot start a thread".to_owned())?;
        Ok(())
    }

    /// Installs the rules of another configuration.
    ///
    /// # Errors
    /// The message of the program that installs them.
    pub fn change(&self, config: &Config) -> Result<(), Error> {
        let mut kept = locked(&self.kept);
        kept.config = config.clone();
        kept.unpaced.counters_begin_anew();
        rules::set(config, self.backend)?;
        kept.expected = rules::written(self.backend);
        Ok(())
    }

    /// The state of the rules.
    pub fn state(&self) -> State {
        let kept = locked(&self.kept);
        State { restored: kept.restored, problem: kept.problem.clone(), unpaced: kept.unpaced.packets() }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // A check in progress is completed before the rules are removed.
        let mut kept = locked(&self.kept);
        kept.ended = true;
        rules::clear(self.backend);
    }
}

fn locked(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn look(&mut self, backend: Backend, workers: &[Arc<Shared>]) {
        let left = workers.iter().map(|worker| worker.verdicts().left).sum();
        let (written, counted) = rules::written_and_counted(backend);
        let leaving = workers.iter().map(|worker| worker.verdicts().leaving).sum();
        if written == self.expected {
            self.unpaced.look(counted, left, leaving);
            self.problem = None;
            return;
        }
        // Another version of the program may print the same rules differently.
        self.changed(rules::set(&self.config, backend).map(|()| rules::written(backend)));
    }

    /// The rules were not in place: takes their text now that they are restored, or the reason why they are not.
    fn changed(&mut self, set: Result<String, Error>) {
        match set {
            Ok(written) => {
                self.expected = written;
                self.restored += 1;
                self.unpaced.counters_begin_anew();
                self.problem = None;
                log!(4, "the rules were changed by another program: restored ({} so far)", self.restored);
            }
            Err(error) => {
                let words = format!("the rules were changed by another program and cannot be restored: {error}");
                if self.problem.as_ref() != Some(&words) {
                    log!(3, "{words}");
                }
                self.problem = Some(words);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::ManuallyDrop;

    fn kept() -> Kept {
        let config = Config::parse("[mesh]\ndevices = ['mesh0']\nrate = '2Mbps'\n").unwrap();
        let (expected, unpaced) = ("as set".to_owned(), Unpaced::default());
        Kept { config, expected, restored: 0, problem: None, ended: false, unpaced }
    }

    #[test]
    fn rules_that_were_restored_are_counted_and_those_that_could_not_be_are_a_problem() {
        let mut kept = kept();
        kept.unpaced.look(7, 4, 4);
        let words = "the rules were changed by another program and cannot be restored: nft: no";
        for _ in 0..2 {
            kept.changed(Err(Error::Refused("nft: no".to_owned())));
            assert_eq!((kept.restored, kept.problem.as_deref(), &kept.expected[..]), (0, Some(words), "as set"));
        }
        kept.changed(Ok("in another way".to_owned()));
        assert_eq!((kept.restored, kept.problem.as_deref(), &kept.expected[..]), (1, None, "in another way"));
        kept.unpaced.look(900, 4, 4);
        assert_eq!(kept.unpaced.packets(), 3, "counters that begin anew count nothing twice");
        kept.changed(Ok(String::new()));
        assert_eq!(kept.restored, 2);
    }

    #[test]
    fn its_state_is_what_it_has_found() {
        let mut kept = kept();
        kept.unpaced.look(7, 4, 4);
        let problem = Some("they cannot be restored".to_owned());
        (kept.restored, kept.problem) = (2, problem.clone());
        // Dropping it would remove rules, possibly those of a gateway running here.
        let keeper = ManuallyDrop::new(Keeper { backend: Backend::Nft, kept: Arc::new(Mutex::new(kept)) });
        assert_eq!(keeper.state(), State { restored: 2, problem, unpaced: 3 });
    }
}
