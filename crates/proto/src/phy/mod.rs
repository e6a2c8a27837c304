//! The radio of one node: what it makes of overlapping frames.
//!
//! The channel (outside this crate) tells the receiver when a copy of a frame arrives, how strong it is and when it ends;
//! the receiver answers with a [`Verdict`] at the end. Two models stand behind one interface, [`Receiver`]: [`threshold`],
//! the one the papers used, and [`sinr`], the honest one.

pub mod error_rate;
pub mod kind;
pub mod log_distance;
pub mod sinr;
pub mod threshold;
pub mod two_ray;

pub use kind::PhyKind;
pub use threshold::Config;

use crate::drop::DropReason;
use crate::wire::Frame;
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
    /// The medium is as it was. Only with the `sinr` radio.
    Unnoticed,
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

/// The receiver of one node, whichever the model. All nodes of a network have the same.
#[derive(Clone, Debug)]
pub enum Receiver {
    /// Ranges and ratios.
    Threshold(threshold::Receiver),
    /// Noise, interference and chance.
    Sinr(Box<sinr::Receiver>),
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver::Threshold(threshold::Receiver::default())
    }
}

impl Receiver {
    /// A copy of `frame` begins to arrive; `transmitting` says whether the node sends now. `config` is for `threshold`, whose
    /// receivers share it.
    #[inline]
    pub fn arrive(
        &mut self,
        now: Time,
        copy: Arrival,
        frame: &Frame,
        transmitting: bool,
        config: &Config,
    ) -> ArrivalEffect {
        match self {
            Receiver::Threshold(receiver) => receiver.arrive(copy, transmitting, config),
            Receiver::Sinr(receiver) => receiver.arrive(now, copy, frame, transmitting),
        }
    }

    /// A copy ends. Says also whether the receiver senses anything from now on.
    ///
    /// # Panics
    /// If that copy never arrived.
    #[inline]
    pub fn depart(&mut self, now: Time, tx: TxId, transmitting: bool, config: &Config) -> (Departure, bool) {
        match self {
            Receiver::Threshold(receiver) => {
                let departure = receiver.depart(tx, transmitting);
                (departure, receiver.busy(config))
            }
            Receiver::Sinr(receiver) => {
                let departure = receiver.depart(now, tx, transmitting);
                (departure, receiver.busy())
            }
        }
    }

    /// The node begins to transmit: what it was receiving is lost.
    pub fn transmit_started(&mut self) {
        match self {
            Receiver::Threshold(receiver) => receiver.transmit_started(),
            Receiver::Sinr(receiver) => receiver.transmit_started(),
        }
    }

    /// Copies on the air at this receiver.
    pub fn on_air(&self) -> usize {
        match self {
            Receiver::Threshold(receiver) => receiver.on_air(),
            Receiver::Sinr(receiver) => receiver.on_air(),
        }
    }
}
