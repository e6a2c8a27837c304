//! From bytes at a device to packets of the world, and back.
//!
//! | file | mode | what a device carries |
//! |---|---|---|
//! | [`routed`] | TUN: the simulated network routes | IPv4 packets |
//! | [`measured`] | the same, with C3TCP | the same; TCP segments are measured on their way |
//! | [`link`] | TAP: the kernels route over the simulated air | Ethernet frames |

pub mod link;
pub mod measured;
pub mod routed;

use fourhop_proto::wire::Ipv4Packet;
use fourhop_units::{NodeId, Time};
use link::Link;
use measured::Measured;

/// Who routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The simulated network: devices carry IPv4 packets.
    Routed,
    /// The kernels of the nodes: devices carry Ethernet frames.
    Link,
}

/// Why something from a device does not enter the network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Refused {
    /// No whole IPv4 packet.
    NotIpv4,
    /// No Ethernet frame.
    Malformed,
    /// From another MAC address than the node's: stations of an ad hoc cell send for themselves only (IEEE 802.11-2020
    /// clause 4.3.3), so a bridge cannot pass.
    ForeignSource,
    /// To a MAC address that no node has.
    UnknownDestination,
}

impl Refused {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Refused::NotIpv4 => "not-ipv4",
            Refused::Malformed => "malformed",
            Refused::ForeignSource => "foreign-source",
            Refused::UnknownDestination => "unknown-destination",
        }
    }
}

/// Either mode's treatment of bytes.
#[derive(Debug)]
pub enum Carry {
    /// See [`routed`].
    Routed,
    /// See [`measured`].
    Measured(Measured),
    /// See [`link`].
    Link(Link),
}

impl Carry {
    /// What `node` sends through its device becomes a packet of the world.
    ///
    /// # Errors
    /// If it has no business in the network.
    pub fn enter(&mut self, now: Time, node: NodeId, bytes: &[u8]) -> Result<Ipv4Packet, Refused> {
        match self {
            Carry::Measured(measured) => measured.enter(now, node, bytes),
            Carry::Link(link) if node.wired_number().is_none() => link.enter(node, bytes),
            _ => routed::enter(bytes),
        }
    }

    /// Writes what a packet for `node` is at its device into `out`, which is empty. False if it is nothing there.
    pub fn leave(&mut self, node: NodeId, packet: &Ipv4Packet, out: &mut Vec<u8>) -> bool {
        match self {
            Carry::Measured(measured) => measured.leave(packet, out),
            Carry::Link(link) if node.wired_number().is_none() => link.leave(node, packet, out),
            _ => routed::leave(packet, out),
        }
    }

    /// The IPv4 packet in what a device carries, if it is one.
    pub fn ipv4<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Carry::Routed | Carry::Measured(_) => Some(bytes),
            Carry::Link(_) => link::ipv4(bytes),
        }
    }
}
