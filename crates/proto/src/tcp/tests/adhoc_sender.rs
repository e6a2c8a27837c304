//! Ad hoc TCP's sender: every transition of the state machine in `adhoc::Freeze` (figures 6 and 7 of the paper).
//!
//! The peer is an ad hoc receiver with a window of two segments; its first acknowledgement reveals this by taking back
//! part of the SYN-ACK's offer. The timeout is 1 s.

use super::script::{Script, plain, segment};
use crate::tcp::Config;
use crate::tcp::adhoc::{Phase, SenderOptions, SenderStats};
use crate::wire::TcpSegment;
use fourhop_units::{Dur, Time};

fn adhoc() -> Config {
    let options = SenderOptions { probe_max: Dur::from_secs(32), probe_rtos: None };
    Config { adhoc_sender: Some(options), initial_window: 2, sack: true, ..plain() }
}

fn window(ack: u32, window: u16) -> TcpSegment {
    TcpSegment { window, ..segment(".", 1, 0, ack) }
}

/// Segments 3 (bytes 2001 to 3000) and 2 in flight at 200 ms, the receiver recognised, `bytes` written.
fn running(bytes: u64) -> Script {
    let mut s = Script::sending_with("sack", adhoc(), bytes);
    s.expect(&[". 1:1001(1000) ack 1", ". 1001:2001(1000) ack 1"]);
    s.arrives(200, window(1_001, 2_000));
    s.expect(&[". 2001:3001(1000) ack 1"]);
    assert!(s.socket.freeze().is_active() && !s.socket.freeze().is_frozen());
    s
}

#[track_caller]
fn phase(s: &Script, phase: Phase) {
    assert_eq!(s.socket.freeze().phase(), phase);
}

/// To any other receiver it is an ordinary sender: timeouts resend and back off.
#[test]
fn towards_a_standard_receiver_nothing_changes() {
    let mut s = Script::sending_with("sack", adhoc(), 2_000);
    s.out.clear();
    s.wait(1_100);
    s.expect(&[". 1:1001(1000) ack 1"]);
    s.wait(3_099);
    s.expect_nothing();
    s.wait(3_100);
    s.expect(&[". 1:1001(1000) ack 1"]);
    assert_eq!(*s.socket.freeze().stats(), SenderStats::default());
}

/// Running to waiting: a closed window stops the sender and its timer. Waiting to running: the next acknowledgement
/// with a window restarts both, and the threshold becomes that window.
#[test]
fn a_closed_window_freezes_and_an_open_one_thaws() {
    let mut s = running(50_000);
    s.arrives(300, window(2_001, 0));
    phase(&s, Phase::Waiting);
    s.expect_nothing();
    s.arrives(1_250, window(3_001, 3_000));
    phase(&s, Phase::Running);
    assert_eq!((s.socket.ssthresh(), s.socket.stats().timeouts), (3, 0));
    s.expect(&[". 3001:4001(1000) ack 1", ". 4001:5001(1000) ack 1", ". 5001:6001(1000) ack 1"]);
    // The retransmission timer is running again.
    let expires = 1_250 + s.socket.rto().as_millis();
    s.wait(expires - 1);
    phase(&s, Phase::Running);
    s.wait(expires + 1);
    phase(&s, Phase::Waiting);
    assert_eq!(s.socket.stats().timeouts, 1);
}

/// Waiting to waiting: each acknowledgement that keeps the window closed restarts the wait.
#[test]
fn another_closed_window_prolongs_the_wait() {
    let mut s = running(50_000);
    s.arrives(300, window(1_001, 0));
    s.arrives(1_200, window(2_001, 0));
    s.wait(2_199);
    phase(&s, Phase::Waiting);
    s.expect_nothing();
    s.wait(2_200);
    phase(&s, Phase::Probing);
    s.expect(&[". 2000:2000(0) ack 1"]);
}

