//! The part of a node that every frame on the air touches.
//!
//! A frame reaches dozens of nodes but concerns one or two; for the others it only keeps the medium busy for a while.
//! The state that this changes is kept here, in three cache lines per node, separate from the layers that are called
//! only when a frame is for them.
//!
//! The end of a copy, and its effects, are known when the copy begins. An ear therefore evaluates an end only when
//! something else happens: another copy, a timer of its node, or the end of a frame that may be for the node.

use super::account::Drops;
use crate::drop::DropReason;
use crate::mac;
use crate::mac::medium::{self, Medium};
use crate::phy::threshold::Slot;
use crate::phy::{self, Arrival, ArrivalEffect, Departure, Radiated, Receiver, Verdict, sinr};
use crate::preset::{Configured, Ns2, Preset, Standard};
use crate::wire::Frame;
use fourhop_units::{NodeId, Time, Watt};

/// Options that the ears of a network share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// The receiver.
    pub phy: phy::Config,
    /// Carrier sense.
    pub medium: medium::Rules,
    /// The preset known at compile time.
    known: Known,
}

/// A [`Preset`] as a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// [`Configured`].
    Nothing,
    /// [`Ns2`].
    Ns2,
    /// [`Standard`].
    Standard,
}

impl Rules {
    /// Extracts the rules from the options of nodes.
    pub fn new(phy: phy::Config, mac: &mac::Config) -> Rules {
        let mut rules = Rules { phy, medium: medium::Rules::new(mac), known: Known::Nothing };
        if rules.fit::<Ns2>() {
            rules.known = Known::Ns2;
        } else if rules.fit::<Standard>() {
            rules.known = Known::Standard;
        }
        rules
    }

    /// Returns the preset with which [`Ear::arrives_alone`] and [`Ear::handle_arrival`] cost the least.
    pub fn known(&self) -> Known {
        self.known
    }

    /// Whether the boolean options are those of the preset.
    fn fit<P: Preset>(&self) -> bool {
        let phy = &self.phy;
        phy.captures_late::<P>() == phy.late_capture
            && phy.locks_on_undecodable::<P>() == phy.lock_on_undecodable
            && phy.detects_energy::<P>() == phy.energy_detection
            && self.medium.fit::<P>()
    }

    /// Whether the end of any copy may bring an access forward, and not only the end of a collision, after which no
    /// reservation follows. A received frame may end an EIFS or a NAV. Without energy detection, a frame that is not
    /// locked on makes the medium busy up to the next end.
    #[inline(always)]
    fn any_copy_hastens<P: Preset>(&self) -> bool {
        let forgets = !self.phy.detects_energy::<P>() && !self.phy.locks_on_undecodable::<P>();
        self.medium.ends_bring_access_forward::<P>() || forgets
    }
}

/// The driver's task when a copy begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begun {
    /// Nothing.
    Unnoticed,
    /// The node's [`handle_access_lost`](super::Node::handle_access_lost) comes next.
    AccessLost,
    /// [`Ear::access_timeout`] may have moved forward.
    Sooner,
}

/// The event for a node at the end of a copy of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    /// It was lost for this reason.
    Lost(DropReason),
    /// It was received, but is addressed to another node.
    Overheard,
    /// It was received and is addressed to this node or broadcast: the node must handle it.
    ForUs,
}

impl Heard {
    fn new(lost: Option<DropReason>, for_us: bool) -> Heard {
        match lost {
            Some(reason) => Heard::Lost(reason),
            None if for_us => Heard::ForUs,
            None => Heard::Overheard,
        }
    }
}

/// Reasons for which a receiver can lose a copy: the first ones of [`DropReason::ALL`].
const REASONS: usize = 5;

