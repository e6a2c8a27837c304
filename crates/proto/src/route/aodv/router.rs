//! AODV as its node sees it.

use super::{Aodv, Config};
use crate::drop::DropReason;
use crate::route::action::{Action, Signal};
use crate::route::protocol::{CounterVisitor, Distributed, Place, Protocol};
use crate::route::usage::Usage;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dbm, Rate, Time};
use std::sync::Arc;

impl Distributed for Aodv {
    type Config = Config;

    fn at(place: Place, config: &Arc<Config>) -> Aodv {
        let aodv = Aodv::new(place.addr, config.clone(), place.jitter);
        let aodv = if place.notes { aodv.with_notes() } else { aodv };
        match place.serves {
            Some(prefix) => aodv.with_gateway([prefix]),
            None => aodv.with_plan(place.plan),
        }
    }
}

impl Protocol for Aodv {
    fn with_route_changes(self) -> Aodv {
        Aodv::with_route_changes(self)
    }

    fn add_interface(&mut self, addr: Ipv4Addr) {
        Aodv::add_interface(self, addr);
    }

    fn handle_outgoing(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        Aodv::handle_outgoing(self, now, packet, out);
    }

    fn handle_transit(&mut self, now: Time, packet: Ipv4Packet, from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        Aodv::handle_transit(self, now, packet, from, out);
    }

    fn handle_entering(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        Aodv::handle_entering(self, now, packet, out);
    }

    #[inline]
    fn watches_links(&self) -> bool {
        self.wants_signals() || self.wants_rates()
    }

    fn handle_signal(&mut self, neighbour: Ipv4Addr, strength: Dbm) {
        Aodv::handle_signal(self, neighbour, strength);
    }

    fn handle_rate(&mut self, now: Time, neighbour: Ipv4Addr, rate: Rate) {
        Aodv::handle_rate(self, now, neighbour, rate);
    }

    fn handle_used(&mut self, now: Time, dst: Ipv4Addr, src: Option<Ipv4Addr>, from: Option<Ipv4Addr>) {
        Aodv::handle_used(self, now, dst, src, from);
    }

    fn handle_message(&mut self, now: Time, packet: Ipv4Packet, from: Ipv4Addr, out: &mut Vec<Action>) {
        Aodv::handle_message(self, now, packet, from, out);
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Option<Ipv4Packet>,
        next_hop: Ipv4Addr,
        reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        Aodv::handle_link_failure(self, now, packet, next_hop, reason, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        Aodv::handle_timeout(self, now, out);
    }

    fn next_timeout(&self) -> Option<Time> {
        Aodv::next_timeout(self)
    }

    fn held(&self) -> usize {
        Aodv::held(self)
    }

    fn count(&self, visit: &mut CounterVisitor) {
        visit("route", &mut self.counters().named());
    }

    fn signal(&self, neighbour: Ipv4Addr) -> Option<Signal> {
        Aodv::signal(self, neighbour)
    }

    fn usage(&self, dst: Ipv4Addr) -> Usage {
        Aodv::usage(self, dst)
    }

    fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        Aodv::next_hop(self, dst)
    }

    fn hops(&self, dst: Ipv4Addr) -> Option<u8> {
        self.route(dst).filter(|route| route.is_valid()).map(|route| route.hops)
    }
}
