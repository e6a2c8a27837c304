//! Outputs of a station to the layers above and its driver.

use crate::drop::DropReason;
use crate::wire::{Foreign, Msdu};
use fourhop_units::MacAddr;

/// Requests of the MAC to the layers above.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Hand this MSDU to the link layer.
    Deliver {
        /// Content.
        msdu: Msdu,
        /// Transmitter.
        from: MacAddr,
    },
    /// An MSDU was given up after its last attempt: the next hop may be gone.
    GaveUp {
        /// Content.
        msdu: Msdu,
        /// [`DropReason::RtsRetryLimit`] or [`DropReason::DataRetryLimit`].
        reason: DropReason,
    },
    /// A frame of another stack was acknowledged, or it is for all and has been sent.
    Sent(Foreign),
    /// A frame addressed to this station was discarded.
    Discarded(DropReason),
}

/// Result of [`Dcf::handle_timeout`](super::Dcf::handle_timeout).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// It was early.
    Nothing,
    /// Something was due; nothing is radiated for it.
    Something,
    /// A frame is radiated from now on.
    Frame,
}
