//! System settings changed while the programs are loaded, and their earlier values.
//!
//! Linux hands a device several segments of a connection at once if it can. Those leave back to back, however well the
//! rate is kept: our congestion controls ask for one segment, but a variable and a property of devices would again
//! allow more.

use crate::config::System;
use fourhop_live::netlink::{Batch, segments};
use fourhop_live::{Error, Tried, namespace};
use nix::net::if_::if_nametoindex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::Path;

/// A changed setting.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// The namespace of the setting; the caller's if `None`.
    pub namespace: Option<String>,
    /// The setting.
    pub what: What,
    /// Its earlier value.
    pub before: u32,
    /// Its new value.
    pub after: u32,
}

/// Kinds of settings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A kernel variable, by its file below /proc/sys.
    Variable(String),
    /// Most segments that a device takes at once.
    Segments(String),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Variable(file) => write!(f, "{}", file.replace('/', "."))?,
            What::Segments(device) => write!(f, "gso_max_segs of {device}")?,
        }
        write!(f, " from {} to {}", self.before, self.after)?;
        self.namespace.as_ref().map_or(Ok(()), |name| write!(f, " in {name}"))
    }
}

impl What {
    /// Its current value, in the namespace of this thread.
    fn read(&self) -> Result<u32, Error> {
        match self {
            What::Variable(file) => {
                let failed = || format!("cannot read {file}");
                let text = fs::read_to_string(Path::new("/proc/sys").join(file)).tried(failed)?;
                text.trim().parse().map_err(std::io::Error::other).tried(failed)
            }
            What::Segments(device) => segments(number(device)?),
        }
    }

    fn write(&self, value: u32) -> Result<(), Error> {
        match self {
            What::Variable(file) => namespace::set_variable(file, &value.to_string()),
            What::Segments(device) => {
                let mut batch = Batch::default();
                batch.set_segments(number(device)?, value);
                batch.send()
            }
        }
    }
}

fn number(device: &str) -> Result<u32, Error> {
    if_nametoindex(device).tried(|| format!("device {device}"))
}

/// Runs `work` in a namespace, on a separate thread.
pub(crate) fn inside<T: Send>(name: Option<&str>, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    namespace::on_a_thread(|| {
        name.map_or(Ok(()), namespace::enter)?;
        work()
    })
}

/// The changes needed; makes none of them yet.
///
/// # Errors
/// If there is no such namespace or device.
pub fn plan(systems: &[System]) -> Result<Vec<Change>, Error> {
    let mut changes = Vec::new();
    for system in systems {
        let variables = [("tcp_tso_rtt_log", system.tso_rtt_log), ("tcp_pacing_ca_ratio", system.pacing_ca_ratio)];
        let wanted = variables
            .iter()
            .filter_map(|(name, setting)| Some((What::Variable(format!("net/ipv4/{name}")), setting.0?)))
            .chain(system.devices.iter().map(|device| (What::Segments(device.clone()), 1)));
        let wanted: Vec<_> = wanted.collect();
        let namespace = system.namespace.clone();
        changes.extend(inside(system.namespace.as_deref(), || {
            let read = wanted.into_iter().map(|(what, after)| {
                let before = what.read()?;
                Ok(Change { namespace: namespace.clone(), what, before, after })
            });
            read.collect::<Result<Vec<_>, Error>>()
        })?);
    }
    changes.retain(|change| change.before != change.after);
    Ok(changes)
}

/// Makes these changes.
///
/// # Errors
/// The first refusal of the system; earlier changes have been made.
pub fn apply(changes: &[Change]) -> Result<(), Error> {
    changes.iter().try_for_each(|change| inside(change.namespace.as_deref(), || change.what.write(change.after)))
}

/// Settings that another program has changed since, with their current values.
pub fn overridden(changes: &[Change]) -> Vec<String> {
    let now = |change: &Change| inside(change.namespace.as_deref(), || change.what.read()).ok();
    let found = changes.iter().filter_map(|change| Some((change, now(change)?)));
    let found = found.filter(|(change, value)| *value != change.after);
    found.map(|(change, value)| format!("another program has changed a setting: {change}, found {value}")).collect()
}

/// Restores the settings in reverse order. Leaves alone values that others have changed since, or that no longer exist.
///
/// # Errors
/// The errors of the system; all others are restored.
pub fn restore(changes: &[Change]) -> Result<(), Error> {
    let mut done = Ok(());
    for change in changes.iter().rev() {
        let restored = inside(change.namespace.as_deref(), || match change.what.read() {
            Ok(value) if value == change.after => change.what.write(change.before),
            // The setting or its namespace disappeared with the device; or somebody else has changed it since.
            _ => Ok(()),
        });
        let gone = restored.as_ref().is_err_and(|error| error.source.kind() == std::io::ErrorKind::NotFound);
        if !gone {
            done = done.and(restored);
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_say_what_they_are() {
        let change = Change {
            namespace: Some("n0".to_owned()),
            what: What::Variable("net/ipv4/tcp_tso_rtt_log".to_owned()),
            before: 9,
            after: 0,
        };
        assert_eq!(change.to_string(), "net.ipv4.tcp_tso_rtt_log from 9 to 0 in n0");
        let segments = Change { namespace: None, what: What::Segments("mesh0".to_owned()), ..change };
        assert_eq!(segments.to_string(), "gso_max_segs of mesh0 from 9 to 0");
    }

    #[test]
    fn what_is_not_there_is_said() {
        let system = System { devices: vec!["nonexistent".to_owned()], ..System::default() };
        let error = plan(&[system]).unwrap_err().to_string();
        assert!(error.contains("device nonexistent"), "{error}");
    }
}
