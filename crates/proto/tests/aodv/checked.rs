//! Checks on an AODV node that gets messages as bytes from any address, and data to send and to forward. Shared by the
//! test next to it and the fuzz target in `fuzz/`.

use fourhop_proto::drop::DropReason;
use fourhop_proto::route::aodv::{HelloConfig, Limits, MetricConfig, SignalConfig};
use fourhop_proto::route::{Action, AddressPlan, Aodv, Config, Counters, Metric, NextHop, Prefix, Protocol};
use fourhop_proto::wire::{
    AodvMessage, Body, EchoMessage, Ipv4Packet, PacketMeta, Probe, RoutingMessage, decode, encode,
};
use fourhop_units::{Dbm, Dur, NodeId, Purpose, Rate, Stream, Time};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

const HERE: Ipv4Addr = Ipv4Addr::new(192, 168, 7, 30);
/// The addresses in messages and data.
const ADDRESSES: [Ipv4Addr; 16] = [
    Ipv4Addr::new(192, 168, 7, 1),
    Ipv4Addr::new(192, 168, 7, 2),
    Ipv4Addr::new(172, 16, 0, 9),
    Ipv4Addr::new(198, 51, 100, 4),
    Ipv4Addr::new(10, 0, 0, 1),
    Ipv4Addr::new(10, 0, 0, 2),
    Ipv4Addr::new(10, 0, 0, 3),
    Ipv4Addr::new(203, 0, 113, 80),
    Ipv4Addr::new(203, 0, 113, 81),
    Ipv4Addr::new(1, 1, 1, 1),
    Ipv4Addr::new(192, 168, 7, 99),
    // The rest are not addresses of other hosts.
    HERE,
    Ipv4Addr::BROADCAST,
    Ipv4Addr::UNSPECIFIED,
    Ipv4Addr::new(224, 0, 0, 251),
    Ipv4Addr::LOCALHOST,
];
/// So small that all of them are reached.
const SMALL: Limits = Limits { routes: 6, requests: 8, neighbours: 2, messages: 2 };

fn address(number: u8) -> Ipv4Addr {
    ADDRESSES[usize::from(number) % ADDRESSES.len()]
}

/// Whether a packet may be sent to this address via a neighbour.
fn is_of_another_host(addr: Ipv4Addr) -> bool {
    addr != HERE && !addr.is_broadcast() && !addr.is_unspecified() && !addr.is_multicast() && !addr.is_loopback()
}

/// A node, the data passed to it, and the routes it has reported.
struct Checked {
    aodv: Aodv,
    now: Time,
    out: Vec<Action>,
    /// Data that has not left yet, by number.
    inside: BTreeMap<u16, Ipv4Packet>,
    number: u16,
    kernel: BTreeMap<Ipv4Addr, (Ipv4Addr, u8)>,
    limits: Limits,
}

impl Checked {
    /// Creates a node; the bits of `kind` select the profile, HELLOs, signal strength, small limits, a gateway, a
    /// metric, and the requests of a daemon.
    fn new(kind: u8) -> Checked {
        let is = |bit: u8| kind >> bit & 1 == 1;
        let config = Config {
            hello: is(1).then(HelloConfig::standard),
            metric: is(5).then(|| MetricConfig::paper(if is(6) { Metric::Ett } else { Metric::Etx })),
            signal: (is(1) && is(2)).then(|| SignalConfig::paper(Dbm(-80.0))),
            reply_ack_wait: is(7).then(|| Dur::from_millis(50)),
            repair_without_packet: is(7),
            ..if is(0) { Config::ns2() } else { Config::standard() }
        };
        let limits = if is(3) { SMALL } else { Limits::AMPLE };
        let outside = Prefix::new(Ipv4Addr::new(203, 0, 113, 0), 24);
        let jitter = Stream::new(1, NodeId(0), Purpose::RoutingJitter);
        let aodv = Aodv::new(HERE, config, jitter).with_limits(limits).with_route_changes();
        let aodv = aodv.with_plan(AddressPlan::default().with_outside(outside));
        let aodv = if is(4) { aodv.with_gateway(outside) } else { aodv };
        let now = Time::from_secs(1);
        Checked { aodv, now, out: Vec::new(), inside: BTreeMap::new(), number: 0, kernel: BTreeMap::new(), limits }
    }

