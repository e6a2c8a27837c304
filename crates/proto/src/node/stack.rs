//! The stack of a node: passes packets and frames between its layers. Packets at IP are handled in `network`.

use super::account::{Drops, LayerCounts};
use super::buffers::{Buffers, in_order};
use super::config::SharedConfig;
use super::ear::Ear;
use super::early::EarlyDrops;
use super::endpoint::{Endpoint, Interface};
use super::journal::{Journal, Step};
use super::link_drops::{self, LinkDrops};
use super::local::Local;
use super::output::Output;
use super::processor::Processor;
use super::radio::{FIRST, Radio, Radios};
use super::transports::Transports;
use super::upper::{LINK, REORDERING, ROUTER, TRANSPORTS, UpperTimers};
use super::wired_side::WiredSide;
use crate::atp;
use crate::ccm;
use crate::drop::DropReason;
use crate::mac::{self, Dcf, Due};
use crate::net::{self, Addresses, Link};
use crate::route::{self, Protocol, Router};
use crate::wire::{Category, Frame, Ipv4Packet, Msdu, Payload};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, MacAddr, Stream, Time, Watt};

/// A node.
///
/// The driver reports every copy of a frame to the node's [`Ear`], calls the node when the ear asks for it
/// ([`Node::handle_access_lost`], [`Node::handle_reception`]), and calls [`Node::handle_timeout`] at
/// [`Node::next_timeout`]. Packets enter by [`Node::handle_local`] from an outside host that is
/// [attached](Node::attach), and by [`Node::handle_wired`] from wires; packets for either are returned as
/// [`Output`](super::Output) in the [`Buffers`] that the driver lends. Each `handle_*` may change `next_timeout`. `ear`
/// is always the one of this node.
// Field order is memory order: fields touched by every event come first, in few cache lines.
#[derive(Debug)]
#[repr(C)]
pub struct Node {
    pub(super) upper: UpperTimers,
    pub(super) router: Router,
    pub(super) layer_counts: LayerCounts,
    /// Early drops between the link layer and the MAC, if any.
    pub(super) early: Option<Box<EarlyDrops>>,
    /// Between the transports and the network layer, on a node that takes part in C3TCP.
    pub(super) modules: Option<Box<ccm::Modules>>,
    /// Delays for ATP, on a node that reports them.
    meter: Option<Box<atp::Meter>>,
    /// Its processor, if packet processing takes time.
    processor: Option<Box<Processor>>,
    /// Its wired side, if it is a gateway.
    pub(super) wired: Option<Box<WiredSide>>,
    /// Notes on its packets.
    pub(super) journal: Journal,
    pub(super) radios: Radios,
    pub(super) local: Local,
    link_drops: Vec<LinkDrops>,
    pub(super) drops: Drops,
}

impl Node {
    /// Creates a node with nothing to do. `backoff` is the source of its random back-offs.
    pub fn new(addresses: Addresses, backoff: Stream, config: impl Into<SharedConfig>, router: Router) -> Node {
        let ip = addresses.ip;
        let config = config.into();
        let (data_rate, ttl) = (config.mac.data_rate, config.ttl);
        let (dcf, link) = config.layers(addresses, backoff);
        Node {
            upper: UpperTimers::new(router.next_timeout()),
            radios: Radios::new(Radio { link, mac: dcf, addresses, on_channel: None }),
            early: None,
            router,
            local: Local::new(Transports::new(ip, ttl, Interface::Radio(data_rate))),
            modules: None,
            meter: None,
            processor: None,
            wired: None,
            drops: Drops::default(),
            layer_counts: LayerCounts::default(),
            link_drops: Vec::new(),
            journal: Journal::default(),
        }
    }

    /// Adds one end of a flow; returns its index in [`Node::endpoints`].
    pub fn add_endpoint(&mut self, endpoint: Endpoint) -> usize {
        let place = self.local.transports.add(endpoint);
        self.upper.stale[TRANSPORTS] = true;
        self.refresh_upper();
        place
    }

    /// Attaches an outside host: from now on, packets for this node that no flow here accepts are delivered to it.
    pub fn attach(&mut self) {
        self.local.attached = true;
    }

