//! Round trips of one direction of a flow on one side of the gateway, measured from passing data and returning
//! acknowledgements.
//!
//! The following never gives a sample, because it would not measure the path:
//! - retransmitted data, and all data in flight after it: either copy may be acknowledged, and later data may have
//!   waited for it at the receiver (Karn);
//! - data that fills a hole from a loss before the gateway, and data that passed meanwhile, for the same reason: to the
//!   gateway it looks like retransmitted data;
//! - a cumulative acknowledgement of data already reported by a SACK block.
//!
//! Without SACK one ambiguity remains, as for every TCP: the acknowledgement after a lost one makes up for it and has
//! the same content, although it was triggered by a later segment beyond a hole.
//!
//! If several segments are acknowledged at once, the newest triggered the acknowledgement. Sequence numbers may wrap.

use fourhop_units::{Dur, Seq, Time};
use std::collections::VecDeque;

/// Default maximum of timed segments in flight; beyond it, the oldest are no longer timed. The paper's window has 64.
const MOST: usize = 64;
/// Sequence numbers farther apart than any window (RFC 7323 section 2.3) belong to different connections.
const FARTHEST: u32 = 1 << 30;

#[derive(Clone, Copy, Debug)]
struct Timed {
    end: Seq,
    at: Time,
}

/// Measures one direction.
#[derive(Clone, Debug)]
pub struct RttMeter {
    /// Maximum number of timed segments in flight.
    most: usize,
    /// First unacknowledged and first unsent number; `None` before the first data.
    span: Option<(Seq, Seq)>,
    timed: VecDeque<Timed>,
    acked: u64,
    /// Timed segments covered by the last acknowledgement.
    covered: usize,
}

impl Default for RttMeter {
    fn default() -> RttMeter {
        RttMeter::of(MOST)
    }
}

impl RttMeter {
    /// Creates a meter that times up to `most` segments in flight.
    pub fn of(most: usize) -> RttMeter {
        RttMeter { most, span: None, timed: VecDeque::new(), acked: 0, covered: 0 }
    }

    /// Whether data has passed.
    pub fn is_used(&self) -> bool {
        self.span.is_some()
    }

    /// Whether data is in flight.
    pub fn is_outstanding(&self) -> bool {
        self.span.is_some_and(|(una, max)| una != max)
    }

    /// Returns the bytes between the last acknowledgement and the newest data.
    pub fn outstanding(&self) -> u32 {
        self.span.map_or(0, |(una, max)| max.offset_from(una))
    }

    /// Whether `ack` equals the last acknowledgement.
    pub fn is_last(&self, ack: Seq) -> bool {
        self.span.is_some_and(|(una, _)| una == ack)
    }

    /// Returns the end of the newest data that has passed.
    pub fn newest(&self) -> Option<Seq> {
        self.span.map(|(_, max)| max)
    }

    /// Returns the bytes acknowledged, each counted once.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Returns the bytes it occupies elsewhere.
    pub fn memory(&self) -> usize {
        self.timed.capacity() * size_of::<Timed>()
    }

    /// A new connection begins.
    pub fn restart(&mut self) {
        self.span = None;
        self.timed.clear();
    }

    /// `len` bytes of data pass, followed by a FIN if `fin`. A FIN alone is not timed, because it is not a data packet.
    pub fn handle_data(&mut self, now: Time, seq: Seq, len: u32, fin: bool) {
        let end = seq + len + u32::from(fin);
        if len == 0 && (!fin || self.span.is_none()) {
            return;
        }
        let span = self.span.filter(|&(una, max)| near(seq, una) && near(end, max));
        let Some((una, max)) = span else {
            self.restart();
            self.span = Some((seq, end));
            self.time(now, end);
            return;
        };
        if seq.before(max) {
            while self.timed.back().is_some_and(|last| last.end.after(seq)) {
                self.timed.pop_back();
            }
        } else if len > 0 {
            self.time(now, end);
        }
        self.span = Some((una, max.max(end)));
    }

    fn time(&mut self, now: Time, end: Seq) {
        if self.timed.len() == self.most {
            self.timed.pop_front();
        }
        self.timed.push_back(Timed { end, at: now });
    }

    /// Returns how many timed segments were covered by the last acknowledgement that gave a round trip.
    pub fn covered(&self) -> usize {
        self.covered
    }

