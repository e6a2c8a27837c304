//! Round trips of receivers that delay their acknowledgements.
//!
//! A receiver that waits for a second segment (RFC 5681 section 4.2; Linux waits 40 ms and more) adds its wait to the
//! round trip of each segment that it acknowledges alone. Adaptive pacing would take that for a longer path and leave
//! more room between segments, which the receiver then acknowledges alone all the more: pacing gets stuck at a segment
//! for each wait.
//!
//! An acknowledgement of two segments or more was caused by the newest of them, so its round trip is that of the path.
//! One that covers a single segment counts only for a receiver that does not delay; what counted before a receiver
//! showed that it delays is forgotten. Two segments that leave together show the kind: this asks for such a
//! pair whenever there have been no certain samples for a while. If none can leave because never two segments wait,
//! single segments count again: a wait in the round trip is better than an interval that no round trip ever corrects.

/// Without a certain sample in so many acknowledgements, a pair is to leave: of a receiver that delays, and of one that
/// has not shown that it does. A pair takes the place of two single segments, so that few of them disturb a path
/// little.
const ASK: [u32; 2] = [8, 32];
/// So many acknowledgements without a certain sample say that no pair can leave.
const UNHEARD: u32 = 4 * ASK[0];

/// Use of an acknowledgement's round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// It is that of the path.
    Counts,
    /// It is, and what counted before had waits of the receiver in it.
    CountsAlone,
    /// A wait of the receiver may be in it.
    Waited,
}

/// State of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Receiver {
    delays: bool,
    /// Have only certain samples counted, once it had shown that it delays? An acknowledgement that was lost makes any
    /// receiver look as if it did: that alone must not make what is known of a path forgotten again and again.
    certain: bool,
    /// Acknowledgements of single segments since the last certain sample.
    singles: u32,
}

impl Receiver {
    /// An acknowledgement covers so many timed segments.
    pub fn handle_ack(&mut self, segments: usize) -> Sample {
        if segments >= 2 {
            let known = std::mem::replace(self, Receiver { delays: true, certain: true, singles: 0 }).certain;
            return if known { Sample::Counts } else { Sample::CountsAlone };
        }
        self.singles = self.singles.saturating_add(1);
        if self.delays && self.singles >= UNHEARD {
            (self.delays, self.certain) = (false, false);
        }
        if self.delays { Sample::Waited } else { Sample::Counts }
    }

    /// Are two segments to leave together?
    pub fn wants_pair(&self) -> bool {
        self.singles >= ASK[usize::from(!self.delays)]
    }

    /// Two have left. If their acknowledgements come one by one, this receiver does not delay.
    pub fn handle_pair(&mut self) {
        (self.delays, self.singles) = (false, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_receiver_that_delays_are_those_of_pairs() {
        use Sample::{Counts, CountsAlone, Waited};
        let mut receiver = Receiver::default();
        let counts = (0..31).all(|_| receiver.handle_ack(1) == Counts);
        assert!(counts && !receiver.wants_pair(), "it has not shown that it delays");
        receiver.handle_ack(1);
        assert!(receiver.wants_pair());
        receiver.handle_pair();
        assert_eq!(receiver.handle_ack(2), CountsAlone, "caused by the second; those before had its wait");
        assert!((0..8).all(|_| !receiver.wants_pair() && receiver.handle_ack(1) == Waited), "each has its wait in it");
        assert!(receiver.wants_pair());
        assert_eq!(receiver.handle_ack(2), Counts);
        receiver.handle_pair();
        assert!((0..2).all(|_| receiver.handle_ack(1) == Counts), "both at once: it does not delay any more");
        assert_eq!(receiver.handle_ack(2), Counts, "an acknowledgement was lost");
    }

    #[test]
    fn where_no_pair_can_leave_single_segments_count_again() {
        let mut receiver = Receiver::default();
        receiver.handle_ack(2);
        assert_eq!((0..).take_while(|_| receiver.handle_ack(1) == Sample::Waited).count(), 31);
        assert!(receiver.wants_pair());
        assert_eq!(receiver.handle_ack(2), Sample::CountsAlone);
    }
}
