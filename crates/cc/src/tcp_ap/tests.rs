//! The paper's formulas by hand, and the integer arithmetic against real numbers. `tests/battery.rs` checks the
//! properties common to every path.

use super::*;
use crate::tests::{ack, view, window};
use crate::{CaState, PathTime, Window};
use fourhop_units::Rate;
use proptest::prelude::*;
use variation::Spread;

/// TCP-AP with these parameters after hints about hops and rate.
fn fed(params: Params, hops: u32, rate: Rate) -> (TcpAp, Window) {
    let mut ap = TcpAp::named("tcp-ap", params);
    let mut win = window(10, 2);
    ap.init(&mut win, &view());
    ap.on_hint(&mut win, &view(), Hint::LinkRate(rate));
    ap.on_hint(&mut win, &view(), Hint::HopCount(hops));
    (ap, win)
}

fn rtt(ap: &mut TcpAp, win: &mut Window, nanos: u64) -> Dur {
    ap.on_ack(win, &view(), &Ack { rtt: Some(Dur::from_nanos(nanos)), ..ack(1) });
    win.pacing.expect("a sample was taken")
}

/// Section 4.3: FHD = 2 (RTT/h + (s_data - s_ACK)/b). 80 ms over 8 hops at 2 Mbit/s: 2 (10 + 1460 x 8 / 2000) ms.
#[test]
fn the_four_hop_delay_is_that_of_section_4_3() {
    let (mut ap, mut win) = fed(Params::paper(), 8, Rate::kbps(2_000));
    assert_eq!(win.pacing, None, "nothing is paced before the first sample");
    assert_eq!(rtt(&mut ap, &mut win, 80_000_000), Dur::from_micros(31_680));
    assert_eq!(ap.measurements().delay, Some(Dur::from_micros(31_680)));
}

/// Section 4.3: for h < 4 the h-hop delay: (h/2) (RTT/h + (s_data - s_ACK)/b).
#[test]
fn short_paths_wait_for_all_their_hops() {
    for (hops, micros) in [(1, 10_000 + 2_920), (2, 10_000 + 5_840), (3, 10_000 + 8_760), (4, 10_000 + 11_680)] {
        let (mut ap, mut win) = fed(Params::paper(), hops, Rate::kbps(2_000));
        assert_eq!(rtt(&mut ap, &mut win, 20_000_000), Dur::from_micros(micros), "{hops} hops");
    }
}

/// Section 4.4: the average weighs the old value with alpha, and the interval is stretched by 1 + 2 cov.
#[test]
fn the_interval_is_the_average_times_one_plus_two_cov() {
    let (mut ap, mut win) = fed(Params { history: 2, ..Params::paper() }, 4, Rate::kbps(2_000));
    rtt(&mut ap, &mut win, 40_000_000);
    // FHD 31.68 ms, then 41.68 ms: average 34.68 ms; of 40 and 60 ms the deviation is 14.142 ms and the mean 50 ms.
    let found = rtt(&mut ap, &mut win, 60_000_000).as_nanos() as f64;
    let expected = 34.68e6 * (1.0 + 2.0 * 200f64.sqrt() / 50.0);
    assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
}

/// Synchronized clocks: of five hops in 60 ms four took 48 ms; of three all count, or one by the authors' rule. A delay
/// of zero counts as not measured.
#[test]
fn a_measured_delay_is_that_of_so_many_hops() {
    let measured = |params: &Params, millis, hops| {
        let mut estimator = delay::Estimator::new();
        assert_eq!(estimator.measured_delay(params), None);
        estimator.take_hint(Hint::ForwardDelay { delay: Dur::from_millis(millis), hops });
        estimator.measured_delay(params).map(|delay| delay.as_millis())
    };
    let (paper, code) = (Params::paper(), Params::authors_code());
    assert_eq!([5, 4, 3, 1].map(|hops| measured(&paper, 60, hops)), [Some(48), Some(60), Some(60), Some(60)]);
    assert_eq!([5, 4, 3, 1].map(|hops| measured(&code, 60, hops)), [Some(48), Some(60), Some(20), Some(60)]);
    assert_eq!(measured(&paper, 0, 4), None);
}

