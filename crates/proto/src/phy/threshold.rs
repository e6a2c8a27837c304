//! The `threshold` radio: a frame is decodable above one power, sensed above a lower one, and survives a weaker frame
//! if it is at least the capture ratio stronger.
//!
//! Source: the physical layer of ns-2.35 (`WirelessPhy` and the receive side of `Mac802_11`), the model behind the five
//! papers. Not modelled: noise, sums of interference (each overlap is evaluated pair by pair) and fading.
//!
//! The receiver has one slot. A frame occupies it from its arrival to its end; another frame that arrives meanwhile
//! either loses against it (capture) or destroys both:
//!
//! ```text
//! F, strong        |=================|          Good
//! new, 10x weaker       |~~~~~~~~|              Captured: F is unharmed, `new` leaves no energy behind
//!
//! F                |=================|
//! new, any other        |=================|     collision; the slot stays occupied to the later end
//! ```
//!
//! Each difference between ns-2 and real receivers is an option of [`Config`].

use super::{Arrival, ArrivalEffect};
use crate::drop::DropReason;
use crate::preset::Preset;
use fourhop_units::{NodeId, Time, Watt};

/// Thresholds and options of the radio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Minimum power for decoding. WaveLAN in ns-2: 3.652e-10 W, 250 m.
    pub rx_threshold: Watt,
    /// Minimum power for sensing; weaker copies have no effect at all. WaveLAN in ns-2: 1.559e-11 W, 550 m.
    pub cs_threshold: Watt,
    /// How many times stronger a frame must be to survive another; `None`: any overlap destroys both. ns-2: 10. Effect
    /// on NewReno over 3 / 4 / 7 / 12 hops without capture: -40 / -17 / -68 / -80 %.
    pub capture_ratio: Option<f64>,
    /// Whether a later frame that is stronger by the capture ratio may take over the receiver. ns-2: no; real
    /// receivers: yes. Effect of yes: +11 / +18 / 0 / -2 %.
    pub late_capture: bool,
    /// Whether a frame that is sensed but not decodable occupies the receiver, so that a decodable one arriving later
    /// is lost. ns-2: yes; real receivers do not synchronise on it.
    pub lock_on_undecodable: bool,
    /// Whether the medium is busy for as long as any sensed frame is on the air. ns-2: no, only the frame in the slot
    /// counts; IEEE 802.11-2020 clause 15.4.6.5 (CCA): yes. Also makes every overlapping frame count as interference
    /// for as long as it lasts.
    pub energy_detection: bool,
}

impl Config {
    /// Returns ns-2.35 with its WaveLAN defaults.
    pub const fn ns2() -> Config {
        Config {
            rx_threshold: Watt(3.652e-10),
            cs_threshold: Watt(1.559e-11),
            capture_ratio: Some(10.0),
            late_capture: false,
            lock_on_undecodable: true,
            energy_detection: false,
        }
    }

    /// Returns the same thresholds with a receiver that senses the carrier as IEEE 802.11 describes.
    pub const fn standard() -> Config {
        Config { late_capture: true, lock_on_undecodable: false, energy_detection: true, ..Config::ns2() }
    }

    /// Returns [`Config::late_capture`], which a preset may know.
    #[inline(always)]
    pub(crate) fn captures_late<P: Preset>(&self) -> bool {
        P::PHY.map_or(self.late_capture, |known| known.late_capture)
    }

    /// Returns [`Config::lock_on_undecodable`], likewise.
    #[inline(always)]
    pub(crate) fn locks_on_undecodable<P: Preset>(&self) -> bool {
        P::PHY.map_or(self.lock_on_undecodable, |known| known.lock_on_undecodable)
    }

    /// Returns [`Config::energy_detection`], likewise.
    #[inline(always)]
    pub(crate) fn detects_energy<P: Preset>(&self) -> bool {
        P::PHY.map_or(self.energy_detection, |known| known.energy_detection)
    }

    #[inline(always)]
    fn survives(&self, frame: Watt, other: Watt) -> bool {
        // A multiplication: a division would cost ten times as much.
        self.capture_ratio.is_some_and(|ratio| frame.0 >= other.0 * ratio)
    }
}

/// The copy in the slot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slot {
    /// End of the copy; `NEVER` if the slot is free.
    pub end: Time,
    power: Watt,
    /// End of its reservation of the medium, if it is received.
    pub reserved: Time,
    /// The transmitter.
    pub src: NodeId,
    /// Whether it is an RTS.
    pub rts: bool,
    /// Reason for its loss; `None` if, as things are, it will be received.
    pub lost: Option<DropReason>,
}

