//! Interface of a routing protocol to its node.

use super::action::{Action, Signal};
use super::address_plan::AddressPlan;
use super::usage::Usage;
use crate::drop::DropReason;
use crate::wire::{Ipv4Packet, Prefix};
use core::net::Ipv4Addr;
use fourhop_units::{Dbm, Rate, Stream, Time};
use std::sync::Arc;

/// Takes the counters of a protocol: its name in results, and each counter with its own.
pub type CounterVisitor<'a> = dyn FnMut(&'static str, &mut dyn Iterator<Item = (&'static str, u64)>) + 'a;

/// A routing protocol at a node. Methods with a default are for protocols that have such a feature.
pub trait Protocol {
    /// The same, which reports changes of its routes by [`Action::RouteUp`] and [`Action::RouteDown`].
    #[must_use]
    fn with_route_changes(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// The node has this address too, at another interface, from which its messages go out as well. Before anything
    /// happens.
    fn add_interface(&mut self, _addr: Ipv4Addr) {}

    /// A packet made at this node, for another.
    fn handle_outgoing(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>);

    /// A packet received from a neighbour, for another node. `from` is the neighbour's address where the link layer
    /// knows it.
    fn handle_transit(&mut self, now: Time, packet: Ipv4Packet, from: Option<Ipv4Addr>, out: &mut Vec<Action>);

    /// A packet that came in through this gateway, for a node of the mesh; its TTL has been looked at. Where there is
    /// no route, one is searched for, as for a packet of this node's own.
    fn handle_entering(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        self.handle_outgoing(now, packet, out);
    }

    /// Does routing look at how strongly its messages are received, or at the rate of data to its neighbours?
    #[inline]
    fn watches_links(&self) -> bool {
        false
    }

    /// The frame that brings the next message of `neighbour` was received with this strength; only where it
    /// [`watches_links`](Protocol::watches_links).
    fn handle_signal(&mut self, _neighbour: Ipv4Addr, _strength: Dbm) {}

    /// Data to `neighbour`, whose message comes next, is sent at this rate at present; only where it
    /// [`watches_links`](Protocol::watches_links).
    fn handle_rate(&mut self, _now: Time, _neighbour: Ipv4Addr, _rate: Rate) {}

    /// Traffic for `dst` was forwarded outside this router, such as by a kernel, or left the mesh here: routes were
    /// used. Its source is `src`, the neighbour that brought it `from`, where known.
    fn handle_used(&mut self, _now: Time, _dst: Ipv4Addr, _src: Option<Ipv4Addr>, _from: Option<Ipv4Addr>) {}

    /// A routing message received from neighbour `from`, which is its IP source. It is consumed.
    fn handle_message(&mut self, _now: Time, _packet: Ipv4Packet, _from: Ipv4Addr, _out: &mut Vec<Action>) {}

    /// The link layer could not deliver to `next_hop` and gives back the packet it tried, if it still has it.
    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Option<Ipv4Packet>,
        next_hop: Ipv4Addr,
        reason: DropReason,
        out: &mut Vec<Action>,
    );

    /// The time [`next_timeout`](Protocol::next_timeout) gave has come.
    fn handle_timeout(&mut self, _now: Time, _out: &mut Vec<Action>) {}

    /// When to call [`handle_timeout`](Protocol::handle_timeout).
    fn next_timeout(&self) -> Option<Time> {
        None
    }

    /// Data packets handed in that have not left yet.
    fn buffered(&self) -> usize {
        0
    }

    /// Shows what the protocol has counted.
    fn count(&self, _visit: &mut CounterVisitor) {}

    /// How strongly a neighbour's routing messages are received, where routing looks at that.
    fn signal(&self, _neighbour: Ipv4Addr) -> Option<Signal> {
        None
    }

    /// Routing as this node's own packets for `dst` experienced it so far, if routes change.
    fn usage(&self, _dst: Ipv4Addr) -> Usage {
        Usage::default()
    }

    /// The neighbour through which packets for `dst` leave at present, if any.
    fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr>;

    /// Hops to `dst` along the route, where known.
    fn hops(&self, dst: Ipv4Addr) -> Option<u8>;
}

/// Where a router is to run.
#[derive(Debug)]
pub struct Place {
    /// Address of its node.
    pub addr: Ipv4Addr,
    /// Draws the random delays of its messages.
    pub jitter: Stream,
    /// Networks behind its node, if that is a gateway.
    pub serves: Option<Prefix>,
    /// Addresses behind gateways.
    pub plan: AddressPlan,
    /// Do packets carry the simulator's notes?
    pub notes: bool,
}

impl Place {
    /// A node of a mesh without gateways, whose packets carry no notes.
    pub fn new(addr: Ipv4Addr, jitter: Stream) -> Place {
        Place { addr, jitter, serves: None, plan: AddressPlan::default(), notes: false }
    }
}

/// A protocol whose nodes find routes by themselves.
pub trait Distributed: Protocol {
    /// Its options.
    type Config;

    /// The protocol at a node; all nodes of a network share the options.
    fn at(place: Place, config: &Arc<Self::Config>) -> Self;
}
