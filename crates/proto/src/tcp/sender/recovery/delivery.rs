//! Samples of the delivery rate: how much arrived between the departure of a segment and its acknowledgement.
//!
//! Source: draft-ietf-ccwg-bbr-05, section 4.1.2 (before: draft-cheng-iccrg-delivery-rate-estimation-02), in segments.

use fourhop_cc::rate::{Bandwidth, Lost, RateSample};
use fourhop_units::{Dur, Time};

/// State recorded with a segment when it is sent (section 4.1.2.1.2).
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Stamp {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    tx_in_flight: u32,
    app_limited: bool,
}

/// A segment that has arrived, as input to the sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// When it was sent, and where it ends: the later of two counts.
    pub(super) order: (Time, u64),
    pub(super) retransmitted: bool,
    pub(super) stamp: Stamp,
}

/// The state of a connection (section 4.1.2.1.1).
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Delivery {
    delivered: u64,
    delivered_at: Time,
    /// Departure of the segment most recently found to have arrived.
    first_sent: Time,
    lost: u64,
    /// The application had run out of data: until this much is delivered, data sent says nothing about the path.
    app_limited: Option<u64>,
    /// Of this acknowledgement: the number of segments it reports, and the one sent last.
    newly_acked: u32,
    newest: Option<Arrived>,
    /// The newest segment to arrive so far.
    last: Option<Stamp>,
}

impl Delivery {
    pub(super) fn new() -> Delivery {
        Delivery {
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            app_limited: None,
            newly_acked: 0,
            newest: None,
            last: None,
        }
    }

    /// `OnPacketSent()`: a segment is sent while `in_flight` others are in flight.
    pub(super) fn stamp(&mut self, now: Time, in_flight: u32) -> Stamp {
        if in_flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            tx_in_flight: in_flight + 1,
            app_limited: self.app_limited.is_some(),
        }
    }

    /// `UpdateRateSample()`. With `None` the arrival gives no sample, because the copy that arrived is an earlier one
    /// than the one whose times are known (section 4.1.3.4, the second choice).
    pub(super) fn take(&mut self, now: Time, arrived: Option<Arrived>) {
        self.delivered += 1;
        self.delivered_at = now;
        self.newly_acked += 1;
        let Some(arrived) = arrived else { return };
        if self.newest.is_none_or(|newest| arrived.order > newest.order) {
            self.newest = Some(arrived);
        }
    }

    /// `GenerateRateSample()`: the sample of an acknowledgement, once everything it reports has been taken. No round
    /// trip was below `min_rtt`.
    pub(super) fn sample(&mut self, now: Time, min_rtt: Option<Dur>) -> RateSample {
        self.app_limited = self.app_limited.filter(|&until| self.delivered <= until);
        let mut sample = RateSample {
            newly_acked: core::mem::take(&mut self.newly_acked),
            total_delivered: self.delivered,
            ..RateSample::default()
        };
        let Some(Arrived { order: (sent, _), retransmitted, stamp }) = self.newest.take() else { return sample };
        self.first_sent = sent;
        self.last = Some(stamp);
        let interval = (sent - stamp.first_sent).max(now - stamp.delivered_at);
        sample.has_data = true;
        sample.delivered = segments(self.delivered - stamp.delivered);
        sample.prior_delivered = stamp.delivered;
        sample.is_app_limited = stamp.app_limited;
        sample.tx_in_flight = stamp.tx_in_flight;
        sample.lost = segments(self.lost - stamp.lost);
        if min_rtt.is_none_or(|least| interval >= least) {
            sample.rate = Bandwidth::over(sample.delivered, interval);
        }
        // Section 4.2: it is not known which copy has arrived.
        sample.rtt = Some(now - sent).filter(|_| !retransmitted);
        sample
    }

    /// Counts the segment with this stamp as lost.
    pub(super) fn lose(&mut self, stamp: &Stamp) -> Lost {
        self.lost += 1;
        self.report(stamp)
    }

    /// The newest segment to arrive, reported as if it had been lost: this is how a mark is reported.
    pub(in crate::tcp) fn newest(&self) -> Option<Lost> {
        self.last.as_ref().map(|stamp| self.report(stamp))
    }

    fn report(&self, stamp: &Stamp) -> Lost {
        Lost {
            tx_in_flight: stamp.tx_in_flight,
            lost: segments(self.lost - stamp.lost),
            is_app_limited: stamp.app_limited,
            total_delivered: self.delivered,
        }
    }

    /// `MarkConnectionAppLimited()`.
    pub(super) fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited = Some((self.delivered + u64::from(in_flight)).max(1));
    }

    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }
}

