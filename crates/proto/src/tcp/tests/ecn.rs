//! ECN: packet scripts following the rules of RFC 3168 section 6.1.

use super::script::{Script, plain, segment};
use crate::tcp::Config;
use crate::wire::{Ecn, TcpSegment};
use fourhop_cc::CaState;
use fourhop_units::Time;

fn ecn() -> Config {
    Config { ecn: true, ..plain() }
}

/// ECN agreed upon, `bytes` written at 100 ms.
fn sending(bytes: u64) -> Script {
    let mut s = Script::active(ecn());
    s.socket.open(Time::ZERO, &mut s.out);
    s.arrives(100, segment("SE.", 0, 0, 1));
    s.out.clear();
    s.socket.write(Time::from_millis(100), bytes, &mut s.out);
    s
}

/// Section 6.1.1: a SYN offers with ECE and CWR, its answer agrees with ECE alone; neither is sent ECN-capable.
#[test]
fn both_ends_agree_or_neither_listens() {
    let mut s = Script::active(ecn());
    s.socket.open(Time::ZERO, &mut s.out);
    s.expect(&["SEW 0:0(0)"]);
    let mut s = Script::passive(ecn());
    s.arrives(0, segment("SEW", 0, 0, 0));
    s.expect(&["SE. 0:0(0) ack 1"]);
    for (wanted, flags, agreed) in [(true, "S", false), (true, "SE", false), (false, "SEW", false)] {
        let mut s = Script::passive(Config { ecn: wanted, ..plain() });
        s.arrives(0, segment(flags, 0, 0, 0));
        assert_eq!(s.last_segment().flags.ece, agreed, "{flags}");
    }
    // An answer with both bits, as from a host that reflects unknown bits, does not agree.
    for (flags, ecn) in [("SE.", Ecn::Ect0), ("SEW.", Ecn::NotEct), ("S.", Ecn::NotEct)] {
        let mut s = Script::active(Config { ecn: true, ..plain() });
        s.socket.open(Time::ZERO, &mut s.out);
        s.arrives(100, segment(flags, 0, 0, 1));
        s.socket.write(Time::from_millis(100), 1_000, &mut s.out);
        assert_eq!(s.last_segment().ecn, ecn, "{flags}");
    }
}

/// Sections 6.1.4 and 6.1.5: new data may be marked; retransmissions and pure acknowledgements may not.
#[test]
fn new_data_alone_may_be_marked() {
    let mut s = sending(10_000);
    assert!((0..10).all(|_| s.last_segment().ecn == Ecn::Ect0));
    s.out.clear();
    (200..203).for_each(|ms| s.ack(ms, 1));
    let again = s.out.iter().find_map(|action| match action {
        crate::tcp::Action::Send { segment, .. } if segment.seq == s.socket.tx.space.una.seq(s.socket.tx.space.iss) => {
            Some(segment.ecn)
        }
        _ => None,
    });
    assert_eq!(again, Some(Ecn::NotEct));
    s.out.clear();
    s.arrives(300, segment(".", 1, 500, 1));
    s.expect(&["delivered 500", ". 10001:10001(0) ack 501"]);
}

/// Section 6.1.3: the receiver echoes a mark in every acknowledgement until the sender signals that it has reduced its
/// window. A segment with both a mark and that signal leaves it echoing.
#[test]
fn a_mark_is_echoed_until_it_is_answered() {
    let mut s = Script::passive(ecn());
    s.arrives(0, segment("SEW", 0, 0, 0));
    s.arrives(10, segment(".", 1, 0, 1));
    s.out.clear();
    let data = |n: u32, flags: &str, ecn| TcpSegment { ecn, ..segment(flags, 1 + n * 1_000, 1_000, 1) };
    let mut echo = |ms, segment| {
        s.arrives(ms, segment);
        let ece = s.last_segment().flags.ece;
        s.out.clear();
        ece
    };
    assert!(!echo(20, data(0, ".", Ecn::Ect0)));
    assert!(echo(21, data(1, ".", Ecn::Ce)));
    assert!(echo(22, data(2, ".", Ecn::Ect0)));
    assert!(!echo(23, data(3, "W.", Ecn::Ect0)));
    assert!(echo(24, data(4, "W.", Ecn::Ce)));
    assert_eq!(s.socket.stats().marks_received, 2);
}

/// Section 6.1.2: an echo reduces the window once per window and does not grow it, and the next new data signals this.
#[test]
fn an_echo_is_answered_once_a_window() {
    let mut s = sending(1_000_000);
    s.out.clear();
    s.arrives(200, segment("E.", 1, 0, 1_001));
    assert_eq!((s.socket.cwnd(), s.socket.ssthresh(), s.socket.recovery_state()), (5, 5, CaState::Open));
    s.expect_nothing();
    for n in 2..=5u32 {
        s.arrives(200 + u64::from(n), segment("E.", 1, 0, n * 1_000 + 1));
    }
    assert_eq!((s.socket.cwnd(), s.socket.stats().marks_answered), (5, 1));
    s.expect_nothing();
    s.ack(206, 6_001);
    s.expect(&["W. 10001:11001(1000) ack 1 Ect0"]);
    s.ack(207, 7_001);
    s.expect(&[". 11001:12001(1000) ack 1 Ect0"]);
    // The window that was in flight then is over: another echo is a new signal.
    s.ack(210, 10_001);
    s.arrives(310, segment("E.", 1, 0, 11_001));
    assert_eq!(s.socket.stats().marks_answered, 2);
    assert_eq!(s.socket.stats().segments_retransmitted, 0);
}

/// Section 6.1.2: a loss in the same window has been answered already.
#[test]
fn a_loss_answers_the_marks_of_its_window() {
    let mut s = sending(1_000_000);
    (200..203).for_each(|ms| s.ack(ms, 1));
    let window = s.socket.ssthresh();
    assert_eq!(s.socket.recovery_state(), CaState::Recovery);
    s.arrives(300, segment("E.", 1, 0, 5_001));
    assert_eq!((s.socket.ssthresh(), s.socket.stats().marks_answered), (window, 0));
}

/// CUBIC keeps seven tenths (RFC 9438 section 4.6), Reno half.
#[test]
fn every_algorithm_answers_in_its_way() {
    for (transport, left) in [("newreno", 5), ("sack", 5), ("cubic", 7)] {
        let mut s = Script::active_with(fourhop_cc::Transport::find(transport).expect("known"), ecn());
        s.socket.open(Time::ZERO, &mut s.out);
        let mut answer = segment("SE.", 0, 0, 1);
        answer.options.sack_permitted = true;
        s.arrives(100, answer);
        s.socket.write(Time::from_millis(100), 1_000_000, &mut s.out);
        s.arrives(200, segment("E.", 1, 0, 1_001));
        assert_eq!((s.socket.cwnd(), s.socket.recovery_state()), (left, CaState::Open), "{transport}");
    }
}
