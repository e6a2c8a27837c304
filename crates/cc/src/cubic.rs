//! CUBIC.
//!
//! Source: RFC 9438. Windows are in segments with 16 binary digits of fraction, time in milliseconds, C = 0.4 and beta
//! = 0.7; the cube root is computed with integers. Fast convergence is on and the Reno-friendly region is computed.
//! Slow start is that of RFC 5681, or HyStart++ for the first one ([`crate::hystart`], section 4.10).
//!
//! Deviations: the curve is frozen while the application or the peer limits the sender (RFC 9438 section 5.8 permits
//! this); spurious-loss restoration (section 4.9) is not implemented, and `undo` restores the former window. An ECN
//! mark counts as a loss (section 4.6).

use crate::hystart::HyStart;
use crate::{Ack, CaState, Cause, CongestionControl, MAX_SAMPLE, Params, View, Window};
use fourhop_units::{Dur, Time};

/// CUBIC's state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cubic {
    /// W_max: the window at the last reduction, after fast convergence; 0 before the first. In 1/65536 segment, like
    /// all windows here.
    w_max: u64,
    /// cwnd_prior: the window just before the last reduction.
    prior: u64,
    /// Beginning of the current stage of congestion avoidance.
    epoch: Option<Time>,
    /// Last ACK of the stage.
    last: Time,
    /// W_max of the stage: the plateau of its curve.
    origin: u64,
    /// K in milliseconds.
    k: u64,
    /// W_est: the window that Reno would have.
    w_est: u64,
    /// Whether the last reduction was due to a time-out.
    timed_out: bool,
    /// How the first slow start ends.
    hystart: HyStart,
}

/// RFC 9438 section 4.6: beta_cubic = 7/10.
const BETA: (u64, u64) = (7, 10);
/// More than five minutes from the plateau the curve is treated as vertical, which keeps the cube within 64 bits.
const FARTHEST_MS: u64 = 300_000;

impl Cubic {
    /// Reads `hystart`.
    pub fn new(params: &Params) -> Cubic {
        Cubic { hystart: HyStart::new(params.hystart), ..Cubic::default() }
    }

    /// RFC 9438 equation 2, K = cbrt((W_max - cwnd_epoch) / C), in milliseconds.
    fn k(w_max: u64, cwnd: u64) -> u64 {
        // 1e9 / (0.4 * 65536) = 38147; a window has 48 bits, the product 64.
        cube_root(w_max.saturating_sub(cwnd) * 38_147)
    }

    /// RFC 9438 equation 1, W_cubic(t) = C (t - K)^3 + W_max, for `ms` milliseconds since the stage began.
    fn curve(&self, ms: u64) -> u64 {
        let distance = ms.abs_diff(self.k).min(FARTHEST_MS);
        // 0.4 * 65536 / 1e9 = 262144 / 1e10.
        let rise = distance * distance * distance / 10_000 * 262_144 / 1_000_000;
        if ms < self.k { self.origin.saturating_sub(rise) } else { self.origin.saturating_add(rise) }
    }

    fn begin_stage(&mut self, win: &Window, now: Time) {
        let cwnd = win.fixed();
        self.epoch = Some(now);
        self.w_est = cwnd;
        if self.timed_out || self.w_max <= cwnd {
            // Section 4.8: after a time-out the curve starts on its plateau, as it does if no loss has set one.
            (self.k, self.origin) = (0, cwnd);
        } else {
            (self.k, self.origin) = (Cubic::k(self.w_max, cwnd), self.w_max);
        }
        self.timed_out = false;
    }

