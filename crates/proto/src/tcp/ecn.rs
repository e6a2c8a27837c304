//! Explicit congestion notification (RFC 3168 section 6.1): agreed upon with the SYN, echoed by the receiver until the sender says
//! that it has reduced its window, answered by the sender once a window.
//!
//! ```text
//!   sender                        queue                     receiver
//!   data, ECT(0) ───────────────► too long: CE ───────────► notes it
//!   cuts the window once ◄───────────────────────────────── ACKs with ECE
//!   next new data, CWR ──────────────────────────────────► stops
//! ```
//!
//! Retransmissions, acknowledgements without data, window probes and SYNs are not marked as listening (sections 6.1.4 to 6.1.6,
//! 6.1.1). A window of two segments is not reduced further, as RFC 9438 section 4.6 has it; RFC 3168 would slow down by the timer.

use super::position::Pos;
use super::recovery::Strategy;
use super::socket::Socket;
use crate::wire::{Ecn, TcpFlags, TcpSegment};
use fourhop_cc::{CaState, Cause, CongestionControl};
use fourhop_units::Time;

/// The state of one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnState {
    /// Both ends agreed.
    active: bool,
    /// Receiver: a mark has come that the sender has not answered.
    echoes: bool,
    /// Sender: the window was reduced, and the peer is to hear of it.
    answer_due: bool,
    /// Sender: marks up to here are answered.
    answered: Pos,
}

impl EcnState {
    pub(super) const OFF: EcnState = EcnState { active: false, echoes: false, answer_due: false, answered: Pos::SYN };

    /// The bits of a SYN, or of its answer, for which `peer_asked` must have been true (section 6.1.1).
    pub(super) fn offer(&self, wanted: bool, answer: bool) -> TcpFlags {
        let offered = if answer { self.active } else { wanted };
        TcpFlags { ece: offered, cwr: offered && !answer, ..TcpFlags::default() }
    }

    /// The peer's SYN asks with both bits; its answer agrees with ECE alone.
    pub(super) fn agree(&mut self, wanted: bool, flags: TcpFlags) {
        let peer = if flags.ack { flags.ece && !flags.cwr } else { flags.ece && flags.cwr };
        self.active = wanted && peer;
    }

    /// A segment that is acceptable has come (section 6.1.3): the answer first, which may itself be marked.
    pub(super) fn handle_arrival(&mut self, segment: &TcpSegment) -> bool {
        let marked = self.active && segment.ecn == Ecn::Ce;
        self.echoes = marked || (self.echoes && !segment.flags.cwr);
        marked
    }

    /// Writes the bits of a segment that leaves after the handshake; `fresh`: it carries data for the first time.
    pub(super) fn stamp(&mut self, segment: &mut TcpSegment, fresh: bool) {
        segment.flags.ece = self.echoes;
        if self.active && fresh && segment.payload > 0 {
            segment.ecn = Ecn::Ect0;
            segment.flags.cwr = core::mem::take(&mut self.answer_due);
        }
    }

    /// The window is being reduced with `max` as SND.MAX: marks of what is in flight are answered by that.
    pub(super) fn note_reduction(&mut self, max: Pos) {
        if self.active {
            (self.answer_due, self.answered) = (true, max);
        }
    }
}

impl Socket {
    /// Does this acknowledgement echo a mark? Then it does not grow the window (section 6.1.2).
    pub(super) fn echoes_mark(&self, segment: &TcpSegment) -> bool {
        self.ecn.active && segment.flags.ece && !segment.flags.syn
    }

    /// Answers a mark as a loss, once a window and not while losses are repaired (section 6.1.2).
    pub(super) fn answer_mark(&mut self, now: Time, ack: Pos) {
        let repairing = matches!(self.recovery.state, CaState::Recovery | CaState::Loss);
        if repairing || ack <= self.ecn.answered {
            return;
        }
        self.stats.marks_answered += 1;
        if !self.transport.owns_window() {
            return self.cut(now, self.recovery.state, Cause::Mark);
        }
        self.ecn.note_reduction(self.snd.max);
        let view = self.view(now, self.under_way());
        if let Strategy::Rack(rack) = &self.strategy
            && let Some(newest) = rack.newest_arrived()
        {
            self.cc.on_mark(&mut self.win, &view, &newest);
        }
    }
}
