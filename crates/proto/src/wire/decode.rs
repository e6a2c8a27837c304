//! Parses AODV messages (RFC 3561 sections 5 and 9), for a device that passes on whatever arrived at port 654.
//!
//! Nothing is assumed about the bytes. Fields that the RFC requires receivers to ignore are ignored: reserved bits, the
//! multicast flags J and R, the sequence number with a U flag, and extensions of types 1 to 127 except our
//! [`PathCost`], though their lengths must fit. Content that would be misinterpreted gives a specific error: unknown
//! types, truncated messages, routes to subnets (section 7, not supported), routes to an address that cannot be a
//! host's (RFC 1122 section 3.2.1.3), such as broadcast, extensions that must not be skipped (section 9), and trailing
//! bytes.
//!
//! For Babel packets, see [`babel`].
//!
//! [`aodv`] is the inverse of [`encode::aodv`](super::encode::aodv).

pub use super::decode_babel::{BabelError, babel};
use super::{AodvMessage, PathCost, Probe, Rerr, Rrep, Rreq, UnreachableDestination};
use core::net::Ipv4Addr;
use thiserror::Error;

/// Why bytes are not an AODV message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum AodvError {
    /// There are no bytes.
    #[error("an empty datagram, allowed: an AODV message")]
    Empty,
    /// A type not defined by RFC 3561.
    #[error("message type {0}, allowed: 1 (RREQ) to 4 (RREP-ACK), 69 (probe)")]
    UnknownType(u8),
    /// Fewer bytes than a message of this type needs.
    #[error("a message of type {kind} with {found} bytes, allowed: at least {needed}")]
    Truncated {
        /// Type of the message.
        kind: u8,
        /// Bytes it needs.
        needed: usize,
        /// Bytes present.
        found: usize,
    },
    /// A route error without destinations (section 5.3: at least one).
    #[error("a route error without destinations, allowed: 1 to 255")]
    NoDestination,
    /// A reply for a subnet with a prefix of this length (section 7).
    #[error("a reply for a subnet of prefix size {0}, allowed: 0, a host")]
    Subnet(u8),
    /// An address that no host can have: 0.0.0.0/8, loopback, multicast, reserved or broadcast.
    #[error("the address {0}, allowed: addresses of hosts")]
    NoHost(Ipv4Addr),
    /// An extension of this type, which must not be skipped (section 9).
    #[error("extension type {0}, allowed: 1 to 127, which are skipped")]
    UnknownExtension(u8),
    /// An extension that is longer than the remaining bytes.
    #[error("an extension of type {kind} with {found} bytes, allowed: {needed}")]
    TruncatedExtension {
        /// Its type.
        kind: u8,
        /// Bytes it needs.
        needed: usize,
        /// Bytes present.
        found: usize,
    },
}

/// Parses the AODV message in the payload of a datagram.
///
/// # Errors
/// If the bytes are not one; see [`AodvError`].
pub fn aodv(bytes: &[u8]) -> Result<AodvMessage, AodvError> {
    let Some(&kind) = bytes.first() else { return Err(AodvError::Empty) };
    let (mut message, rest) = match kind {
        1 => rreq(bytes)?,
        2 => rrep(bytes)?,
        3 => rerr(bytes)?,
        4 => (AodvMessage::RrepAck, fixed::<2>(kind, bytes)?.1),
        Probe::TYPE => probe(bytes)?,
        other => return Err(AodvError::UnknownType(other)),
    };
    let found = path_cost(rest)?;
    match &mut message {
        AodvMessage::Rreq(Rreq { cost, .. }) | AodvMessage::Rrep(Rrep { cost, .. }) => *cost = found,
        AodvMessage::Rerr(_) | AodvMessage::RrepAck | AodvMessage::Probe(_) => {}
    }
    Ok(message)
}

/// Parses a route request (section 5.1).
fn rreq(bytes: &[u8]) -> Result<(AodvMessage, &[u8]), AodvError> {
    let (head, rest) = fixed::<24>(1, bytes)?;
    let rreq = Rreq {
        hop_count: head[3],
        rreq_id: number(head, 4),
        destination: address(head, 8)?,
        destination_seqno: (head[1] & 0x08 == 0).then(|| number(head, 12)),
        originator: address(head, 16)?,
        originator_seqno: number(head, 20),
        destination_only: head[1] & 0x10 != 0,
        gratuitous: head[1] & 0x20 != 0,
        cost: None,
    };
    Ok((AodvMessage::Rreq(rreq), rest))
}

