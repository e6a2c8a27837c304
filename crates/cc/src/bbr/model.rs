//! Rounds, the largest delivery rate, and the aggregation of acknowledgements (sections 5.5.1 to 5.5.6 and 5.5.9).

use super::Bbr;
use crate::Window;
use crate::rate::{Bandwidth, RateSample};
use fourhop_units::Time;

/// BBRExtraAckedFilterLen, in rounds.
const EXTRA_ACKED_ROUNDS: u32 = 10;

/// The largest rate of this probing cycle and of the one before (MaxBwFilterLen: 2).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct MaxBandwidth([Bandwidth; 2]);

impl MaxBandwidth {
    pub(super) fn get(&self) -> Bandwidth {
        self.0[0].max(self.0[1])
    }

    pub(super) fn update(&mut self, rate: Bandwidth) {
        self.0[1] = self.0[1].max(rate);
    }

    /// `BBRAdvanceMaxBwFilter()`: begins another cycle if the last one has measured anything.
    pub(super) fn advance(&mut self) {
        if !self.0[1].is_zero() {
            self.0 = [self.0[1], Bandwidth::default()];
        }
    }
}

/// The largest surplus of acknowledgements over some rounds, kept for two halves of that period.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct MaxExtra {
    values: [u32; 2],
    began: u32,
}

impl MaxExtra {
    pub(super) fn get(&self) -> u32 {
        self.values[0].max(self.values[1])
    }

    fn update(&mut self, value: u32, round: u32, rounds: u32) {
        if round.wrapping_sub(self.began) >= rounds.div_ceil(2) {
            self.values = if rounds == 1 { [0, 0] } else { [self.values[1], 0] };
            self.began = round;
        }
        self.values[1] = self.values[1].max(value);
    }
}

impl Bbr {
    /// `BBRStartRound()`.
    pub(super) fn start_round(&mut self, rs: &RateSample) {
        self.next_round_delivered = rs.total_delivered;
    }

    /// `BBRUpdateRound()`.
    fn update_round(&mut self, rs: &RateSample) {
        self.round_start = rs.has_data && rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round(rs);
            self.round_count += 1;
            self.rounds_since_bw_probe = self.rounds_since_bw_probe.saturating_add(1);
        }
    }

    /// `BBRUpdateMaxBw()`.
    pub(super) fn update_max_bw(&mut self, rs: &RateSample) {
        self.update_round(rs);
        if !rs.rate.is_zero() && (rs.rate >= self.max_bw.get() || !rs.is_app_limited) {
            self.max_bw.update(rs.rate);
        }
    }

    /// `BBRUpdateACKAggregation()`.
    pub(super) fn update_ack_aggregation(&mut self, win: &Window, now: Time, rs: &RateSample) {
        let interval = now.saturating_since(self.extra_acked_start);
        let mut expected = self.bw.segments_in(interval, 100);
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_start, expected) = (0, now, 0);
        }
        self.extra_acked_delivered = self.extra_acked_delivered.saturating_add(rs.newly_acked);
        let extra = self.extra_acked_delivered.saturating_sub(expected).min(win.cwnd);
        let rounds = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.update(extra, self.round_count, rounds);
    }
}
