//! Nodes with several radios: below a common network layer, each radio has its own MAC and link layer.
//!
//! Each radio has its own MAC and IP addresses and its own channel: two radios of one node never share a channel. The
//! address of a neighbour therefore identifies the channel too, and with it the radio that leads there; routing need
//! say no more. The address of the first radio is that of the node: flows and routes end there.
//!
//! Broadcasts are sent by every radio. A routing message has the address of its radio as source, and a HELLO announces
//! that address (RFC 3561 section 6.14 asks only that the interface be known).
//!
//! The driver gives each radio an [`Ear`] and a timer. Every packet for a radio waits there for the delay of the link
//! layer, whose timer is that of the radio; so the MAC gets packets only in calls that have its ear.
//!
//! Not supported on further radios: early drops, delays for ATP.

use super::buffers::Buffers;
use super::config::SharedConfig;
use super::ear::Ear;
use super::output::Output;
use super::radio::{FIRST, OnChannel, Radio};
use super::stack::Node;
use super::supply::{LinkSupply, lost_to_codel};
use crate::mac::{Dcf, Due};
use crate::net::{self, Addresses, Airtime, Link};
use crate::route::{NextHop, Protocol};
use crate::wire::{AodvMessage, Body, Category, Frame, FrameKind, Ipv4Packet, Msdu, RoutingMessage};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, MacAddr, Stream, Time};
use std::sync::Arc;

impl Node {
    /// Adds a radio. Call it before the first event. `on_channel` are the addresses of all radios that share its
    /// channel.
    pub fn add_radio(
        &mut self,
        addresses: Addresses,
        backoff: Stream,
        config: impl Into<SharedConfig>,
        on_channel: OnChannel,
    ) {
        let (mac, link) = config.into().layers(addresses, backoff);
        self.router.add_interface(addresses.ip);
        self.radios.further.push(Radio { link, mac, addresses, on_channel: Some(on_channel) });
    }

    /// Makes rate control of a radio draw from `random`. Call it before the first event.
    pub fn sample_rates(&mut self, radio: usize, random: Stream) {
        self.mac_of(radio).sample_rates_by(random);
    }

    /// Declares that these stations, sorted by address, support no MCS; all others do. Call it before the first event.
    pub fn know_without_mcs(&mut self, stations: &Arc<[MacAddr]>) {
        for radio in FIRST..self.radios() {
            self.mac_of(radio).know_without_mcs(stations.clone());
        }
    }

    /// Returns the number of radios.
    pub fn radios(&self) -> usize {
        1 + self.radios.further.len()
    }

    /// Returns the MAC of a radio, which must exist, for inspection.
    #[inline(always)]
    pub fn mac_at(&self, radio: usize) -> &Dcf {
        &self.radios.at(radio).mac
    }

    /// Returns the link layer of a radio, likewise.
    #[inline(always)]
    pub fn link_at(&self, radio: usize) -> &Link {
        &self.radios.at(radio).link
    }

    /// Returns the MAC of a radio.
    #[inline(always)]
    pub(super) fn mac_of(&mut self, radio: usize) -> &mut Dcf {
        &mut self.radios.at_mut(radio).mac
    }

