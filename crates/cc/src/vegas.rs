//! Vegas: the window follows the number of segments queued in the path.
//!
//! Source: Brakmo, O'Malley, Peterson, "TCP Vegas: New Techniques for Congestion Detection and Avoidance", SIGCOMM
//! 1994, and Brakmo, Peterson, IEEE JSAC 13(8), 1995; the arithmetic is ns-2.35's. Once per round trip `diff = (window
//! / base - sent / rtt) base` is compared with `alpha` and `beta`, in slow start with `gamma`. Vegas's retransmission
//! on the first duplicate ACK belongs to the stack ([`Recovery::Vegas`](crate::Recovery)), which asks this algorithm
//! for the new window.
//!
//! Deviations from the papers, all taken from ns-2.35:
//! - one segment per round trip is added in shares of 1/cwnd per ACK, and only while no more than two segments of the
//!   window are unused;
//! - leaving slow start reduces the window by an eighth and sets the threshold to 2;
//! - `base` is measured anew when at most one segment was sent in a round trip;
//! - the window is at least 2, even after a time-out.
//!
//! Reads [`Params::alpha`], [`Params::beta`], [`Params::gamma`].

use crate::{Ack, CaState, Cause, CongestionControl, MAX_SAMPLE, Params, View, Window};
use fourhop_units::{Dur, Time};

/// Least window in segments.
const FLOOR: u32 = 2;
/// Most segments that count in one round, so that products with round trips fit in 64 bits: more than the largest
/// window of RFC 7323, 2^30 bytes.
const MOST: u64 = 1 << 26;

/// How the window grows until the next decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Growth {
    None,
    /// One segment per ACK, up to the threshold.
    SlowStart,
    /// This much per ACK, in units of 1/[`Window::ONE`].
    Linear(u32),
}

/// Vegas's state.
#[derive(Clone, Copy, Debug)]
pub struct Vegas {
    alpha: u32,
    beta: u32,
    gamma: u32,
    /// Smallest round trip.
    base: Option<Dur>,
    /// Sum and number of this round's samples.
    sum: Dur,
    samples: u32,
    /// When this round began.
    begun: Time,
    /// Segments sent when it began: the round ends when more than these are acknowledged.
    begin: u64,
    growth: Growth,
    /// Whether this round of slow start decides; every other one does.
    decides: bool,
}

impl Vegas {
    /// With these parameters.
    pub fn new(params: &Params) -> Vegas {
        Vegas {
            alpha: params.alpha,
            beta: params.beta,
            gamma: params.gamma,
            base: None,
            sum: Dur::ZERO,
            samples: 0,
            begun: Time::ZERO,
            begin: 0,
            growth: Growth::None,
            // ns-2.35 spends the first of two rounds on the segment that represents the SYN.
            decides: false,
        }
    }

    /// `diff`, rounded to whole segments: `window` segments in flight, `sent` in the last round trip of `rtt`.
    fn diff(window: u64, sent: u64, base: Dur, rtt: Dur) -> i64 {
        let (base, rtt) = (base.as_nanos(), rtt.as_nanos());
        // Twice the backlog times `rtt`, plus half a segment for rounding; negative values are rounded up, as in
        // ns-2.35.
        let (under_way, arrived) = ((2 * window.min(MOST) + 1) * rtt, 2 * sent.min(MOST) * base);
        let whole = (under_way.abs_diff(arrived) / (2 * rtt)) as i64;
        if under_way < arrived { -whole } else { whole }
    }

    fn decide(&mut self, win: &mut Window, now: Time, window: u64, sent: u64) {
        let rtt =
            if self.samples > 0 { self.sum / u64::from(self.samples) } else { (now - self.begun).min(MAX_SAMPLE) };
        (self.sum, self.samples) = (Dur::ZERO, 0);
        if rtt == Dur::ZERO {
            return;
        }
        let base = self.base.filter(|base| sent > 1 && *base <= rtt).unwrap_or(rtt);
        self.base = Some(base);
        let diff = Vegas::diff(window, sent, base, rtt);
        self.growth = Growth::None;
        if win.in_slow_start() {
            self.decides = !self.decides;
            if self.decides && diff > i64::from(self.gamma) {
                win.ssthresh = 2;
                win.set_fixed((win.fixed() - win.fixed() / 8).max(Vegas::floor()));
            } else if self.decides {
                self.growth = Growth::SlowStart;
            }
        } else if diff > i64::from(self.beta) {
            win.set_fixed((win.fixed() - u64::from(Window::ONE)).max(Vegas::floor()));
        } else if diff < i64::from(self.alpha) {
            self.growth = Growth::Linear(((1u64 << 32) / win.fixed()) as u32);
        }
    }

