//! Congestion-window limit: Reno whose window never exceeds what the path can use.
//!
//! Source: a chain of h hops carries about h/4 segments at a time (Fu, Zerfos, Luo, Lu, Zhang, Gerla, "The Impact of
//! Multihop Wireless Channel on TCP Throughput and Loss", INFOCOM 2003); limiting the window by the number of hops is
//! due to Chen, Xue, Nahrstedt, "On Setting TCP's Congestion Window Limit in Mobile Ad Hoc Networks", ICC 2003.
//!
//! With [`Params::limit`] the limit is fixed. Otherwise it is h/4, rounded to the nearest and at least 1, for the
//! number of hops in the latest [`Hint::HopCount`]; before the first hint there is no limit.
//!
//! Deviation: Chen et al. derive h/5 for their interference range and count ACKs of the return path differently; h/4 is
//! what the adaptive-pacing papers call optimal.

use crate::reno::Reno;
use crate::{Ack, CongestionControl, Hint, Params, View, Window};

/// State: the configured limit; `None` derives it from the hops.
#[derive(Clone, Copy, Debug)]
pub struct Cwl {
    fixed: Option<u32>,
}

impl Cwl {
    /// With these parameters.
    pub fn new(params: &Params) -> Cwl {
        Cwl { fixed: params.limit }
    }

    /// The optimal limit for a chain of `hops`, in segments.
    pub const fn optimal(hops: u32) -> u32 {
        let limit = hops.saturating_add(2) / 4;
        if limit == 0 { 1 } else { limit }
    }

    fn clamp(win: &mut Window, limit: u32) {
        win.cwnd_clamp = limit.max(1);
        if win.cwnd > win.cwnd_clamp {
            win.set_cwnd(win.cwnd_clamp);
        }
    }
}

impl CongestionControl for Cwl {
    fn name(&self) -> &'static str {
        "cwl"
    }

    fn init(&mut self, win: &mut Window, _view: &View) {
        if let Some(limit) = self.fixed {
            Cwl::clamp(win, limit);
        }
    }

    fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack) {
        Reno.on_ack(win, view, ack);
    }

    fn on_hint(&mut self, win: &mut Window, _view: &View, hint: Hint) {
        if let (None, Hint::HopCount(hops)) = (self.fixed, hint) {
            Cwl::clamp(win, Cwl::optimal(hops));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{ack, view, window};

    #[test]
    fn the_limit_follows_the_hops() {
        let mut cwl = Cwl::new(&Params::new());
        let mut win = window(20, 64);
        cwl.init(&mut win, &view());
        assert_eq!(win.cwnd, 20);
        for (hops, limit) in [(0, 1), (4, 1), (8, 2), (12, 3), (16, 4), (4, 1)] {
            cwl.on_hint(&mut win, &view(), Hint::HopCount(hops));
            (0..20).for_each(|_| cwl.on_ack(&mut win, &view(), &ack(1)));
            assert_eq!(win.cwnd, limit, "{hops} hops");
        }
    }

    #[test]
    fn a_fixed_limit_stays() {
        let mut cwl = Cwl::new(&Params { limit: Some(3), ..Params::new() });
        let mut win = window(20, 64);
        cwl.init(&mut win, &view());
        cwl.on_hint(&mut win, &view(), Hint::HopCount(40));
        assert_eq!((win.cwnd, win.cwnd_clamp), (3, 3));
    }
}
