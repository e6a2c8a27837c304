//! Routing: which neighbour a packet goes to next.
//!
//! [`Router`] is the layer as a node sees it; it dispatches statically over [`StaticRoutes`], a table given from
//! outside, [`Aodv`], on-demand routing by RFC 3561, and [`Babel`], which knows all routes beforehand (RFC 8966). All answer with [`Action`]s: the routing layer owns no queue
//! to the link and delivers nothing; it tells its node what to send where, what is lost and why, and which next hop has
//! failed.
//!
//! # Legal call order
//! Time never runs backwards between calls. A packet is handed over by value and leaves in exactly one [`Action`], at
//! once or later, unless it is a routing message, which the layer consumes. Every `handle_*` call may change
//! `next_timeout`; an early `handle_timeout` does nothing. The order of the actions is the order of their effects.
//!
//! # What the node does
//! - Packets for the node's own address and for the broadcast address are delivered by the node and never come here.
//! - A packet received from a radio has its [`hops`](crate::wire::PacketMeta::hops) counted by the node before it is
//!   handed over.
//! - Packets whose body is [`Body::Routing`](crate::wire::Body) go to `handle_message` whatever their destination.

mod address_plan;
pub mod aodv;
pub mod babel;
mod counters;
mod metric;
mod static_routes;
mod told;
mod usage;
mod wired_routes;

pub use address_plan::{AddressPlan, Prefix};
pub use aodv::{Aodv, Config};
pub use babel::Babel;
pub use counters::Counters;
pub use metric::Metric;
pub use static_routes::{ShortestPaths, StaticRoutes};
pub use usage::{Discoveries, Usage};
pub use wired_routes::{PortId, WiredRoutes};

use crate::drop::DropReason;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dbm, Dur, Rate, Time};

/// Where a packet goes on the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextHop {
    /// To this neighbour; its failure comes back through `handle_link_failure`.
    Unicast(Ipv4Addr),
    /// To all neighbours, unacknowledged.
    Broadcast,
}

/// How strongly a neighbour's routing messages are received.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Signal {
    /// The neighbour.
    pub neighbour: Ipv4Addr,
    /// The newest message.
    pub latest: Dbm,
    /// Smoothed.
    pub smoothed: Dbm,
    /// Good enough to route over?
    pub stable: bool,
}

/// What routing asks of its node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Put the packet into the interface queue.
    Send {
        /// The packet, its TTL as it goes on air.
        packet: Ipv4Packet,
        /// Its receiver.
        next_hop: NextHop,
    },
    /// Drop every packet of the interface queue that waits for this next hop, as
    /// [`DropReason::QueuePurged`].
    PurgeQueue {
        /// The broken neighbour.
        next_hop: Ipv4Addr,
    },
    /// A route has come up, or leads elsewhere than before. Only where it was asked for ([`Aodv::with_route_changes`]), as
    /// is [`Action::RouteDown`].
    RouteUp {
        /// Where it leads.
        destination: Ipv4Addr,
        /// The neighbour to send to.
        next_hop: Ipv4Addr,
        /// Hops to the destination.
        hops: u8,
        /// How long it lasts if nothing renews it. Renewals are not reported; the end always is.
        lifetime: Dur,
    },
    /// There is no route to it any more.
    RouteDown {
        /// Where it led.
        destination: Ipv4Addr,
    },
    /// The packet is lost.
    Drop {
        /// The packet.
        packet: Ipv4Packet,
        /// What it was lost to.
        reason: DropReason,
    },
}

/// A packet that the node at `addr` is to pass on, which costs it one TTL (RFC 1812 section 5.3.1). `None`: it came back to
/// where it began, or may pass no further router, and is dropped.
fn pass_on(addr: Ipv4Addr, mut packet: Ipv4Packet, out: &mut Vec<Action>) -> Option<Ipv4Packet> {
    let passes = if packet.src == addr { Err(DropReason::RouteLoop) } else { packet.decrement_ttl() };
    match passes {
        Ok(()) => Some(packet),
        Err(reason) => {
            out.push(Action::Drop { packet, reason });
            None
        }
    }
}

/// The routing layer of a node.
#[derive(Clone, Debug)]
pub enum Router {
    /// Routes given from outside.
    Static(StaticRoutes),
    /// RFC 3561.
    Aodv(Box<Aodv>),
    /// RFC 8966.
    Babel(Box<Babel>),
}

