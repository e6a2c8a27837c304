//! Limits windows advertised to a wired sender to the capacity of the path, so that the pacing queue stays short.
//!
//! The paper's gateway queues everything that the receiver's window lets the sender send (section 4.3): seconds of data
//! on a slow path. Here the sender may be ahead of the head of the pacing queue by the data that leaves the queue
//! during a wired round trip plus the maximum wait of a packet:
//!
//! ```text
//!   right edge = newest data that has left the queue + (wired round trip + target) / interval segments, two at least
//! ```
//!
//! Arriving data was permitted a wired round trip ago, so the data still queued by then leaves within the target. A
//! window is never raised above the receiver's, its right edge never moves back (RFC 9293 section 3.8.6), and an
//! acknowledgement that repeats another keeps its window: with a different one it would not count as a duplicate (RFC
//! 5681 section 2).
//!
//! A sender that fills windows to the last byte, as Linux does, sends short segments if the edge is not on a segment
//! boundary. With `whole` the edge moves from its last position by whole segments, less what its unit rounds off, so
//! that apart from this rounding segments are full.
//!
//! The wired round trip is measured in passing: from the acknowledgement that moves the right edge to the first data
//! beyond the old edge, which could not have been sent before. A sender that has nothing to send or is limited by its
//! congestion window takes longer, so the shortest of the last samples counts.

use fourhop_units::{Dur, Seq, Time};

/// Wired round trip assumed before the first sample; an error affects only the first round trips.
pub const ASSUMED: Dur = Dur::from_millis(200);
/// The shortest sample of the last one to two such periods counts, so that a path that becomes longer is noticed.
const LASTS: Dur = Dur::from_secs(20);

/// Inputs to the choice of a window.
#[derive(Clone, Copy, Debug)]
pub struct WindowInput {
    /// Acknowledgement number.
    pub ack: Seq,
    /// Window field written by the receiver.
    pub window: u16,
    /// Its scale.
    pub shift: u8,
    /// End of the newest data that has left the queue.
    pub sent: Seq,
    /// Time between segments that leave the queue, and their payload.
    pub interval: Dur,
    pub mss: u32,
    /// Maximum wait of a packet.
    pub target: Dur,
    /// Whether the edge moves by whole segments.
    pub whole: bool,
    /// Wired round trip assumed before the first sample.
    pub assumed: Dur,
}

/// The windows of one flow.
#[derive(Clone, Debug, Default)]
pub struct WindowLimit {
    /// The farthest intended right edge, and the farthest one sent, which is rounded.
    edge: Option<Seq>,
    sent_edge: Option<Seq>,
    /// The last acknowledgement: its number, the receiver's window, and the window written.
    last: Option<(Seq, u16, u16)>,
    /// The edge before a move, and when it moved.
    moved: Option<(Seq, Time)>,
    /// Shortest wired round trips of the previous and the current period, and the start of the current one.
    shortest: [Option<Dur>; 2],
    began: Option<Time>,
}

impl WindowLimit {
    /// A new connection begins.
    pub fn restart(&mut self) {
        *self = WindowLimit { shortest: self.shortest, began: self.began, ..WindowLimit::default() };
    }

    /// Data up to `end` arrives from the wired sender.
    pub fn handle_data(&mut self, now: Time, end: Seq) {
        let Some((_, at)) = self.moved.take_if(|(edge, _)| end.after(*edge)) else { return };
        if self.began.is_none_or(|began| now >= began + LASTS) {
            self.shortest = [self.shortest[1], None];
            self.began = Some(now);
        }
        let trip = now.saturating_since(at);
        self.shortest[1] = Some(self.shortest[1].map_or(trip, |shortest| shortest.min(trip)));
    }

    /// Returns the wired round trip.
    pub fn wired_rtt(&self) -> Option<Dur> {
        self.shortest.into_iter().flatten().min()
    }

