//! What belongs to the receiver: when it acknowledges and how much window it offers.

use super::adhoc;
use fourhop_units::{Dur, Time};

/// A segment with payload that has just been put into the receive buffer.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// It was the next one expected and left no gap behind.
    pub in_order: bool,
    /// It filled a gap, wholly or in part.
    pub filled_gap: bool,
    /// Bytes of payload.
    pub bytes: u32,
    /// Largest payload the peer sends.
    pub mss: u32,
    /// Bytes of the stream received in order since the connection began, this segment included.
    pub received: u64,
}

/// What to do about an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckDecision {
    /// Acknowledge at once.
    Now,
    /// Acknowledge with the next segment that goes out, or after this time, whichever is first.
    Within(Dur),
}

/// A receiver's policy.
///
/// Call order: for each arriving segment `on_packet`, if [`wants_packets`](AckPolicy::wants_packets), then `on_segment` if
/// it brings payload; `on_ack_sent` whenever a segment with an acknowledgement leaves (also one with data), `limit`
/// when a window is about to be advertised.
pub trait AckPolicy {
    /// Does it look at what the path did to packets?
    fn wants_packets(&self) -> bool {
        false
    }

    /// A packet has arrived, whatever its place in the stream: also duplicates, and probes without payload.
    fn on_packet(&mut self, _now: Time, _packet: &adhoc::Packet) {}

    /// A segment has arrived.
    fn on_segment(&mut self, now: Time, arrival: &Arrival) -> AckDecision;

    /// The peer has been told all there is.
    fn on_ack_sent(&mut self, _now: Time) {}

    /// The most to advertise, in bytes; without it, what is free in the buffer. Only this may take back what was offered
    /// before; data that then arrives beyond it is still taken.
    fn limit(&self) -> Option<u64> {
        None
    }
}

/// Acknowledge every segment at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct EverySegment;

impl AckPolicy for EverySegment {
    fn on_segment(&mut self, _now: Time, _arrival: &Arrival) -> AckDecision {
        AckDecision::Now
    }
}

/// Delayed acknowledgements: RFC 5681 section 4.2 (an ACK at least for every second full-sized segment, at once for
/// segments out of order and those that fill a gap) and RFC 9293 section 3.8.6.3.
#[derive(Clone, Copy, Debug)]
pub struct DelayedAck {
    timeout: Dur,
    unacknowledged: u32,
}

impl DelayedAck {
    /// RFC 9293 section 3.8.6.3 (MUST-58): less than 0.5 s. Linux's least is 40 ms, ns-2.35's DelAck sink has 100 ms.
    pub const fn new(timeout: Dur) -> DelayedAck {
        DelayedAck { timeout, unacknowledged: 0 }
    }
}

impl AckPolicy for DelayedAck {
    fn on_segment(&mut self, _now: Time, arrival: &Arrival) -> AckDecision {
        self.unacknowledged += arrival.bytes;
        let first = arrival.received <= u64::from(arrival.bytes);
        if !arrival.in_order || arrival.filled_gap || first || self.unacknowledged >= 2 * arrival.mss {
            AckDecision::Now
        } else {
            AckDecision::Within(self.timeout)
        }
    }

    fn on_ack_sent(&mut self, _now: Time) {
        self.unacknowledged = 0;
    }
}

/// Dynamic delayed acknowledgements: one ACK for d segments, d growing from 1 to 4 with the segments received (Altman,
/// Jiménez, "Novel Delayed ACK Techniques for Improving TCP Performance in Multihop Wireless Networks", PWC 2003).
///
/// Segments out of order and those that fill a gap are acknowledged at once. Deviation: the number of a segment is that of
/// the bytes received in order, in segments.
#[derive(Clone, Copy, Debug)]
pub struct DynamicDelayedAck {
    timeout: Dur,
    unacknowledged: u32,
}

impl DynamicDelayedAck {
    /// Altman, Jiménez 2003: from segments number 2, 5 and 9 on d is 2, 3 and 4.
    const THRESHOLDS: [u64; 3] = [2, 5, 9];

    /// With the timer of [`DelayedAck::new`].
    pub const fn new(timeout: Dur) -> DynamicDelayedAck {
        DynamicDelayedAck { timeout, unacknowledged: 0 }
    }

    /// Segments per ACK when the `number`th, counted from 0, has arrived.
    fn per_ack(number: u64) -> u32 {
        1 + DynamicDelayedAck::THRESHOLDS.iter().filter(|&&threshold| number >= threshold).count() as u32
    }
}

impl AckPolicy for DynamicDelayedAck {
    fn on_segment(&mut self, _now: Time, arrival: &Arrival) -> AckDecision {
        self.unacknowledged += 1;
        let number = arrival.received.div_ceil(u64::from(arrival.mss)).saturating_sub(1);
        let enough = self.unacknowledged >= DynamicDelayedAck::per_ack(number);
        if !arrival.in_order || arrival.filled_gap || enough {
            AckDecision::Now
        } else {
            AckDecision::Within(self.timeout)
        }
    }

