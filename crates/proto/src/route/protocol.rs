//! Interface between a routing protocol and its node.

use super::action::{Action, Signal};
use super::address_plan::AddressPlan;
use super::usage::Usage;
use crate::drop::DropReason;
use crate::wire::{Ipv4Packet, Prefix};
use core::net::Ipv4Addr;
use fourhop_units::{Dbm, Rate, Stream, Time};
use std::sync::Arc;

/// Visitor of a protocol's counters: receives the protocol's name in results, and each counter with its name.
pub type CounterVisitor<'a> = dyn FnMut(&'static str, &mut dyn Iterator<Item = (&'static str, u64)>) + 'a;

/// A routing protocol at a node. Methods with a default implementation belong to optional features.
pub trait Protocol {
    /// Enables reports of route changes by [`Action::RouteUp`] and [`Action::RouteDown`].
    #[must_use]
    fn with_route_changes(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Adds the address of another interface of this node, on which its messages are sent as well. To be called before
    /// anything else.
    fn add_interface(&mut self, _addr: Ipv4Addr) {}

    /// Handles a packet from this node to another.
    fn handle_outgoing(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>);

    /// Handles a packet received from a neighbour, for another node. `from` is the neighbour's address if the link
    /// layer knows it.
    fn handle_transit(&mut self, now: Time, packet: Ipv4Packet, from: Option<Ipv4Addr>, out: &mut Vec<Action>);

    /// Handles a packet that enters the mesh through this gateway, its TTL already checked. Without a route, one is
    /// searched for, as for the node's own packets.
    fn handle_entering(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        self.handle_outgoing(now, packet, out);
    }

    /// Returns whether routing uses the received strength of its messages, or the data rate to its neighbours.
    #[inline]
    fn watches_links(&self) -> bool {
        false
    }

    /// Notes the received strength of the frame that carries the next message of `neighbour`; called only if the
    /// protocol [`watches_links`](Protocol::watches_links).
    fn handle_signal(&mut self, _neighbour: Ipv4Addr, _strength: Dbm) {}

    /// Notes the current data rate to `neighbour`, whose message follows; called only if the protocol
    /// [`watches_links`](Protocol::watches_links).
    fn handle_rate(&mut self, _now: Time, _neighbour: Ipv4Addr, _rate: Rate) {}

    /// Notes traffic for `dst` that used routes without passing through this router: a kernel forwarded it, for
    /// instance, or it left the mesh here. `src` is its source and `from` the neighbour that delivered it, where known.
    fn handle_used(&mut self, _now: Time, _dst: Ipv4Addr, _src: Option<Ipv4Addr>, _from: Option<Ipv4Addr>) {}

    /// Handles, and consumes, a routing message from neighbour `from`, its IP source.
    fn handle_message(&mut self, _now: Time, _packet: Ipv4Packet, _from: Ipv4Addr, _out: &mut Vec<Action>) {}

    /// Handles a failed delivery to `next_hop`; `packet` is the one that failed, if the link layer still has it.
    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Option<Ipv4Packet>,
        next_hop: Ipv4Addr,
        reason: DropReason,
        out: &mut Vec<Action>,
    );

    /// Handles the timeout that [`next_timeout`](Protocol::next_timeout) announced.
    fn handle_timeout(&mut self, _now: Time, _out: &mut Vec<Action>) {}

    /// Returns when to call [`handle_timeout`](Protocol::handle_timeout).
    fn next_timeout(&self) -> Option<Time> {
        None
    }

    /// Returns the number of data packets passed in that have not left yet.
    fn buffered(&self) -> usize {
        0
    }

    /// Passes all counters of the protocol to `visit`.
    fn count(&self, _visit: &mut CounterVisitor) {}

    /// Returns the received strength of a neighbour's routing messages, if routing uses it.
    fn signal(&self, _neighbour: Ipv4Addr) -> Option<Signal> {
        None
    }

    /// Returns the routing that this node's own packets for `dst` have experienced so far, if routes can change.
    fn usage(&self, _dst: Ipv4Addr) -> Usage {
        Usage::default()
    }

    /// Returns the neighbour through which packets for `dst` currently leave.
    fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr>;

    /// Returns the hops to `dst` along the route, where known.
    fn hops(&self, dst: Ipv4Addr) -> Option<u8>;
}

/// Where a router runs.
#[derive(Debug)]
pub struct Place {
    /// Address of the node.
    pub addr: Ipv4Addr,
    /// Random stream for the jitter of its messages.
    pub jitter: Stream,
    /// Networks behind the node, if it is a gateway.
    pub serves: Option<Prefix>,
    /// Addresses behind gateways.
    pub plan: AddressPlan,
    /// Whether packets carry the simulator's notes.
    pub notes: bool,
}

impl Place {
    /// Creates the place of a node in a mesh without gateways, whose packets carry no notes.
    pub fn new(addr: Ipv4Addr, jitter: Stream) -> Place {
        Place { addr, jitter, serves: None, plan: AddressPlan::default(), notes: false }
    }
}

/// A protocol whose nodes find routes by themselves.
pub trait Distributed: Protocol {
    /// Its options.
    type Config;

    /// Creates the protocol at a node; all nodes of a network share the options.
    fn at(place: Place, config: &Arc<Self::Config>) -> Self;
}
