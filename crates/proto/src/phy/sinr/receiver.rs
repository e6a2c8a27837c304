//! The receiver of a node with the `sinr` radio.
//!
//! ```text
//! on the air     A |==preamble=|hdr|==========payload=============|
//!                          B |~~~~~~~~~~~~~~~|
//! A's ratio        |  high   |     low       |        high        |     pieces, each with its error rate
//! ```
//!
//! A free receiver synchronises on a copy that is strong enough when it begins, and follows it to its end. Whenever
//! another copy begins or ends, a piece with constant interference is complete: the hazard of its bits is accumulated,
//! separately for the header and the payload. One random number, drawn at synchronisation, decides at the end. The MAC
//! does not notice a frame with a bad header, and once that header has ended the receiver may follow another frame.
//!
//! The medium is busy during a frame on which the receiver has synchronised, and while the sum of all powers is at or
//! above a threshold. A frame whose beginning was missed therefore makes the medium busy only if it is strong.

use super::config::{Config, FrameCapture, Header, bits_in};
use super::parts::Parts;
use crate::drop::DropReason;
use crate::phy::error_rate::{Curve, Mode};
use crate::phy::{Arrival, Departure, Verdict};
use crate::wire::{Frame, FrameKind};
use fourhop_units::{NodeId, Rate, Stream, Time, Watt};

/// A copy on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir {
    src: NodeId,
    end: Time,
    /// End of its reservation of the medium, if it is received.
    pub reserved: Time,
    /// Whether it is an RTS.
    pub rts: bool,
    /// Whether the receiver has synchronised on it, so that carrier sense detects it.
    sensed: bool,
    /// Reason for its loss, unless the receiver follows it.
    reason: DropReason,
    power: f64,
}

/// The copy the receiver follows.
#[derive(Clone, Copy, Debug)]
struct Followed {
    src: NodeId,
    end: Time,
    power: f64,
    mode: Mode,
    /// The error curve of `mode`; `None` if a fixed ratio decides.
    curve: Option<&'static Curve>,
    rate: Rate,
    /// Factor on the ratio for `mode`: 1 without an MCS.
    ratio: f64,
    /// Whether its header has been decoded.
    header_read: bool,
    header: Header,
    header_begins: Time,
    header_ends: Time,
    payload_begins: Time,
    payload_ends: Time,
    /// Up to when hazards have been accumulated.
    counted: Time,
    /// Sum of the other powers since then.
    interference: f64,
    header_hazard: f64,
    payload_hazard: f64,
    /// Whether it cannot be decoded whatever its power.
    is_foreign: bool,
    /// It survives if its survival probability exceeds this.
    chance: f64,
}

/// The receiver of a node, with the same calls as that of the [`threshold`](crate::phy::threshold) radio, in the same
/// order. There are no timers.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The first end of a copy on the air, and its transmitter; `NEVER` without copies.
    next: (Time, NodeId),
    /// Sum of the powers on the air, added in the order of `on_air`.
    sum: f64,
    on_air: Vec<OnAir>,
    /// Number of copies detected by carrier sense.
    sensed: u32,
    config: Config,
    /// Header of a frame without MCS, and the curve of its mode.
    header: Header,
    header_curve: Option<&'static Curve>,
    random: Stream,
    followed: Option<Followed>,
    /// The MPDUs of the frame being received, if it is an aggregate.
    parts: Parts,
    /// Whether it supports no MCS.
    legacy: bool,
}

const NOTHING: (Time, NodeId) = (Time::NEVER, NodeId(u32::MAX));

impl Receiver {
    /// Creates a receiver in silence; `random` must not be shared with others.
    pub fn new(config: Config, random: Stream) -> Receiver {
        let header = config.header();
        Receiver {
            next: NOTHING,
            sum: 0.0,
            on_air: Vec::new(),
            sensed: 0,
            header,
            header_curve: config.curve(header.mode),
            config,
            random,
            followed: None,
            parts: Parts::default(),
            legacy: false,
        }
    }

    /// Turns it into a station of 802.11a or g among stations of 802.11n and later: of a frame with an MCS it decodes
    /// L-SIG, which gives the time for which the medium is busy (clause 19.3.9.3.5), and treats the rest as a damaged
    /// frame.
    #[must_use]
    pub fn without_mcs(self) -> Receiver {
        Receiver { legacy: true, ..self }
    }

    /// Returns the intact MPDUs of the last received aggregate: bit n stands for the nth.
    pub fn arrived(&self) -> u64 {
        self.parts.arrived()
    }

    /// Whether the medium is busy as far as the receiver can tell.
    #[inline]
    pub fn busy(&self) -> bool {
        self.sum >= self.config.cca_energy.0 || (self.config.cca_preamble && self.sensed > 0)
    }

