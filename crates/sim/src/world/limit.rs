//! How far a transmission walks over its receivers, and the keys of its steps in the order of all events.

use crate::event_queue::{Class, Key};
use fourhop_units::{NodeId, Time};

/// End of a transmission's walk: the first event of another slot, or the end of the run.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    other: Key,
    /// No other event comes before this time.
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

    /// Whether another event comes before the step at `now` with this `key`. The key matters only among events at the
    /// same instant.
    #[inline(always)]
    pub(super) fn comes_first(&self, now: Time, key: impl FnOnce() -> Key) -> bool {
        now >= self.time && (now > self.end || self.other < key())
    }
}

/// Key of a station's timer.
#[inline]
pub(super) fn timer_key(station: u32, at: Time) -> Key {
    Key::new(at, Class::Timer, NodeId(station), NodeId(station))
}

/// Key of the beginning of a copy.
#[inline]
pub(super) fn arrival_key(at: Time, node: NodeId, src: NodeId) -> Key {
    Key::new(at, Class::Arrival, node, src)
}

/// Key of the end of a copy.
#[inline]
pub(super) fn departure_key(at: Time, node: NodeId, src: NodeId) -> Key {
    Key::new(at, Class::Departure, node, src)
}
