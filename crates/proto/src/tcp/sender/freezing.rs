//! Connects [`Freeze`](crate::tcp::adhoc::Freeze) to the sender: how acknowledgements affect it (figure 7), the probe
//! timer, the threshold.
//!
//! All of this applies only to a peer that has withdrawn a window (section III-E: "when communicating with an ad hoc
//! receiver"); until then the sender is an ordinary one.
//!
//! A probe is a keep-alive (RFC 1122 section 4.2.3.6): no payload, and the number before SND.UNA, which every TCP has
//! received and therefore answers.

use super::Sender;
use crate::tcp::adhoc::{Cause, Phase};
use crate::tcp::context::Context;
use crate::tcp::position::Pos;
use crate::tcp::timers::Timer;
use fourhop_cc::CaState;
use fourhop_units::Time;

impl Sender {
    /// Weighs the window of an acceptable segment, which is already stored; the segment acknowledges up to `ack`,
    /// without payload if `pure`. Decides before the segment is processed, so that the new state governs whatever the
    /// segment releases. Returns whether a probe has to follow.
    pub(super) fn weigh_window(&mut self, cx: &mut Context, ack: Pos, pure: bool) -> bool {
        self.freeze.forget_answer();
        if !self.freeze.is_active() || ack < self.space.una || cx.state.is_opening() {
            return false;
        }
        self.freeze.handle_path(cx.rx.hops(), self.rtt.base_rto());
        let una = ack;
        let under_way = self.space.nxt > una;
        let telling = pure || ack > self.space.una;
        let closed = self.space.wnd == 0;
        let below = una + self.space.wnd < self.space.nxt;
        let answered = una >= self.space.finish();
        if answered {
            self.thaw(cx);
        } else if closed {
            return self.withhold(cx, Cause::ZeroWindow, under_way, telling);
        } else if below {
            return self.withhold(cx, Cause::Provisional, under_way, telling);
        } else if self.freeze.is_frozen() {
            self.control.set_threshold(self.advertised_segments());
            self.thaw(cx);
        }
        false
    }

    /// Freezes, or stays frozen; the timer restarts if the segment is `telling`, that is, says something about the data
    /// in flight. The peer's own data does not: it could keep a sender waiting for as long as it flows.
    fn withhold(&mut self, cx: &mut Context, cause: Cause, under_way: bool, telling: bool) -> bool {
        let asks = match self.freeze.phase() {
            Phase::Running => {
                self.begin_freeze(cx, cause, under_way);
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
        self.recovery.end_timeouts();
        if telling || asks {
            cx.timers.set(Timer::Probe, cx.now + self.freeze.interval());
        }
        asks
    }

    /// Stops the retransmission timer and waits. The threshold becomes the window last allowed by the receiver.
    pub(super) fn begin_freeze(&mut self, cx: &mut Context, cause: Cause, under_way: bool) {
        self.freeze.handle_path(cx.rx.hops(), self.rtt.base_rto());
        self.freeze.freeze(cause, under_way, self.rtt.base_rto());
        if self.space.wnd > 0 {
            self.control.set_threshold(self.advertised_segments());
        }
        cx.timers.stop(Timer::Retransmit);
        cx.timers.stop(Timer::Persist);
        self.pacer.stop();
        cx.timers.set(Timer::Probe, cx.now + self.freeze.interval());
    }

    /// Thaws; the caller processes the acknowledgement and transmits.
    fn thaw(&mut self, cx: &mut Context) {
        self.freeze.thaw();
        self.recovery.end_timeouts();
        cx.timers.stop(Timer::Probe);
        self.restart_retransmit_timer(cx);
    }

    /// Handles an expired probe timer: either the data in flight or another probe is lost. Returns whether to give up
    /// the connection.
    pub(in crate::tcp) fn on_probe_timeout(&mut self, cx: &mut Context) -> bool {
        if !self.freeze.is_frozen() || !cx.state.may_transmit() {
            return false;
        }
        let (failed, most) = (self.freeze.phase() != Phase::Waiting, self.config.max_timeouts);
        let exhausted = if failed { self.recovery.note_timeout(most) } else { self.recovery.exhausts(most) };
        if exhausted {
            return true;
        }
        if self.freeze.handle_timeout(self.rtt.base_rto()) {
            self.discard_outstanding(cx.now);
        }
        self.send_probe(cx);
        cx.timers.set(Timer::Probe, cx.now + self.freeze.interval());
        false
    }

    /// Treats the data in flight as lost; slow start will begin with it. The round-trip estimates stay.
    fn discard_outstanding(&mut self, now: Time) {
        self.withdraw_queue();
        self.go_back(now);
        self.rtt.cancel_timing();
        self.set_ca_state(now, CaState::Loss);
        self.control.restart();
    }

    pub(super) fn send_probe(&mut self, cx: &mut Context) {
        self.freeze.note_probe();
        self.send_keep_alive(cx);
    }

    /// The window advertised by the peer, in segments, as a slow-start threshold.
    fn advertised_segments(&self) -> u32 {
        u32::try_from(self.space.wnd / u64::from(self.space.mss)).unwrap_or(u32::MAX).max(2)
    }

    /// The window of an ad hoc receiver, which replaces the algorithm's threshold after a loss (section III-E).
    pub(super) fn threshold_from_receiver(&self) -> Option<u32> {
        (self.freeze.is_active() && self.space.wnd > 0).then(|| self.advertised_segments())
    }
}
