//! The DCF state machine of one station.
//!
//! ```text
//!            packet, DIFS + back-off           SIFS            SIFS
//! sender    ─────────────────────────► RTS ─────────►  DATA ─────────► done, post-back-off
//!                                       │     ▲          │      ▲
//! receiver                              └► CTS ┘         └► ACK ┘
//!                                        SIFS             SIFS
//! ```
//!
//! The station counts as transmitting from the start of a frame to its response or time-out, not only while it
//! radiates: the medium is idle when the receiver is free, the station has no exchange in progress and the NAV has
//! expired. [`Medium`] handles all of this.
//!
//! A station has one access function, or with EDCA four ([`edca`](super::edca)); the active one contends for the
//! medium.

use super::action::{Action, Due};
use super::aggregate::Supply;
use super::config::{Config, OptionsRule};
use super::counters::Counters;
use super::exchange::{Answer, Content, Outgoing, TxState, needs_rts};
use super::function::{Function, Functions};
use super::measure;
use super::medium::{Medium, Rules};
use super::rate::Rates;
use super::times::{AnswerTimes, ExchangeTimes};
use crate::phy::Mcs;
use crate::wire::{Category, Frame, FrameKind, Msdu, Payload};
use fourhop_units::{Dur, MacAddr, Rate, Stream, Time};
use std::sync::Arc;

/// The MAC of one station.
///
/// The driver calls [`Dcf::handle_packet`] if it [`Dcf::wants`] one; [`Dcf::handle_reception`] for every good frame
/// addressed to this station or broadcast, after the medium has seen it; [`Dcf::handle_access_lost`] when the medium
/// asks for it; and [`Dcf::handle_timeout`] at [`Dcf::next_timeout`]. Any of these calls may change `next_timeout` and
/// `is_ready`; so may every event at the medium while it awaits access. `medium` is always that of this station.
// Field order is memory order: fields touched by every event come first, in few cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Dcf {
    pub(super) config: Arc<Config>,
    /// End of SIFS, when the answer or the data after a CTS is sent. `NEVER` if there is neither.
    pub(super) sifs_ends: Time,
    /// End of the wait that belongs to `state`; `NEVER` without one.
    pub(super) state_ends: Time,
    pub(super) state: TxState,
    pub(super) addr: MacAddr,
    next_seq: u16,
    pub(super) answer: Option<Answer>,
    pub(super) functions: Functions,
    pub(super) rules: Rules,
    pub(super) random: Stream,
    pub(super) times: ExchangeTimes,
    answer_times: AnswerTimes,
    pub(super) rates: Rates,
}

impl Dcf {
    /// Creates an idle station. Stations created from one `Arc` share its memory.
    pub fn new(addr: MacAddr, config: impl Into<Arc<Config>>, random: Stream) -> Dcf {
        let config = config.into();
        Dcf {
            rules: Rules::new(&config),
            times: ExchangeTimes::new(&config, config.data_rate),
            answer_times: AnswerTimes::new(&config, config.basic_rate),
            functions: Functions::new(&config),
            addr,
            random,
            answer: None,
            sifs_ends: Time::NEVER,
            state: TxState::Idle,
            state_ends: Time::NEVER,
            config,
            next_seq: 1,
            rates: Rates::default(),
        }
    }

    /// Makes rate control draw the order in which it tries rates from `random`.
    pub fn sample_rates_by(&mut self, random: Stream) {
        for sessions in self.functions.all_mut().iter_mut().flat_map(|function| &mut function.sessions) {
            sessions.sample_by(random.clone());
        }
        self.rates.sample_by(random);
    }

    /// Returns the receiver of MSDUs of this category sent since the last call and the air time of their frames, RTS
    /// and retries included. Call it before handing over the next MSDU, while [`Dcf::wants`] is true.
    pub fn take_airtime(&mut self, category: Category) -> Option<(MacAddr, Dur)> {
        let Function { sent_for, air_used, .. } = self.functions.of_mut(category);
        let used = core::mem::take(air_used);
        (!used.is_zero()).then_some((*sent_for, used))
    }

