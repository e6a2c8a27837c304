//! The part of a node that every frame in the air touches.
//!
//! A frame reaches dozens of nodes and concerns one or two; for the others it only keeps the medium busy for a while.
//! The state that this changes is kept here, in three cache lines per node, separate from the layers that are called
//! only when a frame is for them.

use super::account::Drops;
use crate::drop::DropReason;
use crate::mac;
use crate::mac::medium::{self, Medium};
use crate::phy::{self, Arrival, ArrivalEffect, Departure, Receiver, TxId, Verdict, sinr};
use crate::wire::Frame;
use fourhop_units::{Dur, MacAddr, Time};

/// Options that the ears of a network share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// The receiver.
    pub phy: phy::Config,
    /// Carrier sense.
    pub medium: medium::Rules,
}

impl Rules {
    /// Those of nodes with these options.
    pub fn new(phy: phy::Config, mac: &mac::Config) -> Rules {
        Rules { phy, medium: medium::Rules::new(mac) }
    }
}

/// What the end of a copy of a frame means to its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    /// It was lost, for this reason.
    Lost(DropReason),
    /// It was received and is addressed to another node.
    Overheard,
    /// It was received and is addressed to this node or to all: the node must handle it.
    ForUs,
}

/// Reasons for which a receiver loses a copy: the first ones of [`DropReason::ALL`].
const REASONS: usize = 5;

/// The receiver of a node and the medium around it. The receiver is that of the `threshold` radio; those of the `sinr` radio
/// are larger and kept by the driver, which hands them to [`Ear::handle_arrival_at`] and [`Ear::handle_departure_at`].
///
/// Call [`Ear::handle_arrival`] and [`Ear::handle_departure`] once each for every copy of a frame, in order of time; at one
/// instant departures come first. There are no timers, but while [`Ear::awaits_access`] each of them may change the
/// node's `next_timeout`.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Ear {
    pub(super) receiver: Receiver,
    pub(super) medium: Medium,
    addr: MacAddr,
    received: u64,
    lost: [u64; REASONS],
}

impl Ear {
    /// The ear of the station `addr`, in silence.
    pub fn new(addr: MacAddr) -> Ear {
        Ear { receiver: Receiver::default(), medium: Medium::default(), addr, received: 0, lost: [0; REASONS] }
    }

    /// The medium, for inspection.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// A copy of a frame of `airtime` begins to arrive. If it says true, the node's
    /// [`handle_access_lost`](super::Node::handle_access_lost) comes next.
    #[must_use]
    #[inline]
    pub fn handle_arrival(&mut self, now: Time, copy: Arrival, airtime: Dur, rules: &Rules) -> bool {
        match self.receiver.arrive(copy, self.medium.is_transmitting(now), &rules.phy) {
            ArrivalEffect::Occupied => self.medium.handle_arrival(now, &rules.medium),
            ArrivalEffect::CapturedAway => {
                self.medium.handle_captured_away(now, airtime, &rules.medium);
                false
            }
        }
    }

    /// A copy of `frame` ends.
    #[inline]
    pub fn handle_departure(&mut self, now: Time, tx: TxId, frame: &Frame, rules: &Rules) -> Heard {
        let departure = self.receiver.depart(tx, self.medium.is_transmitting(now));
        let heard = self.handle_judgement(now, departure, frame, rules);
        if !self.receiver.busy(&rules.phy) {
            self.medium.handle_quiet(now);
        }
        heard
    }

    #[inline]
    fn handle_judgement(&mut self, now: Time, departure: Departure, frame: &Frame, rules: &Rules) -> Heard {
        match departure {
            Departure::Judged(Verdict::Good) => {
                self.received += 1;
                let for_us = frame.dst == self.addr;
                self.medium.handle_good_frame(now, frame, for_us, &rules.medium);
                if for_us || frame.dst.is_broadcast() { Heard::ForUs } else { Heard::Overheard }
            }
            Departure::Judged(verdict) => {
                let reason = if let Verdict::Bad(reason) = verdict { reason } else { DropReason::HalfDuplex };
                self.count(reason);
                self.medium.handle_error(now, verdict, &rules.medium);
                Heard::Lost(reason)
            }
            Departure::Lost(reason) => {
                self.count(reason);
                Heard::Lost(reason)
            }
        }
    }

    /// With a receiver of another model, which is not the ear's own: a copy of `frame` begins to arrive there. As
    /// [`Ear::handle_arrival`].
    #[must_use]
    pub fn handle_arrival_at(
        &mut self,
        now: Time,
        copy: Arrival,
        frame: &Frame,
        receiver: &mut sinr::Receiver,
        rules: &Rules,
    ) -> bool {
        let noticed = receiver.arrive(now, copy, frame, self.medium.is_transmitting(now));
        noticed && self.medium.handle_arrival(now, &rules.medium)
    }

    /// The same for the end of a copy.
    pub fn handle_departure_at(
        &mut self,
        now: Time,
        tx: TxId,
        frame: &Frame,
        receiver: &mut sinr::Receiver,
        rules: &Rules,
    ) -> Heard {
        let departure = receiver.depart(now, tx, self.medium.is_transmitting(now));
        let heard = self.handle_judgement(now, departure, frame, rules);
        if !receiver.busy() {
            self.medium.handle_quiet(now);
        }
        heard
    }

    fn count(&mut self, reason: DropReason) {
        self.lost[reason as usize] += 1;
    }

    /// Does a packet of the node wait for access to the medium?
    pub fn awaits_access(&self) -> bool {
        self.medium.awaits_access()
    }

    /// When that wait ends if nothing else happens.
    pub fn access_timeout(&self, rules: &Rules) -> Option<Time> {
        self.medium.access_timeout(&rules.medium)
    }

    /// Is its receiver on a frame that it can so far decode?
    pub fn is_receiving(&self) -> bool {
        self.receiver.is_receiving()
    }

    /// Copies received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Copies on the air at this node.
    pub fn on_air(&self) -> usize {
        self.receiver.on_air()
    }

    /// Copies lost, by reason.
    pub fn drops(&self) -> Drops {
        let mut drops = Drops::default();
        DropReason::ALL.iter().zip(self.lost).for_each(|(&reason, count)| drops.count_many(reason, count));
        drops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drop::Layer;

    #[test]
    fn the_reasons_of_the_radio_come_first() {
        let radio = |reason: &DropReason| reason.layer() == Layer::Radio;
        assert!(DropReason::ALL[..REASONS].iter().all(radio) && !DropReason::ALL[REASONS..].iter().any(radio));
    }

    #[test]
    fn an_ear_is_three_cache_lines() {
        assert!(size_of::<Receiver>() <= 64 && size_of::<Medium>() <= 64);
        assert_eq!(size_of::<Ear>(), 192);
    }
}
