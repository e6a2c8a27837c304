//! The flow table: a fixed number of flows, found by the addresses and ports of both ends; the flow that has been
//! silent longest is evicted first.
//!
//! Open addressing with linear probing over buckets chosen by a keyed hash (`aqm::hash`), at most half full; the gap of
//! a removed flow is closed, so no tombstones accumulate. Established and half-open flows (with packets from one side
//! only) are in separate lists, in the order of their last packet: expiry costs nothing while no flow is due, and when
//! the table is full the oldest half-open flow is evicted (a flood of SYNs displaces only half-open flows).

use super::Side;
use super::packet::TcpView;
use crate::aqm::hash::{HashKey, siphash, word};
use core::net::IpAddr;
use fourhop_units::Time;

/// Both ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowKey {
    /// Address and port on the wireless side.
    pub wireless: (IpAddr, u16),
    /// Address and port on the wired side.
    pub wired: (IpAddr, u16),
}

impl FlowKey {
    /// Returns the key of a segment that has arrived on side `from`.
    pub fn of(from: Side, view: &TcpView) -> FlowKey {
        let (src, dst) = ((view.src, view.segment.src_port), (view.dst, view.segment.dst_port));
        match from {
            Side::Wireless => FlowKey { wireless: src, wired: dst },
            Side::Wired => FlowKey { wireless: dst, wired: src },
        }
    }

    fn words(&self, key: HashKey) -> [u64; 2] {
        [self.wireless, self.wired].map(|(addr, port)| word(key, addr, port))
    }
}

/// No entry: the end of a list, or an empty bucket.
const NONE: u32 = u32::MAX;

/// The list that contains a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowStatus {
    /// Packets have been seen from one side only.
    HalfOpen,
    /// Packets have been seen from both sides.
    Confirmed,
}

#[derive(Clone, Debug)]
struct Entry<F> {
    key: FlowKey,
    hash: u32,
    seen: Time,
    status: FlowStatus,
    before: u32,
    after: u32,
    /// `None` if the entry is free; `after` is then the next free one.
    flow: Option<F>,
}

#[derive(Clone, Copy, Debug)]
struct List {
    oldest: u32,
    newest: u32,
}

/// The table.
#[derive(Clone, Debug)]
pub struct FlowTable<F> {
    hash_key: HashKey,
    places: Vec<u32>,
    entries: Vec<Entry<F>>,
    free: u32,
    lists: [List; 2],
    len: usize,
    capacity: usize,
}

impl<F> FlowTable<F> {
    /// Creates a table for at most `capacity` flows. Allocates 8 to 16 bytes for each at once, the rest as flows
    /// arrive.
    pub fn new(capacity: u32, key: HashKey) -> FlowTable<F> {
        let capacity = (capacity.clamp(1, 1 << 24)) as usize;
        FlowTable {
            hash_key: key,
            places: vec![NONE; (2 * capacity).next_power_of_two()],
            entries: Vec::new(),
            free: NONE,
            lists: [List { oldest: NONE, newest: NONE }; 2],
            len: 0,
            capacity,
        }
    }

    /// Returns the number of flows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no flows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether there is no room for another flow.
    pub fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// Returns the bytes it occupies, not counting what flows own elsewhere.
    pub fn memory(&self) -> usize {
        self.places.capacity() * size_of::<u32>() + self.entries.capacity() * size_of::<Entry<F>>()
    }

    fn hash(&self, key: &FlowKey) -> u32 {
        siphash(self.hash_key, key.words(self.hash_key)) as u32
    }

    fn mask(&self) -> usize {
        self.places.len() - 1
    }

    /// Returns the slot of the flow, valid until it is removed.
    pub fn find(&self, key: &FlowKey) -> Option<u32> {
        let hash = self.hash(key);
        let mut place = hash as usize & self.mask();
        loop {
            let slot = self.places[place];
            if slot == NONE {
                return None;
            }
            let entry = &self.entries[slot as usize];
            if entry.hash == hash && entry.key == *key {
                return Some(slot);
            }
            place = (place + 1) & self.mask();
        }
    }

