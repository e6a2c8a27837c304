//! Error rates of OFDM (IEEE Std 802.11-2020 clauses 17, 19 and 21) over additive white Gaussian noise.
//!
//! - Uncoded bits of Gray-coded BPSK, QPSK and 16-QAM to 1024-QAM: Cho and Yoon, On the general BER expression of one-
//!   and two-dimensional amplitude modulations, IEEE Trans. Commun. 50 (7), 2002.
//! - The convolutional code of constraint length 7 with generators 133 and 171 (octal), punctured to 2/3, 3/4 and 5/6
//!   (clauses 17.3.5.6 and 19.3.11.6), decoded with hard decisions: the union bound over all error events (Pursley,
//!   Taipale, Error probabilities for spread-spectrum packet radio with convolutional codes and Viterbi decoding, 1987;
//!   Proakis, section 8.2.4), with the numbers of events by weight, which a test counts on the trellis.
//!
//! `sinr` is the ratio of powers in 20 MHz; the signal is in 52 of the 64 subcarriers, noise in all of them. Formats
//! with other numbers of subcarriers, or several streams, convert their ratio first
//! ([`ratio_to_ofdm`](crate::phy::Mcs::ratio_to_ofdm)). Not modelled: soft decisions, worth about 2 dB; LDPC, which HE
//! uses; the pilots' share of the power; a channel that varies over the subcarriers.

use super::{hazard, q};

/// Subcarriers in 20 MHz, and those with signal (clause 17.3.5.10).
const SUBCARRIERS: (f64, f64) = (64.0, 52.0);

/// A modulation with its code rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coded {
    /// Points of the constellation: 2, 4, 16, 64, 256 or 1024.
    pub points: u32,
    /// Rate of the code.
    pub code: Code,
}

/// Rate of the convolutional code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// 1/2.
    Half,
    /// 2/3.
    TwoThirds,
    /// 3/4.
    ThreeQuarters,
    /// 5/6.
    FiveSixths,
}

impl Code {
    /// Returns the minimum weight of an error event; the number of events of this weight and the following ones, over
    /// all phases of the puncturing; and the data bits per puncturing period.
    const fn spectrum(self) -> (usize, [f64; 6], f64) {
        match self {
            Code::Half => (10, [11.0, 0.0, 38.0, 0.0, 193.0, 0.0], 1.0),
            Code::TwoThirds => (6, [1.0, 16.0, 48.0, 158.0, 642.0, 2435.0], 2.0),
            Code::ThreeQuarters => (5, [8.0, 31.0, 160.0, 892.0, 4512.0, 23297.0], 3.0),
            Code::FiveSixths => (4, [14.0, 69.0, 654.0, 4996.0, 39677.0, 314973.0], 5.0),
        }
    }

    /// Returns its rate as a fraction.
    pub const fn fraction(self) -> (u64, u64) {
        match self {
            Code::Half => (1, 2),
            Code::TwoThirds => (2, 3),
            Code::ThreeQuarters => (3, 4),
            Code::FiveSixths => (5, 6),
        }
    }
}

/// Bit error rate before decoding, at a ratio of symbol energy to noise density in a subcarrier.
pub fn uncoded_ber(points: u32, es_n0: f64) -> f64 {
    match points {
        2 => q((2.0 * es_n0).sqrt()),
        4 => q(es_n0.sqrt()),
        16 => {
            let x = (es_n0 / 5.0).sqrt();
            0.75 * q(x) + 0.5 * q(3.0 * x) - 0.25 * q(5.0 * x)
        }
        64 => {
            let x = (es_n0 / 21.0).sqrt();
            (7.0 * q(x) + 6.0 * q(3.0 * x) - q(5.0 * x) + q(9.0 * x) - q(13.0 * x)) / 12.0
        }
        _ => square_ber(points, es_n0),
    }
}

/// The same for any square constellation (Cho and Yoon, equations 14 and 16).
fn square_ber(points: u32, es_n0: f64) -> f64 {
    let side_bits = points.ilog2() / 2;
    let side = f64::from(1u32 << side_bits);
    let x = (3.0 * es_n0 / f64::from(points - 1)).sqrt();
    // Bit k of a side has 2^(k - 1) decision thresholds.
    let bit = |k: u32| -> f64 {
        let half = f64::from(1u32 << (k - 1));
        let terms = ((1.0 - 1.0 / (2.0 * half)) * side) as u32;
        (0..terms)
            .map(|i| {
                let place = f64::from(i) * half / side;
                let sign = if (libm::floor(place) as u32).is_multiple_of(2) { 1.0 } else { -1.0 };
                sign * (half - libm::floor(place + 0.5)) * q(f64::from(2 * i + 1) * x)
            })
            .sum::<f64>()
            * 2.0
            / side
    };
    (1..=side_bits).map(bit).sum::<f64>() / f64::from(side_bits)
}

