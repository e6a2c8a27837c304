//! AODV, ad hoc on-demand distance vector routing (RFC 3561), for one node with one interface.
//!
//! One implementation with a [`Config`]: [`Config::standard`] is the RFC, [`Config::ns2`] the AODV of ns-2.35, and
//! every difference between them is a field.
//!
//! | file | section of RFC 3561 |
//! |---|---|
//! | `table` | 6.1 sequence numbers, 6.2 routes and precursors |
//! | `forward` | 6.2: data packets, and the routes they use and keep alive |
//! | `lifetime` | 6.2, 6.11: routes expire and are forgotten |
//! | `discovery` | 6.3 and 6.4: requests of this node |
//! | `request`, `seen` | 6.5 and 6.6: requests of others |
//! | `reply` | 6.7 |
//! | `hello` | 6.9, 6.10 |
//! | `error` | 6.11 |
//! | `repair` | 6.12 |
//! | `gateway` | 7, for one subnet behind each of several gateways |
//! | `signal` | not in the RFC: signal-strength-aware AODV (Gupta, Wormsbecker, Williamson, MASCOTS 2004) |
//! | `metric` | not in the RFC: routes by ETX or ETT, and the probes that measure links |
//! | `oneway` | 6.8: RREP-ACK, the blacklist of one-way links |
//! | `limits` | memory limits |
//! | `buffer`, `delay`, `rate` | packets that wait for a route or for their jitter; rate limits |
//!
//! # What is left out
//! Neither profile asks for RREP-ACKs or blacklists unidirectional links (6.8), because the MAC's RTS/CTS and ACK prove
//! both directions; devices can enable both with [`Config::reply_ack_wait`]. A reply that asks for an RREP-ACK always
//! gets one. After a reboot (6.13) the driver does the waiting; [`Aodv::with_numbers`] restores the numbers it saved.
//! Subnets of radios (7) and multicast are left out, and so are multiple interfaces (6.14), which a driver can join
//! into one. A relay that starts a repair for a data packet gives up the other routes over the broken link at once
//! instead of flagging them as repairable (6.12 allows both). ICMP "destination unreachable" is not sent; the drop is
//! reported to the node instead.
//!
//! # Choices where RFC 3561 leaves room
//! - Both profiles use the RFC's wire format, with hop counts starting at 0. ns-2 starts them at 1, which describes the
//!   same route.
//! - A node never accepts a sequence number older than a valid one it has, not even from a route error.
//! - When a lost neighbour is heard again, its route is restored with the sequence number that the break left, as a
//!   lower bound that is not used to answer requests. Forgetting the number, which is one reading of 6.5, lets routes
//!   form loops.
//! - A route error for a packet without a route goes to the precursors if there are any and is broadcast otherwise.
//! - The sequence number of a route is incremented when it expires, as when it breaks (6.1 allows it).
//! - A route error for a packet without a route does not increment the number again (6.11): the break already did, and
//!   a number ahead of the destination's by more than one would make nodes refuse its requests.
//! - A search with a known last hop count starts at that count plus TTL_INCREMENT, even beyond TTL_THRESHOLD (6.4).

mod buffer;
mod config;
mod delay;
mod discovery;
mod error;
mod forward;
mod gateway;
mod hello;
mod lifetime;
mod limits;
mod metric;
mod oneway;
mod rate;
mod repair;
mod reply;
mod request;
mod router;
mod seen;
mod signal;
mod table;
#[cfg(test)]
mod tests;

pub use config::{
    AfterFailure, Config, Expiry, FirstSearch, HelloConfig, IdLifetime, MetricConfig, OwnSeqno, Refresh,
    RepairDeadline, RepairRule, Retry, ReverseLifetime, SearchTimeout, SignalConfig,
};
pub use limits::Limits;
pub use table::{Distance, Route, RouteState, is_newer};

use super::action::{Action, NextHop};
use super::address_plan::AddressPlan;
use super::counters::Counters;
use super::mirror::Mirror;
use super::usage::{Usage, Usages};
use crate::wire::{AodvMessage, Body, Ipv4Packet, PacketMeta, Prefix};
use buffer::Buffer;
use core::net::Ipv4Addr;
use delay::Delay;
use fourhop_units::{Stream, Time};
use hello::Hello;
use metric::Links;
use oneway::OneWay;
use rate::RateLimit;
use repair::Repairs;
use seen::SeenRequests;
use signal::Signals;
use std::sync::Arc;
use table::Table;

/// How a message arrived.
#[derive(Clone, Copy)]
struct Envelope {
    /// The neighbour that sent it.
    from: Ipv4Addr,
    /// TTL as received.
    ttl: u8,
    /// Whether it was sent to all neighbours.
    broadcast: bool,
    /// When its request was made, as noted by the simulator ([`Aodv::with_notes`]).
    created: Time,
}

/// The AODV of a node.
///
/// Call order, time and packet custody are those of the [module](super). No allocation happens when a data packet is
/// forwarded over a known route.
// Field order is memory order: those that each message of a flood touches come first, in few cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Aodv {
    config: Arc<Config>,
    /// No entry of the table needs attention before this.
    sweep_at: Option<Time>,
    /// With [`Retry::PacketOrTick`]: the next tick; none while the buffer is empty.
    retry_at: Option<Time>,
    /// The routes last reported to a driver that mirrors them; `None` without such a driver.
    mirror: Option<Mirror>,
    delay: Delay,
    repairs: Repairs,
    one_way: OneWay,
    seen: SeenRequests,
    table: Table,
    counters: Counters,
    addr: Ipv4Addr,
    /// Whether packets carry a simulator's notes.
    notes: bool,
    /// This node's sequence number.
    seqno: u32,
    /// ID of the next request.
    rreq_id: u32,
    limits: Limits,
    /// Networks it answers for as a gateway; empty at other nodes.
    served: Vec<Prefix>,
    jitter: Stream,
    hello: Hello,
    signals: Signals,
    links: Links,
    rreq_rate: RateLimit,
    rerr_rate: RateLimit,
    buffer: Buffer,
    usages: Usages,
    /// Addresses of this node's other interfaces.
    interfaces: Vec<Ipv4Addr>,
    /// Addresses behind gateways.
    plan: AddressPlan,
}

