//! How an access function gains the medium, and what it counts.

use super::parameters::Parameters;
use crate::counters::counters;
use crate::mac::config::Config;
use crate::wire::Category;
use fourhop_units::Dur;

counters! {
    /// Counters of a category besides frames.
    pub struct Counters {
        /// Transmission opportunities won.
        pub txops: u64,
        /// Data frames sent SIFS behind the exchange before, in the same TXOP.
        pub continued: u64,
        /// Opportunities lost to a category of the same station.
        pub internal_collisions: u64,
    }
}

/// How a function accesses the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::mac) struct Access {
    /// Slots by which its AIFS is longer than DIFS.
    pub later: u32,
    /// Least contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Longest TXOP; zero: one exchange.
    pub txop: Dur,
}

impl Access {
    /// That of DCF, or of best effort with EDCA.
    pub fn new(config: &Config) -> Access {
        match &config.edca {
            None => Access { later: 0, cw_min: config.cw_min, cw_max: config.cw_max, txop: Dur::ZERO },
            Some(edca) => Access::of(edca.of(Category::Be)),
        }
    }

    pub(super) fn of(parameters: &Parameters) -> Access {
        let Parameters { aifsn, cw_min, cw_max, txop } = *parameters;
        Access { later: aifsn.saturating_sub(2), cw_min, cw_max, txop }
    }

    /// The contention window after one more failure: doubled, up to the largest.
    #[inline]
    pub fn next_cw(&self, cw: u32) -> u32 {
        (2 * cw + 1).min(self.cw_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_doubles_up_to_its_limit() {
        let access = Access::new(&Config::ns2());
        let windows: Vec<_> =
            core::iter::successors(Some(access.cw_min), |&cw| Some(access.next_cw(cw))).take(7).collect();
        assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023]);
    }
}