    /// Section 4.3: W_est grows by alpha per window, alpha = 3 (1 - beta) / (1 + beta) = 9/17 until it has made up for
    /// the reduction, then 1.
    fn grow_estimate(&mut self, cwnd: u64, acked: u32) {
        let (num, den) = if self.w_est < self.prior { (9, 17) } else { (1, 1) };
        self.w_est += u64::from(acked) * (1 << 32) * num / (cwnd * den);
    }
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        "cubic"
    }

    fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack) {
        if view.state == CaState::Recovery {
            return;
        }
        if !ack.cwnd_limited {
            self.epoch = self.epoch.map(|epoch| epoch + view.now.saturating_since(self.last));
            self.last = view.now;
            return;
        }
        if win.in_slow_start() && self.hystart.is_active() {
            return self.hystart.on_ack(win, ack);
        }
        let acked = if win.in_slow_start() { win.slow_start(ack.credit) } else { ack.credit };
        if acked == 0 {
            return;
        }
        if self.epoch.is_none() {
            self.begin_stage(win, view.now);
        }
        self.last = view.now;
        let since = |at: Time| at.saturating_since(self.epoch.unwrap_or(at)).as_nanos() / 1_000_000;
        let rtt = view.srtt.unwrap_or(Dur::ZERO).min(MAX_SAMPLE);
        let (here, ahead) = (self.curve(since(view.now)), self.curve(since(view.now + rtt)));
        let cwnd = win.fixed();
        self.grow_estimate(cwnd, acked);
        if here < self.w_est {
            // Section 4.3: the Reno-friendly region.
            win.set_fixed(self.w_est.max(cwnd));
        } else {
            // Sections 4.4 and 4.5: (target - cwnd) / cwnd per segment, the target at most half above.
            let room = ahead.clamp(cwnd, cwnd + cwnd / 2) - cwnd;
            // Room beyond 65,535 segments does not count, so the product fits in 64 bits.
            let room = room.min(u64::from(u32::MAX));
            win.set_fixed(cwnd + u64::from(acked) * room * u64::from(Window::ONE) / cwnd);
        }
    }

    fn ssthresh(&mut self, win: &Window, _view: &View, cause: Cause) -> u32 {
        self.hystart.on_loss();
        let cwnd = win.fixed();
        // Section 4.7, fast convergence: a flow that stops short of its last plateau gives way.
        self.w_max = if cwnd < self.w_max { cwnd * (BETA.0 + BETA.1) / (2 * BETA.1) } else { cwnd };
        self.prior = cwnd;
        self.epoch = None;
        self.timed_out = cause == Cause::Timeout;
        ((cwnd * BETA.0 / BETA.1) >> 16).max(2) as u32
    }

    fn undo(&mut self, win: &Window, prior: u32) -> u32 {
        self.epoch = None;
        self.timed_out = false;
        win.cwnd.max(prior)
    }
}

