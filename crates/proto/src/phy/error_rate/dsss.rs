//! Error rates of DSSS and CCK (IEEE Std 802.11-2020 clauses 15 and 16) over additive white Gaussian noise.
//!
//! `sinr` is the ratio of powers in the 22 MHz of a channel; a chip lasts 1/11 us, so its energy is twice the ratio
//! times the noise density.
//!
//! - 1 Mbit/s, DBPSK: Proakis, Digital Communications, 4th edition, equation 5.2-69.
//! - 2 Mbit/s, DQPSK with Gray coding: equation 5.2-70, whose Marcum function is written as the integral over one
//!   period of Simon and Alouini, Digital Communication over Fading Channels, section 8.2.5.
//! - 5.5 and 11 Mbit/s, CCK received coherently by maximum likelihood: the union bound over all other of the 16 or 256
//!   codewords, whose distances follow from clause 16.3.6.5 (a test lists them). Below 1 % symbol errors the bound is
//!   tight; above that it overestimates the errors.
//!
//! Not modelled: errors in the symbol after a phase error (the frame is lost anyway), and the implementation loss of
//! real receivers.

use super::{hazard, q};

/// Bandwidth of the noise in Hz.
const BANDWIDTH: f64 = 22e6;
/// Chips per second.
const CHIP_RATE: f64 = 11e6;

/// Bit error rate of DBPSK at a ratio of bit energy to noise density.
pub fn dbpsk_ber(eb_n0: f64) -> f64 {
    0.5 * libm::exp(-eb_n0)
}

/// Bit error rate of Gray-coded DQPSK at a ratio of bit energy to noise density.
pub fn dqpsk_ber(eb_n0: f64) -> f64 {
    // The integrand is periodic and smooth: the trapezoidal rule converges faster than any power of the step.
    const POINTS: usize = 64;
    let half = core::f64::consts::FRAC_1_SQRT_2;
    let half_b_squared = eb_n0 * (1.0 + half);
    let zeta = ((1.0 - half) / (1.0 + half)).sqrt();
    let sum: f64 = (0..POINTS)
        .map(|k| {
            let sine = libm::sin(2.0 * core::f64::consts::PI * k as f64 / POINTS as f64);
            let distance = 1.0 + 2.0 * zeta * sine + zeta * zeta;
            (1.0 - zeta * zeta) / distance * libm::exp(-half_b_squared * distance)
        })
        .sum();
    sum / (2.0 * POINTS as f64)
}

/// Distance spectrum of 11 Mbit/s: squared distance in chip energies, and how many of the other 255 codewords are at
/// it.
const CCK_11: [(f64, f64); 6] = [(8.0, 24.0), (12.0, 16.0), (16.0, 174.0), (20.0, 16.0), (24.0, 24.0), (32.0, 1.0)];
/// The same for the other 15 codewords of 5.5 Mbit/s.
const CCK_5_5: [(f64, f64); 2] = [(16.0, 14.0), (32.0, 1.0)];

/// Symbol error rate of CCK with `bits` = 4 or 8 per symbol, at a ratio of chip energy to noise density.
pub fn cck_symbol_error(bits: u32, ec_n0: f64) -> f64 {
    let spectrum: &[(f64, f64)] = if bits == 8 { &CCK_11 } else { &CCK_5_5 };
    // Two codewords at distance d are confused with probability Q(d / sqrt(2 N0)).
    spectrum.iter().map(|&(distance, count)| count * q((distance * ec_n0 / 2.0).sqrt())).sum()
}

/// Hazard of a bit at 1 Mbit/s.
pub fn hazard_1(sinr: f64) -> f64 {
    hazard(dbpsk_ber(sinr * BANDWIDTH / 1e6), 1.0)
}

/// Hazard of a bit at 2 Mbit/s.
pub fn hazard_2(sinr: f64) -> f64 {
    hazard(dqpsk_ber(sinr * BANDWIDTH / 2e6), 1.0)
}

