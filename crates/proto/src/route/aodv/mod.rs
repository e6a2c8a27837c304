//! AODV, ad hoc on-demand distance vector routing (RFC 3561), for one node with one interface.
//!
//! One implementation with a [`Config`]: [`Config::standard`] is the RFC, [`Config::ns2`] the AODV of ns-2.35, and every
//! difference between them is a field.
//!
//! | file | section of RFC 3561 |
//! |---|---|
//! | `table` | 6.1 sequence numbers, 6.2 routes and precursors |
//! | `discovery` | 6.3 and 6.4: requests of this node |
//! | `request`, `seen` | 6.5 and 6.6: requests of others |
//! | `reply` | 6.7 |
//! | `hello` | 6.9, 6.10 |
//! | `error` | 6.11 |
//! | `repair` | 6.12 |
//! | `gateway` | 7, for one subnet behind each of several gateways |
//! | `signal` | not in the RFC: signal-strength-aware AODV (Gupta, Wormsbecker, Williamson, MASCOTS 2004) |
//! | `usage` | what a node's own packets saw: discovery times, route changes |
//! | `buffer`, `delay`, `rate` | packets waiting for a route, for their jitter; rate limits |
//!
//! # What is left out
//! Replies ask for no RREP-ACK, and there is no blacklist of unidirectional links (6.8): the MAC's RTS/CTS and ACK prove
//! both directions. A reply that asks for one gets it. Actions after a reboot (6.13), subnets of radios (7), several
//! interfaces (6.14), multicast. A relay that repairs one destination gives
//! the other routes over the broken link up at once instead of flagging them as repairable (6.12 allows both). ICMP
//! "destination unreachable" is not sent: the drop is reported to the node instead.
//!
//! # Choices where RFC 3561 leaves room
//! - The wire format is the RFC's in both profiles: hop counts start at 0. ns-2 starts them at 1, which is the same route.
//! - A node never takes over a sequence number older than a valid one it has, also from a route error.
//! - A lost neighbour that is heard again gets its route back with the number the break left, as a lower bound and not to
//!   answer requests with. Forgetting the number, as 6.5 can be read, lets routes form loops.
//! - A route error for a packet without a route goes to the precursors if there are any and is broadcast otherwise.
//! - A route that expires has its sequence number incremented, as one that breaks (6.1 allows it).
//! - A route error for a packet without a route does not increment the number again (6.11): the broken route did, and a
//!   number that ran ahead of the destination's by more than one would make nodes refuse its requests.
//! - A search whose last hop count is known starts at that plus TTL_INCREMENT also beyond TTL_THRESHOLD (6.4).

mod buffer;
mod config;
mod delay;
mod discovery;
mod error;
mod gateway;
mod hello;
mod rate;
mod repair;
mod reply;
mod request;
mod seen;
mod signal;
mod table;
#[cfg(test)]
mod tests;
mod usage;

pub use config::{
    AfterFailure, Config, Expiry, FirstSearch, HelloConfig, IdLifetime, OwnSeqno, Refresh, RepairDeadline, RepairRule,
    Retry, ReverseLifetime, SearchTimeout,
};
pub use signal::{Signal, SignalConfig};
pub use table::{Route, RouteState, is_newer};
pub use usage::{Discoveries, Usage};

use super::{Action, AddressPlan, NextHop, Prefix};
use crate::counters::counters;
use crate::drop::DropReason;
use crate::wire::{AodvMessage, Body, Ipv4Packet, PacketMeta, RoutingMessage};
use buffer::Buffer;
use core::net::Ipv4Addr;
use delay::Delay;
use fourhop_units::{Dur, Stream, Time};
use hello::Hello;
use rate::RateLimit;
use repair::Repairs;
use seen::SeenRequests;
use signal::Signals;
use table::Table;
use usage::Usages;