    /// Gives the node a wired side, which makes it a gateway.
    pub fn add_wired_side(&mut self, wired: WiredSide) {
        self.wired = Some(Box::new(wired));
        self.upper.has_rest = true;
        self.refresh_upper();
    }

    /// Returns its wired side, if any, for inspection.
    pub fn wired_side(&self) -> Option<&WiredSide> {
        self.wired.as_deref()
    }

    /// Makes the node take part in C3TCP, below its transports. Call it before the first event.
    pub fn add_modules(&mut self, options: ccm::Options) {
        self.modules = Some(Box::new(ccm::Modules::new(options)));
        self.upper.has_rest = true;
    }

    /// Makes the node write into ATP packets how long they take here. Call it before the first event.
    pub fn add_meter(&mut self, config: atp::Config) {
        self.meter = Some(Box::new(atp::Meter::new(config)));
    }

    /// Makes its processor take `cost` for each packet sent or forwarded. Call it before the first event.
    pub fn add_processor(&mut self, cost: Dur) {
        self.processor = Some(Box::new(Processor::new(cost)));
    }

    /// Makes the node record what happens to its packets and routes ([`Output::Noted`](super::Output::Noted),
    /// [`Output::Route`](super::Output::Route)). Packets that it sees first are numbered `first`, `first + step` and so
    /// on. Call it before the first event.
    pub fn record(&mut self, first: u32, step: u32) {
        self.journal.begin(first, step);
    }

    /// Returns its C3TCP modules, for inspection.
    pub fn modules(&self) -> Option<&ccm::Modules> {
        self.modules.as_deref()
    }

    /// Returns the ends of flows at this node.
    pub fn endpoints(&self) -> &[Endpoint] {
        self.local.transports.endpoints()
    }

    /// Returns the MAC of its first radio, for inspection.
    pub fn mac(&self) -> &Dcf {
        self.mac_at(FIRST)
    }

    /// Returns the link layer of its first radio, for inspection.
    pub fn link(&self) -> &Link {
        self.link_at(FIRST)
    }

    /// Returns the router, for inspection.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Returns the packets given up by the MAC, by neighbour.
    pub fn link_drops(&self) -> &[LinkDrops] {
        &self.link_drops
    }

    /// Returns the losses so far, except those of its ear.
    pub fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Returns when [`Node::handle_timeout`] must be called.
    #[inline(always)]
    pub fn next_timeout(&self, radio: usize, ear: &Ear) -> Option<Time> {
        if radio != FIRST {
            return self.next_further_timeout(radio, ear);
        }
        let mac = self.mac_at(FIRST);
        let access = ear.access_timeout(mac.medium_rules());
        Time::earlier_of(mac.exchange_timeout().min(self.upper.first).unless_never(), access)
    }

    /// Whether [`Node::handle_timeout`] has nothing to do at `now`. True only where this is cheap to decide: the ear's
    /// own receiver senses something, so that no access to the medium is due; the timers of all layers are later; and
    /// the MAC does not ask for a packet. It was then offered any packet after the previous event.
    #[inline(always)]
    pub fn is_called_in_vain(&self, now: Time, ear: &Ear) -> bool {
        let mac = self.mac_at(FIRST);
        ear.is_occupied(now) && mac.exchange_timeout() > now && self.upper.first > now && !mac.is_ready()
    }

    /// The medium has become busy before an access that needed no back-off.
    #[inline]
    pub fn handle_access_lost(&mut self, now: Time, radio: usize, ear: &mut Ear) {
        self.mac_of(radio).handle_access_lost(now, &mut ear.medium);
    }

    /// The ear of a radio has received `frame` at this power, and it is for this node.
    // Several driver functions call those that are `inline(always)`; left to itself, the compiler inlines them in none.
    #[inline(always)]
    pub fn handle_reception(
        &mut self,
        now: Time,
        radio: usize,
        (frame, power): (&Frame, Watt),
        ear: &mut Ear,
        out: &mut Buffers,
    ) {
        self.mac_of(radio).handle_reception(now, frame, ear.arrived(), &mut ear.medium, &mut out.mac);
        let aggregates = self.mac_at(radio).aggregates();
        // A reordering buffer may have started or stopped waiting.
        self.upper.stale[REORDERING] |= aggregates;
        if !out.mac.is_empty() {
            if self.link_at(radio).counts_airtime() && !frame.dst.is_broadcast() {
                self.charge_received(radio, frame);
            }
            if self.router.watches_links() {
                self.report_link(now, radio, power, out);
            }
            self.perform_mac(now, radio, out);
            self.refresh_upper();
        } else if aggregates {
            self.refresh_upper();
        }
        self.offer_next(now, radio, ear, out);
    }

