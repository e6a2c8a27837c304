//! Delivery as measured by the stack, for algorithms that model the path: rate samples and lost segments.
//!
//! Source: draft-ietf-ccwg-bbr-05, section 4.1 (before: draft-cheng-iccrg-delivery-rate-estimation). Amounts are in
//! segments.

use fourhop_units::Dur;

/// A rate in segments per second with 16 binary digits of fraction, at most 2^20 segments per second (12 Gbit/s):
/// multiplied by a round trip of [`crate::MAX_SAMPLE`] in microseconds it fits in 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Bandwidth(u64);

impl Bandwidth {
    /// The largest rate; as a bound it has no effect.
    pub const MAX: Bandwidth = Bandwidth(1 << 36);

    /// The rate of `segments` per `interval`; zero if no time passed.
    pub fn over(segments: u32, interval: Dur) -> Bandwidth {
        let nanos = interval.as_nanos();
        if nanos == 0 {
            return Bandwidth(0);
        }
        // 17 digits of segments, 16 of fraction and 30 of nanoseconds per second make 63.
        let scaled = (u64::from(segments.min(1 << 17)) << 16) * 1_000_000_000;
        Bandwidth((scaled / nanos).min(Bandwidth::MAX.0))
    }

    /// Whether the rate is zero.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns `percent` per cent of the rate.
    pub fn percent(self, percent: u32) -> Bandwidth {
        Bandwidth((self.0 * u64::from(percent) / 100).min(Bandwidth::MAX.0))
    }

    /// Returns the rate moved by `part` of `whole` towards another; both below 2^27.
    pub fn towards(self, other: Bandwidth, part: u64, whole: u64) -> Bandwidth {
        let moved = self.0.abs_diff(other.0) * part / whole.max(1);
        Bandwidth(if other.0 > self.0 { self.0 + moved } else { self.0 - moved })
    }

    /// Segments in `time`, times `gain` per cent, rounded up.
    pub fn segments_in(self, time: Dur, gain: u32) -> u32 {
        let fixed = self.fixed_in(time) * u64::from(gain) / 100;
        u32::try_from(fixed.div_ceil(1 << 16)).unwrap_or(u32::MAX)
    }

    /// Segments in `time`, with 16 binary digits of fraction.
    pub fn fixed_in(self, time: Dur) -> u64 {
        self.0 * (time.min(crate::MAX_SAMPLE).as_nanos() / 1_000) / 1_000_000
    }

    /// The time between two segments at `percent` per cent of the rate, between a nanosecond and [`crate::MAX_SAMPLE`].
    pub fn interval(self, percent: u32) -> Dur {
        let rate = (self.0 * u64::from(percent)).max(1);
        let nanos = (1_000_000_000 << 16) * 100 / rate;
        Dur::from_nanos(nanos.max(1)).min(crate::MAX_SAMPLE)
    }

    /// Segments per second, rounded down.
    pub fn per_second(self) -> u64 {
        self.0 >> 16
    }
}

/// The rate sample of an acknowledgement: RS of section 4.1.2.1.3, based on the most recently sent segment that it
/// reports.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RateSample {
    /// Whether it reports any delivery. Only then are `prior_delivered` and the fields that follow meaningful.
    pub has_data: bool,
    /// RS.delivery_rate; zero if the interval is shorter than any round trip so far.
    pub rate: Bandwidth,
    /// RS.delivered: segments delivered since that segment was sent.
    pub delivered: u32,
    /// RS.prior_delivered: C.delivered when that segment was sent.
    pub prior_delivered: u64,
    /// RS.is_app_limited: whether the application had nothing more to send then.
    pub is_app_limited: bool,
    /// RS.tx_in_flight: segments in flight just after that segment was sent.
    pub tx_in_flight: u32,
    /// RS.lost: segments marked as lost since that segment was sent.
    pub lost: u32,
    /// RS.newly_acked: segments delivered by this acknowledgement.
    pub newly_acked: u32,
    /// Segments marked as lost at this acknowledgement.
    pub newly_lost: u32,
    /// C.delivered: total delivered on this connection.
    pub total_delivered: u64,
    /// C.inflight, after this acknowledgement.
    pub in_flight: u32,
    /// RS.rtt: round trip of that segment.
    pub rtt: Option<Dur>,
    /// C.is_cwnd_limited: whether the window limited the data in flight.
    pub cwnd_limited: bool,
}

/// A segment that was marked as lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// Segments in flight just after it was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments marked as lost since it was sent, itself included.
    pub lost: u32,
    /// Whether the application had nothing more to send when it was sent.
    pub is_app_limited: bool,
    /// C.delivered.
    pub total_delivered: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 250 segments in 3 s are 83.3 per second: 8.3 in 100 ms, one every 12 ms.
    #[test]
    fn a_rate_becomes_segments_and_intervals() {
        let rate = Bandwidth::over(250, Dur::from_secs(3));
        assert_eq!(rate.per_second(), 83);
        assert_eq!(rate.segments_in(Dur::from_millis(100), 100), 9, "rounded up");
        assert_eq!(rate.segments_in(Dur::from_millis(100), 200), 17);
        let micros = |percent| rate.interval(percent).as_nanos() / 1_000;
        assert_eq!((micros(100), micros(277)), (12_000, 4_332));
        assert_eq!(
            (Bandwidth::over(5, Dur::ZERO), Bandwidth::default().interval(100)),
            (Bandwidth(0), crate::MAX_SAMPLE)
        );
    }

    #[test]
    fn extremes_stay_within_64_bits() {
        assert_eq!(Bandwidth::over(u32::MAX, Dur::from_nanos(1)), Bandwidth::MAX);
        assert_eq!(Bandwidth::MAX.percent(277), Bandwidth::MAX);
        assert_eq!(Bandwidth::MAX.segments_in(Dur::from_nanos(u64::MAX), 277), (64 << 20) / 100 * 277 + 178);
        assert_eq!(Bandwidth::MAX.interval(277).as_nanos(), 344);
        assert_eq!(Bandwidth::over(1, Dur::from_nanos(u64::MAX)), Bandwidth(0));
    }
}