counters! {
    /// What a node's AODV has done.
    pub struct Counters {
        /// Own requests sent, repeats included.
        pub rreq_originated: u64,
        /// Those that repeated an unanswered one.
        pub rreq_repeated: u64,
        /// Requests received.
        pub rreq_received: u64,
        /// Requests received again, or own ones.
        pub rreq_duplicates: u64,
        /// Requests of others passed on.
        pub rreq_relayed: u64,
        /// Requests of others answered by this node as their destination, or as a gateway to it.
        pub rreq_replied_as_destination: u64,
        /// Requests of others answered with a route of this node.
        pub rreq_replied_as_intermediate: u64,
        /// Searches that ended without an answer.
        pub searches_failed: u64,
        /// Replies made here, gratuitous ones included.
        pub rrep_originated: u64,
        /// Gratuitous replies made here.
        pub rrep_gratuitous: u64,
        /// Replies passed on.
        pub rrep_forwarded: u64,
        /// Replies to requests of this node that gave it a route.
        pub rrep_accepted: u64,
        /// Replies that told nothing better than known and went no further.
        pub rrep_suppressed: u64,
        /// Replies for whose receiver no route was known.
        pub rrep_lost: u64,
        /// Route errors sent, own and passed on.
        pub rerr_sent: u64,
        /// Route errors received.
        pub rerr_received: u64,
        /// Route errors not sent because of the rate limit.
        pub rerr_limited: u64,
        /// Repairs of a route.
        pub repairs_started: u64,
        /// Repairs that found a route.
        pub repairs_succeeded: u64,
        /// Repairs given up.
        pub repairs_failed: u64,
        /// Link failures reported by the link layer.
        pub link_failures: u64,
        /// Those of them where ARP had no answer.
        pub link_failures_unresolved: u64,
        /// Neighbours whose HELLOs stopped.
        pub neighbours_lost: u64,
        /// HELLOs sent.
        pub hellos_sent: u64,
        /// HELLOs received.
        pub hellos_received: u64,
        /// Acknowledgements of replies, sent because a reply asked for one.
        pub rrep_acks_sent: u64,
        /// Messages ignored because their sender is received too weakly.
        pub weak_ignored: u64,
    }
}

/// How a message arrived.
#[derive(Clone, Copy)]
struct Envelope {
    /// The neighbour that sent it.
    from: Ipv4Addr,
    /// TTL as received.
    ttl: u8,
    /// Sent to all neighbours?
    broadcast: bool,
    /// When the request behind it was made; only [`SearchTimeout::Measured`] looks at it.
    created: Time,
}

/// The AODV of a node.
///
/// Call order, time and packet custody are those of the [module](super). No allocation happens when a data packet is
/// forwarded over a known route.
#[derive(Clone, Debug)]
pub struct Aodv {
    addr: Ipv4Addr,
    /// Which addresses are behind gateways.
    plan: AddressPlan,
    /// What it answers for as a gateway; nothing at other nodes.
    served: Vec<Prefix>,
    config: Config,
    jitter: Stream,
    /// Own sequence number.
    seqno: u32,
    /// ID of the next request.
    rreq_id: u32,
    table: Table,
    buffer: Buffer,
    delay: Delay,
    seen: SeenRequests,
    repairs: Repairs,
    hello: Hello,
    signals: Signals,
    usages: Usages,
    rreq_rate: RateLimit,
    rerr_rate: RateLimit,
    /// No entry of the table has anything to do before this.
    sweep_at: Option<Time>,
    /// With [`Retry::PacketOrTick`]: the next tick; none while nothing is buffered.
    retry_at: Option<Time>,
    counters: Counters,
}

impl Aodv {
    /// AODV of the node `addr`. `jitter` draws the delays of relayed broadcasts.
    pub fn new(addr: Ipv4Addr, config: Config, jitter: Stream) -> Aodv {
        let mut jitter = jitter;
        let seqno = match config.own_seqno {
            OwnSeqno::Rfc => 0,
            OwnSeqno::Even => 2,
        };
        let hello = Hello::new(config.hello, &mut jitter);
        Aodv {
            addr,
            plan: AddressPlan::default(),
            served: Vec::new(),
            config,
            jitter,
            seqno,
            rreq_id: 1,
            table: Table::default(),
            buffer: Buffer::new(config.buffer_capacity, config.buffer_timeout),
            delay: Delay::default(),
            seen: SeenRequests::default(),
            repairs: Repairs::default(),
            hello,
            signals: Signals::default(),
            usages: Usages::default(),
            rreq_rate: RateLimit::new(config.rreq_rate_limit),
            rerr_rate: RateLimit::new(config.rerr_rate_limit),
            sweep_at: None,
            retry_at: None,
            counters: Counters::default(),
        }
    }

    /// A data packet made at this node for another one.
    pub fn handle_outgoing(&mut self, now: Time, mut packet: Ipv4Packet, out: &mut Vec<Action>) {
        if let Some(ttl) = self.config.data_ttl {
            packet.ttl = ttl;
        }
        if packet.dst == self.addr || packet.dst.is_broadcast() {
            out.push(Action::Drop { packet, reason: DropReason::NoRoute });
        } else {
            self.forward_or_search(now, packet, out);
        }
    }

    fn forward_or_search(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        if let Some(packet) = self.try_forward(now, packet, out) {
            let dst = packet.dst;
            self.hold(now, packet, out);
            if !self.waits_for_repair(dst) {
                self.search(now, dst, out);
            }
        }
    }

