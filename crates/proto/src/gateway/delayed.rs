//! Round trips of receivers that delay their acknowledgements.
//!
//! A receiver that waits for a second segment (RFC 5681 section 4.2; Linux waits 40 ms and more) adds its wait to the
//! round trip of each segment that it acknowledges alone. Adaptive pacing would take that for a longer path and leave
//! more room between segments, which the receiver then acknowledges alone all the more: pacing gets stuck at a segment
//! for each wait.
//!
//! An acknowledgement of two segments or more was caused by the newest of them, so its round trip is that of the path.
//! One that covers a single segment counts only for a receiver that does not delay. Which kind a receiver is shows when
//! two segments leave together: this asks for such a pair whenever there have been no certain samples for a while.

/// Without a certain sample in so many acknowledgements, a pair is to leave: of a receiver that delays, and of one that
/// has not shown that it does. A pair takes the place of two single segments, so that few of them disturb a path
/// little.
const ASK: [u32; 2] = [8, 32];

/// State of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Receiver {
    delays: bool,
    /// Acknowledgements of single segments since the last certain sample.
    singles: u32,
}

impl Receiver {
    /// An acknowledgement covers so many timed segments; does its round trip count?
    pub fn handle_ack(&mut self, segments: usize) -> bool {
        if segments >= 2 {
            *self = Receiver { delays: true, singles: 0 };
            return true;
        }
        self.singles = self.singles.saturating_add(1);
        !self.delays
    }

    /// Are two segments to leave together?
    pub fn wants_pair(&self) -> bool {
        self.singles >= ASK[usize::from(!self.delays)]
    }

    /// Two have left. If their acknowledgements come one by one, this receiver does not delay.
    pub fn handle_pair(&mut self) {
        *self = Receiver::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_receiver_that_delays_are_those_of_pairs() {
        let mut receiver = Receiver::default();
        assert!((0..31).all(|_| receiver.handle_ack(1)) && !receiver.wants_pair(), "it has not shown that it delays");
        receiver.handle_ack(1);
        assert!(receiver.wants_pair());
        receiver.handle_pair();
        assert!(receiver.handle_ack(2), "caused by the second");
        assert!((0..8).all(|_| !receiver.wants_pair() && !receiver.handle_ack(1)), "each has its wait in it");
        assert!(receiver.wants_pair());
        receiver.handle_pair();
        assert!(receiver.handle_ack(1) && receiver.handle_ack(1), "both at once: it does not delay any more");
    }
}
