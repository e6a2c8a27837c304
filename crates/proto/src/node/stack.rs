//! The stack of one node: passes packets and frames between its layers.

use super::account::{Account, Crossings, Drops, Layers};
use super::ear::Ear;
use super::endpoint::{Endpoint, EndpointKind, Path};
use crate::ccm;
use crate::drop::{DropReason, Layer};
use crate::mac::{self, Dcf};
use crate::net::{self, Link};
use crate::phy;
use crate::route::{self, Router};
use crate::tcp::{self, HopSource};
use crate::wire::{Body, EchoMessage, Frame, Ipv4Packet, PacketMeta, Payload};
use core::net::Ipv4Addr;
use fourhop_units::{MacAddr, NodeId, Purpose, Stream, Time};

/// Options of a node's layers below the transports.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// The receiver.
    pub phy: phy::Config,
    /// The MAC.
    pub mac: mac::Config,
    /// ARP, delays and queue.
    pub link: net::Config,
    /// Time to live of packets made here. ns-2's AODV: 30; RFC 1700: 64.
    pub ttl: u8,
}

impl Config {
    /// ns-2.35.
    pub const fn ns2() -> Config {
        Config { phy: phy::Config::ns2(), mac: mac::Config::ns2(), link: net::Config::ns2(), ttl: 30 }
    }

    /// The standards as written.
    pub const fn standard() -> Config {
        Config { phy: phy::Config::standard(), mac: mac::Config::standard(), link: net::Config::standard(), ttl: 64 }
    }
}

/// Buffers that are emptied after each use and keep their memory. Layers call each other in turn, so that a layer can be
/// entered again before its first buffer is back: each has as many as that has ever needed.
#[derive(Debug)]
struct Pool<T>(Vec<Vec<T>>);

impl<T> Pool<T> {
    fn take(&mut self) -> Vec<T> {
        self.0.pop().unwrap_or_default()
    }

    fn give(&mut self, buffer: Vec<T>) {
        debug_assert!(buffer.is_empty(), "every action is performed before its buffer returns");
        self.0.push(buffer);
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool(Vec::new())
    }
}

#[derive(Debug, Default)]
struct Scratch {
    mac: Vec<mac::Action>,
    link: Pool<net::Action>,
    route: Pool<route::Action>,
    tcp: Vec<tcp::Action>,
    bodies: Pool<Body>,
}

/// A node.
///
/// The driver tells the node's [`Ear`] of every copy of a frame, the node what the ear asks it to
/// ([`Node::handle_access_lost`], [`Node::handle_reception`]), and calls [`Node::handle_timeout`] at
/// [`Node::next_timeout`]; each may change `next_timeout`.
/// `ear` is always the one of this node.
#[derive(Debug)]
pub struct Node {
    addr: Ipv4Addr,
    mac_addr: MacAddr,
    ttl: u8,
    mac: Dcf,
    link: Link,
    router: Router,
    endpoints: Vec<Endpoint>,
    /// Between the transports and the network layer, at a node that takes part in C3TCP.
    modules: Option<Box<ccm::Modules>>,
    next_ident: u16,
    drops: Drops,
    crossings: Crossings,
    /// Earliest timer of the layers above the MAC.
    upper_timeout: Option<Time>,
    scratch: Scratch,
}

impl Node {
    /// A node with nothing to do; its random numbers are the streams of (`seed`, `id`).
    pub fn new(id: NodeId, seed: u64, config: &Config, router: Router) -> Node {
        let (addr, mac_addr) = (id.ipv4(), id.mac());
        Node {
            addr,
            mac_addr,
            ttl: config.ttl,
            mac: Dcf::new(mac_addr, config.mac, Stream::new(seed, id, Purpose::Backoff)),
            link: Link::new(mac_addr, addr, config.link),
            upper_timeout: router.next_timeout(),
            router,
            endpoints: Vec::new(),
            modules: None,
            next_ident: 0,
            drops: Drops::default(),
            crossings: Crossings::default(),
            scratch: Scratch::default(),
        }
    }

    /// Adds one end of a flow; returns its place among [`Node::endpoints`].
    pub fn add_endpoint(&mut self, endpoint: Endpoint) -> usize {
        self.endpoints.push(endpoint);
        self.refresh_upper();
        self.endpoints.len() - 1
    }

    /// Lets the node take part in C3TCP, below its transports. Before anything happens.
    pub fn add_modules(&mut self, options: ccm::Options) {
        self.modules = Some(Box::new(ccm::Modules::new(options)));
    }