/// Parses a route reply (section 5.2).
fn rrep(bytes: &[u8]) -> Result<(AodvMessage, &[u8]), AodvError> {
    let (head, rest) = fixed::<20>(2, bytes)?;
    match head[2] & 0x1f {
        0 => {}
        prefix => return Err(AodvError::Subnet(prefix)),
    }
    let rrep = Rrep {
        hop_count: head[3],
        destination: address(head, 4)?,
        destination_seqno: number(head, 8),
        originator: address(head, 12)?,
        lifetime_ms: number(head, 16),
        ack_required: head[1] & 0x40 != 0,
        cost: None,
    };
    Ok((AodvMessage::Rrep(rrep), rest))
}

/// Parses a route error (section 5.3).
fn rerr(bytes: &[u8]) -> Result<(AodvMessage, &[u8]), AodvError> {
    let (head, rest) = fixed::<4>(3, bytes)?;
    let count = usize::from(head[3]);
    if count == 0 {
        return Err(AodvError::NoDestination);
    }
    let Some((lost, rest)) = rest.split_at_checked(8 * count) else {
        return Err(AodvError::Truncated { kind: 3, needed: 4 + 8 * count, found: bytes.len() });
    };
    let (lost, _) = lost.as_chunks::<8>();
    let lost = lost.iter().map(|one| Ok(UnreachableDestination { addr: address(one, 0)?, seqno: number(one, 4) }));
    let unreachable = lost.collect::<Result<_, _>>()?;
    Ok((AodvMessage::Rerr(Rerr { no_delete: head[1] & 0x80 != 0, unreachable }), rest))
}

/// Parses a probe of ours, see [`Probe`].
fn probe(bytes: &[u8]) -> Result<(AodvMessage, &[u8]), AodvError> {
    let (head, _) = fixed::<4>(Probe::TYPE, bytes)?;
    let count = usize::from(head[1]);
    let needed = (4 + Probe::ENTRY as usize * count).max(Probe::MIN_LEN as usize);
    let Some((message, rest)) = bytes.split_at_checked(needed) else {
        return Err(AodvError::Truncated { kind: Probe::TYPE, needed, found: bytes.len() });
    };
    let (entries, _) = message[4..].as_chunks::<{ Probe::ENTRY as usize }>();
    let heard = entries.iter().take(count).map(|one| Ok((address(one, 0)?, one[4]))).collect::<Result<_, _>>()?;
    Ok((AodvMessage::Probe(Probe { number: u16::from_be_bytes([head[2], head[3]]), heard }), rest))
}

/// Parses extensions (section 9): type, length, and as many bytes as the length says. Only ours is used; if it occurs
/// several times, the last one counts.
fn path_cost(mut rest: &[u8]) -> Result<Option<PathCost>, AodvError> {
    let mut found = None;
    while let Some(&kind) = rest.first() {
        if !(1..=127).contains(&kind) {
            return Err(AodvError::UnknownExtension(kind));
        }
        let needed = 2 + rest.get(1).map_or(0, |&length| usize::from(length));
        if let (PathCost::EXTENSION, Some(&[_, PathCost::CONTENT, metric, a, b, c, d])) = (kind, rest.first_chunk()) {
            found = Some(PathCost { metric, sum: u32::from_be_bytes([a, b, c, d]) });
        }
        rest = rest.get(needed..).ok_or(AodvError::TruncatedExtension { kind, needed, found: rest.len() })?;
    }
    Ok(found)
}

fn fixed<const N: usize>(kind: u8, bytes: &[u8]) -> Result<(&[u8; N], &[u8]), AodvError> {
    bytes.split_first_chunk().ok_or(AodvError::Truncated { kind, needed: N, found: bytes.len() })
}

fn number<const N: usize>(head: &[u8; N], at: usize) -> u32 {
    u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

/// Parses the address of a host: not in "this network" (0.0.0.0/8) or loopback (RFC 1122 section 3.2.1.3), and neither
/// multicast nor reserved (RFC 1112 section 4), which includes the limited broadcast.
fn address<const N: usize>(head: &[u8; N], at: usize) -> Result<Ipv4Addr, AodvError> {
    match Ipv4Addr::from_bits(number(head, at)) {
        addr if matches!(addr.octets()[0], 0 | 127 | 224..) => Err(AodvError::NoHost(addr)),
        addr => Ok(addr),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
