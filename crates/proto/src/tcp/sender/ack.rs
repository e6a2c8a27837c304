//! Acknowledgement processing: one path for all recovery strategies, which differ in how they evaluate an ACK.

use super::Sender;
use super::recovery::{Arrived, Heard, Reaction};
use crate::tcp::config::RttSampling;
use crate::tcp::context::Context;
use crate::tcp::position::Pos;
use crate::wire::TcpSegment;
use fourhop_cc::{Ack, CaState, Cause};
use fourhop_units::{Dur, Time};

/// Data in flight before an acknowledgement.
#[derive(Clone, Copy)]
struct Before {
    in_flight: u32,
    /// Whether the window limited what was sent.
    limited: bool,
    /// Whether the use of the window allows it to grow.
    grows: bool,
}

impl Sender {
    /// Processes the acknowledgement and the window of an acceptable segment (RFC 9293 section 3.10.7.4, fifth check);
    /// it acknowledges nothing that was never sent.
    pub(in crate::tcp) fn process_ack(&mut self, cx: &mut Context, segment: &TcpSegment) {
        if let Some(queue) = &mut self.queue {
            queue.resume();
        }
        let ack = self.space.locate(segment.ack);
        // A window probe does not count as in flight, so its answers are not duplicates.
        let outstanding = self.space.in_flight() > 0;
        let seq = cx.rx.space.locate(segment.seq);
        let window_changed = self.space.update_window(seq, ack, segment.window, !segment.flags.syn);
        let mut asks = false;
        if self.freeze.is_built_in() {
            if self.space.is_taken_back() {
                self.freeze.recognised = true;
            }
            asks = self.weigh_window(cx, ack, segment.payload == 0);
        }
        if self.ecn.is_asked_by(segment) && ack >= self.space.una {
            self.answer_mark(cx.now, ack);
        }
        if ack >= self.space.una {
            self.take_ack(cx, &Arrived { now: cx.now, ack, segment, outstanding, window_changed });
        } else {
            self.transmit(cx);
        }
        if asks {
            self.send_probe(cx);
        }
    }

    fn take_ack(&mut self, cx: &mut Context, arrived: &Arrived) {
        let now = cx.now;
        self.note_application_limit();
        let before = self.before_ack();
        let min_rtt = self.rtt.min_rtt();
        let heard = self.strategy.hear(arrived, &self.space, &self.recovery, min_rtt, &cx.rx.stamps);
        let (event, reaction) = if arrived.ack > self.space.una {
            self.take_back_timeout(now, cx.rx.stamps.echo(arrived.segment), &cx.rx.stamps);
            (Some(self.take_new_ack(cx, arrived, &heard, before)), Reaction::SEND)
        } else {
            let (config, space) = (&self.config, &self.space);
            let (counts, reaction) = self.strategy.on_duplicate(arrived, &heard, config, space, &mut self.recovery);
            self.stats.duplicate_acks += u64::from(counts);
            (None, reaction)
        };
        let lost = self.find_losses(cx, before.in_flight);
        if heard.repaired && lost == 0 && !self.recovery.is_repairing() {
            self.cut_for_probe(now);
        }
        if let Some(event) = &event {
            let view = self.view(now, before.in_flight);
            self.control.on_ack(&view, event);
        }
        self.report_delivery(now, &heard, before, lost);
        let Some(event) = event else { return self.react(cx, reaction) };
        if self.config.stack_pacing {
            self.pace_by_window();
        }
        if self.strategy.finds_next_overdue(now, event.rtt, &self.space) {
            self.recovery.count_as_duplicates(self.config.dup_ack_threshold);
            self.retransmit(cx, self.space.una, Pos::LAST);
        }
        self.schedule_probe(cx);
        let budget = self.strategy.budget(&self.recovery, &self.config);
        self.transmit_at_most(cx, 0, budget);
    }

    fn before_ack(&self) -> Before {
        let (in_flight, win) = (self.under_way(), self.control.window());
        let limited = in_flight >= win.cwnd;
        // RFC 7661 and Linux: in slow start a window that is at least half used counts as limiting.
        let half_used = || win.in_slow_start() && 2 * u64::from(in_flight) >= u64::from(win.cwnd);
        let grows = !self.config.grow_only_when_limited || limited || half_used();
        Before { in_flight, limited, grows }
    }

