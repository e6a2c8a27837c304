//! A histogram of delays in microseconds, whose quantiles have an error of at most 3 %.
//!
//! Each power of two is divided into 32 buckets, so the memory is fixed and recording costs a shift and an addition.

use fourhop_units::Dur;
use serde::Serialize;

/// Buckets per power of two.
const PARTS: u64 = 32;
/// Powers of two above the first 32 ns, which have one bucket each: up to 18 minutes.
const POWERS: usize = 35;

/// A histogram of lateness.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Box<[u64]>,
    count: u64,
    sum_ns: u128,
    max: Dur,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: vec![0; PARTS as usize * (POWERS + 1)].into(), count: 0, sum_ns: 0, max: Dur::ZERO }
    }
}

/// Summary of a histogram, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    /// Number of entries.
    pub count: u64,
    /// Mean of the entries.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Maximum.
    pub max: f64,
}

impl Lateness {
    /// Memory of a histogram, in bytes.
    pub const BYTES: usize = size_of::<Lateness>() + PARTS as usize * (POWERS + 1) * size_of::<u64>();

    /// Records an entry.
    pub fn record(&mut self, late: Dur) {
        let last = self.counts.len() - 1;
        self.counts[bucket(late.as_nanos()).min(last)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(late.as_nanos());
        self.max = self.max.max(late);
    }

    /// Number of entries.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The maximum.
    pub fn max(&self) -> Dur {
        self.max
    }

    /// A bound that `per_mille` of 1000 entries do not exceed; zero without entries.
    pub fn quantile(&self, per_mille: u64) -> Dur {
        let wanted = (u128::from(self.count) * u128::from(per_mille)).div_ceil(1000) as u64;
        let mut seen = 0;
        for (place, &count) in self.counts.iter().enumerate() {
            seen += count;
            if count > 0 && seen >= wanted {
                return Dur::from_nanos(upper_end(place)).min(self.max);
            }
        }
        Dur::ZERO
    }

    /// Summarizes the common quantiles.
    pub fn summary(&self) -> Summary {
        let micros = |dur: Dur| dur.as_nanos() as f64 / 1e3;
        Summary {
            count: self.count,
            mean: if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 / 1e3 },
            p50: micros(self.quantile(500)),
            p99: micros(self.quantile(990)),
            p999: micros(self.quantile(999)),
            max: micros(self.max),
        }
    }
}

fn bucket(nanos: u64) -> usize {
    if nanos < PARTS {
        return nanos as usize;
    }
    let power = nanos.ilog2() - PARTS.ilog2();
    let part = (nanos >> power) - PARTS;
    ((u64::from(power) + 1) * PARTS + part) as usize
}

/// The largest number of nanoseconds in a bucket.
fn upper_end(bucket: usize) -> u64 {
    let (power, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    match power.checked_sub(1) {
        None => part,
        Some(power) => ((PARTS + part + 1) << power) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_three_per_cent() {
        let mut lateness = Lateness::default();
        (1..=10_000u64).for_each(|n| lateness.record(Dur::from_micros(n)));
        for (per_mille, exact) in [(1, 10.0), (500, 5_000.0), (990, 9_900.0), (1000, 10_000.0)] {
            let found = lateness.quantile(per_mille).as_nanos() as f64 / 1e3;
            assert!((found / exact - 1.0).abs() < 0.032, "{per_mille}: {found}");
        }
        let summary = lateness.summary();
        assert_eq!((summary.count, summary.max), (10_000, 10_000.0));
        assert!((summary.mean - 5_000.5).abs() < 1e-6);
    }

    #[test]
    fn every_bucket_ends_where_the_next_begins() {
        for place in 0..PARTS as usize * POWERS {
            assert_eq!((bucket(upper_end(place)), bucket(upper_end(place) + 1)), (place, place + 1));
        }
    }

    #[test]
    fn nothing_and_too_much_are_no_trouble() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.summary(), Summary::default());
        lateness.record(Dur::from_secs(100_000));
        assert_eq!(lateness.max(), Dur::from_secs(100_000));
        assert!(lateness.quantile(500) > Dur::from_secs(1_000));
    }

    #[test]
    fn a_quantile_is_the_least_that_so_many_entries_do_not_exceed() {
        let mut lateness = Lateness::default();
        assert_eq!((lateness.count(), lateness.max(), lateness.quantile(1_000)), (0, Dur::ZERO, Dur::ZERO));
        // One bucket each: short times are exact.
        (1..=4).for_each(|n| lateness.record(Dur::from_nanos(n)));
        let found = [1, 250, 251, 500, 750, 751, 1_000].map(|per_mille| lateness.quantile(per_mille).as_nanos());
        assert_eq!(found, [1, 1, 2, 2, 3, 4, 4]);
        assert_eq!((lateness.count(), lateness.max()), (4, Dur::from_nanos(4)));
        let summary = lateness.summary();
        assert_eq!((summary.p50, summary.p99, summary.p999, summary.max), (0.002, 0.004, 0.004, 0.004));
        assert!((summary.mean - 0.0025).abs() < 1e-12);
    }
}
