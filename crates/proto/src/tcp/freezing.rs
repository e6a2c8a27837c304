//! Connects [`Freeze`](super::adhoc::Freeze) to the socket: the effect of an acknowledgement on it (figure 7), the
//! probe timer, the threshold.
//!
//! All of this applies only towards a peer that has withdrawn a window (section III-E: "when communicating with an ad
//! hoc receiver"); before that the sender is an ordinary one.
//!
//! A probe is a keep-alive (RFC 1122 section 4.2.3.6): no payload and the number before SND.UNA, which every TCP has seen
//! and therefore answers.

use super::action::Action;
use super::adhoc::{Cause, Phase};
use super::position::Pos;
use super::socket::Socket;
use super::timer::Timer;
use fourhop_cc::{CaState, CongestionControl};
use fourhop_units::Time;

impl Socket {
    /// The window in an acceptable segment has been taken; `ack` acknowledges, without payload if `pure`. Decides before
    /// the segment is processed, so that what it releases goes, or stays, by the new state. True if a probe has to follow.
    pub(super) fn weigh_window(&mut self, now: Time, ack: Pos, pure: bool) -> bool {
        self.freeze.forget_answer();
        if !self.freeze.is_active() || ack < self.snd.una || self.is_opening() {
            return false;
        }
        self.freeze.handle_path(self.hops, self.rtt.base_rto());
        let una = ack;
        let under_way = self.snd.nxt > una;
        let telling = pure || ack > self.snd.una;
        let closed = self.snd.wnd == 0;
        let below = una + self.snd.wnd < self.snd.nxt;
        let answered = una >= self.snd.finish();
        if answered {
            self.thaw(now);
        } else if closed {
            return self.stop(now, Cause::ZeroWindow, under_way, telling);
        } else if below {
            return self.stop(now, Cause::Provisional, under_way, telling);
        } else if self.freeze.is_frozen() {
            self.win.ssthresh = self.advertised_segments();
            self.thaw(now);
        }
        false
    }

    /// Freezes, or stays frozen; the timer starts anew if what came is `telling` of the data in flight. The peer's own data
    /// is not: it could keep a sender waiting for as long as it flows.
    fn stop(&mut self, now: Time, cause: Cause, under_way: bool, telling: bool) -> bool {
        let asks = match self.freeze.phase() {
            Phase::Running => {
                self.begin_freeze(now, cause, under_way);
                return !under_way;
            }
            Phase::Waiting if !under_way => {
                self.freeze.hold(cause);
                self.freeze.freeze(cause, false, self.rtt.base_rto());
                true
            }
            _ => {
                self.freeze.hold(cause);
                false
            }
        };
        // RFC 1122 section 4.2.2.17: a peer that answers keeps its connection, however long its window stays closed.
        self.recovery.timeouts = 0;
        if telling || asks {
            self.timers.set(Timer::Probe, now + self.freeze.interval());
        }
        asks
    }

    /// Stops the retransmission timer and waits. The threshold becomes what the receiver last allowed.
    pub(super) fn begin_freeze(&mut self, now: Time, cause: Cause, under_way: bool) {
        self.freeze.handle_path(self.hops, self.rtt.base_rto());
        self.freeze.freeze(cause, under_way, self.rtt.base_rto());
        if self.snd.wnd > 0 {
            self.win.ssthresh = self.advertised_segments();
        }
        self.timers.stop(Timer::Retransmit);
        self.timers.stop(Timer::Persist);
        self.pacer.stop();
        self.timers.set(Timer::Probe, now + self.freeze.interval());
    }

    /// The caller processes the acknowledgement and transmits.
    fn thaw(&mut self, now: Time) {
        self.freeze.thaw();
        self.recovery.timeouts = 0;
        self.timers.stop(Timer::Probe);
        self.restart_retransmit_timer(now);
    }

    /// The probe timer expired: the data in flight is lost, or another probe is.
    pub(super) fn on_probe_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        if !self.freeze.is_frozen() || !self.state.may_transmit() {
            return;
        }
        let failed = self.freeze.phase() != Phase::Waiting;
        self.recovery.timeouts += u32::from(failed);
        if self.config.max_timeouts.is_some_and(|most| self.recovery.timeouts > most) {
            return self.end(Action::Reset, out);
        }
        if self.freeze.handle_timeout(self.rtt.base_rto()) {
            self.discard_outstanding(now);
        }
        self.send_probe(now, out);
        self.timers.set(Timer::Probe, now + self.freeze.interval());
    }

    /// The data in flight is taken for lost; slow start will begin with it. The estimates of the round trip stay.
    fn discard_outstanding(&mut self, now: Time) {
        self.withdraw_queue();
        self.go_back(now);
        self.rtt.cancel_timing();
        self.set_ca_state(now, CaState::Loss);
        self.win.set_cwnd(self.cc.loss_window());
    }

    pub(super) fn send_probe(&mut self, now: Time, out: &mut Vec<Action>) {
        self.freeze.note_probe();
        self.send_keep_alive(now, out);
    }

    /// The window the peer advertises, in segments, as a slow-start threshold.
    fn advertised_segments(&self) -> u32 {
        u32::try_from(self.snd.wnd / u64::from(self.snd.mss)).unwrap_or(u32::MAX).max(2)
    }

    /// What takes the place of the algorithm's threshold after a loss: the window of an ad hoc receiver (section III-E).
    pub(super) fn threshold_from_receiver(&self) -> Option<u32> {
        (self.freeze.is_active() && self.snd.wnd > 0).then(|| self.advertised_segments())
    }
}
