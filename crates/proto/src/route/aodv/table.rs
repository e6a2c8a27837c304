//! The routing table: one entry per destination (RFC 3561 sections 2 and 6.2), with the state of the search for it.

use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

/// Order of routes with equal sequence numbers: by cost, which is 0 without a metric, then hops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Distance {
    /// Sum of the metric; 0 without one.
    pub cost: u32,
    /// Hops.
    pub hops: u8,
}

/// Returns whether sequence number `a` is newer than `b`: a signed 32-bit comparison, which survives wrap-around (RFC
/// 3561 section 6.1).
pub const fn is_newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// State of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RouteState {
    /// Packets follow it.
    Valid,
    /// Broken or expired; kept for its sequence number and hop count.
    Invalid,
    /// This node is repairing the route around a broken link; packets wait.
    InRepair,
}

/// The search for a destination, in progress or past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Search {
    /// No further request before this; `None` if no search is under way. In the past if the request was not answered.
    pub timeout: Option<Time>,
    /// When its first request was sent.
    pub begun: Option<Time>,
    /// Full floods since the last answer: at most RREQ_RETRIES plus one, which can be 256.
    pub full_floods: u16,
    /// Round trips per hop of the last three discoveries; zero if not measured yet.
    latencies: [Dur; 3],
    oldest_latency: u8,
}

impl Search {
    /// The search for a destination that has never been searched for.
    pub const NONE: Search =
        Search { timeout: None, begun: None, full_floods: 0, latencies: [Dur::ZERO; 3], oldest_latency: 0 };

    /// Records that a request was answered after `per_hop` for each hop.
    pub fn record_latency(&mut self, per_hop: Dur) {
        self.latencies[usize::from(self.oldest_latency)] = per_hop;
        self.oldest_latency = (self.oldest_latency + 1) % 3;
    }

    /// Returns the mean of the recorded latencies.
    pub fn latency_per_hop(&self) -> Option<Dur> {
        let known = self.latencies.iter().filter(|latency| !latency.is_zero());
        let count = known.clone().count() as u64;
        (count > 0).then(|| known.copied().sum::<Dur>() / count)
    }

    /// Keeps only the measurements, which outlast the search.
    fn ended(self) -> Search {
        Search { timeout: None, begun: None, full_floods: 0, ..self }
    }
}

/// Fields that few routes use. Most routes come from floods of requests: in a network of thousands of nodes, there are
/// a million of them in all tables together.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seldom {
    search: Search,
    /// Neighbours that send through the route, sorted.
    precursors: Vec<Ipv4Addr>,
}

impl Seldom {
    const NONE: Seldom = Seldom { search: Search::NONE, precursors: Vec::new() };
}

/// A routing table entry.
///
/// Invariant: `hops` is [`Route::UNKNOWN_HOPS`] in an invalid route, whose last hop count is in `last_hops`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// Where it leads.
    pub dst: Ipv4Addr,
    /// Last known sequence number of the destination.
    pub seqno: u32,
    /// Whether `seqno` is known at all.
    pub seqno_valid: bool,
    /// Whether the route is valid only because its neighbour was heard after the route broke. `seqno` is then this
    /// node's own increment: a lower bound that the neighbour may have reached by now, unfit for answering requests.
    pub heard_only: bool,
    /// Whether data has been sent over it since it came up.
    pub used: bool,
    /// Hops to the destination.
    pub hops: u8,
    /// Sum of the metric to the destination; 0 where only hops count.
    pub cost: u32,
    /// The neighbour that packets are sent to; meaningless in an invalid route.
    pub next_hop: Ipv4Addr,
    /// End of the lifetime of a valid route; when an invalid one is forgotten.
    pub expires: Time,
    /// State of the route.
    pub state: RouteState,
    /// Hops before it became invalid.
    pub last_hops: Option<u8>,
    /// How often a cheaper copy of the request that made this route was handled again.
    pub(super) better_copies: u8,
    /// TTL of the last request for the destination, or hop count of the route it found; 0 before the first.
    pub(super) last_ttl: u8,
    /// Absent if it would be [`Seldom::NONE`].
    seldom: Option<Box<Seldom>>,
}

impl Route {
    /// Hop count of an unreachable destination: more than any route has.
    pub const UNKNOWN_HOPS: u8 = u8::MAX;

    fn unknown(dst: Ipv4Addr) -> Route {
        Route {
            dst,
            seqno: 0,
            seqno_valid: false,
            heard_only: false,
            used: false,
            hops: Self::UNKNOWN_HOPS,
            cost: 0,
            next_hop: Ipv4Addr::UNSPECIFIED,
            expires: Time::ZERO,
            state: RouteState::Invalid,
            last_hops: None,
            better_copies: 0,
            last_ttl: 0,
            seldom: None,
        }
    }

    /// Returns whether packets may follow it.
    pub fn is_valid(&self) -> bool {
        self.state == RouteState::Valid
    }

    /// Returns whether it has a next hop, which includes a broken one under repair.
    pub(super) fn has_next_hop(&self) -> bool {
        self.state != RouteState::Invalid
    }

