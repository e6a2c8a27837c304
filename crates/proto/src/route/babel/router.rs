//! Babel as seen by its node.

use super::{Babel, Config};
use crate::drop::DropReason;
use crate::route::action::{Action, NextHop, pass_on};
use crate::route::mirror::Mirror;
use crate::route::protocol::{CounterVisitor, Distributed, Place, Protocol};
use crate::route::usage::Usage;
use crate::wire::{Body, Ipv4Packet, RoutingMessage};
use core::net::Ipv4Addr;
use fourhop_units::Time;
use std::sync::Arc;

impl Distributed for Babel {
    type Config = Config;

    fn at(place: Place, config: &Arc<Config>) -> Babel {
        Babel::new(place.addr, config.clone(), place.jitter).with_gateway(place.serves)
    }
}

impl Protocol for Babel {
    /// Enables reports of every change of routes to hosts by [`Action::RouteUp`] and [`Action::RouteDown`].
    fn with_route_changes(self) -> Babel {
        Babel { mirror: Some(Mirror::default()), ..self }
    }

    /// Adds the address of another interface of this node: its messages are sent from it there, and neighbours know the
    /// node by it. A Hello has the same number on all interfaces (section 3.4.1 allows a counter for each). To be
    /// called before anything else.
    fn add_interface(&mut self, addr: Ipv4Addr) {
        self.interfaces.push(addr);
    }

    fn handle_outgoing(&mut self, _now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        if packet.src == self.addr
            && let Some(next_hop) = self.next_hop(packet.dst)
        {
            self.usages.note(packet.dst, next_hop);
        }
        self.forward(packet, out);
    }

    fn handle_transit(&mut self, _now: Time, packet: Ipv4Packet, _from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        if let Some(packet) = pass_on(self.addr, packet, out) {
            self.forward(packet, out);
        }
    }

    /// Handles a Babel packet from the neighbour `from`. One from this node itself is ignored.
    fn handle_message(&mut self, now: Time, packet: Ipv4Packet, from: Ipv4Addr, out: &mut Vec<Action>) {
        let Body::Routing(RoutingMessage::Babel(message)) = packet.body else { return };
        if self.is_own(from) {
            return;
        }
        self.counters.packets_received += 1;
        for tlv in &message.tlvs {
            self.handle_tlv(now, from, tlv);
        }
        self.refresh_neighbour(now, from);
        self.finish(now, out.len(), out);
    }

    fn handle_link_failure(
        &mut self,
        _now: Time,
        packet: Option<Ipv4Packet>,
        _next_hop: Ipv4Addr,
        _reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        self.counters.link_failures += 1;
        out.extend(packet.map(|packet| Action::Drop { packet, reason: DropReason::LinkBroken }));
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        if now < self.wake {
            return;
        }
        let begun = out.len();
        self.neighbours_timeout(now);
        self.routes_timeout(now);
        self.requests_timeout(now);
        self.repeats_timeout(now);
        self.intervals_timeout(now);
        self.send_waiting(now, out);
        self.finish(now, begun, out);
    }

    fn next_timeout(&self) -> Option<Time> {
        Some(self.wake)
    }

    fn count(&self, visit: &mut CounterVisitor) {
        visit("babel", &mut self.counters.named());
    }

    fn usage(&self, dst: Ipv4Addr) -> Usage {
        self.usages.of(dst)
    }

    fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        self.table.lookup(dst).map(|route| route.next_hop)
    }

    fn hops(&self, dst: Ipv4Addr) -> Option<u8> {
        self.table.lookup(dst).map(|route| route.hops)
    }
}

impl Babel {
    fn forward(&self, packet: Ipv4Packet, out: &mut Vec<Action>) {
        out.push(match self.next_hop(packet.dst) {
            Some(next_hop) => Action::Send { packet, next_hop: NextHop::Unicast(next_hop) },
            None => Action::Drop { packet, reason: DropReason::NoRoute },
        });
    }
}
