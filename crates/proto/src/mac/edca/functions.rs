//! Four access functions in one station: [`Dcf`] has the active one, the others are parked here.
//!
//! While the station transmits, the active function is the one that won the medium. Otherwise it is the function with a
//! packet whose wait ends first; the most urgent wins a tie. If no function has a packet, it is the one whose back-off
//! ends last, so that the medium knows of each back-off. Only the active function's wait is a timer.

use super::access::{Access, Counters};
use crate::drop::DropReason;
use crate::mac::action::Action;
use crate::mac::aggregate::Sessions;
use crate::mac::backoff::Backoff;
use crate::mac::config::Config;
use crate::mac::counters::Counters as FrameCounters;
use crate::mac::dcf::Dcf;
use crate::mac::exchange::{Content, Outgoing, TxState};
use crate::mac::medium::Medium;
use crate::wire::{Category, Msdu};
use core::cmp::Reverse;
use core::mem::swap;
use fourhop_units::{Dur, MacAddr, Time};

/// The state of a function that is not in front.
#[derive(Clone, Debug)]
pub(in crate::mac) struct Function {
    access: Access,
    outgoing: Option<Outgoing>,
    cw: u32,
    short_retries: u32,
    long_retries: u32,
    pub sessions: Option<Box<Sessions>>,
    backoff: Option<Backoff>,
    counters: FrameCounters,
    sent_for: MacAddr,
    air_used: Dur,
}

/// Additional state of a station with EDCA.
#[derive(Clone, Debug)]
pub(in crate::mac) struct Edca {
    pub front: Category,
    /// By category; the place of the one in front has nothing.
    pub parked: [Function; 4],
    /// Packets that functions have taken to know what follows in a TXOP; they come next.
    pub next: [Option<Msdu>; 4],
    pub counters: [Counters; 4],
    /// When the TXOP that is under way, or was last, must be over.
    pub txop_ends: Time,
    /// Did it begin with an RTS?
    pub protected: bool,
    /// The next number to each receiver in each category.
    numbers: Vec<(MacAddr, Category, u16)>,
    /// The last number accepted from each transmitter in each category.
    last_numbers: Vec<(MacAddr, Category, u16)>,
}

impl Edca {
    /// Four functions without anything; best effort is in front.
    pub fn new(config: &Config, parameters: &super::Config) -> Edca {
        let front = Category::Be;
        let parked = Category::ALL.map(|category| {
            let access = Access::of(parameters.of(category));
            let sessions = config.mcs.filter(|_| category != front).map(|mcs| Box::new(Sessions::new(config, mcs)));
            Function {
                access,
                outgoing: None,
                cw: access.cw_min,
                short_retries: 0,
                long_retries: 0,
                sessions,
                backoff: None,
                counters: FrameCounters::default(),
                sent_for: MacAddr::BROADCAST,
                air_used: Dur::ZERO,
            }
        });
        Edca {
            front,
            parked,
            next: [const { None }; 4],
            counters: [Counters::default(); 4],
            txop_ends: Time::ZERO,
            protected: false,
            numbers: Vec::new(),
            last_numbers: Vec::new(),
        }
    }

    /// The sessions of the functions that are not in front.
    pub fn parked_sessions(&self) -> impl Iterator<Item = &Sessions> {
        self.parked.iter().filter_map(|function| function.sessions.as_deref())
    }

    /// Mutable version of `parked_sessions`.
    pub fn parked_sessions_mut(&mut self) -> impl Iterator<Item = &mut Sessions> {
        self.parked.iter_mut().filter_map(|function| function.sessions.as_deref_mut())
    }

    /// Functions that are not in front.
    fn others(&self) -> impl Iterator<Item = Category> + use<> {
        let front = self.front;
        Category::ALL.into_iter().filter(move |&category| category != front)
    }

    /// The number of the next MSDU to `to` in the category in front (clause 10.3.2.14.2).
    pub fn next_number(&mut self, to: MacAddr) -> u16 {
        let number = entry(&mut self.numbers, to, self.front);
        let this = *number;
        *number = (this + 1) & 0x0fff;
        this
    }

    /// Compares with, and remembers, the last number from this transmitter in this category.
    pub fn is_duplicate(&mut self, from: MacAddr, category: Category, seq: u16) -> bool {
        // No number has more than 12 bits.
        core::mem::replace(entry_or(&mut self.last_numbers, from, category, u16::MAX), seq) == seq
    }
}

fn entry(list: &mut Vec<(MacAddr, Category, u16)>, addr: MacAddr, category: Category) -> &mut u16 {
    entry_or(list, addr, category, 0)
}

