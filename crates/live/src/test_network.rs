//! A separate network namespace for each test that needs the kernel. Tests that cannot run report this on stderr,
//! bypassing the capture of the test harness.

use crate::namespace::on_a_thread;
use crate::netlink::{Batch, LOOPBACK};
use nix::sched::{CloneFlags, unshare};
use std::io::Write;
use std::path::Path;

/// Runs a test in a network namespace in which only the loopback device is up. Skips it if this process may not create
/// one.
pub fn in_namespace(test: impl FnOnce() + Send) {
    let ran = on_a_thread(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let mut batch = Batch::default();
        batch.up(LOOPBACK, None);
        batch.send().unwrap();
        test();
        Ok::<_, nix::Error>(())
    });
    if let Err(error) = ran {
        skip(&format!("no network namespace: {error}"));
    }
}

/// The same for a test that creates a TUN or TAP device.
pub fn with_tun(test: impl FnOnce() + Send) {
    if Path::new("/dev/net/tun").exists() {
        in_namespace(test);
    } else {
        skip("no /dev/net/tun");
    }
}

fn skip(reason: &str) {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {name}: {reason}");
}
