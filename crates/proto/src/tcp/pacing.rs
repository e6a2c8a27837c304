//! When segments that the window allows leave, if congestion control asks for an interval between them.
//!
//! | [`Release`] | a segment leaves |
//! |---|---|
//! | `Gate` | at once, unless the interval that was in force when an earlier one left has not passed; then when it has |
//! | `Slots` | at the ticks of a timer that fires each interval, one a tick; a tick that finds the window closed passes unused (ElRakabawy et al. 2005, Figure 8) |
//! | `Queue` | from a queue that the window fills and such a timer empties (the same authors' ns-2 agent, September 2005) |
//!
//! Under `Slots` the timer stands still while there is nothing to send; the first segment then leaves at once and starts
//! it. Segments that a time-out takes back wait for their slots like fresh ones; what TCP retransmits by itself, the
//! first segment after a time-out and the holes of fast recovery, does not wait.
//!
//! Under `Queue` three duplicate ACKs and a time-out empty the queue, the retransmission leaves at once, and until the
//! next ACK nothing is held back. What was in the queue counts as sent, as in that agent: after a fast retransmit it stays
//! away until the window has passed it or a time-out goes back, which also comes where nothing is under way. Deviation:
//! the agent stops its timer for good if its queue is empty at a fast retransmit; here that case is like the other.

use super::action::Action;
use super::config::Release;
use super::position::Pos;
use super::send::Next;
use super::socket::Socket;
use super::timer::Timer;
use fourhop_cc::CaState;
use fourhop_units::{Dur, Time};
use std::collections::VecDeque;

/// Shortest tick: an interval below it is rounded up, so that the timer never spins. No 802.11 frame takes less than its
/// preamble of 20 us (IEEE 802.11-2020 clause 17.3.3).
const SHORTEST_TICK: Dur = Dur::from_micros(20);

/// What waits in the queue.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    /// What stood at SND.NXT.
    Next(Pos, Next),
    /// A retransmission from here to before there.
    Again(Pos, Pos),
}

/// What pacing remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct Pacer {
    /// `Gate`: before this instant a segment waits.
    next_send: Time,
    /// `Slots`: this tick has not been used yet.
    slot: bool,
    queue: VecDeque<Waiting>,
    /// `Queue`: nothing is held back before the next ACK.
    unpaced: bool,
    /// `Queue`: the timer runs.
    running: bool,
}

impl Socket {
    /// Do segments go through the queue now?
    fn is_queueing(&self) -> bool {
        self.config.release == Release::Queue && self.win.pacing.is_some() && !self.pacer.unpaced
    }

    /// Is there something between what was really sent and SND.NXT?
    pub(super) fn has_unreleased(&self) -> bool {
        self.config.release == Release::Queue && self.snd.nxt > self.snd.max
    }

    fn tick(&self) -> Option<Dur> {
        self.win.pacing.map(|interval| interval.max(SHORTEST_TICK))
    }

    /// Must the segment at hand wait? `fresh`: it was never sent. Then the timer runs.
    pub(super) fn is_held_back(&mut self, now: Time, fresh: bool) -> bool {
        let Some(tick) = self.tick() else { return false };
        match self.config.release {
            Release::Gate => (fresh || self.config.pace_retransmissions) && self.waits_at_gate(now),
            Release::Slots if self.pacer.slot => false,
            Release::Slots if self.timers.is_set(Timer::Pacing) => true,
            Release::Slots => {
                self.pacer.slot = true;
                self.timers.set(Timer::Pacing, now + tick);
                false
            }
            Release::Queue => false,
        }
    }

    fn waits_at_gate(&mut self, now: Time) -> bool {
        let wait = now < self.pacer.next_send;
        if wait {
            self.timers.set(Timer::Pacing, self.pacer.next_send);
        }
        wait
    }