/// Eight bytes per sample, none before the first; a forgotten sample makes room for the next.
#[test]
fn the_samples_take_what_is_accounted_for() {
    let mut samples = variation::Variation::new(50);
    assert_eq!(samples.memory(), 0);
    (0..1_000).for_each(|n| samples.push(Dur::from_millis(n)));
    assert!((400..1_024).contains(&samples.memory()), "{} bytes", samples.memory());
}

/// Figure 9 has N from 10 to 200: samples older than the last N are forgotten.
#[test]
fn the_variation_forgets() {
    for history in [10, 50, 100, 200] {
        let (mut ap, mut win) = fed(Params { history, ..Params::paper() }, 4, Rate::kbps(2_000));
        for n in 0..2 * u64::from(history) {
            rtt(&mut ap, &mut win, if n < u64::from(history) { 1_000_000 * (20 + n % 7) } else { 50_000_000 });
            assert_eq!(ap.measurements().variation == Some(0), n == 0 || n + 1 == 2 * u64::from(history), "{n}");
        }
    }
}

/// The authors' agent: 112 bytes of headers in either direction, one hop's delay below four hops, a fixed rate, 50 ms
/// initially, the mean absolute deviation of the delays, and no sample from half a second on.
#[test]
fn the_authors_code_differs_as_the_table_says() {
    let (mut ap, mut win) = fed(Params::authors_code(), 3, Rate::kbps(11_000));
    assert_eq!(win.pacing, Some(Dur::from_millis(50)));
    // t_q = (30 ms / 3 - (1572 + 112) 8 / 2000 ms) / 2 = 1.632 ms, and the segment takes 6.288 ms at 2 Mbit/s.
    assert_eq!(rtt(&mut ap, &mut win, 30_000_000), Dur::from_micros(7_920));
    let (mut ap, mut win) = fed(Params::authors_code(), 4, Rate::kbps(2_000));
    let first = rtt(&mut ap, &mut win, 40_000_000);
    assert_eq!(first, Dur::from_micros(4 * (1_632 + 6_288)));
    // A delay of 36.68 ms follows: average 33.18 ms; deviations of 2.5 ms about 34.18 ms.
    let found = rtt(&mut ap, &mut win, 50_000_000).as_nanos() as f64;
    let expected = 33.18e6 * (1.0 + 2.0 * 2.5 / 34.18);
    assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    // 1 s of round trip means 512 ms over four hops: neither average nor variation changes.
    assert_eq!(rtt(&mut ap, &mut win, 1_000_000_000).as_nanos() as f64, found);
}

/// The authors' second average: a queueing delay above half a second is replaced by the average.
#[test]
fn the_authors_code_replaces_long_queueing_by_its_average() {
    let (mut ap, mut win) = fed(Params::authors_code(), 1, Rate::kbps(2_000));
    rtt(&mut ap, &mut win, 10_000_000);
    // t_q = (10 - 6.736) / 2 = 1.632 ms; its average begins at zero: 0.816 ms.
    let found = rtt(&mut ap, &mut win, 2_000_000_000);
    let delay = 0.7 * (1.632 + 6.288) + 0.3 * (0.816 + 6.288);
    let mean = (7.920 + 7.104) / 2.0;
    let expected = delay * (1.0 + 2.0 * (7.920 - mean) / mean) * 1e6;
    assert!((found.as_nanos() as f64 / expected - 1.0).abs() < 1e-5, "{found} {expected}");
}

/// Link times are rounded to the nearest nanosecond: at 3 kbit/s the 40 bytes of headers take 106,666,666.67 ns, the 80
/// of both directions 213,333,333.33 ns.
#[test]
fn times_of_links_are_rounded_to_the_nearest() {
    let mut estimator = delay::Estimator::new();
    estimator.take_hint(Hint::HopCount(1));
    estimator.take_hint(Hint::LinkRate(Rate::kbps(3)));
    let found = estimator.n_hop_delay(&Params::paper(), 0, Dur::from_nanos(213_333_333));
    assert_eq!(found, Some(Dur::from_nanos(106_666_667)));
    // A queueing delay of half a nanosecond rounds to one, whatever its sign.
    for (off, expected) in [(1, 106_666_668), (-1, 106_666_666)] {
        let round_trip = Dur::from_nanos(213_333_333u64.saturating_add_signed(off));
        assert_eq!(estimator.n_hop_delay(&Params::paper(), 0, round_trip), Some(Dur::from_nanos(expected)));
    }
}

