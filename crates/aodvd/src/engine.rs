//! AODV and what a daemon adds to it, without clock, socket or kernel: datagrams in, datagrams and route changes out.
//!
//! A node has one address on all its interfaces (RFC 3561 section 6.14 leaves that open). A neighbour is identified by
//! its address; it is reached over the interface on which it was first heard, until it has been silent there for the
//! lifetime given by its HELLOs and is heard on another.

use crate::authentication::{Envelope, Fault, Keys};
use crate::config::Config;
use crate::guard::{Bucket, Originators, Refusal, correct, plausible};
use fourhop_proto::drop::DropReason;
use fourhop_proto::route::{Action, AddressPlan, Aodv, NextHop, Protocol, Signal};
use fourhop_proto::wire::{AodvMessage, Body, Ipv4Packet, PacketMeta, RoutingMessage, decode, encode};
use fourhop_units::{Dbm, Dur, Stream, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// Index of an interface in the configuration.
pub type Interface = usize;

/// After this many messages a neighbour takes precedence over one that was invented for a single message.
const PROVEN: u64 = 3;

/// Metadata of a received datagram.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrival {
    /// Receiving interface.
    pub interface: Interface,
    /// Source address.
    pub from: Ipv4Addr,
    /// Destination address.
    pub to: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
    /// Signal strength, if known.
    pub strength: Option<Dbm>,
}

/// A datagram to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Outgoing interface; `None`: every interface.
    pub interface: Option<Interface>,
    /// Destination address.
    pub to: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
    /// Content.
    pub payload: Vec<u8>,
}

/// Actions for the driver, to be performed in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// Send this datagram to port 654.
    Send(Datagram),
    /// Hand a program's packet back to the kernel, which now has a route for it.
    Release {
        /// The packet.
        packet: Ipv4Packet,
        /// Interface of its next hop.
        interface: Interface,
    },
    /// A program's packet is lost.
    Lost {
        /// The packet.
        packet: Ipv4Packet,
        /// Reason for the loss.
        reason: DropReason,
    },
    /// Add this route to the kernel, replacing another to the same destination.
    Up {
        /// The destination.
        destination: Ipv4Addr,
        /// The next hop.
        next_hop: Ipv4Addr,
        /// Interface of the next hop.
        interface: Interface,
    },
    /// Remove the kernel's route to a destination.
    Down {
        /// The destination.
        destination: Ipv4Addr,
    },
}

/// A node that was heard.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Interface over which it is reached.
    pub interface: Interface,
    /// When it was last heard there.
    pub heard: Time,
    /// Number of its messages that were accepted.
    pub messages: u64,
    /// Signal strength of the last one, if known.
    pub strength: Option<Dbm>,
    /// Rate limit of its messages.
    bucket: Bucket,
    /// Timestamp of its last authenticated message.
    stamp: Option<u64>,
}

/// The daemon's core, without its surroundings.
#[derive(Clone, Debug)]
pub struct Engine {
    config: Config,
    /// AODV's address plan.
    plan: AddressPlan,
    aodv: Aodv,
    keys: Option<Keys>,
    neighbours: BTreeMap<Ipv4Addr, Neighbour>,
    originators: Originators,
    /// Rate limit for adding neighbours: addresses can be invented for free.
    newcomers: Bucket,
    refusals: BTreeMap<Refusal, u64>,
    /// Until then only route errors are sent (RFC 3561 section 6.13).
    quiet_until: Time,
    /// Number of messages suppressed until then.
    pub kept_back: u64,
    /// Routes in the kernel, each with its next hop and interface.
    routes: BTreeMap<Ipv4Addr, (Ipv4Addr, Interface)>,
    actions: Vec<Action>,
}

/// State that survives a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers {
    /// The node's own sequence number.
    pub seqno: u32,
    /// ID of the next request.
    pub rreq_id: u32,
    /// Timestamp of the last authenticated message.
    pub stamp: u64,
}

