//! The ends of flows in a trace: the fields of segments, with sequence numbers counted from the SYN, and the state of
//! sockets.

use super::super::tables::Tcp;
use fourhop_proto::node::{Endpoint, Note, OwnEnd, PacketKind};
use fourhop_units::{Dur, Time};

/// The sequence numbers of one direction of a flow, on the wire and as offsets from the SYN.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// A number and its offset.
    known: Option<(u32, i64)>,
    /// End of the highest data sent.
    highest: i64,
    /// Window scale.
    shift: u8,
    offered: Option<u8>,
}

impl Numbers {
    /// Returns the offset of a number: the one closest to the last (RFC 9293 section 3.4).
    fn place(&mut self, number: u32) -> i64 {
        let place = match self.known {
            Some((last, place)) => place + i64::from(number.wrapping_sub(last) as i32),
            None => 0,
        };
        self.known = Some((number, place));
        place
    }

    /// Whether a SYN of this number has been sent, and nothing since: then another one repeats it.
    fn awaits_answer_to(&self, syn: u32) -> bool {
        self.highest == 1 && self.known.is_some_and(|(number, place)| number.wrapping_sub(place as u32) == syn)
    }
}

/// Both directions of each flow.
#[derive(Debug, Default)]
pub struct Segments(Vec<[Numbers; 2]>);

/// Fields of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    pub seq: i64,
    pub ack: Option<i64>,
    pub window: i64,
    /// Whether its first byte has been sent before.
    pub again: bool,
}

impl Segments {
    /// Handles a segment of `flow`. `back`: whether the receiver of the data sends it; `sent`: whether it is being
    /// created rather than read.
    pub fn handle(&mut self, flow: u32, back: bool, sent: bool, note: &Note) -> Said {
        let flow = flow as usize;
        if self.0.len() <= flow {
            self.0.resize(flow + 1, Default::default());
        }
        let own = usize::from(back);
        let numbers = &mut self.0[flow];
        let len = i64::from(note.payload) + i64::from(matches!(note.kind, PacketKind::TcpSyn | PacketKind::TcpFin));
        let opens = note.kind == PacketKind::TcpSyn && note.ack.is_none();
        if sent && opens && !numbers[own].awaits_answer_to(note.seq) {
            *numbers = Default::default();
        }
        let seq = numbers[own].place(note.seq);
        let ack = note.ack.map(|ack| numbers[1 - own].place(ack));
        if note.kind == PacketKind::TcpSyn {
            numbers[own].offered = note.window_scale;
            // Both ends must offer (RFC 7323 section 2.2).
            if let [Some(first), Some(second)] = [numbers[0].offered, numbers[1].offered] {
                (numbers[0].shift, numbers[1].shift) = (first, second);
            }
        }
        let again = len > 0 && seq < numbers[own].highest;
        if sent {
            numbers[own].highest = numbers[own].highest.max(seq + len);
        }
        // The window of a SYN is never scaled.
        let shift = if note.kind == PacketKind::TcpSyn { 0 } else { numbers[own].shift };
        Said { seq, ack, window: i64::from(note.window) << shift, again }
    }
}

/// State of an end of a flow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Known {
    cwnd: Option<u32>,
    ssthresh: Option<u32>,
    in_flight: Option<i64>,
    srtt: Option<i64>,
    rtt: Option<i64>,
    rto: Option<i64>,
    interval: Option<i64>,
    timeouts: u32,
    fast_retransmits: u32,
    retransmitted: u32,
}

impl Known {
    /// Returns the current state of an end.
    pub fn of(end: &Endpoint) -> Known {
        let nanos = |dur: Dur| dur.as_nanos() as i64;
        let counts = end.counts();
        let mut known = Known {
            timeouts: counts.timeouts as u32,
            fast_retransmits: counts.fast_retransmits as u32,
            retransmitted: counts.retransmitted as u32,
            ..Known::default()
        };
        if let Some(path) = end.own().map(OwnEnd::path_seen) {
            (known.rtt, known.interval) = (path.rtt.map(nanos), path.interval.map(nanos));
        }
        if let Some(socket) = end.socket() {
            known.cwnd = Some(socket.cwnd());
            known.ssthresh = Some(socket.ssthresh()).filter(|&segments| segments < u32::MAX);
            known.in_flight = Some(socket.in_flight() as i64);
            (known.srtt, known.rto) = (socket.srtt().map(nanos), Some(nanos(socket.rto())));
            (known.rtt, known.interval) = (socket.measurements().rtt.map(nanos), socket.pacing_interval().map(nanos));
        }
        known
    }