    /// Handles a packet from the outside host. Its time to live is set by the host; a broadcast goes to all neighbours.
    pub fn handle_local(&mut self, now: Time, packet: Ipv4Packet, ear: &mut Ear, out: &mut Buffers) {
        ear.catch_up(now, None, self.mac_at(FIRST).medium_rules());
        self.local.taken += 1;
        self.send(now, packet, out);
        self.refresh_upper();
        self.offer_next(now, FIRST, ear, out);
    }

    /// Reports to routing the signal strength of an arriving routing message, and the rate of data in the reverse
    /// direction.
    fn report_link(&mut self, now: Time, radio: usize, power: Watt, out: &Buffers) {
        for action in &out.mac {
            if let mac::Action::Deliver { msdu, from } = action
                && let Payload::Ipv4(packet) = &msdu.payload
                && packet.is_routing()
            {
                self.router.handle_signal(packet.src, power.to_dbm());
                let rate = self.mac_at(radio).rate_to(*from);
                self.router.handle_rate(now, packet.src, rate);
            }
        }
    }

    /// Does what is due at `now`; nothing if called early. Puts at most one frame, to be radiated from now on, into
    /// `air`; without a frame, `air` is left as it was.
    #[inline(always)]
    pub fn handle_timeout(
        &mut self,
        now: Time,
        radio: usize,
        ear: &mut Ear,
        air: &mut Option<Frame>,
        out: &mut Buffers,
    ) -> Due {
        ear.catch_up(now, None, self.mac_at(radio).medium_rules());
        let (mac, mut supply) = self.mac_and_supply(radio, &mut out.outputs);
        let mac_due = mac.handle_timeout(now, &mut ear.medium, air, &mut supply, &mut out.mac);
        if mac_due == Due::Frame {
            ear.transmit_started();
        }
        if radio != FIRST {
            return self.after_further_mac(now, radio, mac_due, ear, out);
        }
        if mac_due != Due::Nothing && !out.mac.is_empty() {
            self.perform_mac(now, FIRST, out);
        }
        let upper_due = self.upper.first <= now;
        if upper_due {
            if self.early.is_some() {
                self.look_at_medium(now, ear, out);
            }
            self.upper_layers(now, out);
            self.refresh_upper();
        }
        self.offer_next(now, FIRST, ear, out);
        if mac_due == Due::Nothing && upper_due { Due::Something } else { mac_due }
    }

    /// Gives the MAC of a radio the head of the queue if it has nothing to send.
    #[inline(always)]
    pub(super) fn offer_next(&mut self, now: Time, radio: usize, ear: &mut Ear, out: &mut Buffers) {
        if self.mac_at(radio).has_categories() {
            return self.offer_of_categories(now, radio, ear, out);
        }
        if !self.mac_of(radio).is_ready() {
            return;
        }
        if let Some(mut msdu) = self.next_for_mac(now, radio, out) {
            self.layer_counts.link_to_mac += 1;
            if let Payload::Ipv4(packet) = &mut msdu.payload {
                self.journal.note(packet, Step::Head, &mut out.outputs);
            }
            self.mac_of(radio).handle_packet(now, Category::default(), msdu, &mut ear.medium);
            if self.wired.is_some() {
                self.report_backlog(now, out);
            }
        } else if self.mac_at(radio).aggregates() {
            self.go_on_with_aggregates(now, radio, ear, out);
        }
    }

    /// Nothing is queued for a MAC that sends aggregates: it continues with its leftovers, and it has emptied the queue
    /// that the gateway fills.
    #[inline(never)]
    fn go_on_with_aggregates(&mut self, now: Time, radio: usize, ear: &mut Ear, out: &mut Buffers) {
        if self.mac_at(radio).has_unsent(Category::default()) {
            self.mac_of(radio).resume(now, Category::default(), &mut ear.medium);
        }
        if self.wired.is_some() {
            self.report_backlog(now, out);
        }
    }

