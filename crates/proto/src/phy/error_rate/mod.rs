//! The probability that a frame survives noise and interference: error rates by modulation, as functions of the signal
//! to interference and noise ratio.
//!
//! | file | content |
//! |---|---|
//! | [`dsss`] | DBPSK, DQPSK and CCK: 1, 2, 5.5 and 11 Mbit/s |
//! | [`ofdm`] | the convolutional code over BPSK to 64-QAM: 6 to 54 Mbit/s |
//! | [`curve`] | tables of these, cheap to ask and the same on every machine |
//!
//! Noise and interference are white and Gaussian. Ratios are those of powers in the band of the receiver: 22 MHz for
//! DSSS, 20 MHz for OFDM. Left out: frequency-selective channels, phase noise, synchronisation, soft decisions of the
//! decoder; `implementation_loss` of the radio may stand for them.
//!
//! Every model returns the *hazard* of a bit: minus the logarithm of the probability that the bit is correct. Hazards
//! of bits add up, even over pieces of a frame with different interference.

pub mod curve;
pub mod dsss;
pub mod ofdm;

pub use curve::{Curve, Mode};

/// The upper tail of the normal distribution.
pub(crate) fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2)
}

/// Hazard of a bit in a symbol of `bits` bits with symbol error rate `error`, which cannot exceed that of guessing.
fn hazard(error: f64, bits: f64) -> f64 {
    let guessing = 1.0 - libm::exp2(-bits);
    -libm::log1p(-error.min(guessing)) / bits
}
