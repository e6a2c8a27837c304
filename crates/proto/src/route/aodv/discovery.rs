//! Requests of this node: expanding ring search, retries, rate limit (RFC 3561 sections 6.3 and 6.4).

use super::{Action, AfterFailure, Aodv, FirstSearch, OwnSeqno, RepairRule, Retry, RouteState, SearchTimeout};
use crate::drop::DropReason;
use crate::wire::{AodvMessage, Ipv4Packet, Rreq};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

impl Aodv {
    /// Sends a request for `dst` if one is due: there is no route, and no earlier request still waits for an answer.
    pub(super) fn search(&mut self, now: Time, dst: Ipv4Addr, out: &mut Vec<Action>) {
        // A copy, because the code below mutates `self`; searches are rare.
        let config = *self.config;
        if !self.has_room(now, dst) {
            self.buffer.drop_all(now, dst, DropReason::RouteTableFull, out);
            return;
        }
        let route = self.table.entry(dst);
        if route.is_valid() || route.search().timeout.is_some_and(|timeout| timeout > now) {
            return;
        }
        if route.search().full_floods > u16::from(config.rreq_retries) {
            self.fail_search(now, dst, out);
            return;
        }
        if let Err(allowed_at) = self.rreq_rate.try_pass(now) {
            self.table.entry(dst).search_mut().timeout = Some(allowed_at);
            self.watch_search(allowed_at);
            return;
        }
        let route = self.table.entry(dst);
        let last_hops = match config.first_search {
            FirstSearch::FullFlood => Some(route.last_hops.unwrap_or(u8::MAX)),
            FirstSearch::TtlStart => route.last_hops,
        };
        let first = route.last_ttl == 0;
        self.counters.rreq_repeated += u64::from(!first && route.search().timeout.is_some());
        let ttl = match (route.last_ttl.max(last_hops.unwrap_or(0)), config.first_search) {
            (0, _) => config.ttl_start,
            // RFC 3561 section 6.4: hop count + TTL_INCREMENT, whatever the threshold.
            (last, FirstSearch::TtlStart) if first => last.saturating_add(config.ttl_increment),
            (last, _) if last < config.ttl_threshold => last.saturating_add(config.ttl_increment),
            _ => config.net_diameter,
        }
        .min(config.net_diameter);
        let full = ttl == config.net_diameter;
        route.last_ttl = ttl;
        let search = route.search_mut();
        search.full_floods += u16::from(full);
        let floods = u64::from(search.full_floods);
        let wait = match config.search_timeout {
            SearchTimeout::Traversal if full => {
                // RFC 3561 section 6.3: doubled with each attempt.
                config.net_traversal_time().saturating_mul(1 << (floods - 1).min(16))
            }
            SearchTimeout::Traversal => config.ring_traversal_time(ttl),
            SearchTimeout::Fixed(wait) => wait,
            SearchTimeout::Measured { max } => {
                let per_hop = search.latency_per_hop().unwrap_or(config.node_traversal_time);
                per_hop.saturating_mul(2 * u64::from(ttl) * floods.max(1)).min(max)
            }
        };
        self.send_request(now, dst, ttl, wait, out);
    }

    /// Sends a request with this TTL and waits for its reply.
    pub(super) fn send_request(&mut self, now: Time, dst: Ipv4Addr, ttl: u8, wait: Dur, out: &mut Vec<Action>) {
        self.seqno = self.seqno.wrapping_add(match self.config.own_seqno {
            OwnSeqno::Rfc => 1,
            OwnSeqno::Even => 2,
        });
        let route = self.table.entry(dst);
        let search = route.search_mut();
        search.timeout = Some(now + wait);
        search.begun.get_or_insert(now);
        if route.state == RouteState::InRepair {
            // ns-2 clears the lifetime of a destination it searches for; only a route under repair still has one.
            route.expires = Time::ZERO;
        }
        let rreq = Rreq {
            hop_count: 0,
            rreq_id: self.rreq_id,
            destination: dst,
            destination_seqno: route.known_seqno(),
            originator: self.addr,
            originator_seqno: self.seqno,
            destination_only: self.config.destination_only,
            gratuitous: self.config.gratuitous,
            cost: self.path_cost(0),
        };
        self.rreq_id = self.rreq_id.wrapping_add(1);
        self.counters.rreq_originated += 1;
        let packet = self.message(AodvMessage::Rreq(rreq), Ipv4Packet::BROADCAST, ttl, now);
        self.broadcast(now, packet, false, out);
        self.watch_search(now + wait);
    }

    /// Ends a search whose requests all went unanswered; the waiting packets are lost.
    fn fail_search(&mut self, now: Time, dst: Ipv4Addr, out: &mut Vec<Action>) {
        self.counters.searches_failed += 1;
        self.buffer.drop_all(now, dst, DropReason::DiscoveryFailed, out);
        let route = self.table.entry(dst);
        match self.config.after_failure {
            AfterFailure::Restart => route.end_search(0),
            AfterFailure::LockOut(lock_out) => {
                route.end_search(route.last_ttl);
                route.search_mut().timeout = Some(now + lock_out);
                self.watch_search(now + lock_out);
            }
        }
    }

    /// With [`Retry::Timer`], schedules a sweep for the end of a waiting time.
    fn watch_search(&mut self, timeout: Time) {
        if self.config.retry == Retry::Timer {
            self.sweep_by(timeout);
        }
    }

    /// Advances the search for `dst`, as part of a sweep.
    pub(super) fn sweep_search(&mut self, now: Time, dst: Ipv4Addr, out: &mut Vec<Action>) {
        if self.config.retry != Retry::Timer || self.waits_for_repair(dst) {
            return;
        }
        let Some(timeout) = self.table.get(dst).and_then(|route| route.search().timeout) else { return };
        if timeout > now {
            self.sweep_by(timeout);
        } else if self.buffer.holds(dst) {
            self.search(now, dst, out);
        } else if let Some(route) = self.table.get_mut(dst) {
            // No packet waits any more: a later one starts from scratch.
            route.end_search(0);
        }
    }

    /// Handles the tick of [`Retry::PacketOrTick`]: sends a request for each destination with waiting packets.
    pub(super) fn retry_all(&mut self, now: Time, out: &mut Vec<Action>) {
        let mut at = 0;
        let mut last = None;
        while let Some(dst) = self.buffer.destination(at) {
            let before = self.buffer.len();
            if last != Some(dst) {
                self.search(now, dst, out);
            }
            last = Some(dst);
            // A search that fails here removes the destination's packets from the buffer.
            at = if self.buffer.len() < before { 0 } else { at + 1 };
        }
        self.retry_at = match self.config.retry {
            Retry::PacketOrTick(tick) if !self.buffer.is_empty() => Some(now.next_multiple_of(tick)),
            _ => None,
        };
    }

    /// Returns whether `dst` is under repair by a single request, so that no other may be sent.
    pub(super) fn waits_for_repair(&self, dst: Ipv4Addr) -> bool {
        self.config.repair == RepairRule::WithinMaxRepairTtl
            && self.table.get(dst).is_some_and(|route| route.state == RouteState::InRepair)
    }
}
