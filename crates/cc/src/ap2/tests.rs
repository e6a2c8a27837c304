//! Each rule separately, with hand-written acknowledgements, and a bottleneck on which the window reaches equilibrium.

use super::gaps::{self, Gaps};
use super::*;
use crate::tests::{view, window};
use fourhop_units::{Rate, Time};

/// A sender after its first acknowledgements: link and hops are known, slow start is over, and the window is given in
/// segments.
struct Sender {
    ap2: Ap2,
    win: Window,
    now: Time,
    delivered: u64,
    /// The gap between acknowledgements in microseconds, whatever arrives: long, so that it has no influence.
    gap: Option<u64>,
}

impl Sender {
    fn new(without: Without, mbps: u64, hops: u32, segments: u64) -> Sender {
        let mut ap2 = Ap2::new(&Params { ap2_without: without, ..Params::new() });
        let mut win = window(10, u32::MAX);
        let view = View { srtt: Some(Dur::from_millis(10)), ..view() };
        ap2.init(&mut win, &view);
        ap2.on_hint(&mut win, &view, Hint::LinkRate(Rate::kbps(mbps * 1_000)));
        ap2.on_hint(&mut win, &view, Hint::HopCount(hops));
        ap2.shrink(segments * ONE);
        (ap2.slow_start, ap2.first) = (false, false);
        Sender { ap2, win, now: view.now, delivered: 0, gap: Some(gaps::MOST) }
    }

    /// A round: `count` acknowledgements `gap_us` apart, each with a round trip of `rtt_ms`.
    fn round(&mut self, count: u64, gap_us: u64, rtt_ms: u64) {
        let began = self.delivered;
        for n in 0..count {
            self.now += Dur::from_micros(gap_us);
            self.delivered += 1;
            // Only the last acknowledged segment was sent after the round began.
            let (has_data, rtt) = (n + 1 == count, Some(Dur::from_millis(rtt_ms)));
            self.acknowledge(RateSample {
                has_data,
                prior_delivered: began,
                rtt,
                in_flight: 1,
                ..RateSample::default()
            });
        }
    }

    fn acknowledge(&mut self, sample: RateSample) {
        if let Some(gap) = self.gap {
            self.ap2.path.gaps = Gaps::known(gap);
        }
        let sample = RateSample {
            newly_acked: sample.newly_acked.max(1),
            total_delivered: self.delivered,
            cwnd_limited: true,
            ..sample
        };
        let view = View { now: self.now, ..view() };
        self.ap2.on_rate(&mut self.win, &view, &sample);
    }

    fn lose(&mut self, segments: u32) {
        let lost = Lost { tx_in_flight: 10, lost: 1, is_app_limited: false, total_delivered: self.delivered };
        (0..segments).for_each(|_| self.ap2.on_lost(&mut self.win, &view(), &lost));
    }
}

/// A window of 40 at the least round trip: 4 of its own plus 30 ms over two hops at 1,000 segments per second make 34
/// more in equilibrium; half of that is added now.
#[test]
fn the_window_grows_half_the_way_and_no_faster_than_segments_arrive() {
    let mut sender = Sender::new(Without::Nothing, 65, 2, 40);
    sender.round(10, 1_000, 10);
    assert_eq!((sender.ap2.goal / ONE, sender.win.cwnd), (57, 41), "{:?}", sender.ap2);
    for expected in 42..57 {
        sender.delivered += 1;
        sender.acknowledge(RateSample::default());
        assert_eq!(sender.win.cwnd, expected);
    }
}

/// Four times the least round trip: a quarter of 100 is the pipe, 4 are its own, 50 ms at 1,000 segments per second are
/// 50.
#[test]
fn it_falls_at_once() {
    for (without, left) in [(Without::Nothing, 79), (Without::QuickFall, 90)] {
        let mut sender = Sender::new(without, 65, 4, 100);
        sender.round(10, 1_000, 40);
        assert_eq!(sender.win.cwnd, left, "{:?}", sender.ap2);
    }
}