    /// Returns the event since `before`, if any, that segments do not show by themselves.
    pub fn since(&self, before: &Known) -> Option<&'static str> {
        let window = |known: &Known| (known.cwnd, known.ssthresh, known.interval);
        match () {
            () if self.timeouts > before.timeouts => Some("timeout"),
            () if self.fast_retransmits > before.fast_retransmits => Some("fast-retransmit"),
            () if window(self) != window(before) => Some("window"),
            () => None,
        }
    }

    /// Returns a row about the end of `flow` at `node`.
    pub fn row(&self, flow: u32, node: u32, is_sender: bool, now: Time, event: &'static str) -> Tcp {
        Tcp {
            cwnd_segments: self.cwnd,
            ssthresh_segments: self.ssthresh,
            in_flight_bytes: self.in_flight,
            srtt_ns: self.srtt,
            rtt_ns: self.rtt,
            rto_ns: self.rto,
            interval_ns: self.interval,
            timeouts: Some(self.timeouts),
            fast_retransmits: Some(self.fast_retransmits),
            retransmitted: Some(self.retransmitted),
            ..unknown(flow, node, is_sender, now, event)
        }
    }
}

/// Returns a row about an end whose state is unknown.
pub fn unknown(flow: u32, node: u32, is_sender: bool, now: Time, event: &'static str) -> Tcp {
    Tcp {
        flow,
        node,
        end: if is_sender { "sender" } else { "receiver" },
        time_ns: now.as_nanos() as i64,
        event,
        packet: None,
        seq: None,
        ack: None,
        payload: None,
        window_bytes: None,
        cwnd_segments: None,
        ssthresh_segments: None,
        in_flight_bytes: None,
        srtt_ns: None,
        rtt_ns: None,
        rto_ns: None,
        interval_ns: None,
        timeouts: None,
        fast_retransmits: None,
        retransmitted: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::node::Step;
    use std::net::Ipv4Addr;

    /// A segment with a window of 100; a SYN offers this scale.
    fn segment(kind: PacketKind, (seq, ack): (u32, Option<u32>), payload: u32, window_scale: Option<u8>) -> Note {
        let [src, dst] = [1, 2].map(|host| (Ipv4Addr::new(10, 0, 0, host), 80));
        let (number, step, protocol, window, len) = (1, Step::Created, 6, 100, 40 + payload);
        Note { number, step, kind, protocol, src, dst, seq, ack, window, window_scale, payload, len }
    }

    /// Opens flow 0 from the number that wraps after three more; both ends offer these scales.
    fn opened(scales: [Option<u8>; 2]) -> (Segments, [Said; 2]) {
        let mut segments = Segments::default();
        let syn = segment(PacketKind::TcpSyn, (u32::MAX - 2, None), 0, scales[0]);
        let answer = segment(PacketKind::TcpSyn, (700, Some(u32::MAX - 1)), 0, scales[1]);
        let said = [segments.handle(0, false, true, &syn), segments.handle(0, true, true, &answer)];
        (segments, said)
    }

    #[test]
    fn numbers_count_from_the_syn_and_go_on_where_they_wrap() {
        let (mut segments, [syn, answer]) = opened([None; 2]);
        assert_eq!((syn.seq, syn.ack, answer.seq, answer.ack), (0, None, 0, Some(1)));
        let mut data = |seq, sent| {
            let said = segments.handle(0, false, sent, &segment(PacketKind::TcpData, (seq, Some(701)), 10, None));
            (said.seq, said.ack, said.again)
        };
        assert_eq!(data(u32::MAX - 1, true), (1, Some(1), false));
        assert_eq!(data(8, true), (11, Some(1), false), "past zero");
        assert_eq!(data(8, true), (11, Some(1), true), "sent a second time");
        assert_eq!(data(u32::MAX - 1, false).0, 1, "the first arrives late");
        assert_eq!(data(18, true), (21, Some(1), false));
        let mut fin = || segments.handle(0, false, true, &segment(PacketKind::TcpFin, (28, Some(701)), 0, None));
        assert_eq!([fin(), fin()].map(|said| (said.seq, said.again)), [(31, false), (31, true)], "a FIN counts one");
        // A connection for the next file begins with another number.
        let said = segments.handle(0, false, true, &segment(PacketKind::TcpSyn, (9_000, None), 0, None));
        assert_eq!((said.seq, said.again), (0, false));
    }

    /// Without an answer, and after one that was lost.
    #[test]
    fn a_syn_is_sent_again_until_its_sender_goes_on() {
        let (mut segments, syn) = (Segments::default(), segment(PacketKind::TcpSyn, (9, None), 0, None));
        let answer = segment(PacketKind::TcpSyn, (700, Some(10)), 0, None);
        let mut said = |back, note: &Note| {
            let said = segments.handle(0, back, true, note);
            (said.seq, said.again)
        };
        assert_eq!([said(false, &syn), said(false, &syn)], [(0, false), (0, true)]);
        assert_eq!([said(true, &answer), said(false, &syn)], [(0, false), (0, true)]);
        assert_eq!(said(true, &answer), (0, true));
        assert_eq!(said(false, &segment(PacketKind::TcpData, (10, Some(701)), 5, None)), (1, false));
        // The connection for the next file may begin with the same numbers.
        assert_eq!([said(false, &syn), said(true, &answer)], [(0, false), (0, false)]);
    }

    /// RFC 7323, section 2.2: both ends must offer, and the window of a SYN is never scaled.
    #[test]
    fn windows_are_scaled_by_what_their_end_offered_if_both_did() {
        for (scales, windows) in [([Some(3), Some(7)], [800, 12_800]), ([Some(3), None], [100; 2])] {
            let (mut segments, said) = opened(scales);
            assert_eq!(said.map(|said| said.window), [100; 2]);
            let acknowledges = |seq, ack| segment(PacketKind::TcpAck, (seq, Some(ack)), 0, None);
            let later = [
                segments.handle(0, false, true, &acknowledges(u32::MAX - 1, 701)),
                segments.handle(0, true, true, &acknowledges(701, u32::MAX - 1)),
            ];
            assert_eq!(later.map(|said| said.window), windows);
        }
    }

    #[test]
    fn a_row_has_every_value_of_its_end() {
        let known = Known {
            cwnd: Some(1),
            ssthresh: Some(2),
            in_flight: Some(3),
            srtt: Some(4),
            rtt: Some(5),
            rto: Some(6),
            interval: Some(7),
            timeouts: 8,
            fast_retransmits: 9,
            retransmitted: 10,
        };
        let expected = Tcp {
            cwnd_segments: Some(1),
            ssthresh_segments: Some(2),
            in_flight_bytes: Some(3),
            srtt_ns: Some(4),
            rtt_ns: Some(5),
            rto_ns: Some(6),
            interval_ns: Some(7),
            timeouts: Some(8),
            fast_retransmits: Some(9),
            retransmitted: Some(10),
            ..unknown(11, 12, true, Time::from_nanos(13), "window")
        };
        assert_eq!(known.row(11, 12, true, Time::from_nanos(13), "window"), expected);
        let about = (expected.flow, expected.node, expected.end, expected.time_ns, expected.event);
        assert_eq!(about, (11, 12, "sender", 13, "window"));
    }

    #[test]
    fn of_several_changes_the_most_important_is_the_event() {
        let before = Known { cwnd: Some(4), timeouts: 1, fast_retransmits: 1, ..Known::default() };
        assert_eq!(before.since(&before), None);
        let window = Known { cwnd: Some(2), ..before };
        assert_eq!(window.since(&before), Some("window"));
        let fast = Known { fast_retransmits: 2, ..window };
        assert_eq!(fast.since(&before), Some("fast-retransmit"));
        assert_eq!(Known { timeouts: 2, ..fast }.since(&before), Some("timeout"));
        // A round trip alone is shown by segments.
        assert_eq!(Known { rtt: Some(1), ..before }.since(&before), None);
    }
}
