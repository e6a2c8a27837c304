//! Other kinds of event queue, to be measured against the simulator's.

use fourhop_sim::event_queue::{Class, EventQueue, Key, Slot};
use fourhop_units::{NodeId, Time};

pub mod binary;
pub mod calendar;
pub mod four_ary;
pub mod radix;

/// What the simulator asks of a queue. As there, `push` wants a slot without an event, and an event may come up earlier
/// than it was last planned if its slot has been hastened or set before.
pub trait Queue {
    fn new(slots: usize) -> Self;
    fn peek(&mut self) -> Option<(Key, Slot)>;
    fn pop(&mut self) -> Option<(Key, Slot)>;
    fn push(&mut self, slot: Slot, key: Key);
    fn hasten(&mut self, slot: Slot, key: Key) -> bool;
    fn set(&mut self, slot: Slot, key: Option<Key>);
}

impl Queue for EventQueue {
    fn new(slots: usize) -> EventQueue {
        EventQueue::new(slots)
    }

    fn peek(&mut self) -> Option<(Key, Slot)> {
        EventQueue::peek(self)
    }

    fn pop(&mut self) -> Option<(Key, Slot)> {
        EventQueue::pop(self)
    }

    fn push(&mut self, slot: Slot, key: Key) {
        EventQueue::push(self, slot, key);
    }

    fn hasten(&mut self, slot: Slot, key: Key) -> bool {
        EventQueue::hasten(self, slot, key)
    }

    fn set(&mut self, slot: Slot, key: Option<Key>) {
        EventQueue::set(self, slot, key);
    }
}

/// After all events.
pub const NEVER: Key =
    Key::new(Time::from_nanos(u64::MAX), Class::Arrival, NodeId(u32::MAX >> 1), NodeId(u32::MAX >> 1));

/// An event in a queue that throws overtaken ones away when they come up: those that `events` does not hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub key: Key,
    pub slot: u32,
}

impl Entry {
    pub fn time(self) -> u64 {
        self.key.time().as_nanos()
    }

    pub fn waits(self, events: &[Key]) -> bool {
        events[self.slot as usize] == self.key
    }
}
