//! Conversion between bytes at a device and packets of the world.
//!
//! | file | mode | content of a device |
//! |---|---|---|
//! | [`routed`] | TUN: the simulated network routes | IPv4 packets |
//! | [`measured`] | the same, with C3TCP | the same; TCP segments are measured along their path |
//! | [`receivers`] | the same, with receivers of ad hoc TCP | the same; ACKs advertise the path's capacity |
//! | [`streams`] | for [`measured`] | the bytes of connections with local acknowledgements |
//! | [`link`] | TAP: the kernels route over the simulated air | Ethernet frames |

pub mod link;
pub mod measured;
pub mod receivers;
pub mod routed;
pub mod streams;

use fourhop_proto::wire::Ipv4Packet;
use fourhop_units::{NodeId, Time};
use link::Link;
use measured::Measured;
use receivers::Receivers;

/// Whether the network or the kernels route.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The simulated network: devices carry IPv4 packets.
    Routed,
    /// The kernels of the nodes: devices carry Ethernet frames.
    Link,
}

/// Why the network refuses something from a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Refused {
    /// Not a complete IPv4 packet.
    NotIpv4,
    /// Not an Ethernet frame.
    Malformed,
    /// From another MAC address than the node's: stations of an ad hoc cell send only for themselves (IEEE 802.11-2020
    /// clause 4.3.3), so bridging does not work.
    ForeignSource,
    /// To a MAC address that no node has.
    UnknownDestination,
    /// Longer than the network carries: somebody has raised the MTU of a device.
    TooLong,
}

impl Refused {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Refused::NotIpv4 => "not-ipv4",
            Refused::Malformed => "malformed",
            Refused::ForeignSource => "foreign-source",
            Refused::UnknownDestination => "unknown-destination",
            Refused::TooLong => "too-long",
        }
    }
}

/// The treatment of bytes in either mode.
#[derive(Debug)]
pub enum Carry {
    /// See [`routed`].
    Routed,
    /// See [`measured`].
    Measured(Measured),
    /// See [`receivers`].
    Receivers(Receivers),
    /// See [`link`].
    Link(Link),
}

impl Carry {
    /// Turns a packet that `node` sends through its device into a packet of the world.
    ///
    /// # Errors
    /// If the network refuses it.
    pub fn enter(&mut self, now: Time, node: NodeId, bytes: &[u8]) -> Result<Ipv4Packet, Refused> {
        match self {
            Carry::Measured(measured) => measured.enter(now, node, bytes),
            Carry::Receivers(receivers) => receivers.enter(now, node, bytes),
            Carry::Link(link) if node.wired_number().is_none() => link.enter(node, bytes),
            _ => routed::enter(bytes),
        }
    }

    /// Writes the bytes of a packet for `node` at its device into `out`, which is empty. Returns false if there are
    /// none.
    pub fn leave(&mut self, now: Time, node: NodeId, packet: &Ipv4Packet, out: &mut Vec<u8>) -> bool {
        match self {
            Carry::Measured(measured) => measured.leave(packet, out),
            Carry::Receivers(receivers) => receivers.leave(now, node, packet, out),
            Carry::Link(link) if node.wired_number().is_none() => link.leave(node, packet, out),
            _ => routed::leave(packet, out),
        }
    }

    /// Length of the header that a device puts before the part that counts against its MTU.
    pub fn header(&self) -> usize {
        if let Carry::Link(_) = self { link::HEADER } else { 0 }
    }

    /// The IP packet in what a device carries, if any.
    pub fn ip<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Carry::Routed | Carry::Measured(_) | Carry::Receivers(_) => Some(bytes),
            Carry::Link(_) => link::ip(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::net::sizes::Sizes;
    use fourhop_units::{Purpose, Stream};

    /// Whatever a program writes to its device is accepted or refused, and what is accepted can be delivered; valid
    /// first bytes let more of it get that far.
    #[test]
    fn any_bytes_are_taken_or_refused() {
        let mut draw = Stream::new(1, NodeId(0), Purpose::Tcp);
        let link = Link::new(2, Sizes::Standard);
        let mut carries = [Carry::Routed, Carry::Measured(Measured::new(2, false)), Carry::Link(link)];
        let mut taken = [0; 3];
        for _ in 0..20_000 {
            let mut bytes: Vec<u8> = (0..draw.below(120)).map(|_| draw.bits32() as u8).collect();
            let sound = bytes.len() >= 60 && draw.below(4) > 0;
            for (n, carry) in carries.iter_mut().enumerate() {
                let start = if n == 2 { 14 } else { 0 };
                if sound {
                    let len = (bytes.len() - start) as u8;
                    bytes[start] = 0x40 | (5 + draw.below(3) as u8);
                    (bytes[start + 2], bytes[start + 3]) = (0, len - draw.below(9) as u8);
                    bytes[start + 9] = [1, 6, 17][draw.below(3) as usize];
                }
                if sound && n == 2 {
                    bytes[..6].copy_from_slice(&NodeId(draw.below(3)).mac().0);
                    bytes[6..12].copy_from_slice(&NodeId(0).mac().0);
                    bytes[12] = 8;
                    bytes[13] = draw.below(2) as u8 * 6;
                }
                if let Ok(packet) = carry.enter(Time::ZERO, NodeId(0), &bytes) {
                    taken[n] += 1;
                    let mut out = Vec::new();
                    assert!(carry.leave(Time::ZERO, NodeId(1), &packet, &mut out));
                    assert!(out.len() <= bytes.len());
                    let _ = carry.ip(&out);
                }
            }
        }
        assert!(taken.iter().all(|&count| count > 2_000), "{taken:?}");
    }
}
