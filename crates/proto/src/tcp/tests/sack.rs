//! Recovery by selective acknowledgements: RFC 6675 and ns-2.35's `Sack1`.

use super::script::{Script, ns2, plain};
use crate::tcp::Config;
use fourhop_cc::CaState;

/// Ten segments in flight; 0, 1 and 5 are lost: RFC 6675 section 5 from the first report to the end.
#[test]
fn the_scoreboard_directs_recovery() {
    let mut s = Script::sending_with("sack", plain(), 1_000_000);
    s.out.clear();
    // Step 3: each report frees a segment of pipe.
    s.sack(200, 1, &[(2, 3)]);
    s.expect(&[". 10001:11001(1000) ack 1"]);
    s.sack(201, 1, &[(2, 4)]);
    s.expect(&[". 11001:12001(1000) ack 1"]);
    assert_eq!(s.socket.recovery_state(), CaState::Disorder);
    // Three reports: FlightSize 10 gives 5. Pipe: 0 resent, 5 to 11 in flight, 1 lost: 8 segments.
    s.sack(202, 1, &[(2, 5)]);
    s.expect(&[". 1:1001(1000) ack 1"]);
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh(), s.socket.recovery_state()), (5, 5, CaState::Recovery));
    // The receiver has 6, 7, 8: pipe falls to 7, 6, 5, 4 (5 is lost once three segments above it have arrived).
    s.sack(203, 1, &[(6, 7), (2, 5)]);
    s.sack(204, 1, &[(6, 8), (2, 5)]);
    s.expect_nothing();
    s.sack(205, 1, &[(6, 9), (2, 5)]);
    s.expect(&[". 1001:2001(1000) ack 1"]);
    // One more report: hole 5, by rule 1, before new data.
    s.sack(206, 1, &[(6, 10), (2, 5)]);
    s.expect(&[". 5001:6001(1000) ack 1"]);
    s.sack(207, 1, &[(6, 11), (2, 5)]);
    s.expect(&[". 12001:13001(1000) ack 1"]);
    // Partial ACK: 0 has arrived.
    s.sack(300, 1_001, &[(6, 11), (2, 5)]);
    s.expect(&[". 13001:14001(1000) ack 1"]);
    // The recovery point: the data sent when recovery began.
    s.ack(400, 12_001);
    assert_eq!((s.socket.recovery_state(), s.socket.cwnd()), (CaState::Open, 5));
    s.expect(&[". 14001:15001(1000) ack 1", ". 15001:16001(1000) ack 1", ". 16001:17001(1000) ack 1"]);
    assert_eq!(s.socket.stats().segments_retransmitted, 3);
}

/// RFC 6675 section 5: duplicate ACKs that report nothing do not count; one report with the bytes of three segments is
/// enough.
#[test]
fn evidence_counts_not_acks() {
    let mut s = Script::sending_with("sack", plain(), 1_000_000);
    s.out.clear();
    (200..210).for_each(|ms| s.ack(ms, 1));
    s.expect_nothing();
    assert_eq!(s.socket.recovery_state(), CaState::Open);
    s.sack(210, 1, &[(1, 4)]);
    assert_eq!(s.socket.recovery_state(), CaState::Recovery);
    s.expect(&[". 1:1001(1000) ack 1"]);
}

/// RFC 6675 section 4, rules 3 and 4: with no new data to send, a hole not known to be lost is resent and then, once
/// the first retransmission has arrived, the last segment, once.
#[test]
fn the_tail_is_rescued_once() {
    let mut s = Script::sending_with("sack", Config { initial_window: 12, ..plain() }, 9_000);
    s.out.clear();
    // 0 and 8 are lost, 5 is late.
    s.sack(200, 1, &[(1, 5)]);
    s.expect(&[". 1:1001(1000) ack 1"]);
    s.sack(201, 1, &[(6, 8), (1, 5)]);
    s.expect(&[". 5001:6001(1000) ack 1"]);
    s.sack(300, 5_001, &[(6, 8)]);
    s.expect(&[". 8001:9001(1000) ack 1"]);
    s.sack(310, 8_001, &[]);
    s.expect_nothing();
    s.ack(400, 9_001);
    assert_eq!((s.socket.recovery_state(), s.socket.next_timeout()), (CaState::Open, None));
}

