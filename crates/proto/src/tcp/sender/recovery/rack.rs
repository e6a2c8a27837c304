//! RACK-TLP (RFC 8985): a segment is lost once one sent later has arrived and the time allowed for reordering has
//! passed. A probe asks about the last segments, which nothing follows.
//!
//! ```text
//!   an ACK ──► RACK.xmit_ts: the newest segment here   lost: left before it, and RACK.rtt + reordering window ago
//!                                                                 else: the timer waits for the rest of that window
//!   nothing for two round trips ──► probe: the next segment, or the last one again
//! ```
//!
//! Ours: the minimum round trip is that of the whole connection (section 6.2 step 1 allows it); nothing is undone for a
//! retransmission that reduced the window, even if a D-SACK shows that it was not needed.

use super::flight::{Flight, Segment};
use super::state::Heard;
use crate::tcp::position::Pos;
use crate::tcp::sender::space::SendSpace;
use crate::wire::TcpSegment;
use arrayvec::ArrayVec;
use fourhop_cc::rate::{Lost, RateSample};
use fourhop_units::{Dur, Time};

/// Section 6.2 step 4: the number of recoveries for which D-SACKs keep the window wide.
const PERSIST: u32 = 16;
/// TLP.max_ack_delay: how long a receiver may delay its ACK of a single segment. Linux 6.18: `TCP_RTO_MIN`.
const MAX_ACK_DELAY: Dur = Dur::from_millis(200);
/// Section 7.2: PTO before the first round-trip measurement.
const FIRST_PROBE: Dur = Dur::from_secs(1);

/// Purpose of the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::tcp) enum Awaits {
    /// The end of the reordering window.
    Reordering,
    /// The probe timeout.
    Probe,
}

/// Round trips known to the stack.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct RoundTrips {
    pub(in crate::tcp) min: Option<Dur>,
    pub(in crate::tcp) srtt: Option<Dur>,
}

/// Reports in an acknowledgement, parsed by the stack.
#[derive(Clone, Debug)]
pub(super) struct Report {
    ack: Pos,
    /// SACK blocks without a D-SACK.
    blocks: ArrayVec<(Pos, Pos), 4>,
    /// Duplicate data (RFC 2883).
    dsack: Option<(Pos, Pos)>,
}

impl Report {
    /// Reads the reports of a segment: SACK blocks within the data in flight, and a D-SACK, which is the first block if
    /// it is below the acknowledgement or within the second block (RFC 2883 section 4).
    pub(super) fn read(ack: Pos, segment: &TcpSegment, space: &SendSpace) -> Report {
        let mut blocks: ArrayVec<(Pos, Pos), 4> = segment
            .options
            .sack
            .iter()
            .map(|&(left, right)| (space.locate(left), space.locate(right)))
            .filter(|(left, right)| left < right)
            .collect();
        let dsack = blocks.first().copied().filter(|&(left, right)| {
            right <= ack || blocks.get(1).is_some_and(|&(from, to)| from <= left && right <= to)
        });
        blocks.retain(|&mut (left, right)| ack <= left && right <= space.max);
        Report { ack, blocks, dsack }
    }
}

/// Result of a search for losses, with the timer to set.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Search {
    pub(in crate::tcp) lost: u32,
    pub(in crate::tcp) wait: Option<Dur>,
}

/// The newest segment that arrived, ordered by departure and position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Newest {
    at: Time,
    end: Pos,
}

/// RACK-TLP state of one connection.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Rack {
    pub(in crate::tcp) flight: Flight,
    /// RACK.xmit_ts and RACK.end_seq; `None` before anything arrived.
    newest: Option<Newest>,
    /// RACK.rtt.
    rtt: Dur,
    /// RACK.fack: the furthest position that arrived.
    fack: Pos,
    reordering_seen: bool,
    dsack_round: Option<Pos>,
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    dup_thresh: u32,
    pub(in crate::tcp) awaits: Awaits,
    /// TLP.end_seq, and TLP.is_retrans.
    probe: Option<(Pos, bool)>,
}

impl Rack {
    pub(super) fn new(dup_thresh: u32) -> Rack {
        Rack {
            flight: Flight::new(),
            newest: None,
            rtt: Dur::ZERO,
            fack: Pos::SYN,
            reordering_seen: false,
            dsack_round: None,
            reo_wnd_mult: 1,
            reo_wnd_persist: PERSIST,
            dup_thresh,
            awaits: Awaits::Probe,
            probe: None,
        }
    }

