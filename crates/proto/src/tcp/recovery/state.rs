//! Shared by all recovery strategies: the state of recovery, and their answers.

use crate::tcp::position::Pos;
use fourhop_cc::CaState;

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
}

/// What a duplicate ACK lets the sender do. A budget counts fresh segments.
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
