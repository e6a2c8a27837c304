//! BBR, version 3: a model of the path (delivery rate, shortest round trip, loss-free limit of the data in flight) sets
//! the rate and the window.
//!
//! Source: draft-ietf-ccwg-bbr-05, to which the section numbers below refer. Amounts are segments, not bytes; gains are
//! per cent.
//!
//! | file | content |
//! |---|---|
//! | `mod` | the state, and the order of the steps at an acknowledgement (5.2.3) |
//! | `model` | rounds, the filters of the delivery rate and of aggregation (5.5.1 to 5.5.6, 5.5.9) |
//! | `startup` | Startup and Drain, the search for a plateau (5.3.1, 5.3.2) |
//! | `probe_bw` | the cycle DOWN, CRUISE, REFILL, UP (5.3.3) |
//! | `probe_rtt` | the shortest round trip, ProbeRTT (5.3.4, 5.5.7) |
//! | `bounds` | the response to losses: short-term and long-term bounds (5.5.10) |
//! | `control` | pacing interval and window (5.6) |
//!
//! ```text
//!   Startup ──► Drain ──► DOWN ──► CRUISE ──► REFILL ──► UP ──┐      from each of them, every 5 s:
//!      ▲                   ▲  │                  ▲            │      ProbeRTT, then CRUISE,
//!      │                   │  └──────────────────┘            │      or Startup where no plateau was found
//!      │                   └──────────────────────────────────┘
//! ```
//!
//! Our choices: random numbers are seeded from the connection's clock; a send quantum is one segment, because the stack
//! here sends segments one by one, except with [`Budget::LinuxV1`]; section 3.7 only calls an ECN mark congestion, and
//! `bounds` defines the response. Section 5.5.11 is left out: an undone timeout restores the window, but not the
//! bounds.

mod bounds;
mod control;
mod model;
mod probe_bw;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;

pub use control::Budget;

use crate::rate::{Bandwidth, Lost, RateSample};
use crate::{Ack, CaState, Cause, CongestionControl, Measurements, Params, View, Window};
use fourhop_units::{Dur, Time};
use model::{MaxBandwidth, MaxExtra};
use probe_bw::AckPhase;

/// The states (section 5.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// A bound without effect.
const NONE: u32 = u32::MAX;

/// BBR's state, with the draft's names where it has one.
#[derive(Clone, Debug)]
pub struct Bbr {
    budget: Budget,
    mss: u32,
    /// Segments of a quantum, with [`Budget::LinuxV1`].
    quantum: u32,
    state: State,
    initial_cwnd: u32,
    /// Packet-timed rounds: the next begins when a segment is acknowledged that was sent after this much had been
    /// delivered.
    next_round_delivered: u64,
    round_count: u32,
    round_start: bool,
    max_bw: MaxBandwidth,
    bw: Bandwidth,
    /// `None` before the first sample.
    min_rtt: Option<Dur>,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Option<Dur>,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    /// The window before recovery or ProbeRTT.
    prior_cwnd: u32,
    idle_restart: bool,
    /// Whether the stack is to mark what it sends now as limited by the application.
    mark_app_limited: bool,
    extra_acked: MaxExtra,
    extra_acked_start: Time,
    extra_acked_delivered: u32,
    full_bw: Bandwidth,
    full_bw_count: u8,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u32,
    /// Acknowledgements of this round that found losses.
    losses_in_round: u32,
    loss_in_round: bool,
    /// Rounds of Startup with ECN marks.
    marked_rounds: u8,
    loss_round_delivered: u64,
    loss_round_start: bool,
    bw_latest: Bandwidth,
    inflight_latest: u32,
    bw_shortterm: Bandwidth,
    inflight_shortterm: u32,
    inflight_longterm: u32,
    /// Whether the data acknowledged now was sent while probing and no loss of this probe has been handled yet.
    bw_probe_samples: bool,
    ack_phase: AckPhase,
    cycle_stamp: Time,
    bw_probe_wait: Dur,
    rounds_since_bw_probe: u32,
    bw_probe_up_rounds: u32,
    bw_probe_up_acks: u32,
    probe_up_cnt: u32,
    recovery: CaState,
    random: u64,
}

