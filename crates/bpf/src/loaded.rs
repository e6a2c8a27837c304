//! Loading the programs into the kernel.

use crate::config::Config;
use crate::inventory::OURS;
use crate::kernel::Kernel;
use crate::{Error, Tried, layout};
use fourhop_settings::Network;
use libbpf_rs::{Link, MapCore, MapFlags, MapType, Object, ObjectBuilder, PrintLevel, set_print};
use nix::mount::{MsFlags, mount};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Name of the table with the connections' state.
pub(crate) const CONNECTIONS: &str = "fh_connections";
/// A congestion control that not every kernel supports: its name, the suffix of its programs' names, and whether this
/// kernel supports it.
type Optional = (&'static str, &'static str, fn(&Kernel) -> bool);
const OPTIONAL: [Optional; 2] =
    [("fh_ap_cubic", "_cub", |kernel| kernel.cubic), ("fh_ap2", "_ap2", |kernel| kernel.control)];
/// Default folder of pinned links.
pub const PINS: &str = "/sys/fs/bpf/fourhop";
/// f_type of the BPF file system (BPF_FS_MAGIC of linux/magic.h).
const BPF_FILES: i64 = 0xcafe_4a11;

/// Congestion controls and programs that stay loaded as long as this lives.
#[derive(Debug)]
pub struct Loaded {
    links: Vec<(String, Link)>,
    /// Keeps the tables open.
    object: Object,
}

/// Messages of libbpf; shown only if it fails.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn listen() {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
    set_print(Some((PrintLevel::Warn, |_, text| {
        SAID.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    })));
}

/// All messages.
fn heard() -> String {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).concat()
}

/// The most informative lines: the end of the verifier's log for the first program refused.
fn said() -> String {
    let said = heard();
    let lines: Vec<&str> = said.lines().collect();
    let end = lines.iter().position(|line| line.starts_with("processed ")).unwrap_or(lines.len());
    lines[end.saturating_sub(3)..end].join("; ")
}

/// Opens and loads an object of this crate.
pub(crate) fn open(object: &[u8], change: impl FnOnce(&mut libbpf_rs::OpenObject)) -> Result<Object, Error> {
    listen();
    let mut open = ObjectBuilder::default().open_memory(object).tried("the embedded programs cannot be read")?;
    change(&mut open);
    open.load().map_err(|source| match source.kind() {
        // The verifier has started, so permissions suffice, but has not reached the first instruction.
        libbpf_rs::ErrorKind::PermissionDenied if heard().contains("\nprocessed 0 insns ") => {
            let first = heard().lines().next().unwrap_or_default().to_owned();
            Error::Refused(format!("this kernel refuses a program of this kind, whoever loads it ({first})"))
        }
        libbpf_rs::ErrorKind::PermissionDenied => Error::Refused(
            "loading programs into the kernel needs root, or CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN in the first user \
             namespace; a container usually has none of them"
                .to_owned(),
        ),
        _ => Error::Bpf { what: format!("the kernel refuses the programs ({})", said()), source },
    })
}

/// Congestion controls that this kernel does not support.
fn missing(kernel: &Kernel) -> impl Iterator<Item = Optional> {
    OPTIONAL.into_iter().filter(|(.., possible)| !possible(kernel))
}

