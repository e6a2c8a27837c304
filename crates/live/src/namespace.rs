//! Named network namespaces, in the place where `ip netns` keeps them.
//!
//! A namespace belongs to a thread: work inside it is done on a thread that has entered it and ends there.

use crate::{Error, Tried};
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folder of the names (ip-netns(8)).
pub const FOLDER: &str = "/run/netns";
/// Folder that contains, by namespace, folders with files to override those of the same name in /etc: where ip-netns(8)
/// looks for them or, in a user namespace, where they can be created.
pub fn etc() -> &'static Path {
    Path::new(if crate::user::outside().is_none() { "/etc/netns" } else { "/run/etc" })
}

/// The namespace of the current thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// Prepares the folder of the names: a separate mount, so that namespaces can be mounted there and are visible to all.
///
/// # Errors
/// If this process may not mount.
pub fn prepare() -> Result<(), Error> {
    let failed = || format!("cannot prepare {FOLDER} for namespaces");
    fs::create_dir_all(FOLDER).tried(failed)?;
    let shared = || mount(None::<&str>, FOLDER, None::<&str>, MsFlags::MS_SHARED | MsFlags::MS_REC, None::<&str>);
    match shared() {
        // It is not a mount yet.
        Err(Errno::EINVAL) => {
            mount(Some(FOLDER), FOLDER, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)
                .tried(failed)?;
            shared().tried(failed)
        }
        other => other.tried(failed),
    }
}

/// The path of the namespace of that name.
pub fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// Moves the current thread, which must have no other use, into a new namespace of that name.
///
/// # Errors
/// If this process may not create namespaces, or one of that name exists.
pub fn create(name: &str) -> Result<(), Error> {
    let path = path(name);
    let failed = || format!("cannot create the network namespace {name}");
    File::create_new(&path).tried(failed)?;
    let made = unshare(CloneFlags::CLONE_NEWNET)
        .and_then(|()| mount(Some(OWN), &path, None::<&str>, MsFlags::MS_BIND, None::<&str>));
    if made.is_err() {
        let _ = fs::remove_file(&path);
    }
    made.tried(failed)
}

/// Moves the current thread into the namespace of that name.
///
/// # Errors
/// If there is none, or this process may not enter it.
pub fn enter(name: &str) -> Result<(), Error> {
    let failed = || format!("cannot enter the network namespace {name}");
    let file = File::open(path(name)).tried(failed)?;
    setns(file, CloneFlags::CLONE_NEWNET).tried(failed)
}

/// The network namespaces of the host, one file each: that of this thread, those with a name, and those of the
/// processes that this one may inspect.
pub fn all() -> Vec<File> {
    let entries = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let of_processes = entries("/proc").map(|process| process.join("ns/net"));
    among(std::iter::once(PathBuf::from(OWN)).chain(entries(FOLDER)).chain(of_processes))
}

/// The namespaces behind these files, without duplicates. `ip netns add` creates an empty file and mounts the namespace
/// on it afterwards; until then the file is not on the device of the namespaces.
fn among(places: impl Iterator<Item = PathBuf>) -> Vec<File> {
    let Ok(own) = fs::metadata(OWN) else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let open = |place| {
        let file = File::open(place).ok()?;
        let found = file.metadata().ok()?;
        (found.dev() == own.dev() && seen.insert(found.ino())).then_some(file)
    };
    places.filter_map(open).collect()
}

/// Moves the current thread into the namespace of that file.
///
/// # Errors
/// If this process may not enter it.
pub fn enter_file(file: &File) -> Result<(), Error> {
    setns(file, CloneFlags::CLONE_NEWNET).tried(|| "cannot enter a network namespace".to_owned())
}

/// Moves the current thread into the namespace of that name, with the files that [`etc`] has for it: a program started
/// from it finds them in /etc. The rest of the file system stays unchanged, including /sys.
///
/// # Errors
/// If there is none, or this process may not enter it.
pub fn enter_with_files(name: &str) -> Result<(), Error> {
    enter(name)?;
    // Removing a namespace removes its name and then ends its processes: this may have happened in between.
    if identity(&path(name)) != identity(Path::new("/proc/thread-self/ns/net")) {
        return Err(io::Error::from(io::ErrorKind::NotFound))
            .tried(|| format!("the network namespace {name} has ended"));
    }
    let failed = || format!("cannot mount the files of programs in {name}");
    // Both together, because the root folder of threads that share it cannot be in another mount namespace.
    unshare(CloneFlags::CLONE_FS | CloneFlags::CLONE_NEWNS).tried(failed)?;
    // Mounts made here are invisible to others.
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_SLAVE | MsFlags::MS_REC, None::<&str>).tried(failed)?;
    let Ok(files) = fs::read_dir(etc().join(name)) else { return Ok(()) };
    for file in files.flatten() {
        let place = Path::new("/etc").join(file.file_name());
        mount(Some(&file.path()), &place, None::<&str>, MsFlags::MS_BIND, None::<&str>).tried(failed)?;
    }
    Ok(())
}

