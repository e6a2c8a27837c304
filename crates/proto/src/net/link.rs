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

/// The next packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueKind {
    /// First come, first served; what comes last is dropped (ns-2).
    DropTail,
    /// FQ-CoDel for each neighbour, as Linux has it.
    FqCodel,
}

/// Delays, queue and ARP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time from routing to the queue and from the MAC to IP. ns-2: 25 us.
    pub delay: Dur,
    /// Time from ARP to the queue. ns-2: 5 us.
    pub arp_delay: Dur,
    /// Is ARP used? Otherwise neighbours' MAC addresses are as far from the station's own as their IP addresses are.
    pub arp: bool,
    /// Wait before an unanswered request is repeated; `None`: only a further packet repeats it (ns-2).
    pub arp_retry: Option<Dur>,
    /// Kind of interface queue.
    pub queue_kind: QueueKind,
    /// One that drops what comes last.
    pub queue: queue::Config,
    /// One with queues for each neighbour.
    pub fq: station_queues::Config,
    /// Early drops between queue and MAC by the MAC's retries, which the node does.
    pub red: link_red::Config,
    /// Those by the load of the medium, which the node does, too.
    pub nred: neighbourhood_red::Config,
    /// Do both, and CoDel in front of the MAC, mark packets whose transport listens, instead of dropping them (RFC
    /// 3168)?
    pub ecn: bool,
    /// With EDCA each access category has a queue of its own: how a packet gets its category.
    pub categories: Option<PriorityMap>,
    /// Time of the processor for a packet sent or forwarded, which the node takes before its link layers. ns-2: none.
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

    /// The same queue; sizes as the headers are laid out, ARP repeated each second (RFC 1122 section 2.3.2.1).
    pub const fn standard() -> Config {
        Config { arp_retry: Some(Dur::from_secs(1)), sizes: Sizes::Standard, ..Config::ns2() }
    }
}

/// Requests of the link layer.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A packet for IP, from this neighbour.
    Deliver {
        /// The packet.
        packet: Ipv4Packet,
        /// Transmitter of the last hop.
        from: MacAddr,
    },
    /// A packet, or a message of ARP, died here.
    Drop {
        /// The packet or message.
        payload: Payload,
        /// Reason of the loss.
        reason: DropReason,
    },
    /// A packet comes back: its next hop does not answer ARP.
    Unreachable {
        /// The packet.
        packet: Ipv4Packet,
        /// The neighbour that was asked for.
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

    /// The head. CoDel's drops go to `lost`.
    #[inline(always)]
    fn dequeue(&mut self, now: Time, lost: impl FnMut(Msdu)) -> Option<Msdu> {
        match self {
            Queue::DropTail(queue) => queue.dequeue(),
            Queue::FqCodel(queues) => queues.dequeue(now, lost),
        }
    }
}

/// The index in [`Link::others`] of a category's queue; none for the first queue of the link.
fn place(category: Category) -> Option<usize> {
    match category {
        Category::Be => None,
        Category::Bk => Some(0),
        Category::Vi => Some(1),
        Category::Vo => Some(2),
    }
}

/// A packet on its way up. Aligned, so that it lies in two cache lines and not in three: a flood brings one to each
/// node every few microseconds, and none of them is in the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Coming {
    at: Time,
    from: MacAddr,
    packet: Ipv4Packet,
}

const _: () = assert!(size_of::<Coming>() == 128, "two cache lines");

/// The link layer of one station. All entry points may change [`Link::next_timeout`]; after each the driver offers the
/// head of the queue to the MAC if that is ready.
// In this order in memory: what each packet touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Link {
    config: Arc<Config>,
    /// On their way to IP, in order of time.
    up: VecDeque<Coming>,
    /// On their way to the queue, in order of time.
    down: VecDeque<(Time, Msdu)>,
    arp: ArpTable,
    queue: Queue,
    /// With access categories: the first is that of best effort, these are the others'.
    others: Option<Box<[Queue; 3]>>,
    addresses: Addresses,
    arp_sent: u64,
}

impl Link {
    /// An empty link layer of the station with these addresses.
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