#[test]
fn the_target_counts_hops_and_own_the_rate_of_the_link() {
    let of = |without, mbps, hops| {
        let sender = Sender::new(without, mbps, hops, 10);
        (sender.ap2.target().as_nanos() / 1_000_000, sender.ap2.own() * 10 / ONE)
    };
    for (mbps, hops, expected) in
        [(26, 1, (20, 25)), (65, 2, (30, 40)), (65, 3, (40, 40)), (13, 9, (50, 12)), (2, 3, (0, 18)), (11, 1, (0, 18))]
    {
        assert_eq!(of(Without::Nothing, mbps, hops), expected, "{mbps} Mbit/s, {hops} hops");
    }
    assert_eq!(of(Without::Hops, 65, 1), (50, 40));
    assert_eq!(of(Without::Radios, 2, 1), (20, 10));
}

/// A receiver that acknowledges each segment is recognized after six of them; one that waits for the second gets pairs.
#[test]
fn a_receiver_that_delays_acknowledgements_gets_pairs() {
    let mut sender = Sender::new(Without::Nothing, 2, 3, 4);
    for (acked, count, own, burst) in [(1, 5, 18, 2), (1, 1, 8, 1), (2, 1, 18, 2), (1, 9, 8, 1)] {
        for _ in 0..count {
            sender.delivered += acked;
            sender.acknowledge(RateSample { newly_acked: acked as u32, ..RateSample::default() });
        }
        assert_eq!((sender.ap2.own() * 10 / ONE, sender.win.burst), (own, burst), "{acked} {count}");
    }
}

/// Four windows per round trip in bursts of three tenths; without aggregates 1.2 windows.
#[test]
fn bursts_and_intervals_follow_the_window() {
    let of = |without, mbps| {
        let sender = Sender::new(without, mbps, 3, 20);
        let mut win = sender.win;
        sender.ap2.apply(&mut win);
        (win.cwnd, win.burst, win.pacing.map(|interval| interval.as_nanos() / 1_000))
    };
    assert_eq!(of(Without::Nothing, 65), (20, 6, Some(125)));
    assert_eq!(of(Without::Nothing, 2), (20, 2, Some(416)));
    assert_eq!(of(Without::Bursts, 65), (20, 1, Some(416)));
    assert_eq!(of(Without::Pacing, 65), (20, 6, Some(0)));
}

/// Two of 17 segments may be lost; with the third, a round takes an eighth off the window.
#[test]
fn losses_count_from_an_eighth_on() {
    let after = |without, lost| {
        let mut sender = Sender::new(without, 65, 2, 40);
        sender.lose(lost);
        sender.round(17, 1_000, 10);
        sender.win.cwnd
    };
    assert_eq!((after(Without::Nothing, 2), after(Without::Nothing, 3)), (41, 35));
    assert_eq!(after(Without::Patience, 1), 35);
}

/// RFC 8511 for a mark; a time-out takes an eighth off the window that is restored later, behind a wire half, down to
/// two segments.
#[test]
fn marks_and_timeouts_cut() {
    let mut sender = Sender::new(Without::Nothing, 65, 2, 40);
    let mark = Lost { tx_in_flight: 40, lost: 0, is_app_limited: false, total_delivered: 0 };
    sender.ap2.on_mark(&mut sender.win, &view(), &mark);
    assert_eq!(sender.win.cwnd, 32);
    for (is_radio, in_flight, at_once, later) in [
        (true, 4, 5, 28),
        (true, 0, 1, 24),
        (false, 0, 1, 12),
        (false, 0, 1, 6),
        (false, 0, 1, 3),
        (false, 0, 1, 2),
        (false, 0, 1, 2),
    ] {
        sender.ap2.path.is_radio = is_radio;
        sender.ap2.on_state(&mut sender.win, &View { in_flight, ..view() }, CaState::Loss);
        assert_eq!((sender.win.cwnd, sender.win.burst), (at_once, 1));
        sender.ap2.apply(&mut sender.win);
        assert_eq!(sender.win.cwnd, later);
    }
}

