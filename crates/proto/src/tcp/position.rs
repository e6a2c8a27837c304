//! Positions in one direction of the stream, which do not wrap.
//!
//! Inside the stack every sequence number is a 64-bit [`Pos`], so that comparing and subtracting are plain; the 32-bit
//! [`Seq`] of RFC 9293 section 3.4 exists on the wire only. A number from the wire is read as the position nearest to
//! one that is known, which is right as long as the two lie within 2^31 of each other.

use core::ops::{Add, Sub};
use fourhop_units::Seq;

/// A place in one direction of a connection. The SYN occupies [`Pos::SYN`], byte k of the stream the (k + 1)th place
/// after it, the FIN the place after the last byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Pos(u64);

impl Pos {
    /// The place of the SYN. Far from zero: a number from the wire may lie up to 2^31 before it.
    pub(super) const SYN: Pos = Pos(1 << 32);
    /// The place of the first byte of the stream.
    pub(super) const FIRST: Pos = Pos(Pos::SYN.0 + 1);
    /// No stream reaches beyond.
    pub(super) const LAST: Pos = Pos(u64::MAX >> 1);

    /// The number on the wire, for an initial sequence number `initial`.
    pub(super) const fn seq(self, initial: Seq) -> Seq {
        Seq::from_wire(initial.to_wire().wrapping_add(self.0 as u32))
    }

    /// The position nearest to this that has the number `seq` on the wire.
    pub(super) const fn locate(self, initial: Seq, seq: Seq) -> Pos {
        let distance = seq.offset_from(self.seq(initial)) as i32;
        Pos(self.0.wrapping_add_signed(distance as i64))
    }

    /// Bytes of the stream before this place.
    pub(super) const fn offset(self) -> u64 {
        self.0.saturating_sub(Pos::FIRST.0)
    }

    /// `bytes` further, at most [`Pos::LAST`].
    pub(super) fn advance(self, bytes: u64) -> Pos {
        Pos(self.0.saturating_add(bytes).min(Pos::LAST.0))
    }

    /// The place before this one.
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
