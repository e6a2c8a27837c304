//! The shortest round trip of a path, that is, without a queue, and drains that measure it anew.
//!
//! A sender that keeps a queue would take the queue for part of the path once it forgets the first round trips. So when
//! no round trip was near the shortest for [`OLD`], it drains: for two rounds it sends less than the path holds, and
//! takes what it then measures as the shortest. BBR does the same (draft-ietf-ccwg-bbr-05, section 5.3.4.3): all
//! senders that drain see the empty queue at the same time, and drain together from then on.

use fourhop_units::{Dur, Time};

/// How long a round trip is remembered without being seen again.
const OLD: Dur = Dur::from_secs(10);
/// Up to a quarter more counts as near it.
const NEAR: u64 = 4;
/// One for the segments in flight, one to measure.
const ROUNDS: u32 = 2;
/// This many rounds that measure nothing do not count.
const UNMEASURED: u32 = 2;
/// While others fill the queue at times, this many drains may end above the shortest round trip before it is given up.
const PATIENCE: u32 = 6;

/// Phase of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Not of a drain.
    Usual,
    /// Of a drain.
    Drain,
    /// The last one of a drain, with its shortest round trip in microseconds.
    Drained(u64),
}

/// Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    least: u64,
    /// When a round trip was last near the shortest.
    seen: Time,
    /// Remaining rounds of the drain.
    rounds: u32,
    /// Of the rounds that measure nothing, how many more will not count.
    unmeasured: u32,
    /// The shortest since the drain began.
    drained: u64,
    /// Whether the drain is to find the shortest, which was not seen for long.
    renews: bool,
    kept: u32,
}

impl Base {
    pub(super) fn new() -> Base {
        Base { least: u64::MAX, seen: Time::ZERO, rounds: 0, unmeasured: 0, drained: u64::MAX, renews: false, kept: 0 }
    }

    /// The shortest round trip; `u64::MAX` before the first.
    pub(super) fn least(&self) -> u64 {
        self.least
    }

    pub(super) fn is_draining(&self) -> bool {
        self.rounds > 0
    }

    /// Nothing was sent for a while, so nothing could be measured.
    pub(super) fn rest(&mut self, now: Time) {
        self.seen = now;
    }

    pub(super) fn note(&mut self, now: Time, rtt: u64) {
        if self.least == u64::MAX || rtt <= self.least + self.least / NEAR {
            self.seen = now;
        }
        self.least = self.least.min(rtt);
    }

    /// Ends a round in which no round trip was measured, because everything was retransmitted or the receiver waited. A
    /// drain goes on for [`UNMEASURED`] of them, but no longer: with a window of one segment, what an overflowing queue
    /// lost would take dozens of rounds. A drain that ends this way has not found the shortest; the next one is not due
    /// at once.
    pub(super) fn end_unmeasured(&mut self, now: Time) {
        if self.rounds > 0 && self.unmeasured > 0 {
            self.unmeasured -= 1;
            return;
        }
        self.rounds = self.rounds.saturating_sub(1);
        if self.rounds == 0 && self.renews {
            (self.renews, self.seen) = (false, now);
        }
    }

    /// Starts a drain.
    pub(super) fn drain(&mut self) {
        (self.rounds, self.unmeasured, self.drained) = (ROUNDS, UNMEASURED, u64::MAX);
    }

    /// Ends a round whose shortest round trip was `least`. Beside others a drain counts only if it came near the
    /// shortest: any excess is their queue.
    pub(super) fn end_round(&mut self, now: Time, least: u64, beside_others: bool) -> Phase {
        if self.rounds == 0 {
            if now.saturating_since(self.seen) > OLD {
                self.renews = true;
                self.drain();
            }
            return if self.rounds > 0 { Phase::Drain } else { Phase::Usual };
        }
        self.rounds -= 1;
        self.drained = self.drained.min(least);
        if self.rounds > 0 {
            return Phase::Drain;
        }
        if self.renews {
            (self.renews, self.seen) = (false, now);
            if beside_others && self.drained > self.least + self.least / NEAR && self.kept < PATIENCE {
                self.kept += 1;
            } else {
                (self.least, self.kept) = (self.drained, 0);
            }
        }
        Phase::Drained(self.drained)
    }
}
