//! Acknowledgements and loss: fast retransmit and recovery (RFC 5681, 6582), limited transmit (RFC 3042), time-outs
//! (RFC 6298 section 5), and their variants in ns-2.35.
//!
//! The window during fast recovery is `cwnd` plus an inflation that counts the segments known to have left the network;
//! RFC 5681 section 3.2 puts both into cwnd, which comes to the same.

use super::action::Action;
use super::adhoc::Cause as Freezing;
use super::config::{RttSampling, WindowCut};
use super::position::Pos;
use super::socket::Socket;
use super::timer::Timer;
use crate::wire::TcpSegment;
use fourhop_cc::{Ack, CaState, Cause, CongestionControl, Recovery as Strategy, Window};
use fourhop_units::{Dur, Time};

/// Where loss recovery stands.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    pub(super) state: CaState,
    /// Duplicate ACKs since SND.UNA last moved (partial ACKs in recovery do not clear it).
    pub(super) dup_acks: u32,
    /// SND.MAX when the last recovery or time-out began: recovery ends when it is acknowledged, and no fast retransmit
    /// happens before something beyond it is (RFC 6582 section 3.2).
    pub(super) recover: Pos,
    /// Segments known to have left the network, on top of `cwnd`.
    pub(super) inflation: u32,
    /// A partial ACK has arrived in this recovery.
    pub(super) partial_seen: bool,
    /// Fresh segments sent by limited transmit since SND.UNA last moved.
    pub(super) limited: u32,
    /// A lost segment that goes before everything else.
    pub(super) resend: Option<Pos>,
    /// Time-outs in a row.
    pub(super) timeouts: u32,
    /// ns-2.35's count of segments in the network during recovery by SACK; below zero if ACKs outnumber them.
    pub(super) pipe: i64,
}

impl Recovery {
    pub(super) fn new() -> Recovery {
        Recovery {
            state: CaState::Open,
            dup_acks: 0,
            recover: Pos::SYN,
            inflation: 0,
            partial_seen: false,
            limited: 0,
            resend: None,
            timeouts: 0,
            pipe: 0,
        }
    }
}

impl Socket {
    /// An acceptable segment's acknowledgement and window (RFC 9293 section 3.10.7.4, fifth check); it acknowledges
    /// nothing that was never sent.
    pub(super) fn process_ack(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        if let Some(queue) = &mut self.queue {
            queue.resume();
        }
        let ack = self.snd.locate(segment.ack);
        // A window probe does not count as under way: its answers are no duplicates.
        let outstanding = self.snd.in_flight() > 0;
        let window_changed =
            self.snd.update_window(self.rcv.locate(segment.seq), ack, segment.window, !segment.flags.syn);
        let mut asks = false;
        if self.freeze.is_built_in() {
            if self.snd.is_taken_back() {
                self.freeze.recognise();
            }
            asks = self.weigh_window(now, ack, segment.payload == 0);
        }
        let news = self.recovers_by_sack() && self.take_sack_blocks(ack, segment);
        if ack > self.snd.una {
            self.on_new_ack(now, ack, segment, out);
        } else if self.recovers_by_sack() {
            if ack == self.snd.una && outstanding && (news || (segment.payload == 0 && !window_changed)) {
                self.on_sack_duplicate(now, news, out);
            } else {
                self.transmit(now, out);
            }
        } else if ack == self.snd.una && outstanding && segment.payload == 0 && !segment.flags.fin && !window_changed {
            if self.watches_fine_clock() {
                self.on_vegas_duplicate(now, out);
            } else {
                self.on_duplicate_ack(now, out);
            }
        } else {
            self.transmit(now, out);
        }
        if asks {
            self.send_probe(now, out);
        }
    }

