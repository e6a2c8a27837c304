//! The timers of a connection, one slot each, except the pacing timer, which is kept separately.

use fourhop_units::Time;

/// Purpose of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Timer {
    /// RFC 6298: the oldest segment in flight is overdue.
    Retransmit,
    /// RFC 9293 section 3.8.6.1: probe a peer that closed its window.
    Persist,
    /// RFC 9293 section 3.8.6.3: an acknowledgement has waited long enough.
    DelayedAck,
    /// RFC 9293 section 3.3.2: two maximum segment lifetimes in TIME-WAIT.
    TimeWait,
    /// Ad hoc TCP: a frozen sender probes whether the path is there.
    Probe,
    /// RFC 8985: the reordering window has passed, or it is time to probe the last segments.
    Rack,
}

impl Timer {
    /// Every timer; those that expire at the same instant fire in this order.
    pub(super) const ALL: [Timer; 6] =
        [Timer::Rack, Timer::Retransmit, Timer::Persist, Timer::DelayedAck, Timer::TimeWait, Timer::Probe];
}

/// Expiry of each timer; [`Time::NEVER`] if it is off.
#[derive(Clone, Debug)]
pub(super) struct Timers([Time; Timer::ALL.len()]);

impl Timers {
    /// All timers off.
    pub(super) const STOPPED: Timers = Timers([Time::NEVER; Timer::ALL.len()]);

    /// (Re)starts a timer.
    pub(super) fn set(&mut self, timer: Timer, at: Time) {
        self.0[timer as usize] = at;
    }

    /// Stops a timer.
    pub(super) fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = Time::NEVER;
    }

    /// Stops all timers.
    pub(super) fn stop_all(&mut self) {
        *self = Timers::STOPPED;
    }

    /// Expiry of a timer; [`Time::NEVER`] if it is off.
    pub(super) fn at(&self, timer: Timer) -> Time {
        self.0[timer as usize]
    }

    /// Whether a timer is running.
    pub(super) fn is_set(&self, timer: Timer) -> bool {
        self.0[timer as usize] != Time::NEVER
    }

    /// Stops a timer if it has expired, and returns whether it had.
    pub(super) fn take_expired(&mut self, timer: Timer, now: Time) -> bool {
        let expired = self.0[timer as usize] <= now;
        if expired {
            self.stop(timer);
        }
        expired
    }

    /// The earliest expiry.
    pub(super) fn next(&self) -> Option<Time> {
        Some(self.0.into_iter().fold(Time::NEVER, Time::min)).filter(|&at| at != Time::NEVER)
    }
}
