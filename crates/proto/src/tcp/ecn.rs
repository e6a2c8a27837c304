//! Explicit congestion notification (RFC 3168 section 6.1): agreed upon with the SYN, echoed by the receiver until the
//! sender says that it has reduced its window, answered by the sender once a window.
//!
//! ```text
//!   sender                        queue                     receiver
//!   data, ECT(0) ───────────────► too long: CE ───────────► notes it
//!   cuts the window once ◄───────────────────────────────── ACKs with ECE
//!   next new data, CWR ──────────────────────────────────► stops
//! ```
//!
//! Retransmissions, acknowledgements without data, window probes and SYNs are not marked as listening (sections 6.1.4
//! to 6.1.6, 6.1.1). A window of two segments is not reduced further, as RFC 9438 section 4.6 has it; RFC 3168 would
//! slow down by the timer.

use super::position::Pos;
use crate::wire::{Ecn, TcpFlags, TcpSegment};

/// The bits of a SYN that offers, or of one that agrees as its `answer` (section 6.1.1).
pub(super) fn offer(offers: bool, answer: bool) -> TcpFlags {
    TcpFlags { ece: offers, cwr: offers && !answer, ..TcpFlags::default() }
}

/// Has the peer's SYN agreed? It asks with both bits; its answer agrees with ECE alone.
pub(super) fn is_offered(flags: TcpFlags) -> bool {
    if flags.ack { flags.ece && !flags.cwr } else { flags.ece && flags.cwr }
}

/// The receiver's part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// Both ends agreed.
    active: bool,
    /// A mark has come that the sender has not answered.
    echoes: bool,
    marks: u64,
}

impl Echo {
    pub(super) const OFF: Echo = Echo { active: false, echoes: false, marks: 0 };

    /// Both ends agreed, or did not.
    pub(super) fn agree(&mut self, active: bool) {
        self.active = active;
    }

    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// An acceptable segment has come (section 6.1.3): the answer first, which may itself be marked.
    pub(super) fn handle_arrival(&mut self, segment: &TcpSegment) {
        let marked = self.active && segment.ecn == Ecn::Ce;
        self.echoes = marked || (self.echoes && !segment.flags.cwr);
        self.marks += u64::from(marked);
    }

    /// Is a mark to be echoed?
    pub(super) fn echoes(&self) -> bool {
        self.echoes
    }

    /// Segments that arrived with a mark.
    pub(super) fn marks(&self) -> u64 {
        self.marks
    }
}

/// The sender's part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Both ends agreed.
    active: bool,
    /// The window was reduced, and the peer is to hear of it.
    due: bool,
    /// Marks up to here are answered.
    answered: Pos,
}

impl Answer {
    pub(super) const OFF: Answer = Answer { active: false, due: false, answered: Pos::SYN };

    /// Both ends agreed, or did not.
    pub(super) fn agree(&mut self, active: bool) {
        self.active = active;
    }

    /// Does this acknowledgement echo a mark? Then it does not grow the window (section 6.1.2).
    pub(super) fn is_asked_by(&self, segment: &TcpSegment) -> bool {
        self.active && segment.flags.ece && !segment.flags.syn
    }

    /// Is a mark that an acknowledgement up to `ack` echoes answered already, as one is per window?
    pub(super) fn covers(&self, ack: Pos) -> bool {
        ack <= self.answered
    }

    /// Writes the bits of a segment with data that leaves for the first time.
    pub(super) fn stamp(&mut self, segment: &mut TcpSegment) {
        if self.active && segment.payload > 0 {
            segment.ecn = Ecn::Ect0;
            segment.flags.cwr = core::mem::take(&mut self.due);
        }
    }

    /// The window is being reduced with `max` as SND.MAX: marks of what is in flight are answered by that.
    pub(super) fn note_reduction(&mut self, max: Pos) {
        if self.active {
            (self.due, self.answered) = (true, max);
        }
    }
}
