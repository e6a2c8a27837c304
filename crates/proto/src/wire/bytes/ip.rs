//! The headers of IPv4 and IPv6 (RFC 8200) up to the payload, as one.

use super::ipv4::{self, Ipv4Head};
use super::words::{TCP, UDP, be16};
use crate::wire::Ecn;
use core::net::{IpAddr, Ipv6Addr};

/// Bytes of the fixed header of IPv6 (RFC 8200 section 3).
const HEADER_6: usize = 40;
/// Headers between that and what is carried (IANA): hop-by-hop options, routing, destination options, mobility, whose
/// length is in units of 8 bytes without the first; fragment; authentication, in units of 4 without the first two (RFC
/// 4302 section 2.2).
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
    /// Protocol number of what the headers of IP are followed by.
    pub protocol: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Is it a part of a packet?
    pub fragment: bool,
    /// Bytes of the headers, with options and extension headers.
    pub header_len: usize,
    /// Bytes of the packet, headers included. More than there are if the packet is cut off.
    pub total_len: usize,
}

impl From<Ipv4Head> for IpHead {
    fn from(head: Ipv4Head) -> IpHead {
        let Ipv4Head { src, dst, protocol, ttl, fragment, header_len, total_len, .. } = head;
        IpHead { src: src.into(), dst: dst.into(), protocol, ttl, fragment, header_len, total_len }
    }
}

impl IpHead {
    /// Reads the headers at the beginning of `bytes`; `None` if they are not there as a whole or contradict themselves.
    pub fn read(bytes: &[u8]) -> Option<IpHead> {
        if bytes.first()? >> 4 == 6 { read_6(bytes) } else { Ipv4Head::read(bytes).ok().map(IpHead::from) }
    }

    /// Does a TCP header follow?
    pub fn is_tcp(&self) -> bool {
        self.protocol == TCP && !self.fragment
    }

    /// Source and destination port in `bytes`, a packet with these headers. `None` if the protocol has no ports, or if
    /// a fragment or a truncated packet does not show them.
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
        // Offset and the bit for more: a packet that is its only fragment has neither (RFC 6946).
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

/// The ECN field: of IPv4 in the byte of the type of service, of IPv6 in the last bits of the traffic class (RFC 3168
/// section 5). Not-ECT if this is no IP packet.
pub fn ecn(bytes: &[u8]) -> Ecn {
    let Some(&[version, field]) = bytes.first_chunk() else { return Ecn::NotEct };
    Ecn::from_bits(if version >> 4 == 6 { field >> 4 } else { field })
}

/// Marks an IP packet, if its transport listens; says whether it does.
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

/// The packet is `total` bytes long now.
pub(super) fn set_total_len(bytes: &mut [u8], total: u16) {
    if bytes[0] >> 4 == 6 {
        // No checksum covers it but TCP's, as the length of the segment.
        let payload = total - HEADER_6 as u16;
        bytes[4..6].copy_from_slice(&payload.to_be_bytes());
    } else {
        ipv4::set_total_len(bytes, total);
    }
}
