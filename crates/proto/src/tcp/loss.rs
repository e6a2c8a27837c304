//! Losses: what triggers a recovery, what the retransmission timer does (RFC 6298 section 5), and how the window is
//! reduced.

use super::action::Action;
use super::adhoc::Cause as Freezing;
use super::config::WindowCut;
use super::position::Pos;
use super::recovery::{Recovery, Strategy};
use super::socket::Socket;
use super::timer::Timer;
use fourhop_cc::{CaState, Cause, CongestionControl, Window};
use fourhop_units::Time;

impl Socket {
    /// RFC 5681 section 3.2 step 2 with RFC 6582's recovery point.
    pub(super) fn enter_recovery(&mut self, now: Time) {
        self.stats.fast_retransmits += 1;
        if self.transport.owns_window() {
            self.ecn.note_reduction(self.snd.max);
            self.set_ca_state(now, CaState::Recovery);
        } else {
            self.cut(now, CaState::Recovery, Cause::FastRetransmit);
        }
        self.recovery.recover = self.snd.max;
        self.recovery.partial_seen = false;
        self.strategy.begin(&self.config, &self.snd, &mut self.recovery);
        self.rtt.cancel_timing();
        self.restart_retransmit_timer(now);
    }

    /// The fine clock found the oldest segment overdue; `again`: it had been retransmitted.
    pub(super) fn resend_overdue(&mut self, now: Time, again: bool, cut: bool, out: &mut Vec<Action>) {
        self.recovery.recover = self.snd.max;
        if cut {
            self.cut_for_overdue(now, again);
        }
        self.stats.fast_retransmits += 1;
        if self.config.vegas_backs_off {
            self.rtt.back_off();
        }
        self.rtt.cancel_timing();
        self.restart_retransmit_timer(now);
        self.retransmit(now, self.snd.una, Pos::LAST, out);
        if !again {
            self.recovery.dup_acks = self.config.dup_ack_threshold;
        }
        if self.recovery.dup_acks >= self.config.dup_ack_threshold {
            self.transmit(now, out);
        }
    }

    /// The window becomes what the algorithm answers, and the duplicate ACKs inflate it; the threshold stays.
    fn cut_for_overdue(&mut self, now: Time, again: bool) {
        let used = match self.config.window_cut {
            WindowCut::WindowInUse => self.win.cwnd.min(self.config.window_limit.unwrap_or(u32::MAX)),
            WindowCut::FlightSize => self.win.cwnd.min(self.snd.in_flight_segments()),
        };
        self.win.set_cwnd(used);
        self.set_ca_state(now, CaState::Recovery);
        let view = self.view(now, self.snd.in_flight_segments());
        let deflated = self.cc.ssthresh(&self.win, &view, Cause::Overdue { again });
        if let Strategy::FineClock(clock) = &mut self.strategy {
            clock.note_cut(now, deflated);
        }
        self.win.set_fixed(u64::from(deflated + self.recovery.dup_acks) * u64::from(Window::ONE));
    }

