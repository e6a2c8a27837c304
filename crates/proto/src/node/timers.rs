//! The timers of a node's layers above the MAC: each layer is queried only after it has been called.

use super::buffers::Buffers;
use super::radio::FIRST;
use super::stack::Node;
use super::upper::{LINK, REORDERING, TRANSPORTS};
use crate::route::Protocol;
use fourhop_units::Time;

impl Node {
    pub(super) fn upper_layers(&mut self, now: Time, out: &mut Buffers) {
        if self.upper.link <= now {
            let mut actions = out.link.take();
            self.link_of(FIRST).handle_timeout(now, &mut actions);
            self.upper.stale[LINK] = true;
            self.perform_link(now, &mut actions, out);
            out.link.give(actions);
            // Its delivery may have brought other timers forward.
            self.refresh_upper();
        }
        if self.upper.router <= now {
            self.with_router(now, out, |router, actions| router.handle_timeout(now, actions));
        }
        if self.upper.rest <= now {
            self.rarer_layers(now, out);
            self.refresh_upper();
        }
        if self.upper.reordering <= now {
            self.reorder_timeout(now, FIRST, out);
            self.upper.stale[REORDERING] = true;
            self.refresh_upper();
        }
        if self.upper.transports <= now {
            let mut made = out.packets.take();
            self.local.transports.handle_timeout(now, &mut made);
            self.upper.stale[TRANSPORTS] = true;
            self.send_made(now, &mut made, out);
            out.packets.give(made);
        }
    }

    #[cold]
    fn rarer_layers(&mut self, now: Time, out: &mut Buffers) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if self.wired.as_ref().is_some_and(|wired| due(wired.next_timeout())) {
            self.with_wired(now, out, |wired, actions| wired.handle_timeout(now, actions));
        }
        if self.modules.as_ref().is_some_and(|modules| due(modules.next_timeout())) {
            self.modules_timeout(now, out);
        }
    }

    /// Queries the timers of all layers that have been called.
    pub(super) fn refresh_upper(&mut self) {
        let upper = &mut self.upper;
        let [link, router, transports, reordering] = core::mem::take(&mut upper.stale);
        if !(link | router | transports | reordering | upper.has_rest) {
            return;
        }
        if link {
            upper.link = Time::or_never(self.radios.at(FIRST).link.next_timeout());
        }
        if router {
            upper.router = Time::or_never(self.router.next_timeout());
        }
        if transports {
            upper.transports = Time::or_never(self.local.transports.next_timeout());
        }
        if reordering {
            upper.reordering = Time::or_never(self.radios.at(FIRST).mac.next_reorder_timeout());
        }
        if upper.has_rest {
            let wired = self.wired.as_ref().and_then(|wired| wired.next_timeout());
            let modules = self.modules.as_ref().and_then(|modules| modules.next_timeout());
            let early = self.early.as_ref().and_then(|early| early.next_timeout());
            upper.rest = Time::or_never(Time::earlier_of(early, Time::earlier_of(wired, modules)));
        }
        let layers = upper.link.min(upper.router).min(upper.transports);
        upper.first = layers.min(upper.reordering).min(upper.rest);
    }
}
