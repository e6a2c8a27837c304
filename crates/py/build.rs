//! Bakes a fingerprint of the simulator's sources into the extension module. Stored results carry it, so an engine
//! rebuilt from other code with the same version never mistakes them for its own.
//!
//! It covers the sources and manifests of this crate and of every workspace crate it depends on, and Cargo.lock. It
//! does not cover the compiler, the machine or the build profile, because results do not depend on them.

#![expect(clippy::disallowed_methods, reason = "it reads the sources; the wall is about what runs in a simulation")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let this = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let crates = this.parent().expect("crates/py has a parent").to_owned();
    let mut names = BTreeSet::new();
    reach(&crates, "py", &mut names)?;

    let mut files = vec![("Cargo.lock".to_owned(), crates.join("../Cargo.lock"))];
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    for name in &names {
        for part in ["Cargo.toml", "src"] {
            println!("cargo::rerun-if-changed=../{name}/{part}");
            gather(&format!("{name}/{part}"), crates.join(name).join(part), &mut files)?;
        }
    }
    // By name, whatever order the file system lists them in.
    files.sort();
    let mut hash = Fnv::new();
    for (name, path) in &files {
        let content = fs::read(path)?;
        hash.add(name.as_bytes());
        // The length tells the end of one file from the beginning of the next.
        hash.add(&(content.len() as u64).to_le_bytes());
        hash.add(&content);
    }
    println!("cargo::rustc-env=FOURHOP_BUILD={:016x}", hash.0 as u64 ^ (hash.0 >> 64) as u64);
    Ok(())
}

/// Adds crate `name` and the workspace crates its manifest names, and theirs.
fn reach(crates: &Path, name: &str, names: &mut BTreeSet<String>) -> io::Result<()> {
    if names.insert(name.to_owned()) {
        let manifest = fs::read_to_string(crates.join(name).join("Cargo.toml"))?;
        for line in manifest.lines() {
            let after = line.strip_prefix("fourhop-").unwrap_or("");
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(after.len());
            if !after[..end].is_empty() && crates.join(&after[..end]).is_dir() {
                reach(crates, &after[..end], names)?;
            }
        }
    }
    Ok(())
}

/// Adds the file at `path`, or every file below it.
fn gather(name: &str, path: PathBuf, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    if !path.is_dir() {
        files.push((name.to_owned(), path));
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        gather(&format!("{name}/{}", entry.file_name().to_string_lossy()), entry.path(), files)?;
    }
    Ok(())
}

/// FNV-1a, 128 bits: the standard library promises no hash that stays the same from release to release.
struct Fnv(u128);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0x6c62272e07bb014262b821756295c58d)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000000001000000000000000000013b);
        }
    }
}
