//! The configuration file, which is reloaded when this process is no longer root.

use crate::Error;
use crate::config::Config;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file, kept open since the start: a file that only root may read can be reloaded this way, as long as it is the
/// same file.
#[derive(Debug)]
pub struct Reread {
    path: PathBuf,
    opened: Option<File>,
}

impl Reread {
    /// Opens this file. [`Config::read`] reports a missing one.
    pub fn of(path: &Path) -> Reread {
        Reread { path: path.to_owned(), opened: File::open(path).ok() }
    }

    /// The current content, for a process that runs as `user`.
    ///
    /// # Errors
    /// If it cannot be read, or is invalid.
    pub fn read(&mut self, user: &str) -> Result<Config, Error> {
        match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            _ => return Ok(Config::read(&self.path)?),
        }
        let name = self.path.display().to_string();
        match self.kept() {
            Some(text) => Ok(Config::parse_as(&text, &name)?),
            None => Err(Error::Refused(format!(
                "{name}: found a new file that user {user} may not read; allow it (chmod o+r), or restart the gateway"
            ))),
        }
    }

    /// The content of the open file, unless it was replaced by another.
    fn kept(&mut self) -> Option<String> {
        let opened = self.opened.as_mut()?;
        let there = fs::metadata(&self.path).ok()?;
        let same = opened.metadata().ok()?;
        if (there.dev(), there.ino()) != (same.dev(), same.ino()) {
            return None;
        }
        let mut text = String::new();
        opened.rewind().ok()?;
        opened.read_to_string(&mut text).ok()?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::Rate;

    const LEAST: &str = "[mesh]\ndevices = ['mesh0']\nrate = '2Mbps'\n";

    fn file(name: &str, text: &str) -> PathBuf {
        let file = std::env::temp_dir().join(format!("fourhop-gateway-{name}-{}", std::process::id()));
        fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn the_file_is_read_as_it_is_now() {
        let path = file("reread", LEAST);
        let mut reread = Reread::of(&path);
        assert_eq!(reread.read("nobody").unwrap().rate, Rate::kbps(2_000));
        fs::write(&path, LEAST.replace("2Mbps", "3Mbps")).unwrap();
        assert_eq!(reread.read("nobody").unwrap().rate, Rate::kbps(3_000));
        fs::write(&path, "[mesh]\n").unwrap();
        assert!(reread.read("nobody").unwrap_err().to_string().contains("mesh.devices: missing"));
        fs::remove_file(&path).unwrap();
        assert!(reread.read("nobody").unwrap_err().to_string().contains(&path.display().to_string()));
    }

    #[test]
    fn what_was_opened_is_read_again_and_no_file_in_its_place() {
        let path = file("kept", "one");
        let mut reread = Reread::of(&path);
        assert_eq!(reread.kept().as_deref(), Some("one"));
        fs::write(&path, "another").unwrap();
        assert_eq!([reread.kept(), reread.kept()], [Some("another".to_owned()), Some("another".to_owned())]);
        let new = file("new", "a new one");
        fs::rename(new, &path).unwrap();
        assert_eq!(reread.kept(), None);
        assert_eq!(Reread::of(&path).kept().as_deref(), Some("a new one"));
        fs::remove_file(&path).unwrap();
        assert_eq!((reread.kept(), Reread::of(&path).kept()), (None, None));
    }
}
