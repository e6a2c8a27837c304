//! Flow control (RFC 9293 section 3.8.6), Nagle, the receiver's blocks, limits and pacing.

use super::script::{Script, plain, segment};
use crate::tcp::Config;
use fourhop_units::{Dur, Time};

fn window(ack: u32, window: u16) -> crate::wire::TcpSegment {
    crate::wire::TcpSegment { window, ..segment(".", 1, 0, ack) }
}

/// RFC 9293 section 3.8.6.1: a closed window is probed with one byte, at doubling intervals, and a missing answer to a
/// probe is not treated as a loss.
#[test]
fn zero_window_and_probe() {
    let mut s = Script::sending(plain(), 3_000);
    s.out.clear();
    s.arrives(200, window(3_001, 0));
    s.socket.write(Time::from_millis(200), 5_000, &mut s.out);
    s.expect_nothing();
    s.wait(1_199);
    s.expect_nothing();
    s.wait(1_200);
    s.expect(&[". 3001:3002(1) ack 1"]);
    s.arrives(1_300, window(3_001, 0));
    s.wait(3_200);
    s.expect(&[". 3001:3002(1) ack 1"]);
    for ms in [3_300, 3_301, 3_302, 3_303] {
        s.arrives(ms, window(3_001, 0));
    }
    s.expect_nothing();
    assert_eq!((s.socket.stats().window_probes, s.socket.stats().fast_retransmits), (2, 0));
    s.arrives(4_000, window(3_001, 2_000));
    s.expect(&[". 3001:4001(1000) ack 1", ". 4001:5001(1000) ack 1"]);
    assert_eq!(s.socket.stats().timeouts, 0);
}

/// 4.4BSD waits 5 s before the first probe; the intervals then double up to the maximum timeout.
#[test]
fn the_first_probe_may_wait() {
    let config = Config { persist_min: Dur::from_secs(5), rto_max: Dur::from_secs(18), ..plain() };
    let mut s = Script::sending(config, 3_000);
    s.out.clear();
    s.arrives(200, window(3_001, 0));
    s.socket.write(Time::from_millis(200), 5_000, &mut s.out);
    for at in [5_200, 15_200, 33_200, 51_200] {
        s.wait(at - 1);
        s.expect_nothing();
        s.wait(at);
        s.expect(&[". 3001:3002(1) ack 1"]);
    }
}

/// The probe's byte may be accepted: the stream continues after it.
#[test]
fn a_probe_that_is_taken_counts() {
    let mut s = Script::sending(plain(), 3_000);
    s.arrives(200, window(3_001, 0));
    s.socket.write(Time::from_millis(200), 1_500, &mut s.out);
    s.wait(1_200);
    s.out.clear();
    s.arrives(1_300, window(3_002, 5_000));
    s.expect(&[". 3002:4002(1000) ack 1", ". 4002:4501(499) ack 1"]);
}

/// A segment from before the window is answered, but its new acknowledgement counts: 4.4BSD, against RFC 9293 section
/// 3.10.7.4. Under the RFC's rule, two ends that had both accepted a probe would never agree again.
#[test]
fn an_old_segment_may_acknowledge() {
    let mut s = Script::sending(plain(), 3_000);
    s.out.clear();
    s.arrives(150, segment(".", 1, 500, 1));
    s.expect(&["delivered 500", ". 3001:3001(0) ack 501"]);
    s.arrives(200, segment(".", 1, 0, 3_001));
    s.expect(&[". 3001:3001(0) ack 501"]);
    assert_eq!((s.socket.stats().bytes_acked, s.socket.next_timeout()), (3_000, None));
}

/// A peer that has filled the window, but whose first part was lost, acknowledges from the window's right edge.
#[test]
fn an_acknowledgement_from_the_right_edge_counts() {
    let mut s = Script::sending(Config { receive_buffer: 2_000, ..plain() }, 3_000);
    s.out.clear();
    s.arrives(150, segment(".", 1_001, 1_000, 1));
    s.arrives(200, segment(".", 2_001, 0, 3_001));
    assert_eq!(s.socket.stats().bytes_acked, 3_000);
}

/// RFC 9293 section 3.8.6.2.1: no small segment into a window that opens in small steps, until the override timer.
#[test]
fn silly_windows_are_avoided() {
    let mut s = Script::sending(plain(), 3_000);
    s.arrives(200, window(3_001, 300));
    s.out.clear();
    s.socket.write(Time::from_millis(200), 5_000, &mut s.out);
    s.expect_nothing();
    s.wait(1_200);
    s.expect(&[". 3001:3301(300) ack 1"]);
}

