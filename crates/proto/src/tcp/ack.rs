//! Acknowledgements: what is new in them, how they feed the estimators and congestion control, and what the sender may
//! do as decided by its recovery strategy.

use super::action::Action;
use super::config::RttSampling;
use super::position::Pos;
use super::recovery::Reaction;
use super::socket::Socket;
use crate::wire::TcpSegment;
use fourhop_cc::{Ack, CaState, CongestionControl};
use fourhop_units::{Dur, Time};

impl Socket {
    /// An acceptable segment's acknowledgement and window (RFC 9293 section 3.10.7.4, fifth check); it acknowledges
    /// nothing that was never sent.
    pub(super) fn process_ack(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        if let Some(queue) = &mut self.queue {
            queue.suspended = false;
        }
        let ack = self.snd.locate(segment.ack);
        // A window probe does not count as in flight: its answers are no duplicates.
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
        if self.echoes_mark(segment) && ack >= self.snd.una {
            self.answer_mark(now, ack);
        }
        if self.rack().is_some() {
            self.process_ack_by_time(now, ack, segment, out);
            if asks {
                self.send_probe(now, out);
            }
            return;
        }
        let news = self.strategy.take_report(ack, segment, &self.snd, self.recovery.timeouts);
        if ack > self.snd.una {
            self.on_new_ack(now, ack, segment, out);
        } else if ack == self.snd.una && outstanding && self.strategy.is_duplicate(segment, window_changed, news) {
            self.on_duplicate_ack(now, news, out);
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
        self.strategy.before_new_ack(&self.config, &self.recovery, &mut self.win);
        let acked = self.snd.acknowledge(ack);
        self.stats.bytes_acked += acked.bytes;
        self.stats.segments_acked += u64::from(acked.segments);
        self.recovery.timeouts = 0;
        self.recovery.limited = 0;
        self.recovery.resend = self.recovery.resend.filter(|&at| at >= ack);

        let covered = ack >= self.recovery.recover;
        let in_recovery = self.recovery.state == CaState::Recovery;
        let partial = in_recovery && !covered && self.strategy.knows_partial_acks();
        let sample = self.sample_rtt(now, ack, acked.sent_at, segment, partial);
        let newest = acked.newest_sent_at.map(|at| now - at).filter(|_| self.config.sample_behind_holes);
        let rtt = sample.or(newest);
        let mut event = Ack {
            acked: acked.segments,
            credit: if self.echoes_mark(segment) { 0 } else { acked.segments.min(self.config.growth_limit) },
            rtt,
            cwnd_limited: limited,
            total_acked: self.stats.segments_acked,
            total_sent: self.stats.segments_sent - self.stats.segments_retransmitted,
        };
        let (config, snd, recovery, win) = (&self.config, &self.snd, &mut self.recovery, &mut self.win);
        if partial {
            if self.strategy.on_partial_ack(acked.segments, config, snd, recovery, win, &mut self.rtt) {
                self.restart_retransmit_timer(now);
            }
        } else {
            let next = if recovery.state == CaState::Loss && !covered { CaState::Loss } else { CaState::Open };
            recovery.dup_acks = 0;
            recovery.inflation = 0;
            if !self.strategy.on_whole_ack(in_recovery, config, snd, recovery, win) {
                event.credit = 0;
            }
            self.restart_retransmit_timer(now);
            if next != self.recovery.state {
                self.set_ca_state(now, next);
            }
        }
        let view = self.view(now, in_flight);
        self.cc.on_ack(&mut self.win, &view, &event);
        if self.config.stack_pacing {
            self.pace_by_window();
        }
        if self.strategy.finds_next_overdue(now, rtt, &self.snd) {
            self.recovery.dup_acks = self.config.dup_ack_threshold;
            self.retransmit(now, self.snd.una, Pos::LAST, out);
        }
        let duplicates = self.recovery.dup_acks >= self.config.dup_ack_threshold;
        self.transmit_at_most(now, 0, if duplicates { self.strategy.burst() } else { u32::MAX }, out);
    }

    fn on_duplicate_ack(&mut self, now: Time, news: bool, out: &mut Vec<Action>) {
        self.recovery.dup_acks += u32::from(news);
        self.stats.duplicate_acks += u64::from(news);
        match self.strategy.on_duplicate(now, news, &self.config, &self.snd, &mut self.recovery) {
            Reaction::Nothing => {}
            Reaction::Send { budget } => {
                self.transmit_at_most(now, 0, budget, out);
            }
            Reaction::Early { extra, budget } => {
                if self.recovery.state == CaState::Open {
                    self.set_ca_state(now, CaState::Disorder);
                }
                if budget > 0 {
                    self.recovery.limited += self.transmit_at_most(now, extra, budget, out);
                }
            }
            Reaction::Recover { budget } => {
                self.enter_recovery(now);
                self.transmit_at_most(now, 0, budget, out);
            }
            Reaction::Resend { again, cut } => self.resend_overdue(now, again, cut, out),
            Reaction::Widen => {
                self.win.cwnd = self.win.cwnd.saturating_add(1).min(self.win.cwnd_clamp);
                self.transmit(now, out);
            }
        }
    }

    /// Feeds the estimator and answers the round trip for the algorithm.
    pub(super) fn sample_rtt(
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
}
