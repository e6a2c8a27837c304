//! The modules of a node: which packets belong to which connection, and what local acknowledgements do to them.

use super::{echo, segment, seq, syn};
use crate::ccm::table::{FlowKey, Modules, Packets};
use crate::ccm::window::Options;
use crate::wire::{Body, EchoMessage, Ipv4Packet, MeasuredSegment, PacketMeta, TcpSegment};
use core::net::Ipv4Addr;
use fourhop_units::Time;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// Port 1 here, port 2 there, as in the segments of these tests.
const KEY: FlowKey = FlowKey { peer: PEER, local_port: 1, peer_port: 2 };

fn packet(body: Body) -> Ipv4Packet {
    Ipv4Packet { src: HERE, dst: PEER, ttl: 64, ident: 3, dscp: 0, body, meta: PacketMeta::default() }
}

/// A segment from the peer, whose acknowledgement was measured over two links.
fn from_peer(segment: TcpSegment) -> Ipv4Packet {
    let segment = TcpSegment { src_port: 2, dst_port: 1, ..segment };
    let body = Body::Measured(Box::new(MeasuredSegment { segment, carried: echo(800, 20, 10, 2) }));
    Ipv4Packet { src: PEER, dst: HERE, ttl: 63, ..packet(body) }
}

/// After a handshake, with packets kept by the modules passed on.
fn connected(local_acks: bool) -> (Modules, Packets) {
    let mut modules = Modules::new(Options { local_acks, ..Options::NEWEST });
    let mut out = Packets::default();
    modules.handle_outgoing(Time::ZERO, &mut packet(Body::Tcp(syn(1_000, None, false))));
    modules.handle_incoming(Time::ZERO, &mut from_peer(syn(1_000, None, true)));
    modules.handle_incoming(Time::ZERO, &mut from_peer(segment(1, 0, 1, 9_000)));
    modules.handle_timeout(Time::ZERO, &mut out);
    (modules, out)
}

#[test]
fn a_connection_is_found_by_its_address_and_both_ports() {
    let (modules, out) = connected(false);
    assert_eq!((out.down, out.up), (vec![], vec![]));
    assert!(modules.of(KEY).is_some_and(|module| module.window().written() == Some(3_000)));
    for other in [FlowKey { peer: HERE, ..KEY }, FlowKey { local_port: 2, ..KEY }, FlowKey { peer_port: 1, ..KEY }] {
        assert!(modules.of(other).is_none(), "{other:?}");
    }
    assert_eq!((modules.balance(), modules.next_timeout()), ((0, 0), None));
}

/// Other protocols pass.
#[test]
fn other_packets_pass() {
    let (mut modules, _) = connected(true);
    let ping = packet(Body::Echo(EchoMessage { reply: false, ident: 1, number: 2, payload: 3 }));
    let mut passed = ping.clone();
    assert!(modules.handle_outgoing(Time::ZERO, &mut passed) && modules.handle_incoming(Time::ZERO, &mut passed));
    assert_eq!(passed, ping);
}

/// With local acknowledgements each segment is absorbed and made anew: for the network in a packet from this node, for
/// TCP in one from the peer, at the instant of its arrival. The balance is right.
#[test]
fn local_acknowledgements_make_packets_of_both_ends() {
    let (mut modules, mut out) = connected(true);
    // The SYN went down, its answer and the first acknowledgement went up.
    assert_eq!((out.down.len(), out.up.len(), modules.balance()), (1, 2, (3, 3)));
    assert_eq!(modules.next_timeout(), None);
    let now = Time::from_millis(5);
    let data = packet(Body::Tcp(segment(1, 1_000, 1, 9_000)));
    out = Packets::default();
    assert!(!modules.handle_outgoing(now, &mut data.clone()), "it is kept here");
    assert_eq!((modules.balance(), modules.next_timeout()), ((4, 3), Some(now)));
    modules.handle_timeout(now, &mut out);
    let ([down], [up]) = (&out.down[..], &out.up[..]) else { panic!("{out:?}") };
    assert_eq!((down.src, down.dst, down.ttl, down.meta.created), (HERE, PEER, 64, now));
    assert_eq!(down.segment(), data.segment());
    assert!(down.carried().is_some(), "data is measured on its way");
    assert_eq!((up.src, up.dst, up.ttl), (PEER, HERE, 63));
    let ack = up.segment().expect("an acknowledgement");
    assert_eq!((ack.src_port, ack.dst_port, ack.ack, ack.payload), (2, 1, seq(1_001), 0));
    assert_eq!(modules.balance(), (4, 5), "two packets for one");
    // Twice the measured window of 3,000 bytes, minus the bytes acknowledged here: the module's own window does not
    // narrow its input.
    assert_eq!(ack.window, 5_000);
    // Packets made here are numbered consecutively.
    let mut next = Packets::default();
    modules.handle_outgoing(now, &mut packet(Body::Tcp(segment(1_001, 1_000, 1, 9_000))));
    modules.handle_timeout(now, &mut next);
    assert_eq!(next.down[0].ident, down.ident + 1);
}

/// Of 256 connections the one silent longest is forgotten for a new one, but none with data that TCP considers
/// acknowledged; if all have such data, a new connection gets no module.
#[test]
fn the_connection_silent_longest_is_forgotten() {
    let (mut modules, mut out) = connected(true);
    let hold = |modules: &mut Modules, peer_port: u16, at: u64, out: &mut Packets| {
        let now = Time::from_millis(at);
        let ours = |segment: TcpSegment| packet(Body::Tcp(TcpSegment { dst_port: peer_port, ..segment }));
        let mut taken = true;
        for segment in [syn(1_000, None, false), segment(1, 1_000, 1, 9_000)] {
            taken &= !modules.handle_outgoing(now, &mut ours(segment));
        }
        modules.handle_timeout(now, out);
        taken
    };
    let known = |modules: &Modules, peer_port: u16| modules.of(FlowKey { peer_port, ..KEY }).is_some();
    // The first connection is idle, and so is a more recent one; 254 others hold data.
    modules.handle_outgoing(
        Time::from_millis(1),
        &mut packet(Body::Tcp(TcpSegment { dst_port: 3, ..syn(1_000, None, false) })),
    );
    assert!((4..258).all(|port| hold(&mut modules, port, u64::from(port), &mut out)));
    assert!((2..258).all(|port| known(&modules, port)));
    assert!(hold(&mut modules, 300, 300, &mut out));
    assert_eq!([2, 3, 4, 300].map(|port| known(&modules, port)), [false, true, true, true]);
    assert!(hold(&mut modules, 301, 301, &mut out));
    assert_eq!([3, 4, 300, 301].map(|port| known(&modules, port)), [false, true, true, true]);
    assert!(!hold(&mut modules, 302, 302, &mut out));
    assert!(!known(&modules, 302));
}
