//! Bakes a fingerprint of the simulator's sources into the extension module. Stored results carry it, so an engine
//! rebuilt from other code with the same version never mistakes them for its own.
//!
//! It covers the sources and manifests of this crate and of every workspace crate it depends on, and what Cargo.lock
//! says of everything they depend on: a dependency of the programs for Linux makes no stored run stale. It does not
//! cover the compiler, the machine or the build profile, because results do not depend on them.

#![expect(clippy::disallowed_methods, reason = "it reads the sources; the wall is about what runs in a simulation")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let this = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let crates = this.parent().expect("crates/py has a parent").to_owned();
    let mut names = BTreeSet::new();
    reach(&crates, "py", &mut names)?;

    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let lock = fs::read_to_string(crates.join("../Cargo.lock"))?;
    let mut files = Vec::new();
    for name in &names {
        for part in ["Cargo.toml", "src"] {
            println!("cargo::rerun-if-changed=../{name}/{part}");
            gather(&format!("{name}/{part}"), crates.join(name).join(part), &mut files)?;
        }
    }
    // By name, whatever order the file system lists them in.
    files.sort();
    let mut hash = Fnv::new();
    for package in locked(&lock, "fourhop-py") {
        hash.add(package.as_bytes());
    }
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

/// Entries of the lock for a package and all its dependencies, in the order of the lock.
fn locked<'a>(lock: &'a str, root: &str) -> Vec<&'a str> {
    let packages: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    let mut reached = vec![false; packages.len()];
    let mut open = vec![root.to_owned()];
    while let Some(wanted) = open.pop() {
        // A dependency is written `name`, or `name version` where the lock has several of that name.
        let mut words = wanted.split(' ');
        let (name, version) = (words.next().unwrap_or(""), words.next());
        for (package, reached) in packages.iter().zip(&mut reached) {
            let is = |key: &str, value: &str| package.contains(&format!("\n{key} = \"{value}\"\n"));
            if !*reached && is("name", name) && version.is_none_or(|version| is("version", version)) {
                *reached = true;
                let dependencies = package.split_once("dependencies = [").map_or("", |(_, list)| list);
                open.extend(dependencies.split('"').skip(1).step_by(2).map(str::to_owned));
            }
        }
    }
    packages.into_iter().zip(reached).filter_map(|(package, reached)| reached.then_some(package)).collect()
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
