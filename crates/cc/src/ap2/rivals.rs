//! Rivals: others that fill the queue, how a sender notices them, and what rate it keeps up beside them.
//!
//! Round trips that stay above what AP2's own queue explains, however far the window falls, are due to a sender that
//! fills queues until they overflow. Beside it AP2 would be pushed down to nearly nothing, like all senders that keep
//! queues short. Copa (Arun, Balakrishnan 2018) also checks whether the queue was nearly empty within some round trips.
//! Here "nearly empty" means the queue that senders of AP2 leave among themselves.

use super::trial::Trial;
use crate::rate::Bandwidth;
use fourhop_units::{Dur, Time};

/// The queue has to be theirs, or not, for this many consecutive rounds and this long before that counts: longer than a
/// fade.
const ROUNDS: u32 = 8;
const LASTS: Dur = Dur::from_secs(1);
/// The queue that this many senders of AP2 build beyond the target is not due to others. It is capped, in microseconds,
/// if the first link is a radio or a wire, and after a loss. The slowest link carries at least what this sender does.
/// If a wire is known to carry more, more senders count.
pub(super) const SENDERS: u64 = 4;
pub(super) const SENDERS_WIRED: u64 = 8;
const QUEUE_MOST: u64 = 60_000;
const QUEUE_MOST_WIRED: u64 = 100_000;
const QUEUE_LOSSY: u64 = 15_000;
/// How long others are assumed to be near after they were noticed: CUBIC's queue is long only part of the time.
const NEAR: Dur = Dur::from_secs(20);
/// This many rounds count as after a loss.
const LOSSY: u32 = 100;
/// For this long after a trial in vain there are no others. The shortest round trip is then the path's, and so is one
/// up to this part longer.
const HOLDS: Dur = Dur::from_secs(10);
const CLOSE: u64 = 8;
/// It keeps up half of its former rate, if losses allow it.
const KEEPS: u32 = 50;
/// Percentage kept after a loss, as multiplicative decrease: of the window, and of a rate that was not reached (RFC
/// 9438 section 4.6).
pub(super) const LOSS_LEAVES: u64 = 70;
/// Percentage of the window kept after a loss beside others: more than CUBIC's, because AP2 starts from a small share.
pub(super) const CUT_LEAVES: u64 = 80;

/// Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rivals {
    present: bool,
    /// When that last changed.
    changed: Option<Time>,
    /// Consecutive rounds that contradict it, and since when.
    doubts: u32,
    doubted: Time,
    /// The rate to keep up.
    keeps: Bandwidth,
    /// Remaining rounds that count as after a loss.
    lossy: u32,
    /// Whether the last round cut the window.
    cut: bool,
    /// The trial of whether they are there, if still running.
    trial: Option<Trial>,
    /// When a trial was in vain, and the shortest round trip then.
    vain: Option<Time>,
    proven: u64,
}

impl Rivals {
    pub(super) fn new() -> Rivals {
        Rivals {
            present: false,
            changed: None,
            doubts: 0,
            doubted: Time::ZERO,
            keeps: Bandwidth::default(),
            lossy: 0,
            cut: false,
            trial: None,
            vain: None,
            proven: 0,
        }
    }

    pub(super) fn are_present(&self) -> bool {
        self.present
    }

    /// Whether a segment was lost recently.
    pub(super) fn is_lossy(&self) -> bool {
        self.lossy > 0
    }

    /// Whether they are present, or recently were.
    pub(super) fn are_near(&self, now: Time) -> bool {
        self.present || self.changed.is_some_and(|at| now.saturating_since(at) < NEAR)
    }

    /// Starts over after a rest or slow start.
    pub(super) fn begin(&mut self, now: Time) {
        (self.doubts, self.doubted) = (0, now);
    }

    /// The delay of a queue of `segments` at a link of this rate, both with 16 binary digits of fraction, as far as it
    /// can be due to senders of AP2.
    pub(super) fn queue(&self, segments: u64, link: Bandwidth, is_radio: bool) -> u64 {
        let theirs = segments * 1_000_000 / link.fixed_in(Dur::from_secs(1)).max(1);
        theirs.min(match is_radio {
            _ if self.is_lossy() => QUEUE_LOSSY,
            true => QUEUE_MOST,
            false => QUEUE_MOST_WIRED,
        })
    }

    /// Ends a round with this many losses.
    pub(super) fn note_losses(&mut self, lost: u64) {
        self.lossy = if lost > 0 { LOSSY } else { self.lossy.saturating_sub(1) };
    }

    /// Judges a round: either the queue was always longer than senders of AP2 leave it (`long`), or at times it was
    /// not. If others are not certain, there is a trial.
    pub(super) fn judge(&mut self, now: Time, long: bool, most: Bandwidth, trial: Option<Trial>) {
        let held = trial.is_some() && self.vain.is_some_and(|at| now.saturating_since(at) < HOLDS);
        if long == self.present || held && long {
            return self.begin(now);
        }
        self.doubts += 1;
        if self.doubts >= ROUNDS && now.saturating_since(self.doubted) > LASTS {
            (self.present, self.changed, self.keeps, self.cut) = (long, Some(now), most.percent(KEEPS), false);
            self.trial = trial.filter(|_| long);
            self.begin(now);
        }
    }

    /// Ends a round beside others. If a trial ends in vain, there are no others and `least` is the path's; returns
    /// whether that happened.
    pub(super) fn tries_in_vain(&mut self, now: Time, window: u64, rtt: u64, least: u64) -> bool {
        let carries = self.trial.as_mut().and_then(|trial| trial.end_round(now, window, rtt));
        if carries.is_some() {
            self.trial = None;
        }
        if carries == Some(false) {
            (self.present, self.changed, self.vain, self.proven) = (false, None, Some(now), least);
            self.begin(now);
        }
        carries == Some(false)
    }

    /// Whether a trial has shown that a round trip as short as this is the path's.
    pub(super) fn has_proven(&self, least: u64) -> bool {
        least <= self.proven + self.proven / CLOSE
    }

    /// A drain has emptied the queue.
    pub(super) fn leave(&mut self, now: Time) {
        (self.present, self.changed) = (false, Some(now));
        self.begin(now);
    }

    /// Whether a round with this many losses cuts the window. The round after a cut does not: its losses belong to the
    /// same overflow.
    pub(super) fn cuts(&mut self, lost: u64) -> bool {
        self.cut = lost > 0 && !self.cut;
        self.cut
    }

    /// The rate to keep up was not reached before a loss.
    pub(super) fn keep_less(&mut self) {
        self.keeps = self.keeps.percent(LOSS_LEAVES as u32);
    }

    /// The window that sustains the rate to keep up at this round trip.
    pub(super) fn floor(&self, rtt: u64) -> u64 {
        self.keeps.fixed_in(Dur::from_micros(rtt))
    }
}
