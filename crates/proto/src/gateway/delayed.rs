//! Round trips with receivers that delay their acknowledgements.
//!
//! A receiver that waits for a second segment (RFC 5681 section 4.2; Linux waits 40 ms or more) adds its wait to the
//! round trip of each segment that it acknowledges alone. Adaptive pacing would take that for a longer path and
//! increase the interval between segments, so that even more of them are acknowledged alone: pacing gets stuck at one
//! segment per wait.
//!
//! An acknowledgement of two or more segments was triggered by the newest of them, so its round trip is that of the
//! path. One that covers a single segment counts only if the receiver does not delay; samples taken before a receiver
//! showed that it delays are discarded. Two segments that leave together reveal the kind of receiver: such a pair is
//! requested whenever there have been no certain samples for a while. If none can leave because there are never two
//! segments waiting, single segments count again: a wait in the round trip is better than an interval that no round
//! trip ever corrects.

/// Acknowledgements without a certain sample after which a pair should leave: for a receiver that delays, and for one
/// that has not shown that it does. A pair takes the place of two single segments, so a few of them disturb a path
/// little.
const ASK: [u32; 2] = [8, 32];
/// This many acknowledgements without a certain sample mean that no pair can leave.
const UNHEARD: u32 = 4 * ASK[0];

/// How the round trip of an acknowledgement is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// It is the round trip of the path.
    Counts,
    /// It is, but earlier samples included waits of the receiver.
    CountsAlone,
    /// It may include a wait of the receiver.
    Waited,
}

/// State per receiver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Receiver {
    delays: bool,
    /// Whether only certain samples have counted since it showed that it delays. A lost acknowledgement makes any
    /// receiver look as if it delayed; that alone must not discard the knowledge of a path again and again.
    certain: bool,
    /// Acknowledgements of single segments since the last certain sample.
    singles: u32,
}

impl Receiver {
    /// Handles an acknowledgement that covers this many timed segments.
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

    /// Whether two segments should leave together.
    pub fn wants_pair(&self) -> bool {
        self.singles >= ASK[usize::from(!self.delays)]
    }

    /// Two segments have left together. If they are acknowledged one by one, this receiver does not delay.
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
