//! Routing as a node's own packets experience it: durations of searches and changes of the route. Nothing in the
//! protocol depends on it.

use core::net::Ipv4Addr;
use fourhop_units::Dur;

/// Times from a node's first request for a destination to the reply that gave it a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Discoveries {
    /// Number of discoveries.
    pub count: u64,
    /// Duration of the first.
    pub first: Option<Dur>,
    /// Duration of the longest.
    pub longest: Dur,
    /// Total duration.
    pub sum: Dur,
}

/// Routing as one node's packets for one destination experienced it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// How often a packet left through a different neighbour than its predecessor.
    pub route_changes: u64,
    /// Searches ended by a reply.
    pub discoveries: Discoveries,
}

/// One entry per destination of this node's packets, in order of address. The last entry used is cached, so that the
/// packets of a flow find theirs at once.
#[derive(Clone, Debug)]
pub(super) struct Usages {
    /// Maximum number of destinations; any beyond it are not recorded.
    most: usize,
    entries: Vec<Entry>,
    last: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    dst: Ipv4Addr,
    next_hop: Option<Ipv4Addr>,
    usage: Usage,
}

impl Usages {
    pub fn new(most: usize) -> Usages {
        Usages { most, entries: Vec::new(), last: 0 }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn entry(&mut self, dst: Ipv4Addr) -> Option<&mut Entry> {
        if self.entries.get(self.last).is_none_or(|entry| entry.dst != dst) {
            self.last = match self.entries.binary_search_by_key(&dst, |entry| entry.dst) {
                Ok(at) => at,
                Err(_) if self.entries.len() >= self.most => return None,
                Err(at) => {
                    self.entries.insert(at, Entry { dst, next_hop: None, usage: Usage::default() });
                    at
                }
            };
        }
        self.entries.get_mut(self.last)
    }

    /// Returns the routing that this node's own packets for `dst` have experienced so far.
    pub fn of(&self, dst: Ipv4Addr) -> Usage {
        let found = self.entries.binary_search_by_key(&dst, |entry| entry.dst);
        found.map_or(Usage::default(), |at| self.entries[at].usage)
    }

    /// Iterates over all destinations in order of address.
    pub fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, Usage)> {
        self.entries.iter().map(|entry| (entry.dst, entry.usage))
    }

    /// Records that a packet from this node leaves for `dst` through `next_hop`.
    pub fn note(&mut self, dst: Ipv4Addr, next_hop: Ipv4Addr) {
        let Some(entry) = self.entry(dst) else { return };
        if entry.next_hop != Some(next_hop) {
            entry.usage.route_changes += u64::from(entry.next_hop.is_some());
            entry.next_hop = Some(next_hop);
        }
    }

    /// Records that a reply has ended a search for `dst`.
    pub fn discovered(&mut self, dst: Ipv4Addr, took: Dur) {
        let Some(Entry { usage: Usage { discoveries: found, .. }, .. }) = self.entry(dst) else { return };
        found.count += 1;
        found.first.get_or_insert(took);
        found.longest = found.longest.max(took);
        found.sum += took;
    }
}
