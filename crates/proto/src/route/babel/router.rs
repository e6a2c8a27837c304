//! Babel as its node sees it.

use super::{Babel, Config};
use crate::drop::DropReason;
use crate::route::action::Action;
use crate::route::protocol::{CounterVisitor, Distributed, Place, Protocol};
use crate::route::usage::Usage;
use crate::wire::Ipv4Packet;
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
    fn with_route_changes(self) -> Babel {
        Babel::with_route_changes(self)
    }

    fn add_interface(&mut self, addr: Ipv4Addr) {
        Babel::add_interface(self, addr);
    }

    fn handle_outgoing(&mut self, _now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        Babel::handle_outgoing(self, packet, out);
    }

    fn handle_transit(&mut self, _now: Time, packet: Ipv4Packet, _from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        Babel::handle_transit(self, packet, out);
    }

    fn handle_message(&mut self, now: Time, packet: Ipv4Packet, from: Ipv4Addr, out: &mut Vec<Action>) {
        Babel::handle_message(self, now, packet, from, out);
    }

    fn handle_link_failure(
        &mut self,
        _now: Time,
        packet: Option<Ipv4Packet>,
        _next_hop: Ipv4Addr,
        _reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        Babel::handle_link_failure(self, packet, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        Babel::handle_timeout(self, now, out);
    }

    fn next_timeout(&self) -> Option<Time> {
        Some(Babel::next_timeout(self))
    }

    fn count(&self, visit: &mut CounterVisitor) {
        visit("babel", &mut self.counters().named());
    }

    fn usage(&self, dst: Ipv4Addr) -> Usage {
        Babel::usage(self, dst)
    }

    fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        Babel::next_hop(self, dst)
    }

    fn hops(&self, dst: Ipv4Addr) -> Option<u8> {
        self.route(dst).map(|route| route.hops)
    }
}
