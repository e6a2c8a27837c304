//! AODV clause by clause, as implemented by ns-2, and under random topologies.

mod devices;
mod gateway;
mod limits;
mod metric;
mod network;
mod ns2;
mod random;
mod rfc3561;
mod rfc3561_errors;
mod signal;
mod walk;

use super::*;
use crate::drop::DropReason;
use crate::route::protocol::Protocol;
use crate::wire::{EchoMessage, Rerr, RoutingMessage, Rrep, Rreq, UnreachableDestination};
use fourhop_units::{Db, Dbm, Dur, NodeId, Purpose, Rate};
use network::Network;

fn ip(node: u32) -> Ipv4Addr {
    NodeId(node).ipv4()
}

/// The inverse of [`ip`].
fn number_of(addr: Ipv4Addr) -> u32 {
    addr.to_bits() - ip(0).to_bits()
}

fn at_ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn ms(ms: u64) -> Dur {
    Dur::from_millis(ms)
}

fn data(src: u32, dst: u32, number: u16) -> Ipv4Packet {
    let body = Body::Echo(EchoMessage { reply: false, ident: 0, number, payload: 100 });
    Ipv4Packet { src: ip(src), dst: ip(dst), ttl: 64, ident: number, dscp: 0, body, meta: PacketMeta::default() }
}

fn number(packet: &Ipv4Packet) -> u16 {
    match &packet.body {
        Body::Echo(echo) => echo.number,
        _ => panic!("not a data packet of these tests: {packet:?}"),
    }
}

fn node(addr: u32, config: Config) -> Aodv {
    let jitter = Stream::new(1, NodeId(addr), Purpose::RoutingJitter);
    Aodv::new(ip(addr), config, jitter).with_notes().with_plan(AddressPlan::default().with_outside([OUTSIDE]))
}

/// The prefix behind gateways, and a node there without a radio.
const OUTSIDE: Prefix = Prefix::new(Ipv4Addr::new(10, 128, 0, 0), 9).expect("at most 32 bits");
const WIRED: u32 = 1 << 23;

/// Node 5 alone on the bench, with its neighbours played by the test.
struct Bench {
    aodv: Aodv,
    now: Time,
}

impl Bench {
    fn new(config: Config) -> Bench {
        Bench { aodv: node(5, config), now: at_ms(1_000) }
    }

    fn standard() -> Bench {
        Bench::new(Config::standard())
    }

    fn ns2() -> Bench {
        Bench::new(Config::ns2())
    }

    /// Lets time pass until `until`, processing everything due.
    #[track_caller]
    fn run_until(&mut self, until: Time) -> Vec<(Time, Action)> {
        let mut all = Vec::new();
        for _ in 0..10_000 {
            let Some(at) = self.aodv.next_timeout().filter(|&at| at <= until) else {
                self.now = self.now.max(until);
                return all;
            };
            self.now = self.now.max(at);
            let mut out = Vec::new();
            self.aodv.handle_timeout(self.now, &mut out);
            all.extend(out.into_iter().map(|action| (self.now, action)));
        }
        panic!("ten thousand timeouts and no end: livelock at {}", self.now);
    }

    fn pass(&mut self, dur: Dur) -> Vec<(Time, Action)> {
        self.run_until(self.now + dur)
    }

    fn originate(&mut self, dst: u32, number: u16) -> Vec<Action> {
        let mut out = Vec::new();
        self.aodv.handle_outgoing(self.now, data(5, dst, number), &mut out);
        out
    }

    fn transit(&mut self, src: u32, dst: u32, number: u16) -> Vec<Action> {
        let mut packet = data(src, dst, number);
        packet.meta.hops = 1;
        self.relay(packet)
    }

    fn relay(&mut self, packet: Ipv4Packet) -> Vec<Action> {
        let mut out = Vec::new();
        self.aodv.handle_transit(self.now, packet, None, &mut out);
        out
    }

    fn receive_with(&mut self, from: u32, message: AodvMessage, ttl: u8, dst: Ipv4Addr) -> Vec<Action> {
        let meta = PacketMeta { created: self.now - ms(10), hops: 1, ..PacketMeta::default() };
        let packet =
            Ipv4Packet { src: ip(from), dst, ttl, ident: 0, dscp: 0, body: Body::Routing(message.into()), meta };
        let mut out = Vec::new();
        self.aodv.handle_message(self.now, packet, ip(from), &mut out);
        out
    }

    fn receive_rreq(&mut self, from: u32, ttl: u8, rreq: Rreq) -> Vec<Action> {
        self.receive_with(from, AodvMessage::Rreq(rreq), ttl, Ipv4Packet::BROADCAST)
    }

    fn receive_rrep(&mut self, from: u32, rrep: Rrep) -> Vec<Action> {
        self.receive_with(from, AodvMessage::Rrep(rrep), 30, ip(5))
    }

