//! RACK-TLP: the rules and examples of RFC 8985.

use super::script::{Script, plain};
use crate::tcp::{Config, SackRecovery};
use fourhop_cc::CaState;
use fourhop_units::Time;

fn rack() -> Config {
    Config { sack_recovery: SackRecovery::RackTlp, ..plain() }
}

/// Ten segments in flight, sent at 100 ms.
fn ten() -> Script {
    let mut s = Script::sending_with("sack", rack(), 1_000_000);
    assert_eq!(s.out.len(), 10);
    s.out.clear();
    s
}

/// Section 6.2 steps 4 and 5: if no reordering was seen, three SACKed segments are enough, and there is no wait; with
/// fewer, a quarter of the minimum round trip must pass. Here segment 0 is missing, 1 and 2 arrive at 200 ms: the wait
/// ends at 200 + 25 ms.
#[test]
fn a_quarter_of_the_round_trip_is_waited_for_reordering() {
    let mut s = ten();
    s.sack(200, 1, &[(1, 3)]);
    s.expect(&[". 10001:11001(1000) ack 1", ". 11001:12001(1000) ack 1"]);
    assert_eq!(s.socket.recovery_state(), CaState::Disorder);
    assert_eq!(s.socket.next_timeout(), Some(Time::from_millis(225)));
    s.wait(224);
    s.expect_nothing();
    s.wait(225);
    assert_eq!((s.socket.recovery_state(), s.socket.cwnd()), (CaState::Recovery, 5));
    s.expect(&[". 1:1001(1000) ack 1"]);
}

#[test]
fn three_reported_segments_end_the_wait() {
    let mut s = ten();
    s.sack(200, 1, &[(1, 4)]);
    s.expect(&[". 1:1001(1000) ack 1"]);
    assert_eq!((s.socket.recovery_state(), s.socket.ssthresh()), (CaState::Recovery, 5));
    // The window is 5 segments, and 7 are in flight; there is room again when three more have arrived.
    s.sack(210, 1, &[(1, 6)]);
    s.expect_nothing();
    s.sack(211, 1, &[(1, 7)]);
    s.expect(&[". 10001:11001(1000) ack 1"]);
    s.ack(320, 10_001);
    assert_eq!((s.socket.recovery_state(), s.socket.cwnd()), (CaState::Open, 5));
}

/// Section 6.2 step 3: a late arrival that was not retransmitted is reordering, and from then on segments wait however
/// many are SACKed.
#[test]
fn reordering_that_was_seen_makes_it_wait() {
    let mut s = ten();
    s.sack(200, 1, &[(1, 3)]);
    s.ack(210, 3_001);
    assert_eq!((s.socket.recovery_state(), s.socket.stats().segments_retransmitted), (CaState::Open, 0));
    s.out.clear();
    // 3 is missing. The last round trip is 120 ms, a quarter of the minimum 25 ms: it waits until 100 + 120 + 25 ms.
    s.sack(220, 3_001, &[(4, 9)]);
    assert_eq!(s.socket.recovery_state(), CaState::Disorder);
    assert_eq!(s.socket.next_timeout(), Some(Time::from_millis(245)));
    s.ack(230, 10_001);
    assert_eq!((s.socket.recovery_state(), s.socket.stats().segments_retransmitted), (CaState::Open, 0));
}

/// Section 3.3.1 (lost retransmissions): the retransmission is lost as well; an arrival sent after it proves that, a
/// round trip later and without a timeout.
#[test]
fn a_lost_retransmission_is_found() {
    let mut s = ten();
    s.sack(200, 1, &[(1, 10)]);
    s.expect(&[
        ". 1:1001(1000) ack 1",
        ". 10001:11001(1000) ack 1",
        ". 11001:12001(1000) ack 1",
        ". 12001:13001(1000) ack 1",
        ". 13001:14001(1000) ack 1",
    ]);
    s.sack(300, 1, &[(1, 11)]);
    s.expect(&[". 1:1001(1000) ack 1", ". 14001:15001(1000) ack 1"]);
    assert_eq!((s.socket.stats().timeouts, s.socket.stats().fast_retransmits), (0, 1));
    s.ack(400, 14_001);
    assert_eq!(s.socket.recovery_state(), CaState::Open);
}

