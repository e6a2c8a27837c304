//! Others that fill the queue: how a sender notices, and what it keeps up beside them.
//!
//! Round trips that stay above what AP2's own queue explains, however far the window falls, are due to a sender that
//! fills queues until they overflow. Beside it AP2 would come to nearly nothing, as all do that keep queues short.
//! Copa (Arun, Balakrishnan 2018) looks whether the queue was nearly empty within some round trips, too. Nearly empty
//! is here what the senders of AP2 leave among themselves.

use super::trial::Trial;
use crate::rate::Bandwidth;
use fourhop_units::{Dur, Time};

/// So many rounds on end and so long the queue has to be theirs, or not, before that counts: longer than a fade.
const ROUNDS: u32 = 8;
const LASTS: Dur = Dur::from_secs(1);
/// Beyond the target, the queue of so many senders of AP2 is none of others; microseconds at most, if
/// the first link is a radio or is not, and after a loss.
pub(super) const SENDERS: u64 = 4;
const QUEUE_MOST: u64 = 60_000;
const QUEUE_MOST_WIRED: u64 = 100_000;
const QUEUE_LOSSY: u64 = 15_000;
/// So long others are thought to be near after they were noticed: CUBIC's queue is long for a part of the time.
const NEAR: Dur = Dur::from_secs(20);
/// So many rounds count as after a loss.
const LOSSY: u32 = 100;
/// For so long after a trial in vain there are no others. The shortest round trip is then the path's, and so is one
/// that is longer by up to this part.
const HOLDS: Dur = Dur::from_secs(10);
const CLOSE: u64 = 8;
/// It keeps up half of the rate that it had, if losses allow it.
const KEEPS: u32 = 50;
/// Multiplicative decrease after a loss, in per cent: of the window, and of a rate that was not reached (RFC 9438
/// section 4.6).
pub(super) const LOSS_LEAVES: u64 = 70;
/// Per cent of the window after a loss beside others: more than CUBIC's, because AP2 comes from a small share.
pub(super) const CUT_LEAVES: u64 = 80;

/// Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rivals {
    present: bool,
    /// When that changed last.
    changed: Option<Time>,
    /// Rounds on end that say otherwise, and since when.
    doubts: u32,
    doubted: Time,
    /// The rate to keep up.
    keeps: Bandwidth,
    /// Rounds that still count as after a loss.
    lossy: u32,
    /// Did the last round take its share of the window?
    cut: bool,
    /// Is it still tried whether they are there?
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

    /// Was a segment lost of late?
    pub(super) fn is_lossy(&self) -> bool {
        self.lossy > 0
    }

    /// Are they present, or were they a while ago?
    pub(super) fn are_near(&self, now: Time) -> bool {
        self.present || self.changed.is_some_and(|at| now.saturating_since(at) < NEAR)
    }

    /// After a rest or slow start nothing is known.
    pub(super) fn begin(&mut self, now: Time) {
        (self.doubts, self.doubted) = (0, now);
    }

    /// Longer than `target`, the queue that senders of AP2 leave: each has `own` segments in it, with 16 digits of
    /// fraction as `most`, the highest rate of late.
    pub(super) fn queue(&self, own: u64, most: Bandwidth, is_radio: bool) -> u64 {
        let theirs = SENDERS * own * 1_000_000 / most.fixed_in(Dur::from_secs(1)).max(1);
        theirs.min(match is_radio {
            _ if self.is_lossy() => QUEUE_LOSSY,
            true => QUEUE_MOST,
            false => QUEUE_MOST_WIRED,
        })
    }

    /// A round is over, with losses or without.
    pub(super) fn note_losses(&mut self, lost: u64) {
        self.lossy = if lost > 0 { LOSSY } else { self.lossy.saturating_sub(1) };
    }

    /// All of a round the queue was longer than senders of AP2 leave it, or at times it was not. If that is not sure,
    /// there is a trial.
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

    /// A round beside others is over. If a trial ends in vain there are none, and `least` is the path's; answers so.
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

    /// Has a trial shown that a round trip as short as this is the path's?
    pub(super) fn has_proven(&self, least: u64) -> bool {
        least <= self.proven + self.proven / CLOSE
    }

    /// A drain has emptied the queue.
    pub(super) fn leave(&mut self, now: Time) {
        (self.present, self.changed) = (false, Some(now));
        self.begin(now);
    }

    /// Does a round with so many losses take its share of the window? The round after such a one does not: its losses
    /// are of the same overflow.
    pub(super) fn cuts(&mut self, lost: u64) -> bool {
        self.cut = lost > 0 && !self.cut;
        self.cut
    }

    /// The rate to keep up was not reached before a loss.
    pub(super) fn keep_less(&mut self) {
        self.keeps = self.keeps.percent(LOSS_LEAVES as u32);
    }

    /// The window that keeps the rate up at this round trip.
    pub(super) fn floor(&self, rtt: u64) -> u64 {
        self.keeps.fixed_in(Dur::from_micros(rtt))
    }
}
