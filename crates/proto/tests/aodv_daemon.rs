//! AODV as driven by the daemon of a real device: messages are bytes, addresses are arbitrary, and data is forwarded by
//! a kernel that gets its routes from the daemon and reports which of them it used.

use core::net::Ipv4Addr;
use fourhop_proto::drop::DropReason;
use fourhop_proto::route::{Action, AddressPlan, Aodv, Config, NextHop, Prefix, Protocol};
use fourhop_proto::wire::{AodvMessage, Body, EchoMessage, Ipv4Packet, PacketMeta, RoutingMessage, decode, encode};
use fourhop_units::{Dur, NodeId, Purpose, Stream, Time};
use std::collections::BTreeMap;

const LAPTOP: Ipv4Addr = Ipv4Addr::new(192, 168, 7, 30);
const ROUTER: Ipv4Addr = Ipv4Addr::new(172, 16, 0, 9);
const PHONE: Ipv4Addr = Ipv4Addr::new(192, 168, 7, 1);
const UPLINK: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 4);
/// The stations of the mesh, in a chain.
const MESH: [Ipv4Addr; 4] = [LAPTOP, ROUTER, PHONE, UPLINK];
/// A station of the mesh that is switched off.
const ABSENT: Ipv4Addr = Ipv4Addr::new(192, 168, 7, 99);
/// A host somewhere beyond the last station.
const SERVER: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 80);
const HOP: Dur = Dur::from_millis(3);

/// A datagram to port 654.
struct Datagram {
    to: usize,
    from: Ipv4Addr,
    broadcast: bool,
    ttl: u8,
    payload: Vec<u8>,
}

struct Device {
    daemon: Aodv,
    /// The kernel's table: next hop and hops by destination.
    kernel: BTreeMap<Ipv4Addr, (Ipv4Addr, u8)>,
    /// Packets that the daemon returned to the kernel, and losses of those it gave up.
    released: Vec<Ipv4Packet>,
    lost: Vec<DropReason>,
}

struct Network {
    now: Time,
    devices: Vec<Device>,
    /// Whether the link from this device to the next works.
    up: [bool; 3],
    air: BTreeMap<(Time, u64), Datagram>,
    sent: u64,
    errors: u64,
}

fn packet(src: Ipv4Addr, dst: Ipv4Addr) -> Ipv4Packet {
    let body = Body::Echo(EchoMessage { reply: false, ident: 7, number: 1, payload: 56 });
    Ipv4Packet { src, dst, ttl: 64, ident: 1, dscp: 0, body, meta: PacketMeta::default() }
}

fn routing(src: Ipv4Addr, dst: Ipv4Addr, ttl: u8, message: AodvMessage) -> Ipv4Packet {
    Ipv4Packet { src, dst, ttl, ident: 0, dscp: 0, body: Body::Routing(message.into()), meta: PacketMeta::default() }
}

impl Network {
    fn new() -> Network {
        let internet = Prefix::new(Ipv4Addr::UNSPECIFIED, 0).expect("a prefix");
        let plan = AddressPlan::default()
            .with_outside([internet])
            .with_mesh(MESH.map(Prefix::host))
            .with_mesh([Prefix::host(ABSENT)]);
        let device = |n: usize| {
            let jitter = Stream::new(1, NodeId(n as u32), Purpose::RoutingJitter);
            let daemon = Aodv::new(MESH[n], Config::standard(), jitter).with_plan(plan.clone()).with_route_changes();
            let daemon = if MESH[n] == UPLINK { daemon.with_gateway([internet]) } else { daemon };
            Device { daemon, kernel: BTreeMap::new(), released: Vec::new(), lost: Vec::new() }
        };
        let devices = (0..MESH.len()).map(device).collect();
        Network { now: Time::from_secs(1), devices, up: [true; 3], air: BTreeMap::new(), sent: 0, errors: 0 }
    }

    fn linked(&self, a: usize, b: usize) -> bool {
        a.abs_diff(b) == 1 && self.up[a.min(b)]
    }

