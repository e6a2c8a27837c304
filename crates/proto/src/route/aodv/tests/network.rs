//! A small in-memory network: nodes with AODV, links that are up or down, and a fixed time per hop.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// A message as sent on the air.
#[derive(Clone, PartialEq, Debug)]
pub struct Transmission {
    pub at: Time,
    pub from: u32,
    pub message: AodvMessage,
    pub ttl: u8,
}

enum Event {
    Arrive { to: u32, from: u32, packet: Ipv4Packet, strength: Dbm },
    Fail { at: u32, next_hop: u32, packet: Ipv4Packet },
}

/// A radio whose robust broadcasts reach farther than data: received power falls with the cube of the distance, with
/// independent fading for each frame.
#[derive(Clone, Copy)]
pub struct Radio {
    /// Position of a node on a line, in metres.
    pub place: fn(u32, Time) -> f64,
    /// Minimum strength at which a broadcast or data is received.
    pub broadcast_floor: Dbm,
    pub data_floor: Dbm,
}

impl Radio {
    /// Returns a strength by log-distance path loss with exponent 3 from -40 dBm at 1 m, plus a sum of four uniform
    /// numbers with a standard deviation of 4 dB.
    fn strength(&self, now: Time, from: u32, to: u32, chance: &mut Stream) -> Dbm {
        let metres = ((self.place)(from, now) - (self.place)(to, now)).abs().max(1.0);
        let fade: f64 = (0..4).map(|_| f64::from(chance.below(65_536)) / 65_536.0 - 0.5).sum();
        Dbm(-40.0 - 30.0 * metres.log10() + 4.0 * 3f64.sqrt() * fade)
    }
}

/// Nodes 0.. with the same configuration.
pub struct Network {
    pub nodes: Vec<Aodv>,
    pub now: Time,
    links: BTreeSet<(u32, u32)>,
    /// Transit time per hop.
    pub hop: Dur,
    /// Time until the link layer gives up.
    pub give_up: Dur,
    /// Loss rates of broadcasts and of unicasts (which then fail), in 256ths.
    pub broadcast_loss: u32,
    pub unicast_loss: u32,
    /// A different loss rate of broadcasts, between these two nodes.
    pub lossy: Option<((u32, u32), u32)>,
    /// The next data packet from one to the other is lost although the link works.
    pub fail_next: Option<(u32, u32)>,
    /// Call every node at all multiples of this, whether or not it is due.
    pub poke: Option<Dur>,
    /// Positions of the nodes, if links depend on them instead of on `connect` and `cut`.
    pub radio: Option<Radio>,
    /// Whether message strengths vary between -90 and -70 dBm.
    pub faded: bool,
    chance: Stream,
    /// Interface queues: packets sent by routing but not on the air yet. Key: (departure, order).
    events: BTreeMap<(Time, u64), Event>,
    order: u64,
    pub log: Vec<Transmission>,
    /// The routes known to the nodes' drivers: destination, next hop, hops.
    pub mirrors: Vec<BTreeMap<Ipv4Addr, (Ipv4Addr, u8)>>,
    pub delivered: Vec<(Time, Ipv4Packet)>,
    pub dropped: Vec<(Time, Ipv4Packet, DropReason)>,
    pub handed_in: usize,
}

impl Network {
    pub fn new(nodes: u32, config: Config) -> Network {
        Network {
            nodes: (0..nodes).map(|n| node(n, config).with_route_changes()).collect(),
            now: at_ms(1_000),
            links: BTreeSet::new(),
            hop: ms(2),
            give_up: ms(30),
            broadcast_loss: 0,
            unicast_loss: 0,
            lossy: None,
            fail_next: None,
            poke: None,
            radio: None,
            faded: false,
            chance: Stream::global(3, Purpose::Impairment),
            events: BTreeMap::new(),
            order: 0,
            log: Vec::new(),
            mirrors: vec![BTreeMap::new(); nodes as usize],
            delivered: Vec::new(),
            dropped: Vec::new(),
            handed_in: 0,
        }
    }

    /// Node 0 - 1 - 2 ...
    pub fn chain(nodes: u32, config: Config) -> Network {
        let mut network = Network::new(nodes, config);
        for n in 1..nodes {
            network.connect(n - 1, n);
        }
        network
    }

    pub fn connect(&mut self, a: u32, b: u32) {
        self.links.extend([(a, b), (b, a)]);
    }

    pub fn cut(&mut self, a: u32, b: u32) {
        self.links.remove(&(a, b));
        self.links.remove(&(b, a));
    }

    /// Sends a packet of `src`; at a gateway, one that arrived on its wire.
    pub fn send(&mut self, src: u32, dst: u32, number: u16) {
        self.handed_in += 1;
        let mut out = Vec::new();
        let mut packet = data(src, dst, number);
        packet.meta.created = self.now;
        let node = &mut self.nodes[src as usize];
        if node.serves(ip(WIRED)) {
            packet.src = ip(WIRED);
            node.handle_entering(self.now, packet, &mut out);
        } else {
            node.handle_outgoing(self.now, packet, &mut out);
        }
        self.perform(src, out);
    }

