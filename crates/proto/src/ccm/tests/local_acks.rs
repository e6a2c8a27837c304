//! Local acknowledgements: packet scripts. Segments have 1,000 bytes, numbers begin at 1, and unless stated otherwise
//! the measured window is 2,000 bytes and the peer's 9,000.

use super::{segment, seq, syn};
use crate::ccm::local_acks::{Limits, LocalAcks, Segments};
use crate::wire::{TcpFlags, TcpSegment, Timestamps};
use fourhop_units::{Dur, Seq, Time};

const LIMITS: Limits = Limits { window: Some(2_000), shift: 0, own_shift: 0, segment: 1_000 };

struct Script {
    local: LocalAcks,
    limits: Limits,
    now: Time,
    out: Segments,
}

impl Script {
    /// After a handshake that ends with the window field `window` from the peer.
    fn new(limits: Limits, window: u16) -> Script {
        let mut script = Script { local: LocalAcks::default(), limits, now: Time::ZERO, out: Segments::default() };
        script.outgoing(syn(1_000, None, false));
        script.incoming(syn(1_000, None, true));
        script.ack(1, window);
        script.out = Segments::default();
        script
    }

    fn outgoing(&mut self, segment: TcpSegment) {
        self.local.handle_outgoing(self.now, segment, &self.limits, &mut self.out);
    }

    fn incoming(&mut self, segment: TcpSegment) {
        self.local.handle_incoming(self.now, segment, &self.limits, &mut self.out);
    }

    /// Segments of the local TCP.
    fn data(&mut self, from: impl IntoIterator<Item = u32>) {
        from.into_iter().for_each(|from| self.outgoing(segment(from, 1_000, 1, 9_000)));
    }

    /// An acknowledgement from the peer.
    fn ack(&mut self, ack: u32, window: u16) {
        self.incoming(segment(1, 0, ack, window));
    }

    fn timeout(&mut self) {
        self.now = self.local.next_timeout().expect("a timer runs");
        self.local.handle_timeout(self.now, &mut self.out);
    }

    /// Sequence numbers of the segments sent to the network.
    fn down(&mut self) -> Vec<u32> {
        self.out.down.drain(..).map(|segment| segment.seq.to_wire()).collect()
    }

    /// Acknowledgement and window field of the segments for the local TCP.
    fn up(&mut self) -> Vec<(u32, u16)> {
        self.out.up.drain(..).map(|segment| (segment.ack.to_wire(), segment.window)).collect()
    }
}

/// Data is acknowledged at once, kept, and resent after a timeout; its FIN is left to the peer.
#[test]
fn what_is_acknowledged_here_is_kept_until_the_peer_has_it() {
    let mut script = Script::new(LIMITS, 3_500);
    // Three segments: two fit the window and leave; three fit the peer's and are acknowledged, a fourth is not.
    script.data([1, 1_001, 2_001, 3_001]);
    assert_eq!(script.down(), [1, 1_001]);
    assert_eq!(script.up(), [(1_001, 2_500), (2_001, 1_500), (3_001, 500)]);
    assert_eq!((script.local.buffered(), script.local.next_timeout()), (3_000, Some(Time::from_secs(1))));
    script.timeout();
    assert_eq!((script.down(), script.local.next_timeout()), (vec![1], Some(Time::from_secs(3))));
    // All but the FIN is acknowledged; a reset ends everything.
    script.now = Time::from_secs(2);
    script.ack(2_001, 9_000);
    assert_eq!(script.down(), [2_001, 3_001]);
    let mut fin = segment(4_001, 0, 1, 9_000);
    fin.flags.fin = true;
    script.up();
    script.outgoing(fin);
    assert!(script.down().is_empty() && script.up().iter().all(|&(ack, _)| ack <= 4_001));
    let mut rst = segment(1, 0, 4_001, 0);
    rst.flags.rst = true;
    script.incoming(rst);
    assert!(!script.local.holds() && script.local.next_timeout().is_none());
}

/// RFC 7323: with a shift of 3 the field counts units of 8 bytes. Twice the window is 4,000 bytes, 500 of these units,
/// less the bytes acknowledged here that the peer has not acknowledged yet.
#[test]
fn windows_count_in_the_unit_of_the_field() {
    let mut script = Script::new(Limits { shift: 3, ..LIMITS }, 1_000);
    script.data([1, 1_001, 2_001, 3_001, 4_001]);
    assert_eq!(script.down(), [1, 1_001]);
    assert_eq!(script.up(), [(1_001, 375), (2_001, 250), (3_001, 125), (4_001, 0)]);
    // The peer has half of it: the next two leave, one more is acknowledged, and there is room for 1,000 bytes again.
    script.ack(2_001, 1_000);
    assert_eq!((script.down(), script.up()), (vec![2_001, 3_001], vec![(5_001, 125)]));
    // The peer's own 100 units of 8 bytes are less.
    script.ack(5_001, 100);
    assert_eq!(script.up(), [(5_001, 100)]);
    // The window is rounded down to whole units: 2 x 1,003 bytes are 250 units and 6 bytes.
    let mut script = Script::new(Limits { shift: 3, window: Some(1_503), ..LIMITS }, 1_000);
    script.data([1]);
    assert_eq!(script.up(), [(1_001, 250)]);
}

