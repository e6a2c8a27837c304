//! Time-based loss detection by RACK-TLP (`recovery`), its timer, and its probes (RFC 8985 sections 6 and 7).
//! Proportional rate reduction (RFC 6937) is left out. Nothing here has an effect under another strategy.

use super::Sender;
use super::recovery::{Awaits, RoundTrips, Strategy};
use crate::tcp::context::Context;
use crate::tcp::timers::Timer;
use fourhop_cc::{CaState, Cause};
use fourhop_units::Time;

impl Sender {
    fn round_trips(&self) -> RoundTrips {
        RoundTrips { min: self.rtt.min_rtt(), srtt: self.rtt.srtt() }
    }

    /// Section 6.2 step 5, its consequences for recovery, and the timer for the rest of the reordering window. Returns
    /// the number of newly lost segments.
    pub(super) fn find_losses(&mut self, cx: &mut Context, prior: u32) -> u32 {
        if self.rack().is_none() {
            return 0;
        }
        let now = cx.now;
        let (trips, repairing, owns) = (self.round_trips(), self.recovery.is_repairing(), self.control.owns_window());
        let view = self.view(now, prior);
        let Strategy::Rack(rack) = &mut self.strategy else { return 0 };
        let control = &mut self.control;
        let search = rack.detect_loss(now, trips, repairing, |lost| {
            if owns {
                control.on_lost(&view, lost);
            }
        });
        if let Some(wait) = search.wait {
            rack.awaits = Awaits::Reordering;
            cx.timers.set(Timer::Rack, now + wait);
        } else if rack.awaits == Awaits::Reordering {
            cx.timers.stop(Timer::Rack);
        }
        if search.lost > 0 && !repairing {
            self.enter_recovery(cx);
        } else if !repairing {
            let Strategy::Rack(rack) = &self.strategy else { return 0 };
            let next = if rack.flight.counts.sacked > 0 { CaState::Disorder } else { CaState::Open };
            if next != self.recovery.state {
                self.set_ca_state(now, next);
            }
        }
        search.lost
    }

    /// Section 7.4: a probe has repaired the only loss; reduces the window as after a recovery that is already over.
    pub(super) fn cut_for_probe(&mut self, now: Time) {
        if !self.control.owns_window() {
            self.cut(now, CaState::Recovery, Cause::FastRetransmit);
            self.set_ca_state(now, CaState::Open);
        }
    }

    /// Section 7.2: restarts the timer for a probe, if one is due, so that it fires no later than the retransmission
    /// timer.
    pub(super) fn schedule_probe(&mut self, cx: &mut Context) {
        let quiet = matches!(self.recovery.state, CaState::Open | CaState::Disorder);
        let Strategy::Rack(rack) = &mut self.strategy else { return };
        if cx.timers.is_set(Timer::Rack) && rack.awaits == Awaits::Reordering {
            return;
        }
        match rack.probe_timeout(self.rtt.srtt()).filter(|_| quiet) {
            Some(wait) => {
                rack.awaits = Awaits::Probe;
                cx.timers.set(Timer::Rack, (cx.now + wait).min(cx.timers.at(Timer::Retransmit)));
            }
            None => cx.timers.stop(Timer::Rack),
        }
    }

    /// Handles an expired RACK-TLP timer.
    pub(in crate::tcp) fn on_rack_timeout(&mut self, cx: &mut Context) {
        if !cx.state.may_transmit() || self.freeze.is_frozen() {
            return;
        }
        self.note_application_limit();
        let Strategy::Rack(rack) = &self.strategy else { return };
        match rack.awaits {
            Awaits::Reordering => {
                self.find_losses(cx, self.under_way());
                self.transmit(cx);
            }
            Awaits::Probe => self.send_tail_probe(cx),
        }
    }

    /// Section 7.3, `TLP_send_probe()`: one segment beyond what the congestion window allows.
    fn send_tail_probe(&mut self, cx: &mut Context) {
        let last = match &self.strategy {
            Strategy::Rack(rack) => rack.last(),
            _ => None,
        };
        let (end, again) = match (self.next_segment(u64::from(u32::MAX)), last) {
            (Some(next), _) => {
                self.send_next(cx, next);
                (self.space.nxt, false)
            }
            (None, Some(last)) => (self.retransmit(cx, last.start, last.end), true),
            (None, None) => return,
        };
        self.stats.tail_probes += 1;
        if let Strategy::Rack(rack) = &mut self.strategy {
            rack.note_probe(end, again);
        }
        self.restart_retransmit_timer(cx);
    }

    /// Reports a restart from idle, for `BBRHandleRestartFromIdle()` of the draft.
    pub(super) fn report_restart(&mut self, now: Time) {
        let Strategy::Rack(rack) = &self.strategy else { return };
        let idle = rack.flight.in_flight() == 0 && rack.is_app_limited();
        if idle && self.control.owns_window() && self.space.unsent() {
            let view = self.view(now, 0);
            self.control.on_restart(&view);
        }
    }

    /// `CheckIfApplicationLimited()` of draft-ietf-ccwg-bbr-05, section 4.1.2.4: data sent from now on says nothing
    /// about the path.
    pub(super) fn note_application_limit(&mut self) {
        let nothing_left = !self.space.unsent();
        let Strategy::Rack(rack) = &mut self.strategy else { return };
        let cwnd = self.control.window().cwnd;
        if nothing_left && rack.flight.counts.lost == 0 && rack.flight.in_flight() < cwnd {
            rack.mark_app_limited();
        }
    }

    /// Section 6.3, before the window is reduced.
    pub(super) fn lose_by_timeout(&mut self, cx: &mut Context) {
        if self.rack().is_none() {
            return;
        }
        let (trips, owns) = (self.round_trips(), self.control.owns_window());
        let view = self.view(cx.now, self.under_way());
        let Strategy::Rack(rack) = &mut self.strategy else { return };
        let control = &mut self.control;
        rack.lose_on_timeout(cx.now, trips, |lost| {
            if owns {
                control.on_lost(&view, lost);
            }
        });
        cx.timers.stop(Timer::Rack);
    }

    /// Marks segments sent now as useless samples of the path, because the algorithm limits the rate on purpose.
    pub(super) fn mark_app_limited(&mut self) {
        if let Strategy::Rack(rack) = &mut self.strategy {
            rack.mark_app_limited();
        }
    }
}
