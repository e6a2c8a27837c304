//! Path loss that grows with the logarithm of distance: L(d) = L(d0) + 10 n log10(d / d0).
//!
//! Sources: Friis 1946 (free space, n = 2); Rappaport, Wireless Communications, section 4.9 (n from 1.6 in line of
//! sight indoors to 6 behind walls); Recommendation ITU-R P.1238-8, section 3.1 (indoors, on one floor): L = 20 log10(f
//! / MHz) + N log10(d / m) - 28. Not modelled: individual walls and floors, directions, and all differences between two
//! places at the same distance, which are left to shadowing and fading.

use fourhop_units::{Db, Watt};

/// Speed of light in m/s.
const LIGHT_SPEED: f64 = 299_792_458.0;

/// Indoor environments of ITU-R P.1238.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indoor {
    /// Offices: table 2, 1.8 to 2.4 GHz 30, 5.2 GHz 31.
    Office,
    /// Dwellings: table 2, 28, 5.2 GHz 30.
    Residential,
    /// Corridors, which guide waves: section 3.1, 18.
    Hallway,
}

/// A log-distance path loss model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LogDistance {
    /// Loss at the reference distance.
    pub reference_loss: Db,
    /// Reference distance in metres.
    pub reference_m: f64,
    /// Exponent n.
    pub exponent: f64,
}

impl LogDistance {
    /// Free space between unity antennas.
    pub fn free_space(frequency_hz: f64) -> LogDistance {
        LogDistance { reference_loss: friis(frequency_hz, 1.0), reference_m: 1.0, exponent: 2.0 }
    }

    /// ITU-R P.1238 on one floor.
    pub fn indoor(room: Indoor, frequency_hz: f64) -> LogDistance {
        let above_4_ghz = frequency_hz > 4e9;
        let coefficient = match room {
            Indoor::Office if above_4_ghz => 31.0,
            Indoor::Office => 30.0,
            Indoor::Residential if above_4_ghz => 30.0,
            Indoor::Residential => 28.0,
            Indoor::Hallway => 18.0,
        };
        let reference_loss = Db(20.0 * libm::log10(frequency_hz / 1e6) - 28.0);
        LogDistance { reference_loss, reference_m: 1.0, exponent: coefficient / 10.0 }
    }

    /// Returns the loss at `distance_m` metres, never negative. The law also applies below the reference distance.
    pub fn loss(&self, distance_m: f64) -> Db {
        let decades = libm::log10(distance_m.max(1e-3) / self.reference_m);
        Db((self.reference_loss.0 + 10.0 * self.exponent * decades).max(0.0))
    }

    /// Returns the power received at `distance_m` metres from a transmitter of `tx_power`.
    pub fn received(&self, tx_power: Watt, distance_m: f64) -> Watt {
        Watt(tx_power.0 * libm::pow(10.0, -self.loss(distance_m).0 / 10.0))
    }

    /// Returns the distance in metres within which at least `threshold` of `tx_power` is received.
    pub fn range_m(&self, tx_power: Watt, threshold: Watt) -> f64 {
        let loss = 10.0 * libm::log10(tx_power.over(threshold));
        self.reference_m * libm::pow(10.0, (loss - self.reference_loss.0) / (10.0 * self.exponent))
    }
}

/// Loss of free space (Friis): 20 log10(4 pi d f / c).
pub fn friis(frequency_hz: f64, distance_m: f64) -> Db {
    Db(20.0 * libm::log10(4.0 * core::f64::consts::PI * distance_m * frequency_hz / LIGHT_SPEED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Db, expected: f64, tolerance: f64) {
        assert!((found.0 - expected).abs() < tolerance, "{found:?} {expected}");
    }

    // ITU-R P.525 writes it as 32.45 + 20 log10(f / MHz) + 20 log10(d / km): 80.1 dB over 100 m at 2.412 GHz.
    #[test]
    fn free_space_is_that_of_itu_r_p_525() {
        for (metres, megahertz) in [(1.0, 2412.0f64), (100.0, 2412.0), (1000.0, 5180.0)] {
            let expected = 32.45 + 20.0 * megahertz.log10() + 20.0 * (metres / 1000.0f64).log10();
            close(LogDistance::free_space(megahertz * 1e6).loss(metres), expected, 0.01);
        }
        close(friis(2.412e9, 100.0), 80.09, 0.02);
    }

    // P.1238: at 2.4 GHz 69.6 dB over 10 m of an office and 90.6 dB over 50 m; 57.6 dB over 10 m of a corridor.
    #[test]
    fn indoors_it_is_that_of_itu_r_p_1238() {
        close(LogDistance::indoor(Indoor::Office, 2.4e9).loss(10.0), 69.6, 0.01);
        close(LogDistance::indoor(Indoor::Office, 2.4e9).loss(50.0), 90.57, 0.01);
        close(LogDistance::indoor(Indoor::Office, 5.2e9).loss(10.0), 77.32, 0.01);
        close(LogDistance::indoor(Indoor::Hallway, 2.4e9).loss(10.0), 57.6, 0.01);
        close(LogDistance::indoor(Indoor::Residential, 2.4e9).loss(10.0), 67.6, 0.01);
    }

    // 3GPP TR 38.901 table 7.4.1-1, indoor hotspot in line of sight: 32.4 + 17.3 log10(d) + 20 log10(f / GHz).
    #[test]
    fn a_hallway_is_within_a_decibel_of_3gpps_indoor_hotspot() {
        for metres in [3.0f64, 10.0, 50.0] {
            let expected = 32.4 + 17.3 * metres.log10() + 20.0 * 2.4f64.log10();
            close(LogDistance::indoor(Indoor::Hallway, 2.4e9).loss(metres), expected, 1.0);
        }
    }

    #[test]
    fn the_range_is_where_the_power_is() {
        let law = LogDistance { exponent: 3.3, ..LogDistance::free_space(2.4e9) };
        let power = law.received(Watt(0.1), 70.0);
        assert!((law.range_m(Watt(0.1), power) - 70.0).abs() < 1e-9);
        assert_eq!(law.received(Watt(0.1), 0.0), Watt(0.1), "never a gain");
    }
}
