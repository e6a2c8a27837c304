//! IPv4 packets.

use super::options::Carried;
use super::{Ecn, Opaque, RoutingMessage, Segment, TcpSegment, bytes};
use crate::drop::DropReason;
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

/// The simulator's notes on a packet. They are not on the wire, and packets from devices have none. Only options that a
/// device cannot offer use them, and say so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketMeta {
    /// When the source created the packet.
    pub created: Time,
    /// Radio hops it has travelled.
    pub hops: u8,
    /// Whether it is TCP data whose headers do not count on the air, as sent by ns-2.35's Vegas.
    pub hides_headers: bool,
    /// The hop at which to measure `forward`, or the destination if that is nearer; 0 for nowhere.
    pub measure_at: u8,
    /// Time measured from `created` to hop `forward_hops`; on an acknowledgement, that of the newest segment received.
    pub forward: Dur,
    /// Number of hops measured; 0 if not measured.
    pub forward_hops: u8,
    /// On an acknowledgement: the creation time of the echoed segment (what an RFC 7323 timestamp would tell); zero if
    /// unknown.
    pub echo: Time,
    /// Its number in a trace; 0 if it has none.
    pub number: u32,
}

/// An IPv4 packet (RFC 791). The network does not fragment packets, but a host's own may be a fragment.
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
    /// The simulator's notes.
    pub meta: PacketMeta,
}

/// Transport part of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// TCP.
    Tcp(TcpSegment),
    /// TCP with options in the MAC headers of its frames. Boxed, so that packets without them stay small.
    Measured(Box<MeasuredSegment>),
    /// A transport other than TCP, UDP and ICMP.
    Transport(Segment),
    /// UDP with a dummy payload.
    Udp(UdpDatagram),
    /// A message of a routing protocol, over UDP.
    Routing(RoutingMessage),
    /// ICMP echo.
    Echo(EchoMessage),
    /// Any packet of an outside host.
    Opaque(Opaque),
}

/// A TCP segment between two link layers that measure for it (C3TCP).
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MeasuredSegment {
    /// The segment.
    pub segment: TcpSegment,
    /// Options for MAC headers, and this node's notes.
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
    /// Whether it is a reply rather than a request.
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

    /// Returns the total length as stated in the IPv4 header, in bytes.
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

    /// Always false: every packet has a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns its TCP segment, if it carries one.
    pub fn segment(&self) -> Option<&TcpSegment> {
        match &self.body {
            Body::Tcp(segment) => Some(segment),
            Body::Measured(tcp) => Some(&tcp.segment),
            _ => None,
        }
    }

    /// Returns the options for its MAC header, if any.
    pub fn carried(&self) -> Option<&Carried> {
        match &self.body {
            Body::Measured(tcp) => Some(&tcp.carried),
            _ => None,
        }
    }

    /// Returns the options for its MAC header for modification.
    pub fn carried_mut(&mut self) -> Option<&mut Carried> {
        match &mut self.body {
            Body::Measured(tcp) => Some(&mut tcp.carried),
            _ => None,
        }
    }

    /// Removes and returns the options, if it has any, which leaves plain TCP.
    pub fn take_carried(&mut self) -> Option<Carried> {
        let Body::Measured(tcp) = &mut self.body else { return None };
        let MeasuredSegment { segment, carried } = core::mem::take(&mut **tcp);
        self.body = Body::Tcp(segment);
        Some(carried)
    }

    /// Decrements the TTL for one more router (RFC 791 section 3.2).
    ///
    /// # Errors
    /// If it may pass no further router: it is lost, and unchanged.
    pub fn decrement_ttl(&mut self) -> Result<(), DropReason> {
        if self.ttl <= 1 {
            return Err(DropReason::TtlExpired);
        }
        self.ttl -= 1;
        Ok(())
    }

    /// Returns whether it is for all neighbours: limited broadcast or multicast, which is not forwarded here.
    pub fn is_for_all(&self) -> bool {
        self.dst.is_multicast() || self.dst.is_broadcast()
    }

    /// Returns the bytes of TCP payload, if it carries TCP, whether simulated or of another host.
    pub fn tcp_payload(&self) -> Option<u32> {
        match &self.body {
            Body::Opaque(packet) => bytes::segment(packet.bytes()).map(|segment| segment.payload),
            _ => self.segment().map(|segment| segment.payload),
        }
    }

    /// Returns whether it is a routing message of this network.
    pub fn is_routing(&self) -> bool {
        matches!(self.body, Body::Routing(_))
    }

    /// Returns whether it is network control, which interface queues put first: a routing message of this network, or a
    /// packet that an outside host has marked as such.
    pub fn is_network_control(&self) -> bool {
        match &self.body {
            Body::Routing(_) => true,
            Body::Opaque(packet) => packet.is_network_control(),
            _ => false,
        }
    }

    /// Returns its ECN field. Of the simulated transports, only TCP sets it.
    pub fn ecn(&self) -> Ecn {
        match &self.body {
            Body::Opaque(packet) => bytes::ecn(packet.bytes()),
            _ => self.segment().map_or(Ecn::NotEct, |segment| segment.ecn),
        }
    }

    /// Marks it if its transport is ECN-capable, and returns whether it is.
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
