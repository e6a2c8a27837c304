//! The interface queue: drop-tail with a limit, routing packets at the head.
//!
//! Source: ns-2.35 `Queue/DropTail/PriQueue`. Its limit of 50 lets 49 packets wait (in addition to the one in the MAC),
//! and its routing packets are last-in-first-out among themselves.

use crate::drop::DropReason;
use crate::wire::{Msdu, Payload};
use fourhop_units::MacAddr;
use std::collections::VecDeque;

/// Size and order of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Limit as counted by ns-2: one fewer packet can actually wait.
    pub limit: usize,
    /// Whether routing packets go to the head. Effect of no: -13 / +2 / -1 / -6 % of NewReno over 3 / 4 / 7 / 12 hops.
    pub routing_first: bool,
}

/// The queue of one interface.
#[derive(Clone, Debug)]
pub struct InterfaceQueue {
    config: Config,
    waiting: VecDeque<Msdu>,
}

impl InterfaceQueue {
    /// Creates an empty queue.
    pub fn new(config: Config) -> InterfaceQueue {
        InterfaceQueue { config, waiting: VecDeque::new() }
    }

    /// Returns the number of packets waiting.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Inserts a packet. If the queue is full, the packet is refused or displaces the last one; whichever is lost is
    /// returned with the reason.
    pub fn enqueue(&mut self, msdu: Msdu) -> Option<(Msdu, DropReason)> {
        if self.config.routing_first && is_network_control(&msdu) {
            self.waiting.push_front(msdu);
            let full = self.waiting.len() >= self.config.limit;
            return self.waiting.pop_back_if(|_| full).map(|tail| (tail, DropReason::QueueDisplaced));
        }
        if self.waiting.len() + 1 >= self.config.limit {
            return Some((msdu, DropReason::QueueFull));
        }
        self.waiting.push_back(msdu);
        None
    }

    /// Removes and returns the next packet for the MAC.
    pub fn dequeue(&mut self) -> Option<Msdu> {
        self.waiting.pop_front()
    }

    /// Removes and returns the first packet for `to`, for an aggregate.
    pub fn dequeue_for(&mut self, to: MacAddr) -> Option<Msdu> {
        if self.waiting.front().is_some_and(|msdu| msdu.dst == to) {
            return self.waiting.pop_front();
        }
        let place = self.waiting.iter().position(|msdu| msdu.dst == to)?;
        self.waiting.remove(place)
    }

    /// Removes every packet for `next_hop` and passes it to `lost`, in order.
    pub fn purge(&mut self, next_hop: MacAddr, mut lost: impl FnMut(Msdu)) {
        for _ in 0..self.waiting.len() {
            if let Some(msdu) = self.waiting.pop_front() {
                if msdu.dst == next_hop { lost(msdu) } else { self.waiting.push_back(msdu) }
            }
        }
    }
}

pub(super) fn is_network_control(msdu: &Msdu) -> bool {
    matches!(&msdu.payload, Payload::Ipv4(packet) if packet.is_network_control())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{AodvMessage, Body, Ipv4Packet, PacketMeta, Rerr, UdpDatagram};
    use fourhop_units::{Bytes, NodeId};

    fn msdu(body: Body, ident: u16, to: u32) -> Msdu {
        let packet = Ipv4Packet {
            src: NodeId(0).ipv4(),
            dst: NodeId(9).ipv4(),
            ttl: 30,
            ident,
            dscp: 0,
            body,
            meta: PacketMeta::default(),
        };
        Msdu { dst: NodeId(to).mac(), len: Bytes(u64::from(packet.len())), payload: Payload::Ipv4(packet) }
    }

    fn data(ident: u16, to: u32) -> Msdu {
        msdu(Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 100 }), ident, to)
    }

    fn routing(ident: u16) -> Msdu {
        msdu(Body::Routing(AodvMessage::Rerr(Rerr { no_delete: false, unreachable: Vec::new() }).into()), ident, 1)
    }

    fn ident(msdu: &Msdu) -> u16 {
        match &msdu.payload {
            Payload::Ipv4(packet) => packet.ident,
            Payload::Arp(_) | Payload::Foreign(_) => u16::MAX,
        }
    }

    const NS2: Config = Config { limit: 50, routing_first: true };

    #[test]
    fn a_limit_of_50_lets_49_wait() {
        let mut queue = InterfaceQueue::new(NS2);
        assert!(queue.is_empty());
        for n in 0..49 {
            assert_eq!(queue.enqueue(data(n, 1)), None);
            assert!(!queue.is_empty());
        }
        assert_eq!(queue.enqueue(data(49, 1)), Some((data(49, 1), DropReason::QueueFull)));
    }

    #[test]
    fn routing_goes_first_last_in_first_out_and_displaces_the_tail() {
        let mut queue = InterfaceQueue::new(NS2);
        (0..49).for_each(|n| drop(queue.enqueue(data(n, 1))));
        assert_eq!(queue.enqueue(routing(100)), Some((data(48, 1), DropReason::QueueDisplaced)));
        assert_eq!(queue.enqueue(routing(101)), Some((data(47, 1), DropReason::QueueDisplaced)));
        let order: Vec<_> = core::iter::from_fn(|| queue.dequeue()).map(|m| ident(&m)).take(3).collect();
        assert_eq!(order, [101, 100, 0]);
    }

    #[test]
    fn purging_takes_one_next_hop_and_keeps_the_order_of_the_rest() {
        let mut queue = InterfaceQueue::new(NS2);
        for (n, to) in [(0, 1), (1, 2), (2, 1), (3, 2)] {
            queue.enqueue(data(n, to));
        }
        let mut gone = Vec::new();
        queue.purge(NodeId(1).mac(), |msdu| gone.push(ident(&msdu)));
        assert_eq!(gone, [0, 2]);
        assert_eq!(core::iter::from_fn(|| queue.dequeue()).map(|m| ident(&m)).collect::<Vec<_>>(), [1, 3]);
    }
}