/// The largest integer whose cube does not exceed `x`.
fn cube_root(x: u64) -> u64 {
    let mut root = 0u64;
    // 2^21 cubed is 2^63, so 22 binary digits suffice.
    for bit in (0..22).rev() {
        let candidate = root | 1 << bit;
        // Avoids the cube, which may need 66 digits.
        if candidate * candidate <= x / candidate {
            root = candidate;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{ack, view, window};

    fn segments(fixed: u64) -> f64 {
        fixed as f64 / 65536.0
    }

    #[test]
    fn the_cube_root_is_exact() {
        for x in [0, 1, 7, 8, 26, 27, 1_000_000, u64::MAX] {
            let root = u128::from(cube_root(x));
            assert!(root.pow(3) <= u128::from(x) && (root + 1).pow(3) > u128::from(x), "{x}");
        }
    }

    /// RFC 9438 equations 1 and 2 in real numbers.
    #[test]
    fn the_curve_is_the_standards() {
        for (w_max, cwnd) in [(10.0f64, 7.0), (100.0, 70.0), (1_000.0, 512.0), (60_000.0, 42_000.0)] {
            let fixed = |w: f64| (w * 65536.0) as u64;
            let k = ((w_max - cwnd) / 0.4).cbrt();
            let cubic = Cubic { k: Cubic::k(fixed(w_max), fixed(cwnd)), origin: fixed(w_max), ..Cubic::default() };
            assert!((cubic.k as f64 / 1_000.0 - k).abs() < 2e-3, "{} {k}", cubic.k);
            for ms in [0u64, 10, 500, 1_999, 5_000, 20_000, 60_000] {
                let t = ms as f64 / 1_000.0;
                let expected = 0.4 * (t - k).powi(3) + w_max;
                let error = (segments(cubic.curve(ms)) - expected).abs();
                assert!(error < 0.01 + 2e-4 * (expected - w_max).abs(), "{w_max} at {ms}: off by {error}");
            }
        }
    }

    /// A whole stage against a real-valued RFC 9438, an ACK per segment, passing through both regions.
    #[test]
    fn growth_follows_a_float_reference() {
        for (start, rtt_ms) in [(10u32, 50u64), (100, 100), (400, 20)] {
            let mut cubic = Cubic::default();
            let mut win = window(start, 2);
            let ssthresh = cubic.ssthresh(&win, &view(), Cause::FastRetransmit);
            assert_eq!(ssthresh, start * 7 / 10);
            win.set_cwnd(ssthresh);
            win.ssthresh = ssthresh;
            let (mut w, mut est) = (f64::from(ssthresh), f64::from(ssthresh));
            let w_max = f64::from(start);
            let k = ((w_max - w) / 0.4).cbrt();
            let rtt = rtt_ms as f64 / 1_000.0;
            let mut t = 0.0;
            while t < 12.0 {
                let now = Time::from_nanos(1_000_000_000 + (t * 1e9) as u64);
                let view = View { now, srtt: Some(Dur::from_millis(rtt_ms)), ..view() };
                cubic.on_ack(&mut win, &view, &ack(1));
                let curve = |t: f64| 0.4 * (t - k).powi(3) + w_max;
                est += if est < w_max { 9.0 / 17.0 } else { 1.0 } / w;
                w = if curve(t) < est { est.max(w) } else { w + (curve(t + rtt).clamp(w, 1.5 * w) - w) / w };
                assert!((segments(win.fixed()) - w).abs() < 0.02 * w + 0.1, "{start}: {t} {w} {win:?}");
                t += rtt / w;
            }
            assert!(w > w_max, "{start}: the plateau is passed");
        }
    }

    /// RFC 9438 section 4.2: the target is at least the window and at most half above it, so a window's worth of ACKs
    /// adds at most that half.
    #[test]
    fn the_target_is_between_the_window_and_half_above() {
        let mut cubic = Cubic::default();
        cubic.ssthresh(&window(100, 2), &view(), Cause::FastRetransmit);
        let mut win = window(70, 70);
        let at = |ms: u64| View { now: Time::from_millis(1_000 + ms), ..view() };
        cubic.on_ack(&mut win, &at(0), &ack(1));
        // After a second the curve has reached 86.7 segments: a larger window stays.
        win.set_cwnd(90);
        cubic.on_ack(&mut win, &at(1_000), &ack(1));
        assert_eq!(segments(win.fixed()), 90.0);
        // After a minute it is beyond any window.
        for n in 1..=4 {
            cubic.on_ack(&mut win, &at(60_000), &ack(1));
            assert_eq!(segments(win.fixed()), 90.0 + 0.5 * f64::from(n));
        }
    }

    /// RFC 9438 section 4.3: alpha is 9/17 until W_est reaches cwnd_prior, and one from then on.
    #[test]
    fn the_estimate_has_made_up_for_the_reduction_when_it_is_the_former_window() {
        let hundred = window(100, 2).fixed();
        for (start, share) in [(hundred - 1, 9.0 / 17.0), (hundred, 1.0), (hundred + 1, 1.0)] {
            let mut cubic = Cubic { prior: hundred, w_est: start, ..Cubic::default() };
            cubic.grow_estimate(hundred, 10);
            assert!((segments(cubic.w_est - start) - share / 10.0).abs() < 1e-4, "{start}: {}", cubic.w_est);
        }
    }

    /// RFC 9438 section 4.3: the window is in the Reno-friendly region if the curve is below W_est; if they are equal,
    /// the curve decides. At 100 segments an ACK adds 1/100 segment to W_est, while the curve adds 1/100 of the
    /// distance to its value a round trip later.
    #[test]
    fn where_the_curve_meets_the_estimate_the_curve_decides() {
        let hundred = window(100, 2).fixed();
        let step = (1 << 32) / hundred;
        for (above, grown) in [(0, 6), (1, 6), (-1, step)] {
            let origin = (hundred + step).strict_add_signed(above);
            let epoch = Some(view().now);
            let mut cubic = Cubic { w_est: hundred, epoch, origin, ..Cubic::default() };
            let mut win = window(100, 2);
            cubic.on_ack(&mut win, &view(), &ack(1));
            assert_eq!(win.fixed() - hundred, grown, "{above}");
        }
    }

    /// RFC 9438 section 5.8: the curve is frozen while the application limits the sender.
    #[test]
    fn the_curve_stands_still_while_the_application_limits() {
        let mut cubic = Cubic::default();
        cubic.ssthresh(&window(100, 2), &view(), Cause::FastRetransmit);
        let mut win = window(70, 70);
        let at = |ms: u64| View { now: Time::from_millis(1_000 + ms), ..view() };
        cubic.on_ack(&mut win, &at(0), &ack(1));
        for ms in [100, 5_000] {
            cubic.on_ack(&mut win, &at(ms), &Ack { cwnd_limited: false, ..ack(1) });
            assert_eq!(cubic.epoch, Some(at(ms).now));
        }
    }

    /// RFC 9438 section 4.7.
    #[test]
    fn fast_convergence_gives_way() {
        let mut cubic = Cubic::default();
        cubic.ssthresh(&window(100, 2), &view(), Cause::FastRetransmit);
        assert_eq!(segments(cubic.w_max), 100.0);
        cubic.ssthresh(&window(80, 2), &view(), Cause::FastRetransmit);
        assert_eq!(segments(cubic.w_max), 68.0);
    }

    /// RFC 9438 section 4.8: after a time-out K is zero.
    #[test]
    fn after_a_timeout_the_curve_starts_on_its_plateau() {
        let mut cubic = Cubic::default();
        cubic.ssthresh(&window(100, 2), &view(), Cause::Timeout);
        let mut win = window(70, 70);
        cubic.on_ack(&mut win, &view(), &ack(1));
        assert_eq!((cubic.k, segments(cubic.origin)), (0, 70.0));
    }
}
