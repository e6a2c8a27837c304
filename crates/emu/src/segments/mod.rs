//! TCP segments passed through a device as one packet (generic segmentation offload, GSO), as pure code.
//!
//! | file | content |
//! |---|---|
//! | [`split`] | a packet from the kernel enters the network as its segments |
//! | [`join`] | segments of a flow that reach a node at the same instant, like those of an aggregate, become one packet for its kernel |
//! | `headers` | positions of a packet's headers, and its checksums |
//!
//! Splitting a joined packet again, the kernel would produce the same segments, byte for byte.

mod headers;
pub mod join;
pub mod split;

#[cfg(test)]
mod tests;
