//! Requests of routing to its node.

use crate::drop::DropReason;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dbm, Dur};

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

/// Requests of routing to its node.
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
    /// A route has come up, or leads elsewhere than before. Only where it was asked for
    /// ([`Protocol::with_route_changes`](super::Protocol::with_route_changes)), as is [`Action::RouteDown`].
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
        /// Reason of the loss.
        reason: DropReason,
    },
}

/// A packet that the node at `addr` is to pass on, which costs it one TTL (RFC 1812 section 5.3.1). `None`: it came
/// back to where it began, or may pass no further router, and is dropped.
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
