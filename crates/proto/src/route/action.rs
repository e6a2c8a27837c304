//! Requests from routing to its node.

use crate::drop::DropReason;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dbm, Dur};

/// Link-layer receiver of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextHop {
    /// To this neighbour; failures are reported through `handle_link_failure`.
    Unicast(Ipv4Addr),
    /// To all neighbours, unacknowledged.
    Broadcast,
}

/// Received strength of a neighbour's routing messages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Signal {
    /// The neighbour.
    pub neighbour: Ipv4Addr,
    /// Strength of the newest message.
    pub latest: Dbm,
    /// Smoothed strength.
    pub smoothed: Dbm,
    /// Whether the link is good enough to route over.
    pub stable: bool,
}

/// Requests from routing to its node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Put the packet into the interface queue.
    Send {
        /// The packet, with the TTL it has on the air.
        packet: Ipv4Packet,
        /// Its receiver.
        next_hop: NextHop,
    },
    /// Drop every packet in the interface queue that waits for this next hop, as [`DropReason::QueuePurged`].
    PurgeQueue {
        /// The broken neighbour.
        next_hop: Ipv4Addr,
    },
    /// A route has come up or changed. Reported, like [`Action::RouteDown`], only if the driver asked for it
    /// ([`Protocol::with_route_changes`](super::Protocol::with_route_changes)).
    RouteUp {
        /// Where the route leads.
        destination: Ipv4Addr,
        /// The neighbour to send to.
        next_hop: Ipv4Addr,
        /// Hops to the destination.
        hops: u8,
        /// Time until it expires unless renewed. Renewals are not reported; the end always is.
        lifetime: Dur,
    },
    /// The route has gone down.
    RouteDown {
        /// Where the route led.
        destination: Ipv4Addr,
    },
    /// The packet is lost.
    Drop {
        /// The packet.
        packet: Ipv4Packet,
        /// Reason for the loss.
        reason: DropReason,
    },
}

/// Prepares a packet for forwarding by the node `addr`: decrements its TTL (RFC 1812 section 5.3.1). Drops it and
/// returns `None` if it has come back to its source, or if its TTL allows no further hop.
pub(super) fn pass_on(addr: Ipv4Addr, mut packet: Ipv4Packet, out: &mut Vec<Action>) -> Option<Ipv4Packet> {
    let passes = if packet.src == addr { Err(DropReason::RouteLoop) } else { packet.decrement_ttl() };
    match passes {
        Ok(()) => Some(packet),
        Err(reason) => {
            out.push(Action::Drop { packet, reason });
            None
        }
    }
}