/// A window beyond what RFC 7323 section 2.3 allows counts as 2^29 bytes; twice that exceeds the field.
#[test]
fn enormous_windows_do_not_overflow() {
    let mut script = Script::new(Limits { window: Some(u64::MAX), shift: 14, ..LIMITS }, u16::MAX);
    script.data([1]);
    // 65,535 units of 16,384 bytes minus 1,000 bytes.
    assert_eq!((script.down(), script.up()), (vec![1], vec![(1_001, 65_534)]));
    let mut script = Script::new(Limits { window: Some(50_000), ..LIMITS }, u16::MAX);
    script.data([1]);
    assert_eq!(script.up(), [(1_001, 64_535)]);
}

/// The sequence number of an acknowledgement generated here is acceptable to the local TCP: the peer's current
/// position, but within the window that TCP itself offers, in its own unit.
#[test]
fn the_number_of_an_acknowledgement_is_within_the_own_window() {
    for (own_shift, expected) in [(0, 5), (2, 17), (3, 21)] {
        let mut script = Script::new(Limits { own_shift, ..LIMITS }, 9_000);
        script.outgoing(segment(1, 0, 1, 4));
        script.incoming(segment(1, 20, 1, 9_000));
        script.out = Segments::default();
        script.outgoing(segment(1, 1_000, 1, 4));
        let numbers: Vec<Seq> = script.out.up.iter().map(|segment| segment.seq).collect();
        assert_eq!(numbers, [seq(expected)], "shift {own_shift}");
    }
}

/// TCP is notified of more room if it had less than a segment, or if there is one segment more (RFC 9293 section
/// 3.8.6.2.2); not of smaller amounts.
#[test]
fn room_is_announced_in_segments() {
    let mut script = Script::new(LIMITS, 9_000);
    script.data([1, 1_001, 2_001]);
    assert_eq!(script.up(), [(1_001, 3_000), (2_001, 2_000), (3_001, 1_000)]);
    script.ack(1_000, 9_000);
    assert_eq!(script.up(), [], "999 bytes more");
    script.ack(1_001, 9_000);
    assert_eq!(script.up(), [(3_001, 2_000)]);
    script.ack(1_500, 9_000);
    assert_eq!(script.up(), []);
    script.data([3_001, 4_001]);
    assert_eq!(script.up(), [(4_001, 1_499), (5_001, 499)]);
    script.ack(1_600, 9_000);
    assert_eq!(script.up(), [(5_001, 599)], "TCP may have waited for that");
}

/// The same in units of 8 bytes, 125 per segment.
#[test]
fn room_is_announced_in_segments_whatever_the_unit() {
    let mut script = Script::new(Limits { shift: 3, ..LIMITS }, 9_000);
    script.data([1, 1_001, 2_001]);
    assert_eq!(script.up(), [(1_001, 375), (2_001, 250), (3_001, 125)]);
    script.ack(1_000, 9_000);
    assert_eq!(script.up(), [], "124 units more");
    script.ack(1_001, 9_000);
    assert_eq!(script.up(), [(3_001, 250)]);
}

/// RFC 5681 section 3.2: the third duplicate, and no other, resends the oldest segment. RFC 6582: until the data then
/// in flight is acknowledged, each partial acknowledgement sends the next segment.
#[test]
fn three_duplicates_send_the_oldest_again() {
    let mut script = Script::new(Limits { window: Some(4_000), ..LIMITS }, 20_000);
    script.data([1, 1_001, 2_001, 3_001]);
    assert_eq!(script.down(), [1, 1_001, 2_001, 3_001]);
    script.up();
    // Neither a new window nor data counts as a duplicate.
    script.ack(1, 20_001);
    script.incoming(segment(1, 10, 1, 20_001));
    for resent in [&[][..], &[], &[1], &[]] {
        script.ack(1, 20_001);
        assert_eq!(script.down(), resent);
    }
    script.ack(1_001, 20_001);
    assert_eq!(script.down(), [1_001]);
    script.ack(4_001, 20_001);
    assert_eq!((script.down(), script.local.buffered()), (vec![], 0));
    // With nothing in flight there is nothing to resend.
    (0..4).for_each(|_| script.ack(4_001, 20_001));
    assert_eq!(script.down(), []);
    // Another loss, another recovery.
    script.data([4_001, 5_001]);
    script.down();
    (0..3).for_each(|_| script.ack(4_001, 20_001));
    assert_eq!(script.down(), [4_001]);
}

