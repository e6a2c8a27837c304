//! Neighbourhood RED: nodes that share the medium drop packets early together, each in proportion to its own part of
//! the load.
//!
//! Source: Xu, Gerla, Qi, Shu, "Enhancing TCP Fairness in Ad Hoc Wireless Networks Using Neighborhood RED", MobiCom
//! 2003. We had its abstract and descriptions by others, not the text. Their idea: the queues of a node and its
//! neighbours form one distributed queue, whose length shows in how busy the medium is. A node that finds it too long
//! announces a drop probability to its neighbours, and every node drops in proportion to its share. The parameter
//! values and the measurement of shares are ours:
//!
//! ```text
//!   every 2 ms on average:  is the medium idle?  (carrier sense and NAV)
//!   every interval:         load = mean busy share     own = mean share of what this node sends and receives
//!                           p = max_drop · (load - low) / (high - low)       RED's line
//!                           notify neighbours of p / load, unless one of them announced as much
//!   every packet of data:   drop with own · the largest p / load that is known, spaced as RED spaces
//! ```
//!
//! With `link.ecn`, ECN-capable packets are marked instead of dropped (RFC 3168).
//!
//! The medium is sampled at random instants, so no hooks are needed where frames arrive.

use crate::wire::{Body, Ipv4Packet, Msdu, Payload};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Stream, Time};

/// IP protocol number of notifications: the second of those that RFC 3692 reserves for experiments.
pub const PROTOCOL: u8 = 254;
/// Mean time between two samples of the medium.
const LOOK: Dur = Dur::from_millis(2);
/// Number of intervals for which a notification is valid. Broadcasts are not acknowledged, so one may get lost.
const LIFETIME: u64 = 2;
/// Unit of shares and probabilities: they are counted in millionths.
const ONE: u64 = 1_000_000;

/// Thresholds and times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Whether it is enabled.
    pub enabled: bool,
    /// Busy share of the medium, in thousandths of the time, at which drops begin.
    pub low: u32,
    /// Busy share at which the probability reaches its maximum.
    pub high: u32,
    /// Maximum probability, in thousandths, at a node that causes all the load.
    pub max_drop: u32,
    /// Time between two estimates, and thus between two notifications.
    pub interval: Dur,
    /// Weight of the old averages, in thousandths.
    pub smoothing: u32,
}

impl Config {
    /// Disabled.
    pub const fn off() -> Config {
        Config { enabled: false, low: 500, high: 1000, max_drop: 100, interval: Dur::from_millis(100), smoothing: 800 }
    }

    /// Returns the probability at a mean `load`, RED's linear ramp between the thresholds; all in millionths.
    fn probability(&self, load: u64) -> u64 {
        let (low, max) = (u64::from(self.low) * 1000, u64::from(self.max_drop) * 1000);
        let span = (u64::from(self.high) * 1000).saturating_sub(low).max(1);
        load.saturating_sub(low).min(span) * max / span
    }
}

/// Probability for a node that causes all the load, divided by that load, in millionths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Notified {
    pressure: u64,
    until: Time,
}

/// The state of one station.
///
/// Call [`NeighbourhoodRed::handle_timeout`] at [`NeighbourhoodRed::next_timeout`], and report every packet that this
/// station sends or receives, and every notification that a neighbour broadcasts.
#[derive(Clone, Debug)]
pub struct NeighbourhoodRed {
    config: Config,
    random: Stream,
    next_look: Time,
    since: Time,
    looks: u64,
    busy_looks: u64,
    /// Airtime of frames sent and received since `since`.
    carried: Dur,
    /// Mean shares of time, in millionths.
    load: u64,
    own: u64,
    /// This station's own estimate.
    pressure: u64,
    notified: Option<Notified>,
    /// Packets since the last drop.
    spared: u64,
}

impl NeighbourhoodRed {
    /// Starts with a medium that has been idle.
    pub fn new(config: Config, random: Stream) -> NeighbourhoodRed {
        NeighbourhoodRed {
            config,
            random,
            next_look: Time::ZERO,
            since: Time::ZERO,
            looks: 0,
            busy_looks: 0,
            carried: Dur::ZERO,
            load: 0,
            own: 0,
            pressure: 0,
            notified: None,
            spared: 0,
        }
    }

