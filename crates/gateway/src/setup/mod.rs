//! `setup`: detects the mesh, its routing and the rate of its links, and writes the configuration.

pub mod find;
pub mod rate;
mod write;

use crate::Error;
use find::System;
use fourhop_live::{Tried, screen};
use fourhop_units::Rate;
use rate::Learned;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Command-line options.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// The file.
    pub file: PathBuf,
    /// Devices that lead into the mesh; if empty, they are detected.
    pub devices: Vec<String>,
    /// The rate, if it cannot be determined.
    pub rate: Option<Rate>,
    /// Keep the file's existing keys of the mesh.
    pub fill: bool,
    /// Only print what would be written.
    pub print: bool,
}

/// Detects the mesh, writes the file, and explains it on standard output.
///
/// # Errors
/// If nothing leads into a mesh, its rate cannot be determined, or the file cannot be written.
pub fn run(wanted: &Wanted) -> Result<(), Error> {
    let system = System::look()?;
    let found = system.mesh(&wanted.devices).map_err(Error::Refused)?;
    let learned = match wanted.rate {
        Some(rate) => Learned { rate, how: "named on the command line".to_owned() },
        None => rate::learn(&found, &system.routes).map_err(Error::Refused)?,
    };
    let name = wanted.file.display();
    let before = match std::fs::read_to_string(&wanted.file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.tried(|| name.to_string())?,
    };
    let devices: Vec<_> = found.devices.iter().map(|(device, why)| (device.name.clone(), why.clone())).collect();
    let (text, lines) = write::file(&before, &devices, found.routing, &learned, wanted.fill)
        .map_err(|error| Error::Refused(format!("{name}: {error}")))?;
    if wanted.print {
        return Ok(screen::print(&text)?);
    }
    replace(&wanted.file, &text).tried(|| name.to_string())?;
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    let next = "next: fourhop-gateway check, then start the service";
    Ok(screen::line(format_args!("{name}: written\n{lines}{next}"))?)
}

/// Writes a file completely or not at all.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = file.with_extension("toml.new");
    let written = std::fs::File::create(&new).and_then(|mut out| out.write_all(text.as_bytes()).and(out.sync_all()));
    // If the disk is full, not even an empty file is left.
    written.and_then(|()| std::fs::rename(&new, file)).inspect_err(|_| drop(std::fs::remove_file(new)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_written_as_a_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("fourhop-gateway-setup-{}", std::process::id()));
        let file = folder.join("fourhop").join("gateway.toml");
        replace(&file, "one").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "one", "its folder is made");
        replace(&file, "two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        let taken = folder.join("fourhop").join("folder.toml");
        fs::create_dir(&taken).unwrap();
        replace(&taken, "three").unwrap_err();
        let mut left: Vec<_> =
            fs::read_dir(folder.join("fourhop")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort_unstable();
        assert_eq!(left, ["folder.toml", "gateway.toml"], "nothing else stays");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_device_that_is_not_there_is_refused() {
        let (devices, rate) = (vec!["no-mesh0".to_owned()], Some(Rate::kbps(2_000)));
        let file = "/no/such/file".into();
        let said = run(&Wanted { file, devices, rate, print: true, ..Wanted::default() }).unwrap_err().to_string();
        assert!(said.starts_with("mesh device: found \"no-mesh0\", which is not a device of this machine"), "{said}");
    }
}
