//! Interface between one end of a flow and its node, for transports other than TCP, UDP and ICMP.

use super::ages::AgeLog;
use super::transfer::Transfer;
use crate::wire::{Body, TransportPacket};
use core::net::Ipv4Addr;
use fourhop_units::{Bytes, Dur, Seq, Time};

/// Identifies a flow at one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowAddress {
    /// The other end.
    pub peer: Ipv4Addr,
    /// Port here; the identifier for ping.
    pub local_port: u16,
    /// Port there; not used by ping.
    pub remote_port: u16,
}

/// Counters of an end, whatever its transport.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Data packets, retransmissions included.
    pub sent: u64,
    /// Retransmissions among them.
    pub retransmitted: u64,
    /// Times that the end started over because answers were missing for too long.
    pub timeouts: u64,
    /// Losses detected from answers.
    pub fast_retransmits: u64,
}

/// A sender's view of its path.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PathSeen {
    /// Newest round trip.
    pub rtt: Option<Dur>,
    /// Least time between packets.
    pub interval: Option<Dur>,
    /// The delay that the path has reported.
    pub offered: Option<Dur>,
}

/// State that an end shares with its node.
#[derive(Debug)]
pub struct Shared<'a> {
    /// The flow.
    pub address: FlowAddress,
    /// Payload bytes received here, each counted once.
    pub received: &'a mut Bytes,
    /// Payload bytes that arrived here, repeated ones included.
    pub arrived: &'a mut Bytes,
    /// Where to record the ages of bytes, if wanted.
    pub ages: Option<&'a mut AgeLog>,
    /// Packets for the other end.
    pub out: &'a mut Vec<Body>,
}

/// One end of a flow. Every `handle_*` call may change `next_timeout`.
pub trait FlowEnd: Sized {
    /// Options of both ends.
    type Config;
    /// Their packets.
    type Packet: TransportPacket;

    /// Sender and receiver of a transfer; `first` is the sender's first number.
    fn pair(config: &Self::Config, transfer: Transfer, first: Seq) -> (Self, Self);

    /// Whether the ages of bytes at delivery are recorded.
    fn records_ages(&self) -> bool {
        false
    }

    /// When `handle_timeout` has something to do.
    fn next_timeout(&self) -> Option<Time>;

    /// Does what is due at `now`.
    fn handle_timeout(&mut self, now: Time, shared: Shared<'_>);

    /// Handles a packet from the other end.
    fn handle_packet(&mut self, now: Time, packet: &Self::Packet, shared: Shared<'_>);

    /// Its counters.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Number and sum of its round-trip samples.
    fn rtt_samples(&self) -> (u64, Dur) {
        (0, Dur::ZERO)
    }

    /// Its view of the path.
    fn path_seen(&self) -> PathSeen {
        PathSeen::default()
    }
}