impl Engine {
    /// A node that starts at zero. `numbers` are those of the previous run; without them it waits (section 6.13).
    pub fn new(config: Config, keys: Option<Keys>, numbers: Option<Numbers>, jitter: Stream) -> Engine {
        let parameters = config.aodv();
        let plan = config.plan();
        let aodv = Aodv::new(config.address, parameters, jitter).with_plan(plan.clone()).with_route_changes();
        let aodv = aodv.with_limits(config.limits.limits());
        let aodv = match config.announce.is_empty() {
            true => aodv,
            false => aodv.with_gateway(config.announce.iter().copied()),
        };
        let waits = numbers.is_none() && config.routing.reboot_wait;
        let quiet_until = if waits { Time::ZERO + parameters.delete_period() } else { Time::ZERO };
        let mut keys = keys;
        let aodv = match numbers {
            Some(numbers) => {
                // With clocks that agree, a timestamp ahead of them would be refused by others.
                let alone = keys.iter_mut().filter(|keys| keys.within.is_none());
                alone.for_each(|keys| keys.last = numbers.stamp);
                aodv.with_numbers(numbers.seqno, numbers.rreq_id)
            }
            None => aodv,
        };
        let rate = config.limits.rate;
        Engine {
            aodv,
            plan,
            config,
            keys,
            neighbours: BTreeMap::new(),
            originators: Originators::default(),
            newcomers: Bucket::full(Time::ZERO, rate),
            refusals: BTreeMap::new(),
            quiet_until,
            kept_back: 0,
            routes: BTreeMap::new(),
            actions: Vec::new(),
        }
    }

