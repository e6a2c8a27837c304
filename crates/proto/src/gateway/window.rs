//! Limits advertised windows on their way to a wired sender to the capacity of the path: the pacing queue stays short.
//!
//! The paper's gateway keeps all that the receiver's window lets the sender send (section 4.3): on a slow path, seconds
//! of data. Here the sender may be ahead of the pacing queue's head by the data that leaves the queue during a round
//! trip over the wires and the longest wait of a packet:
//!
//! ```text
//!   right edge = newest data that has left the queue + (wired round trip + target) / interval segments, two at least
//! ```
//!
//! Data that arrives was allowed a wired round trip ago, so what has not left by then is what leaves within the target.
//! A window is never raised above the receiver's, its right edge is never taken back (RFC 9293 section 3.8.6), and an
//! acknowledgement that repeats another keeps its window: a different one would not count as a duplicate (RFC 5681
//! section 2).
//!
//! A sender that fills windows to the last byte, as Linux does, sends short segments where the edge is between two.
//! With `whole` the edge moves by whole segments from where it was, less what its unit rounds off, so that segments are
//! full but for that.
//!
//! The wired round trip is measured in passing: from the acknowledgement that moves the right edge to the first data
//! beyond the old edge, which could not have been sent before. A sender that has nothing to send or is limited by its
//! congestion window takes longer, so the shortest of the last samples counts.

use fourhop_units::{Dur, Seq, Time};

/// The assumed wired round trip before the first sample; an error affects the first round trips only.
const ASSUMED: Dur = Dur::from_millis(200);
/// The shortest sample of the last one to two such times counts, so that a longer path is noticed.
const LASTS: Dur = Dur::from_secs(20);

/// Inputs of the decision about a window.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Acknowledged by this segment.
    pub ack: Seq,
    /// Window field as the receiver wrote it.
    pub window: u16,
    /// Its scale.
    pub shift: u8,
    /// End of the newest data that has left the queue.
    pub sent: Seq,
    /// Time between segments that leave the queue, and their payload.
    pub interval: Dur,
    pub mss: u32,
    /// How long a packet may wait.
    pub target: Dur,
    /// Does the edge move by whole segments?
    pub whole: bool,
}

/// The windows of one flow.
#[derive(Clone, Debug, Default)]
pub struct WindowHold {
    /// The farthest intended right edge, and the farthest one sent, which is rounded.
    edge: Option<Seq>,
    told: Option<Seq>,
    /// Of the last acknowledgement: its number, the receiver's window, the one written.
    last: Option<(Seq, u16, u16)>,
    /// An edge that has been moved, and when.
    moved: Option<(Seq, Time)>,
    /// Shortest wired round trips: of the time before, of this one; when this one began.
    shortest: [Option<Dur>; 2],
    began: Option<Time>,
}

impl WindowHold {
    /// Another connection begins.
    pub fn restart(&mut self) {
        *self = WindowHold { shortest: self.shortest, began: self.began, ..WindowHold::default() };
    }

    /// Data up to `end` comes from the wired sender.
    pub fn handle_data(&mut self, now: Time, end: Seq) {
        let Some((_, at)) = self.moved.take_if(|(edge, _)| end.after(*edge)) else { return };
        if self.began.is_none_or(|began| now >= began + LASTS) {
            self.shortest = [self.shortest[1], None];
            self.began = Some(now);
        }
        let trip = now.saturating_since(at);
        self.shortest[1] = Some(self.shortest[1].map_or(trip, |shortest| shortest.min(trip)));
    }

    /// The wired round trip.
    pub fn wired_rtt(&self) -> Option<Dur> {
        self.shortest.into_iter().flatten().min()
    }