    /// Handles a returning acknowledgement. Returns its round trip, if it gives one.
    pub fn handle_ack(&mut self, now: Time, ack: Seq, sack: &[(Seq, Seq)]) -> Option<Dur> {
        let (una, max) = self.span?;
        if ack.after(max) || !near(ack, una) {
            return None;
        }
        let mut newest = None;
        self.covered = 0;
        if ack.after(una) {
            self.acked += u64::from(ack.offset_from(una));
            self.span = Some((ack, max));
            while let Some(first) = self.timed.front().copied().filter(|first| !first.end.after(ack)) {
                // Otherwise the newest acknowledged segment is not timed.
                newest = (first.end == ack).then_some(first.at);
                self.covered += 1;
                self.timed.pop_front();
            }
        }
        for (index, &(left, right)) in sack.iter().enumerate() {
            // A block below the acknowledgement is a D-SACK (RFC 2883), which reports a duplicate.
            if left.before(ack) || !right.after(left) || right.after(max) {
                continue;
            }
            let covered = |timed: &Timed| timed.end.after(left) && !timed.end.after(right);
            // The first block contains the segment that triggered the acknowledgement (RFC 2018 section 4): either its
            // last, or a retransmitted one, which made the last untimed. Earlier segments had their own
            // acknowledgements, which were lost.
            if index == 0 {
                newest = self.timed.iter().find(|timed| timed.end == right).map(|timed| timed.at);
            }
            self.timed.retain(|timed| !covered(timed));
        }
        newest.map(|at| now.saturating_since(at)).filter(|rtt| !rtt.is_zero())
    }
}