impl Slot {
    #[inline(always)]
    fn new(copy: Arrival, lost: Option<DropReason>) -> Slot {
        let Arrival { src, power, end, reserved, rts } = copy;
        Slot { end, power, reserved, src, rts, lost }
    }

    fn as_interferer(&self, reason: DropReason) -> Interferer {
        Interferer { end: self.end, power: self.power, src: self.src, reason }
    }
}

/// A copy outside the slot. It is lost, and remains here for a while after its end.
#[derive(Clone, Copy, Debug)]
struct Interferer {
    end: Time,
    power: Watt,
    src: NodeId,
    reason: DropReason,
}

/// The receiver of one node.
///
/// Call [`Receiver::take_ended`] before any other use of the receiver, because ends are evaluated only when something
/// else happens; then [`Receiver::arrive`] once for each copy, in order of time, and [`Receiver::transmit_started`]
/// whenever the node starts to send. There are no timers.
///
/// Its options are passed to each call, so that receivers that share them are close together in memory.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// Until when it senses energy, or did, if nothing else arrives. (Part of "medium busy"; the NAV and the node's own
    /// transmissions belong to the MAC.)
    busy_until: Time,
    /// Its end is `NEVER` if the slot is free.
    slot: Slot,
    interferers: Vec<Interferer>,
}

impl Default for Receiver {
    fn default() -> Receiver {
        let silence = Arrival { src: NodeId(0), power: Watt(0.0), end: Time::NEVER, reserved: Time::ZERO, rts: false };
        Receiver { busy_until: Time::ZERO, slot: Slot::new(silence, None), interferers: Vec::new() }
    }
}

impl Receiver {
    /// Creates a receiver that always senses something, for an ear that uses another receiver.
    pub fn never_quiet() -> Receiver {
        Receiver { busy_until: Time::NEVER, ..Receiver::default() }
    }

    /// Whether it is locked on a frame that it can decode so far.
    pub fn is_receiving(&self) -> bool {
        self.slot().is_some_and(|slot| slot.lost.is_none())
    }

    /// Returns until when it senses energy, or did, if nothing else arrives.
    #[inline(always)]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Returns the number of copies on the air at this receiver after `now`.
    pub fn on_air(&self, now: Time) -> usize {
        self.asides(now).count() + usize::from(self.slot().is_some())
    }

    /// Returns the reasons for loss of the copies outside the slot that are on the air after `now`.
    pub fn asides(&self, now: Time) -> impl Iterator<Item = DropReason> {
        self.interferers.iter().filter(move |other| other.end > now).map(|other| other.reason)
    }

    /// Returns the copy in the slot.
    pub fn slot(&self) -> Option<&Slot> {
        (self.slot.end != Time::NEVER).then_some(&self.slot)
    }

    /// Takes the copy out of the slot if it ends by `now`: the MAC is notified of its fate.
    #[inline(always)]
    pub fn take_ended(&mut self, now: Time) -> Option<Slot> {
        let slot = self.slot;
        (slot.end <= now).then(|| {
            self.slot.end = Time::NEVER;
            slot
        })
    }

    /// Empties the slot if it contains the copy from `src` that ends at `now`.
    #[inline(always)]
    pub fn take(&mut self, now: Time, src: NodeId) -> Option<Slot> {
        if self.slot.src == src && self.slot.end == now { self.take_ended(now) } else { None }
    }

    /// A copy at or above the carrier-sense threshold begins to arrive at `now`; `transmitting` says whether the node
    /// is sending then.
    #[inline]
    pub fn arrive<P: Preset>(
        &mut self,
        now: Time,
        copy: Arrival,
        transmitting: bool,
        config: &Config,
    ) -> ArrivalEffect {
        if self.busy_until > now {
            self.arrive_among::<P>(now, copy, transmitting, config)
        } else {
            self.arrive_alone::<P>(now, copy, transmitting, config)
        }
    }

    /// As [`Receiver::arrive`], while the receiver senses nothing else.
    #[inline(always)]
    pub fn arrive_alone<P: Preset>(
        &mut self,
        now: Time,
        copy: Arrival,
        transmitting: bool,
        config: &Config,
    ) -> ArrivalEffect {
        let decodable = copy.power.0 >= config.rx_threshold.0;
        if !decodable && !config.locks_on_undecodable::<P>() {
            return self.sense::<P>(now, copy.end, copy.power, copy.src, config);
        }
        self.busy_until = copy.end;
        let lost = if decodable { None } else { Some(DropReason::Undecodable) };
        self.slot = Slot::new(copy, if transmitting { Some(DropReason::HalfDuplex) } else { lost });
        ArrivalEffect::Occupied
    }

