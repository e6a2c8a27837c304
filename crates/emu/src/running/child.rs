//! The program for which an emulation was started.

use fourhop_live::clock::Clock;
use fourhop_units::{Dur, Time};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::Child;

/// Time that programs have to exit after SIGTERM.
const GRACE: Dur = Dur::from_secs(2);

/// The exit status of a program; if it is still running, it is asked to exit first.
pub(super) fn end(child: &mut Child) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    let status =
        |status: std::process::ExitStatus| status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    if let Ok(Some(ended)) = child.try_wait() {
        return status(ended);
    }
    let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM);
    let clock = Clock::start();
    while clock.now() < Time::ZERO + GRACE {
        if let Ok(Some(ended)) = child.try_wait() {
            return status(ended);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let _ = child.kill();
    child.wait().ok().and_then(status)
}