fn entry_or(list: &mut Vec<(MacAddr, Category, u16)>, addr: MacAddr, category: Category, first: u16) -> &mut u16 {
    let place = list.iter().position(|&(other, of, _)| (other, of) == (addr, category)).unwrap_or_else(|| {
        list.push((addr, category, first));
        list.len() - 1
    });
    &mut list[place].2
}

/// The sessions of a category; without EDCA all are of the same.
pub(in crate::mac) fn sessions_of<'a>(
    front: &'a mut Option<Box<Sessions>>,
    edca: &'a mut Option<Box<Edca>>,
    category: Category,
) -> Option<&'a mut Sessions> {
    match edca {
        Some(edca) if edca.front != category => edca.parked[category as usize].sessions.as_deref_mut(),
        _ => front.as_deref_mut(),
    }
}

impl Dcf {
    /// Does it have a function for each access category? Then [`Dcf::wants`], [`Dcf::handle_packet_of`] and
    /// [`Dcf::resume_of`] take the place of [`Dcf::is_ready`], [`Dcf::handle_packet`] and [`Dcf::resume`].
    #[inline(always)]
    pub fn has_categories(&self) -> bool {
        self.edca.is_some()
    }

    /// Can this category take an MSDU?
    pub fn wants(&self, category: Category) -> bool {
        let Some(edca) = &self.edca else { return false };
        let outgoing = if edca.front == category { &self.outgoing } else { &edca.parked[category as usize].outgoing };
        outgoing.is_none() && edca.next[category as usize].is_none()
    }

    /// Takes an MSDU from the queue of its category, which wants one.
    pub fn handle_packet_of(&mut self, now: Time, category: Category, msdu: Msdu, medium: &mut Medium) {
        debug_assert!(self.wants(category), "a function holds one MSDU at a time");
        self.forget_expired(now, medium);
        self.for_category(category, medium, |mac, medium| mac.take_packet(now, msdu, medium));
        self.elect(now, medium);
    }

    /// Is something left in the sessions of this category for an exchange that nobody has begun?
    pub fn has_unsent_of(&self, category: Category) -> bool {
        let sessions = match &self.edca {
            Some(edca) if edca.front != category => &edca.parked[category as usize].sessions,
            _ => &self.sessions,
        };
        sessions.as_ref().is_some_and(|sessions| sessions.has_work())
    }

    /// Begins an exchange for what sessions of this category have left. Only while it wants a packet.
    pub fn resume_of(&mut self, now: Time, category: Category, medium: &mut Medium) {
        self.forget_expired(now, medium);
        self.for_category(category, medium, |mac, medium| mac.resume(now, medium));
        self.elect(now, medium);
    }

    /// As [`Dcf::take_airtime`], of one category.
    pub fn take_airtime_of(&mut self, category: Category) -> Option<(MacAddr, Dur)> {
        match &mut self.edca {
            Some(edca) if edca.front != category => {
                let Function { sent_for, air_used, .. } = &mut edca.parked[category as usize];
                let used = core::mem::take(air_used);
                (!used.is_zero()).then_some((*sent_for, used))
            }
            _ => self.take_airtime(),
        }
    }

    /// What a category has counted; frames that the station received count for any of them.
    pub fn counters_of(&self, category: Category) -> Option<(FrameCounters, Counters)> {
        let edca = self.edca.as_ref()?;
        let frames = match edca.front == category {
            true => self.counters,
            false => edca.parked[category as usize].counters,
        };
        Some((frames, edca.counters[category as usize]))
    }

    /// Counts of the functions that are not in front.
    pub(in crate::mac) fn parked(&self) -> impl Iterator<Item = &Function> {
        self.edca.iter().flat_map(|edca| &edca.parked)
    }

    /// Does one of its functions have the medium?
    fn owns_medium(&self) -> bool {
        let awaits = matches!(self.state, TxState::Rts | TxState::Data | TxState::Broadcast | TxState::SelfCts);
        awaits || (self.sifs_ends != Time::NEVER && self.answer.is_none())
    }

    /// Lets `call` see the function of `category` in front.
    fn for_category(&mut self, category: Category, medium: &mut Medium, call: impl FnOnce(&mut Dcf, &mut Medium)) {
        let Some(front) = self.edca.as_ref().map(|edca| edca.front) else { return };
        self.bring_forward(category, medium);
        call(self, medium);
        self.bring_forward(front, medium);
    }

