//! Packets on their way out that wait for a random delay or for their turn in a spaced flush.

use crate::route::action::{Action, NextHop};
use crate::wire::Ipv4Packet;
use fourhop_units::Time;
use std::collections::VecDeque;

/// Packets in order of their time of departure; those of one instant in order of arrival.
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

    /// Data packets waiting.
    pub fn data(&self) -> usize {
        self.data
    }

    /// Routing messages waiting.
    pub fn control(&self) -> usize {
        self.waiting.len() - self.data
    }
}
