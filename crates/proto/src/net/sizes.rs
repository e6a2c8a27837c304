//! The size of a packet on the air in bytes.
//!
//! ns-2 counts no UDP header, and gives routing messages the sizes of its C structures and ARP that of RFC 826.
//! Agreement with ns-2 requires the same airtimes.

use crate::wire::{ArpMessage, Body, Ipv4Packet, Payload};
use fourhop_units::Bytes;

/// How to count sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// As ns-2.35 counts them.
    Ns2,
    /// As the headers are laid out.
    Standard,
}

/// Size of an ARP message for IPv4 (RFC 826).
const ARP: u64 = 28;

impl Sizes {
    /// Returns the size of `payload` above the MAC.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{
        AodvMessage, ArpOperation, Attempt, EchoMessage, Foreign, MeasuredSegment, PacketMeta, Rerr, TcpSegment,
        UdpDatagram,
    };
    use fourhop_units::{NodeId, Rate};

    fn packet(body: Body, hides_headers: bool) -> Payload {
        let meta = PacketMeta { hides_headers, ..PacketMeta::default() };
        let (src, dst) = (NodeId(0).ipv4(), NodeId(1).ipv4());
        Payload::Ipv4(Ipv4Packet { src, dst, ttl: 9, ident: 0, dscp: 0, body, meta })
    }

    fn tcp(payload: u32) -> TcpSegment {
        TcpSegment { payload, ..TcpSegment::default() }
    }

    /// For each payload: the size as counted by ns-2.35, and by the layout of the headers.
    #[test]
    fn ns2_leaves_headers_out_where_it_does() {
        let udp = UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 100 };
        let echo = EchoMessage { reply: false, ident: 0, number: 0, payload: 56 };
        let rerr = AodvMessage::Rerr(Rerr { no_delete: false, unreachable: Vec::new() });
        let measured =
            |payload| Body::Measured(Box::new(MeasuredSegment { segment: tcp(payload), ..Default::default() }));
        let header = u64::from(tcp(0).header_len());
        for (payload, ns2, standard) in [
            (packet(Body::Udp(udp), false), 120, 128),
            (packet(Body::Echo(echo), false), 84, 84),
            (packet(Body::Tcp(tcp(500)), false), 520 + header, 520 + header),
            (packet(Body::Tcp(tcp(500)), true), 500, 520 + header),
            (packet(Body::Tcp(tcp(0)), true), 20 + header, 20 + header),
            (packet(measured(500), false), 520 + header, 520 + header),
            (packet(measured(500), true), 500, 520 + header),
            (packet(measured(0), true), 20 + header, 20 + header),
            (packet(Body::Routing(rerr.into()), false), 24, 32),
        ] {
            assert_eq!(
                [Sizes::Ns2, Sizes::Standard].map(|sizes| sizes.of(&payload).get()),
                [ns2, standard],
                "{payload:?}"
            );
        }
    }

    #[test]
    fn arp_and_frames_of_others_count_the_same_in_both() {
        let (sender_mac, sender_ip) = (NodeId(0).mac(), NodeId(0).ipv4());
        let operation = ArpOperation::Request;
        let arp = ArpMessage { operation, sender_mac, sender_ip, target_mac: None, target_ip: NodeId(1).ipv4() };
        let frame = Foreign::new(1, &[0; 7], &[Attempt { rate: Rate::kbps(1_000), rts: false }]).unwrap();
        for sizes in [Sizes::Ns2, Sizes::Standard] {
            assert_eq!(sizes.of(&Payload::Arp(arp)), Bytes(28));
            assert_eq!(sizes.of(&Payload::Foreign(frame.clone())), Bytes(7));
        }
    }
}
