//! The radio of one node: how it receives overlapping frames.
//!
//! The channel (outside this crate) tells the receiver when a copy of a frame arrives, how strong it is and when it
//! ends; the receiver returns a [`Verdict`] at the end. There are two models with the same calls: [`threshold`], which
//! the papers used, and [`sinr`], which is more realistic. The choice is made once for each walk of a frame over its
//! receivers, so neither costs time in the other.

pub mod error_rate;
pub mod kind;
pub mod log_distance;
pub mod sinr;
pub mod threshold;
pub mod two_ray;

pub use kind::PhyKind;
pub use threshold::{Config, Receiver};

use crate::drop::DropReason;
use fourhop_units::{Time, Watt};

/// Names a transmission while any copy of it is on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TxId(pub u32);

/// The copy of a frame that begins to arrive at a receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrival {
    /// Which transmission.
    pub tx: TxId,
    /// Received power.
    pub power: Watt,
    /// When this copy ends at this receiver.
    pub end: Time,
}

/// What the beginning of a copy did to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrivalEffect {
    /// The receiver is occupied by this copy, or by the wreck of a collision with it.
    Occupied,
    /// The copy vanished under the frame being received, which is at least the capture ratio stronger.
    CapturedAway,
}

/// The end of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// It occupied the receiver: the MAC hears what became of it.
    Judged(Verdict),
    /// It had been lost before, unnoticed by the MAC.
    Lost(DropReason),
}

/// What became of the frame that occupied the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Received.
    Good,
    /// Lost, and the MAC knows that something was there.
    Bad(DropReason),
    /// Lost without notice: the node was transmitting when it ended.
    Missed,
}
