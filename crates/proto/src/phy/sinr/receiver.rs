//! The receiver of one node with the `sinr` radio.
//!
//! ```text
//! on the air     A |==preamble=|hdr|==========payload=============|
//!                          B |~~~~~~~~~~~~~~~|
//! A's ratio        |  high   |     low       |        high        |     pieces, each with its error rate
//! ```
//!
//! A free receiver synchronises on a copy that is strong enough when it begins, and follows it to its end. Whenever
//! another copy begins or ends, a piece with constant interference is complete: the hazard of its bits is added up,
//! separately for the header and the payload. One random number, drawn at synchronisation, decides at the end. The MAC
//! does not notice a frame with a bad header, and from the end of that header on the receiver may follow another.
//!
//! The medium is busy during a frame on which the receiver has synchronised, and while the sum of all powers is at or
//! above a threshold. The rest of a frame whose beginning was missed therefore makes the medium busy only if it is
//! strong.

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
    /// Until when it reserves the medium, if it is received.
    pub reserved: Time,
    /// Is it an RTS?
    pub rts: bool,
    /// Has the receiver synchronised on it, so that carrier sense knows of it?
    sensed: bool,
    /// The reason of its loss, unless the receiver follows it.
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
    /// The curve of `mode`, once it is needed.
    curve: Option<&'static Curve>,
    rate: Rate,
    /// Factor on the ratio for `mode`: 1 without an MCS.
    ratio: f64,
    /// Has its header been found right?
    header_read: bool,
    header: Header,
    header_begins: Time,
    header_ends: Time,
    payload_begins: Time,
    payload_ends: Time,
    /// Up to when hazards are added up.
    counted: Time,
    /// Sum of the other powers since then.
    interference: f64,
    header_hazard: f64,
    payload_hazard: f64,
    /// Can it not be decoded whatever its power?
    is_foreign: bool,
    /// It survives what happens with a higher probability than this.
    chance: f64,
}

/// The receiver of one node: the calls are those of the [`threshold`](crate::phy::threshold) radio's, in the same
/// order. There are no timers.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The first end of a copy that is on the air, and whose; `NEVER` if none is.
    next: (Time, NodeId),
    /// Sum of the powers on the air, added up in their order there.
    sum: f64,
    on_air: Vec<OnAir>,
    /// How many of them carrier sense knows of.
    sensed: u32,
    config: Config,
    /// Of `config`, without an MCS, with the curve of its mode.
    header: Header,
    header_curve: Option<&'static Curve>,
    random: Stream,
    followed: Option<Followed>,
    /// The MPDUs of what is followed, if that is an aggregate.
    parts: Parts,
    /// Does it know no MCS?
    legacy: bool,
}

const NOTHING: (Time, NodeId) = (Time::NEVER, NodeId(u32::MAX));

impl Receiver {
    /// A receiver in silence; `random` is its own.
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

    /// A station of 802.11a or g among those of 802.11n and later: of a frame with an MCS it reads L-SIG, which gives
    /// the time for which the medium is busy (clause 19.3.9.3.5), and takes the rest for a damaged frame.
    #[must_use]
    pub fn without_mcs(self) -> Receiver {
        Receiver { legacy: true, ..self }
    }

    /// Intact MPDUs of the aggregate received last: bit n stands for the nth.
    pub fn arrived(&self) -> u64 {
        self.parts.arrived()
    }

    /// Is the medium busy as far as the receiver can tell?
    #[inline]
    pub fn busy(&self) -> bool {
        self.sum >= self.config.cca_energy.0 || (self.config.cca_preamble && self.sensed > 0)
    }

    /// Does it follow a frame?
    pub fn is_receiving(&self) -> bool {
        self.followed.is_some()
    }

    /// Copies on the air at this receiver.
    pub fn on_air(&self) -> usize {
        self.on_air.len()
    }

    /// Does it follow the copy of `src`?
    pub fn follows(&self, src: NodeId) -> bool {
        self.followed.is_some_and(|followed| followed.src == src)
    }

    /// The copy that ends next, and its end. At one instant that of the first node ends first.
    #[inline]
    pub fn next_departure(&self) -> Option<(Time, NodeId)> {
        (self.next.0 != Time::NEVER).then_some(self.next)
    }

    /// The first instant at which, if nothing else arrives, the medium may become quiet or a frame be received; `NEVER`
    /// if it is quiet and none is. Perhaps neither happens then.
    pub fn may_be_quiet(&self) -> Time {
        let followed = self.followed.map_or(Time::NEVER, |followed| followed.end);
        if !self.busy() {
            return followed;
        }
        let sensed = self.on_air.iter().filter(|copy| copy.sensed && self.config.cca_preamble).map(|copy| copy.end);
        followed.min(sensed.max().unwrap_or(self.next.0))
    }

    /// Sum of all powers but that of `src`.
    fn sum_of_others(&self, src: NodeId) -> f64 {
        self.on_air.iter().filter(|copy| copy.src != src).map(|copy| copy.power).sum()
    }

    /// A copy of `frame` begins to arrive; `transmitting` says whether the node sends now. True if the medium is busy
    /// and this copy has to do with it.
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
            // Without noise and others it would still have been too weak.
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

    /// Adds the hazard of the piece that is over at `now`.
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

    /// Once the header is over, a receiver that could not read it is free for another frame.
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

    /// Would the frame have survived noise alone?
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

    /// The copy of `src` ends.
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

    /// The node begins to transmit: what it was receiving is lost.
    pub fn transmit_started(&mut self) {
        if let Some(followed) = self.followed.take() {
            self.set_reason(followed.src, DropReason::HalfDuplex);
        }
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
