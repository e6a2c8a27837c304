//! Connects pacing to the sender: segments that pass the [`Pacer`](super::Pacer), the queue of the authors' agent, and
//! releases by the timer.
//!
//! Segments that a timeout marks as unsent again wait for their slots like new ones. TCP's own retransmissions, which
//! are the first segment after a timeout and the holes of fast recovery, do not wait. Under [`Release::Timer`] the
//! first segment after a timeout waits, too.

use super::Sender;
use super::pacer::{Admission, Tick};
use super::queue::Waiting;
use super::space::Next;
use crate::tcp::config::Release;
use crate::tcp::context::Context;
use crate::tcp::position::Pos;
use fourhop_cc::CaState;
use fourhop_units::{Dur, Time};

impl Sender {
    fn interval(&self) -> Option<Dur> {
        self.control.window().pacing
    }

    /// Whether pacing delays the segment at hand; if so, the timer runs. `fresh`: it was never sent. Segments that
    /// enter a queue do not wait before it.
    pub(super) fn must_wait(&mut self, now: Time, fresh: bool) -> bool {
        self.queue.is_none() && self.pacer.admit(now, self.interval(), fresh) != Admission::Now
    }

    /// Whether only pacing keeps data back, so that ns-2.35's retransmission timer runs although nothing is in flight.
    pub(super) fn keeps_back(&self) -> bool {
        self.space.has_unreleased() || (self.is_paced_by_timer() && self.space.unsent())
    }

    /// Whether segments currently leave by [`Release::Timer`].
    pub(super) fn is_paced_by_timer(&self) -> bool {
        self.config.release == Release::Timer && self.interval().is_some()
    }

    /// Whether segments currently pass through a queue.
    fn is_queueing(&self) -> bool {
        self.interval().is_some() && self.queue.as_ref().is_some_and(|queue| !queue.suspended)
    }

    /// Sends the segment at SND.NXT, or puts it into the queue.
    pub(super) fn send_next(&mut self, cx: &mut Context, next: Next) {
        let start = self.space.nxt;
        self.pacer.pass_slot();
        if self.is_queueing() {
            self.space.go_to(start + next.seq_len());
            self.enqueue(cx, Waiting::Next(start, next));
        } else {
            self.emit(cx, start, next.len, next.fin);
            self.space.go_to(start + next.seq_len());
        }
    }

    /// Retransmits the hole at `at`. The agent modelled by the queue puts the holes of partial ACKs into it; other
    /// holes empty it.
    pub(super) fn send_hole(&mut self, cx: &mut Context, at: Pos, until: Pos) {
        let repairs = self.recovery.state == CaState::Recovery && self.recovery.partial_seen;
        if repairs && self.is_queueing() {
            self.enqueue(cx, Waiting::Again(at, until));
        } else {
            self.suspend_queue();
            self.retransmit(cx, at, until);
        }
    }

    fn enqueue(&mut self, cx: &mut Context, waiting: Waiting) {
        if let Some(queue) = &mut self.queue {
            queue.push(waiting);
        }
        if self.pacer.admit(cx.now, self.interval(), true) == Admission::Now {
            self.leave_queue(cx);
        }
    }

    /// Uses a slot to send the oldest segment of the queue.
    fn leave_queue(&mut self, cx: &mut Context) {
        self.pacer.pass_slot();
        match self.queue.as_mut().and_then(|queue| queue.pop()) {
            Some(Waiting::Next(start, next)) => self.emit(cx, start, next.len, next.fin),
            Some(Waiting::Again(at, until)) => {
                self.retransmit(cx, at, until);
            }
            None => {}
        }
    }

    /// Empties the queue after a loss, if paced; nothing waits in it before the next ACK.
    pub(super) fn suspend_queue(&mut self) {
        let paced = self.interval().is_some();
        if let Some(queue) = self.queue.as_mut().filter(|_| paced) {
            queue.suspend();
            self.pacer.stop();
        }
    }

    /// Discards the queue.
    pub(super) fn withdraw_queue(&mut self) {
        self.space.go_to(self.space.nxt.min(self.space.max));
        if let Some(queue) = &mut self.queue {
            queue.clear();
        }
    }

    /// Releases the segments delayed by an expired pacing timer. The timer keeps running while the queue is empty, but
    /// not on a connection without data.
    pub(in crate::tcp) fn handle_pacing_timeout(&mut self, cx: &mut Context) {
        let queued = self.queue.as_ref().is_some_and(|queue| !queue.is_empty());
        match self.pacer.tick(cx.now, self.interval(), queued || self.space.unsent()) {
            Tick::Nothing => {}
            Tick::Everything => self.transmit(cx),
            Tick::Slot if self.queue.is_some() => self.leave_queue(cx),
            Tick::Slot => {
                // The first duplicate ACKs widen the window of a tick (RFC 3042).
                let early = self.recovery.state == CaState::Disorder
                    && self.recovery.dup_acks < self.config.dup_ack_threshold
                    && self.config.limited_transmit
                    && !self.is_paced_by_timer();
                let extra = if early { self.recovery.dup_acks } else { 0 };
                let sent = self.transmit_at_most(cx, extra, 1);
                if extra > 0 {
                    self.recovery.note_limited(sent);
                }
                self.pacer.pass_slot();
                if sent == 0 && self.is_paced_by_timer() {
                    self.pacer.stop();
                }
            }
        }
    }
}
