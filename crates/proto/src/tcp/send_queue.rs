//! The queue of the TCP-AP authors' own ns-2 agent (September 2005), [`Release::Queue`](super::Release): the window fills
//! it, a timer that fires each pacing interval empties it, one segment a tick.
//!
//! Three duplicate ACKs and a time-out empty the queue, the retransmission leaves at once, and until the next ACK nothing
//! is held back. What was in the queue counts as sent, as in that agent: after a fast retransmit it stays away until the
//! window has passed it or a time-out goes back, which also comes where nothing is under way. Deviation: the agent stops
//! its timer for good if its queue is empty at a fast retransmit; here that case is like the other.

use super::pacer::tick_of;
use super::position::Pos;
use super::send::Next;
use fourhop_units::{Dur, Time};
use std::collections::VecDeque;

/// What waits in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waiting {
    /// What stood at SND.NXT.
    Next(Pos, Next),
    /// A retransmission from here to before there.
    Again(Pos, Pos),
}

/// The queue and its timer.
#[derive(Clone, Default, Debug)]
pub(super) struct SendQueue {
    waiting: VecDeque<Waiting>,
    /// The timer is in use; what comes waits for it.
    running: bool,
    /// Nothing is held back before the next ACK.
    suspended: bool,
    due: Option<Time>,
}

impl SendQueue {
    /// Does what the window lets go come in here?
    pub(super) fn takes(&self) -> bool {
        !self.suspended
    }

    /// Another one waits. What leaves at once, because the timer was not in use.
    pub(super) fn push(&mut self, now: Time, interval: Dur, waiting: Waiting) -> Option<Waiting> {
        self.waiting.push_back(waiting);
        if self.running {
            return None;
        }
        self.running = true;
        self.release(now, interval)
    }

    fn release(&mut self, now: Time, interval: Dur) -> Option<Waiting> {
        self.due = Some(now + tick_of(interval));
        self.waiting.pop_front()
    }

    /// When the timer fires.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        self.due
    }

    /// Has the timer fired? Then it stands until [`tick`](SendQueue::tick).
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// The timer has fired: what leaves. It runs on beside an empty queue, but not beside a connection that has nothing to
    /// say.
    pub(super) fn tick(&mut self, now: Time, interval: Dur, unsent: bool) -> Option<Waiting> {
        if self.waiting.is_empty() && !unsent {
            self.running = false;
            return None;
        }
        self.release(now, interval)
    }

    /// A loss: the queue is emptied, and nothing waits before the next ACK.
    pub(super) fn suspend(&mut self) {
        *self = SendQueue { suspended: true, ..SendQueue::default() };
    }

    /// An ACK has arrived, duplicate or not.
    pub(super) fn resume(&mut self) {
        if self.suspended {
            (self.suspended, self.running) = (false, false);
        }
    }

    /// What waits goes nowhere any more.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// The sender stops.
    pub(super) fn stop(&mut self) {
        self.due = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Dur = Dur::from_millis(10);

    fn ms(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn segment(number: u64) -> Waiting {
        Waiting::Again(Pos::FIRST + number, Pos::FIRST + number + 1)
    }

    /// ```text
    /// ms      0        10   20      30              40
    /// in      a b c
    /// out     a        b    c       (user writes)   (nothing left: stands)
    /// ```
    #[test]
    fn one_leaves_a_tick_and_the_first_at_once() {
        let mut queue = SendQueue::default();
        assert_eq!(queue.push(ms(0), TICK, segment(0)), Some(segment(0)));
        assert_eq!(queue.push(ms(0), TICK, segment(1)), None);
        assert_eq!(queue.push(ms(1), TICK, segment(2)), None);
        for (at, leaves) in [(10, Some(segment(1))), (20, Some(segment(2))), (30, None)] {
            assert_eq!(queue.next_timeout(), Some(ms(at)));
            assert!(!queue.take_due(ms(at - 1)) && queue.take_due(ms(at)));
            assert_eq!(queue.tick(ms(at), TICK, true), leaves);
        }
        // The timer ran on for what the user might still send, so the next one waits for it.
        assert_eq!(queue.push(ms(35), TICK, segment(3)), None);
        assert!(queue.take_due(ms(40)));
        assert_eq!(queue.tick(ms(40), TICK, false), Some(segment(3)));
        assert!(queue.take_due(ms(50)));
        assert_eq!((queue.tick(ms(50), TICK, false), queue.next_timeout()), (None, None));
        assert_eq!(queue.push(ms(57), TICK, segment(4)), Some(segment(4)), "idle again");
    }

    /// A loss empties it; it takes nothing before the next ACK, and then begins anew.
    #[test]
    fn a_loss_suspends_it_until_the_next_ack() {
        let mut queue = SendQueue::default();
        (0..3).for_each(|n| {
            queue.push(ms(0), TICK, segment(n));
        });
        queue.suspend();
        assert_eq!((queue.takes(), queue.next_timeout()), (false, None));
        queue.resume();
        assert!(queue.takes());
        assert_eq!(queue.push(ms(5), TICK, segment(9)), Some(segment(9)), "segments 1 and 2 are gone");
        // An ACK without a loss before it changes nothing.
        queue.resume();
        assert_eq!(queue.push(ms(6), TICK, segment(10)), None);
        queue.clear();
        assert!(queue.take_due(ms(15)));
        assert_eq!(queue.tick(ms(15), TICK, true), None);
    }
}
