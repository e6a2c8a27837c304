//! A record of loaded programs, used to unload them and to restore the system after a kill.

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

/// The file of the record.
const FILE: &str = "/run/fourhop-cc.json";
/// How long a process has to end after SIGTERM, and the kernel to release programs, in steps of 20 ms.
const STEPS: u32 = 250;

/// Loaded programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct State {
    /// The process that loaded them.
    pub pid: u32,
    /// When that process started, in ticks since boot.
    pub started: u64,
    /// Folder in which they are pinned; `None`: they are unloaded with the process.
    pub pins: Option<PathBuf>,
    /// The changed settings.
    pub changes: Vec<Change>,
}

impl State {
    /// The state of this process.
    pub fn new(pins: Option<PathBuf>, changes: Vec<Change>) -> State {
        let pid = std::process::id();
        State { pid, started: started(pid).unwrap_or(0), pins, changes }
    }

    /// The recorded state, if there is any.
    pub fn read() -> Option<State> {
        serde_json::from_slice(&fs::read(FILE).ok()?).ok()
    }

    /// Writes the record.
    ///
    /// # Errors
    /// If one exists already, or it cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        let failed = || format!("cannot write {FILE}");
        let text = serde_json::to_vec(self).map_err(io::Error::from).tried(failed)?;
        let written = fs::File::create_new(FILE).tried(failed)?.write_all(&text);
        if written.is_err() {
            let _ = fs::remove_file(FILE);
        }
        Ok(written.tried(failed)?)
    }

    /// Whether the programs are still loaded.
    pub fn holds(&self) -> bool {
        self.pins.as_ref().map_or_else(|| self.is_alive(), |folder| folder.exists())
    }

    fn is_alive(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// The owner of the loaded programs, for messages.
    pub fn place(&self) -> String {
        match &self.pins {
            Some(folder) => format!("pinned in {}", folder.display()),
            None => format!("loaded by process {}", self.pid),
        }
    }

    /// Unloads the programs, restores the settings and removes the record: asks the owning process to end, or removes
    /// the pins.
    ///
    /// # Errors
    /// If something cannot be undone.
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
        // This process owns the programs: they are unloaded when it ends.
        if self.pins.is_none() && self.pid == std::process::id() { Ok(()) } else { gone() }
    }

    /// Ends the owning process, which restores the settings and removes the record itself.
    fn end_process(&self) -> Result<(), Error> {
        let failed = || format!("cannot end process {}, which holds the programs", self.pid);
        kill(Pid::from_raw(self.pid as i32), Signal::SIGTERM).tried(failed)?;
        if comes_true(|| !self.is_alive()) {
            return Ok(());
        }
        Ok(Err(io::Error::from(io::ErrorKind::TimedOut)).tried(failed)?)
    }
}

/// Polls a condition until it is true, for a few seconds at most.
fn comes_true(is_so: impl Fn() -> bool) -> bool {
    (0..STEPS).any(|_| {
        is_so() || {
            std::thread::sleep(Duration::from_millis(20));
            false
        }
    })
}

/// Waits until no socket can use our congestion controls any more: on a busy machine the kernel listed them for some
/// time after their last pin was gone.
fn gone() -> Result<(), Error> {
    let ours = || kernel::available().into_iter().filter(|name| name.starts_with(OURS)).collect::<Vec<_>>();
    if comes_true(|| ours().is_empty()) {
        return Ok(());
    }
    let names = ours().join(", ");
    Err(Error::Refused(format!("everything is unloaded, but the kernel still has {names}: another program uses them")))
}

fn forget() -> Result<(), Error> {
    match fs::remove_file(FILE) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Ok(Err(error).tried(|| format!("cannot remove {FILE}"))?)
        }
        _ => Ok(()),
    }
}

/// Prepares for loading: cleans up after a killed process.
///
/// # Errors
/// If something is loaded already.
pub fn make_room() -> Result<Option<State>, Error> {
    let left = State::read();
    if let Some(state) = &left {
        if state.holds() {
            let place = state.place();
            return Err(Error::Refused(format!(
                "the programs are already {place}: unload them with fourhop-cc unload"
            )));
        }
        state.remove()?;
    }
    if Path::new(FILE).exists() {
        return Err(Error::Refused(format!("{FILE} exists but cannot be read: remove it")));
    }
    if let Some(name) = kernel::available().iter().find(|name| name.starts_with("fh_")) {
        return Err(Error::Refused(format!(
            "a congestion control {name} already exists, from another program or pinned elsewhere than {}",
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

    #[test]
    fn a_process_or_a_folder_holds_the_programs() {
        let state = State { pid: 7, started: 1, pins: None, changes: vec![] };
        assert_eq!(state.place(), "loaded by process 7");
        assert_eq!(State { pins: Some("/pins".into()), ..state }.place(), "pinned in /pins");
    }
}
