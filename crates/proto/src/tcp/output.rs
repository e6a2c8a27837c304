//! What is sent next: windows, Nagle, silly-window avoidance (RFC 9293 section 3.8.6.2.1), zero-window probes, and the
//! header of every segment.

use super::ack_policy::AckPolicy;
use super::action::Action;
use super::position::Pos;
use super::recovery::{Choice, Strategy};
use super::send::Next;
use super::socket::Socket;
use super::state::State;
use super::timer::Timer;
use crate::wire::{TcpFlags, TcpOptions, TcpSegment, Timestamps};
use fourhop_cc::CaState;
use fourhop_units::{Dur, Seq, Time};

impl Socket {
    /// Sends whatever the windows allow.
    pub(super) fn transmit(&mut self, now: Time, out: &mut Vec<Action>) {
        self.transmit_at_most(now, 0, u32::MAX, out);
    }

    /// Sends at most `budget` segments under a congestion window `extra` segments larger; a pending retransmission goes
    /// first and is not counted, unless it waits for the timer. Returns how many of the budget went.
    pub(super) fn transmit_at_most(&mut self, now: Time, extra: u32, budget: u32, out: &mut Vec<Action>) -> u32 {
        if !self.state.may_transmit() || self.freeze.is_frozen() {
            return 0;
        }
        if self.rack().is_some() {
            return self.transmit_by_flight(now, budget, out);
        }
        let mut sent = 0;
        if let Some(at) = self.recovery.resend {
            let put_back = self.is_paced_by_timer() && self.recovery.state == CaState::Loss;
            if (self.config.pace_retransmissions || put_back) && self.is_held_back(now, false) {
                return 0;
            }
            if put_back {
                self.pacer.pass_slot();
                sent += 1;
            }
            self.recovery.resend = None;
            let until = self.strategy.missing_from(at).1.unwrap_or(Pos::LAST);
            self.send_hole(now, at, until, out);
        }
        if self.recovery.state == CaState::Recovery && matches!(self.strategy, Strategy::Sack(_)) {
            if budget > 0 {
                self.transmit_in_sack_recovery(now, out);
            }
            self.watch_window(now);
            return 0;
        }
        while sent < budget {
            if self.snd.nxt < self.snd.max {
                // After a time-out: what the receiver has reported since is not sent again (RFC 6675 section 5.1).
                self.snd.nxt = self.strategy.missing_from(self.snd.nxt).0;
            }
            let cwnd = u64::from(self.win.cwnd) + u64::from(self.recovery.inflation) + u64::from(extra);
            let Some(next) = self.next_segment(cwnd) else { break };
            let fresh = self.snd.nxt >= self.snd.max;
            let early = extra > 0 && self.is_paced_by_timer();
            if !early && self.is_held_back(now, fresh) {
                break;
            }
            self.send_next(now, next, out);
            sent += 1;
        }
        self.watch_window(now);
        sent
    }

    /// Sends in recovery by SACK what RFC 6675 section 5 step C allows.
    fn transmit_in_sack_recovery(&mut self, now: Time, out: &mut Vec<Action>) {
        let Strategy::Sack(sack) = &self.strategy else { return };
        for _ in 0..sack.room(&self.snd, self.win.cwnd) {
            let Some(choice) = self.choose() else { return };
            let fresh = matches!(choice, Choice::Fresh(_));
            if (fresh || self.config.pace_retransmissions) && self.is_held_back(now, fresh) {
                return;
            }
            let end = match choice {
                Choice::Again { at, until } => self.retransmit(now, at, until, out),
                Choice::Rescue { at } => self.retransmit(now, at, Pos::LAST, out),
                Choice::Fresh(next) => {
                    self.send_next(now, next, out);
                    self.snd.nxt
                }
            };
            if let Strategy::Sack(sack) = &mut self.strategy {
                sack.note_sent(choice, end, &self.recovery);
            }
        }
    }

    /// RFC 6675 section 4, `NextSeg()`.
    fn choose(&self) -> Option<Choice> {
        let Strategy::Sack(sack) = &self.strategy else { return None };
        let fresh = || self.next_segment(u64::from(u32::MAX)).map(Choice::Fresh);
        sack.lost_hole(&self.snd).or_else(fresh).or_else(|| sack.last_resort(&self.snd))
    }

