//! Undoes a needless timeout (RFC 3522 and RFC 4015, with timestamps): the first acknowledgement after it echoes the
//! timestamp of the original, not of the retransmission. Only where recovery is time-based, as in Linux.
//!
//! Simpler than RFC 4015: the window is whatever the algorithm's `undo` makes of the previous one, and the timer
//! follows from the round trip given by this acknowledgement.

use super::Sender;
use super::recovery::Strategy;
use crate::tcp::timestamps::Stamps;
use fourhop_cc::CaState;
use fourhop_units::Time;

/// The state before a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct BeforeTimeout {
    /// When the retransmission was sent, or slightly before.
    at: Time,
    cwnd: u32,
    ssthresh: u32,
}

impl Sender {
    /// Saves the window before a timeout reduces it; `again`: an earlier one already has; `stamped`: both ends use
    /// timestamps.
    pub(super) fn remember_window(&mut self, now: Time, again: bool, stamped: bool) {
        let win = self.control.window();
        let before = BeforeTimeout { at: now, cwnd: win.cwnd, ssthresh: win.ssthresh };
        self.before_timeout = Some(before).filter(|_| !again && self.rack().is_some() && stamped);
    }

    /// Undoes the timeout if an ACK of new data, which echoes `echo`, shows that it was needless.
    pub(super) fn take_back_timeout(&mut self, now: Time, echo: Option<u32>, stamps: &Stamps) {
        let Some(before) = self.before_timeout.take() else { return };
        let original = echo.is_some_and(|echo| stamps.answers_earlier(echo, before.at));
        if !original || self.recovery.state != CaState::Loss {
            return;
        }
        self.stats.timeouts_undone += 1;
        if let Strategy::Rack(rack) = &mut self.strategy {
            rack.flight.forgive();
        }
        self.recovery.end_resend();
        if !self.control.owns_window() {
            self.control.undo(before.cwnd, before.ssthresh);
        }
        self.set_ca_state(now, CaState::Open);
    }
}