impl Router {
    /// The same, which reports changes of its routes ([`Aodv::with_route_changes`]); static ones have none.
    #[must_use]
    pub fn with_route_changes(self) -> Router {
        match self {
            Router::Aodv(aodv) => Router::Aodv(Box::new(aodv.with_route_changes())),
            Router::Babel(babel) => Router::Babel(Box::new(babel.with_route_changes())),
            fixed @ Router::Static(_) => fixed,
        }
    }

    /// The node has this address too, at another interface, from which its messages go out as well. Before anything happens.
    pub fn add_interface(&mut self, addr: Ipv4Addr) {
        match self {
            Router::Static(_) => {}
            Router::Aodv(r) => r.add_interface(addr),
            Router::Babel(r) => r.add_interface(addr),
        }
    }

    /// A packet made at this node, for another.
    pub fn handle_outgoing(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        match self {
            Router::Static(r) => r.handle_outgoing(now, packet, out),
            Router::Aodv(r) => r.handle_outgoing(now, packet, out),
            Router::Babel(r) => r.handle_outgoing(packet, out),
        }
    }

    /// A packet received from a neighbour, for another node. `from` is the neighbour's address where the link layer
    /// knows it.
    pub fn handle_transit(&mut self, now: Time, packet: Ipv4Packet, from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        match self {
            Router::Static(r) => r.handle_transit(now, packet, out),
            Router::Aodv(r) => r.handle_transit(now, packet, from, out),
            Router::Babel(r) => r.handle_transit(packet, out),
        }
    }

    /// Does routing look at the strength of the frames that bring its messages?
    #[inline]
    pub fn wants_signals(&self) -> bool {
        match self {
            Router::Static(_) | Router::Babel(_) => false,
            Router::Aodv(r) => r.wants_signals(),
        }
    }

    /// The frame that brings the next message of `neighbour` was received with this strength; only where
    /// [`Router::wants_signals`].
    pub fn handle_signal(&mut self, neighbour: Ipv4Addr, strength: Dbm) {
        match self {
            Router::Static(_) | Router::Babel(_) => {}
            Router::Aodv(r) => r.handle_signal(neighbour, strength),
        }
    }

    /// Does routing look at the rate of data to its neighbours?
    #[inline]
    pub fn wants_rates(&self) -> bool {
        match self {
            Router::Static(_) | Router::Babel(_) => false,
            Router::Aodv(r) => r.wants_rates(),
        }
    }

    /// Data to `neighbour`, whose message comes next, is sent at this rate at present; only where [`Router::wants_rates`].
    pub fn handle_rate(&mut self, now: Time, neighbour: Ipv4Addr, rate: Rate) {
        match self {
            Router::Static(_) | Router::Babel(_) => {}
            Router::Aodv(r) => r.handle_rate(now, neighbour, rate),
        }
    }

    /// A packet that came in through this gateway, for a node of the mesh; its TTL has been looked at. Where there is no route, one is
    /// searched for, as for a packet of this node's own.
    pub fn handle_entering(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        match self {
            Router::Static(r) => r.handle_outgoing(now, packet, out),
            Router::Aodv(r) => r.handle_entering(now, packet, out),
            Router::Babel(r) => r.handle_outgoing(packet, out),
        }
    }

    /// Traffic for `dst` was forwarded outside this router, such as by a kernel, or left the mesh here: routes were
    /// used. Its source is `src`, the neighbour that brought it `from`, where known.
    pub fn handle_used(&mut self, now: Time, dst: Ipv4Addr, src: Option<Ipv4Addr>, from: Option<Ipv4Addr>) {
        match self {
            Router::Static(_) | Router::Babel(_) => {}
            Router::Aodv(r) => r.handle_used(now, dst, src, from),
        }
    }

    /// A routing message received from neighbour `from`, which is its IP source. It is consumed; static routes ignore it.
    pub fn handle_message(&mut self, now: Time, packet: Ipv4Packet, from: Ipv4Addr, out: &mut Vec<Action>) {
        match self {
            Router::Static(_) => {}
            Router::Aodv(r) => r.handle_message(now, packet, from, out),
            Router::Babel(r) => r.handle_message(now, packet, from, out),
        }
    }

