//! One direction of a wired link: a drop-tail queue, a transmitter with a rate, and a wire with a delay.
//!
//! Full duplex and point to point, like the wired part of the papers' networks and ns-2's `duplex-link` with
//! `DropTail`: the two directions are independent. Packets are lost only when the queue is full, and never reordered.
//! There is no link layer: no ARP, no frames, no collisions. The bytes that framing would add to a packet can be
//! counted with [`Config::overhead`].
//!
//! When a packet is accepted, the start of its transmission and its arrival are already known, so each packet costs
//! only one event, its arrival.

use crate::counters::counters;
use crate::drop::DropReason;
use crate::wire::Ipv4Packet;
use fourhop_units::{Bytes, Dur, Rate, Time};
use std::collections::VecDeque;

/// Options of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Bit rate.
    pub rate: Rate,
    /// Time from the end of a packet at the transmitter to its end at the receiver.
    pub delay: Dur,
    /// Packets that may wait, besides the one being sent. ns-2's `queue-limit` of 50 lets 49 wait.
    pub queue: usize,
    /// Bytes that may wait; `None` for no limit.
    pub queue_bytes: Option<Bytes>,
    /// Bytes on the wire per packet in addition to the packet itself. ns-2: none. Ethernet: 38 with preamble and gap
    /// (IEEE 802.3-2022 clause 3.1.1).
    pub overhead: Bytes,
}

counters! {
    /// Counters of a direction.
    pub struct Counters {
        /// Packets taken, dropped ones included.
        pub packets: u64,
        /// Packets that found the queue full.
        pub dropped: u64,
        /// Packets that have arrived at the other end.
        pub arrived: u64,
        /// Bytes of those that have arrived, without overhead.
        pub arrived_bytes: u64,
    }
}

/// Requests from a port to its node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The packet has reached the other end.
    Arrived(Ipv4Packet),
    /// The packet is lost.
    Drop {
        /// The packet.
        packet: Ipv4Packet,
        /// Reason for the loss.
        reason: DropReason,
    },
}

/// A packet that waits, is being sent or is in flight.
#[derive(Clone, Debug)]
struct Taken {
    begins: Time,
    arrives: Time,
    packet: Ipv4Packet,
}

/// One direction of a wired link.
///
/// [`Port::handle_packet`] may be called at any time; it changes [`Port::next_timeout`] only if the port was empty. A
/// transmission that ends at the same instant as a packet arrives makes room for that packet.
#[derive(Clone, Debug)]
pub struct Port {
    config: Config,
    /// Accepted packets, in order of time.
    taken: VecDeque<Taken>,
    /// How many of them, from the front, had started transmission at the last update.
    begun: usize,
    /// Bytes of the others.
    waiting_bytes: Bytes,
    /// When the transmitter has sent everything it has.
    free_at: Time,
    /// Total time that packets have waited or will have waited.
    waited: Dur,
    longest: usize,
    counters: Counters,
}

impl Port {
    /// Creates an idle port.
    pub fn new(config: Config) -> Port {
        Port {
            config,
            taken: VecDeque::new(),
            begun: 0,
            waiting_bytes: Bytes(0),
            free_at: Time::ZERO,
            waited: Dur::ZERO,
            longest: 0,
            counters: Counters::default(),
        }
    }

    /// Returns the options.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Accepts or drops a packet for the other end.
    pub fn handle_packet(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        self.counters.packets += 1;
        self.look_at_queue(now);
        let bytes = Bytes(u64::from(packet.len()));
        let waiting = self.taken.len() - self.begun;
        let busy = self.free_at > now;
        let too_large = |limit| self.waiting_bytes + bytes > limit;
        if busy && (waiting >= self.config.queue || self.config.queue_bytes.is_some_and(too_large)) {
            self.counters.dropped += 1;
            out.push(Action::Drop { packet, reason: DropReason::WiredQueueFull });
            return;
        }
        let begins = self.free_at.max(now);
        self.free_at = begins + self.config.rate.time_for(bytes + self.config.overhead);
        self.waited += begins - now;
        if busy {
            self.waiting_bytes += bytes;
            self.longest = self.longest.max(waiting + 1);
        } else {
            self.begun += 1;
        }
        self.taken.push_back(Taken { begins, arrives: self.free_at + self.config.delay, packet });
    }

