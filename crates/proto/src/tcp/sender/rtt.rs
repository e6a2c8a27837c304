//! Round-trip estimation and the retransmission timeout: RFC 6298, with ns-2.35's coarse clock as an option.
//!
//! Both use the same fixed-point arithmetic (SRTT scaled by 8, RTTVAR by 4, Jacobson 1988) with different ticks: 1 ns
//! stands for a fine-grained clock, and ns-2.35 counts 10 ms ticks.

use crate::tcp::config::Config;
use crate::tcp::position::Pos;
use fourhop_units::{Dur, Time};

/// Estimator of one connection.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct RttEstimator {
    tick: Dur,
    /// Phase of the coarse clock, below `tick`.
    phase: Dur,
    granularity: Dur,
    rto_min: Dur,
    rto_max: Dur,
    forget_beyond: Option<u32>,
    /// SRTT in eighths of a tick; zero before the first sample.
    srtt_x8: i64,
    /// RTTVAR in quarters of a tick.
    rttvar_x4: i64,
    /// SRTT + 4 RTTVAR as of the last sample; before that, the initial value.
    rto: Dur,
    /// Factor 2^n of exponential back-off.
    backoff: u32,
    min_rtt: Option<Dur>,
    /// Number and sum of the samples, exact: not rounded to the clock's tick.
    samples: u64,
    sum: Dur,
    /// The segment being timed: where it ends and when it left.
    timed: Option<(Pos, Time)>,
}

impl RttEstimator {
    /// `phase` is the phase of the coarse clock; it is taken modulo the tick.
    pub(in crate::tcp) fn new(config: &Config, phase: Dur) -> RttEstimator {
        RttEstimator {
            tick: config.rtt_tick,
            phase: Dur::from_nanos(phase.as_nanos() % config.rtt_tick.as_nanos()),
            granularity: config.rto_granularity,
            rto_min: config.rto_min,
            rto_max: config.rto_max,
            forget_beyond: config.forget_srtt_beyond_backoff,
            srtt_x8: 0,
            rttvar_x4: 0,
            rto: config.rto_initial,
            backoff: 1,
            min_rtt: None,
            samples: 0,
            sum: Dur::ZERO,
            timed: None,
        }
    }

    /// Starts timing the segment that ends at `end`, unless one is being timed.
    pub(in crate::tcp) fn start_timing(&mut self, end: Pos, now: Time) {
        self.timed.get_or_insert((end, now));
    }

    /// Stops timing the segment: an acknowledgement could not be attributed to one of its copies (Karn).
    pub(in crate::tcp) fn cancel_timing(&mut self) {
        self.timed = None;
    }

    /// Takes an acknowledgement of everything up to `ack`. If it covers the timed segment, returns its round trip and
    /// ends the back-off (RFC 6298 section 5.7: a segment that was not retransmitted has been acknowledged).
    pub(in crate::tcp) fn finish_timing(&mut self, ack: Pos, now: Time) -> Option<Dur> {
        let (_, sent) = self.timed.take_if(|(end, _)| *end <= ack)?;
        self.backoff = 1;
        Some(now - sent)
    }

    /// Takes a round trip that ended at `now` (RFC 6298 section 2).
    pub(in crate::tcp) fn sample(&mut self, rtt: Dur, now: Time) {
        self.backoff = 1;
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
        self.sum += rtt;
        // A coarse clock counts the ticks between departure and arrival, so the rounding depends on where in a tick the
        // segment left.
        let sent = (now.as_nanos() + self.phase.as_nanos()).saturating_sub(rtt.as_nanos());
        let into_tick = Dur::from_nanos(sent % self.tick.as_nanos());
        let ticks = ((rtt + into_tick).div_floor(self.tick) as i64).max(1);
        if self.srtt_x8 == 0 {
            self.srtt_x8 = ticks << 3;
            self.rttvar_x4 = ticks << 1;
        } else {
            let delta = ticks - (self.srtt_x8 >> 3);
            self.srtt_x8 = (self.srtt_x8 + delta).max(1);
            let delta = delta.abs() - (self.rttvar_x4 >> 2);
            self.rttvar_x4 = (self.rttvar_x4 + delta).max(1);
        }
        // RFC 6298 equation 2.3: RTO = SRTT + max(G, 4 RTTVAR); the variance is stored four-fold already.
        let spread = self.tick.saturating_mul(self.rttvar_x4 as u64).max(self.granularity);
        self.rto = if self.tick.as_nanos() == 1 {
            Dur::from_nanos((self.srtt_x8 >> 3) as u64) + spread
        } else {
            self.tick * (((self.rttvar_x4 << 3) + self.srtt_x8) >> 3) as u64
        };
    }

    /// Doubles the timeout after an expiry (RFC 6298 section 5.5).
    pub(in crate::tcp) fn back_off(&mut self) {
        self.timed = None;
        self.backoff = self.backoff.saturating_mul(2).min(1 << 16);
        if self.forget_beyond.is_some_and(|limit| self.backoff > limit) {
            self.rttvar_x4 += self.srtt_x8 >> 3;
            self.srtt_x8 = 0;
        }
    }

    /// Ends the back-off once something new is acknowledged.
    pub(in crate::tcp) fn end_back_off(&mut self) {
        self.backoff = 1;
    }

    /// RFC 6298 section 5.7: after a lost SYN the timeout starts at 3 s or more.
    pub(in crate::tcp) fn syn_was_lost(&mut self) {
        self.backoff = 1;
        if self.srtt_x8 == 0 {
            self.rto = self.rto.max(Dur::from_secs(3));
        }
    }

