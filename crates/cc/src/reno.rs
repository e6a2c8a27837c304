//! Reno: slow start and congestion avoidance of RFC 5681.
//!
//! Source: RFC 5681 section 3.1. NewReno (RFC 6582) differs from Reno (RFC 5681 section 3.2) only in fast recovery,
//! which belongs to the stack; both grow the window as this file does.
//!
//! Deviation: the window counts segments with a fixed-point fraction, not bytes. Above the threshold, equation 3 is
//! applied once per segment that counts, to the window with its fraction, as ns-2.35 does in floating point.

use crate::{Ack, CaState, CongestionControl, Params, View, Window};

/// Reno's state: none beyond the window variables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

impl Reno {
    /// Takes no parameter.
    pub fn new(_params: &Params) -> Reno {
        Reno
    }
}

impl CongestionControl for Reno {
    fn name(&self) -> &'static str {
        "reno"
    }

    fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack) {
        if view.state == CaState::Recovery || !ack.cwnd_limited {
            return;
        }
        let left = if win.in_slow_start() { win.slow_start(ack.credit) } else { ack.credit };
        win.reciprocal_increase(left);
    }
}