/// Whether both can belong to one window.
fn near(a: Seq, b: Seq) -> bool {
    a.offset_from(b).min(b.offset_from(a)) <= FARTHEST
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const BASE: u32 = u32::MAX - 2_500;

    fn seq(segment: u32) -> Seq {
        Seq::from_wire(BASE) + 1_000 * segment
    }

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// Returns a meter after the segments `sent`, 10 ms apart from zero on; the numbers wrap after the second.
    fn meter(sent: &[u32]) -> RttMeter {
        let mut meter = RttMeter::default();
        for (index, &segment) in sent.iter().enumerate() {
            meter.handle_data(ms(10 * index as u64), seq(segment), 1_000, false);
        }
        meter
    }

    #[test]
    fn each_acknowledgement_measures_the_round_trip_of_the_newest_it_covers() {
        let mut meter = meter(&[0, 1, 2, 3, 4]);
        assert_eq!(meter.handle_ack(ms(100), seq(1), &[]), Some(Dur::from_millis(100)));
        // Delayed: two at once.
        assert_eq!(meter.handle_ack(ms(130), seq(3), &[]), Some(Dur::from_millis(110)));
        // A duplicate, and an older one.
        assert_eq!(meter.handle_ack(ms(131), seq(3), &[]), None);
        assert_eq!(meter.handle_ack(ms(132), seq(2), &[]), None);
        assert_eq!(meter.acked(), 3_000);
        // Of data that was never sent.
        assert_eq!(meter.handle_ack(ms(140), seq(9), &[]), None);
        assert_eq!(meter.acked(), 3_000);
    }

    #[test]
    fn what_was_sent_again_and_what_waited_for_it_give_no_sample() {
        let mut meter = meter(&[0, 1, 2, 3]);
        assert_eq!(meter.handle_ack(ms(100), seq(1), &[]), Some(Dur::from_millis(100)));
        meter.handle_data(ms(110), seq(1), 1_000, false);
        assert_eq!(meter.handle_ack(ms(200), seq(2), &[]), None);
        assert_eq!(meter.handle_ack(ms(210), seq(4), &[]), None);
        assert_eq!(meter.acked(), 4_000);
        // New data is timed again.
        meter.handle_data(ms(220), seq(4), 1_000, false);
        assert_eq!(meter.handle_ack(ms(300), seq(5), &[]), Some(Dur::from_millis(80)));
    }

    #[test]
    fn a_hole_made_before_the_gateway_counts_as_sent_again() {
        let mut meter = meter(&[0, 2, 3, 1]);
        assert_eq!(meter.handle_ack(ms(90), seq(1), &[]), Some(Dur::from_millis(90)));
        assert_eq!(meter.handle_ack(ms(110), seq(4), &[]), None);
    }

    #[test]
    fn a_sack_block_gives_the_sample_and_the_later_acknowledgement_none() {
        let mut meter = meter(&[0, 1, 2, 3]);
        // 0 is lost; 1 is reported, then 2 and 3; the acknowledgement of 2 is lost.
        assert_eq!(meter.handle_ack(ms(100), seq(0), &[(seq(1), seq(2))]), Some(Dur::from_millis(90)));
        assert_eq!(meter.handle_ack(ms(120), seq(0), &[(seq(1), seq(4))]), Some(Dur::from_millis(90)));
        assert_eq!(meter.handle_ack(ms(121), seq(0), &[(seq(1), seq(4))]), None);
        meter.handle_data(ms(130), seq(0), 1_000, false);
        assert_eq!(meter.handle_ack(ms(230), seq(4), &[]), None);
        assert_eq!(meter.acked(), 4_000);
    }

    #[test]
    fn a_duplicate_sack_says_nothing() {
        let mut meter = meter(&[0, 1]);
        assert_eq!(meter.handle_ack(ms(100), seq(1), &[(seq(0), seq(1))]), Some(Dur::from_millis(100)));
        assert_eq!(meter.handle_ack(ms(105), seq(1), &[(seq(0), seq(1))]), None);
    }

    #[test]
    fn another_connection_on_the_same_ports_starts_afresh() {
        let mut meter = meter(&[0, 1]);
        let other = Seq::from_wire(BASE.wrapping_add(1 << 31));
        meter.handle_data(ms(50), other, 100, false);
        assert_eq!(meter.handle_ack(ms(100), seq(1), &[]), None);
        assert_eq!(meter.handle_ack(ms(100), other + 100, &[]), Some(Dur::from_millis(50)));
    }

    #[test]
    fn a_fin_is_acknowledged_but_not_timed() {
        let mut meter = meter(&[0]);
        meter.handle_data(ms(5), seq(1), 0, true);
        assert_eq!(meter.handle_ack(ms(100), seq(1) + 1, &[]), None);
        assert!(!meter.is_outstanding());
    }

    #[test]
    fn what_it_keeps_is_bounded() {
        let mut meter = RttMeter::default();
        for n in 0..10_000 {
            meter.handle_data(ms(n.into()), seq(n), 1_000, false);
        }
        assert_eq!(meter.timed.len(), MOST);
        assert_eq!(meter.handle_ack(ms(10_100), seq(10_000), &[]), Some(Dur::from_millis(101)));
    }

    /// An acknowledgement with its SACK blocks.
    type Answer = (Seq, Vec<(Seq, Seq)>);

    /// Returns the receiver's acknowledgement, with blocks of its data beyond a hole, newest first.
    fn answer(got: &BTreeSet<u32>, newest: u32) -> Answer {
        let next = (0..).find(|n| !got.contains(n)).unwrap_or(0);
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &n in got.iter().filter(|&&n| n > next) {
            match runs.last_mut() {
                Some(run) if run.1 == n => run.1 = n + 1,
                _ => runs.push((n, n + 1)),
            }
        }
        runs.sort_by_key(|&(left, right)| u32::MAX * u32::from((left..right).contains(&newest)));
        runs.reverse();
        (seq(next), runs.into_iter().take(3).map(|(left, right)| (seq(left), seq(right))).collect())
    }

    proptest! {
        /// Where data takes 30 ms and answers 20 ms, whatever is lost before or behind the gateway and sent again when,
        /// every sample is 50 ms; without SACK as long as no answer is lost.
        #[test]
        fn no_sample_is_anything_but_a_round_trip(
            steps in prop::collection::vec(
                (any::<prop::sample::Index>(), any::<bool>(), 0u8..8, 0u8..8, 1u64..9),
                1..300,
            ),
            sacks: bool,
        ) {
            let (there, back) = (30, 20);
            let mut meter = RttMeter::default();
            let (mut now, mut next) = (0, 0);
            let mut got = BTreeSet::new();
            let mut data: VecDeque<(u64, u32)> = VecDeque::new();
            let mut acks: VecDeque<(u64, Answer)> = VecDeque::new();
            for (which, again, lost_there, lost_back, wait) in steps {
                // A new segment, a retransmission, or one that jumps ahead because the ones between were lost before.
                let known = again && next > 0;
                let segment = if known { which.index(next as usize) as u32 } else { next + u32::from(wait == 8) };
                next = next.max(segment + 1);
                meter.handle_data(ms(now), seq(segment), 1_000, false);
                if lost_there != 0 {
                    data.push_back((now + there, segment));
                }
                let until = now + wait * 5;
                loop {
                    let arrival = data.front().map(|first| first.0).filter(|&at| at <= until);
                    let answered = acks.front().map(|first| first.0).filter(|&at| at <= until);
                    if let Some(at) = answered.filter(|&at| arrival.is_none_or(|arrival| at <= arrival)) {
                        let (_, (ack, blocks)) = acks.pop_front().expect("looked at");
                        let sample = meter.handle_ack(ms(at), ack, if sacks { &blocks } else { &[] });
                        prop_assert!(sample.is_none_or(|rtt| rtt == Dur::from_millis(there + back)), "{sample:?}");
                    } else if let Some(at) = arrival {
                        let (_, segment) = data.pop_front().expect("looked at");
                        got.insert(segment);
                        let answer = answer(&got, segment);
                        if lost_back != 0 || !sacks {
                            acks.push_back((at + back, answer));
                        }
                    } else {
                        break;
                    }
                }
                now = until;
            }
        }
    }
}
