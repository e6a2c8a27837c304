//! TCP sequence numbers.

use core::fmt;
use core::ops::{Add, AddAssign};

/// A TCP sequence number: 32 bits that wrap (RFC 9293 section 3.4).
///
/// There is no `Ord`: "less than" has no meaning on a circle. [`Seq::before`] and [`Seq::after`] compare two numbers
/// known to be within half the circle of each other, which a window of at most 2^30 bytes guarantees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(u32);

impl Seq {
    /// Takes the number from a header.
    pub const fn from_wire(raw: u32) -> Seq {
        Seq(raw)
    }

    /// Returns the number for a header.
    pub const fn to_wire(self) -> u32 {
        self.0
    }

    /// Whether this is strictly before `other`.
    pub const fn before(self, other: Seq) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// Whether this is strictly after `other`.
    pub const fn after(self, other: Seq) -> bool {
        other.before(self)
    }

    /// Returns the bytes from `earlier` to this, counted forwards around the circle.
    pub const fn offset_from(self, earlier: Seq) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Returns the later of two.
    #[must_use]
    pub const fn max(self, other: Seq) -> Seq {
        if self.before(other) { other } else { self }
    }

    /// Returns the earlier of two.
    #[must_use]
    pub const fn min(self, other: Seq) -> Seq {
        if self.before(other) { self } else { other }
    }
}

impl Add<u32> for Seq {
    type Output = Seq;
    fn add(self, bytes: u32) -> Seq {
        Seq(self.0.wrapping_add(bytes))
    }
}

impl AddAssign<u32> for Seq {
    fn add_assign(&mut self, bytes: u32) {
        *self = *self + bytes;
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        let near_end = Seq::from_wire(u32::MAX - 3);
        let past_wrap = near_end + 10;
        assert_eq!(past_wrap.to_wire(), 6);
        assert!(near_end.before(past_wrap) && past_wrap.after(near_end));
        assert_eq!(past_wrap.offset_from(near_end), 10);
        assert_eq!(near_end.max(past_wrap), past_wrap);
        assert!(!near_end.before(near_end));
    }
}
