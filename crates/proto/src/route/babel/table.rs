//! The route table (RFC 8966 section 3.2.6) and its selected routes.

use super::config::hold;
use crate::wire::Prefix;
use crate::wire::{BABEL_INFINITY, BabelUpdate, RouterId};
use core::cmp::Reverse;
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

/// A route advertised by a neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub neighbour: Ipv4Addr,
    pub next_hop: Ipv4Addr,
    pub router_id: RouterId,
    pub seqno: u16,
    /// The neighbour's metric; infinite if the route was retracted or has expired.
    pub refmetric: u16,
    /// Hops from the neighbour, if it reports them.
    pub hops: Option<u8>,
    /// Hold time of the last update.
    hold: Dur,
    pub expires: Time,
    /// Whether an update has been requested since the last one.
    pub asked: bool,
    pub smoothed: Smoothed,
}

impl Route {
    pub fn new(now: Time, neighbour: Ipv4Addr, update: &BabelUpdate) -> Route {
        let mut route = Route {
            neighbour,
            next_hop: neighbour,
            router_id: update.router_id,
            seqno: 0,
            refmetric: BABEL_INFINITY,
            hops: None,
            hold: Dur::ZERO,
            expires: now,
            asked: false,
            smoothed: Smoothed::default(),
        };
        route.take(now, update);
        route
    }

    /// Adopts an update (section 3.5.3).
    pub fn take(&mut self, now: Time, update: &BabelUpdate) {
        self.next_hop = update.next_hop.unwrap_or(self.neighbour);
        (self.router_id, self.seqno, self.refmetric) = (update.router_id, update.seqno, update.metric);
        (self.hops, self.hold, self.asked) = (update.hops, hold(update.interval), false);
        self.expires = now + self.hold;
    }

    /// Expires the route: the first time it becomes unreachable, the second time it is to be removed. Returns true for
    /// the latter.
    pub fn expire(&mut self, now: Time) -> bool {
        let forgotten = self.refmetric == BABEL_INFINITY;
        (self.refmetric, self.expires) = (BABEL_INFINITY, now + self.hold);
        forgotten
    }

    /// Returns when to request an update for a route in use (section 3.8.2.3): when an eighth of its hold time is left.
    pub fn renew_at(&self) -> Time {
        self.expires - self.hold / 8
    }
}

/// A smoothed metric, which follows the actual one slowly (appendix A.3).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Smoothed {
    value: u16,
    at: Time,
}

impl Smoothed {
    /// Advances to `now`, when the metric is `metric`.
    pub fn follow(&mut self, now: Time, metric: u16, half_life: Dur) {
        if half_life.is_zero() || metric == BABEL_INFINITY || self.value == BABEL_INFINITY || self.at == Time::ZERO {
            (self.value, self.at) = (metric, now);
            return;
        }
        let passed = now.saturating_since(self.at);
        let halved = passed.div_floor(half_life).min(16);
        let mut apart = (i64::from(self.value) - i64::from(metric)) >> halved;
        // Within a half-life, a straight line approximates the exponential, at most 6 % above it.
        let rest = passed.saturating_sub(half_life.saturating_mul(halved)).min(half_life);
        apart -= apart * rest.as_nanos() as i64 / half_life.as_nanos() as i64 / 2;
        (self.value, self.at) = ((i64::from(metric) + apart) as u16, now);
    }

    pub fn value(self) -> u16 {
        self.value
    }
}

/// The selected route to a destination, as of its last selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selected {
    /// The neighbour that advertises it.
    pub neighbour: Ipv4Addr,
    /// Where packets are sent.
    pub next_hop: Ipv4Addr,
    /// Router that originated the announcement.
    pub router_id: RouterId,
    /// Sequence number of the announcement.
    pub seqno: u16,
    /// Cost of the path.
    pub metric: u16,
    /// Hops, as reported by the neighbour, or estimated from the cost of a lossless link.
    pub hops: u8,
}

/// A prefix and the routes to it.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    pub prefix: Prefix,
    /// Sorted by neighbour.
    pub routes: Vec<Route>,
    pub selected: Option<Selected>,
    /// Router-id and metric of the last update sent.
    pub announced: Option<(RouterId, u16)>,
}

impl Destination {
    pub fn route(&mut self, neighbour: Ipv4Addr) -> Option<&mut Route> {
        self.routes.iter_mut().find(|route| route.neighbour == neighbour)
    }
}

