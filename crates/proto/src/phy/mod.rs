//! The radio of a node: how it receives overlapping frames.
//!
//! The channel (outside this crate) reports to the receiver when a copy of a frame arrives, its power, and when it
//! ends; the receiver returns a [`Verdict`] at the end. There are two models with the same calls: [`threshold`], which
//! the papers used, and [`sinr`], which is more realistic. The choice is made once per walk of a frame over its
//! receivers, so neither model costs time in the other.

pub mod error_rate;
pub mod kind;
pub mod log_distance;
pub mod mcs;
pub mod sinr;
pub mod threshold;
pub mod two_ray;

pub use kind::PhyKind;
pub use mcs::{Mcs, TxRate};
pub use threshold::{Config, Receiver};

use crate::drop::DropReason;
use crate::wire::{Frame, FrameKind};
use fourhop_units::{Dur, NodeId, Time, Watt};

/// Properties of a frame on the air that receivers need in addition to its content.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Radiated {
    /// The transmitter. A node transmits one frame at a time, so this and the end identify a copy at a receiver.
    pub src: NodeId,
    /// Its air time.
    pub airtime: Dur,
    /// How long it reserves the medium after its end.
    pub duration: Dur,
    /// Whether it is an RTS.
    pub rts: bool,
}

impl Radiated {
    /// Extracts the properties of `frame` from `src`.
    pub fn new(src: NodeId, frame: &Frame) -> Radiated {
        let rts = matches!(frame.kind, FrameKind::Rts);
        Radiated { src, airtime: frame.airtime, duration: frame.duration, rts }
    }

    /// Returns its copy at a receiver, which begins at `now`; `for_us` says whether the frame is addressed to that
    /// station alone, for which it reserves nothing.
    #[inline(always)]
    pub fn copy(&self, now: Time, power: Watt, for_us: bool) -> Arrival {
        let end = now + self.airtime;
        let reserved = if for_us { Time::ZERO } else { end + self.duration };
        Arrival { src: self.src, power, end, reserved, rts: self.rts }
    }
}

/// The copy of a frame that begins to arrive at a receiver. Everything that its end will change is already known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrival {
    /// The transmitter.
    pub src: NodeId,
    /// Received power.
    pub power: Watt,
    /// End of this copy at this receiver.
    pub end: Time,
    /// End of its reservation for others.
    pub reserved: Time,
    /// Whether it is an RTS.
    pub rts: bool,
}

/// Effect of the start of a copy on the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrivalEffect {
    /// It occupies the receiver.
    Occupied,
    /// A copy is lost for this reason: either this one or the one that occupied the receiver. If it is
    /// [`DropReason::Captured`], it vanishes under the frame being received; otherwise the receiver senses it.
    Unreceived(DropReason),
}

/// Result of the end of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// It occupied the receiver: the MAC is notified of the verdict.
    Judged(Verdict),
    /// It had been lost before, unnoticed by the MAC.
    Lost(DropReason),
}

/// Fate of the frame in the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Received.
    Good,
    /// Lost, and the MAC knows that something was there.
    Bad(DropReason),
    /// Lost without notice: the node was transmitting when it ended.
    Missed,
}