/// RFC 8985 section 3.4, figure of the tail: the last three of ten are lost. After two round trips without news the
/// last one is resent; its SACK proves the others lost.
#[test]
fn a_probe_finds_a_lost_tail() {
    let mut s = Script::sending_with("sack", Config { initial_window: 10, ..rack() }, 10_000);
    s.out.clear();
    s.ack(200, 7_001);
    // PTO: twice the smoothed round trip of 100 ms.
    assert_eq!(s.socket.next_timeout(), Some(Time::from_millis(400)));
    s.wait(400);
    s.expect(&[". 9001:10001(1000) ack 1"]);
    assert_eq!(s.socket.stats().tail_probes, 1);
    s.sack(500, 7_001, &[(9, 10)]);
    // One segment is no proof before the reordering window has passed: RACK.rtt + 25 ms after the departure of the
    // first two is long past.
    s.expect(&[". 7001:8001(1000) ack 1", ". 8001:9001(1000) ack 1"]);
    assert_eq!((s.socket.recovery_state(), s.socket.stats().timeouts), (CaState::Recovery, 0));
    s.ack(600, 10_001);
    assert_eq!((s.socket.recovery_state(), s.socket.next_timeout()), (CaState::Open, None));
}

/// Section 7.3: unsent data takes precedence over a retransmission; section 7.4: an answer to it is not a loss.
#[test]
fn a_probe_sends_new_data_if_there_is_any() {
    let mut s = Script::sending_with("sack", Config { initial_window: 2, ..rack() }, 10_000);
    s.expect(&[". 1:1001(1000) ack 1", ". 1001:2001(1000) ack 1"]);
    s.wait(300);
    s.expect(&[". 2001:3001(1000) ack 1"]);
    s.ack(310, 3_001);
    assert_eq!((s.socket.recovery_state(), s.socket.stats().segments_retransmitted), (CaState::Open, 0));
}

/// Section 7.4: an ACK beyond the probe means that the probe has repaired the only loss, which halves the window.
#[test]
fn a_probe_that_repairs_the_last_segment_counts_as_a_loss() {
    let mut s = Script::sending_with("sack", Config { initial_window: 10, ..rack() }, 10_000);
    s.ack(200, 9_001);
    s.out.clear();
    // A single segment: its ACK may have been delayed, by at most 200 ms (section 7.2).
    s.wait(599);
    s.expect_nothing();
    s.wait(600);
    s.expect(&[". 9001:10001(1000) ack 1"]);
    let before = s.socket.cwnd();
    // Only data sent later takes the acknowledgement number beyond the probe.
    s.socket.write(Time::from_millis(610), 1_000, &mut s.out);
    s.expect(&[". 10001:11001(1000) ack 1"]);
    s.ack(700, 11_001);
    assert!(s.socket.cwnd() < before, "{} of {before}", s.socket.cwnd());
    assert_eq!((s.socket.recovery_state(), s.socket.stats().timeouts), (CaState::Open, 0));
}

/// Section 7.4 case 1: the segment had arrived, only its ACK had not: a D-SACK says so, and the window is not reduced.
#[test]
fn a_probe_that_was_not_needed_costs_nothing() {
    let mut s = Script::sending_with("sack", Config { initial_window: 10, ..rack() }, 10_000);
    s.ack(200, 9_001);
    s.wait(600);
    s.out.clear();
    let before = s.socket.cwnd();
    s.sack(690, 10_001, &[(9, 10)]);
    assert_eq!((s.socket.cwnd(), s.socket.recovery_state()), (before, CaState::Open));
}

/// The same, with later data acknowledged by the same ACK: the D-SACK decides whether the window is reduced.
#[test]
fn a_d_sack_of_the_probe_and_of_nothing_else_saves_the_window() {
    for (twice, saved) in [(9, true), (8, false)] {
        let mut s = Script::sending_with("sack", Config { initial_window: 10, ..rack() }, 10_000);
        s.ack(200, 9_001);
        s.wait(600);
        let before = s.socket.cwnd();
        s.socket.write(Time::from_millis(610), 1_000, &mut s.out);
        s.sack(700, 11_001, &[(twice, twice + 1)]);
        assert_eq!(s.socket.cwnd() >= before, saved, "{} of {before}", s.socket.cwnd());
    }
}

