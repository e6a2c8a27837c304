//! Shared by all recovery strategies: the state of recovery, and their answers.

use crate::tcp::position::Pos;
use crate::tcp::sender::space::SendSpace;
use fourhop_cc::CaState;
use fourhop_cc::rate::RateSample;

/// The state that all recovery strategies keep.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Recovery {
    pub(in crate::tcp) state: CaState,
    /// Duplicate ACKs since SND.UNA last moved (partial ACKs in recovery do not clear it).
    pub(in crate::tcp) dup_acks: u32,
    /// SND.MAX when the last recovery or time-out began: recovery ends when it is acknowledged, and no fast retransmit
    /// happens before something beyond it is (RFC 6582 section 3.2).
    pub(in crate::tcp) recover: Pos,
    /// Segments known to have left the network, on top of `cwnd`.
    pub(in crate::tcp) inflation: u32,
    /// A partial ACK has arrived in this recovery.
    pub(in crate::tcp) partial_seen: bool,
    /// Fresh segments sent by limited transmit since SND.UNA last moved.
    pub(in crate::tcp) limited: u32,
    /// A lost segment that goes before everything else.
    pub(in crate::tcp) resend: Option<Pos>,
    /// Time-outs in a row.
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

    /// Are losses being repaired?
    pub(in crate::tcp) fn is_repairing(&self) -> bool {
        matches!(self.state, CaState::Recovery | CaState::Loss)
    }

    /// Time-outs in a row.
    pub(in crate::tcp) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// One more time-out in a row. True if that is more than `most`.
    pub(in crate::tcp) fn note_timeout(&mut self, most: Option<u32>) -> bool {
        self.timeouts += 1;
        self.exhausts(most)
    }

    /// Have there been more time-outs in a row than `most`?
    pub(in crate::tcp) fn exhausts(&self, most: Option<u32>) -> bool {
        most.is_some_and(|most| self.timeouts > most)
    }

    /// The peer answers.
    pub(in crate::tcp) fn end_timeouts(&mut self) {
        self.timeouts = 0;
    }

    /// SND.UNA moves to `ack`.
    pub(in crate::tcp) fn advance(&mut self, ack: Pos) {
        self.timeouts = 0;
        self.limited = 0;
        self.resend = self.resend.filter(|&at| at >= ack);
    }

    /// No ACK is a duplicate any more.
    pub(in crate::tcp) fn end_duplicates(&mut self) {
        (self.dup_acks, self.inflation) = (0, 0);
    }

    /// A duplicate ACK, which counts if there is `news` in it.
    pub(in crate::tcp) fn note_duplicate(&mut self, news: bool) {
        self.dup_acks += u32::from(news);
    }

    /// Losses found by a fine clock count as `threshold` duplicates.
    pub(in crate::tcp) fn count_as_duplicates(&mut self, threshold: u32) {
        self.dup_acks = threshold;
    }

    /// Limited transmit has sent so many.
    pub(in crate::tcp) fn note_limited(&mut self, sent: u32) {
        self.limited += sent;
    }

    /// A recovery begins that lasts until `max` is acknowledged.
    pub(in crate::tcp) fn begin(&mut self, max: Pos) {
        self.recover = max;
        self.partial_seen = false;
    }

    /// The inflation ends: a time-out cuts the window.
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

    /// The segment that goes before everything else has gone, or need not go.
    pub(in crate::tcp) fn end_resend(&mut self) {
        self.resend = None;
    }
}

/// The news in an acceptable segment about arrived data, before its acknowledgement takes effect.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Heard {
    /// It tells anything. Without reports every ACK does.
    pub(in crate::tcp) news: bool,
    /// It says that something came twice.
    pub(in crate::tcp) dsack: bool,
    /// A tail probe has repaired a loss, which the window has to answer.
    pub(in crate::tcp) repaired: bool,
    /// Its delivery sample, if delivery is measured.
    pub(in crate::tcp) sample: Option<RateSample>,
}

/// Meaning of an ACK that moved SND.UNA.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Verdict {
    /// The phase that recovery is in from now on.
    pub(in crate::tcp) state: CaState,
    /// May the window grow by it?
    pub(in crate::tcp) grows: bool,
    /// Does it restart the retransmission timer?
    pub(in crate::tcp) restarts: bool,
}

/// The sender's response to an ACK. A budget counts fresh segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::tcp) enum Reaction {
    /// Nothing.
    Nothing,
    /// Send what the window allows.
    Send { budget: u32 },
    /// A first sign of loss: limited transmit (RFC 3042) under a window `extra` segments larger.
    Early { extra: u32, budget: u32 },
    /// A loss: cut the window, begin recovery, then send.
    Recover { budget: u32 },
    /// The fine clock: send the oldest segment again, which had been retransmitted before or not, and cut the window or
    /// leave it.
    Resend { again: bool, cut: bool },
    /// The window grows by the segment that has left the network; send.
    Widen,
}

impl Reaction {
    /// Send all that the window allows.
    pub(in crate::tcp) const SEND: Reaction = Reaction::Send { budget: u32::MAX };
}
