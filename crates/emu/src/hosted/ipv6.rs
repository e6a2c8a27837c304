//! Babel between the simulated network, which carries it over IPv4, and daemons, which speak it over IPv6 (RFC 8966
//! section 4 allows both): link-local addresses represent nodes, IPv4 routes name their next hop, and neighbours are
//! discovered (RFC 4861).

use etherparse::{Icmpv6Type, IpNumber, Ipv6Slice, NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use fourhop_proto::wire::{BabelMessage, BabelTlv, BabelUpdate, decode};
use fourhop_units::{MacAddr, NodeId};
use std::net::{IpAddr, Ipv6Addr};

/// Babel's group (RFC 8966 section 4), and its address on Ethernet (RFC 2464 section 7).
pub const GROUP: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 1, 6);
/// The corresponding Ethernet address.
pub const GROUP_MAC: MacAddr = MacAddr([0x33, 0x33, 0, 1, 0, 6]);
/// Neighbour solicitation and advertisement (RFC 4861 sections 4.3 and 4.4).
const SOLICITS: u8 = 135;
const ADVERTISES: u8 = 136;
/// Hop limit of a neighbour discovery packet that has not been routed.
const UNROUTED: u8 = 255;

/// The link-local address of a node: its MAC address as EUI-64 (RFC 4291 appendix A).
pub fn link_local(node: NodeId) -> Ipv6Addr {
    let [a, b, c, d, e, f] = node.mac().0;
    let pair = |high, low| u16::from_be_bytes([high, low]);
    Ipv6Addr::new(0xfe80, 0, 0, 0, pair(a ^ 2, b), pair(c, 0xff), pair(0xfe, d), pair(e, f))
}

/// Content of an IPv6 packet for a node.
pub enum Arrived {
    /// A Babel packet in the simulated network's form.
    Babel(BabelMessage),
    /// A reply to send.
    Answer(Vec<u8>),
}

/// Reads a packet that has arrived at `own`; `None` if it is of no interest.
pub fn read(own: NodeId, bytes: &[u8]) -> Option<Arrived> {
    let sliced = SlicedPacket::from_ip(bytes).ok()?;
    let Some(NetSlice::Ipv6(ip)) = &sliced.net else { return None };
    match sliced.transport? {
        TransportSlice::Udp(udp) if udp.destination_port() == BabelMessage::PORT => {
            let to = ip.header().destination_addr();
            // Only neighbours have link-local addresses (section 4).
            let near = ip.header().source_addr().is_unicast_link_local() && udp.source_port() == BabelMessage::PORT;
            if !near || (to != GROUP && to != link_local(own)) {
                return None;
            }
            let (message, _) = decode::babel(udp.payload(), false).ok()?;
            Some(Arrived::Babel(BabelMessage { tlvs: message.tlvs.iter().map(|tlv| inwards(own, tlv)).collect() }))
        }
        TransportSlice::Icmpv6(icmp) if icmp.type_u8() == SOLICITS => {
            advertise(own, ip, icmp.payload()).map(Arrived::Answer)
        }
        _ => None,
    }
}

/// Turns an IHU for this node's link-local address into one for its IPv4 address.
fn inwards(own: NodeId, tlv: &BabelTlv) -> BabelTlv {
    match *tlv {
        BabelTlv::Ihu { address: Some(IpAddr::V6(addr)), rxcost, interval } if addr == link_local(own) => {
            BabelTlv::Ihu { address: Some(own.ipv4().into()), rxcost, interval }
        }
        other => other,
    }
}

fn outwards(own: NodeId, tlv: &BabelTlv) -> BabelTlv {
    match *tlv {
        BabelTlv::Ihu { address: Some(IpAddr::V4(addr)), rxcost, interval } => {
            let address = NodeId::from_ipv4(addr).map(|node| link_local(node).into());
            BabelTlv::Ihu { address, rxcost, interval }
        }
        BabelTlv::Update(update) if update.next_hop.is_none() => {
            BabelTlv::Update(BabelUpdate { next_hop: Some(own.ipv4()), ..update })
        }
        other => other,
    }
}

/// A Babel packet of `own`, to a neighbour or to all.
pub fn write(own: NodeId, to: Option<NodeId>, message: &BabelMessage) -> Vec<u8> {
    let message = BabelMessage { tlvs: message.tlvs.iter().map(|tlv| outwards(own, tlv)).collect() };
    let (mut payload, mut bytes) = (Vec::new(), Vec::new());
    message.encode(&mut payload);
    let dst = to.map_or(GROUP, link_local);
    let port = BabelMessage::PORT;
    let packet = PacketBuilder::ipv6(link_local(own).octets(), dst.octets(), 1).udp(port, port);
    // INVARIANT: a message fits in a packet, and writing to a vector does not fail.
    packet.write(&mut bytes, &payload).expect("a packet of Babel fits");
    bytes
}

