//! AODV as seen by its node.

use super::{Aodv, Config, Envelope, RouteState};
use crate::drop::DropReason;
use crate::route::action::{Action, Signal, pass_on};
use crate::route::mirror::Mirror;
use crate::route::protocol::{CounterVisitor, Distributed, Place, Protocol};
use crate::route::usage::Usage;
use crate::wire::{AodvMessage, Body, Ipv4Packet, RoutingMessage};
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
    /// Enables reports of every change of valid routes by [`Action::RouteUp`] and [`Action::RouteDown`]. A call reports
    /// its changes before the packets that it sends over the changed routes.
    fn with_route_changes(self) -> Aodv {
        Aodv { mirror: Some(Mirror::default()), ..self }
    }

    fn add_interface(&mut self, addr: Ipv4Addr) {
        self.interfaces.push(addr);
    }

    fn handle_outgoing(&mut self, now: Time, mut packet: Ipv4Packet, out: &mut Vec<Action>) {
        if let Some(ttl) = self.config.data_ttl {
            packet.ttl = ttl;
        }
        if packet.dst == self.addr || packet.dst.is_broadcast() {
            out.push(Action::Drop { packet, reason: DropReason::NoRoute });
        } else {
            self.forward_or_search(now, packet, out);
        }
    }

    /// Handles a data packet received for another node. `from` is the neighbour that sent it, where known, and shows
    /// the HELLO option that the neighbour is alive.
    fn handle_transit(&mut self, now: Time, packet: Ipv4Packet, from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        self.data_from(now, from);
        let Some(packet) = pass_on(self.addr, packet, out) else { return };
        if let Some(packet) = self.try_forward(now, packet, out) {
            match self.table.get(packet.dst).map(|route| route.state) {
                Some(RouteState::InRepair) => self.hold(now, packet, out),
                _ => self.no_route(now, packet, out),
            }
        }
    }

    fn handle_entering(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        self.forward_or_search(now, packet, out);
    }

    #[inline]
    fn watches_links(&self) -> bool {
        self.config.signal.is_some() || self.wants_rates()
    }

    fn handle_signal(&mut self, neighbour: Ipv4Addr, strength: Dbm) {
        if let Some(config) = &self.config.signal {
            let watched = self.signals.sample(config, neighbour, strength, self.limits.neighbours);
            self.counters.neighbours_refused += u64::from(!watched);
        }
    }

    fn handle_rate(&mut self, now: Time, neighbour: Ipv4Addr, rate: Rate) {
        if self.wants_rates()
            && let Some(link) = self.links.entry(now, neighbour, self.limits.neighbours)
        {
            link.rate = Some(rate);
        }
    }

    /// Notes traffic for `dst` that was forwarded outside this router, such as by a kernel with its routes, or that
    /// left the mesh here. If known, `src` is its source and `from` the neighbour that delivered it; a node's own
    /// traffic has its own address as source. Routes are kept alive as by packets that are forwarded here (RFC 3561
    /// section 6.2).
    fn handle_used(&mut self, now: Time, dst: Ipv4Addr, src: Option<Ipv4Addr>, from: Option<Ipv4Addr>) {
        self.data_from(now, from);
        if self.serves(dst) {
            self.keep_way_back(now, src);
        } else if let Some(next_hop) = self.next_hop(dst) {
            self.keep_alive(now, dst, next_hop, src);
        }
    }

    /// Handles, and consumes, an AODV message received from the neighbour `from`, its IP source (each relay sets its
    /// own address), whatever its IP destination. A message from this node itself, which the sockets of some systems
    /// loop back, is ignored.
    fn handle_message(&mut self, now: Time, packet: Ipv4Packet, from: Ipv4Addr, out: &mut Vec<Action>) {
        let begun = out.len();
        let Body::Routing(RoutingMessage::Aodv(message)) = packet.body else { return };
        if from == self.addr {
            return;
        }
        let broadcast = packet.dst.is_broadcast();
        let envelope = Envelope { from, ttl: packet.ttl, broadcast, created: packet.meta.created };
        if self.is_too_weak(from) {
            self.counters.weak_ignored += 1;
            return;
        }
        if self.config.hello.is_some() {
            self.hello.heard(now, from);
        }
        match message {
            AodvMessage::Rreq(rreq) => self.handle_request(now, rreq, envelope, out),
            AodvMessage::Rrep(rrep) => self.handle_reply(now, rrep, envelope, out),
            AodvMessage::Rerr(rerr) => self.handle_error(now, &rerr, envelope, out),
            AodvMessage::RrepAck => self.reply_acknowledged(from),
            AodvMessage::Probe(probe) => self.handle_probe(now, &probe, from),
        }
        self.report_changes(now, begun, out);
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Option<Ipv4Packet>,
        next_hop: Ipv4Addr,
        reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        let begun = out.len();
        self.counters.link_failures += 1;
        self.counters.link_failures_unresolved += u64::from(reason == DropReason::ArpUnresolved);
        let detects = self.config.link_layer_detection;
        self.reply_failed(now, next_hop);
        match packet {
            Some(packet) if detects && !packet.is_routing() => self.handle_data_failure(now, packet, next_hop, out),
            packet => {
                out.extend(packet.map(|packet| Action::Drop { packet, reason: DropReason::LinkBroken }));
                if detects && self.config.control_breaks_links {
                    self.lose_neighbour(now, next_hop, out);
                }
            }
        }
        self.report_changes(now, begun, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        let begun = out.len();
        self.delay.release(now, out);
        if self.sweep_at.is_some_and(|at| at <= now) {
            self.sweep(now, out);
        }
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_all(now, out);
        }
        while let Some(dst) = self.repairs.pop_due(now) {
            self.repair_timed_out(now, dst, out);
        }
        self.one_way_timeout(now);
        self.hello_timeout(now, out);
        self.probe_timeout(now, out);
        self.report_changes(now, begun, out);
    }

    /// Returns when something becomes due: at this instant, or later if packets renew a route before then.
    fn next_timeout(&self) -> Option<Time> {
        let queues = Time::earlier_of(self.delay.next(), self.repairs.next());
        let queues = Time::earlier_of(queues, self.one_way.next());
        let ticks = Time::earlier_of(self.sweep_at, self.retry_at);
        let first = Time::earlier_of(queues, ticks);
        if self.config.hello.is_none() && self.config.metric.is_none() {
            return first;
        }
        Time::earlier_of(first, Time::earlier_of(self.hello.next(), self.links.next()))
    }

    /// Returns the number of data packets passed in that have not left yet: in the send buffer, or between two packets
    /// of a flush.
    fn buffered(&self) -> usize {
        self.buffer.len() + self.delay.data()
    }

    fn count(&self, visit: &mut CounterVisitor) {
        visit("route", &mut self.counters.named());
    }

    fn signal(&self, neighbour: Ipv4Addr) -> Option<Signal> {
        self.signals.get(neighbour).copied()
    }

    fn usage(&self, dst: Ipv4Addr) -> Usage {
        self.usages.of(dst)
    }

    fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        self.table.get(dst).filter(|route| route.is_valid()).map(|route| route.next_hop)
    }

    fn hops(&self, dst: Ipv4Addr) -> Option<u8> {
        self.table.get(dst).filter(|route| route.is_valid()).map(|route| route.hops)
    }
}
