//! IP at a node: dispatches packets from neighbours, from above and from wires.

use super::buffers::{Buffers, in_order};
use super::ear::Ear;
use super::journal::{self, Step};
use super::radio::FIRST;
use super::stack::Node;
use super::upper::{ROUTER, TRANSPORTS};
use super::wired_side::WiredSide;
use crate::ccm;
use crate::gateway::{Action, Side};
use crate::route::{self, NextHop, Protocol};
use crate::wire::Ipv4Packet;
use fourhop_units::{MacAddr, Time};

impl Node {
    /// Handles a packet that has arrived by wire; only a gateway receives any.
    pub fn handle_wired(&mut self, now: Time, mut packet: Ipv4Packet, ear: &mut Ear, out: &mut Buffers) {
        ear.catch_up(now, None, self.mac_at(FIRST).medium_rules());
        let Some(wired) = &mut self.wired else { return };
        wired.ports.received += 1;
        let stays_wired = wired.leads_to(packet.dst);
        if packet.dst == self.local.transports.addr() {
            self.deliver(now, packet, out);
        } else if let Err(reason) = packet.decrement_ttl() {
            self.drops.count(reason);
            self.journal.note(&mut packet, Step::Dropped(reason), &mut out.outputs);
            self.local.report_lost(packet, reason, &mut out.outputs);
        } else if stays_wired {
            self.send_wired(packet, out);
        } else {
            self.cross(now, Side::Wired, packet, out);
        }
        self.refresh_upper();
        self.offer_next(now, FIRST, ear, out);
    }

    /// Handles a packet from a neighbour.
    pub(super) fn handle_packet(&mut self, now: Time, mut packet: Ipv4Packet, from: MacAddr, out: &mut Buffers) {
        let leaves = self.leaves_by_wire(&packet);
        let ends = leaves || packet.dst == self.local.transports.addr();
        let meta = &mut packet.meta;
        meta.hops = meta.hops.saturating_add(1);
        if meta.hops == meta.measure_at || (ends && meta.hops < meta.measure_at) {
            (meta.forward, meta.forward_hops) = (now - meta.created, meta.hops);
        }
        if self.journal.is_kept() {
            let from = self.radios.neighbour_ip(from);
            self.journal.note(&mut packet, Step::Received(from), &mut out.outputs);
        }
        if ends && !self.end_options(now, leaves, &mut packet) {
            self.journal.note(&mut packet, Step::Absorbed, &mut out.outputs);
            return;
        }
        if packet.is_routing() {
            self.layer_counts.routing_received += 1;
            self.journal.note(&mut packet, Step::Delivered, &mut out.outputs);
            let sender = packet.src;
            self.with_router(now, out, |router, actions| router.handle_message(now, packet, sender, actions));
        } else if leaves {
            self.leave_mesh(now, packet, from, out);
        } else if ends || packet.is_for_all() {
            if !self.take_notification(now, &mut packet, out) {
                self.deliver(now, packet, out);
            }
        } else {
            let from = self.radios.neighbour_ip(from);
            self.with_router(now, out, |router, actions| router.handle_transit(now, packet, from, actions));
        }
    }

    fn leaves_by_wire(&self, packet: &Ipv4Packet) -> bool {
        self.wired.as_ref().is_some_and(|wired| wired.leads_to(packet.dst))
    }

    /// Handles the end of a packet's path over radios: its options go to the module of its connection, if that is here.
    /// Returns false if the module keeps the packet.
    fn end_options(&mut self, now: Time, leaves: bool, packet: &mut Ipv4Packet) -> bool {
        match &mut self.modules {
            Some(modules) if !leaves => modules.handle_incoming(now, packet),
            _ => {
                packet.take_carried();
                true
            }
        }
    }

    /// Sends and delivers the segments of acknowledging modules.
    pub(super) fn modules_timeout(&mut self, now: Time, out: &mut Buffers) {
        let Some(modules) = &mut self.modules else { return };
        let mut packets = ccm::table::Packets::default();
        modules.handle_timeout(now, &mut packets);
        for mut packet in packets.down {
            self.journal.note(&mut packet, Step::Emitted, &mut out.outputs);
            self.route(now, packet, out);
        }
        for mut packet in packets.up {
            self.journal.note(&mut packet, Step::Emitted, &mut out.outputs);
            self.deliver(now, packet, out);
        }
    }

