//! The `threshold` radio: a frame is decodable above one power, sensed above a lower one, and survives a weaker frame if
//! it is at least the capture ratio stronger.
//!
//! Source: the physical layer of ns-2.35 (`WirelessPhy` and the receive side of `Mac802_11`), the model behind the five
//! papers. It leaves out noise, sums of interference (each overlap is judged pair by pair) and fading.
//!
//! The receiver has one slot. A frame occupies it from its arrival to its end; another frame that arrives meanwhile
//! either loses to it (capture) or destroys both:
//!
//! ```text
//! F, strong        |=================|          Good
//! new, 10x weaker       |~~~~~~~~|              CapturedAway: F is unharmed, `new` leaves no energy behind
//!
//! F                |=================|
//! new, any other        |=================|     collision; the slot stays occupied to the later end
//! ```
//!
//! Where ns-2 differs from real receivers, an option of [`Config`] names the difference.

use super::{Arrival, ArrivalEffect, Departure, TxId, Verdict};
use crate::drop::DropReason;
use fourhop_units::Watt;

/// Thresholds and options of the radio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Least power that can be decoded. WaveLAN in ns-2: 3.652e-10 W, 250 m.
    pub rx_threshold: Watt,
    /// Least power that is sensed; weaker copies have no effect at all. WaveLAN in ns-2: 1.559e-11 W, 550 m.
    pub cs_threshold: Watt,
    /// How many times stronger a frame must be to survive another one; `None`: any overlap destroys both. ns-2: 10.
    /// Effect on NewReno over 3 / 4 / 7 / 12 hops without capture: -40 / -17 / -68 / -80 %.
    pub capture_ratio: Option<f64>,
    /// May a later frame that is the capture ratio stronger take over the receiver? ns-2: no; real receivers: yes.
    /// Effect of yes: +11 / +18 / 0 / -2 %.
    pub late_capture: bool,
    /// Does a frame that is sensed but not decodable occupy the receiver, so that a decodable one arriving later is lost?
    /// ns-2: yes; real receivers do not synchronise on it.
    pub lock_on_undecodable: bool,
    /// Is the medium busy for as long as any sensed frame is on the air? ns-2: no, only the frame in the slot counts;
    /// IEEE 802.11-2020 clause 15.4.6.5 (CCA): yes. Also makes every overlapping frame count as interference for as long
    /// as it lasts.
    pub energy_detection: bool,
}

impl Config {
    /// ns-2.35 with its WaveLAN defaults.
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

    /// The same thresholds with a receiver that behaves as IEEE 802.11 describes carrier sense.
    pub const fn standard() -> Config {
        Config { late_capture: true, lock_on_undecodable: false, energy_detection: true, ..Config::ns2() }
    }

    fn survives(&self, frame: Watt, other: Watt) -> bool {
        // A product, where a quotient would cost ten times as much.
        self.capture_ratio.is_some_and(|ratio| frame.0 >= other.0 * ratio)
    }
}

/// State of the frame in the slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition {
    Good,
    Lost(DropReason),
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    frame: Arrival,
    condition: Condition,
}

/// A copy on the air that is not in the slot.
#[derive(Clone, Copy, Debug)]
struct Aside {
    tx: TxId,
    power: Watt,
    reason: DropReason,
}

/// The receiver of one node.
///
/// Call [`Receiver::arrive`] and [`Receiver::depart`] once each per copy, in order of time; at one instant departures come
/// first. [`Receiver::transmit_started`] whenever the node begins to send. There are no timers.
///
/// Its options are handed to each call, so that receivers that share them lie close together in memory.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    slot: Option<Slot>,
    aside: Vec<Aside>,
}

impl Receiver {
    /// Does the receiver see energy? (Part of "medium busy"; the NAV and the node's own transmissions are the MAC's.)
    pub fn busy(&self, config: &Config) -> bool {
        self.slot.is_some() || (config.energy_detection && !self.aside.is_empty())
    }

    /// Is it on a frame that it can so far decode?
    pub fn is_receiving(&self) -> bool {
        self.slot.is_some_and(|slot| slot.condition == Condition::Good)
    }

    /// Copies on the air at this receiver.
    pub fn on_air(&self) -> usize {
        self.aside.len() + usize::from(self.slot.is_some())
    }

    /// A copy at or above the carrier-sense threshold begins to arrive; `transmitting` says whether the node sends now.
    pub fn arrive(&mut self, copy: Arrival, transmitting: bool, config: &Config) -> ArrivalEffect {
        let decodable = copy.power >= config.rx_threshold;
        let over_the_rest = self.stands_out(copy.power, config);
        let Some(slot) = &mut self.slot else {
            if !decodable && !config.lock_on_undecodable {
                self.aside.push(Aside { tx: copy.tx, power: copy.power, reason: DropReason::Undecodable });
                return ArrivalEffect::Occupied;
            }
            let condition = if transmitting {
                Condition::Lost(DropReason::HalfDuplex)
            } else if !decodable {
                Condition::Lost(DropReason::Undecodable)
            } else if !over_the_rest {
                Condition::Lost(DropReason::Collision)
            } else {
                Condition::Good
            };
            self.slot = Some(Slot { frame: copy, condition });
            return ArrivalEffect::Occupied;
        };
        if config.survives(slot.frame.power, copy.power) {
            self.aside.push(Aside { tx: copy.tx, power: copy.power, reason: DropReason::Captured });
            return ArrivalEffect::CapturedAway;
        }
        let takes_over = config.late_capture
            && !transmitting
            && decodable
            && over_the_rest
            && config.survives(copy.power, slot.frame.power);
        // The wreck of a collision lasts to the later of the two ends, and is as strong as the frame that ends then.
        let loser =
            if takes_over || copy.end > slot.frame.end { core::mem::replace(&mut slot.frame, copy) } else { copy };
        slot.condition = if takes_over { Condition::Good } else { Condition::Lost(DropReason::Collision) };
        self.aside.push(Aside { tx: loser.tx, power: loser.power, reason: DropReason::Collision });
        ArrivalEffect::Occupied
    }

    /// Would a frame of this power survive all that is on the air beside the slot? Without energy detection what is not in
    /// the slot has no effect.
    fn stands_out(&self, power: Watt, config: &Config) -> bool {
        !config.energy_detection || self.aside.iter().all(|other| config.survives(power, other.power))
    }

    /// A copy ends; if it was the one in the slot, the slot is free afterwards.
    ///
    /// # Panics
    /// If that copy never arrived.
    pub fn depart(&mut self, tx: TxId, transmitting: bool) -> Departure {
        if let Some(slot) = self.slot.take_if(|slot| slot.frame.tx == tx) {
            return Departure::Judged(match slot.condition {
                _ if transmitting => Verdict::Missed,
                Condition::Good => Verdict::Good,
                Condition::Lost(reason) => Verdict::Bad(reason),
            });
        }
        // INVARIANT: every copy that has arrived is in the slot or aside until it departs.
        let index = self.aside.iter().position(|other| other.tx == tx).expect("a copy departs once, after its arrival");
        Departure::Lost(self.aside.swap_remove(index).reason)
    }

    /// The node begins to transmit: what it was receiving is lost.
    pub fn transmit_started(&mut self) {
        if let Some(slot) = &mut self.slot
            && slot.condition == Condition::Good
        {
            slot.condition = Condition::Lost(DropReason::HalfDuplex);
        }
    }
}

#[cfg(test)]
#[path = "threshold_tests.rs"]
mod tests;
