//! Pacing of segments, and the hints that control it.

use super::script::{Script, plain};
use crate::tcp::{Action, Config, Release};
use fourhop_cc::{Hint, Params, rbp};
use fourhop_units::{Dur, Time};

/// Departures of data segments until `end_ms`, starting with those in `out`, which left at `now_ms`.
fn departures(s: &mut Script, now_ms: u64, end_ms: u64) -> Vec<Dur> {
    let count = |s: &mut Script| {
        s.out.drain(..).filter(|a| matches!(a, Action::Send { segment, .. } if segment.payload > 0)).count()
    };
    let mut times = vec![Dur::from_millis(now_ms); count(s)];
    while let Some(at) = s.socket.next_timeout().filter(|at| *at <= Time::from_millis(end_ms)) {
        s.socket.handle_timeout(at, &mut s.out);
        times.extend(vec![at.saturating_since(Time::ZERO); count(s)]);
    }
    times
}

/// Rate-based pacing: with a round trip of 100 ms and a window of 9 a segment leaves every 100 / (9 + 1) = 10 ms, from
/// the first one on; a retransmission does not wait.
#[test]
fn rbp_keeps_rtt_over_window_plus_one() {
    for transport in ["rbp", "rbp-reno"] {
        let config = Config { initial_window: 9, initial_ssthresh: 2, timestamps: false, ..plain() };
        let mut s = Script::sending_with(transport, config, 1_000_000);
        assert_eq!(s.socket.pacing_interval(), Some(Dur::from_millis(10)), "{transport}");
        let times = departures(&mut s, 100, 190);
        let spaced: Vec<_> = (0..9).map(|n| Dur::from_millis(100 + 10 * n)).collect();
        assert_eq!(times, spaced, "{transport}");
        s.ack(200, 1_001);
        s.out.clear();
        (201..204).for_each(|ms| s.ack(ms, 1_001));
        let first = s.last_segment();
        assert_eq!((first.payload, s.socket.stats().segments_retransmitted), (1_000, 1), "{transport}");
    }
}

/// After an outage an acknowledgement echoes a segment from 9 s ago: the interval is 9 s / (2 + 1). Nothing is in
/// flight while the next segment waits. In ns-2.35 the retransmission timer keeps running, and each expiry reduces the
/// window to one segment; a gate leaves it alone.
#[test]
fn a_timer_that_keeps_everything_back_expires_with_nothing_under_way() {
    for (release, timeouts, cwnd) in [(Release::Timer, 2, 1), (Release::Gate, 0, 4)] {
        let cc = Params { pacing_samples: rbp::Samples::EveryAck, ..Params::new() };
        let config = Config { initial_window: 2, timestamps: false, release, cc, ..plain() };
        let mut s = Script::sending_with("rbp", config, 1_000_000);
        s.socket.note_round_trip(Dur::from_secs(9));
        s.ack(200, 1_001);
        s.ack(210, 2_001);
        s.ack(220, 3_001);
        assert_eq!((s.socket.in_flight(), s.socket.pacing_interval()), (0, Some(Dur::from_secs(3))), "{release:?}");
        assert_eq!(departures(&mut s, 220, 3_190)[3..], [], "{release:?}");
        assert_eq!((s.socket.stats().timeouts, s.socket.cwnd()), (timeouts, cwnd), "{release:?}");
        assert_eq!(departures(&mut s, 3_190, 3_210), [Dur::from_millis(3_200)], "{release:?}: the interval is over");
    }
}

/// Linux, `tcp_update_pacing_rate`: with a round trip of 100 ms and a window of 11 segments, 2 windows per round trip
/// below half the threshold and 1.2 from there on; the first ten segments leave at once.
#[test]
fn the_stack_paces_by_the_window_as_linux_does() {
    for (ssthresh, ratio) in [(1_000, 200), (2, 120)] {
        let config =
            Config { initial_window: 10, initial_ssthresh: ssthresh, timestamps: false, stack_pacing: true, ..plain() };
        let mut s = Script::sending_with("newreno", config, 1_000_000);
        assert_eq!((s.socket.pacing_interval(), s.out.len()), (None, 10), "the first ten");
        s.out.clear();
        s.ack(200, 1_001);
        let window = u64::from(s.socket.cwnd());
        let interval = Dur::from_nanos(100_000_000 * 100 / (ratio * window));
        assert_eq!(s.socket.pacing_interval(), Some(interval), "{ratio} %");
        s.ack(201, 2_001);
        let times = departures(&mut s, 201, 240);
        let gap = s.socket.pacing_interval().unwrap();
        assert!(times.len() >= 2 && times[1..].is_sorted(), "{times:?}");
        assert!(times.windows(2).skip(2).all(|pair| pair[1] - pair[0] >= gap), "{times:?} {gap}");
    }
}

/// Hop counts change the window limit of `cwl` at once; a higher limit releases segments.
#[test]
fn hops_set_the_window_limit() {
    let mut s = Script::sending_with("cwl", plain(), 1_000_000);
    assert_eq!(s.out.len(), 10);
    s.out.clear();
    s.socket.handle_hint(Time::from_millis(150), Hint::HopCount(8), &mut s.out);
    assert_eq!(s.socket.cwnd(), 2);
    (0..10).for_each(|n| s.ack(200 + n, n as u32 * 1_000 + 1_001));
    assert_eq!((s.socket.cwnd(), s.socket.in_flight()), (2, 2_000));
}
