//! Output of a node besides frames.

use super::journal::Note;
#[cfg(doc)]
use super::stack::Node;
use crate::drop::DropReason;
use crate::route::PortId;
use crate::wire::{Foreign, Ipv4Packet};
use core::net::Ipv4Addr;

/// Output of a node besides frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// For the host outside: it is attached, and no simulated flow took the packet.
    Deliver(Ipv4Packet),
    /// For the wire at a port.
    Wire {
        /// Which.
        port: PortId,
        /// The packet.
        packet: Ipv4Packet,
    },
    /// A packet from outside is lost at IP of a node with an attached host, which can report it to the sender (RFC 1812
    /// section 4.3.3; this node itself sends no report).
    Lost {
        /// The packet, as it was when it was lost.
        packet: Ipv4Packet,
        /// Reason of the loss.
        reason: DropReason,
    },
    /// A frame of another 802.11 stack has come by the radio.
    Frame(Foreign),
    /// A frame of the stack that is attached was acknowledged, or it is for all and has been sent; or it was given up.
    Done {
        /// The frame at its last attempt.
        frame: Foreign,
        /// Was it given up?
        lost: bool,
    },
    /// A packet has taken a step here. Only of a node that [records](Node::record), as is [`Output::Route`].
    Noted(Note),
    /// A route has come, or leads elsewhere than before, or is gone.
    Route {
        /// Where it leads.
        destination: Ipv4Addr,
        /// The neighbour to send to and the number of hops; `None`: it is gone.
        way: Option<(Ipv4Addr, u8)>,
    },
}
