//! Memory limits of a node, so that forged messages cannot exhaust its memory.
//!
//! A full table evicts the least valuable route: an invalid one if possible, else one that no data has used, and among
//! these the one that expires first. Routes that carry data, and searches and repairs in progress, stay. If there is
//! nothing else to evict, the new entry is refused: a message is ignored, and a packet that needs a search is dropped.
//! A route evicted before DELETE_PERIOD loses its sequence number, which RFC 3561 section 6.1 requires to be kept; a
//! full table cannot keep it.
//!
//! The send buffer has its own limit, [`Config::buffer_capacity`](super::Config::buffer_capacity).

use super::{Aodv, RouteState, Usages};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// Maximum number of entries of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Entries of the routing table. The node's own statistics cover at most as many destinations.
    pub routes: usize,
    /// Requests remembered to detect duplicates; the oldest are dropped.
    pub requests: usize,
    /// Neighbours whose HELLOs or signal strength are tracked, and precursors per route.
    pub neighbours: usize,
    /// Messages that wait for their jitter; any beyond that are not relayed.
    pub messages: usize,
}

impl Limits {
    /// More than any network needs: a million of each. A device with less memory than a simulator uses less.
    pub const AMPLE: Limits = Limits { routes: 1 << 20, requests: 1 << 20, neighbours: 1 << 20, messages: 1 << 20 };
}

impl Aodv {
    /// Sets limits other than the default, [`Limits::AMPLE`].
    pub fn with_limits(self, limits: Limits) -> Aodv {
        Aodv { limits, usages: Usages::new(limits.routes), ..self }
    }

    /// Returns whether the table has an entry for `dst` or room for one. Makes room if possible.
    pub(super) fn has_room(&mut self, now: Time, dst: Ipv4Addr) -> bool {
        if self.table.len() < self.limits.routes || self.table.get(dst).is_some() {
            return true;
        }
        let worthless = self.table.iter().filter(|route| match route.state {
            RouteState::Valid => !route.used,
            RouteState::Invalid => route.search().timeout.is_none_or(|timeout| timeout <= now),
            RouteState::InRepair => false,
        });
        let Some(least) = worthless.min_by_key(|route| (route.is_valid(), route.expires)).map(|route| route.dst) else {
            self.counters.routes_refused += 1;
            return false;
        };
        self.counters.routes_displaced += 1;
        self.table.retain(|route| route.dst != least);
        true
    }
}
