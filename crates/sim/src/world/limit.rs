//! How far the walk of a transmission over its receivers goes, and the places of its steps among all events.

use crate::event_queue::{Class, Key};
use fourhop_units::{NodeId, Time};

/// The end of a transmission's walk: the first event of another slot, or the end of the run.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    other: Key,
    /// Nothing comes first before this.
    time: Time,
    pub(super) end: Time,
}

impl Limit {
    pub(super) fn new(other: Key, end: Time) -> Limit {
        Limit { other, time: other.time().min(end), end }
    }

    pub(super) fn tighten(&mut self, key: Key) {
        self.other = self.other.min(key);
        self.time = self.time.min(key.time());
    }

    /// Does something else come before the step at `now` whose place is `key`? The whole key decides only between
    /// events at one instant.
    #[inline(always)]
    pub(super) fn comes_first(&self, now: Time, key: impl FnOnce() -> Key) -> bool {
        now >= self.time && (now > self.end || self.other < key())
    }
}

/// Place of a timer of a station.
#[inline]
pub(super) fn timer_key(station: u32, at: Time) -> Key {
    Key::new(at, Class::Timer, NodeId(station), NodeId(station))
}

/// Place of the beginning of a copy.
#[inline]
pub(super) fn arrival_key(at: Time, node: NodeId, src: NodeId) -> Key {
    Key::new(at, Class::Arrival, node, src)
}

/// Place of the end of a copy.
#[inline]
pub(super) fn departure_key(at: Time, node: NodeId, src: NodeId) -> Key {
    Key::new(at, Class::Departure, node, src)
}
