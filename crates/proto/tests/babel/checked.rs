//! Checks on a Babel node that gets packets as bytes from its neighbours. Shared by the test next to it and the fuzz
//! target in `fuzz/`.

use fourhop_proto::route::babel::{Babel, Config, Counters, LinkQuality};
use fourhop_proto::route::{Action, NextHop, Protocol};
use fourhop_proto::wire::{
    BABEL_INFINITY, BabelMessage, Body, EchoMessage, Ipv4Packet, PacketMeta, RoutingMessage, decode,
};
use fourhop_units::{Dur, NodeId, Purpose, Stream, Time};
use std::net::Ipv4Addr;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 30);
/// Maximum size of a Babel packet sent by this node, in bytes.
const LARGEST: usize = 1280 - 48;

/// Passes the datagrams in `data` to a node: each consists of its sender, the time since the previous one in units of
/// 50 ms, its length, and its bytes. The first byte selects how links are measured. Returns how many were Babel
/// packets, and the node's counters.
pub fn packets(data: &[u8]) -> (u64, Counters) {
    let Some((&kind, mut rest)) = data.split_first() else { return (0, Counters::default()) };
    let quality = if kind & 1 == 0 { LinkQuality::TwoOutOfThree } else { LinkQuality::Etx };
    let config = Config { quality, ..Config::standard() };
    let mut babel = Babel::new(HERE, config, Stream::new(1, NodeId(29), Purpose::RoutingJitter)).with_route_changes();
    let (mut now, mut understood) = (Time::ZERO, 0);
    while let Some((&[from, wait, len], after)) = rest.split_first_chunk() {
        let (bytes, after) = after.split_at(after.len().min(usize::from(len)));
        rest = after;
        now = pass(&mut babel, now, Dur::from_millis(50 * u64::from(wait)));
        let Ok((message, _)) = decode::babel(bytes, true) else { continue };
        understood += 1;
        let src = Ipv4Addr::new(10, 0, 0, from % 32);
        let body = Body::Routing(message.into());
        let meta = PacketMeta::default();
        let packet = Ipv4Packet { src, dst: BabelMessage::GROUP, ttl: 1, ident: 0, dscp: 0, body, meta };
        let mut out = Vec::new();
        babel.handle_message(now, packet, src, &mut out);
        look(&mut babel, now, &out);
    }
    // Much later, nothing learned is left.
    pass(&mut babel, now, Dur::from_secs(4 * 3600));
    assert_eq!((babel.routes().count(), babel.links().count()), (0, 0), "everything expires");
    (understood, *babel.counters())
}

fn pass(babel: &mut Babel, now: Time, dur: Dur) -> Time {
    let until = now + dur;
    let (mut now, mut at_once) = (now, 0);
    while let Some(next) = babel.next_timeout().filter(|&next| next <= until) {
        at_once = if next > now { 0 } else { at_once + 1 };
        assert!(at_once < 100, "a livelock at {now}");
        now = now.max(next);
        let mut out = Vec::new();
        babel.handle_timeout(now, &mut out);
        look(babel, now, &out);
    }
    until
}

fn look(babel: &mut Babel, now: Time, out: &[Action]) {
    assert!(babel.next_timeout().is_some_and(|next| next >= now));
    for action in out {
        let Action::Send { packet, next_hop } = action else {
            assert!(matches!(action, Action::RouteUp { .. } | Action::RouteDown { .. }), "{action:?}");
            continue;
        };
        let Body::Routing(RoutingMessage::Babel(message)) = &packet.body else { panic!("{packet:?}") };
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        assert!(bytes.len() <= LARGEST, "{} bytes", bytes.len());
        assert_eq!(decode::babel(&bytes, true), Ok((message.clone(), 0)), "what it says is understood");
        assert_eq!(packet.dst.is_multicast(), *next_hop == NextHop::Broadcast);
        assert_ne!(packet.dst, HERE);
    }
    for (prefix, route) in babel.routes() {
        assert!(route.metric < BABEL_INFINITY && route.hops > 0, "{prefix:?} {route:?}");
        assert!(route.next_hop != HERE && route.neighbour != HERE);
    }
    let body = Body::Echo(EchoMessage { reply: false, ident: 0, number: 0, payload: 9 });
    let dst = Ipv4Addr::new(10, 0, 0, 3);
    let packet = Ipv4Packet { src: HERE, dst, ttl: 9, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
    let (next_hop, mut sent) = (babel.next_hop(dst), Vec::new());
    babel.handle_outgoing(now, packet, &mut sent);
    match (&sent[..], next_hop) {
        ([Action::Send { next_hop: NextHop::Unicast(to), .. }], Some(via)) => assert_eq!(*to, via),
        ([Action::Drop { .. }], None) => {}
        other => panic!("{other:?}"),
    }
}