    fn on_new_ack(&mut self, now: Time, ack: Pos, segment: &TcpSegment, out: &mut Vec<Action>) {
        let limited = !self.config.grow_only_when_limited || self.window_limited();
        let in_flight = self.snd.in_flight_segments();
        if self.watches_fine_clock() {
            self.end_vegas_inflation();
        }
        let acked = self.snd.acknowledge(ack);
        self.stats.bytes_acked += acked.bytes;
        self.stats.segments_acked += u64::from(acked.segments);
        self.recovery.timeouts = 0;
        self.recovery.limited = 0;
        self.recovery.resend = self.recovery.resend.filter(|&at| at >= ack);

        let covered = ack >= self.recovery.recover;
        let repairs_holes = matches!(self.transport.recovery, Strategy::NewReno | Strategy::Sack);
        let partial = self.recovery.state == CaState::Recovery && !covered && repairs_holes;
        let sample = self.sample_rtt(now, ack, acked.sent_at, segment, partial);
        let newest = acked.newest_sent_at.map(|at| now - at).filter(|_| self.config.sample_behind_holes);
        let rtt = sample.or(newest);
        let mut event = Ack {
            acked: acked.segments,
            credit: acked.segments.min(self.config.growth_limit),
            rtt,
            cwnd_limited: limited,
            total_acked: self.stats.segments_acked,
            total_sent: self.stats.segments_sent - self.stats.segments_retransmitted,
        };
        if partial {
            if self.recovers_by_sack() {
                self.on_sack_partial_ack(now);
            } else {
                self.on_partial_ack(now, acked.segments);
            }
            self.inform(now, in_flight, &event);
        } else {
            let leaves_recovery = self.recovery.state == CaState::Recovery;
            let next = if self.recovery.state == CaState::Loss && !covered { CaState::Loss } else { CaState::Open };
            self.recovery.dup_acks = 0;
            self.recovery.inflation = 0;
            if self.recovers_by_sack() {
                self.on_sack_ack(leaves_recovery);
                event.credit = if leaves_recovery { 0 } else { event.credit };
            } else if leaves_recovery && !self.config.grow_on_full_ack && !self.watches_fine_clock() {
                // RFC 6582 section 3.2 step 3, full acknowledgement, first option.
                let under_way = self.snd.in_flight_segments().max(1) + 1;
                self.win.set_cwnd(self.win.ssthresh.min(under_way));
                event.credit = 0;
            }
            self.restart_retransmit_timer(now);
            if next != self.recovery.state {
                self.set_ca_state(now, next);
            }
            self.inform(now, in_flight, &event);
        }
        if self.watches_fine_clock() {
            if let Some(rtt) = rtt {
                self.overdue.sample(rtt);
            }
            self.check_next_segment(now, out);
        }
        if self.recovery.dup_acks >= self.config.dup_ack_threshold {
            self.transmit_at_most(now, 0, self.recovery_burst(), out);
        } else {
            self.transmit(now, out);
        }
    }

    /// RFC 6582 section 3.2 step 3, partial acknowledgement: the next hole is lost as well. The window deflates by what
    /// was acknowledged, less one segment for the retransmission.
    fn on_partial_ack(&mut self, now: Time, segments: u32) {
        let inflation = self.recovery.inflation;
        if inflation > segments {
            self.recovery.inflation = inflation + 1 - segments.max(1);
        } else {
            let deflated = self.win.fixed().saturating_sub(u64::from(segments - inflation) << 16);
            self.win.set_fixed(deflated);
            self.recovery.inflation = 1;
        }
        if !self.recovery.partial_seen || !self.config.impatient {
            self.restart_retransmit_timer(now);
        }
        self.recovery.partial_seen = true;
        self.recovery.resend = Some(self.snd.una);
    }

