//! A gateway: a node whose radio is one interface and whose wired links are others.
//!
//! ```text
//!    mesh ── handle_packet ──┐                        ┌── cross ◄── handle_wired ──┐
//!                            ├─ cross ─► ports ─► wires                             wires
//!    mesh ◄── router ◄───────┴────────────────────────┘
//! ```
//!
//! Packets of the node's own do not cross; neither do routing messages, nor what comes in by one wire and leaves by another.

use super::ear::Ear;
use super::stack::{Node, neighbour_ip};
use crate::drop::DropReason;
use crate::gateway::{Action, Crossing, CrossingConfig, Side};
use crate::route::{AddressPlan, PortId, WiredRoutes};
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{MacAddr, Time};

/// A packet for a port.
pub type Outbound = (PortId, Ipv4Packet);

/// The wired side of a gateway.
#[derive(Debug)]
pub struct Gateway {
    plan: AddressPlan,
    routes: WiredRoutes,
    /// Packets for the driver, which takes them after each call.
    out: Vec<Outbound>,
    /// What happens to packets that cross; `None`: nothing.
    crossing: Option<Crossing<Ipv4Packet>>,
    /// Reused.
    actions: Vec<Action<Ipv4Packet>>,
    /// Packets that came in by wires and were sent to wires.
    pub(super) received: u64,
    pub(super) sent: u64,
}

impl Gateway {
    /// With ports as in `routes`; `plan` says what lies behind them.
    pub fn new(plan: AddressPlan, routes: WiredRoutes) -> Gateway {
        Gateway { plan, routes, out: Vec::new(), crossing: None, actions: Vec::new(), received: 0, sent: 0 }
    }

    /// With something that happens to packets that cross.
    pub fn with_crossing(self, config: &CrossingConfig) -> Gateway {
        Gateway { crossing: Some(Crossing::new(config)), ..self }
    }

    /// What happens to packets that cross, for inspection.
    pub fn crossing(&self) -> Option<&Crossing<Ipv4Packet>> {
        self.crossing.as_ref()
    }

    /// When the crossing has something to do.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        self.crossing.as_ref()?.next_timeout()
    }

    /// Packets kept here.
    pub(super) fn held(&self) -> usize {
        self.crossing.as_ref().map_or(0, Crossing::held)
    }
}

impl Node {
    /// Gives the node a wired side.
    pub fn make_gateway(&mut self, gateway: Gateway) {
        self.gateway = Some(Box::new(gateway));
        self.refresh_upper();
    }

    /// Its wired side, if it has one, for inspection.
    pub fn gateway(&self) -> Option<&Gateway> {
        self.gateway.as_deref()
    }

    /// Is it a gateway, and `dst` outside the mesh?
    pub(super) fn leads_out(&self, dst: Ipv4Addr) -> bool {
        self.gateway.as_ref().is_some_and(|gateway| gateway.plan.is_outside(dst))
    }

    /// Is it a gateway?
    pub fn is_gateway(&self) -> bool {
        self.gateway.is_some()
    }

    /// Packets for its wires, to be taken after each [`Node::handle_timeout`] and [`Node::handle_wired`]; no other call makes
    /// any.
    pub fn outbound(&mut self) -> Option<&mut Vec<Outbound>> {
        self.gateway.as_mut().map(|gateway| &mut gateway.out).filter(|out| !out.is_empty())
    }

    /// A packet has come in by a wire; only a gateway gets any.
    pub fn handle_wired(&mut self, now: Time, mut packet: Ipv4Packet, ear: &mut Ear) {
        if let Some(gateway) = &mut self.gateway {
            gateway.received += 1;
        }
        if packet.dst == self.transports.addr() {
            self.deliver(now, &packet);
        } else if packet.ttl <= 1 {
            self.drops.count(DropReason::TtlExpired);
        } else {
            packet.ttl -= 1;
            if self.leads_out(packet.dst) {
                self.send_wired(packet);
            } else {
                self.cross(now, Side::Wired, packet);
            }
        }
        self.refresh_upper();
        self.offer_next(now, ear);
    }

    /// A packet from neighbour `from` leaves the mesh.
    pub(super) fn leave_mesh(&mut self, now: Time, mut packet: Ipv4Packet, from: MacAddr) {
        if packet.ttl <= 1 {
            self.drops.count(DropReason::TtlExpired);
            return;
        }
        packet.ttl -= 1;
        self.router.handle_used(now, packet.dst, Some(packet.src), neighbour_ip(from));
        self.cross(now, Side::Wireless, packet);
    }

    /// A packet goes through the gateway: the place where something may hold it.
    fn cross(&mut self, now: Time, from: Side, packet: Ipv4Packet) {
        let inside = if from == Side::Wired { packet.dst } else { packet.src };
        let (hops, rate) = (self.router.hops(inside), self.mac().config().data_rate);
        let Some(Gateway { crossing: Some(crossing), actions, .. }) = self.gateway.as_deref_mut() else {
            return self.leave_crossing(now, from.other(), packet);
        };
        if let Some(hops) = hops {
            crossing.handle_path(inside, hops, rate);
        }
        crossing.handle_packet(now, from, packet, actions);
        self.perform_crossing(now);
    }

    /// What is due at the crossing.
    pub(super) fn crossing_timeout(&mut self, now: Time) {
        if let Some(Gateway { crossing: Some(crossing), actions, .. }) = self.gateway.as_deref_mut() {
            crossing.handle_timeout(now, actions);
            self.perform_crossing(now);
        }
    }

    /// The interface queue has become shorter.
    pub(super) fn crossing_backlog(&mut self, now: Time) {
        let waiting = self.link().queue_len();
        if let Some(Gateway { crossing: Some(crossing), actions, .. }) = self.gateway.as_deref_mut() {
            crossing.handle_backlog(now, waiting, actions);
            if !actions.is_empty() {
                self.perform_crossing(now);
                self.refresh_upper();
            }
        }
    }

    fn perform_crossing(&mut self, now: Time) {
        let Some(gateway) = &mut self.gateway else { return };
        let mut actions = std::mem::take(&mut gateway.actions);
        for action in actions.drain(..) {
            match action {
                Action::Forward { packet, to } => self.leave_crossing(now, to, packet),
                Action::Drop { reason, .. } => self.drops.count(reason),
            }
        }
        if let Some(gateway) = &mut self.gateway {
            gateway.actions = actions;
        }
    }

    fn leave_crossing(&mut self, now: Time, to: Side, packet: Ipv4Packet) {
        match to {
            Side::Wired => self.send_wired(packet),
            Side::Wireless => {
                let mut actions = self.scratch.route.take();
                self.router.handle_entering(now, packet, &mut actions);
                self.perform_route(now, &mut actions);
                self.scratch.route.give(actions);
            }
        }
    }

    /// A packet for a node without a radio.
    pub(super) fn send_wired(&mut self, packet: Ipv4Packet) {
        let Some(gateway) = &mut self.gateway else { return self.drops.count(DropReason::NoRoute) };
        match gateway.routes.port(packet.dst) {
            Some(port) => {
                gateway.sent += 1;
                gateway.out.push((port, packet));
            }
            None => self.drops.count(DropReason::NoRoute),
        }
    }
}
