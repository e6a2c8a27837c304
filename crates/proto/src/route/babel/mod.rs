//! Babel (RFC 8966), for one node with one interface: a loop-free distance-vector protocol. It is proactive: routes are
//! known before they are needed, and a packet without a route is dropped.
//!
//! | file | section of RFC 8966 |
//! |---|---|
//! | `config` | appendix B |
//! | `seqno` | 3.2.1 |
//! | `neighbour` | 3.2.4 and 3.4, appendices A.1 and A.2: Hellos, IHUs, the cost of a link |
//! | `source` | 3.5.1 and 3.7.3: feasibility |
//! | `table` | 3.2.6, 3.5.4 and A.3: routes, smoothed metrics, the route of an address |
//! | `update` | 3.5.3, 3.8.2.2 and 3.8.2.3: received updates, expiry of routes |
//! | `select` | 3.6 and 3.7.2: route selection, triggered updates |
//! | `request` | 3.8: requests for updates and for sequence numbers |
//! | `outbox` | 3.1: TLVs collected before they are sent |
//! | `announce` | 3.1, 3.4 and 3.7.1: messages sent |
//! | `acquire` | 3.3, 3.4: messages about the link itself |
//! | `router` | data packets, and the rest of the interface to its node |
//!
//! # Choices where RFC 8966 leaves room
//! - An unfeasible update for the selected route with the same router-id is ignored, and a sequence number is requested
//!   (3.5.3, 3.8.2.2). Other unfeasible routes are kept, because requests for sequence numbers use them.
//! - A request for a sequence number goes to all neighbours when the last route is lost, and only to the sender when an
//!   update is not feasible (3.8.2.1, 3.8.2.2).
//! - Retractions and changes of the router-id are sent twice, instead of being acknowledged (3.7.2).
//! - A metric change of at least the cost of a perfect link triggers an update (3.7.2).
//! - A request for all routes is answered to all neighbours, so that one answer serves several (3.8.1.1).
//! - A packet given up by the link layer changes no route: only Hellos measure links, as in babeld.
//!
//! # Left out
//! Multiple interfaces, and with them split horizon, which is not for radios (3.7.4); IPv6 routes, which are skipped;
//! sending of unicast Hellos, which are understood, and of requests for acknowledgements, which are answered; RFC 8967
//! and 8968 (security), RFC 9079 (source-specific routes), RFC 9616 (delays as costs). Sequence numbers are not kept
//! across a restart.

mod acquire;
mod announce;
mod config;
mod counters;
mod neighbour;
mod outbox;
mod request;
mod router;
mod select;
mod seqno;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod update;

pub use config::{Config, LinkQuality};
pub use counters::Counters;
pub use table::Selected;

use super::action::{Action, NextHop};
use super::mirror::Mirror;
use super::usage::Usages;
use crate::wire::{BabelTlv, Prefix, RouterId};
use config::MOST;
use core::net::Ipv4Addr;
use fourhop_units::{Stream, Time};
use neighbour::Neighbours;
use outbox::Outbox;
use request::Requests;
use source::Sources;
use std::sync::Arc;
use table::Table;

/// The Babel of a node.
///
/// Call order, time and packet custody are those of the [module](super). Data packets change no timer and allocate
/// nothing.
#[derive(Clone, Debug)]
pub struct Babel {
    addr: Ipv4Addr,
    /// Addresses of this node's other interfaces.
    interfaces: Vec<Ipv4Addr>,
    router_id: RouterId,
    /// Announced prefixes: its address and, if it is a gateway, those behind it.
    own: Vec<Prefix>,
    config: Arc<Config>,
    jitter: Stream,
    /// Sequence number of its announcements (section 3.2.1).
    seqno: u16,
    hello_seqno: u16,
    hello_at: Time,
    update_at: Time,
    neighbours: Neighbours,
    table: Table,
    sources: Sources,
    requests: Requests,
    outbox: Outbox,
    /// Updates to be sent again.
    repeats: Vec<(Time, Prefix)>,
    /// When something is next due.
    wake: Time,
    usages: Usages,
    /// The routes last reported to a driver that mirrors them; `None` without such a driver.
    mirror: Option<Mirror>,
    counters: Counters,
}