    fn on_duplicate_ack(&mut self, now: Time, out: &mut Vec<Action>) {
        self.recovery.dup_acks += 1;
        self.stats.duplicate_acks += 1;
        let threshold = self.config.dup_ack_threshold;
        let burst = self.recovery_burst();
        if self.recovery.state == CaState::Recovery {
            self.recovery.inflation += 1;
            self.transmit_at_most(now, 0, burst, out);
        } else if self.recovery.dup_acks == threshold && self.snd.una > self.recovery.recover {
            self.enter_recovery(now);
            self.transmit_at_most(now, 0, burst, out);
        } else if self.recovery.dup_acks >= threshold {
            self.transmit_at_most(now, 0, burst, out);
        } else {
            self.announce_disorder(now);
            if self.config.limited_transmit {
                // RFC 3042: one fresh segment, at most two beyond the congestion window.
                let sent = self.transmit_at_most(now, self.recovery.dup_acks, 1, out);
                self.recovery.limited += sent;
            }
        }
    }

    /// The first duplicate ACK of a series.
    pub(super) fn announce_disorder(&mut self, now: Time) {
        if self.recovery.state == CaState::Open {
            self.set_ca_state(now, CaState::Disorder);
        }
    }

    /// Fresh segments an ACK may release during recovery.
    fn recovery_burst(&self) -> u32 {
        match self.transport.recovery {
            Strategy::NewReno => self.config.recovery_burst.unwrap_or(u32::MAX),
            Strategy::Reno | Strategy::Sack | Strategy::Vegas => u32::MAX,
        }
    }

    /// RFC 5681 section 3.2 step 2 with RFC 6582's recovery point.
    pub(super) fn enter_recovery(&mut self, now: Time) {
        self.stats.fast_retransmits += 1;
        self.cut(now, CaState::Recovery, Cause::FastRetransmit);
        self.recovery.recover = self.snd.max;
        self.recovery.inflation = self.config.dup_ack_threshold;
        self.recovery.partial_seen = false;
        self.recovery.resend = Some(self.snd.una);
        self.rtt.cancel_timing();
        self.restart_retransmit_timer(now);
    }

