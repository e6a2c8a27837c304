//! Detects whether a receiver waits for a second segment before it acknowledges (RFC 5681 section 4.2).
//!
//! Such a wait is not part of the path. Linux waits 40 to 200 ms (TCP_DELACK_MIN and TCP_DELACK_MAX of
//! include/net/tcp.h), but only after a while, and not for each segment: we think that it acknowledges one with PSH at
//! once if the application reads it. A sender whose window is one segment cannot distinguish the wait from a longer
//! path. So a late acknowledgement of the only segment in flight is in doubt: it does not count as a round trip, and
//! the next segments leave as a pair. The pair's round trip decides.

use crate::Window;

/// All acknowledgements.
const ONE: u64 = Window::ONE as u64;
/// An acknowledgement is in doubt if it is this much later than the shortest round trip, in microseconds: less than
/// Linux's shortest wait.
const LATE: u64 = 30_000;
/// Doubts needed for a pair; doubled after each pair that was as late, up to the second number.
const NEEDED: [u32; 2] = [1, 8];
/// A receiver found to wait is remembered for this many acknowledgements of single segments; if it is found to wait
/// again within `SOON` of them, for twice as many, up to the second number. Otherwise the path was late by chance.
const KNOWN: [u32; 2] = [4, 1_024];
const SOON: u32 = 4;
/// After this many doubts no pair will come, and late acknowledgements count.
const UNHEARD: u32 = 32;

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Segments newly acknowledged.
    pub(super) segments: u32,
    /// Segments still in flight.
    pub(super) in_flight: u32,
    /// Its round trip in microseconds, if known, and the shortest of the path.
    pub(super) rtt: Option<u64>,
    pub(super) least: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver {
    /// Share of acknowledgements for two or more segments.
    paired: u64,
    /// Late acknowledgements in doubt, and how many are needed for a pair.
    doubts: u32,
    needed: u32,
    /// Whether the last round trip beyond doubt was as late.
    longer: bool,
    /// Single segments for which it is still known to wait, their number the last time, and how many came since.
    known: u32,
    span: u32,
    since: u32,
}

impl Receiver {
    pub(super) fn new() -> Receiver {
        Receiver { paired: ONE / 2, doubts: 0, needed: NEEDED[0], longer: false, known: 0, span: 0, since: 0 }
    }

    /// Whether it waits for a second segment. Initially assumed.
    pub(super) fn delays_acks(&self) -> bool {
        self.paired >= ONE / 4 || self.waits()
    }

    /// Whether it has recently waited for the second segment, or that is to be found out.
    pub(super) fn waits(&self) -> bool {
        self.known > 0 || self.wants_pair()
    }

    /// Whether a pair is to leave, whatever the window is.
    pub(super) fn wants_pair(&self) -> bool {
        self.doubts >= self.needed
    }

    /// Takes an acknowledgement; returns whether its round trip is the path's.
    pub(super) fn take(&mut self, answer: &Answer) -> bool {
        let late = answer.rtt.is_some_and(|rtt| rtt > answer.least.saturating_add(LATE));
        let several = answer.segments > 1;
        if late && !several && answer.in_flight == 0 {
            self.doubts = (self.doubts + 1).min(UNHEARD + 1);
            return self.longer || self.doubts > UNHEARD;
        }
        if answer.segments > 0 {
            let waits = self.paired >= ONE / 4 || self.known > 0;
            self.paired = (7 * self.paired + if several { ONE } else { 0 }) / 8;
            match self.known {
                _ if several => {}
                0 => self.since = (self.since + 1).min(SOON),
                _ => (self.known, self.since) = (self.known - 1, 0),
            }
            if several || answer.in_flight > 0 {
                self.decide(late, !waits);
            }
        }
        true
    }

