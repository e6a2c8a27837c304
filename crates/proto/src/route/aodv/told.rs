//! Route changes, reported to a driver that mirrors them, such as a daemon that writes a kernel's routing table.

use super::{Action, Aodv};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// The valid routes as last reported: destination, next hop, hops, by destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(Vec<(Ipv4Addr, Ipv4Addr, u8)>);

impl Aodv {
    /// The same, which reports every change of its valid routes as [`Action::RouteUp`] and [`Action::RouteDown`]. What
    /// a call changes of the routes comes before the packets that it sends over them.
    pub fn with_route_changes(self) -> Aodv {
        Aodv { told: Some(Told::default()), ..self }
    }

    /// Reports the differences to the last report, before the actions from `begun` on.
    pub(super) fn tell_changes(&mut self, now: Time, begun: usize, out: &mut Vec<Action>) {
        let Some(Told(told)) = &mut self.told else { return };
        let mut before = told.iter().copied().peekable();
        let mut changes = Vec::new();
        for route in self.table.iter().filter(|route| route.is_valid()) {
            while let Some((destination, ..)) = before.next_if(|&(dst, ..)| dst < route.dst) {
                changes.push(Action::RouteDown { destination });
            }
            let known = before.next_if(|&(dst, ..)| dst == route.dst);
            if known != Some((route.dst, route.next_hop, route.hops)) {
                changes.push(Action::RouteUp {
                    destination: route.dst,
                    next_hop: route.next_hop,
                    hops: route.hops,
                    lifetime: route.expires.saturating_since(now),
                });
            }
        }
        changes.extend(before.map(|(destination, ..)| Action::RouteDown { destination }));
        if !changes.is_empty() {
            let valid = self.table.iter().filter(|route| route.is_valid());
            told.clear();
            told.extend(valid.map(|route| (route.dst, route.next_hop, route.hops)));
            out.splice(begun..begun, changes);
        }
    }
}
