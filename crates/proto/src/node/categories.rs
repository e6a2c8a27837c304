//! Nodes whose radios have access categories: each category has a queue, and an access function that takes its packets.

use super::buffers::Buffers;
use super::ear::Ear;
use super::stack::Node;
use crate::mac::Supply;
use crate::net::Airtime;
use crate::wire::{Category, Msdu};
use fourhop_units::{Dur, Time};

impl Node {
    /// Gives each access function with nothing to send the head of its queue.
    #[inline(never)]
    pub(super) fn offer_of_categories(&mut self, now: Time, radio: usize, ear: &mut Ear, out: &mut Buffers) {
        // An aggregate may have emptied the queues since the last call.
        let mut taken = self.mac_at(radio).aggregates();
        for category in Category::ALL.into_iter().rev() {
            if !self.mac_at(radio).wants(category) {
                continue;
            }
            if let Some(msdu) = self.next_of_category(now, radio, category, out) {
                self.mac_of(radio).handle_packet(now, category, msdu, &mut ear.medium);
                taken = true;
            } else if self.mac_at(radio).has_unsent(category) {
                self.mac_of(radio).resume(now, category, &mut ear.medium);
            }
        }
        if taken && self.wired.is_some() {
            self.report_backlog(now, out);
        }
    }

    fn next_of_category(&mut self, now: Time, radio: usize, category: Category, out: &mut Buffers) -> Option<Msdu> {
        if self.link_at(radio).counts_airtime()
            && let Some((neighbour, airtime)) = self.mac_of(radio).take_airtime(category)
        {
            self.link_of(radio).charge(neighbour, Airtime { sent: airtime, received: Dur::ZERO }, category);
        }
        self.mac_and_supply(radio, &mut out.outputs).1.next_of(now, category)
    }
}