/// RFC 6298: 1 s, doubled with each timeout up to 60 s. After the sixteenth consecutive timeout the connection is reset
/// at both ends.
#[test]
fn a_silent_peer_resets_the_connection() {
    let mut script = Script::new(LIMITS, 9_000);
    script.data([1, 1_001]);
    script.out = Segments::default();
    let mut waits = Vec::new();
    for _ in 0..15 {
        let before = script.now;
        script.timeout();
        waits.push((script.now - before).as_millis() / 1_000);
        assert_eq!((script.down(), script.up()), (vec![1], vec![]));
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60, 60, 60]);
    script.timeout();
    let resets = [&script.out.down, &script.out.up].map(|segments| {
        assert!(segments.iter().all(|segment| segment.flags.rst && segment.flags.ack));
        segments.iter().map(|segment| (segment.src_port, segment.seq, segment.ack)).collect::<Vec<_>>()
    });
    assert_eq!(resets, [vec![(2, seq(1), seq(1))], vec![(1, seq(1), seq(2_001))]]);
    assert_eq!((script.local.holds(), script.local.next_timeout()), (false, None));
    // TCP may have missed it: the acknowledgement is repeated, with its own number.
    script.out = Segments::default();
    script.data([2_001]);
    assert!(script.out.down.is_empty() && script.out.up.iter().all(|segment| segment.flags.rst));
    assert_eq!(script.up(), [(2_001, 0)]);
}

/// An answer from the peer resets the count of silent timeouts.
#[test]
fn a_word_of_the_peer_ends_its_silence() {
    let mut script = Script::new(LIMITS, 9_000);
    script.data([1]);
    for _ in 0..3 {
        (0..15).for_each(|_| script.timeout());
        script.ack(1, 9_000);
    }
    assert!(script.local.holds() && script.local.next_timeout().is_some());
}

/// TCP's segments without data have a number acceptable to the peer: not beyond sent data, nor beyond its window.
#[test]
fn acknowledgements_of_the_local_tcp_stay_within_what_has_left() {
    let mut script = Script::new(LIMITS, 9_000);
    script.data([1, 1_001, 2_001]);
    assert_eq!(script.down(), [1, 1_001]);
    script.outgoing(segment(3_001, 0, 1, 9_000));
    assert_eq!(script.down(), [2_001]);
    // A closed window: the first segment is sent as its probe, and is beyond it.
    let mut script = Script::new(LIMITS, 500);
    script.data([1]);
    script.outgoing(segment(1_001, 0, 1, 9_000));
    assert_eq!(script.down(), [1, 501]);
    let mut rst = segment(1_001, 0, 1, 0);
    rst.flags.rst = true;
    script.outgoing(rst);
    assert_eq!((script.down(), script.local.holds()), (vec![1_001], false));
}

/// A segment with data acknowledges no less than TCP knows; SACK blocks for acknowledged data would confuse TCP.
#[test]
fn data_of_the_peer_repeats_the_acknowledgement_of_tcp() {
    let mut script = Script::new(LIMITS, 9_000);
    script.data([1, 1_001]);
    script.up();
    let mut data = segment(1, 100, 1, 9_000);
    data.options.sack.push((seq(1_001), seq(2_001)));
    script.incoming(data);
    assert!(script.out.up.iter().all(|segment| segment.payload == 100 && segment.options.sack.is_empty()));
    assert_eq!(script.up(), [(2_001, 2_000)]);
}

/// Without a measurement everything passes unchanged, and nothing is acknowledged here.
#[test]
fn without_a_measurement_everything_passes() {
    let mut script = Script::new(Limits { window: None, ..LIMITS }, 9_000);
    script.data([1, 1_001, 2_001, 3_001, 4_001]);
    assert_eq!((script.down(), script.up()), (vec![1, 1_001, 2_001, 3_001, 4_001], vec![]));
    assert_eq!((script.local.buffered(), script.local.next_timeout()), (0, None));
    script.ack(2_001, 8_000);
    assert_eq!(script.up(), [(2_001, 8_000)]);
    // TCP itself resends data that it is responsible for.
    script.data([2_001]);
    assert_eq!(script.down(), [2_001]);
}

