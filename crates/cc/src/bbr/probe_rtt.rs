//! The shortest round trip, and ProbeRTT, which empties the queue to see it (sections 5.3.4 and 5.5.7).

use super::probe_bw::AckPhase;
use super::{Bbr, State};
use crate::rate::RateSample;
use crate::{CaState, MAX_SAMPLE, Window};
use fourhop_units::{Dur, Time};

/// BBR.MinRTTFilterLen.
const MIN_RTT_FILTER: Dur = Dur::from_secs(10);
/// BBR.ProbeRTTInterval.
const INTERVAL: Dur = Dur::from_secs(5);
/// BBR.ProbeRTTDuration.
const DURATION: Dur = Dur::from_millis(200);

impl Bbr {
    /// `BBRUpdateMinRTT()`.
    pub(super) fn update_min_rtt(&mut self, now: Time, rs: &RateSample) {
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + INTERVAL;
        if let Some(rtt) = rs.rtt.map(|rtt| rtt.min(MAX_SAMPLE))
            && (self.probe_rtt_expired || self.probe_rtt_min_delay.is_none_or(|least| rtt < least))
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (Some(rtt), now);
        }
        let Some(recent) = self.probe_rtt_min_delay else { return };
        if now > self.min_rtt_stamp + MIN_RTT_FILTER || self.min_rtt.is_none_or(|least| recent < least) {
            (self.min_rtt, self.min_rtt_stamp) = (Some(recent), self.probe_rtt_min_stamp);
        }
    }

    /// `BBRCheckProbeRTT()`.
    pub(super) fn check_probe_rtt(&mut self, win: &mut Window, now: Time, rs: &RateSample) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(win);
            self.state = State::ProbeRtt;
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::Stopping;
            self.start_round(rs);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(win, now, rs);
        }
        if rs.newly_acked > 0 {
            self.idle_restart = false;
        }
    }

    /// `BBRHandleProbeRTT()`.
    fn handle_probe_rtt(&mut self, win: &mut Window, now: Time, rs: &RateSample) {
        self.mark_app_limited = true;
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(win, now);
            }
        } else if rs.in_flight <= self.probe_rtt_cwnd() {
            self.probe_rtt_done_stamp = Some(now + DURATION);
            self.probe_rtt_round_done = false;
            self.start_round(rs);
        }
    }

    /// `BBRCheckProbeRTTDone()`.
    pub(super) fn check_probe_rtt_done(&mut self, win: &mut Window, now: Time) {
        if self.probe_rtt_done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min_stamp = now;
        win.set_cwnd(win.cwnd.max(self.prior_cwnd));
        self.exit_probe_rtt(now);
    }

    /// `BBRExitProbeRTT()`. Called only when a round has just begun.
    fn exit_probe_rtt(&mut self, now: Time) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            let rs = RateSample { total_delivered: self.next_round_delivered, ..RateSample::default() };
            self.start_down(now, &rs);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// `BBRSaveCwnd()`.
    pub(super) fn save_cwnd(&mut self, win: &Window) {
        let repairs = matches!(self.recovery, CaState::Recovery | CaState::Loss);
        let known = if repairs || self.state == State::ProbeRtt { self.prior_cwnd } else { 0 };
        self.prior_cwnd = known.max(win.cwnd);
    }
}
