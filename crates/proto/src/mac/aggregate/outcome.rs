//! Parameters of an exchange with an aggregate, and its outcome.

use crate::phy::Mcs;

/// Parameters of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Its MCS.
    pub mcs: Mcs,
    /// Maximum number of MPDUs.
    pub frames: u32,
}

/// Fate of the MPDUs of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// MPDUs sent.
    pub sent: u32,
    /// MPDUs acknowledged.
    pub acked: u32,
    /// Packets in the acknowledged MPDUs.
    pub acked_packets: u64,
}