    /// Returns the window to write into an acknowledgement to the wired sender.
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
        // Rounded up, because otherwise a large scale would close the window; the edge may seem to move back by less
        // than one unit (RFC 7323 section 2.4).
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

    /// Segments of 1000 bytes, one every 50 ms, may wait for 100 ms; an unscaled window of 60,000.
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

    /// Before the first sample 200 ms are assumed: with a wait of 100 ms, 6 segments. Then the sample counts.
    #[test]
    fn the_sender_may_be_ahead_by_a_wired_round_trip_and_the_target() {
        let mut limit = WindowLimit::default();
        assert_eq!(limit.handle_ack(ms(0), &ack(0, 4)), 10_000);
        assert_eq!(limit.handle_ack(ms(50), &ack(1, 5)), 10_000);
        // Data up to the old edge at 10 gives no sample. Data beyond it: 130 ms after the edge moved at 50.
        limit.handle_data(ms(60), seq(10));
        assert_eq!(limit.wired_rtt(), None);
        limit.handle_data(ms(180), seq(11));
        assert_eq!(limit.wired_rtt(), Some(Dur::from_millis(130)));
        // 230 ms are 5 segments, but 11 was announced before.
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
        // The path has become slow; before that, up to 10 were allowed.
        let slow = WindowInput { interval: Dur::from_secs(1), ..ack(3, 5) };
        assert_eq!(limit.handle_ack(ms(30), &slow), 7_000);
        // A new connection has no edge yet.
        limit.restart();
        assert_eq!(limit.handle_ack(ms(40), &slow), 4_000);
    }

    /// RFC 5681 section 2: a duplicate has the same window as the previous acknowledgement.
    #[test]
    fn duplicates_stay_duplicates() {
        let mut limit = WindowLimit::default();
        assert_eq!(limit.handle_ack(ms(0), &ack(2, 4)), 8_000);
        assert_eq!(limit.handle_ack(ms(50), &ack(2, 5)), 8_000);
        assert_eq!(limit.handle_ack(ms(60), &ack(2, 9)), 8_000);
        let opened = WindowInput { window: 60_001, ..ack(2, 9) };
        assert_eq!(limit.handle_ack(ms(70), &opened), 13_000, "a new window of the receiver is news");
    }

    /// Units of 16 kB: the window is rounded up and does not creep when computed again and again.
    #[test]
    fn a_large_scale_neither_closes_the_window_nor_opens_it() {
        let mut limit = WindowLimit::default();
        for n in 0..100 {
            let large = WindowInput { shift: 14, ..ack(n, n + 4) };
            assert_eq!(limit.handle_ack(ms(n.into()), &large), 1, "10,000 bytes are one unit");
        }
    }

    /// Segments of 1448 bytes and units of 128: each step beyond the last announced edge is a whole number of segments,
    /// less at most a unit.
    #[test]
    fn the_edge_moves_by_whole_segments() {
        let mut limit = WindowLimit::default();
        let seq = |segment: u32| Seq::from_wire(77) + 1_448 * segment;
        let mut edges = Vec::new();
        for n in 0..60_u32 {
            let sent = seq(n) + 1_448 * 3 + n % 2 * 700;
            let one = WindowInput { ack: seq(n), shift: 7, sent, mss: 1_448, whole: true, ..ack(0, 0) };
            let written = limit.handle_ack(ms(u64::from(n) * 50), &one);
            // The largest edge that the sender may have seen: that of another acknowledgement may be rounded to less.
            let edge = seq(n) + (u32::from(written) << 7);
            edges.push(edges.last().map_or(edge, |&last: &Seq| last.max(edge)));
        }
        edges.dedup();
        let steps: Vec<u32> = edges.windows(2).map(|two| two[1].offset_from(two[0])).collect();
        assert!(steps.len() > 20, "{steps:?}");
        assert!(steps.iter().all(|step| step.next_multiple_of(1_448) - step < 128), "{steps:?}");
    }

    /// A sender that pauses seems far away; the shortest round trip of the last 20 to 40 s counts.
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