    /// Returns the hops of the route, or of its last valid one; 0 if none was ever known.
    pub(super) fn known_hops(&self) -> u8 {
        if self.hops != Self::UNKNOWN_HOPS { self.hops } else { self.last_hops.unwrap_or(0) }
    }

    /// Returns the neighbours that send through this route, in order of address.
    pub fn precursors(&self) -> &[Ipv4Addr] {
        self.seldom.as_ref().map_or(&[], |seldom| &seldom.precursors)
    }

    /// Returns the search for its destination.
    pub(super) fn search(&self) -> Search {
        self.seldom.as_ref().map_or(Search::NONE, |seldom| seldom.search)
    }

    /// Returns the search for modification.
    pub(super) fn search_mut(&mut self) -> &mut Search {
        &mut self.seldom().search
    }

    /// Ends the search: the destination was found or is no longer wanted. The next search starts from `last_ttl`.
    pub(super) fn end_search(&mut self, last_ttl: u8) {
        self.last_ttl = last_ttl;
        if let Some(seldom) = &mut self.seldom {
            seldom.search = seldom.search.ended();
            self.tidy();
        }
    }

    /// Resets the search, as if there had never been one.
    pub(super) fn forget_search(&mut self) {
        self.last_ttl = 0;
        if let Some(seldom) = &mut self.seldom {
            seldom.search = Search::NONE;
            self.tidy();
        }
    }

    fn seldom(&mut self) -> &mut Seldom {
        self.seldom.get_or_insert_with(|| Box::new(Seldom::NONE))
    }

    fn tidy(&mut self) {
        self.seldom.take_if(|seldom| **seldom == Seldom::NONE);
    }

    /// Returns the destination's sequence number for a request; `None` sets the U flag.
    pub fn known_seqno(&self) -> Option<u32> {
        self.seqno_valid.then_some(self.seqno)
    }

    /// Returns its cost and hops.
    pub(super) fn distance(&self) -> Distance {
        Distance { cost: self.cost, hops: self.hops }
    }

    /// Returns whether a route with this sequence number and distance is better than this one (RFC 3561 sections 6.2
    /// and 6.7): no number is known, or the new one is newer, or it is equal with a lower cost, or with the same cost
    /// and fewer hops. Any hop count is lower than that of an invalid route.
    pub fn accepts(&self, seqno: u32, distance: Distance) -> bool {
        let nearer = match self.hops {
            Self::UNKNOWN_HOPS => distance.hops < Self::UNKNOWN_HOPS,
            _ => distance < self.distance(),
        };
        let better = nearer || self.heard_only;
        !self.seqno_valid || is_newer(seqno, self.seqno) || (seqno == self.seqno && better)
    }

    /// Adopts the content of a message about the destination. The caller sets the lifetime.
    pub(super) fn update(&mut self, seqno: u32, distance: Distance, next_hop: Ipv4Addr) {
        if seqno != self.seqno {
            self.better_copies = 0;
        }
        self.seqno = seqno;
        self.seqno_valid = true;
        self.heard_only = false;
        (self.cost, self.hops) = (distance.cost, distance.hops);
        self.next_hop = next_hop;
        self.state = RouteState::Valid;
    }

    /// Invalidates a route that broke or expired and increments its sequence number (RFC 3561 section 6.11), so that no
    /// older route is mistaken for a fresh one.
    pub(super) fn break_down(&mut self, forget_at: Time) {
        if self.seqno_valid && !self.heard_only {
            self.seqno = self.seqno.wrapping_add(1);
        }
        self.invalidate(forget_at);
    }

    /// Handles a message from the neighbour that this entry is for: makes it a valid route of one hop, with number and
    /// cost unchanged.
    pub(super) fn hear(&mut self) {
        self.heard_only |= !self.is_valid();
        self.next_hop = self.dst;
        self.hops = 1;
        self.state = RouteState::Valid;
    }

    /// Invalidates the route without touching the sequence number.
    pub(super) fn invalidate(&mut self, forget_at: Time) {
        if self.hops != Self::UNKNOWN_HOPS {
            self.last_hops = Some(self.hops);
            self.hops = Self::UNKNOWN_HOPS;
        }
        self.heard_only = false;
        self.used = false;
        self.state = RouteState::Invalid;
        self.expires = forget_at;
    }

    /// Adds a precursor, up to `limit`: route errors to more than one are broadcast in any case.
    pub(super) fn add_precursor(&mut self, neighbour: Ipv4Addr, limit: usize) {
        if let Err(at) = self.precursors().binary_search(&neighbour)
            && self.precursors().len() < limit
        {
            self.seldom().precursors.insert(at, neighbour);
        }
    }

    pub(super) fn remove_precursor(&mut self, neighbour: Ipv4Addr) {
        if let Some(seldom) = &mut self.seldom
            && let Ok(at) = seldom.precursors.binary_search(&neighbour)
        {
            seldom.precursors.remove(at);
            self.tidy();
        }
    }

    pub(super) fn clear_precursors(&mut self) {
        if let Some(seldom) = &mut self.seldom {
            seldom.precursors.clear();
            self.tidy();
        }
    }
}

