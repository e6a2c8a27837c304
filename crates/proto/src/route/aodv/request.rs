//! Requests of other nodes: duplicates, reverse routes, replies, relaying (RFC 3561 sections 6.5 and 6.6).

use super::{Action, Aodv, Distance, Envelope, FirstSearch, OwnSeqno, ReverseLifetime, RouteState, is_newer};
use crate::wire::{AodvMessage, Ipv4Packet, Rrep, Rreq};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

impl Aodv {
    /// Handles a request.
    pub(super) fn handle_request(&mut self, now: Time, rreq: Rreq, envelope: Envelope, out: &mut Vec<Action>) {
        self.counters.rreq_received += 1;
        if self.is_blacklisted(envelope.from) {
            self.counters.blacklisted_ignored += 1;
            return;
        }
        let Some(distance) = self.distance(now, envelope.from, rreq.hop_count, rreq.cost) else {
            self.counters.unmeasured_ignored += 1;
            return;
        };
        self.neighbour_seen(now, envelope.from, out);
        let forget_at = self.config.id_forgotten_at(now);
        if rreq.originator == self.addr || !self.seen.insert(now, rreq.originator, rreq.rreq_id, forget_at) {
            self.counters.rreq_duplicates += 1;
            if rreq.originator == self.addr {
                return;
            }
            if self.config.metric.is_none() || !self.is_cheaper_copy(&rreq, distance) {
                self.prefer_stronger(rreq.originator, rreq.originator_seqno, distance, envelope.from);
                return;
            }
        }
        self.counters.requests_displaced += self.seen.forget_down_to(self.limits.requests);
        if !self.has_room(now, rreq.originator) {
            return;
        }
        self.update_reverse_route(now, &rreq, distance, envelope.from, out);
        if rreq.destination == self.addr {
            let seqno = self.raised_seqno(rreq.destination_seqno);
            self.reply_from_here(now, &rreq, seqno, envelope, out);
        } else if self.serves(rreq.destination) {
            // For the choice of the number, see `gateway`.
            self.reply_from_here(now, &rreq, rreq.destination_seqno.unwrap_or(0), envelope, out);
        } else if self.can_reply(&rreq) {
            self.reply_as_intermediate(now, &rreq, envelope, out);
        } else if envelope.ttl > 1 {
            self.relay_request(now, rreq, distance, envelope, out);
        }
    }

    /// Makes or renews the route to a neighbour that sent a message, which proves the route but says nothing about the
    /// neighbour's sequence number (RFC 3561 sections 6.5 and 6.7).
    pub(super) fn neighbour_seen(&mut self, now: Time, neighbour: Ipv4Addr, out: &mut Vec<Action>) {
        if !self.config.neighbour_routes
            || neighbour == self.addr
            || !self.hears_directly(neighbour)
            || !self.has_room(now, neighbour)
        {
            return;
        }
        let until = now + self.config.active_route_timeout;
        let route = self.table.entry(neighbour);
        let before = route.state;
        route.expires = if before == RouteState::Valid { route.expires.max(until) } else { until };
        route.hear();
        self.watch(until);
        if before != RouteState::Valid {
            self.route_came_up(now, neighbour, before, Dur::ZERO, out);
        }
    }

    /// Completes the search and the repair of a route that was found or renewed, and sends the waiting packets.
    /// `before` was its state.
    pub(super) fn route_came_up(
        &mut self,
        now: Time,
        dst: Ipv4Addr,
        before: RouteState,
        spacing: Dur,
        out: &mut Vec<Action>,
    ) {
        let route = self.table.entry(dst);
        let hops = route.hops;
        route.end_search(match self.config.first_search {
            // RFC 3561 section 6.4 starts the next search from the hop count the route had when it broke.
            FirstSearch::TtlStart => 0,
            FirstSearch::FullFlood => hops,
        });
        if before == RouteState::InRepair {
            self.repair_succeeded(now, dst, out);
        }
        self.flush(now, dst, spacing, out);
    }

    fn update_reverse_route(
        &mut self,
        now: Time,
        rreq: &Rreq,
        distance: Distance,
        from: Ipv4Addr,
        out: &mut Vec<Action>,
    ) {
        let reverse_lifetime = self.config.reverse_lifetime;
        let until = match reverse_lifetime {
            ReverseLifetime::Minimal => {
                let minimal = self
                    .config
                    .net_traversal_time()
                    .saturating_mul(2)
                    .saturating_sub(self.config.node_traversal_time.saturating_mul(2 * u64::from(distance.hops)));
                now + minimal
            }
            ReverseLifetime::Fixed(lifetime) => now + lifetime,
        };
        // Pass on the best known data about the originator with the request or its reply.
        let better = self.is_better(rreq.originator, rreq.originator_seqno, distance, from, true);
        let route = self.table.entry(rreq.originator);
        let before = route.state;
        if better {
            route.update(rreq.originator_seqno, distance, from);
        } else if !route.has_next_hop() {
            return;
        }
        // The expiry of a route that was invalid until this request is its deletion time, not a lifetime.
        route.expires = if before == RouteState::Valid || !better { route.expires.max(until) } else { until };
        if !better {
            return;
        }
        let searched = route.search().timeout.is_some();
        if searched && matches!(reverse_lifetime, ReverseLifetime::Fixed(_)) {
            route.expires = now + self.config.active_route_timeout;
        }
        let expires = route.expires;
        self.watch(expires);
        if searched || before == RouteState::InRepair {
            self.route_came_up(now, rreq.originator, before, Dur::ZERO, out);
        } else {
            self.flush(now, rreq.originator, Dur::ZERO, out);
        }
    }