impl Bbr {
    /// Reads `bbr_budget`.
    pub fn new(params: &Params) -> Bbr {
        Bbr {
            budget: params.bbr_budget,
            mss: 0,
            quantum: 1,
            state: State::Startup,
            initial_cwnd: 1,
            next_round_delivered: 0,
            round_count: 0,
            round_start: false,
            max_bw: MaxBandwidth::default(),
            bw: Bandwidth::default(),
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            prior_cwnd: 0,
            idle_restart: false,
            mark_app_limited: false,
            extra_acked: MaxExtra::default(),
            extra_acked_start: Time::ZERO,
            extra_acked_delivered: 0,
            full_bw: Bandwidth::default(),
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            losses_in_round: 0,
            loss_in_round: false,
            marked_rounds: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            bw_latest: Bandwidth::default(),
            inflight_latest: 0,
            bw_shortterm: Bandwidth::MAX,
            inflight_shortterm: NONE,
            inflight_longterm: NONE,
            bw_probe_samples: false,
            ack_phase: AckPhase::Init,
            cycle_stamp: Time::ZERO,
            bw_probe_wait: Dur::ZERO,
            rounds_since_bw_probe: 0,
            bw_probe_up_rounds: 0,
            bw_probe_up_acks: 0,
            probe_up_cnt: NONE,
            recovery: CaState::Open,
            random: 0,
        }
    }

    fn in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// `BBRIsProbingBW()`.
    fn is_probing(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// A number below `bound`: xorshift64 (Marsaglia 2003).
    fn random_below(&mut self, bound: u64) -> u64 {
        let mut x = self.random;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random = x;
        (x >> 16) % bound
    }

    /// `BBRUpdateModelAndState()`.
    fn update_model_and_state(&mut self, win: &mut Window, view: &View, rs: &RateSample) {
        self.update_latest_delivery_signals(rs);
        self.update_congestion_signals(win, rs);
        self.update_ack_aggregation(win, view.now, rs);
        self.check_full_bw_reached(rs);
        self.check_startup_done(view, rs);
        self.check_drain_done(view.now, rs);
        self.update_probe_bw_cycle(win, view.now, rs);
        self.update_min_rtt(view.now, rs);
        self.check_probe_rtt(win, view.now, rs);
        self.advance_latest_delivery_signals(rs);
        self.bw = self.max_bw.get().min(self.bw_shortterm);
    }
}

impl CongestionControl for Bbr {
    const OWNS_WINDOW: bool = true;

    fn name(&self) -> &'static str {
        "bbr"
    }

    /// `BBROnInit()`.
    fn init(&mut self, win: &mut Window, view: &View) {
        (self.initial_cwnd, self.mss) = (win.cwnd, view.mss);
        self.min_rtt = view.srtt.map(|srtt| srtt.min(crate::MAX_SAMPLE));
        (self.min_rtt_stamp, self.probe_rtt_min_stamp) = (view.now, view.now);
        self.probe_rtt_min_delay = self.min_rtt;
        self.extra_acked_start = view.now;
        // Any number except zero.
        self.random = view.now.as_nanos() << 1 | 1;
        self.init_pacing(win, view);
    }

    /// The model uses delivery samples, not acknowledgements.
    fn on_ack(&mut self, _win: &mut Window, _view: &View, _ack: &Ack) {}

    /// `BBRUpdateOnACK()`.
    fn on_rate(&mut self, win: &mut Window, view: &View, sample: &RateSample) {
        self.mark_app_limited = false;
        self.update_model_and_state(win, view, sample);
        self.set_pacing(win, self.pacing_gain());
        self.set_cwnd(win, sample);
    }

    fn on_lost(&mut self, win: &mut Window, view: &View, lost: &Lost) {
        self.handle_lost_packet(win, view.now, lost);
    }

    fn on_mark(&mut self, win: &mut Window, view: &View, mark: &Lost) {
        self.handle_mark(win, view.now, mark);
    }

    /// `BBRHandleRestartFromIdle()`.
    fn on_restart(&mut self, win: &mut Window, view: &View) {
        self.idle_restart = true;
        self.extra_acked_start = view.now;
        if self.in_probe_bw() {
            self.set_pacing(win, 100);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(win, view.now);
        }
    }

    fn marks_app_limited(&self) -> bool {
        self.mark_app_limited
    }

    /// BBR ignores the threshold.
    fn ssthresh(&mut self, win: &Window, _view: &View, _cause: Cause) -> u32 {
        win.ssthresh
    }

    /// Section 5.6.4.4.
    fn on_state(&mut self, win: &mut Window, view: &View, state: CaState) {
        let repairs = |state| matches!(state, CaState::Recovery | CaState::Loss);
        match (repairs(self.recovery), repairs(state)) {
            (_, true) => self.save_cwnd(win),
            (true, false) => win.set_cwnd(win.cwnd.max(self.prior_cwnd)),
            (false, false) => {}
        }
        if state == CaState::Loss {
            win.set_cwnd(view.in_flight.saturating_add(1));
        }
        self.recovery = state;
    }

    fn measurements(&self) -> Measurements {
        Measurements { rtt: self.min_rtt, ..Measurements::default() }
    }
}
