//! Route changes for a driver that mirrors them.

use super::{Action, Aodv, Told};
use fourhop_units::Time;

impl Aodv {
    /// The same, which reports every change of its valid routes as [`Action::RouteUp`] and [`Action::RouteDown`]. What
    /// a call changes of the routes comes before the packets that it sends over them.
    pub fn with_route_changes(self) -> Aodv {
        Aodv { told: Some(Told::default()), ..self }
    }

    /// Reports the differences to the last report, before the actions from `begun` on.
    pub(super) fn tell_changes(&mut self, now: Time, begun: usize, out: &mut Vec<Action>) {
        let Some(told) = &mut self.told else { return };
        let valid = self.table.iter().filter(|route| route.is_valid());
        let ways = valid.map(|route| ((route.dst, route.next_hop, route.hops), route.expires.saturating_since(now)));
        told.report(ways, begun, out);
    }
}
