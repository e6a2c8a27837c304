//! The queue of the TCP-AP authors' own ns-2 agent (September 2005), [`Release::Queue`](crate::tcp::Release): the
//! window fills it, and each slot of the [`Pacer`](super::Pacer) removes one segment.
//!
//! Three duplicate ACKs or a timeout empty the queue, the retransmission leaves at once, and pacing is off until the
//! next ACK. Queued data counts as sent, as in that agent: after a fast retransmit it is missing until the window has
//! passed it or a timeout goes back, which also happens when nothing is in flight. Deviation: the agent stops its timer
//! for good if its queue is empty at a fast retransmit; here this case is treated like the other.

use super::space::Next;
use crate::tcp::position::Pos;
use std::collections::VecDeque;

/// Segments in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiting {
    /// The segment at SND.NXT.
    Next(Pos, Next),
    /// A retransmission from the first position to before the second.
    Again(Pos, Pos),
}

/// The queue.
#[derive(Clone, Default, Debug)]
pub(super) struct SendQueue {
    waiting: VecDeque<Waiting>,
    /// Whether pacing is off until the next ACK.
    pub(super) suspended: bool,
}

impl SendQueue {
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }

    /// Removes the oldest segment.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.waiting.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Empties the queue after a loss; nothing waits before the next ACK.
    pub(super) fn suspend(&mut self) {
        self.waiting.clear();
        self.suspended = true;
    }

    /// Ends the suspension when an ACK arrives.
    pub(super) fn resume(&mut self) {
        self.suspended = false;
    }
}
