//! IPv4 packets of outside hosts: bytes that the network carries without inspecting them.
//!
//! They are carried unchanged, with options, fragments, TOS and ECN. Only the time to live changes on the path: it is
//! tracked in [`Ipv4Packet::ttl`] and written into the bytes when they leave.

use super::bytes::{self, Ipv4Error, Ipv4Head};
use super::{Body, Ipv4Packet, PacketMeta};
use core::net::Ipv4Addr;
use std::sync::Arc;

/// A whole packet of a host, header included. Cloning shares the bytes: each transmission and each reception has a
/// clone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opaque {
    bytes: Arc<[u8]>,
}

impl Opaque {
    /// Returns the packet, with its time to live on arrival.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the size of the packet.
    pub fn len(&self) -> u32 {
        // INVARIANT: equal to the total length, which has 16 bits.
        self.bytes.len() as u32
    }

    /// Always false: every packet has a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the protocol number of its payload (RFC 790).
    pub fn protocol(&self) -> u8 {
        self.bytes[9]
    }

    /// Returns the bytes after the header.
    pub fn content(&self) -> &[u8] {
        &self.bytes[usize::from(self.bytes[0] & 0x0f) * 4..]
    }

    /// Returns whether it is network control: precedence 6 or 7 of RFC 791 section 3.1, CS6 or CS7 of RFC 2474, with
    /// which routing daemons mark their packets.
    pub fn is_network_control(&self) -> bool {
        self.bytes[1] >= 0xc0
    }

    /// Lets `edit` change the bytes, which must still be an IPv4 packet afterwards. Returns the result of `edit`.
    pub(crate) fn edit<T>(&mut self, edit: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let mut bytes = self.bytes.to_vec();
        let answer = edit(&mut bytes);
        debug_assert!(Ipv4Head::read(&bytes).is_ok_and(|head| head.total_len == bytes.len()), "still a packet");
        self.bytes = bytes.into();
        answer
    }

    /// Appends the packet with this time to live.
    pub(super) fn encode(&self, ttl: u8, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        bytes::set_ttl(&mut out[start..], ttl);
    }
}

impl Ipv4Packet {
    /// Parses the packet of an outside host. Bytes beyond its end (link padding) are left out.
    ///
    /// # Errors
    /// If the bytes are not a whole IPv4 packet.
    pub fn from_bytes(bytes: &[u8]) -> Result<Ipv4Packet, Ipv4Error> {
        let head = Ipv4Head::read(bytes)?;
        let whole = bytes.get(..head.total_len);
        let whole = whole.ok_or(Ipv4Error::Truncated { needed: head.total_len, found: bytes.len() })?;
        let Ipv4Head { src, dst, ttl, ident, .. } = head;
        let body = Body::Opaque(Opaque { bytes: whole.into() });
        Ok(Ipv4Packet { src, dst, ttl, ident, dscp: whole[1] >> 2, body, meta: PacketMeta::default() })
    }
}

impl Ipv4Packet {
    /// Creates a packet of network control (CS6) with this content, for direct neighbours only.
    pub fn control_broadcast(src: Ipv4Addr, protocol: u8, content: &[u8]) -> Ipv4Packet {
        const HEADER: usize = 20;
        let total = (HEADER + content.len()) as u16;
        let mut bytes = vec![0; HEADER];
        bytes[..4].copy_from_slice(&[0x45, 0xc0, (total >> 8) as u8, total as u8]);
        (bytes[8], bytes[9]) = (1, protocol);
        bytes[12..16].copy_from_slice(&src.octets());
        bytes[16..].copy_from_slice(&Ipv4Addr::BROADCAST.octets());
        let checksum = bytes::checksum::updated(u16::MAX, 0, bytes::checksum::sum(&bytes));
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        bytes.extend_from_slice(content);
        let body = Body::Opaque(Opaque { bytes: bytes.into() });
        Ipv4Packet {
            src,
            dst: Ipv4Addr::BROADCAST,
            ttl: 1,
            ident: 0,
            dscp: Ipv4Packet::CS6,
            body,
            meta: PacketMeta::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::Packet;
    use crate::wire::bytes::tests::{encoded, packets};
    use crate::wire::{AodvMessage, RoutingMessage};
    use proptest::prelude::*;

    proptest! {
        /// A gateway sees the same in bytes as in the simulator's packets, and writes the same into both.
        #[test]
        fn bytes_and_typed_packets_are_the_same_to_a_gateway(typed in packets(), millis: u16, mtu in 1_000..1_500u32) {
            let mut opaque = Ipv4Packet::from_bytes(&encoded(&typed)).unwrap();
            let mut typed = typed;
            prop_assert_eq!(Packet::len(&opaque), Packet::len(&typed));
            prop_assert_eq!(Packet::tcp(&opaque), Packet::tcp(&typed));
            prop_assert_eq!(opaque.five_tuple(), typed.five_tuple());
            prop_assert_eq!(opaque.tcp_payload(), typed.tcp_payload());
            prop_assert_eq!(opaque.write_wired_rtt(millis, mtu), typed.write_wired_rtt(millis, mtu));
            (opaque.ttl, typed.ttl) = (3, 3);
            prop_assert_eq!(encoded(&opaque), encoded(&typed));
        }

        /// Any input from a device gives a packet or an error, and a packet is as long as it claims.
        #[test]
        fn any_bytes_are_taken_or_refused(
            mut bytes in prop::collection::vec(any::<u8>(), 0..80),
            sound in any::<bool>(),
        ) {
            if sound && bytes.len() >= 20 {
                (bytes[0], bytes[2], bytes[3]) = (0x45, 0, bytes.len() as u8 - bytes[3] % 4);
            }
            if let Ok(packet) = Ipv4Packet::from_bytes(&bytes) {
                prop_assert_eq!(packet.len() as usize, encoded(&packet).len());
                prop_assert_eq!(encoded(&packet), &bytes[..packet.len() as usize]);
            }
        }
    }

    #[test]
    fn a_packet_that_is_cut_off_is_no_packet() {
        let message = RoutingMessage::from(AodvMessage::RrepAck);
        let typed = Ipv4Packet {
            src: [192, 0, 2, 1].into(),
            dst: [192, 0, 2, 2].into(),
            ttl: 1,
            ident: 0,
            dscp: 0,
            body: Body::Routing(message),
            meta: PacketMeta::default(),
        };
        let mut bytes = encoded(&typed);
        let opaque = Ipv4Packet::from_bytes(&bytes).unwrap();
        assert!(typed.is_network_control() && !opaque.is_network_control());
        assert!(!opaque.is_routing(), "messages of a host's routing are not this network's");
        bytes[1] = 0xc0;
        let marked = Ipv4Packet::from_bytes(&bytes).unwrap();
        assert!(marked.is_network_control(), "CS6");
        let needed = bytes.len();
        assert_eq!(
            Ipv4Packet::from_bytes(&bytes[..needed - 1]),
            Err(Ipv4Error::Truncated { needed, found: needed - 1 })
        );
        bytes.push(0);
        assert_eq!(Ipv4Packet::from_bytes(&bytes), Ok(marked), "padding is left out");
    }
}