    /// The segment at SND.NXT, if a window of `cwnd` segments and the peer let it go.
    pub(super) fn next_segment(&self, cwnd: u64) -> Option<Next> {
        let snd = &self.snd;
        let mss = u64::from(snd.mss);
        let peer_room = (snd.una + snd.wnd).beyond(snd.nxt);
        if snd.nxt >= snd.end {
            let fin = snd.fin && snd.nxt == snd.end && peer_room > 0;
            return fin.then_some(Next { len: 0, fin });
        }
        let limit = u64::from(self.config.window_limit.unwrap_or(u32::MAX)) * mss;
        // What the receiver holds already is not in flight.
        let held = self.strategy.held_before(snd.nxt);
        let window = (cwnd * mss + held).min(limit);
        let room = (snd.una + window).beyond(snd.nxt).min(peer_room);
        let waiting = snd.end - snd.nxt;
        // A resent segment stops where the receiver has the rest.
        let gap = self.strategy.missing_from(snd.nxt).1.map_or(u64::MAX, |held| held.beyond(snd.nxt));
        let len = waiting.min(mss).min(room).min(gap);
        let whole = len == mss || len == gap;
        let last = len == waiting && (!self.config.nagle || snd.fin || snd.nxt == snd.una);
        let half_window = len == peer_room && len >= snd.max_wnd / 2;
        if len == 0 || !(whole || last || half_window) {
            return None;
        }
        Some(Next { len, fin: snd.fin && len == waiting && peer_room > len })
    }

    /// Does the congestion window, rather than the user or the peer, hold back data?
    pub(super) fn window_limited(&self) -> bool {
        // RFC 7661 and Linux: in slow start a window that is at least half used counts as limiting.
        let in_flight = self.snd.in_flight_segments();
        in_flight >= self.win.cwnd || (self.win.in_slow_start() && 2 * in_flight >= self.win.cwnd)
    }

    /// Sends what was sent at `at` again, as far as one segment reaches but not beyond `until`; answers where it ends.
    pub(super) fn retransmit(&mut self, now: Time, at: Pos, until: Pos, out: &mut Vec<Action>) -> Pos {
        let data_end = self.snd.end.min(self.snd.max).min(until);
        let len = data_end.beyond(at).min(u64::from(self.snd.mss));
        let end = at + len;
        let fin = self.snd.fin && end == self.snd.end && self.snd.max > self.snd.end;
        self.emit(now, at, len, fin, out);
        let end = end + u64::from(fin);
        self.snd.nxt = self.snd.nxt.max(end);
        end
    }

    /// RFC 9293 section 3.8.6.1: while nothing is in flight and the peer's window lets nothing go, a timer asks again.
    pub(super) fn watch_window(&mut self, now: Time) {
        if self.snd.in_flight() > 0 || !self.snd.unsent() || self.timers.is_set(Timer::Retransmit) {
            self.timers.stop(Timer::Persist);
            self.probes = 0;
        } else if !self.timers.is_set(Timer::Persist) && !self.waits_for_pacing() {
            self.timers.set(Timer::Persist, now + self.persist_interval());
        }
    }

    /// Is it only the pacing timer that the next segment waits for?
    fn waits_for_pacing(&self) -> bool {
        let cwnd = u64::from(self.win.cwnd) + u64::from(self.recovery.inflation);
        self.pacer.next_timeout().is_some() && self.next_segment(cwnd).is_some()
    }

    fn persist_interval(&self) -> Dur {
        let first = self.rtt.base_rto().max(self.config.persist_min);
        first.saturating_mul(1 << self.probes.min(16)).min(self.config.rto_max)
    }

    /// The persist timer expired: one byte, or the FIN, beyond what the window allows.
    pub(super) fn probe_window(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.snd.in_flight() > 0 || !self.snd.unsent() {
            return;
        }
        self.stats.window_probes += 1;
        self.probes += 1;
        // A window of less than a segment that silly-window avoidance held back goes out whole: its override timer.
        let len = self.snd.end.beyond(self.snd.nxt).min(self.snd.wnd.clamp(1, u64::from(self.snd.mss)));
        let start = self.snd.nxt;
        let open = self.snd.wnd > 0;
        self.emit(now, start, len, len == 0, out);
        if open {
            self.snd.nxt = start + len;
        } else {
            // The byte stays unsent as far as SND.NXT is concerned: a closed window is not a loss.
            self.timers.stop(Timer::Retransmit);
            self.timers.set(Timer::Persist, now + self.persist_interval());
        }
    }

    /// Sends the bytes from `start` on, and the FIN if it is there.
    pub(super) fn emit(&mut self, now: Time, start: Pos, len: u64, fin: bool, out: &mut Vec<Action>) {
        let end = start + len + u64::from(fin);
        // Nothing but a sender that ns-2.35 paces by a timer has this timer running with nothing under way.
        let first = !self.snd.outstanding() && !self.is_paced_by_timer();
        let fresh = self.snd.note_sent(start, end, now);
        if fresh {
            self.rtt.start_timing(end, now);
        } else {
            self.stats.segments_retransmitted += 1;
        }
        self.stats.segments_sent += 1;
        if let Strategy::Rack(rack) = &mut self.strategy {
            rack.note_sent(start, end, now);
        }
        if first || !self.timers.is_set(Timer::Retransmit) {
            self.timers.set(Timer::Retransmit, now + self.rtt.rto());
        }
        self.pacer.departed(now, self.win.pacing);
        let flags = TcpFlags { ack: true, fin, psh: len > 0 && start + len == self.snd.end, ..TcpFlags::default() };
        let options = self.options(now, len);
        let mut segment = self.segment(start, flags, options, len as u32);
        self.ecn.stamp(&mut segment, fresh);
        out.push(Action::Send { segment, stream_offset: start.offset() });
        self.acknowledged();
    }

