//! Packets that have left the network, which is ahead of the clock, until they are due at their kernels.

use crate::segments::join::{Join, Joined};
use fourhop_proto::wire::bytes::IpHead;
use fourhop_units::Time;
use std::collections::VecDeque;

/// Packets for devices, in the order in which they are due.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// Packets that leave at the current time of the network.
    join: Join,
    due: VecDeque<(Time, Joined)>,
}

impl Outgoing {
    /// Returns an empty buffer for a packet.
    pub fn memory(&mut self) -> Vec<u8> {
        self.join.memory()
    }

    /// Takes a buffer back.
    pub fn keep(&mut self, memory: Vec<u8>) {
        self.join.keep(memory);
    }

    /// A packet leaves at the current time of the network: see [`Join::push`].
    pub fn push(&mut self, device: usize, bytes: Vec<u8>, link: usize, head: Option<&IpHead>, may: bool, first: bool) {
        self.join.push(device, bytes, link, head, may, first);
    }

    /// Nothing else leaves at `now`, the current time of the network.
    pub fn close(&mut self, now: Time) {
        self.due.extend(self.join.drain().map(|joined| (now, joined)));
    }

    /// When the next packets are due.
    pub fn next_due(&self) -> Option<Time> {
        self.due.front().map(|&(at, _)| at)
    }

    /// The next packets, with the time at which they are due.
    pub fn take(&mut self) -> Option<(Time, Joined)> {
        self.due.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::Dur;

    #[test]
    fn packets_leave_in_order_each_at_its_instant() {
        let mut outgoing = Outgoing::default();
        assert_eq!(outgoing.next_due(), None);
        let instants = [Time::ZERO, Time::ZERO + Dur::from_micros(3)];
        for (number, now) in instants.into_iter().enumerate() {
            for device in [0, 1] {
                let mut bytes = outgoing.memory();
                bytes.push(number as u8);
                outgoing.push(device, bytes, 0, None, true, true);
            }
            outgoing.close(now);
        }
        assert_eq!(outgoing.next_due(), Some(instants[0]));
        let left: Vec<_> = std::iter::from_fn(|| outgoing.take()).map(|(at, joined)| (at, joined.device)).collect();
        assert_eq!(left, [(instants[0], 0), (instants[0], 1), (instants[1], 0), (instants[1], 1)]);
    }
}
