//! Giving up what a process may: it goes on as another user, with a few capabilities and no way to get others back
//! (capabilities(7)).

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
    /// Ports below 1024.
    BindService = 10,
    /// Routes, addresses, filters, queues of packets.
    NetAdmin = 12,
    /// Sockets for whole packets.
    NetRaw = 13,
}

/// The newest form of the sets of capabilities, `_LINUX_CAPABILITY_VERSION_3`: two words of 32 each.
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

/// A prctl(2) with numbers as arguments.
fn prctl(option: libc::c_int, arguments: [u8; 2]) -> Result<(), Errno> {
    let [second, third] = arguments.map(libc::c_ulong::from);
    // SAFETY: the options used here take numbers and touch no memory of this process.
    Errno::result(unsafe { libc::prctl(option, second, third, 0 as libc::c_ulong, 0 as libc::c_ulong) }).map(drop)
}

/// Sets all three sets of the present thread to these capabilities.
fn set(bits: u64) -> Result<(), Errno> {
    let header = Header { version: VERSION, pid: 0 };
    let word = |word: u32| Set { effective: word, permitted: word, inheritable: word };
    let sets = [word(bits as u32), word((bits >> 32) as u32)];
    // SAFETY: the header says that two sets follow; both live until the call returns, which only reads them.
    let done = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    Errno::result(done).map(drop)
}

/// Gives up everything but these capabilities, which programs that are started later have, too, and goes on as `user`
/// if this is root. Nothing that is started later can get more. To be called before any other thread is there:
/// capabilities are a thread's.
///
/// A process that is not root keeps what it has of `keep`, as a service manager may have given it.
///
/// # Errors
/// If there is no such user, or the system refuses.
pub fn drop_to(user: &str, keep: &[Capability]) -> Result<(), Error> {
    let failed = || format!("cannot switch to user {user}");
    let account = if crate::user::is_root() { Some(find(user)?) } else { None };
    let bits = keep.iter().fold(0, |bits, &one| bits | 1_u64 << one as u8);
    (|| {
        // Root alone may take from the bounding set; for others NO_NEW_PRIVS does as much.
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
        // Ambient ones survive the start of another program (Linux 4.3).
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

/// Has this machine such a user, as whom a service can go on?
///
/// # Errors
/// If it has none.
pub fn known(user: &str) -> Result<(), Error> {
    find(user).map(drop)
}

/// Makes the folder where a service has its socket, and gives it to `user` if this is root. One that is there stays as
/// it is, as does the present one, which is the folder of a path that has none.
///
/// # Errors
/// If it cannot be made, or there is no such user.
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

    /// On a thread of its own, since a thread that has given something up does not get it back.
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
        // As the folder of `state.json`.
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
