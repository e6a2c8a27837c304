//! IPv4 packets.

use super::options::Carried;
use super::{Ecn, Opaque, RoutingMessage, Segment, TcpSegment, bytes};
use crate::drop::DropReason;
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

/// The simulator's memory of a packet. It is not on the wire, and packets from devices have none of it. Only options
/// that a device cannot offer use it, and say so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketMeta {
    /// When the source made it.
    pub created: Time,
    /// Radio hops it has travelled.
    pub hops: u8,
    /// TCP data that counts without headers on the air, as ns-2.35's Vegas sends it.
    pub hides_headers: bool,
    /// The hop at which `forward` is to be measured, or the destination if that is nearer; 0: nowhere.
    pub measure_at: u8,
    /// Time from `created` to hop `forward_hops`, as measured; on an acknowledgement, that of the newest segment
    /// received.
    pub forward: Dur,
    /// Over how many hops; 0: not measured.
    pub forward_hops: u8,
    /// On an acknowledgement: the creation time of the echoed segment (as a timestamp of RFC 7323 would tell); zero if
    /// unknown.
    pub echo: Time,
    /// Its number in a trace; 0: it has none.
    pub number: u32,
}

/// An IPv4 packet (RFC 791). The network fragments none; a host's own may be a fragment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ipv4Packet {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address; 255.255.255.255 is the limited broadcast.
    pub dst: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
    /// Identification, per source.
    pub ident: u16,
    /// Differentiated services code point (RFC 2474), from 0 to 63.
    pub dscp: u8,
    /// Its content.
    pub body: Body,
    /// Simulator's notes.
    pub meta: PacketMeta,
}

/// Transport part of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// TCP.
    Tcp(TcpSegment),
    /// TCP whose frames have options in their MAC headers. Boxed, so that packets without stay as small as they are.
    Measured(Box<MeasuredSegment>),
    /// A transport of its own.
    Transport(Segment),
    /// UDP with a payload that only counts.
    Udp(UdpDatagram),
    /// A message of a routing protocol, over UDP.
    Routing(RoutingMessage),
    /// ICMP echo.
    Echo(EchoMessage),
    /// Whatever a host outside sent.
    Opaque(Opaque),
}

/// A TCP segment between two link layers that measure for it (C3TCP).
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MeasuredSegment {
    /// The segment.
    pub segment: TcpSegment,
    /// Fields for MAC headers, and this node's notes.
    pub carried: Carried,
}

/// A UDP datagram (RFC 768).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpDatagram {
    /// Sender's port.
    pub src_port: u16,
    /// Receiver's port.
    pub dst_port: u16,
    /// Number of the datagram within its flow, carried in the payload's first bytes.
    pub number: u32,
    /// Bytes of payload.
    pub payload: u32,
}

/// ICMP echo request or reply (RFC 792).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EchoMessage {
    /// Reply rather than request.
    pub reply: bool,
    /// Identifier.
    pub ident: u16,
    /// Sequence number.
    pub number: u16,
    /// Bytes of payload.
    pub payload: u32,
}

/// Bytes of an IPv4 header without options.
pub const IPV4_HEADER: u32 = 20;
/// Bytes of a UDP header, and of an ICMP echo header.
pub const UDP_HEADER: u32 = 8;

impl Ipv4Packet {
    /// Limited broadcast address.
    pub const BROADCAST: Ipv4Addr = Ipv4Addr::BROADCAST;

    /// Total length as the IPv4 header states it, in bytes.
    pub fn len(&self) -> u32 {
        IPV4_HEADER
            + match &self.body {
                Body::Opaque(packet) => return packet.len(),
                Body::Tcp(tcp) => tcp.header_len() + tcp.payload,
                Body::Measured(tcp) => tcp.segment.header_len() + tcp.segment.payload,
                Body::Transport(segment) => segment.len(),
                Body::Udp(udp) => UDP_HEADER + udp.payload,
                Body::Routing(message) => UDP_HEADER + message.len(),
                Body::Echo(echo) => UDP_HEADER + echo.payload,
            }
    }

    /// Never: every packet has a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Its TCP segment, if that is what it carries.
    pub fn segment(&self) -> Option<&TcpSegment> {
        match &self.body {
            Body::Tcp(segment) => Some(segment),
            Body::Measured(tcp) => Some(&tcp.segment),
            _ => None,
        }
    }

    /// Options for its MAC header, if any.
    pub fn carried(&self) -> Option<&Carried> {
        match &self.body {
            Body::Measured(tcp) => Some(&tcp.carried),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn carried_mut(&mut self) -> Option<&mut Carried> {
        match &mut self.body {
            Body::Measured(tcp) => Some(&mut tcp.carried),
            _ => None,
        }
    }

    /// Takes the options out, if it has any: the packet is TCP without.
    pub fn take_carried(&mut self) -> Option<Carried> {
        let Body::Measured(tcp) = &mut self.body else { return None };
        let MeasuredSegment { segment, carried } = core::mem::take(&mut **tcp);
        self.body = Body::Tcp(segment);
        Some(carried)
    }

    /// One router less that it may pass (RFC 791 section 3.2).
    ///
    /// # Errors
    /// If it may pass none: then it is lost, and stays as it is.
    pub fn decrement_ttl(&mut self) -> Result<(), DropReason> {
        if self.ttl <= 1 {
            return Err(DropReason::TtlExpired);
        }
        self.ttl -= 1;
        Ok(())
    }

    /// Is it for all neighbours: limited broadcast or multicast, which is not forwarded here?
    pub fn is_for_all(&self) -> bool {
        self.dst.is_multicast() || self.dst.is_broadcast()
    }

    /// Bytes of TCP payload, if TCP is what it carries, of a simulated or of another host.
    pub fn tcp_payload(&self) -> Option<u32> {
        match &self.body {
            Body::Opaque(packet) => bytes::segment(packet.bytes()).map(|segment| segment.payload),
            _ => self.segment().map(|segment| segment.payload),
        }
    }

    /// Is it a message for this network's routing?
    pub fn is_routing(&self) -> bool {
        matches!(self.body, Body::Routing(_))
    }

    /// Is it network control, which interface queues put first: a message of this network's routing, or what a host
    /// outside has marked so?
    pub fn is_network_control(&self) -> bool {
        match &self.body {
            Body::Routing(_) => true,
            Body::Opaque(packet) => packet.is_network_control(),
            _ => false,
        }
    }

    /// Its ECN field. Of what is simulated here only TCP sets it.
    pub fn ecn(&self) -> Ecn {
        match &self.body {
            Body::Opaque(packet) => bytes::ecn(packet.bytes()),
            _ => self.segment().map_or(Ecn::NotEct, |segment| segment.ecn),
        }
    }

    /// Marks it, if its transport listens; says whether it does.
    pub fn mark_congestion(&mut self) -> bool {
        match &mut self.body {
            Body::Tcp(segment) => segment.ecn.mark(),
            Body::Measured(tcp) => tcp.segment.ecn.mark(),
            Body::Opaque(packet) => {
                bytes::ecn(packet.bytes()) != Ecn::NotEct && packet.edit(|bytes| bytes::mark_congestion(bytes))
            }
            _ => false,
        }
    }
}
