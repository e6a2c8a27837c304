//! The states of a connection, and the operations they allow.

/// States of a connection (RFC 9293 section 3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent, waiting for its answer.
    SynSent,
    /// SYN answered, waiting for the acknowledgement.
    SynReceived,
    /// Data flows both ways.
    Established,
    /// The user has closed; the FIN is not yet acknowledged.
    FinWait1,
    /// The FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer has closed; the user may still send.
    CloseWait,
    /// Both have closed; our FIN is not yet acknowledged.
    Closing,
    /// The peer closed first, then the user; our FIN is not yet acknowledged.
    LastAck,
    /// Both FINs are acknowledged; old segments die out.
    TimeWait,
}

impl State {
    /// Whether the handshake is under way.
    pub(super) fn is_opening(self) -> bool {
        matches!(self, State::SynSent | State::SynReceived)
    }

    /// Whether data or a FIN may be (re)transmitted.
    pub(super) fn may_transmit(self) -> bool {
        use State::*;
        matches!(self, Established | FinWait1 | CloseWait | Closing | LastAck)
    }

    /// Whether payload may arrive.
    pub(super) fn may_receive(self) -> bool {
        matches!(self, State::Established | State::FinWait1 | State::FinWait2)
    }
}
