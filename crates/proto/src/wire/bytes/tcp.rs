//! TCP segments (RFC 9293 section 3.1) in IP packets.

use super::checksum;
use super::ip::{self, IpHead, set_total_len};
use super::words::{be16, be32};
use crate::wire::{TcpFlags, TcpOptions, TcpSegment, Timestamps};
use fourhop_units::Seq;

/// Bytes of a header without options.
const HEADER: usize = 20;
/// Offsets in the header.
const DATA_OFFSET: usize = 12;
const WINDOW: usize = 14;
const CHECKSUM: usize = 16;

/// Option kinds (IANA).
const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// Signatures that cover the header: MD5 (RFC 2385), TCP-AO (RFC 5925).
const SIGNED: [u8; 2] = [19, 29];

/// Offsets of the TCP header, of the payload behind its options, and of the packet's end. The headers are present; the
/// payload may be missing.
#[derive(Clone, Copy)]
struct Layout {
    tcp: usize,
    payload: usize,
    end: usize,
}

impl Layout {
    fn of(bytes: &[u8]) -> Option<Layout> {
        let head = IpHead::read(bytes).filter(IpHead::is_tcp)?;
        let (tcp, end) = (head.header_len, head.total_len);
        let offset = bytes.get(tcp + DATA_OFFSET)?;
        let payload = tcp + usize::from(offset >> 4) * 4;
        (payload >= tcp + HEADER && payload <= end.min(bytes.len())).then_some(Layout { tcp, payload, end })
    }
}

/// Calls `visit` with the offset and bytes of each option, kind and length included. Returns where the list ends: at an
/// end-of-options kind or at the end of `options`. `None` if a length is impossible.
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

/// Encodes the option for `millis`.
fn wired_rtt(millis: u16) -> [u8; TcpOptions::WIRED_RTT_LEN as usize] {
    let ([id0, id1], [ms0, ms1]) = (TcpOptions::WIRED_RTT_ID.to_be_bytes(), millis.to_be_bytes());
    [TcpOptions::EXPERIMENT, TcpOptions::WIRED_RTT_LEN as u8, id0, id1, ms0, ms1]
}

/// Parses options by kind and length; unknown ones are left out.
fn options(bytes: &[u8]) -> Option<TcpOptions> {
    let mut options = TcpOptions::default();
    walk(bytes, |_, option| match (option[0], option.len()) {
        (MSS, 4) => options.mss = Some(be16(option, 2)),
        // RFC 7323 section 2.3: a larger shift counts as 14.
        (WINDOW_SCALE, 3) => options.window_scale = Some(option[2].min(14)),
        (SACK_PERMITTED, 2) => options.sack_permitted = true,
        (SACK, 10 | 18 | 26 | 34) => {
            let block = |block: &[u8]| (Seq::from_wire(be32(block, 0)), Seq::from_wire(be32(block, 4)));
            options.sack = option[2..].chunks_exact(8).map(block).collect();
        }
        (TIMESTAMPS, 10) => options.timestamps = Some(Timestamps { value: be32(option, 2), echo: be32(option, 6) }),
        _ if is_wired_rtt(option) => options.wired_rtt = Some(be16(option, 4)),
        _ => {}
    })?;
    Some(options)
}

/// Parses the TCP segment in an IP packet; `None` for anything else, or if it is malformed.
pub fn segment(bytes: &[u8]) -> Option<TcpSegment> {
    let Layout { tcp, payload, end } = Layout::of(bytes)?;
    let options = options(&bytes[tcp + HEADER..payload])?;
    let bits = bytes[tcp + 13];
    let bit = |bit: u8| bits >> bit & 1 == 1;
    Some(TcpSegment {
        src_port: be16(bytes, tcp),
        dst_port: be16(bytes, tcp + 2),
        seq: Seq::from_wire(be32(bytes, tcp + 4)),
        ack: Seq::from_wire(be32(bytes, tcp + 8)),
        flags: TcpFlags { fin: bit(0), syn: bit(1), rst: bit(2), psh: bit(3), ack: bit(4), ece: bit(6), cwr: bit(7) },
        window: be16(bytes, tcp + WINDOW),
        options,
        payload: (end - payload) as u32,
        ecn: ip::ecn(bytes),
    })
}

/// Writes the window field of the TCP segment in an IP packet. Returns false, without writing, if there is none.
pub fn set_window(bytes: &mut [u8], window: u16) -> bool {
    let Some(Layout { tcp, .. }) = Layout::of(bytes) else { return false };
    checksum::write(bytes, tcp + CHECKSUM, tcp + WINDOW, &window.to_be_bytes());
    true
}

/// Writes [`TcpOptions::wired_rtt`] into the TCP segment in an IP packet, as a new option or over an existing one.
/// Returns false, without writing, if there is no segment, no room in its header, a signature over the header, or if
/// the packet would exceed `mtu`.
pub fn write_wired_rtt(bytes: &mut Vec<u8>, millis: u16, mtu: u32) -> bool {
    let Some(Layout { tcp, payload, end }) = Layout::of(bytes) else { return false };
    let (mut present, mut signed) = (None, false);
    let listed = walk(&bytes[tcp + HEADER..payload], |at, option| {
        signed |= SIGNED.contains(&option[0]);
        if is_wired_rtt(option) {
            present = Some(at);
        }
    });
    let Some(listed) = listed.filter(|_| !signed) else { return false };
    let option = wired_rtt(millis);
    // Options fill whole words. Bytes after the end of the list are padding; drop them.
    let old = payload - tcp - HEADER;
    let new = if present.is_some() { old } else { (listed + option.len()).next_multiple_of(4) };
    let total = end - old + new;
    if new > TcpOptions::MAX_LEN as usize || total > (mtu as usize).min(usize::from(u16::MAX)) {
        return false;
    }
    let at = tcp + HEADER + present.unwrap_or(listed);
    if present.is_some() {
        checksum::write(bytes, tcp + CHECKSUM, at, &option);
        return true;
    }
    // Covered besides the options: the word with the data offset and, in the pseudo-header, the length of the segment.
    let covered = |bytes: &[u8], options: usize, total: usize| {
        let offset = checksum::sum(&bytes[tcp + DATA_OFFSET..tcp + WINDOW]);
        offset + checksum::sum(&bytes[at & !1..tcp + HEADER + options]) + (total - tcp) as u64
    };
    let was = covered(bytes, old, end);
    let padding = core::iter::repeat_n(END, new - listed - option.len());
    bytes.splice(at..payload, option.into_iter().chain(padding));
    bytes[tcp + DATA_OFFSET] = ((HEADER + new) as u8 / 4) << 4 | bytes[tcp + DATA_OFFSET] & 0x0f;
    let is = covered(bytes, new, total);
    checksum::update(bytes, tcp + CHECKSUM, was, is);
    set_total_len(bytes, total as u16);
    true
}
