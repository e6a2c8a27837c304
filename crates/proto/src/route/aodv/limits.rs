//! Limits of a node's memory, so that forged messages cannot fill it.
//!
//! A full table evicts the least valuable route: first an invalid one, then one that no data has used, and among these
//! the one that expires first. Routes that carry data, searches and repairs in progress stay; if there is nothing else,
//! the new entry is refused: a message is ignored, a packet that needs a search is dropped. A route evicted before
//! DELETE_PERIOD loses its sequence number, which RFC 3561 section 6.1 requires to be kept; a full table cannot keep
//! it.
//!
//! The send buffer has its own limit, [`Config::buffer_capacity`](super::Config::buffer_capacity).

use super::{Aodv, RouteState, Usages};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// The most that a node remembers of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Entries of the routing table. A node's own statistics have as many destinations at most.
    pub routes: usize,
    /// Requests remembered to detect duplicates; the oldest are dropped.
    pub requests: usize,
    /// Neighbours whose HELLOs or strength are watched, and precursors of a route.
    pub neighbours: usize,
    /// Messages that wait for their jitter; more are not passed on.
    pub messages: usize,
}

impl Limits {
    /// More than any network needs: a million of each. A device with less memory than a simulator takes less.
    pub const AMPLE: Limits = Limits { routes: 1 << 20, requests: 1 << 20, neighbours: 1 << 20, messages: 1 << 20 };
}

impl Aodv {
    /// The same, with other limits than [`Limits::AMPLE`].
    pub fn with_limits(self, limits: Limits) -> Aodv {
        Aodv { limits, usages: Usages::new(limits.routes), ..self }
    }

    /// Is there an entry for `dst` in the table, or room for one? Makes room if it can.
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
