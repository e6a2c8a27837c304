//! TCP segments that cross a device as one packet (generic segmentation offload, GSO), as pure code.
//!
//! | file | what |
//! |---|---|
//! | [`split`] | a packet from the kernel enters the network as its segments |
//! | [`join`] | segments of a flow that reach a node at the same instant, as an aggregate does, are one packet for its kernel |
//! | `headers` | where the headers of a packet are, and its checksums |
//!
//! The kernel, splitting a joined packet again, would make the same segments, byte by byte.

mod headers;
pub mod join;
pub mod split;

#[cfg(test)]
mod tests;