    /// Its modules of C3TCP, for inspection.
    pub fn modules(&self) -> Option<&ccm::Modules> {
        self.modules.as_deref()
    }

    /// The ends of flows at this node.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The MAC, for inspection.
    pub fn mac(&self) -> &Dcf {
        &self.mac
    }

    /// The link layer, for inspection.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Routing, for inspection.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Losses so far, those of its ear apart.
    pub fn drops(&self) -> &Drops {
        &self.drops
    }

    /// The balance of each layer but the radio, which is the ear's.
    pub fn accounts(&self) -> Layers {
        let c = &self.crossings;
        let mac = self.mac.counters();
        let (down, up) = self.link.held();
        let held = |layer, taken, passed, held: usize| Account {
            taken,
            passed,
            dropped: self.drops.in_layer(layer),
            held: held as u64,
        };
        Layers {
            radio: Account::default(),
            mac: Account {
                taken: mac.accepted,
                passed: mac.acknowledged + mac.broadcasts,
                dropped: mac.rts_limit_drops + mac.data_limit_drops,
                held: u64::from(self.mac.in_hand().is_some()),
            },
            link: held(
                Layer::Link,
                c.network_to_link + self.link.arp_sent() + c.mac_to_link,
                c.link_to_mac + c.link_to_network + c.arp_received + c.link_given_back,
                down + up,
            ),
            network: held(
                Layer::Network,
                c.originated + c.routing_sent + c.link_to_network + c.given_back,
                c.network_to_link + c.delivered + c.routing_received,
                self.router.held(),
            ),
        }
    }

    /// When [`Node::handle_timeout`] wants to be called.
    pub fn next_timeout(&self, ear: &Ear) -> Option<Time> {
        Time::earlier_of(self.mac.next_timeout(&ear.medium), self.upper_timeout)
    }

    /// The medium has become busy before an access that needed no back-off.
    pub fn handle_access_lost(&mut self, now: Time, ear: &mut Ear) {
        self.mac.handle_access_lost(now, &mut ear.medium);
    }

    /// The ear has heard `frame`, and it is for this node.
    pub fn handle_reception(&mut self, now: Time, frame: &Frame, ear: &mut Ear) {
        self.mac.handle_reception(now, frame, &mut ear.medium, &mut self.scratch.mac);
        if !self.scratch.mac.is_empty() {
            self.perform_mac(now);
            self.refresh_upper();
        }
        self.offer_next(now, ear);
    }

    /// Does what is due at `now`; nothing, and says so, if called early. A frame to radiate, beginning now, is put into `air`:
    /// there is one at most.
    pub fn handle_timeout(&mut self, now: Time, ear: &mut Ear, air: &mut Option<Frame>) -> bool {
        let mac_due = self.mac.handle_timeout(now, &mut ear.medium, air, &mut self.scratch.mac);
        if mac_due {
            if air.is_some() {
                ear.receiver.transmit_started();
            }
            self.perform_mac(now);
        }
        let upper_due = self.upper_timeout.is_some_and(|at| at <= now);
        if upper_due {
            self.upper_layers(now);
            self.refresh_upper();
        }
        self.offer_next(now, ear);
        mac_due || upper_due
    }