/// The answer to a solicitation for the MAC address of `own` (RFC 4861 section 7.2.4).
fn advertise(own: NodeId, ip: &Ipv6Slice<'_>, asked: &[u8]) -> Option<Vec<u8>> {
    let address = link_local(own);
    let head = ip.header();
    if asked.get(..16)? != address.octets() || head.hop_limit() != UNROUTED || head.next_header() != IpNumber::IPV6_ICMP
    {
        return None;
    }
    // Duplicate address detection has no address to reply to; no other node has this one.
    let asker = Some(head.source_addr()).filter(Ipv6Addr::is_unicast_link_local)?;
    let mut target = address.octets().to_vec();
    // The link-layer address option (section 4.6.1), with its length in units of eight bytes.
    target.extend([2, 1]);
    target.extend(own.mac().0);
    // Flags: solicited and override.
    let kind = Icmpv6Type::Unknown { type_u8: ADVERTISES, code_u8: 0, bytes5to8: [0x60, 0, 0, 0] };
    let mut bytes = Vec::new();
    let packet = PacketBuilder::ipv6(address.octets(), asker.octets(), UNROUTED).icmpv6(kind);
    packet.write(&mut bytes, &target).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::route::Prefix;
    use fourhop_proto::wire::RouterId;

    const HERE: NodeId = NodeId(0);
    const THERE: NodeId = NodeId(1);

    #[test]
    fn nodes_have_the_addresses_that_kernels_give_them() {
        assert_eq!(link_local(NodeId(1)).to_string(), "fe80::ff:fe00:1");
        assert_eq!(link_local(NodeId(0x1_2345)).to_string(), "fe80::ff:fe01:2345");
    }

    #[test]
    fn what_leaves_one_node_is_the_same_at_the_other() {
        let router_id = RouterId::of_address(HERE.ipv4()).expect("a name");
        let prefix = Prefix::host(HERE.ipv4());
        let update =
            BabelUpdate { prefix, router_id, next_hop: None, interval: 1600, seqno: 3, metric: 0, hops: Some(0) };
        let ihu = |node: NodeId| BabelTlv::Ihu { address: Some(node.ipv4().into()), rxcost: 256, interval: 1200 };
        let message = BabelMessage { tlvs: vec![ihu(THERE), ihu(NodeId(7)), BabelTlv::Update(update)] };
        for to in [None, Some(THERE)] {
            let bytes = write(HERE, to, &message);
            let Some(Arrived::Babel(read)) = read(THERE, &bytes) else { panic!("a packet of Babel") };
            assert_eq!(read.tlvs[0], message.tlvs[0]);
            let other = IpAddr::V6(link_local(NodeId(7)));
            assert!(matches!(read.tlvs[1], BabelTlv::Ihu { address: Some(addr), .. } if addr == other));
            let via = BabelUpdate { next_hop: Some(HERE.ipv4()), ..update };
            assert_eq!(read.tlvs[2], BabelTlv::Update(via), "over IPv6 the next hop is named");
        }
        assert!(read(NodeId(2), &write(HERE, Some(THERE), &message)).is_none(), "for another node");
    }

    #[test]
    fn who_asks_for_its_own_address_gets_the_mac_address() {
        let solicitation = |asked: Ipv6Addr, limit: u8| {
            let kind = Icmpv6Type::Unknown { type_u8: SOLICITS, code_u8: 0, bytes5to8: [0; 4] };
            let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 1);
            let mut bytes = Vec::new();
            let packet = PacketBuilder::ipv6(link_local(HERE).octets(), group.octets(), limit).icmpv6(kind);
            packet.write(&mut bytes, &asked.octets()).expect("it fits");
            bytes
        };
        let Some(Arrived::Answer(answer)) = read(THERE, &solicitation(link_local(THERE), 255)) else {
            panic!("an answer")
        };
        let sliced = SlicedPacket::from_ip(&answer).expect("a packet");
        let Some(TransportSlice::Icmpv6(icmp)) = sliced.transport else { panic!("ICMPv6") };
        assert_eq!((icmp.type_u8(), &icmp.payload()[16..]), (136, &[2, 1, 2, 0, 0, 0, 0, 1][..]));
        assert!(icmp.is_checksum_valid(link_local(THERE).octets(), link_local(HERE).octets()));
        assert!(read(THERE, &solicitation(link_local(HERE), 255)).is_none(), "another's address");
        assert!(read(THERE, &solicitation(link_local(THERE), 64)).is_none(), "from beyond a router");
    }
}
