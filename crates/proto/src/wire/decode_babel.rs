//! Parses Babel packets (RFC 8966 section 4).
//!
//! Nothing is assumed about the bytes. A packet of another protocol or version is an error. A TLV is skipped if it is
//! truncated, has an unknown type or address encoding, violates a rule, or carries an unknown mandatory sub-TLV
//! (sections 4.3 and 4.4); its effect on the parser state remains (section 4.5). TLVs about IPv6 routes are parsed only
//! for that state.
//!
//! [`babel`] is the inverse of [`BabelMessage::encode`].

use super::Prefix;
use super::babel::{PREFIX_FLAG, ROUTER_ID_FLAG};
use super::{BABEL_INFINITY, BabelMessage, BabelTlv, BabelUpdate, RouterId};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// Why bytes are not a Babel packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum BabelError {
    /// Fewer bytes than a header has, or than the header claims.
    #[error("a packet of {found} bytes, allowed: at least {needed}")]
    Truncated {
        /// Bytes needed.
        needed: usize,
        /// Bytes present.
        found: usize,
    },
    /// Another magic number or version (section 4.2).
    #[error("magic number and version {0:?}, allowed: [42, 2]")]
    NotBabel([u8; 2]),
}

/// Parses the Babel packet in the payload of a datagram. If it arrived over IPv4, its sender is the next hop of updates
/// that name none. Also returns the number of skipped TLVs, not counting padding and TLVs about IPv6 routes.
///
/// # Errors
/// If the bytes are not a Babel packet.
pub fn babel(bytes: &[u8], over_ipv4: bool) -> Result<(BabelMessage, u32), BabelError> {
    let needed = BabelMessage::HEADER as usize;
    let Some((&[magic, version, high, low], rest)) = bytes.split_first_chunk() else {
        return Err(BabelError::Truncated { needed, found: bytes.len() });
    };
    if [magic, version] != BabelMessage::MAGIC {
        return Err(BabelError::NotBabel([magic, version]));
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    // The body is followed by the trailer (section 4.2), which is not parsed.
    let Some(mut body) = rest.get(..length) else {
        return Err(BabelError::Truncated { needed: needed + length, found: bytes.len() });
    };
    let mut parser = Parser { over_ipv4, ..Parser::default() };
    let (mut tlvs, mut left_out) = (Vec::new(), 0);
    while let Some((&kind, after)) = body.split_first() {
        if kind == 0 {
            body = after;
            continue;
        }
        let value = after.split_first().and_then(|(&len, rest)| rest.split_at_checked(usize::from(len)));
        let Some((value, after)) = value else {
            left_out += 1;
            break;
        };
        body = after;
        match parser.tlv(kind, value) {
            Ok(tlv) => tlvs.extend(tlv),
            Err(LeftOut) => left_out += 1,
        }
    }
    Ok((BabelMessage { tlvs }, left_out))
}

/// A TLV to be skipped.
struct LeftOut;

type Read<T> = Result<T, LeftOut>;

/// Parser state (section 4.5).
#[derive(Default)]
struct Parser {
    over_ipv4: bool,
    router_id: Option<RouterId>,
    /// The last IPv4 next hop.
    next_hop: Option<Ipv4Addr>,
    /// Prefixes for decompression, for IPv4 and IPv6.
    prefixes: [Option<[u8; 16]>; 2],
}

impl Parser {
    /// Parses a TLV; returns `None` if it has no content for the reader.
    fn tlv(&mut self, kind: u8, value: &[u8]) -> Read<Option<BabelTlv>> {
        let tlv = match kind {
            // PadN.
            1 => return Ok(None),
            2 => {
                let (head, rest) = fixed::<6>(value)?;
                only_known(rest)?;
                BabelTlv::AckRequest { opaque: number(head, 2), interval: at_least_one(number(head, 4))? }
            }
            3 => {
                let (head, rest) = fixed::<2>(value)?;
                only_known(rest)?;
                BabelTlv::Ack { opaque: number(head, 0) }
            }
            4 => {
                let (head, rest) = fixed::<6>(value)?;
                only_known(rest)?;
                BabelTlv::Hello { unicast: head[0] & 0x80 != 0, seqno: number(head, 2), interval: number(head, 4) }
            }
            5 => ihu(value)?,
            6 => {
                let (head, rest) = fixed::<10>(value)?;
                let [_, _, id @ ..] = *head;
                self.router_id = RouterId::new(id);
                self.router_id.ok_or(LeftOut)?;
                only_known(rest)?;
                return Ok(None);
            }
            7 => {
                let (head, rest) = fixed::<2>(value)?;
                if head[0] == 1 {
                    let (octets, rest) = fixed::<4>(rest)?;
                    self.next_hop = Some(host(Ipv4Addr::from_octets(*octets))?);
                    only_known(rest)?;
                }
                return Ok(None);
            }
            8 => return self.update(value),
            9 => {
                let (head, rest) = fixed::<2>(value)?;
                let (prefix, rest) = whole_prefix(head[0], head[1], rest)?;
                only_known(rest)?;
                match prefix {
                    Asked::Everything => BabelTlv::RouteRequest { prefix: None },
                    Asked::Ipv4(prefix) => BabelTlv::RouteRequest { prefix: Some(prefix) },
                    Asked::Ipv6 => return Ok(None),
                }
            }
            10 => {
                let (head, rest) = fixed::<14>(value)?;
                let [encoding, bits, _, _, hop_count, _, id @ ..] = *head;
                let (prefix, rest) = whole_prefix(encoding, bits, rest)?;
                only_known(rest)?;
                let router_id = RouterId::new(id).ok_or(LeftOut)?;
                match prefix {
                    Asked::Ipv4(prefix) if hop_count > 0 => {
                        BabelTlv::SeqnoRequest { prefix, seqno: number(head, 2), hop_count, router_id }
                    }
                    Asked::Ipv6 => return Ok(None),
                    _ => return Err(LeftOut),
                }
            }
            _ => return Err(LeftOut),
        };
        Ok(Some(tlv))
    }

    /// Parses an update (section 4.6.9). Its flags change the state even if the rest is skipped.
    fn update(&mut self, value: &[u8]) -> Read<Option<BabelTlv>> {
        let (head, rest) = fixed::<10>(value)?;
        let [encoding, flags, bits, omitted, ..] = *head;
        let (interval, seqno, metric) = (number(head, 4), number(head, 6), number(head, 8));
        if encoding == 0 {
            only_known(rest)?;
            // A wildcard retraction.
            let is_one = metric == BABEL_INFINITY && (bits, omitted) == (0, 0);
            return if is_one { Ok(Some(BabelTlv::Retraction { prefix: None, interval })) } else { Err(LeftOut) };
        }
        let (family, most) = match encoding {
            1 => (0, 32),
            2 | 3 => (1, 128),
            _ => return Err(LeftOut),
        };
        let (whole, omitted) = (usize::from(bits.div_ceil(8)), usize::from(omitted));
        let before = if omitted == 0 { Some([0; 16]) } else { self.prefixes[family].filter(|_| encoding != 3) };
        let Some((mut address, (bytes_sent, rest))) =
            before.zip(rest.split_at_checked(whole.saturating_sub(if encoding == 3 { 8 } else { omitted })))
        else {
            return Err(LeftOut);
        };
        if bits > most || omitted > whole || (encoding == 3 && whole < 8) {
            return Err(LeftOut);
        }
        let from = if encoding == 3 { 8 } else { omitted };
        if encoding == 3 {
            address[..2].copy_from_slice(&[0xfe, 0x80]);
        }
        address[from..whole].copy_from_slice(bytes_sent);
        address[whole..].fill(0);
        if flags & PREFIX_FLAG != 0 && encoding != 3 {
            self.prefixes[family] = Some(address);
        }
        if flags & ROUTER_ID_FLAG != 0 {
            let [.., a, b, c, d, e, f, g, h] = address;
            self.router_id = match family {
                0 => RouterId::of_address(ipv4(address)),
                _ => RouterId::new([a, b, c, d, e, f, g, h]),
            };
        }
        let hops = known(rest)?;
        if family == 1 {
            return Ok(None);
        }
        let prefix = Prefix::new(ipv4(address), bits).ok_or(LeftOut)?;
        if metric == BABEL_INFINITY {
            return Ok(Some(BabelTlv::Retraction { prefix: Some(prefix), interval }));
        }
        let router_id = self.router_id.ok_or(LeftOut)?;
        if self.next_hop.is_none() && !self.over_ipv4 {
            return Err(LeftOut);
        }
        let (next_hop, interval) = (self.next_hop, at_least_one(interval)?);
        Ok(Some(BabelTlv::Update(BabelUpdate { prefix, router_id, next_hop, interval, seqno, metric, hops })))
    }
}

/// Parses an IHU (section 4.6.6).
fn ihu(value: &[u8]) -> Read<BabelTlv> {
    let (head, rest) = fixed::<6>(value)?;
    let (address, rest) = match head[0] {
        0 => (None, rest),
        1 => {
            let (octets, rest) = fixed::<4>(rest)?;
            (Some(IpAddr::V4(Ipv4Addr::from_octets(*octets))), rest)
        }
        2 => {
            let (octets, rest) = fixed::<16>(rest)?;
            (Some(IpAddr::V6(Ipv6Addr::from_octets(*octets))), rest)
        }
        3 => {
            let (octets, rest) = fixed::<8>(rest)?;
            let mut whole = [0; 16];
            whole[..2].copy_from_slice(&[0xfe, 0x80]);
            whole[8..].copy_from_slice(octets);
            (Some(IpAddr::V6(Ipv6Addr::from_octets(whole))), rest)
        }
        _ => return Err(LeftOut),
    };
    only_known(rest)?;
    Ok(BabelTlv::Ihu { address, rxcost: number(head, 2), interval: at_least_one(number(head, 4))? })
}

/// Subject of a request.
enum Asked {
    Everything,
    Ipv4(Prefix),
    Ipv6,
}

/// Parses an uncompressed prefix, as in requests.
fn whole_prefix(encoding: u8, bits: u8, rest: &[u8]) -> Read<(Asked, &[u8])> {
    let len = usize::from(bits.div_ceil(8));
    match encoding {
        0 if bits == 0 => Ok((Asked::Everything, rest)),
        1 if bits <= 32 => {
            let (bytes_sent, rest) = rest.split_at_checked(len).ok_or(LeftOut)?;
            let mut address = [0; 16];
            address[..len].copy_from_slice(bytes_sent);
            Ok((Asked::Ipv4(Prefix::new(ipv4(address), bits).ok_or(LeftOut)?), rest))
        }
        2 if bits <= 128 => Ok((Asked::Ipv6, rest.split_at_checked(len).ok_or(LeftOut)?.1)),
        3 if (64..=128).contains(&bits) => Ok((Asked::Ipv6, rest.split_at_checked(len - 8).ok_or(LeftOut)?.1)),
        _ => Err(LeftOut),
    }
}

/// Parses sub-TLVs (section 4.4) and returns the hops, if present. An unknown one with the upper bit set, or a
/// truncated one, invalidates the TLV.
fn known(mut rest: &[u8]) -> Read<Option<u8>> {
    let mut hops = None;
    while let Some((&kind, after)) = rest.split_first() {
        if kind == 0 {
            rest = after;
            continue;
        }
        let value = after.split_first().and_then(|(&len, rest)| rest.split_at_checked(usize::from(len)));
        let (value, after) = value.ok_or(LeftOut)?;
        if kind & 0x80 != 0 {
            return Err(LeftOut);
        }
        if let (BabelUpdate::HOPS, &[bytes_sent]) = (kind, value) {
            hops = Some(bytes_sent);
        }
        rest = after;
    }
    Ok(hops)
}

fn only_known(rest: &[u8]) -> Read<()> {
    known(rest).map(|_| ())
}

fn fixed<const N: usize>(bytes: &[u8]) -> Read<(&[u8; N], &[u8])> {
    bytes.split_first_chunk().ok_or(LeftOut)
}

fn number<const N: usize>(head: &[u8; N], at: usize) -> u16 {
    u16::from_be_bytes([head[at], head[at + 1]])
}

/// Requires that an interval is not 0 (sections 4.6.3, 4.6.6, 4.6.9).
fn at_least_one(interval: u16) -> Read<u16> {
    if interval == 0 { Err(LeftOut) } else { Ok(interval) }
}

fn ipv4(address: [u8; 16]) -> Ipv4Addr {
    let [a, b, c, d, ..] = address;
    Ipv4Addr::new(a, b, c, d)
}

/// Requires an address that packets can be sent to (RFC 1122 section 3.2.1.3).
fn host(addr: Ipv4Addr) -> Read<Ipv4Addr> {
    if matches!(addr.octets()[0], 0 | 127 | 224..) { Err(LeftOut) } else { Ok(addr) }
}