    /// A data packet received for another node; `from` is the neighbour that sent it, where known, and tells the HELLO
    /// option that the neighbour lives.
    pub fn handle_transit(&mut self, now: Time, mut packet: Ipv4Packet, from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        if let Some(from) = from
            && self.config.signal.is_none()
        {
            self.hello.heard(now, from);
        }
        if packet.src == self.addr {
            out.push(Action::Drop { packet, reason: DropReason::RouteLoop });
            return;
        }
        if packet.ttl <= 1 {
            out.push(Action::Drop { packet, reason: DropReason::TtlExpired });
            return;
        }
        packet.ttl -= 1;
        if let Some(packet) = self.try_forward(now, packet, out) {
            match self.table.get(packet.dst).map(|route| route.state) {
                Some(RouteState::InRepair) => self.hold(now, packet, out),
                _ => self.no_route(now, packet, out),
            }
        }
    }

    /// A packet with an AODV message, received from the neighbour `from`, which is its IP source: each relay puts its own
    /// address there. It is consumed, whatever its IP destination.
    pub fn handle_message(&mut self, now: Time, packet: Ipv4Packet, from: Ipv4Addr, out: &mut Vec<Action>) {
        let Body::Routing(RoutingMessage::Aodv(message)) = packet.body else { return };
        let broadcast = packet.dst.is_broadcast();
        let envelope = Envelope { from, ttl: packet.ttl, broadcast, created: packet.meta.created };
        if self.is_too_weak(from) {
            self.counters.weak_ignored += 1;
            return;
        }
        self.hello.heard(now, from);
        match message {
            AodvMessage::Rreq(rreq) => self.handle_request(now, rreq, envelope, out),
            AodvMessage::Rrep(rrep) => self.handle_reply(now, rrep, envelope, out),
            AodvMessage::Rerr(rerr) => self.handle_error(now, &rerr, envelope, out),
            AodvMessage::RrepAck => {}
        }
    }

