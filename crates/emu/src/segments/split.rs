//! Splits a packet of several segments as the kernel's software does for a device without this offload: into the same
//! segments, in the same order, at the same instant.

use super::headers::{self, CWR, FIN, FLAGS, Headers, IDENT, PSH, SEQ, TCP_CHECKSUM, be16, be32, put};
use fourhop_live::device::Form;

/// EtherTypes of VLAN tags (IEEE 802.1Q), which are 4 bytes long.
const TAGS: [u16; 2] = [0x8100, 0x88a8];

/// Calls `each` with every packet that the bytes of a device represent; `link` is the length of the link header.
/// `piece` is a buffer.
pub fn split(bytes: &mut [u8], form: Form, link: usize, piece: &mut Vec<u8>, mut each: impl FnMut(&[u8])) {
    match form {
        Form::Whole => each(bytes),
        Form::NoChecksum { start, offset } => {
            complete(bytes, start.into(), offset.into());
            each(bytes);
        }
        Form::Segments { start, size, .. } => {
            let ip = link + tags(bytes, link);
            let Some(whole) = Headers::at(bytes, ip, start.into()) else { return each(bytes) };
            for (number, payload) in bytes[whole.end..].chunks(usize::from(size.max(1))).enumerate() {
                let before = number * usize::from(size);
                let is_last = whole.end + before + payload.len() == bytes.len();
                segment(bytes, &whole, number, before, payload, is_last, piece);
                each(piece);
            }
        }
    }
}

/// Bytes of tags between the link header and the packet.
fn tags(bytes: &[u8], link: usize) -> usize {
    let is_tag = |at: &usize| bytes.get(*at..*at + 2).is_some_and(|kind| TAGS.contains(&be16(kind, 0)));
    match link.checked_sub(2) {
        Some(kind) => 4 * (kind..).step_by(4).take_while(is_tag).count(),
        None => 0,
    }
}

/// Completes a checksum field that contains the sum of the pseudo header.
fn complete(bytes: &mut [u8], start: usize, offset: usize) {
    let Some(content) = bytes.get_mut(start..).filter(|content| content.len() >= offset + 2) else { return };
    // For UDP, zero would mean that there is none (RFC 768).
    let checksum = match headers::sum(content) {
        0 => 0xffff,
        checksum => checksum,
    };
    put(content, offset, checksum);
}

fn segment(
    bytes: &[u8],
    whole: &Headers,
    number: usize,
    before: usize,
    payload: &[u8],
    is_last: bool,
    out: &mut Vec<u8>,
) {
    out.clear();
    out.extend_from_slice(&bytes[..whole.end]);
    out.extend_from_slice(payload);
    if !whole.ipv6 {
        put(out, whole.ip + IDENT, be16(bytes, whole.ip + IDENT).wrapping_add(number as u16));
    }
    whole.set_length(out);
    let seq = be32(bytes, whole.tcp + SEQ).wrapping_add(before as u32);
    out[whole.tcp + SEQ..whole.tcp + SEQ + 4].copy_from_slice(&seq.to_be_bytes());
    // Only the last segment ends a write or the connection; only the first signals that the window was reduced.
    let ends = if is_last { 0 } else { FIN | PSH };
    let begins = if number == 0 { 0 } else { CWR };
    out[whole.tcp + FLAGS] &= !(ends | begins);
    put(out, whole.tcp + TCP_CHECKSUM, 0);
    let checksum = whole.checksum(out);
    put(out, whole.tcp + TCP_CHECKSUM, checksum);
}
