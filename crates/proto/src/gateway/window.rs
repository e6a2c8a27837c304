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
pub const ASSUMED: Dur = Dur::from_millis(200);
/// The shortest sample of the last one to two such times counts, so that a longer path is noticed.
const LASTS: Dur = Dur::from_secs(20);

/// Inputs of the decision about a window.
#[derive(Clone, Copy, Debug)]
pub struct WindowInput {
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
    /// The wired round trip that is assumed before the first sample.
    pub assumed: Dur,
}

/// The windows of one flow.
#[derive(Clone, Debug, Default)]
pub struct WindowLimit {
    /// The farthest intended right edge, and the farthest one sent, which is rounded.
    edge: Option<Seq>,
    sent_edge: Option<Seq>,
    /// Of the last acknowledgement: its number, the receiver's window, the one written.
    last: Option<(Seq, u16, u16)>,
    /// An edge that has been moved, and when.
    moved: Option<(Seq, Time)>,
    /// Shortest wired round trips: of the time before, of this one; when this one began.
    shortest: [Option<Dur>; 2],
    began: Option<Time>,
}

impl WindowLimit {
    /// Another connection begins.
    pub fn restart(&mut self) {
        *self = WindowLimit { shortest: self.shortest, began: self.began, ..WindowLimit::default() };
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
    pub fn handle_ack(&mut self, now: Time, input: &WindowInput) -> u16 {
        if let Some((ack, window, written)) = self.last
            && (ack, window) == (input.ack, input.window)
        {
            return written;
        }
        let ahead = self.wired_rtt().unwrap_or(input.assumed) + input.target;
        let segments = ahead.as_nanos().div_ceil(input.interval.as_nanos().max(1)).clamp(2, u64::from(u16::MAX));
        let wanted = input.sent + (segments * u64::from(input.mss)).min(1 << 29) as u32;
        let edge = self.edge.filter(|edge| edge.after(wanted)).unwrap_or(wanted);
        self.edge = Some(edge);
        // Rounded up, or a large scale would close the window; by less than one unit the edge may seem to go back (RFC
        // 7323 section 2.4).
        let field = match self
            .sent_edge
            .filter(|sent_edge| input.whole && !sent_edge.before(input.ack) && input.mss >> input.shift >= 4)
        {
            Some(sent_edge) => {
                let more = if edge.after(sent_edge) { edge.offset_from(sent_edge) / input.mss * input.mss } else { 0 };
                (sent_edge + more).offset_from(input.ack) >> input.shift
            }
            None => edge.offset_from(input.ack).div_ceil(1 << input.shift),
        };
        let written = u16::try_from(field).unwrap_or(u16::MAX).min(input.window);
        let sent_edge = input.ack + (u32::from(written) << input.shift);
        match self.sent_edge {
            Some(old) if sent_edge.after(old) => {
                self.moved.get_or_insert((old, now));
                self.sent_edge = Some(sent_edge);
            }
            Some(_) => {}
            None => self.sent_edge = Some(sent_edge),
        }
        self.last = Some((input.ack, input.window, written));
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
    fn ack(ack: u32, sent: u32) -> WindowInput {
        let (interval, target) = (Dur::from_millis(50), Dur::from_millis(100));
        WindowInput {
            ack: seq(ack),
            window: 60_000,
            shift: 0,
            sent: seq(sent),
            interval,
            mss: 1_000,
            target,
            whole: false,
            assumed: ASSUMED,
        }
    }

    /// Before the first sample 200 ms are assumed, with 100 ms of waiting 6 segments; then the sample counts.
    #[test]
    fn the_sender_may_be_ahead_by_a_wired_round_trip_and_the_target() {
        let mut limit = WindowLimit::default();
        assert_eq!(limit.handle_ack(ms(0), &ack(0, 4)), 10_000);
        assert_eq!(limit.handle_ack(ms(50), &ack(1, 5)), 10_000);
        // Up to the old edge at 10: no sample. Beyond: 130 ms after the edge moved at 50.
        limit.handle_data(ms(60), seq(10));
        assert_eq!(limit.wired_rtt(), None);
        limit.handle_data(ms(180), seq(11));
        assert_eq!(limit.wired_rtt(), Some(Dur::from_millis(130)));
        // 230 ms are 5 segments, but 11 was said before.
        assert_eq!(limit.handle_ack(ms(180), &ack(2, 5)), 9_000);
        assert_eq!(limit.handle_ack(ms(250), &ack(4, 8)), 9_000);
    }

    #[test]
    fn two_segments_may_go_however_slow_the_path() {
        let slow = WindowInput { interval: Dur::from_secs(5), ..ack(3, 4) };
        assert_eq!(WindowLimit::default().handle_ack(ms(0), &slow), 3_000);
        let fast = WindowInput { interval: Dur::ZERO, ..ack(3, 4) };
        assert_eq!(WindowLimit::default().handle_ack(ms(0), &fast), 60_000);
    }

    #[test]
    fn a_window_is_never_raised_and_its_edge_never_taken_back() {
        let mut limit = WindowLimit::default();
        let small = WindowInput { window: 2_000, ..ack(0, 4) };
        assert_eq!(limit.handle_ack(ms(0), &small), 2_000);
        assert_eq!(
            limit.handle_ack(ms(10), &WindowInput { window: 0, ..small }),
            0,
            "what a receiver closes stays closed"
        );
        assert_eq!(limit.handle_ack(ms(20), &ack(0, 4)), 10_000);
        // The path has become slow: up to 10 it was allowed.
        let slow = WindowInput { interval: Dur::from_secs(1), ..ack(3, 5) };
        assert_eq!(limit.handle_ack(ms(30), &slow), 7_000);
        // Another connection knows of no edge.
        limit.restart();
        assert_eq!(limit.handle_ack(ms(40), &slow), 4_000);
    }

    /// RFC 5681 section 2: a duplicate has the window of the acknowledgement before.
    #[test]
    fn duplicates_stay_duplicates() {
        let mut limit = WindowLimit::default();
        assert_eq!(limit.handle_ack(ms(0), &ack(2, 4)), 8_000);
        assert_eq!(limit.handle_ack(ms(50), &ack(2, 5)), 8_000);
        assert_eq!(limit.handle_ack(ms(60), &ack(2, 9)), 8_000);
        let opened = WindowInput { window: 60_001, ..ack(2, 9) };
        assert_eq!(limit.handle_ack(ms(70), &opened), 13_000, "a new window of the receiver is news");
    }

    /// Units of 16 kB: the window is rounded up and does not creep when it is asked for again and again.
    #[test]
    fn a_large_scale_neither_closes_the_window_nor_opens_it() {
        let mut limit = WindowLimit::default();
        for n in 0..100 {
            let large = WindowInput { shift: 14, ..ack(n, n + 4) };
            assert_eq!(limit.handle_ack(ms(n.into()), &large), 1, "10,000 bytes are one unit");
        }
    }

    /// Segments of 1448 bytes and units of 128: each step beyond the last announced edge is a number of whole segments,
    /// less than a unit short.
    #[test]
    fn the_edge_moves_by_whole_segments() {
        let mut limit = WindowLimit::default();
        let seq = |segment: u32| Seq::from_wire(77) + 1_448 * segment;
        let mut edges = Vec::new();
        for n in 0..60_u32 {
            let sent = seq(n) + 1_448 * 3 + n % 2 * 700;
            let one = WindowInput { ack: seq(n), shift: 7, sent, mss: 1_448, whole: true, ..ack(0, 0) };
            let written = limit.handle_ack(ms(u64::from(n) * 50), &one);
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
        let mut limit = WindowLimit::default();
        let mut sample = |at: u64, trip: u64, n: u32| {
            limit.handle_ack(ms(at), &ack(10 * n, 10 * n + 4));
            limit.handle_data(ms(at + trip), seq(10 * n + 1));
            limit.wired_rtt().map(|trip| trip.as_millis())
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