    fn perform(&mut self, at: usize, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send { packet, next_hop } => match &packet.body {
                    Body::Routing(RoutingMessage::Aodv(message)) => self.send(at, message, packet.ttl, next_hop),
                    _ => self.devices[at].released.push(packet),
                },
                Action::RouteUp { destination, next_hop, hops, lifetime } => {
                    assert!(!lifetime.is_zero() && MESH.contains(&next_hop));
                    self.devices[at].kernel.insert(destination, (next_hop, hops));
                }
                Action::RouteDown { destination } => {
                    assert!(self.devices[at].kernel.remove(&destination).is_some());
                }
                Action::Drop { reason, .. } => self.devices[at].lost.push(reason),
                Action::PurgeQueue { .. } => {}
            }
        }
    }

    fn send(&mut self, at: usize, message: &AodvMessage, ttl: u8, next_hop: NextHop) {
        self.errors += u64::from(matches!(message, AodvMessage::Rerr(_)));
        let mut payload = Vec::new();
        encode::aodv(message, &mut payload);
        let broadcast = next_hop == NextHop::Broadcast;
        for (to, &addr) in MESH.iter().enumerate() {
            if self.linked(at, to) && (broadcast || next_hop == NextHop::Unicast(addr)) {
                self.sent += 1;
                let datagram = Datagram { to, from: MESH[at], broadcast, ttl, payload: payload.clone() };
                self.air.insert((self.now + HOP, self.sent), datagram);
            }
        }
    }

    fn call(&mut self, at: usize, call: impl FnOnce(&mut Aodv, Time, &mut Vec<Action>)) {
        let mut out = Vec::new();
        call(&mut self.devices[at].daemon, self.now, &mut out);
        self.perform(at, out);
    }

    fn pass(&mut self, dur: Dur) {
        let end = self.now + dur;
        loop {
            let timers =
                self.devices.iter().enumerate().filter_map(|(n, device)| Some((device.daemon.next_timeout()?, n)));
            let timer = timers.min();
            let arrival = self.air.first_key_value().map(|(&(at, _), _)| at);
            let Some(next) = Time::earlier_of(timer.map(|(at, _)| at), arrival).filter(|&at| at <= end) else { break };
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let (_, datagram) = self.air.pop_first().expect("it was just seen");
                let message = decode::aodv(&datagram.payload).expect("a message of ours");
                let dst = if datagram.broadcast { Ipv4Packet::BROADCAST } else { MESH[datagram.to] };
                let packet = routing(datagram.from, dst, datagram.ttl, message);
                self.call(datagram.to, |daemon, now, out| daemon.handle_message(now, packet, datagram.from, out));
            } else if let Some((_, n)) = timer {
                self.call(n, |daemon, now, out| daemon.handle_timeout(now, out));
            }
        }
        self.now = end;
    }

    /// Forwards a packet as far as the kernels' tables lead; each kernel reports to its daemon that routes were used.
    /// Returns where it ends, and whether it arrived.
    fn forward(&mut self, src: usize, dst: Ipv4Addr) -> (Ipv4Addr, bool) {
        let (mut at, mut from) = (src, None);
        loop {
            let here = MESH[at];
            let next_hop = self.devices[at].kernel.get(&dst).map(|&(next_hop, _)| next_hop);
            let leaves = here == UPLINK && dst == SERVER;
            if here == dst || (next_hop.is_none() && !leaves) {
                return (here, here == dst);
            }
            self.call(at, |daemon, now, _| daemon.handle_used(now, dst, Some(MESH[src]), from));
            let Some(next_hop) = next_hop else { return (here, true) };
            let next = MESH.iter().position(|&addr| addr == next_hop).expect("a device of the mesh");
            if !self.linked(at, next) {
                let reason = DropReason::DataRetryLimit;
                self.call(at, |daemon, now, out| daemon.handle_link_failure(now, None, next_hop, reason, out));
                return (here, false);
            }
            (at, from) = (next, Some(here));
        }
    }

    /// A program on the first device sends to `dst`, for which there is no route: the daemon gets the packet.
    fn connect(&mut self, dst: Ipv4Addr) {
        assert_eq!(self.devices[0].kernel.get(&dst), None);
        self.call(0, |daemon, now, out| daemon.handle_outgoing(now, packet(LAPTOP, dst), out));
        assert_eq!(self.devices[0].daemon.buffered(), 1);
    }
}

#[test]
fn a_kernel_gets_the_routes_and_its_traffic_alone_keeps_them_for_a_minute() {
    let mut network = Network::new();
    network.connect(PHONE);
    network.pass(Dur::from_secs(2));
    assert_eq!(network.devices[0].released, [packet(LAPTOP, PHONE)], "as it was given");
    assert_eq!(network.devices[0].kernel.get(&PHONE), Some(&(ROUTER, 2)));
    assert_eq!(network.devices[1].kernel.get(&LAPTOP), Some(&(LAPTOP, 1)));
    let messages = network.sent;
    for _ in 0..60 {
        assert_eq!(network.forward(0, PHONE), (PHONE, true), "at {}", network.now);
        assert_eq!(network.forward(2, LAPTOP), (LAPTOP, true), "at {}", network.now);
        network.pass(Dur::from_secs(1));
    }
    assert_eq!(network.sent, messages, "use is enough: no message was sent");
    // All routes expire ACTIVE_ROUTE_TIMEOUT after their last use.
    network.pass(Dur::from_secs(4));
    assert!(network.devices.iter().all(|device| device.kernel.is_empty()));
}

#[test]
fn a_broken_link_takes_the_routes_out_of_every_kernel_on_the_way() {
    let mut network = Network::new();
    network.connect(UPLINK);
    network.pass(Dur::from_secs(2));
    assert_eq!(network.forward(0, UPLINK), (UPLINK, true));
    network.up[2] = false;
    assert_eq!(network.forward(0, UPLINK), (PHONE, false));
    assert_eq!(network.devices[2].kernel.get(&UPLINK), None, "at once");
    network.pass(Dur::from_millis(100));
    assert!(network.errors >= 2, "reported along the way: {}", network.errors);
    assert!([0, 1].iter().all(|&n| !network.devices[n].kernel.contains_key(&UPLINK)));
    // No route is found until the link is back.
    network.connect(UPLINK);
    network.pass(Dur::from_secs(30));
    assert_eq!(network.devices[0].lost, [DropReason::DiscoveryFailed]);
    network.up[2] = true;
    network.connect(UPLINK);
    network.pass(Dur::from_secs(2));
    assert_eq!(network.forward(0, UPLINK), (UPLINK, true));
}

#[test]
fn a_gateway_answers_for_the_internet_but_not_for_the_mesh() {
    let mut network = Network::new();
    network.connect(SERVER);
    network.pass(Dur::from_secs(2));
    assert_eq!(network.devices[0].kernel.get(&SERVER), Some(&(ROUTER, 3)));
    for _ in 0..60 {
        assert_eq!(network.forward(0, SERVER), (UPLINK, true));
        // The reverse route, which the same traffic keeps alive at the gateway.
        assert_eq!(network.devices[3].kernel.get(&LAPTOP), Some(&(PHONE, 3)), "at {}", network.now);
        network.pass(Dur::from_secs(1));
    }
    network.connect(ABSENT);
    network.pass(Dur::from_secs(30));
    assert_eq!(network.devices[0].lost, [DropReason::DiscoveryFailed]);
}
