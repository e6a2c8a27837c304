//! The size of a packet on the air in bytes.
//!
//! ns-2 counts no UDP header, gives routing messages the sizes of its C structures and ARP that of RFC 826; agreement
//! with it requires the same air times.

use crate::wire::{ArpMessage, Body, Ipv4Packet, Payload};
use fourhop_units::Bytes;

/// Sizes to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// As ns-2.35 counts.
    Ns2,
    /// As the headers are laid out.
    Standard,
}

/// Bytes of an ARP message for IPv4 (RFC 826).
const ARP: u64 = 28;

impl Sizes {
    /// Bytes of `payload` above the MAC.
    pub fn of(self, payload: &Payload) -> Bytes {
        match payload {
            Payload::Arp(ArpMessage { .. }) => Bytes(ARP),
            Payload::Ipv4(packet) => self.of_packet(packet),
            Payload::Foreign(frame) => Bytes(frame.bytes().len() as u64),
        }
    }

    fn of_packet(self, packet: &Ipv4Packet) -> Bytes {
        let len = match (self, &packet.body) {
            (Sizes::Ns2, Body::Tcp(segment)) if packet.meta.hides_headers && segment.payload > 0 => segment.payload,
            (Sizes::Ns2, Body::Measured(tcp)) if packet.meta.hides_headers && tcp.segment.payload > 0 => {
                tcp.segment.payload
            }
            (Sizes::Standard, _)
            | (Sizes::Ns2, Body::Tcp(_) | Body::Measured(_) | Body::Transport(_) | Body::Echo(_) | Body::Opaque(_)) => {
                packet.len()
            }
            (Sizes::Ns2, Body::Udp(udp)) => 20 + udp.payload,
            (Sizes::Ns2, Body::Routing(message)) => message.ns2_packet_len(),
        };
        Bytes(u64::from(len))
    }
}
