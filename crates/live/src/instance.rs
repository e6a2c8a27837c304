//! A single process of a service per network namespace.
//!
//! The lock is on a file (flock(2)) in the service's folder under `/run`, which no other user can open, with the inode
//! number of the network namespace in its name. A socket with an abstract name (unix(7)), which belongs to the network
//! namespace, finds instances in a container with a different `/run`; any user may take that name first, so it counts
//! only if root or this user has it. Both are released when the process ends, however it does; after a kill sometimes a
//! moment later: we think that a child which the process was starting has them until it executes another program.

use crate::{Error, Tried, privileges};
use nix::sys::socket::{getsockopt, sockopt};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a process that has ended may appear to have the lock, and the time between two attempts.
const LINGERS: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(10);

/// The right to be the only process of a service in this network namespace. Children do not inherit it.
#[derive(Debug)]
pub struct Instance {
    path: PathBuf,
    /// Its folder, if it was created here.
    made: Option<PathBuf>,
    _file: File,
    _socket: Option<UnixListener>,
}

impl Instance {
    /// Acquires the right for the service of this name, before anything that belongs to the service is changed. Its
    /// folder in `/run` is created for `user`; without permission for that, the lock is in `else_in`.
    ///
    /// # Errors
    /// If another process has the right; the error names that process.
    pub fn take(service: &str, user: &str, else_in: &Path) -> Result<Instance, Error> {
        Instance::take_in(&[&Path::new("/run").join(service), else_in], service, user)
    }

    fn take_in(folders: &[&Path], service: &str, user: &str) -> Result<Instance, Error> {
        let begun = Instant::now();
        loop {
            match Instance::try_in(folders, service, user)? {
                Ok(instance) => return Ok(instance),
                Err(Some(pid)) if has_ended(pid) && begun.elapsed() < LINGERS => sleep(AGAIN),
                Err(pid) => return Err(taken(service, pid)),
            }
        }
    }

    /// The right, or the process that has it.
    fn try_in(folders: &[&Path], service: &str, user: &str) -> Result<Result<Instance, Option<i32>>, Error> {
        let failed = || format!("cannot check whether another {service} runs in this network namespace");
        let name = format!("{}.lock", std::fs::metadata("/proc/thread-self/ns/net").tried(failed)?.ino());
        let mut refused = None;
        for folder in folders {
            let path = folder.join(&name);
            let made = (!folder.is_dir()).then(|| folder.to_path_buf());
            let open =
                || privileges::folder(folder, user).and_then(|()| lock(&path).tried(|| path.display().to_string()));
            match open() {
                Ok(Ok(file)) => {
                    return Ok(announce(service).map(|socket| Instance { path, made, _file: file, _socket: socket }));
                }
                Ok(Err(pid)) => return Ok(Err(pid)),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        let error = refused.unwrap_or_else(|| Error { what: failed(), source: io::ErrorKind::NotFound.into() });
        Err(match error.source.kind() {
            io::ErrorKind::PermissionDenied => Error { what: error.what + ": run this as root", ..error },
            _ => error,
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // A process without rights to the folder leaves the file behind, unlocked.
        let _ = std::fs::remove_file(&self.path);
        // It stays if it is not empty.
        let _ = self.made.as_ref().map(std::fs::remove_dir);
    }
}

/// Whether there is no such process, or only its zombie.
fn has_ended(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    // The state comes after the name, which may contain anything.
    stat.map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X'])))
}

fn taken(service: &str, pid: Option<i32>) -> Error {
    let process = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
    Error {
        what: format!("{service} already runs in this network namespace{process}"),
        source: io::Error::new(io::ErrorKind::AddrInUse, "stop it first"),
    }
}

/// Locks the file and writes this process id into it; otherwise returns the process that has it locked.
fn lock(path: &Path) -> io::Result<Result<File, Option<i32>>> {
    loop {
        // Do not follow a link that the folder's owner may have placed there.
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text)?;
                return Ok(Err(text.trim().parse().ok()));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The previous process has removed the file between the two calls.
        if std::fs::metadata(path).ok().map(|there| there.ino()) != Some(file.metadata()?.ino()) {
            continue;
        }
        file.set_len(0)?;
        write!(file, "{}", std::process::id())?;
        return Ok(Ok(file));
    }
}

/// Takes the name of the service in this network namespace; `Err`: root or this user has it, in another container.
fn announce(service: &str) -> Result<Option<UnixListener>, Option<i32>> {
    let Ok(address) = SocketAddr::from_abstract_name(service) else { return Ok(None) };
    match UnixListener::bind_addr(&address) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let peer = UnixStream::connect_addr(&address).ok();
            let peer = peer.and_then(|stream| getsockopt(&stream, sockopt::PeerCredentials).ok());
            match peer {
                // A process of another pid namespace has the number zero.
                Some(peer) if peer.uid() == 0 || peer.uid() == nix::unistd::geteuid().as_raw() => {
                    Err(Some(peer.pid()).filter(|&pid| pid != 0))
                }
                _ => Ok(None),
            }
        }
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_process_is_refused_until_the_first_has_gone() {
        let name = format!("fourhop-test-instance-{}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        let nowhere = Path::new("/proc/nowhere");
        let take = |name: &str| Instance::take_in(&[nowhere, &folder], name, "nobody");
        let first = take(&name).unwrap();
        let own = format!("already runs in this network namespace (process {})", std::process::id());
        assert!(take(&name).unwrap_err().to_string().contains(&own));
        // In another container: the file is a different one, the name is the same.
        let elsewhere = folder.join("elsewhere");
        let second = Instance::take_in(&[&elsewhere], &name, "nobody").unwrap_err().to_string();
        assert!(second.contains(&own), "{second}");
        drop(first);
        // A child that another test is starting also has the socket, until it executes another program.
        let begun = Instant::now();
        while let Err(error) = take(&name) {
            assert!(begun.elapsed() < LINGERS, "{error}");
            sleep(AGAIN);
        }
        std::fs::remove_dir_all(folder).unwrap();
        assert!(Instance::take_in(&[nowhere], &name, "nobody").is_err());
    }

    #[test]
    fn a_child_of_a_killed_process_holds_nobody_up() {
        let name = format!("fourhop-test-killed-{}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder).unwrap();
        let mut killed = std::process::Command::new("true").spawn().unwrap();
        killed.wait().unwrap();
        let file = format!("{}.lock", std::fs::metadata("/proc/thread-self/ns/net").unwrap().ino());
        let mut file = File::create(folder.join(file)).unwrap();
        file.lock().unwrap();
        write!(file, "{}", killed.id()).unwrap();
        let child = std::thread::spawn(move || {
            sleep(5 * AGAIN);
            drop(file);
        });
        drop(Instance::take_in(&[&folder], &name, "nobody").unwrap());
        child.join().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }
}
