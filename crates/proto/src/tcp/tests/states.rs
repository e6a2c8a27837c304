//! Opening, closing, resetting (RFC 9293 sections 3.5, 3.6, 3.10.7) and options.

use super::script::{Script, ns2, plain, segment};
use crate::tcp::{Config, ReceiverPolicy, Socket, State};
use crate::wire::Timestamps;
use fourhop_units::{Dur, Time};

/// RFC 9293 figure 6; the acknowledgement is piggybacked on data if there is any.
#[test]
fn active_open() {
    let mut s = Script::active(plain());
    s.socket.open(Time::ZERO, &mut s.out);
    s.expect(&["S 0:0(0)"]);
    s.arrives(100, segment("S.", 0, 0, 1));
    s.expect(&["connected", ". 1:1(0) ack 1"]);
    assert_eq!((s.socket.state(), s.socket.srtt()), (State::Established, Some(Dur::from_millis(100))));

    let mut s = Script::active(plain());
    s.socket.open(Time::ZERO, &mut s.out);
    s.socket.write(Time::ZERO, 500, &mut s.out);
    s.out.clear();
    s.arrives(100, segment("S.", 0, 0, 1));
    s.expect(&["connected", ". 1:501(500) ack 1"]);
}

#[test]
fn passive_open() {
    let mut s = Script::passive(plain());
    s.arrives(0, segment("S", 0, 0, 0));
    s.expect(&["S. 0:0(0) ack 1"]);
    s.arrives(100, segment(".", 1, 300, 1));
    s.expect(&["connected", "delivered 300", ". 1:1(0) ack 301"]);
    assert_eq!(s.socket.ports(), (4_000, 80));
}

/// RFC 9293 section 3.5, figure 7.
#[test]
fn simultaneous_open() {
    let mut s = Script::active(plain());
    s.socket.open(Time::ZERO, &mut s.out);
    s.arrives(50, segment("S", 0, 0, 0));
    s.expect(&["S 0:0(0)", "S. 0:0(0) ack 1"]);
    s.arrives(100, segment(".", 1, 0, 1));
    s.expect(&["connected"]);
}

/// RFC 6298 section 5.7 and RFC 5681 section 3.1: a lost SYN is resent after 1 s, 2 s, ...; then the window starts at
/// one segment and the timeout at 3 s.
#[test]
fn a_lost_syn_is_sent_again() {
    let mut s = Script::active(plain());
    s.socket.open(Time::ZERO, &mut s.out);
    s.wait(999);
    s.expect(&["S 0:0(0)"]);
    s.wait(1_000);
    s.expect(&["S 0:0(0)"]);
    s.wait(2_999);
    s.expect_nothing();
    s.wait(3_000);
    s.expect(&["S 0:0(0)"]);
    s.arrives(3_100, segment("S.", 0, 0, 1));
    assert_eq!((s.socket.cwnd(), s.socket.rto()), (1, Dur::from_secs(3)));
}

/// RFC 9293 section 3.8.3: the user is informed that the peer never answers.
#[test]
fn a_peer_that_never_answers_is_given_up() {
    let mut s = Script::active(Config { max_timeouts: Some(3), ..plain() });
    s.socket.open(Time::ZERO, &mut s.out);
    s.wait(60_000);
    s.expect(&["S 0:0(0)", "S 0:0(0)", "S 0:0(0)", "S 0:0(0)", "reset"]);
    assert_eq!(s.socket.next_timeout(), None);
}

/// RFC 9293 section 3.10.7.3: a refused connection; a reset with another number is ignored, and an unacceptable
/// acknowledgement is answered with a reset.
#[test]
fn refusal() {
    let mut s = Script::active(plain());
    s.socket.open(Time::ZERO, &mut s.out);
    s.out.clear();
    s.arrives(10, segment("R", 0, 0, 0));
    s.expect_nothing();
    s.arrives(10, segment(".", 0, 0, 9));
    s.expect(&["R 9:9(0)"]);
    s.arrives(20, segment("R.", 0, 0, 1));
    s.expect(&["reset"]);
}

/// RFC 9293 section 3.6, case 1: the user closes first.
#[test]
fn active_close() {
    let mut s = Script::sending(plain(), 500);
    s.socket.close(Time::from_millis(100), &mut s.out);
    s.expect(&[". 1:501(500) ack 1", "F. 501:501(0) ack 1"]);
    s.ack(200, 502);
    assert_eq!(s.socket.state(), State::FinWait2);
    s.arrives(210, segment(".", 1, 100, 502));
    s.arrives(220, segment("F.", 101, 0, 502));
    s.expect(&["delivered 100", ". 502:502(0) ack 101", "peerclosed", ". 502:502(0) ack 102"]);
    // The peer lost that: its repeated FIN is answered, and restarts the 2 MSL.
    s.arrives(50_000, segment("F.", 101, 0, 502));
    s.expect(&[". 502:502(0) ack 102"]);
    s.wait(109_999);
    s.expect_nothing();
    s.wait(110_000);
    s.expect(&["closed"]);
}