    /// The link layer could not deliver to `next_hop`; `packet` is what it tried, if it gives it back, and `reason` what
    /// it met.
    pub fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Option<Ipv4Packet>,
        next_hop: Ipv4Addr,
        reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        self.counters.link_failures += 1;
        self.counters.link_failures_unresolved += u64::from(reason == DropReason::ArpUnresolved);
        match packet {
            packet if !self.config.link_layer_detection => {
                out.extend(packet.map(|packet| Action::Drop { packet, reason: DropReason::LinkBroken }));
            }
            Some(packet) if !packet.is_routing() => self.handle_data_failure(now, packet, next_hop, out),
            packet => {
                if let Some(packet) = packet {
                    out.push(Action::Drop { packet, reason: DropReason::LinkBroken });
                }
                if self.config.control_breaks_links {
                    self.break_link(now, next_hop, None, out);
                }
            }
        }
    }

    /// Does what has become due.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        self.delay.release(now, out);
        if self.sweep_at.is_some_and(|at| at <= now) {
            self.sweep(now, out);
        }
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_all(now, out);
        }
        while let Some(dst) = self.repairs.pop_due(now) {
            self.repair_timed_out(now, dst, out);
        }
        self.hello_timeout(now, out);
    }

    /// When something becomes due: at this instant, or at a later one if packets renew a route before it.
    pub fn next_timeout(&self) -> Option<Time> {
        let queues = Time::earlier_of(self.delay.next(), self.repairs.next());
        let ticks = Time::earlier_of(self.sweep_at, self.retry_at);
        Time::earlier_of(Time::earlier_of(queues, ticks), self.hello.next())
    }

    /// This node's address.
    pub fn addr(&self) -> Ipv4Addr {
        self.addr
    }

    /// The parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// This node's sequence number.
    pub fn seqno(&self) -> u32 {
        self.seqno
    }

    /// The routing table in order of address, invalid routes included.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.table.iter()
    }

    /// The entry of `dst`.
    pub fn route(&self, dst: Ipv4Addr) -> Option<&Route> {
        self.table.get(dst)
    }

    /// What has been done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Data packets handed in that have not left yet: in the send buffer or between two packets of a flush.
    pub fn held(&self) -> usize {
        self.buffer.len() + self.delay.data()
    }

    /// Routing messages that wait for their jitter.
    pub fn waiting_control(&self) -> usize {
        self.delay.control()
    }

    /// Requests remembered against duplicates.
    pub fn remembered_requests(&self) -> usize {
        self.seen.len()
    }

    /// Sends the packet if there is a valid route for it.
    fn try_forward(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) -> Option<Ipv4Packet> {
        let (dst, src) = (packet.dst, packet.src);
        let Some(next_hop) = self.table.get(dst).filter(|route| route.is_valid()).map(|route| route.next_hop) else {
            return Some(packet);
        };
        if src == self.addr {
            self.usages.note(dst, next_hop);
        }
        self.refresh(now, dst);
        if self.config.refresh == Refresh::WholePath {
            self.refresh(now, next_hop);
            if src != self.addr
                && let Some(previous_hop) = self.refresh(now, src)
            {
                self.refresh(now, previous_hop);
            }
        }
        out.push(Action::Send { packet, next_hop: NextHop::Unicast(next_hop) });
        None
    }

    /// A valid route was used: it lives on. Returns its next hop.
    fn refresh(&mut self, now: Time, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        let until = now + self.config.active_route_timeout;
        let route = self.table.get_mut(dst).filter(|route| route.has_next_hop())?;
        let next_hop = route.next_hop;
        // A lifetime that grows needs no earlier look at the table than the one already due.
        if until >= route.expires {
            route.expires = until;
        } else if self.config.refresh == Refresh::DestinationOnly {
            route.expires = until;
            self.watch(until);
        }
        Some(next_hop)
    }

    /// The table has something to look at once a lifetime ends at `expires`.
    fn watch(&mut self, expires: Time) {
        self.sweep_by(self.config.expiry_due(expires));
    }

    fn sweep_by(&mut self, at: Time) {
        self.sweep_at = Some(self.sweep_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Puts a data packet into the send buffer.
    fn hold(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        self.buffer.push(now, packet, out);
        if let Retry::PacketOrTick(tick) = self.config.retry
            && self.retry_at.is_none()
        {
            self.retry_at = Some(now.next_multiple_of(tick));
        }
    }

    /// A route to `dst` has come up: sends what waits for it, one packet each `spacing`.
    fn flush(&mut self, now: Time, dst: Ipv4Addr, spacing: Dur, out: &mut Vec<Action>) {
        let mut at = now;
        while let Some(packet) = self.buffer.pop(now, dst, out) {
            let Some(next_hop) = self.refresh(now, dst) else {
                out.push(Action::Drop { packet, reason: DropReason::NoRoute });
                continue;
            };
            if packet.src == self.addr {
                self.usages.note(dst, next_hop);
            }
            let next_hop = NextHop::Unicast(next_hop);
            if at > now {
                self.delay.push(at, packet, next_hop);
            } else {
                out.push(Action::Send { packet, next_hop });
            }
            at += spacing;
        }
    }

    /// A message of this node, or one it passes on.
    fn message(&self, message: AodvMessage, dst: Ipv4Addr, ttl: u8, created: Time) -> Ipv4Packet {
        // The identification may be anything in a packet that is never fragmented (RFC 6864 section 4).
        let meta = PacketMeta { created, ..PacketMeta::default() };
        Ipv4Packet { src: self.addr, dst, ttl, ident: 0, body: Body::Routing(message.into()), meta }
    }

    /// Sends a message to all neighbours, after a random delay if it is passed on.
    fn broadcast(&mut self, now: Time, packet: Ipv4Packet, relayed: bool, out: &mut Vec<Action>) {
        self.hello.broadcast_sent(now);
        let at = if relayed { now + self.jitter.duration(self.config.broadcast_jitter) } else { now };
        if at > now {
            self.delay.push(at, packet, NextHop::Broadcast);
        } else {
            out.push(Action::Send { packet, next_hop: NextHop::Broadcast });
        }
    }

    /// Until when a route invalidated `now` is remembered.
    fn forget_at(&self, now: Time) -> Time {
        now + self.config.delete_period()
    }

    /// Goes through the table: expires routes, forgets old ones, repeats requests (RFC 3561 sections 6.2 to 6.4).
    fn sweep(&mut self, now: Time, out: &mut Vec<Action>) {
        self.sweep_at = None;
        let forget_at = self.forget_at(now);
        for nth in 0..self.table.len() {
            let route = self.table.nth_mut(nth);
            let (dst, due) = (route.dst, self.config.expiry_due(route.expires));
            if route.is_valid() {
                if due > now {
                    self.sweep_by(due);
                    continue;
                }
                route.break_down(forget_at);
                self.buffer.drop_all(now, dst, DropReason::NoRoute, out);
            }
            self.sweep_search(now, dst, out);
        }
        if self.config.delete_invalid_routes {
            self.forget_routes(now);
        }
    }

    /// Removes invalid routes after DELETE_PERIOD (RFC 3561 section 6.11), but none that is searched for.
    fn forget_routes(&mut self, now: Time) {
        let (buffer, mut next) = (&self.buffer, None::<Time>);
        let period = self.config.delete_period();
        self.table.retain(|route| {
            if route.state != RouteState::Invalid {
                return true;
            }
            let searched_until = route.search.timeout.unwrap_or(Time::ZERO);
            let wanted_until = if buffer.holds(route.dst) { now + period } else { Time::ZERO };
            let until = route.expires.max(searched_until).max(wanted_until);
            if until > now {
                next = Some(next.map_or(until, |earlier| earlier.min(until)));
            }
            until > now
        });
        if let Some(at) = next {
            self.sweep_by(at);
        }
    }
}
