//! Punctuality: a scheduling class that ordinary programs cannot delay, and no timer slack.

use crate::{Error, Tried};
use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Above kernel threads of the same class at 1, below those that must not wait (watchdogs have 99).
const FIFO: libc::c_int = 20;

/// Puts the current thread into the class SCHED_FIFO; its children get the default class. In either case timers expire
/// when they are due, not up to 50 us later.
///
/// # Errors
/// If the system allows this process no real-time priority; it continues as before.
pub fn on_time() -> Result<(), Error> {
    let slack = precise();
    // SAFETY: all bytes zero is a value of this structure of integers; other C libraries have more fields in it.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    param.sched_priority = FIFO;
    // SAFETY: `param` lives until the call returns, which only reads it; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const param) };
    Errno::result(done).and(slack).tried(|| "no real-time priority (SCHED_FIFO)".to_owned())
}

/// Makes timers of the current thread expire when they are due, not up to 50 us later (prctl(2), PR_SET_TIMERSLACK).
///
/// # Errors
/// If the system refuses.
pub fn precise() -> Result<(), Errno> {
    nix::sys::prctl::set_timerslack(1)
}

/// Keeps the processor out of its deeper sleep states while the result lives, because waking from them takes longer
/// than packets may wait. Uses the kernel's power-management interface, if there is one.
pub fn awake() -> Option<OwnedFd> {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file.into())
}

/// Unblocks, in a program that this process will start, the signals that a [`Poller`](crate::poll::Poller) blocks in
/// this one: children inherit blocked signals. If none is blocked, there is no code between fork and exec, and the
/// system library starts the program without a copy of this process. The emulator qemu-user 7.2 hangs in such a copy.
pub fn with_signals(command: &mut Command) -> &mut Command {
    if SigSet::thread_get_mask().is_ok_and(|blocked| blocked.iter().next().is_none()) {
        return command;
    }
    let unblock = || Ok(sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?);
    // SAFETY: between fork and exec it makes one system call, takes no lock and allocates nothing.
    unsafe { command.pre_exec(unblock) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a separate thread, which has signals blocked.
    #[test]
    fn a_program_that_is_started_gets_the_signals_that_are_kept_from_this_one() {
        let blocked = |command: &mut Command| {
            let output = command.output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap().trim().to_owned()
        };
        let status = || {
            let mut command = Command::new("cat");
            command.arg("/proc/self/status");
            command
        };
        let found = std::thread::spawn(move || {
            let _poller = crate::poll::Poller::new().unwrap();
            [blocked(&mut status()), blocked(with_signals(&mut status()))]
        });
        let [kept, free] = found.join().unwrap();
        assert_eq!(free, "0000000000000000");
        assert_ne!(kept, free);
    }

    #[test]
    fn timers_are_precise_where_that_is_asked_for() {
        let slack = std::thread::spawn(|| precise().map(|()| nix::sys::prctl::get_timerslack()));
        assert_eq!(slack.join().unwrap().unwrap(), Ok(1));
    }
}