    /// Returns the MAC of a radio and its source of further packets.
    #[inline(always)]
    pub(super) fn mac_and_supply<'a>(
        &'a mut self,
        radio: usize,
        outputs: &'a mut Vec<Output>,
    ) -> (&'a mut Dcf, LinkSupply<'a>) {
        let Node { radios, layer_counts, drops, journal, .. } = self;
        let Radio { mac, link, .. } = radios.at_mut(radio);
        (mac, LinkSupply { link, layer_counts, drops, journal, outputs })
    }

    #[inline(always)]
    pub(super) fn link_of(&mut self, radio: usize) -> &mut Link {
        &mut self.radios.at_mut(radio).link
    }

    /// Returns when the layers above the MAC of a radio have something to do: all of them for the first radio, only the
    /// link layer for others.
    pub fn layers_timeout(&self, radio: usize) -> Option<Time> {
        if radio == FIRST { self.upper.first.unless_never() } else { self.link_at(radio).next_timeout() }
    }

    /// [`Node::next_timeout`] for a radio other than the first.
    #[cold]
    pub(super) fn next_further_timeout(&self, radio: usize, ear: &Ear) -> Option<Time> {
        let Radio { mac, link, .. } = self.radios.at(radio);
        let access = ear.access_timeout(mac.medium_rules());
        let layers = Time::earlier_of(link.next_timeout(), mac.next_reorder_timeout());
        Time::earlier_of(Time::earlier_of(mac.exchange_timeout().unless_never(), access), layers)
    }

    /// [`Node::handle_timeout`] for a radio other than the first, after its MAC has handled the timeout.
    #[cold]
    pub(super) fn after_further_mac(
        &mut self,
        now: Time,
        radio: usize,
        mac_due: Due,
        ear: &mut Ear,
        out: &mut Buffers,
    ) -> Due {
        let Radio { mac, link, .. } = self.radios.at(radio);
        let reorder_due = mac.next_reorder_timeout().is_some_and(|at| at <= now);
        let link_due = link.next_timeout().is_some_and(|at| at <= now);
        if mac_due != Due::Nothing {
            self.perform_mac(now, radio, out);
        }
        if reorder_due {
            self.reorder_timeout(now, radio, out);
        }
        if link_due {
            let mut actions = out.link.take();
            self.link_of(radio).handle_timeout(now, &mut actions);
            self.perform_link(now, &mut actions, out);
            out.link.give(actions);
        }
        self.refresh_upper();
        self.offer_next(now, radio, ear, out);
        if mac_due == Due::Nothing && (link_due || reorder_due) { Due::Something } else { mac_due }
    }

    /// Notifies an airtime-fair queue that a frame has arrived.
    pub(super) fn charge_received(&mut self, radio: usize, frame: &Frame) {
        let airtime = Airtime { sent: Dur::ZERO, received: frame.airtime };
        let category = match &frame.kind {
            FrameKind::Aggregate(aggregate) => aggregate.category,
            FrameKind::Data { qos: Some(category), .. } => *category,
            _ => Category::Be,
        };
        self.link_of(radio).charge(frame.src, airtime, category);
    }

    /// Takes the head of an airtime-fair queue, which may drop packets on dequeue.
    pub(super) fn dequeue_fairly(&mut self, now: Time, radio: usize, out: &mut Buffers) -> Option<Msdu> {
        let Node { radios, drops, journal, .. } = self;
        let Radio { mac, link, .. } = radios.at_mut(radio);
        if let Some((neighbour, airtime)) = mac.take_airtime(Category::Be) {
            link.charge(neighbour, Airtime { sent: airtime, received: Dur::ZERO }, Category::Be);
        }
        link.dequeue(now, |msdu| lost_to_codel(msdu, drops, journal, &mut out.outputs))
    }

    /// Removes all packets queued for a neighbour.
    pub(super) fn purge(&mut self, next_hop: Ipv4Addr, out: &mut Vec<net::Action>) {
        let radio = self.radios.towards(next_hop);
        self.link_of(radio).purge(next_hop, out);
    }

    /// Returns the radio that leads to the next hop of a packet. A broadcast is sent by the first, and copies of it by
    /// the others.
    #[cold]
    #[inline(never)]
    pub(super) fn choose_radio(
        &mut self,
        now: Time,
        packet: &mut Ipv4Packet,
        next_hop: NextHop,
        out: &mut Vec<net::Action>,
        outputs: &mut Vec<Output>,
    ) -> usize {
        let own = self.local.transports.addr();
        match next_hop {
            NextHop::Unicast(neighbour) => {
                let radio = self.radios.towards(neighbour);
                if radio != FIRST {
                    readdress(packet, own, self.radios.at(radio).addresses.ip);
                }
                radio
            }
            NextHop::Broadcast => {
                for radio in &mut self.radios.further {
                    let mut copy = packet.clone();
                    readdress(&mut copy, own, radio.addresses.ip);
                    copy.meta.number = 0;
                    self.journal.note_queued(&mut copy, next_hop, outputs);
                    self.layer_counts.copied += 1;
                    self.layer_counts.network_to_link += 1;
                    radio.link.handle_packet(now, copy, next_hop, out);
                }
                FIRST
            }
        }
    }
}

/// Rewrites the addresses of a routing message of this node that leaves by a radio with another address than the
/// node's.
fn readdress(packet: &mut Ipv4Packet, own: Ipv4Addr, radio: Ipv4Addr) {
    if packet.src != own || !packet.is_routing() {
        return;
    }
    packet.src = radio;
    let for_all = packet.is_for_all();
    // A HELLO is an unsolicited reply: its destination is its sender.
    if let Body::Routing(RoutingMessage::Aodv(AodvMessage::Rrep(hello))) = &mut packet.body
        && for_all
    {
        (hello.destination, hello.originator) = (radio, radio);
    }
}
