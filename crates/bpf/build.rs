//! Compiles the arithmetic for the host and the kernel's programs for BPF; the latter are embedded in the binary.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// Objects of c/.
const OBJECTS: [&str; 3] = ["cc", "status", "parity"];

fn main() {
    for folder in ["c", "include"] {
        println!("cargo::rerun-if-changed={folder}");
    }
    println!("cargo::rerun-if-env-changed=CLANG");
    cc::Build::new()
        .file("c/host.c")
        .include("include")
        .include("c")
        .warnings(true)
        .extra_warnings(true)
        .compile("fourhop_pace");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let host = env::var("HOST").expect("cargo sets it");
    let arch = host.split('-').next().unwrap_or_default();
    for object in OBJECTS {
        compile(object, arch, &out.join(object).with_extension("bpf.o"));
    }
}

/// Compiles for version 3 of the instruction set, supported since Linux 5.1. No path of this machine gets into the
/// object.
fn compile(object: &str, arch: &str, to: &PathBuf) {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let mut command = Command::new(&clang);
    command.args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror", "-Wno-unused-function"]);
    command.args(["-fdebug-compilation-dir=.", "-Iinclude", "-Ic"]);
    // Where Debian and its derivatives keep the architecture-specific headers; those of this machine also work for BPF.
    command.args(["-idirafter", &format!("/usr/include/{arch}-linux-gnu")]);
    command.args(["-c", &format!("c/{object}.bpf.c"), "-o"]).arg(to);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} cannot compile c/{object}.bpf.c for BPF: {status}"),
        Err(error) => panic!(
            "{clang}: {error}. The programs for the kernel are compiled by clang 14 or newer (CLANG names another \
                one); \
             the loader needs the headers of libelf and zlib too. On Debian: apt-get install clang libelf-dev \
             zlib1g-dev \
             pkg-config make gcc"
        ),
    }
}
