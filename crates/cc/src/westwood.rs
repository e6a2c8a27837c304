//! Westwood+: the slow-start threshold after a loss is the bandwidth estimated from ACKs times the smallest round trip.
//!
//! Source: Grieco, Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion
//! Control", ACM CCR 34(2), 2004; the filter and its timing are those of Linux's `tcp_westwood`. Between losses the
//! window grows as in Reno.
//!
//! Deviations: bandwidth is counted only at cumulative ACKs, so data that waits behind a hole counts when the hole
//! closes (Linux attributes duplicate ACKs as they arrive and subtracts them later, which gives the same sum). After a
//! time-out the smallest round trip is measured anew; here this happens before the threshold is requested, in Linux
//! after.

use crate::reno::Reno;
use crate::{Ack, CaState, Cause, CongestionControl, MAX_SAMPLE, Params, View, Window};
use fourhop_units::{Dur, Time};

/// Linux: bandwidth samples cover a round trip, but at least this.
const LEAST_ROUND: Dur = Dur::from_millis(50);
/// Most segments that count in one bandwidth sample: times 10^6 and [`Westwood::SCALE`] they still fit in 64 bits.
const MOST: u64 = 1 << 24;

/// Westwood+'s state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Westwood {
    /// Segments acknowledged since the current sample began.
    acked: u64,
    /// When it began.
    since: Option<Time>,
    /// Bandwidth through the first and the second low-pass filter, in segments per 2^20 s.
    filtered_once: u64,
    filtered: u64,
    last_rtt: Dur,
    min_rtt: Option<Dur>,
}

impl Westwood {
    /// Takes no parameter.
    pub fn new(_params: &Params) -> Westwood {
        Westwood::default()
    }

    /// Bandwidth unit: segments per this number of seconds.
    const SCALE: u64 = 1 << 20;

    /// Two first-order low-pass filters with gain 1/8; the first sample fills both (Linux).
    fn filter(&mut self, sample: u64) {
        let low_pass = |old: u64, new: u64| (7 * old + new) >> 3;
        if self.filtered == 0 && self.filtered_once == 0 {
            (self.filtered_once, self.filtered) = (sample, sample);
        } else {
            self.filtered_once = low_pass(self.filtered_once, sample);
            self.filtered = low_pass(self.filtered, self.filtered_once);
        }
    }

    /// Bandwidth times smallest round trip, in segments, at least 2.
    fn capacity(&self) -> u32 {
        let rtt_us = self.min_rtt.map_or(0, |rtt| rtt.as_nanos() / 1_000);
        let segments = (self.filtered.min(u64::MAX / rtt_us.max(1)) * rtt_us / 1_000_000) >> 20;
        u32::try_from(segments).unwrap_or(u32::MAX).max(2)
    }
}

