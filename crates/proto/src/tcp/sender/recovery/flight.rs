//! The fate of each segment in flight: when it was sent, whether it was retransmitted, reported or marked lost.
//! Time-based recovery needs it (RFC 8985 section 5.1), and so do samples of the delivery rate.

use super::delivery::{Arrived, Delivery, Stamp};
use crate::tcp::position::Pos;
use fourhop_cc::rate::Lost;
use fourhop_units::Time;
use std::collections::VecDeque;

/// A segment between SND.UNA and SND.MAX, with the boundaries of its first transmission.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Segment {
    pub(in crate::tcp) start: Pos,
    pub(in crate::tcp) end: Pos,
    /// When it was last sent.
    pub(super) at: Time,
    pub(super) retransmitted: bool,
    /// Whether the receiver has it.
    pub(super) sacked: bool,
    /// Whether it was marked lost and has not been sent again since.
    pub(super) lost: bool,
    stamp: Stamp,
}

impl Segment {
    /// Whether it is in flight.
    pub(super) fn is_under_way(&self) -> bool {
        !self.sacked && !self.lost
    }
}

/// Segments in flight, reported and lost; and those in flight that were sent more than once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::tcp) struct Counts {
    under_way: u32,
    pub(in crate::tcp) sacked: u32,
    pub(in crate::tcp) lost: u32,
    pub(super) again: u32,
}

impl Counts {
    /// Counts a segment as in flight.
    fn sets_out(&mut self, segment: &Segment) {
        self.under_way += 1;
        self.again += u32::from(segment.retransmitted);
    }

    /// Counts a segment as no longer in flight.
    fn no_longer_under_way(&mut self, segment: &Segment) {
        self.under_way -= 1;
        self.again -= u32::from(segment.retransmitted);
    }

    /// Counts a segment as neither lost nor in flight, whichever it was.
    fn forget(&mut self, segment: &mut Segment) {
        if segment.lost {
            segment.lost = false;
            self.lost -= 1;
        } else {
            self.no_longer_under_way(segment);
        }
    }
}

/// The segments in flight.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Flight {
    /// In the order of the stream.
    pub(super) segments: VecDeque<Segment>,
    pub(in crate::tcp) counts: Counts,
    pub(in crate::tcp) delivery: Delivery,
}

impl Flight {
    pub(super) fn new() -> Flight {
        Flight { segments: VecDeque::new(), counts: Counts::default(), delivery: Delivery::new() }
    }

    /// Segments in flight.
    pub(in crate::tcp) fn in_flight(&self) -> u32 {
        self.counts.under_way
    }

    /// Notes that data from `start` to before `end` is sent, for the first time or again.
    pub(super) fn note_sent(&mut self, start: Pos, end: Pos, now: Time) {
        let known = self.segments.back().map_or(start, |last| last.end);
        if start < known {
            let first = self.segments.partition_point(|segment| segment.end <= start);
            for segment in self.segments.range_mut(first..).take_while(|segment| segment.start < end) {
                if segment.sacked {
                    continue;
                }
                self.counts.forget(segment);
                segment.at = now;
                segment.retransmitted = true;
                segment.stamp = self.delivery.stamp(now, self.counts.under_way);
                self.counts.sets_out(segment);
            }
        }
        if end > known {
            let stamp = self.delivery.stamp(now, self.counts.under_way);
            let (start, retransmitted) = (start.max(known), start < known);
            let segment = Segment { start, end, at: now, retransmitted, sacked: false, lost: false, stamp };
            self.counts.sets_out(&segment);
            self.segments.push_back(segment);
        }
    }

    /// Handles the arrival of everything before `ack` and within `blocks`. Calls `visit` with each segment not known to
    /// have arrived; it returns whether the times of that segment may be trusted.
    pub(super) fn deliver(
        &mut self,
        now: Time,
        ack: Pos,
        blocks: impl Iterator<Item = (Pos, Pos)>,
        mut visit: impl FnMut(&Segment) -> bool,
    ) {
        while let Some(mut front) = self.segments.pop_front_if(|front| front.end <= ack) {
            if front.sacked {
                self.counts.sacked -= 1;
            } else {
                self.arrived(&mut front, now, &mut visit);
            }
        }
        if let Some(front) = self.segments.front_mut() {
            front.start = front.start.max(ack);
        }
        for (from, to) in blocks {
            let mut at = self.segments.partition_point(|segment| segment.start < from);
            while let Some(mut segment) = self.segments.get(at).copied().filter(|segment| segment.end <= to) {
                if !segment.sacked {
                    self.arrived(&mut segment, now, &mut visit);
                    segment.sacked = true;
                    self.counts.sacked += 1;
                    self.segments[at] = segment;
                }
                at += 1;
            }
        }
    }

    fn arrived(&mut self, segment: &mut Segment, now: Time, visit: &mut impl FnMut(&Segment) -> bool) {
        let trusted = visit(segment);
        self.counts.forget(segment);
        let Segment { at, end, retransmitted, stamp, .. } = *segment;
        let arrived = Arrived { order: (at, end.offset()), retransmitted, stamp };
        self.delivery.take(now, Some(arrived).filter(|_| trusted));
    }

    /// Marks segments in flight as lost where `is_lost` says so, and reports each. Returns their number.
    pub(super) fn lose(&mut self, mut is_lost: impl FnMut(&Segment) -> bool, mut report: impl FnMut(&Lost)) -> u32 {
        let before = self.counts.lost;
        for segment in &mut self.segments {
            if segment.is_under_way() && is_lost(segment) {
                segment.lost = true;
                self.counts.lost += 1;
                self.counts.no_longer_under_way(segment);
                report(&self.delivery.lose(&segment.stamp));
            }
        }
        self.counts.lost - before
    }

    /// Undoes losses: segments marked lost and not sent again are in flight.
    pub(in crate::tcp) fn forgive(&mut self) {
        for segment in self.segments.iter_mut().filter(|segment| segment.lost) {
            segment.lost = false;
            self.counts.lost -= 1;
            self.counts.sets_out(segment);
        }
    }

    /// Forgets SACK reports: the receiver has dropped its out-of-order data (RFC 2018 section 8).
    pub(super) fn forget_reports(&mut self) {
        for segment in self.segments.iter_mut().filter(|segment| segment.sacked) {
            segment.sacked = false;
            self.counts.sacked -= 1;
            self.counts.sets_out(segment);
        }
    }

    /// The first lost segment.
    pub(in crate::tcp) fn first_lost(&self) -> Option<Segment> {
        if self.counts.lost == 0 {
            return None;
        }
        self.segments.iter().find(|segment| segment.lost).copied()
    }

    /// Checks the counts against the list.
    #[cfg(test)]
    #[track_caller]
    pub(in crate::tcp) fn check(&self) {
        let count = |is: fn(&Segment) -> bool| self.segments.iter().filter(|segment| is(segment)).count() as u32;
        let counts = Counts {
            under_way: count(Segment::is_under_way),
            sacked: count(|s| s.sacked),
            lost: count(|s| s.lost),
            again: count(|s| s.is_under_way() && s.retransmitted),
        };
        assert_eq!(self.counts, counts);
        assert!(self.segments.iter().all(|s| s.start < s.end && !(s.sacked && s.lost)));
        assert!(self.segments.iter().zip(self.segments.iter().skip(1)).all(|(a, b)| a.end == b.start));
    }
}