/// The receiver of a node and the medium around it. The receiver is that of the `threshold` radio; those of the `sinr`
/// radio are larger and stored by the driver, which passes them to each call as the receiver `beside` the ear.
///
/// Call [`Ear::handle_arrival`] for every copy of a frame, in order of time; at the same instant, ends come first. Call
/// [`Ear::handle_departure`] at the end of each copy that may be for the node: strong enough, and addressed to it or
/// broadcast. You may report the end of any other copy, too, if you need its fate. There are no timers, but while
/// [`Ear::awaits_access`] its `access_timeout` is part of the node's `next_timeout`.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Ear {
    pub(super) receiver: Receiver,
    pub(super) medium: Medium,
    received: u64,
    /// Copies that do not get the slot are counted when they begin.
    lost: [u64; REASONS],
    /// With a receiver stored by the driver: the next end of a copy that may bring an access forward.
    look_at: Time,
    /// Likewise: which MPDUs of the last received aggregate are intact. The other receiver accepts all or none.
    arrived: u64,
}

impl Default for Ear {
    fn default() -> Ear {
        Ear::new()
    }
}

impl Ear {
    /// Creates an ear in silence.
    pub fn new() -> Ear {
        Ear {
            receiver: Receiver::default(),
            medium: Medium::default(),
            received: 0,
            lost: [0; REASONS],
            look_at: Time::NEVER,
            arrived: u64::MAX,
        }
    }

    /// As [`Ear::new`], for a receiver stored by the driver.
    pub fn without_receiver() -> Ear {
        Ear { receiver: Receiver::never_quiet(), ..Ear::new() }
    }

    /// Returns the medium, for inspection.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// Evaluates everything that has ended by `now`. [`Node`](super::Node) does this by itself, but does not know of a
    /// receiver `beside` the ear: with one, call it before each call of the node.
    #[inline(always)]
    pub fn catch_up(&mut self, now: Time, beside: Option<&mut sinr::Receiver>, rules: &medium::Rules) {
        if let Some(receiver) = beside {
            self.catch_up_ended(now, receiver, rules);
            self.look_at = receiver.may_be_quiet();
        } else if self.medium.is_busy() {
            self.catch_up_busy::<Configured>(now, rules);
        }
    }

    #[inline(always)]
    fn catch_up_busy<P: Preset>(&mut self, now: Time, rules: &medium::Rules) {
        if let Some(slot) = self.receiver.take_ended(now) {
            self.judge::<P>(&slot, rules);
        }
        let until = self.receiver.busy_until();
        if until <= now {
            self.medium.handle_quiet(until);
        }
    }

    /// Evaluates the ended copy in the slot; returns the reason if it is lost.
    #[inline(always)]
    fn judge<P: Preset>(&mut self, slot: &Slot, rules: &medium::Rules) -> Option<DropReason> {
        if self.medium.is_transmitting(slot.end) {
            // The MAC does not notice.
            self.count(DropReason::HalfDuplex);
            return Some(DropReason::HalfDuplex);
        }
        match slot.lost {
            None => {
                self.received += 1;
                self.medium.handle_good_frame_by::<P>(slot.end, slot.reserved, slot.rts, rules);
            }
            Some(reason) => {
                self.count(reason);
                self.medium.handle_error_by::<P>(slot.end, Verdict::Bad(reason), rules);
            }
        }
        slot.lost
    }

    /// A copy of a frame begins to arrive; `for_us` says whether it is addressed to this node alone. This is the fast
    /// path, for when nothing else is on the air here and no back-off runs; otherwise it returns false, and
    /// [`Ear::handle_arrival`] must follow. The rules must fit the preset.
    #[must_use]
    #[inline(always)]
    pub fn arrives_alone<P: Preset>(
        &mut self,
        now: Time,
        power: Watt,
        for_us: bool,
        radiated: &Radiated,
        rules: &Rules,
    ) -> bool {
        if self.receiver.busy_until() > now {
            return false;
        }
        if self.medium.is_busy() {
            self.catch_up_busy::<P>(now, &rules.medium);
        }
        if rules.any_copy_hastens::<P>() && self.medium.has_backoff() || self.medium.has_running_backoff(now) {
            return false;
        }
        if !self.medium.occupy::<P>(&rules.medium) {
            return false;
        }
        let transmitting = self.medium.is_transmitting(now);
        if let ArrivalEffect::Unreceived(reason) =
            self.receiver.arrive_alone::<P>(now, radiated.copy(now, power, for_us), transmitting, &rules.phy)
        {
            self.count(reason);
        }
        true
    }

