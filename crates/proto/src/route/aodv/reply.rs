//! Replies: the route they announce, and their path back to the originator of the request (RFC 3561 section 6.7).

use super::{Action, Aodv, Envelope, NextHop, SearchTimeout};
use crate::wire::{AodvMessage, Rrep};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

impl Aodv {
    /// Handles a reply or HELLO.
    pub(super) fn handle_reply(&mut self, now: Time, mut rrep: Rrep, envelope: Envelope, out: &mut Vec<Action>) {
        if envelope.broadcast {
            // RFC 3561 section 6.9: a broadcast reply is a HELLO.
            self.handle_hello(now, &rrep, envelope.from, out);
            return;
        }
        let Some(distance) = self.distance(now, envelope.from, rrep.hop_count, rrep.cost) else {
            self.counters.unmeasured_ignored += 1;
            return;
        };
        self.neighbour_seen(now, envelope.from, out);
        if rrep.ack_required {
            self.acknowledge(now, envelope.from, out);
        }
        let mine = rrep.originator == self.addr;
        if !self.has_room(now, rrep.destination) {
            self.counters.rrep_suppressed += 1;
            return;
        }
        let better = self.is_better(rrep.destination, rrep.destination_seqno, distance, envelope.from, !mine);
        if rrep.destination == self.addr || !better {
            self.counters.rrep_suppressed += 1;
            return;
        }
        let route = self.table.entry(rrep.destination);
        let before = route.state;
        let begun = route.search().begun;
        route.update(rrep.destination_seqno, distance, envelope.from);
        let expires = now + Dur::from_millis(u64::from(rrep.lifetime_ms));
        route.expires = expires;
        let asked = if self.notes { Some(envelope.created) } else { begun };
        if mine
            && matches!(self.config.search_timeout, SearchTimeout::Measured { .. })
            && let Some(asked) = asked
        {
            route.search_mut().record_latency(now.saturating_since(asked) / u64::from(distance.hops));
        }
        self.watch(expires);
        self.route_came_up(now, rrep.destination, before, self.config.flush_spacing, out);
        if mine {
            self.counters.rrep_accepted += 1;
            if let Some(begun) = begun {
                self.usages.discovered(rrep.destination, now.saturating_since(begun));
            }
            return;
        }
        rrep.hop_count = distance.hops;
        rrep.cost = self.path_cost(distance.cost);
        rrep.ack_required = false;
        self.forward_reply(now, rrep, envelope, out);
    }

    /// Answers the A flag (RFC 3561 section 6.7). The flag concerns this one hop, so forwarding clears it.
    fn acknowledge(&mut self, now: Time, to: Ipv4Addr, out: &mut Vec<Action>) {
        self.counters.rrep_acks_sent += 1;
        let packet = self.message(AodvMessage::RrepAck, to, 1, now);
        out.push(Action::Send { packet, next_hop: NextHop::Unicast(to) });
    }

    fn forward_reply(&mut self, now: Time, rrep: Rrep, envelope: Envelope, out: &mut Vec<Action>) {
        let reverse = self.table.get(rrep.originator).filter(|route| route.has_next_hop());
        let Some(next_hop) = reverse.map(|route| route.next_hop).filter(|_| envelope.ttl > 1) else {
            self.counters.rrep_lost += 1;
            return;
        };
        self.refresh(now, rrep.originator, false);
        let limit = self.limits.neighbours;
        self.table.entry(rrep.destination).add_precursor(next_hop, limit);
        if self.config.neighbour_routes
            && let Some(route) = self.table.get_mut(envelope.from)
        {
            route.add_precursor(next_hop, limit);
        }
        self.counters.rrep_forwarded += 1;
        self.send_reply(now, rrep, next_hop, envelope.ttl - 1, envelope.created, out);
    }
}
