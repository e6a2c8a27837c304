//! Election of the active access function among the four.
//!
//! While the station transmits, the active function is the one that won the medium. Otherwise it is the one with a
//! packet whose wait ends first; on a tie, the most urgent. If no function has a packet, it is the one whose back-off
//! ends last, so that the medium knows of each back-off. Only the active function's wait is a timer: its back-off is in
//! the medium.

use super::access::Counters;
use crate::drop::DropReason;
use crate::mac::action::Action;
use crate::mac::backoff::Backoff;
use crate::mac::counters::Counters as FrameCounters;
use crate::mac::dcf::Dcf;
use crate::mac::exchange::{Content, Outgoing, TxState};
use crate::mac::function::{Function, Functions};
use crate::mac::medium::Medium;
use crate::wire::Category;
use core::cmp::Reverse;
use fourhop_units::Time;

impl Dcf {
    /// Whether it has a function per access category. Otherwise a single one takes the MSDUs of all categories.
    #[inline(always)]
    pub fn has_categories(&self) -> bool {
        matches!(self.functions, Functions::Four(_))
    }

    /// Returns the counters of a category; received frames count for any of them.
    pub fn counters_of(&self, category: Category) -> Option<(FrameCounters, Counters)> {
        let function = self.functions.of(category);
        Some((function.counters, function.txop.as_ref()?.counters))
    }

    /// Whether one of its functions owns the medium.
    fn owns_medium(&self) -> bool {
        let awaits = matches!(self.state, TxState::Rts | TxState::Data | TxState::Broadcast | TxState::SelfCts);
        awaits || (self.sifs_ends != Time::NEVER && self.answer.is_none())
    }

    /// Makes `call` give the function of `category` something to send.
    #[inline(always)]
    pub(in crate::mac) fn on_behalf_of(
        &mut self,
        now: Time,
        category: Category,
        medium: &mut Medium,
        call: impl FnOnce(&mut Dcf, &mut Medium),
    ) {
        let before = self.qos();
        if before.is_some() {
            self.forget_expired(now, medium);
            self.activate(category, medium);
        }
        call(self, medium);
        if let Some(before) = before {
            self.activate(before, medium);
            self.elect(now, medium);
        }
    }

    fn activate(&mut self, category: Category, medium: &mut Medium) {
        let Functions::Four(four) = &mut self.functions else { return };
        if four.active != category {
            let backoff = four.list[category as usize].backoff.take();
            four.active_mut().backoff = medium.replace_backoff(backoff);
            four.active = category;
        }
        medium.want_access(four.active().outgoing.is_some());
    }

    /// Clears back-offs that have expired with nothing to send.
    fn forget_expired(&mut self, now: Time, medium: &mut Medium) {
        let owns = self.owns_medium();
        let Functions::Four(four) = &mut self.functions else { return };
        medium.expire_backoff(now, &self.rules);
        // If no function has a packet, the active one is the last to expire.
        let all_expired = !owns && four.active().outgoing.is_none() && !medium.has_backoff();
        let idle_since = medium.idle_since();
        let ended = |backoff: &Backoff| idle_since.is_some_and(|since| self.rules.backoff_ends(backoff, since) <= now);
        for function in &mut four.list {
            if function.outgoing.is_none() && (all_expired || function.backoff.as_ref().is_some_and(ended)) {
                function.backoff = None;
            }
        }
    }

    /// Activates the function that is next, unless one owns the medium.
    #[inline(never)]
    pub(in crate::mac) fn elect(&mut self, now: Time, medium: &mut Medium) {
        if self.owns_medium() {
            return medium.want_access(self.functions.active().outgoing.is_some());
        }
        self.forget_expired(now, medium);
        self.take_up_prepared(now, medium);
        let Functions::Four(four) = &self.functions else { return };
        // Back-offs that are not running were all drawn before the event that lets them run again.
        let idle_since = medium.idle_since().unwrap_or(now);
        let turn = |&category: &Category| {
            let function = &four.list[category as usize];
            let backoff = if category == four.active { medium.backoff() } else { function.backoff.as_ref() };
            let ends = backoff.map(|backoff| self.rules.backoff_ends(backoff, idle_since).as_nanos());
            match (function.outgoing.is_some(), ends) {
                (true, Some(ends)) => (0, ends, Reverse(category)),
                (_, Some(ends)) => (1, u64::MAX - ends, Reverse(category)),
                (_, None) => (2, 0, Reverse(category)),
            }
        };
        let chosen = Category::ALL.into_iter().min_by_key(turn).unwrap_or(four.active);
        self.activate(chosen, medium);
    }