/// Mixed rates (the gateway paper, section 4.2): each link counts with its own rate. Two links of 2 and six of 11
/// Mbit/s.
#[test]
fn links_of_different_rates_are_summed() {
    let rates = [2_000, 2_000, 11_000, 11_000, 11_000, 11_000, 11_000, 11_000].map(Rate::kbps);
    let (mut ap, mut win) = fed(Params::paper(), 8, Rate::kbps(2_000));
    let path = PathTime::over(rates).expect("eight links");
    ap.on_hint(&mut win, &view(), Hint::PathTime(path));
    let (all, front) = (2.0 / 2e6 + 6.0 / 11e6, 2.0 / 2e6 + 2.0 / 11e6);
    let queueing = (0.080 - 1540.0 * 8.0 * all) / 16.0;
    let expected = 4.0 * queueing + 1500.0 * 8.0 * front;
    let found = rtt(&mut ap, &mut win, 80_000_000).as_secs_f64();
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    // Equal rates give the plain formula, to the nanosecond.
    let (mut plain, mut one) = fed(Params::paper(), 8, Rate::kbps(2_000));
    let (mut summed, mut other) = fed(Params::paper(), 3, Rate::kbps(54_000));
    let equal = PathTime::over([Rate::kbps(2_000); 8]).expect("eight links");
    summed.on_hint(&mut other, &view(), Hint::PathTime(equal));
    assert_eq!(rtt(&mut plain, &mut one, 91_234_567), rtt(&mut summed, &mut other, 91_234_567));
}

/// The authors' code waits for one hop if the path is shorter than four, and otherwise for four.
#[test]
fn one_hop_of_a_short_path_is_measured_too() {
    let params = Params { delay_source: DelaySource::Clocks, ..Params::authors_code() };
    for (hops, expected) in [(1, 10), (3, 10), (4, 40), (8, 40)] {
        let (mut ap, mut win) = fed(params, hops, Rate::kbps(2_000));
        let delay = Dur::from_millis(10 * u64::from(hops));
        ap.on_hint(&mut win, &view(), Hint::ForwardDelay { delay, hops });
        assert_eq!(rtt(&mut ap, &mut win, 80_000_000), Dur::from_millis(expected), "{hops} hops");
    }
}

/// Section 5.1.1: synchronized clocks replace the estimate; the variation remains that of the round trips.
#[test]
fn clocks_give_the_delay_itself() {
    let params = Params { delay_source: DelaySource::Clocks, ..Params::paper() };
    let (mut ap, mut win) = fed(params, 8, Rate::kbps(2_000));
    ap.on_hint(&mut win, &view(), Hint::ForwardDelay { delay: Dur::from_millis(30), hops: 4 });
    assert_eq!(rtt(&mut ap, &mut win, 80_000_000), Dur::from_millis(30));
    let (mut ap, mut win) = fed(params, 8, Rate::kbps(2_000));
    ap.on_hint(&mut win, &view(), Hint::ForwardDelay { delay: Dur::from_millis(60), hops: 8 });
    assert_eq!(rtt(&mut ap, &mut win, 80_000_000), Dur::from_millis(30), "half of the whole way");
    let (mut ap, mut win) = fed(params, 2, Rate::kbps(2_000));
    ap.on_hint(&mut win, &view(), Hint::ForwardDelay { delay: Dur::from_millis(15), hops: 2 });
    assert_eq!(rtt(&mut ap, &mut win, 80_000_000), Dur::from_millis(15), "all of a short way");
}

