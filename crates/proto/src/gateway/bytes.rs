//! Packets as bytes: an IPv4 header (RFC 791), a TCP header (RFC 9293 section 3.1), and whatever follows.
//!
//! Read with distrust: a length that does not fit, a fragment or an option that is malformed makes it no TCP segment, and
//! so a packet that passes untouched. Bytes beyond the total length of the IPv4 header (padding of a link) stay behind the
//! packet. Checksums are not verified; when the packet is changed they are updated by the difference (RFC 1624 equation 3),
//! so that a packet damaged before is found damaged by its receiver.

use super::packet::{FiveTuple, Packet, TcpView};
use crate::wire::{SackBlocks, TcpFlags, TcpOptions};
use core::net::Ipv4Addr;
use fourhop_units::Seq;

/// Bytes of an IPv4 or TCP header without options.
const HEADER: usize = 20;
/// Protocol numbers (IANA) of TCP and UDP.
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Option kinds (IANA).
const END: u8 = 0;
const NOP: u8 = 1;
const WINDOW_SCALE: u8 = 3;
const SACK: u8 = 5;
/// Signatures over the header: MD5 (RFC 2385), TCP-AO (RFC 5925).
const SIGNED: [u8; 2] = [19, 29];

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn addr(bytes: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3])
}

/// Length of the IPv4 header and of the packet; `None` if it is no IPv4 packet that is all there.
fn ipv4(bytes: &[u8]) -> Option<(usize, usize)> {
    if bytes.len() < HEADER || bytes[0] >> 4 != 4 {
        return None;
    }
    let header = usize::from(bytes[0] & 0x0f) * 4;
    let total = usize::from(be16(bytes, 2));
    (header >= HEADER && header <= total && total <= bytes.len()).then_some((header, total))
}

/// Is it a part of a packet? More fragments, or an offset (RFC 791 section 3.1).
fn is_fragment(bytes: &[u8]) -> bool {
    be16(bytes, 6) & 0x3fff != 0
}

/// Where the TCP header begins, where its options end, where the packet ends.
#[derive(Clone, Copy)]
struct Layout {
    tcp: usize,
    payload: usize,
    end: usize,
}

fn layout(bytes: &[u8]) -> Option<Layout> {
    let (tcp, end) = ipv4(bytes)?;
    if bytes[9] != TCP || is_fragment(bytes) || tcp + HEADER > end {
        return None;
    }
    let payload = tcp + usize::from(bytes[tcp + 12] >> 4) * 4;
    (payload >= tcp + HEADER && payload <= end).then_some(Layout { tcp, payload, end })
}

/// Calls `visit` with each option, kind and length included, and where it begins. Returns where the list ends: at an end
/// of options or at the end of `options`. `None` if a length is impossible.
fn walk<'a>(options: &'a [u8], mut visit: impl FnMut(usize, &'a [u8])) -> Option<usize> {
    let mut at = 0;
    while at < options.len() {
        match options[at] {
            END => return Some(at),
            NOP => at += 1,
            _ => {
                let len = usize::from(*options.get(at + 1)?);
                let option = options.get(at..at + len).filter(|option| option.len() >= 2)?;
                visit(at, option);
                at += len;
            }
        }
    }
    Some(at)
}

fn is_wired_rtt(option: &[u8]) -> bool {
    option.len() == TcpOptions::WIRED_RTT_LEN as usize
        && option[0] == TcpOptions::EXPERIMENT
        && be16(option, 2) == TcpOptions::WIRED_RTT_ID
}

/// The option for `millis`.
fn wired_rtt(millis: u16) -> [u8; TcpOptions::WIRED_RTT_LEN as usize] {
    let ([id0, id1], [ms0, ms1]) = (TcpOptions::WIRED_RTT_ID.to_be_bytes(), millis.to_be_bytes());
    [TcpOptions::EXPERIMENT, TcpOptions::WIRED_RTT_LEN as u8, id0, id1, ms0, ms1]
}

/// Sum of 16-bit words, not yet folded; `bytes` begin at an even place of what the checksum covers.
fn sum(bytes: &[u8]) -> u64 {
    bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0))).sum()
}

