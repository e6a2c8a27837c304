//! Explicit congestion notification (RFC 3168 section 6.1): negotiated with the SYN, echoed by the receiver until the
//! sender signals that it has reduced its window, answered by the sender once per window.
//!
//! ```text
//!   sender                        queue                     receiver
//!   data, ECT(0) ───────────────► too long: CE ───────────► notes it
//!   cuts the window once ◄───────────────────────────────── ACKs with ECE
//!   next new data, CWR ──────────────────────────────────► stops
//! ```
//!
//! Retransmissions, pure acknowledgements, window probes and SYNs are not marked ECN-capable (sections 6.1.4 to 6.1.6,
//! 6.1.1). A window of two segments is not reduced, as in RFC 9438 section 4.6; RFC 3168 would slow down by the timer.

use super::position::Pos;
use crate::wire::{Ecn, TcpFlags, TcpSegment};

/// Flags of a SYN that offers ECN or, as an `answer`, agrees to it (section 6.1.1).
pub(super) fn offer(offers: bool, answer: bool) -> TcpFlags {
    TcpFlags { ece: offers, cwr: offers && !answer, ..TcpFlags::default() }
}

/// Whether the peer's SYN offers ECN or agrees to it. An offer sets both bits, an answer only ECE.
pub(super) fn is_offered(flags: TcpFlags) -> bool {
    if flags.ack { flags.ece && !flags.cwr } else { flags.ece && flags.cwr }
}

/// The receiver's part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// Whether both ends agreed.
    active: bool,
    /// Whether a mark has arrived that the sender has not answered.
    echoes: bool,
    marks: u64,
}

impl Echo {
    pub(super) const OFF: Echo = Echo { active: false, echoes: false, marks: 0 };

    /// Records whether both ends agreed.
    pub(super) fn agree(&mut self, active: bool) {
        self.active = active;
    }

    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// Handles an acceptable segment (section 6.1.3). CWR applies first, since its segment may itself be marked.
    pub(super) fn handle_arrival(&mut self, segment: &TcpSegment) {
        let marked = self.active && segment.ecn == Ecn::Ce;
        self.echoes = marked || (self.echoes && !segment.flags.cwr);
        self.marks += u64::from(marked);
    }

    /// Whether to echo a mark.
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
    /// Whether both ends agreed.
    active: bool,
    /// Whether the window was reduced and the peer has yet to be notified.
    due: bool,
    /// Marks up to this position have been answered.
    answered: Pos,
}

impl Answer {
    pub(super) const OFF: Answer = Answer { active: false, due: false, answered: Pos::SYN };

    /// Records whether both ends agreed.
    pub(super) fn agree(&mut self, active: bool) {
        self.active = active;
    }

    /// Whether this acknowledgement echoes a mark. If so, it does not grow the window (section 6.1.2).
    pub(super) fn is_asked_by(&self, segment: &TcpSegment) -> bool {
        self.active && segment.flags.ece && !segment.flags.syn
    }

    /// Whether a mark echoed by an acknowledgement up to `ack` has been answered already, as happens once per window.
    pub(super) fn covers(&self, ack: Pos) -> bool {
        ack <= self.answered
    }

    /// Sets the ECN bits of a data segment sent for the first time.
    pub(super) fn stamp(&mut self, segment: &mut TcpSegment) {
        if self.active && segment.payload > 0 {
            segment.ecn = Ecn::Ect0;
            segment.flags.cwr = core::mem::take(&mut self.due);
        }
    }

    /// Notes a window reduction with `max` as SND.MAX: it answers all marks on data in flight.
    pub(super) fn note_reduction(&mut self, max: Pos) {
        if self.active {
            (self.due, self.answered) = (true, max);
        }
    }
}