/// TCP's retransmissions of data that the module is responsible for stop here and are acknowledged again; data that the
/// module delays does not pass either. Only data that TCP is responsible for passes unchanged.
#[test]
fn what_is_answered_for_here_is_not_sent_twice() {
    let mut script = Script::new(LIMITS, 3_500);
    script.data([1, 1_001, 2_001, 3_001]);
    assert_eq!(script.down(), [1, 1_001]);
    script.up();
    script.data([1]);
    assert_eq!((script.down(), script.up()), (vec![], vec![(3_001, 500)]));
    // The fourth has not left: the window delays it, and TCP has no acknowledgement of it.
    script.data([3_001]);
    assert_eq!((script.down(), script.up()), (vec![], vec![]));
    script.ack(2_001, 1_000);
    assert_eq!(script.down(), [2_001]);
    script.ack(3_001, 500);
    assert_eq!(script.down(), [3_001], "the probe of a window that is too small");
    script.data([3_001]);
    assert_eq!(script.down(), [3_001], "TCP's own, as it had no acknowledgement");
}

/// A peer that withdraws its window refuses arriving data (RFC 9293 section 3.8.6); when the window opens again, the
/// refused data is sent at once, with a new timeout.
#[test]
fn a_window_that_opens_again_takes_what_it_refused() {
    let mut script = Script::new(LIMITS, 9_000);
    script.data([1, 1_001]);
    assert_eq!(script.down(), [1, 1_001]);
    script.ack(1, 0);
    assert_eq!(script.down(), []);
    script.timeout();
    script.timeout();
    assert_eq!(script.down(), [1, 1]);
    script.now = Time::from_secs(4);
    script.ack(1, 999);
    assert_eq!(script.down(), [], "not yet");
    script.ack(1, 1_000);
    assert_eq!((script.down(), script.local.next_timeout()), (vec![1], Some(Time::from_secs(5))));
    // Data that was not refused is not resent when there is more room.
    script.ack(1, 2_000);
    assert_eq!(script.down(), []);
}

/// RFC 7323 section 3.2: if timestamps are in use, each segment has one, and echoes the newest received.
#[test]
fn acknowledgements_made_here_have_time_stamps() {
    let stamped = |from: u32, payload: u32, value: u32| {
        let mut segment = segment(from, payload, 1, 9_000);
        segment.options.timestamps = Some(Timestamps { value, echo: 7 });
        segment
    };
    let mut script = Script::new(LIMITS, 9_000);
    for (from, ours, peers, newest) in [(1, 100, u32::MAX, u32::MAX), (1_001, 200, 5, 5), (2_001, 300, u32::MAX - 1, 5)]
    {
        script.outgoing(stamped(1, 0, ours));
        script.incoming(stamped(1, 0, peers));
        script.out = Segments::default();
        script.outgoing(stamped(from, 1_000, ours + 1));
        let acks = TcpFlags { ack: true, ..TcpFlags::default() };
        assert!(script.out.up.iter().all(|segment| segment.flags == acks));
        let stamps: Vec<_> = script.out.up.iter().map(|segment| segment.options.timestamps).collect();
        assert_eq!(stamps, [Some(Timestamps { value: newest, echo: ours + 1 })]);
    }
}

/// A measurement that is too old remains valid for data that the module is responsible for: otherwise the network would
/// get it all at once.
#[test]
fn the_last_window_holds_for_buffered_data() {
    let mut script = Script::new(LIMITS, 9_000);
    script.data([1, 1_001, 2_001, 3_001]);
    assert_eq!(script.down(), [1, 1_001]);
    script.limits.window = None;
    script.ack(1_001, 9_000);
    assert_eq!(script.down(), [2_001]);
    script.ack(4_001, 9_000);
    assert_eq!((script.down(), script.local.buffered()), (vec![], 0));
    script.data([4_001, 5_001, 6_001, 7_001]);
    assert_eq!(script.down(), [4_001, 5_001, 6_001, 7_001], "TCP's own window");
}

/// A retransmission carries TCP's current fields, timestamps included (RFC 7323 section 4.3).
#[test]
fn what_is_sent_again_is_up_to_date() {
    let stamped = |from: u32, payload: u32, ack: u32, window: u16, value: u32| {
        let mut segment = segment(from, payload, ack, window);
        segment.options.timestamps = Some(Timestamps { value, echo: 7 });
        segment
    };
    let mut script = Script::new(LIMITS, 9_000);
    script.outgoing(stamped(1, 1_000, 1, 9_000, 100));
    script.outgoing(stamped(1_001, 0, 51, 8_950, 200));
    script.out = Segments::default();
    script.timeout();
    assert_eq!(script.out.down, [stamped(1, 1_000, 51, 8_950, 200)]);
    assert_eq!(script.now, Time::ZERO + Dur::from_secs(1));
}
