//! The next segment to send: windows, Nagle, silly-window avoidance (RFC 9293 section 3.8.6.2.1), zero-window probes.

use super::Sender;
use super::recovery::{Choice, Strategy};
use super::space::Next;
use crate::tcp::context::Context;
use crate::tcp::position::Pos;
use crate::tcp::timers::Timer;
use fourhop_cc::CaState;
use fourhop_units::Dur;

impl Sender {
    /// Sends whatever the windows allow.
    pub(in crate::tcp) fn transmit(&mut self, cx: &mut Context) {
        self.transmit_at_most(cx, 0, u32::MAX);
    }

    /// Sends at most `budget` segments under a congestion window enlarged by `extra` segments. A pending retransmission
    /// goes first and is not counted, unless it waits for the timer. Returns how much of the budget was used.
    pub(super) fn transmit_at_most(&mut self, cx: &mut Context, extra: u32, budget: u32) -> u32 {
        if !cx.state.may_transmit() || self.freeze.is_frozen() {
            return 0;
        }
        if self.rack().is_some() {
            return self.transmit_by_flight(cx, budget);
        }
        let mut sent = 0;
        if let Some(at) = self.recovery.resend {
            let put_back = self.is_paced_by_timer() && self.recovery.state == CaState::Loss;
            if (self.config.pace_retransmissions || put_back) && self.must_wait(cx.now, false) {
                return 0;
            }
            if put_back {
                self.pacer.pass_slot();
                sent += 1;
            }
            self.recovery.end_resend();
            let until = self.strategy.missing_from(at).1.unwrap_or(Pos::LAST);
            self.send_hole(cx, at, until);
        }
        if self.recovery.state == CaState::Recovery && matches!(self.strategy, Strategy::Sack(_)) {
            if budget > 0 {
                self.transmit_in_sack_recovery(cx);
            }
            self.watch_window(cx);
            return 0;
        }
        while sent < budget {
            if self.space.nxt < self.space.max {
                // After a timeout: do not resend what the receiver has reported since (RFC 6675 section 5.1).
                self.space.go_to(self.strategy.missing_from(self.space.nxt).0);
            }
            let cwnd = u64::from(self.control.window().cwnd) + u64::from(self.recovery.inflation) + u64::from(extra);
            let Some(next) = self.next_segment(cwnd) else { break };
            let fresh = self.space.nxt >= self.space.max;
            let early = extra > 0 && self.is_paced_by_timer();
            if !early && self.must_wait(cx.now, fresh) {
                break;
            }
            self.send_next(cx, next);
            sent += 1;
        }
        self.watch_window(cx);
        sent
    }

    /// Sends, in SACK recovery, what RFC 6675 section 5 step C allows.
    fn transmit_in_sack_recovery(&mut self, cx: &mut Context) {
        let Strategy::Sack(sack) = &self.strategy else { return };
        for _ in 0..sack.room(&self.space, self.control.window().cwnd) {
            let Some(choice) = self.choose() else { return };
            let fresh = matches!(choice, Choice::Fresh(_));
            if (fresh || self.config.pace_retransmissions) && self.must_wait(cx.now, fresh) {
                return;
            }
            let end = match choice {
                Choice::Again { at, until } => self.retransmit(cx, at, until),
                Choice::Rescue { at } => self.retransmit(cx, at, Pos::LAST),
                Choice::Fresh(next) => {
                    self.send_next(cx, next);
                    self.space.nxt
                }
            };
            if let Strategy::Sack(sack) = &mut self.strategy {
                sack.note_sent(choice, end, &self.recovery);
            }
        }
    }

    /// Sends, under time-based recovery, at most `budget` segments while the window has room beyond the data in flight:
    /// the first lost segment, or else the next of the stream (RFC 8985 section 6; RFC 6675's pipe without its rules).
    fn transmit_by_flight(&mut self, cx: &mut Context, budget: u32) -> u32 {
        self.report_restart(cx.now);
        let all_wait = self.config.pace_retransmissions || self.config.stack_pacing || self.control.owns_window();
        let (mut sent, mut fresh_sent) = (0, false);
        while sent < budget {
            let Strategy::Rack(rack) = &self.strategy else { break };
            let lost = rack.flight.first_lost();
            // Data in a pacing queue takes up room in the window.
            let queued = self.space.nxt.beyond(self.space.max).div_ceil(u64::from(self.space.mss)) as u32;
            let has_room = rack.flight.in_flight().saturating_add(queued) < self.control.window().cwnd;
            // RFC 6675 section 5 step 4.3: the first loss is resent whatever is in flight.
            if !has_room && (self.recovery.resend.is_none() || lost.is_none()) {
                break;
            }
            let next = match lost {
                Some(_) => None,
                None => self.next_segment(u64::from(u32::MAX)),
            };
            if lost.is_none() && next.is_none() {
                break;
            }
            let fresh = next.is_some();
            let under_way = self.under_way().saturating_add(queued);
            if self.in_burst == 0 && fresh && !self.control.window().has_room_for_burst(under_way, u32::MAX) {
                break;
            }
            if self.in_burst == 0 && (fresh || all_wait) && self.must_wait(cx.now, true) {
                break;
            }
            self.in_burst += 1;
            match (lost, next) {
                (Some(lost), _) => {
                    self.recovery.end_resend();
                    self.pacer.pass_slot();
                    self.retransmit(cx, lost.start, lost.end);
                }
                (None, Some(next)) => self.send_next(cx, next),
                (None, None) => break,
            }
            fresh_sent |= fresh;
            sent += 1;
            if self.in_burst >= self.control.window().burst {
                self.in_burst = 0;
            }
        }
        self.in_burst = 0;
        if fresh_sent {
            self.schedule_probe(cx);
        }
        self.watch_window(cx);
        sent
    }

