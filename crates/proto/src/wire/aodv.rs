//! AODV messages (RFC 3561 section 5).

use core::net::Ipv4Addr;

/// Route request (section 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rreq {
    /// Hops from the originator to the node that handles the request.
    pub hop_count: u8,
    /// Names the request together with `originator`.
    pub rreq_id: u32,
    /// Destination sought.
    pub destination: Ipv4Addr,
    /// Last known sequence number of the destination; `None` sets the U flag.
    pub destination_seqno: Option<u32>,
    /// Who asks.
    pub originator: Ipv4Addr,
    /// Sequence number of the originator.
    pub originator_seqno: u32,
    /// D: only the destination may reply.
    pub destination_only: bool,
    /// G: an intermediate replier also tells the destination.
    pub gratuitous: bool,
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
    /// Originator of the request, where the reply travels.
    pub originator: Ipv4Addr,
    /// How long the route may be used, in milliseconds.
    pub lifetime_ms: u32,
    /// A: the receiver is to answer with a [`RrepAck`](AodvMessage::RrepAck).
    pub ack_required: bool,
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
    /// At least one destination.
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
}

impl AodvMessage {
    /// UDP port of AODV (RFC 3561 section 4).
    pub const PORT: u16 = 654;

    /// Bytes of the message as RFC 3561 section 5 lays it out, without UDP and IP.
    pub fn len(&self) -> u32 {
        match self {
            AodvMessage::Rreq(_) => 24,
            AodvMessage::Rrep(_) => 20,
            AodvMessage::Rerr(rerr) => 4 + 8 * rerr.unreachable.len() as u32,
            AodvMessage::RrepAck => 2,
        }
    }

    /// Bytes of the packet as ns-2.35 counts it: an IPv4 header and its C structures, in which a request and a reply carry a
    /// 4-byte time stamp.
    pub fn ns2_packet_len(&self) -> u32 {
        match self {
            AodvMessage::Rreq(_) => 48,
            AodvMessage::Rrep(_) => 44,
            AodvMessage::Rerr(rerr) => 24 + 8 * rerr.unreachable.len() as u32,
            // ns-2.35 sends none; its header would be the IPv4 header and the message.
            AodvMessage::RrepAck => 20 + self.len(),
        }
    }

    /// Never: every message has a header.
    pub fn is_empty(&self) -> bool {
        false
    }
}
