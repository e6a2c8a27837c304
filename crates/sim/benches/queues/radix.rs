//! A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, J. ACM 37(2), 1990): an event waits in the bucket of the highest bit in
//! which its time differs from that of the last event taken, and comes down from bucket to bucket as time goes on.
//!
//! Overtaken entries are thrown away when they come down. Whoever looks at the first event may still plan another before
//! it, so a look moves nothing; only times are spread over buckets, places at one instant are compared.

use super::{Entry, NEVER, Queue};
use fourhop_sim::event_queue::{Key, Slot};

pub struct Radix {
    buckets: [Vec<Entry>; 64],
    /// One bit for each bucket that is not empty.
    occupied: u64,
    /// Time of the last event taken.
    last: u64,
    events: Vec<Key>,
    /// What is first, if known.
    first: Option<Entry>,
    spare: Vec<Entry>,
}

impl Radix {
    fn bucket(&self, time: u64) -> usize {
        (u64::BITS - (time ^ self.last).leading_zeros()) as usize
    }

    fn put(&mut self, entry: Entry) {
        let bucket = self.bucket(entry.time());
        self.occupied |= 1 << bucket;
        self.buckets[bucket].push(entry);
    }

    /// The first event: the least in the lowest bucket that holds any.
    fn find(&mut self) -> Option<Entry> {
        while self.occupied != 0 {
            let bucket = self.occupied.trailing_zeros() as usize;
            self.buckets[bucket].retain(|entry| entry.waits(&self.events));
            if let Some(&first) = self.buckets[bucket].iter().min() {
                return Some(first);
            }
            self.occupied &= !(1 << bucket);
        }
        None
    }
}

impl Queue for Radix {
    fn new(slots: usize) -> Radix {
        let buckets = core::array::from_fn(|_| Vec::new());
        Radix { buckets, occupied: 0, last: 0, events: vec![NEVER; slots], first: None, spare: Vec::new() }
    }

    fn peek(&mut self) -> Option<(Key, Slot)> {
        if self.first.is_none() {
            self.first = self.find();
        }
        self.first.map(|entry| (entry.key, Slot(entry.slot)))
    }

    fn pop(&mut self) -> Option<(Key, Slot)> {
        let found = self.peek()?;
        let first = self.first.take()?;
        let bucket = self.bucket(first.time());
        self.events[first.slot as usize] = NEVER;
        self.last = first.time();
        // All others of that bucket now differ from the last event in a lower bit.
        let mut spare = core::mem::replace(&mut self.buckets[bucket], core::mem::take(&mut self.spare));
        self.occupied &= !(1 << bucket);
        for entry in spare.drain(..) {
            if entry.waits(&self.events) {
                self.put(entry);
            }
        }
        self.spare = spare;
        Some(found)
    }

    fn push(&mut self, slot: Slot, key: Key) {
        let entry = Entry { key, slot: slot.0 };
        self.events[slot.0 as usize] = key;
        self.put(entry);
        if self.first.is_some_and(|first| entry < first) {
            self.first = Some(entry);
        }
    }

    fn hasten(&mut self, slot: Slot, key: Key) -> bool {
        let sooner = key < self.events[slot.0 as usize];
        if sooner {
            self.set(slot, Some(key));
        }
        sooner
    }

    fn set(&mut self, slot: Slot, key: Option<Key>) {
        let present = core::mem::replace(&mut self.events[slot.0 as usize], NEVER);
        if self.first.is_some_and(|first| first.slot == slot.0) {
            self.first = None;
        }
        match key {
            Some(key) if key == present => self.events[slot.0 as usize] = key,
            Some(key) => self.push(slot, key),
            None => {}
        }
    }
}
