//! Outgoing packets that wait for a random delay or for their turn in a spaced flush.

use crate::route::action::{Action, NextHop};
use crate::wire::Ipv4Packet;
use fourhop_units::Time;
use std::collections::VecDeque;

/// Packets in order of departure; those due at the same instant, in order of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Delay {
    waiting: VecDeque<(Time, Ipv4Packet, NextHop)>,
    data: usize,
}

impl Delay {
    pub fn push(&mut self, at: Time, packet: Ipv4Packet, next_hop: NextHop) {
        self.data += usize::from(!packet.is_routing());
        let place = self.waiting.partition_point(|(other, ..)| *other <= at);
        self.waiting.insert(place, (at, packet, next_hop));
    }

    /// Sends the packets that are due.
    pub fn release(&mut self, now: Time, out: &mut Vec<Action>) {
        while self.next().is_some_and(|at| at <= now) {
            if let Some((_, packet, next_hop)) = self.waiting.pop_front() {
                self.data -= usize::from(!packet.is_routing());
                out.push(Action::Send { packet, next_hop });
            }
        }
    }

    pub fn next(&self) -> Option<Time> {
        self.waiting.front().map(|&(at, ..)| at)
    }

    /// Returns the number of data packets waiting.
    pub fn data(&self) -> usize {
        self.data
    }

    /// Returns the number of routing messages waiting.
    pub fn control(&self) -> usize {
        self.waiting.len() - self.data
    }
}
