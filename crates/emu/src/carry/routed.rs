//! The simulated network routes: devices carry IPv4 packets, which it takes unchanged.

use super::Refused;
use fourhop_proto::wire::{Ipv4Packet, encode};

/// Reads the packet of a host.
///
/// # Errors
/// If it is not a complete IPv4 packet.
pub fn enter(bytes: &[u8]) -> Result<Ipv4Packet, Refused> {
    Ipv4Packet::from_bytes(bytes).map_err(|_| Refused::NotIpv4)
}

/// Writes the packet as bytes, with its remaining time to live.
pub fn leave(packet: &Ipv4Packet, out: &mut Vec<u8>) -> bool {
    encode::packet(packet, out);
    true
}