/// Largest weight in [`Code::spectrum`].
const MOST: usize = 15;

/// Powers of a bit's error and success probabilities, shared by all paths.
struct Powers {
    /// Of the error probability, starting at 0 errors.
    error: [f64; MOST + 1],
    /// Of the success probability, up to half of the bits.
    right: [f64; MOST / 2 + 1],
}

impl Powers {
    fn new(p: f64) -> Powers {
        Powers {
            error: core::array::from_fn(|k| libm::pow(p, k as f64)),
            right: core::array::from_fn(|k| libm::pow(1.0 - p, k as f64)),
        }
    }

    /// Returns the probability that a path of weight `weight` beats the correct one.
    fn pairwise(&self, weight: usize) -> f64 {
        // The terms of the binomial distribution with at least half of the bits in error; a tie is lost half of the
        // time.
        let mut binomial = 1.0;
        let mut sum = 0.0;
        for k in 0..=weight {
            if 2 * k >= weight {
                let term = binomial * self.error[k] * self.right[weight - k];
                sum += if 2 * k == weight { 0.5 * term } else { term };
            }
            binomial *= (weight - k) as f64 / (k + 1) as f64;
        }
        sum
    }
}

/// Upper bound on the probability that an error event begins at a data bit; above 1 if the bound is useless.
pub fn event_rate(code: Code, p: f64) -> f64 {
    let (least, counts, period) = code.spectrum();
    let powers = Powers::new(p);
    let events: f64 = (least..).zip(counts).map(|(weight, count)| count * powers.pairwise(weight)).sum();
    events / period
}

impl Coded {
    /// Returns the modulation and code of each rate (table 17-4).
    pub const fn of_mbps(mbps: u64) -> Option<Coded> {
        use Code::{Half, ThreeQuarters, TwoThirds};
        let (points, code) = match mbps {
            6 => (2, Half),
            9 => (2, ThreeQuarters),
            12 => (4, Half),
            18 => (4, ThreeQuarters),
            24 => (16, Half),
            36 => (16, ThreeQuarters),
            48 => (64, TwoThirds),
            54 => (64, ThreeQuarters),
            _ => return None,
        };
        Some(Coded { points, code })
    }