/// Waiting ends no later: data from the peer says nothing about the data in flight.
#[test]
fn data_of_the_peer_does_not_prolong_the_wait() {
    let mut s = running(50_000);
    s.arrives(300, window(1_001, 0));
    s.arrives(1_200, TcpSegment { window: 0, ..segment(".", 1, 700, 1_001) });
    s.out.clear();
    s.wait(1_299);
    phase(&s, Phase::Waiting);
    s.expect_nothing();
    s.wait(1_300);
    phase(&s, Phase::Probing);
}

/// A closed window in the acknowledgement of everything leaves nothing to wait for.
#[test]
fn the_last_acknowledgement_thaws() {
    let mut s = running(3_000);
    s.socket.close(Time::from_millis(250), &mut s.out);
    s.arrives(260, window(1_001, 3_000));
    s.expect(&["F. 3001:3001(0) ack 1"]);
    s.arrives(300, window(3_001, 0));
    s.wait(1_300);
    phase(&s, Phase::Probing);
    s.out.clear();
    s.arrives(1_400, window(3_002, 0));
    phase(&s, Phase::Running);
    s.wait(100_000);
    s.expect_nothing();
}

/// A connection that no longer exists is not frozen, either.
#[test]
fn a_reset_ends_the_frozen_state() {
    let mut s = running(50_000);
    s.arrives(300, window(1_001, 0));
    phase(&s, Phase::Waiting);
    s.arrives(400, segment("R", 1, 0, 0));
    assert_eq!((s.socket.freeze().phase(), s.socket.next_timeout()), (Phase::Running, None));
}

/// Waiting to probing: after one more timeout the data in flight is given up, and a probe without payload is sent.
/// Probing to running: slow start from one segment, up to the window in the answer; the round trip does not count.
#[test]
fn after_one_more_time_out_probes_go_and_slow_start_follows() {
    let mut s = running(50_000);
    s.arrives(300, window(1_001, 0));
    let srtt = s.socket.srtt();
    s.wait(1_299);
    phase(&s, Phase::Waiting);
    s.wait(1_300);
    phase(&s, Phase::Probing);
    s.expect(&[". 1000:1000(0) ack 1"]);
    // Segment 2 had arrived, but its acknowledgement had not.
    s.arrives(1_500, window(2_001, 4_000));
    phase(&s, Phase::Running);
    assert_eq!((s.socket.srtt(), s.socket.ssthresh()), (srtt, 4));
    assert_eq!(s.socket.cwnd(), 1);
    s.expect(&[". 2001:3001(1000) ack 1"]);
    s.arrives(1_600, window(3_001, 4_000));
    assert_eq!(s.socket.cwnd(), 2);
    assert_eq!(s.socket.freeze().stats().probes, 1);
}

/// Running to asking: with nothing in flight the probe is sent at once. Asking to running: its answer loses nothing.
#[test]
fn with_nothing_under_way_it_asks_at_once() {
    let mut s = running(50_000);
    let window_before = s.socket.cwnd();
    s.arrives(300, window(3_001, 0));
    phase(&s, Phase::Asking);
    s.expect(&[". 3000:3000(0) ack 1"]);
    s.arrives(400, window(3_001, 2_000));
    phase(&s, Phase::Running);
    assert!(s.socket.cwnd() > window_before);
    s.expect(&[". 3001:4001(1000) ack 1", ". 4001:5001(1000) ack 1"]);
}

/// From waiting to asking: all data in flight is acknowledged, but the window stays closed.
#[test]
fn when_nothing_is_left_under_way_it_asks() {
    let mut s = running(50_000);
    s.arrives(300, window(2_001, 0));
    s.expect_nothing();
    s.arrives(350, window(3_001, 0));
    phase(&s, Phase::Asking);
    s.expect(&[". 3000:3000(0) ack 1"]);
    assert_eq!(s.socket.freeze().stats().by_zero_window, 1);
}

