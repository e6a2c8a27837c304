//! Tables of hazards by signal to interference and noise ratio.
//!
//! Evaluating an error function for each piece of each frame would cost as much as the rest of the simulator. The table
//! of each mode is computed when it is first needed: 64 equal steps per octave of the ratio, between which the hazard
//! is interpolated linearly, with an error of at most 0.4 % where frame losses begin. Its entries come from `libm`, a
//! Rust library that does not depend on the machine, and are only added and multiplied: results do not depend on the
//! platform's maths library.

use super::dsss;
use super::ofdm::{Code, Coded};
use crate::phy::PhyKind;
use fourhop_units::Rate;
use std::sync::LazyLock;

/// A modulation and coding scheme.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// DBPSK, 1 Mbit/s.
    Dsss1,
    /// DQPSK, 2 Mbit/s.
    Dsss2,
    /// CCK, 5.5 Mbit/s.
    Cck5_5,
    /// CCK, 11 Mbit/s.
    Cck11,
    /// OFDM with this modulation and code: a rate of 802.11a, or a stream of an MCS.
    Ofdm(Coded),
}

impl Mode {
    /// Returns the mode of frames at `rate`; `None` if the standard has no such rate.
    pub fn of(kind: PhyKind, rate: Rate) -> Option<Mode> {
        match (kind, rate.bps()) {
            (PhyKind::Dsss, 1_000_000) => Some(Mode::Dsss1),
            (PhyKind::Dsss, 2_000_000) => Some(Mode::Dsss2),
            (PhyKind::Dsss, 5_500_000) => Some(Mode::Cck5_5),
            (PhyKind::Dsss, 11_000_000) => Some(Mode::Cck11),
            (PhyKind::Dsss, _) => None,
            (PhyKind::Ofdm | PhyKind::ErpOfdm, bps) => Coded::of_mbps(bps / 1_000_000).map(Mode::Ofdm),
        }
    }

    /// Computes the hazard of a bit at `sinr`.
    pub fn hazard(self, sinr: f64) -> f64 {
        match self {
            Mode::Dsss1 => dsss::hazard_1(sinr),
            Mode::Dsss2 => dsss::hazard_2(sinr),
            Mode::Cck5_5 => dsss::hazard_5_5(sinr),
            Mode::Cck11 => dsss::hazard_11(sinr),
            Mode::Ofdm(coded) => coded.hazard(sinr),
        }
    }

    /// Returns its table.
    pub fn curve(self) -> &'static Curve {
        static TABLES: [LazyLock<Curve>; 17] = [
            LazyLock::new(|| Curve::new(dsss::hazard_1)),
            LazyLock::new(|| Curve::new(dsss::hazard_2)),
            LazyLock::new(|| Curve::new(dsss::hazard_5_5)),
            LazyLock::new(|| Curve::new(dsss::hazard_11)),
            LazyLock::new(|| Curve::of_ofdm(6)),
            LazyLock::new(|| Curve::of_ofdm(9)),
            LazyLock::new(|| Curve::of_ofdm(12)),
            LazyLock::new(|| Curve::of_ofdm(18)),
            LazyLock::new(|| Curve::of_ofdm(24)),
            LazyLock::new(|| Curve::of_ofdm(36)),
            LazyLock::new(|| Curve::of_ofdm(48)),
            LazyLock::new(|| Curve::of_ofdm(54)),
            LazyLock::new(|| Curve::of_coded(64, Code::FiveSixths)),
            LazyLock::new(|| Curve::of_coded(256, Code::ThreeQuarters)),
            LazyLock::new(|| Curve::of_coded(256, Code::FiveSixths)),
            LazyLock::new(|| Curve::of_coded(1024, Code::ThreeQuarters)),
            LazyLock::new(|| Curve::of_coded(1024, Code::FiveSixths)),
        ];
        let index = match self {
            Mode::Dsss1 => 0,
            Mode::Dsss2 => 1,
            Mode::Cck5_5 => 2,
            Mode::Cck11 => 3,
            Mode::Ofdm(Coded { points: 64, code: Code::FiveSixths }) => 12,
            Mode::Ofdm(Coded { points: 256, code: Code::ThreeQuarters }) => 13,
            Mode::Ofdm(Coded { points: 256, .. }) => 14,
            Mode::Ofdm(Coded { points: 1024, code: Code::ThreeQuarters }) => 15,
            Mode::Ofdm(Coded { points: 1024, .. }) => 16,
            Mode::Ofdm(coded) => {
                let place = OFDM_MBPS.iter().position(|&mbps| Coded::of_mbps(mbps) == Some(coded));
                4 + place.expect("INVARIANT: a mode comes from a rate or an MCS")
            }
        };
        &TABLES[index]
    }
}

