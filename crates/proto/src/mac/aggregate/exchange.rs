//! Exchanges of aggregates: the part of [`Dcf`] that sends, answers and receives them.

use super::options::Protection;
use super::outcome::Outcome;
use super::recipient::Fate;
use super::supply::Supply;
use crate::drop::DropReason;
use crate::mac::action::Action;
use crate::mac::dcf::Dcf;
use crate::mac::exchange::{Answer, Content, Outgoing, TxState};
use crate::mac::function::Function;
use crate::mac::medium::Medium;
use crate::mac::sizes::{BLOCK_ACK, BLOCK_ACK_REQUEST};
use crate::wire::{Aggregate, Category, Frame, FrameKind, Msdu};
use fourhop_units::{Dur, MacAddr, Rate, Time};
use std::sync::Arc;

impl Dcf {
    /// Whether the current exchange belongs to a session.
    pub(in crate::mac) fn in_session(&self) -> bool {
        matches!(&self.functions.active().outgoing, Some(Outgoing { content: Content::Session(_), .. }))
    }

    /// Declares that these stations, sorted by address, support no MCS: their packets are sent frame by frame at legacy
    /// rates. Call it before the first event.
    pub fn know_without_mcs(&mut self, stations: Arc<[MacAddr]>) {
        for sessions in self.functions.all_mut().iter_mut().flat_map(|function| &mut function.sessions) {
            sessions.legacy = stations.clone();
        }
    }

    /// Whether it sends and accepts aggregates.
    #[inline]
    pub fn aggregates(&self) -> bool {
        self.config.mcs.is_some()
    }

    /// Whether this category still has frames to send but no exchange has begun. If so, [`Dcf::resume`] begins one when
    /// the layer above has nothing.
    #[inline]
    pub fn has_unsent(&self, category: Category) -> bool {
        self.functions.of(category).has_unsent()
    }

    /// Begins an exchange for the MPDUs left in sessions of this category; call it only if [`Dcf::wants`] is true.
    pub fn resume(&mut self, now: Time, category: Category, medium: &mut Medium) {
        self.on_behalf_of(now, category, medium, |mac, medium| mac.go_on(now, medium));
    }

    pub(in crate::mac) fn go_on(&mut self, now: Time, medium: &mut Medium) {
        let Some(sessions) = &mut self.functions.active_mut().sessions else { return };
        sessions.from_above = false;
        if let Some(to) = sessions.take_up_next() {
            self.take_up(now, to, medium);
        }
    }

    /// Takes a packet for one station.
    pub(in crate::mac) fn begin_session(&mut self, now: Time, msdu: Msdu, medium: &mut Medium) {
        let Some(sessions) = &mut self.functions.active_mut().sessions else { return };
        let to = msdu.dst;
        sessions.current = sessions.originator(to);
        sessions.originators[sessions.current].accept(msdu);
        sessions.from_above = true;
        self.take_up(now, to, medium);
    }

    fn take_up(&mut self, now: Time, to: MacAddr, medium: &mut Medium) {
        let rate = self.config.data_rate;
        self.functions.active_mut().outgoing =
            Some(Outgoing { content: Content::Session(to), rate, airtime: Dur::ZERO, rts: false });
        self.want_access(now, medium);
    }

    /// The medium is won: composes the exchange and starts it.
    #[inline(never)]
    pub(in crate::mac) fn begin_exchange_with(
        &mut self,
        now: Time,
        to: MacAddr,
        medium: &mut Medium,
        air: &mut Option<Frame>,
        supply: &mut impl Supply,
    ) {
        let category = self.qos().unwrap_or_default();
        let Function { sessions: Some(sessions), outgoing: Some(outgoing), counters, access, .. } =
            self.functions.active_mut()
        else {
            return;
        };
        let originator = &mut sessions.originators[sessions.current];
        sessions.requests = originator.request().is_some();
        if sessions.requests {
            let rate = self.config.basic_rate;
            (outgoing.rate, outgoing.airtime) = (rate, self.config.airtime(BLOCK_ACK_REQUEST, rate));
            return self.send_session(now, to, medium, air, supply);
        }
        let choice = sessions.choose(now, &self.config);
        let mcs = choice.mcs;
        let originator = &mut sessions.originators[sessions.current];
        let within = access.longest_aggregate(&self.config, mcs);
        originator.fill(&self.config, choice, within, || {
            let msdu = supply.next_for(now, to, category)?;
            counters.accepted += 1;
            Some(msdu)
        });
        let psdu = originator.psdu();
        (outgoing.rate, outgoing.airtime) = (mcs.rate(), mcs.airtime(self.config.phy, psdu));
        let airtime = outgoing.airtime;
        let times = &mut sessions.times[usize::from(originator.in_flight() > 1)];
        times.follow(&self.config, mcs.reference_rate());
        let times = *times;
        match sessions.protection(&self.config) {
            Protection::RtsCts => self.radiate_rts(now, to, &times, airtime, medium, air),
            _ if psdu > self.config.rts_threshold => self.radiate_rts(now, to, &times, airtime, medium, air),
            Protection::CtsToSelf => {
                counters.self_cts_sent += 1;
                let rate = self.config.basic_rate;
                let cts = self.config.answer_airtime(rate);
                let duration = times.self_cts_duration(&self.config, airtime);
                *air =
                    Some(Frame { dst: self.addr, src: self.addr, duration, rate, airtime: cts, kind: FrameKind::Cts });
                self.radiate(now, cts, TxState::SelfCts, cts, medium);
            }
            Protection::None | Protection::Auto => self.send_session(now, to, medium, air, supply),
        }
    }