/// A path that takes 1 ms per segment and 9 ms there and back, over four hops of 65 Mbit/s. The window doubles until
/// the queue has reached its target, and converges at a round trip of 10 ms plus 50 ms plus 4 segments.
#[test]
fn at_rest_the_round_trip_is_least_and_target_and_own() {
    let mut sender = Sender::new(Without::Nothing, 65, 4, 4);
    sender.ap2.slow_start = true;
    let mut rounds = 0;
    for _ in 0..300 {
        // A window that fills the pipe of 10 has its own round trip; a smaller one has the least.
        let window = u64::from(sender.win.cwnd);
        sender.round(window, window.max(10) * 1_000 / window, window.max(10));
        rounds += u32::from(sender.ap2.slow_start);
    }
    assert!((3..=6).contains(&rounds), "{rounds}");
    assert!((63..=65).contains(&sender.win.cwnd), "{:?}", sender.ap2);
}

/// A link known in time to be 802.11b gets four segments at first.
#[test]
fn the_first_window_is_ten_segments_or_four() {
    for (hint, first) in [
        (Hint::LinkRate(Rate::kbps(65_000)), 10),
        (Hint::WireRate(Rate::kbps(2_000)), 10),
        (Hint::LinkRate(Rate::kbps(11_000)), 4),
    ] {
        let mut ap2 = Ap2::new(&Params::new());
        let mut win = window(20, u32::MAX);
        ap2.init(&mut win, &view());
        ap2.on_hint(&mut win, &view(), hint);
        assert_eq!(win.cwnd, first, "{hint:?}");
    }
}

/// IEEE 802.11-2020, clauses 15 to 17 and 19: below 12 Mbit/s only HT's slowest rates have aggregates.
#[test]
fn slow_rates_are_of_802_11b_or_not() {
    let mut ap2 = Ap2::new(&Params::new());
    for (kbps, has_aggregates) in [
        (1_000, false),
        (2_000, false),
        (5_500, false),
        (6_000, false),
        (6_500, true),
        (7_200, true),
        (9_000, false),
        (11_000, false),
        (13_000, true),
    ] {
        ap2.on_hint(&mut window(20, u32::MAX), &view(), Hint::LinkRate(Rate::kbps(kbps)));
        assert_eq!(ap2.has_aggregates(), has_aggregates, "{kbps}");
    }
}

/// A wire says nothing about the radios behind it, which are assumed to aggregate.
#[test]
fn a_wire_is_no_radio() {
    let mut ap2 = Ap2::new(&Params::new());
    let mut win = window(20, u32::MAX);
    ap2.on_hint(&mut win, &view(), Hint::WireRate(Rate::kbps(1_000)));
    assert!(ap2.has_aggregates());
    assert_eq!(ap2.own(), OWN_MOST_WIRED);
}

/// Rounds of 200 ms on a path of 10 ms, as beside a sender that fills the queue. After eight of them and a second, the
/// window no longer gives way: it grows by a segment and a 32nd, and by an eighth up to half the former rate.
#[test]
fn a_queue_that_does_not_fall_is_of_others() {
    for without in [Without::Nothing, Without::Rivalry] {
        let mut sender = Sender::new(without, 65, 2, 40);
        for _ in 0..20 {
            sender.round(40, 1_000, 10);
        }
        assert!(!sender.ap2.rivals.are_present());
        let mut rounds = 0;
        while !sender.ap2.rivals.are_present() && rounds < 30 {
            sender.round(20, 10_000, 200);
            rounds += 1;
        }
        if without == Without::Rivalry {
            assert_eq!((rounds, sender.win.burst > 1), (30, true));
            continue;
        }
        assert_eq!(rounds, 8);
        let before = sender.ap2.window;
        sender.round(20, 10_000, 200);
        assert!(sender.ap2.goal >= before + before / 8, "{:?}", sender.ap2);
        assert_eq!(sender.win.burst, 1);
        // A loss takes three tenths, and the queue is probed.
        let before = sender.ap2.window;
        sender.lose(1);
        sender.round(20, 10_000, 200);
        assert!(sender.ap2.window <= before * 7 / 10 + 30 * ONE && sender.ap2.path.base.is_draining());
        // The queue is empty: nobody else fills it.
        for _ in 0..2 {
            sender.round(20, 1_000, 12);
        }
        assert!(!sender.ap2.rivals.are_present());
    }
}

