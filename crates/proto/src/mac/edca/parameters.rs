//! Parameters of the access categories.

use crate::phy::PhyKind;
use crate::wire::Category;
use fourhop_units::Dur;

/// Parameters of a category.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Slots after SIFS for which the medium must have been idle, at least 2.
    pub aifsn: u32,
    /// Minimum contention window.
    pub cw_min: u32,
    /// Maximum contention window.
    pub cw_max: u32,
    /// Longest transmission opportunity; zero: one exchange.
    pub txop: Dur,
}

/// Parameters of all categories.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Background.
    pub bk: Parameters,
    /// Best effort.
    pub be: Parameters,
    /// Video.
    pub vi: Parameters,
    /// Voice.
    pub vo: Parameters,
}

impl Config {
    /// The default EDCA parameter set (table 9-155, outside OCB).
    pub const fn standard(phy: PhyKind) -> Config {
        Config::with_windows(phy.cw_min(), 1023, phy.is_ofdm())
    }

    /// As [`Config::standard`], for a PHY with windows `cw_min` (aCWmin) and `cw_max` (aCWmax).
    pub const fn with_windows(cw_min: u32, cw_max: u32, ofdm: bool) -> Config {
        // TXOP limits for DSSS or HR/DSSS, and for OFDM and later, in microseconds.
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

    /// Returns the parameters of one category.
    pub const fn of(&self, category: Category) -> &Parameters {
        match category {
            Category::Bk => &self.bk,
            Category::Be => &self.be,
            Category::Vi => &self.vi,
            Category::Vo => &self.vo,
        }
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
}
