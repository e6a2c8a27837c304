//! Startup and Drain, and the search for a plateau of the delivery rate (sections 5.3.1 and 5.3.2).

use super::{Bbr, State};
use crate::rate::{Bandwidth, RateSample};
use crate::{CaState, View};
use fourhop_units::Time;

/// Growth by less than a quarter counts as none.
const GROWTH: u32 = 125;
/// Rounds without growth that count as a plateau.
const PLATEAU_ROUNDS: u8 = 3;
/// BBRStartupFullLossCnt. Lost ranges are counted by the acknowledgements that found them, as in Linux (tcp_bbr.c, v3).
const FULL_LOSSES: u32 = 6;
/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u32 = 3;

impl Bbr {
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `BBRResetFullBW()`, with a baseline.
    pub(super) fn reset_full_bw(&mut self, baseline: Bandwidth) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (baseline, 0, false);
    }

    /// `BBRCheckFullBWReached()`.
    pub(super) fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_now || !self.round_start || rs.is_app_limited {
            return;
        }
        if rs.rate >= self.full_bw.percent(GROWTH) {
            return self.reset_full_bw(rs.rate);
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= PLATEAU_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `BBRCheckStartupDone()`.
    pub(super) fn check_startup_done(&mut self, view: &View, rs: &RateSample) {
        self.check_startup_high_loss(view, rs);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.round_count;
        }
    }

    /// Section 5.3.1.3: at the end of a round in recovery, losses above the threshold in enough places end Startup.
    fn check_startup_high_loss(&mut self, view: &View, rs: &RateSample) {
        self.losses_in_round = self.losses_in_round.saturating_add(u32::from(rs.newly_lost > 0));
        if !self.loss_round_start {
            return;
        }
        let many = self.losses_in_round >= FULL_LOSSES && Bbr::is_inflight_too_high(rs.lost, rs.tx_in_flight);
        if self.state == State::Startup && !self.full_bw_reached && view.state == CaState::Recovery && many {
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp().unwrap_or(0).max(self.inflight_latest).max(1);
        }
        self.losses_in_round = 0;
    }

    /// `BBRCheckDrainDone()`.
    pub(super) fn check_drain_done(&mut self, now: Time, rs: &RateSample) {
        let drained = rs.in_flight <= self.inflight(100);
        if self.state == State::Drain && (drained || self.round_count > self.drain_start_round + DRAIN_ROUNDS) {
            self.start_down(now, rs);
        }
    }
}