/// The queue that four senders of AP2 leave, 20 ms over a hop plus four segments each, is not due to others. Radios
/// carry at least a third of 65 Mbit/s, so 16 segments take 8.9 ms.
#[test]
fn the_queue_of_a_few_senders_is_their_own() {
    let mut sender = Sender::new(Without::Nothing, 65, 1, 40);
    for _ in 0..60 {
        sender.round(40, 1_000, 10);
    }
    for _ in 0..30 {
        sender.round(40, 1_000, 10 + 20 + 8);
    }
    assert!(!sender.ap2.rivals.are_present());
    for _ in 0..30 {
        sender.round(40, 1_000, 10 + 20 + 9);
    }
    assert!(sender.ap2.rivals.are_present());
}

/// A sender over one hop whose first round trip takes this many milliseconds.
fn late(first: u64) -> Sender {
    let mut sender = Sender::new(Without::Nothing, 65, 1, 40);
    sender.ap2.path.base = base::Base::new();
    sender.round(40, 1_000, first);
    sender
}

/// Of the first round trip, 10 ms are the hop's. With the 20 ms of the target and the 8.9 ms of other senders of AP2, a
/// round trip of 39 ms may be due to others.
#[test]
fn a_hop_takes_ten_milliseconds() {
    for (rtt, expected) in [(38, false), (39, true)] {
        let mut sender = late(30);
        for _ in 0..40 {
            sender.round(40, 1_000, rtt);
        }
        assert_eq!(sender.ap2.rivals.are_present(), expected, "{rtt} ms");
    }
}

/// One hop does not take 80 ms. A queue of others stays as long when the window grows.
#[test]
fn a_queue_that_was_there_first_is_of_others() {
    let mut sender = late(80);
    for n in 0..200 {
        sender.round(20, 5_000, 100);
        assert_eq!(sender.ap2.rivals.are_present(), n >= 6, "{n}");
    }
    assert_eq!(sender.ap2.path.base.least(), 80_000);
}

/// A wire behind the radio accounts for most of the 80 ms, and 1,000 segments per second arrive, whatever the window
/// is. One trial shows it.
#[test]
fn a_long_path_is_no_queue_of_others() {
    let mut sender = late(80);
    let (mut trials, mut longest) = (0, 0);
    for _ in 0..1_000 {
        let before = sender.ap2.rivals.are_present();
        let rtt = u64::from(sender.win.cwnd).max(80);
        sender.round(rtt, 1_000, rtt);
        trials += u32::from(!before && sender.ap2.rivals.are_present());
        longest = longest.max(rtt);
    }
    assert!(!sender.ap2.rivals.are_present() && trials == 1, "{trials}");
    assert!((250..350).contains(&longest), "{longest}");
    assert!(sender.win.cwnd < 80 + 20 + 6, "{:?}", sender.win);
}

/// No round trip is measured while segments are retransmitted. Two such rounds do not count, in whatever order; then a
/// drain of two rounds ends nevertheless, the next one as well.
#[test]
fn a_drain_ends_without_measurements() {
    for is_radio in [true, false] {
        let mut sender = Sender::new(Without::Nothing, 65, 1, 40);
        sender.ap2.path.is_radio = is_radio;
        for measured in [[false, false, false, false], [true, false, false, false], [false, false, true, true]] {
            sender.ap2.path.base.drain();
            for (round, measured) in measured.into_iter().enumerate() {
                assert!(sender.ap2.path.base.is_draining(), "{round}");
                sender.now += Dur::from_millis(10);
                let (prior_delivered, rtt) = (sender.delivered, measured.then_some(Dur::from_millis(10)));
                sender.delivered += 1;
                sender.acknowledge(RateSample { has_data: true, prior_delivered, rtt, ..RateSample::default() });
            }
            assert!(!sender.ap2.path.base.is_draining(), "{measured:?}");
        }
    }
}

