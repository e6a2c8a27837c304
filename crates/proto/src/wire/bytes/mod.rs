//! IP packets (RFC 791, RFC 8200) and TCP segments (RFC 9293 section 3.1) as the bytes that hosts and devices hand
//! over: the one place that reads and edits them.
//!
//! | file | holds |
//! |---|---|
//! | `ipv4` | the IPv4 header, the time to live |
//! | `ip` | the headers of IPv4 and IPv6 as one |
//! | `tcp` | the TCP segment, its window, the option of a gateway |
//! | `checksum` | the update of a checksum |
//!
//! This is written by hand because the bytes may be truncated (by a device that copies only the beginning of a packet),
//! may be anything at all, and are edited in place.
//!
//! Nothing in the bytes is trusted: with a length that does not fit they are no packet; a fragment, an incomplete
//! header or a malformed option is no TCP segment. Bytes behind the headers may be missing: lengths are those in the
//! IP header. Bytes beyond its total length (padding of a link) do not count and stay. Checksums are not verified; an
//! edit updates them incrementally (RFC 1624 equation 3), so the receiver still detects a packet that was damaged
//! before.

pub(super) mod checksum;
mod ip;
mod ipv4;
mod tcp;
mod words;

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod tests_6;

pub use ip::{IpHead, ecn, mark_congestion};
pub use ipv4::{Ipv4Error, Ipv4Head, hops_by_ttl, set_ttl};
pub use tcp::{segment, set_window, write_wired_rtt};