    fn deliver(&mut self, now: Time, mut packet: Ipv4Packet, out: &mut Buffers) {
        self.journal.note(&mut packet, Step::Delivered, &mut out.outputs);
        let place = out.outputs.len();
        let mut made = out.packets.take();
        if let Err(reason) = self.local.deliver(now, packet, |peer| self.router.hops(peer), &mut made, &mut out.outputs)
        {
            self.drops.count(reason);
            // Only now is it known whether anything listens.
            journal::revise(&mut out.outputs[..place], reason);
        }
        self.upper.stale[TRANSPORTS] = true;
        self.send_made(now, &mut made, out);
        out.packets.give(made);
    }

    /// Sends packets created by the transports.
    pub(super) fn send_made(&mut self, now: Time, made: &mut Vec<Ipv4Packet>, out: &mut Buffers) {
        for packet in in_order(made) {
            self.send(now, packet, out);
        }
    }

    /// Sends a packet that originates at this node.
    pub(super) fn send(&mut self, now: Time, mut packet: Ipv4Packet, out: &mut Buffers) {
        self.journal.note(&mut packet, Step::Created, &mut out.outputs);
        if self.leaves_by_wire(&packet) {
            return self.send_wired(packet, out);
        }
        if let Some(modules) = &mut self.modules
            && !modules.handle_outgoing(now, &mut packet)
        {
            self.journal.note(&mut packet, Step::Absorbed, &mut out.outputs);
            return;
        }
        self.route(now, packet, out);
    }

    fn route(&mut self, now: Time, packet: Ipv4Packet, out: &mut Buffers) {
        self.with_router(now, out, |router, actions| {
            if packet.is_for_all() {
                actions.push(route::Action::Send { packet, next_hop: NextHop::Broadcast });
            } else {
                router.handle_outgoing(now, packet, actions);
            }
        });
    }

    /// Forwards a packet from neighbour `from` out of the mesh.
    fn leave_mesh(&mut self, now: Time, mut packet: Ipv4Packet, from: MacAddr, out: &mut Buffers) {
        if let Err(reason) = packet.decrement_ttl() {
            self.drops.count(reason);
            self.journal.note(&mut packet, Step::Dropped(reason), &mut out.outputs);
            return self.local.report_lost(packet, reason, &mut out.outputs);
        }
        self.upper.stale[ROUTER] = true;
        self.router.handle_used(now, packet.dst, Some(packet.src), self.radios.neighbour_ip(from));
        self.cross(now, Side::Wireless, packet, out);
    }

    /// Passes a packet through the gateway.
    fn cross(&mut self, now: Time, from: Side, packet: Ipv4Packet, out: &mut Buffers) {
        let hops = self.router.hops(if from == Side::Wired { packet.dst } else { packet.src });
        let rate = self.mac_at(FIRST).config().data_rate;
        self.with_wired(now, out, |wired, actions| wired.handle_packet(now, from, packet, hops, rate, actions));
    }

    /// Calls the wired side and performs the actions it requests.
    pub(super) fn with_wired(
        &mut self,
        now: Time,
        out: &mut Buffers,
        call: impl FnOnce(&mut WiredSide, &mut Vec<Action<Ipv4Packet>>),
    ) {
        let Some(wired) = &mut self.wired else { return };
        let mut actions = out.discipline.take();
        call(wired, &mut actions);
        for action in in_order(&mut actions) {
            match action {
                Action::Forward { packet, to: Side::Wired } => self.send_wired(packet, out),
                Action::Forward { packet, to: Side::Wireless } => {
                    self.with_router(now, out, |router, actions| router.handle_entering(now, packet, actions));
                }
                Action::Drop { mut packet, reason } => {
                    self.drops.count(reason);
                    self.journal.note(&mut packet, Step::Dropped(reason), &mut out.outputs);
                    self.local.report_lost(packet, reason, &mut out.outputs);
                }
            }
        }
        out.discipline.give(actions);
    }

    /// Sends a packet to a node reached by wire.
    fn send_wired(&mut self, packet: Ipv4Packet, out: &mut Buffers) {
        if let Some(wired) = &mut self.wired
            && let Err(reason) = wired.ports.send(packet, &mut self.journal, &mut out.outputs)
        {
            self.drops.count(reason);
        }
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
