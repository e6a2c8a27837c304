//! Timeouts of [`Dcf`]: retries and giving up, and their effect on the contention window (IEEE 802.11-2020 clauses
//! 10.3.3 and 10.3.4.4).

use super::action::Action;
use super::dcf::Dcf;
use super::exchange::{Content, Outgoing, TxState, needs_rts};
use super::medium::Medium;
use crate::drop::DropReason;
use fourhop_units::Time;

impl Dcf {
    /// The wait that belongs to `state` has ended without a response.
    pub(super) fn end_state(&mut self, now: Time, medium: &mut Medium, out: &mut Vec<Action>) {
        let now = if self.has_categories() { self.answer_was_due(now) } else { now };
        match self.state {
            TxState::Idle => {}
            TxState::Rts if self.in_session() => {
                self.functions.active_mut().counters.rts_timeouts += 1;
                self.session_unanswered(now, DropReason::RtsRetryLimit, medium, out);
            }
            TxState::Data if self.in_session() => {
                self.functions.active_mut().counters.data_timeouts += 1;
                self.session_unanswered(now, DropReason::DataRetryLimit, medium, out);
            }
            TxState::SelfCts => {
                // The protected frame follows.
                self.state = TxState::Idle;
                medium.end_exchange(now);
                self.sifs_ends = now + self.config.sifs;
                return;
            }
            TxState::Rts if self.holds_foreign() => {
                self.functions.active_mut().counters.rts_timeouts += 1;
                self.foreign_unanswered(now, DropReason::RtsRetryLimit, medium, out);
            }
            TxState::Data if self.holds_foreign() => {
                self.functions.active_mut().counters.data_timeouts += 1;
                self.foreign_unanswered(now, DropReason::DataRetryLimit, medium, out);
            }
            TxState::Rts => {
                let function = self.functions.active_mut();
                function.counters.rts_timeouts += 1;
                function.short_retries += 1;
                if function.short_retries >= self.config.short_retry_limit {
                    function.short_retries = 0;
                    function.counters.rts_limit_drops += 1;
                    self.give_up(now, DropReason::RtsRetryLimit, medium, out);
                } else {
                    self.failed(now, medium);
                }
            }
            TxState::Data => self.ack_missing(now, medium, out),
            TxState::Broadcast => {
                self.report_sent(out);
                let function = self.functions.active_mut();
                function.outgoing = None;
                function.counters.broadcasts += 1;
                self.succeeded_or_gave_up(now, true, medium);
            }
            TxState::Cts => self.answer = None,
        }
        self.state = TxState::Idle;
        medium.end_exchange(now);
        if self.answer.is_some() {
            self.sifs_ends = now + self.config.sifs;
        } else {
            self.resume_outgoing(now, medium);
        }
    }

    fn ack_missing(&mut self, now: Time, medium: &mut Medium, out: &mut Vec<Action>) {
        let function = self.functions.active_mut();
        function.counters.data_timeouts += 1;
        let Some(Outgoing { content: Content::One { msdu, retry, .. }, rate, airtime, rts: reserve }) =
            &mut function.outgoing
        else {
            return;
        };
        self.rates.handle_missing_ack(msdu.dst, &self.config);
        let rts = needs_rts(&self.config, msdu);
        let (count, limit) = if rts {
            (&mut function.long_retries, self.config.long_retry_limit)
        } else {
            (&mut function.short_retries, self.config.short_retry_limit)
        };
        *count += 1;
        if *count >= limit {
            *count = 0;
            function.counters.data_limit_drops += 1;
            self.give_up(now, DropReason::DataRetryLimit, medium, out);
        } else {
            *retry = true;
            *reserve = rts;
            let limit = if rts { self.config.long_retry_limit } else { self.config.short_retry_limit };
            *rate = self.rates.again(msdu.dst, limit, &self.config);
            *airtime = self.config.data_airtime(msdu.len, *rate);
            self.failed(now, medium);
        }
    }

    pub(super) fn give_up(&mut self, now: Time, reason: DropReason, medium: &mut Medium, out: &mut Vec<Action>) {
        if let Some(Outgoing { content: Content::One { msdu, .. }, .. }) = self.functions.active_mut().outgoing.take() {
            out.push(Action::GaveUp { msdu, reason });
        }
        self.succeeded_or_gave_up(now, false, medium);
    }

    pub(super) fn failed(&mut self, now: Time, medium: &mut Medium) {
        let function = self.functions.active_mut();
        function.cw = function.access.next_cw(function.cw);
        medium.replace_backoff(Some(function.draw(now, &self.config, &mut self.random)));
    }

    /// Called after an MSDU was given up, acknowledged or broadcast.
    pub(super) fn succeeded_or_gave_up(&mut self, now: Time, post_backoff: bool, medium: &mut Medium) {
        let function = self.functions.active_mut();
        function.cw = function.access.cw_min;
        if post_backoff || self.config.immediate_access {
            medium.replace_backoff(Some(function.draw(now, &self.config, &mut self.random)));
        }
    }
}
