//! A network of its own for tests that need the kernel.

use crate::namespace::on_a_thread;
use crate::netlink::{Batch, LOOPBACK};
use nix::sched::{CloneFlags, unshare};

/// Runs a test in a network namespace where nothing but the loopback device is up; where this process may not make one,
/// not at all.
pub fn in_namespace(test: impl FnOnce() + Send) {
    let done = on_a_thread(|| {
        if unshare(CloneFlags::CLONE_NEWNET).is_ok() {
            let mut batch = Batch::default();
            batch.up(LOOPBACK, None);
            batch.send()?;
            test();
        }
        Ok::<_, crate::Error>(())
    });
    done.unwrap();
}