impl Loaded {
    /// Loads everything: from then on the congestion controls can be used.
    ///
    /// # Errors
    /// If the kernel refuses; then nothing stays loaded.
    pub fn load(kernel: &Kernel, config: &Config) -> Result<Loaded, Error> {
        let object = open(include_bytes!(concat!(env!("OUT_DIR"), "/cc.bpf.o")), |open| {
            for (name, part, _) in missing(kernel) {
                open.maps_mut().filter(|map| map.name() == name).for_each(|mut map| {
                    // It could be refused only after loading.
                    let _ = map.set_autocreate(false);
                });
                let belongs = |program: &libbpf_rs::OpenProgramMut<'_>| program.name().to_string_lossy().contains(part);
                open.progs_mut().filter(belongs).for_each(|mut program| {
                    program.set_autoload(false);
                });
            }
        })?;
        let mut loaded = Loaded { links: Vec::new(), object };
        loaded.fill(&config.destinations)?;
        let folder = config.cgroup.as_deref().unwrap_or(&kernel.cgroup);
        let cgroup = File::open(folder).map_err(|error| Error::Refused(format!("{}: {error}", folder.display())))?;
        for name in ["fh_ttl", "fh_options"] {
            let program = loaded.object.progs_mut().find(|program| program.name() == name);
            // INVARIANT: c/cc.bpf.c has both.
            let program = program.expect("the object has it");
            let link = program.attach_cgroup(cgroup.as_raw_fd());
            let link = link.tried(format!("{name} cannot be attached to the control group {}", folder.display()))?;
            loaded.links.push((name.to_owned(), link));
        }
        for mut map in loaded.object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
            let name = map.name().to_string_lossy().into_owned();
            if missing(kernel).any(|(missing, ..)| missing == name) {
                continue;
            }
            let link = map.attach_struct_ops().tried(format!("the congestion control {name} cannot be registered"))?;
            loaded.links.push((name, link));
        }
        Ok(loaded)
    }

    fn fill(&self, destinations: &[(Network, layout::Destination)]) -> Result<(), Error> {
        // INVARIANT: c/cc.bpf.c has it.
        let table = self.object.maps().find(|map| map.name() == "fh_destinations").expect("the object has it");
        for (Network(address, bits), destination) in destinations {
            let key = layout::key(*address, *bits);
            let done = table.update(&key, &destination.bytes(), MapFlags::ANY);
            done.tried(format!("{address}/{bits} cannot be put into the kernel's table"))?;
        }
        Ok(())
    }

    /// The congestion controls that are now available.
    pub fn names(&self) -> Vec<&str> {
        let given = self.links.iter().map(|(name, _)| &name[..]);
        given.filter(|name| !["fh_ttl", "fh_options"].contains(name)).collect()
    }

    /// Keeps everything loaded without this process, until [`unpin`].
    ///
    /// # Errors
    /// If the folder is not [`pinnable`]; then nothing stays pinned.
    pub fn pin(mut self, folder: &Path) -> Result<(), Error> {
        let done = self.pin_links(folder);
        if done.is_err() {
            for (_, link) in &mut self.links {
                // A link that is not pinned cannot be unpinned, and is removed with the process.
                let _ = link.unpin();
            }
            let _ = fs::remove_dir(folder);
        }
        done
    }

    fn pin_links(&mut self, folder: &Path) -> Result<(), Error> {
        fs::create_dir(folder).map_err(|error| Error::Refused(format!("{}: {error}", folder.display())))?;
        for (name, link) in &mut self.links {
            let place = folder.join(&name[..]);
            link.pin(&place).tried(format!("{} cannot be pinned", place.display()))?;
        }
        Ok(())
    }
}

/// Whether this folder is in a BPF file system.
fn is_of_bpf(folder: &Path) -> bool {
    nix::sys::statfs::statfs(folder).is_ok_and(|kind| kind.filesystem_type().0 == BPF_FILES)
}

/// Checks that programs can be pinned in this folder, which [`Loaded::pin`] creates.
///
/// # Errors
/// If it exists already, possibly with files of others, or is not in a BPF file system.
pub fn pinnable(folder: &Path) -> Result<(), Error> {
    if folder.exists() {
        return Err(Error::Refused(format!("{} already exists: pin elsewhere", folder.display())));
    }
    let above = folder.parent().unwrap_or(folder);
    // Without systemd nobody has mounted it; its usual mount point has no other use.
    if Path::new(PINS).parent() == Some(above) && above.is_dir() && !is_of_bpf(above) {
        let none = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        // If mounting fails, the check below says what to do.
        let _ = mount(Some("bpf"), above, Some("bpf"), none, Some("mode=700"));
    }
    let kind =
        nix::sys::statfs::statfs(above).map_err(|error| Error::Refused(format!("{}: {error}", above.display())))?;
    if kind.filesystem_type().0 == BPF_FILES {
        return Ok(());
    }
    let above = above.display();
    Err(Error::Refused(format!(
        "{above} is not a BPF file system: mount it (mount -t bpf bpf {above}) or pin elsewhere"
    )))
}

/// Removes what [`Loaded::pin`] has pinned there. Running connections keep their congestion control until they end.
///
/// # Errors
/// If something cannot be removed.
pub fn unpin(folder: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Refused(format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    for entry in entries.iter().filter(|entry| entry.file_name().to_string_lossy().starts_with(OURS)) {
        fs::remove_file(entry.path()).map_err(failed)?;
    }
    fs::remove_dir(folder).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_quotes_the_last_three_lines_before_the_verifiers_totals() {
        listen();
        let log = "libbpf: load failed\n0: (95) exit\nR0 !read_ok\nprocessed 1 insns\nlibbpf: failed\n";
        SAID.lock().unwrap().push(log.to_owned());
        assert_eq!(said(), "libbpf: load failed; 0: (95) exit; R0 !read_ok");
        listen();
        assert_eq!(said(), "", "earlier messages are cleared");
    }
}
