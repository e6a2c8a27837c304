//! Early drops of a node, between its queue and its MAC: the mechanisms in use.

use crate::net::{LinkRed, NeighbourhoodRed};
use fourhop_units::Time;

/// The mechanisms in use.
#[derive(Clone, Default, Debug)]
pub struct EarlyDrops {
    /// Driven by the MAC's retries.
    pub link: Option<LinkRed>,
    /// Driven by the load of the medium.
    pub neighbourhood: Option<NeighbourhoodRed>,
    /// Whether packets of ECN-capable transports are marked instead (RFC 3168).
    pub marks: bool,
    /// Packets marked so far.
    pub marked: u64,
}

impl EarlyDrops {
    pub(super) fn next_timeout(&self) -> Option<Time> {
        Some(self.neighbourhood.as_ref()?.next_timeout())
    }
}