    /// Whether the active function has nothing to send. Without access categories it can then take an MSDU.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        self.functions.active().outgoing.is_none()
    }

    /// Whether it can take an MSDU of this category.
    pub fn wants(&self, category: Category) -> bool {
        let Function { outgoing, txop, .. } = self.functions.of(category);
        outgoing.is_none() && txop.as_ref().is_none_or(|txop| txop.next.is_none())
    }

    /// Returns the current rate of data to a neighbour.
    pub fn rate_to(&self, addr: MacAddr) -> Rate {
        match &self.functions.active().sessions {
            Some(sessions) if sessions.is_for(addr) => sessions.present(addr).map_or(self.config.data_rate, Mcs::rate),
            _ => self.rates.present(addr, &self.config),
        }
    }

    /// Returns the counts since the start, summed over all access functions.
    pub fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        self.functions.all().iter().for_each(|function| sum.add(&function.counters));
        sum
    }

    /// The constants and options in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the end of SIFS if the station is between a frame addressed to it and its own.
    pub fn sifs_ends(&self) -> Option<Time> {
        Some(self.sifs_ends).filter(|&at| at != Time::NEVER)
    }

    /// Returns the MSDUs that it has accepted and neither completed nor given up.
    pub fn msdus(&self) -> impl Iterator<Item = &Msdu> {
        self.functions.all().iter().flat_map(Function::msdus)
    }

    /// Takes an MSDU from the queue of this category; call it only if [`Dcf::wants`] is true.
    pub fn handle_packet(&mut self, now: Time, category: Category, msdu: Msdu, medium: &mut Medium) {
        debug_assert!(self.wants(category), "a function holds one MSDU at a time");
        self.on_behalf_of(now, category, medium, |mac, medium| mac.take_packet(now, msdu, medium));
    }

    #[inline(always)]
    pub(super) fn take_packet(&mut self, now: Time, mut msdu: Msdu, medium: &mut Medium) {
        if matches!(self.config.options, OptionsRule::Measure { .. }) {
            measure::note_head(now, &mut msdu);
        }
        let function = self.functions.active_mut();
        function.counters.accepted += 1;
        if let Some(sessions) = &function.sessions
            && !msdu.dst.is_broadcast()
            && sessions.is_for(msdu.dst)
        {
            return self.begin_session(now, msdu, medium);
        }
        self.take_in_hand(now, msdu);
        self.want_access(now, medium);
    }

    /// Turns the MSDU into a frame.
    #[inline(always)]
    pub(super) fn take_in_hand(&mut self, now: Time, msdu: Msdu) {
        let broadcast = msdu.dst.is_broadcast();
        let rate = match &msdu.payload {
            Payload::Foreign(frame) => frame.present().rate,
            _ if broadcast => self.config.basic_rate,
            _ => self.rates.begin(now, msdu.dst, &self.config),
        };
        let airtime = self.config.data_airtime(msdu.len, rate);
        let rts = !broadcast && needs_rts(&self.config, &msdu);
        let Function { outgoing, txop, .. } = self.functions.active_mut();
        let next_seq = match txop {
            None => &mut self.next_seq,
            Some(txop) => txop.next_seq_to(msdu.dst),
        };
        let seq = *next_seq;
        // IEEE 802.11-2020 clause 9.2.4.4.2: 12 bits.
        *next_seq = (seq + 1) & 0x0fff;
        let content = Content::One { msdu, seq, retry: false };
        *outgoing = Some(Outgoing { content, rate, airtime, rts });
    }

    /// Requests access for something to send.
    #[inline(always)]
    pub(super) fn want_access(&mut self, now: Time, medium: &mut Medium) {
        let immediate = self.config.immediate_access && self.sifs_ends == Time::NEVER;
        let function = self.functions.active();
        if medium.request_access(now, immediate, function.access.later, &self.rules) {
            medium.replace_backoff(Some(function.draw(now, &self.config, &mut self.random)));
        }
        medium.want_access(true);
    }

    /// The medium has become busy before an immediate access, or while EDCA back-offs were running.
    pub fn handle_access_lost(&mut self, now: Time, medium: &mut Medium) {
        match self.has_categories() {
            false => self.draw_backoff(now, medium),
            true => self.stop_backoffs(now, medium),
        }
    }

    /// Returns when [`Dcf::handle_timeout`] must be called.
    pub fn next_timeout(&self, medium: &Medium) -> Option<Time> {
        Time::earlier_of(self.exchange_timeout().unless_never(), medium.access_timeout(&self.rules))
    }

    /// As [`Dcf::next_timeout`], without the wait for access; `NEVER` if nothing else is pending.
    #[inline]
    pub fn exchange_timeout(&self) -> Time {
        self.sifs_ends.min(self.state_ends)
    }

    /// Returns the options that the medium around the station needs.
    #[inline]
    pub fn medium_rules(&self) -> &Rules {
        &self.rules
    }

    /// Does what is due at `now`; nothing if called early. Puts at most one frame, to be radiated from now on, into
    /// `air`; without a frame, `air` is left as it was. `supply` is the layer above, with further packets for an
    /// aggregate.
    #[inline(always)]
    pub fn handle_timeout(
        &mut self,
        now: Time,
        medium: &mut Medium,
        air: &mut Option<Frame>,
        supply: &mut impl Supply,
        out: &mut Vec<Action>,
    ) -> Due {
        let radiated_until = medium.radiates_until();
        let state_due = self.state_ends.take_by(now);
        if state_due {
            self.end_state(now, medium, out);
        }
        let sifs_due = self.sifs_ends.take_by(now);
        if sifs_due {
            self.after_sifs(now, medium, air, supply);
        }
        let access_due = medium.take_access(now, &self.rules);
        if access_due {
            match self.has_categories() {
                false => self.access(now, medium, air, supply),
                true => self.access_of_the_winner(now, medium, air, supply, out),
            }
        }
        if !(state_due || sifs_due || access_due) {
            return Due::Nothing;
        }
        self.update_access(now, medium);
        if medium.radiates_until() == radiated_until { Due::Something } else { Due::Frame }
    }

    /// Reports to the medium, after any event, whether a packet is waiting.
    #[inline(always)]
    pub(super) fn update_access(&mut self, now: Time, medium: &mut Medium) {
        match &self.functions {
            Functions::One(function) => medium.want_access(function.outgoing.is_some()),
            Functions::Four(_) => self.elect(now, medium),
        }
    }

    /// As [`Dcf::access`], for EDCA.
    #[inline(never)]
    fn access_of_the_winner(
        &mut self,
        now: Time,
        medium: &mut Medium,
        air: &mut Option<Frame>,
        supply: &mut impl Supply,
        out: &mut Vec<Action>,
    ) {
        if self.resolve_internally(now, medium, out) {
            self.begin_txop(now);
            self.look_ahead(now, supply);
            self.access(now, medium, air, supply);
        }
    }

    pub(super) fn draw_backoff(&mut self, now: Time, medium: &mut Medium) {
        medium.replace_backoff(Some(self.functions.active().draw(now, &self.config, &mut self.random)));
    }

    /// Starts a frame of `airtime`, which the caller has written to its final place.
    pub(super) fn radiate(&mut self, now: Time, airtime: Dur, state: TxState, wait: Dur, medium: &mut Medium) {
        self.stop_for_exchange(now, medium);
        medium.begin_exchange(now, airtime, &self.rules);
        self.state = state;
        self.state_ends = now + wait;
    }

    /// The back-off has expired.
    fn access(&mut self, now: Time, medium: &mut Medium, air: &mut Option<Frame>, supply: &mut impl Supply) {
        if self.answer.is_some() {
            // It coincides with a pending CTS or ACK, whose end asks for access again.
            return;
        }
        match &self.functions.active().outgoing {
            Some(Outgoing { content: Content::Session(to), .. }) => {
                let to = *to;
                self.begin_exchange_with(now, to, medium, air, supply);
            }
            Some(outgoing) if outgoing.rts => self.send_rts(now, medium, air),
            Some(_) => self.send_data(now, medium, air),
            None => {}
        }
    }

    fn send_rts(&mut self, now: Time, medium: &mut Medium, air: &mut Option<Frame>) {
        let Some(Outgoing { content: Content::One { msdu, .. }, rate, airtime, .. }) =
            &self.functions.active().outgoing
        else {
            return;
        };
        self.times.follow(&self.config, *rate);
        let (to, times, airtime) = (msdu.dst, self.times, *airtime);
        self.radiate_rts(now, to, &times, airtime, medium, air);
    }

    /// Sends an RTS before data of the air time `data`.
    #[inline]
    pub(super) fn radiate_rts(
        &mut self,
        now: Time,
        to: MacAddr,
        times: &ExchangeTimes,
        data: Dur,
        medium: &mut Medium,
        air: &mut Option<Frame>,
    ) {
        let function = self.functions.active_mut();
        function.counters.rts_sent += 1;
        (function.sent_for, function.air_used) = (to, function.air_used + times.rts_airtime);
        *air = Some(Frame {
            dst: to,
            src: self.addr,
            duration: times.rts_duration(data),
            rate: times.rts,
            airtime: times.rts_airtime,
            kind: FrameKind::Rts,
        });
        self.radiate(now, times.rts_airtime, TxState::Rts, times.cts_timeout, medium);
    }

    fn send_data(&mut self, now: Time, medium: &mut Medium, air: &mut Option<Frame>) {
        let Some(Outgoing { content: Content::One { msdu, seq, retry }, rate, airtime, .. }) =
            &self.functions.active().outgoing
        else {
            return;
        };
        let (to, rate, airtime) = (msdu.dst, *rate, *airtime);
        self.times.follow(&self.config, rate);
        let further = if self.has_categories() { self.further(now, to, airtime) } else { Dur::ZERO };
        let frame = air.insert(Frame {
            dst: to,
            src: self.addr,
            duration: if to.is_broadcast() { Dur::ZERO } else { self.times.data_duration + further },
            rate,
            airtime,
            kind: FrameKind::Data { seq: *seq, retry: *retry, qos: self.qos(), msdu: msdu.clone() },
        });
        if let (OptionsRule::Measure { backward_queueing }, FrameKind::Data { msdu, .. }) =
            (self.config.options, &mut frame.kind)
        {
            let sent = measure::transmission_time(&self.config, airtime, rate);
            measure::update(now, sent, msdu, backward_queueing);
        }
        let function = self.functions.active_mut();
        (function.sent_for, function.air_used) = (to, function.air_used + airtime);
        if to.is_broadcast() {
            self.radiate(now, airtime, TxState::Broadcast, airtime, medium);
        } else {
            function.counters.data_sent += 1;
            self.radiate(now, airtime, TxState::Data, self.times.ack_timeout(airtime), medium);
        }
    }

    /// SIFS has passed: sends the pending answer, or the data that a CTS has allowed.
    fn after_sifs(&mut self, now: Time, medium: &mut Medium, air: &mut Option<Frame>, supply: &mut impl Supply) {
        match self.answer {
            Some(Answer::Cts { to, duration, rate }) => {
                let free = if self.config.cts_refused_by_eifs { medium.is_idle(now) } else { medium.nav() <= now };
                if !free {
                    self.functions.active_mut().counters.cts_refused += 1;
                    self.answer = None;
                    self.resume_outgoing(now, medium);
                    return;
                }
                self.functions.active_mut().counters.cts_sent += 1;
                self.answer_times.follow(&self.config, rate);
                let duration = self.answer_times.cts_duration(duration);
                *air = Some(self.answer_frame(FrameKind::Cts, to, duration, rate));
                let wait = self.answer_times.data_timeout(duration);
                self.radiate(now, self.answer_times.airtime, TxState::Cts, wait, medium);
            }
            Some(Answer::Ack { to, duration, rate }) => {
                self.functions.active_mut().counters.acks_sent += 1;
                self.answer_times.follow(&self.config, rate);
                let airtime = self.answer_times.airtime;
                *air = Some(self.answer_frame(FrameKind::Ack, to, duration, rate));
                self.answer_ends(now, airtime, medium);
            }
            Some(Answer::BlockAck { to, duration, rate, category }) => {
                self.send_block_ack(now, (to, category), (duration, rate), medium, air);
            }
            None => {
                if self.has_categories() {
                    self.look_ahead(now, supply);
                }
                let idle = medium.is_idle(now);
                let Some(outgoing) = &mut self.functions.active_mut().outgoing else { return };
                match &outgoing.content {
                    Content::Session(to) if idle => {
                        let to = *to;
                        self.send_session(now, to, medium, air, supply);
                    }
                    Content::One { .. } if idle => self.send_data(now, medium, air),
                    content => {
                        if let Content::One { msdu, .. } = content {
                            outgoing.rts = needs_rts(&self.config, msdu);
                        }
                        self.failed(now, medium);
                    }
                }
            }
        }
    }

    /// Starts an answer of `airtime`. Nothing responds to it, so its end is known now and needs no timer.
    #[inline]
    pub(super) fn answer_ends(&mut self, now: Time, airtime: Dur, medium: &mut Medium) {
        self.stop_for_exchange(now, medium);
        medium.begin_exchange(now, airtime, &self.rules);
        medium.end_exchange(now + airtime);
        self.answer = None;
        self.resume_outgoing(now, medium);
    }

    /// Builds an answer; `answer_times` must be those at `rate`.
    #[inline(always)]
    fn answer_frame(&self, kind: FrameKind, to: MacAddr, duration: Dur, rate: Rate) -> Frame {
        Frame { dst: to, src: self.addr, duration, rate, airtime: self.answer_times.airtime, kind }
    }

    /// Ensures that a waiting MSDU has a back-off.
    pub(super) fn resume_outgoing(&mut self, now: Time, medium: &mut Medium) {
        if !medium.has_backoff() && self.functions.active().outgoing.is_some() {
            self.draw_backoff(now, medium);
        }
    }
}
