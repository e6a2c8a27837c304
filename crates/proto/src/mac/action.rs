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
    /// An MSDU was given up after its last attempt; the next hop may be gone.
    GaveUp {
        /// Content.
        msdu: Msdu,
        /// [`DropReason::RtsRetryLimit`] or [`DropReason::DataRetryLimit`].
        reason: DropReason,
    },
    /// A frame of another stack was acknowledged, or was a broadcast and has been sent.
    Sent(Foreign),
    /// A frame addressed to this station was discarded.
    Discarded(DropReason),
}

/// Result of [`Dcf::handle_timeout`](super::Dcf::handle_timeout).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Nothing was due yet.
    Nothing,
    /// Something was due, but it radiates nothing.
    Something,
    /// A frame starts now.
    Frame,
}
