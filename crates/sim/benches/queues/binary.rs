//! The binary heap of the standard library; overtaken entries are thrown away when they come up.

use super::{Entry, NEVER, Queue};
use core::cmp::Reverse;
use fourhop_sim::event_queue::{Key, Slot};
use std::collections::BinaryHeap;

pub struct Binary {
    heap: BinaryHeap<Reverse<Entry>>,
    events: Vec<Key>,
}

impl Queue for Binary {
    fn new(slots: usize) -> Binary {
        Binary { heap: BinaryHeap::new(), events: vec![NEVER; slots] }
    }

    fn peek(&mut self) -> Option<(Key, Slot)> {
        while let Some(&Reverse(entry)) = self.heap.peek() {
            if entry.waits(&self.events) {
                return Some((entry.key, Slot(entry.slot)));
            }
            self.heap.pop();
        }
        None
    }

    fn pop(&mut self) -> Option<(Key, Slot)> {
        let first = self.peek()?;
        self.heap.pop();
        self.events[first.1.0 as usize] = NEVER;
        Some(first)
    }

    fn push(&mut self, slot: Slot, key: Key) {
        self.events[slot.0 as usize] = key;
        self.heap.push(Reverse(Entry { key, slot: slot.0 }));
    }

    fn hasten(&mut self, slot: Slot, key: Key) -> bool {
        let sooner = key < self.events[slot.0 as usize];
        if sooner {
            self.push(slot, key);
        }
        sooner
    }

    fn set(&mut self, slot: Slot, key: Option<Key>) {
        let present = &mut self.events[slot.0 as usize];
        match key {
            Some(key) if key == *present => {}
            Some(key) => self.push(slot, key),
            None => *present = NEVER,
        }
    }
}
