//! What a node's own packets see of routing: how long searches took, how often the route changed under them. Nothing in
//! the protocol depends on it.

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

/// What the packets of one node for one destination saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// How often a packet left through another neighbour than the one before it.
    pub route_changes: u64,
    /// Searches that a reply ended.
    pub discoveries: Discoveries,
}

/// One entry for each destination that this node had packets for, in order of address; a flow's peer is found in the
/// last place looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Usages {
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
    fn entry(&mut self, dst: Ipv4Addr) -> &mut Entry {
        if self.entries.get(self.last).is_none_or(|entry| entry.dst != dst) {
            self.last = match self.entries.binary_search_by_key(&dst, |entry| entry.dst) {
                Ok(at) => at,
                Err(at) => {
                    self.entries.insert(at, Entry { dst, next_hop: None, usage: Usage::default() });
                    at
                }
            };
        }
        &mut self.entries[self.last]
    }

    /// What this node's own packets for `dst` saw so far.
    pub fn of(&self, dst: Ipv4Addr) -> Usage {
        let found = self.entries.binary_search_by_key(&dst, |entry| entry.dst);
        found.map_or(Usage::default(), |at| self.entries[at].usage)
    }

    /// A packet made here leaves for `dst` through `next_hop`.
    pub fn note(&mut self, dst: Ipv4Addr, next_hop: Ipv4Addr) {
        let entry = self.entry(dst);
        if entry.next_hop != Some(next_hop) {
            entry.usage.route_changes += u64::from(entry.next_hop.is_some());
            entry.next_hop = Some(next_hop);
        }
    }

    /// A reply has ended a search for `dst`.
    pub fn discovered(&mut self, dst: Ipv4Addr, took: Dur) {
        let found = &mut self.entry(dst).usage.discoveries;
        found.count += 1;
        found.first.get_or_insert(took);
        found.longest = found.longest.max(took);
        found.sum += took;
    }
}