/// The only segment of a drain is acknowledged after 40 ms: that is no round trip sample, so the drain finds nothing.
/// From then on segments leave in pairs, and the next drain is 10 s later.
#[test]
fn a_drain_waits_for_no_receiver() {
    let mut sender = Sender::new(Without::Nothing, 65, 1, 6);
    sender.round(10, 1_000, 2);
    while !sender.ap2.path.base.is_draining() {
        sender.round(6, 3_000, 18);
    }
    assert_eq!(sender.win.cwnd, 1);
    for still in [true, true, true, false] {
        sender.now += Dur::from_millis(40);
        let (prior_delivered, rtt) = (sender.delivered, Some(Dur::from_millis(42)));
        sender.delivered += 1;
        sender.acknowledge(RateSample { has_data: true, prior_delivered, rtt, ..RateSample::default() });
        assert_eq!((sender.ap2.path.base.is_draining(), sender.win.cwnd > 1), (still, true));
    }
    let ended = sender.now;
    while !sender.ap2.path.base.is_draining() {
        sender.round(6, 3_000, 18);
    }
    assert!(sender.now - ended > Dur::from_secs(10));
}

/// Ten seconds of round trips of twice the shortest: two rounds send less than the path holds, and their result is
/// accepted.
#[test]
fn a_round_trip_that_is_not_seen_again_is_looked_for() {
    let mut sender = Sender::new(Without::Nothing, 65, 1, 40);
    sender.round(10, 1_000, 10);
    let mut rounds = 0;
    while !sender.ap2.path.base.is_draining() {
        sender.round(40, 1_000, 25);
        rounds += 1;
    }
    assert!((245..=255).contains(&rounds), "{rounds}");
    assert!(u64::from(sender.win.cwnd) * 2 * ONE < sender.ap2.window, "{:?}", sender.win);
    sender.round(20, 1_000, 14);
    sender.round(20, 1_000, 13);
    assert_eq!((sender.ap2.path.base.least(), sender.ap2.path.base.is_draining()), (13_000, false));
}

/// At 1,000 segments per second the target of 30 ms needs a queue of 30 segments. One of eight overflows at a round
/// trip of 18 ms, in every round: the target becomes three quarters of its 8 ms.
#[test]
fn a_queue_that_overflows_early_shortens_the_target() {
    let rounds = |without, rtt_ms, mbps| {
        let mut sender = Sender::new(without, mbps, 2, 18);
        sender.round(10, 1_000, 10);
        for _ in 0..4 {
            sender.lose(1);
            sender.round(18, 1_000, rtt_ms);
        }
        sender.ap2.target().as_nanos() / 1_000
    };
    assert_eq!(rounds(Without::Nothing, 18, 65), 6_000);
    assert_eq!(rounds(Without::Room, 18, 65), 30_000);
    // In a fade the round trip is longer than AP2 aims for. Without aggregates there is no target.
    assert_eq!((rounds(Without::Nothing, 100, 65), rounds(Without::Nothing, 18, 2)), (30_000, 0));
}

/// Trains of ten segments every 50 ms on a wire of 8,333 segments per second (100 Mbit/s). This sender gets 200.
#[test]
fn trains_show_how_fast_a_wire_is() {
    let capacity = |is_radio, gap_us| {
        let mut sender = Sender::new(Without::Nothing, 65, 1, 10);
        sender.ap2.path.is_radio = is_radio;
        for _ in 0..20 {
            sender.now += Dur::from_micros(50_000 - 10 * gap_us);
            sender.round(10, gap_us, 50);
        }
        sender.ap2.path.capacity().per_second()
    };
    assert_eq!(capacity(false, 120), 8_333);
    // Acknowledgements that come together say nothing; nor do those of a radio, which come in frames.
    assert!((180..220).contains(&capacity(false, 20)) && (180..220).contains(&capacity(true, 120)));
}

