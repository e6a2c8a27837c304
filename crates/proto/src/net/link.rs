//! The link layer of one station: packets go down through ARP and a fixed delay into the interface queue, and come up
//! from the MAC after the same delay.

use super::addresses::Addresses;
use super::arp::{ArpTable, Lookup};
use super::queue::{self, InterfaceQueue};
use super::sizes::Sizes;
use super::station_queues::{self, Airtime, StationQueues};
use super::{link_red, neighbourhood_red};
use crate::drop::DropReason;
use crate::route::NextHop;
use crate::wire::{ArpMessage, Body, Category, Ipv4Packet, Msdu, Payload, PriorityMap};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, MacAddr, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Queueing discipline of the interface queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueKind {
    /// First in, first out; arrivals at a full queue are dropped (ns-2).
    DropTail,
    /// FQ-CoDel per neighbour, as in Linux.
    FqCodel,
}

/// Delays, queue and ARP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time from routing to the queue and from the MAC to IP. ns-2: 25 us.
    pub delay: Dur,
    /// Time from ARP to the queue. ns-2: 5 us.
    pub arp_delay: Dur,
    /// Whether ARP is used. Otherwise, neighbours' MAC addresses differ from the station's own by as much as their IP
    /// addresses do.
    pub arp: bool,
    /// Wait before an unanswered request is repeated; `None`: only another packet repeats it (ns-2).
    pub arp_retry: Option<Dur>,
    /// Kind of interface queue.
    pub queue_kind: QueueKind,
    /// Options of a drop-tail queue.
    pub queue: queue::Config,
    /// Options of the per-neighbour queues.
    pub fq: station_queues::Config,
    /// Early drops between queue and MAC, driven by MAC retries; performed by the node.
    pub red: link_red::Config,
    /// Early drops driven by the load of the medium; also performed by the node.
    pub nred: neighbourhood_red::Config,
    /// Whether both, and CoDel in front of the MAC, mark ECN-capable packets instead of dropping them (RFC 3168).
    pub ecn: bool,
    /// How a packet gets its access category. With EDCA, each category has its own queue.
    pub categories: Option<PriorityMap>,
    /// Processing time for each packet sent or forwarded, applied by the node above its link layers. ns-2: none.
    pub packet_cost: Dur,
    /// How sizes on the air are counted.
    pub sizes: Sizes,
}

impl Config {
    /// ns-2.35: 25 us, ARP without retries, 50 packets, routing first.
    pub const fn ns2() -> Config {
        Config {
            delay: Dur::from_micros(25),
            arp_delay: Dur::from_micros(5),
            arp: true,
            arp_retry: None,
            queue_kind: QueueKind::DropTail,
            queue: queue::Config { limit: 50, routing_first: true },
            fq: station_queues::Config::mac80211(),
            red: link_red::Config::off(),
            nred: neighbourhood_red::Config::off(),
            ecn: false,
            categories: None,
            packet_cost: Dur::ZERO,
            sizes: Sizes::Ns2,
        }
    }

    /// The same queue; sizes follow the layout of the headers, and ARP requests are repeated each second (RFC 1122
    /// section 2.3.2.1).
    pub const fn standard() -> Config {
        Config { arp_retry: Some(Dur::from_secs(1)), sizes: Sizes::Standard, ..Config::ns2() }
    }
}

/// Requests from the link layer to its node.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A packet for IP, from this neighbour.
    Deliver {
        /// The packet.
        packet: Ipv4Packet,
        /// Transmitter of the last hop.
        from: MacAddr,
    },
    /// A packet or an ARP message was lost here.
    Drop {
        /// The packet or message.
        payload: Payload,
        /// Reason for the loss.
        reason: DropReason,
    },
    /// A packet is returned because its next hop does not answer ARP.
    Unreachable {
        /// The packet.
        packet: Ipv4Packet,
        /// The neighbour that did not answer.
        next_hop: Ipv4Addr,
    },
}

/// An interface queue of either kind.
#[derive(Clone, Debug)]
enum Queue {
    DropTail(InterfaceQueue),
    FqCodel(Box<StationQueues>),
}

