//! When a receiver acknowledges, and the window it offers.

use super::adhoc;
use fourhop_units::{Dur, Time};

/// A segment with payload that has just been put into the receive buffer.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Whether it was the next segment expected and left no gap behind it.
    pub in_order: bool,
    /// Whether it filled a gap, at least in part.
    pub filled_gap: bool,
    /// Payload bytes.
    pub bytes: u32,
    /// Largest payload the peer sends.
    pub mss: u32,
    /// Bytes of the stream received in order since the connection began, this segment included.
    pub received: u64,
}

/// When to acknowledge an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckDecision {
    /// Acknowledge at once.
    Now,
    /// Acknowledge with the next outgoing segment, or after this time, whichever comes first.
    Within(Dur),
}

/// A receiver's policy.
///
/// Call order: for each arriving segment `on_packet`, if [`wants_packets`](AckPolicy::wants_packets), then `on_segment`
/// if it carries payload; `on_ack_sent` whenever a segment with an acknowledgement is sent (data segments included);
/// `limit` when a window is about to be advertised.
pub trait AckPolicy {
    /// Whether it observes how packets fare on the path.
    fn wants_packets(&self) -> bool {
        false
    }

    /// Handles a packet anywhere in the stream, including duplicates and probes without payload.
    fn on_packet(&mut self, _now: Time, _packet: &adhoc::Packet) {}

    /// Decides when to acknowledge an arriving segment.
    fn on_segment(&mut self, arrival: &Arrival) -> AckDecision;

    /// Notes that an ACK for all data has been sent.
    fn on_ack_sent(&mut self) {}

    /// Upper limit of the advertised window in bytes; `None`: the free space in the buffer. Only this limit may shrink
    /// a window already offered; data that then arrives beyond it is still accepted.
    fn limit(&self) -> Option<u64> {
        None
    }
}

/// When a receiver acknowledges. Out-of-order segments and those that fill a gap are acknowledged at once in any case.
#[derive(Clone, Copy, Debug)]
pub enum Timing {
    /// Every segment at once.
    EverySegment,
    /// Delayed acknowledgements: RFC 5681 section 4.2 (an ACK at least for every second full-sized segment) and RFC
    /// 9293 section 3.8.6.3.
    Delayed {
        /// The longest wait. RFC 9293 section 3.8.6.3 (MUST-58): less than 0.5 s. Linux's minimum is 40 ms; ns-2.35's
        /// DelAck sink uses 100 ms.
        timeout: Dur,
        /// Bytes received since the last ACK.
        bytes: u32,
    },
    /// Dynamic delayed acknowledgements: one ACK for d segments, d growing from 1 to 4 with the segments received
    /// (Altman, Jiménez, "Novel Delayed ACK Techniques for Improving TCP Performance in Multihop Wireless Networks",
    /// PWC 2003).
    ///
    /// Deviation: segments are numbered by the bytes received in order, in units of a segment.
    Dynamic {
        /// The longest wait, as with delayed acknowledgements.
        timeout: Dur,
        /// Segments received since the last ACK.
        segments: u32,
    },
}

impl Timing {
    /// Altman, Jiménez 2003: d is 2, 3 and 4 from segments number 2, 5 and 9 on, counted from 0.
    const THRESHOLDS: [u64; 3] = [2, 5, 9];

    fn on_segment(&mut self, arrival: &Arrival) -> AckDecision {
        let (enough, timeout) = match self {
            Timing::EverySegment => return AckDecision::Now,
            Timing::Delayed { timeout, bytes } => {
                *bytes += arrival.bytes;
                let first = arrival.received <= u64::from(arrival.bytes);
                (first || *bytes >= 2 * arrival.mss, *timeout)
            }
            Timing::Dynamic { timeout, segments } => {
                *segments += 1;
                let number = arrival.received.div_ceil(u64::from(arrival.mss)).saturating_sub(1);
                let per_ack = 1 + Timing::THRESHOLDS.iter().filter(|&&threshold| number >= threshold).count();
                (*segments as usize >= per_ack, *timeout)
            }
        };
        let at_once = !arrival.in_order || arrival.filled_gap || enough;
        if at_once { AckDecision::Now } else { AckDecision::Within(timeout) }
    }

    fn on_ack_sent(&mut self) {
        if let Timing::Delayed { bytes: waiting, .. } | Timing::Dynamic { segments: waiting, .. } = self {
            *waiting = 0;
        }
    }
}

/// A policy chosen at run time: when to acknowledge, and optionally a window that follows the path.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverPolicy {
    /// When it acknowledges.
    pub timing: Timing,
    /// The ad hoc TCP receiver, if any.
    pub adhoc: Option<adhoc::Receiver>,
}

impl ReceiverPolicy {
    /// Acknowledges every segment at once.
    pub const EVERY_SEGMENT: ReceiverPolicy = ReceiverPolicy::timed(Timing::EverySegment);

    /// Delays acknowledgements by at most `timeout`.
    pub const fn delayed(timeout: Dur) -> ReceiverPolicy {
        ReceiverPolicy::timed(Timing::Delayed { timeout, bytes: 0 })
    }

    /// Delays acknowledgements dynamically, by at most `timeout`.
    pub const fn dynamic(timeout: Dur) -> ReceiverPolicy {
        ReceiverPolicy::timed(Timing::Dynamic { timeout, segments: 0 })
    }

    const fn timed(timing: Timing) -> ReceiverPolicy {
        ReceiverPolicy { timing, adhoc: None }
    }

    /// Adds a window that follows the path.
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

    fn on_segment(&mut self, arrival: &Arrival) -> AckDecision {
        let decision = self.timing.on_segment(arrival);
        let urgent = self.adhoc.as_ref().is_some_and(adhoc::Receiver::is_urgent);
        if urgent { AckDecision::Now } else { decision }
    }

    fn on_ack_sent(&mut self) {
        self.timing.on_ack_sent();
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

    /// Numbers, from 0, of the segments that trigger an ACK when all arrive in order.
    fn acknowledged(mut policy: ReceiverPolicy, segments: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        for n in 0..segments {
            let received = (n + 1) * 1_000;
            let arrival = Arrival { in_order: true, filled_gap: false, bytes: 1_000, mss: 1_000, received };
            if policy.on_segment(&arrival) == AckDecision::Now {
                numbers.push(n);
                policy.on_ack_sent();
            }
        }
        numbers
    }

    /// RFC 5681 section 4.2: at least every second full-sized segment. The first gets an ACK at once, as in ns-2.35.
    #[test]
    fn delayed_acks_answer_every_second_segment() {
        assert_eq!(acknowledged(ReceiverPolicy::delayed(Dur::from_millis(100)), 8), [0, 2, 4, 6]);
    }

    /// Altman, Jiménez 2003, figure of d against the segment number.
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
            assert_eq!(policy.on_segment(&arrival), AckDecision::Now);
            policy.on_ack_sent();
            let filled = Arrival { filled_gap: true, ..arrival };
            assert_eq!(policy.on_segment(&filled), AckDecision::Now);
        }
    }
}