/// Asking to probing: the first probe fails, so slow start follows.
#[test]
fn an_unanswered_question_begins_slow_start() {
    let mut s = running(50_000);
    s.arrives(300, window(3_001, 0));
    s.out.clear();
    s.wait(1_300);
    phase(&s, Phase::Probing);
    s.expect(&[". 3000:3000(0) ack 1"]);
    s.arrives(1_400, window(3_001, 4_000));
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh()), (1, 4));
    s.expect(&[". 3001:4001(1000) ack 1"]);
}

/// From running to waiting, provisionally: the window shrinks below the data in flight, and the next arrivals open it
/// again.
#[test]
fn a_window_below_what_is_under_way_freezes_provisionally() {
    let mut s = running(50_000);
    s.arrives(300, window(1_001, 1_000));
    phase(&s, Phase::Waiting);
    assert_eq!((s.socket.freeze().stats().provisional, s.socket.ssthresh()), (1, 2));
    s.expect_nothing();
    s.arrives(400, window(2_001, 2_000));
    phase(&s, Phase::Running);
    s.expect(&[". 3001:4001(1000) ack 1"]);
}

/// Waiting to waiting: the window is still below the data in flight.
#[test]
fn a_window_that_stays_below_keeps_it_frozen() {
    let mut s = running(50_000);
    s.arrives(300, window(1_001, 1_000));
    s.arrives(400, window(1_001, 1_500));
    phase(&s, Phase::Waiting);
    s.wait(1_399);
    phase(&s, Phase::Waiting);
    s.expect_nothing();
    s.wait(1_400);
    phase(&s, Phase::Probing);
}

/// Running to waiting by a timeout: nothing is resent, the sender waits for one more timeout, and an acknowledgement
/// that was merely late finds everything unchanged.
#[test]
fn a_time_out_waits_for_one_more() {
    let mut s = running(50_000);
    let before = *s.socket.window();
    s.wait(1_200);
    phase(&s, Phase::Waiting);
    s.expect_nothing();
    assert_eq!((s.socket.stats().timeouts, s.socket.ssthresh()), (1, 2));
    s.arrives(2_100, window(3_001, 2_000));
    phase(&s, Phase::Running);
    assert!(s.socket.cwnd() >= before.cwnd);
    s.expect(&[". 3001:4001(1000) ack 1", ". 4001:5001(1000) ack 1"]);
    assert_eq!(s.socket.stats().segments_retransmitted, 0);
}

/// A duplicate acknowledgement also thaws, and restarts the retransmission timer: no deadlock if nothing else arrives.
#[test]
fn a_duplicate_thaws_and_the_timer_runs() {
    let mut s = running(50_000);
    s.arrives(300, window(1_001, 0));
    s.arrives(400, window(1_001, 2_000));
    phase(&s, Phase::Running);
    s.expect_nothing();
    s.wait(1_400);
    phase(&s, Phase::Waiting);
    assert_eq!(s.socket.stats().timeouts, 1);
}

/// Probing to probing: probes at doubling intervals up to 32 s, no timeout backs off, and the next answer makes up for
/// a lost one.
#[test]
fn probes_back_off_and_the_time_out_does_not() {
    let mut s = running(50_000);
    s.wait(2_200);
    let mut at = 2_200;
    for gap in [1, 2, 4, 8, 16, 32, 32] {
        s.expect(&[". 1000:1000(0) ack 1"]);
        at += 1_000 * gap;
        s.wait(at - 1);
        s.expect_nothing();
        s.wait(at);
    }
    s.expect(&[". 1000:1000(0) ack 1"]);
    assert_eq!(s.socket.rto(), Dur::from_secs(1));
    s.arrives(at + 100, window(1_001, 2_000));
    s.expect(&[". 1001:2001(1000) ack 1"]);
    assert_eq!(s.socket.stats().timeouts, 1);
}