    const fn floor() -> u64 {
        FLOOR as u64 * Window::ONE as u64
    }
}

impl CongestionControl for Vegas {
    fn name(&self) -> &'static str {
        "vegas"
    }

    fn init(&mut self, _win: &mut Window, view: &View) {
        self.begun = view.now;
    }

    fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack) {
        if view.state == CaState::Recovery {
            return;
        }
        let in_flight = u64::from(view.in_flight.saturating_sub(ack.acked));
        // The window in use: the data in flight and the segment this ACK releases.
        let window = in_flight + 1;
        if ack.total_acked > self.begin {
            let sent_to = ack.total_acked + in_flight;
            self.decide(win, view.now, window, sent_to.saturating_sub(self.begin));
            self.begin = sent_to;
            self.begun = view.now;
        }
        if self.growth == Growth::SlowStart && !win.in_slow_start() {
            self.growth = Growth::None;
        }
        let used = win.fixed() <= (window + 2) * u64::from(Window::ONE);
        if used && ack.cwnd_limited {
            match self.growth {
                Growth::None => {}
                Growth::SlowStart => win.set_fixed(win.fixed() + u64::from(Window::ONE)),
                Growth::Linear(step) => win.set_fixed(win.fixed() + u64::from(step)),
            }
        }
        if let Some(rtt) = ack.rtt.map(|rtt| rtt.min(MAX_SAMPLE)) {
            self.sum += rtt;
            self.samples += 1;
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        }
    }

    /// Brakmo et al. 1995, section 3.2, with ns-2.35's numbers: a quarter off for a segment lost once, half for one
    /// lost again.
    fn ssthresh(&mut self, win: &Window, _view: &View, cause: Cause) -> u32 {
        match cause {
            Cause::Overdue { .. } if win.cwnd <= 3 => FLOOR,
            Cause::Overdue { again: false } => win.cwnd - win.cwnd / 4,
            Cause::Overdue { again: true } | Cause::FastRetransmit | Cause::Timeout | Cause::Mark => {
                (win.cwnd / 2).max(2)
            }
        }
    }

    fn loss_window(&self) -> u32 {
        FLOOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{ack, view, window};

    const MS: fn(u64) -> Dur = Dur::from_millis;

    /// One round: `in_flight` segments are acknowledged one by one with `rtt` each, and each ACK releases a new one.
    fn round(vegas: &mut Vegas, win: &mut Window, acked: &mut u64, in_flight: u32, rtt: Dur) {
        for _ in 0..in_flight {
            *acked += 1;
            let ack = Ack { total_acked: *acked, rtt: Some(rtt), ..ack(1) };
            vegas.on_ack(win, &View { in_flight, ..view() }, &ack);
        }
    }

    fn avoiding(cwnd: u32) -> (Vegas, Window) {
        (Vegas::new(&Params::new()), window(cwnd, 2))
    }

    /// Real-valued reference of `diff`.
    #[test]
    fn diff_is_the_backlog_in_segments() {
        for (window, sent, base, rtt) in [(10, 10, 100, 100), (10, 10, 100, 150), (8, 5, 90, 130), (4, 9, 100, 101)] {
            let float = (window as f64 / base as f64 - sent as f64 / rtt as f64) * base as f64;
            assert_eq!(Vegas::diff(window, sent, MS(base), MS(rtt)), (float + 0.5) as i64, "{window} {sent}");
        }
    }

    /// Brakmo et al. 1995, section 4: below alpha the window grows by one per round trip, between alpha and beta it
    /// stays, above beta it shrinks by one.
    #[test]
    fn the_window_follows_the_backlog() {
        for (rtt, change) in [(100, 1i64), (125, 0), (200, -1)] {
            let (mut vegas, mut win) = avoiding(10);
            let mut acked = 0;
            // Measures the base round trip and fills the sums.
            round(&mut vegas, &mut win, &mut acked, 10, MS(100));
            win.set_cwnd(10);
            vegas.growth = Growth::None;
            round(&mut vegas, &mut win, &mut acked, 10, MS(rtt));
            win.set_cwnd(10);
            vegas.growth = Growth::None;
            round(&mut vegas, &mut win, &mut acked, 10, MS(rtt));
            let moved = win.fixed() as f64 / 65536.0 - 10.0;
            assert!((moved - change as f64).abs() < 0.06, "{rtt} ms: {moved}");
        }
    }

    /// ns-2.35: slow start adds a segment per ACK in every other round and ends an eighth lower when more than gamma
    /// segments are queued.
    #[test]
    fn slow_start_decides_every_other_round() {
        let mut vegas = Vegas::new(&Params::new());
        let mut win = window(2, 64);
        let mut acked = 0;
        let mut windows = Vec::new();
        for _ in 0..4 {
            let in_flight = win.cwnd;
            round(&mut vegas, &mut win, &mut acked, in_flight, MS(100));
            windows.push(win.cwnd);
        }
        assert!(windows.windows(2).all(|w| w[1] <= 2 * w[0]) && windows.contains(&4), "{windows:?}");
        let before = win.cwnd;
        for _ in 0..4 {
            let in_flight = win.cwnd;
            round(&mut vegas, &mut win, &mut acked, in_flight, MS(300));
        }
        assert_eq!(win.ssthresh, 2);
        assert!(win.cwnd <= 2 * before, "growth has ended");
    }

    /// The decision after a round with `window` segments in flight and as many sent, with a base of 100 ms and mean
    /// `rtt`.
    fn decided(params: &Params, win: &mut Window, window: u64, rtt: u64, decides: bool) -> Growth {
        let base = Some(MS(100));
        let mut vegas = Vegas { base, sum: MS(2 * rtt), samples: 2, decides: !decides, ..Vegas::new(params) };
        vegas.decide(win, Time::from_secs(1), window, window);
        vegas.growth
    }

    /// Slow start ends when more than gamma segments are queued, with an eighth off the window and a threshold of 2.
    /// With a window of 10, 1.07 are queued at 112 ms, 1.67 at 120 ms, 2.86 at 140 ms, 3.75 at 160 ms; rounded, as in
    /// ns-2.35.
    #[test]
    fn slow_start_ends_above_gamma() {
        for (gamma, stays, ends) in [(1, 112, 120), (3, 140, 160)] {
            let params = Params { gamma, ..Params::new() };
            let mut win = window(10, 64);
            assert_eq!(decided(&params, &mut win, 10, stays, true), Growth::SlowStart);
            assert_eq!(win, window(10, 64));
            assert_eq!(decided(&params, &mut win, 10, ends, false), Growth::None, "the other round does not decide");
            assert_eq!(win, window(10, 64));
            assert_eq!(decided(&params, &mut win, 10, ends, true), Growth::None);
            assert_eq!((win.fixed(), win.ssthresh), (10 * 65_536 * 7 / 8, 2));
        }
        let mut least = window(2, 64);
        decided(&Params::new(), &mut least, 10, 160, true);
        assert_eq!(least.fixed(), 2 * 65_536, "not below two");
    }

    /// Brakmo, Peterson 1995, section 4.2: between alpha and beta, inclusive, the window stays.
    #[test]
    fn the_window_stays_between_alpha_and_beta() {
        for (rtt, growth, after) in
            [(104, Growth::Linear(6_553), 10), (112, Growth::None, 10), (140, Growth::None, 10), (160, Growth::None, 9)]
        {
            let mut win = window(10, 2);
            assert_eq!(decided(&Params::new(), &mut win, 10, rtt, true), growth, "{rtt} ms");
            assert_eq!(win.fixed(), after * 65_536, "{rtt} ms");
        }
    }

    /// ns-2.35: the base is the smallest round trip, but is measured anew if at most one segment was sent in a round.
    #[test]
    fn the_base_is_taken_anew_after_a_round_of_one_segment() {
        for (sent, rtt, base) in [(2, 150, 100), (1, 150, 150), (2, 90, 90), (1, 90, 90), (2, 100, 100)] {
            let mut vegas = Vegas { base: Some(MS(100)), sum: MS(rtt), samples: 1, ..Vegas::new(&Params::new()) };
            vegas.decide(&mut window(10, 2), Time::from_secs(1), 10, sent);
            assert_eq!(vegas.base, Some(MS(base)), "{sent} sent, {rtt} ms");
        }
    }

    #[test]
    fn losses_cut_by_a_quarter_then_by_half() {
        let (mut vegas, win) = avoiding(11);
        let mut cut = |win: &Window, again| vegas.ssthresh(win, &view(), Cause::Overdue { again });
        assert_eq!((cut(&win, false), cut(&win, true)), (9, 5));
        assert_eq!((cut(&window(3, 2), false), cut(&window(3, 2), true)), (2, 2));
    }
}
