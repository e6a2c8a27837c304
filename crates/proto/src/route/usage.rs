//! The routing that a node's own packets experience: durations of searches, and changes of the route. Nothing in the
//! protocol depends on it.

use core::net::Ipv4Addr;
use fourhop_units::Dur;

/// Times from a node's first request for a destination to the reply that gave it a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Discoveries {
    /// How many.
    pub count: u64,
    /// The first.
    pub first: Option<Dur>,
    /// The longest.
    pub longest: Dur,
    /// All together.
    pub sum: Dur,
}

/// Routing as the packets of one node for one destination experienced it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// How often a packet left through another neighbour than the one before it.
    pub route_changes: u64,
    /// Searches that a reply ended.
    pub discoveries: Discoveries,
}

/// One entry for each destination that this node had packets for, in order of address; a flow's peer is found in the
/// last place looked at.
#[derive(Clone, Debug)]
pub(super) struct Usages {
    /// Most destinations; no others are noted then.
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

    /// Routing as this node's own packets for `dst` experienced it so far.
    pub fn of(&self, dst: Ipv4Addr) -> Usage {
        let found = self.entries.binary_search_by_key(&dst, |entry| entry.dst);
        found.map_or(Usage::default(), |at| self.entries[at].usage)
    }

    /// Fate of its packets, by destination in order of address.
    pub fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, Usage)> {
        self.entries.iter().map(|entry| (entry.dst, entry.usage))
    }

    /// A packet made here leaves for `dst` through `next_hop`.
    pub fn note(&mut self, dst: Ipv4Addr, next_hop: Ipv4Addr) {
        let Some(entry) = self.entry(dst) else { return };
        if entry.next_hop != Some(next_hop) {
            entry.usage.route_changes += u64::from(entry.next_hop.is_some());
            entry.next_hop = Some(next_hop);
        }
    }

    /// A reply has ended a search for `dst`.
    pub fn discovered(&mut self, dst: Ipv4Addr, took: Dur) {
        let Some(Entry { usage: Usage { discoveries: found, .. }, .. }) = self.entry(dst) else { return };
        found.count += 1;
        found.first.get_or_insert(took);
        found.longest = found.longest.max(took);
        found.sum += took;
    }
}