    /// Delivers packets that have arrived by `now`; does nothing if called early.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        self.look_at_queue(now);
        while let Some(taken) = self.taken.pop_front_if(|taken| taken.arrives <= now) {
            self.begun -= 1;
            self.counters.arrived += 1;
            self.counters.arrived_bytes += u64::from(taken.packet.len());
            out.push(Action::Arrived(taken.packet));
        }
    }

    /// Returns when the next packet arrives.
    pub fn next_timeout(&self) -> Option<Time> {
        self.taken.front().map(|taken| taken.arrives)
    }

    fn look_at_queue(&mut self, now: Time) {
        while let Some(taken) = self.taken.get(self.begun).filter(|taken| taken.begins <= now) {
            self.waiting_bytes = self.waiting_bytes - Bytes(u64::from(taken.packet.len()));
            self.begun += 1;
        }
    }

    /// Returns the number of packets waiting at `now`, which must not be before the last call.
    pub fn queue_len(&self, now: Time) -> usize {
        self.taken.iter().skip(self.begun).filter(|taken| taken.begins > now).count()
    }

    /// Returns the largest number of packets that ever waited.
    pub fn longest_queue(&self) -> usize {
        self.longest
    }

    /// Returns the total waiting time of all accepted packets, including the remaining wait of those still queued.
    /// Divided by the duration of a run, it is the mean queue length (Little 1961).
    pub fn waited(&self) -> Dur {
        self.waited
    }

    /// Returns the number of packets waiting, being sent or in flight.
    pub fn queued(&self) -> usize {
        self.taken.len()
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Body, EchoMessage, PacketMeta};
    use fourhop_units::NodeId;

    /// A packet of 1,500 bytes: 1.2 ms at 10 Mbit/s.
    fn packet(ident: u16) -> Ipv4Packet {
        let body = Body::Echo(EchoMessage { reply: false, ident: 0, number: 0, payload: 1472 });
        let (src, dst) = (NodeId(1).ipv4(), NodeId(0).ipv4());
        Ipv4Packet { src, dst, ttl: 64, ident, dscp: 0, body, meta: PacketMeta::default() }
    }

    fn port(queue: usize) -> Port {
        Port::new(Config {
            rate: Rate::kbps(10_000),
            delay: Dur::from_millis(40),
            queue,
            queue_bytes: None,
            overhead: Bytes(0),
        })
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::from_micros(us)
    }

    /// Fates of packets that reach a port at these microseconds, as (microseconds, number, whether dropped).
    fn timeline(mut port: Port, times: &[u64]) -> Vec<(u64, u16, bool)> {
        let mut seen = Vec::new();
        let mut out = Vec::new();
        let mut drain = |now: Time, out: &mut Vec<Action>| {
            for action in out.drain(..) {
                let (packet, lost) = match action {
                    Action::Arrived(packet) => (packet, false),
                    Action::Drop { packet, reason } => {
                        assert_eq!(reason, DropReason::WiredQueueFull);
                        (packet, true)
                    }
                };
                seen.push((now.as_nanos() / 1000, packet.ident, lost));
            }
        };
        let mut step = |port: &mut Port, until: Option<Time>| {
            while let Some(now) = port.next_timeout().filter(|&at| until.is_none_or(|until| at <= until)) {
                port.handle_timeout(now, &mut out);
                drain(now, &mut out);
            }
        };
        let mut lost = Vec::new();
        for (ident, &us) in times.iter().enumerate() {
            step(&mut port, Some(at(us)));
            let mut refused = Vec::new();
            port.handle_packet(at(us), packet(ident as u16), &mut refused);
            lost.extend(refused.iter().map(|_| (us, ident as u16, true)));
            let counts = port.counters();
            assert_eq!(counts.packets, counts.arrived + counts.dropped + port.queued() as u64);
        }
        step(&mut port, None);
        assert_eq!(port.queued(), 0);
        seen.extend(lost);
        seen.sort_unstable();
        seen
    }

    #[test]
    fn packets_follow_each_other_at_the_rate_and_arrive_after_the_delay() {
        // 0 |1.2| 1.2 |2.4| 2.4 ... and one that arrives when the line is idle again.
        let seen = timeline(port(50), &[0, 0, 100, 10_000]);
        assert_eq!(seen, [(41_200, 0, false), (42_400, 1, false), (43_600, 2, false), (51_200, 3, false)]);
    }

    #[test]
    fn a_queue_of_two_takes_three_and_has_room_again_when_the_first_has_gone() {
        // The fourth arrives 1 us before the end of the first transmission, and the fifth right at its end.
        let seen = timeline(port(2), &[0, 0, 0, 1_199, 1_200]);
        let lost: Vec<_> = seen.iter().filter(|(.., lost)| *lost).collect();
        assert_eq!(lost, [&(1_199, 3, true)]);
        assert_eq!(seen.last(), Some(&(44_800, 4, false)));
    }

    #[test]
    fn bytes_limit_the_queue_too_and_overhead_takes_time() {
        let config = Config { queue_bytes: Some(Bytes(2_999)), overhead: Bytes(38), ..*port(50).config() };
        let seen = timeline(Port::new(config), &[0, 0, 0]);
        assert_eq!(seen, [(0, 2, true), (41_230, 0, false), (42_460, 1, false)]);
    }

    #[test]
    fn bytes_that_have_begun_to_be_sent_make_room() {
        let config = Config { queue_bytes: Some(Bytes(2_999)), ..*port(50).config() };
        // At 1.2 ms the second is being sent and the third waits; the fourth would exceed the limit.
        let seen = timeline(Port::new(config), &[0, 0, 1_200, 1_200]);
        assert_eq!(seen, [(1_200, 3, true), (41_200, 0, false), (42_400, 1, false), (43_600, 2, false)]);
    }

    #[test]
    fn waiting_is_accounted_for_by_packets_and_by_time() {
        let mut port = port(50);
        let mut out = Vec::new();
        (0..3).for_each(|ident| port.handle_packet(at(0), packet(ident), &mut out));
        assert_eq!((port.queue_len(at(0)), port.queue_len(at(1_200)), port.queue_len(at(2_400))), (2, 1, 0));
        assert_eq!((port.longest_queue(), port.waited()), (2, Dur::from_micros(3_600)));
        port.handle_timeout(at(41_199), &mut out);
        assert!(out.is_empty(), "called early");
        port.handle_timeout(at(42_400), &mut out);
        let counters = Counters { packets: 3, dropped: 0, arrived: 2, arrived_bytes: 3_000 };
        assert_eq!((out.len(), port.queued(), *port.counters()), (2, 1, counters));
    }
}
