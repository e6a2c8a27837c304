//! AODV messages (RFC 3561 section 5).

use super::Message;
use core::net::Ipv4Addr;

/// Route request (section 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rreq {
    /// Hops from the originator to the node that handles the request.
    pub hop_count: u8,
    /// Identifies the request together with `originator`.
    pub rreq_id: u32,
    /// The destination searched for.
    pub destination: Ipv4Addr,
    /// Last known sequence number of the destination; `None` sets the U flag.
    pub destination_seqno: Option<u32>,
    /// The node that originated the request.
    pub originator: Ipv4Addr,
    /// Sequence number of the originator.
    pub originator_seqno: u32,
    /// D: only the destination may reply.
    pub destination_only: bool,
    /// G: an intermediate replier also notifies the destination.
    pub gratuitous: bool,
    /// Cost from the originator to the sender of this copy, if routes are compared by more than hops.
    pub cost: Option<PathCost>,
}

/// Path cost as carried by our extension to requests and replies (RFC 3561 section 9: type, length, content). Nodes
/// that do not know its type skip it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathCost {
    /// The metric, by [`Metric::code`](crate::route::Metric::code).
    pub metric: u8,
    /// The sum, in the unit of the metric.
    pub sum: u32,
}

impl PathCost {
    /// Type of the extension: our choice, unassigned.
    pub const EXTENSION: u8 = 69;
    /// Bytes of its content.
    pub const CONTENT: u8 = 5;
    /// Bytes with type and length.
    pub const LEN: u32 = 2 + Self::CONTENT as u32;
}

/// Route reply (section 5.2). A HELLO (section 6.9) is one whose destination is the sender, with TTL 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rrep {
    /// Hops from the handling node to the destination.
    pub hop_count: u8,
    /// Destination the route leads to.
    pub destination: Ipv4Addr,
    /// Its sequence number.
    pub destination_seqno: u32,
    /// Originator of the request, to which the reply travels.
    pub originator: Ipv4Addr,
    /// How long the route may be used, in milliseconds.
    pub lifetime_ms: u32,
    /// A: the receiver must answer with an [`RrepAck`](AodvMessage::RrepAck).
    pub ack_required: bool,
    /// Cost from the sender to the destination, if routes are compared by more than hops.
    pub cost: Option<PathCost>,
}

/// A probe of the links to all neighbours (De Couto, Aguayo, Bicket, Morris, MobiCom 2003). This is not in the RFC but
/// a message type of ours, which other nodes do not know and drop. All probes have the same size, [`Probe::MIN_LEN`],
/// as long as the list fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Sequence number of the probe, so that a receiver knows how many it missed.
    pub number: u16,
    /// How many of each neighbour's last probes the sender has received; at most 255 neighbours.
    pub heard: Vec<(Ipv4Addr, u8)>,
}

impl Probe {
    /// Message type: our choice, unassigned.
    pub const TYPE: u8 = 69;
    /// Minimum size of the message in bytes, zero-padded behind the list: with UDP and IP, the 134 bytes of the paper's
    /// probes.
    pub const MIN_LEN: u32 = 134 - 28;
    /// Bytes of an entry of the list.
    pub const ENTRY: u32 = 5;

    /// Bytes of the message.
    pub fn len(&self) -> u32 {
        (4 + Self::ENTRY * self.heard.len() as u32).max(Self::MIN_LEN)
    }

    /// Always false.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// One destination of a route error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnreachableDestination {
    /// Its address.
    pub addr: Ipv4Addr,
    /// Its sequence number, incremented by the detecting node.
    pub seqno: u32,
}

/// Route error (section 5.3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rerr {
    /// N: a link was repaired locally, keep the route.
    pub no_delete: bool,
    /// Lost destinations, at least one.
    pub unreachable: Vec<UnreachableDestination>,
}

/// Any AODV message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AodvMessage {
    /// Route request.
    Rreq(Rreq),
    /// Route reply or HELLO.
    Rrep(Rrep),
    /// Route error.
    Rerr(Rerr),
    /// Acknowledgement of a reply whose A flag was set (section 5.4): the link to its sender works in both directions.
    RrepAck,
    /// A probe of links (our extension).
    Probe(Probe),
}

impl AodvMessage {
    /// UDP port of AODV (RFC 3561 section 4).
    pub const PORT: u16 = 654;

