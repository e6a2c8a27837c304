//! A time-out that was not needed is taken back (RFC 3522 and RFC 4015, with timestamps): the first acknowledgement after it echoes
//! the timestamp of the original, not of the retransmission. Only where recovery goes by time, as in Linux.
//!
//! Simpler than RFC 4015: the window is what the algorithm's `undo` makes of the one before, and the timer follows from the round trip
//! that this acknowledgement gives.

use super::recovery::Strategy;
use super::socket::Socket;
use fourhop_cc::{CaState, CongestionControl};
use fourhop_units::Time;

/// What was there before a time-out.
#[derive(Clone, Copy, Debug)]
pub(super) struct BeforeTimeout {
    /// When the retransmission left, or a little before.
    at: Time,
    cwnd: u32,
    ssthresh: u32,
}

impl Socket {
    /// A time-out is about to cut the window; `again`: another one has.
    pub(super) fn remember_window(&mut self, now: Time, again: bool) {
        let before = BeforeTimeout { at: now, cwnd: self.win.cwnd, ssthresh: self.win.ssthresh };
        self.before_timeout = Some(before).filter(|_| !again && self.rack().is_some() && self.timestamps.is_some());
    }

    /// Something new is acknowledged, by an ACK that echoes `echo`.
    pub(super) fn take_back_timeout(&mut self, now: Time, echo: Option<u32>) {
        let Some(before) = self.before_timeout.take() else { return };
        let left = self.timestamp(before.at);
        let original = echo.is_some_and(|echo| (echo.wrapping_sub(left) as i32) < 0);
        if !original || self.recovery.state != CaState::Loss {
            return;
        }
        self.stats.timeouts_undone += 1;
        if let Strategy::Rack(rack) = &mut self.strategy {
            rack.flight.forgive();
        }
        self.recovery.resend = None;
        if !self.transport.owns_window() {
            self.win.ssthresh = before.ssthresh;
            let cwnd = self.cc.undo(&self.win, before.cwnd);
            self.win.set_cwnd(cwnd);
        }
        self.set_ca_state(now, CaState::Open);
    }
}