/// Section 6.3: a timeout marks as lost the first segment and all that have waited as long; segments just sent are not.
#[test]
fn a_timeout_takes_no_more_for_lost_than_has_waited() {
    let config = Config { initial_window: 4, rto_min: fourhop_units::Dur::from_millis(200), ..rack() };
    let mut s = Script::sending_with("sack", config, 1_000_000);
    s.out.clear();
    // 0 and 1 arrive; 2 and 3 do not, nor does anything after them.
    s.ack(200, 2_001);
    s.expect(&[
        ". 4001:5001(1000) ack 1",
        ". 5001:6001(1000) ack 1",
        ". 6001:7001(1000) ack 1",
        ". 7001:8001(1000) ack 1",
    ]);
    s.wait(400);
    s.expect(&[". 8001:9001(1000) ack 1"]);
    // The probe has restarted the timer: 300 ms is SRTT + 4 RTTVAR for two samples of 100 ms.
    let due = s.socket.next_timeout().expect("the retransmission timer");
    s.wait(due.as_nanos() / 1_000_000 + 1);
    assert_eq!((s.socket.recovery_state(), s.socket.cwnd(), s.socket.stats().timeouts), (CaState::Loss, 1, 1));
    s.expect(&[". 2001:3001(1000) ack 1"]);
    // Its ACK lets slow start resend two more of the lost segments.
    let at = due.as_nanos() / 1_000_000 + 100;
    s.ack(at, 3_001);
    s.expect(&[". 3001:4001(1000) ack 1", ". 4001:5001(1000) ack 1"]);
}

/// Section 6.2 step 4: each round with a D-SACK widens the window by a quarter of the minimum round trip.
#[test]
fn a_needless_retransmission_widens_the_window() {
    let mut s = ten();
    s.sack(200, 1, &[(1, 3)]);
    s.wait(225);
    s.out.clear();
    // The original arrives late, then the copy: a D-SACK.
    s.ack(240, 12_001);
    assert_eq!((s.out.len(), s.socket.recovery_state()), (5, CaState::Open));
    s.sack(330, 12_001, &[(0, 1)]);
    // The first of the segments sent at 240 ms is missing. The window is now 50 ms: twice a quarter of 100.
    s.sack(340, 12_001, &[(13, 15)]);
    assert_eq!(s.socket.recovery_state(), CaState::Disorder);
    assert_eq!(s.socket.next_timeout(), Some(Time::from_millis(390)));
}

/// RFC 2883: a duplicate is reported by the first block, once, whether it is before the acknowledgement or beyond it.
#[test]
fn a_receiver_reports_what_comes_twice() {
    let mut s = Script::sending_with("sack", rack(), 0);
    let data = |n: u32| super::script::segment(".", 1 + n * 1_000, 1_000, 1);
    s.arrives(200, data(0));
    s.out.clear();
    s.arrives(210, data(0));
    s.expect(&[". 1:1(0) ack 1001 sack 1-1001"]);
    s.arrives(220, data(2));
    s.expect(&[". 1:1(0) ack 1001 sack 2001-3001"]);
    s.arrives(230, data(2));
    s.expect(&[". 1:1(0) ack 1001 sack 2001-3001 sack 2001-3001"]);
    s.arrives(240, data(3));
    s.expect(&[". 1:1(0) ack 1001 sack 2001-4001"]);
    // A sender without RACK does not use the reports, so its socket sends none.
    let mut s = Script::sending_with("sack", plain(), 0);
    s.arrives(200, data(0));
    s.out.clear();
    s.arrives(210, data(0));
    s.expect(&[". 1:1(0) ack 1001"]);
}

/// RFC 3522: the first acknowledgement after a timeout echoes the original's timestamp: nothing was lost, and the
/// window is restored. One that echoes the retransmission's timestamp leaves it reduced.
#[test]
fn a_needless_timeout_is_taken_back() {
    for (echoes_original, cwnd, state) in [(true, 10, CaState::Open), (false, 2, CaState::Loss)] {
        let mut s = Script::active_with(
            fourhop_cc::Transport::find("sack").expect("known"),
            Config { timestamps: true, ..rack() },
        );
        s.socket.open(Time::ZERO, &mut s.out);
        let stamp = |value, echo| Some(crate::wire::Timestamps { value, echo });
        let mut answer = super::script::segment("S.", 0, 0, 1);
        (answer.options.sack_permitted, answer.options.timestamps) = (true, stamp(1, 0));
        s.arrives(100, answer);
        s.socket.write(Time::from_millis(100), 1_000_000, &mut s.out);
        let sent = |s: &Script| s.last_segment().options.timestamps.expect("agreed").value;
        let original = sent(&s);
        s.wait(2_000);
        assert_eq!((s.socket.stats().timeouts, s.socket.cwnd()), (1, 1));
        let echo = if echoes_original { original } else { sent(&s) };
        let mut ack = super::script::segment(".", 1, 0, 989);
        ack.options.timestamps = stamp(2, echo);
        s.arrives(2_010, ack);
        assert_eq!((s.socket.cwnd().min(10), s.socket.recovery_state()), (cwnd, state));
        assert_eq!(s.socket.stats().timeouts_undone, u64::from(echoes_original));
    }
}
