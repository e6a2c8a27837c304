//! The simulated network routes: devices carry IPv4 packets, which it takes as they are.

use super::Refused;
use fourhop_proto::wire::{Ipv4Packet, encode};

/// The packet of a host.
///
/// # Errors
/// If it is no whole IPv4 packet.
pub fn enter(bytes: &[u8]) -> Result<Ipv4Packet, Refused> {
    Ipv4Packet::from_bytes(bytes).map_err(|_| Refused::NotIpv4)
}

/// The packet as bytes, with the time to live it has left.
pub fn leave(packet: &Ipv4Packet, out: &mut Vec<u8>) -> bool {
    encode::packet(packet, out);
    true
}
