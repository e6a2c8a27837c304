//! Route selection (RFC 8966 section 3.6, appendix A.3), and the updates it triggers (3.7.2).

use super::Babel;
use super::outbox::Item;
use super::table::{Route, Selected};
use crate::wire::{BABEL_INFINITY, BabelTlv};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// A route that may be selected.
#[derive(Clone, Copy)]
struct Candidate {
    metric: u16,
    smoothed: u16,
    /// Index among the routes of its destination.
    place: usize,
}

impl Babel {
    /// Returns the metric of a route at this node: the neighbour's metric plus the link cost (section 3.5.2).
    pub(super) fn metric_of(&self, route: &Route) -> u16 {
        route.refmetric.saturating_add(self.neighbours.cost(route.neighbour))
    }

    /// Selects among the routes of the destination at this index. Routes that are unfeasible or have an infinite metric
    /// are never selected; the current route is replaced only if both the metric and the smoothed metric of another are
    /// better.
    pub(super) fn select(&mut self, now: Time, at: usize) {
        let destination = &mut self.table.0[at];
        let before = destination.selected;
        let (mut kept, mut best) = (None::<Candidate>, None::<Candidate>);
        for (n, route) in destination.routes.iter_mut().enumerate() {
            let metric = route.refmetric.saturating_add(self.neighbours.cost(route.neighbour));
            route.smoothed.follow(now, metric, self.config.smoothing_half_life);
            let feasible =
                || self.sources.is_feasible(destination.prefix, route.router_id, route.seqno, route.refmetric);
            if metric == BABEL_INFINITY || !feasible() {
                continue;
            }
            let candidate = Candidate { metric, smoothed: route.smoothed.value(), place: n };
            if before.is_some_and(|before| before.neighbour == route.neighbour) {
                kept = Some(candidate);
            }
            if best.is_none_or(|best| metric < best.metric) {
                best = Some(candidate);
            }
        }
        let stays =
            |kept: &Candidate| best.is_none_or(|best| best.metric >= kept.metric || best.smoothed >= kept.smoothed);
        let chosen = kept.filter(stays).or(best);
        let after = chosen.map(|Candidate { metric, place, .. }| {
            let route = &destination.routes[place];
            // If the neighbour does not say, estimate the hops as if all links were lossless.
            let advertised = route.hops.map(|hops| hops.saturating_add(1));
            let hops = advertised.unwrap_or_else(|| {
                let [metric, link] = [metric, self.config.rxcost.max(1)].map(u32::from);
                let links = (metric + link / 2) / link;
                u8::try_from(links.max(1)).unwrap_or(u8::MAX)
            });
            let &Route { neighbour, next_hop, router_id, seqno, .. } = route;
            Selected { neighbour, next_hop, router_id, seqno, metric, hops }
        });
        destination.selected = after;
        self.report(now, at, before, after);
    }

    /// Sends triggered updates: urgent and twice if a route is lost or leads to another router; otherwise only if the
    /// metric has changed by the cost of a perfect link. Changes of only sequence number or next hop wait for the
    /// periodic update.
    fn report(&mut self, now: Time, at: usize, before: Option<Selected>, after: Option<Selected>) {
        let destination = &self.table.0[at];
        let (prefix, announced) = (destination.prefix, destination.announced);
        match (before, after) {
            (None, None) => {}
            (Some(lost), None) => {
                self.counters.routes_lost += 1;
                self.say_twice(now, prefix);
                // Section 3.8.2.1.
                self.ask_for_seqno(now, prefix, lost.router_id, lost.seqno, None);
            }
            (None, Some(_)) => {
                self.counters.routes_found += 1;
                self.requests.withdraw(prefix);
                self.say(now, None, Item::Update(prefix));
            }
            (Some(before), Some(after)) => {
                self.counters.routes_changed += u64::from(before.next_hop != after.next_hop);
                if before.router_id != after.router_id {
                    self.say_twice(now, prefix);
                } else if announced.is_some_and(|(_, metric)| metric.abs_diff(after.metric) >= self.config.rxcost) {
                    self.say(now, None, Item::Update(prefix));
                }
            }
        }
    }

    /// Recomputes the cost of the link to a neighbour, and reselects routes if it has changed.
    pub(super) fn refresh_neighbour(&mut self, now: Time, addr: Ipv4Addr) {
        let config = self.config.clone();
        let Some(neighbour) = self.neighbours.iter_mut().find(|neighbour| neighbour.addr == addr) else { return };
        let before = neighbour.refresh(&config);
        let cost = neighbour.cost;
        if before == cost {
            return;
        }
        if before == BABEL_INFINITY {
            // The link has come up: request its routes (section 3.8.1.1).
            self.counters.links_up += 1;
            self.counters.route_requests_sent += 1;
            let request = BabelTlv::RouteRequest { prefix: None };
            self.say_soon(now, Some(addr), Item::Tlv(request));
        }
        self.counters.links_down += u64::from(cost == BABEL_INFINITY);
        for at in 0..self.table.0.len() {
            if self.table.0[at].route(addr).is_some() {
                self.select(now, at);
            }
        }
    }
}