    /// Returns the size of the message as RFC 3561 section 5 lays it out, without UDP and IP.
    pub fn len(&self) -> u32 {
        match self {
            AodvMessage::Rreq(rreq) => 24 + rreq.cost.map_or(0, |_| PathCost::LEN),
            AodvMessage::Rrep(rrep) => 20 + rrep.cost.map_or(0, |_| PathCost::LEN),
            AodvMessage::Rerr(rerr) => 4 + 8 * rerr.unreachable.len() as u32,
            AodvMessage::RrepAck => 2,
            AodvMessage::Probe(probe) => probe.len(),
        }
    }

    /// Always false: every message has a header.
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl Message for AodvMessage {
    const PORT: u16 = AodvMessage::PORT;

    fn size(&self) -> u32 {
        AodvMessage::len(self)
    }

    /// Returns the size of the packet as counted by ns-2.35: an IPv4 header and its C structures, in which requests and
    /// replies carry a 4-byte timestamp.
    fn ns2_packet_len(&self) -> u32 {
        match self {
            AodvMessage::Rreq(rreq) => 48 + rreq.cost.map_or(0, |_| PathCost::LEN),
            AodvMessage::Rrep(rrep) => 44 + rrep.cost.map_or(0, |_| PathCost::LEN),
            AodvMessage::Rerr(rerr) => 24 + 8 * rerr.unreachable.len() as u32,
            // ns-2.35 sends none; its header would be the IPv4 header and the message.
            AodvMessage::RrepAck | AodvMessage::Probe(_) => 20 + self.len(),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            AodvMessage::Rreq(rreq) => {
                let flags = u8::from(rreq.gratuitous) << 5
                    | u8::from(rreq.destination_only) << 4
                    | u8::from(rreq.destination_seqno.is_none()) << 3;
                out.extend([1, flags, 0, rreq.hop_count]);
                out.extend(rreq.rreq_id.to_be_bytes());
                address(rreq.destination, rreq.destination_seqno.unwrap_or(0), out);
                address(rreq.originator, rreq.originator_seqno, out);
                path_cost(rreq.cost, out);
            }
            AodvMessage::Rrep(rrep) => {
                out.extend([2, u8::from(rrep.ack_required) << 6, 0, rrep.hop_count]);
                address(rrep.destination, rrep.destination_seqno, out);
                out.extend(rrep.originator.octets());
                out.extend(rrep.lifetime_ms.to_be_bytes());
                path_cost(rrep.cost, out);
            }
            AodvMessage::Rerr(rerr) => {
                out.extend([3, u8::from(rerr.no_delete) << 7, 0, rerr.unreachable.len() as u8]);
                rerr.unreachable.iter().for_each(|lost| address(lost.addr, lost.seqno, out));
            }
            AodvMessage::RrepAck => out.extend([4, 0]),
            AodvMessage::Probe(probe) => {
                let end = out.len() + probe.len() as usize;
                out.extend([Probe::TYPE, probe.heard.len() as u8]);
                out.extend(probe.number.to_be_bytes());
                for (addr, count) in &probe.heard {
                    out.extend(addr.octets());
                    out.push(*count);
                }
                out.resize(end, 0);
            }
        }
    }

    fn trace_fields(&self, to_all: bool) -> (&'static str, u32) {
        match self {
            AodvMessage::Rreq(rreq) => ("rreq", rreq.rreq_id),
            AodvMessage::Rrep(rrep) => (if to_all { "hello" } else { "rrep" }, rrep.destination_seqno),
            AodvMessage::Rerr(_) => ("rerr", 0),
            AodvMessage::RrepAck => ("rrep-ack", 0),
            AodvMessage::Probe(_) => ("probe", 0),
        }
    }
}

fn address(addr: Ipv4Addr, seqno: u32, out: &mut Vec<u8>) {
    out.extend(addr.octets());
    out.extend(seqno.to_be_bytes());
}

/// Appends our extension (RFC 3561 section 9).
fn path_cost(cost: Option<PathCost>, out: &mut Vec<u8>) {
    if let Some(cost) = cost {
        out.extend([PathCost::EXTENSION, PathCost::CONTENT, cost.metric]);
        out.extend(cost.sum.to_be_bytes());
    }
}
