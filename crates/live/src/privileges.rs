//! Dropping the privileges of a process: it continues as another user, with a few capabilities and no way to regain
//! others (capabilities(7)).

use crate::{Error, Tried};
use nix::errno::Errno;
use nix::unistd::{Gid, Uid, User, chown, setgroups, setresgid, setresuid};
use std::fs;
use std::io;
use std::path::Path;

/// Rights of a process beyond those of its user (linux/capability.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Capability {
    /// Binding ports below 1024.
    BindService = 10,
    /// Changing routes, addresses and filters, and using packet queues.
    NetAdmin = 12,
    /// Opening raw packet sockets.
    NetRaw = 13,
}

/// The newest layout of capability sets, `_LINUX_CAPABILITY_VERSION_3`: two words of 32 bits each.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Set {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Calls prctl(2) with numbers as arguments.
fn prctl(option: libc::c_int, arguments: [u8; 2]) -> Result<(), Errno> {
    let [second, third] = arguments.map(libc::c_ulong::from);
    // SAFETY: the options used here take numbers and touch no memory of this process.
    Errno::result(unsafe { libc::prctl(option, second, third, 0 as libc::c_ulong, 0 as libc::c_ulong) }).map(drop)
}

/// Sets all three capability sets of the current thread to these capabilities.
fn set(bits: u64) -> Result<(), Errno> {
    let header = Header { version: VERSION, pid: 0 };
    let word = |word: u32| Set { effective: word, permitted: word, inheritable: word };
    let sets = [word(bits as u32), word((bits >> 32) as u32)];
    // SAFETY: the header says that two sets follow; both live until the call returns, which only reads them.
    let done = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    Errno::result(done).map(drop)
}

/// Drops all capabilities but these, which are passed on to programs started later, and continues as `user` if this
/// process is root. Nothing started later can gain more. Must be called before any other thread exists: capabilities
/// are per thread.
///
/// A process that is not root keeps those of `keep` that it has, as a service manager may have granted them.
///
/// # Errors
/// If there is no such user, or the system refuses.
pub fn drop_to(user: &str, keep: &[Capability]) -> Result<(), Error> {
    let failed = || format!("cannot switch to user {user}");
    let account = if crate::user::is_root() { Some(find(user)?) } else { None };
    let bits = keep.iter().fold(0, |bits, &one| bits | 1_u64 << one as u8);
    (|| {
        // Only root may drop from the bounding set; for others NO_NEW_PRIVS has the same effect.
        if account.is_some() {
            let others = (0..64).filter(|bit| bits >> bit & 1 == 0);
            others.map_while(|bit| prctl(libc::PR_CAPBSET_DROP, [bit, 0]).ok()).for_each(drop);
        }
        if let Some((uid, gid)) = account {
            nix::sys::prctl::set_keepcaps(true)?;
            setgroups(&[])?;
            setresgid(gid, gid, gid)?;
            setresuid(uid, uid, uid)?;
        }
        set(bits)?;
        // Ambient capabilities survive the execution of another program (Linux 4.3).
        keep.iter().try_for_each(|&one| prctl(libc::PR_CAP_AMBIENT, [libc::PR_CAP_AMBIENT_RAISE as u8, one as u8]))?;
        nix::sys::prctl::set_no_new_privs()
    })()
    .tried(failed)
}

fn find(user: &str) -> Result<(Uid, Gid), Error> {
    let failed = || format!("user {user}");
    let found = User::from_name(user).tried(failed)?;
    let missing = || io::Error::new(io::ErrorKind::NotFound, "this machine has no such user");
    let found = found.ok_or_else(missing).tried(failed)?;
    Ok((found.uid, found.gid))
}

/// Checks that this machine has such a user, as which a service can continue.
///
/// # Errors
/// If there is no such user.
pub fn known(user: &str) -> Result<(), Error> {
    find(user).map(drop)
}

/// Creates the folder of a service's socket, and gives it to `user` if this process is root. An existing folder is left
/// alone, and so is the current one, to which a path without a folder refers.
///
/// # Errors
/// If it cannot be created, or there is no such user.
pub fn folder(path: &Path, user: &str) -> Result<(), Error> {
    let failed = || format!("{}", path.display());
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path).tried(failed)?;
    if crate::user::is_root() {
        let (uid, gid) = find(user)?;
        chown(path, Some(uid), Some(gid)).tried(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a separate thread, because a thread that has dropped something cannot regain it.
    #[test]
    fn a_thread_keeps_what_is_named() {
        if !crate::user::is_root() {
            return;
        }
        let sets = std::thread::spawn(|| {
            set(1 << Capability::NetAdmin as u8).unwrap();
            fs::read_to_string("/proc/thread-self/status").unwrap()
        });
        let status = sets.join().unwrap();
        let of = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        assert_eq!((of("CapEff:"), of("CapPrm:")), ("0000000000001000".to_owned(), "0000000000001000".to_owned()));
    }

    #[test]
    fn a_user_that_is_not_there_is_named() {
        let error = find("nobody-of-that-name").unwrap_err().to_string();
        assert!(error.contains("user nobody-of-that-name"), "{error}");
    }

    #[test]
    fn a_folder_is_made_for_a_user_and_one_that_is_there_is_left_alone() {
        // The folder of `state.json`, for example.
        folder(Path::new(""), "root").unwrap();
        assert!(known("root").is_ok() && known("nobody-of-that-name").is_err());
        let path = std::env::temp_dir().join(format!("fourhop-folder-{}", std::process::id()));
        folder(&path.join("deep"), "root").unwrap();
        folder(&path.join("deep"), "nobody-of-that-name").unwrap();
        let found = folder(&path.join("other"), "nobody-of-that-name");
        assert_eq!(found.is_err(), crate::user::is_root(), "root gives it away");
        fs::write(path.join("file"), "").unwrap();
        let error = folder(&path.join("file"), "root").unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", path.join("file").display())), "{error}");
        fs::remove_dir_all(path).unwrap();
    }
}
