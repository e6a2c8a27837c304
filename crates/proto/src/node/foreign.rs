//! A node below another 802.11 stack: its radio carries that stack's frames and bypasses the node's own layers.

use super::ear::Ear;
use super::radio::FIRST;
use super::stack::Node;
use crate::wire::{Category, Msdu};
use fourhop_units::Time;

impl Node {
    /// Whether the radio can take a frame of this category. Without EDCA all categories share one queue.
    pub fn takes_frame(&self, category: Category) -> bool {
        self.mac_at(FIRST).wants(category)
    }

    /// Gives the radio a frame; call it only if it [takes](Node::takes_frame) one.
    pub fn handle_frame(&mut self, now: Time, category: Category, frame: Msdu, ear: &mut Ear) {
        let mac = self.mac_of(FIRST);
        ear.catch_up(now, None, mac.medium_rules());
        mac.handle_packet(now, category, frame, &mut ear.medium);
    }
}