    fn bring_forward(&mut self, category: Category, medium: &mut Medium) {
        let Some(edca) = &mut self.edca else { return };
        if edca.front != category {
            let (from, to) = (edca.front as usize, category as usize);
            let other = &mut edca.parked[to];
            swap(&mut self.access, &mut other.access);
            swap(&mut self.outgoing, &mut other.outgoing);
            swap(&mut self.cw, &mut other.cw);
            swap(&mut self.short_retries, &mut other.short_retries);
            swap(&mut self.long_retries, &mut other.long_retries);
            swap(&mut self.sessions, &mut other.sessions);
            swap(&mut self.counters, &mut other.counters);
            swap(&mut self.sent_for, &mut other.sent_for);
            swap(&mut self.air_used, &mut other.air_used);
            medium.swap_backoff(&mut other.backoff);
            edca.parked.swap(from, to);
            edca.front = category;
        }
        medium.want_access(self.outgoing.is_some());
    }

    /// Forgets back-offs that have ended with nothing to send.
    fn forget_expired(&mut self, now: Time, medium: &mut Medium) {
        let owns = self.owns_medium();
        let Some(edca) = &mut self.edca else { return };
        medium.expire_backoff(now, &self.rules);
        // In front is the last that ends, if none has a packet.
        let all_expired = !owns && self.outgoing.is_none() && !medium.has_backoff();
        let idle_since = medium.idle_since();
        for category in edca.others() {
            let Function { outgoing, backoff, .. } = &mut edca.parked[category as usize];
            let ended =
                |backoff: &Backoff| idle_since.is_some_and(|since| self.rules.backoff_ends(backoff, since) <= now);
            if outgoing.is_none() && (all_expired || backoff.as_ref().is_some_and(ended)) {
                *backoff = None;
            }
        }
    }

    /// Brings the function forward whose turn is next, unless one has the medium.
    #[inline(never)]
    pub(in crate::mac) fn elect(&mut self, now: Time, medium: &mut Medium) {
        if self.owns_medium() {
            return medium.want_access(self.outgoing.is_some());
        }
        self.forget_expired(now, medium);
        self.take_up_prepared(now, medium);
        let Some(edca) = &self.edca else { return };
        // Back-offs that do not run were all drawn before what lets them run again.
        let idle_since = medium.idle_since().unwrap_or(now);
        let turn = |&category: &Category| {
            let (waits, backoff) = match category == edca.front {
                true => (self.outgoing.is_some(), medium.backoff()),
                false => {
                    let Function { outgoing, backoff, .. } = &edca.parked[category as usize];
                    (outgoing.is_some(), backoff.as_ref())
                }
            };
            let ends = backoff.map(|backoff| self.rules.backoff_ends(backoff, idle_since).as_nanos());
            match (waits, ends) {
                (true, Some(ends)) => (0, ends, Reverse(category)),
                (_, Some(ends)) => (1, u64::MAX - ends, Reverse(category)),
                (_, None) => (2, 0, Reverse(category)),
            }
        };
        let chosen = Category::ALL.into_iter().min_by_key(turn).unwrap_or(edca.front);
        self.bring_forward(chosen, medium);
    }

    /// Functions take up what they have taken for a TXOP that has ended, and every packet gets a back-off.
    fn take_up_prepared(&mut self, now: Time, medium: &mut Medium) {
        for category in Category::ALL {
            let Some(edca) = &mut self.edca else { return };
            let outgoing = match edca.front == category {
                true => &self.outgoing,
                false => &edca.parked[category as usize].outgoing,
            };
            let prepared = if outgoing.is_none() { edca.next[category as usize].take() } else { None };
            let waits = outgoing.is_some();
            if let Some(msdu) = prepared {
                self.for_category(category, medium, |mac, medium| {
                    mac.take_in_hand(now, msdu);
                    mac.want_access(now, medium);
                });
            } else if waits {
                self.for_category(category, medium, |mac, medium| {
                    if !medium.has_backoff() {
                        mac.draw_backoff(now, medium);
                    }
                });
            }
        }
    }

    /// The medium has become busy: back-offs stop, and an access that needed none must draw one. The medium itself has
    /// stopped that of the function in front.
    #[inline(never)]
    pub(in crate::mac) fn stop_backoffs(&mut self, now: Time, medium: &mut Medium) {
        let idle_since = medium.last_idle_since();
        if medium.backoff().is_some_and(Backoff::is_immediate) {
            self.draw_backoff(now, medium);
        }
        self.stop_others(now, idle_since);
        self.elect(now, medium);
    }

    /// The station is about to radiate: the back-offs of the functions that are not in front stop.
    #[inline(never)]
    pub(in crate::mac) fn stop_parked(&mut self, now: Time, medium: &Medium) {
        if let Some(idle_since) = medium.idle_since() {
            self.stop_others(now, idle_since);
        }
    }

