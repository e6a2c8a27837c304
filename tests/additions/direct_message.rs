//! The message of a routing protocol for neighbours.

use super::Message;

/// A node is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beacon {
    /// Counts those of a node.
    pub number: u32,
}

impl Message for Beacon {
    const PORT: u16 = 49_000;

    fn size(&self) -> u32 {
        4
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.number.to_be_bytes());
    }
}