    /// Sends an acknowledgement without data.
    pub(super) fn send_ack(&mut self, now: Time, out: &mut Vec<Action>) {
        // SND.MAX, not SND.NXT, which a time-out takes back: the peer would find the number old. Within its window.
        let at = self.snd.max.min(self.snd.edge).max(self.snd.una);
        let options = self.options(now, 0);
        let mut segment = self.segment(at, TcpFlags { ack: true, ..TcpFlags::default() }, options, 0);
        self.ecn.stamp(&mut segment, false);
        self.stats.acks_sent += 1;
        out.push(Action::Send { segment, stream_offset: at.offset() });
        self.acknowledged();
    }

    /// Asks for an acknowledgement (RFC 1122 section 4.2.3.6): nothing from the place before SND.UNA.
    pub(super) fn send_keep_alive(&mut self, now: Time, out: &mut Vec<Action>) {
        let options = self.options(now, 0);
        let mut segment = self.segment(self.snd.una, TcpFlags { ack: true, ..TcpFlags::default() }, options, 0);
        segment.seq = self.snd.una.before().seq(self.snd.iss);
        out.push(Action::Send { segment, stream_offset: self.snd.una.offset() });
        self.acknowledged();
    }

    /// Sends the SYN or, in SYN-RECEIVED, the SYN-ACK.
    pub(super) fn send_syn(&mut self, now: Time, out: &mut Vec<Action>) {
        let answer = self.state == State::SynReceived;
        let flags = TcpFlags { syn: true, ack: answer, ..self.ecn.offer(self.config.ecn, answer) };
        let timestamps = (self.config.timestamps && (!answer || self.timestamps.is_some()))
            .then(|| Timestamps { value: self.timestamp(now), echo: self.timestamps.map_or(0, |t| t.recent) });
        let options = TcpOptions {
            mss: Some(self.config.mss.min(u32::from(u16::MAX)) as u16),
            window_scale: (!answer || self.peer_scales).then(|| self.config.window_scale()),
            sack_permitted: self.config.sack && (!answer || self.sack),
            timestamps,
            ..TcpOptions::default()
        };
        let mut segment = self.segment(Pos::SYN, flags, options, 0);
        segment.window = self.rcv.syn_window();
        out.push(Action::Send { segment, stream_offset: 0 });
        self.acknowledged();
    }

    /// Answers with a reset (RFC 9293 section 3.10.7) that looks like it follows what the peer acknowledged.
    pub(super) fn send_reset(&mut self, at: Pos, out: &mut Vec<Action>) {
        let flags = TcpFlags { rst: true, ack: true, ..TcpFlags::default() };
        let segment = self.segment(at, flags, TcpOptions::default(), 0);
        out.push(Action::Send { segment, stream_offset: at.offset() });
    }

    fn options(&mut self, now: Time, payload: u64) -> TcpOptions {
        let timestamps = self.timestamps.map(|t| Timestamps { value: self.timestamp(now), echo: t.recent });
        let mut options = TcpOptions { timestamps, ..TcpOptions::default() };
        if self.sack && self.rcv.has_report() {
            // RFC 2018 section 3: three blocks fit beside timestamps, four alone. Data gives way to nothing: a full
            // segment carries as many as leave it below the maximum size, that is none.
            let most = u64::from(self.config.sack_blocks.min(if timestamps.is_some() { 3 } else { 4 }));
            let room = u64::from(self.snd.mss).saturating_sub(payload) / 8;
            let blocks = if payload == 0 { most } else { room.saturating_sub(1).min(most) };
            options.sack = self.rcv.sack_blocks(blocks as usize);
        }
        options
    }

    fn segment(&mut self, at: Pos, flags: TcpFlags, options: TcpOptions, payload: u32) -> TcpSegment {
        TcpSegment {
            src_port: self.local_port,
            dst_port: self.remote_port,
            seq: at.seq(self.snd.iss),
            ack: if flags.ack { self.rcv.ack() } else { Seq::default() },
            flags,
            window: if flags.syn { 0 } else { self.rcv.advertise(&self.policy) },
            options,
            payload,
            ..TcpSegment::default()
        }
    }

    /// The peer has been told what has arrived.
    fn acknowledged(&mut self) {
        self.ack_due = false;
        self.timers.stop(Timer::DelayedAck);
        self.policy.on_ack_sent();
        self.last_ack_sent = self.rcv.nxt;
    }
}
