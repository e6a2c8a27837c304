//! TCP sequence numbers.

use core::fmt;
use core::ops::{Add, AddAssign};

/// A TCP sequence number: 32 bits that wrap (RFC 9293 section 3.4).
///
/// It has no `Ord`: "less than" has no meaning on a circle. [`Seq::before`] and [`Seq::after`] compare two numbers that
/// are known to lie within half the circle of each other, which a window of at most 2^30 bytes guarantees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(u32);

impl Seq {
    /// The number as it is in the header.
    pub const fn from_wire(raw: u32) -> Seq {
        Seq(raw)
    }

    /// The number for the header.
    pub const fn to_wire(self) -> u32 {
        self.0
    }

    /// Does this lie strictly before `other`?
    pub const fn before(self, other: Seq) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// Does this lie strictly after `other`?
    pub const fn after(self, other: Seq) -> bool {
        other.before(self)
    }

    /// Bytes from `earlier` up to this, counted forwards round the circle.
    pub const fn offset_from(self, earlier: Seq) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// The later of two.
    #[must_use]
    pub const fn max(self, other: Seq) -> Seq {
        if self.before(other) { other } else { self }
    }

    /// The earlier of two.
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
