//! The queue of the TCP-AP authors' own ns-2 agent (September 2005), [`Release::Queue`](super::Release): the window
//! fills it, and each slot of the [`Pacer`](super::Pacer) removes one segment.
//!
//! Three duplicate ACKs and a time-out empty the queue, the retransmission leaves at once, and until the next ACK
//! nothing is held back. What was in the queue counts as sent, as in that agent: after a fast retransmit it is missing
//! until the window has passed it or a time-out goes back, which also happens when nothing is in flight. Deviation: the
//! agent stops its timer for good if its queue is empty at a fast retransmit; here this case is treated like the other.

use super::position::Pos;
use super::send::Next;
use std::collections::VecDeque;

/// What waits in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiting {
    /// What stood at SND.NXT.
    Next(Pos, Next),
    /// A retransmission from here to before there.
    Again(Pos, Pos),
}

/// The queue.
#[derive(Clone, Default, Debug)]
pub(super) struct SendQueue {
    pub(super) waiting: VecDeque<Waiting>,
    /// Nothing is held back before the next ACK.
    pub(super) suspended: bool,
}
