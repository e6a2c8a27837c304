//! Sequence numbers and the window of a block ack agreement.

/// Sequence numbers in a window (clause 10.25.6: buffer size of an agreement).
pub const WINDOW: u16 = 64;
/// Sequence numbers have 12 bits (clause 9.2.4.4.2).
pub(super) const SEQ_MASK: u16 = 0x0fff;
/// A number less than this far ahead is later, otherwise earlier (clause 10.25.6.3).
pub(super) const SEQ_HALF: u16 = 0x0800;

/// Returns how far `to` is ahead of `from`, modulo 4,096.
pub(super) const fn ahead(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) & SEQ_MASK
}

pub(super) const fn after(seq: u16, by: u16) -> u16 {
    seq.wrapping_add(by) & SEQ_MASK
}