    /// Every interface queue.
    fn queues(&self) -> impl Iterator<Item = &Queue> {
        core::iter::once(&self.queue).chain(self.others.iter().flat_map(|others| &**others))
    }

    /// The queue of an access category; without categories there is one.
    fn queue_of(&mut self, category: Category) -> &mut Queue {
        match (&mut self.others, place(category)) {
            (Some(others), Some(place)) => &mut others[place],
            _ => &mut self.queue,
        }
    }

    /// Packets waiting in interface queues.
    pub fn queue_len(&self) -> usize {
        match self.others {
            None => self.queue.len(),
            Some(_) => self.queues().map(Queue::len).sum(),
        }
    }

    /// The queues for each neighbour, if it has such, of every access category.
    pub fn station_queues(&self) -> impl Iterator<Item = &StationQueues> {
        self.queues().filter_map(|queue| match queue {
            Queue::FqCodel(queues) => Some(&**queues),
            Queue::DropTail(_) => None,
        })
    }

    /// Packets on their way down (in delay, waiting for ARP, queued) and up. ARP messages count among the first.
    pub fn queued(&self) -> (usize, usize) {
        (self.down.len() + self.arp.queued() + self.queue_len(), self.up.len())
    }

    /// ARP messages made.
    pub fn arp_sent(&self) -> u64 {
        self.arp_sent
    }

    /// A packet from routing.
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

    /// An MSDU from the MAC.
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
            // Its node hands it to the stack outside.
            Payload::Foreign(_) => {}
        }
    }

    /// The IP address of the neighbour `mac`, if it is known: with ARP it is known of every station that has sent
    /// packets here.
    pub fn neighbour_ip(&self, mac: MacAddr) -> Option<Ipv4Addr> {
        if self.config.arp { self.arp.ip_of(mac) } else { self.addresses.ip_beside(mac) }
    }

    /// Removes everything that waits in the queue for a broken next hop.
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

    /// The next MSDU for the MAC. CoDel's drops go to `lost`, for [`DropReason::LinkCodel`].
    #[inline(always)]
    pub fn dequeue(&mut self, now: Time, lost: impl FnMut(Msdu)) -> Option<Msdu> {
        self.queue.dequeue(now, lost)
    }

    /// The same of one access category.
    pub fn dequeue_of(&mut self, now: Time, category: Category, lost: impl FnMut(Msdu)) -> Option<Msdu> {
        self.queue_of(category).dequeue(now, lost)
    }

    /// A further MSDU for the neighbour `dst`, to be sent together with one that [`Link::dequeue`] has given; the first
    /// that waits for this neighbour. With access categories: of this one.
    pub fn dequeue_for(&mut self, now: Time, dst: MacAddr, category: Category, lost: impl FnMut(Msdu)) -> Option<Msdu> {
        match self.queue_of(category) {
            Queue::DropTail(queue) => queue.dequeue_for(dst),
            Queue::FqCodel(queues) => queues.dequeue_for(now, dst, lost),
        }
    }

    /// Does it want to know of air time?
    #[inline(always)]
    pub fn counts_airtime(&self) -> bool {
        matches!(self.queue, Queue::FqCodel(_))
    }

    /// Frames for a neighbour, and data from it, have taken this much air time; with access categories in this one.
    pub fn charge(&mut self, neighbour: MacAddr, airtime: Airtime, category: Category) {
        if let Queue::FqCodel(queues) = self.queue_of(category) {
            queues.charge(neighbour, airtime);
        }
    }

    /// When [`Link::handle_timeout`] has to be called.
    pub fn next_timeout(&self) -> Option<Time> {
        let down = self.down.front().map(|&(at, _)| at);
        let up = self.up.front().map(|coming| coming.at);
        Time::earlier_of(Time::earlier_of(down, up), self.arp.next_timeout())
    }

    /// Does what is due at `now`; nothing if called early.
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
        // ARP's shorter delay lets it overtake what was sent down within the difference.
        let place = self.down.partition_point(|(other, _)| *other <= at);
        self.down.insert(place, (at, msdu));
    }
}

#[cfg(test)]
mod tests;