    /// The retransmission timer expired (RFC 6298 section 5.4 to 5.7, RFC 5681 equation 4): everything is sent again in
    /// slow start, except what a jump of the acknowledgement skips.
    pub(super) fn on_retransmit_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        if !self.snd.outstanding() {
            if self.snd.has_unreleased() {
                self.on_idle_timeout(now, out);
            }
            return;
        }
        self.stats.timeouts += 1;
        if self.freeze.is_active() && !self.is_opening() {
            self.begin_freeze(now, Freezing::Timeout, true);
            return;
        }
        self.recovery.timeouts += 1;
        if self.config.max_timeouts.is_some_and(|most| self.recovery.timeouts > most) {
            self.abandon(out);
            return;
        }
        if self.config.rto_backoff || self.is_opening() {
            self.rtt.back_off();
        } else {
            self.rtt.cancel_timing();
        }
        if self.is_opening() {
            self.resend_syn(now, out);
            return;
        }
        let again = self.recovery.state == CaState::Loss && self.recovery.timeouts > 1;
        self.recovery.inflation = 0;
        if again && !self.config.cut_on_each_timeout {
            self.win.set_cwnd(self.cc.loss_window());
        } else {
            self.cut(now, CaState::Loss, Cause::Timeout);
        }
        self.recovery.dup_acks = 0;
        self.recovery.limited = 0;
        self.recovery.recover = self.snd.max;
        self.scoreboard.clear();
        self.overdue.on_timeout(now);
        self.suspend_queue();
        self.snd.nxt = self.snd.una;
        self.recovery.resend = Some(self.snd.una);
        self.restart_retransmit_timer(now);
        self.transmit(now, out);
    }

    /// The timer expired though all that was sent is acknowledged: what had been put into the pacing queue never left.
    /// ns-2.35 restarts from one segment and keeps the threshold.
    fn on_idle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        self.stats.timeouts += 1;
        self.win.set_cwnd(self.cc.loss_window());
        self.recovery.inflation = 0;
        self.recovery.dup_acks = 0;
        self.recovery.recover = self.snd.max;
        self.rtt.cancel_timing();
        self.suspend_queue();
        self.snd.nxt = self.snd.una;
        self.set_ca_state(now, CaState::Loss);
        self.restart_retransmit_timer(now);
        self.transmit(now, out);
    }

    /// Reduces the window: first to what was in use, then to what the algorithm answers.
    fn cut(&mut self, now: Time, state: CaState, cause: Cause) {
        let one = u64::from(Window::ONE);
        let in_flight = self.snd.in_flight_segments();
        let used = match self.config.window_cut {
            WindowCut::WindowInUse => {
                let limit = u64::from(self.config.window_limit.unwrap_or(u32::MAX)) * one;
                (self.win.fixed() + u64::from(self.recovery.inflation) * one).min(limit)
            }
            // RFC 5681 section 3.2 step 2: what limited transmit sent does not count.
            WindowCut::FlightSize => {
                self.win.fixed().min(u64::from(in_flight.saturating_sub(self.recovery.limited)) * one)
            }
        };
        self.win.set_fixed(used);
        self.set_ca_state(now, state);
        let view = self.view(now, in_flight);
        let told = self.threshold_from_receiver();
        let ssthresh = told.unwrap_or_else(|| self.cc.ssthresh(&self.win, &view, cause)).max(2);
        let halved = told.is_none() && ssthresh == (self.win.cwnd / 2).max(2);
        self.win.ssthresh = ssthresh;
        match cause {
            Cause::Timeout => self.win.set_cwnd(self.cc.loss_window()),
            Cause::FastRetransmit if halved && self.config.window_cut == WindowCut::WindowInUse => {
                self.win.set_fixed(used / 2);
            }
            // A loss never widens the window to what a receiver would take.
            _ if told.is_some() => self.win.set_cwnd(ssthresh.min(self.win.cwnd)),
            Cause::FastRetransmit | Cause::Overdue { .. } => self.win.set_cwnd(ssthresh),
        }
    }

    pub(super) fn set_ca_state(&mut self, now: Time, state: CaState) {
        self.recovery.state = state;
        let view = self.view(now, self.snd.in_flight_segments());
        self.cc.on_state(&mut self.win, &view, state);
    }

    fn inform(&mut self, now: Time, in_flight: u32, event: &Ack) {
        let view = self.view(now, in_flight);
        self.cc.on_ack(&mut self.win, &view, event);
    }

    /// Feeds the estimator and answers the round trip for the algorithm.
    fn sample_rtt(
        &mut self,
        now: Time,
        ack: Pos,
        sent_at: Option<Time>,
        segment: &TcpSegment,
        partial: bool,
    ) -> Option<Dur> {
        if !self.freeze.tells_round_trip() {
            self.rtt.cancel_timing();
            return None;
        }
        let per_ack = sent_at.map(|at| now - at);
        match self.config.rtt_sampling {
            RttSampling::OneTimedSegment => {
                // ns-2.35: a partial ACK ends the timing and the back-off, and gives no sample.
                let timed = self.rtt.finish_timing(ack, now).filter(|_| !partial);
                if let Some(rtt) = timed {
                    self.rtt.sample(rtt, now);
                }
            }
            RttSampling::EveryAck => {
                if let Some(rtt) = per_ack.or_else(|| self.echoed_rtt(now, segment)) {
                    self.rtt.sample(rtt, now);
                }
            }
        }
        per_ack
    }

    /// RFC 6298 sections 5.2 and 5.3.
    pub(super) fn restart_retransmit_timer(&mut self, now: Time) {
        if self.freeze.is_frozen() {
            self.timers.stop(Timer::Retransmit);
        } else if self.snd.outstanding() || self.snd.has_unreleased() {
            self.timers.set(Timer::Retransmit, now + self.rtt.rto());
        } else {
            self.timers.stop(Timer::Retransmit);
        }
    }
}