    /// RFC 6675 section 4, `NextSeg()`.
    fn choose(&self) -> Option<Choice> {
        let Strategy::Sack(sack) = &self.strategy else { return None };
        let fresh = || self.next_segment(u64::from(u32::MAX)).map(Choice::Fresh);
        sack.lost_hole(&self.space).or_else(fresh).or_else(|| sack.last_resort(&self.space))
    }

    /// The segment at SND.NXT, if a window of `cwnd` segments and the peer allow it.
    pub(super) fn next_segment(&self, cwnd: u64) -> Option<Next> {
        let snd = &self.space;
        let mss = u64::from(snd.mss);
        let peer_room = (snd.una + snd.wnd).beyond(snd.nxt);
        if snd.nxt >= snd.end {
            let fin = snd.fin && snd.nxt == snd.end && peer_room > 0;
            return fin.then_some(Next { len: 0, fin });
        }
        let limit = u64::from(self.config.window_limit.unwrap_or(u32::MAX)) * mss;
        // SACKed data is not in flight.
        let sacked = self.strategy.sacked_before(snd.nxt);
        let window = (cwnd * mss + sacked).min(limit);
        let room = (snd.una + window).beyond(snd.nxt).min(peer_room);
        let waiting = snd.end - snd.nxt;
        // A resent segment stops where data begins that the receiver has.
        let gap = self.strategy.missing_from(snd.nxt).1.map_or(u64::MAX, |sacked| sacked.beyond(snd.nxt));
        let len = waiting.min(mss).min(room).min(gap);
        let whole = len == mss || len == gap;
        let last = len == waiting && (!self.config.nagle || snd.fin || snd.nxt == snd.una);
        let half_window = len == peer_room && len >= snd.max_wnd / 2;
        if len == 0 || !(whole || last || half_window) {
            return None;
        }
        Some(Next { len, fin: snd.fin && len == waiting && peer_room > len })
    }

    /// RFC 9293 section 3.8.6.1: while nothing is in flight and the peer's window blocks all data, a timer probes.
    pub(super) fn watch_window(&mut self, cx: &mut Context) {
        if self.space.in_flight() > 0 || !self.space.unsent() || cx.timers.is_set(Timer::Retransmit) {
            cx.timers.stop(Timer::Persist);
            self.probes = 0;
        } else if !cx.timers.is_set(Timer::Persist) && !self.waits_for_pacing() {
            cx.timers.set(Timer::Persist, cx.now + self.persist_interval());
        }
    }

    /// Whether the next segment waits only for the pacing timer.
    fn waits_for_pacing(&self) -> bool {
        let cwnd = u64::from(self.control.window().cwnd) + u64::from(self.recovery.inflation);
        self.pacer.next_timeout().is_some() && self.next_segment(cwnd).is_some()
    }

    fn persist_interval(&self) -> Dur {
        let first = self.rtt.base_rto().max(self.config.persist_min);
        first.saturating_mul(1 << self.probes.min(16)).min(self.config.rto_max)
    }

    /// Handles an expired persist timer: sends one byte, or the FIN, beyond what the window allows.
    pub(in crate::tcp) fn probe_window(&mut self, cx: &mut Context) {
        if self.space.in_flight() > 0 || !self.space.unsent() {
            return;
        }
        self.stats.window_probes += 1;
        self.probes += 1;
        // A window below one segment is filled by the override timer of silly-window avoidance.
        let len = self.space.end.beyond(self.space.nxt).min(self.space.wnd.clamp(1, u64::from(self.space.mss)));
        let start = self.space.nxt;
        let open = self.space.wnd > 0;
        self.emit(cx, start, len, len == 0);
        if open {
            self.space.go_to(start + len);
        } else {
            // For SND.NXT the byte stays unsent: a closed window is not a loss.
            cx.timers.stop(Timer::Retransmit);
            cx.timers.set(Timer::Persist, cx.now + self.persist_interval());
        }
    }
}