    /// Must a retransmission that recovery asks for wait?
    pub(super) fn is_retransmission_held_back(&mut self, now: Time) -> bool {
        self.config.pace_retransmissions && self.is_held_back(now, false)
    }

    /// A segment has left.
    pub(super) fn note_departure(&mut self, now: Time) {
        if let Some(interval) = self.win.pacing {
            // One that did not wait may leave under a shorter interval than the one that others still wait out.
            self.pacer.next_send = self.pacer.next_send.max(now + interval);
        }
    }

    /// Sends the segment at SND.NXT, or puts it into the queue.
    pub(super) fn send_next(&mut self, now: Time, next: Next, out: &mut Vec<Action>) {
        let start = self.snd.nxt;
        self.pacer.slot = false;
        if self.is_queueing() {
            self.snd.nxt = start + next.seq_len();
            self.enqueue(now, Waiting::Next(start, next), out);
        } else {
            self.emit_next(now, start, next, out);
            self.snd.nxt = start + next.seq_len();
        }
    }

    /// Sends the hole at `at` again. The agent whose way `Queue` is puts those of partial ACKs into its queue.
    pub(super) fn send_hole(&mut self, now: Time, at: Pos, until: Pos, out: &mut Vec<Action>) {
        if self.config.release == Release::Queue && self.win.pacing.is_some() {
            if self.recovery.state == CaState::Recovery && self.recovery.partial_seen && !self.pacer.unpaced {
                return self.enqueue(now, Waiting::Again(at, until), out);
            }
            self.stop_pacing();
        }
        self.retransmit(now, at, until, out);
    }

    fn enqueue(&mut self, now: Time, waiting: Waiting, out: &mut Vec<Action>) {
        self.pacer.queue.push_back(waiting);
        if !self.pacer.running {
            self.pacer.running = true;
            self.release_one(now, out);
        }
    }

    fn release_one(&mut self, now: Time, out: &mut Vec<Action>) {
        match self.pacer.queue.pop_front() {
            Some(Waiting::Next(start, next)) => self.emit_next(now, start, next, out),
            Some(Waiting::Again(at, until)) => {
                self.retransmit(now, at, until, out);
            }
            None => {}
        }
        if let Some(tick) = self.tick() {
            self.timers.set(Timer::Pacing, now + tick);
        }
    }

    /// The queue is emptied, and nothing waits before the next ACK.
    pub(super) fn stop_pacing(&mut self) {
        if self.config.release == Release::Queue && self.win.pacing.is_some() {
            self.pacer = Pacer { unpaced: true, ..Pacer::default() };
            self.timers.stop(Timer::Pacing);
        }
    }

    /// An ACK has arrived, duplicate or not.
    pub(super) fn resume_pacing(&mut self) {
        if self.pacer.unpaced {
            (self.pacer.unpaced, self.pacer.running) = (false, false);
        }
    }

    /// What waits in the queue goes nowhere any more.
    pub(super) fn withdraw_queue(&mut self) {
        if self.has_unreleased() {
            self.snd.nxt = self.snd.max;
        }
        self.pacer.queue.clear();
    }

    /// The pacing timer has expired.
    pub(super) fn on_pacing_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        match (self.config.release, self.tick()) {
            (Release::Slots, Some(tick)) => {
                if self.snd.unsent() || self.snd.nxt < self.snd.max {
                    self.timers.set(Timer::Pacing, now + tick);
                    self.pacer.slot = true;
                    let extra = self.limited_transmit_allowance();
                    let sent = self.transmit_at_most(now, extra, 1, out);
                    self.recovery.limited += if extra > 0 { sent } else { 0 };
                    self.pacer.slot = false;
                }
            }
            (Release::Queue, Some(_)) => {
                // The timer runs on beside an empty queue, but not beside a connection that has nothing to say.
                if self.pacer.queue.is_empty() && !self.snd.unsent() {
                    self.pacer.running = false;
                } else {
                    self.release_one(now, out);
                }
            }
            _ => self.transmit(now, out),
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