/// Duplicate ACKs give samples only if the sender gets the echoed send time.
#[test]
fn echoes_count_only_where_asked_for() {
    for (samples, counted) in [(Samples::EveryAck, true), (Samples::Unambiguous, false)] {
        let (mut ap, mut win) = fed(Params { samples, ..Params::paper() }, 4, Rate::kbps(2_000));
        ap.on_hint(&mut win, &view(), Hint::RoundTrip(Dur::from_millis(40)));
        assert_eq!(win.pacing.is_some(), counted);
        ap.on_ack(&mut win, &View { state: CaState::Recovery, ..view() }, &ack(1));
        assert_eq!(ap.measurements().rtt, Some(Dur::from_millis(if counted { 40 } else { 100 })));
    }
}

/// The same computation with real numbers.
#[derive(Default)]
struct Float {
    samples: Vec<f64>,
    average: Option<f64>,
    queueing: f64,
    spread: f64,
}

impl Float {
    fn interval(&mut self, p: &Params, h: f64, b: f64, rtt: f64) -> Option<f64> {
        let n = match p.short_path {
            _ if h >= f64::from(p.factor) => f64::from(p.factor),
            ShortPath::AllHops => h,
            ShortPath::OneHop => 1.0,
        };
        let (data, ack) = (8.0 * f64::from(1_460 + p.data_overhead) / b, 8.0 * f64::from(p.ack_bytes) / b);
        let mut t_q = (rtt / h - data - ack) / 2.0;
        if let Some(limit) = p.queue_limit {
            t_q = if t_q > limit.as_secs_f64() { self.queueing } else { t_q };
            let old = f64::from(p.queue_alpha) / 1e3;
            self.queueing = old * self.queueing + (1.0 - old) * t_q;
        }
        let delay = n * (t_q + data);
        let usable = delay > 0.0 && p.delay_limit.is_none_or(|limit| delay < limit.as_secs_f64());
        let by_rtt = p.spread == Spread::DeviationOfRoundTrips;
        if by_rtt || usable {
            self.samples.push(if by_rtt { rtt } else { delay });
            let last = self.samples.len().saturating_sub(p.history as usize);
            self.samples.drain(..last);
            let count = self.samples.len() as f64;
            let mean = self.samples.iter().sum::<f64>() / count;
            let deviations = self.samples.iter().map(|x| x - mean);
            self.spread = match by_rtt {
                _ if count < 2.0 => 0.0,
                true => (deviations.map(|d| d * d).sum::<f64>() / (count - 1.0)).sqrt() / mean,
                false => deviations.map(f64::abs).sum::<f64>() / count / mean,
            };
        }
        if usable {
            let alpha = f64::from(p.alpha) / 1e3;
            self.average = Some(self.average.map_or(delay, |old| alpha * old + (1.0 - alpha) * delay));
        }
        self.average.map(|average| average * (1.0 + 2.0 * self.spread))
    }
}

fn profiles() -> impl Strategy<Value = Params> {
    (any::<bool>(), 0u32..=990, 1u32..=200, 1u32..=8).prop_map(|(paper, alpha, history, factor)| Params {
        alpha,
        history,
        factor,
        ..if paper { Params::paper() } else { Params::authors_code() }
    })
}

proptest! {
    /// Checks the error bound stated in the module's documentation.
    #[test]
    fn integers_stay_beside_real_numbers(
        params in profiles(),
        hops in 1u32..=40,
        kbps in 500u64..100_000,
        samples in prop::collection::vec(1_000_000u64..3_000_000_000, 1..120),
    ) {
        let params = Params { link_rate: None, delay_limit: None, ..params };
        let (mut ap, mut win) = fed(Params { first_interval: None, ..params }, hops, Rate::kbps(kbps));
        let mut float = Float::default();
        for nanos in samples {
            ap.on_ack(&mut win, &view(), &Ack { rtt: Some(Dur::from_nanos(nanos)), ..ack(1) });
            // A queueing delay within a nanosecond of the limit may fall on either side.
            let expected = float.interval(&params, f64::from(hops), kbps as f64 * 1e3, nanos as f64 / 1e9);
            prop_assert_eq!(win.pacing.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (win.pacing, expected) {
                let bound = 1e-5 * expected + 10e-9 / (1.0 - f64::from(params.alpha) / 1e3);
                let off = (found.as_secs_f64() - expected).abs();
                prop_assert!(off <= bound, "{} s off {} s, allowed {} s", off, expected, bound);
            }
        }
    }
}