    /// Sends the data or the request of the exchange.
    pub(in crate::mac) fn send_session(
        &mut self,
        now: Time,
        to: MacAddr,
        medium: &mut Medium,
        air: &mut Option<Frame>,
        supply: &mut impl Supply,
    ) {
        let category = self.qos().unwrap_or_default();
        let Function { sessions: Some(sessions), outgoing: Some(outgoing), counters, .. } = self.functions.active_mut()
        else {
            return;
        };
        let mcs = sessions.mcs;
        let originator = &sessions.originators[sessions.current];
        let (rate, airtime) = (outgoing.rate, outgoing.airtime);
        let answered_by_block_ack = sessions.requests || originator.in_flight() > 1;
        let times = &mut sessions.times[usize::from(answered_by_block_ack)];
        let kind = if sessions.requests {
            times.follow(&self.config, rate);
            counters.requests_sent += 1;
            FrameKind::BlockAckRequest { start: originator.request().unwrap_or_default(), category }
        } else {
            times.follow(&self.config, mcs.reference_rate());
            // Reuses the list of a frame that has left the air.
            let mut aggregate = match air.take().map(|frame| frame.kind) {
                Some(FrameKind::Aggregate(aggregate)) => aggregate,
                _ => Box::new(Aggregate { mcs, category, mpdus: Vec::new() }),
            };
            (aggregate.mcs, aggregate.category) = (mcs, category);
            originator.copy_into(&mut aggregate.mpdus);
            counters.data_sent += 1;
            counters.mpdus_sent += aggregate.mpdus.len() as u64;
            counters.mpdus_again += aggregate.mpdus.iter().filter(|mpdu| mpdu.retry).count() as u64;
            FrameKind::Aggregate(aggregate)
        };
        let (duration, wait) = (times.data_duration, times.ack_timeout(airtime));
        supply.sent(now, to, airtime + times.answered(&self.config), category);
        *air = Some(Frame { dst: to, src: self.addr, duration, rate, airtime, kind });
        self.radiate(now, airtime, TxState::Data, wait, medium);
    }

    /// Sends a block acknowledgement, SIFS after an aggregate: the MPDUs received of this and earlier aggregates.
    pub(in crate::mac) fn send_block_ack(
        &mut self,
        now: Time,
        (to, category): (MacAddr, Category),
        (duration, rate): (Dur, Rate),
        medium: &mut Medium,
        air: &mut Option<Frame>,
    ) {
        let Function { sessions: Some(sessions), counters, .. } = self.functions.of_mut(category) else { return };
        let (start, bitmap) = sessions.recipient(to).block_ack();
        counters.block_acks_sent += 1;
        let airtime = self.config.airtime(BLOCK_ACK, rate);
        let kind = FrameKind::BlockAck { start, bitmap, category };
        *air = Some(Frame { dst: to, src: self.addr, duration, rate, airtime, kind });
        self.answer_ends(now, airtime, medium);
    }

    /// The current exchange has not been answered.
    pub(in crate::mac) fn session_unanswered(
        &mut self,
        now: Time,
        reason: DropReason,
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) {
        let function = self.functions.active_mut();
        let Some(sessions) = &mut function.sessions else { return };
        let limit = self.config.short_retry_limit;
        let originator = &mut sessions.originators[sessions.current];
        if sessions.requests {
            originator.handle_request_lost(limit);
        } else {
            let before = out.len();
            let outcome = originator.handle_nothing(limit, |msdu| out.push(Action::GaveUp { msdu, reason }));
            let given_up = (out.len() - before) as u64;
            match reason {
                DropReason::RtsRetryLimit => function.counters.rts_limit_drops += given_up,
                _ => {
                    function.counters.data_limit_drops += given_up;
                    sessions.note(outcome, false);
                }
            }
        }
        if !sessions.originators[sessions.current].has_work() {
            function.outgoing = None;
        }
        function.short_retries += 1;
        if function.short_retries >= limit {
            function.short_retries = 0;
            self.succeeded_or_gave_up(now, true, medium);
        } else {
            self.failed(now, medium);
        }
    }

