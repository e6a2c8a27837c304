//! Waiting in one place for devices, a point in time and signals.

use crate::clock::Clock;
use crate::{Error, Tried};
use fourhop_units::Time;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::os::fd::AsFd;
use std::time::Duration;

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// The source with this number is readable, or has failed.
    Readable(u32),
    /// This signal has arrived.
    Signal(Signal),
}

/// Ids of the timer and of the signals; all others are the caller's.
const TIMER: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;
/// Description of operations that need descriptors.
const FAILED: &str = "cannot create the event loop";
/// Most events that one wait returns.
const BATCH: usize = 64;

/// Waits for devices, a point in time and signals.
#[derive(Debug)]
pub struct Poller {
    epoll: Epoll,
    timer: TimerFd,
    signals: Option<SignalFd>,
}

impl Poller {
    /// A poller for the signals that end a program and for children that have exited. These signals are blocked for
    /// this thread and those that it starts: from now on they are delivered only here.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn new() -> Result<Poller, Error> {
        let mut mask = SigSet::empty();
        [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGCHLD].into_iter().for_each(|s| mask.add(s));
        let made = mask.thread_block().and_then(|()| {
            SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
                .and_then(|fd| Poller::with(Some(fd)))
        });
        made.tried(|| FAILED.to_owned())
    }

    /// A poller for a thread other than the one that waits for signals.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn without_signals() -> Result<Poller, Error> {
        Poller::with(None).tried(|| FAILED.to_owned())
    }

    fn with(signals: Option<SignalFd>) -> Result<Poller, Errno> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
        if let Some(signals) = &signals {
            epoll.add(signals, EpollEvent::new(EpollFlags::EPOLLIN, SIGNALS))?;
        }
        Ok(Poller { epoll, timer, signals })
    }

    /// From now on, reports when `source` is readable.
    ///
    /// # Errors
    /// If the system has no memory left.
    pub fn add(&self, source: impl AsFd, number: u32) -> Result<(), Error> {
        let event = EpollEvent::new(EpollFlags::EPOLLIN, u64::from(number));
        self.epoll.add(source, event).tried(|| "cannot wait for a device".to_owned())
    }

    /// Stops waiting for `source`.
    pub fn remove(&self, source: impl AsFd) {
        // Fails only if it is not being waited for.
        let _ = self.epoll.delete(source);
    }

    /// Waits until `at` or the first event, and appends events to `out`. Returns at once if events are pending.
    ///
    /// # Errors
    /// If the system refuses to wait.
    pub fn wait(&mut self, clock: &Clock, at: Time, out: &mut Vec<Ready>) -> Result<(), Error> {
        // Zero would switch the timer off; for a time in the past it expires at once. Setting the timer clears earlier
        // expirations.
        let reading = clock.reading(at).max(Duration::from_nanos(1));
        let when = Expiration::OneShot(TimeSpec::from_duration(reading));
        let set = self.timer.set(when, TimerSetTimeFlags::TFD_TIMER_ABSTIME);
        set.tried(|| "cannot set a timer".to_owned())?;
        self.collect(EpollTimeout::NONE, out)
    }

    /// Collects pending events without waiting.
    ///
    /// # Errors
    /// If the system refuses to poll.
    pub fn look(&mut self, out: &mut Vec<Ready>) -> Result<(), Error> {
        self.collect(EpollTimeout::ZERO, out)
    }

    fn collect(&mut self, timeout: EpollTimeout, out: &mut Vec<Ready>) -> Result<(), Error> {
        let mut events = [EpollEvent::empty(); BATCH];
        let count = match self.epoll.wait(&mut events, timeout) {
            Err(Errno::EINTR) => 0,
            other => other.tried(|| "cannot wait for events".to_owned())?,
        };
        for event in &events[..count] {
            match event.data() {
                TIMER => {}
                SIGNALS => {
                    while let Some(Ok(Some(signal))) = self.signals.as_ref().map(SignalFd::read_signal) {
                        out.extend(Signal::try_from(signal.ssi_signo as i32).ok().map(Ready::Signal));
                    }
                }
                number => out.push(Ready::Readable(number as u32)),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::Dur;
    use std::io::Write;

    #[test]
    fn it_waits_for_an_instant_for_data_and_for_signals() {
        let clock = Clock::start();
        let mut poller = Poller::new().unwrap();
        let mut out = Vec::new();
        let at = clock.now() + Dur::from_millis(3);
        poller.wait(&clock, at, &mut out).unwrap();
        assert!(out.is_empty() && clock.now() >= at, "the instant alone");
        poller.wait(&clock, Time::ZERO, &mut out).unwrap();
        assert!(out.is_empty(), "an instant that has passed is not waited for");

        let (reader, mut writer) = std::io::pipe().unwrap();
        poller.add(&reader, 7).unwrap();
        writer.write_all(b"x").unwrap();
        poller.wait(&clock, Time::from_secs(60), &mut out).unwrap();
        assert_eq!(out, [Ready::Readable(7)]);
        out.clear();
        poller.look(&mut out).unwrap();
        assert_eq!(out, [Ready::Readable(7)], "the data are still there");
        poller.remove(&reader);
        out.clear();
        poller.look(&mut out).unwrap();
        assert!(out.is_empty(), "no longer");

        nix::sys::signal::raise(Signal::SIGTERM).unwrap();
        poller.wait(&clock, Time::from_secs(60), &mut out).unwrap();
        assert_eq!(out, [Ready::Signal(Signal::SIGTERM)], "instead of ending the test");
    }
}
