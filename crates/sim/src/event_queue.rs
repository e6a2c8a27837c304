//! The order of events.
//!
//! Every state machine owns one slot, which holds at most one pending event and can be moved to another time. Order is
//! law: by time, then by class, then by node, so that it depends neither on the machine nor on the order of insertion.
//! The heap is 4-ary: half the levels of a binary one, and the four children of an entry share a cache line.

use fourhop_units::{NodeId, Time};

/// What kind of event comes first at one instant. The discriminants decide results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Class {
    /// A copy of a frame ends at a receiver: what was sent before is known before anything new begins.
    Departure = 0,
    /// A timer of a node.
    Timer = 1,
    /// A copy of a frame begins to arrive. After timers: a station whose back-off ends as another's frame arrives has
    /// already decided to send (it cannot sense in no time), and both collide. Two stations 200 m apart that count the
    /// same slots after one frame meet exactly so; ns-2.35 sees 6 % of all RTS of a one-hop TCP flow lost in this way.
    Arrival = 2,
}

/// Position of an event in the order of all events: time (64 bits), class (2), node concerned (31), node that caused it
/// (31), in one number, so that a comparison is one subtraction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key(u128);

impl Key {
    /// The place of an event at `node` that `cause` brought about (for timers the node itself).
    pub const fn new(time: Time, class: Class, node: NodeId, cause: NodeId) -> Key {
        let rank = ((class as u64) << 62) | ((node.0 as u64) << 31) | cause.0 as u64;
        Key(((time.as_nanos() as u128) << 64) | rank as u128)
    }

    /// When it happens.
    pub const fn time(self) -> Time {
        Time::from_nanos((self.0 >> 64) as u64)
    }
}

/// Names a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub u32);

/// Not in the heap.
const ABSENT: u32 = u32::MAX;
/// Children of an entry.
const ARITY: usize = 4;

/// A heap of slots that can be moved.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: Vec<(Key, u32)>,
    /// For each slot its place in `heap`, or [`ABSENT`].
    places: Vec<u32>,
}

impl EventQueue {
    /// An empty queue with `slots` slots.
    pub fn new(slots: usize) -> EventQueue {
        EventQueue { heap: Vec::with_capacity(slots), places: vec![ABSENT; slots] }
    }

    /// One more slot.
    pub fn add_slot(&mut self) -> Slot {
        self.places.push(ABSENT);
        Slot(self.places.len() as u32 - 1)
    }

    /// The first event.
    pub fn peek(&self) -> Option<(Key, Slot)> {
        self.heap.first().map(|&(key, slot)| (key, Slot(slot)))
    }

    /// The key of the first event of any slot but `slot`.
    pub fn first_key_besides(&self, slot: Slot) -> Option<Key> {
        let &(key, first) = self.heap.first()?;
        if first != slot.0 {
            return Some(key);
        }
        least(&self.heap, 1).map(|(_, (key, _))| key)
    }

    /// Moves the event of `slot` to `key` unless it is due earlier already; says whether it has moved. A slot whose event
    /// comes too early is asked again then, which is cheaper than moving it each time it is put off.
    pub fn hasten(&mut self, slot: Slot, key: Key) -> bool {
        let place = self.places[slot.0 as usize];
        let sooner = place == ABSENT || key < self.heap[place as usize].0;
        if sooner {
            self.set(slot, Some(key));
        }
        sooner
    }

    /// Puts the event of `slot` at `key`, wherever it was before; `None` removes it.
    pub fn set(&mut self, slot: Slot, key: Option<Key>) {
        let place = self.places[slot.0 as usize];
        match (place, key) {
            (ABSENT, None) => {}
            (ABSENT, Some(key)) => {
                self.heap.push((key, slot.0));
                self.up(self.heap.len() - 1);
            }
            (place, Some(key)) => {
                let old = core::mem::replace(&mut self.heap[place as usize].0, key);
                match key.cmp(&old) {
                    core::cmp::Ordering::Less => self.up(place as usize),
                    core::cmp::Ordering::Greater => self.down(place as usize),
                    core::cmp::Ordering::Equal => {}
                }
            }
            (place, None) => self.remove(place as usize),
        }
    }

    fn remove(&mut self, place: usize) {
        let (_, slot) = self.heap.swap_remove(place);
        self.places[slot as usize] = ABSENT;
        if place < self.heap.len() {
            self.up(place);
            self.down(self.places[self.heap[place].1 as usize] as usize);
        }
    }

    fn up(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.heap[parent];
            if above.0 <= entry.0 {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    fn down(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while let Some((child, first)) = least(&self.heap, place * ARITY + 1) {
            if entry.0 <= first.0 {
                break;
            }
            self.put(place, first);
            place = child;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Key, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

/// The least of the siblings that begin at `first`, and its place.
fn least(heap: &[(Key, u32)], first: usize) -> Option<(usize, (Key, u32))> {
    let siblings = heap.get(first..)?;
    let (&eldest, younger) = siblings.split_first()?;
    let (mut place, mut least) = (first, eldest);
    for (offset, &sibling) in younger.iter().take(ARITY - 1).enumerate() {
        if sibling.0 < least.0 {
            (place, least) = (first + 1 + offset, sibling);
        }
    }
    Some((place, least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn timer(ns: u64, node: u32) -> Key {
        Key::new(Time::from_nanos(ns), Class::Timer, NodeId(node), NodeId(node))
    }

    #[test]
    fn at_one_instant_departures_precede_timers_precede_arrivals_and_then_nodes_count() {
        let now = Time::from_nanos(5);
        let order = [
            Key::new(Time::from_nanos(4), Class::Timer, NodeId(9), NodeId(9)),
            Key::new(now, Class::Departure, NodeId(7), NodeId(1)),
            Key::new(now, Class::Timer, NodeId(0), NodeId(0)),
            Key::new(now, Class::Timer, NodeId(1), NodeId(1)),
            Key::new(now, Class::Arrival, NodeId(2), NodeId(3)),
            Key::new(now, Class::Arrival, NodeId(2), NodeId(4)),
            Key::new(now, Class::Arrival, NodeId(3), NodeId(0)),
        ];
        assert!(order.is_sorted());
    }

    proptest! {
        // Against a sorted map: any sequence of moves and removals leaves the same first and second events.
        #[test]
        fn behaves_as_a_sorted_map(moves in prop::collection::vec((0u32..12, prop::option::of(0u64..50)), 1..200)) {
            let mut queue = EventQueue::new(12);
            let mut model: BTreeMap<u32, Key> = BTreeMap::new();
            for (slot, time) in moves {
                let key = time.map(|ns| timer(ns, slot));
                queue.set(Slot(slot), key);
                match key {
                    Some(key) => { model.insert(slot, key); }
                    None => { model.remove(&slot); }
                }
                let mut keys: Vec<_> = model.iter().map(|(&slot, &key)| (key, slot)).collect();
                keys.sort_unstable();
                prop_assert_eq!(queue.peek().map(|(key, slot)| (key, slot.0)), keys.first().copied());
                if let Some(&(first, slot)) = keys.first() {
                    prop_assert_eq!(queue.first_key_besides(Slot(slot)), keys.get(1).map(|&(key, _)| key));
                    prop_assert_eq!(queue.first_key_besides(Slot(slot + 1)), Some(first));
                }
            }
        }
    }
}
