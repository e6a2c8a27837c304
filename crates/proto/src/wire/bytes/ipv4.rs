//! The IPv4 header (RFC 791 section 3.1).

use super::words::{TCP, be16};
use super::{IpHead, checksum};
use core::net::Ipv4Addr;
use thiserror::Error;

/// Bytes of a header without options.
const HEADER: usize = 20;
/// Offsets in the header.
const TIME_TO_LIVE: usize = 8;
const CHECKSUM: usize = 10;

/// The fields of an IPv4 packet's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv4Head {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Protocol number of the payload.
    pub protocol: u8,
    /// Time to live.
    pub ttl: u8,
    /// Identification, per source.
    pub ident: u16,
    /// Whether it is a fragment: more follow, or some came before.
    pub fragment: bool,
    /// Bytes of the header, options included.
    pub header_len: usize,
    /// Bytes of the packet, header included. More than are present if the packet is truncated.
    pub total_len: usize,
}

/// Why bytes are not an IPv4 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Ipv4Error {
    /// Too few bytes for a header.
    #[error("an IPv4 header of {needed} bytes ends after {found}")]
    Truncated {
        /// Bytes of the header.
        needed: usize,
        /// Bytes present.
        found: usize,
    },
    /// The version is not 4.
    #[error("IP version {0}, 4 expected")]
    Version(u8),
    /// The header length is less than the minimum, in bytes.
    #[error("an IPv4 header of {0} bytes, at least {HEADER} expected")]
    HeaderLength(usize),
    /// The total length is less than the header length.
    #[error("an IPv4 packet of {total} bytes with a header of {header} bytes")]
    TotalLength {
        /// Bytes of the header.
        header: usize,
        /// Bytes of the packet.
        total: usize,
    },
}

impl Ipv4Head {
    /// Parses the header at the start of `bytes`; the rest of the packet may be missing.
    ///
    /// # Errors
    /// If the header is incomplete, or if its lengths contradict each other.
    pub fn read(bytes: &[u8]) -> Result<Ipv4Head, Ipv4Error> {
        let found = bytes.len();
        let head = bytes.first_chunk::<HEADER>().ok_or(Ipv4Error::Truncated { needed: HEADER, found })?;
        let (version, header_len, total_len) =
            (head[0] >> 4, usize::from(head[0] & 0x0f) * 4, usize::from(be16(head, 2)));
        if version != 4 {
            return Err(Ipv4Error::Version(version));
        }
        if header_len < HEADER {
            return Err(Ipv4Error::HeaderLength(header_len));
        }
        if header_len > found {
            return Err(Ipv4Error::Truncated { needed: header_len, found });
        }
        if header_len > total_len {
            return Err(Ipv4Error::TotalLength { header: header_len, total: total_len });
        }
        let addr = |at: usize| Ipv4Addr::new(head[at], head[at + 1], head[at + 2], head[at + 3]);
        Ok(Ipv4Head {
            src: addr(12),
            dst: addr(16),
            protocol: head[9],
            ttl: head[TIME_TO_LIVE],
            ident: be16(head, 4),
            fragment: be16(head, 6) & 0x3fff != 0,
            header_len,
            total_len,
        })
    }

    /// Returns whether a TCP header follows.
    pub fn is_tcp(&self) -> bool {
        self.protocol == TCP && !self.fragment
    }

    /// Returns source and destination port from `bytes`, a packet with this header. `None` if the protocol has no
    /// ports, or if they are missing from a fragment or a truncated packet.
    pub fn ports(&self, bytes: &[u8]) -> Option<(u16, u16)> {
        IpHead::from(*self).ports(bytes)
    }
}

/// Writes the time to live. Returns false, without writing, if this is not an IPv4 packet.
pub fn set_ttl(bytes: &mut [u8], ttl: u8) -> bool {
    let is_packet = Ipv4Head::read(bytes).is_ok();
    if is_packet {
        checksum::write(bytes, CHECKSUM, TIME_TO_LIVE, &[ttl]);
    }
    is_packet
}

/// Estimates how many hops a packet has travelled from its time to live on arrival, assuming the next higher common
/// initial value (30: ns-2's AODV; 32, 64, 128, 255: operating systems). Wired hops count too.
pub fn hops_by_ttl(ttl: u8) -> u8 {
    let first = [30, 32, 64, 128, 255].into_iter().find(|&first| first >= ttl).unwrap_or(u8::MAX);
    (first - ttl).saturating_add(1)
}

/// Writes the type of service; `bytes` must start with a header.
pub(super) fn set_service(bytes: &mut [u8], service: u8) {
    checksum::write(bytes, CHECKSUM, 1, &[service]);
}

/// Sets the length of the packet to `total` bytes.
pub(super) fn set_total_len(bytes: &mut [u8], total: u16) {
    checksum::write(bytes, CHECKSUM, 2, &total.to_be_bytes());
}