    /// Whether it follows a frame.
    pub fn is_receiving(&self) -> bool {
        self.followed.is_some()
    }

    /// Returns the number of copies on the air at this receiver.
    pub fn on_air(&self) -> usize {
        self.on_air.len()
    }

    /// Whether it follows the copy from `src`.
    pub fn follows(&self, src: NodeId) -> bool {
        self.followed.is_some_and(|followed| followed.src == src)
    }

    /// Returns the next end of a copy, and its transmitter. At the same instant, the copy from the lowest node ends
    /// first.
    #[inline]
    pub fn next_departure(&self) -> Option<(Time, NodeId)> {
        (self.next.0 != Time::NEVER).then_some(self.next)
    }

    /// Returns the first instant at which, if nothing else arrives, the medium may become quiet or a frame may be
    /// received; `NEVER` if it is quiet and follows no frame. It is possible that neither happens then.
    pub fn may_be_quiet(&self) -> Time {
        let followed = self.followed.map_or(Time::NEVER, |followed| followed.end);
        if !self.busy() {
            return followed;
        }
        let sensed = self.on_air.iter().filter(|copy| copy.sensed && self.config.cca_preamble).map(|copy| copy.end);
        followed.min(sensed.max().unwrap_or(self.next.0))
    }

    /// Returns the sum of all powers except that of `src`.
    fn sum_of_others(&self, src: NodeId) -> f64 {
        self.on_air.iter().filter(|copy| copy.src != src).map(|copy| copy.power).sum()
    }

    /// A copy of `frame` begins to arrive; `transmitting` says whether the node is sending now. Returns true if the
    /// medium is busy and this copy contributes to it.
    #[must_use]
    pub fn arrive(&mut self, now: Time, copy: Arrival, frame: &Frame, transmitting: bool) -> bool {
        let was_busy = self.busy();
        self.count_up_to(now);
        self.give_up_bad_header(now);
        let power = copy.power.0;
        let others = self.sum;
        let sinr = power / (self.config.noise.0 + others);
        let strong = copy.power >= self.config.sensitivity;
        let heard = !transmitting && strong && sinr >= self.config.preamble_sinr;
        let follow = heard && self.followed.as_ref().is_none_or(|followed| self.takes_over(now, power, followed));
        let reason = match &self.followed {
            _ if transmitting => DropReason::HalfDuplex,
            // Too weak even without interference.
            _ if !strong || Watt(power).over(self.config.noise) < self.config.preamble_sinr => DropReason::Undecodable,
            Some(followed) if followed.power > power => DropReason::Captured,
            _ => DropReason::Collision,
        };
        if let Some(followed) = &mut self.followed {
            if follow {
                let src = followed.src;
                self.set_reason(src, DropReason::Collision);
            } else {
                followed.interference += power;
            }
        }
        let Arrival { src, end, reserved, rts, .. } = copy;
        self.on_air.push(OnAir { src, end, reserved, rts, sensed: follow, reason, power });
        self.next = self.next.min((end, src));
        self.sum += power;
        if follow {
            self.sensed += 1;
            self.followed = Some(self.follow(now, copy, others, frame));
        }
        (follow || !was_busy) && self.busy()
    }

    fn takes_over(&self, now: Time, power: f64, followed: &Followed) -> bool {
        let in_time = match self.config.capture {
            FrameCapture::None => false,
            FrameCapture::Preamble => now < followed.payload_begins,
            FrameCapture::Any => true,
        };
        in_time && power >= followed.power * self.config.capture_ratio
    }

    fn follow(&mut self, now: Time, copy: Arrival, others: f64, frame: &Frame) -> Followed {
        let mode = self.config.mode(frame);
        let (payload_begins, ratio, header, header_ends) = match &frame.kind {
            FrameKind::Aggregate(aggregate) if !self.legacy => {
                let payload_begins = now + aggregate.mcs.preamble();
                self.parts.begin(aggregate, payload_begins, &mut self.random);
                let (header, ends) = self.config.header_with_mcs(self.header);
                (payload_begins, self.config.ratio_with(aggregate.mcs), header, now + ends)
            }
            _ => {
                self.parts.clear();
                (now + self.config.plcp, 1.0, self.header, now + self.config.plcp)
            }
        };
        Followed {
            src: copy.src,
            end: copy.end,
            power: copy.power.0,
            mode,
            curve: self.config.curve(mode),
            rate: frame.rate,
            ratio,
            header_read: false,
            header,
            header_begins: header_ends - header.length,
            header_ends,
            payload_begins,
            payload_ends: copy.end - self.config.phy.signal_extension(),
            counted: now,
            interference: others,
            header_hazard: 0.0,
            payload_hazard: 0.0,
            is_foreign: self.legacy && matches!(frame.kind, FrameKind::Aggregate(_)),
            chance: self.random.unit(),
        }
    }

