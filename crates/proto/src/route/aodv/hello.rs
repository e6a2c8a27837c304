//! HELLO messages, and the neighbours known from them (RFC 3561 sections 6.9 and 6.10).

use super::{Action, Aodv, Distance, HelloConfig};
use crate::wire::{AodvMessage, Ipv4Packet, Rrep};
use core::net::Ipv4Addr;
use fourhop_units::{Stream, Time};

/// State of the HELLO option; empty while it is off.
#[derive(Clone, Debug)]
pub(super) struct Hello {
    config: Option<HelloConfig>,
    /// End of the current interval.
    next_at: Time,
    /// When this node last sent a broadcast, which counts as a HELLO.
    pub last_broadcast: Option<Time>,
    /// (neighbour, when it counts as lost), for each neighbour a HELLO was received from.
    neighbours: Vec<(Ipv4Addr, Time)>,
}

impl Hello {
    pub fn new(config: Option<HelloConfig>, jitter: &mut Stream) -> Hello {
        let next_at = config.map_or(Time::ZERO, |hello| match hello.jitter.is_zero() {
            true => Time::ZERO + hello.interval,
            false => Time::ZERO + jitter.duration(hello.interval),
        });
        Hello { config, next_at, last_broadcast: None, neighbours: Vec::new() }
    }

    /// Notes a packet from a neighbour, which proves that it is alive.
    pub fn heard(&mut self, now: Time, neighbour: Ipv4Addr) {
        if let Some(config) = self.config
            && let Some(entry) = self.neighbours.iter_mut().find(|(addr, _)| *addr == neighbour)
        {
            entry.1 = now + config.neighbour_lifetime();
        }
    }

    pub fn next(&self) -> Option<Time> {
        self.config?;
        let lost = self.neighbours.iter().map(|&(_, at)| at).min();
        Some(lost.map_or(self.next_at, |at| at.min(self.next_at)))
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.neighbours.len()
    }

    fn pop_lost(&mut self, now: Time) -> Option<Ipv4Addr> {
        let at = self.neighbours.iter().position(|&(_, until)| until <= now)?;
        Some(self.neighbours.remove(at).0)
    }
}

impl Aodv {
    /// Handles a HELLO: makes or renews the route to the neighbour, with its sequence number (RFC 3561 section 6.9).
    pub(super) fn handle_hello(&mut self, now: Time, rrep: &Rrep, from: Ipv4Addr, out: &mut Vec<Action>) {
        let Some(config) = self.hello.config else { return };
        if rrep.destination != from || !self.has_room(now, from) {
            return;
        }
        let watched = self.hello.neighbours.iter().any(|&(addr, _)| addr == from);
        if !watched && self.hello.neighbours.len() >= self.limits.neighbours {
            self.counters.neighbours_refused += 1;
            return;
        }
        self.counters.hellos_received += 1;
        let until = now + config.neighbour_lifetime();
        if !watched {
            self.hello.neighbours.push((from, until));
        }
        if self.is_blacklisted(from) {
            self.counters.blacklisted_ignored += 1;
            return;
        }
        if !self.hears_directly(from) {
            return;
        }
        let route = self.table.entry(from);
        let before = route.state;
        let was_valid = route.is_valid();
        let distance = Distance { cost: route.cost, hops: 1 };
        if route.accepts(rrep.destination_seqno, distance) {
            route.update(rrep.destination_seqno, distance, from);
        } else {
            route.hear();
        }
        route.expires = if was_valid { route.expires.max(until) } else { until };
        self.watch(until);
        if !was_valid {
            self.route_came_up(now, from, before, fourhop_units::Dur::ZERO, out);
        }
    }

    /// Sends a HELLO after an interval without a broadcast, if this node is on an active route, and gives up neighbours
    /// that have fallen silent.
    pub(super) fn hello_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        let Some(config) = self.hello.config else { return };
        while let Some(neighbour) = self.hello.pop_lost(now) {
            self.counters.neighbours_lost += 1;
            self.lose_neighbour(now, neighbour, out);
        }
        if now < self.hello.next_at {
            return;
        }
        self.hello.next_at = now + config.interval;
        if !config.jitter.is_zero() {
            let early = config.jitter.min(config.interval);
            self.hello.next_at = self.hello.next_at - early + self.jitter.duration(early * 2);
        }
        let quiet = self.hello.last_broadcast.is_none_or(|at| at + config.interval <= now);
        if config.always || (quiet && self.table.iter().any(|route| route.is_valid())) {
            let rrep = Rrep {
                hop_count: 0,
                destination: self.addr,
                destination_seqno: self.seqno,
                originator: self.addr,
                lifetime_ms: u32::try_from(config.neighbour_lifetime().as_millis()).unwrap_or(u32::MAX),
                ack_required: false,
                cost: None,
            };
            self.counters.hellos_sent += 1;
            let packet = self.message(AodvMessage::Rrep(rrep), Ipv4Packet::BROADCAST, 1, now);
            self.broadcast(now, packet, false, out);
        }
    }
}
