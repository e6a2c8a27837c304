//! A record of loaded programs, to unload them, and to restore the system after a kill.

use crate::inventory::OURS;
use crate::settings::Change;
use crate::{Error, kernel, loaded, settings};
use fourhop_live::Tried;
use fourhop_live::host::started;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where it is written.
const FILE: &str = "/run/fourhop-cc.json";
/// How long a process has to end when it is asked to, and the kernel to let programs go, in steps of 20 ms.
const STEPS: u32 = 250;

/// Loaded programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct State {
    /// The process that has loaded it.
    pub pid: u32,
    /// When that started, in ticks since the machine did.
    pub started: u64,
    /// Where it is pinned; `None`: it goes with the process.
    pub pins: Option<PathBuf>,
    /// Its settings.
    pub changes: Vec<Change>,
}

impl State {
    /// Of this process.
    pub fn new(pins: Option<PathBuf>, changes: Vec<Change>) -> State {
        let pid = std::process::id();
        State { pid, started: started(pid).unwrap_or(0), pins, changes }
    }

    /// The recorded state, if there is any.
    pub fn read() -> Option<State> {
        serde_json::from_slice(&fs::read(FILE).ok()?).ok()
    }

    /// Writes it down.
    ///
    /// # Errors
    /// If something is written there already, or nothing can be.
    pub fn write(&self) -> Result<(), Error> {
        let failed = || format!("cannot write {FILE}");
        let text = serde_json::to_vec(self).map_err(io::Error::from).tried(failed)?;
        let written = fs::File::create_new(FILE).tried(failed)?.write_all(&text);
        if written.is_err() {
            let _ = fs::remove_file(FILE);
        }
        Ok(written.tried(failed)?)
    }

    /// Is it loaded still?
    pub fn holds(&self) -> bool {
        self.pins.as_ref().map_or_else(|| self.is_alive(), |folder| folder.exists())
    }

    fn is_alive(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// The holder of the loaded programs, for messages.
    pub fn place(&self) -> String {
        match &self.pins {
            Some(folder) => format!("pinned in {}", folder.display()),
            None => format!("loaded by process {}", self.pid),
        }
    }

    /// Unloads it, restores what was set and forgets it: asks the process that holds it to end, or takes the pins away.
    ///
    /// # Errors
    /// If something cannot be taken back.
    pub fn remove(&self) -> Result<(), Error> {
        match &self.pins {
            Some(folder) if folder.exists() => loaded::unpin(folder)?,
            None if self.is_alive() && self.pid != std::process::id() => {
                self.end_process()?;
                return gone();
            }
            _ => {}
        }
        let restored = settings::restore(&self.changes);
        forget()?;
        restored?;
        // This process holds the programs: they go with it.
        if self.pins.is_none() && self.pid == std::process::id() { Ok(()) } else { gone() }
    }

    /// It restores and forgets by itself.
    fn end_process(&self) -> Result<(), Error> {
        let failed = || format!("cannot end process {}, which holds the programs", self.pid);
        kill(Pid::from_raw(self.pid as i32), Signal::SIGTERM).tried(failed)?;
        if comes_true(|| !self.is_alive()) {
            return Ok(());
        }
        Ok(Err(io::Error::from(io::ErrorKind::TimedOut)).tried(failed)?)
    }
}

/// Looks until it is so, for some seconds at most.
fn comes_true(is_so: impl Fn() -> bool) -> bool {
    (0..STEPS).any(|_| {
        is_so() || {
            std::thread::sleep(Duration::from_millis(20));
            false
        }
    })
}

/// Waits until no socket can have our congestion controls any more: on a busy machine the kernel listed them for some
/// time after their last pin was gone.
fn gone() -> Result<(), Error> {
    let ours = || kernel::available().into_iter().filter(|name| name.starts_with(OURS)).collect::<Vec<_>>();
    if comes_true(|| ours().is_empty()) {
        return Ok(());
    }
    let names = ours().join(", ");
    Err(Error::Refused(format!(
        "everything is taken back, but the kernel still has {names}: another program holds them"
    )))
}

fn forget() -> Result<(), Error> {
    match fs::remove_file(FILE) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Ok(Err(error).tried(|| format!("cannot remove {FILE}"))?)
        }
        _ => Ok(()),
    }
}

/// Makes room for loading: takes back what a process has left that was killed.
///
/// # Errors
/// If something is loaded already.
pub fn make_room() -> Result<Option<State>, Error> {
    let left = State::read();
    if let Some(state) = &left {
        if state.holds() {
            let place = state.place();
            return Err(Error::Refused(format!("it is loaded already, {place}: fourhop-cc unload takes it back")));
        }
        state.remove()?;
    }
    if Path::new(FILE).exists() {
        return Err(Error::Refused(format!("{FILE} is there but cannot be read: remove it")));
    }
    if let Some(name) = kernel::available().iter().find(|name| name.starts_with("fh_")) {
        return Err(Error::Refused(format!(
            "a congestion control {name} is there already, from another program or pinned elsewhere than {}",
            loaded::PINS
        )));
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_holds_nothing() {
        let own = State::new(None, vec![]);
        assert!(own.holds());
        assert!(!State { started: own.started + 1, ..own.clone() }.holds());
        assert!(!State { pins: Some("/nonexistent".into()), ..own }.holds());
    }
}