    /// Lets functions take up packets taken in advance for a TXOP that has ended, and gives every packet a back-off.
    fn take_up_prepared(&mut self, now: Time, medium: &mut Medium) {
        let Some(before) = self.qos() else { return };
        for category in Category::ALL {
            let Function { outgoing, txop: Some(txop), .. } = self.functions.of_mut(category) else { return };
            let waits = outgoing.is_some();
            let prepared = if waits { None } else { txop.next.take() };
            if !waits && prepared.is_none() {
                continue;
            }
            self.activate(category, medium);
            if let Some(msdu) = prepared {
                self.take_in_hand(now, msdu);
                self.want_access(now, medium);
            } else {
                self.resume_outgoing(now, medium);
            }
        }
        self.activate(before, medium);
    }

    /// The medium has become busy: stops the back-offs, and draws one for an immediate access. The medium itself has
    /// stopped that of the active function.
    #[inline(never)]
    pub(in crate::mac) fn stop_backoffs(&mut self, now: Time, medium: &mut Medium) {
        let idle_since = medium.last_idle_since();
        if medium.backoff().is_some_and(Backoff::is_immediate) {
            self.draw_backoff(now, medium);
        }
        self.stop_others(now, idle_since);
        self.elect(now, medium);
    }

    /// Stops the back-offs of the functions that are not active.
    #[inline(never)]
    pub(in crate::mac) fn stop_others(&mut self, now: Time, idle_since: Time) {
        let (rules, config) = (&self.rules, &self.config);
        for function in self.functions.all_mut() {
            let Some(running) = &mut function.backoff else { continue };
            if function.outgoing.is_none() && rules.backoff_ends(running, idle_since) <= now {
                function.backoff = None;
            } else if running.is_immediate() {
                function.backoff = Some(function.draw(now, config, &mut self.random));
            } else {
                rules.stop_backoff(running, idle_since, now);
            }
        }
    }

    /// Returns when the answer should have ended, if the wait that ends at `now` was for one. From that instant slots
    /// count again, as they do after the EIFS of other stations: the slot boundaries of all stations stay aligned, and
    /// the propagation margin does not separate them.
    #[inline(never)]
    pub(in crate::mac) fn answer_was_due(&self, now: Time) -> Time {
        let margin = self.config.propagation_margin * 2;
        let awaits = matches!(self.state, TxState::Rts | TxState::Data) && self.answer.is_none();
        if awaits && margin < self.config.difs() { now - margin } else { now }
    }

    /// The wait of the active function has ended. Among all functions whose wait has ended, the most urgent wins and
    /// becomes active; for the others it is a collision (clause 10.23.2.4). Returns whether the medium can be used.
    pub(in crate::mac) fn resolve_internally(&mut self, now: Time, medium: &mut Medium, out: &mut Vec<Action>) -> bool {
        if self.answer.is_some() {
            // It coincides with a pending CTS or ACK.
            self.draw_backoff(now, medium);
            return false;
        }
        let Functions::Four(four) = &self.functions else { return true };
        let idle_since = medium.idle_since().unwrap_or(now);
        let ended = |backoff: &Backoff| self.rules.backoff_ends(backoff, idle_since) <= now;
        let mut due = four
            .list
            .each_ref()
            .map(|function| function.outgoing.is_some() && function.backoff.as_ref().is_some_and(ended));
        if due.contains(&true) {
            due[four.active as usize] = true;
            let mut losers = Category::ALL.into_iter().filter(|&category| due[category as usize]);
            if let Some(winner) = losers.next_back() {
                for loser in losers {
                    self.activate(loser, medium);
                    self.collide_internally(now, medium, out);
                }
                self.activate(winner, medium);
                medium.replace_backoff(None);
            }
        }
        true
    }

    /// The active function would have sent, but a more urgent one does. Retries count as after any collision, but no
    /// frame is marked as a retry.
    fn collide_internally(&mut self, now: Time, medium: &mut Medium, out: &mut Vec<Action>) {
        let function = self.functions.active_mut();
        if let Some(txop) = &mut function.txop {
            txop.counters.internal_collisions += 1;
        }
        function.short_retries += 1;
        if function.short_retries < self.config.short_retry_limit {
            return self.failed(now, medium);
        }
        function.short_retries = 0;
        match &function.outgoing {
            Some(Outgoing { content: Content::One { msdu, .. }, rts, .. }) if !msdu.dst.is_broadcast() => {
                let (reason, drops) = match rts {
                    true => (DropReason::RtsRetryLimit, &mut function.counters.rts_limit_drops),
                    false => (DropReason::DataRetryLimit, &mut function.counters.data_limit_drops),
                };
                *drops += 1;
                self.give_up(now, reason, medium, out);
            }
            // A group-addressed frame is sent once; in sessions each MPDU has its own limit.
            _ => self.succeeded_or_gave_up(now, true, medium),
        }
    }
}