const OFDM_MBPS: [u64; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

/// Hazards for ratios from 2^-8 (-24 dB) to 2^12 (36 dB).
#[derive(Clone, PartialEq, Debug)]
pub struct Curve(Box<[f64]>);

const LOWEST_OCTAVE: i32 = -8;
const OCTAVES: usize = 20;
/// Mantissa bits that number the steps of an octave.
const STEP_BITS: u32 = 6;
const STEPS: usize = 1 << STEP_BITS;
/// Mantissa bits below the step number.
const REST_BITS: u32 = f64::MANTISSA_DIGITS - 1 - STEP_BITS;

impl Curve {
    fn new(hazard: impl Fn(f64) -> f64) -> Curve {
        let ratio = |step: usize| {
            let within = 1.0 + (step % STEPS) as f64 / STEPS as f64;
            libm::ldexp(within, LOWEST_OCTAVE + (step / STEPS) as i32)
        };
        Curve((0..=OCTAVES * STEPS).map(|step| hazard(ratio(step))).collect())
    }

    fn of_ofdm(mbps: u64) -> Curve {
        let coded = Coded::of_mbps(mbps).expect("INVARIANT: one of the eight rates");
        Curve::new(|sinr| coded.hazard(sinr))
    }

    fn of_coded(points: u32, code: Code) -> Curve {
        Curve::new(|sinr| Coded { points, code }.hazard(sinr))
    }

    /// Returns the hazard of a bit at `sinr`, which must not be negative.
    #[inline]
    pub fn at(&self, sinr: f64) -> f64 {
        const FIRST: u64 = ((f64::MAX_EXP - 1 + LOWEST_OCTAVE) as u64) << STEP_BITS;
        let bits = sinr.to_bits();
        let Some(step) = (bits >> REST_BITS).checked_sub(FIRST) else { return self.0[0] };
        match self.0.get(step as usize..step as usize + 2) {
            Some(pair) => {
                let share = (bits & ((1 << REST_BITS) - 1)) as f64 * (1.0 / (1u64 << REST_BITS) as f64);
                pair[0] + share * (pair[1] - pair[0])
            }
            // Above the table there are no errors.
            None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::mcs::{Format, Guard, Mcs, Width};

    fn modes() -> impl Iterator<Item = Mode> {
        let mcs = Mcs::all(Format::He, 1, Width::Mhz20, Guard::Ns800).map(|mcs| Mode::Ofdm(mcs.coded()));
        [PhyKind::Dsss, PhyKind::Ofdm]
            .into_iter()
            .flat_map(|kind| kind.rates().iter().map(move |&rate| Mode::of(kind, rate).expect("every rate has a mode")))
            .chain(mcs)
    }

    #[test]
    fn a_table_says_what_the_formula_says() {
        for mode in modes() {
            let curve = mode.curve();
            for hundredth in -2300..3500 {
                let sinr = 10f64.powf(f64::from(hundredth) / 1000.0);
                let (found, expected) = (curve.at(sinr), mode.hazard(sinr));
                // Frame losses become possible at a bit error rate of 1 in 30 million. At a bit error rate of one half,
                // a truncated bound has a corner.
                if expected > 3e-8 {
                    let tolerance = if expected > 0.1 { 0.3 } else { 0.01 };
                    assert!((found / expected - 1.0).abs() < tolerance, "{mode:?} at {sinr}: {found}, {expected}");
                } else {
                    assert!((found - expected).abs() < 1e-9, "{mode:?} at {sinr}: {found}, {expected}");
                }
            }
        }
    }

    #[test]
    fn beyond_the_table_is_guessing_or_certainty() {
        for curve in modes().map(Mode::curve) {
            assert!((0.4..=0.694).contains(&curve.at(0.0)) && curve.at(0.0) == curve.at(1e-6));
            assert_eq!((curve.at(5e3), curve.at(f64::INFINITY)), (0.0, 0.0));
        }
        for mode in modes() {
            // 1024-QAM still has an error rate of 1e-9 at 36 dB; a frame has 1e5 bits.
            let least = if matches!(mode, Mode::Ofdm(coded) if coded.points == 1024) { 1e-8 } else { 1e-12 };
            assert!(mode.curve().at(4095.9) < least, "{mode:?}");
        }
    }

    #[test]
    fn rates_that_are_not_the_standards_have_no_mode() {
        assert_eq!(Mode::of(PhyKind::Dsss, Rate::kbps(54_000)), None);
        assert_eq!(Mode::of(PhyKind::Ofdm, Rate::kbps(11_000)), None);
    }
}