impl Aodv {
    /// Creates the AODV of the node `addr`. `jitter` draws the delays of relayed broadcasts. Instances made from one
    /// `Arc` share its memory.
    pub fn new(addr: Ipv4Addr, config: impl Into<Arc<Config>>, jitter: Stream) -> Aodv {
        let (config, mut jitter) = (config.into(), jitter);
        let seqno = match config.own_seqno {
            OwnSeqno::Rfc => 0,
            OwnSeqno::Even => 2,
        };
        let hello = Hello::new(config.hello, &mut jitter);
        let links = Links::new(config.metric, &mut jitter);
        Aodv {
            addr,
            interfaces: Vec::new(),
            plan: AddressPlan::default(),
            served: Vec::new(),
            limits: Limits::AMPLE,
            notes: false,
            jitter,
            seqno,
            rreq_id: 1,
            table: Table::default(),
            buffer: Buffer::new(config.buffer_capacity, config.buffer_timeout),
            delay: Delay::default(),
            seen: SeenRequests::default(),
            repairs: Repairs::default(),
            one_way: OneWay::default(),
            hello,
            signals: Signals::default(),
            links,
            usages: Usages::new(Limits::AMPLE.routes),
            rreq_rate: RateLimit::new(config.rreq_rate_limit),
            rerr_rate: RateLimit::new(config.rerr_rate_limit),
            config,
            sweep_at: None,
            retry_at: None,
            mirror: None,
            counters: Counters::default(),
        }
    }

    /// Lets packets carry a simulator's notes ([`PacketMeta`]), from which AODV reads what ns-2's reads from headers
    /// that real packets lack. Without notes, a packet's hops so far are those of the route back to its source, and the
    /// latency of an answer is the duration of the search it ends.
    pub fn with_notes(self) -> Aodv {
        Aodv { notes: true, ..self }
    }

    /// Resumes with these numbers: the node's own sequence number and the ID of its next request, as
    /// [`seqno`](Self::seqno) and [`rreq_id`](Self::rreq_id) returned them before a restart (RFC 3561 section 6.13).
    pub fn with_numbers(self, seqno: u32, rreq_id: u32) -> Aodv {
        Aodv { seqno, rreq_id, ..self }
    }

    /// Returns the usage of every destination this node had packets for, in order of address.
    pub fn usages(&self) -> impl Iterator<Item = (Ipv4Addr, Usage)> {
        self.usages.iter()
    }

    /// Returns this node's address.
    pub fn addr(&self) -> Ipv4Addr {
        self.addr
    }

    /// Returns the parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns this node's sequence number.
    pub fn seqno(&self) -> u32 {
        self.seqno
    }

    /// Returns the ID of its next request.
    pub fn rreq_id(&self) -> u32 {
        self.rreq_id
    }

    /// Iterates over the routing table in order of address, invalid routes included.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.table.iter()
    }

    /// Returns the entry for `dst`.
    pub fn route(&self, dst: Ipv4Addr) -> Option<&Route> {
        self.table.get(dst)
    }

    /// Forgets the sequence number of a destination that has no valid route, as if none had been heard.
    pub fn forget_seqno(&mut self, dst: Ipv4Addr) {
        if let Some(route) = self.table.get_mut(dst).filter(|route| !route.is_valid()) {
            route.seqno_valid = false;
        }
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the number of routing messages that wait for their jitter.
    pub fn waiting_control(&self) -> usize {
        self.delay.control()
    }

    /// Returns the number of requests remembered to detect duplicates.
    pub fn remembered_requests(&self) -> usize {
        self.seen.len()
    }

    /// Reports changes since the last report, inserted before the actions from `begun` on.
    pub(super) fn report_changes(&mut self, now: Time, begun: usize, out: &mut Vec<Action>) {
        let Some(mirror) = &mut self.mirror else { return };
        let valid = self.table.iter().filter(|route| route.is_valid());
        let ways = valid.map(|route| ((route.dst, route.next_hop, route.hops), route.expires.saturating_since(now)));
        mirror.report(ways, begun, out);
    }

    /// Builds the packet for a message that this node originates or relays.
    fn message(&self, message: AodvMessage, dst: Ipv4Addr, ttl: u8, created: Time) -> Ipv4Packet {
        // The identification may be anything in a packet that is never fragmented (RFC 6864 section 4).
        let meta = PacketMeta { created, ..PacketMeta::default() };
        Ipv4Packet { src: self.addr, dst, ttl, ident: 0, dscp: 0, body: Body::Routing(message.into()), meta }
    }

    /// Sends a message to all neighbours, after a random delay if it is relayed.
    fn broadcast(&mut self, now: Time, packet: Ipv4Packet, relayed: bool, out: &mut Vec<Action>) {
        self.hello.last_broadcast = Some(now);
        let at = if relayed { now + self.jitter.duration(self.config.broadcast_jitter) } else { now };
        if at > now && self.delay.control() >= self.limits.messages {
            self.counters.relays_refused += 1;
        } else if at > now {
            self.delay.push(at, packet, NextHop::Broadcast);
        } else {
            out.push(Action::Send { packet, next_hop: NextHop::Broadcast });
        }
    }
}