impl CongestionControl for Westwood {
    fn name(&self) -> &'static str {
        "westwood"
    }

    fn init(&mut self, _win: &mut Window, view: &View) {
        self.since = Some(view.now);
    }

    fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack) {
        if let Some(rtt) = ack.rtt.map(|rtt| rtt.min(MAX_SAMPLE)) {
            self.last_rtt = rtt;
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.acked += u64::from(ack.acked);
        let since = *self.since.get_or_insert(view.now);
        let elapsed = view.now - since;
        if self.last_rtt > Dur::ZERO && elapsed > self.last_rtt.max(LEAST_ROUND) {
            let micros = (elapsed.as_nanos() / 1_000).max(1);
            self.filter(self.acked.min(MOST) * Westwood::SCALE * 1_000_000 / micros);
            (self.acked, self.since) = (0, Some(view.now));
        }
        Reno.on_ack(win, view, ack);
    }

    fn ssthresh(&mut self, _win: &Window, _view: &View, _cause: Cause) -> u32 {
        self.capacity()
    }

    fn on_state(&mut self, _win: &mut Window, _view: &View, state: CaState) {
        if state == CaState::Loss {
            // Linux: after a time-out the path may have changed.
            self.min_rtt = Some(self.last_rtt).filter(|rtt| *rtt > Dur::ZERO).or(self.min_rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{ack, view, window};

    fn fed(interval_ms: u64, rtt_ms: u64, seconds: u64) -> Westwood {
        let mut westwood = Westwood::default();
        let mut win = window(10, 2);
        westwood.init(&mut win, &View { now: Time::ZERO, ..view() });
        for n in 1..=seconds * 1_000 / interval_ms {
            let view = View { now: Time::from_millis(n * interval_ms), ..view() };
            westwood.on_ack(&mut win, &view, &Ack { rtt: Some(Dur::from_millis(rtt_ms)), ..ack(1) });
        }
        westwood
    }

    /// 100 segments per second and a smallest round trip of 200 ms make 20 segments.
    #[test]
    fn the_threshold_is_bandwidth_times_smallest_round_trip() {
        let mut westwood = fed(10, 200, 20);
        let threshold = westwood.ssthresh(&window(64, 2), &view(), Cause::FastRetransmit);
        assert!((19..=20).contains(&threshold), "{threshold}");
        assert_eq!(fed(500, 100, 20).capacity(), 2, "never below two");
    }

    /// Linux: a bandwidth sample covers a round trip, but at least 50 ms. 100 segments per second, acknowledged every
    /// 10 ms.
    #[test]
    fn a_sample_covers_a_round_trip_and_at_least_50_ms() {
        for (rtt_ms, first) in [(200, 21), (10, 6)] {
            let mut westwood = Westwood::default();
            westwood.init(&mut window(10, 2), &View { now: Time::ZERO, ..view() });
            for n in 1..=first {
                assert_eq!(westwood.filtered, 0, "{n} ACKs");
                let view = View { now: Time::from_millis(n * 10), ..view() };
                westwood.on_ack(&mut window(10, 2), &view, &Ack { rtt: Some(Dur::from_millis(rtt_ms)), ..ack(1) });
            }
            assert_eq!(westwood.filtered, 100 * Westwood::SCALE);
            assert_eq!(westwood.acked, 0, "the next sample begins");
        }
    }

    /// The step response against real-valued filters: (7 old + new) / 8, applied twice.
    #[test]
    fn the_filter_is_two_low_passes() {
        let mut westwood = Westwood::default();
        westwood.filter(8 << 20);
        let (mut once, mut twice) = (8.0, 8.0);
        for _ in 0..20 {
            westwood.filter(80 << 20);
            once = (7.0 * once + 80.0) / 8.0;
            twice = (7.0 * twice + once) / 8.0;
            let got = westwood.filtered as f64 / Westwood::SCALE as f64;
            assert!((got - twice).abs() < 1e-3, "{got} {twice}");
        }
    }

    /// Linux: there is no bandwidth sample before a round trip is known; segments acknowledged until then count in the
    /// first.
    #[test]
    fn without_a_round_trip_there_is_no_sample() {
        let mut westwood = Westwood::default();
        westwood.init(&mut window(10, 2), &View { now: Time::ZERO, ..view() });
        for n in 1..=20 {
            let view = View { now: Time::from_millis(n * 10), ..view() };
            let rtt = (n == 20).then_some(Dur::from_millis(100));
            westwood.on_ack(&mut window(10, 2), &view, &Ack { rtt, ..ack(1) });
            assert_eq!(westwood.filtered > 0, n == 20, "{n} ACKs");
        }
        assert_eq!(westwood.filtered, 100 * Westwood::SCALE);
    }

    /// Only the very first sample initializes both filters; after a silence they converge as slowly as ever.
    #[test]
    fn silence_is_no_new_beginning() {
        let mut westwood = Westwood::default();
        westwood.filter(8 << 20);
        while westwood.filtered_once > 0 {
            westwood.filter(0);
        }
        assert!(westwood.filtered > 0, "the second filter is behind the first");
        westwood.filter(80 << 20);
        assert_eq!(westwood.filtered_once, 10 << 20);
        assert!((1 << 20..2 << 20).contains(&westwood.filtered), "an eighth of that: {}", westwood.filtered);
    }

    /// If the path becomes longer after a time-out, its own round trip counts.
    #[test]
    fn a_timeout_takes_the_smallest_round_trip_anew() {
        let mut westwood = fed(10, 100, 5);
        let later = View { now: Time::from_secs(6), ..view() };
        let slow = Ack { rtt: Some(Dur::from_millis(300)), ..ack(1) };
        westwood.on_ack(&mut window(10, 2), &later, &slow);
        let before = westwood.capacity();
        westwood.on_state(&mut window(10, 2), &later, CaState::Loss);
        assert!(westwood.capacity() > 2 * before);
    }
}
