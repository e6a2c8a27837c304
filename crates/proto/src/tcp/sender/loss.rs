//! Losses: triggers of recovery, the retransmission timer (RFC 6298 section 5), and reductions of the window.

use super::Sender;
use super::recovery::Strategy;
use crate::tcp::adhoc::Cause as Freezing;
use crate::tcp::config::WindowCut;
use crate::tcp::context::Context;
use crate::tcp::position::Pos;
use crate::tcp::timers::Timer;
use fourhop_cc::{CaState, Cause, Window};
use fourhop_units::Time;

impl Sender {
    /// RFC 5681 section 3.2 step 2, with RFC 6582's recovery point.
    pub(super) fn enter_recovery(&mut self, cx: &mut Context) {
        self.stats.fast_retransmits += 1;
        if self.control.owns_window() {
            self.ecn.note_reduction(self.space.max);
            self.set_ca_state(cx.now, CaState::Recovery);
        } else {
            self.cut(cx.now, CaState::Recovery, Cause::FastRetransmit);
        }
        self.strategy.begin(&self.config, &self.space, &mut self.recovery);
        self.rtt.cancel_timing();
        self.restart_retransmit_timer(cx);
    }

    /// Resends the oldest segment, which the fine clock found overdue; `again`: it had been retransmitted before.
    pub(super) fn resend_overdue(&mut self, cx: &mut Context, again: bool, cut: bool) {
        // Nothing more is repaired until all of this is acknowledged.
        self.recovery.recover = self.space.max;
        if cut {
            self.cut_for_overdue(cx.now, again);
        }
        self.stats.fast_retransmits += 1;
        if self.config.vegas_backs_off {
            self.rtt.back_off();
        }
        self.rtt.cancel_timing();
        self.restart_retransmit_timer(cx);
        self.retransmit(cx, self.space.una, Pos::LAST);
        if !again {
            self.recovery.count_as_duplicates(self.config.dup_ack_threshold);
        }
        if self.recovery.dup_acks >= self.config.dup_ack_threshold {
            self.transmit(cx);
        }
    }

    /// Sets the window to the algorithm's answer, inflated by the duplicate ACKs; the threshold stays.
    fn cut_for_overdue(&mut self, now: Time, again: bool) {
        let most = match self.config.window_cut {
            WindowCut::WindowInUse => self.config.window_limit.unwrap_or(u32::MAX),
            WindowCut::FlightSize => self.space.in_flight_segments(),
        };
        let used = self.control.window().cwnd.min(most);
        self.control.limit_to(u64::from(used) * u64::from(Window::ONE));
        self.set_ca_state(now, CaState::Recovery);
        let view = self.view(now, self.space.in_flight_segments());
        let deflated = self.control.reduce_for_overdue(&view, again, self.recovery.dup_acks);
        if let Strategy::FineClock(clock) = &mut self.strategy {
            clock.note_cut(now, deflated);
        }
    }

    /// Handles an overdue answer to a SYN or SYN-ACK. Returns whether to give up the connection.
    pub(in crate::tcp) fn on_handshake_timeout(&mut self) -> bool {
        self.stats.timeouts += 1;
        if self.recovery.note_timeout(self.config.max_timeouts) {
            return true;
        }
        self.rtt.back_off();
        false
    }

    /// Handles an expired retransmission timer (RFC 6298 section 5.4 to 5.7, RFC 5681 equation 4): everything is sent
    /// again in slow start, except what a jump of the acknowledgement skips. Returns whether to give up the connection.
    pub(in crate::tcp) fn on_retransmit_timeout(&mut self, cx: &mut Context) -> bool {
        let now = cx.now;
        if !self.space.outstanding() {
            if self.keeps_back() {
                self.on_idle_timeout(cx);
            }
            return false;
        }
        self.stats.timeouts += 1;
        if self.freeze.is_active() {
            self.begin_freeze(cx, Freezing::Timeout, true);
            return false;
        }
        if self.recovery.note_timeout(self.config.max_timeouts) {
            return true;
        }
        if self.config.rto_backoff {
            self.rtt.back_off();
        } else {
            self.rtt.cancel_timing();
        }
        let again = self.recovery.state == CaState::Loss && self.recovery.timeouts() > 1;
        self.recovery.deflate();
        self.remember_window(now, again, cx.rx.stamps.are_agreed());
        self.lose_by_timeout(cx);
        if self.control.owns_window() {
            self.set_ca_state(now, CaState::Loss);
        } else if again && !self.config.cut_on_each_timeout {
            self.control.restart();
        } else {
            self.cut(now, CaState::Loss, Cause::Timeout);
        }
        self.suspend_queue();
        if self.rack().is_some() {
            self.recovery.repair_all(&self.space);
        } else {
            self.go_back(now);
        }
        self.restart_retransmit_timer(cx);
        self.transmit(cx);
        false
    }

    /// Handles an expiry although everything sent is acknowledged: the pacing queue or timer never released the rest.
    /// ns-2.35 restarts from one segment and keeps the threshold.
    fn on_idle_timeout(&mut self, cx: &mut Context) {
        self.stats.timeouts += 1;
        self.control.restart();
        self.rtt.cancel_timing();
        self.suspend_queue();
        self.go_back(cx.now);
        self.set_ca_state(cx.now, CaState::Loss);
        self.restart_retransmit_timer(cx);
        self.transmit(cx);
    }

    /// Treats the data in flight as lost: SND.NXT returns to SND.UNA, and everything learnt about the data is
    /// discarded.
    pub(super) fn go_back(&mut self, now: Time) {
        self.strategy.on_timeout(now);
        self.recovery.repair_all(&self.space);
        if self.rack().is_none() {
            self.space.go_to(self.space.una);
        }
    }

    /// Reduces the window: first to the window in use, then as the algorithm decides.
    pub(super) fn cut(&mut self, now: Time, state: CaState, cause: Cause) {
        let one = u64::from(Window::ONE);
        let in_flight = self.space.in_flight_segments();
        let window = self.control.window().fixed();
        let used = match self.config.window_cut {
            WindowCut::WindowInUse => {
                let limit = u64::from(self.config.window_limit.unwrap_or(u32::MAX)) * one;
                (window + u64::from(self.recovery.inflation) * one).min(limit)
            }
            // RFC 5681 section 3.2 step 2: segments sent by limited transmit do not count.
            WindowCut::FlightSize => window.min(u64::from(in_flight.saturating_sub(self.recovery.limited)) * one),
        };
        self.control.limit_to(used);
        self.ecn.note_reduction(self.space.max);
        // A mark changes only the window.
        if cause != Cause::Mark {
            self.set_ca_state(now, state);
        }
        let view = self.view(now, in_flight);
        let announced = self.threshold_from_receiver();
        self.control.reduce(&view, cause, announced, (self.config.window_cut, used));
    }

    /// RFC 6298 sections 5.2 and 5.3.
    pub(super) fn restart_retransmit_timer(&self, cx: &mut Context) {
        if !self.freeze.is_frozen() && (self.space.outstanding() || self.keeps_back()) {
            cx.timers.set(Timer::Retransmit, cx.now + self.rtt.rto());
        } else {
            cx.timers.stop(Timer::Retransmit);
        }
    }
}