/// RFC 1624 equation 3: HC' = ~(~HC + ~m + m'), where m and m' are sums of what was and what is.
fn updated(checksum: u16, was: u64, is: u64) -> u16 {
    let fold = |mut sum: u64| {
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    };
    !fold(u64::from(!checksum) + u64::from(!fold(was)) + u64::from(fold(is)))
}

impl Packet for Vec<u8> {
    fn len(&self) -> u32 {
        u32::try_from(Vec::len(self)).unwrap_or(u32::MAX)
    }

    fn tcp(&self) -> Option<TcpView> {
        let Layout { tcp, payload, end } = layout(self)?;
        let (mut window_scale, mut sack) = (None, SackBlocks::new());
        walk(&self[tcp + HEADER..payload], |_, option| match (option[0], option.len()) {
            (WINDOW_SCALE, 3) => window_scale = Some(option[2].min(14)),
            (SACK, 10 | 18 | 26 | 34) => {
                sack = option[2..]
                    .chunks_exact(8)
                    .map(|block| (Seq::from_wire(be32(block, 0)), Seq::from_wire(be32(block, 4))))
                    .collect();
            }
            _ => {}
        })?;
        let bits = self[tcp + 13];
        let bit = |bit: u8| bits >> bit & 1 == 1;
        Some(TcpView {
            src: addr(self, 12),
            dst: addr(self, 16),
            src_port: be16(self, tcp),
            dst_port: be16(self, tcp + 2),
            seq: Seq::from_wire(be32(self, tcp + 4)),
            ack: Seq::from_wire(be32(self, tcp + 8)),
            flags: TcpFlags { fin: bit(0), syn: bit(1), rst: bit(2), psh: bit(3), ack: bit(4) },
            window: be16(self, tcp + 14),
            window_scale,
            sack,
            payload: (end - payload) as u32,
        })
    }

    fn five_tuple(&self) -> Option<FiveTuple> {
        let (header, end) = ipv4(self)?;
        let protocol = self[9];
        let ports = matches!(protocol, TCP | UDP) && !is_fragment(self) && header + 4 <= end;
        let port = |at| if ports { be16(self, at) } else { 0 };
        let (src, dst) = (addr(self, 12), addr(self, 16));
        Some(FiveTuple { src, dst, protocol, src_port: port(header), dst_port: port(header + 2) })
    }

    fn write_wired_rtt(&mut self, millis: u16, mtu: u32) -> bool {
        let Some(Layout { tcp, payload, end }) = layout(self) else { return false };
        let (mut present, mut signed) = (None, false);
        let listed = walk(&self[tcp + HEADER..payload], |at, option| {
            signed |= SIGNED.contains(&option[0]);
            if is_wired_rtt(option) {
                present = Some(at);
            }
        });
        let Some(listed) = listed.filter(|_| !signed) else { return false };
        // The options as they are and as they are to be, from the first that changes to the end of the header.
        let option = wired_rtt(millis);
        let first = tcp + HEADER + present.unwrap_or(listed);
        let mut options = [END; TcpOptions::MAX_LEN as usize + 8];
        let kept = self[first..payload].len();
        let len = match present {
            Some(_) => {
                options[..kept].copy_from_slice(&self[first..payload]);
                kept
            }
            None => (listed + option.len()).next_multiple_of(4) - listed,
        };
        options[..option.len()].copy_from_slice(&option);
        let (header, total) = (first + len - tcp, end - kept + len);
        if header > HEADER + TcpOptions::MAX_LEN as usize || total > (mtu as usize).min(usize::from(u16::MAX)) {
            return false;
        }
        // The checksum covers whole words: begin at an even place.
        let from = first & !1;
        let was = sum(&self[tcp + 12..tcp + 14]) + sum(&self[from..payload]) + (end - tcp) as u64;
        let grown = total != end;
        self.splice(first..payload, options[..len].iter().copied());
        self[tcp + 12] = (header as u8 / 4) << 4 | self[tcp + 12] & 0x0f;
        let is = sum(&self[tcp + 12..tcp + 14]) + sum(&self[from..first + len]) + (total - tcp) as u64;
        let checksum = updated(be16(self, tcp + 16), was, is);
        self[tcp + 16..tcp + 18].copy_from_slice(&checksum.to_be_bytes());
        if grown {
            let checksum = updated(be16(self, 10), end as u64, total as u64);
            self[2..4].copy_from_slice(&(total as u16).to_be_bytes());
            self[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        true
    }
}
