//! A gateway between a wire and the mesh: where packets arriving by wire go.

use super::*;
use crate::drop::DropReason;
use crate::gateway::{Config, DisciplineConfig, HashKey};
use crate::net::Addresses;
use crate::node::{self, Output};
use crate::route::{AddressPlan, PortId, Router, StaticRoutes, WiredRoutes};
use crate::wire::options::Carried;
use crate::wire::{Body, MeasuredSegment, PacketMeta, Prefix, TcpFlags, TcpSegment};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, NodeId, Purpose, Rate, Seq, Stream};

const GATEWAY: NodeId = NodeId(0);
const HOST: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const OTHER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

fn plan() -> AddressPlan {
    AddressPlan::default().with_outside([Prefix::host(HOST), Prefix::host(OTHER)])
}

fn wired_side() -> WiredSide {
    let routes = [(HOST, PortId(0)), (OTHER, PortId(1))].map(|(addr, port)| (Prefix::host(addr), port));
    WiredSide::new(plan(), WiredRoutes::new(plan(), routes))
}

fn segment(src: Ipv4Addr, dst: Ipv4Addr, payload: u32) -> Ipv4Packet {
    let flags = TcpFlags { ack: true, ..TcpFlags::default() };
    let segment = TcpSegment { src_port: 5, dst_port: 6, flags, payload, window: 60_000, ..TcpSegment::default() };
    Ipv4Packet { src, dst, ttl: 9, ident: 0, dscp: 0, body: Body::Tcp(segment), meta: PacketMeta::default() }
}

fn gateway() -> Node {
    let addresses = Addresses { ip: GATEWAY.ipv4(), mac: GATEWAY.mac() };
    let router = Router::from(StaticRoutes::new(addresses.ip, []));
    let backoff = Stream::new(1, GATEWAY, Purpose::Backoff);
    let mut node = Node::new(addresses, backoff, &node::Config::standard(), router);
    node.add_wired_side(wired_side());
    node
}

/// Returns the output and the losses of a gateway without mesh routes after `packet` has arrived by wire.
fn from_wire(packet: Ipv4Packet) -> (Vec<Output>, Node) {
    let (mut node, mut out) = (gateway(), Buffers::default());
    node.handle_wired(Time::ZERO, packet, &mut Ear::new(), &mut out);
    (out.outputs, node)
}

/// RFC 1812, section 5.2.1: a router forwards packets for others and decrements their time to live.
#[test]
fn what_is_for_another_wire_leaves_by_it_and_does_not_enter_the_mesh() {
    let (outputs, node) = from_wire(segment(HOST, OTHER, 100));
    let sent = Ipv4Packet { ttl: 8, ..segment(HOST, OTHER, 100) };
    assert_eq!(outputs, [Output::Wire { port: PortId(1), packet: sent }]);
    assert_eq!(node.drops().of(DropReason::NoRoute), 0);
    let (outputs, node) = from_wire(segment(HOST, NodeId(1).ipv4(), 100));
    assert_eq!((outputs, node.drops().of(DropReason::NoRoute)), (vec![], 1), "the mesh has no route");
    let (outputs, node) = from_wire(Ipv4Packet { ttl: 1, ..segment(HOST, OTHER, 100) });
    assert_eq!((outputs, node.drops().of(DropReason::TtlExpired)), (vec![], 1));
}

/// The forward delay over four hops is recorded after four hops or at the end of a shorter path, and not again later.
#[test]
fn the_forward_delay_is_that_of_the_hops_asked_for_or_of_the_whole_path() {
    let (mut node, ms) = (gateway(), Dur::from_millis);
    node.attach();
    let earlier = ms(2);
    for (travelled, measure_at, noted) in
        [(1, 4, (ms(7), 2)), (3, 4, (ms(7), 4)), (4, 4, (earlier, 4)), (1, 0, (earlier, 4))]
    {
        let mut packet = segment(HOST, GATEWAY.ipv4(), 100);
        packet.meta = PacketMeta { hops: travelled, measure_at, forward: earlier, forward_hops: 4, ..packet.meta };
        let mut out = Buffers::default();
        node.handle_packet(Time::from_millis(7), packet, NodeId(1).mac(), &mut out);
        let [Output::Deliver(packet)] = &out.outputs[..] else { panic!("{:?}", out.outputs) };
        assert_eq!((packet.meta.forward, packet.meta.forward_hops), noted, "after {travelled} hops and one");
    }
}

/// The gateway of TCP-AP spaces the data of a flow by the path to its *wireless* end, whichever direction the packet
/// that reveals the path takes.
#[test]
fn the_path_is_that_of_the_wireless_end() {
    let mesh = NodeId(4).ipv4();
    for told_by in [Side::Wired, Side::Wireless] {
        let mut wired = wired_side().with_discipline(&DisciplineConfig::Gap(Config::paper()), HashKey([7, 8]));
        let (mut out, rate) = (Vec::new(), Rate::kbps(2_000));
        let mut queued = 0;
        for round in 0..20u32 {
            let now = Time::ZERO + Dur::from_millis(100) * u64::from(round);
            wired.handle_timeout(now, &mut out);
            let (down, up) = (told_by == Side::Wired, told_by == Side::Wireless);
            for n in 0..2 {
                let mut data = segment(HOST, mesh, 1_000);
                let Body::Tcp(tcp) = &mut data.body else { unreachable!() };
                tcp.seq = Seq::from_wire(1 + 1_000 * (2 * round + n));
                wired.handle_packet(now, Side::Wired, data, down.then_some(4), rate, &mut out);
            }
            queued = queued.max(wired.queued());
            let mut ack = segment(mesh, HOST, 0);
            let Body::Tcp(tcp) = &mut ack.body else { unreachable!() };
            (tcp.src_port, tcp.dst_port, tcp.ack) = (6, 5, Seq::from_wire(1 + 2_000 * (round + 1)));
            wired.handle_packet(now + Dur::from_millis(60), Side::Wireless, ack, up.then_some(4), rate, &mut out);
            out.clear();
        }
        assert!(queued > 0, "data waits for its turn");
    }
}

/// A module of C3TCP takes the options of packets that end here; packets that leave the mesh lose them for good.
#[test]
fn options_of_mac_headers_end_with_the_mesh() {
    let measured = |dst| {
        let Body::Tcp(segment) = segment(NodeId(1).ipv4(), dst, 100).body else { panic!() };
        let body = Body::Measured(Box::new(MeasuredSegment { segment, carried: Carried::default() }));
        Ipv4Packet { body, ..self::segment(NodeId(1).ipv4(), dst, 100) }
    };
    let local_acks = ccm::Options { local_acks: true, simulated: true, ..ccm::Options::NEWEST };
    for (dst, leaves) in [(HOST, true), (GATEWAY.ipv4(), false)] {
        let (mut node, mut out) = (gateway(), Buffers::default());
        node.add_modules(local_acks);
        node.handle_packet(Time::ZERO, measured(dst), NodeId(1).mac(), &mut out);
        let sent = Ipv4Packet { ttl: 8, ..segment(NodeId(1).ipv4(), HOST, 100) };
        let sent = Ipv4Packet { meta: PacketMeta { hops: 1, ..sent.meta }, ..sent };
        let expected = if leaves { vec![Output::Wire { port: PortId(0), packet: sent }] } else { vec![] };
        assert_eq!(out.outputs, expected);
        assert_eq!(node.modules().map(|modules| modules.balance().0), Some(u64::from(!leaves)), "kept for its ACK");
    }
}