    /// As [`Receiver::arrive`], while the receiver senses another copy.
    #[inline]
    fn arrive_among<P: Preset>(
        &mut self,
        now: Time,
        copy: Arrival,
        transmitting: bool,
        config: &Config,
    ) -> ArrivalEffect {
        let decodable = copy.power.0 >= config.rx_threshold.0;
        let over_the_rest = self.stands_out::<P>(now, copy.power, config);
        if self.slot().is_none() {
            if !decodable && !config.locks_on_undecodable::<P>() {
                return self.sense::<P>(now, copy.end, copy.power, copy.src, config);
            }
            let lost = if transmitting {
                Some(DropReason::HalfDuplex)
            } else if !decodable {
                Some(DropReason::Undecodable)
            } else if !over_the_rest {
                Some(DropReason::Collision)
            } else {
                None
            };
            self.slot = Slot::new(copy, lost);
            self.busy_until = if config.detects_energy::<P>() { self.busy_until.max(copy.end) } else { copy.end };
            return ArrivalEffect::Occupied;
        }
        let new = Slot::new(copy, None);
        if config.survives(self.slot.power, copy.power) {
            if config.detects_energy::<P>() {
                self.busy_until = self.busy_until.max(copy.end);
            }
            return self.add_interferer(now, new.as_interferer(DropReason::Captured));
        }
        let takes_over = config.captures_late::<P>()
            && !transmitting
            && decodable
            && over_the_rest
            && config.survives(copy.power, self.slot.power);
        // Collided frames last to the later of the two ends, and count with the power of the frame that ends then.
        let loser = if takes_over || copy.end > self.slot.end { core::mem::replace(&mut self.slot, new) } else { new };
        self.slot.lost = if takes_over { None } else { Some(DropReason::Collision) };
        let until = self.slot.end;
        self.busy_until = if config.detects_energy::<P>() { self.busy_until.max(until) } else { until };
        self.add_interferer(now, loser.as_interferer(DropReason::Collision))
    }

    /// A copy that cannot be decoded begins while the slot is free, and does not occupy it. Without energy detection
    /// the medium counts as quiet from the next end of any copy.
    fn sense<P: Preset>(&mut self, now: Time, end: Time, power: Watt, src: NodeId, config: &Config) -> ArrivalEffect {
        let others = self.interferers.iter().map(|other| other.end).filter(|&end| end > now);
        self.busy_until =
            if config.detects_energy::<P>() { self.busy_until.max(end) } else { others.fold(end, Time::min) };
        self.add_interferer(now, Interferer { end, power, src, reason: DropReason::Undecodable })
    }

    fn add_interferer(&mut self, now: Time, interferer: Interferer) -> ArrivalEffect {
        if self.interferers.len() == self.interferers.capacity() {
            self.interferers.retain(|other| other.end > now);
        }
        self.interferers.push(interferer);
        ArrivalEffect::Unreceived(interferer.reason)
    }

    /// Whether a frame of this power would survive everything on the air outside the slot. Without energy detection
    /// copies outside the slot have no effect.
    fn stands_out<P: Preset>(&self, now: Time, power: Watt, config: &Config) -> bool {
        !config.detects_energy::<P>()
            || self.interferers.iter().filter(|other| other.end > now).all(|other| config.survives(power, other.power))
    }

    /// Returns why the copy from `src` that ends at `now`, outside the slot, is lost.
    ///
    /// # Panics
    /// If that copy never arrived.
    pub fn interferer_lost(&self, now: Time, src: NodeId) -> DropReason {
        // INVARIANT: every copy that has arrived is in the slot or in `interferers` until it ends.
        let other = self.interferers.iter().find(|other| other.end == now && other.src == src);
        other.expect("a copy ends once, after its arrival").reason
    }

    /// Whether another copy outside the slot also ends at `now`, after that from `src` in the order of events.
    pub fn another_ends_after(&self, now: Time, src: NodeId) -> bool {
        self.interferers.iter().any(|other| other.end == now && other.src > src)
    }

    /// The node starts to transmit: the frame being received is lost.
    pub fn transmit_started(&mut self) {
        self.slot.lost = self.slot.lost.or(Some(DropReason::HalfDuplex));
    }
}

#[cfg(test)]
#[path = "threshold_tests.rs"]
mod tests;
