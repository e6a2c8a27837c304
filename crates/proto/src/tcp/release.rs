//! How pacing hangs in the socket: what passes the [`Pacer`](super::Pacer), what goes through the queue of the authors'
//! agent, what their timers let go.
//!
//! Segments that a time-out takes back wait for their slots like fresh ones; what TCP retransmits by itself, the first
//! segment after a time-out and the holes of fast recovery, does not wait.

use super::action::Action;
use super::pacer::{Admission, Tick};
use super::position::Pos;
use super::send::Next;
use super::send_queue::Waiting;
use super::socket::Socket;
use fourhop_cc::CaState;
use fourhop_units::Time;

impl Socket {
    /// Must the segment at hand wait? `fresh`: it was never sent. Then a timer runs.
    pub(super) fn is_held_back(&mut self, now: Time, fresh: bool) -> bool {
        self.pacer.admit(now, self.win.pacing, fresh) != Admission::Now
    }

    /// Must a retransmission that recovery asks for wait?
    pub(super) fn is_retransmission_held_back(&mut self, now: Time) -> bool {
        self.config.pace_retransmissions && self.is_held_back(now, false)
    }

    /// When a pacing timer fires.
    pub(super) fn next_pacing_timeout(&self) -> Option<Time> {
        Time::earlier_of(self.pacer.next_timeout(), self.queue.as_ref().and_then(|queue| queue.next_timeout()))
    }

    /// The pacing timers stand still until something asks to leave.
    pub(super) fn stop_pacing_timers(&mut self) {
        self.pacer.stop();
        if let Some(queue) = &mut self.queue {
            queue.stop();
        }
    }

    /// Sends the segment at SND.NXT, or puts it into the queue.
    pub(super) fn send_next(&mut self, now: Time, next: Next, out: &mut Vec<Action>) {
        let start = self.snd.nxt;
        self.pacer.pass_slot();
        if self.queue.as_ref().is_some_and(|queue| queue.takes()) && self.win.pacing.is_some() {
            self.snd.nxt = start + next.seq_len();
            self.enqueue(now, Waiting::Next(start, next), out);
        } else {
            self.emit(now, start, next.len, next.fin, out);
            self.snd.nxt = start + next.seq_len();
        }
    }

    /// Sends the hole at `at` again. The agent whose way the queue is puts those of partial ACKs into it; with others it
    /// empties it.
    pub(super) fn send_hole(&mut self, now: Time, at: Pos, until: Pos, out: &mut Vec<Action>) {
        let repairs = self.recovery.state == CaState::Recovery && self.recovery.partial_seen;
        if repairs && self.queue.as_ref().is_some_and(|queue| queue.takes()) && self.win.pacing.is_some() {
            self.enqueue(now, Waiting::Again(at, until), out);
        } else {
            self.suspend_queue();
            self.retransmit(now, at, until, out);
        }
    }

    fn enqueue(&mut self, now: Time, waiting: Waiting, out: &mut Vec<Action>) {
        let (Some(queue), Some(interval)) = (&mut self.queue, self.win.pacing) else { return };
        let leaves = queue.push(now, interval, waiting);
        self.leave_queue(now, leaves, out);
    }

    fn leave_queue(&mut self, now: Time, leaves: Option<Waiting>, out: &mut Vec<Action>) {
        match leaves {
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
            queue.suspend();
        }
    }

    /// What waits in the queue goes nowhere any more.
    pub(super) fn withdraw_queue(&mut self) {
        self.snd.nxt = self.snd.nxt.min(self.snd.max);
        if let Some(queue) = &mut self.queue {
            queue.clear();
        }
    }

    /// Lets go what pacing timers that have expired held back.
    pub(super) fn handle_pacing_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        match self.pacer.tick(now, self.win.pacing, self.snd.unsent()) {
            Tick::Nothing => {}
            Tick::Everything => self.transmit(now, out),
            Tick::Slot => {
                let extra = self.limited_transmit_allowance();
                let sent = self.transmit_at_most(now, extra, 1, out);
                self.recovery.limited += if extra > 0 { sent } else { 0 };
                self.pacer.pass_slot();
            }
        }
        let Some(queue) = self.queue.as_mut().filter(|queue| queue.next_timeout().is_some()) else { return };
        if queue.take_due(now) {
            match self.win.pacing {
                Some(interval) => {
                    let leaves = queue.tick(now, interval, self.snd.unsent());
                    self.leave_queue(now, leaves, out);
                }
                None => self.transmit(now, out),
            }
        }
    }

    /// Segments by which the first duplicate ACKs widen the window of a tick (RFC 3042).
    fn limited_transmit_allowance(&self) -> u32 {
        let early = self.recovery.dup_acks < self.config.dup_ack_threshold;
        if self.config.limited_transmit && self.recovery.state == CaState::Disorder && early {
            self.recovery.dup_acks
        } else {
            0
        }
    }
}