    /// AODV itself, for inspection.
    pub fn aodv(&self) -> &Aodv {
        &self.aodv
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The nodes that were heard.
    pub fn neighbours(&self) -> &BTreeMap<Ipv4Addr, Neighbour> {
        &self.neighbours
    }

    /// Counts of refused messages, by reason.
    pub fn refusals(&self) -> &BTreeMap<Refusal, u64> {
        &self.refusals
    }

    /// Routes that the kernel should have: next hop and interface by destination.
    pub fn routes(&self) -> &BTreeMap<Ipv4Addr, (Ipv4Addr, Interface)> {
        &self.routes
    }

    /// State to keep for the next start.
    pub fn numbers(&self) -> Numbers {
        let stamp = self.keys.as_ref().map_or(0, |keys| keys.last);
        Numbers { seqno: self.aodv.seqno(), rreq_id: self.aodv.rreq_id(), stamp }
    }

    /// Whether it is still quiet after a start without its numbers.
    pub fn is_quiet(&self, now: Time) -> bool {
        now < self.quiet_until
    }

    /// When [`Engine::handle_timeout`] is next due.
    pub fn next_timeout(&self) -> Option<Time> {
        self.aodv.next_timeout()
    }

    /// Handles timeouts that are due. `clock` is the time in microseconds since 1970, for authentication, here and
    /// below.
    pub fn handle_timeout(&mut self, now: Time, clock: u64, out: &mut Vec<Task>) {
        self.call(now, clock, out, |aodv, now, actions| aodv.handle_timeout(now, actions));
    }

    /// Handles a datagram received on port 654.
    ///
    /// # Errors
    /// If it is not accepted; refusals are counted.
    pub fn handle_datagram(
        &mut self,
        now: Time,
        clock: u64,
        arrival: Arrival,
        payload: &[u8],
        out: &mut Vec<Task>,
    ) -> Result<(), Refusal> {
        let before = self.neighbours.get(&arrival.from).map(|neighbour| neighbour.interface);
        let message = self.admit(now, clock, arrival, payload);
        self.follow(arrival.from, before, out);
        let message = message.inspect_err(|&refusal| *self.refusals.entry(refusal).or_default() += 1)?;
        if let Some(strength) = arrival.strength {
            self.aodv.handle_signal(arrival.from, strength);
        }
        let dst = if arrival.to.is_broadcast() { Ipv4Packet::BROADCAST } else { self.config.address };
        let (src, ttl, body) = (arrival.from, arrival.ttl, Body::Routing(message.into()));
        let packet = Ipv4Packet { src, dst, ttl, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        self.call(now, clock, out, |aodv, now, actions| aodv.handle_message(now, packet, src, actions));
        Ok(())
    }

    /// If a neighbour has moved to another interface, moves its routes as well.
    fn follow(&mut self, neighbour: Ipv4Addr, before: Option<Interface>, out: &mut Vec<Task>) {
        let Some(now) = self.neighbours.get(&neighbour).map(|neighbour| neighbour.interface) else { return };
        if before.is_none_or(|before| before == now) {
            return;
        }
        for (&destination, (next_hop, interface)) in &mut self.routes {
            if *next_hop == neighbour {
                *interface = now;
                out.push(Task::Up { destination, next_hop: neighbour, interface: now });
            }
        }
    }

    /// Checks a datagram before AODV sees it.
    fn admit(&mut self, now: Time, clock: u64, arrival: Arrival, payload: &[u8]) -> Result<AodvMessage, Refusal> {
        let from = arrival.from;
        if from == self.config.address {
            return Err(Refusal::OwnAddress);
        }
        if !self.config.is_mesh(from) || self.plan.is_outside(from) {
            return Err(Refusal::Stranger);
        }
        // An unauthenticated message does not make its sender a neighbour.
        let stamp = self.authenticate(clock, arrival, payload)?;
        let (rate, lifetime) = (self.config.limits.rate, self.neighbour_lifetime());
        let neighbour = self.neighbour(now, arrival, rate)?;
        if neighbour.interface != arrival.interface && now.saturating_since(neighbour.heard) > lifetime {
            neighbour.interface = arrival.interface;
        }
        if !neighbour.bucket.take(now, rate) {
            return Err(Refusal::TooFast);
        }
        let mut message = decode::aodv(payload).map_err(|_| Refusal::Malformed)?;
        let step = self.config.limits.seqno_step;
        plausible(&self.aodv, &message, |address| self.config.is_routed(address), step)?;
        if let AodvMessage::Rreq(rreq) = &message
            && rreq.originator != self.config.address
            && !self.originators.take(
                now,
                rreq.originator,
                self.config.limits.originator_rate,
                self.config.limits.limits().routes,
            )
        {
            return Err(Refusal::Flood);
        }
        correct(&mut self.aodv, &mut message, step);
        // INVARIANT: it was found or inserted above.
        let neighbour = self.neighbours.get_mut(&from).expect("a neighbour");
        neighbour.messages += 1;
        neighbour.stamp = stamp.or(neighbour.stamp);
        if neighbour.interface == arrival.interface {
            neighbour.heard = now;
            neighbour.strength = arrival.strength;
        }
        Ok(message)
    }

    fn authenticate(&self, clock: u64, arrival: Arrival, payload: &[u8]) -> Result<Option<u64>, Refusal> {
        let (Some(keys), Some(config)) = (&self.keys, &self.config.authentication) else { return Ok(None) };
        let envelope = Envelope { src: arrival.from, dst: arrival.to, ttl: arrival.ttl };
        let last = self.neighbours.get(&arrival.from).and_then(|neighbour| neighbour.stamp);
        match keys.verify(clock, last, envelope, payload) {
            Ok(stamp) => Ok(Some(stamp)),
            Err(Fault::Replayed) => Err(Refusal::Replayed),
            Err(Fault::Missing) if !config.require => Ok(None),
            Err(Fault::Missing | Fault::BadCode) => Err(Refusal::Unauthenticated),
        }
    }

    /// How long a silent neighbour is kept.
    fn neighbour_lifetime(&self) -> Dur {
        let config = self.aodv.config();
        config.hello.map_or(config.active_route_timeout, |hello| hello.neighbour_lifetime())
    }

    /// The neighbour that sent this datagram. All new ones together share the rate of one, so that invented sources
    /// gain nothing. If there are too many, one that was hardly heard makes room, then the one silent for longest,
    /// unless a route leads over it.
    fn neighbour(&mut self, now: Time, arrival: Arrival, rate: u32) -> Result<&mut Neighbour, Refusal> {
        let most = self.config.limits.limits().neighbours;
        let new = !self.neighbours.contains_key(&arrival.from);
        if new && !self.newcomers.take(now, rate) {
            return Err(Refusal::TooFast);
        }
        if new && self.neighbours.len() >= most {
            let used = |address: &Ipv4Addr| self.routes.values().any(|(next_hop, _)| next_hop == address);
            let idle = self.neighbours.iter().filter(|(address, _)| !used(address));
            let worth = |neighbour: &Neighbour| (neighbour.messages >= PROVEN, neighbour.heard);
            let oldest = idle.min_by_key(|(_, neighbour)| worth(neighbour)).map(|(&address, _)| address);
            let Some(oldest) = oldest else { return Err(Refusal::TooFast) };
            self.neighbours.remove(&oldest);
        }
        Ok(self.neighbours.entry(arrival.from).or_insert_with(|| Neighbour {
            interface: arrival.interface,
            heard: now,
            messages: 0,
            strength: arrival.strength,
            bucket: Bucket::full(now, rate),
            stamp: None,
        }))
    }

    /// Handles a packet for which the kernel has no route: of a program here, from behind this gateway, or of a node
    /// that believes in a route over this one. The kernel has decremented the time to live of those it forwards.
    pub fn handle_caught(&mut self, now: Time, clock: u64, mut packet: Ipv4Packet, own: bool, out: &mut Vec<Task>) {
        if !self.config.is_routed(packet.dst) || !is_host(packet.dst) {
            out.push(Task::Lost { packet, reason: DropReason::NoRoute });
            return;
        }
        let served = self.config.announce.iter().any(|served| served.contains(packet.src));
        let entering = served && self.plan.is_outside(packet.src);
        if !own && !entering && self.is_quiet(now) {
            // Section 6.13: somebody uses an old route, so the wait starts again.
            self.quiet_until = now + self.aodv.config().delete_period();
        }
        self.call(now, clock, out, |aodv, now, actions| match (own, entering) {
            (true, _) => aodv.handle_outgoing(now, packet, actions),
            (false, true) => aodv.handle_entering(now, packet, actions),
            (false, false) => {
                packet.ttl = packet.ttl.saturating_add(1);
                aodv.handle_transit(now, packet, None, actions);
            }
        });
    }

    /// The kernel has forwarded a packet to `dst`.
    pub fn handle_used(&mut self, now: Time, dst: Ipv4Addr, src: Ipv4Addr, from: Option<Ipv4Addr>) {
        self.aodv.handle_used(now, dst, Some(src), from);
    }

    /// The link to a neighbour is broken.
    pub fn handle_failure(
        &mut self,
        now: Time,
        clock: u64,
        neighbour: Ipv4Addr,
        reason: DropReason,
        out: &mut Vec<Task>,
    ) {
        self.call(now, clock, out, |aodv, now, actions| {
            aodv.handle_link_failure(now, None, neighbour, reason, actions);
        });
    }

    /// Whether a route leads over this neighbour.
    pub fn leads_over(&self, neighbour: Ipv4Addr) -> bool {
        self.routes.values().any(|&(next_hop, _)| next_hop == neighbour)
    }

    /// The next hops of routes over an interface, without duplicates.
    pub fn next_hops(&self, interface: Interface) -> BTreeSet<Ipv4Addr> {
        let there = self.routes.values().filter(|&&(_, at)| at == interface);
        there.map(|&(next_hop, _)| next_hop).collect()
    }

    /// A neighbour's smoothed signal strength, if AODV considers it.
    pub fn signal(&self, neighbour: Ipv4Addr) -> Option<Signal> {
        self.aodv.signal(neighbour)
    }

    /// Calls AODV, and turns its actions into tasks.
    fn call(
        &mut self,
        now: Time,
        clock: u64,
        out: &mut Vec<Task>,
        call: impl FnOnce(&mut Aodv, Time, &mut Vec<Action>),
    ) {
        let mut actions = std::mem::take(&mut self.actions);
        call(&mut self.aodv, now, &mut actions);
        for action in actions.drain(..) {
            self.perform(now, clock, action, out);
        }
        self.actions = actions;
    }

    fn perform(&mut self, now: Time, clock: u64, action: Action, out: &mut Vec<Task>) {
        match action {
            Action::Send { packet, next_hop } => match &packet.body {
                Body::Routing(RoutingMessage::Aodv(message)) => {
                    out.extend(self.datagram(now, clock, message, packet.ttl, next_hop).map(Task::Send));
                }
                _ => {
                    let to = self.routes.get(&packet.dst);
                    out.push(match to {
                        Some(&(_, interface)) => Task::Release { packet, interface },
                        None => Task::Lost { packet, reason: DropReason::NoRoute },
                    });
                }
            },
            Action::RouteUp { destination, next_hop, .. } => {
                let interface = self.neighbours.get(&next_hop).map_or(0, |neighbour| neighbour.interface);
                self.routes.insert(destination, (next_hop, interface));
                out.push(Task::Up { destination, next_hop, interface });
            }
            Action::RouteDown { destination } => {
                self.routes.remove(&destination);
                out.push(Task::Down { destination });
            }
            Action::Drop { packet, reason } => out.push(Task::Lost { packet, reason }),
            // The interface's queue belongs to the kernel.
            Action::PurgeQueue { .. } => {}
        }
    }

    /// The datagram for a message; `None` while the node is quiet.
    fn datagram(
        &mut self,
        now: Time,
        clock: u64,
        message: &AodvMessage,
        ttl: u8,
        next_hop: NextHop,
    ) -> Option<Datagram> {
        if self.is_quiet(now) && !matches!(message, AodvMessage::Rerr(_)) {
            self.kept_back += 1;
            return None;
        }
        let (interface, to) = match next_hop {
            NextHop::Broadcast => (None, Ipv4Addr::BROADCAST),
            NextHop::Unicast(neighbour) => {
                let interface = self.neighbours.get(&neighbour).map_or(0, |neighbour| neighbour.interface);
                (Some(interface), neighbour)
            }
        };
        let mut payload = Vec::new();
        encode::aodv(message, &mut payload);
        if let Some(keys) = &mut self.keys {
            keys.sign(clock, Envelope { src: self.config.address, dst: to, ttl }, &mut payload);
        }
        Some(Datagram { interface, to, ttl, payload })
    }
}

/// Whether a host can have this address (RFC 1122 section 3.2.1.3): others may not appear in messages.
fn is_host(address: Ipv4Addr) -> bool {
    !matches!(address.octets()[0], 0 | 127 | 224..)
}

#[cfg(test)]
mod tests;
