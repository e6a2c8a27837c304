//! Babel clause by clause, and in random networks.

mod network;
mod random;
mod rfc8966;
mod rfc8966_requests;

use super::*;
use crate::drop::DropReason;
use crate::route::protocol::Protocol;
use crate::wire::{
    BABEL_INFINITY, BabelMessage, BabelUpdate, Body, EchoMessage, Ipv4Packet, PacketMeta, RoutingMessage,
};
use core::net::IpAddr;
use fourhop_units::{Dur, NodeId, Purpose};

/// Links are either up or down, and cost what their IHUs say.
const HOPS: Config = Config { quality: LinkQuality::TwoOutOfThree, ..Config::standard() };

fn ip(node: u32) -> Ipv4Addr {
    NodeId(node).ipv4()
}

fn host(node: u32) -> Prefix {
    Prefix::host(ip(node))
}

fn id(node: u32) -> RouterId {
    RouterId::of_address(ip(node)).expect("an address of a node")
}

fn secs(s: u64) -> Dur {
    Dur::from_secs(s)
}

fn ms(ms: u64) -> Dur {
    Dur::from_millis(ms)
}

fn data(src: u32, dst: u32) -> Ipv4Packet {
    let body = Body::Echo(EchoMessage { reply: false, ident: 0, number: 0, payload: 100 });
    Ipv4Packet { src: ip(src), dst: ip(dst), ttl: 64, ident: 0, dscp: 0, body, meta: PacketMeta::default() }
}

fn babel(node: u32, config: Config) -> Babel {
    Babel::new(ip(node), config, Stream::new(1, NodeId(node), Purpose::RoutingJitter))
}

/// An update for a route to `dst`, originated by `dst` itself.
fn update(dst: u32, seqno: u16, metric: u16) -> BabelUpdate {
    let (prefix, router_id) = (host(dst), id(dst));
    BabelUpdate { prefix, router_id, next_hop: None, interval: 1600, seqno, metric, hops: None }
}

/// Messages sent by a node: time, receiver, content.
type Said = Vec<(Time, NextHop, BabelTlv)>;

/// Node 5 alone on the bench, with its neighbours played by the test.
struct Bench {
    babel: Babel,
    now: Time,
    /// Hellos sent by each neighbour so far.
    hellos: std::collections::BTreeMap<u32, u16>,
}

impl Bench {
    fn new(config: Config) -> Bench {
        Bench { babel: babel(5, config), now: Time::from_millis(1), hellos: Default::default() }
    }

    /// Creates a bench where the links to neighbours 1 and 2 are up at these costs, and no initial requests are
    /// pending.
    fn with_neighbours(costs: [u16; 2]) -> Bench {
        let mut bench = Bench::new(HOPS);
        for (node, cost) in [1, 2].into_iter().zip(costs) {
            bench.greet(node, cost);
            bench.greet(node, cost);
        }
        bench.pass(secs(1));
        bench
    }

    fn receive(&mut self, from: u32, tlvs: &[BabelTlv]) {
        let body = Body::Routing(BabelMessage { tlvs: tlvs.to_vec() }.into());
        let meta = PacketMeta::default();
        let packet = Ipv4Packet { src: ip(from), dst: BabelMessage::GROUP, ttl: 1, ident: 0, dscp: 0, body, meta };
        let mut out = Vec::new();
        self.babel.handle_message(self.now, packet, ip(from), &mut out);
        assert_eq!(out, [], "what is said waits a little");
    }

    /// Receives from a neighbour a Hello that lasts a minute, and an IHU.
    fn greet(&mut self, from: u32, rxcost: u16) {
        let seqno = self.hellos.entry(from).or_default();
        *seqno += 1;
        let hello = BabelTlv::Hello { unicast: false, seqno: *seqno, interval: 6_000 };
        let ihu = BabelTlv::Ihu { address: Some(ip(5).into()), rxcost, interval: 6_000 };
        self.receive(from, &[hello, ihu]);
    }

    fn advertise(&mut self, from: u32, update: BabelUpdate) {
        self.receive(from, &[BabelTlv::Update(update)]);
    }

    /// Lets time pass and returns the messages sent meanwhile.
    #[track_caller]
    fn pass(&mut self, dur: Dur) -> Said {
        let (until, mut said) = (self.now + dur, Vec::new());
        for _ in 0..100_000 {
            let at = self.babel.wake;
            if at > until {
                self.now = until;
                return said;
            }
            self.now = self.now.max(at);
            let mut out = Vec::new();
            self.babel.handle_timeout(self.now, &mut out);
            said.extend(words(self.now, &out));
        }
        panic!("a hundred thousand timeouts and no end: livelock at {}", self.now);
    }

    fn route(&self, dst: u32) -> Option<Selected> {
        self.babel.route(ip(dst)).copied()
    }

    /// Returns the next hop's node and the metric of the route.
    fn way(&self, dst: u32) -> Option<(u32, u16)> {
        self.route(dst).map(|route| (route.next_hop.to_bits() - ip(0).to_bits(), route.metric))
    }
}

fn words(now: Time, out: &[Action]) -> Said {
    let of = |action: &Action| match action {
        Action::Send { packet, next_hop } => match &packet.body {
            Body::Routing(RoutingMessage::Babel(message)) => {
                assert_eq!(packet.ttl, 1);
                let tlvs = message.tlvs.clone();
                tlvs.into_iter().map(|tlv| (now, *next_hop, tlv)).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    out.iter().flat_map(of).collect()
}

/// Updates about a destination, excluding the periodic full ones: receiver, and sequence number and metric, or `None`
/// for a retraction.
fn about(said: &Said, dst: u32) -> Vec<(NextHop, Option<(u16, u16)>)> {
    let of = |(_, to, tlv): &(Time, NextHop, BabelTlv)| match tlv {
        BabelTlv::Update(update) if update.prefix == host(dst) => Some((*to, Some((update.seqno, update.metric)))),
        BabelTlv::Retraction { prefix: Some(prefix), .. } if *prefix == host(dst) => Some((*to, None)),
        _ => None,
    };
    said.iter().filter_map(of).collect()
}

/// Requests for sequence numbers: receiver, destination, number, hop count.
fn asked(said: &Said) -> Vec<(NextHop, Prefix, u16, u8)> {
    let of = |(_, to, tlv): &(Time, NextHop, BabelTlv)| match tlv {
        BabelTlv::SeqnoRequest { prefix, seqno, hop_count, .. } => Some((*to, *prefix, *seqno, *hop_count)),
        _ => None,
    };
    said.iter().filter_map(of).collect()
}

fn to(node: u32) -> NextHop {
    NextHop::Unicast(ip(node))
}