/// The bound from S_min: probes are at most two of the largest timeouts apart.
#[test]
fn the_time_outs_of_the_path_bound_the_interval() {
    let mut config = adhoc();
    config.adhoc_sender = Some(SenderOptions { probe_max: Dur::from_secs(32), probe_rtos: Some(2) });
    let mut s = Script::sending_with("sack", config, 50_000);
    s.socket.note_hops(5);
    s.arrives(200, window(1_001, 2_000));
    s.wait(2_200);
    s.out.clear();
    for at in [3_200, 5_200, 7_200, 9_200] {
        s.wait(at - 1);
        s.expect_nothing();
        s.wait(at);
        s.expect(&[". 1000:1000(0) ack 1"]);
    }
}

/// Probing, answered with a closed window: it stays frozen, keeps probing, and does not give up.
#[test]
fn a_window_that_stays_closed_is_asked_about_for_ever() {
    let config = Config { max_timeouts: Some(3), ..adhoc() };
    let mut s = Script::sending_with("sack", config, 50_000);
    s.arrives(200, window(1_001, 2_000));
    s.arrives(300, window(3_001, 0));
    for _ in 0..20 {
        let at = s.socket.next_timeout().expect("a frozen sender always wakes").as_nanos() / 1_000_000;
        s.wait(at);
        s.arrives(at + 50, window(3_001, 0));
    }
    assert!(s.socket.freeze().is_frozen());
    s.out.clear();
    let at = s.socket.next_timeout().expect("a frozen sender always wakes").as_nanos() / 1_000_000;
    s.arrives(at + 50, window(3_001, 2_000));
    s.expect(&[". 3000:3000(0) ack 1", ". 3001:4001(1000) ack 1"]);
}

/// RFC 9293 section 3.8.3: a peer that answers no probe is eventually given up.
#[test]
fn a_silent_peer_is_given_up() {
    let config = Config { max_timeouts: Some(3), ..adhoc() };
    let mut s = Script::sending_with("sack", config, 50_000);
    s.arrives(200, window(1_001, 2_000));
    s.out.clear();
    s.wait(100_000);
    let probe = ". 1000:1000(0) ack 1";
    // The fourth consecutive probe without an answer is one too many.
    s.expect(&[probe, probe, probe, probe, "reset"]);
    assert_eq!(s.socket.next_timeout(), None);
}

/// Frozen, then everything is acknowledged with nothing left to send: there is nothing to probe for.
#[test]
fn with_nothing_left_to_send_it_thaws() {
    let mut s = running(3_000);
    s.arrives(300, window(2_001, 0));
    phase(&s, Phase::Waiting);
    s.arrives(400, window(3_001, 0));
    phase(&s, Phase::Running);
    s.expect_nothing();
    assert_eq!(s.socket.next_timeout(), None);
}

/// The user closes while frozen: the FIN waits for the window like the data.
#[test]
fn a_close_waits_for_the_window() {
    let mut s = running(3_000);
    s.arrives(300, window(2_001, 0));
    s.socket.close(Time::from_millis(310), &mut s.out);
    s.expect_nothing();
    s.arrives(400, window(3_001, 0));
    s.expect(&[". 3000:3000(0) ack 1"]);
    s.arrives(500, window(3_001, 2_000));
    s.expect(&["F. 3001:3001(0) ack 1"]);
}

/// Section III-E: fast retransmit reduces to the advertised window, not to half.
#[test]
fn a_fast_retransmit_sets_the_threshold_to_the_window() {
    let mut s = Script::sending_with("sack", Config { initial_window: 8, ..adhoc() }, 50_000);
    s.arrives(200, TcpSegment { window: 7_000, ..segment(".", 1, 0, 1_001) });
    s.out.clear();
    for n in [2, 3, 4] {
        let mut segment = segment(".", 1, 0, 1_001);
        segment.window = 7_000;
        let edge = |n: u32| segment.ack + n * 1_000;
        segment.options.sack = [(edge(1), edge(n))].into_iter().collect();
        s.arrives(200 + u64::from(n), segment);
    }
    assert_eq!((s.socket.stats().fast_retransmits, s.socket.ssthresh(), s.socket.cwnd()), (1, 7, 7));
    s.expect(&[". 1001:2001(1000) ack 1"]);
}
