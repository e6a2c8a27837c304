//! The record of a running emulation, used to find its nodes and to clean up after it.

use crate::members::{Member, find};
use crate::program::{MEANT, NODE};
use fourhop_live::host::started;
use fourhop_live::{Error, Tried, namespace, user};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// The folder with the records of running emulations: one for root, and one for each other user.
fn folder() -> PathBuf {
    let user = if user::is_root() { user::outside() } else { Some(nix::unistd::geteuid().as_raw()) };
    user.map_or_else(|| PathBuf::from("/run/fourhop"), |uid| PathBuf::from(format!("/tmp/fourhop-{uid}")))
}

/// Creates that folder, which nobody else can write to.
fn make_folder() -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let folder = folder();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let found = fs::symlink_metadata(&folder)?;
    let own = found.is_dir() && found.uid() == nix::unistd::geteuid().as_raw() && found.mode() & 0o022 == 0;
    let needed = || format!("{} must belong to this user, and nobody else may write to it", folder.display());
    if own { Ok(()) } else { Err(std::io::Error::other(needed())) }
}

/// A running emulation or medium, or one that was killed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct State {
    /// Its name, which is the prefix of its namespaces.
    pub id: String,
    /// The process that runs it.
    pub pid: u32,
    /// When that process started, in ticks since boot: process ids are reused.
    pub started: u64,
    /// The scenario.
    pub scenario: String,
    /// Its nodes.
    pub members: Vec<Member>,
    /// Whether it is a medium, which has no namespaces.
    #[serde(default)]
    pub medium: bool,
    /// Folder of its trace, if it writes one.
    #[serde(default)]
    pub trace: Option<PathBuf>,
}

impl State {
    /// The record of an emulation that this process runs.
    pub fn new(id: &str, scenario: &str, members: &[Member]) -> State {
        let pid = std::process::id();
        let (id, scenario) = (id.to_owned(), scenario.to_owned());
        let (started, members) = (started(pid).unwrap_or(0), members.to_vec());
        State { id, pid, started, scenario, members, medium: false, trace: None }
    }

    /// Name of the namespace of a node.
    pub fn namespace(&self, member: &Member) -> String {
        format!("{}-{}", self.id, member.name)
    }

    /// The node of that name.
    pub fn find(&self, name: &str) -> Option<&Member> {
        find(&self.members, name)
    }

    /// Whether the process that runs it is still alive.
    pub fn is_alive(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// Writes the record, unless one of this name exists.
    ///
    /// # Errors
    /// If one exists, or it cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        let file = file(&self.id);
        let failed = || format!("cannot write {}", file.display());
        make_folder().tried(failed)?;
        let text = serde_json::to_vec(self).map_err(std::io::Error::from).tried(failed)?;
        let made = fs::File::create_new(&file).and_then(|mut made| std::io::Write::write_all(&mut made, &text));
        if made.as_ref().is_err_and(|error| error.kind() != std::io::ErrorKind::AlreadyExists) {
            // Incomplete files are ignored.
            let _ = fs::remove_file(&file);
        }
        let there = |error: &std::io::Error| error.kind() == std::io::ErrorKind::AlreadyExists;
        match made {
            Err(error) if there(&error) => Err(error).tried(|| {
                let id = &self.id;
                format!(
                    "an emulation called {id} already exists; choose another --name, or, if it was killed, \
                     remove it with fourhop emulate --clean"
                )
            }),
            made => made.tried(failed),
        }
    }

    /// Removes everything the system has of it: processes in its nodes, namespaces, files.
    ///
    /// # Errors
    /// The first failure; the rest is still removed.
    pub fn remove(&self) -> Result<(), Error> {
        let names: Vec<_> = self.members.iter().map(|member| self.namespace(member)).collect();
        let mut namespaces = namespace::identities(names.iter().map(String::as_str));
        if namespaces.is_empty() {
            // The mounts of a killed emulation of a user are gone; programs in its nodes are not.
            let (own, inside) = (format!("{MEANT}={}\0", self.id), format!("{NODE}="));
            namespaces = namespace::of_marked(&[own.as_bytes(), inside.as_bytes()]);
        }
        let mut done = Ok(());
        for name in &names {
            done = done.and(namespace::remove(name));
            match fs::remove_dir_all(namespace::etc().join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    done =
                        done.and(Err(error).tried(|| format!("cannot remove {}/{name}", namespace::etc().display())));
                }
                _ => {}
            }
        }
        // Without a name nobody can enter them any more.
        end_processes(&namespaces);
        let _ = fs::remove_file(changes(&self.id));
        let file = file(&self.id);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                done.and(Err(error).tried(|| format!("cannot remove {}", file.display())))
            }
            _ => done,
        }
    }
}

fn file(id: &str) -> PathBuf {
    folder().join(id).with_extension("json")
}

/// The socket at which the emulation of this name accepts changes.
pub fn changes(id: &str) -> PathBuf {
    folder().join(id).with_extension("change")
}

/// All records, sorted by name, except unreadable ones.
pub fn all() -> Vec<State> {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let written = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "json"));
    let texts = written.filter_map(|entry| fs::read(entry.path()).ok());
    let mut states: Vec<State> = texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect();
    states.sort_by(|a, b| a.id.cmp(&b.id));
    states
}

/// How long programs in the nodes have to exit after SIGTERM, in steps of 20 ms.
const STEPS: u32 = 50;

/// Ends the programs in these namespaces, with SIGTERM first.
fn end_processes(namespaces: &[namespace::Identity]) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let inside = || namespace::processes(namespaces);
    let send = |signal: Signal| inside().into_iter().filter(|&pid| kill(Pid::from_raw(pid), signal).is_ok()).count();
    if send(Signal::SIGTERM) == 0 {
        return;
    }
    for _ in 0..STEPS {
        if inside().is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    send(Signal::SIGKILL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::NodeId;

    #[test]
    fn a_process_that_has_ended_is_not_taken_for_its_successor() {
        let node = NodeId(0);
        let (name, label) = ("roof".to_owned(), "roof".to_owned());
        let roof = Member { name, label, also: vec!["gateway-1".to_owned()], address: node.ipv4(), node };
        let state = State::new("t", "x.toml", &[roof]);
        assert!(state.is_alive());
        assert!(!State { started: state.started + 1, ..state.clone() }.is_alive());
        assert_eq!(state.find("gateway-1").map(|member| state.namespace(member)), Some("t-roof".to_owned()));
        assert_eq!(state.find("n0"), None);
    }
}