    /// Adds a half-open flow, which must not be in the table, and returns its slot.
    ///
    /// # Panics
    /// If the table is full.
    pub fn insert(&mut self, now: Time, key: FlowKey, flow: F) -> u32 {
        assert!(!self.is_full(), "room was made before");
        debug_assert!(self.find(&key).is_none(), "a flow has one entry");
        let hash = self.hash(&key);
        let entry =
            Entry { key, hash, seen: now, status: FlowStatus::HalfOpen, before: NONE, after: NONE, flow: Some(flow) };
        let slot = match self.free {
            NONE => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
            slot => {
                self.free = self.entries[slot as usize].after;
                self.entries[slot as usize] = entry;
                slot
            }
        };
        let mut place = hash as usize & self.mask();
        while self.places[place] != NONE {
            place = (place + 1) & self.mask();
        }
        self.places[place] = slot;
        self.len += 1;
        self.append(slot);
        slot
    }

    /// Removes a flow.
    pub fn remove(&mut self, slot: u32) -> Option<F> {
        let flow = self.entries[slot as usize].flow.take()?;
        self.unlink(slot);
        let mask = self.mask();
        let mut gap = self.entries[slot as usize].hash as usize & mask;
        while self.places[gap] != slot {
            gap = (gap + 1) & mask;
        }
        // Each following entry moves into the gap unless the gap is before its home bucket.
        let mut place = gap;
        loop {
            place = (place + 1) & mask;
            let next = self.places[place];
            if next == NONE {
                break;
            }
            let home = self.entries[next as usize].hash as usize & mask;
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(gap) & mask) {
                self.places[gap] = next;
                gap = place;
            }
        }
        self.places[gap] = NONE;
        self.entries[slot as usize].after = self.free;
        self.free = slot;
        self.len -= 1;
        Some(flow)
    }

    /// A packet of this flow has arrived: the flow becomes the newest of its list.
    pub fn touch(&mut self, now: Time, slot: u32) {
        let entry = &mut self.entries[slot as usize];
        entry.seen = now;
        if entry.after != NONE {
            self.unlink(slot);
            self.append(slot);
        }
    }

    /// The other side of this flow has been seen.
    pub fn confirm(&mut self, slot: u32) {
        if self.entries[slot as usize].status == FlowStatus::HalfOpen {
            self.unlink(slot);
            self.entries[slot as usize].status = FlowStatus::Confirmed;
            self.append(slot);
        }
    }

    /// Returns the flow that has been silent longest in a list, and since when.
    pub fn oldest(&self, status: FlowStatus) -> Option<(u32, Time)> {
        let slot = self.lists[status as usize].oldest;
        (slot != NONE).then(|| (slot, self.entries[slot as usize].seen))
    }

    /// Returns when the last packet of the flow in that slot arrived.
    pub fn seen(&self, slot: u32) -> Option<Time> {
        self.entries.get(slot as usize).filter(|entry| entry.flow.is_some()).map(|entry| entry.seen)
    }

    /// Returns the flow, if that slot has one.
    pub fn get(&self, slot: u32) -> Option<&F> {
        self.entries.get(slot as usize)?.flow.as_ref()
    }

    /// Returns the flow for modification, if that slot has one.
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut F> {
        self.entries.get_mut(slot as usize)?.flow.as_mut()
    }

    /// Returns every flow with its slot and key, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &FlowKey, &F)> {
        self.entries
            .iter()
            .enumerate()
            .filter_map(|(slot, entry)| Some((slot as u32, &entry.key, entry.flow.as_ref()?)))
    }

    /// Returns every flow with its slot, for modification.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut F)> {
        self.entries.iter_mut().enumerate().filter_map(|(slot, entry)| Some((slot as u32, entry.flow.as_mut()?)))
    }

    fn append(&mut self, slot: u32) {
        let list = self.entries[slot as usize].status as usize;
        let newest = self.lists[list].newest;
        let entry = &mut self.entries[slot as usize];
        (entry.before, entry.after) = (newest, NONE);
        match newest {
            NONE => self.lists[list].oldest = slot,
            newest => self.entries[newest as usize].after = slot,
        }
        self.lists[list].newest = slot;
    }

    fn unlink(&mut self, slot: u32) {
        let Entry { before, after, status, .. } = self.entries[slot as usize];
        let list = &mut self.lists[status as usize];
        match before {
            NONE => list.oldest = after,
            before => self.entries[before as usize].after = after,
        }
        let list = &mut self.lists[status as usize];
        match after {
            NONE => list.newest = before,
            after => self.entries[after as usize].before = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn key(n: u16) -> FlowKey {
        FlowKey { wireless: ([10, 0, 0, 1].into(), n), wired: ([10, 128, 0, 1].into(), 80) }
    }

    proptest! {
        /// A small table, so that places collide, against a map.
        #[test]
        fn finds_what_was_put_in_and_not_taken_out(
            ops in prop::collection::vec((0u16..24, 0u8..4), 1..400),
            hash_key: [u64; 2],
        ) {
            let mut table = FlowTable::new(16, HashKey(hash_key));
            let mut model: BTreeMap<u16, u16> = BTreeMap::new();
            for (now, (n, op)) in ops.into_iter().enumerate() {
                let now = Time::from_nanos(now as u64);
                let slot = table.find(&key(n));
                prop_assert_eq!(slot.and_then(|slot| table.get(slot)).copied(), model.get(&n).copied());
                match (slot, op) {
                    (None, _) if table.is_full() => prop_assert_eq!(model.len(), 16),
                    (None, _) => {
                        table.insert(now, key(n), n);
                        model.insert(n, n);
                    }
                    (Some(slot), 0 | 1) => {
                        prop_assert_eq!(table.remove(slot), Some(n));
                        model.remove(&n);
                    }
                    (Some(slot), 2) => table.confirm(slot),
                    (Some(slot), _) => table.touch(now, slot),
                }
                prop_assert_eq!(table.len(), model.len());
                let found: Vec<u16> = table.iter().map(|(_, _, &n)| n).collect();
                prop_assert_eq!(found.len(), model.len());
                let oldest = [FlowStatus::HalfOpen, FlowStatus::Confirmed].map(|status| table.oldest(status));
                prop_assert_eq!(oldest.iter().any(Option::is_some), !model.is_empty());
            }
        }
    }

    /// A hundred flows of 128 bytes with their keys take at least 16 kB, and at most a multiple of that.
    #[test]
    fn memory_is_that_of_the_flows() {
        let mut table = FlowTable::new(100, HashKey([1, 2]));
        assert!(table.is_empty());
        (0..100).for_each(|n| _ = table.insert(Time::ZERO, key(n), [0u64; 16]));
        assert!(!table.is_empty() && (16_000..64_000).contains(&table.memory()), "{} bytes", table.memory());
    }

    #[test]
    fn the_longest_silent_goes_first() {
        let mut table = FlowTable::new(4, HashKey([1, 2]));
        let slots: Vec<u32> = (0..4).map(|n| table.insert(Time::from_secs(n.into()), key(n), n)).collect();
        table.touch(Time::from_secs(9), slots[0]);
        table.confirm(slots[1]);
        assert_eq!(table.oldest(FlowStatus::HalfOpen), Some((slots[2], Time::from_secs(2))));
        assert_eq!(table.oldest(FlowStatus::Confirmed), Some((slots[1], Time::from_secs(1))));
        assert!(table.is_full());
        assert_eq!(table.remove(slots[2]), Some(2));
        assert_eq!(table.remove(slots[2]), None);
        assert_eq!(table.oldest(FlowStatus::HalfOpen), Some((slots[3], Time::from_secs(3))));
    }
}
