//! Shared by all recovery strategies: the state of recovery, and their results.

use crate::tcp::position::Pos;
use crate::tcp::sender::space::SendSpace;
use fourhop_cc::CaState;
use fourhop_cc::rate::RateSample;

/// State common to all recovery strategies.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Recovery {
    pub(in crate::tcp) state: CaState,
    /// Duplicate ACKs since SND.UNA last moved (partial ACKs in recovery do not clear it).
    pub(in crate::tcp) dup_acks: u32,
    /// SND.MAX when the last recovery or timeout began: recovery ends once it is acknowledged, and no fast retransmit
    /// happens before something beyond it is (RFC 6582 section 3.2).
    pub(in crate::tcp) recover: Pos,
    /// Segments known to have left the network, on top of `cwnd`.
    pub(in crate::tcp) inflation: u32,
    /// Whether a partial ACK has arrived in this recovery.
    pub(in crate::tcp) partial_seen: bool,
    /// New segments sent by limited transmit since SND.UNA last moved.
    pub(in crate::tcp) limited: u32,
    /// A lost segment to send before everything else.
    pub(in crate::tcp) resend: Option<Pos>,
    /// Consecutive timeouts.
    pub(in crate::tcp) timeouts: u32,
}

impl Recovery {
    pub(in crate::tcp) fn new() -> Recovery {
        Recovery {
            state: CaState::Open,
            dup_acks: 0,
            recover: Pos::SYN,
            inflation: 0,
            partial_seen: false,
            limited: 0,
            resend: None,
            timeouts: 0,
        }
    }

    /// Whether losses are being repaired.
    pub(in crate::tcp) fn is_repairing(&self) -> bool {
        matches!(self.state, CaState::Recovery | CaState::Loss)
    }

    /// Consecutive timeouts.
    pub(in crate::tcp) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Counts a timeout. Returns whether there have been more than `most` in a row.
    pub(in crate::tcp) fn note_timeout(&mut self, most: Option<u32>) -> bool {
        self.timeouts += 1;
        self.exhausts(most)
    }

    /// Whether there have been more consecutive timeouts than `most`.
    pub(in crate::tcp) fn exhausts(&self, most: Option<u32>) -> bool {
        most.is_some_and(|most| self.timeouts > most)
    }

    /// Ends a series of timeouts: the peer answers.
    pub(in crate::tcp) fn end_timeouts(&mut self) {
        self.timeouts = 0;
    }

    /// Notes that SND.UNA moves to `ack`.
    pub(in crate::tcp) fn advance(&mut self, ack: Pos) {
        self.timeouts = 0;
        self.limited = 0;
        self.resend = self.resend.filter(|&at| at >= ack);
    }

    /// Resets the count of duplicate ACKs and the inflation.
    pub(in crate::tcp) fn end_duplicates(&mut self) {
        (self.dup_acks, self.inflation) = (0, 0);
    }

    /// Counts a duplicate ACK if it brings `news`.
    pub(in crate::tcp) fn note_duplicate(&mut self, news: bool) {
        self.dup_acks += u32::from(news);
    }

    /// Counts a loss found by a fine clock as `threshold` duplicates.
    pub(in crate::tcp) fn count_as_duplicates(&mut self, threshold: u32) {
        self.dup_acks = threshold;
    }

    /// Counts segments sent by limited transmit.
    pub(in crate::tcp) fn note_limited(&mut self, sent: u32) {
        self.limited += sent;
    }

    /// Begins a recovery that lasts until `max` is acknowledged.
    pub(in crate::tcp) fn begin(&mut self, max: Pos) {
        self.recover = max;
        self.partial_seen = false;
    }

    /// Ends the inflation: a timeout reduces the window.
    pub(in crate::tcp) fn deflate(&mut self) {
        self.inflation = 0;
    }

    /// Starts repairing all data in flight.
    pub(in crate::tcp) fn repair_all(&mut self, space: &SendSpace) {
        self.end_duplicates();
        self.limited = 0;
        self.recover = space.max;
        self.resend = space.outstanding().then_some(space.una);
    }

    /// Clears the segment to send before everything else: it has been sent, or need not be.
    pub(in crate::tcp) fn end_resend(&mut self) {
        self.resend = None;
    }
}

/// News about arrived data in an acceptable segment, before its acknowledgement takes effect.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Heard {
    /// Whether it reports anything new. Without SACK every ACK does.
    pub(in crate::tcp) news: bool,
    /// Whether it reports a duplicate.
    pub(in crate::tcp) dsack: bool,
    /// Whether a tail probe has repaired a loss, to which the window must respond.
    pub(in crate::tcp) repaired: bool,
    /// Its delivery sample, if delivery is measured.
    pub(in crate::tcp) sample: Option<RateSample>,
}

/// Meaning of an ACK that moved SND.UNA.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Verdict {
    /// The phase of recovery from now on.
    pub(in crate::tcp) state: CaState,
    /// Whether it may grow the window.
    pub(in crate::tcp) grows: bool,
    /// Whether it restarts the retransmission timer.
    pub(in crate::tcp) restarts: bool,
}

/// The sender's response to an ACK. A budget counts new segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::tcp) enum Reaction {
    /// Do nothing.
    Nothing,
    /// Send what the window allows.
    Send { budget: u32 },
    /// A first sign of loss: limited transmit (RFC 3042) under a window enlarged by `extra` segments.
    Early { extra: u32, budget: u32 },
    /// A loss: reduce the window, begin recovery, then send.
    Recover { budget: u32 },
    /// The fine clock: resend the oldest segment, which may have been retransmitted before (`again`), and reduce the
    /// window if `cut`.
    Resend { again: bool, cut: bool },
    /// Grow the window by the segment that has left the network, then send.
    Widen,
}

impl Reaction {
    /// Send everything the window allows.
    pub(in crate::tcp) const SEND: Reaction = Reaction::Send { budget: u32::MAX };
}