    /// Makes one call and checks the actions that result.
    fn call(&mut self, call: impl FnOnce(&mut Aodv, Time, &mut Vec<Action>)) {
        call(&mut self.aodv, self.now, &mut self.out);
        for action in std::mem::take(&mut self.out) {
            match action {
                Action::Send { packet, next_hop } => {
                    if let NextHop::Unicast(neighbour) = next_hop {
                        assert!(is_of_another_host(neighbour), "{neighbour} is no neighbour");
                    }
                    match &packet.body {
                        Body::Routing(RoutingMessage::Aodv(message)) => sent(message, &packet, next_hop),
                        _ => self.left(packet, 1),
                    }
                }
                Action::Drop { packet, .. } if packet.is_routing() => panic!("messages here are not given back"),
                Action::Drop { packet, .. } => self.left(packet, 0),
                Action::RouteUp { destination, next_hop, hops, .. } => {
                    assert!(
                        is_of_another_host(destination) && is_of_another_host(next_hop),
                        "{destination} {next_hop}"
                    );
                    self.kernel.insert(destination, (next_hop, hops));
                }
                Action::RouteDown { destination } => {
                    assert!(self.kernel.remove(&destination).is_some(), "{destination} was never up");
                }
                Action::PurgeQueue { .. } => {}
            }
        }
        let valid = self.aodv.routes().filter(|route| route.is_valid());
        let valid: BTreeMap<_, _> = valid.map(|route| (route.dst, (route.next_hop, route.hops))).collect();
        assert_eq!(valid, self.kernel, "every change of the routes is reported");
        assert_eq!(self.aodv.buffered(), self.inside.len(), "the rest is buffered");
        assert!(self.aodv.routes().count() <= self.limits.routes);
        assert!(self.aodv.remembered_requests() <= self.limits.requests);
        assert!(self.aodv.waiting_control() <= self.limits.messages);
        let precursors = self.aodv.routes().map(|route| route.precursors().len());
        assert!(precursors.max().unwrap_or(0) <= self.limits.neighbours);
    }

    /// Checks a data packet that has left, which must have a time to live of at least `least`.
    fn left(&mut self, packet: Ipv4Packet, least: u8) {
        let Body::Echo(echo) = &packet.body else { panic!("only echo requests were put in") };
        let given = self.inside.remove(&echo.number).expect("no packet comes out twice");
        assert!((least..=given.ttl).contains(&packet.ttl), "{} after {}", packet.ttl, given.ttl);
        assert_eq!(Ipv4Packet { ttl: given.ttl, ..packet }, given, "nothing but the time to live may differ");
    }

    /// Creates the next data packet.
    fn data(&mut self, src: Ipv4Addr, dst: Ipv4Addr, ttl: u8) -> Ipv4Packet {
        let body = Body::Echo(EchoMessage { reply: false, ident: 7, number: self.number, payload: 56 });
        let packet = Ipv4Packet { src, dst, ttl, ident: self.number, dscp: 0, body, meta: PacketMeta::default() };
        self.inside.insert(self.number, packet.clone());
        self.number += 1;
        packet
    }

    /// Passes in the payload of a datagram to port 654. Returns whether it was a message.
    fn message(&mut self, bytes: &[u8], from: Ipv4Addr, ttl: u8, broadcast: bool, strength: u8) -> bool {
        let Ok(message) = decode::aodv(bytes) else { return false };
        assert!(message.len() as usize <= bytes.len(), "no more than is there");
        again(&message);
        let dst = if broadcast { Ipv4Packet::BROADCAST } else { HERE };
        let body = Body::Routing(message.into());
        let packet = Ipv4Packet { src: from, dst, ttl, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        self.call(|aodv, now, out| {
            aodv.handle_signal(from, Dbm(-100.0 + f64::from(strength % 64)));
            aodv.handle_rate(now, from, Rate::kbps(1 + u64::from(strength)));
            aodv.handle_message(now, packet, from, out);
        });
        true
    }

    /// Lets time pass, and calls timers.
    fn pass(&mut self, by: Dur) {
        let end = self.now + by;
        while let Some(at) = self.aodv.next_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.call(|aodv, now, out| aodv.handle_timeout(now, out));
            assert!(self.aodv.next_timeout().is_none_or(|next| next > self.now), "a timer that is due is handled");
        }
        self.now = end;
        self.aodv.handle_timeout(end, &mut self.out);
        assert!(self.out.is_empty(), "an early timeout does nothing");
    }
}

/// Checks that a message is the same after encoding and decoding.
fn again(message: &AodvMessage) {
    let mut bytes = Vec::new();
    encode::aodv(message, &mut bytes);
    assert_eq!(bytes.len() as u32, message.len());
    assert_eq!(decode::aodv(&bytes).as_ref(), Ok(message));
}

/// Checks a message that has left.
fn sent(message: &AodvMessage, packet: &Ipv4Packet, next_hop: NextHop) {
    again(message);
    assert!(packet.src == HERE && packet.ttl > 0);
    match next_hop {
        NextHop::Broadcast => assert!(packet.dst.is_broadcast()),
        NextHop::Unicast(neighbour) => assert_eq!(packet.dst, neighbour),
    }
}