/// Saturates: no window has more segments.
fn segments(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// Segments sent every 10 ms from 0 on, and acknowledged 100 ms later.
    fn steady(delivery: &mut Delivery, acks: &[u64]) -> Vec<RateSample> {
        let mut stamps = Vec::new();
        let mut samples = Vec::new();
        for ms in (0..=300u64).step_by(10) {
            if let Some(k) = ms.checked_sub(100).map(|ms| ms / 10)
                && acks.contains(&k)
            {
                let from = samples.len() as u64 * 2;
                for n in from..=k {
                    let (at, stamp) = stamps[n as usize];
                    delivery.take(MS(ms), Some(Arrived { order: (at, n), retransmitted: false, stamp }));
                }
                samples.push(delivery.sample(MS(ms), Some(Dur::from_millis(100))));
            }
            let known = stamps.len() as u32 - samples.len() as u32 * 2;
            stamps.push((MS(ms), delivery.stamp(MS(ms), known)));
        }
        samples
    }

    /// Every second segment is acknowledged, together with the one before it: 100 segments per second, although the
    /// ACKs alone sometimes suggest more.
    #[test]
    fn a_steady_flow_has_the_rate_at_which_it_is_sent() {
        let mut delivery = Delivery::new();
        let samples = steady(&mut delivery, &[1, 3, 5, 7, 9, 11, 13, 15]);
        let last = samples.last().expect("eight");
        assert_eq!((last.newly_acked, last.total_delivered), (2, 16));
        // Segment 15 left at 150 ms, when 6 had been delivered: 10 in 100 ms.
        assert_eq!((last.delivered, last.prior_delivered, last.rate.per_second()), (10, 6, 100));
        assert_eq!((last.rtt, last.tx_in_flight), (Some(Dur::from_millis(100)), 10));
    }

    /// Section 4.1.1.2.4: acknowledgements that arrive in a burst do not make the path faster than the sender was.
    #[test]
    fn compressed_acknowledgements_do_not_count() {
        let mut delivery = Delivery::new();
        let stamps: Vec<_> = (0..10).map(|n| (MS(n * 10), delivery.stamp(MS(n * 10), n as u32))).collect();
        delivery.take(MS(100), Some(Arrived { order: (stamps[0].0, 0), retransmitted: false, stamp: stamps[0].1 }));
        let first = delivery.sample(MS(100), Some(Dur::from_millis(100)));
        assert_eq!((first.delivered, first.rate.per_second()), (1, 10));
        for n in 1..10 {
            let (at, stamp) = stamps[n as usize];
            delivery.take(MS(101), Some(Arrived { order: (at, n), retransmitted: false, stamp }));
        }
        // Ten delivered; the last left 90 ms after the first, and the ACKs took 101 ms.
        let all = delivery.sample(MS(101), Some(Dur::from_millis(100)));
        assert_eq!((all.delivered, all.rate.per_second()), (10, 99));
        // The interval of a spurious retransmission is shorter than any round trip.
        assert!(Delivery::sample(&mut delivery, MS(102), None).rate.is_zero());
        let stamp = delivery.stamp(MS(103), 0);
        delivery.take(MS(110), Some(Arrived { order: (MS(103), 11), retransmitted: true, stamp }));
        let short = delivery.sample(MS(110), Some(Dur::from_millis(100)));
        assert!(short.has_data && short.rate.is_zero() && short.rtt.is_none());
    }

    /// Section 4.1.2.4: samples are marked until everything is delivered that was in flight when the application ran
    /// out of data.
    #[test]
    fn a_bubble_marks_a_round_trip() {
        let mut delivery = Delivery::new();
        delivery.mark_app_limited(2);
        let marked: Vec<bool> = (0..5)
            .map(|n| {
                let stamp = delivery.stamp(MS(n), 1);
                delivery.take(MS(n + 1), Some(Arrived { order: (MS(n), n), retransmitted: false, stamp }));
                delivery.sample(MS(n + 1), None).is_app_limited
            })
            .collect();
        assert_eq!(marked, [true, true, true, false, false]);
    }

    #[test]
    fn losses_since_a_segment_left_are_counted() {
        let mut delivery = Delivery::new();
        let first = delivery.stamp(MS(0), 0);
        let second = delivery.stamp(MS(1), 1);
        let lost = delivery.lose(&first);
        assert_eq!((lost.lost, lost.tx_in_flight), (1, 1));
        let third = delivery.stamp(MS(2), 1);
        assert_eq!((delivery.lose(&second).lost, delivery.lose(&third).lost), (2, 2));
    }
}
