//! Vegas's retransmission: a fine clock finds the oldest segment overdue long before the third duplicate ACK or the
//! coarse timer (Brakmo et al. 1995, section 3.1), with ns-2.35's arithmetic.
//!
//! Left out of ns-2.35: when nothing is under way its first check after a retransmission finds an empty table slot overdue
//! and sends the next segment twice.

use super::action::Action;
use super::config::WindowCut;
use super::position::Pos;
use super::socket::Socket;
use fourhop_cc::{CaState, Cause, CongestionControl, Recovery as Strategy, Window};
use fourhop_units::{Dur, Time};

/// The fine clock and what a retransmission by it leaves behind.
#[derive(Clone, Debug)]
pub(super) struct Overdue {
    /// Eight times the smoothed round trip and four times its mean deviation, in nanoseconds.
    srtt_x8: i64,
    rttvar_x4: i64,
    /// A segment older than this is overdue.
    pub(super) timeout: Dur,
    /// New ACKs that still have to look at the oldest segment.
    pub(super) worried: u32,
    /// The window without the inflation that the last cut added.
    deflated: Option<u32>,
    /// When the window was last cut: a segment sent before does not cut it again.
    pub(super) cut_at: Option<Time>,
    /// The last thing that happened to the window was a time-out.
    pub(super) after_timeout: bool,
}

impl Overdue {
    pub(super) fn new() -> Overdue {
        Overdue {
            srtt_x8: 0,
            rttvar_x4: 0,
            // ns-2.35: before the first sample nothing is overdue.
            timeout: Dur::from_secs(1_000),
            worried: 0,
            deflated: None,
            cut_at: None,
            after_timeout: false,
        }
    }

    /// A round trip: gains of 1/8 and 1/4; srtt + 2 deviations, and a sixteenth.
    pub(super) fn sample(&mut self, rtt: Dur) {
        let rtt = rtt.as_nanos() as i64;
        if self.srtt_x8 == 0 {
            (self.srtt_x8, self.rttvar_x4) = (8 * rtt, rtt);
        }
        let error = rtt - self.srtt_x8 / 8;
        self.srtt_x8 += error;
        self.rttvar_x4 += error.abs() - self.rttvar_x4 / 4;
        let timeout = (self.srtt_x8 / 4 + self.rttvar_x4) / 2;
        self.timeout = Dur::from_nanos((timeout + timeout / 16).max(0) as u64);
    }

    /// The coarse timer has expired.
    pub(super) fn on_timeout(&mut self, now: Time) {
        self.deflated = None;
        self.cut_at = Some(now);
        self.after_timeout = true;
    }
}

impl Socket {
    /// Does this connection watch a fine clock?
    pub(super) fn watches_fine_clock(&self) -> bool {
        self.transport.recovery == Strategy::Vegas
    }

    fn oldest_is_overdue(&self, now: Time) -> bool {
        self.snd.oldest().is_some_and(|oldest| now.saturating_since(oldest.at) >= self.overdue.timeout)
    }

    /// Before a new ACK takes effect: the inflation of the last cut ends.
    pub(super) fn end_vegas_inflation(&mut self) {
        let more = self.recovery.dup_acks > self.config.dup_ack_threshold;
        let Some(deflated) = self.overdue.deflated.filter(|_| more || !self.config.vegas_keeps_inflation) else {
            return;
        };
        if self.win.cwnd > deflated || (self.win.cwnd == deflated && self.win.cwnd_cnt > 0) {
            self.win.set_cwnd(deflated);
            self.win.ssthresh = 2;
        }
        if !self.config.vegas_keeps_inflation {
            self.overdue.deflated = None;
        }
    }

    /// The first two new ACKs after a retransmission look whether the next segment is overdue as well.
    pub(super) fn check_next_segment(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.overdue.worried == 0 {
            return;
        }
        self.overdue.worried -= 1;
        if self.oldest_is_overdue(now) {
            self.recovery.dup_acks = self.config.dup_ack_threshold;
            self.retransmit(now, self.snd.una, Pos::LAST, out);
        } else {
            self.overdue.worried = 0;
        }
    }

    /// A duplicate ACK.
    pub(super) fn on_vegas_duplicate(&mut self, now: Time, out: &mut Vec<Action>) {
        self.recovery.dup_acks += 1;
        self.stats.duplicate_acks += 1;
        let threshold = self.config.dup_ack_threshold;
        if self.oldest_is_overdue(now) || self.recovery.dup_acks == threshold {
            if self.snd.una > self.recovery.recover || !self.overdue.after_timeout {
                self.retransmit_overdue(now, out);
            }
        } else if self.recovery.dup_acks > threshold {
            self.win.cwnd = self.win.cwnd.saturating_add(1).min(self.win.cwnd_clamp);
        }
        if self.recovery.dup_acks >= threshold {
            self.transmit(now, out);
        }
    }

    fn retransmit_overdue(&mut self, now: Time, out: &mut Vec<Action>) {
        let Some(oldest) = self.snd.oldest() else { return };
        let again = oldest.retransmitted;
        self.overdue.after_timeout = false;
        self.recovery.recover = self.snd.max;
        self.overdue.worried = (self.snd.in_flight_segments() + 1).min(2);
        let timeout = self.overdue.timeout;
        self.overdue.timeout = if again { timeout.saturating_mul(2) } else { timeout + timeout / 8 };
        if self.overdue.cut_at.is_none_or(|cut| cut < oldest.at) {
            self.cut_for_overdue(now, again);
        }
        self.stats.fast_retransmits += 1;
        if self.config.vegas_backs_off {
            self.rtt.back_off();
        }
        self.rtt.cancel_timing();
        self.restart_retransmit_timer(now);
        self.retransmit(now, self.snd.una, Pos::LAST, out);
        if !again {
            self.recovery.dup_acks = self.config.dup_ack_threshold;
        }
    }

    /// The window becomes what the algorithm answers, and the duplicate ACKs inflate it; the threshold stays.
    fn cut_for_overdue(&mut self, now: Time, again: bool) {
        let used = match self.config.window_cut {
            WindowCut::WindowInUse => self.win.cwnd.min(self.config.window_limit.unwrap_or(u32::MAX)),
            WindowCut::FlightSize => self.win.cwnd.min(self.snd.in_flight_segments()),
        };
        self.win.set_cwnd(used);
        self.set_ca_state(now, CaState::Recovery);
        let view = self.view(now, self.snd.in_flight_segments());
        let deflated = self.cc.ssthresh(&self.win, &view, Cause::Overdue { again });
        self.overdue.deflated = Some(deflated);
        self.win.set_fixed(u64::from(deflated + self.recovery.dup_acks) * u64::from(Window::ONE));
        self.overdue.cut_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against real numbers: srtt + 2 deviations, times 17/16.
    #[test]
    fn the_fine_timeout_follows_its_formula() {
        let mut overdue = Overdue::new();
        let (mut srtt, mut var) = (100.0, 25.0);
        for rtt in [100u64, 100, 140, 90, 300, 100] {
            overdue.sample(Dur::from_millis(rtt));
            let error = rtt as f64 - srtt;
            srtt += error / 8.0;
            var += (error.abs() - var) / 4.0;
            let expected = (srtt + 2.0 * var) * 17.0 / 16.0;
            assert!((overdue.timeout.as_secs_f64() * 1e3 - expected).abs() < 1e-3, "{} {expected}", overdue.timeout);
        }
    }
}
