//! TCP segments that cross a device as one packet (generic segmentation offload, GSO), as pure code.
//!
//! | file | what |
//! |---|---|
//! | [`split`] | what the kernel sends as one packet enters the network as the segments that it stands for |
//! | [`join`] | segments of a flow that reach a node at the same instant, as an aggregate does, are handed to its kernel as one |
//! | `headers` | where the headers of a packet are, and its checksums |
//!
//! Nothing is lost: joined segments are those that the kernel would make of the packet again, byte by byte.

mod headers;
pub mod join;
pub mod split;

#[cfg(test)]
mod tests;