impl Queue {
    fn new(config: &Config) -> Queue {
        match config.queue_kind {
            QueueKind::DropTail => Queue::DropTail(InterfaceQueue::new(config.queue)),
            QueueKind::FqCodel => {
                Queue::FqCodel(Box::new(StationQueues::new(station_queues::Config { ecn: config.ecn, ..config.fq })))
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Queue::DropTail(queue) => queue.len(),
            Queue::FqCodel(queues) => queues.len(),
        }
    }

    #[inline(always)]
    fn enqueue(&mut self, now: Time, msdu: Msdu, config: &Config, mut lost: impl FnMut(Msdu, DropReason)) {
        match self {
            Queue::DropTail(queue) => {
                if let Some((msdu, reason)) = queue.enqueue(msdu) {
                    lost(msdu, reason);
                }
            }
            Queue::FqCodel(queues) => {
                let urgent = config.queue.routing_first && queue::is_network_control(&msdu);
                queues.enqueue(now, msdu, urgent, |msdu| lost(msdu, DropReason::QueueFull));
            }
        }
    }

    /// Removes and returns the head. Packets dropped by CoDel are passed to `lost`.
    #[inline(always)]
    fn dequeue(&mut self, now: Time, lost: impl FnMut(Msdu)) -> Option<Msdu> {
        match self {
            Queue::DropTail(queue) => queue.dequeue(),
            Queue::FqCodel(queues) => queues.dequeue(now, lost),
        }
    }
}

/// Returns the index of a category's queue in [`Link::others`], or `None` for the link's first queue.
fn place(category: Category) -> Option<usize> {
    match category {
        Category::Be => None,
        Category::Bk => Some(0),
        Category::Vi => Some(1),
        Category::Vo => Some(2),
    }
}

/// A packet on its way up. Aligned so that it occupies two cache lines instead of three: a flood brings one to each
/// node every few microseconds, and none of them is in the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Coming {
    at: Time,
    from: MacAddr,
    packet: Ipv4Packet,
}

const _: () = assert!(size_of::<Coming>() == 128, "two cache lines");

/// The link layer of one station. All entry points may change [`Link::next_timeout`]; after each call, the driver
/// offers the head of the queue to the MAC if that is ready.
// Field order is memory order: the fields used by every packet come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Link {
    config: Arc<Config>,
    /// Packets on their way to IP, in order of time.
    up: VecDeque<Coming>,
    /// Packets on their way to the queue, in order of time.
    down: VecDeque<(Time, Msdu)>,
    arp: ArpTable,
    queue: Queue,
    /// With access categories: queues of the other categories, `queue` being that of best effort.
    others: Option<Box<[Queue; 3]>>,
    addresses: Addresses,
    arp_sent: u64,
}

impl Link {
    /// Creates an empty link layer for the station with these addresses.
    pub fn new(addresses: Addresses, config: impl Into<Arc<Config>>) -> Link {
        let config = config.into();
        Link {
            addresses,
            arp: ArpTable::new(addresses.mac, addresses.ip, config.arp_retry),
            queue: Queue::new(&config),
            others: config.categories.map(|_| Box::new([(); 3].map(|()| Queue::new(&config)))),
            config,
            down: VecDeque::new(),
            up: VecDeque::new(),
            arp_sent: 0,
        }
    }

    /// Iterates over all interface queues.
    fn queues(&self) -> impl Iterator<Item = &Queue> {
        core::iter::once(&self.queue).chain(self.others.iter().flat_map(|others| &**others))
    }

    /// Returns the queue of an access category, or the only queue if there are no categories.
    fn queue_of(&mut self, category: Category) -> &mut Queue {
        match (&mut self.others, place(category)) {
            (Some(others), Some(place)) => &mut others[place],
            _ => &mut self.queue,
        }
    }

    /// Returns the number of packets waiting in interface queues.
    pub fn queue_len(&self) -> usize {
        match self.others {
            None => self.queue.len(),
            Some(_) => self.queues().map(Queue::len).sum(),
        }
    }