    /// Hazard of a data bit.
    pub fn hazard(self, sinr: f64) -> f64 {
        let es_n0 = sinr * SUBCARRIERS.0 / SUBCARRIERS.1;
        hazard(event_rate(self.code, uncoded_ber(self.points, es_n0)), 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Counts error events by weight: paths that leave state 0 at each phase of the puncturing and return to it.
    fn count_events(kept: &[(u32, u32)], most: u32) -> BTreeMap<u32, f64> {
        let ends = |state: u32, bit: u32| {
            let register = bit << 6 | state;
            ((register & 0o133).count_ones() & 1, (register & 0o171).count_ones() & 1)
        };
        let mut events = BTreeMap::new();
        for phase in 0..kept.len() {
            let mut paths = BTreeMap::from([((0u32, 0u32), 1.0)]);
            for step in 0..200 {
                let mut next = BTreeMap::new();
                for ((state, weight), count) in paths {
                    for bit in if step == 0 { 1..2 } else { 0..2 } {
                        let ((a, b), (keep_a, keep_b)) = (ends(state, bit), kept[(phase + step) % kept.len()]);
                        let weight = weight + a * keep_a + b * keep_b;
                        let to = (bit << 6 | state) >> 1;
                        if weight > most {
                            continue;
                        }
                        if to == 0 {
                            *events.entry(weight).or_insert(0.0) += count;
                        } else {
                            *next.entry((to, weight)).or_insert(0.0) += count;
                        }
                    }
                }
                paths = next;
            }
        }
        events
    }

    // Figures 17-9 and 19-11: of the pairs of coded bits A and B, 2/3 omits every second B, 3/4 the second B and the
    // third A, 5/6 the second and fourth B and the third and fifth A.
    #[test]
    fn error_events_are_those_of_the_trellis() {
        let puncturing: [(Code, &[(u32, u32)]); 4] = [
            (Code::Half, &[(1, 1)]),
            (Code::TwoThirds, &[(1, 1), (1, 0)]),
            (Code::ThreeQuarters, &[(1, 1), (1, 0), (0, 1)]),
            (Code::FiveSixths, &[(1, 1), (1, 0), (0, 1), (1, 0), (0, 1)]),
        ];
        for (code, kept) in puncturing {
            let (least, counts, period) = code.spectrum();
            let least = least as u32;
            let events = count_events(kept, least + 5);
            let found: Vec<f64> = (least..least + 6).map(|w| events.get(&w).copied().unwrap_or(0.0)).collect();
            assert_eq!(found, counts, "{code:?}");
            assert_eq!(period, kept.len() as f64);
        }
    }

    // Proakis, figure 5.2-16 and equation 5.2-79: QPSK 1e-5 at 9.59 dB per bit; 16-QAM at 13.43, 64-QAM at 17.79 dB per
    // bit.
    #[test]
    fn uncoded_modulations_at_1e_5() {
        for (points, eb_n0_db) in [(2, 9.59), (4, 9.59), (16, 13.43), (64, 17.79)] {
            let bits = f64::from(points).log2();
            let ber = uncoded_ber(points, bits * 10f64.powf(eb_n0_db / 10.0));
            assert!((ber.log10() + 5.0).abs() < 0.05, "{points} points: {ber}");
        }
    }

    // Table 17-18: minimum sensitivities of -82 to -65 dBm at 10 % losses of frames of 1,000 bytes, based on a noise
    // figure of 10 dB and a margin of 5 dB (clause 17.3.10.2): 4, 5, 7, 9, 12, 16, 20 and 21 dB. Hard decisions over
    // white noise need 0.4 to 1.9 dB less.
    #[test]
    fn what_is_needed_is_what_the_standard_reckons_with() {
        let standard = [(6, 4.0), (9, 5.0), (12, 7.0), (18, 9.0), (24, 12.0), (36, 16.0), (48, 20.0), (54, 21.0)];
        for (mbps, expected) in standard {
            let mode = Coded::of_mbps(mbps).unwrap();
            let found = (0..400)
                .map(|tenth| f64::from(tenth) / 10.0)
                .find(|&db| 1.0 - (-8000.0 * mode.hazard(10f64.powf(db / 10.0))).exp() < 0.1)
                .unwrap();
            assert!((0.3..2.0).contains(&(expected - found)), "{mbps} Mbit/s: {found} dB, the standard {expected}");
        }
    }

    #[test]
    fn the_general_formula_is_that_of_each_modulation() {
        for tenth in -50..300 {
            let es_n0 = 10f64.powf(f64::from(tenth) / 100.0);
            for points in [4, 16, 64] {
                let (general, own) = (square_ber(points, es_n0), uncoded_ber(points, es_n0));
                assert!((general - own).abs() <= 1e-12 * own, "{points} points at {es_n0}: {general}, {own}");
            }
        }
        // The mean over 256 points, counted one by one: neighbours on a Gray-coded axis of 16 differ in one of four
        // bits.
        let far = 10f64.powf(3.0);
        let nearest = 15.0 / 16.0 * 2.0 * q((3.0 * far / 255.0).sqrt()) / 4.0;
        assert!((uncoded_ber(256, far) / nearest - 1.0).abs() < 0.01);
    }

    // Tables 19-23 and 21-25: minimum sensitivities in 20 MHz at 10 % losses of frames of 4,096 bytes, with the noise
    // figure and the margin of clause 17: 86 dB above them.
    #[test]
    fn what_an_mcs_needs_is_what_the_standard_reckons_with() {
        use crate::phy::mcs::{Format, Guard, Mcs, Width};
        let standard = [-82.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0, -64.0, -59.0];
        for (index, sensitivity) in standard.into_iter().enumerate() {
            let mcs = Mcs::new(Format::Vht, index as u8, 1, Width::Mhz20, Guard::Ns800).unwrap();
            let hazard = |db: f64| mcs.coded().hazard(10f64.powf(db / 10.0) * mcs.ratio_to_ofdm());
            let lost = |db: f64| 1.0 - (-8.0 * 4096.0 * hazard(db)).exp();
            let found = (0..400).map(|tenth| f64::from(tenth) / 10.0).find(|&db| lost(db) < 0.1).unwrap();
            let expected = sensitivity + 86.0;
            assert!((-1.0..2.5).contains(&(expected - found)), "MCS {index}: {found} dB, the standard {expected}");
        }
    }

    #[test]
    fn a_tie_is_lost_half_of_the_time() {
        assert!((Powers::new(0.1).pairwise(2) - (0.5 * 0.18 + 0.01)).abs() < 1e-15);
        assert!((Powers::new(0.1).pairwise(3) - (3.0 * 0.009 + 0.001)).abs() < 1e-15);
    }
}
