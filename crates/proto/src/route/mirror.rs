//! Route changes, reported to a driver that mirrors them, such as a recorder or a daemon that maintains a kernel's
//! routing table.

use super::action::Action;
use core::net::Ipv4Addr;
use fourhop_units::Dur;

/// A route as reported: destination, next hop, hops.
type Way = (Ipv4Addr, Ipv4Addr, u8);

/// The routes as last reported, sorted by destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Mirror {
    last: Vec<Way>,
    /// Reused allocation for the current routes.
    present: Vec<Way>,
}

impl Mirror {
    /// Reports changes since the last report, inserted before the actions from `begun` on. `routes` are sorted by
    /// destination, each with its remaining lifetime.
    pub fn report(&mut self, routes: impl Iterator<Item = (Way, Dur)>, begun: usize, out: &mut Vec<Action>) {
        let mut before = self.last.iter().copied().peekable();
        let mut changes = Vec::new();
        self.present.clear();
        for (way, lifetime) in routes {
            let (destination, next_hop, hops) = way;
            self.present.push(way);
            while let Some((destination, ..)) = before.next_if(|&(dst, ..)| dst < destination) {
                changes.push(Action::RouteDown { destination });
            }
            let known = before.next_if(|&(dst, ..)| dst == destination);
            if known != Some(way) {
                changes.push(Action::RouteUp { destination, next_hop, hops, lifetime });
            }
        }
        changes.extend(before.map(|(destination, ..)| Action::RouteDown { destination }));
        if !changes.is_empty() {
            core::mem::swap(&mut self.last, &mut self.present);
            out.splice(begun..begun, changes);
        }
    }
}
