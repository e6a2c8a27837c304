//! Changes of the table over time: routes expire, invalid ones are removed, searches are repeated (RFC 3561 sections
//! 6.2 to 6.4 and 6.11).

use super::{Action, Aodv, RouteState};
use crate::drop::DropReason;
use fourhop_units::Time;

impl Aodv {
    /// Schedules a sweep for the end of a lifetime at `expires`.
    pub(super) fn watch(&mut self, expires: Time) {
        self.sweep_by(self.config.expiry_due(expires));
    }

    pub(super) fn sweep_by(&mut self, at: Time) {
        self.sweep_at = Some(self.sweep_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Returns until when a route invalidated `now` is remembered.
    pub(super) fn forget_at(&self, now: Time) -> Time {
        now + self.config.delete_period()
    }

    /// Sweeps the table: expires routes, forgets old ones, repeats requests (RFC 3561 sections 6.2 to 6.4).
    pub(super) fn sweep(&mut self, now: Time, out: &mut Vec<Action>) {
        self.sweep_at = None;
        let forget_at = self.forget_at(now);
        for nth in 0..self.table.len() {
            let route = self.table.nth_mut(nth);
            let (dst, due) = (route.dst, self.config.expiry_due(route.expires));
            if route.is_valid() {
                if due > now {
                    self.sweep_by(due);
                    continue;
                }
                route.break_down(forget_at);
                self.buffer.drop_all(now, dst, DropReason::NoRoute, out);
            }
            self.sweep_search(now, dst, out);
        }
        if self.config.delete_invalid_routes {
            self.forget_routes(now);
        }
    }

    /// Removes invalid routes after DELETE_PERIOD (RFC 3561 section 6.11), except those being searched for.
    pub(super) fn forget_routes(&mut self, now: Time) {
        let (buffer, mut next) = (&self.buffer, None::<Time>);
        let period = self.config.delete_period();
        self.table.retain(|route| {
            if route.state != RouteState::Invalid {
                return true;
            }
            let searched_until = route.search().timeout.unwrap_or(Time::ZERO);
            let wanted_until = if buffer.holds(route.dst) { now + period } else { Time::ZERO };
            let until = route.expires.max(searched_until).max(wanted_until);
            if until > now {
                next = Some(next.map_or(until, |earlier| earlier.min(until)));
            }
            until > now
        });
        if let Some(at) = next {
            self.sweep_by(at);
        }
    }
}
