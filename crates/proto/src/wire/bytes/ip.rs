//! The headers of IPv4 and IPv6 (RFC 8200) up to the payload, behind one interface.

use super::ipv4::{self, Ipv4Head};
use super::words::{TCP, UDP, be16};
use crate::wire::Ecn;
use core::net::{IpAddr, Ipv6Addr};

/// Bytes of the fixed header of IPv6 (RFC 8200 section 3).
const HEADER_6: usize = 40;
/// Extension headers (IANA). Hop-by-hop options, routing, destination options and mobility have a length in units of 8
/// bytes, excluding the first; fragment has a fixed length; authentication counts in units of 4 bytes, excluding the
/// first two (RFC 4302 section 2.2).
const OPTIONS: [u8; 4] = [0, 43, 60, 135];
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;

/// The fields of an IP packet's headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpHead {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Protocol number of the payload behind the IP headers.
    pub protocol: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Whether it is a fragment.
    pub fragment: bool,
    /// Bytes of the headers, with options and extension headers.
    pub header_len: usize,
    /// Bytes of the packet, headers included. More than are present if the packet is truncated.
    pub total_len: usize,
}

impl From<Ipv4Head> for IpHead {
    fn from(head: Ipv4Head) -> IpHead {
        let Ipv4Head { src, dst, protocol, ttl, fragment, header_len, total_len, .. } = head;
        IpHead { src: src.into(), dst: dst.into(), protocol, ttl, fragment, header_len, total_len }
    }
}

impl IpHead {
    /// Parses the headers at the start of `bytes`; `None` if they are incomplete or inconsistent.
    pub fn read(bytes: &[u8]) -> Option<IpHead> {
        if bytes.first()? >> 4 == 6 { read_6(bytes) } else { Ipv4Head::read(bytes).ok().map(IpHead::from) }
    }

    /// Returns whether a TCP header follows.
    pub fn is_tcp(&self) -> bool {
        self.protocol == TCP && !self.fragment
    }

    /// Returns source and destination port from `bytes`, a packet with these headers. `None` if the protocol has no
    /// ports, or if they are missing from a fragment or a truncated packet.
    pub fn ports(&self, bytes: &[u8]) -> Option<(u16, u16)> {
        let ports = self.header_len..self.header_len + 4;
        let shown = matches!(self.protocol, TCP | UDP) && !self.fragment && ports.end <= self.total_len;
        let ports = bytes.get(ports).filter(|_| shown)?;
        Some((be16(ports, 0), be16(ports, 2)))
    }
}

fn read_6(bytes: &[u8]) -> Option<IpHead> {
    let head = bytes.first_chunk::<HEADER_6>()?;
    let address = |at: usize| head[at..].first_chunk::<16>().map(|&octets| IpAddr::from(Ipv6Addr::from(octets)));
    let total_len = HEADER_6 + usize::from(be16(head, 4));
    let (mut protocol, mut header_len, mut fragment) = (head[6], HEADER_6, false);
    loop {
        let length = match protocol {
            FRAGMENT => 8,
            AUTHENTICATION => (usize::from(*bytes.get(header_len + 1)?) + 2) * 4,
            _ if OPTIONS.contains(&protocol) => (usize::from(*bytes.get(header_len + 1)?) + 1) * 8,
            _ => break,
        };
        let header = bytes.get(header_len..header_len + length)?;
        // Offset and more-fragments bit: in a packet that is its own only fragment, both are zero (RFC 6946).
        fragment |= protocol == FRAGMENT && be16(header, 2) & 0xfff9 != 0;
        protocol = header[0];
        header_len += length;
        if fragment {
            // A later fragment continues without a header.
            break;
        }
    }
    let (src, dst) = (address(8)?, address(24)?);
    (header_len <= total_len).then_some(IpHead { src, dst, protocol, ttl: head[7], fragment, header_len, total_len })
}

/// Returns the ECN field: in IPv4, the last bits of the type of service; in IPv6, those of the traffic class (RFC 3168
/// section 5). Not-ECT if this is not an IP packet.
pub fn ecn(bytes: &[u8]) -> Ecn {
    let Some(&[version, field]) = bytes.first_chunk() else { return Ecn::NotEct };
    Ecn::from_bits(if version >> 4 == 6 { field >> 4 } else { field })
}

/// Marks an IP packet if its transport is ECN-capable, and returns whether it is.
pub fn mark_congestion(bytes: &mut [u8]) -> bool {
    if ecn(bytes) == Ecn::NotEct || IpHead::read(bytes).is_none() {
        return false;
    }
    if bytes[0] >> 4 == 6 {
        bytes[1] |= 0b11 << 4;
    } else {
        ipv4::set_service(bytes, bytes[1] | 0b11);
    }
    true
}

/// Sets the length of the packet to `total` bytes.
pub(super) fn set_total_len(bytes: &mut [u8], total: u16) {
    if bytes[0] >> 4 == 6 {
        // No checksum covers the field itself; TCP's covers the length of the segment.
        let payload = total - HEADER_6 as u16;
        bytes[4..6].copy_from_slice(&payload.to_be_bytes());
    } else {
        ipv4::set_total_len(bytes, total);
    }
}
