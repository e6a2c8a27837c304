//! Connects pacing to the socket: what passes the [`Pacer`](super::Pacer), what goes through the queue of the authors'
//! agent, and what the timer releases.
//!
//! Segments that a time-out puts back wait for their slots like new ones; TCP's own retransmissions, which are the
//! first segment after a time-out and the holes of fast recovery, do not wait. Under [`Release::Timer`] the first segment
//! after a time-out waits as well.

use super::action::Action;
use super::config::Release;
use super::pacer::{Admission, Tick};
use super::position::Pos;
use super::send::Next;
use super::send_queue::Waiting;
use super::socket::Socket;
use fourhop_cc::CaState;
use fourhop_units::Time;

impl Socket {
    /// Must the segment at hand wait? `fresh`: it was never sent. Then the timer runs. What a queue takes does not wait
    /// before it.
    pub(super) fn is_held_back(&mut self, now: Time, fresh: bool) -> bool {
        self.queue.is_none() && self.pacer.admit(now, self.win.pacing, fresh) != Admission::Now
    }

    /// Is there something that only pacing keeps back, so that ns-2.35's retransmission timer runs though nothing is under
    /// way?
    pub(super) fn keeps_back(&self) -> bool {
        self.snd.has_unreleased() || (self.is_paced_by_timer() && self.snd.unsent())
    }

    /// Do segments leave by [`Release::Timer`] now?
    pub(super) fn is_paced_by_timer(&self) -> bool {
        self.config.release == Release::Timer && self.win.pacing.is_some()
    }

    /// Do segments go through a queue now?
    fn is_queueing(&self) -> bool {
        self.win.pacing.is_some() && self.queue.as_ref().is_some_and(|queue| !queue.suspended)
    }

    /// Sends the segment at SND.NXT, or puts it into the queue.
    pub(super) fn send_next(&mut self, now: Time, next: Next, out: &mut Vec<Action>) {
        let start = self.snd.nxt;
        self.pacer.pass_slot();
        if self.is_queueing() {
            self.snd.nxt = start + next.seq_len();
            self.enqueue(now, Waiting::Next(start, next), out);
        } else {
            self.emit(now, start, next.len, next.fin, out);
            self.snd.nxt = start + next.seq_len();
        }
    }

    /// Sends the hole at `at` again. The agent whose way the queue is puts those of partial ACKs into it; others empty it.
    pub(super) fn send_hole(&mut self, now: Time, at: Pos, until: Pos, out: &mut Vec<Action>) {
        let repairs = self.recovery.state == CaState::Recovery && self.recovery.partial_seen;
        if repairs && self.is_queueing() {
            self.enqueue(now, Waiting::Again(at, until), out);
        } else {
            self.suspend_queue();
            self.retransmit(now, at, until, out);
        }
    }

    fn enqueue(&mut self, now: Time, waiting: Waiting, out: &mut Vec<Action>) {
        if let Some(queue) = &mut self.queue {
            queue.waiting.push_back(waiting);
        }
        if self.pacer.admit(now, self.win.pacing, true) == Admission::Now {
            self.leave_queue(now, out);
        }
    }

    /// A slot lets go what has waited longest.
    fn leave_queue(&mut self, now: Time, out: &mut Vec<Action>) {
        self.pacer.pass_slot();
        match self.queue.as_mut().and_then(|queue| queue.waiting.pop_front()) {
            Some(Waiting::Next(start, next)) => self.emit(now, start, next.len, next.fin, out),
            Some(Waiting::Again(at, until)) => {
                self.retransmit(now, at, until, out);
            }
            None => {}
        }
    }

    /// A loss, if paced, empties the queue, and nothing waits in it before the next ACK.
    pub(super) fn suspend_queue(&mut self) {
        if let (Some(queue), Some(_)) = (&mut self.queue, self.win.pacing) {
            queue.waiting.clear();
            queue.suspended = true;
            self.pacer.stop();
        }
    }

    /// What waits in the queue goes nowhere any more.
    pub(super) fn withdraw_queue(&mut self) {
        self.snd.nxt = self.snd.nxt.min(self.snd.max);
        if let Some(queue) = &mut self.queue {
            queue.waiting.clear();
        }
    }

    /// Lets go what a pacing timer that has expired held back. The timer runs on beside an empty queue, but not beside a
    /// connection that has nothing to say.
    pub(super) fn handle_pacing_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        let queued = self.queue.as_ref().is_some_and(|queue| !queue.waiting.is_empty());
        match self.pacer.tick(now, self.win.pacing, queued || self.snd.unsent()) {
            Tick::Nothing => {}
            Tick::Everything => self.transmit(now, out),
            Tick::Slot if self.queue.is_some() => self.leave_queue(now, out),
            Tick::Slot => {
                // The first duplicate ACKs widen the window of a tick (RFC 3042).
                let early = self.recovery.state == CaState::Disorder
                    && self.recovery.dup_acks < self.config.dup_ack_threshold
                    && self.config.limited_transmit
                    && !self.is_paced_by_timer();
                let extra = if early { self.recovery.dup_acks } else { 0 };
                let sent = self.transmit_at_most(now, extra, 1, out);
                self.recovery.limited += if extra > 0 { sent } else { 0 };
                self.pacer.pass_slot();
                if sent == 0 && self.is_paced_by_timer() {
                    self.pacer.stop();
                }
            }
        }
    }
}