    /// Accumulates the hazard of the piece that ends at `now`.
    fn count_up_to(&mut self, now: Time) {
        let config = &self.config;
        let Some(followed) = &mut self.followed else { return };
        let (from, to) = (followed.counted, now.min(followed.payload_ends));
        followed.counted = now;
        let sinr = followed.power / (config.noise.0 + followed.interference);
        let (begins, ends) = (from.max(followed.header_begins), to.min(followed.header_ends));
        if begins < ends {
            let header = &followed.header;
            let share = (ends - begins).as_nanos() as f64 / header.length.as_nanos() as f64;
            followed.header_hazard += share * header.bits * config.hazard_on(self.header_curve, sinr);
        }
        let begins = from.max(followed.payload_begins);
        if begins < to {
            let hazard = config.hazard_on(followed.curve, sinr * followed.ratio);
            if self.parts.is_empty() {
                followed.payload_hazard += bits_in(to - begins, followed.rate) * hazard;
            } else {
                self.parts.count(begins, to, followed.rate, hazard);
            }
        }
    }

    /// After the end of the header, frees a receiver that could not decode it.
    fn give_up_bad_header(&mut self, now: Time) {
        let Some(followed) = &mut self.followed else { return };
        if followed.header_read || now < followed.payload_begins {
            return;
        }
        if followed.chance < libm::exp(-followed.header_hazard) {
            followed.header_read = true;
            return;
        }
        let followed = *followed;
        let reason = self.cause(&followed);
        self.set_reason(followed.src, reason);
        self.followed = None;
    }

    /// Returns the cause of a loss: a collision if the frame would have survived noise alone.
    fn cause(&self, followed: &Followed) -> DropReason {
        let sinr = followed.power / self.config.noise.0;
        let header = &followed.header;
        let payload = self.config.hazard(followed.mode, sinr * followed.ratio);
        if !self.parts.is_empty() {
            let header = libm::exp(-header.bits * self.config.hazard(header.mode, sinr));
            let some = followed.chance < header && self.parts.any_survives(followed.rate, payload);
            return if some { DropReason::Collision } else { DropReason::FrameError };
        }
        let bits = bits_in(followed.payload_ends - followed.payload_begins, followed.rate);
        let hazard = header.bits * self.config.hazard(header.mode, sinr) + bits * payload;
        if followed.chance < libm::exp(-hazard) { DropReason::Collision } else { DropReason::FrameError }
    }

    fn set_reason(&mut self, src: NodeId, reason: DropReason) {
        if let Some(copy) = self.on_air.iter_mut().find(|copy| copy.src == src) {
            copy.reason = reason;
        }
    }

    /// The copy from `src` ends.
    ///
    /// # Panics
    /// If that copy never arrived.
    pub fn depart(&mut self, now: Time, src: NodeId, transmitting: bool) -> (Departure, OnAir) {
        self.count_up_to(now);
        self.give_up_bad_header(now);
        // INVARIANT: every copy that has arrived is on the air until it departs.
        let index =
            self.on_air.iter().position(|copy| copy.src == src).expect("a copy departs once, after its arrival");
        let copy = self.on_air.swap_remove(index);
        self.sensed -= u32::from(copy.sensed);
        let mut next = NOTHING;
        self.sum = 0.0;
        for other in &self.on_air {
            next = next.min((other.end, other.src));
            self.sum += other.power;
        }
        self.next = next;
        let departure = match self.followed.take_if(|followed| followed.src == src) {
            Some(_) if transmitting => Departure::Judged(Verdict::Missed),
            Some(followed) if followed.is_foreign => Departure::Judged(Verdict::Bad(DropReason::FrameError)),
            Some(followed) if !self.parts.is_empty() => {
                let header = followed.chance < libm::exp(-followed.header_hazard);
                match self.parts.judge() {
                    some if header && some > 0 => Departure::Judged(Verdict::Good),
                    _ => Departure::Judged(Verdict::Bad(self.cause(&followed))),
                }
            }
            Some(followed) if followed.chance < libm::exp(-(followed.header_hazard + followed.payload_hazard)) => {
                Departure::Judged(Verdict::Good)
            }
            Some(followed) => Departure::Judged(Verdict::Bad(self.cause(&followed))),
            None => {
                if let Some(src) = self.followed.as_ref().map(|followed| followed.src) {
                    let interference = self.sum_of_others(src);
                    self.followed.iter_mut().for_each(|followed| followed.interference = interference);
                }
                Departure::Lost(copy.reason)
            }
        };
        (departure, copy)
    }

    /// The node starts to transmit: the frame being received is lost.
    pub fn transmit_started(&mut self) {
        if let Some(followed) = self.followed.take() {
            self.set_reason(followed.src, DropReason::HalfDuplex);
        }
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