/// All entries, in order of address.
///
/// Entries are large and never move on insertion; lookups use a separate index of small entries, which do move. Floods
/// look up the tables of thousands of nodes in turn, each from memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    routes: Vec<Route>,
    /// Index into `routes` of each entry, in order of address.
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    dst: u32,
    at: u32,
}

/// Makes room for one more; a full list grows by a quarter. Lists that double are a third empty on average, and each of
/// thousands of nodes has one.
fn grow<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 4).max(4));
    }
}

impl Table {
    fn place(&self, dst: Ipv4Addr) -> Result<usize, usize> {
        self.places.binary_search_by_key(&dst.to_bits(), |place| place.dst)
    }

    fn find(&self, dst: Ipv4Addr) -> Option<usize> {
        self.place(dst).ok().map(|nth| self.places[nth].at as usize)
    }

    pub fn get(&self, dst: Ipv4Addr) -> Option<&Route> {
        self.find(dst).map(|at| &self.routes[at])
    }

    pub fn get_mut(&mut self, dst: Ipv4Addr) -> Option<&mut Route> {
        self.find(dst).map(|at| &mut self.routes[at])
    }

    /// Returns the entry for `dst`, created if missing.
    pub fn entry(&mut self, dst: Ipv4Addr) -> &mut Route {
        let at = match self.place(dst) {
            Ok(nth) => self.places[nth].at as usize,
            Err(nth) => {
                let at = self.routes.len();
                grow(&mut self.places);
                grow(&mut self.routes);
                self.places.insert(nth, Place { dst: dst.to_bits(), at: at as u32 });
                self.routes.push(Route::unknown(dst));
                at
            }
        };
        &mut self.routes[at]
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Iterates in order of address.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.places.iter().map(|place| &self.routes[place.at as usize])
    }

    /// Returns the entry at this position in order of address.
    pub fn nth_mut(&mut self, nth: usize) -> &mut Route {
        &mut self.routes[self.places[nth].at as usize]
    }

    /// Removes all entries for which `keep` returns false; it is called in no particular order.
    pub fn retain(&mut self, mut keep: impl FnMut(&Route) -> bool) {
        let mut at = 0;
        while at < self.routes.len() {
            if keep(&self.routes[at]) {
                at += 1;
                continue;
            }
            let gone = self.routes.swap_remove(at).dst;
            if let Ok(nth) = self.place(gone) {
                self.places.remove(nth);
            }
            if let Some(moved) = self.routes.get(at)
                && let Ok(nth) = self.place(moved.dst)
            {
                self.places[nth].at = at as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// In a flood, 10,000 nodes have a million routes: every byte added here is added a million times.
    #[test]
    fn a_route_is_small_and_tables_are_full() {
        assert!(size_of::<Route>() <= 48, "{}", size_of::<Route>());
        let mut table = Table::default();
        for n in 0..1_000_u32 {
            table.entry(Ipv4Addr::from_bits(n));
            assert!(
                table.routes.capacity() * 4 <= table.len() * 5 + 16,
                "{} of {}",
                table.len(),
                table.routes.capacity()
            );
        }
    }

    #[test]
    fn what_few_routes_have_takes_memory_only_there() {
        let mut route = Route::unknown(Ipv4Addr::LOCALHOST);
        let fresh = route.clone();
        route.end_search(3);
        route.remove_precursor(Ipv4Addr::BROADCAST);
        assert_eq!(route, Route { last_ttl: 3, ..fresh.clone() });
        route.search_mut().timeout = Some(Time::ZERO);
        route.add_precursor(Ipv4Addr::BROADCAST, 1);
        route.clear_precursors();
        assert_eq!(route.search().timeout, Some(Time::ZERO));
        route.end_search(0);
        assert_eq!(route, fresh);
        route.search_mut().record_latency(Dur::from_millis(3));
        route.end_search(0);
        assert_eq!(route.search().latency_per_hop(), Some(Dur::from_millis(3)), "kept for the next search");
        route.forget_search();
        assert_eq!(route, fresh);
    }

    proptest! {
        /// A table is a map in order of address, whatever is added and removed.
        #[test]
        fn it_is_a_map_in_order(steps in prop::collection::vec((any::<bool>(), 0u8..40), 0..200)) {
            let (mut table, mut model) = (Table::default(), BTreeMap::new());
            for (serial, (adds, n)) in (0u32..).zip(steps) {
                let dst = Ipv4Addr::new(10, 0, 0, n);
                if adds {
                    table.entry(dst).seqno = serial;
                    model.insert(dst, serial);
                } else {
                    table.retain(|route| route.dst.octets()[3] % 8 != n % 8);
                    model.retain(|dst, _| dst.octets()[3] % 8 != n % 8);
                }
                let found: Vec<_> = table.iter().map(|route| (route.dst, route.seqno)).collect();
                prop_assert_eq!(&found, &model.iter().map(|(&dst, &serial)| (dst, serial)).collect::<Vec<_>>());
                prop_assert_eq!(table.get(dst).map(|route| route.seqno), model.get(&dst).copied());
                prop_assert!((0..table.len()).all(|nth| table.nth_mut(nth).dst == found[nth].0));
            }
        }
    }
}
