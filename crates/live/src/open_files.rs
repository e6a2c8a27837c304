//! Number of files that a process may have open (getrlimit(2), RLIMIT_NOFILE).

use crate::{Error, Tried};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;

/// Allows this process at least this many open files. Only root may exceed the hard limit.
///
/// # Errors
/// If this is more than permitted; the error names the number needed.
pub fn allow(needed: u64) -> Result<(), Error> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).tried(|| "the limit of open files".to_owned())?;
    if soft >= needed {
        return Ok(());
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard.max(needed)).map_err(|error| Error {
        what: format!("open files: found a limit of {hard}, allowed: at least {needed} (ulimit -n {needed})"),
        // Not the original kind: it has nothing to do with namespaces.
        source: io::Error::other(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_suffices_stays_and_one_that_is_too_low_is_said() {
        let before = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        allow(1).unwrap();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), before);
        // The kernel has its own limit (fs.nr_open), even for root.
        let error = allow(1 << 40).unwrap_err().to_string();
        assert!(error.contains("allowed: at least 1099511627776 (ulimit -n"), "{error}");
    }
}
