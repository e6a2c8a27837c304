//! Computes the time between two segments from round trips.

use super::delay::{self, Estimator};
use super::variation::{self, Spread, Variation};
use super::{DelaySource, MAX_SAMPLE, Params};
use crate::{Hint, Measurements};
use fourhop_units::Dur;

/// The n-hop delay, its average, the variation, and from them the interval. [`Params`] are passed with each sample, so
/// that many of these can share one set.
#[derive(Clone, Debug)]
pub struct Pace {
    estimator: Estimator,
    variation: Variation,
    /// Smoothed n-hop delay in ns, zero before the first sample.
    average: u64,
    measured: Measurements,
}

impl Pace {
    /// A state without samples. Only `history` of `params` matters here.
    pub fn new(params: &Params) -> Pace {
        Pace {
            estimator: Estimator::new(),
            variation: Variation::new(params.history),
            average: 0,
            measured: Measurements::default(),
        }
    }

    /// Takes hints about the path.
    pub fn take_hint(&mut self, hint: Hint) {
        self.estimator.take_hint(hint);
    }

    /// Takes a round trip over the radio hops, of a segment with `mss` bytes of payload. Returns the interval that
    /// follows from it and the earlier ones; `None` until one has given a delay.
    pub fn sample(&mut self, params: &Params, mss: u32, rtt: Dur) -> Option<Dur> {
        let rtt = rtt.min(MAX_SAMPLE);
        self.measured.rtt = Some(rtt);
        let estimate = self.estimator.n_hop_delay(params, mss, rtt);
        let delay = match params.delay_source {
            DelaySource::RoundTrip => estimate,
            DelaySource::Clocks => self.estimator.measured_delay(params),
        };
        let delay = delay.filter(|&delay| params.delay_limit.is_none_or(|limit| delay < limit));
        match (params.spread, delay) {
            (Spread::DeviationOfRoundTrips, _) => self.variation.push(rtt),
            (Spread::AbsoluteDeviationOfDelays, Some(delay)) => self.variation.push(delay),
            (Spread::AbsoluteDeviationOfDelays, None) => {}
        }
        let variation = self.variation.coefficient(params.spread);
        self.measured.variation = Some(variation);
        if let Some(delay) = delay {
            self.average = match self.average {
                0 => delay.as_nanos(),
                old => delay::average(old, delay.as_nanos(), params.alpha),
            };
        }
        if self.average == 0 {
            return None;
        }
        self.measured.delay = Some(Dur::from_nanos(self.average));
        Some(interval(self.average, variation))
    }

    /// Heap memory in bytes: the samples.
    pub fn memory(&self) -> usize {
        self.variation.memory()
    }

    /// Measurements so far.
    pub fn measurements(&self) -> Measurements {
        self.measured
    }
}

/// Section 4.4: the smoothed delay times 1 + 2 cov; `variation` in units of 1/[`variation::ONE`].
fn interval(average: u64, variation: u32) -> Dur {
    // Below 2^36 ns times 2 sqrt(N) in 2^-20: below 2^62.
    Dur::from_nanos((average + ((average * 2 * u64::from(variation)) >> variation::BITS)).max(1))
}