    /// Returns the mean share of time, from 0 to 1, that the medium is busy.
    pub fn load(&self) -> f64 {
        self.load as f64 / ONE as f64
    }

    /// Returns when [`NeighbourhoodRed::handle_timeout`] must be called.
    pub fn next_timeout(&self) -> Time {
        self.next_look
    }

    /// Records the airtime of a unicast packet that this station sends or has received.
    pub fn handle_carried(&mut self, airtime: Dur) {
        self.carried += airtime;
    }

    /// Samples the medium. Returns the value to notify neighbours of, if any: the probability for a node that causes
    /// all the load, divided by that load, in millionths.
    pub fn handle_timeout(&mut self, now: Time, idle: bool) -> Option<u32> {
        if now < self.next_look {
            return None;
        }
        self.looks += 1;
        self.busy_looks += u64::from(!idle);
        self.next_look = now + Dur::from_nanos(1) + self.random.duration(LOOK * 2);
        let elapsed = now.saturating_since(self.since);
        if elapsed < self.config.interval {
            return None;
        }
        let keep = u64::from(self.config.smoothing);
        let averaged = |old: u64, new: u64| (keep * old + (1000 - keep) * new.min(ONE)) / 1000;
        self.load = averaged(self.load, ONE * self.busy_looks / self.looks);
        self.own = averaged(self.own, share(self.carried, elapsed));
        (self.since, self.looks, self.busy_looks, self.carried) = (now, 0, 0, Dur::ZERO);
        self.pressure = self.config.probability(self.load) * ONE / self.load.max(1);
        // A station without traffic adds nothing to the queue; another that sees more load speaks for it.
        let speaks = self.own > 0 && self.pressure > self.notified_at(now);
        speaks.then(|| u32::try_from(self.pressure).unwrap_or(u32::MAX))
    }

    /// Handles a notification broadcast by a neighbour.
    pub fn handle_notification(&mut self, now: Time, pressure: u32) {
        let pressure = u64::from(pressure);
        if pressure >= self.notified_at(now) {
            self.notified = Some(Notified { pressure, until: now + self.config.interval * LIFETIME });
        }
    }

    fn notified_at(&self, now: Time) -> u64 {
        self.notified.filter(|notified| now < notified.until).map_or(0, |notified| notified.pressure)
    }

    /// Returns whether to drop this packet, the next for the MAC.
    pub fn drops(&mut self, now: Time, msdu: &Msdu) -> bool {
        let data = matches!(&msdu.payload, Payload::Ipv4(packet) if !packet.is_network_control());
        if msdu.dst.is_broadcast() || !data {
            return false;
        }
        let p = self.pressure.max(self.notified_at(now)) * self.own / ONE;
        if p == 0 {
            self.spared = 0;
            return false;
        }
        // Floyd and Jacobson 1993: this makes gaps between drops uniform instead of geometric.
        let left = ONE.saturating_sub(self.spared * p);
        let spaced = (p * ONE).checked_div(left).unwrap_or(ONE);
        let dropped = u64::from(self.random.below(ONE as u32)) < spaced;
        self.spared = if dropped { 0 } else { self.spared + 1 };
        dropped
    }
}

/// Returns `part` as a share of `whole`, in millionths.
fn share(part: Dur, whole: Dur) -> u64 {
    (u128::from(part.as_nanos()) * u128::from(ONE) / u128::from(whole.as_nanos().max(1))) as u64
}

/// Builds the packet that notifies the neighbours of `src`.
pub fn notification(src: Ipv4Addr, pressure: u32) -> Ipv4Packet {
    Ipv4Packet::control_broadcast(src, PROTOCOL, &pressure.to_be_bytes())
}

/// Returns the content of `packet`, if it is a notification.
pub fn read_notification(packet: &Ipv4Packet) -> Option<u32> {
    let Body::Opaque(opaque) = &packet.body else { return None };
    let is_one = packet.is_for_all() && opaque.protocol() == PROTOCOL;
    opaque.content().first_chunk().filter(|_| is_one).map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests;