/// RFC 9293 section 3.6, case 2: the peer closes first; data still flows the other way.
#[test]
fn passive_close() {
    let mut s = Script::established(plain());
    s.arrives(200, segment("F.", 1, 100, 1));
    s.expect(&["delivered 100", "peerclosed", ". 1:1(0) ack 102"]);
    s.socket.write(Time::from_millis(300), 100, &mut s.out);
    s.socket.close(Time::from_millis(300), &mut s.out);
    s.expect(&[". 1:101(100) ack 102", "F. 101:101(0) ack 102"]);
    s.arrives(400, segment(".", 102, 0, 102));
    s.expect(&["closed"]);
}

/// RFC 9293 section 3.10.7.4, seventh check: no text follows a FIN. If a peer sends some anyway, none is accepted.
#[test]
fn payload_behind_the_fin_is_ignored() {
    let mut s = Script::established(plain());
    s.arrives(200, segment("F.", 1, 100, 1));
    s.expect(&["delivered 100", "peerclosed", ". 1:1(0) ack 102"]);
    s.arrives(300, segment(".", 102, 50, 1));
    s.expect_nothing();
    assert_eq!(s.socket.state(), State::CloseWait);
}

/// RFC 9293 section 3.6, figure 13: both close at once.
#[test]
fn simultaneous_close() {
    let mut s = Script::established(plain());
    s.socket.close(Time::from_millis(100), &mut s.out);
    s.arrives(120, segment("F.", 1, 0, 1));
    s.expect(&["F. 1:1(0) ack 1", "peerclosed", ". 2:2(0) ack 2"]);
    assert_eq!(s.socket.state(), State::Closing);
    s.arrives(200, segment(".", 2, 0, 2));
    assert_eq!(s.socket.state(), State::TimeWait);
}

/// The FIN acknowledged and the peer's FIN in one segment (RFC 9293 section 3.10.7.4, eighth check, FIN-WAIT-1).
#[test]
fn fin_and_its_acknowledgement_in_one_segment() {
    let mut s = Script::established(plain());
    s.socket.close(Time::from_millis(100), &mut s.out);
    s.arrives(200, segment("F.", 1, 0, 2));
    s.expect(&["F. 1:1(0) ack 1", "peerclosed", ". 2:2(0) ack 2"]);
    assert_eq!(s.socket.state(), State::TimeWait);
}

/// A FIN that overtakes data takes effect once the gap is closed.
#[test]
fn an_early_fin_waits_for_the_data() {
    let mut s = Script::established(plain());
    s.arrives(200, segment("F.", 101, 100, 1));
    s.expect(&[". 1:1(0) ack 1"]);
    s.arrives(210, segment(".", 1, 100, 1));
    s.expect(&["delivered 200", "peerclosed", ". 1:1(0) ack 202"]);
}

/// A lost FIN is resent (RFC 6298 section 5.4).
#[test]
fn a_lost_fin_is_sent_again() {
    let mut s = Script::established(plain());
    s.socket.close(Time::from_millis(100), &mut s.out);
    s.wait(1_100);
    s.expect(&["F. 1:1(0) ack 1", "F. 1:1(0) ack 1"]);
    s.ack(1_200, 2);
    assert_eq!(s.socket.state(), State::FinWait2);
}

/// RFC 5961 sections 3.2 and 4.2: only the exact number resets; others in the window, and any SYN, are challenged.
#[test]
fn resets_and_stray_syns() {
    let mut s = Script::established(plain());
    s.arrives(200, segment("R", 500, 0, 0));
    s.expect(&[". 1:1(0) ack 1"]);
    s.arrives(210, segment("S", 1, 0, 0));
    s.expect(&[". 1:1(0) ack 1"]);
    s.arrives(220, segment("R", 60_000, 0, 0));
    s.expect_nothing();
    s.arrives(230, segment("R", 1, 0, 0));
    s.expect(&["reset"]);
}

#[test]
fn abort_resets_the_peer() {
    let mut s = Script::sending(plain(), 500);
    s.out.clear();
    s.socket.abort(&mut s.out);
    s.expect(&["R. 501:501(0) ack 1", "closed"]);
}

/// RFC 9293 section 3.10.7.4, fifth check: an acknowledgement of unsent data is answered and ignored.
#[test]
fn an_ack_of_the_future_is_answered() {
    let mut s = Script::established(plain());
    s.ack(200, 5_000);
    s.expect(&[". 1:1(0) ack 1"]);
}

/// RFC 9293 section 3.7.1, RFC 7323 sections 2 and 3, RFC 2018 section 2: the offers of a SYN; an answer offers only
/// what the SYN did.
#[test]
fn options_are_negotiated() {
    let mut s = Script::active(Config { mss: 1_000, ..Config::standard() });
    s.socket.open(Time::ZERO, &mut s.out);
    let options = s.last_segment().options;
    assert_eq!((options.mss, options.window_scale, options.sack_permitted), (Some(1_000), Some(5), true));
    assert!(options.timestamps.is_some());

    let mut s = Script::passive(Config { mss: 1_000, ..Config::standard() });
    s.arrives(0, segment("S", 0, 0, 0));
    let options = s.last_segment().options;
    assert_eq!((options.mss, options.window_scale, options.sack_permitted), (Some(1_000), None, false));
    assert_eq!((options.timestamps, s.last_segment().window), (None, u16::MAX));

    let mut s = Script::active(ns2());
    s.socket.open(Time::ZERO, &mut s.out);
    let options = s.last_segment().options;
    assert_eq!((options.sack_permitted, options.timestamps), (false, None));
}