    /// The link layer could not deliver to `next_hop` and gives back the packet it tried, if it still has it.
    pub fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Option<Ipv4Packet>,
        next_hop: Ipv4Addr,
        reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        match self {
            Router::Static(r) => r.handle_link_failure(packet, out),
            Router::Aodv(r) => r.handle_link_failure(now, packet, next_hop, reason, out),
            Router::Babel(r) => r.handle_link_failure(packet, out),
        }
    }

    /// The time [`Router::next_timeout`] gave has come.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        match self {
            Router::Static(_) => {}
            Router::Aodv(r) => r.handle_timeout(now, out),
            Router::Babel(r) => r.handle_timeout(now, out),
        }
    }

    /// When to call [`Router::handle_timeout`].
    pub fn next_timeout(&self) -> Option<Time> {
        match self {
            Router::Static(_) => None,
            Router::Aodv(r) => r.next_timeout(),
            Router::Babel(r) => Some(r.next_timeout()),
        }
    }

    /// Data packets handed in that have not left yet.
    pub fn held(&self) -> usize {
        match self {
            Router::Static(_) | Router::Babel(_) => 0,
            Router::Aodv(r) => r.held(),
        }
    }

    /// What AODV has done; other routing does nothing that these would count.
    pub fn counters(&self) -> Counters {
        match self {
            Router::Static(_) | Router::Babel(_) => Counters::default(),
            Router::Aodv(r) => *r.counters(),
        }
    }

    /// What Babel has done, if it routes.
    pub fn babel_counters(&self) -> Option<&babel::Counters> {
        match self {
            Router::Static(_) | Router::Aodv(_) => None,
            Router::Babel(r) => Some(r.counters()),
        }
    }

    /// How strongly a neighbour's routing messages are received, where routing looks at that.
    pub fn signal(&self, neighbour: Ipv4Addr) -> Option<Signal> {
        match self {
            Router::Static(_) | Router::Babel(_) => None,
            Router::Aodv(r) => r.signal(neighbour),
        }
    }

    /// What this node's own packets for `dst` saw of routing so far; static routes never change.
    pub fn usage(&self, dst: Ipv4Addr) -> Usage {
        match self {
            Router::Static(_) => Usage::default(),
            Router::Aodv(r) => r.usage(dst),
            Router::Babel(r) => r.usage(dst),
        }
    }

    /// The neighbour through which packets for `dst` leave at present, if any.
    pub fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        match self {
            Router::Static(r) => r.next_hop(dst),
            Router::Aodv(r) => r.next_hop(dst),
            Router::Babel(r) => r.next_hop(dst),
        }
    }

    /// Hops to `dst` along the route, where known.
    pub fn hops(&self, dst: Ipv4Addr) -> Option<u8> {
        match self {
            Router::Static(r) => r.hops(dst),
            Router::Aodv(r) => r.route(dst).filter(|route| route.is_valid()).map(|route| route.hops),
            Router::Babel(r) => r.route(dst).map(|route| route.hops),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Body, EchoMessage, PacketMeta};
    use fourhop_units::{NodeId, Purpose, Stream};

    #[test]
    fn both_kinds_of_router_answer_for_the_packets_they_are_given() {
        let [here, neighbour, far] = [0, 1, 2].map(|n| NodeId(n).ipv4());
        let body = Body::Echo(EchoMessage { reply: false, ident: 0, number: 0, payload: 8 });
        let packet = Ipv4Packet { src: here, dst: far, ttl: 9, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        let mut out = Vec::new();
        let mut fixed = Router::Static(StaticRoutes::new(here, [(far, neighbour, 2)]));
        fixed.handle_outgoing(Time::ZERO, packet.clone(), &mut out);
        let next_hop = NextHop::Unicast(neighbour);
        assert_eq!(out, [Action::Send { packet: packet.clone(), next_hop }]);
        assert_eq!((fixed.next_hop(far), fixed.held(), fixed.next_timeout()), (Some(neighbour), 0, None));
        out.clear();
        fixed.handle_link_failure(Time::ZERO, Some(packet.clone()), neighbour, DropReason::RtsRetryLimit, &mut out);
        assert_eq!(out, [Action::Drop { packet: packet.clone(), reason: DropReason::LinkBroken }]);
        out.clear();
        let jitter = Stream::new(1, NodeId(0), Purpose::RoutingJitter);
        let mut aodv = Router::Aodv(Box::new(Aodv::new(here, Config::standard(), jitter)));
        aodv.handle_outgoing(Time::ZERO, packet, &mut out);
        assert!(matches!(&out[..], [Action::Send { packet, next_hop: NextHop::Broadcast }] if packet.is_routing()));
        assert_eq!((aodv.next_hop(far), aodv.held()), (None, 1));
        assert!(aodv.next_timeout().is_some());
    }
}
