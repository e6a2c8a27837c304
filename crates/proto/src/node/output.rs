//! Output of a node other than frames.

use super::journal::Note;
#[cfg(doc)]
use super::stack::Node;
use crate::drop::DropReason;
use crate::route::PortId;
use crate::wire::{Foreign, Ipv4Packet};
use core::net::Ipv4Addr;

/// Output of a node other than frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// For the attached outside host: no simulated flow accepted the packet.
    Deliver(Ipv4Packet),
    /// For the wire at a port.
    Wire {
        /// The port.
        port: PortId,
        /// The packet.
        packet: Ipv4Packet,
    },
    /// A packet from outside is lost at IP of a node with an attached host, which can report it to the sender (RFC 1812
    /// section 4.3.3; this node itself sends no report).
    Lost {
        /// The packet as it was when lost.
        packet: Ipv4Packet,
        /// Reason for the loss.
        reason: DropReason,
    },
    /// A frame of another 802.11 stack has arrived by radio.
    Frame(Foreign),
    /// A frame of the attached stack was acknowledged, was broadcast, or was given up.
    Done {
        /// The frame at its last attempt.
        frame: Foreign,
        /// Whether it was given up.
        lost: bool,
    },
    /// A packet has taken a step here. Only from a node that [records](Node::record), like [`Output::Route`].
    Noted(Note),
    /// A route has appeared, changed, or disappeared.
    Route {
        /// Destination of the route.
        destination: Ipv4Addr,
        /// The next hop and the number of hops; `None`: the route is gone.
        way: Option<(Ipv4Addr, u8)>,
    },
}
