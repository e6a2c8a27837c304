//! The probability that a frame survives noise and interference: error rates per modulation as functions of the signal
//! to interference and noise ratio.
//!
//! | file | content |
//! |---|---|
//! | [`dsss`] | DBPSK, DQPSK and CCK: 1, 2, 5.5 and 11 Mbit/s |
//! | [`ofdm`] | the convolutional code over BPSK to 64-QAM: 6 to 54 Mbit/s |
//! | [`curve`] | tables of these, fast to look up and identical on every machine |
//!
//! Noise and interference are white and Gaussian. Ratios are of powers in the receiver's band: 22 MHz for DSSS, 20 MHz
//! for OFDM. Not modelled: frequency-selective channels, phase noise, synchronisation, soft-decision decoding; the
//! radio's `implementation_loss` may stand for them.
//!
//! Every model returns the *hazard* of a bit: minus the logarithm of the probability that the bit is correct. Hazards
//! of bits add up, even over pieces of a frame with different interference.

pub mod curve;
pub mod dsss;
pub mod ofdm;

pub use curve::{Curve, Mode};

/// Upper tail of the standard normal distribution.
pub(crate) fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2)
}

/// Returns the hazard of a bit in a symbol of `bits` bits with symbol error rate `error`, which is capped at that of
/// guessing.
fn hazard(error: f64, bits: f64) -> f64 {
    let guessing = 1.0 - libm::exp2(-bits);
    -libm::log1p(-error.min(guessing)) / bits
}
