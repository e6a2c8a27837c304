//! Transmission opportunities (IEEE Std 802.11-2020 clause 10.23.2.8).
//!
//! ```text
//! AIFS + back-off │ RTS │CTS│ DATA │ACK│ DATA │ACK│ ...   each SIFS behind the one before, up to the limit
//!                               └─────────────┘ duration field: this answer, and the next frame with its answer
//! ```
//!
//! To say what follows in the duration field (clause 9.2.5.2, single protection), a function takes the next packet when
//! it sends one. If that cannot follow, since an answer is missing or time is short, it is sent by the next
//! opportunity. RTS comes before the first frame alone: where that had none, no frame follows that needs one. What is
//! for all ends an opportunity.
//!
//! An aggregate is made so short that it fits the limit with its answer; a single MPDU that does not fit goes
//! nevertheless, since there are no fragments.

use super::access::Access;
use crate::mac::aggregate::options::Protection;
use crate::mac::aggregate::supply::Supply;
use crate::mac::config::{Config, whole_micros};
use crate::mac::dcf::Dcf;
use crate::mac::exchange::{Content, Outgoing, needs_rts};
use crate::mac::medium::Medium;
use crate::mac::sizes::BLOCK_ACK;
use crate::phy::Mcs;
use crate::wire::{Category, Frame, Msdu};
use fourhop_units::{Dur, MacAddr, Time};

impl Dcf {
    /// The category whose function is in front, of which frames are QoS data.
    #[inline(always)]
    pub(in crate::mac) fn qos(&self) -> Option<Category> {
        self.edca.as_ref().map(|edca| edca.front)
    }

    /// The function in front has won the medium.
    pub(in crate::mac) fn begin_txop(&mut self, now: Time) {
        let txop = self.access.txop;
        if let Some(edca) = &mut self.edca {
            edca.counters[edca.front as usize].txops += 1;
            (edca.txop_ends, edca.protected) = (now + txop, false);
        }
    }

    /// Takes the packet that is to follow what is now sent.
    #[inline(never)]
    pub(in crate::mac) fn look_ahead(&mut self, now: Time, supply: &mut impl Supply) {
        let Some(edca) = &mut self.edca else { return };
        let followed = match &self.outgoing {
            Some(Outgoing { content: Content::One { msdu, .. }, rts, .. }) => {
                edca.protected |= *rts;
                !msdu.dst.is_broadcast()
            }
            _ => false,
        };
        let next = &mut edca.next[edca.front as usize];
        if followed && next.is_none() && !self.access.txop.is_zero() {
            *next = supply.next_of(now, edca.front);
            self.counters.accepted += u64::from(next.is_some());
        }
    }

    /// How much longer than to its own answer the medium is needed after a frame of `airtime` that begins at `now`.
    #[inline(never)]
    pub(in crate::mac) fn further(&self, now: Time, to: MacAddr, airtime: Dur) -> Dur {
        let Some(edca) = &self.edca else { return Dur::ZERO };
        let Some(next) = &edca.next[edca.front as usize] else { return Dur::ZERO };
        if to.is_broadcast() || !self.may_follow(next) {
            return Dur::ZERO;
        }
        let rate = if next.dst.is_broadcast() { self.config.basic_rate } else { self.rate_to(next.dst) };
        let exchange = self.exchange(next, self.config.data_airtime(next.len, rate));
        let answered = now + airtime + self.times.answered(&self.config);
        if answered + exchange <= edca.txop_ends { whole_micros(exchange) } else { Dur::ZERO }
    }

    fn may_follow(&self, next: &Msdu) -> bool {
        let protected = self.edca.as_ref().is_some_and(|edca| edca.protected);
        protected || next.dst.is_broadcast() || !needs_rts(&self.config, next)
    }

    /// SIFS, a frame, and its answer if it has one.
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

    /// An exchange has ended well: takes up what follows, if it does. Otherwise the opportunity is over.
    #[inline(never)]
    pub(in crate::mac) fn continue_txop(&mut self, now: Time) -> bool {
        let Some(edca) = &mut self.edca else { return false };
        let front = edca.front as usize;
        if self.answer.is_some() {
            return false;
        }
        let Some(next) = edca.next[front].take() else { return false };
        let follows = self.may_follow(&next);
        self.take_in_hand(now, next);
        let Some(Outgoing { content: Content::One { msdu, .. }, airtime, .. }) = &self.outgoing else { return false };
        let ends = now + self.exchange(msdu, *airtime);
        let (Some(edca), Some(outgoing)) = (&mut self.edca, &mut self.outgoing) else { return false };
        if !follows || ends > edca.txop_ends {
            return false;
        }
        outgoing.rts = false;
        edca.counters[front].continued += 1;
        self.cw = self.access.cw_min;
        self.sifs_ends = now + self.config.sifs;
        true
    }

    /// What the duration field of the answer to `frame` says: what is left of that of `frame` (clause 9.2.5.7).
    pub(in crate::mac) fn left_of(&self, frame: &Frame, answer: Dur) -> Dur {
        match self.edca {
            None => Dur::ZERO,
            Some(_) => whole_micros(frame.duration.saturating_sub(self.config.sifs + answer)),
        }
    }

    /// As [`Medium::begin_exchange`], with all functions.
    #[inline(always)]
    pub(in crate::mac) fn stop_for_exchange(&mut self, now: Time, medium: &Medium) {
        if self.edca.is_some() {
            self.stop_parked(now, medium);
        }
    }
}

impl Access {
    /// How long an aggregate may be on the air so that the opportunity holds it with its answer and what comes before
    /// it.
    pub(in crate::mac) fn longest_aggregate(&self, config: &Config, mcs: Mcs) -> Dur {
        if self.txop.is_zero() {
            return Dur::MAX;
        }
        let rates = config.rates_around(mcs.reference_rate());
        let reserved = match config.aggregation.protection {
            Protection::CtsToSelf => config.answer_airtime(config.basic_rate) + config.sifs,
            // There are no older stations with EDCA.
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