/// Interprets `data` as a sequence of events at a node, whose kind is the first byte. The first byte of each step
/// selects the event: time passes, data is sent or forwarded, a link fails, or a datagram arrives. Its bytes follow and
/// are repaired as one of them says, so that many datagrams are messages. Returns how many were, and the counters.
pub fn messages(data: &[u8]) -> (u64, Counters) {
    let Some((&kind, mut rest)) = data.split_first() else { return Default::default() };
    let mut checked = Checked::new(kind);
    let mut understood = 0;
    while let Some((step, after)) = rest.split_first_chunk::<4>() {
        rest = after;
        let &[op, a, b, c] = step;
        let (one, other) = (address(a), address(b));
        match op % 8 {
            0 => checked.pass(Dur::from_millis(u64::from(a) * u64::from(b) + u64::from(c))),
            1 if is_of_another_host(one) => {
                let ttl = checked.aodv.config().data_ttl.unwrap_or(c.max(1));
                let packet = checked.data(HERE, one, ttl);
                checked.call(|aodv, now, out| aodv.handle_outgoing(now, packet, out));
            }
            2 if is_of_another_host(one) => {
                let packet = checked.data(other, one, c);
                checked.call(|aodv, now, out| aodv.handle_transit(now, packet, Some(address(c >> 4)), out));
            }
            3 if is_of_another_host(one) && kind >> 4 & 1 == 1 => {
                let packet = checked.data(other, one, c.max(1));
                checked.call(|aodv, now, out| aodv.handle_entering(now, packet, out));
            }
            4 => {
                let lost = is_of_another_host(other).then(|| checked.data(address(c), other, c.max(1)));
                let reason = if c & 1 == 0 { DropReason::DataRetryLimit } else { DropReason::ArpUnresolved };
                checked.call(|aodv, now, out| aodv.handle_link_failure(now, lost, one, reason, out));
            }
            5 => checked.call(|aodv, now, _| aodv.handle_used(now, one, Some(other), Some(address(c)))),
            _ => {
                let Some((&len, after)) = rest.split_first() else { break };
                let (bytes, after) = after.split_at(usize::from(len).min(after.len()));
                rest = after;
                let mut bytes = bytes.to_vec();
                repair(&mut bytes, b);
                // A kernel delivers no packet with a broadcast, unspecified or multicast source.
                let from = if one == HERE || is_of_another_host(one) { one } else { ADDRESSES[0] };
                understood += u64::from(checked.message(&bytes, from, c, op & 64 == 0, op >> 2 ^ c));
            }
        }
    }
    // Every discovery ends.
    checked.pass(Dur::from_secs(3_600));
    assert_eq!(checked.aodv.buffered(), 0, "nothing waits for ever");
    (understood, *checked.aodv.counters())
}

/// Turns the bytes into a message with few addresses and with sequence numbers near the wrap, as far as `how` says.
fn repair(bytes: &mut Vec<u8>, how: u8) {
    let Some(kind) = bytes.first_mut() else { return };
    if how & 1 == 0 {
        *kind = 1 + *kind % 4;
    }
    if how & 0x21 == 0x20 {
        *kind = Probe::TYPE;
    }
    let kind = *kind;
    if kind == Probe::TYPE {
        bytes.resize(Probe::MIN_LEN as usize, 0);
        bytes[1] %= 3;
    }
    if how & 2 == 0 && kind == 3 && bytes.len() >= 12 {
        bytes[3] = ((bytes.len() - 4) / 8) as u8;
    }
    // Positions of the list entries in a probe.
    let entries = (4..bytes.len()).step_by(Probe::ENTRY as usize);
    // Positions of addresses and sequence numbers (RFC 3561 sections 5.1 to 5.3).
    let (addresses, numbers) = match kind {
        1 => (vec![8, 16], vec![4, 12, 20]),
        2 => (vec![4, 12], vec![8]),
        Probe::TYPE => (entries.collect(), vec![]),
        _ => ((4..bytes.len()).step_by(8).collect(), (8..bytes.len()).step_by(8).collect()),
    };
    if how & 4 == 0 {
        for field in addresses {
            if let Some(field) = bytes.get_mut(field..field + 4) {
                field.copy_from_slice(&address(field[3]).octets());
            }
        }
    }
    if how & 8 == 0 {
        for field in numbers {
            if let Some(field) = bytes.get_mut(field..field + 3) {
                field.copy_from_slice(&if field[2] & 1 == 0 { [0; 3] } else { [0xff; 3] });
            }
        }
    }
}