    /// The current exchange has been answered, by an ACK or by a block acknowledgement with this start and bitmap, and
    /// is over.
    pub(in crate::mac) fn session_answered(
        &mut self,
        now: Time,
        to: MacAddr,
        block_ack: Option<(u16, u64)>,
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) {
        let function = self.functions.active_mut();
        let Some(sessions) = &mut function.sessions else { return };
        debug_assert_eq!(sessions.originators[sessions.current].to(), to);
        let originator = &mut sessions.originators[sessions.current];
        let before = out.len();
        let outcome: Outcome = match block_ack {
            None => originator.handle_ack(),
            Some((start, bitmap)) => {
                originator.handle_block_ack(start, bitmap, self.config.short_retry_limit, |msdu| {
                    out.push(Action::GaveUp { msdu, reason: DropReason::DataRetryLimit });
                })
            }
        };
        function.counters.data_limit_drops += (out.len() - before) as u64;
        function.counters.acknowledged += outcome.acked_packets;
        sessions.note(outcome, true);
        function.short_retries = 0;
        // MPDUs left in sessions alternate with packets from above.
        let resumes = core::mem::take(&mut sessions.from_above) && sessions.has_work();
        self.exchange_done(now, medium);
        if resumes {
            self.go_on(now, medium);
        }
    }

    pub(in crate::mac) fn handle_block_ack(
        &mut self,
        now: Time,
        start: u16,
        bitmap: u64,
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) {
        if self.state != TxState::Data || !self.in_session() {
            return;
        }
        if let Some(Outgoing { content: Content::Session(to), .. }) = self.functions.active_mut().outgoing.take() {
            self.session_answered(now, to, Some((start, bitmap)), medium, out);
        }
    }

    pub(in crate::mac) fn handle_aggregate(
        &mut self,
        now: Time,
        frame: &Frame,
        aggregate: &Aggregate,
        arrived: u64,
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) {
        let rate = self.config.answer_to(aggregate.mcs.reference_rate());
        let category = aggregate.category;
        let answer = match aggregate.mpdus.len() {
            1 => Answer::Ack { to: frame.src, duration: self.left_of(frame, self.config.answer_airtime(rate)), rate },
            _ => self.block_ack_for(frame, rate, category),
        };
        if !self.owes(now, answer, medium, out) {
            return;
        }
        let Function { sessions: Some(sessions), counters, .. } = self.functions.of_mut(category) else { return };
        let recipient = sessions.recipient(frame.src);
        for mpdu in
            aggregate.mpdus.iter().enumerate().filter(|(place, _)| arrived >> place & 1 == 1).map(|(_, mpdu)| mpdu)
        {
            let fate = recipient.handle_mpdu(now, mpdu, |msdu| {
                counters.delivered += 1;
                out.push(Action::Deliver { msdu, from: frame.src });
            });
            if fate == Fate::Late {
                counters.duplicates += 1;
                out.push(Action::Discarded(DropReason::Duplicate));
            }
        }
    }

    pub(in crate::mac) fn handle_request(
        &mut self,
        now: Time,
        frame: &Frame,
        (start, category): (u16, Category),
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) {
        let answer = self.block_ack_for(frame, self.config.answer_to(frame.rate), category);
        if !self.owes(now, answer, medium, out) {
            return;
        }
        let Function { sessions: Some(sessions), counters, .. } = self.functions.of_mut(category) else { return };
        sessions.recipient(frame.src).handle_request(now, start, |msdu| {
            counters.delivered += 1;
            out.push(Action::Deliver { msdu, from: frame.src });
        });
    }

    fn block_ack_for(&self, frame: &Frame, rate: Rate, category: Category) -> Answer {
        let duration = self.left_of(frame, self.config.airtime(BLOCK_ACK, rate));
        Answer::BlockAck { to: frame.src, duration, rate, category }
    }

    /// Schedules `answer`; returns false if the station cannot send it.
    pub(in crate::mac) fn owes(
        &mut self,
        now: Time,
        answer: Answer,
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) -> bool {
        if self.state == TxState::Cts {
            self.answered(now, medium);
        } else if self.answer.is_some() {
            out.push(Action::Discarded(DropReason::UnexpectedData));
            return false;
        }
        self.answer = Some(answer);
        if self.state_ends == Time::NEVER {
            // Otherwise this station is waiting for an answer itself: this one follows when that wait ends.
            self.sifs_ends = now + self.config.sifs;
        }
        true
    }

    /// Returns when [`Dcf::handle_reorder_timeout`] must be called. Not part of [`Dcf::next_timeout`], because it does
    /// not involve the medium.
    pub fn next_reorder_timeout(&self) -> Option<Time> {
        self.config.mcs?;
        let sessions = self.functions.all().iter().flat_map(|function| &function.sessions);
        sessions.filter_map(|sessions| sessions.next_timeout(&self.config)).min()
    }

    /// Delivers packets that have waited too long for missing ones; nothing if called early.
    pub fn handle_reorder_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        let timeout = self.config.aggregation.reorder_timeout;
        for Function { sessions, counters, .. } in self.functions.all_mut() {
            for recipient in sessions.iter_mut().flat_map(|sessions| &mut sessions.recipients) {
                let from = recipient.from();
                recipient.handle_timeout(now, timeout, |msdu| {
                    counters.delivered += 1;
                    out.push(Action::Deliver { msdu, from });
                });
            }
        }
    }

    /// Returns the number of packets in reordering buffers.
    pub fn reordering(&self) -> usize {
        let sessions = self.functions.all().iter().flat_map(|function| &function.sessions);
        sessions.flat_map(|sessions| &sessions.recipients).map(super::Recipient::buffered).sum()
    }
}
