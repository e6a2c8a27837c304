//! Packets given up by the MAC of a node, by neighbour and kind of packet.

use crate::wire::{Msdu, Payload};
use fourhop_units::MacAddr;

/// Packets to one neighbour that were given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkDrops {
    /// The neighbour.
    pub to: MacAddr,
    /// TCP segments with payload.
    pub tcp_data: u64,
    /// TCP segments without payload.
    pub tcp_acks: u64,
    /// Everything else: datagrams, ping, routing, ARP.
    pub other: u64,
}

/// Counts `msdu`, a unicast that was given up.
pub(super) fn count(table: &mut Vec<LinkDrops>, msdu: &Msdu) {
    let to = msdu.dst;
    let at = match table.binary_search_by_key(&to, |drops| drops.to) {
        Ok(at) => at,
        Err(at) => {
            table.insert(at, LinkDrops { to, tcp_data: 0, tcp_acks: 0, other: 0 });
            at
        }
    };
    let drops = &mut table[at];
    match &msdu.payload {
        Payload::Ipv4(packet) => match packet.tcp_payload() {
            Some(payload) if payload > 0 => drops.tcp_data += 1,
            Some(_) => drops.tcp_acks += 1,
            None => drops.other += 1,
        },
        Payload::Arp(_) | Payload::Foreign(_) => drops.other += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ArpMessage, ArpOperation, Body, Ipv4Packet, PacketMeta, TcpSegment, UdpDatagram};
    use fourhop_units::{Bytes, NodeId};

    fn msdu(to: u32, payload: Payload) -> Msdu {
        Msdu { dst: NodeId(to).mac(), len: Bytes(1), payload }
    }

    fn packet(to: u32, body: Body) -> Msdu {
        let (src, dst) = (NodeId(0).ipv4(), NodeId(9).ipv4());
        let meta = PacketMeta::default();
        msdu(to, Payload::Ipv4(Ipv4Packet { src, dst, ttl: 9, ident: 0, dscp: 0, body, meta }))
    }

    #[test]
    fn packets_count_by_neighbour_and_kind() {
        let tcp = |payload| Body::Tcp(TcpSegment { payload, ..TcpSegment::default() });
        let udp = Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 3 });
        let (sender_mac, sender_ip) = (NodeId(0).mac(), NodeId(0).ipv4());
        let operation = ArpOperation::Request;
        let arp = ArpMessage { operation, sender_mac, sender_ip, target_mac: None, target_ip: NodeId(1).ipv4() };
        let mut table = Vec::new();
        let lost = [
            packet(5, tcp(1)),
            packet(3, tcp(0)),
            packet(5, tcp(0)),
            packet(5, tcp(500)),
            packet(4, udp),
            msdu(5, Payload::Arp(arp)),
            packet(5, tcp(0)),
            packet(5, tcp(0)),
        ];
        lost.iter().for_each(|msdu| count(&mut table, msdu));
        let drops = |to, tcp_data, tcp_acks, other| LinkDrops { to: NodeId(to).mac(), tcp_data, tcp_acks, other };
        assert_eq!(table, [drops(3, 0, 1, 0), drops(4, 0, 0, 1), drops(5, 2, 3, 1)]);
    }
}