/// RFC 6675 section 5.1 and RFC 2018 section 8: a timeout clears the reports; data reported later is not resent, and no
/// recovery begins before the recovery point.
#[test]
fn after_a_timeout_reports_are_skipped() {
    let mut s = Script::sending_with("sack", plain(), 10_000);
    s.sack(200, 1, &[(4, 5)]);
    s.out.clear();
    s.wait(1_100);
    s.expect(&[". 1:1001(1000) ack 1"]);
    s.sack(1_200, 1_001, &[(2, 9)]);
    s.expect(&[". 1001:2001(1000) ack 1", ". 9001:10001(1000) ack 1"]);
    assert_eq!((s.socket.recovery_state(), s.socket.stats().fast_retransmits), (CaState::Loss, 0));
    s.ack(1_300, 10_001);
    assert_eq!(s.socket.recovery_state(), CaState::Open);
}

/// A peer that does not know SACK gets NewReno.
#[test]
fn without_sack_there_is_newreno() {
    let sack = fourhop_cc::Transport::find("sack").expect("a transport of that name");
    let mut s = Script::active_with(sack, plain());
    s.socket.open(fourhop_units::Time::ZERO, &mut s.out);
    assert!(s.last_segment().options.sack_permitted);
    s.arrives(100, super::script::segment("S.", 0, 0, 1));
    s.socket.write(fourhop_units::Time::from_millis(100), 10_000, &mut s.out);
    s.out.clear();
    (200..203).for_each(|ms| s.ack(ms, 1));
    s.expect(&[". 1:1001(1000) ack 1"]);
    s.ack(300, 3_001);
    s.expect(&[". 3001:4001(1000) ack 1"]);
}

/// ns-2.35's `Sack1`: pipe starts at outstanding minus three, each hole is resent once, in ascending order; minus two
/// per partial ACK; no growth at the end.
#[test]
fn ns2_counts_pipe() {
    let mut s = Script::sending_with("sack", Config { initial_window: 9, ..ns2() }, 1_000_000);
    s.out.clear();
    // 0, 4 and 6 are lost.
    s.sack(200, 1, &[(1, 2)]);
    s.sack(201, 1, &[(1, 3)]);
    s.expect(&[". 9001:10001(1000) ack 1", ". 10001:11001(1000) ack 1"]);
    s.sack(202, 1, &[(1, 4)]);
    s.expect(&[". 1:1001(1000) ack 1"]);
    assert_eq!((s.socket.cwnd(), s.socket.window().cwnd_cnt), (4, 1 << 15));
    // Pipe 11 - 3 = 8; four ACKs reduce it to 4, the fifth to 3: hole 4, with only three segments above it arrived.
    s.sack(203, 1, &[(5, 6), (1, 4)]);
    s.sack(204, 1, &[(7, 8), (5, 6), (1, 4)]);
    s.sack(205, 1, &[(7, 9), (5, 6), (1, 4)]);
    s.sack(206, 1, &[(7, 10), (5, 6), (1, 4)]);
    s.expect_nothing();
    s.sack(207, 1, &[(7, 11), (5, 6), (1, 4)]);
    s.expect(&[". 4001:5001(1000) ack 1"]);
    // A partial ACK subtracts two: hole 6 and a new segment.
    s.sack(300, 4_001, &[(7, 11), (5, 6)]);
    s.expect(&[". 6001:7001(1000) ack 1", ". 11001:12001(1000) ack 1"]);
    s.ack(400, 11_001);
    assert_eq!((s.socket.recovery_state(), s.socket.cwnd()), (CaState::Open, 4));
    assert_eq!(s.socket.window().cwnd_cnt, 1 << 15, "no growth");
    s.expect(&[". 12001:13001(1000) ack 1", ". 13001:14001(1000) ack 1", ". 14001:15001(1000) ack 1"]);
}

/// ns-2.35: reports do not count between a timeout and the next new ACK.
#[test]
fn ns2_is_deaf_after_a_timeout() {
    let mut s = Script::sending_with("sack", Config { initial_window: 9, ..ns2() }, 1_000_000);
    s.wait(600);
    s.out.clear();
    (610..620).for_each(|ms| s.sack(ms, 1, &[(1, (ms - 608) as u32)]));
    s.expect_nothing();
    s.ack(700, 9_001);
    s.expect(&[". 9001:10001(1000) ack 1", ". 10001:11001(1000) ack 1"]);
}