    /// A copy of `frame` begins to arrive. Without a receiver `beside` the ear, the rules must fit the preset.
    #[must_use]
    #[inline(always)]
    pub fn handle_arrival<P: Preset>(
        &mut self,
        now: Time,
        copy: Arrival,
        frame: &Frame,
        beside: Option<&mut sinr::Receiver>,
        rules: &Rules,
    ) -> Begun {
        match beside {
            None => self.arrive::<P>(now, copy, rules),
            Some(receiver) => self.arrive_beside(now, copy, frame, receiver, rules),
        }
    }

    #[inline(never)]
    fn arrive<P: Preset>(&mut self, now: Time, copy: Arrival, rules: &Rules) -> Begun {
        if self.medium.is_busy() {
            self.catch_up_busy::<P>(now, &rules.medium);
        }
        let airtime = copy.end - now;
        let effect = self.receiver.arrive::<P>(now, copy, self.medium.is_transmitting(now), &rules.phy);
        if let ArrivalEffect::Unreceived(reason) = effect {
            self.count(reason);
        }
        if effect == ArrivalEffect::Unreceived(DropReason::Captured) {
            self.medium.handle_captured_away(now, airtime, &rules.medium);
        } else if self.medium.handle_arrival(now, &rules.medium) {
            return Begun::AccessLost;
        }
        let collided = effect == ArrivalEffect::Unreceived(DropReason::Collision);
        let hastens = collided || rules.any_copy_hastens::<P>();
        if hastens && self.awaits_access() { Begun::Sooner } else { Begun::Unnoticed }
    }

    /// The copy of `frame` from node `src` ends.
    #[inline(always)]
    pub fn handle_departure(
        &mut self,
        now: Time,
        src: NodeId,
        frame: &Frame,
        for_us: bool,
        beside: Option<&mut sinr::Receiver>,
        rules: &Rules,
    ) -> Heard {
        let lost = match beside {
            None => self.depart(now, src, rules),
            Some(receiver) => {
                self.catch_up_before(now, src, receiver, &rules.medium);
                let lost = self.depart_beside(now, src, receiver, &rules.medium);
                self.look_at = receiver.may_be_quiet();
                lost
            }
        };
        Heard::new(lost, for_us || frame.dst.is_broadcast())
    }

    #[inline]
    fn depart(&mut self, now: Time, src: NodeId, rules: &Rules) -> Option<DropReason> {
        let Some(slot) = self.receiver.take(now, src) else {
            return Some(self.receiver.interferer_lost(now, src));
        };
        let lost = self.judge::<Configured>(&slot, &rules.medium);
        // Without energy detection, a copy outside the slot no longer makes the medium busy.
        if self.receiver.busy_until() <= now
            && !(rules.phy.energy_detection && self.receiver.another_ends_after(now, src))
        {
            self.medium.handle_quiet(now);
        }
        lost
    }

    /// With a receiver `beside` the ear: evaluates everything that has ended by `now`, up to the copy of node `before`
    /// at that instant.
    fn catch_up_before(&mut self, now: Time, before: NodeId, receiver: &mut sinr::Receiver, rules: &medium::Rules) {
        while let Some((end, src)) = receiver.next_departure()
            && (end, src) < (now, before)
        {
            self.depart_beside(end, src, receiver, rules);
        }
    }

    #[inline]
    fn catch_up_ended(&mut self, now: Time, receiver: &mut sinr::Receiver, rules: &medium::Rules) {
        while let Some((end, src)) = receiver.next_departure()
            && end <= now
        {
            self.depart_beside(end, src, receiver, rules);
        }
    }