/// The peer shrinks its window below the data in flight: resent after the timeout, never lost.
#[test]
fn a_shrunk_window_is_survived() {
    let mut s = Script::sending(plain(), 3_000);
    s.out.clear();
    s.arrives(200, window(1, 0));
    s.wait(1_100);
    s.expect(&[". 1:1001(1000) ack 1"]);
    s.arrives(1_200, window(1_001, 5_000));
    s.expect(&[". 1001:2001(1000) ack 1", ". 2001:3001(1000) ack 1"]);
}

/// RFC 9293 section 3.7.4.
#[test]
fn nagle_holds_back_small_segments() {
    for (nagle, sent) in [(true, 1), (false, 3)] {
        let mut s = Script::established(Config { nagle, ..plain() });
        for _ in 0..3 {
            s.socket.write(Time::from_millis(200), 100, &mut s.out);
        }
        assert_eq!(s.out.len(), sent);
        s.ack(300, 101);
        assert_eq!(s.out.len(), if nagle { 2 } else { 3 });
    }
}

/// The receive window closes while the application does not read, and opens with a window update.
#[test]
fn a_slow_reader_closes_the_window() {
    let config = Config { explicit_read: true, receive_buffer: 3_000, ..plain() };
    let mut s = Script::established(config);
    for n in 0..3 {
        s.arrives(200 + u64::from(n), segment(".", 1 + n * 1_000, 1_000, 1));
    }
    assert_eq!((s.last_segment().window, s.socket.readable()), (0, 3_000));
    s.out.clear();
    // A probe finds it closed.
    s.arrives(300, segment(".", 3_001, 1, 1));
    s.expect(&[". 1:1(0) ack 3001"]);
    assert_eq!(s.socket.read(Time::from_millis(310), 500, &mut s.out), 500);
    s.expect_nothing();
    s.socket.read(Time::from_millis(320), 1_000, &mut s.out);
    assert_eq!(s.last_segment().window, 1_500);
    s.expect(&[". 1:1(0) ack 3001"]);
}

/// RFC 2018 sections 3 and 4: each duplicate ACK reports what has arrived, the latest first.
#[test]
fn the_receiver_reports_what_it_holds() {
    let mut s = Script::active(Config { sack: true, ..plain() });
    s.socket.open(Time::ZERO, &mut s.out);
    let mut answer = segment("S.", 0, 0, 1);
    answer.options.sack_permitted = true;
    s.arrives(100, answer);
    s.out.clear();
    s.arrives(200, segment(".", 1_001, 1_000, 1));
    s.arrives(201, segment(".", 3_001, 1_000, 1));
    s.arrives(202, segment(".", 1, 1_000, 1));
    s.expect(&[
        ". 1:1(0) ack 1 sack 1001-2001",
        ". 1:1(0) ack 1 sack 3001-4001 sack 1001-2001",
        "delivered 2000",
        ". 1:1(0) ack 2001 sack 3001-4001",
    ]);
}

/// `window_limit` limits the data in flight, not the window.
#[test]
fn the_window_limit_bounds_what_is_under_way() {
    let mut s = Script::sending(Config { window_limit: Some(4), grow_only_when_limited: false, ..plain() }, 50_000);
    assert_eq!((s.out.len(), s.socket.in_flight()), (4, 4_000));
    s.ack(200, 4_001);
    assert_eq!(s.socket.in_flight(), 4_000);
    assert!(s.socket.cwnd() > 10);
}

/// A pacing interval spaces the starts of segments; retransmissions do not wait unless asked to.
#[test]
fn pacing_spaces_segments() {
    for (paced, ms) in [(false, 105), (true, 110)] {
        let mut s = Script::established(Config { pace_retransmissions: paced, ..plain() });
        s.socket.tx.control.window_mut().pacing = Some(Dur::from_millis(10));
        s.socket.write(Time::from_millis(100), 100_000, &mut s.out);
        s.expect(&[". 1:1001(1000) ack 1"]);
        s.ack(103, 1);
        s.ack(104, 1);
        s.expect_nothing();
        s.ack(105, 1);
        s.wait(ms - 1);
        if paced {
            s.expect_nothing();
        }
        s.wait(ms);
        s.expect(&[". 1:1001(1000) ack 1"]);
    }
    let mut s = Script::established(plain());
    s.socket.tx.control.window_mut().pacing = Some(Dur::from_millis(10));
    s.socket.write(Time::from_millis(100), 100_000, &mut s.out);
    s.wait(129);
    s.expect(&[". 1:1001(1000) ack 1", ". 1001:2001(1000) ack 1", ". 2001:3001(1000) ack 1"]);
}