    /// Timeout with back-off, to which the timer is set.
    pub(in crate::tcp) fn rto(&self) -> Dur {
        self.base_rto().saturating_mul(u64::from(self.backoff)).min(self.rto_max)
    }

    /// Timeout without back-off. The minimum applies before the factor.
    pub(in crate::tcp) fn base_rto(&self) -> Dur {
        self.rto.max(self.rto_min).min(self.rto_max)
    }

    /// Smoothed round trip, rounded down to the clock's tick.
    pub(in crate::tcp) fn srtt(&self) -> Option<Dur> {
        (self.srtt_x8 > 0).then(|| Dur::from_nanos(self.tick.as_nanos() * self.srtt_x8 as u64 / 8))
    }

    /// Number of samples, and their sum.
    pub(in crate::tcp) fn samples(&self) -> (u64, Dur) {
        (self.samples, self.sum)
    }

    /// Smallest sample.
    pub(in crate::tcp) fn min_rtt(&self) -> Option<Dur> {
        self.min_rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Dur = Dur::from_millis;

    /// RFC 6298 sections 2.2 and 2.3 with R = 100 ms, then R' = 200 ms, computed by hand.
    #[test]
    fn estimates_follow_rfc_6298() {
        let config = Config { rto_min: MS(1), ..Config::standard() };
        let mut rtt = RttEstimator::new(&config, Dur::ZERO);
        assert_eq!((rtt.rto(), rtt.samples()), (Dur::from_secs(1), (0, Dur::ZERO)));
        rtt.sample(MS(100), Time::from_secs(1));
        assert_eq!(rtt.srtt(), Some(MS(100)));
        assert_eq!(rtt.rto(), MS(300));
        rtt.sample(MS(200), Time::from_secs(2));
        // RTTVAR = 3/4 50 + 1/4 100 = 62.5 ms, SRTT = 7/8 100 + 1/8 200 = 112.5 ms.
        assert_eq!(rtt.srtt(), Some(Dur::from_micros(112_500)));
        assert_eq!(rtt.rto(), Dur::from_micros(362_500));
        assert_eq!((rtt.min_rtt(), rtt.samples()), (Some(MS(100)), (2, MS(300))));
    }

    /// RFC 6298 sections 5.5 to 5.7: doubling up to the maximum, until a new sample.
    #[test]
    fn back_off_doubles_to_the_maximum_and_a_sample_ends_it() {
        let mut rtt = RttEstimator::new(&Config::standard(), Dur::ZERO);
        rtt.sample(MS(100), Time::from_secs(1));
        let mut expected = Dur::from_secs(1);
        for _ in 0..8 {
            assert_eq!(rtt.rto(), expected.min(Dur::from_secs(60)));
            rtt.back_off();
            expected = expected * 2;
        }
        rtt.sample(MS(100), Time::from_secs(9));
        assert_eq!(rtt.rto(), Dur::from_secs(1));
    }

    /// ns-2.35: 96 ms that begin 5 ms into a tick count as 10 ticks, at the start of a tick as 9; the initial timeout
    /// is 3 s and the minimum 0.2 s.
    #[test]
    fn the_coarse_clock_counts_ticks_between_departure_and_arrival() {
        let mut rtt = RttEstimator::new(&Config::ns2(), MS(5));
        assert_eq!(rtt.rto(), Dur::from_secs(3));
        rtt.sample(MS(96), Time::from_millis(1_096));
        assert_eq!(rtt.srtt(), Some(MS(100)));
        assert_eq!(rtt.rto(), MS(300));
        let mut rtt = RttEstimator::new(&Config::ns2(), Dur::ZERO);
        rtt.sample(MS(96), Time::from_millis(1_096));
        assert_eq!(rtt.srtt(), Some(MS(90)));
        let mut rtt = RttEstimator::new(&Config::ns2(), Dur::ZERO);
        rtt.sample(MS(3), Time::from_millis(1_003));
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(MS(10)), MS(200)));
        assert_eq!(rtt.samples(), (1, MS(3)));
    }

    /// ns-2.35: beyond a factor of 8 the smoothed value moves into the variance and the next sample starts afresh.
    #[test]
    fn a_long_back_off_forgets_the_smoothed_value() {
        let mut rtt = RttEstimator::new(&Config::ns2(), Dur::ZERO);
        rtt.sample(MS(100), Time::from_millis(1_000));
        (0..3).for_each(|_| rtt.back_off());
        assert!(rtt.srtt().is_some());
        rtt.back_off();
        assert_eq!(rtt.srtt(), None);
        assert_eq!(rtt.rto(), MS(300 * 16));
        rtt.sample(MS(50), Time::from_millis(9_000));
        assert_eq!(rtt.srtt(), Some(MS(50)));
    }

    /// Karn: a cancelled timing gives no sample and leaves the back-off.
    #[test]
    fn an_ambiguous_segment_gives_no_sample() {
        let mut rtt = RttEstimator::new(&Config::standard(), Dur::ZERO);
        rtt.start_timing(Pos::FIRST + 100, Time::ZERO);
        rtt.back_off();
        assert_eq!(rtt.finish_timing(Pos::FIRST + 100, Time::from_secs(1)), None);
        assert_eq!(rtt.rto(), Dur::from_secs(2));
        rtt.start_timing(Pos::FIRST + 200, Time::from_secs(1));
        assert_eq!(rtt.finish_timing(Pos::FIRST + 100, Time::from_secs(2)), None);
        assert_eq!(rtt.finish_timing(Pos::FIRST + 200, Time::from_secs(3)), Some(Dur::from_secs(2)));
        assert_eq!(rtt.rto(), Dur::from_secs(1));
    }
}
