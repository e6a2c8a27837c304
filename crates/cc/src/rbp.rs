//! Rate-based pacing: Reno whose segments are sent RTT / (cwnd + V) apart, for the whole connection.
//!
//! Source: Gupta, Wormsbecker, Williamson, "Experimental Evaluation of TCP Performance in Multi-hop Wireless Ad Hoc
//! Networks", MASCOTS 2004, section 6, with V = 1.
//!
//! The paper does not say which round trip it divides, nor whether the window includes the inflation of fast recovery.
//! [`Samples`] has both readings. Nothing is paced before the first sample.
//!
//! Reads [`Params::pacing_v`] and [`Params::pacing_samples`].

pub use crate::params::Samples;
use crate::reno::Reno;
use crate::{Ack, CaState, CongestionControl, Hint, MAX_SAMPLE, Params, View, Window};
use fourhop_units::Dur;

/// State: the parameters, and the average of [`Samples::EveryAck`].
#[derive(Clone, Copy, Debug)]
pub struct Rbp {
    v: u32,
    samples: Samples,
    srtt: Option<Dur>,
}

impl Rbp {
    /// With these parameters.
    pub fn new(params: &Params) -> Rbp {
        Rbp { v: params.pacing_v, samples: params.pacing_samples, srtt: None }
    }

    fn pace(&self, win: &mut Window, view: &View) {
        if self.samples == Samples::Timer {
            win.pacing = view.srtt.map(|rtt| self.interval(rtt, win.cwnd));
        }
    }

    fn interval(&self, rtt: Dur, window: u32) -> Dur {
        (rtt.min(MAX_SAMPLE) / (u64::from(window) + u64::from(self.v)).max(1)).max(Dur::from_nanos(1))
    }
}

impl CongestionControl for Rbp {
    fn name(&self) -> &'static str {
        "rbp"
    }

    fn init(&mut self, win: &mut Window, view: &View) {
        self.pace(win, view);
    }

    fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack) {
        Reno.on_ack(win, view, ack);
        self.pace(win, view);
    }

    fn on_state(&mut self, win: &mut Window, view: &View, _state: CaState) {
        self.pace(win, view);
    }

    fn on_hint(&mut self, win: &mut Window, view: &View, hint: Hint) {
        if let (Samples::EveryAck, Hint::RoundTrip(rtt)) = (self.samples, hint) {
            let rtt = rtt.min(MAX_SAMPLE);
            let srtt = self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8);
            self.srtt = Some(srtt);
            win.pacing = Some(self.interval(srtt, view.window));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{ack, view, window};

    #[test]
    fn segments_keep_their_distance() {
        for (v, spacing) in [(1, 10), (0, 11)] {
            let rbp = Rbp::new(&Params { pacing_v: v, ..Params::new() });
            let mut win = window(10, 2);
            rbp.pace(&mut win, &View { srtt: None, ..view() });
            assert_eq!(win.pacing, None);
            let view = View { srtt: Some(Dur::from_millis(110)), ..view() };
            rbp.pace(&mut win, &view);
            assert_eq!(win.pacing, Some(Dur::from_millis(spacing)));
        }
    }

    #[test]
    fn growth_shortens_the_interval() {
        let mut rbp = Rbp::new(&Params::new());
        let mut win = window(1, 64);
        let view = View { srtt: Some(Dur::from_millis(120)), ..view() };
        rbp.on_ack(&mut win, &view, &ack(1));
        assert_eq!((win.cwnd, win.pacing), (2, Some(Dur::from_millis(40))));
    }

    /// Averages over every acknowledgement, 7/8 of 80 and 1/8 of 400 ms, over a window inflated from 4 to 9 segments;
    /// timer measurements, a new state or an acknowledgement by itself leave the interval unchanged.
    #[test]
    fn every_acknowledgement_counts() {
        let mut rbp = Rbp::new(&Params { pacing_samples: Samples::EveryAck, ..Params::new() });
        let mut win = window(4, 2);
        let view = View { window: 9, ..view() };
        rbp.init(&mut win, &view);
        assert_eq!(win.pacing, None, "before the first sample");
        for (millis, interval) in [(80, 8_000), (400, 12_000)] {
            rbp.on_hint(&mut win, &view, Hint::RoundTrip(Dur::from_millis(millis)));
            assert_eq!(win.pacing, Some(Dur::from_micros(interval)));
        }
        rbp.on_ack(&mut win, &view, &ack(1));
        rbp.on_state(&mut win, &view, CaState::Loss);
        assert_eq!(win.pacing, Some(Dur::from_millis(12)));
    }

    /// The timer-only variant ignores the echoes of acknowledgements.
    #[test]
    fn the_timer_alone_counts_by_default() {
        let mut rbp = Rbp::new(&Params::new());
        let mut win = window(10, 2);
        rbp.on_hint(&mut win, &view(), Hint::RoundTrip(Dur::from_millis(400)));
        assert_eq!(win.pacing, None);
    }
}
