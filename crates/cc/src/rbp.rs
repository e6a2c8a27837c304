//! Rate-based pacing: Reno whose segments are sent RTT / (cwnd + V) apart, for the whole connection.
//!
//! Source: Gupta, Wormsbecker, Williamson, "Experimental Evaluation of TCP Performance in Multi-hop Wireless Ad Hoc
//! Networks", MASCOTS 2004, section 6, with V = 1. RTT is the smoothed one of the retransmission timer.
//!
//! Deviations: the window is the whole congestion window in segments, without the inflation of fast recovery. Before the
//! first sample nothing is paced.
//!
//! Reads [`Params::pacing_v`].

use crate::reno::Reno;
use crate::{Ack, CaState, CongestionControl, MAX_SAMPLE, Params, View, Window};
use fourhop_units::Dur;

/// State: none beyond the parameter.
#[derive(Clone, Copy, Debug)]
pub struct Rbp {
    v: u32,
}

impl Rbp {
    /// With these parameters.
    pub fn new(params: &Params) -> Rbp {
        Rbp { v: params.pacing_v }
    }

    fn pace(&self, win: &mut Window, view: &View) {
        let share = u64::from(win.cwnd) + u64::from(self.v);
        win.pacing = view.srtt.map(|rtt| (rtt.min(MAX_SAMPLE) / share).max(Dur::from_nanos(1)));
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
}