    /// Iterates over the per-neighbour queues of all access categories, if it has any.
    pub fn station_queues(&self) -> impl Iterator<Item = &StationQueues> {
        self.queues().filter_map(|queue| match queue {
            Queue::FqCodel(queues) => Some(&**queues),
            Queue::DropTail(_) => None,
        })
    }

    /// Returns the numbers of packets on their way down (in delay, waiting for ARP, queued) and up. ARP messages count
    /// among the first.
    pub fn queued(&self) -> (usize, usize) {
        (self.down.len() + self.arp.queued() + self.queue_len(), self.up.len())
    }

    /// Returns the number of ARP messages originated.
    pub fn arp_sent(&self) -> u64 {
        self.arp_sent
    }

    /// Handles a packet from routing.
    pub fn handle_packet(&mut self, now: Time, packet: Ipv4Packet, next_hop: NextHop, out: &mut Vec<Action>) {
        let next_hop = match next_hop {
            NextHop::Broadcast => return self.send_down(now, MacAddr::BROADCAST, packet),
            NextHop::Unicast(next_hop) => next_hop,
        };
        if !self.config.arp {
            return self.send_down(now, self.addresses.mac_beside(next_hop), packet);
        }
        match self.arp.resolve(now, next_hop, packet) {
            Lookup::Known(mac, packet) => self.send_down(now, mac, packet),
            Lookup::Ask(request, replaced) => {
                self.send_arp(now, MacAddr::BROADCAST, request);
                if let Some(packet) = replaced {
                    out.push(Action::Drop { payload: Payload::Ipv4(packet), reason: DropReason::ArpDisplaced });
                }
            }
            Lookup::GiveUp(packet, queued) => {
                for packet in queued.into_iter().chain([packet]) {
                    out.push(Action::Unreachable { packet, next_hop });
                }
            }
        }
    }

    /// Handles an MSDU from the MAC.
    pub fn handle_received(&mut self, now: Time, msdu: Msdu, from: MacAddr) {
        match msdu.payload {
            Payload::Ipv4(packet) => self.up.push_back(Coming { at: now + self.config.delay, from, packet }),
            Payload::Arp(message) => {
                let received = self.arp.handle_message(&message);
                if let Some(reply) = received.reply {
                    self.send_arp(now, message.sender_mac, reply);
                }
                if let Some((mac, packet)) = received.released {
                    self.delay_down(now + self.config.arp_delay, mac, Payload::Ipv4(packet));
                }
            }
            // The node passes it to the foreign stack.
            Payload::Foreign(_) => {}
        }
    }

    /// Returns the IP address of the neighbour `mac`, if known. With ARP, that of every station that has sent packets
    /// here is known.
    pub fn neighbour_ip(&self, mac: MacAddr) -> Option<Ipv4Addr> {
        if self.config.arp { self.arp.ip_of(mac) } else { self.addresses.ip_beside(mac) }
    }

    /// Removes all packets for a broken next hop from the queue.
    pub fn purge(&mut self, next_hop: Ipv4Addr, out: &mut Vec<Action>) {
        let known = if self.config.arp { self.arp.mac_of(next_hop) } else { Some(self.addresses.mac_beside(next_hop)) };
        let Some(mac) = known else { return };
        let reason = DropReason::QueuePurged;
        let mut lost = |msdu: Msdu| out.push(Action::Drop { payload: msdu.payload, reason });
        let others = self.others.iter_mut().flat_map(|others| &mut **others);
        for queue in core::iter::once(&mut self.queue).chain(others) {
            match queue {
                Queue::DropTail(queue) => queue.purge(mac, &mut lost),
                Queue::FqCodel(queues) => queues.purge(mac, &mut lost),
            }
        }
    }

    /// Removes and returns the next MSDU for the MAC. Packets dropped by CoDel are passed to `lost`, for
    /// [`DropReason::LinkCodel`].
    #[inline(always)]
    pub fn dequeue(&mut self, now: Time, lost: impl FnMut(Msdu)) -> Option<Msdu> {
        self.queue.dequeue(now, lost)
    }