    fn stop_others(&mut self, now: Time, idle_since: Time) {
        let (rules, config) = (&self.rules, &self.config);
        let Some(edca) = &mut self.edca else { return };
        for category in edca.others() {
            let Function { access, outgoing, backoff, cw, .. } = &mut edca.parked[category as usize];
            let Some(running) = backoff else { continue };
            if outgoing.is_none() && rules.backoff_ends(running, idle_since) <= now {
                *backoff = None;
            } else if running.is_immediate() {
                *running = Backoff::drawn(now, self.random.below(config.backoff_values(*cw)), access.later);
            } else {
                rules.stop_backoff(running, idle_since, now);
            }
        }
    }

    /// A wait that ends at `now` was for an answer that should have ended then. That is when slots begin to count
    /// again, as they do behind the EIFS of the others: the boundaries of all stations stay together, and the allowance
    /// for propagation does not part them.
    #[inline(never)]
    pub(in crate::mac) fn answer_was_due(&self, now: Time) -> Time {
        let margin = self.config.propagation_margin * 2;
        let awaits = matches!(self.state, TxState::Rts | TxState::Data) && self.answer.is_none();
        if awaits && margin < self.config.difs() { now - margin } else { now }
    }

    /// The wait of the function in front is over. Others whose wait is over, too, lose to the most urgent of them,
    /// which comes to the front: to them it is a collision (clause 10.23.2.4). Says whether the medium can be used.
    pub(in crate::mac) fn settle_internally(&mut self, now: Time, medium: &mut Medium, out: &mut Vec<Action>) -> bool {
        if self.answer.is_some() {
            // By coincidence with a pending CTS or ACK.
            self.draw_backoff(now, medium);
            return false;
        }
        let Some(edca) = &self.edca else { return true };
        let idle_since = medium.idle_since().unwrap_or(now);
        let due = |&category: &Category| {
            let Function { outgoing, backoff, .. } = &edca.parked[category as usize];
            let ended = |backoff: &Backoff| self.rules.backoff_ends(backoff, idle_since) <= now;
            outgoing.is_some() && backoff.as_ref().is_some_and(ended)
        };
        let mut due = Category::ALL.map(|category| category != edca.front && due(&category));
        if due.contains(&true) {
            due[edca.front as usize] = true;
            let mut losers = Category::ALL.into_iter().filter(|&category| due[category as usize]);
            if let Some(winner) = losers.next_back() {
                for loser in losers {
                    self.bring_forward(loser, medium);
                    self.collide_internally(now, medium, out);
                }
                self.bring_forward(winner, medium);
                medium.end_backoff();
            }
        }
        true
    }

    /// The function in front would have sent, but a more urgent one does. Retries count as after any collision; no
    /// frame is marked as one.
    fn collide_internally(&mut self, now: Time, medium: &mut Medium, out: &mut Vec<Action>) {
        if let Some(edca) = &mut self.edca {
            edca.counters[edca.front as usize].internal_collisions += 1;
        }
        self.short_retries += 1;
        if self.short_retries < self.config.short_retry_limit {
            return self.failed(now, medium);
        }
        self.short_retries = 0;
        match &self.outgoing {
            Some(Outgoing { content: Content::One { msdu, .. }, rts, .. }) if !msdu.dst.is_broadcast() => {
                let reason = if *rts { DropReason::RtsRetryLimit } else { DropReason::DataRetryLimit };
                match reason {
                    DropReason::RtsRetryLimit => self.counters.rts_limit_drops += 1,
                    _ => self.counters.data_limit_drops += 1,
                }
                self.give_up(now, reason, medium, out);
            }
            // What is for all is sent once; of sessions each MPDU has a limit of its own.
            _ => self.succeeded_or_gave_up(now, true, medium),
        }
    }

    /// MSDUs that functions hold which are not in front, and those taken for what follows.
    pub(in crate::mac) fn held_aside(&self) -> usize {
        self.aside().count()
    }

    /// They.
    pub(in crate::mac) fn aside(&self) -> impl Iterator<Item = &Msdu> {
        let in_sessions = self.parked().flat_map(|function| &function.sessions).flat_map(|sessions| sessions.packets());
        let next = self.edca.iter().flat_map(|edca| edca.next.iter().flatten());
        self.parked().filter_map(Function::in_hand).chain(in_sessions).chain(next)
    }
}

impl Function {
    /// The MSDU in hand, if it is one alone.
    pub fn in_hand(&self) -> Option<&Msdu> {
        match &self.outgoing.as_ref()?.content {
            Content::One { msdu, .. } => Some(msdu),
            Content::Session(_) => None,
        }
    }

    /// Its counters.
    pub fn counters(&self) -> &FrameCounters {
        &self.counters
    }
}
