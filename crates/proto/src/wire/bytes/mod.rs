//! IPv4 packets (RFC 791) and TCP segments (RFC 9293 section 3.1) as the bytes that hosts and devices hand over: the one
//! place that reads and edits them.
//!
//! | file | holds |
//! |---|---|
//! | `ipv4` | the IPv4 header, the time to live |
//! | `tcp` | the TCP segment, its window, the option of a gateway |
//! | `checksum` | the update of a checksum |
//!
//! By hand and not by a library, because the bytes may be cut off (a device that copies only the beginning of a packet), may
//! be anything at all, and are edited where they stand.
//!
//! Read with distrust: a length that does not fit makes it no packet; a fragment, a header that is not all there or an option
//! that is malformed makes it no TCP segment. What is behind the headers may be missing: lengths are what the IPv4 header says.
//! Bytes beyond its total length (padding of a link) do not count and stay. Checksums are not verified; an edit updates them by
//! the difference (RFC 1624 equation 3), so that a packet damaged before is found damaged by its receiver.

mod checksum;
mod ipv4;
mod tcp;

#[cfg(test)]
pub(crate) mod tests;

pub use ipv4::{Ipv4Error, Ipv4Head, hops_by_ttl, set_ttl};
pub use tcp::{segment, set_window, write_wired_rtt};

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