/// All destinations: longest prefix first, so hosts before networks, then by address.
#[derive(Clone, Default, Debug)]
pub(super) struct Table(pub Vec<Destination>);

impl Table {
    fn place(&self, prefix: Prefix) -> Result<usize, usize> {
        let key = |prefix: Prefix| (Reverse(prefix.bits()), prefix.addr());
        self.0.binary_search_by_key(&key(prefix), |destination| key(destination.prefix))
    }

    pub fn find(&self, prefix: Prefix) -> Option<usize> {
        self.place(prefix).ok()
    }

    pub fn get(&self, prefix: Prefix) -> Option<&Destination> {
        self.find(prefix).map(|at| &self.0[at])
    }

    /// Returns the index of `prefix`, which is added unless there are `most` already.
    pub fn entry(&mut self, prefix: Prefix, most: usize) -> Option<usize> {
        match self.place(prefix) {
            Ok(at) => Some(at),
            Err(_) if self.0.len() >= most => None,
            Err(at) => {
                self.0.insert(at, Destination { prefix, routes: Vec::new(), selected: None, announced: None });
                Some(at)
            }
        }
    }

    /// Returns the selected route for an address. The longest prefix decides even if it is no longer reachable: falling
    /// back to a shorter one while the longer is remembered might cause a loop (section 3.5.4).
    pub fn lookup(&self, dst: Ipv4Addr) -> Option<&Selected> {
        let found = match self.place(Prefix::host(dst)) {
            Ok(at) => &self.0[at],
            Err(at) => self.0[at..].iter().find(|destination| destination.prefix.contains(dst))?,
        };
        found.selected.as_ref()
    }

    /// Returns when the first route must be renewed or expires.
    pub fn next(&self) -> Option<Time> {
        let of = |destination: &Destination| {
            let used = destination.selected.map(|selected| selected.neighbour);
            let at = move |route: &Route| match used == Some(route.neighbour) && !route.asked {
                true => route.renew_at(),
                false => route.expires,
            };
            destination.routes.iter().map(at).min()
        };
        self.0.iter().filter_map(of).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smoothed_metric_comes_half_way_in_its_half_life() {
        let half_life = Dur::from_secs(4);
        let mut smoothed = Smoothed::default();
        smoothed.follow(Time::from_secs(1), 1_000, half_life);
        assert_eq!(smoothed.value(), 1_000, "the first is taken as it is");
        smoothed.follow(Time::from_secs(1), 200, half_life);
        assert_eq!(smoothed.value(), 1_000);
        smoothed.follow(Time::from_secs(5), 200, half_life);
        assert_eq!(smoothed.value(), 600);
        smoothed.follow(Time::from_secs(7), 200, half_life);
        assert_eq!(smoothed.value(), 500);
        smoothed.follow(Time::from_secs(300), 200, half_life);
        assert_eq!(smoothed.value(), 200);
        smoothed.follow(Time::from_secs(301), BABEL_INFINITY, half_life);
        smoothed.follow(Time::from_secs(302), 300, half_life);
        assert_eq!(smoothed.value(), 300, "what comes back begins anew");
    }

    /// Section 3.5.4.
    #[test]
    fn a_longer_prefix_without_a_route_hides_a_shorter_one() {
        let [near, far] = [1, 2].map(|n| Ipv4Addr::new(10, 0, 0, n));
        let selected = |next_hop| Selected {
            neighbour: next_hop,
            next_hop,
            router_id: RouterId::of_address(next_hop).expect("a name"),
            seqno: 1,
            metric: 256,
            hops: 1,
        };
        let mut table = Table::default();
        let all = table.entry(Prefix::new(near, 24).expect("a prefix"), 9).expect("room");
        table.0[all].selected = Some(selected(near));
        assert_eq!(table.lookup(far).map(|route| route.next_hop), Some(near));
        let one = table.entry(Prefix::host(far), 9).expect("room");
        assert_eq!(table.lookup(far), None);
        table.0[one].selected = Some(selected(far));
        assert_eq!(table.lookup(far).map(|route| route.next_hop), Some(far));
        assert_eq!(table.lookup(Ipv4Addr::new(10, 0, 0, 9)).map(|route| route.next_hop), Some(near));
        assert_eq!(table.lookup(Ipv4Addr::new(10, 0, 1, 1)), None);
        assert_eq!(table.entry(Prefix::host(near), 2), None, "full");
    }
}