impl Babel {
    /// Creates the Babel of the node `addr`, whose router-id is four zero bytes followed by that address. `jitter`
    /// draws all random delays. Instances made from one `Arc` share its memory.
    ///
    /// # Panics
    /// If `addr` is 0.0.0.0, which belongs to no node.
    pub fn new(addr: Ipv4Addr, config: impl Into<Arc<Config>>, mut jitter: Stream) -> Babel {
        let config = config.into();
        let router_id = RouterId::of_address(addr).expect("a node has an address");
        let hello_at = Time::ZERO + jitter.duration(config.hello_interval);
        let update_at = Time::ZERO + jitter.duration(config.update_interval);
        Babel {
            addr,
            interfaces: Vec::new(),
            router_id,
            own: vec![Prefix::host(addr)],
            config,
            jitter,
            seqno: 0,
            hello_seqno: 0,
            hello_at,
            update_at,
            neighbours: Neighbours::default(),
            table: Table::default(),
            sources: Sources::default(),
            requests: Requests::default(),
            outbox: Outbox::default(),
            repeats: Vec::new(),
            wake: hello_at.min(update_at),
            usages: Usages::new(MOST),
            mirror: None,
            counters: Counters::default(),
        }
    }

    /// Makes this node a gateway that announces the prefixes behind it.
    #[must_use]
    pub fn with_gateway(mut self, prefixes: impl IntoIterator<Item = Prefix>) -> Babel {
        self.own.extend(prefixes);
        self
    }

    fn is_own(&self, addr: Ipv4Addr) -> bool {
        addr == self.addr || self.interfaces.contains(&addr)
    }

    fn handle_tlv(&mut self, now: Time, from: Ipv4Addr, tlv: &BabelTlv) {
        match *tlv {
            BabelTlv::AckRequest { opaque, interval } => self.handle_ack_request(now, from, opaque, interval),
            BabelTlv::Ack { .. } => {}
            BabelTlv::Hello { unicast, seqno, interval } => self.handle_hello(now, from, unicast, seqno, interval),
            BabelTlv::Ihu { address, rxcost, interval } => self.handle_ihu(now, from, address, rxcost, interval),
            BabelTlv::Update(ref update) => self.handle_update(now, from, update),
            BabelTlv::Retraction { prefix, .. } => self.handle_retraction(now, from, prefix),
            BabelTlv::RouteRequest { prefix } => self.handle_route_request(now, from, prefix),
            BabelTlv::SeqnoRequest { prefix, seqno, hop_count, router_id } => {
                self.handle_seqno_request(now, from, (prefix, router_id, seqno), hop_count);
            }
        }
    }

    /// Reports changed routes, inserted before the actions from `begun` on, and computes the next timeout.
    fn finish(&mut self, now: Time, begun: usize, out: &mut Vec<Action>) {
        if let Some(mirror) = &mut self.mirror {
            let lasts = config::hold(config::centiseconds(self.config.update_interval));
            let hosts = self.table.0.iter().filter(|destination| destination.prefix.bits() == 32);
            let routes = hosts.filter_map(|host| Some((host.prefix.addr(), host.selected?)));
            mirror.report(routes.map(|(dst, route)| ((dst, route.next_hop, route.hops), lasts)), begun, out);
        }
        let first = [self.neighbours.next(), self.table.next(), self.requests.next(), self.outbox.next()];
        let again = self.repeats.iter().map(|&(at, _)| at);
        let first = first.into_iter().flatten().chain(again).fold(self.hello_at.min(self.update_at), Time::min);
        self.wake = first.max(now);
    }

    /// Returns whether this node announces the prefix.
    fn announces(&self, prefix: Prefix) -> bool {
        self.own.contains(&prefix)
    }

    /// Returns whether this address belongs to the node or is behind it.
    pub fn serves(&self, addr: Ipv4Addr) -> bool {
        self.own.iter().any(|prefix| prefix.contains(addr))
    }

    /// Returns the selected route for an address.
    pub fn route(&self, dst: Ipv4Addr) -> Option<&Selected> {
        self.table.lookup(dst)
    }

    /// Iterates over all selected routes, hosts first.
    pub fn routes(&self) -> impl Iterator<Item = (Prefix, &Selected)> {
        self.table.0.iter().filter_map(|destination| Some((destination.prefix, destination.selected.as_ref()?)))
    }

    /// Iterates over the cost of the link to each neighbour, infinite ones included.
    pub fn links(&self) -> impl Iterator<Item = (Ipv4Addr, u16)> {
        self.neighbours.iter().map(|neighbour| (neighbour.addr, neighbour.cost))
    }

    /// Returns this node's sequence number.
    pub fn seqno(&self) -> u16 {
        self.seqno
    }

    /// Returns its router-id.
    pub fn router_id(&self) -> RouterId {
        self.router_id
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