/// It is forgotten after ten to twenty seconds.
#[test]
fn the_speed_of_trains_is_forgotten() {
    let mut sender = Sender::new(Without::Nothing, 65, 1, 10);
    sender.ap2.path.is_radio = false;
    sender.round(12, 120, 50);
    let began = sender.now;
    while sender.ap2.path.capacity().per_second() > 2_000 {
        sender.round(10, 5_000, 50);
    }
    assert!((10.0..21.0).contains(&(sender.now - began).as_secs_f64()), "{:?}", sender.now - began);
}

/// Nine senders of AP2 at 100 Mbit/s leave a queue of 6.5 ms beyond the target, eight of 5.8 ms. This sender gets 200
/// segments per second, so that on a wire as slow as that it would expect 120 ms.
#[test]
fn on_a_fast_wire_a_long_queue_is_due_to_others() {
    let finds = |rtt_ms| {
        let mut sender = Sender::new(Without::Nothing, 65, 1, 10);
        (sender.ap2.path.is_radio, sender.gap) = (false, Some(120));
        (0..40).any(|n| {
            sender.now += Dur::from_millis(50);
            sender.round(10, 120, if n == 0 { 10 } else { rtt_ms });
            sender.ap2.rivals.are_present()
        })
    };
    assert!(!finds(10 + 10 + 5) && finds(10 + 10 + 7));
}

/// The target in ms after a round trip of 8 ms over one hop, with acknowledgements this far apart.
fn target_with(without: Without, is_radio: bool, gap: Option<u64>) -> u64 {
    let mut sender = Sender::new(without, 65, 1, 40);
    sender.ap2.path.is_radio = is_radio;
    sender.gap = gap;
    sender.round(10, 1_000, 8);
    sender.ap2.target().as_nanos() / 1_000_000
}

/// The queue lasts for two frames, at most 20 ms. The last acknowledgements are 1 ms apart.
#[test]
fn the_target_is_two_gaps_between_acknowledgements_at_most() {
    for (gap, expected) in [(9_000, 18), (10_000, 20), (11_000, 20)] {
        assert_eq!(target_with(Without::Nothing, true, Some(gap)), expected, "{gap} us");
    }
    assert_eq!((target_with(Without::Nothing, true, None), target_with(Without::Gaps, true, None)), (2, 20));
    assert_eq!(Sender::new(Without::Nothing, 65, 1, 10).ap2.target(), Dur::from_millis(20), "no gap is known yet");
}

/// Behind a wire the queue is no longer than the path, 8 ms, unless frames need more.
#[test]
fn behind_a_wire_the_target_is_the_least_round_trip_or_two_gaps() {
    for (gap, expected) in [(3_000, 8), (5_000, 10), (11_000, 20)] {
        assert_eq!(target_with(Without::Nothing, false, Some(gap)), expected, "{gap} us");
    }
    assert_eq!(target_with(Without::Gaps, false, Some(11_000)), 8);
    let mut sender = Sender::new(Without::Nothing, 65, 1, 10);
    sender.ap2.path.is_radio = false;
    assert_eq!(sender.ap2.target(), Dur::from_millis(10), "only the handshake's round trip is known");
}

/// CUBIC's queue of 200 ms falls below the bound as a drain ends, but does not look empty: others are still there, and
/// 80 ms are not taken for the path's. After six probes they are.
#[test]
fn a_queue_of_others_does_not_become_the_path() {
    let mut sender = Sender::new(Without::Nothing, 65, 2, 40);
    for _ in 0..20 {
        sender.round(40, 1_000, 10);
    }
    let mut looks = 0;
    while sender.ap2.path.base.least() == 10_000 {
        while !sender.ap2.path.base.is_draining() {
            sender.round(20, 10_000, 200);
        }
        sender.round(20, 4_000, 80);
        sender.round(20, 4_000, 80);
        looks += 1;
    }
    assert_eq!((looks, sender.ap2.path.base.least()), (7, 80_000));
}