    fn upper_layers(&mut self, now: Time) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(self.link.next_timeout()) {
            let mut actions = self.scratch.link.take();
            self.link.handle_timeout(now, &mut actions);
            self.perform_link(now, &mut actions);
            self.scratch.link.give(actions);
        }
        if due(self.router.next_timeout()) {
            let mut actions = self.scratch.route.take();
            self.router.handle_timeout(now, &mut actions);
            self.perform_route(now, &mut actions);
            self.scratch.route.give(actions);
        }
        for index in 0..self.endpoints.len() {
            if due(self.endpoints[index].next_timeout()) {
                let mut bodies = self.scratch.bodies.take();
                let endpoint = &mut self.endpoints[index];
                endpoint.handle_timeout(now, &mut self.scratch.tcp, &mut bodies);
                let (peer, notes) = (endpoint.address.peer, endpoint.notes(now));
                self.originate(peer, notes, &mut bodies);
                self.scratch.bodies.give(bodies);
            }
        }
    }

    fn refresh_upper(&mut self) {
        let mut at = Time::earlier_of(self.link.next_timeout(), self.router.next_timeout());
        for endpoint in &self.endpoints {
            at = Time::earlier_of(at, endpoint.next_timeout());
        }
        self.upper_timeout = at;
    }

    /// Gives the MAC the head of the queue if it has nothing to send.
    fn offer_next(&mut self, now: Time, ear: &mut Ear) {
        if self.mac.is_ready()
            && let Some(msdu) = self.link.dequeue()
        {
            self.crossings.link_to_mac += 1;
            self.mac.handle_packet(now, msdu, &mut ear.medium);
        }
    }

    fn perform_mac(&mut self, now: Time) {
        let mut actions = core::mem::take(&mut self.scratch.mac);
        for action in actions.drain(..) {
            match action {
                mac::Action::Deliver { msdu, from } => {
                    self.crossings.mac_to_link += 1;
                    if matches!(msdu.payload, Payload::Arp(_)) {
                        self.crossings.arp_received += 1;
                    }
                    self.link.handle_received(now, msdu, from);
                }
                mac::Action::GaveUp { msdu, reason } => {
                    self.drops.count(reason);
                    let (Payload::Ipv4(packet), Some(next_hop)) = (msdu.payload, neighbour_ip(msdu.dst)) else {
                        continue;
                    };
                    self.link_failed(now, packet, next_hop, reason);
                    self.refresh_upper();
                }
                mac::Action::Discarded(reason) => self.drops.count(reason),
            }
        }
        self.scratch.mac = actions;
    }

    fn link_failed(&mut self, now: Time, packet: Ipv4Packet, next_hop: Ipv4Addr, reason: DropReason) {
        self.crossings.given_back += 1;
        let mut actions = self.scratch.route.take();
        self.router.handle_link_failure(now, Some(packet), next_hop, reason, &mut actions);
        self.perform_route(now, &mut actions);
        self.scratch.route.give(actions);
    }

    fn perform_link(&mut self, now: Time, actions: &mut Vec<net::Action>) {
        for action in actions.drain(..) {
            match action {
                net::Action::Deliver { packet, from } => {
                    self.crossings.link_to_network += 1;
                    self.handle_packet(now, packet, from);
                }
                net::Action::Drop(reason) => self.drops.count(reason),
                net::Action::Unreachable { packet, next_hop } => {
                    self.crossings.link_given_back += 1;
                    self.link_failed(now, packet, next_hop, DropReason::ArpUnresolved);
                }
            }
        }
    }

    fn perform_route(&mut self, now: Time, actions: &mut Vec<route::Action>) {
        let mut link_actions = self.scratch.link.take();
        for action in actions.drain(..) {
            match action {
                route::Action::Send { packet, next_hop } => {
                    if packet.is_routing() {
                        self.crossings.routing_sent += 1;
                    }
                    self.crossings.network_to_link += 1;
                    self.link.handle_packet(now, packet, next_hop, &mut link_actions);
                }
                route::Action::PurgeQueue { next_hop } => {
                    if let Some(node) = NodeId::from_ipv4(next_hop) {
                        self.link.purge(node.mac(), &mut link_actions);
                    }
                }
                route::Action::Drop { reason, .. } => self.drops.count(reason),
            }
        }
        self.perform_link(now, &mut link_actions);
        self.scratch.link.give(link_actions);
    }

    /// A packet from a neighbour.
    fn handle_packet(&mut self, now: Time, mut packet: Ipv4Packet, from: MacAddr) {
        let meta = &mut packet.meta;
        meta.hops = meta.hops.saturating_add(1);
        if meta.hops == meta.measure_at || (packet.dst == self.addr && meta.hops < meta.measure_at) {
            (meta.forward, meta.forward_hops) = (now - meta.created, meta.hops);
        }
        let mut actions = self.scratch.route.take();
        if packet.is_routing() {
            self.crossings.routing_received += 1;
            let sender = packet.src;
            self.router.handle_message(now, packet, sender, &mut actions);
        } else if packet.dst == self.addr {
            self.deliver(now, packet);
        } else {
            self.router.handle_transit(now, packet, neighbour_ip(from), &mut actions);
        }
        self.perform_route(now, &mut actions);
        self.scratch.route.give(actions);
    }

    fn deliver(&mut self, now: Time, mut packet: Ipv4Packet) {
        match &mut self.modules {
            Some(modules) => modules.handle_incoming(now, &mut packet),
            // Nobody here looks at options.
            None => drop(packet.take_carried()),
        }
        let mut bodies = self.scratch.bodies.take();
        let peer = packet.src;
        let mut notes = PacketMeta { created: now, ..PacketMeta::default() };
        let known = match &packet.body {
            Body::Tcp(segment) => self
                .endpoint(peer, segment.dst_port, Some(segment.src_port), |kind| {
                    matches!(kind, EndpointKind::TcpSender(..) | EndpointKind::TcpReceiver(_))
                })
                .map(|index| {
                    self.tell_path(now, index, &packet, &mut bodies);
                    let endpoint = &mut self.endpoints[index];
                    endpoint.handle_segment(now, segment, &packet.meta, &mut self.scratch.tcp, &mut bodies);
                    notes = endpoint.notes(now);
                }),
            Body::Udp(datagram) => self
                .endpoint(peer, datagram.dst_port, Some(datagram.src_port), |kind| {
                    matches!(kind, EndpointKind::UdpReceiver)
                })
                .map(|index| self.endpoints[index].handle_datagram(datagram)),
            Body::Echo(echo) if echo.reply => self
                .endpoint(peer, echo.ident, None, |kind| matches!(kind, EndpointKind::Pinger(_)))
                .map(|index| self.endpoints[index].handle_echo_reply(now, echo)),
            Body::Echo(echo) => {
                bodies.push(Body::Echo(EchoMessage { reply: true, ..*echo }));
                Some(())
            }
            // Options were taken out above.
            Body::Aodv(_) | Body::Measured(_) => None,
        };
        match known {
            Some(()) => self.crossings.delivered += 1,
            None => self.drops.count(DropReason::NoListener),
        }
        self.originate(peer, notes, &mut bodies);
        self.scratch.bodies.give(bodies);
    }

    /// Tells a TCP sender how many hops its route has and what the interface can do, before the segment in `packet`
    /// arrives: that is when its window can change.
    fn tell_path(&mut self, now: Time, index: usize, packet: &Ipv4Packet, bodies: &mut Vec<Body>) {
        let endpoint = &mut self.endpoints[index];
        if let Some(hints) = endpoint.path_hints() {
            let hops = match hints.hops {
                HopSource::Routing => self.router.hops(endpoint.address.peer),
                HopSource::Ttl => Some(hops_by_ttl(packet.ttl)),
                HopSource::Travelled => Some(packet.meta.hops),
            };
            let path = Path { hops, link_rate: self.mac.config().data_rate };
            endpoint.handle_path(now, path, &mut self.scratch.tcp, bodies);
        }
    }

    fn endpoint(
        &self,
        peer: Ipv4Addr,
        local_port: u16,
        remote_port: Option<u16>,
        kind: impl Fn(&EndpointKind) -> bool,
    ) -> Option<usize> {
        self.endpoints.iter().position(|endpoint| {
            endpoint.address.peer == peer
                && endpoint.address.local_port == local_port
                && (endpoint.takes_any_port() || remote_port.is_none_or(|port| endpoint.address.remote_port == port))
                && kind(&endpoint.kind)
        })
    }

    /// Sends what an endpoint has made.
    fn originate(&mut self, dst: Ipv4Addr, meta: PacketMeta, bodies: &mut Vec<Body>) {
        let now = meta.created;
        for body in bodies.drain(..) {
            self.crossings.originated += 1;
            let mut packet = Ipv4Packet { src: self.addr, dst, ttl: self.ttl, ident: self.next_ident, body, meta };
            if let Some(modules) = &mut self.modules {
                modules.handle_outgoing(now, &mut packet);
            }
            self.next_ident = self.next_ident.wrapping_add(1);
            let mut actions = self.scratch.route.take();
            self.router.handle_outgoing(now, packet, &mut actions);
            self.perform_route(now, &mut actions);
            self.scratch.route.give(actions);
        }
    }

    /// The node's MAC address.
    pub fn mac_addr(&self) -> MacAddr {
        self.mac_addr
    }
}

/// How many hops a packet has travelled that arrives with this time to live, counted from the next of the values that
/// packets begin with (30: ns-2's AODV; 32, 64, 128, 255: operating systems).
fn hops_by_ttl(ttl: u8) -> u8 {
    let first = [30, 32, 64, 128, 255].into_iter().find(|&first| first >= ttl).unwrap_or(u8::MAX);
    (first - ttl).saturating_add(1)
}

/// The address of the neighbour with this MAC address.
fn neighbour_ip(mac: MacAddr) -> Option<Ipv4Addr> {
    mac.node().map(NodeId::ipv4)
}