    fn schedule(&mut self, delay: Dur, event: Event) {
        self.order += 1;
        self.events.insert((self.now + delay, self.order), event);
    }

    /// Asserts that the driver of a node knows exactly its valid routes.
    #[track_caller]
    fn assert_mirrored(&self, at: u32) {
        let node = &self.nodes[at as usize];
        let valid =
            node.routes().filter(|route| route.is_valid()).map(|route| (route.dst, (route.next_hop, route.hops)));
        assert_eq!(self.mirrors[at as usize], valid.collect(), "node {at} at {}", self.now);
    }

    fn perform(&mut self, at: u32, actions: Vec<Action>) {
        let mut changes_end = false;
        for action in &actions {
            let change = matches!(action, Action::RouteUp { .. } | Action::RouteDown { .. });
            assert!(!(change && changes_end), "changes come first: {actions:?}");
            changes_end |= !change;
            if let Action::RouteUp { destination, lifetime, .. } = action {
                let route = self.nodes[at as usize].route(*destination).expect("it has just come up");
                assert_eq!(self.now + *lifetime, route.expires.max(self.now));
            }
        }
        self.apply(at, actions);
        self.assert_mirrored(at);
    }

    fn apply(&mut self, at: u32, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Drop { packet, reason } => {
                    if !packet.is_routing() {
                        self.dropped.push((self.now, packet, reason));
                    }
                }
                Action::PurgeQueue { next_hop } => self.purge(at, next_hop),
                Action::Send { packet, next_hop } => self.transmit(at, packet, next_hop),
                Action::RouteUp { destination, next_hop, hops, .. } => {
                    self.mirrors[at as usize].insert(destination, (next_hop, hops));
                }
                Action::RouteDown { destination } => {
                    let gone = self.mirrors[at as usize].remove(&destination);
                    assert!(gone.is_some(), "node {at} takes back a route to {destination} that it never reported");
                }
            }
        }
    }

    /// Purges everything for that neighbour that is not on the air yet; the last nanosecond in transit counts as the
    /// air.
    fn purge(&mut self, at: u32, next_hop: Ipv4Addr) {
        let now = self.now;
        let mut purged = Vec::new();
        self.events.retain(|&(time, _), event| {
            let queued = match event {
                Event::Fail { at: node, next_hop: n, .. } => *node == at && ip(*n) == next_hop,
                Event::Arrive { to, from, .. } => *from == at && ip(*to) == next_hop,
            };
            let keep = !queued || time <= now;
            if let (false, Event::Fail { packet, .. } | Event::Arrive { packet, .. }) = (keep, event) {
                purged.push(packet.clone());
            }
            keep
        });
        let data = purged.into_iter().filter(|packet| !packet.is_routing());
        self.dropped.extend(data.map(|packet| (now, packet, DropReason::QueuePurged)));
    }

    fn transmit(&mut self, from: u32, packet: Ipv4Packet, next_hop: NextHop) {
        if let Body::Routing(RoutingMessage::Aodv(message)) = &packet.body {
            let (message, ttl) = (message.clone(), packet.ttl);
            self.log.push(Transmission { at: self.now, from, message, ttl });
        }
        match next_hop {
            NextHop::Broadcast if self.radio.is_some() => {
                let radio = self.radio.expect("just looked at");
                for to in (0..self.nodes.len() as u32).filter(|&to| to != from) {
                    let strength = radio.strength(self.now, from, to, &mut self.chance);
                    if strength >= radio.broadcast_floor {
                        self.schedule(self.hop, Event::Arrive { to, from, packet: packet.clone(), strength });
                    }
                }
            }
            NextHop::Broadcast => {
                let receivers: Vec<u32> = self.links.range((from, 0)..(from + 1, 0)).map(|&(_, to)| to).collect();
                for to in receivers {
                    let here = |&((a, b), _): &((u32, u32), u32)| [(a, b), (b, a)].contains(&(from, to));
                    let loss = self.lossy.filter(here).map_or(self.broadcast_loss, |(_, loss)| loss);
                    if self.chance.below(256) >= loss {
                        let strength = self.strength();
                        self.schedule(self.hop, Event::Arrive { to, from, packet: packet.clone(), strength });
                    }
                }
            }
            NextHop::Unicast(addr) => {
                let to = number_of(addr);
                let fails = self.fail_next == Some((from, to)) && !packet.is_routing();
                if fails {
                    self.fail_next = None;
                }
                if let Some(radio) = self.radio {
                    // Seven attempts, as by the MAC.
                    let mut attempts = (0..7).map(|_| radio.strength(self.now, from, to, &mut self.chance));
                    match attempts.find(|&strength| strength >= radio.data_floor) {
                        Some(strength) => self.schedule(self.hop, Event::Arrive { to, from, packet, strength }),
                        None => self.schedule(self.give_up, Event::Fail { at: from, next_hop: to, packet }),
                    }
                    return;
                }
                if !fails && self.links.contains(&(from, to)) && self.chance.below(256) >= self.unicast_loss {
                    let strength = self.strength();
                    self.schedule(self.hop, Event::Arrive { to, from, packet, strength });
                } else {
                    self.schedule(self.give_up, Event::Fail { at: from, next_hop: to, packet });
                }
            }
        }
    }

    /// Changes the random losses and strengths.
    pub fn reseed(&mut self, seed: u64) {
        self.chance = Stream::global(seed, Purpose::Impairment);
    }

    fn strength(&mut self) -> Dbm {
        Dbm(if self.faded { -90.0 + f64::from(self.chance.below(20)) } else { -60.0 })
    }

    fn handle(&mut self, event: Event) {
        let mut out = Vec::new();
        let now = self.now;
        match event {
            Event::Arrive { to, from, mut packet, strength } => {
                packet.meta.hops += 1;
                let node = &mut self.nodes[to as usize];
                if packet.is_routing() {
                    node.handle_signal(ip(from), strength);
                    node.handle_rate(now, ip(from), Rate::kbps(1_000 * u64::from(1 + (from ^ to) % 4)));
                    node.handle_message(now, packet, ip(from), &mut out);
                } else if packet.dst == ip(to) || node.serves(packet.dst) {
                    self.delivered.push((now, packet));
                } else {
                    node.handle_transit(now, packet, Some(ip(from)), &mut out);
                }
                self.perform(to, out);
            }
            Event::Fail { at, next_hop, packet } => {
                let node = &mut self.nodes[at as usize];
                node.handle_link_failure(now, Some(packet), ip(next_hop), DropReason::RtsRetryLimit, &mut out);
                self.perform(at, out);
            }
        }
    }

    /// Runs the network until `until`, with a limit on steps to detect a livelock.
    #[track_caller]
    pub fn run_until(&mut self, until: Time) {
        for _ in 0..200_000 {
            let event = self.events.keys().next().copied();
            let timer = (0..self.nodes.len()).filter_map(|n| Some((self.nodes[n].next_timeout()?, n))).min();
            let event_at = event.map(|(at, _)| at);
            let Some(next) = [event_at, timer.map(|(at, _)| at)].into_iter().flatten().min().filter(|&at| at <= until)
            else {
                self.now = until;
                return;
            };
            while let Some(at) = self.poke.map(|poke| self.now.next_multiple_of(poke)).filter(|&at| at < next) {
                self.now = at;
                let mut out = Vec::new();
                self.nodes.iter_mut().for_each(|node| node.handle_timeout(at, &mut out));
                assert_eq!(out, [], "an early call at {at}");
            }
            self.now = self.now.max(next);
            if event_at == Some(next) {
                let event = event.and_then(|key| self.events.remove(&key)).expect("looked up above");
                self.handle(event);
            } else if let Some((_, n)) = timer {
                let mut out = Vec::new();
                self.nodes[n].handle_timeout(self.now, &mut out);
                self.perform(n as u32, out);
            }
        }
        panic!("the network does not come to rest: livelock at {}", self.now);
    }

    #[track_caller]
    pub fn pass(&mut self, dur: Dur) {
        self.run_until(self.now + dur);
    }

    pub fn in_flight(&self) -> usize {
        let packets = self.events.values().map(|event| match event {
            Event::Arrive { packet, .. } | Event::Fail { packet, .. } => packet,
        });
        packets.filter(|packet| !packet.is_routing()).count()
    }

    /// Own requests of `node`: (time, TTL).
    pub fn requests_of(&self, node: u32) -> Vec<(Time, u8)> {
        let own = |t: &&Transmission| matches!(&t.message, AodvMessage::Rreq(r) if r.originator == ip(node));
        self.log.iter().filter(|t| t.from == node).filter(own).map(|t| (t.at, t.ttl)).collect()
    }

    /// Numbers of the packets delivered, in order.
    pub fn delivered_numbers(&self) -> Vec<u16> {
        self.delivered.iter().map(|(_, packet)| number(packet)).collect()
    }

    /// Nodes that sent a route error, in order of time.
    pub fn error_senders(&self) -> Vec<u32> {
        self.log.iter().filter(|t| matches!(t.message, AodvMessage::Rerr(_))).map(|t| t.from).collect()
    }

    #[track_caller]
    pub fn assert_conserved(&self) {
        let buffered: usize = self.nodes.iter().map(Aodv::buffered).sum();
        let accounted = self.delivered.len() + self.dropped.len() + buffered + self.in_flight();
        assert_eq!(self.handed_in, accounted, "packets appeared or vanished");
    }
}