    fn on_ack_sent(&mut self, _now: Time) {
        self.unacknowledged = 0;
    }
}

/// When a receiver acknowledges, chosen at run time and dispatched without a vtable.
#[derive(Clone, Copy, Debug)]
pub enum Timing {
    /// Every segment at once.
    EverySegment(EverySegment),
    /// [`DelayedAck`].
    Delayed(DelayedAck),
    /// [`DynamicDelayedAck`].
    Dynamic(DynamicDelayedAck),
}

/// A policy chosen at run time: when to acknowledge, and perhaps a window that follows the path.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverPolicy {
    /// When it acknowledges.
    pub timing: Timing,
    /// The receiver of ad hoc TCP.
    pub adhoc: Option<adhoc::Receiver>,
}

impl ReceiverPolicy {
    /// Acknowledge every segment at once.
    pub const EVERY_SEGMENT: ReceiverPolicy = ReceiverPolicy::timed(Timing::EverySegment(EverySegment));

    /// Delay acknowledgements by at most `timeout`.
    pub const fn delayed(timeout: Dur) -> ReceiverPolicy {
        ReceiverPolicy::timed(Timing::Delayed(DelayedAck::new(timeout)))
    }

    /// Delay acknowledgements dynamically, by at most `timeout`.
    pub const fn dynamic(timeout: Dur) -> ReceiverPolicy {
        ReceiverPolicy::timed(Timing::Dynamic(DynamicDelayedAck::new(timeout)))
    }

    const fn timed(timing: Timing) -> ReceiverPolicy {
        ReceiverPolicy { timing, adhoc: None }
    }

    /// The same with a window that follows the path.
    pub fn with_adhoc(self, options: adhoc::ReceiverOptions) -> ReceiverPolicy {
        ReceiverPolicy { adhoc: Some(adhoc::Receiver::new(options)), ..self }
    }
}

impl AckPolicy for ReceiverPolicy {
    fn wants_packets(&self) -> bool {
        self.adhoc.is_some()
    }

    fn on_packet(&mut self, now: Time, packet: &adhoc::Packet) {
        if let Some(adhoc) = &mut self.adhoc {
            adhoc.handle_packet(now, packet);
        }
    }

    fn on_segment(&mut self, now: Time, arrival: &Arrival) -> AckDecision {
        let decision = match &mut self.timing {
            Timing::EverySegment(p) => p.on_segment(now, arrival),
            Timing::Delayed(p) => p.on_segment(now, arrival),
            Timing::Dynamic(p) => p.on_segment(now, arrival),
        };
        let urgent = self.adhoc.as_ref().is_some_and(adhoc::Receiver::is_urgent);
        if urgent { AckDecision::Now } else { decision }
    }

    fn on_ack_sent(&mut self, now: Time) {
        match &mut self.timing {
            Timing::EverySegment(p) => p.on_ack_sent(now),
            Timing::Delayed(p) => p.on_ack_sent(now),
            Timing::Dynamic(p) => p.on_ack_sent(now),
        }
        if let Some(adhoc) = &mut self.adhoc {
            adhoc.handle_ack_sent();
        }
    }

    fn limit(&self) -> Option<u64> {
        self.adhoc.as_ref()?.limit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the segments, from 0, at which the policy acknowledges, all arriving in order.
    fn acknowledged(mut policy: ReceiverPolicy, segments: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        for n in 0..segments {
            let received = (n + 1) * 1_000;
            let arrival = Arrival { in_order: true, filled_gap: false, bytes: 1_000, mss: 1_000, received };
            if policy.on_segment(Time::ZERO, &arrival) == AckDecision::Now {
                numbers.push(n);
                policy.on_ack_sent(Time::ZERO);
            }
        }
        numbers
    }

    /// RFC 5681 section 4.2: at least every second full-sized segment. The first goes at once, as in ns-2.35.
    #[test]
    fn delayed_acks_answer_every_second_segment() {
        assert_eq!(acknowledged(ReceiverPolicy::delayed(Dur::from_millis(100)), 8), [0, 2, 4, 6]);
    }

    /// Altman, Jiménez 2003, figure of d over the segment number.
    #[test]
    fn dynamic_acks_grow_to_every_fourth_segment() {
        assert_eq!(acknowledged(ReceiverPolicy::dynamic(Dur::from_millis(100)), 22), [0, 1, 3, 6, 10, 14, 18]);
    }

    #[test]
    fn gaps_are_answered_at_once() {
        for mut policy in
            [ReceiverPolicy::delayed(Dur::from_millis(100)), ReceiverPolicy::dynamic(Dur::from_millis(100))]
        {
            let arrival = Arrival { in_order: false, filled_gap: false, bytes: 1_000, mss: 1_000, received: 50_000 };
            assert_eq!(policy.on_segment(Time::ZERO, &arrival), AckDecision::Now);
            policy.on_ack_sent(Time::ZERO);
            let filled = Arrival { filled_gap: true, ..arrival };
            assert_eq!(policy.on_segment(Time::ZERO, &filled), AckDecision::Now);
        }
    }
}
