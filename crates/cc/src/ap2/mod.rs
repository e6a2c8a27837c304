//! AP2: adaptive pacing for radios that aggregate frames as well as for those that do not. docs/ap2.md derives it.
//!
//! Source: our own. Like TCP-AP (ElRakabawy et al. 2005) it counts hops and spaces segments. The window follows FAST
//! (Jin, Wei, Low 2004), with a backlog that is a time and a few segments. Once a round trip
//!
//! ```text
//! next = window * least / mean + own + rate * target
//! ```
//!
//! where `least` and `mean` are round trips and `rate` is what arrives. At rest the round trip is `least + target + own
//! / rate`.
//!
//! | what | with aggregates | without |
//! |---|---|---|
//! | `target` | 20 ms a hop, 50 ms at most | none |
//! | `own` | as many segments as a tenth of the link's Mbit/s, 6 at most | nine tenths of a segment |
//! | segments leave | in bursts of three tenths of the window, two windows a round trip | one by one, 1.2 windows a round trip |
//!
//! A receiver that delays acknowledgements waits for a second segment: where there are no aggregates, `own` is then one
//! more, and segments leave by twos.
//!
//! The window falls at once and rises half the way, by no more than arrives. A single loss changes nothing, because
//! fades lose segments. A round that loses an eighth of its segments takes an eighth off the window. A time-out halves
//! it.
//!
//! State is kept in microseconds and in segments with 16 binary digits of fraction.

mod path;
#[cfg(test)]
mod tests;

use crate::rate::{Lost, RateSample};
use crate::{Ack, CaState, Cause, CongestionControl, Hint, MAX_SAMPLE, Measurements, Params, View, Window};
use fourhop_units::Dur;
use path::Path;

/// A segment.
const ONE: u64 = Window::ONE as u64;
/// Most segments of a window: more than 2^30 bytes, the most of RFC 7323, in segments of 1,024 bytes.
const MOST: u64 = ONE << 20;
/// Most segments of the first window. Of more, a short path would see a queue before it is known.
const FIRST: u32 = 4;

/// `target`: microseconds for each hop, and at most.
const TARGET_HOP: u64 = 20_000;
const TARGET_MOST: u64 = 50_000;
/// `own`: the bit rate that brings one segment, and at most so many.
const RATE_OF_ONE: u64 = 10_000_000;
const OWN_MOST: u64 = 6 * ONE;
/// `own` on radios that do not aggregate.
const OWN_SINGLE: u64 = ONE * 9 / 10;

/// Per cent of the window that leave together, and windows in a round trip, per cent: with aggregates and without.
const BURST: u64 = 30;
const GAIN_BURSTS: u64 = 200;
const GAIN_SINGLE: u64 = 120;

/// A path whose window would grow by less than this share has been filled: slow start ends.
const STARTUP_GROWTH: u64 = 30;
/// RFC 8511 section 3: what a mark leaves, per cent.
const MARK_LEAVES: u64 = 80;
/// Of a round's segments, the share that may be lost before the window shrinks by the same share.
const LOSS_SHARE: u64 = 8;

/// A part of the algorithm that an experiment takes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Without {
    /// All of it is there.
    Nothing,
    /// The target counts no hops: it is the most at once.
    Hops,
    /// Segments leave one by one.
    Bursts,
    /// Bursts leave as soon as the window has room.
    Pacing,
    /// The window falls half the way, as it grows.
    QuickFall,
    /// Any loss in a round takes an eighth of the window.
    Patience,
    /// Radios without aggregates are taken for others.
    Radios,
}

/// AP2's state.
#[derive(Clone, Copy, Debug)]
pub struct Ap2 {
    without: Without,
    path: Path,
    window: u64,
    /// Where the window grows to, as segments arrive.
    goal: u64,
    slow_start: bool,
}

impl Ap2 {
    /// Takes `ap2_without`.
    pub fn new(params: &Params) -> Ap2 {
        Ap2 { without: params.ap2_without, path: Path::new(), window: ONE, goal: ONE, slow_start: true }
    }

    fn has_aggregates(&self) -> bool {
        self.without == Without::Radios || self.path.has_aggregates()
    }

    /// Backlog beyond the pipe, the same at any rate, so that flows on one path converge to equal shares.
    fn own(&self) -> u64 {
        match self.has_aggregates() {
            true => (self.path.link * ONE / RATE_OF_ONE).clamp(ONE, OWN_MOST),
            // One more, which the receiver waits for.
            false if self.path.delays_acks() => OWN_SINGLE + ONE,
            false => OWN_SINGLE,
        }
    }