    /// Reports to the wired side how many packets are queued for radios.
    pub(super) fn report_backlog(&mut self, now: Time, out: &mut Buffers) {
        let waiting = (FIRST..self.radios()).map(|radio| self.link_at(radio).queue_len()).sum();
        self.with_wired(now, out, |wired, actions| wired.handle_backlog(now, waiting, actions));
        self.refresh_upper();
    }

    /// Returns the first packet of the queue that is not dropped early.
    #[inline(always)]
    fn next_for_mac(&mut self, now: Time, radio: usize, out: &mut Buffers) -> Option<Msdu> {
        if radio != FIRST {
            return self.dequeue(now, radio, out);
        }
        if let Some(meter) = &mut self.meter {
            meter.handle_free(now);
        }
        let mut msdu = self.dequeue(now, FIRST, out)?;
        if self.early.is_some() {
            while let Some(reason) = self.early_drop(now, &mut msdu) {
                self.drops.count(reason);
                if let Payload::Ipv4(mut packet) = msdu.payload {
                    self.journal.note(&mut packet, Step::Dropped(reason), &mut out.outputs);
                    self.local.report_lost(packet, reason, &mut out.outputs);
                }
                msdu = self.dequeue(now, FIRST, out)?;
            }
        }
        if let Some(meter) = &mut self.meter {
            meter.handle_departure(now, &mut msdu, |msdu| self.radios.at(FIRST).mac.config().unhindered(msdu));
        }
        Some(msdu)
    }

    /// Returns the head of the queue of a radio.
    #[inline(always)]
    fn dequeue(&mut self, now: Time, radio: usize, out: &mut Buffers) -> Option<Msdu> {
        match self.link_at(radio).counts_airtime() {
            true => self.dequeue_fairly(now, radio, out),
            false => self.link_of(radio).dequeue(now, drop),
        }
    }

    pub(super) fn perform_mac(&mut self, now: Time, radio: usize, out: &mut Buffers) {
        if out.mac.is_empty() {
            return;
        }
        let mut actions = core::mem::take(&mut out.mac);
        for action in in_order(&mut actions) {
            match action {
                mac::Action::Deliver { msdu: Msdu { payload: Payload::Foreign(frame), .. }, .. } => {
                    out.outputs.push(Output::Frame(frame));
                }
                mac::Action::GaveUp { msdu: Msdu { payload: Payload::Foreign(frame), .. }, .. } => {
                    out.outputs.push(Output::Done { frame, lost: true });
                }
                mac::Action::Sent(frame) => out.outputs.push(Output::Done { frame, lost: false }),
                mac::Action::Deliver { msdu, from } => {
                    self.layer_counts.mac_to_link += 1;
                    self.count_carried(&msdu);
                    if matches!(msdu.payload, Payload::Arp(_)) {
                        self.layer_counts.arp_received += 1;
                    }
                    self.link_of(radio).handle_received(now, msdu, from);
                    self.upper.stale[LINK] = true;
                }
                mac::Action::GaveUp { msdu, reason } => {
                    self.drops.count(reason);
                    link_drops::count(&mut self.link_drops, &msdu);
                    let next_hop = self.link_at(radio).neighbour_ip(msdu.dst);
                    let Payload::Ipv4(mut packet) = msdu.payload else { continue };
                    let Some(next_hop) = next_hop else {
                        self.journal.note(&mut packet, Step::Dropped(reason), &mut out.outputs);
                        self.local.report_lost(packet, reason, &mut out.outputs);
                        continue;
                    };
                    self.link_failed(now, packet, next_hop, reason, out);
                    self.refresh_upper();
                }
                mac::Action::Discarded(reason) => self.drops.count(reason),
            }
        }
        out.mac = actions;
    }

    fn link_failed(
        &mut self,
        now: Time,
        mut packet: Ipv4Packet,
        next_hop: Ipv4Addr,
        reason: DropReason,
        out: &mut Buffers,
    ) {
        self.layer_counts.given_back += 1;
        self.journal.note(&mut packet, Step::Failed(reason), &mut out.outputs);
        self.with_router(now, out, |router, actions| {
            router.handle_link_failure(now, Some(packet), next_hop, reason, actions);
        });
    }