    /// The same for one access category.
    pub fn dequeue_of(&mut self, now: Time, category: Category, lost: impl FnMut(Msdu)) -> Option<Msdu> {
        self.queue_of(category).dequeue(now, lost)
    }

    /// Removes and returns the first MSDU that waits for the neighbour `dst`, to be aggregated with one that
    /// [`Link::dequeue`] returned. With access categories, from the queue of `category`.
    pub fn dequeue_for(&mut self, now: Time, dst: MacAddr, category: Category, lost: impl FnMut(Msdu)) -> Option<Msdu> {
        match self.queue_of(category) {
            Queue::DropTail(queue) => queue.dequeue_for(dst),
            Queue::FqCodel(queues) => queues.dequeue_for(now, dst, lost),
        }
    }

    /// Returns whether it needs reports of airtime.
    #[inline(always)]
    pub fn counts_airtime(&self) -> bool {
        matches!(self.queue, Queue::FqCodel(_))
    }

    /// Charges a neighbour for the airtime of frames to it and of data from it; with access categories, in `category`.
    pub fn charge(&mut self, neighbour: MacAddr, airtime: Airtime, category: Category) {
        if let Queue::FqCodel(queues) = self.queue_of(category) {
            queues.charge(neighbour, airtime);
        }
    }

    /// Returns when [`Link::handle_timeout`] must be called.
    pub fn next_timeout(&self) -> Option<Time> {
        let down = self.down.front().map(|&(at, _)| at);
        let up = self.up.front().map(|coming| coming.at);
        Time::earlier_of(Time::earlier_of(down, up), self.arp.next_timeout())
    }

    /// Processes everything due at `now`; does nothing if called early.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        while let Some(Coming { from, packet, .. }) = self.up.pop_front_if(|coming| coming.at <= now) {
            out.push(Action::Deliver { packet, from });
        }
        while let Some((_, msdu)) = self.down.pop_front_if(|(at, _)| *at <= now) {
            let lost = |msdu: Msdu, reason| out.push(Action::Drop { payload: msdu.payload, reason });
            let category = self.config.categories.and_then(|map| place(msdu.category(map)));
            let queue = match (&mut self.others, category) {
                (Some(others), Some(place)) => &mut others[place],
                _ => &mut self.queue,
            };
            queue.enqueue(now, msdu, &self.config, lost);
        }
        if self.arp.next_timeout().is_some_and(|at| at <= now) {
            let mut requests = Vec::new();
            self.arp.handle_timeout(
                now,
                |request| requests.push(request),
                |next_hop, packet| out.push(Action::Unreachable { packet, next_hop }),
            );
            for request in requests {
                self.send_arp(now, MacAddr::BROADCAST, request);
            }
        }
    }

    fn send_down(&mut self, now: Time, dst: MacAddr, packet: Ipv4Packet) {
        self.delay_down(now + self.config.delay, dst, Payload::Ipv4(packet));
    }

    fn send_arp(&mut self, now: Time, dst: MacAddr, message: ArpMessage) {
        debug_assert_eq!(message.sender_mac, self.addresses.mac);
        self.arp_sent += 1;
        self.delay_down(now + self.config.arp_delay, dst, Payload::Arp(message));
    }

    fn delay_down(&mut self, at: Time, dst: MacAddr, mut payload: Payload) {
        let mut len = self.config.sizes.of(&payload);
        if let Payload::Ipv4(packet) = &mut payload {
            match &mut packet.body {
                Body::Measured(tcp) => {
                    len += tcp.carried.options.on_air();
                    tcp.carried.entered_queue = at;
                }
                Body::Transport(segment) => segment.note_queued(at),
                _ => {}
            }
        }
        let msdu = Msdu { dst, len, payload };
        if self.down.back().is_none_or(|(other, _)| *other <= at) {
            return self.down.push_back((at, msdu));
        }
        // ARP's shorter delay lets it overtake anything sent down within the difference.
        let place = self.down.partition_point(|(other, _)| *other <= at);
        self.down.insert(place, (at, msdu));
    }
}

#[cfg(test)]
mod tests;
