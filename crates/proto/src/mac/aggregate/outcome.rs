//! How an exchange with an aggregate is to go, and how it went.

use crate::phy::Mcs;

/// How an exchange goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Its MCS.
    pub mcs: Mcs,
    /// Most MPDUs.
    pub frames: u32,
}

/// Fate of the MPDUs of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// How many there were.
    pub sent: u32,
    /// How many of them were acknowledged,
    pub acked: u32,
    /// with so many packets.
    pub acked_packets: u64,
}
