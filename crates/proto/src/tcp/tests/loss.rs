//! Loss recovery: RFC 5681, 6582, 3042, 6298, and the differences of ns-2.35.

use super::script::{Script, ns2, plain, segment};
use crate::tcp::Config;
use crate::wire::Timestamps;
use fourhop_cc::CaState;
use fourhop_units::{Dur, Time};

/// Ten segments in flight (the initial window), the first lost: RFC 5681 section 3.2 and RFC 3042.
#[test]
fn fast_retransmit_and_recovery() {
    let mut s = Script::sending(plain(), 1_000_000);
    assert_eq!(s.out.len(), 10);
    s.out.clear();
    s.ack(200, 1);
    s.ack(201, 1);
    s.expect(&[". 10001:11001(1000) ack 1", ". 11001:12001(1000) ack 1"]);
    assert_eq!(s.socket.recovery_state(), CaState::Disorder);
    s.ack(202, 1);
    s.expect(&[". 1:1001(1000) ack 1"]);
    // FlightSize without limited transmit is 10: equation 4 gives 5.
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh(), s.socket.recovery_state()), (5, 5, CaState::Recovery));
    // Inflation: 5 + 3 + further duplicates; the 13th segment leaves when it exceeds the 12 in flight.
    (203..207).for_each(|ms| s.ack(ms, 1));
    s.expect_nothing();
    s.ack(207, 1);
    s.expect(&[". 12001:13001(1000) ack 1"]);
    // Full acknowledgement (RFC 6582 section 3.2 step 3): the window returns to ssthresh.
    s.ack(300, 12_001);
    assert_eq!((s.socket.cwnd(), s.socket.recovery_state()), (2, CaState::Open));
    assert_eq!(s.socket.stats().fast_retransmits, 1);
}

/// Segments 1 and 4 of ten lost: the partial ACK retransmits the second hole (RFC 6582 section 3.2).
#[test]
fn a_partial_ack_retransmits_the_next_hole() {
    let mut s = Script::sending(plain(), 10_000);
    (200..203).for_each(|ms| s.ack(ms, 1));
    s.out.clear();
    s.ack(300, 3_001);
    s.expect(&[". 3001:4001(1000) ack 1"]);
    assert_eq!(s.socket.recovery_state(), CaState::Recovery);
    s.ack(400, 10_001);
    s.expect_nothing();
    assert_eq!(s.socket.recovery_state(), CaState::Open);
    assert_eq!(s.socket.stats().segments_retransmitted, 2);
}

/// RFC 6582 section 4: duplicate ACKs of data resent by a recovery or a timeout begin no second recovery.
#[test]
fn no_second_fast_retransmit_for_one_window() {
    let mut s = Script::sending(plain(), 10_000);
    s.out.clear();
    s.wait(1_100);
    s.expect(&[". 1:1001(1000) ack 1"]);
    (1_200..1_206).for_each(|ms| s.ack(ms, 1));
    assert_eq!(s.socket.stats().fast_retransmits, 0);
}

/// RFC 6298 section 5: doubling; RFC 5681 section 3.1: equation 4 once, window 1, slow start; the ACK skips what
/// arrived.
#[test]
fn timeouts_back_off_and_go_back() {
    let mut s = Script::sending(plain(), 10_000);
    s.out.clear();
    s.wait(1_099);
    s.expect_nothing();
    s.wait(1_100);
    s.expect(&[". 1:1001(1000) ack 1"]);
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh(), s.socket.rto()), (1, 5, Dur::from_secs(2)));
    s.wait(3_100);
    s.expect(&[". 1:1001(1000) ack 1"]);
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh()), (1, 5));
    s.ack(3_200, 1_001);
    s.expect(&[". 1001:2001(1000) ack 1", ". 2001:3001(1000) ack 1"]);
    // Karn: an acknowledgement of a retransmission leaves the back-off in place.
    assert_eq!(s.socket.rto(), Dur::from_secs(4));
    s.ack(3_300, 9_001);
    s.expect(&[". 9001:10001(1000) ack 1"]);
    s.ack(3_400, 10_001);
    s.expect_nothing();
    assert_eq!((s.socket.stats().timeouts, s.socket.next_timeout()), (2, None));
}

/// RFC 5681 section 3.1: the threshold falls with the first timeout of a segment, not with those of its
/// retransmissions. After an acknowledgement in between, the next timeout is the first for another segment.
#[test]
fn a_timeout_behind_an_acknowledgement_cuts_again() {
    let mut s = Script::sending(plain(), 10_000);
    s.wait(1_100);
    s.ack(1_200, 1_001);
    assert_eq!((s.socket.recovery_state(), s.socket.cwnd(), s.socket.ssthresh()), (CaState::Loss, 2, 5));
    s.wait(3_200);
    assert_eq!((s.socket.stats().timeouts, s.socket.cwnd(), s.socket.ssthresh()), (2, 1, 2));
}

