//! Radio powers. Absolute powers ([`Watt`], [`Dbm`]) and ratios ([`Db`]) are different types: two absolute powers in
//! dBm cannot be added, a ratio can be added to either.

use core::ops::{Add, Sub};

/// An absolute power in watts. Sums are physically meaningful.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Watt(pub f64);

/// An absolute power in dBm.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Dbm(pub f64);

/// A ratio of powers in dB.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Db(pub f64);

impl Watt {
    /// Returns the same power on the logarithmic scale.
    pub fn to_dbm(self) -> Dbm {
        Dbm(10.0 * libm::log10(self.0 * 1e3))
    }

    /// Returns the ratio of this power to `other` (linear, not dB).
    pub fn over(self, other: Watt) -> f64 {
        self.0 / other.0
    }
}

impl Dbm {
    /// Returns the same power on the linear scale.
    pub fn to_watt(self) -> Watt {
        Watt(1e-3 * libm::pow(10.0, self.0 / 10.0))
    }
}

impl Add for Watt {
    type Output = Watt;
    fn add(self, other: Watt) -> Watt {
        Watt(self.0 + other.0)
    }
}

impl Add<Db> for Dbm {
    type Output = Dbm;
    fn add(self, gain: Db) -> Dbm {
        Dbm(self.0 + gain.0)
    }
}

impl Sub for Dbm {
    type Output = Db;
    fn sub(self, other: Dbm) -> Db {
        Db(self.0 - other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watt_and_dbm_convert_both_ways() {
        let wavelan = Watt(0.281_838_15);
        assert!((wavelan.to_dbm().0 - 24.5).abs() < 1e-4);
        assert!((wavelan.to_dbm().to_watt().0 - wavelan.0).abs() < 1e-12);
    }
}
