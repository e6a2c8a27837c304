//! ProbeBW: the cycle that asks for more, yields, and cruises (section 5.3.3).

use super::{Bbr, NONE, State};
use crate::Window;
use crate::rate::RateSample;
use fourhop_units::{Dur, Time};

/// The phase that arriving acknowledgements report on: BBR.ack_phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckPhase {
    /// ACKS_INIT: of neither.
    Init,
    /// ACKS_PROBE_STARTING: for data sent before UP.
    Starting,
    /// ACKS_PROBE_FEEDBACK: for data sent in UP.
    Feedback,
    /// ACKS_PROBE_STOPPING: for data sent in UP, after its end.
    Stopping,
    /// ACKS_REFILLING.
    Refilling,
}

/// The shortest wait between two probes, plus up to a second.
const WAIT: Dur = Dur::from_secs(2);
/// T_reno_bound, in rounds.
const RENO_ROUNDS: u32 = 63;
/// Maximum number of doublings of the growth of `inflight_longterm`.
const UP_ROUNDS: u32 = 30;

impl Bbr {
    /// `BBRStartProbeBW_DOWN()`.
    pub(super) fn start_down(&mut self, now: Time, rs: &RateSample) {
        self.reset_congestion_signals();
        self.probe_up_cnt = NONE;
        // `BBRPickProbeWait()`.
        self.rounds_since_bw_probe = self.random_below(2) as u32;
        self.bw_probe_wait = WAIT + Dur::from_nanos(self.random_below(1_000_000_000));
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::Stopping;
        self.start_round(rs);
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    fn start_refill(&mut self, rs: &RateSample) {
        self.reset_short_term_model();
        (self.bw_probe_up_rounds, self.bw_probe_up_acks) = (0, 0);
        self.ack_phase = AckPhase::Refilling;
        self.start_round(rs);
        self.state = State::Refill;
    }

    fn start_up(&mut self, win: &Window, rs: &RateSample) {
        self.ack_phase = AckPhase::Starting;
        self.start_round(rs);
        self.reset_full_bw(rs.rate);
        self.state = State::Up;
        self.raise_slope(win);
    }

    /// `BBRUpdateProbeBWCyclePhase()`.
    pub(super) fn update_probe_bw_cycle(&mut self, win: &mut Window, now: Time, rs: &RateSample) {
        if !self.full_bw_reached {
            return;
        }
        self.adapt_long_term_model(win, rs);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(win, now) => self.start_refill(rs),
            State::Down if self.is_time_to_cruise(rs) => self.start_cruise(),
            State::Refill if self.round_start => {
                self.bw_probe_samples = true;
                self.start_up(win, rs);
            }
            State::Up => self.check_up_done(win, now, rs),
            _ => {}
        }
    }

    /// `BBRIsTimeToProbeBW()`: by the clock, or after as many rounds as Reno would need.
    fn is_time_to_probe(&self, win: &Window, now: Time) -> bool {
        now > self.cycle_stamp + self.bw_probe_wait
            || self.rounds_since_bw_probe >= self.target_inflight(win).min(RENO_ROUNDS)
    }

    /// `BBRIsTimeToCruise()`.
    fn is_time_to_cruise(&self, rs: &RateSample) -> bool {
        rs.in_flight <= self.inflight_with_headroom() && rs.in_flight <= self.inflight_at(self.max_bw.get(), 100)
    }

    /// `BBRIsTimeToGoDown()`, and the transition.
    fn check_up_done(&mut self, win: &Window, now: Time, rs: &RateSample) {
        if rs.cwnd_limited && win.cwnd >= self.inflight_longterm {
            self.reset_full_bw(rs.rate);
        } else if self.full_bw_now {
            self.start_down(now, rs);
        }
    }

    /// `BBRRaiseInflightLongtermSlope()`: twice as steep in every round of UP as in the one before.
    fn raise_slope(&mut self, win: &Window) {
        let growth = 1u32 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(UP_ROUNDS);
        self.probe_up_cnt = (win.cwnd / growth).max(1);
    }

    /// `BBRProbeInflightLongtermUpward()`.
    fn probe_upward(&mut self, win: &Window, rs: &RateSample) {
        if !rs.cwnd_limited || win.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acks = self.bw_probe_up_acks.saturating_add(rs.newly_acked);
        let delta = self.bw_probe_up_acks / self.probe_up_cnt;
        self.bw_probe_up_acks %= self.probe_up_cnt;
        self.inflight_longterm = self.inflight_longterm.saturating_add(delta);
        if self.round_start {
            self.raise_slope(win);
        }
    }

    /// `BBRAdaptLongTermModel()`.
    fn adapt_long_term_model(&mut self, win: &Window, rs: &RateSample) {
        if self.ack_phase == AckPhase::Starting && self.round_start {
            self.ack_phase = AckPhase::Feedback;
        }
        if self.ack_phase == AckPhase::Stopping && self.round_start {
            // The draft leaves open that this happens once per cycle; done as in Linux (tcp_bbr.c, v3).
            self.ack_phase = AckPhase::Init;
            self.bw_probe_samples = false;
            if self.in_probe_bw() && !rs.is_app_limited {
                self.max_bw.advance();
            }
        }
        if self.inflight_longterm == NONE || Bbr::is_inflight_too_high(rs.lost, rs.tx_in_flight) {
            return;
        }
        self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
        if self.state == State::Up {
            self.probe_upward(win, rs);
        }
    }
}
