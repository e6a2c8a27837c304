//! Replies: the route they tell, and their way back to the originator of the request (RFC 3561 section 6.7).

use super::{Action, Aodv, Envelope, NextHop, SearchTimeout};
use crate::wire::{AodvMessage, Rrep};
use fourhop_units::{Dur, Time};

impl Aodv {
    /// A reply or HELLO has arrived.
    pub(super) fn handle_reply(&mut self, now: Time, mut rrep: Rrep, envelope: Envelope, out: &mut Vec<Action>) {
        if envelope.broadcast {
            // RFC 3561 section 6.9: a broadcast reply is a HELLO.
            self.handle_hello(now, &rrep, envelope.from, out);
            return;
        }
        self.neighbour_seen(now, envelope.from, out);
        let hops = rrep.hop_count.saturating_add(1);
        let mine = rrep.originator == self.addr;
        let route = self.table.entry(rrep.destination);
        if rrep.destination == self.addr || !route.accepts(rrep.destination_seqno, hops) {
            self.counters.rrep_suppressed += 1;
            return;
        }
        let before = route.state;
        route.update(rrep.destination_seqno, hops, envelope.from);
        let expires = now + Dur::from_millis(u64::from(rrep.lifetime_ms));
        route.expires = expires;
        if mine && matches!(self.config.search_timeout, SearchTimeout::Measured { .. }) {
            route.search.record_latency(now.saturating_since(envelope.created) / u64::from(hops));
        }
        self.watch(expires);
        self.route_came_up(now, rrep.destination, before, self.config.flush_spacing, out);
        if mine {
            self.counters.rrep_accepted += 1;
            return;
        }
        rrep.hop_count = hops;
        self.forward_reply(now, rrep, envelope, out);
    }

    fn forward_reply(&mut self, now: Time, rrep: Rrep, envelope: Envelope, out: &mut Vec<Action>) {
        let reverse = self.table.get(rrep.originator).filter(|route| route.has_next_hop());
        let Some(next_hop) = reverse.map(|route| route.next_hop).filter(|_| envelope.ttl > 1) else {
            self.counters.rrep_lost += 1;
            return;
        };
        self.refresh(now, rrep.originator);
        self.table.entry(rrep.destination).add_precursor(next_hop);
        if self.config.neighbour_routes
            && let Some(route) = self.table.get_mut(envelope.from)
        {
            route.add_precursor(next_hop);
        }
        self.counters.rrep_forwarded += 1;
        let packet = self.message(AodvMessage::Rrep(rrep), next_hop, envelope.ttl - 1, envelope.created);
        out.push(Action::Send { packet, next_hop: NextHop::Unicast(next_hop) });
    }
}
