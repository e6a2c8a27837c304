//! Handling of received frames in [`Dcf`]: responses, duplicates (IEEE 802.11-2020 clauses 10.3.2.9 and 10.3.2.14).

use super::action::Action;
use super::config::OptionsRule;
use super::dcf::Dcf;
use super::exchange::{Answer, Content, TxState, needs_rts};
use super::measure;
use super::medium::Medium;
use crate::drop::DropReason;
use crate::wire::{Category, Frame, FrameKind, Msdu};
use fourhop_units::{Dur, Time};

impl Dcf {
    /// The receiver has received `frame`, which is addressed to this station or broadcast. For an aggregate, bit n of
    /// `arrived` says whether MPDU n is intact; at least one is.
    pub fn handle_reception(
        &mut self,
        now: Time,
        frame: &Frame,
        arrived: u64,
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) {
        match &frame.kind {
            FrameKind::Rts => self.handle_rts(now, frame),
            FrameKind::Cts => self.handle_cts(now, medium),
            FrameKind::Ack => self.handle_ack(now, medium, out),
            FrameKind::Aggregate(aggregate) => self.handle_aggregate(now, frame, aggregate, arrived, medium, out),
            FrameKind::BlockAck { start, bitmap, .. } => self.handle_block_ack(now, *start, *bitmap, medium, out),
            FrameKind::BlockAckRequest { start, category } => {
                self.handle_request(now, frame, (*start, *category), medium, out);
            }
            FrameKind::Data { seq, msdu, qos, .. } => self.handle_data(now, frame, (*seq, *qos), msdu, medium, out),
        }
        self.update_access(now, medium);
    }

    fn handle_rts(&mut self, now: Time, frame: &Frame) {
        if self.state != TxState::Idle || self.answer.is_some() {
            return;
        }
        self.answer =
            Some(Answer::Cts { to: frame.src, duration: frame.duration, rate: self.config.answer_to(frame.rate) });
        self.sifs_ends = now + self.config.sifs;
    }

    fn handle_cts(&mut self, now: Time, medium: &mut Medium) {
        if self.state != TxState::Rts {
            return;
        }
        let function = self.functions.active_mut();
        let Some(outgoing) = &mut function.outgoing else { return };
        outgoing.rts = false;
        function.short_retries = 0;
        self.answered(now, medium);
        self.sifs_ends = now + self.config.sifs;
    }

    fn handle_ack(&mut self, now: Time, medium: &mut Medium, out: &mut Vec<Action>) {
        if self.state != TxState::Data {
            return;
        }
        self.report_sent(out);
        let function = self.functions.active_mut();
        let Some(outgoing) = function.outgoing.take() else { return };
        let msdu = match outgoing.content {
            Content::One { msdu, .. } => msdu,
            Content::Session(to) => return self.session_answered(now, to, None, medium, out),
        };
        self.rates.handle_ack(msdu.dst, &self.config);
        if needs_rts(&self.config, &msdu) {
            function.long_retries = 0;
        } else {
            function.short_retries = 0;
        }
        function.counters.acknowledged += 1;
        self.exchange_done(now, medium);
        // MPDUs for stations that support aggregates alternate with frames for those that do not.
        if self.aggregates() && self.functions.active().has_unsent() {
            self.go_on(now, medium);
        }
    }

    /// Data has been answered.
    #[inline]
    pub(super) fn exchange_done(&mut self, now: Time, medium: &mut Medium) {
        self.answered(now, medium);
        if self.has_categories() && self.continue_txop(now) {
            return;
        }
        self.succeeded_or_gave_up(now, true, medium);
        if self.answer.is_some() {
            // Meanwhile this station came to owe an ACK, for a frame without RTS.
            self.sifs_ends = now + self.config.sifs;
        }
    }

    /// The awaited frame has arrived.
    pub(super) fn answered(&mut self, now: Time, medium: &mut Medium) {
        self.state = TxState::Idle;
        self.state_ends = Time::NEVER;
        medium.end_exchange(now);
    }

    fn handle_data(
        &mut self,
        now: Time,
        frame: &Frame,
        (seq, qos): (u16, Option<Category>),
        msdu: &Msdu,
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) {
        if let Some(category) = qos {
            if !self.takes_qos_data(now, frame, (seq, category), medium, out) {
                return;
            }
        } else if !frame.dst.is_broadcast() {
            if needs_rts(&self.config, msdu) {
                if self.state != TxState::Cts {
                    out.push(Action::Discarded(DropReason::UnexpectedData));
                    return;
                }
                self.answered(now, medium);
            } else if self.answer.is_some() {
                out.push(Action::Discarded(DropReason::UnexpectedData));
                return;
            }
            let rate = self.config.answer_to(frame.rate);
            self.answer = Some(Answer::Ack { to: frame.src, duration: Dur::ZERO, rate });
            if self.state_ends == Time::NEVER {
                // Otherwise this station is waiting for an answer itself: the ACK follows when that wait ends.
                self.sifs_ends = now + self.config.sifs;
            }
            let function = self.functions.of_mut(Category::default());
            if function.is_duplicate(frame.src, seq) {
                function.counters.duplicates += 1;
                out.push(Action::Discarded(DropReason::Duplicate));
                return;
            }
        }
        self.functions.active_mut().counters.delivered += 1;
        let strip = self.config.options == OptionsRule::Strip && measure::carried(msdu).is_some();
        let msdu = if strip { measure::stripped(msdu) } else { msdu.clone() };
        out.push(Action::Deliver { msdu, from: frame.src });
    }

    /// Handles arrived QoS data: schedules an ACK unless it is a broadcast, and returns whether it is new. A frame
    /// within a TXOP has no RTS.
    fn takes_qos_data(
        &mut self,
        now: Time,
        frame: &Frame,
        (seq, category): (u16, Category),
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) -> bool {
        if frame.dst.is_broadcast() {
            return true;
        }
        let rate = self.config.answer_to(frame.rate);
        let duration = self.left_of(frame, self.config.answer_airtime(rate));
        if !self.owes(now, Answer::Ack { to: frame.src, duration, rate }, medium, out) {
            return false;
        }
        let again = self.functions.of_mut(category).is_duplicate(frame.src, seq);
        if again {
            self.functions.active_mut().counters.duplicates += 1;
            out.push(Action::Discarded(DropReason::Duplicate));
        }
        !again
    }
}
