//! IP packets (RFC 791, RFC 8200) and TCP segments (RFC 9293 section 3.1) as raw bytes from hosts and devices. Only
//! this module reads and edits them.
//!
//! | file | content |
//! |---|---|
//! | `ipv4` | the IPv4 header, the time to live |
//! | `ip` | the headers of IPv4 and IPv6 behind one interface |
//! | `tcp` | the TCP segment, its window, and the gateway's option |
//! | `checksum` | incremental checksum updates |
//!
//! This is written by hand because the bytes may be truncated (by a device that copies only the start of a packet), may
//! be arbitrary, and are edited in place.
//!
//! Nothing in the bytes is trusted. If a length does not fit, they are not a packet; a fragment, an incomplete header
//! or a malformed option is not a TCP segment. Bytes after the headers may be missing: lengths are those in the IP
//! header. Bytes beyond its total length (link padding) are ignored and kept. Checksums are not verified; an edit
//! updates them incrementally (RFC 1624 equation 3), so the receiver still detects earlier damage.

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
