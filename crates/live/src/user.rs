//! User namespaces: how users other than root get their own network namespaces and devices (user_namespaces(7)).

use crate::{Error, Tried};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};
use std::fs::{self, File};

/// The uid outside of the namespace of the user that is root here; `None` if that is root itself, or if there is no
/// root here.
pub fn outside() -> Option<u32> {
    let map = fs::read_to_string("/proc/self/uid_map").ok()?;
    let mut numbers = map.split_ascii_whitespace();
    let (inside, outside) = (numbers.next()?, numbers.next()?);
    if inside == "0" { outside.parse().ok().filter(|&uid| uid != 0) } else { None }
}

/// Whether this process is root, outside or in a user namespace.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// Makes this process, which must have no other thread, root of a new user namespace with an empty /run, where names of
/// namespaces can be created.
///
/// # Errors
/// If the system gives its users no namespaces.
pub fn become_root() -> Result<(), Error> {
    let (uid, gid) = (geteuid(), getegid());
    let failed = || "cannot create a user namespace".to_owned();
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).tried(failed)?;
    // Groups must be given up before they may be mapped (user_namespaces(7), since Linux 3.19).
    fs::write("/proc/self/setgroups", "deny").tried(failed)?;
    fs::write("/proc/self/uid_map", format!("0 {uid} 1")).tried(failed)?;
    fs::write("/proc/self/gid_map", format!("0 {gid} 1")).tried(failed)?;
    mount(Some("run"), "/run", Some("tmpfs"), MsFlags::empty(), Some("mode=755")).tried(failed)
}

/// Moves this process, which must have no other thread, into the user and mount namespaces of another process.
///
/// # Errors
/// If that process has ended, or belongs to another user.
pub fn enter(pid: u32) -> Result<(), Error> {
    for (name, kind) in [("user", CloneFlags::CLONE_NEWUSER), ("mnt", CloneFlags::CLONE_NEWNS)] {
        let failed = || format!("cannot enter the namespaces of process {pid}");
        let file = File::open(format!("/proc/{pid}/ns/{name}")).tried(failed)?;
        setns(file, kind).tried(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn root_is_who_has_the_number_zero_and_outside_of_a_namespace_it_has_no_other() {
        // Its files in /proc belong to its effective user.
        assert_eq!(is_root(), fs::metadata("/proc/self").unwrap().uid() == 0);
        let map = fs::read_to_string("/proc/self/uid_map").unwrap();
        let first: Vec<u32> = map.split_ascii_whitespace().take(2).map(|number| number.parse().unwrap()).collect();
        assert_eq!(outside().is_some(), first[0] == 0 && first[1] != 0, "{map}");
        assert!(outside().is_none_or(|number| number == first[1]));
    }
}