    /// Handles a round trip beyond doubt; `news`: the receiver was not known to wait.
    fn decide(&mut self, late: bool, news: bool) {
        if self.doubts > 0 && late {
            self.needed = (2 * self.needed).min(NEEDED[1]);
        } else if self.doubts > 0 {
            self.needed = NEEDED[0];
            if news {
                self.span = if self.since < SOON { 2 * self.span } else { 0 }.clamp(KNOWN[0], KNOWN[1]);
                self.known = self.span;
            }
        }
        (self.doubts, self.longer) = (0, late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ap2::Ap2;
    use crate::rate::RateSample;
    use crate::tests::{view, window};
    use crate::{CongestionControl, Hint, Params, View};
    use fourhop_units::{Dur, Rate, Time};
    use std::collections::VecDeque;

    /// An acknowledgement on a path of at least 10 ms.
    fn answer(segments: u32, in_flight: u32, rtt_ms: u64) -> Answer {
        Answer { segments, in_flight, rtt: Some(1_000 * rtt_ms), least: 10_000 }
    }

    /// A receiver that acknowledges each segment, six times in a row.
    fn quick() -> Receiver {
        let mut receiver = Receiver::new();
        for n in 0..6 {
            assert!(receiver.delays_acks(), "so it seems at first: {n}");
            assert!(receiver.take(&answer(1, 1, 10)));
        }
        assert!(!receiver.delays_acks());
        receiver
    }

    #[test]
    fn two_segments_at_once_show_a_receiver_that_waits() {
        let mut receiver = quick();
        assert!(receiver.take(&answer(2, 0, 60)) && receiver.delays_acks());
        assert!((0..2).all(|_| receiver.delays_acks() && receiver.take(&answer(1, 1, 10))));
        assert!(!receiver.delays_acks());
    }

    /// The pair is no later than the path, so the receiver had waited: this is remembered for four single segments, for
    /// eight if it soon waits again, and for four after a while.
    #[test]
    fn a_late_answer_to_a_segment_alone_is_tried_with_a_pair() {
        let mut receiver = quick();
        for (at_once, known) in [(0, 4), (0, 8), (2, 16), (3, 4), (100, 4)] {
            assert!((0..at_once).all(|_| receiver.take(&answer(1, 0, 40))), "30 ms are not late");
            assert!(!receiver.take(&answer(1, 0, 41)) && receiver.wants_pair() && receiver.delays_acks());
            assert!(receiver.take(&answer(1, 1, 10)) && !receiver.wants_pair());
            for n in 0..known {
                assert!(receiver.delays_acks(), "{n} of {known}");
                receiver.take(&answer(1, 0, 10));
            }
            assert!(!receiver.delays_acks());
        }
    }

    /// The pair is as late: late acknowledgements count, and the next pair needs two doubts, then four, eight, eight.
    #[test]
    fn a_path_that_has_become_longer_is_not_the_receivers_wait() {
        let mut receiver = quick();
        assert!(!receiver.take(&answer(1, 0, 60)));
        for needed in [2, 4, 8, 8] {
            assert!(receiver.take(&answer(1, 1, 60)) && !receiver.delays_acks(), "it answers each of a pair");
            for n in 0..needed {
                assert!(!receiver.wants_pair(), "{n} of {needed}");
                assert!(receiver.take(&answer(1, 0, 60)));
            }
            assert!(receiver.wants_pair());
        }
        assert!(receiver.take(&answer(1, 1, 20)));
        assert!(!receiver.take(&answer(1, 0, 60)) && receiver.wants_pair(), "it is short again");
    }

    #[test]
    fn where_no_pair_can_leave_late_answers_count_again() {
        let mut receiver = Receiver::new();
        assert!((0..32).all(|_| !receiver.take(&answer(1, 0, 60))));
        assert!((0..100).all(|_| receiver.take(&answer(1, 0, 60))));
    }

    /// Less than a segment, like the end of a request: its acknowledgement says nothing about pairs, but may be late.
    #[test]
    fn a_short_segment_says_nothing_of_pairs() {
        let mut receiver = Receiver::new();
        assert!((0..100).all(|_| receiver.take(&answer(0, 1, 10))) && receiver.delays_acks());
        assert!(!receiver.take(&answer(0, 0, 60)));
    }

    /// One hop of 2 Mbit/s: a segment takes 8 ms and its acknowledgement 2. The receiver acknowledges three segments of
    /// four at once, as we think Linux does with PSH; after sixteen it waits 90 ms with the fourth unless one more
    /// arrives. The application writes 101 segments each time all have arrived. AP2 keeps the air busy.
    #[test]
    fn a_receiver_of_linux_does_not_hold_the_window_down() {
        const LATEST: u64 = 90;
        let (mut ap2, mut win) = (Ap2::new(&Params::new()), window(10, u32::MAX));
        // The handshake's packets are short.
        ap2.init(&mut win, &View { srtt: Some(Dur::from_millis(4)), ..view() });
        ap2.on_hint(&mut win, &view(), Hint::LinkRate(Rate::kbps(2_000)));
        ap2.on_hint(&mut win, &view(), Hint::HopCount(1));
        // Send and arrival time of each segment in flight; segments waiting at the receiver; the end of its wait.
        let mut air: VecDeque<(u64, u64, u64)> = VecDeque::new();
        let (mut held, mut until) = (VecDeque::new(), 0);
        let (mut written, mut sent, mut acked, mut free, mut next) = (0_u64, 0_u64, 0_u64, 0, 0);
        for ms in 0..20_000_u64 {
            while let Some(&(number, left, _)) = air.front().filter(|segment| segment.2 <= ms) {
                air.pop_front();
                held.push_back((number, left));
                let at_once = number < 16 || number % 4 != 0 || held.len() == 2;
                until = if at_once { ms } else { ms + LATEST };
            }
            if !held.is_empty() && until <= ms {
                let (newest, left) = held.back().copied().expect("some");
                let segments = held.len() as u32;
                held.clear();
                acked += u64::from(segments);
                let in_flight = (sent - acked) as u32;
                let sample = RateSample {
                    has_data: true,
                    prior_delivered: newest.saturating_sub(u64::from(in_flight) + 1),
                    newly_acked: segments,
                    total_delivered: acked,
                    in_flight,
                    rtt: Some(Dur::from_millis(ms + 2 - left)),
                    cwnd_limited: true,
                    ..RateSample::default()
                };
                ap2.on_rate(&mut win, &View { now: Time::from_millis(ms), ..view() }, &sample);
            }
            let (under_way, waiting) = ((sent - acked) as u32, (written - sent) as u32);
            if next <= ms && waiting > 0 && win.has_room_for_burst(under_way, waiting) {
                let burst = win.burst.min(waiting).min(win.cwnd.saturating_sub(under_way).max(1));
                for _ in 0..burst {
                    free = free.max(ms) + 8;
                    air.push_back((sent, ms, free));
                    sent += 1;
                }
                let interval = win.pacing.unwrap_or(Dur::ZERO).as_nanos() / 1_000_000;
                next = ms + interval * u64::from(burst);
            }
            written += if acked == written { 101 } else { 0 };
        }
        assert!(acked > 20_000 / 8 * 85 / 100, "{acked} of 2500, {ap2:?}");
    }
}
