//! Nodes hosted by the simulator's AODV or Babel, in mode `link`, next to nodes whose kernels and routing daemons
//! route. They talk to each other with the same frames: ARP, messages of RFC 3561 or RFC 8966 as bytes, packets to be
//! forwarded, and echo requests that get answered. Babel's packets are sent over IPv6, as daemons do.
//!
//! Its parameters are those of the scenario's `[routing]`, its time is that of the network. The simulated AODV does
//! without the fields that a real packet lacks (`Aodv::with_notes`). Such a node has no programs, and no queue besides
//! its radio's, which is the network's.

mod ipv6;

use etherparse::{Icmpv4Type, NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use fourhop_proto::drop::DropReason;
use fourhop_proto::route::{Action, NextHop, Protocol, Router};
use fourhop_proto::wire::bytes::Ipv4Head;
use fourhop_proto::wire::{AodvMessage, BabelMessage, Body, Ipv4Packet, PacketMeta, RoutingMessage, decode, encode};
use fourhop_units::{Dbm, MacAddr, NodeId, Time};
use ipv6::Arrived;
use std::net::Ipv4Addr;

/// Length of an Ethernet header, and the types handled.
const HEADER: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const ARP: [u8; 2] = [0x08, 0x06];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// UDP (IANA), and its header.
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
/// Start of an ARP request for IPv4 over Ethernet (RFC 826).
const ASKS: [u8; 8] = [0, 1, 8, 0, 6, 4, 0, 1];

/// A node hosted by the simulator's routing.
#[derive(Debug)]
pub struct Hosted {
    node: NodeId,
    router: Router,
    actions: Vec<Action>,
}

impl Hosted {
    /// Hosts a node with its router.
    pub fn new(node: NodeId, router: Router) -> Hosted {
        Hosted { node, router, actions: Vec::new() }
    }

    /// The node.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Its routing, for inspection.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// When [`Hosted::handle_timeout`] is next due.
    pub fn next_timeout(&self) -> Option<Time> {
        self.router.next_timeout()
    }

    /// Handles timeouts that are due; frames to send are appended.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Vec<u8>>) {
        self.call(out, |router, actions| router.handle_timeout(now, actions));
    }

    /// Handles a frame received with this strength. Frames that are not for a host are dropped.
    pub fn handle_frame(&mut self, now: Time, frame: &[u8], strength: Dbm, out: &mut Vec<Vec<u8>>) {
        let Some((header, content)) = frame.split_at_checked(HEADER) else { return };
        let from = MacAddr([header[6], header[7], header[8], header[9], header[10], header[11]]);
        match [header[12], header[13]] {
            ARP => out.extend(self.answer(content, from)),
            IPV4 => {
                let (Some(neighbour), Ok(head)) = (from.node(), Ipv4Head::read(content)) else { return };
                self.handle_ipv4(now, &head, content, neighbour.ipv4(), strength, out);
            }
            IPV6 => {
                let Some(neighbour) = from.node() else { return };
                match ipv6::read(self.node, content) {
                    Some(Arrived::Babel(message)) => self.handle_babel(now, message, neighbour.ipv4(), out),
                    Some(Arrived::Answer(packet)) => {
                        let mut frame = self.header(from, IPV6);
                        frame.extend(packet);
                        out.push(frame);
                    }
                    None => {}
                }
            }
            _ => {}
        }
    }

    fn handle_babel(&mut self, now: Time, message: BabelMessage, from: Ipv4Addr, out: &mut Vec<Vec<u8>>) {
        let (dst, body) = (BabelMessage::GROUP, Body::Routing(message.into()));
        let packet = Ipv4Packet { src: from, dst, ttl: 1, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        self.call(out, |router, actions| router.handle_message(now, packet, from, actions));
    }

    fn handle_ipv4(
        &mut self,
        now: Time,
        head: &Ipv4Head,
        bytes: &[u8],
        from: Ipv4Addr,
        strength: Dbm,
        out: &mut Vec<Vec<u8>>,
    ) {
        let own = self.node.ipv4();
        let payload = bytes.get(head.header_len..head.total_len).unwrap_or_default();
        let aodv = head.protocol == UDP && payload.get(2..4) == Some(&AodvMessage::PORT.to_be_bytes());
        if aodv && (head.dst == own || head.dst.is_broadcast()) {
            let Ok(message) = decode::aodv(payload.get(UDP_HEADER..).unwrap_or_default()) else { return };
            self.router.handle_signal(from, strength);
            let (src, dst, ttl, body) = (head.src, head.dst, head.ttl, Body::Routing(message.into()));
            let packet = Ipv4Packet { src, dst, ttl, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
            self.call(out, |router, actions| router.handle_message(now, packet, src, actions));
        } else if head.dst == own {
            if let Some(packet) = echo(bytes).and_then(|bytes| Ipv4Packet::from_bytes(&bytes).ok()) {
                self.call(out, |router, actions| router.handle_outgoing(now, packet, actions));
            }
        } else if !head.dst.is_broadcast()
            && !head.dst.is_multicast()
            && let Ok(packet) = Ipv4Packet::from_bytes(bytes)
        {
            self.call(out, |router, actions| router.handle_transit(now, packet, Some(from), actions));
        }
    }

    /// The radio has given up a frame to a neighbour.
    pub fn handle_failure(&mut self, now: Time, to: Ipv4Addr, out: &mut Vec<Vec<u8>>) {
        let reason = DropReason::DataRetryLimit;
        self.call(out, |router, actions| router.handle_link_failure(now, None, to, reason, actions));
    }

    fn call(&mut self, out: &mut Vec<Vec<u8>>, call: impl FnOnce(&mut Router, &mut Vec<Action>)) {
        let mut actions = std::mem::take(&mut self.actions);
        call(&mut self.router, &mut actions);
        for action in actions.drain(..) {
            // There is no kernel table to update, and nobody to whom a lost packet could be reported.
            let Action::Send { packet, next_hop } = action else { continue };
            let to = match next_hop {
                NextHop::Broadcast => None,
                NextHop::Unicast(neighbour) => match NodeId::from_ipv4(neighbour) {
                    None => continue,
                    to => to,
                },
            };
            let mut frame;
            if let Body::Routing(RoutingMessage::Babel(message)) = &packet.body {
                frame = self.header(to.map_or(ipv6::GROUP_MAC, NodeId::mac), IPV6);
                frame.extend(ipv6::write(self.node, to, message));
            } else {
                frame = self.header(to.map_or(MacAddr::BROADCAST, NodeId::mac), IPV4);
                encode::packet(&packet, &mut frame);
            }
            out.push(frame);
        }
        self.actions = actions;
    }

    fn header(&self, to: MacAddr, kind: [u8; 2]) -> Vec<u8> {
        [&to.0[..], &self.node.mac().0, &kind].concat()
    }

    /// Answers requests for this node's MAC address.
    fn answer(&self, arp: &[u8], from: MacAddr) -> Option<Vec<u8>> {
        let (asks, rest) = arp.split_first_chunk::<8>()?;
        let own = self.node.ipv4().octets();
        if *asks != ASKS || rest.get(16..20)? != own {
            return None;
        }
        let mut frame = self.header(from, ARP);
        frame.extend([0, 1, 8, 0, 6, 4, 0, 2]);
        frame.extend(self.node.mac().0);
        frame.extend(own);
        frame.extend(&rest[..10]);
        Some(frame)
    }
}

/// The reply to an echo request (RFC 792).
fn echo(bytes: &[u8]) -> Option<Vec<u8>> {
    let sliced = SlicedPacket::from_ip(bytes).ok()?;
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Icmpv4(icmp))) = (sliced.net, sliced.transport) else {
        return None;
    };
    let Icmpv4Type::EchoRequest(echo) = icmp.icmp_type() else { return None };
    let (src, dst) = (ip.header().destination(), ip.header().source());
    let mut out = Vec::new();
    let reply = PacketBuilder::ipv4(src, dst, 64).icmpv4_echo_reply(echo.id, echo.seq);
    reply.write(&mut out, icmp.payload()).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::route::babel::{self, Babel};
    use fourhop_proto::route::{Aodv, Config};
    use fourhop_units::{Purpose, Stream};

    fn frame(from: NodeId, to: MacAddr, kind: [u8; 2], content: &[u8]) -> Vec<u8> {
        [&to.0[..], &from.mac().0, &kind, content].concat()
    }

    fn hosted() -> Hosted {
        let jitter = Stream::new(1, NodeId(1), Purpose::RoutingJitter);
        Hosted::new(NodeId(1), Router::from(Aodv::new(NodeId(1).ipv4(), Config::standard(), jitter)))
    }

    #[test]
    fn it_answers_arp_for_itself_alone() {
        let mut host = hosted();
        for (asked, answers) in [(NodeId(1), true), (NodeId(2), false)] {
            let arp =
                [&ASKS[..], &NodeId(0).mac().0, &NodeId(0).ipv4().octets(), &[0; 6], &asked.ipv4().octets()].concat();
            let mut out = Vec::new();
            host.handle_frame(Time::ZERO, &frame(NodeId(0), MacAddr::BROADCAST, ARP, &arp), Dbm(-50.0), &mut out);
            assert_eq!(out.len(), usize::from(answers));
            if let Some(answer) = out.first() {
                assert_eq!(answer[..6], NodeId(0).mac().0);
                assert_eq!(
                    answer[HEADER + 6..HEADER + 18],
                    [&[0, 2][..], &NodeId(1).mac().0, &NodeId(1).ipv4().octets()].concat()
                );
                assert_eq!(answer.len(), HEADER + 28);
            }
        }
    }

    #[test]
    fn a_request_from_a_neighbour_is_answered_and_an_echo_takes_the_way_back() {
        let mut host = hosted();
        let request = Ipv4Packet {
            src: NodeId(0).ipv4(),
            dst: Ipv4Addr::BROADCAST,
            ttl: 2,
            ident: 0,
            dscp: 0,
            body: Body::Routing(
                AodvMessage::Rreq(fourhop_proto::wire::Rreq {
                    hop_count: 0,
                    rreq_id: 1,
                    destination: NodeId(1).ipv4(),
                    destination_seqno: None,
                    originator: NodeId(0).ipv4(),
                    originator_seqno: 3,
                    destination_only: false,
                    gratuitous: true,
                    cost: None,
                })
                .into(),
            ),
            meta: PacketMeta::default(),
        };
        let (mut bytes, mut out) = (Vec::new(), Vec::new());
        encode::packet(&request, &mut bytes);
        host.handle_frame(Time::ZERO, &frame(NodeId(0), MacAddr::BROADCAST, IPV4, &bytes), Dbm(-50.0), &mut out);
        let message = decode::aodv(&out[0][HEADER + 28..]).unwrap();
        assert!(matches!(message, AodvMessage::Rrep(reply) if reply.destination == NodeId(1).ipv4()));
        assert_eq!(out[0][..6], NodeId(0).mac().0);
        out.clear();
        let mut ping = Vec::new();
        let (src, dst) = (NodeId(0).ipv4().octets(), NodeId(1).ipv4().octets());
        PacketBuilder::ipv4(src, dst, 64).icmpv4_echo_request(7, 1).write(&mut ping, b"hello").unwrap();
        host.handle_frame(Time::ZERO, &frame(NodeId(0), NodeId(1).mac(), IPV4, &ping), Dbm(-50.0), &mut out);
        let head = Ipv4Head::read(&out[0][HEADER..]).unwrap();
        assert_eq!((head.src, head.dst, out[0][HEADER + 20]), (NodeId(1).ipv4(), NodeId(0).ipv4(), 0));
        out.clear();
        // There is no route to another node: an error.
        let mut other = Vec::new();
        PacketBuilder::ipv4(src, NodeId(9).ipv4().octets(), 64).udp(1, 2).write(&mut other, b"x").unwrap();
        host.handle_frame(Time::ZERO, &frame(NodeId(0), NodeId(1).mac(), IPV4, &other), Dbm(-50.0), &mut out);
        assert!(matches!(decode::aodv(&out[0][HEADER + 28..]), Ok(AodvMessage::Rerr(_))));
    }

    /// Two nodes that hear each other's frames have routes to each other.
    #[test]
    fn two_nodes_of_babel_become_neighbours_over_ipv6() {
        let host = |n| {
            let jitter = Stream::new(1, NodeId(n), Purpose::RoutingJitter);
            let babel = Babel::new(NodeId(n).ipv4(), babel::Config::standard(), jitter);
            Hosted::new(NodeId(n), Router::from(babel))
        };
        let mut hosts = [host(0), host(1)];
        while let Some(now) = hosts.iter().filter_map(Hosted::next_timeout).min().filter(|&at| at < Time::from_secs(20))
        {
            for n in 0..2 {
                let mut frames = Vec::new();
                hosts[n].handle_timeout(now, &mut frames);
                for frame in frames {
                    assert_eq!(frame[12..14], IPV6);
                    hosts[1 - n].handle_frame(now, &frame, Dbm(-50.0), &mut Vec::new());
                }
            }
        }
        for n in 0..2 {
            let other = NodeId(1 - n).ipv4();
            assert_eq!(hosts[n as usize].router().next_hop(other), Some(other));
            assert_eq!(hosts[n as usize].router().hops(other), Some(1));
        }
    }

    #[test]
    fn any_bytes_are_taken_or_dropped() {
        let mut draw = Stream::new(1, NodeId(0), Purpose::Tcp);
        let (mut host, mut out) = (hosted(), Vec::new());
        for n in 0..20_000 {
            let now = Time::from_millis(20 * n);
            let mut bytes: Vec<u8> = (0..draw.below(90)).map(|_| draw.bits32() as u8).collect();
            if bytes.len() >= 62 {
                // As long as a request.
                bytes.resize(HEADER + 28 + 24, 10);
                let len = (bytes.len() - HEADER) as u8;
                bytes[..HEADER].copy_from_slice(&frame(
                    NodeId(0),
                    MacAddr::BROADCAST,
                    [8, draw.below(2) as u8 * 6],
                    &[],
                ));
                (bytes[HEADER], bytes[HEADER + 2], bytes[HEADER + 3], bytes[HEADER + 9]) = (0x45, 0, len, 17);
                bytes[HEADER + 16..HEADER + 20].copy_from_slice(&[255; 4]);
                (bytes[HEADER + 22], bytes[HEADER + 23], bytes[HEADER + 28]) = (2, 0x8e, draw.below(3) as u8);
            }
            host.handle_frame(now, &bytes, Dbm(-50.0), &mut out);
            host.handle_timeout(now, &mut out);
        }
        let mut received = 0;
        host.router().count(&mut |_, counters| {
            received += counters.filter(|(name, _)| *name == "rreq_received").map(|(_, count)| count).sum::<u64>();
        });
        assert!(received > 100 && out.len() > 100);
    }
}
