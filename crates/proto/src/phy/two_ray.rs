//! Two-ray ground propagation (Rappaport, Wireless Communications, section 4.6; ns-2.35 `TwoRayGround`).
//!
//! Friis' free-space law applies up to the crossover distance; beyond it power falls with the fourth power of distance.
//! Not modelled: walls, shadowing, fading, and any dependence on direction.

use fourhop_units::Watt;

/// Speed of light as ns-2 rounds it, m/s.
pub const LIGHT_SPEED: f64 = 3e8;

/// Transmitter, antennas and carrier, with unity gains and no system loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TwoRay {
    /// Transmitted power.
    pub tx_power: Watt,
    /// Carrier frequency in Hz.
    pub frequency_hz: f64,
    /// Height of both antennas above ground in metres.
    pub antenna_height_m: f64,
}

impl TwoRay {
    /// Lucent WaveLAN at 914 MHz, as in every ns-2 study of the period: 0.28183815 W, antennas at 1.5 m.
    pub const WAVELAN: TwoRay = TwoRay { tx_power: Watt(0.281_838_15), frequency_hz: 914e6, antenna_height_m: 1.5 };

    /// Wavelength in metres.
    pub fn wavelength_m(&self) -> f64 {
        LIGHT_SPEED / self.frequency_hz
    }

    /// Returns the distance in metres at which the two laws meet.
    pub fn crossover_m(&self) -> f64 {
        4.0 * core::f64::consts::PI * self.antenna_height_m * self.antenna_height_m / self.wavelength_m()
    }

    /// Returns the power received at `distance_m` metres; the transmitted power at distance 0.
    pub fn received(&self, distance_m: f64) -> Watt {
        if distance_m <= 0.0 {
            return self.tx_power;
        }
        let gain = if distance_m <= self.crossover_m() {
            square(self.wavelength_m() / (4.0 * core::f64::consts::PI * distance_m))
        } else {
            let squared = self.antenna_height_m / distance_m;
            square(squared * self.antenna_height_m / distance_m)
        };
        // The gain cannot exceed 1, however close the antennas.
        Watt(self.tx_power.0 * gain.min(1.0))
    }

    /// Returns the distance in metres within which at least `threshold` is received (the inverse of
    /// [`TwoRay::received`]).
    pub fn range_m(&self, threshold: Watt) -> f64 {
        let ratio = self.tx_power.0 / threshold.0;
        let friis = ratio.sqrt() * self.wavelength_m() / (4.0 * core::f64::consts::PI);
        if friis <= self.crossover_m() { friis } else { ratio.sqrt().sqrt() * self.antenna_height_m }
    }
}

fn square(x: f64) -> f64 {
    x * x
}

#[cfg(test)]
mod tests {
    use super::*;

    // Values of ns-2.35 for its defaults: crossover 86.142 m, ranges 250.0107 m and 550.0215 m.
    #[test]
    fn ranges_are_those_of_wavelan_in_ns2() {
        let radio = TwoRay::WAVELAN;
        assert!((radio.crossover_m() - 86.142).abs() < 1e-3);
        assert!((radio.range_m(Watt(3.652e-10)) - 250.0107).abs() < 1e-3);
        assert!((radio.range_m(Watt(1.559e-11)) - 550.0215).abs() < 1e-3);
    }

    #[test]
    fn power_falls_with_distance_and_is_continuous() {
        let radio = TwoRay::WAVELAN;
        let crossover = radio.crossover_m();
        let (near, far) = (radio.received(crossover), radio.received(crossover + 1e-9));
        assert!((near.over(far) - 1.0).abs() < 1e-6);
        for pair in [0.0, 0.01, 1.0, 50.0, 86.0, 87.0, 250.0, 550.0].windows(2) {
            assert!(radio.received(pair[0]).0 >= radio.received(pair[1]).0);
        }
        assert_eq!(radio.received(0.0), radio.tx_power);
    }
}
