//! Channel access of an access function, the state of its transmission opportunity, and its counters.

use super::parameters::Parameters;
use crate::counters::counters;
use crate::mac::config::Config;
use crate::mac::exchange::needs_rts;
use crate::wire::{Category, Msdu};
use fourhop_units::{Dur, MacAddr, Time};

counters! {
    /// Counters of a category besides frames.
    pub struct Counters {
        /// Transmission opportunities won.
        pub txops: u64,
        /// Data frames sent a SIFS after the previous exchange, in the same TXOP.
        pub continued: u64,
        /// Opportunities lost to another category of the same station.
        pub internal_collisions: u64,
    }
}

/// Channel access parameters of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::mac) struct Access {
    /// Slots by which its AIFS is longer than DIFS.
    pub later: u32,
    /// Minimum contention window.
    pub cw_min: u32,
    /// Maximum contention window.
    pub cw_max: u32,
    /// TXOP limit; zero: one frame exchange.
    pub txop: Dur,
}

impl Access {
    /// Returns the parameters of a category, or of DCF.
    pub fn new(config: &Config, category: Category) -> Access {
        let Some(edca) = &config.edca else {
            return Access { later: 0, cw_min: config.cw_min, cw_max: config.cw_max, txop: Dur::ZERO };
        };
        let Parameters { aifsn, cw_min, cw_max, txop } = *edca.of(category);
        Access { later: aifsn.saturating_sub(2), cw_min, cw_max, txop }
    }

    /// Returns the contention window after one more failure: doubled, up to the maximum.
    #[inline]
    pub fn next_cw(&self, cw: u32) -> u32 {
        (2 * cw + 1).min(self.cw_max)
    }
}

/// The current or last transmission opportunity of a function, and the packet that follows.
#[derive(Clone, Default, Debug)]
pub(in crate::mac) struct Txop {
    /// A packet taken in advance to know what follows; it is sent next.
    pub next: Option<Msdu>,
    /// When the opportunity must end.
    pub ends: Time,
    /// Whether it began with an RTS.
    pub protected: bool,
    pub counters: Counters,
    /// The next sequence number to each receiver (clause 10.3.2.14.2).
    next_seq: Vec<(MacAddr, u16)>,
}

impl Txop {
    /// Whether `next` can follow without an RTS.
    pub fn allows(&self, next: &Msdu, config: &Config) -> bool {
        self.protected || next.dst.is_broadcast() || !needs_rts(config, next)
    }

    pub fn next_seq_to(&mut self, to: MacAddr) -> &mut u16 {
        let place = self.next_seq.iter().position(|&(addr, _)| addr == to).unwrap_or_else(|| {
            self.next_seq.push((to, 0));
            self.next_seq.len() - 1
        });
        &mut self.next_seq[place].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_doubles_up_to_its_limit() {
        let access = Access::new(&Config::ns2(), Category::default());
        let windows: Vec<_> =
            core::iter::successors(Some(access.cw_min), |&cw| Some(access.next_cw(cw))).take(7).collect();
        assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023]);
    }
}
