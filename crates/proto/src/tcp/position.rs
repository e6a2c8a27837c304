//! Stream positions in one direction, which do not wrap.
//!
//! Inside the stack every sequence number is a 64-bit [`Pos`], so that comparison and subtraction are plain; the 32-bit
//! [`Seq`] of RFC 9293 section 3.4 exists only on the wire. A number from the wire is read as the position nearest to a
//! known one, which is correct as long as the two are within 2^31 of each other.

use core::ops::{Add, Sub};
use fourhop_units::Seq;

/// A position in one direction of a connection. The SYN is at [`Pos::SYN`], byte k of the stream at the (k + 1)th
/// position after it, the FIN right after the last byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Pos(u64);

impl Pos {
    /// Position of the SYN. Far from zero, as a number from the wire may be up to 2^31 before it.
    pub(super) const SYN: Pos = Pos(1 << 32);
    /// Position of the first byte of the stream.
    pub(super) const FIRST: Pos = Pos(Pos::SYN.0 + 1);
    /// Last position; no stream reaches beyond it.
    pub(super) const LAST: Pos = Pos(u64::MAX >> 1);

    /// The number on the wire, given the initial sequence number.
    pub(super) const fn seq(self, initial: Seq) -> Seq {
        Seq::from_wire(initial.to_wire().wrapping_add(self.0 as u32))
    }

    /// The position nearest to this one with number `seq` on the wire.
    pub(super) const fn locate(self, initial: Seq, seq: Seq) -> Pos {
        let distance = seq.offset_from(self.seq(initial)) as i32;
        Pos(self.0.wrapping_add_signed(distance as i64))
    }

    /// Bytes of the stream before this position.
    pub(super) const fn offset(self) -> u64 {
        self.0.saturating_sub(Pos::FIRST.0)
    }

    /// Advances by `bytes`, at most to [`Pos::LAST`].
    pub(super) fn advance(self, bytes: u64) -> Pos {
        Pos(self.0.saturating_add(bytes).min(Pos::LAST.0))
    }

    /// The position before this one.
    pub(super) const fn before(self) -> Pos {
        Pos(self.0 - 1)
    }

    /// How far this is beyond `other`; zero if it is not.
    pub(super) const fn beyond(self, other: Pos) -> u64 {
        self.0.saturating_sub(other.0)
    }
}

impl Add<u64> for Pos {
    type Output = Pos;
    fn add(self, bytes: u64) -> Pos {
        Pos(self.0 + bytes)
    }
}

impl Sub for Pos {
    type Output = u64;
    fn sub(self, earlier: Pos) -> u64 {
        self.0 - earlier.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_the_wire_wrap_and_positions_do_not() {
        let initial = Seq::from_wire(u32::MAX - 1);
        assert_eq!(Pos::SYN.seq(initial), initial);
        let far = Pos::FIRST + 5_000_000_000;
        let wire = far.seq(initial);
        assert_eq!((far + 1_000).locate(initial, wire), far);
        assert_eq!(Pos::SYN.locate(initial, Seq::from_wire(initial.to_wire() - 7)), Pos(Pos::SYN.0 - 7));
        assert_eq!(far.offset(), 5_000_000_000);
    }
}
