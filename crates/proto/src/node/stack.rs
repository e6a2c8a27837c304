//! The stack of one node: passes packets and frames between its layers.

use super::account::{Account, Crossings, Drops, Layers};
use super::ear::Ear;
use super::endpoint::Endpoint;
use super::gateway::Gateway;
use super::link_drops::{self, LinkDrops};
use super::transports::Transports;
use crate::ccm;
use crate::drop::{DropReason, Layer};
use crate::mac::{self, Dcf, Due};
use crate::net::{self, Link};
use crate::phy;
use crate::route::{self, Router};
use crate::wire::{Frame, Ipv4Packet, Payload};
use core::net::Ipv4Addr;
use fourhop_units::{MacAddr, NodeId, Purpose, Stream, Time, Watt};

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
pub(super) struct Pool<T>(Vec<Vec<T>>);

impl<T> Pool<T> {
    pub(super) fn take(&mut self) -> Vec<T> {
        self.0.pop().unwrap_or_default()
    }

    pub(super) fn give(&mut self, buffer: Vec<T>) {
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
pub(super) struct Scratch {
    mac: Vec<mac::Action>,
    link: Pool<net::Action>,
    pub(super) route: Pool<route::Action>,
    packets: Pool<Ipv4Packet>,
}

/// A node.
///
/// The driver tells the node's [`Ear`] of every copy of a frame, the node what the ear asks it to
/// ([`Node::handle_access_lost`], [`Node::handle_reception`]), and calls [`Node::handle_timeout`] at
/// [`Node::next_timeout`]; each may change `next_timeout`.
/// `ear` is always the one of this node.
#[derive(Debug)]
pub struct Node {
    mac_addr: MacAddr,
    mac: Dcf,
    link: Link,
    pub(super) router: Router,
    pub(super) transports: Transports,
    /// Between the transports and the network layer, at a node that takes part in C3TCP.
    modules: Option<Box<ccm::Modules>>,
    /// Its wired side, if it has one.
    pub(super) gateway: Option<Box<Gateway>>,
    pub(super) drops: Drops,
    crossings: Crossings,
    link_drops: Vec<LinkDrops>,
    /// Earliest timer of the layers above the MAC.
    upper_timeout: Option<Time>,
    pub(super) scratch: Scratch,
}

impl Node {
    /// A node with nothing to do; its random numbers are the streams of (`seed`, `id`).
    pub fn new(id: NodeId, seed: u64, config: &Config, router: Router) -> Node {
        let (addr, mac_addr) = (id.ipv4(), id.mac());
        Node {
            mac_addr,
            mac: Dcf::new(mac_addr, config.mac, Stream::new(seed, id, Purpose::Backoff)),
            link: Link::new(mac_addr, addr, config.link),
            upper_timeout: router.next_timeout(),
            router,
            transports: Transports::new(addr, config.ttl, config.mac.data_rate),
            modules: None,
            gateway: None,
            drops: Drops::default(),
            crossings: Crossings::default(),
            link_drops: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Adds one end of a flow; returns its place among [`Node::endpoints`].
    pub fn add_endpoint(&mut self, endpoint: Endpoint) -> usize {
        let place = self.transports.add(endpoint);
        self.refresh_upper();
        place
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
        self.transports.endpoints()
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

    /// Packets the MAC gave up, by neighbour.
    pub fn link_drops(&self) -> &[LinkDrops] {
        &self.link_drops
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
        let (from_wires, to_wires, crossing) =
            self.gateway.as_ref().map_or((0, 0, 0), |gateway| (gateway.received, gateway.sent, gateway.held()));
        let held = |layer, taken, passed, held: usize| Account {
            taken,
            passed,
            dropped: self.drops.in_layer(layer),
            held: held as u64,
        };
        let (absorbed, emitted) = self.modules.as_ref().map(|modules| modules.balance()).unwrap_or_default();
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
                self.transports.originated() + c.routing_sent + c.link_to_network + c.given_back + from_wires + emitted,
                c.network_to_link + c.delivered + c.routing_received + to_wires + absorbed,
                self.router.held() + crossing,
            ),
            wire: Account::default(),
        }
    }

    /// When [`Node::handle_timeout`] wants to be called.
    #[inline(always)]
    pub fn next_timeout(&self, ear: &Ear) -> Option<Time> {
        Time::earlier_of(self.mac.next_timeout(&ear.medium), self.upper_timeout)
    }

    /// The medium has become busy before an access that needed no back-off.
    pub fn handle_access_lost(&mut self, now: Time, ear: &mut Ear) {
        self.mac.handle_access_lost(now, &mut ear.medium);
    }

    /// The ear has heard `frame` with this power, and it is for this node.
    // Several functions of the driver call these three; left to itself the compiler then inlines them in none.
    #[inline(always)]
    pub fn handle_reception(&mut self, now: Time, frame: &Frame, power: Watt, ear: &mut Ear) {
        self.mac.handle_reception(now, frame, &mut ear.medium, &mut self.scratch.mac);
        if !self.scratch.mac.is_empty() {
            if self.router.wants_signals() {
                self.tell_signal(power);
            }
            self.perform_mac(now);
            self.refresh_upper();
        }
        self.offer_next(now, ear);
    }

    /// Tells routing how strongly the routing message that goes up was received.
    fn tell_signal(&mut self, power: Watt) {
        for action in &self.scratch.mac {
            if let mac::Action::Deliver { msdu, .. } = action
                && let Payload::Ipv4(packet) = &msdu.payload
                && packet.is_routing()
            {
                self.router.handle_signal(packet.src, power.to_dbm());
            }
        }
    }

    /// Does what is due at `now`; nothing if called early. A frame to radiate, beginning now, is put into `air`: there is one
    /// at most. Without one, what was there stays.
    #[inline(always)]
    pub fn handle_timeout(&mut self, now: Time, ear: &mut Ear, air: &mut Option<Frame>) -> Due {
        let mac_due = self.mac.handle_timeout(now, &mut ear.medium, air, &mut self.scratch.mac);
        if mac_due != Due::Nothing {
            if mac_due == Due::Frame {
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
        if mac_due == Due::Nothing && upper_due { Due::Something } else { mac_due }
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
        if self.gateway.as_ref().is_some_and(|gateway| due(gateway.next_timeout())) {
            self.crossing_timeout(now);
        }
        if self.modules.as_ref().is_some_and(|modules| due(modules.next_timeout())) {
            self.modules_timeout(now);
        }
        let mut made = self.scratch.packets.take();
        self.transports.handle_timeout(now, &mut made);
        self.send_made(now, &mut made);
        self.scratch.packets.give(made);
    }

    pub(super) fn refresh_upper(&mut self) {
        let mut at = Time::earlier_of(self.link.next_timeout(), self.router.next_timeout());
        at = Time::earlier_of(at, self.transports.next_timeout());
        if let Some(gateway) = &self.gateway {
            at = Time::earlier_of(at, gateway.next_timeout());
        }
        if let Some(modules) = &self.modules {
            at = Time::earlier_of(at, modules.next_timeout());
        }
        self.upper_timeout = at;
    }

    /// Gives the MAC the head of the queue if it has nothing to send.
    #[inline(always)]
    pub(super) fn offer_next(&mut self, now: Time, ear: &mut Ear) {
        if self.mac.is_ready()
            && let Some(msdu) = self.link.dequeue()
        {
            self.crossings.link_to_mac += 1;
            self.mac.handle_packet(now, msdu, &mut ear.medium);
            if self.gateway.is_some() {
                self.crossing_backlog(now);
            }
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
                    link_drops::count(&mut self.link_drops, &msdu);
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

    pub(super) fn perform_route(&mut self, now: Time, actions: &mut Vec<route::Action>) {
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
                // Nobody mirrors the routes of a node that forwards by itself.
                route::Action::RouteUp { .. } | route::Action::RouteDown { .. } => {}
            }
        }
        self.perform_link(now, &mut link_actions);
        self.scratch.link.give(link_actions);
    }

    /// A packet from a neighbour.
    fn handle_packet(&mut self, now: Time, mut packet: Ipv4Packet, from: MacAddr) {
        let leaves = self.leads_out(packet.dst);
        let ends = leaves || packet.dst == self.transports.addr();
        let meta = &mut packet.meta;
        meta.hops = meta.hops.saturating_add(1);
        if meta.hops == meta.measure_at || (ends && meta.hops < meta.measure_at) {
            (meta.forward, meta.forward_hops) = (now - meta.created, meta.hops);
        }
        if ends && !self.end_options(now, leaves, &mut packet) {
            return;
        }
        let mut actions = self.scratch.route.take();
        if packet.is_routing() {
            self.crossings.routing_received += 1;
            let sender = packet.src;
            self.router.handle_message(now, packet, sender, &mut actions);
        } else if leaves {
            self.leave_mesh(now, packet, from);
        } else if ends {
            self.deliver(now, &packet);
        } else {
            self.router.handle_transit(now, packet, neighbour_ip(from), &mut actions);
        }
        self.perform_route(now, &mut actions);
        self.scratch.route.give(actions);
    }

    /// A packet has come to the end of its way over radios: its options go to the module of its connection, if that is here.
    /// False if the module keeps the packet.
    fn end_options(&mut self, now: Time, leaves: bool, packet: &mut Ipv4Packet) -> bool {
        match &mut self.modules {
            Some(modules) if !leaves => modules.handle_incoming(now, packet),
            _ => {
                packet.take_carried();
                true
            }
        }
    }

    /// What modules that acknowledge by themselves have to send and to deliver.
    fn modules_timeout(&mut self, now: Time) {
        let Some(modules) = &mut self.modules else { return };
        let mut packets = ccm::table::Packets::default();
        modules.handle_timeout(now, &mut packets);
        for packet in packets.down {
            self.route(now, packet);
        }
        for packet in packets.up {
            self.deliver(now, &packet);
        }
    }

    fn route(&mut self, now: Time, packet: Ipv4Packet) {
        let mut actions = self.scratch.route.take();
        self.router.handle_outgoing(now, packet, &mut actions);
        self.perform_route(now, &mut actions);
        self.scratch.route.give(actions);
    }

    pub(super) fn deliver(&mut self, now: Time, packet: &Ipv4Packet) {
        let mut made = self.scratch.packets.take();
        match self.transports.handle_packet(now, packet, |peer| self.router.hops(peer), &mut made) {
            Ok(()) => self.crossings.delivered += 1,
            Err(reason) => self.drops.count(reason),
        }
        self.send_made(now, &mut made);
        self.scratch.packets.give(made);
    }

    /// Sends what the transports have made.
    fn send_made(&mut self, now: Time, made: &mut Vec<Ipv4Packet>) {
        for mut packet in made.drain(..) {
            if self.leads_out(packet.dst) {
                self.send_wired(packet);
                continue;
            }
            if let Some(modules) = &mut self.modules
                && !modules.handle_outgoing(now, &mut packet)
            {
                continue;
            }
            self.route(now, packet);
        }
    }

    /// The node's MAC address.
    pub fn mac_addr(&self) -> MacAddr {
        self.mac_addr
    }
}

/// The address of the neighbour with this MAC address.
pub(super) fn neighbour_ip(mac: MacAddr) -> Option<Ipv4Addr> {
    mac.node().map(NodeId::ipv4)
}
