//! A 4-ary heap that knows where each slot is, so that an event is moved in place: half the levels of a binary one.

use super::Queue;
use fourhop_sim::event_queue::{Key, Slot};

/// Not in the heap.
const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

pub struct FourAry {
    heap: Vec<(Key, u32)>,
    /// For each slot its place in `heap`.
    places: Vec<u32>,
}

impl FourAry {
    fn up(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn down(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while let Some((child, first)) = self.least(place * ARITY + 1)
            && first < entry
        {
            self.put(place, first);
            place = child;
        }
        self.put(place, entry);
    }

    /// The least of the siblings that begin at `first`, and its place.
    fn least(&self, first: usize) -> Option<(usize, (Key, u32))> {
        let (&eldest, younger) = self.heap.get(first..)?.split_first()?;
        let (mut place, mut least) = (first, eldest);
        for (offset, &sibling) in younger.iter().take(ARITY - 1).enumerate() {
            if sibling < least {
                (place, least) = (first + 1 + offset, sibling);
            }
        }
        Some((place, least))
    }

    fn put(&mut self, place: usize, entry: (Key, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }

    fn remove(&mut self, place: usize) {
        let (_, slot) = self.heap.swap_remove(place);
        self.places[slot as usize] = ABSENT;
        if let Some(&(_, moved)) = self.heap.get(place) {
            self.up(place);
            self.down(self.places[moved as usize] as usize);
        }
    }
}

impl Queue for FourAry {
    fn new(slots: usize) -> FourAry {
        FourAry { heap: Vec::with_capacity(slots), places: vec![ABSENT; slots] }
    }

    fn peek(&mut self) -> Option<(Key, Slot)> {
        self.heap.first().map(|&(key, slot)| (key, Slot(slot)))
    }

    fn pop(&mut self) -> Option<(Key, Slot)> {
        let first = self.peek()?;
        self.remove(0);
        Some(first)
    }

    fn push(&mut self, slot: Slot, key: Key) {
        self.heap.push((key, slot.0));
        self.up(self.heap.len() - 1);
    }

    fn hasten(&mut self, slot: Slot, key: Key) -> bool {
        let place = self.places[slot.0 as usize];
        let sooner = place == ABSENT || key < self.heap[place as usize].0;
        if sooner {
            self.set(slot, Some(key));
        }
        sooner
    }

    fn set(&mut self, slot: Slot, key: Option<Key>) {
        let place = self.places[slot.0 as usize];
        match key {
            Some(key) if place == ABSENT => self.push(slot, key),
            Some(key) => {
                let before = core::mem::replace(&mut self.heap[place as usize].0, key);
                if key < before { self.up(place as usize) } else { self.down(place as usize) }
            }
            None if place == ABSENT => {}
            None => self.remove(place as usize),
        }
    }
}
