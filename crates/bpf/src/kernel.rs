//! Features of this kernel that the programs need.

use crate::Error;
use libbpf_rs::btf::types::{Func, FuncProto, Struct};
use libbpf_rs::btf::{Btf, BtfType};
use std::fs;
use std::path::{Path, PathBuf};

/// Versions on which everything was tested, see docs/kernel.md; others may work as well.
pub const TRIED: [&str; 2] = ["6.12", "6.18"];

/// Facts about the running kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Version, such as "6.18.44".
    pub release: String,
    /// Whether it has CUBIC, for TCP-AP on top of it.
    pub cubic: bool,
    /// Whether it reports each acknowledgement to an algorithm that owns the window, in the form that AP2 reads.
    pub control: bool,
    /// Root of the version 2 control groups.
    pub cgroup: PathBuf,
}

impl Kernel {
    /// Inspects the running kernel.
    ///
    /// # Errors
    /// If features are missing; the error says how to get them.
    pub fn look() -> Result<Kernel, Error> {
        if !Path::new(BTF).exists() {
            return Err(lacks(
                "type information (/sys/kernel/btf/vmlinux)",
                "use one built with CONFIG_DEBUG_INFO_BTF",
            ));
        }
        let Ok(btf) = Btf::from_vmlinux() else {
            return Err(lacks("readable type information", "/sys/kernel/btf/vmlinux is damaged; boot another kernel"));
        };
        let has = |name| btf.type_by_name::<Struct<'_>>(name).is_some();
        if !has("bpf_struct_ops_tcp_congestion_ops") {
            let why = "use Linux 5.6 or newer, built with CONFIG_BPF_JIT and CONFIG_BPF_SYSCALL";
            return Err(lacks("BPF congestion controls", why));
        }
        if !has("bpf_struct_ops_link") {
            return Err(lacks("BPF links for congestion controls", "use Linux 6.4 or newer"));
        }
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let Some(cgroup) = cgroup(&mounts) else {
            let why = "mount them: mount -t cgroup2 none /sys/fs/cgroup/unified";
            return Err(lacks("mounted control groups of version 2", why));
        };
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
        let cubic = btf.type_by_name::<Func<'_>>("cubictcp_cong_avoid").is_some();
        Ok(Kernel { release, cubic, control: reports_acknowledgements(&btf), cgroup })
    }

    /// A warning if this was not tested on the running kernel.
    pub fn warning(&self) -> Option<String> {
        let (release, tried) = (&self.release, TRIED.join(", "));
        let known = TRIED.iter().any(|known| release.strip_prefix(known).is_some_and(|rest| rest.starts_with('.')));
        (!known).then(|| format!("this was tried on Linux {tried}, not on {release}"))
    }
}

/// Whether `cong_control` takes socket, acknowledgement, flags and sample. Before Linux 6.10 it took only the first and
/// the last.
fn reports_acknowledgements(btf: &Btf<'_>) -> bool {
    let function = btf.type_by_name::<Struct<'_>>("tcp_congestion_ops").and_then(|operations| {
        let member = operations.iter().find(|member| member.name.is_some_and(|name| name == "cong_control"))?;
        let function = btf.type_by_id::<BtfType<'_>>(member.ty)?.next_type()?;
        FuncProto::try_from(function).ok()
    });
    function.is_some_and(|function| function.len() == 4)
}

const BTF: &str = "/sys/kernel/btf/vmlinux";

fn lacks(what: &str, why: &str) -> Error {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Error::Refused(format!("this kernel ({}) lacks {what}: {why}", release.trim()))
}

/// The mount point of version 2 control groups, from /proc/mounts.
fn cgroup(mounts: &str) -> Option<PathBuf> {
    let fields = mounts.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    fields.filter(|fields| fields.get(2) == Some(&"cgroup2")).find_map(|fields| fields.get(1).map(PathBuf::from))
}

/// The congestion controls currently available to sockets, including ours if they are loaded.
pub fn available() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_version_of_control_groups_is_found_beside_the_first() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(cgroup(mounts), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(cgroup("tmpfs / tmpfs rw 0 0\n"), None);
    }

    #[test]
    fn every_kernel_has_newreno() {
        assert!(available().contains(&"reno".to_owned()));
    }

    #[test]
    fn other_kernels_are_warned_of() {
        let of = |release: &str| {
            Kernel { release: release.to_owned(), cubic: true, control: true, cgroup: PathBuf::new() }.warning()
        };
        assert_eq!(of("6.18.44-x"), None);
        assert!(of("6.1.0").is_some() && of("6.180.1").is_some());
    }
}
