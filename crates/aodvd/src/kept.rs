//! State that survives a restart: the numbers of RFC 3561 section 6.13, and system settings to restore if this process
//! is killed.
//!
//! The numbers in the file are ahead of those in use. The daemon therefore writes it once per thousand requests, with
//! keys twice an hour, and never reuses a number after it was killed. Nor does it reuse a timestamp of its
//! authenticated messages if its clock is then behind, as on a router without a battery: neighbours would refuse them
//! as replayed.

use crate::Error;
use crate::engine::Numbers;
use fourhop_live::Tried;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How far the numbers in the file are ahead.
const AHEAD: u32 = 1_000;
/// How far the timestamp in the file is ahead, in microseconds: an hour.
const STAMP_AHEAD: u64 = 3_600_000_000;

/// A kernel variable that was changed, and its earlier value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Variable {
    /// Its name below /proc/sys.
    pub name: String,
    /// Its earlier value.
    pub before: String,
}

/// Content of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Content {
    /// The address to which the numbers belong.
    address: Option<std::net::Ipv4Addr>,
    seqno: u32,
    rreq_id: u32,
    stamp: u64,
    /// Variables to restore.
    pub variables: Vec<Variable>,
}

/// The file.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    content: Content,
}

impl Kept {
    /// Reads the file, which may be missing. An invalid one counts as missing, and is replaced.
    ///
    /// # Errors
    /// If it exists and cannot be read.
    pub fn read(path: &Path) -> Result<Kept, Error> {
        let failed = || path.display().to_string();
        let content = match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Content::default(),
            Err(error) => return Ok(Err(error).tried(failed)?),
        };
        Ok(Kept { path: path.to_owned(), content })
    }

    /// The numbers of this address, if any.
    pub fn numbers(&self, address: std::net::Ipv4Addr) -> Option<Numbers> {
        let Content { seqno, rreq_id, stamp, .. } = self.content;
        (self.content.address == Some(address)).then_some(Numbers { seqno, rreq_id, stamp })
    }

    /// Takes the earlier values to restore.
    pub fn take_variables(&mut self) -> Vec<Variable> {
        std::mem::take(&mut self.content.variables)
    }

    /// Records the variables that are set from now on.
    pub fn set_variables(&mut self, variables: Vec<Variable>) {
        self.content.variables = variables;
    }

    /// Writes the file if these numbers have come close to those in it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep_ahead(&mut self, address: std::net::Ipv4Addr, numbers: Numbers) -> Result<(), Error> {
        let left = |kept: u32, used: u32| kept.wrapping_sub(used).wrapping_sub(1) < AHEAD;
        let near = !left(self.content.seqno, numbers.seqno) || !left(self.content.rreq_id, numbers.rreq_id);
        let late = numbers.stamp > 0 && self.content.stamp.saturating_sub(numbers.stamp) < STAMP_AHEAD / 2;
        if self.content.address == Some(address) && !near && !late {
            return Ok(());
        }
        self.write_ahead(address, numbers)
    }

    /// Writes numbers ahead of these.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_ahead(&mut self, address: std::net::Ipv4Addr, numbers: Numbers) -> Result<(), Error> {
        let (seqno, rreq_id) = (numbers.seqno.wrapping_add(AHEAD), numbers.rreq_id.wrapping_add(AHEAD));
        // Zero: no message has been authenticated.
        let stamp = if numbers.stamp == 0 { 0 } else { numbers.stamp + STAMP_AHEAD };
        self.write(address, Numbers { seqno, rreq_id, stamp })
    }

    /// Writes exactly these numbers.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, address: std::net::Ipv4Addr, numbers: Numbers) -> Result<(), Error> {
        let Numbers { seqno, rreq_id, stamp } = numbers;
        let variables = self.content.variables.clone();
        let new = Content { address: Some(address), seqno, rreq_id, stamp, variables };
        let before = std::mem::replace(&mut self.content, new);
        // The next call tries again.
        self.save().inspect_err(|_| self.content = before)
    }

    /// Writes the current content.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self) -> Result<(), Error> {
        let failed = || self.path.display().to_string();
        let text = serde_json::to_vec(&self.content).map_err(io::Error::from).tried(failed)?;
        // A partially written file must not replace the previous one.
        let new = self.path.with_extension("new");
        let written = File::create(&new).and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()));
        // Without syncing its folder, a power failure could bring back the previous file, with numbers used since.
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let renamed = written.and_then(|()| fs::rename(&new, &self.path));
        // If the disk is full, not even an empty file is left.
        let renamed = renamed.inspect_err(|_| drop(fs::remove_file(&new)));
        Ok(renamed.and_then(|()| File::open(folder)?.sync_all()).tried(failed)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is on the disk when the power fails during a write, the next start finds the previous file intact.
    #[test]
    fn a_loss_of_power_leaves_the_file_before_or_the_one_after() {
        let folder = std::env::temp_dir().join(format!("fourhop-aodvd-power-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("state.json");
        let own = [10, 0, 0, 1].into();
        let numbers = |seqno| Numbers { seqno, rreq_id: 7, stamp: 9 };
        Kept::read(&path).unwrap().write(own, numbers(5)).unwrap();
        let before = fs::read(&path).unwrap();
        Kept::read(&path).unwrap().write(own, numbers(6_000)).unwrap();
        let after = fs::read(&path).unwrap();
        for cut in 0..=after.len() {
            fs::write(&path, &before).unwrap();
            fs::write(path.with_extension("new"), &after[..cut]).unwrap();
            let mut kept = Kept::read(&path).unwrap();
            assert_eq!(kept.numbers(own), Some(numbers(5)), "{cut} bytes were written");
            kept.write_ahead(own, numbers(6)).unwrap();
            assert_eq!(Kept::read(&path).unwrap().numbers(own).map(|kept| kept.seqno), Some(6 + AHEAD));
            // A disk that lost the end of the file itself: the numbers are unknown, so the daemon is quiet at first.
            fs::write(&path, &after[..cut]).unwrap();
            let kept = Kept::read(&path).unwrap().numbers(own);
            assert_eq!(kept, (cut == after.len()).then(|| numbers(6_000)), "{cut} bytes are left");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_could_not_be_written_is_written_later() {
        let folder = std::env::temp_dir().join(format!("fourhop-aodvd-refused-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (path, obstacle) = (folder.join("state.json"), folder.join("state.new"));
        let (own, numbers) = ([10, 0, 0, 1].into(), Numbers { seqno: 5, rreq_id: 7, stamp: 9 });
        let mut kept = Kept::read(&path).unwrap();
        fs::create_dir(&obstacle).unwrap();
        for _ in 0..2 {
            assert!(kept.keep_ahead(own, numbers).is_err());
        }
        fs::remove_dir(&obstacle).unwrap();
        kept.keep_ahead(own, numbers).unwrap();
        assert_eq!(Kept::read(&path).unwrap().numbers(own).map(|kept| kept.seqno), Some(5 + AHEAD));
        // A file that cannot replace the previous one is not left next to it.
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(kept.save().is_err() && !obstacle.exists());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn numbers_are_ahead_while_it_runs_and_exact_when_it_ends() {
        let folder = std::env::temp_dir().join(format!("fourhop-aodvd-kept-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("state.json");
        let [own, other] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(std::net::Ipv4Addr::from);
        let numbers = |seqno| Numbers { seqno, rreq_id: 7, stamp: 9 };
        let read = || Kept::read(&path).unwrap();
        assert_eq!(read().numbers(own), None, "there is no file");
        let mut kept = read();
        kept.set_variables(vec![Variable { name: "net/ipv4/ip_forward".to_owned(), before: "0".to_owned() }]);
        kept.keep_ahead(own, numbers(5)).unwrap();
        let stamp = 9 + STAMP_AHEAD;
        assert_eq!(read().numbers(own), Some(Numbers { seqno: 1_005, rreq_id: 1_007, stamp }));
        assert_eq!((read().numbers(other), read().take_variables().len()), (None, 1));
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        kept.keep_ahead(own, numbers(1_004)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before, "far enough");
        kept.keep_ahead(own, numbers(1_005)).unwrap();
        assert_eq!(read().numbers(own).map(|numbers| numbers.seqno), Some(2_005));
        kept.keep_ahead(own, Numbers { stamp: stamp - 1, ..numbers(1_006) }).unwrap();
        assert_eq!(read().numbers(own).map(|numbers| numbers.stamp), Some(stamp - 1 + STAMP_AHEAD), "nearly used up");
        kept.keep_ahead(own, Numbers { stamp: 3 * stamp, ..numbers(1_006) }).unwrap();
        assert_eq!(
            read().numbers(own).map(|numbers| numbers.stamp),
            Some(3 * stamp + STAMP_AHEAD),
            "a clock that jumps"
        );
        kept.write(own, numbers(1_006)).unwrap();
        assert_eq!(read().numbers(own), Some(numbers(1_006)));
        kept.write_ahead(own, Numbers { stamp: 0, ..numbers(1_006) }).unwrap();
        assert_eq!(read().numbers(own).map(|numbers| numbers.stamp), Some(0), "without keys");
        fs::write(&path, "{\"seqno\": 1").unwrap();
        assert_eq!(read().numbers(own), None, "not understood");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_a_restart_would_repeat_is_written_and_no_more() {
        let folder = std::env::temp_dir().join(format!("fourhop-aodvd-ahead-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("state.json");
        let [own, other] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(std::net::Ipv4Addr::from);
        let first = Numbers { seqno: u32::MAX, rreq_id: 7, stamp: 9 };
        let mut kept = Kept::read(&path).unwrap();
        kept.write_ahead(own, first).unwrap();
        let ahead = Numbers { seqno: AHEAD - 1, rreq_id: 7 + AHEAD, stamp: 9 + STAMP_AHEAD };
        assert_eq!(kept.numbers(own), Some(ahead), "beyond the largest number comes zero");
        let half = 9 + STAMP_AHEAD / 2;
        for (used, written) in [
            (first, false),
            (Numbers { seqno: AHEAD - 2, ..first }, false),
            (Numbers { rreq_id: 6 + AHEAD, ..first }, false),
            (Numbers { stamp: half, ..first }, false),
            (Numbers { stamp: 0, ..first }, false),
            (Numbers { seqno: AHEAD - 1, ..first }, true),
            (Numbers { rreq_id: 7 + AHEAD, ..first }, true),
            (Numbers { stamp: half + 1, ..first }, true),
        ] {
            kept.write(own, ahead).unwrap();
            fs::remove_file(&path).unwrap();
            kept.keep_ahead(own, used).unwrap();
            assert_eq!(path.exists(), written, "{used:?}");
        }
        kept.write(own, ahead).unwrap();
        kept.keep_ahead(other, first).unwrap();
        let kept = Kept::read(&path).unwrap();
        assert_eq!((kept.numbers(own), kept.numbers(other)), (None, Some(ahead)), "of the address that is used now");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_read_or_written_is_named() {
        let folder = std::env::temp_dir().join(format!("fourhop-aodvd-named-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let error = Kept::read(&folder).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", folder.display())), "{error}");
        let path = folder.join("none").join("state.json");
        let error = Kept::read(&path).unwrap().save().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", path.display())), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