    fn receive_rerr(&mut self, from: u32, lost: &[(u32, u32)]) -> Vec<Action> {
        let unreachable = lost.iter().map(|&(dst, seqno)| UnreachableDestination { addr: ip(dst), seqno }).collect();
        let rerr = Rerr { no_delete: false, unreachable };
        self.receive_with(from, AodvMessage::Rerr(rerr), 1, Ipv4Packet::BROADCAST)
    }

    fn fail(&mut self, packet: Ipv4Packet, next_hop: u32) -> Vec<Action> {
        let mut out = Vec::new();
        self.aodv.handle_link_failure(self.now, Some(packet), ip(next_hop), DropReason::RtsRetryLimit, &mut out);
        out
    }

    /// Gives node 5 a valid route to `dst` through `next_hop`, by a reply to its own request.
    fn learn(&mut self, dst: u32, next_hop: u32, hops: u8, seqno: u32) {
        self.receive_rrep(next_hop, rrep(dst, seqno, hops - 1, 5));
        assert!(self.route(dst).is_valid());
    }

    #[track_caller]
    fn route(&self, dst: u32) -> &Route {
        self.aodv.route(ip(dst)).unwrap_or_else(|| panic!("no entry for node {dst}"))
    }
}

/// A request of node `originator` for `destination`, as its neighbours receive it.
fn rreq(originator: u32, originator_seqno: u32, id: u32, destination: u32, destination_seqno: Option<u32>) -> Rreq {
    Rreq {
        hop_count: 0,
        rreq_id: id,
        destination: ip(destination),
        destination_seqno,
        originator: ip(originator),
        originator_seqno,
        destination_only: false,
        gratuitous: false,
        cost: None,
    }
}

/// A reply of a node `hop_count` hops from `destination`.
fn rrep(destination: u32, seqno: u32, hop_count: u8, originator: u32) -> Rrep {
    Rrep {
        hop_count,
        destination: ip(destination),
        destination_seqno: seqno,
        originator: ip(originator),
        lifetime_ms: 6_000,
        ack_required: false,
        cost: None,
    }
}

fn requests(actions: &[Action]) -> Vec<(Rreq, u8)> {
    messages(actions)
        .filter_map(|(message, packet, _)| match message {
            AodvMessage::Rreq(rreq) => Some((*rreq, packet.ttl)),
            _ => None,
        })
        .collect()
}

fn replies(actions: &[Action]) -> Vec<(Rrep, NextHop)> {
    messages(actions)
        .filter_map(|(message, _, next_hop)| match message {
            AodvMessage::Rrep(rrep) => Some((*rrep, next_hop)),
            _ => None,
        })
        .collect()
}

fn errors(actions: &[Action]) -> Vec<(Rerr, NextHop)> {
    messages(actions)
        .filter_map(|(message, _, next_hop)| match message {
            AodvMessage::Rerr(rerr) => Some((rerr.clone(), next_hop)),
            _ => None,
        })
        .collect()
}

fn messages(actions: &[Action]) -> impl Iterator<Item = (&AodvMessage, &Ipv4Packet, NextHop)> {
    actions.iter().filter_map(|action| match action {
        Action::Send { packet, next_hop } => match &packet.body {
            Body::Routing(RoutingMessage::Aodv(message)) => Some((message, packet, *next_hop)),
            _ => None,
        },
        _ => None,
    })
}

/// Data packets sent, by number, with their next hop.
fn sent(actions: &[Action]) -> Vec<(u16, NextHop)> {
    actions
        .iter()
        .filter_map(|action| match action {
            Action::Send { packet, next_hop } if !packet.is_routing() => Some((number(packet), *next_hop)),
            _ => None,
        })
        .collect()
}

/// Data packets dropped, by number.
fn dropped(actions: &[Action]) -> Vec<(u16, DropReason)> {
    actions
        .iter()
        .filter_map(|action| match action {
            Action::Drop { packet, reason } if !packet.is_routing() => Some((number(packet), *reason)),
            _ => None,
        })
        .collect()
}

fn purged(actions: &[Action]) -> Vec<Ipv4Addr> {
    actions
        .iter()
        .filter_map(|action| match action {
            Action::PurgeQueue { next_hop } => Some(*next_hop),
            _ => None,
        })
        .collect()
}

fn via(node: u32) -> NextHop {
    NextHop::Unicast(ip(node))
}

fn lost(rerr: &Rerr) -> Vec<(Ipv4Addr, u32)> {
    rerr.unreachable.iter().map(|u| (u.addr, u.seqno)).collect()
}

/// The actions without their times.
fn untimed(actions: Vec<(Time, Action)>) -> Vec<Action> {
    actions.into_iter().map(|(_, action)| action).collect()
}
