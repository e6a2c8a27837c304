//! Bounds from losses (section 5.5.10): short-term bounds that follow the delivery rate, and a long-term one that
//! remembers how much in flight was too much.

use super::{Bbr, NONE, State};
use crate::Window;
use crate::rate::{Bandwidth, Lost, RateSample};
use fourhop_units::Time;

/// BBR.LossThresh, per cent.
const LOSS_THRESHOLD: u64 = 2;
/// BBR.Beta, per cent.
const BETA: u32 = 70;
/// BBR.Headroom, per cent.
const HEADROOM: u64 = 15;

/// Rounds of Startup with ECN marks that end it.
const MARKED_ROUNDS: u8 = 2;

/// `percent` per cent of an amount, rounded down.
fn share(amount: u32, percent: u64) -> u32 {
    (u64::from(amount) * percent / 100) as u32
}

impl Bbr {
    /// `IsInflightTooHigh()`.
    pub(super) fn is_inflight_too_high(lost: u32, tx_in_flight: u32) -> bool {
        u64::from(lost) * 100 > u64::from(tx_in_flight) * LOSS_THRESHOLD
    }

    /// `BBRUpdateLatestDeliverySignals()`.
    pub(super) fn update_latest_delivery_signals(&mut self, rs: &RateSample) {
        self.bw_latest = self.bw_latest.max(rs.rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        self.loss_round_start = rs.has_data && rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = rs.total_delivered;
        }
    }

    /// `BBRAdvanceLatestDeliverySignals()`.
    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &RateSample) {
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (rs.rate, rs.delivered);
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (Bandwidth::default(), 0);
    }

    pub(super) fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (Bandwidth::MAX, NONE);
    }

    /// `BBRUpdateCongestionSignals()`: once per round.
    pub(super) fn update_congestion_signals(&mut self, win: &Window, rs: &RateSample) {
        self.update_max_bw(rs);
        if !self.loss_round_start {
            return;
        }
        if self.loss_in_round && !self.is_probing() {
            self.lower_bounds(win);
        }
        self.loss_in_round = false;
    }

    /// `BBRInitLowerBounds()` and `BBRLossLowerBounds()`.
    fn lower_bounds(&mut self, win: &Window) {
        if self.bw_shortterm == Bandwidth::MAX {
            self.bw_shortterm = self.max_bw.get();
        }
        if self.inflight_shortterm == NONE {
            self.inflight_shortterm = win.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(self.bw_shortterm.percent(BETA));
        self.inflight_shortterm = self.inflight_latest.max(share(self.inflight_shortterm, BETA.into()));
    }

    /// `BBRHandleLostPacket()`.
    pub(super) fn handle_lost_packet(&mut self, win: &Window, now: Time, lost: &Lost) {
        self.note_loss(lost);
        if self.bw_probe_samples && Bbr::is_inflight_too_high(lost.lost, lost.tx_in_flight) {
            self.handle_inflight_too_high(win, now, lost);
        }
    }

    /// `BBRNoteLoss()`.
    fn note_loss(&mut self, lost: &Lost) {
        if !self.loss_in_round {
            self.loss_round_delivered = lost.total_delivered;
        }
        self.loss_in_round = true;
    }

    /// Handles an ECN mark, which the stack reports once per window. Our choice: it counts as a loss above the
    /// threshold, and a second round of Startup with marks ends Startup (Linux's v3 for shallow marks:
    /// `startup_full_ecn_cnt`, 2).
    pub(super) fn handle_mark(&mut self, win: &Window, now: Time, mark: &Lost) {
        self.note_loss(mark);
        if self.bw_probe_samples {
            self.handle_inflight_too_high(win, now, mark);
        }
        if self.state == State::Startup {
            self.marked_rounds = self.marked_rounds.saturating_add(1);
            self.full_bw_reached |= self.marked_rounds >= MARKED_ROUNDS;
        }
    }

    /// `BBRHandleInflightTooHigh()`: once per probe.
    fn handle_inflight_too_high(&mut self, win: &Window, now: Time, lost: &Lost) {
        self.bw_probe_samples = false;
        if !lost.is_app_limited {
            let floor = share(self.target_inflight(win), BETA.into());
            self.inflight_longterm = inflight_at_loss(lost).max(floor).max(1);
        }
        if self.state == State::Up {
            let rs = RateSample { total_delivered: lost.total_delivered, ..RateSample::default() };
            self.start_down(now, &rs);
        }
    }

    /// `BBRInflightWithHeadroom()`.
    pub(super) fn inflight_with_headroom(&self) -> u32 {
        if self.inflight_longterm == NONE {
            return NONE;
        }
        let headroom = share(self.inflight_longterm, HEADROOM).max(1);
        self.inflight_longterm.saturating_sub(headroom).max(super::control::MIN_PIPE)
    }
}

/// `BBRInflightAtLoss()`: the amount in flight at which losses passed the threshold, solved for the point within the
/// segment.
fn inflight_at_loss(lost: &Lost) -> u32 {
    let inflight_before = lost.tx_in_flight.saturating_sub(1);
    let lost_before = lost.lost.saturating_sub(1);
    let tolerated = u64::from(inflight_before) * LOSS_THRESHOLD;
    let prefix = tolerated.saturating_sub(u64::from(lost_before) * 100) / (100 - LOSS_THRESHOLD);
    inflight_before.saturating_add(prefix as u32)
}
