//! Amounts of data and bit rates.

use crate::Dur;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub};

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// A bit rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

impl Bytes {
    /// Returns the number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the same amount in bits.
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(amounts: I) -> Bytes {
        amounts.fold(Bytes(0), Add::add)
    }
}

impl Rate {
    /// A rate of `bps` bit/s; `None` for zero, at which nothing could be sent.
    pub const fn from_bps(bps: u64) -> Option<Rate> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }

    /// A rate of `kbps` kbit/s, for constants.
    ///
    /// # Panics
    /// If `kbps` is zero.
    pub const fn kbps(kbps: u64) -> Rate {
        assert!(kbps > 0, "a rate is above zero");
        Rate(kbps * 1_000)
    }

    /// Returns the bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Returns the time to send `amount` at this rate, rounded to the nearest nanosecond (1,534 bytes at 11 Mbit/s:
    /// 1,115.636 us).
    pub const fn time_for(self, amount: Bytes) -> Dur {
        let bit_ns = amount.bits() * 1_000_000_000;
        Dur::from_nanos((bit_ns + self.0 / 2) / self.0)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps % 1_000_000 == 0 => write!(f, "{} Mbit/s", bps / 1_000_000),
            bps if bps % 1_000 == 0 => write!(f, "{} kbit/s", bps / 1_000),
            bps => write!(f, "{bps} bit/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn airtimes_round_to_the_nearest_nanosecond() {
        assert_eq!(Rate::kbps(2_000).time_for(Bytes(1534)), Dur::from_micros(6136));
        assert_eq!(Rate::kbps(11_000).time_for(Bytes(1534)), Dur::from_nanos(1_115_636));
        assert_eq!(Rate::from_bps(0), None);
    }
}
