//! The pacing interval and the window from the model (section 5.6).

use super::{Bbr, NONE, State};
use crate::rate::{Bandwidth, RateSample};
use crate::{View, Window};
use fourhop_units::Dur;

/// BBR.MinPipeCwnd.
pub(super) const MIN_PIPE: u32 = 4;
/// BBR.offload_budget: three times a quantum of one segment (section 5.5.8.1).
const OFFLOAD: u32 = 3;
/// 100 less BBR.PacingMarginPercent.
const MARGIN: u32 = 99;
/// BBR.StartupPacingGain.
const STARTUP_GAIN: u32 = 277;

/// Additions to the window beyond the path's capacity, for hosts that hand down segments in batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    /// At least three quanta in all, of one segment each (draft-ietf-ccwg-bbr-05 sections 5.5.8.1 and 5.6.4.2).
    Draft,
    /// Three quanta more, rounded up to an even number: Linux's version 1 (6.18, `bbr_quantization_budget` in
    /// net/ipv4/tcp_bbr.c). A quantum is two segments from 1.2 Mbit/s on, otherwise one. ACK aggregation adds at most
    /// the data of 100 ms (`bbr_ack_aggregation_cwnd`).
    LinuxV1,
}

/// Pacing rate in bytes per second from which version 1's smallest quantum has two segments: 1.2 Mbit/s
/// (`bbr_min_tso_rate`).
const TWO_FROM: u64 = 1_200_000 / 8;
/// `bbr_extra_acked_max_us`.
const LUMP: Dur = Dur::from_millis(100);

impl Bbr {
    /// The table of section 5.6.1.
    pub(super) fn pacing_gain(&self) -> u32 {
        match self.state {
            State::Startup => STARTUP_GAIN,
            State::Drain => 50,
            State::Down => 90,
            State::Cruise | State::Refill | State::ProbeRtt => 100,
            State::Up => 125,
        }
    }

    fn cwnd_gain(&self) -> u32 {
        match self.state {
            State::Up => 225,
            State::ProbeRtt => 50,
            _ => 200,
        }
    }

    /// `BBRInitPacingRate()`.
    pub(super) fn init_pacing(&mut self, win: &mut Window, view: &View) {
        let srtt = view.srtt.unwrap_or(Dur::from_millis(1));
        win.pacing = Some(Bandwidth::over(win.cwnd, srtt).interval(STARTUP_GAIN));
    }

    /// `BBRSetPacingRateWithGain()`: only upwards before the plateau.
    pub(super) fn set_pacing(&mut self, win: &mut Window, gain: u32) {
        if self.bw.is_zero() {
            return;
        }
        let interval = self.bw.percent(MARGIN).interval(gain);
        if self.full_bw_reached || win.pacing.is_none_or(|known| interval < known) {
            win.pacing = Some(interval);
            let bytes_a_second = u64::from(self.mss) * 1_000_000_000 / interval.as_nanos();
            self.quantum = if bytes_a_second < TWO_FROM { 1 } else { 2 };
        }
    }

    /// BBR.bdp; `None` before the first round trip.
    pub(super) fn bdp(&self) -> Option<u32> {
        Some(self.bw.segments_in(self.min_rtt?, 100))
    }

    /// `BBRTargetInflight()`.
    pub(super) fn target_inflight(&self, win: &Window) -> u32 {
        self.bdp().unwrap_or(NONE).min(win.cwnd)
    }

    /// `BBRBDPMultiple()`.
    fn bdp_multiple(&self, bw: Bandwidth, gain: u32) -> u32 {
        self.min_rtt.map_or(self.initial_cwnd, |rtt| bw.segments_in(rtt, gain))
    }

    /// `BBRQuantizationBudget()`.
    fn with_budget(&self, inflight: u32) -> u32 {
        let more = if self.state == State::Up { 2 } else { 0 };
        let budget = match self.budget {
            Budget::Draft => inflight.max(OFFLOAD),
            Budget::LinuxV1 => inflight.saturating_add(3 * self.quantum).checked_next_multiple_of(2).unwrap_or(NONE),
        };
        budget.max(MIN_PIPE).saturating_add(more)
    }

    /// `BBRInflight()` at a rate.
    pub(super) fn inflight_at(&self, bw: Bandwidth, gain: u32) -> u32 {
        self.with_budget(self.bdp_multiple(bw, gain))
    }

    pub(super) fn inflight(&self, gain: u32) -> u32 {
        self.inflight_at(self.bw, gain)
    }

    /// `BBRProbeRTTCwnd()`.
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp_multiple(self.bw, 50).max(MIN_PIPE)
    }

    /// `BBRSetCwnd()`.
    pub(super) fn set_cwnd(&mut self, win: &mut Window, rs: &RateSample) {
        let multiple = self.bdp_multiple(self.bw, self.cwnd_gain());
        let lumps = match self.budget {
            Budget::Draft => NONE,
            Budget::LinuxV1 => self.bw.segments_in(LUMP, 100),
        };
        let most = self.with_budget(multiple.saturating_add(self.extra_acked.get().min(lumps)));
        let grown = win.cwnd.saturating_add(rs.newly_acked);
        let mut cwnd = win.cwnd;
        if self.full_bw_reached {
            cwnd = grown.min(most);
        } else if cwnd < most || rs.total_delivered < u64::from(self.initial_cwnd) {
            cwnd = grown;
        }
        cwnd = cwnd.max(MIN_PIPE);
        if self.state == State::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        win.set_cwnd(cwnd.min(self.model_cap()));
    }

    /// The cap of `BBRBoundCwndForModel()`.
    fn model_cap(&self) -> u32 {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => NONE,
        };
        cap.min(self.inflight_shortterm).max(MIN_PIPE)
    }
}