/// Runs `work` on a separate thread, which may enter namespaces because it ends afterwards.
///
/// # Errors
/// Those of `work`.
///
/// # Panics
/// If `work` does.
pub fn on_a_thread<T: Send, E: Send>(work: impl FnOnce() -> Result<T, E> + Send) -> Result<T, E> {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// Removes the name, and the namespace if nobody is in it. A missing one is no error.
///
/// # Errors
/// If this process may not unmount.
pub fn remove(name: &str) -> Result<(), Error> {
    let path = path(name);
    let failed = || format!("cannot remove the network namespace {name}");
    match umount2(&path, MntFlags::MNT_DETACH) {
        // There is no such name, or it is a file with nothing mounted on it.
        Ok(()) | Err(Errno::ENOENT | Errno::EINVAL) => {}
        Err(error) => return Err(io::Error::from(error)).tried(failed),
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).tried(failed),
        _ => Ok(()),
    }
}

/// The identity of a namespace, independent of its name: device and inode of its file.
pub type Identity = (u64, u64);

/// The namespace that a file represents.
fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// The existing namespaces of these names; the identities stay valid if the names are removed.
pub fn identities<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Identity> {
    names.into_iter().filter_map(|name| identity(&path(name))).collect()
}

/// The processes in any of these namespaces.
pub fn processes(wanted: &[Identity]) -> Vec<i32> {
    let inside = |pid: &i32| identity(Path::new(&format!("/proc/{pid}/ns/net"))).is_some_and(|id| wanted.contains(&id));
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).filter(inside).collect()
}

/// The namespaces, other than the current one, of this user's processes whose environment has a variable beginning with
/// each of `marks`. They are found whatever their names are and wherever those are mounted, as long as a process is in
/// them.
pub fn of_marked(marks: &[&[u8]]) -> Vec<Identity> {
    let user = nix::unistd::geteuid().as_raw();
    let own = identity(Path::new(OWN));
    let namespace = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<i32>().ok()?;
        let place = entry.path();
        let variables = fs::read(place.join("environ")).ok()?;
        // Each variable ends with a zero byte, which a mark may include.
        let has = |mark: &&[u8]| variables.split_inclusive(|&byte| byte == 0).any(|one| one.starts_with(mark));
        let marked = marks.iter().all(has) && fs::metadata(&place).is_ok_and(|found| found.uid() == user);
        identity(&place.join("ns/net")).filter(|id| marked && Some(*id) != own)
    };
    let mut found: Vec<_> = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(namespace).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Sets a kernel variable (sysctl) for the namespace of the current thread.
///
/// # Errors
/// If there is no such variable, or this process may not write it.
pub fn set_variable(name: &str, value: &str) -> Result<(), Error> {
    fs::write(Path::new("/proc/sys").join(name), value).tried(|| format!("cannot set {name} to {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_on_which_nothing_is_mounted_is_no_namespace() {
        let folder = std::env::temp_dir().join(format!("fourhop-namespaces-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let name = folder.join("name");
        File::create(&name).unwrap();
        let found = among([name, PathBuf::from(OWN), PathBuf::from(OWN)].into_iter());
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].metadata().unwrap().ino(), fs::metadata(OWN).unwrap().ino());
    }

    #[test]
    fn the_processes_of_a_namespace_are_found_by_its_identity() {
        let own = identity(Path::new(OWN)).unwrap();
        let pid = std::process::id() as i32;
        assert!(processes(&[own]).contains(&pid) && !processes(&[(own.0, own.1 + 1)]).contains(&pid));
        assert_eq!(processes(&[]), [] as [i32; 0]);
        assert!(all().iter().any(|file| file.metadata().unwrap().ino() == own.1));
        let missing = format!("fourhop-none-{pid}");
        assert!(identities([missing.as_str()]).is_empty());
        assert_eq!(path("name"), Path::new("/run/netns/name"));
        let error = enter(&missing).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot enter the network namespace {missing}: ")), "{error}");
        let error = set_variable("net/fourhop/none", "1").unwrap_err().to_string();
        assert!(error.starts_with("cannot set net/fourhop/none to 1: "), "{error}");
    }

    #[test]
    fn a_thread_enters_the_namespace_of_a_file() {
        let here = File::open(OWN).unwrap();
        crate::test_network::in_namespace(|| {
            assert_ne!(identity(Path::new(OWN)), identity(Path::new("/proc/self/ns/net")), "the test's own");
            enter_file(&here).unwrap();
            assert_eq!(identity(Path::new(OWN)), identity(Path::new("/proc/self/ns/net")));
        });
    }

    #[test]
    fn work_on_a_thread_gives_its_result() {
        assert_eq!(on_a_thread(|| Ok::<_, ()>(5)), Ok(5));
        assert_eq!(on_a_thread(|| Err::<(), _>(6)), Err(6));
    }
}