    /// Section 6.1: notes that a segment is sent.
    pub(in crate::tcp) fn note_sent(&mut self, start: Pos, end: Pos, now: Time) {
        self.flight.note_sent(start, end, now);
    }

    /// Handles an acknowledgement and its reports (sections 6.2 and 7.4). `una` is SND.UNA before it takes effect.
    pub(super) fn hear(
        &mut self,
        now: Time,
        report: &Report,
        segment: &TcpSegment,
        una: Pos,
        min_rtt: Option<Dur>,
        is_stale: impl Fn(Time) -> bool,
    ) -> Heard {
        let (news, sample) = self.take(now, report, min_rtt, is_stale);
        let bare = report.ack == una && segment.payload == 0 && segment.options.sack.is_empty();
        let repaired = self.probe_repaired(report, bare);
        Heard { news, dsack: report.dsack.is_some(), repaired, sample: Some(sample) }
    }

    /// Section 6.2, steps 1 to 3: arrivals, the newest of them, reordering. `is_stale` takes the departure of a segment
    /// and returns whether the acknowledgement's timestamp shows that it answers an earlier copy. Returns whether SACK
    /// reported anything new, and the sample of the delivery rate.
    fn take(
        &mut self,
        now: Time,
        report: &Report,
        min_rtt: Option<Dur>,
        is_stale: impl Fn(Time) -> bool,
    ) -> (bool, RateSample) {
        let Rack { flight, newest, rtt, fack, reordering_seen, .. } = self;
        let mut sacked = false;
        flight.deliver(now, report.ack, report.blocks.iter().copied(), |segment: &Segment| {
            sacked |= segment.end > report.ack;
            // Step 3.
            if segment.end > *fack {
                *fack = segment.end;
            } else if segment.end < *fack && !segment.retransmitted {
                *reordering_seen = true;
            }
            // Step 2.
            let took = now - segment.at;
            if segment.retransmitted && (is_stale(segment.at) || min_rtt.is_some_and(|least| took < least)) {
                return false;
            }
            *rtt = took;
            *newest = (*newest).max(Some(Newest { at: segment.at, end: segment.end }));
            true
        });
        let sample = self.flight.delivery.sample(now, min_rtt);
        (sacked, sample)
    }

