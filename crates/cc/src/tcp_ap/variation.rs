//! The variation of the last N samples as a share of their mean.

use fourhop_units::Dur;

/// Fractional bits of a coefficient.
pub const BITS: u32 = 20;
/// A coefficient of one.
pub const ONE: u32 = 1 << BITS;
/// Largest N; the paper goes up to 200 (Figure 9).
pub const MAX_HISTORY: u32 = 1_000;

/// Measure of variation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Sample standard deviation of the round trips over their mean (the paper, section 4.2).
    DeviationOfRoundTrips,
    /// Mean absolute deviation of the n-hop delays over their mean (the authors' code).
    AbsoluteDeviationOfDelays,
}

/// The last N samples.
#[derive(Clone, Debug)]
pub struct Variation {
    /// A ring, in ns; each at most [`super::MAX_SAMPLE`], 2^36 ns.
    samples: Vec<u64>,
    most: usize,
    oldest: usize,
    sum: u64,
}

impl Variation {
    /// Covers the last `history` samples, 1 to [`MAX_HISTORY`].
    pub fn new(history: u32) -> Variation {
        let most = history.clamp(1, MAX_HISTORY) as usize;
        Variation { samples: Vec::new(), most, oldest: 0, sum: 0 }
    }

    /// Adds a sample; beyond N it replaces the oldest.
    pub fn push(&mut self, sample: Dur) {
        let sample = sample.min(super::MAX_SAMPLE).as_nanos();
        self.sum += sample;
        if self.samples.len() < self.most {
            self.samples.push(sample);
        } else {
            self.sum -= std::mem::replace(&mut self.samples[self.oldest], sample);
            self.oldest = (self.oldest + 1) % self.most;
        }
    }

    /// Bytes that the samples take.
    pub fn memory(&self) -> usize {
        self.samples.capacity() * size_of::<u64>()
    }

    /// Deviation over mean in units of 1/[`ONE`]; zero for fewer than two samples. At most sqrt(N).
    pub fn coefficient(&self, spread: Spread) -> u32 {
        let count = self.samples.len() as u64;
        let mean = self.sum / count.max(1);
        if count < 2 || mean == 0 {
            return 0;
        }
        let deviations = || self.samples.iter().map(|&sample| sample.abs_diff(mean));
        let deviation = match spread {
            Spread::AbsoluteDeviationOfDelays => deviations().sum::<u64>() / count,
            Spread::DeviationOfRoundTrips => {
                // Squares of at most 27 bits, 1000 of them, fit in 64; the loss of precision is below 2^-27 of the
                // largest.
                let largest = deviations().max().unwrap_or(0);
                let shift = (u64::BITS - largest.leading_zeros()).saturating_sub(27);
                let squares: u64 = deviations().map(|d| (d >> shift) * (d >> shift)).sum();
                (squares / (count - 1)).isqrt() << shift
            }
        };
        // 2^36 sqrt(1000) 2^20 is below 2^61.
        u32::try_from((deviation << BITS) / mean).unwrap_or(u32::MAX)
    }
}
