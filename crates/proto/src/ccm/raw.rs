//! The module on bytes: what a device hands over and takes back.
//!
//! [`segment`] reads a TCP segment out of an IPv4 packet, [`set_window`] writes its window field and mends the checksum by
//! the difference (RFC 1624 equation 3), so that a checksum that was wrong stays wrong.

use crate::wire::{TcpFlags, TcpOptions, TcpSegment, Timestamps};
use etherparse::{Ipv4HeaderSlice, TcpHeaderSlice, TcpOptionElement};
use fourhop_units::Seq;

/// Where the window and checksum fields are in a TCP header (RFC 9293 section 3.1).
const WINDOW: usize = 14;
const CHECKSUM: usize = 16;
/// Protocol number of TCP.
const TCP: u8 = 6;

/// The TCP segment in an IPv4 packet, if it is a whole one that makes sense. Options that this project does not know are
/// left out; one that is malformed ends them.
pub fn segment(packet: &[u8]) -> Option<TcpSegment> {
    let (tcp, payload) = tcp_part(packet)?;
    let header = TcpHeaderSlice::from_slice(&packet[tcp..]).ok()?;
    let mut options = TcpOptions::default();
    for option in header.options_iterator() {
        match option {
            Ok(TcpOptionElement::MaximumSegmentSize(mss)) => options.mss = Some(mss),
            Ok(TcpOptionElement::WindowScale(shift)) => options.window_scale = Some(shift),
            Ok(TcpOptionElement::SelectiveAcknowledgementPermitted) => options.sack_permitted = true,
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, rest)) => {
                let blocks = core::iter::once(first).chain(rest.into_iter().flatten());
                options.sack =
                    blocks.map(|(left, right)| (Seq::from_wire(left), Seq::from_wire(right))).take(4).collect();
            }
            Ok(TcpOptionElement::Timestamp(value, echo)) => options.timestamps = Some(Timestamps { value, echo }),
            Ok(TcpOptionElement::Noop) => {}
            Err(_) => break,
        }
    }
    Some(TcpSegment {
        src_port: header.source_port(),
        dst_port: header.destination_port(),
        seq: Seq::from_wire(header.sequence_number()),
        ack: Seq::from_wire(header.acknowledgment_number()),
        flags: TcpFlags {
            syn: header.syn(),
            ack: header.ack(),
            fin: header.fin(),
            rst: header.rst(),
            psh: header.psh(),
        },
        window: header.window_size(),
        options,
        payload,
    })
}

/// Writes the window field of the TCP segment in an IPv4 packet. False, and nothing is written, if there is none.
pub fn set_window(packet: &mut [u8], window: u16) -> bool {
    let Some((tcp, _)) = tcp_part(packet) else { return false };
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[tcp + at], packet[tcp + at + 1]]);
    let checksum = mended(word(packet, CHECKSUM), word(packet, WINDOW), window);
    packet[tcp + WINDOW..][..2].copy_from_slice(&window.to_be_bytes());
    packet[tcp + CHECKSUM..][..2].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// Where the TCP header begins, and how many bytes of payload follow it.
fn tcp_part(packet: &[u8]) -> Option<(usize, u32)> {
    let ip = Ipv4HeaderSlice::from_slice(packet).ok()?;
    let total = usize::from(ip.total_len());
    // A later fragment has no TCP header, and what is cut off cannot be checked.
    if ip.protocol().0 != TCP || ip.is_fragmenting_payload() || total > packet.len() {
        return None;
    }
    let begin = ip.slice().len();
    let header = TcpHeaderSlice::from_slice(packet.get(begin..total)?).ok()?;
    Some((begin, (total - begin - header.slice().len()) as u32))
}

/// RFC 1624 equation 3: HC' = ~(~HC + ~m + m').
fn mended(checksum: u16, old: u16, new: u16) -> u16 {
    let mut sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    !(sum as u16)
}