    fn depart_beside(
        &mut self,
        end: Time,
        src: NodeId,
        receiver: &mut sinr::Receiver,
        rules: &medium::Rules,
    ) -> Option<DropReason> {
        if !self.medium.is_busy() {
            // If a preamble does not make the medium busy, a frame can end while a back-off runs, or after it has
            // expired.
            self.medium.expire_backoff(end, rules);
        }
        let (departure, copy) = receiver.depart(end, src, self.medium.is_transmitting(end));
        let lost = match departure {
            Departure::Judged(Verdict::Good) => {
                self.received += 1;
                self.arrived = receiver.arrived();
                self.medium.handle_good_frame(end, copy.reserved, copy.rts, rules);
                None
            }
            Departure::Judged(verdict) => {
                self.medium.handle_error(end, verdict, rules);
                Some(if let Verdict::Bad(reason) = verdict { reason } else { DropReason::HalfDuplex })
            }
            Departure::Lost(reason) => Some(reason),
        };
        if let Some(reason) = lost {
            self.count(reason);
        }
        if !receiver.busy() {
            self.medium.handle_quiet(end);
        }
        lost
    }

    fn arrive_beside(
        &mut self,
        now: Time,
        copy: Arrival,
        frame: &Frame,
        receiver: &mut sinr::Receiver,
        rules: &Rules,
    ) -> Begun {
        self.catch_up_ended(now, receiver, &rules.medium);
        let noticed = receiver.arrive(now, copy, frame, self.medium.is_transmitting(now));
        if noticed && self.medium.handle_arrival(now, &rules.medium) {
            return Begun::AccessLost;
        }
        // Only the end of a received frame may bring an access forward.
        if self.awaits_access() && receiver.follows(copy.src) {
            self.look_at = receiver.may_be_quiet();
            return Begun::Sooner;
        }
        Begun::Unnoticed
    }

    /// The node starts to transmit.
    #[inline(always)]
    pub(super) fn transmit_started(&mut self) {
        self.receiver.transmit_started();
    }

    /// Whether a packet of the node is waiting for access to the medium.
    pub fn awaits_access(&self) -> bool {
        self.medium.awaits_access()
    }

    /// Returns when that wait ends if nothing else happens, or an earlier instant; copies on the air end by themselves.
    #[inline]
    pub fn access_timeout(&self, rules: &medium::Rules) -> Option<Time> {
        if !self.medium.awaits_access() {
            return None;
        }
        self.awaited_access(rules)
    }

    #[inline(never)]
    fn awaited_access(&self, rules: &medium::Rules) -> Option<Time> {
        if !self.medium.is_busy() {
            let look_at = Some(self.look_at).filter(|&at| at != Time::NEVER);
            return Time::earlier_of(self.medium.access_timeout(rules), look_at);
        }
        if self.medium.has_exchange() {
            return None;
        }
        if self.look_at != Time::NEVER {
            return Some(self.look_at);
        }
        let mut after = self.medium.clone();
        if let Some(slot) = self.receiver.slot().filter(|slot| !after.is_transmitting(slot.end)) {
            match slot.lost {
                None => after.handle_good_frame(slot.end, slot.reserved, slot.rts, rules),
                Some(reason) => after.handle_error(slot.end, Verdict::Bad(reason), rules),
            }
        }
        after.handle_quiet(self.receiver.busy_until());
        after.access_timeout(rules)
    }

    /// Whether its own receiver senses anything after `now`.
    #[inline(always)]
    pub(super) fn is_occupied(&self, now: Time) -> bool {
        self.receiver.busy_until() > now
    }

    /// Whether its receiver is locked on a frame that it can decode so far.
    pub fn is_receiving(&self) -> bool {
        self.receiver.is_receiving()
    }

    #[inline(always)]
    fn count(&mut self, reason: DropReason) {
        self.lost[reason as usize] += 1;
    }

    /// Returns the intact MPDUs of the last received aggregate: bit n stands for the nth.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Returns the number of copies received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Returns the number of copies on the air at this node after `now`, with all earlier ends evaluated.
    pub fn on_air(&self, now: Time) -> usize {
        self.receiver.on_air(now)
    }

    /// Returns the copies lost by `now`, by reason, with all earlier ends evaluated.
    pub fn drops(&self, now: Time) -> Drops {
        let mut lost = self.lost;
        self.receiver.asides(now).for_each(|reason| lost[reason as usize] -= 1);
        let mut drops = Drops::default();
        drops.0[..REASONS].copy_from_slice(&lost);
        drops
    }
}

#[cfg(test)]
#[path = "ear_tests.rs"]
mod tests;
