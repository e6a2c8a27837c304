//! Vegas's retransmissions (Brakmo et al. 1995, section 3.1) and ns-2.35's variant of them.

use super::script::{Script, ns2, plain};
use crate::tcp::Config;
use fourhop_cc::CaState;

/// Ten segments in flight, round trips of 100 ms; the ACKs of the first two set the fine clock to 146 and 130 ms.
fn sending(config: Config) -> Script {
    let mut s = Script::sending_with("vegas", Config { initial_window: 10, initial_ssthresh: 2, ..config }, 1_000_000);
    s.ack(200, 1_001);
    s.ack(200, 2_001);
    s.out.clear();
    s
}

/// The first duplicate ACK finds the oldest segment overdue: it is resent at once, long before three duplicates, and
/// the window is reduced by a quarter.
#[test]
fn the_first_duplicate_ack_resends_an_overdue_segment() {
    let mut s = sending(plain());
    s.ack(210, 2_001);
    s.expect_nothing();
    assert_eq!(s.socket.cwnd(), 10);
    s.ack(240, 2_001);
    assert_eq!(s.socket.recovery_state(), CaState::Recovery);
    s.expect(&[". 2001:3001(1000) ack 1"]);
    assert_eq!((s.socket.cwnd(), s.socket.stats().fast_retransmits), (8 + 2, 1));
    // The next new ACK ends the inflation.
    s.ack(300, 3_001);
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh(), s.socket.recovery_state()), (8, 2, CaState::Open));
}

/// A young segment waits for the third duplicate ACK.
#[test]
fn the_third_duplicate_ack_resends_any_segment() {
    let mut s = sending(plain());
    (205..208).for_each(|ms| s.ack(ms, 2_001));
    s.expect(&[". 2001:3001(1000) ack 1", ". 12001:13001(1000) ack 1"]);
    assert_eq!(s.socket.stats().fast_retransmits, 1);
}

/// The first two new ACKs after a retransmission check the next segment; the window has been reduced once already.
#[test]
fn new_acks_after_a_retransmission_look_for_more() {
    let mut s = sending(plain());
    s.ack(240, 2_001);
    s.out.clear();
    s.ack(330, 4_001);
    s.expect(&[". 4001:5001(1000) ack 1"]);
    assert_eq!((s.socket.cwnd(), s.socket.stats().segments_retransmitted), (8, 2));
}

/// ns-2.35: such a retransmission doubles the coarse timeout; the inflation stays if no further duplicates arrived; a
/// timeout leaves a window of 2.
#[test]
fn ns2_backs_off_and_keeps_the_inflation() {
    let mut s = sending(ns2());
    let before = s.socket.rto();
    s.ack(240, 2_001);
    assert_eq!(s.socket.rto().as_millis(), 2 * before.as_millis());
    s.ack(300, 3_001);
    assert_eq!(s.socket.cwnd(), 8 + 1);
    let mut s = sending(ns2());
    s.out.clear();
    s.wait(900);
    assert_eq!((s.socket.cwnd(), s.socket.stats().timeouts), (2, 1));
    s.expect(&[". 2001:3001(1000) ack 1", ". 3001:4001(1000) ack 1"]);
}

/// Only ns-2.35's Vegas sends segments that take air time without a header.
#[test]
fn only_ns2_hides_headers() {
    assert!(sending(ns2()).socket.hides_headers() && !sending(plain()).socket.hides_headers());
    assert!(!Script::established(ns2()).socket.hides_headers());
}
