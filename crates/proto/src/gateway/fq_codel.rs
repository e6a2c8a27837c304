//! FQ-CoDel (RFC 8290) for packets to the wireless side: flows hashed into queues, served by deficit round robin with
//! new flows first, each queue under CoDel.
//!
//! Where the packets go is either a configured rate (a shaper, as operators put before a link whose speed they know),
//! or the wireless interface itself: then just enough packets leave to keep its queue at [`Config::backlog`] packets.
//!
//! With [`Config::ecn`] a packet whose transport listens is marked where another would be dropped (RFC 8290 section 4.2).

use super::codel::{self, Codel, Verdict};
use super::hash::{HashKey, siphash, word};
use super::packet::Packet;
use super::{Action, Side};
use crate::drop::DropReason;
use core::net::IpAddr;
use fourhop_units::{Bytes, Dur, Rate, Time};
use std::collections::VecDeque;

/// Parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Rate of the shaper; `None`: as fast as the wireless interface takes packets.
    pub capacity: Option<Rate>,
    /// Packets that may wait at the interface without a shaper.
    pub backlog: u32,
    /// Queues. RFC 8290 section 5.2.3: 1024.
    pub queues: u32,
    /// Bytes a queue may send in a round. Section 5.2.4: the MTU with the link's header, 1514.
    pub quantum: u32,
    /// Packets in all queues. Section 5.2.1: 10240.
    pub limit: u32,
    /// CoDel's.
    pub codel: codel::Config,
    /// Does CoDel mark what may be marked (RFC 3168)?
    pub ecn: bool,
    /// Longest packet.
    pub mtu: u32,
}

impl Config {
    /// The RFC's values, and as fast as the wireless interface takes packets.
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
}

#[derive(Clone, Debug)]
struct Queue<P> {
    packets: VecDeque<(Time, P)>,
    bytes: u64,
    deficit: i64,
    codel: Codel,
    listed: bool,
}

/// FQ-CoDel. For the order of calls see [`super::Crossing`].
#[derive(Clone, Debug)]
pub struct FqCodel<P> {
    config: Config,
    key: HashKey,
    queues: Vec<Queue<P>>,
    /// Lists of section 4.2: new and old flows.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    held: usize,
    /// The shaper is busy until then.
    free_at: Time,
    /// Packets at the wireless interface, as last reported, and those given to it since.
    backlog: usize,
    /// Packets marked so far.
    marked: u64,
}

impl<P: Packet> FqCodel<P> {
    /// Empty queues; `key` perturbs the hash (section 4.1.2).
    pub fn new(config: Config, key: HashKey) -> FqCodel<P> {
        let queue = || Queue { packets: VecDeque::new(), bytes: 0, deficit: 0, codel: Codel::default(), listed: false };
        FqCodel {
            queues: (0..config.queues.clamp(1, 1 << 16)).map(|_| queue()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            held: 0,
            free_at: Time::ZERO,
            backlog: 0,
            marked: 0,
            key,
            config,
        }
    }

    /// A packet; what goes to the wired side passes.
    pub fn handle_packet(&mut self, now: Time, from: Side, packet: P, out: &mut Vec<Action<P>>) {
        if from == Side::Wireless {
            out.push(Action::Forward { packet, to: Side::Wired });
            return;
        }
        let index = self.classify(&packet);
        let queue = &mut self.queues[index as usize];
        queue.bytes += u64::from(packet.len());
        queue.packets.push_back((now, packet));
        self.held += 1;
        if !queue.listed {
            // Section 4.1.3: a queue that was empty is new, with a quantum to spend.
            (queue.listed, queue.deficit) = (true, i64::from(self.config.quantum));
            self.new.push_back(index);
        }
        if self.held > self.config.limit as usize {
            self.drop_from_fattest(out);
        }
        self.send(now, out);
    }

    /// That many packets wait at the wireless interface.
    pub fn handle_backlog(&mut self, now: Time, packets: usize, out: &mut Vec<Action<P>>) {
        self.backlog = packets;
        self.send(now, out);
    }

    /// The shaper is free again.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        self.send(now, out);
    }

    /// When the shaper is free, if packets wait for it.
    pub fn next_timeout(&self) -> Option<Time> {
        self.config.capacity.filter(|_| self.held > 0).map(|_| self.free_at)
    }

    /// Packets marked so far.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Packets that wait.
    pub fn held(&self) -> usize {
        self.held
    }

    fn classify(&self, packet: &P) -> u32 {
        let words = packet.five_tuple().map_or([0, 0], |t| {
            let addrs = match (t.src, t.dst) {
                (IpAddr::V4(src), IpAddr::V4(dst)) => u64::from(u32::from(src)) << 32 | u64::from(u32::from(dst)),
                (src, dst) => word(self.key, src, 0).rotate_left(1) ^ word(self.key, dst, 0),
            };
            let rest = u64::from(t.protocol) << 32 | u64::from(t.src_port) << 16 | u64::from(t.dst_port);
            [addrs, rest]
        });
        (siphash(self.key, words) % self.queues.len() as u64) as u32
    }

    /// Section 4.1.1: on overflow, packets are dropped from the head of the longest queue.
    fn drop_from_fattest(&mut self, out: &mut Vec<Action<P>>) {
        let Some(fattest) = self.queues.iter_mut().max_by_key(|queue| queue.bytes) else { return };
        if let Some((_, packet)) = fattest.packets.pop_front() {
            fattest.bytes -= u64::from(packet.len());
            self.held -= 1;
            out.push(Action::Drop { packet, reason: DropReason::GatewayQueueFull });
        }
    }

    fn send(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        loop {
            let free = match self.config.capacity {
                Some(_) => self.free_at <= now,
                None => self.backlog < self.config.backlog as usize,
            };
            if !free || self.held == 0 {
                return;
            }
            let Some(packet) = self.dequeue(now, out) else { return };
            match self.config.capacity {
                Some(rate) => self.free_at = now + rate.time_for(Bytes(u64::from(packet.len()))),
                None => self.backlog += 1,
            }
            out.push(Action::Forward { packet, to: Side::Wireless });
        }
    }

    /// Section 4.2: the next packet by deficit round robin, new flows before old ones.
    fn dequeue(&mut self, now: Time, out: &mut Vec<Action<P>>) -> Option<P> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.config.quantum.max(1));
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            while let Some((came, mut packet)) = queue.packets.pop_front() {
                self.held -= 1;
                queue.bytes -= u64::from(packet.len());
                let waited = now.saturating_since(came);
                match queue.codel.handle_head(&self.config.codel, now, waited, queue.bytes, self.config.mtu) {
                    Verdict::Pass => {
                        queue.deficit -= i64::from(packet.len());
                        return Some(packet);
                    }
                    Verdict::Drop if self.config.ecn && packet.mark_congestion() => {
                        self.marked += 1;
                        queue.deficit -= i64::from(packet.len());
                        return Some(packet);
                    }
                    Verdict::Drop => out.push(Action::Drop { packet, reason: DropReason::Codel }),
                }
            }
            queue.codel.handle_empty();
            list.pop_front();
            if from_new && !self.old.is_empty() {
                // An empty new queue waits for a round among the old ones, so that it cannot come back as new at once.
                self.old.push_back(index);
            } else {
                queue.listed = false;
            }
        }
    }
}
