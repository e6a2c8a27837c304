//! Early drops of a node, between its queue and its MAC: which kinds are in use.

use crate::net::{LinkRed, NeighbourhoodRed};
use fourhop_units::Time;

/// The kinds in use.
#[derive(Clone, Default, Debug)]
pub struct EarlyDrops {
    /// By the retries of the MAC.
    pub link: Option<LinkRed>,
    /// By the load of the medium.
    pub neighbourhood: Option<NeighbourhoodRed>,
    /// Are packets whose transport listens marked instead (RFC 3168)?
    pub marks: bool,
    /// How many were.
    pub marked: u64,
}

impl EarlyDrops {
    pub(super) fn next_timeout(&self) -> Option<Time> {
        Some(self.neighbourhood.as_ref()?.next_timeout())
    }
}