    /// Makes the MAC deliver packets that have waited too long for missing ones.
    pub(super) fn reorder_timeout(&mut self, now: Time, radio: usize, out: &mut Buffers) {
        self.mac_of(radio).handle_reorder_timeout(now, &mut out.mac);
        self.perform_mac(now, radio, out);
    }

    pub(super) fn perform_link(&mut self, now: Time, actions: &mut Vec<net::Action>, out: &mut Buffers) {
        for action in in_order(actions) {
            match action {
                net::Action::Deliver { packet, from } => {
                    self.layer_counts.link_to_network += 1;
                    self.handle_packet(now, packet, from, out);
                }
                net::Action::Drop { payload, reason } => {
                    self.drops.count(reason);
                    if let Payload::Ipv4(mut packet) = payload {
                        self.journal.note(&mut packet, Step::Dropped(reason), &mut out.outputs);
                        self.local.report_lost(packet, reason, &mut out.outputs);
                    }
                }
                net::Action::Unreachable { packet, next_hop } => {
                    self.layer_counts.link_given_back += 1;
                    self.link_failed(now, packet, next_hop, DropReason::ArpUnresolved, out);
                }
            }
        }
    }

    /// Calls the router and performs the actions it requests.
    pub(super) fn with_router(
        &mut self,
        now: Time,
        out: &mut Buffers,
        call: impl FnOnce(&mut Router, &mut Vec<route::Action>),
    ) {
        let mut actions = out.route.take();
        call(&mut self.router, &mut actions);
        self.upper.stale[ROUTER] = true;
        if actions.is_empty() {
            return out.route.give(actions);
        }
        self.upper.stale[LINK] = true;
        let mut link_actions = out.link.take();
        for action in in_order(&mut actions) {
            match action {
                route::Action::Send { mut packet, next_hop } => {
                    if packet.is_routing() {
                        self.layer_counts.routing_sent += 1;
                        if self.mac_at(FIRST).has_categories() {
                            packet.dscp = Ipv4Packet::CS6;
                        }
                    }
                    self.journal.note_queued(&mut packet, next_hop, &mut out.outputs);
                    self.layer_counts.network_to_link += 1;
                    let radio = match self.radios.further.is_empty() {
                        true => FIRST,
                        false => self.choose_radio(now, &mut packet, next_hop, &mut link_actions, &mut out.outputs),
                    };
                    let Some(ready) = self.processed(now) else {
                        let (payload, reason) = (Payload::Ipv4(packet), DropReason::ProcessorBusy);
                        link_actions.push(net::Action::Drop { payload, reason });
                        continue;
                    };
                    self.link_of(radio).handle_packet(ready, packet, next_hop, &mut link_actions);
                }
                route::Action::PurgeQueue { next_hop } => self.purge(next_hop, &mut link_actions),
                route::Action::Drop { mut packet, reason } => {
                    self.drops.count(reason);
                    self.journal.note(&mut packet, Step::Dropped(reason), &mut out.outputs);
                    self.local.report_lost(packet, reason, &mut out.outputs);
                }
                // Only recorders ask for these: nothing mirrors the routes of a node that forwards by itself.
                route::Action::RouteUp { destination, next_hop, hops, .. } => {
                    self.journal.route(destination, Some((next_hop, hops)), &mut out.outputs);
                }
                route::Action::RouteDown { destination } => self.journal.route(destination, None, &mut out.outputs),
            }
        }
        self.perform_link(now, &mut link_actions, out);
        out.link.give(link_actions);
        out.route.give(actions);
    }

    /// Returns when the processor has finished a packet that arrives now; `None` if too many wait for it.
    #[inline(always)]
    fn processed(&mut self, now: Time) -> Option<Time> {
        match &mut self.processor {
            None => Some(now),
            Some(processor) => processor.take(now).map(|work| now + work),
        }
    }

    /// Returns the MAC address of its first radio.
    pub fn mac_addr(&self) -> MacAddr {
        self.radios.at(FIRST).addresses.mac
    }
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod tests;