    /// The retransmission timer expired (RFC 6298 section 5.4 to 5.7, RFC 5681 equation 4): everything is sent again in
    /// slow start, except what a jump of the acknowledgement skips.
    pub(super) fn on_retransmit_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        if !self.snd.outstanding() {
            if self.keeps_back() {
                self.on_idle_timeout(now, out);
            }
            return;
        }
        self.stats.timeouts += 1;
        if self.freeze.is_active() && !self.is_opening() {
            self.begin_freeze(now, Freezing::Timeout, true);
            return;
        }
        self.recovery.timeouts += 1;
        if self.config.max_timeouts.is_some_and(|most| self.recovery.timeouts > most) {
            return self.end(Action::Reset, out);
        }
        if self.config.rto_backoff || self.is_opening() {
            self.rtt.back_off();
        } else {
            self.rtt.cancel_timing();
        }
        if self.is_opening() {
            self.resend_syn(now, out);
            return;
        }
        let again = self.recovery.state == CaState::Loss && self.recovery.timeouts > 1;
        self.recovery.inflation = 0;
        self.remember_window(now, again);
        self.lose_by_timeout(now);
        if self.transport.owns_window() {
            self.set_ca_state(now, CaState::Loss);
        } else if again && !self.config.cut_on_each_timeout {
            self.win.set_cwnd(self.cc.loss_window());
        } else {
            self.cut(now, CaState::Loss, Cause::Timeout);
        }
        self.suspend_queue();
        if self.rack().is_some() {
            self.begin_repairs();
        } else {
            self.go_back(now);
        }
        self.restart_retransmit_timer(now);
        self.transmit(now, out);
    }

    /// The timer expired though all that was sent is acknowledged: what the pacing queue or timer kept back never left.
    /// ns-2.35 restarts from one segment and keeps the threshold.
    fn on_idle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        self.stats.timeouts += 1;
        self.win.set_cwnd(self.cc.loss_window());
        self.rtt.cancel_timing();
        self.suspend_queue();
        self.go_back(now);
        self.set_ca_state(now, CaState::Loss);
        self.restart_retransmit_timer(now);
        self.transmit(now, out);
    }

    /// The data in flight is taken for lost: SND.NXT returns to SND.UNA, and what had been learnt about it is forgotten.
    pub(super) fn go_back(&mut self, now: Time) {
        self.strategy.on_timeout(now);
        self.begin_repairs();
        if self.rack().is_none() {
            self.snd.nxt = self.snd.una;
        }
    }

    /// What was in flight is to be repaired from its beginning.
    fn begin_repairs(&mut self) {
        self.recovery = Recovery {
            dup_acks: 0,
            recover: self.snd.max,
            inflation: 0,
            limited: 0,
            resend: self.snd.outstanding().then_some(self.snd.una),
            ..self.recovery
        };
    }

    /// Reduces the window: first to what was in use, then to what the algorithm answers.
    pub(super) fn cut(&mut self, now: Time, state: CaState, cause: Cause) {
        let one = u64::from(Window::ONE);
        let in_flight = self.snd.in_flight_segments();
        let used = match self.config.window_cut {
            WindowCut::WindowInUse => {
                let limit = u64::from(self.config.window_limit.unwrap_or(u32::MAX)) * one;
                (self.win.fixed() + u64::from(self.recovery.inflation) * one).min(limit)
            }
            // RFC 5681 section 3.2 step 2: what limited transmit sent does not count.
            WindowCut::FlightSize => {
                self.win.fixed().min(u64::from(in_flight.saturating_sub(self.recovery.limited)) * one)
            }
        };
        self.win.set_fixed(used);
        self.ecn.note_reduction(self.snd.max);
        // A mark changes nothing but the window.
        if cause != Cause::Mark {
            self.set_ca_state(now, state);
        }
        let view = self.view(now, in_flight);
        let told = self.threshold_from_receiver();
        let ssthresh = told.unwrap_or_else(|| self.cc.ssthresh(&self.win, &view, cause)).max(2);
        let halved = told.is_none() && ssthresh == (self.win.cwnd / 2).max(2);
        self.win.ssthresh = ssthresh;
        match cause {
            Cause::Timeout => self.win.set_cwnd(self.cc.loss_window()),
            Cause::FastRetransmit if halved && self.config.window_cut == WindowCut::WindowInUse => {
                self.win.set_fixed(used / 2);
            }
            // A loss never widens the window to what a receiver would take.
            _ if told.is_some() => self.win.set_cwnd(ssthresh.min(self.win.cwnd)),
            Cause::FastRetransmit | Cause::Overdue { .. } | Cause::Mark => self.win.set_cwnd(ssthresh),
        }
    }

    pub(super) fn set_ca_state(&mut self, now: Time, state: CaState) {
        self.recovery.state = state;
        let view = self.view(now, self.under_way());
        self.cc.on_state(&mut self.win, &view, state);
    }

    /// RFC 6298 sections 5.2 and 5.3.
    pub(super) fn restart_retransmit_timer(&mut self, now: Time) {
        if !self.freeze.is_frozen() && (self.snd.outstanding() || self.keeps_back()) {
            self.timers.set(Timer::Retransmit, now + self.rtt.rto());
        } else {
            self.timers.stop(Timer::Retransmit);
        }
    }
}