    fn target(&self) -> Dur {
        let micros = match (self.has_aggregates(), self.without != Without::Hops) {
            (false, _) => 0,
            (true, true) => (TARGET_HOP * u64::from(self.path.hops)).min(TARGET_MOST),
            (true, false) => TARGET_MOST,
        };
        Dur::from_micros(micros)
    }

    /// A round trip is over, of which the mean was `mean` microseconds.
    fn end_round(&mut self, mean: u64, lost: bool) {
        let pipe = self.window * self.path.least().min(mean) / mean;
        let mut next = pipe + self.own() + self.path.rate.fixed_in(self.target());
        if self.slow_start && next * 100 >= self.window * (100 + STARTUP_GROWTH) && !lost {
            self.goal = (2 * self.window).min(MOST);
            return;
        }
        self.slow_start = false;
        if lost {
            next = next.min(self.window - self.window / LOSS_SHARE);
        }
        let way = if self.without == Without::QuickFall { 2 } else { 1 };
        if next < self.window {
            self.shrink(self.window - (self.window - next) / way);
        } else {
            self.goal = (self.window + (next - self.window) / 2).min(MOST);
        }
    }

    fn shrink(&mut self, window: u64) {
        self.window = window.max(ONE);
        self.goal = self.window;
    }

    fn segments(fixed: u64) -> u32 {
        ((fixed + ONE / 2) / ONE) as u32
    }

    fn apply(&self, win: &mut Window) {
        win.set_cwnd(Ap2::segments(self.window));
        let in_bursts = self.has_aggregates() && self.without != Without::Bursts;
        let burst = match in_bursts {
            true => Ap2::segments(self.window * BURST / 100),
            false if !self.has_aggregates() && self.path.delays_acks() => 2,
            false => 1,
        };
        win.burst = burst.clamp(1, win.cwnd);
        let gain = if in_bursts { GAIN_BURSTS } else { GAIN_SINGLE };
        if self.path.smoothed > 0 {
            let nanos = self.path.smoothed * 1_000 * ONE / self.window * 100 / gain;
            win.pacing = Some(Dur::from_nanos(if self.without == Without::Pacing { 1 } else { nanos.max(1) }));
        }
    }
}

impl CongestionControl for Ap2 {
    const OWNS_WINDOW: bool = true;

    fn name(&self) -> &'static str {
        "ap2"
    }

    fn init(&mut self, win: &mut Window, view: &View) {
        self.shrink(u64::from(win.cwnd.min(FIRST)) * ONE);
        self.path.begin(view);
        self.apply(win);
    }

    /// The model takes samples of delivery, not of acknowledgements.
    fn on_ack(&mut self, _win: &mut Window, _view: &View, _ack: &Ack) {}

    fn on_rate(&mut self, win: &mut Window, view: &View, sample: &RateSample) {
        if let Some(round) = self.path.take(view.now, sample, self.slow_start) {
            let lost = match self.without {
                Without::Patience => round.lost > 0,
                _ => round.lost * LOSS_SHARE > round.delivered,
            };
            self.end_round(round.mean, lost);
        }
        let in_use = u64::from(sample.tx_in_flight) * ONE;
        if sample.cwnd_limited || in_use >= self.window / 4 * 3 {
            let arrived = u64::from(sample.newly_acked) * ONE;
            self.window = self.goal.min(self.window + arrived).max(self.window);
        }
        self.apply(win);
    }

    fn on_lost(&mut self, _win: &mut Window, _view: &View, _lost: &Lost) {
        self.path.lost += 1;
    }

    fn on_mark(&mut self, win: &mut Window, _view: &View, _mark: &Lost) {
        self.slow_start = false;
        self.shrink(self.window * MARK_LEAVES / 100);
        self.apply(win);
    }

    /// The stack asks, and does not use the answer.
    fn ssthresh(&mut self, win: &Window, _view: &View, _cause: Cause) -> u32 {
        win.ssthresh
    }

    fn on_state(&mut self, win: &mut Window, view: &View, state: CaState) {
        if state == CaState::Loss {
            self.slow_start = false;
            self.shrink((self.window / 2).max(2 * ONE));
            win.set_cwnd(view.in_flight.saturating_add(1).min(Ap2::segments(self.window)));
            win.burst = 1;
        }
    }

    fn on_hint(&mut self, _win: &mut Window, _view: &View, hint: Hint) {
        match hint {
            Hint::HopCount(hops) => self.path.hops = hops.clamp(1, 255),
            // 2^36 bit/s: in units of a segment it stays within 64 bits.
            Hint::LinkRate(rate) => self.path.link = rate.bps().min(1 << 36),
            _ => {}
        }
    }

    fn measurements(&self) -> Measurements {
        let rtt = (self.path.newest > 0).then(|| Dur::from_micros(self.path.newest).min(MAX_SAMPLE));
        Measurements { rtt, ..Measurements::default() }
    }
}
