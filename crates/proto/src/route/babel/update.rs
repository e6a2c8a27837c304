//! Received updates (RFC 8966 sections 3.5.3 and 3.8.2.2), and routes that are not renewed (3.5.3, 3.8.2.3).

use super::outbox::Item;
use super::table::Route;
use super::{Babel, MOST};
use crate::wire::Prefix;
use crate::wire::{BABEL_INFINITY, BabelTlv, BabelUpdate};
use core::net::Ipv4Addr;
use fourhop_units::Time;

impl Babel {
    /// Handles a route advertised by a neighbour.
    pub(super) fn handle_update(&mut self, now: Time, from: Ipv4Addr, update: &BabelUpdate) {
        let &BabelUpdate { prefix, router_id, seqno, metric, .. } = update;
        self.counters.updates_received += 1;
        // Ignore a route that leads straight back here.
        let leads_back = update.next_hop.is_some_and(|next_hop| self.is_own(next_hop));
        if leads_back || self.announces(prefix) || self.neighbours.get(from).is_none() {
            return;
        }
        let Some(at) = self.table.entry(prefix, MOST) else { return };
        let feasible = self.sources.is_feasible(prefix, router_id, seqno, metric);
        let destination = &mut self.table.0[at];
        let selected = destination.selected.filter(|selected| selected.neighbour == from);
        match destination.routes.binary_search_by_key(&from, |route| route.neighbour) {
            Err(place) => destination.routes.insert(place, Route::new(now, from, update)),
            Ok(_) if !feasible && selected.is_some_and(|selected| selected.router_id == router_id) => {
                // The route stays as it is; a newer number is requested before it expires.
                self.counters.unfeasible_ignored += 1;
                return self.ask_for_seqno(now, prefix, router_id, seqno, Some(from));
            }
            Ok(place) => destination.routes[place].take(now, update),
        }
        if self.requests.answer(prefix, router_id, seqno) {
            self.say_soon(now, None, Item::Update(prefix));
        }
        self.select(now, at);
        if !feasible && self.would_be_better(at, from) {
            self.ask_for_seqno(now, prefix, router_id, seqno, Some(from));
        }
    }

    /// Returns whether this neighbour's route would be selected if it were feasible.
    fn would_be_better(&self, at: usize, neighbour: Ipv4Addr) -> bool {
        let destination = &self.table.0[at];
        let best = destination.selected.map_or(BABEL_INFINITY, |selected| selected.metric);
        let mut from = destination.routes.iter().filter(|route| route.neighbour == neighbour);
        from.any(|route| self.metric_of(route) < best)
    }

    /// Handles the retraction of one route, or of all routes of a neighbour.
    pub(super) fn handle_retraction(&mut self, now: Time, from: Ipv4Addr, prefix: Option<Prefix>) {
        self.counters.retractions_received += 1;
        let places = match prefix {
            Some(prefix) => self.table.find(prefix).map_or(0..0, |at| at..at + 1),
            None => 0..self.table.0.len(),
        };
        for at in places {
            if let Some(route) = self.table.0[at].route(from) {
                route.refmetric = BABEL_INFINITY;
                self.select(now, at);
            }
        }
    }

    /// Requests the renewal of routes in use, and expires those that were not renewed.
    pub(super) fn routes_timeout(&mut self, now: Time) {
        for at in 0..self.table.0.len() {
            let destination = &mut self.table.0[at];
            let used = destination.selected.map(|selected| selected.neighbour);
            let mut expired = false;
            destination.routes.retain_mut(|route| {
                let due = route.expires <= now;
                expired |= due;
                !due || !route.expire(now)
            });
            let waning = destination.routes.iter_mut().find(|route| {
                used == Some(route.neighbour)
                    && !route.asked
                    && route.refmetric != BABEL_INFINITY
                    && route.renew_at() <= now
            });
            if let Some(route) = waning {
                route.asked = true;
                let (to, prefix) = (Some(route.neighbour), Some(destination.prefix));
                self.counters.route_requests_sent += 1;
                self.say_soon(now, to, Item::Tlv(BabelTlv::RouteRequest { prefix }));
            }
            if expired {
                self.counters.routes_expired += 1;
                self.select(now, at);
            }
        }
        self.table.0.retain(|destination| !destination.routes.is_empty());
    }
}
