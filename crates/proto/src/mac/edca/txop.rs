//! Transmission opportunities (IEEE Std 802.11-2020 clause 10.23.2.8).
//!
//! ```text
//! AIFS + back-off │ RTS │CTS│ DATA │ACK│ DATA │ACK│ ...   each SIFS behind the one before, up to the limit
//!                               └─────────────┘ duration field: this answer, and the next frame with its answer
//! ```
//!
//! The duration field announces what follows (clause 9.2.5.2, single protection), so a function takes its next packet
//! when it sends one. If that packet cannot follow, because an answer is missing or time is short, it is sent in the
//! next opportunity. Only the first frame is preceded by an RTS: if it had none, no frame that needs one can follow. A
//! broadcast ends an opportunity.
//!
//! An aggregate is kept so short that it fits the limit with its answer; a single MPDU that does not fit is sent
//! nevertheless, since there are no fragments.

use super::access::Access;
use crate::mac::aggregate::options::Protection;
use crate::mac::aggregate::supply::Supply;
use crate::mac::config::{Config, whole_micros};
use crate::mac::dcf::Dcf;
use crate::mac::exchange::{Content, Outgoing};
use crate::mac::function::{Function, Functions};
use crate::mac::medium::Medium;
use crate::mac::sizes::BLOCK_ACK;
use crate::phy::Mcs;
use crate::wire::{Category, Frame, Msdu};
use fourhop_units::{Dur, MacAddr, Time};

impl Dcf {
    /// Returns the category of the active function, if frames are QoS data.
    #[inline(always)]
    pub(in crate::mac) fn qos(&self) -> Option<Category> {
        match &self.functions {
            Functions::One(_) => None,
            Functions::Four(four) => Some(four.active),
        }
    }

    /// The active function has won the medium.
    pub(in crate::mac) fn begin_txop(&mut self, now: Time) {
        let Function { access, txop: Some(txop), .. } = self.functions.active_mut() else { return };
        txop.counters.txops += 1;
        (txop.ends, txop.protected) = (now + access.txop, false);
    }

    /// Takes the packet that is to follow the one being sent.
    #[inline(never)]
    pub(in crate::mac) fn look_ahead(&mut self, now: Time, supply: &mut impl Supply) {
        let Functions::Four(four) = &mut self.functions else { return };
        let category = four.active;
        if let Function { outgoing: Some(outgoing), access, counters, txop: Some(txop), .. } = four.active_mut()
            && let Outgoing { content: Content::One { msdu, .. }, rts, .. } = outgoing
        {
            txop.protected |= *rts;
            if !msdu.dst.is_broadcast() && txop.next.is_none() && !access.txop.is_zero() {
                txop.next = supply.next_of(now, category);
                counters.accepted += u64::from(txop.next.is_some());
            }
        }
    }

    /// Returns how long the medium is needed after the answer to a frame of `airtime` that begins at `now`.
    #[inline(never)]
    pub(in crate::mac) fn further(&self, now: Time, to: MacAddr, airtime: Dur) -> Dur {
        let Some(txop) = &self.functions.active().txop else { return Dur::ZERO };
        let Some(next) = &txop.next else { return Dur::ZERO };
        if to.is_broadcast() || !txop.allows(next, &self.config) {
            return Dur::ZERO;
        }
        let rate = if next.dst.is_broadcast() { self.config.basic_rate } else { self.rate_to(next.dst) };
        let exchange = self.exchange(next, self.config.data_airtime(next.len, rate));
        let answered = now + airtime + self.times.answered(&self.config);
        if answered + exchange <= txop.ends { whole_micros(exchange) } else { Dur::ZERO }
    }

    /// Returns the time of SIFS, a frame, and its answer if it has one.
    fn exchange(&self, msdu: &Msdu, airtime: Dur) -> Dur {
        let sifs = self.config.sifs;
        match msdu.dst.is_broadcast() {
            true => sifs + airtime,
            false => {
                let mut times = self.times;
                times.follow(&self.config, self.rate_to(msdu.dst));
                sifs + airtime + times.answered(&self.config)
            }
        }
    }

    /// An exchange has succeeded: takes up the next packet. Returns whether it may follow; otherwise the opportunity is
    /// over.
    #[inline(never)]
    pub(in crate::mac) fn continue_txop(&mut self, now: Time) -> bool {
        if self.answer.is_some() {
            return false;
        }
        let Some(txop) = &mut self.functions.active_mut().txop else { return false };
        let Some(next) = txop.next.take() else { return false };
        let follows = txop.allows(&next, &self.config);
        self.take_in_hand(now, next);
        let Some(Outgoing { content: Content::One { msdu, .. }, airtime, .. }) = &self.functions.active().outgoing
        else {
            return false;
        };
        let ends = now + self.exchange(msdu, *airtime);
        let Function { outgoing: Some(outgoing), cw, access, txop: Some(txop), .. } = self.functions.active_mut()
        else {
            return false;
        };
        if !follows || ends > txop.ends {
            return false;
        }
        outgoing.rts = false;
        txop.counters.continued += 1;
        *cw = access.cw_min;
        self.sifs_ends = now + self.config.sifs;
        true
    }

    /// Returns the duration field of the answer to `frame`: the rest of that of `frame` (clause 9.2.5.7).
    pub(in crate::mac) fn left_of(&self, frame: &Frame, answer: Dur) -> Dur {
        match self.has_categories() {
            false => Dur::ZERO,
            true => whole_micros(frame.duration.saturating_sub(self.config.sifs + answer)),
        }
    }

    /// As [`Medium::begin_exchange`], for the functions that are not active.
    #[inline(always)]
    pub(in crate::mac) fn stop_for_exchange(&mut self, now: Time, medium: &Medium) {
        if self.has_categories()
            && let Some(idle_since) = medium.idle_since()
        {
            self.stop_others(now, idle_since);
        }
    }
}

impl Access {
    /// Returns the maximum air time of an aggregate that fits into the opportunity with its answer and its protection.
    pub(in crate::mac) fn longest_aggregate(&self, config: &Config, mcs: Mcs) -> Dur {
        if self.txop.is_zero() {
            return Dur::MAX;
        }
        let rates = config.rates_around(mcs.reference_rate());
        let reserved = match config.aggregation.protection {
            Protection::CtsToSelf => config.answer_airtime(config.basic_rate) + config.sifs,
            // There are no legacy stations with EDCA.
            Protection::None | Protection::Auto if config.rts_threshold >= mcs.format().longest_aggregate() => {
                Dur::ZERO
            }
            Protection::None | Protection::Auto | Protection::RtsCts => {
                config.rts_airtime(rates.rts) + config.answer_airtime(rates.cts) + config.sifs * 2
            }
        };
        self.txop.saturating_sub(reserved + config.sifs + config.airtime(BLOCK_ACK, rates.ack))
    }
}