/// Hazard of a bit at 5.5 Mbit/s.
pub fn hazard_5_5(sinr: f64) -> f64 {
    hazard(cck_symbol_error(4, sinr * BANDWIDTH / CHIP_RATE), 4.0)
}

/// Hazard of a bit at 11 Mbit/s.
pub fn hazard_11(sinr: f64) -> f64 {
    hazard(cck_symbol_error(8, sinr * BANDWIDTH / CHIP_RATE), 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::{NodeId, Purpose, Stream};

    /// An 8-chip codeword (clause 16.3.6.5) of four phases.
    fn codeword([a, b, c, d]: [f64; 4]) -> [(f64, f64); 8] {
        let turn = core::f64::consts::PI;
        let phases = [a + b + c + d, a + c + d, a + b + d, a + d + turn, a + b + c, a + c, a + b + turn, a];
        phases.map(|phase| (phase.cos(), phase.sin()))
    }

    fn codewords(bits: u32) -> Vec<[(f64, f64); 8]> {
        let quarter = |k: u32| f64::from(k) * core::f64::consts::FRAC_PI_2;
        (0..1u32 << bits)
            .map(|word| {
                let [a, b, c, d] = [word & 3, word >> 2 & 3, word >> 4 & 3, word >> 6 & 3];
                // 5.5 Mbit/s: one bit each for the second and the fourth phase; the third is 0.
                codeword(if bits == 8 {
                    [a, b, c, d].map(quarter)
                } else {
                    [quarter(a), quarter(2 * (b & 1) + 1), 0.0, quarter(2 * (b >> 1))]
                })
            })
            .collect()
    }

    fn squared_distance(x: &[(f64, f64); 8], y: &[(f64, f64); 8]) -> f64 {
        x.iter().zip(y).map(|(p, q)| (p.0 - q.0).powi(2) + (p.1 - q.1).powi(2)).sum()
    }

    #[test]
    fn the_distances_of_cck_are_those_of_its_codewords() {
        for (bits, spectrum) in [(8, &CCK_11[..]), (4, &CCK_5_5[..])] {
            let words = codewords(bits);
            for word in &words {
                for &(distance, count) in spectrum {
                    let found = words.iter().filter(|o| (squared_distance(word, o) - distance).abs() < 1e-9).count();
                    assert_eq!(found as f64, count, "{bits} bits at {distance}");
                }
            }
            assert_eq!(spectrum.iter().map(|&(_, count)| count).sum::<f64>(), f64::from((1 << bits) - 1));
        }
    }

    /// Draws two normally distributed numbers (Box and Muller 1958).
    fn normal(stream: &mut Stream) -> (f64, f64) {
        let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
        let angle = 2.0 * core::f64::consts::PI * stream.unit();
        (radius * angle.cos(), radius * angle.sin())
    }

    // The receiver picks the codeword with the highest correlation: maximum likelihood in a Monte Carlo simulation. At
    // these ratios the symbol error rate is 0.2 to 1 %; four standard deviations of the count are allowed, and the
    // bound may exceed the true rate by a seventh.
    #[test]
    fn cck_is_received_as_often_as_by_trial() {
        for (bits, ec_n0_db) in [(8u32, 4.6f64), (8, 5.2), (4, 1.0)] {
            let ec_n0 = 10f64.powf(ec_n0_db / 10.0);
            let words = codewords(bits);
            let mut stream = Stream::new(11, NodeId(bits), Purpose::Channel);
            let deviation = (0.5 / ec_n0).sqrt();
            let trials = 20_000;
            let mut errors = 0;
            for trial in 0..trials {
                let sent = trial % words.len();
                let heard = words[sent].map(|(re, im)| {
                    let (x, y) = normal(&mut stream);
                    (re + deviation * x, im + deviation * y)
                });
                let likeness = |word: &[(f64, f64); 8]| -> f64 {
                    word.iter().zip(&heard).map(|(c, h)| c.0 * h.0 + c.1 * h.1).sum()
                };
                let sent_likeness = likeness(&words[sent]);
                errors += usize::from(words.iter().enumerate().any(|(k, w)| k != sent && likeness(w) > sent_likeness));
            }
            let expected = cck_symbol_error(bits, ec_n0);
            let (found, sigma) =
                (errors as f64 / f64::from(trials as u32), (expected / f64::from(trials as u32)).sqrt());
            assert!(found < expected + 4.0 * sigma, "{bits} bits at {ec_n0_db} dB: {found}, bound {expected}");
            assert!(found > expected / 1.17 - 4.0 * sigma, "{bits} bits at {ec_n0_db} dB: {found}, bound {expected}");
        }
    }

    /// Modified Bessel function of the first kind.
    fn bessel_i(order: u32, x: f64) -> f64 {
        let mut term = (1..=order).fold(1.0, |product, k| product * x / 2.0 / f64::from(k));
        let mut sum = 0.0;
        for k in 1..200u32 {
            sum += term;
            term *= x * x / 4.0 / f64::from(k) / f64::from(k + order);
        }
        sum
    }

    // Proakis, equation 5.2-70: Q1(a, b) - I0(a b) exp(-(a^2 + b^2) / 2) / 2, here with the series of the Marcum
    // function.
    #[test]
    fn dqpsk_agrees_with_marcums_function() {
        for db in [-3.0, 0.0, 3.0, 6.0, 9.0, 12.0] {
            let eb_n0 = 10f64.powf(db / 10.0);
            let half = core::f64::consts::FRAC_1_SQRT_2;
            let (a, b) = ((2.0 * eb_n0 * (1.0 - half)).sqrt(), (2.0 * eb_n0 * (1.0 + half)).sqrt());
            let envelope = (-(a * a + b * b) / 2.0).exp();
            let series: f64 = (0..60).map(|k| (a / b).powi(k as i32) * bessel_i(k, a * b)).sum();
            let expected = envelope * (series - 0.5 * bessel_i(0, a * b));
            assert!((dqpsk_ber(eb_n0) / expected - 1.0).abs() < 1e-9, "{db} dB: {} {expected}", dqpsk_ber(eb_n0));
        }
    }

    // Textbook values: DBPSK 1e-5 at 10.34 dB, DQPSK 1e-5 at 11.9 dB, 2.3 dB worse than QPSK.
    #[test]
    fn differential_phase_shift_keying_at_1e_5() {
        let at = |db: f64| 10f64.powf(db / 10.0);
        assert!((dbpsk_ber(at(10.34)).log10() + 5.0).abs() < 0.02);
        assert!((dqpsk_ber(at(11.9)).log10() + 5.0).abs() < 0.1, "{}", dqpsk_ber(at(11.9)));
    }

    // The required ratio grows with the rate, except at 5.5 Mbit/s, which CCK carries as far as DQPSK carries 2.
    #[test]
    fn the_faster_the_more_is_needed() {
        let needed = |hazard: fn(f64) -> f64| {
            // 8 % losses of frames of 1,024 bytes, by which clause 16.3.8.2 defines sensitivity.
            (-100..200).map(|tenth| f64::from(tenth) / 10.0).find(|&db| hazard(10f64.powf(db / 10.0)) * 8192.0 < 0.083)
        };
        let needed = [hazard_1, hazard_2, hazard_5_5, hazard_11].map(|h| needed(h).unwrap());
        for (found, expected) in needed.into_iter().zip([-3.1, 1.5, 1.1, 4.2]) {
            assert!((found - expected).abs() < 0.25, "{needed:?}");
        }
    }

    #[test]
    fn nothing_is_worse_than_guessing() {
        for hazard in [hazard_1, hazard_2, hazard_5_5, hazard_11] {
            assert!(hazard(1e-9) <= core::f64::consts::LN_2 + 1e-12 && hazard(1e-9) > 0.6);
            assert!(hazard(1e3) < 1e-15);
        }
    }
}