    /// Section 6.2 step 4, the part that depends on D-SACKs; `exits`: this acknowledgement ends a recovery.
    pub(super) fn adapt_window(&mut self, una: Pos, nxt: Pos, dsack: bool, exits: bool) {
        self.dsack_round = self.dsack_round.filter(|&round| una < round);
        if self.dsack_round.is_none() && dsack {
            self.dsack_round = Some(nxt);
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = PERSIST;
        } else if exits {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
    }

    /// The reordering window (section 6.2 step 4).
    fn window(&self, trips: RoundTrips, recovering: bool) -> Dur {
        if !self.reordering_seen && (recovering || self.flight.counts.sacked >= self.dup_thresh) {
            return Dur::ZERO;
        }
        let quarter = trips.min.unwrap_or_default() / 4;
        quarter.saturating_mul(self.reo_wnd_mult.into()).min(trips.srtt.unwrap_or_default())
    }

    /// Section 6.2 step 5: marks overdue segments as lost, and reports each.
    pub(in crate::tcp) fn detect_loss(
        &mut self,
        now: Time,
        trips: RoundTrips,
        recovering: bool,
        report: impl FnMut(&Lost),
    ) -> Search {
        let Some(newest) = self.newest else { return Search { lost: 0, wait: None } };
        if self.flight.counts.sacked == 0 && self.flight.counts.again == 0 {
            // Everything in flight was sent after everything that arrived.
            return Search { lost: 0, wait: None };
        }
        let patience = self.rtt + self.window(trips, recovering);
        let mut wait: Option<Dur> = None;
        let lost = self.flight.lose(
            |segment| {
                if newest <= (Newest { at: segment.at, end: segment.end }) {
                    return false;
                }
                let due = segment.at + patience;
                if due > now {
                    wait = wait.max(Some(due - now));
                }
                due <= now
            },
            report,
        );
        Search { lost, wait }
    }

    /// Section 6.3: the retransmission timer expired. The first segment is lost, and so is every other that has waited
    /// as long as time-based detection would have.
    pub(in crate::tcp) fn lose_on_timeout(&mut self, now: Time, trips: RoundTrips, report: impl FnMut(&Lost)) {
        self.probe = None;
        if self.flight.segments.front().is_some_and(|front| front.sacked) {
            self.flight.forget_reports();
        }
        let patience = self.rtt + self.window(trips, true);
        let first = self.flight.segments.front().map(|front| front.start);
        self.flight.lose(|segment| Some(segment.start) == first || segment.at + patience <= now, report);
    }

    /// Marks everything in flight as lost.
    pub(in crate::tcp) fn lose_all(&mut self) {
        self.probe = None;
        self.flight.lose(|_| true, |_| {});
    }

    /// Section 7.2, `TLP_calc_PTO()`: the time until a probe, if one is called for: nothing reported, nothing lost, no
    /// other probe in flight.
    pub(in crate::tcp) fn probe_timeout(&self, srtt: Option<Dur>) -> Option<Dur> {
        let quiet = self.probe.is_none() && self.flight.counts.sacked == 0 && self.flight.counts.lost == 0;
        if !quiet || self.flight.in_flight() == 0 {
            return None;
        }
        let alone = if self.flight.segments.len() == 1 { MAX_ACK_DELAY } else { Dur::ZERO };
        Some(srtt.map_or(FIRST_PROBE, |srtt| srtt * 2 + alone))
    }

    /// Section 7.3: the segment to resend if there is nothing new, which is the last.
    pub(in crate::tcp) fn last(&self) -> Option<Segment> {
        self.flight.segments.back().filter(|last| !last.sacked).copied()
    }

    /// Notes a probe that ends at `end`.
    pub(in crate::tcp) fn note_probe(&mut self, end: Pos, again: bool) {
        self.probe = Some((end, again));
    }

    /// Section 7.4, `TLP_process_ack()`. Returns whether the probe has repaired a loss, to which the window must
    /// respond. `bare`: a duplicate without any report.
    fn probe_repaired(&mut self, report: &Report, bare: bool) -> bool {
        let Some((end, again)) = self.probe.filter(|&(end, _)| report.ack >= end) else { return false };
        // Case 1: the receiver already had it, and says so.
        let spurious = report.dsack.is_some_and(|(_, right)| right == end);
        let over = !again || spurious || report.ack > end || bare;
        if over {
            self.probe = None;
        }
        over && again && !spurious && report.ack > end
    }

    /// See [`fourhop_cc::CongestionControl::marks_app_limited`]; also called when the application has run out of data.
    pub(in crate::tcp) fn mark_app_limited(&mut self) {
        self.flight.delivery.mark_app_limited(self.flight.in_flight());
    }

    /// Whether data sent now is limited by the application.
    pub(in crate::tcp) fn is_app_limited(&self) -> bool {
        self.flight.delivery.is_app_limited()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{SackBlocks, TcpOptions};
    use fourhop_units::Seq;

    /// RFC 2883, section 4: a D-SACK is the first block, and is below the acknowledgement or within the second block.
    #[test]
    fn a_d_sack_lies_before_the_acknowledgement_or_within_the_second_block() {
        let read = |blocks: &[(u32, u32)]| {
            let mut space = SendSpace::new(Seq::from_wire(0), 100);
            (space.una, space.nxt, space.max) = (Pos::FIRST, Pos::FIRST + 10_000, Pos::FIRST + 10_000);
            let place = |n: u32| Seq::from_wire(n + 1);
            let sack: SackBlocks = blocks.iter().map(|&(left, right)| (place(left), place(right))).collect();
            let options = TcpOptions { sack, ..TcpOptions::default() };
            let report = Report::read(Pos::FIRST + 3_000, &TcpSegment { options, ..TcpSegment::default() }, &space);
            report.dsack.map(|(left, right)| (left - Pos::FIRST, right - Pos::FIRST))
        };
        assert_eq!(read(&[(1_000, 2_000), (5_000, 6_000)]), Some((1_000, 2_000)), "before");
        assert_eq!(read(&[(2_000, 3_000)]), Some((2_000, 3_000)), "up to the acknowledgement");
        assert_eq!(read(&[(5_000, 5_500), (4_500, 6_000)]), Some((5_000, 5_500)), "within");
        assert_eq!(read(&[(5_000, 6_000), (5_000, 6_000)]), Some((5_000, 6_000)), "all of it");
        assert_eq!(read(&[(5_000, 6_500), (4_500, 6_000)]), None, "beyond its end");
        assert_eq!(read(&[(4_000, 5_500), (4_500, 6_000)]), None, "before its beginning");
        assert_eq!(read(&[(5_000, 6_000), (7_000, 8_000)]), None);
    }
}