    /// Advances SND.UNA: updates the estimators, recovery and congestion control.
    fn take_new_ack(&mut self, cx: &mut Context, arrived: &Arrived, heard: &Heard, before: Before) -> Ack {
        let &Arrived { now, ack, segment, .. } = arrived;
        self.strategy.before_new_ack(&self.config, &self.recovery, self.control.window_mut());
        let acked = self.space.acknowledge(ack);
        self.stats.bytes_acked += acked.bytes;
        self.stats.segments_acked += u64::from(acked.segments);
        self.recovery.advance(ack);
        let covered = ack >= self.recovery.recover;
        let partial = self.recovery.state == CaState::Recovery && !covered && self.strategy.knows_partial_acks();
        let sample = self.sample_rtt(cx, ack, acked.sent_at, segment, partial);
        let behind_holes = self.config.sample_behind_holes && self.rack().is_none();
        let newest = acked.newest_sent_at.map(|at| now - at).filter(|_| behind_holes);
        let (config, space, recovery) = (&self.config, &self.space, &mut self.recovery);
        let (win, rtt) = (self.control.window_mut(), &mut self.rtt);
        let verdict = if partial {
            self.strategy.on_partial_ack(acked.segments, config, space, recovery, win, rtt)
        } else {
            self.strategy.on_whole_ack(covered, heard, config, space, recovery, win)
        };
        if verdict.restarts {
            self.restart_retransmit_timer(cx);
        }
        if verdict.state != self.recovery.state {
            self.set_ca_state(now, verdict.state);
        }
        let grows = verdict.grows && !self.ecn.is_asked_by(segment);
        Ack {
            acked: acked.segments,
            credit: if grows { acked.segments.min(self.config.growth_limit) } else { 0 },
            rtt: sample.or(newest),
            cwnd_limited: before.grows,
            total_acked: self.stats.segments_acked,
            total_sent: self.stats.segments_sent - self.stats.segments_retransmitted,
        }
    }

    /// Reports delivery to an algorithm that owns the window.
    fn report_delivery(&mut self, now: Time, heard: &Heard, before: Before, newly_lost: u32) {
        let Some(mut sample) = heard.sample.filter(|_| self.control.owns_window()) else { return };
        (sample.newly_lost, sample.in_flight, sample.cwnd_limited) = (newly_lost, self.under_way(), before.limited);
        let view = self.view(now, before.in_flight);
        self.control.on_rate(&view, &sample);
        if self.control.marks_app_limited() {
            self.mark_app_limited();
        }
    }

    /// Reacts to a duplicate ACK, or to one that brings nothing new.
    fn react(&mut self, cx: &mut Context, reaction: Reaction) {
        match reaction {
            Reaction::Nothing => {}
            Reaction::Send { budget } => {
                self.transmit_at_most(cx, 0, budget);
            }
            Reaction::Early { extra, budget } => {
                if self.recovery.state == CaState::Open {
                    self.set_ca_state(cx.now, CaState::Disorder);
                }
                if budget > 0 {
                    let sent = self.transmit_at_most(cx, extra, budget);
                    self.recovery.note_limited(sent);
                }
            }
            Reaction::Recover { budget } => {
                self.enter_recovery(cx);
                self.transmit_at_most(cx, 0, budget);
            }
            Reaction::Resend { again, cut } => self.resend_overdue(cx, again, cut),
            Reaction::Widen => {
                self.control.widen();
                self.transmit(cx);
            }
        }
    }

    /// Answers a mark like a loss, once per window and not while losses are being repaired (RFC 3168 section 6.1.2).
    fn answer_mark(&mut self, now: Time, ack: Pos) {
        if self.recovery.is_repairing() || self.ecn.covers(ack) {
            return;
        }
        self.stats.marks_answered += 1;
        if !self.control.owns_window() {
            return self.cut(now, self.recovery.state, Cause::Mark);
        }
        self.ecn.note_reduction(self.space.max);
        let view = self.view(now, self.under_way());
        if let Some(newest) = self.rack().and_then(|rack| rack.flight.delivery.newest()) {
            self.control.on_mark(&view, &newest);
        }
    }

    /// Feeds the estimator and returns the round trip for the algorithm.
    fn sample_rtt(
        &mut self,
        cx: &Context,
        ack: Pos,
        sent_at: Option<Time>,
        segment: &TcpSegment,
        partial: bool,
    ) -> Option<Dur> {
        let now = cx.now;
        if !self.freeze.is_round_trip_sample() {
            self.rtt.cancel_timing();
            return None;
        }
        let per_ack = sent_at.map(|at| now - at);
        match self.config.rtt_sampling {
            RttSampling::OneTimedSegment => {
                // ns-2.35: a partial ACK ends the timing and the back-off, but gives no sample.
                let timed = self.rtt.finish_timing(ack, now).filter(|_| !partial);
                if let Some(rtt) = timed {
                    self.rtt.sample(rtt, now);
                }
            }
            RttSampling::EveryAck => {
                if let Some(rtt) = per_ack.or_else(|| cx.rx.stamps.round_trip(now, segment)) {
                    self.rtt.sample(rtt, now);
                }
            }
        }
        per_ack
    }
}