/// RFC 6691: a peer without the option gets 536 bytes; timestamps take their room from the payload.
#[test]
fn the_segment_size_follows_the_peer_and_the_options() {
    let mut s = Script::active(plain());
    s.socket.open(Time::ZERO, &mut s.out);
    s.socket.write(Time::ZERO, 600, &mut s.out);
    s.out.clear();
    let mut answer = segment("S.", 0, 0, 1);
    answer.options.mss = None;
    s.arrives(100, answer);
    s.expect(&["connected", ". 1:537(536) ack 1", ". 537:601(64) ack 1"]);

    let mut s = Script::active(Config { timestamps: true, ..plain() });
    s.socket.open(Time::ZERO, &mut s.out);
    let ours = s.last_segment().options.timestamps.expect("timestamps").value;
    s.socket.write(Time::ZERO, 5_000, &mut s.out);
    s.out.clear();
    let mut answer = segment("S.", 0, 0, 1);
    answer.options.timestamps = Some(Timestamps { value: 77, echo: ours });
    s.arrives(100, answer);
    let last = s.last_segment();
    assert_eq!(last.options.timestamps, Some(Timestamps { value: ours.wrapping_add(100), echo: 77 }));
    assert_eq!(last.payload + last.header_len(), 5_000 % 988 + 32);
}

/// RFC 7323 section 5.3: a segment with an older timestamp is acknowledged and dropped.
#[test]
fn old_timestamps_are_dropped() {
    let mut s = Script::active(Config { timestamps: true, ..plain() });
    s.socket.open(Time::ZERO, &mut s.out);
    let stamped = |flags, seq, len, ack, value, echo| {
        let mut segment = segment(flags, seq, len, ack);
        segment.options.timestamps = Some(Timestamps { value, echo });
        segment
    };
    s.arrives(100, stamped("S.", 0, 0, 1, 1_000, 0));
    s.out.clear();
    s.arrives(200, stamped(".", 1, 100, 1, 1_100, 0));
    s.expect(&["delivered 100", ". 1:1(0) ack 101"]);
    s.arrives(210, stamped(".", 101, 100, 1, 1_099, 0));
    s.expect(&[". 1:1(0) ack 101"]);
    s.arrives(220, stamped(".", 101, 100, 1, 1_100, 0));
    s.expect(&["delivered 100", ". 1:1(0) ack 201"]);
}

/// RFC 9293 section 3.10.7.1: a reset has the number acknowledged by the segment; if there is none, the reset
/// acknowledges the segment, its SYN included. A reset gets no answer.
#[test]
fn what_no_socket_takes_is_reset() {
    let reset = |flags| Socket::refuse(&segment(flags, 7, 100, 9));
    let found = reset(".").expect("an answer");
    assert_eq!((found.flags.rst, found.flags.ack, found.seq), (true, false, segment(".", 0, 0, 9).ack));
    for (flags, next) in [("", 107), ("S", 108)] {
        let found = reset(flags).expect("an answer");
        assert_eq!(
            (found.flags.rst, found.flags.ack, found.ack),
            (true, true, segment(".", next, 0, 0).seq),
            "{flags}"
        );
    }
    assert_eq!((reset("R"), reset("R.")), (None, None));
}

/// RFC 5681 section 4.2: every second full segment, otherwise within the delay; gaps and their ends at once.
#[test]
fn delayed_acks() {
    let mut s = Script::established(Config { receiver: ReceiverPolicy::delayed(Dur::from_millis(40)), ..plain() });
    s.arrives(200, segment(".", 1, 1_000, 1));
    s.expect(&["delivered 1000", ". 1:1(0) ack 1001"]);
    s.arrives(210, segment(".", 1_001, 1_000, 1));
    s.wait(249);
    s.expect(&["delivered 1000"]);
    s.wait(250);
    s.expect(&[". 1:1(0) ack 2001"]);
    s.arrives(300, segment(".", 2_001, 1_000, 1));
    s.arrives(301, segment(".", 3_001, 1_000, 1));
    s.expect(&["delivered 1000", "delivered 1000", ". 1:1(0) ack 4001"]);
    s.arrives(310, segment(".", 5_001, 1_000, 1));
    s.expect(&[". 1:1(0) ack 4001"]);
    s.arrives(320, segment(".", 4_001, 1_000, 1));
    s.expect(&["delivered 2000", ". 1:1(0) ack 6001"]);
    // Data in the other direction carries the acknowledgement.
    s.arrives(400, segment(".", 6_001, 1_000, 1));
    s.socket.write(Time::from_millis(410), 100, &mut s.out);
    s.wait(500);
    s.expect(&["delivered 1000", ". 1:101(100) ack 7001"]);
}