    /// The window to write into an acknowledgement that goes to the wired sender.
    pub fn handle_ack(&mut self, now: Time, held: &Held) -> u16 {
        if let Some((ack, window, written)) = self.last
            && (ack, window) == (held.ack, held.window)
        {
            return written;
        }
        let ahead = self.wired_rtt().unwrap_or(ASSUMED) + held.target;
        let segments = ahead.as_nanos().div_ceil(held.interval.as_nanos().max(1)).clamp(2, u64::from(u16::MAX));
        let wanted = held.sent + (segments * u64::from(held.mss)).min(1 << 29) as u32;
        let edge = self.edge.filter(|edge| edge.after(wanted)).unwrap_or(wanted);
        self.edge = Some(edge);
        // Rounded up, or a large scale would close the window; by less than one unit the edge may seem to go back (RFC
        // 7323 section 2.4).
        let field = match self.told.filter(|told| held.whole && !told.before(held.ack) && held.mss >> held.shift >= 4) {
            Some(told) => {
                let more = if edge.after(told) { edge.offset_from(told) / held.mss * held.mss } else { 0 };
                (told + more).offset_from(held.ack) >> held.shift
            }
            None => edge.offset_from(held.ack).div_ceil(1 << held.shift),
        };
        let written = u16::try_from(field).unwrap_or(u16::MAX).min(held.window);
        let told = held.ack + (u32::from(written) << held.shift);
        match self.told {
            Some(old) if told.after(old) => {
                self.moved.get_or_insert((old, now));
                self.told = Some(told);
            }
            Some(_) => {}
            None => self.told = Some(told),
        }
        self.last = Some((held.ack, held.window, written));
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn seq(segment: u32) -> Seq {
        Seq::from_wire(u32::MAX - 2_500) + 1_000 * segment
    }

    /// Segments of 1000 bytes, one each 50 ms, may wait for 100 ms; a window of 60,000 unscaled.
    fn held(ack: u32, sent: u32) -> Held {
        let (interval, target) = (Dur::from_millis(50), Dur::from_millis(100));
        Held { ack: seq(ack), window: 60_000, shift: 0, sent: seq(sent), interval, mss: 1_000, target, whole: false }
    }

    /// Before the first sample 200 ms are assumed, with 100 ms of waiting 6 segments; then the sample counts.
    #[test]
    fn the_sender_may_be_ahead_by_a_wired_round_trip_and_the_target() {
        let mut hold = WindowHold::default();
        assert_eq!(hold.handle_ack(ms(0), &held(0, 4)), 10_000);
        assert_eq!(hold.handle_ack(ms(50), &held(1, 5)), 10_000);
        // Up to the old edge at 10: no sample. Beyond: 130 ms after the edge moved at 50.
        hold.handle_data(ms(60), seq(10));
        assert_eq!(hold.wired_rtt(), None);
        hold.handle_data(ms(180), seq(11));
        assert_eq!(hold.wired_rtt(), Some(Dur::from_millis(130)));
        // 230 ms are 5 segments, but 11 was said before.
        assert_eq!(hold.handle_ack(ms(180), &held(2, 5)), 9_000);
        assert_eq!(hold.handle_ack(ms(250), &held(4, 8)), 9_000);
    }

    #[test]
    fn two_segments_may_go_however_slow_the_path() {
        let slow = Held { interval: Dur::from_secs(5), ..held(3, 4) };
        assert_eq!(WindowHold::default().handle_ack(ms(0), &slow), 3_000);
        let fast = Held { interval: Dur::ZERO, ..held(3, 4) };
        assert_eq!(WindowHold::default().handle_ack(ms(0), &fast), 60_000);
    }

    #[test]
    fn a_window_is_never_raised_and_its_edge_never_taken_back() {
        let mut hold = WindowHold::default();
        let small = Held { window: 2_000, ..held(0, 4) };
        assert_eq!(hold.handle_ack(ms(0), &small), 2_000);
        assert_eq!(hold.handle_ack(ms(10), &Held { window: 0, ..small }), 0, "what a receiver closes stays closed");
        assert_eq!(hold.handle_ack(ms(20), &held(0, 4)), 10_000);
        // The path has become slow: up to 10 it was allowed.
        let slow = Held { interval: Dur::from_secs(1), ..held(3, 5) };
        assert_eq!(hold.handle_ack(ms(30), &slow), 7_000);
        // Another connection knows of no edge.
        hold.restart();
        assert_eq!(hold.handle_ack(ms(40), &slow), 4_000);
    }

    /// RFC 5681 section 2: a duplicate has the window of the acknowledgement before.
    #[test]
    fn duplicates_stay_duplicates() {
        let mut hold = WindowHold::default();
        assert_eq!(hold.handle_ack(ms(0), &held(2, 4)), 8_000);
        assert_eq!(hold.handle_ack(ms(50), &held(2, 5)), 8_000);
        assert_eq!(hold.handle_ack(ms(60), &held(2, 9)), 8_000);
        let opened = Held { window: 60_001, ..held(2, 9) };
        assert_eq!(hold.handle_ack(ms(70), &opened), 13_000, "a new window of the receiver is news");
    }

    /// Units of 16 kB: the window is rounded up and does not creep when it is asked for again and again.
    #[test]
    fn a_large_scale_neither_closes_the_window_nor_opens_it() {
        let mut hold = WindowHold::default();
        for n in 0..100 {
            let large = Held { shift: 14, ..held(n, n + 4) };
            assert_eq!(hold.handle_ack(ms(n.into()), &large), 1, "10,000 bytes are one unit");
        }
    }

    /// Segments of 1448 bytes and units of 128: each step beyond the last announced edge is a number of whole segments,
    /// less than a unit short.
    #[test]
    fn the_edge_moves_by_whole_segments() {
        let mut hold = WindowHold::default();
        let seq = |segment: u32| Seq::from_wire(77) + 1_448 * segment;
        let mut edges = Vec::new();
        for n in 0..60_u32 {
            let sent = seq(n) + 1_448 * 3 + n % 2 * 700;
            let one = Held { ack: seq(n), shift: 7, sent, mss: 1_448, whole: true, ..held(0, 0) };
            let written = hold.handle_ack(ms(u64::from(n) * 50), &one);
            // The largest edge that the sender may have seen: another acknowledgement's may be rounded to less.
            let edge = seq(n) + (u32::from(written) << 7);
            edges.push(edges.last().map_or(edge, |&last: &Seq| last.max(edge)));
        }
        edges.dedup();
        let steps: Vec<u32> = edges.windows(2).map(|two| two[1].offset_from(two[0])).collect();
        assert!(steps.len() > 20, "{steps:?}");
        assert!(steps.iter().all(|step| step.next_multiple_of(1_448) - step < 128), "{steps:?}");
    }

    /// A sender that pauses seems far away; what counts is the shortest of the last 20 to 40 s.
    #[test]
    fn the_shortest_round_trip_counts_until_it_is_old() {
        let mut hold = WindowHold::default();
        let mut sample = |at: u64, trip: u64, n: u32| {
            hold.handle_ack(ms(at), &held(10 * n, 10 * n + 4));
            hold.handle_data(ms(at + trip), seq(10 * n + 1));
            hold.wired_rtt().map(|trip| trip.as_millis())
        };
        assert_eq!(sample(0, 1, 0), None, "the first edge has no old one");
        assert_eq!(sample(1_000, 80, 1), Some(80));
        assert_eq!(sample(2_000, 900, 2), Some(80));
        assert_eq!(sample(20_800, 200, 3), Some(80), "the first time began at 1080");
        assert_eq!(sample(21_000, 200, 4), Some(80), "the time before counts too");
        assert_eq!(sample(41_100, 300, 5), Some(200));
        assert_eq!(sample(61_200, 300, 6), Some(300));
    }
}
