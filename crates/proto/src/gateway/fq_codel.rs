//! FQ-CoDel (RFC 8290) for packets to the wireless side, with the queues of [`crate::aqm`].
//!
//! Packets are dequeued either at a configured rate (a shaper, as operators put before a link whose speed they know),
//! or by the wireless interface itself: then just enough packets leave to keep [`Config::backlog`] packets in its
//! queue.
//!
//! With [`Config::ecn`] a packet of an ECN-capable transport is marked where another would be dropped (RFC 8290 section
//! 4.2).

use super::packet::Packet;
use super::{Action, Side};
use crate::aqm::codel;
use crate::aqm::flow_queues::{self, FlowQueues};
use crate::aqm::hash::{HashKey, siphash, word};
use crate::drop::DropReason;
use core::net::IpAddr;
use fourhop_units::{Bytes, Dur, Rate, Time};

/// Parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Rate of the shaper; `None`: as fast as the wireless interface takes packets.
    pub capacity: Option<Rate>,
    /// Packets that may be queued at the interface without a shaper.
    pub backlog: u32,
    /// Number of queues. RFC 8290 section 5.2.3: 1024.
    pub queues: u32,
    /// Bytes that a queue may send per round. Section 5.2.4: the MTU with the link's header, 1514.
    pub quantum: u32,
    /// Packets in all queues. Section 5.2.1: 10240.
    pub limit: u32,
    /// Parameters of CoDel.
    pub codel: codel::Config,
    /// Whether CoDel marks packets that may be marked (RFC 3168).
    pub ecn: bool,
    /// Longest packet.
    pub mtu: u32,
}

impl Config {
    /// Returns the RFC's values, without a shaper.
    pub const fn rfc8290() -> Config {
        Config {
            capacity: None,
            backlog: 2,
            queues: 1_024,
            quantum: 1_514,
            limit: 10_240,
            codel: codel::Config { target: Dur::from_millis(5), interval: Dur::from_millis(100) },
            ecn: false,
            mtu: 1_500,
        }
    }

    fn each(&self) -> flow_queues::Config {
        flow_queues::Config { quantum: self.quantum, codel: self.codel, mtu: self.mtu }
    }
}

/// Returns the bucket, out of `buckets`, of the flow that a packet belongs to (section 4.1.1).
pub(crate) fn bucket(key: HashKey, packet: &impl Packet, buckets: u32) -> u32 {
    let words = packet.five_tuple().map_or([0, 0], |t| {
        let addrs = match (t.src, t.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => u64::from(u32::from(src)) << 32 | u64::from(u32::from(dst)),
            (src, dst) => word(key, src, 0).rotate_left(1) ^ word(key, dst, 0),
        };
        let rest = u64::from(t.protocol) << 32 | u64::from(t.src_port) << 16 | u64::from(t.dst_port);
        [addrs, rest]
    });
    (siphash(key, words) % u64::from(buckets.clamp(1, 1 << 16))) as u32
}

/// FQ-CoDel. For the order of calls see [`super::Discipline`].
#[derive(Clone, Debug)]
pub struct FqCodel<P> {
    config: Config,
    key: HashKey,
    queues: FlowQueues<P>,
    /// When the shaper is free again.
    free_at: Time,
    /// Packets at the wireless interface: the last reported number plus those forwarded since.
    backlog: usize,
    /// Packets marked so far.
    marked: u64,
}

impl<P: Packet> FqCodel<P> {
    /// Creates empty queues; `key` perturbs the hash (section 4.1.2).
    pub fn new(config: Config, key: HashKey) -> FqCodel<P> {
        FqCodel { queues: FlowQueues::default(), free_at: Time::ZERO, backlog: 0, marked: 0, key, config }
    }

    /// Handles a packet; packets to the wired side pass directly.
    pub fn handle_packet(&mut self, now: Time, from: Side, packet: P, out: &mut Vec<Action<P>>) {
        if from == Side::Wireless {
            out.push(Action::Forward { packet, to: Side::Wired });
            return;
        }
        let bucket = bucket(self.key, &packet, self.config.queues);
        self.queues.enqueue(&self.config.each(), now, bucket, packet.len(), packet);
        if self.queues.len() > self.config.limit as usize
            && let Some(packet) = self.queues.drop_from_longest()
        {
            out.push(Action::Drop { packet, reason: DropReason::GatewayQueueFull });
        }
        self.send(now, out);
    }

    /// The wireless interface reports this many packets in its queue.
    pub fn handle_backlog(&mut self, now: Time, packets: usize, out: &mut Vec<Action<P>>) {
        self.backlog = packets;
        self.send(now, out);
    }

    /// The shaper is free again.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        self.send(now, out);
    }

    /// Returns when the shaper is free, if packets wait for it.
    pub fn next_timeout(&self) -> Option<Time> {
        self.config.capacity.filter(|_| !self.queues.is_empty()).map(|_| self.free_at)
    }

    /// Returns the number of packets marked so far.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Returns the number of queued packets.
    pub fn queued(&self) -> usize {
        self.queues.len()
    }

    fn send(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        loop {
            let free = match self.config.capacity {
                Some(_) => self.free_at <= now,
                None => self.backlog < self.config.backlog as usize,
            };
            if !free || self.queues.is_empty() {
                return;
            }
            let (ecn, marked) = (self.config.ecn, &mut self.marked);
            let lost = |mut packet: P| {
                if ecn && packet.mark_congestion() {
                    *marked += 1;
                    return Some(packet);
                }
                out.push(Action::Drop { packet, reason: DropReason::Codel });
                None
            };
            let Some(packet) = self.queues.dequeue(&self.config.each(), now, lost) else { return };
            match self.config.capacity {
                Some(rate) => self.free_at = now + rate.time_for(Bytes(u64::from(packet.len()))),
                None => self.backlog += 1,
            }
            out.push(Action::Forward { packet, to: Side::Wireless });
        }
    }
}