/// RFC 7323 section 4: an echo tells which copy of a segment is acknowledged, so that a retransmission also gives a
/// round trip. Without it Karn's algorithm keeps the timeout doubled (RFC 6298 section 3).
#[test]
fn an_echo_measures_the_round_trip_of_a_retransmission() {
    for (timestamps, srtt, rto) in [(true, 93_750, 1_000), (false, 100_000, 2_000)] {
        let mut s = Script::active(Config { timestamps, ..plain() });
        s.socket.open(Time::ZERO, &mut s.out);
        let mut answer = segment("S.", 0, 0, 1);
        let echo = |s: &Script| s.last_segment().options.timestamps.map_or(0, |own| own.value);
        answer.options.timestamps = timestamps.then(|| Timestamps { value: 1, echo: echo(&s) });
        s.arrives(100, answer);
        s.socket.write(Time::from_millis(100), 500, &mut s.out);
        s.wait(1_100);
        assert_eq!((s.socket.stats().timeouts, s.socket.rto()), (1, Dur::from_secs(2)));
        let mut ack = segment(".", 1, 0, 501);
        ack.options.timestamps = timestamps.then(|| Timestamps { value: 2, echo: echo(&s) });
        s.arrives(1_150, ack);
        // From 100 and 50 ms; the minimum timeout is 1 s.
        let smoothed = s.socket.srtt().map(|srtt| srtt.as_nanos() / 1_000);
        assert_eq!((smoothed, s.socket.rto()), (Some(srtt), Dur::from_millis(rto)));
    }
}

/// ns-2.35: each timeout reduces the threshold; the initial timeout is 3 s before a sample, the minimum 0.2 s after it.
#[test]
fn ns2_timeouts() {
    let mut s = Script::sending(ns2(), 10_000);
    s.expect(&[". 1:1001(1000) ack 1", ". 1001:2001(1000) ack 1"]);
    // One sample of 100 ms: 10 ticks or, depending on the phase, 11; the RTO is 3 times that.
    let rto = s.socket.rto();
    assert!((Dur::from_millis(300)..=Dur::from_millis(330)).contains(&rto), "{rto}");
    s.wait(100 + rto.as_millis());
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh()), (1, 2));
    s.wait(100 + 3 * rto.as_millis());
    s.expect(&[". 1:1001(1000) ack 1", ". 1:1001(1000) ack 1"]);
}

/// ns-2.35: in recovery an ACK releases at most two new segments; halving an odd window keeps the half segment; the
/// full ACK grows the window and may release a burst.
#[test]
fn ns2_recovery() {
    let mut s = Script::sending(Config { initial_window: 9, ..ns2() }, 1_000_000);
    s.out.clear();
    (200..203).for_each(|ms| s.ack(ms, 1));
    s.expect(&[". 9001:10001(1000) ack 1", ". 10001:11001(1000) ack 1", ". 1:1001(1000) ack 1"]);
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh()), (4, 4));
    assert_eq!(s.socket.window().cwnd_cnt, 1 << 15);
    // floor(4.5) + 3 + 4 = 11 in flight: the fifth further duplicate releases one.
    (203..208).for_each(|ms| s.ack(ms, 1));
    s.expect(&[". 11001:12001(1000) ack 1"]);
    // A partial ACK over six: inflation 8 - 5, and at most two segments besides the retransmission.
    s.ack(300, 6_001);
    s.expect(&[". 6001:7001(1000) ack 1", ". 12001:13001(1000) ack 1"]);
    s.ack(400, 12_001);
    // 4.5 + 1/4.5 = 4.72.
    s.expect(&[". 13001:14001(1000) ack 1", ". 14001:15001(1000) ack 1", ". 15001:16001(1000) ack 1"]);
    assert_eq!((s.socket.cwnd(), s.socket.recovery_state()), (4, CaState::Open));
}

/// ns-2.35: after a timeout an ACK grows the window by one segment, however much it acknowledges.
#[test]
fn ns2_growth_counts_acks() {
    let mut s = Script::sending(Config { initial_window: 8, ..ns2() }, 1_000_000);
    s.wait(600);
    s.out.clear();
    s.ack(700, 5_001);
    assert_eq!(s.socket.cwnd(), 2);
    s.expect(&[". 5001:6001(1000) ack 1", ". 6001:7001(1000) ack 1"]);
}

/// RFC 6298 section 5.3 versus the impatient variant of RFC 6582: only the first partial ACK restarts the timer.
#[test]
fn the_impatient_variant_restarts_the_timer_once() {
    for (impatient, timeouts) in [(true, 1), (false, 0)] {
        let mut s = Script::sending(Config { impatient, ..plain() }, 10_000);
        (200..203).for_each(|ms| s.ack(ms, 1));
        s.ack(400, 2_001);
        s.ack(1_000, 3_001);
        s.wait(1_500);
        assert_eq!(s.socket.stats().timeouts, timeouts);
    }
}

/// Growth: slow start by one segment per ACK up to the threshold, then equation 3 (RFC 5681 section 3.1).
#[test]
fn slow_start_and_congestion_avoidance() {
    let config = Config { initial_window: 2, initial_ssthresh: 4, growth_limit: 1, ..plain() };
    let mut s = Script::sending(config, 1_000_000);
    s.ack(200, 1_001);
    s.ack(201, 2_001);
    assert_eq!(s.socket.cwnd(), 4);
    (2..7).for_each(|n| s.ack(300 + n, n as u32 * 1_000 + 1_001));
    assert_eq!(s.socket.cwnd(), 5);
}

/// RFC 9293 section 3.8.2 (and RFC 7661): a window that does not limit the sender does not grow.
#[test]
fn an_idle_window_does_not_grow() {
    for (config, grown) in [(plain(), 10), (Config { initial_window: 10, ..ns2() }, 13)] {
        let mut s = Script::established(config);
        for n in 0..3 {
            s.socket.write(Time::from_millis(200 + n * 100), 1_000, &mut s.out);
            s.ack(250 + n * 100, n as u32 * 1_000 + 1_001);
        }
        assert_eq!(s.socket.cwnd(), grown);
    }
}
