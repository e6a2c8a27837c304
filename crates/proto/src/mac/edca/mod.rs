//! Enhanced distributed channel access (EDCA): four access functions in one station, one for each access category.
//!
//! ```text
//! busy ──┤SIFS│ 2 slots │                      AIFSN 2: VO, VI     0 .. CW slots, then a frame, or several within the TXOP limit
//!        ┤SIFS│ 3 slots     │                  AIFSN 3: BE
//!        ┤SIFS│ 7 slots                     │  AIFSN 7: BK
//! ```
//!
//! | file | what |
//! |---|---|
//! | here | parameters of the categories, and what each counts |
//! | `functions` | the four functions beside the station's one exchange: whose turn is next, collisions within the station |
//! | `txop` | what follows a frame within a transmission opportunity |
//!
//! A station exchanges frames with others for one of its functions at a time. [`Dcf`](super::Dcf) has the state of that function, or, while
//! none has won the medium, of the one whose wait ends first; the other three are parked. A station without EDCA has one function, and
//! none of this.
//!
//! Sources: IEEE Std 802.11-2020 clauses 10.2.3.2 (EDCA), 10.23.2 (its procedures), 9.2.5.2 (duration fields), table 9-155 (parameters),
//! 10.3.2.14.2 (sequence numbers for each receiver and TID).
//!
//! How a back-off counts: the boundary behind AIFS takes the first slot, where DCF takes it a slot later (clauses 10.23.2.4 and 10.3.4.3).
//! Without an interruption both send at the same instant; each interruption counts one slot more. A boundary counts if it is at most the
//! receive-to-transmit turnaround ahead, since the station has then begun to send.
//!
//! Left out: recovery after PIFS when an answer within a TXOP is missing (the function contends anew), CF-End, fragments, admission control,
//! lifetimes of MSDUs, the reverse direction, TXOP sharing, AIFSN 1 (of access points). All stations of a network know EDCA: what is for
//! all is QoS data too, as in a mesh BSS.

mod functions;
mod txop;

pub(super) use functions::{Edca, sessions_of};

use super::config::Config as MacConfig;
use crate::counters::counters;
use crate::phy::PhyKind;
use crate::wire::Category;
use fourhop_units::Dur;

/// Parameters of a category.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Slots behind SIFS that the medium must have been idle, at least 2.
    pub aifsn: u32,
    /// Least contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Longest transmission opportunity; zero: one exchange.
    pub txop: Dur,
}

/// Parameters of all categories.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Of background.
    pub bk: Parameters,
    /// Of best effort.
    pub be: Parameters,
    /// Of video.
    pub vi: Parameters,
    /// Of voice.
    pub vo: Parameters,
}

impl Config {
    /// The default EDCA parameter set (table 9-155, outside OCB).
    pub const fn standard(phy: PhyKind) -> Config {
        Config::with_windows(phy.cw_min(), 1023, phy.is_ofdm())
    }

    /// The same where the windows of the PHY are `cw_min` (aCWmin) and `cw_max` (aCWmax).
    pub const fn with_windows(cw_min: u32, cw_max: u32, ofdm: bool) -> Config {
        // Limits with DSSS or HR/DSSS, and with OFDM and what came later, in microseconds.
        const fn of(aifsn: u32, cw_min: u32, cw_max: u32, dsss: u64, ofdm: u64, is_ofdm: bool) -> Parameters {
            Parameters { aifsn, cw_min, cw_max, txop: Dur::from_micros(if is_ofdm { ofdm } else { dsss }) }
        }
        let (half, quarter) = (cw_min.div_ceil(2).saturating_sub(1), cw_min.div_ceil(4).saturating_sub(1));
        Config {
            bk: of(7, cw_min, cw_max, 3_264, 2_528, ofdm),
            be: of(3, cw_min, cw_max, 3_264, 2_528, ofdm),
            vi: of(2, half, cw_min, 6_016, 4_096, ofdm),
            vo: of(2, quarter, half, 3_264, 2_080, ofdm),
        }
    }

    /// Those of one category.
    pub const fn of(&self, category: Category) -> &Parameters {
        match category {
            Category::Bk => &self.bk,
            Category::Be => &self.be,
            Category::Vi => &self.vi,
            Category::Vo => &self.vo,
        }
    }
}

counters! {
    /// What a category counts besides frames.
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
pub(super) struct Access {
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
    pub fn new(config: &MacConfig) -> Access {
        match &config.edca {
            None => Access { later: 0, cw_min: config.cw_min, cw_max: config.cw_max, txop: Dur::ZERO },
            Some(edca) => Access::of(edca.of(Category::Be)),
        }
    }

    fn of(parameters: &Parameters) -> Access {
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

    /// Table 9-155 with aCWmin 31 (DSSS) and 15 (OFDM), aCWmax 1023.
    #[test]
    fn the_default_parameter_set_is_that_of_the_standard() {
        let rows = |phy| {
            let config = Config::standard(phy);
            Category::ALL.map(|category| {
                let it = config.of(category);
                (it.aifsn, it.cw_min, it.cw_max, it.txop.as_micros_rounded())
            })
        };
        assert_eq!(
            rows(PhyKind::Dsss),
            [(7, 31, 1023, 3264), (3, 31, 1023, 3264), (2, 15, 31, 6016), (2, 7, 15, 3264)]
        );
        assert_eq!(rows(PhyKind::Ofdm), [(7, 15, 1023, 2528), (3, 15, 1023, 2528), (2, 7, 15, 4096), (2, 3, 7, 2080)]);
    }

    #[test]
    fn the_window_doubles_up_to_its_limit() {
        let access = Access::new(&MacConfig::ns2());
        let windows: Vec<_> =
            core::iter::successors(Some(access.cw_min), |&cw| Some(access.next_cw(cw))).take(7).collect();
        assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023]);
    }
}
