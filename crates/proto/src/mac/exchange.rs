//! Parts of an exchange: its states, its content, and pending answers.

use super::config::Config;
use crate::wire::{Category, Msdu, Payload};
use fourhop_units::{Dur, MacAddr, Rate};

/// The exchange in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TxState {
    Idle,
    /// RTS sent, CTS awaited.
    Rts,
    /// CTS sent, data awaited.
    Cts,
    /// Unicast data sent, ACK awaited.
    Data,
    /// Broadcast on the air.
    Broadcast,
    /// CTS to this station on the air.
    SelfCts,
}

/// The transmission in progress.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub(super) content: Content,
    /// Rate of its data frame.
    pub(super) rate: Rate,
    /// Air time of its data frame.
    pub(super) airtime: Dur,
    /// Whether an RTS must come first. Cleared by the CTS, set again for a retry.
    pub(super) rts: bool,
}

/// Content of an exchange.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// One MSDU.
    One { msdu: Msdu, seq: u16, retry: bool },
    /// A session with this station.
    Session(MacAddr),
}

/// An answer to be sent after SIFS.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Cts { to: MacAddr, duration: Dur, rate: Rate },
    Ack { to: MacAddr, duration: Dur, rate: Rate },
    BlockAck { to: MacAddr, duration: Dur, rate: Rate, category: Category },
}

/// Whether an RTS precedes this MSDU. (dot11RTSThreshold compares the whole frame.)
pub(super) fn needs_rts(config: &Config, msdu: &Msdu) -> bool {
    match &msdu.payload {
        Payload::Foreign(frame) => frame.present().rts,
        Payload::Ipv4(_) | Payload::Arp(_) => config.data_len(msdu.len) > config.rts_threshold,
    }
}
