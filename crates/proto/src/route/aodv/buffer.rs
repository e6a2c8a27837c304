//! The send buffer: data packets that wait for a route (RFC 3561 section 6.3), first in, first out per destination.

use crate::drop::DropReason;
use crate::route::action::Action;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};
use std::collections::VecDeque;

/// Packets for all destinations in order of arrival. Expired packets are dropped when the buffer is next used.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    capacity: usize,
    timeout: Dur,
    /// (expiry, packet).
    packets: VecDeque<(Time, Ipv4Packet)>,
}

impl Buffer {
    pub fn new(capacity: usize, timeout: Dur) -> Buffer {
        Buffer { capacity, timeout, packets: VecDeque::new() }
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub fn holds(&self, dst: Ipv4Addr) -> bool {
        self.packets.iter().any(|(_, packet)| packet.dst == dst)
    }

    /// Returns the destination of the packet at `index` in order of arrival.
    pub fn destination(&self, index: usize) -> Option<Ipv4Addr> {
        self.packets.get(index).map(|(_, packet)| packet.dst)
    }

    /// Adds a packet; drops the oldest if there is no room.
    pub fn push(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        self.drop_aged(now, out);
        self.packets.push_back((now + self.timeout, packet));
        if self.packets.len() > self.capacity
            && let Some((_, packet)) = self.packets.pop_front()
        {
            out.push(Action::Drop { packet, reason: DropReason::BufferFull });
        }
    }

    /// Removes and returns the first packet for `dst`.
    pub fn pop(&mut self, now: Time, dst: Ipv4Addr, out: &mut Vec<Action>) -> Option<Ipv4Packet> {
        self.drop_aged(now, out);
        let at = self.packets.iter().position(|(_, packet)| packet.dst == dst)?;
        self.packets.remove(at).map(|(_, packet)| packet)
    }

    /// Drops all packets for `dst`.
    pub fn drop_all(&mut self, now: Time, dst: Ipv4Addr, reason: DropReason, out: &mut Vec<Action>) {
        while let Some(packet) = self.pop(now, dst, out) {
            out.push(Action::Drop { packet, reason });
        }
    }

    fn drop_aged(&mut self, now: Time, out: &mut Vec<Action>) {
        while self.packets.front().is_some_and(|&(until, _)| until < now) {
            if let Some((_, packet)) = self.packets.pop_front() {
                out.push(Action::Drop { packet, reason: DropReason::BufferTimeout });
            }
        }
    }
}