    /// Returns this node's own sequence number for a reply.
    fn raised_seqno(&mut self, requested: Option<u32>) -> u32 {
        // RFC 3561 sections 6.1 and 6.6.1: the maximum of both numbers, which also covers an originator that asks for
        // the current number plus one.
        if let Some(requested) = requested
            && is_newer(requested, self.seqno)
        {
            self.seqno = requested;
        }
        if self.config.own_seqno == OwnSeqno::Even {
            self.seqno = self.seqno.wrapping_add(1);
            self.seqno = self.seqno.wrapping_add(self.seqno % 2);
        }
        self.seqno
    }

    /// Answers a request whose destination is this node or behind it.
    fn reply_from_here(
        &mut self,
        now: Time,
        rreq: &Rreq,
        destination_seqno: u32,
        envelope: Envelope,
        out: &mut Vec<Action>,
    ) {
        let rrep = Rrep {
            hop_count: 0,
            destination: rreq.destination,
            destination_seqno,
            originator: rreq.originator,
            lifetime_ms: saturating_millis(self.config.my_route_timeout()),
            ack_required: false,
            cost: self.path_cost(0),
        };
        self.counters.rreq_replied_as_destination += 1;
        self.originate_reply(now, rrep, envelope.created, out);
    }

    /// Requires an active route, a valid sequence number no older than the requested one, and no D flag (RFC 3561
    /// section 6.6).
    fn can_reply(&self, rreq: &Rreq) -> bool {
        !rreq.destination_only
            && self.table.get(rreq.destination).is_some_and(|route| {
                let usable = match route.state {
                    RouteState::Valid => true,
                    RouteState::InRepair => self.config.reply_from_repair && route.hops != super::Route::UNKNOWN_HOPS,
                    RouteState::Invalid => false,
                };
                usable
                    && route.seqno_valid
                    && !route.heard_only
                    && !rreq.destination_seqno.is_some_and(|requested| is_newer(requested, route.seqno))
            })
    }

    /// Replies by RFC 3561 section 6.6.2, and by 6.6.3 if the request asks for a gratuitous reply.
    fn reply_as_intermediate(&mut self, now: Time, rreq: &Rreq, envelope: Envelope, out: &mut Vec<Action>) {
        let Some(back) = self.table.get(rreq.originator).filter(|route| route.has_next_hop()) else { return };
        let (towards_originator, from_originator, originator_expires) = (back.next_hop, back.distance(), back.expires);
        let route = self.table.entry(rreq.destination);
        route.add_precursor(towards_originator, self.limits.neighbours);
        let (towards_destination, distance, expires) = (route.next_hop, route.distance(), route.expires);
        let destination_seqno = route.seqno;
        let rrep = Rrep {
            hop_count: distance.hops,
            destination: rreq.destination,
            destination_seqno,
            originator: rreq.originator,
            lifetime_ms: self.remaining_lifetime(now, expires),
            ack_required: false,
            cost: self.path_cost(distance.cost),
        };
        self.table.entry(rreq.originator).add_precursor(towards_destination, self.limits.neighbours);
        self.counters.rreq_replied_as_intermediate += 1;
        self.originate_reply(now, rrep, envelope.created, out);
        if rreq.gratuitous {
            let rrep = Rrep {
                hop_count: from_originator.hops,
                destination: rreq.originator,
                destination_seqno: rreq.originator_seqno,
                originator: rreq.destination,
                lifetime_ms: self.remaining_lifetime(now, originator_expires),
                ack_required: false,
                cost: self.path_cost(from_originator.cost),
            };
            self.counters.rrep_gratuitous += 1;
            self.originate_reply(now, rrep, envelope.created, out);
        }
    }

    fn remaining_lifetime(&self, now: Time, expires: Time) -> u32 {
        if !self.config.lifetime_in_whole_seconds {
            return saturating_millis(expires.saturating_since(now));
        }
        if expires < now {
            // ns-2 converts the negative number of seconds to an unsigned one.
            return u32::MAX;
        }
        let seconds = expires.saturating_since(now).div_floor(Dur::from_secs(1));
        saturating_millis(Dur::from_secs(1).saturating_mul(seconds))
    }

    /// Sends a reply made here towards its originator.
    fn originate_reply(&mut self, now: Time, rrep: Rrep, created: Time, out: &mut Vec<Action>) {
        let Some(next_hop) = self.table.get(rrep.originator).filter(|r| r.has_next_hop()).map(|r| r.next_hop) else {
            self.counters.rrep_lost += 1;
            return;
        };
        self.counters.rrep_originated += 1;
        self.send_reply(now, rrep, next_hop, self.config.net_diameter, created, out);
    }

    /// Relays a request one hop further, asking for the newest number known on the way (RFC 3561 section 6.5). The
    /// number stored here does not change.
    fn relay_request(
        &mut self,
        now: Time,
        mut rreq: Rreq,
        distance: Distance,
        envelope: Envelope,
        out: &mut Vec<Action>,
    ) {
        rreq.hop_count = distance.hops;
        rreq.cost = self.path_cost(distance.cost);
        if let Some(known) = self.table.get(rreq.destination).and_then(|route| route.known_seqno())
            && rreq.destination_seqno.is_none_or(|requested| is_newer(known, requested))
        {
            rreq.destination_seqno = Some(known);
        }
        self.counters.rreq_relayed += 1;
        let packet = self.message(AodvMessage::Rreq(rreq), Ipv4Packet::BROADCAST, envelope.ttl - 1, envelope.created);
        self.broadcast(now, packet, true, out);
    }
}

/// Converts to the lifetime field of a reply.
fn saturating_millis(dur: Dur) -> u32 {
    u32::try_from(dur.as_millis()).unwrap_or(u32::MAX)
}
