//! The order of events.
//!
//! Every state machine owns one slot with at most one pending event, which can be rescheduled. The order is fixed: by
//! time, then by class, then by node. It depends neither on the machine nor on the order of insertion.
//!
//! Most events are scheduled for the near future: the end of a SIFS, of a frame, of a short back-off. The first few
//! events are therefore kept sorted in an array, where a new one finds its place after a step or two. Only events later
//! than all of these go into `Blocks`, which are sorted when their time comes.

mod blocks;

use blocks::{Blocks, Entry};
use fourhop_units::{NodeId, Time};

/// The class of an event orders events at one instant. The discriminants decide results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Class {
    /// A copy of a frame ends at a receiver: earlier transmissions are known before anything new begins.
    Departure = 0,
    /// A timer of a node.
    Timer = 1,
    /// A copy of a frame begins to arrive. It follows timers: a station whose back-off ends just as another's frame
    /// arrives has already decided to send (sensing takes time), and the two collide. Exactly this happens to two
    /// stations 200 m apart that count the same slots after one frame; ns-2.35 loses 6 % of all RTS of a one-hop TCP
    /// flow in this way.
    Arrival = 2,
    /// A packet arrives at the end of a wire.
    Wire = 3,
}

/// Position of an event in the order of all events: time, then class (2 bits), node concerned (31) and node that caused
/// it (31) in one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    time: u64,
    rank: u64,
}

impl Ord for Key {
    /// Compares as one number: field by field, each would need a branch.
    #[inline(always)]
    fn cmp(&self, other: &Key) -> core::cmp::Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for Key {
    #[inline(always)]
    fn partial_cmp(&self, other: &Key) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }

    #[inline(always)]
    fn lt(&self, other: &Key) -> bool {
        self.number() < other.number()
    }

    #[inline(always)]
    fn gt(&self, other: &Key) -> bool {
        self.number() > other.number()
    }
}

impl Key {
    /// The key of an event at `node`, caused by `cause` (for timers the node itself).
    pub const fn new(time: Time, class: Class, node: NodeId, cause: NodeId) -> Key {
        let rank = ((class as u64) << 62) | ((node.0 as u64) << 31) | cause.0 as u64;
        Key { time: time.as_nanos(), rank }
    }

    #[inline(always)]
    const fn number(self) -> u128 {
        (self.time as u128) << 64 | self.rank as u128
    }

    /// Later than all events.
    pub const NEVER: Key = Key { time: u64::MAX, rank: u64::MAX };

    /// Returns the time of the event.
    pub const fn time(self) -> Time {
        Time::from_nanos(self.time)
    }
}

/// Number of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub u32);

/// Marks an empty place.
const NO_ENTRY: Entry = Entry { key: Key::NEVER, slot: u32::MAX };

/// Capacity of the sorted array: chains of a dozen nodes never need the blocks, and in large networks about as many
/// events fall within a few microseconds.
fn room(slots: usize) -> usize {
    (slots / 64).clamp(32, 128)
}

/// Number of events of the sorted array compared and moved at a time to make room for another, if all of them come
/// before it.
const STRIDE: usize = 4;

/// Plan for a slot.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Event of the slot.
    event: Key,
    /// First entry of the slot in `far`: its event, or a later one superseded by it.
    filed: Key,
    /// Second entry of the slot in `far`, superseded by `filed` and valid again once that has come up. Without it, a
    /// node that waits for a distant timer and is often woken by near ones would file the distant time anew each time,
    /// and leave a dead entry.
    later: Key,
}

impl Plan {
    const NONE: Plan = Plan { event: Key::NEVER, filed: Key::NEVER, later: Key::NEVER };

    /// Notes that an entry at `key`, which comes before `filed`, is put into `far`.
    #[inline]
    fn overtake(&mut self, key: Key) {
        if self.later == Key::NEVER {
            self.later = self.filed;
        }
        self.filed = key;
    }

    /// Handles the entry at `key` that has come up; returns whether it is the slot's event.
    #[inline]
    fn come_up(&mut self, key: Key) -> bool {
        if key == self.filed {
            self.filed = core::mem::replace(&mut self.later, Key::NEVER);
            return key == self.event;
        }
        if key == self.later {
            self.later = Key::NEVER;
        }
        false
    }
}

/// The pending events, at most one per slot.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The first events, the earliest last. The memory is fixed: no insertion has to check whether it must grow.
    near: Box<[Entry]>,
    /// Number of events in `near`.
    count: usize,
    /// Capacity of `near`. Half of it is moved to the blocks at a time.
    room: usize,
    /// Later events. An entry that is not the event of its slot has been superseded and is discarded when it comes up.
    far: Blocks,
    /// One plan per slot.
    plans: Vec<Plan>,
    /// `near` contains exactly the events before this.
    horizon: Key,
    /// An event that most likely comes first ([`EventQueue::set_next`]), or one at [`Key::NEVER`]. It supersedes the
    /// event in `plans`, which may still be there.
    next: Entry,
}

impl EventQueue {
    /// Creates an empty queue with `slots` slots.
    pub fn new(slots: usize) -> EventQueue {
        EventQueue {
            near: vec![NO_ENTRY; room(slots) + 1].into(),
            count: 0,
            room: room(slots),
            far: Blocks::new(room(slots)),
            plans: vec![Plan::NONE; slots],
            horizon: Key::NEVER,
            next: NO_ENTRY,
        }
    }

    /// Adds a slot.
    pub fn add_slot(&mut self) -> Slot {
        self.plans.push(Plan::NONE);
        Slot(self.plans.len() as u32 - 1)
    }

    /// Returns the first event.
    #[inline]
    pub fn peek(&mut self) -> Option<(Key, Slot)> {
        debug_assert!(self.next.key == Key::NEVER, "`set_next` is followed by `take_next` or `file_next`");
        let first = self.first_entry();
        (first.key != Key::NEVER).then_some((first.key, Slot(first.slot)))
    }

    /// Returns the key of the first event, or [`Key::NEVER`].
    #[inline(always)]
    pub fn first_key(&mut self) -> Key {
        debug_assert!(self.next.key == Key::NEVER, "as for `peek`");
        self.first_entry().key
    }

    /// Returns the first entry, or `NO_ENTRY`.
    #[inline(always)]
    fn first_entry(&mut self) -> Entry {
        if self.count == 0 {
            self.fetch();
        }
        self.near[..self.count].last().copied().unwrap_or(NO_ENTRY)
    }

    /// Removes and returns the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Key, Slot)> {
        let first = self.peek()?;
        self.take_first(first.1);
        Some(first)
    }

    /// Removes the first event, which is that of `slot` according to [`EventQueue::peek`].
    #[inline]
    pub fn take_first(&mut self, slot: Slot) {
        self.count -= 1;
        self.plans[slot.0 as usize].event = Key::NEVER;
    }

    /// Moves the event of `slot` to `key`, like [`EventQueue::set`], for a `key` that most likely comes before all
    /// others: the event is compared with the first of them instead of being sorted in. Only [`EventQueue::take_next`]
    /// or [`EventQueue::file_next`] may follow.
    #[inline(always)]
    pub fn set_next(&mut self, slot: Slot, key: Key) {
        debug_assert!(self.next.key == Key::NEVER, "one event comes next");
        self.next = Entry { key, slot: slot.0 };
    }

    /// Removes and returns the first event, unless it comes after `end`. Its slot may keep an older plan, which comes
    /// up unless the slot is [set](EventQueue::set_again) again.
    #[inline(always)]
    pub fn take_next(&mut self, end: Time) -> Option<(Key, Slot)> {
        debug_assert!(end < Time::NEVER, "where there is no event it would come next");
        let mut first = self.first_entry();
        let Entry { key, slot } = self.next;
        if key != Key::NEVER {
            self.next.key = Key::NEVER;
            if first.slot == slot {
                // Superseded, such as the time-out of an answer that has arrived.
                self.take_first(Slot(slot));
                first = self.first_entry();
            }
            if key < first.key && key.time() <= end {
                return Some((key, Slot(slot)));
            }
            self.set(Slot(slot), Some(key));
            first = self.first_entry();
        }
        if first.key.time() > end {
            return None;
        }
        let slot = Slot(first.slot);
        self.take_first(slot);
        Some((first.key, slot))
    }

    /// Sorts the event of [`EventQueue::set_next`], if any, in among the others.
    pub fn file_next(&mut self) {
        let Entry { key, slot } = self.next;
        self.next.key = Key::NEVER;
        if key != Key::NEVER {
            self.set(Slot(slot), Some(key));
        }
    }

    /// Like [`EventQueue::set`], for a slot whose event has just been removed and which therefore usually has none.
    #[inline(always)]
    pub fn set_again(&mut self, slot: Slot, key: Option<Key>) {
        match key {
            Some(key) if self.plans[slot.0 as usize].event == Key::NEVER => self.push(slot, key),
            _ => self.set(slot, key),
        }
    }

    /// Plans an event for `slot`, which has none. If `slot` has been hastened before, the event may come up early, at
    /// the time from which it was hastened.
    #[inline]
    pub fn push(&mut self, slot: Slot, key: Key) {
        debug_assert!(self.plans[slot.0 as usize].event == Key::NEVER, "one event for each slot");
        if key < self.horizon {
            self.plans[slot.0 as usize].event = key;
            self.insert(Entry { key, slot: slot.0 });
        } else {
            self.file(slot, key);
        }
    }

    fn file(&mut self, slot: Slot, key: Key) {
        let plan = &mut self.plans[slot.0 as usize];
        if key < plan.filed {
            plan.overtake(key);
            self.far.push(Entry { key, slot: slot.0 });
        }
        plan.event = plan.filed;
    }

    /// Ensures that the event of `slot` comes at `key` at the latest; returns whether it had to be planned or moved. An
    /// event that then turns out to be early is planned again, which is cheaper than moving it each time it is
    /// postponed.
    #[inline]
    pub fn hasten(&mut self, slot: Slot, key: Key) -> bool {
        let present = self.plans[slot.0 as usize].event;
        let sooner = key < present;
        if sooner {
            self.replace(slot, present, key);
        }
        sooner
    }

    /// Moves the event of `slot` to `key`, or plans one if there was none; `None` removes it. As with
    /// [`EventQueue::push`] it may come up early.
    pub fn set(&mut self, slot: Slot, key: Option<Key>) {
        let present = self.plans[slot.0 as usize].event;
        match key {
            Some(key) if key != present => self.replace(slot, present, key),
            Some(_) => {}
            None => self.remove(slot, present),
        }
    }

    /// Moves the event of `slot`, if any, from `present` to `key`: within the array, if both are there.
    fn replace(&mut self, slot: Slot, present: Key, key: Key) {
        let near = &mut self.near[..self.count];
        if present < self.horizon
            && key < self.horizon
            && let Some(mut place) = near.iter().rposition(|entry| entry.slot == slot.0)
        {
            while let Some(before) = place.checked_sub(1)
                && near[before].key < key
            {
                near[place] = near[before];
                place = before;
            }
            while let Some(&after) = near.get(place + 1)
                && after.key > key
            {
                near[place] = after;
                place += 1;
            }
            near[place] = Entry { key, slot: slot.0 };
            self.plans[slot.0 as usize].event = key;
        } else {
            self.remove(slot, present);
            self.push(slot, key);
        }
    }

    fn remove(&mut self, slot: Slot, present: Key) {
        if present < self.horizon
            && let Some(place) = self.near[..self.count].iter().rposition(|entry| entry.slot == slot.0)
        {
            self.near.copy_within(place + 1..self.count, place);
            self.count -= 1;
        }
        self.plans[slot.0 as usize].event = Key::NEVER;
    }

    #[inline]
    fn insert(&mut self, entry: Entry) {
        let near = &mut self.near[..=self.count];
        let mut place = self.count;
        self.count += 1;
        while place >= STRIDE && near[place - STRIDE].key < entry.key {
            near.copy_within(place - STRIDE..place, place - STRIDE + 1);
            place -= STRIDE;
        }
        while place > 0 && near[place - 1].key < entry.key {
            near[place] = near[place - 1];
            place -= 1;
        }
        near[place] = entry;
        if self.count > self.room {
            self.put_away();
        }
    }

    /// Moves the last events of a full array to the blocks.
    #[cold]
    #[inline(never)]
    fn put_away(&mut self) {
        let (later, plans) = (&self.near[..self.room / 2], &mut self.plans);
        let later = later.iter().inspect(|entry| plans[entry.slot as usize].overtake(entry.key));
        self.horizon = self.far.prepend(later.copied());
        self.near.copy_within(self.room / 2..self.count, 0);
        self.count -= self.room / 2;
    }

    /// Fills the empty array from the blocks.
    #[cold]
    #[inline(never)]
    fn fetch(&mut self) {
        while self.count == 0
            && let Some(block) = self.far.take_first()
        {
            for entry in &block {
                if self.plans[entry.slot as usize].come_up(entry.key) {
                    self.near[self.count] = *entry;
                    self.count += 1;
                }
            }
            self.near[..self.count].sort_unstable_by_key(|entry| core::cmp::Reverse(entry.key));
            self.far.give_back(block);
        }
        self.horizon = self.far.begin();
    }
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

    #[test]
    fn hastening_says_whether_an_event_was_planned_or_moved() {
        let mut queue = EventQueue::new(1);
        let slot = Slot(0);
        let moved = [6, 6, 7, 5].map(|ns| queue.hasten(slot, timer(ns, 0)));
        assert_eq!(moved, [true, false, false, true]);
        assert_eq!(queue.pop(), Some((timer(5, 0), slot)));
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn an_added_slot_is_one_more_and_has_an_event_of_its_own() {
        let mut queue = EventQueue::new(2);
        let added = queue.add_slot();
        assert_eq!(added, Slot(2));
        queue.push(Slot(1), timer(4, 1));
        queue.push(added, timer(3, 2));
        assert_eq!([queue.pop(), queue.pop()], [Some((timer(3, 2), added)), Some((timer(4, 1), Slot(1)))]);
    }

    fn first(events: &BTreeMap<u32, Key>) -> Option<(Key, u32)> {
        events.iter().map(|(&slot, &key)| (key, slot)).min()
    }

    proptest! {
        // Compares any sequence of planned, hastened and removed events with a plain map. An event may come up early
        // only if it was hastened before, and never late; nothing is lost: a slot whose event comes up early plans
        // again.
        #[test]
        fn every_event_comes_up_in_order(
            slots in 1u32..300,
            moves in prop::collection::vec((0u32..300, 0u64..5000, 0u8..7), 1..2000),
        ) {
            let mut queue = EventQueue::new(slots as usize);
            let mut wanted: BTreeMap<u32, Key> = BTreeMap::new();
            let mut now = 0;
            for (slot, later, what) in moves {
                let slot = slot % slots;
                let key = timer(now + later, slot);
                if what == 0 {
                    // Take the next event that is really due.
                    while let Some((at, Slot(slot))) = queue.pop() {
                        let due = wanted[&slot];
                        prop_assert!(at <= due);
                        if at == due {
                            prop_assert_eq!(first(&wanted), Some((at, slot)));
                            wanted.remove(&slot);
                            now = at.time().as_nanos();
                            break;
                        }
                        queue.push(Slot(slot), due);
                    }
                } else if what >= 5 {
                    // The same with an event that may come next, and an end that may precede it.
                    let near = timer(now + later / 16, slot);
                    queue.set_next(Slot(slot), near);
                    wanted.insert(slot, near);
                    let end = Time::from_nanos(now + u64::from(slot));
                    if what == 6 {
                        queue.file_next();
                    }
                    while let Some((at, Slot(slot))) = queue.take_next(end) {
                        let due = wanted[&slot];
                        prop_assert!(at <= due && at.time() <= end);
                        if at == due {
                            prop_assert_eq!(first(&wanted), Some((at, slot)));
                            wanted.remove(&slot);
                            queue.set_again(Slot(slot), None);
                            now = at.time().as_nanos();
                            break;
                        }
                        queue.set_again(Slot(slot), Some(due));
                    }
                } else if what == 3 {
                    queue.set(Slot(slot), Some(key));
                    wanted.insert(slot, key);
                } else if what == 4 && later < 1000 {
                    queue.set(Slot(slot), None);
                    wanted.remove(&slot);
                } else if let Some(due) = wanted.get(&slot).copied() {
                    queue.hasten(Slot(slot), key);
                    wanted.insert(slot, due.min(key));
                } else {
                    queue.push(Slot(slot), key);
                    wanted.insert(slot, key);
                }
                let (at, _) = queue.peek().unzip();
                prop_assert!(at.is_none_or(|at| at <= first(&wanted).unwrap().0));
                prop_assert_eq!(at.is_none(), wanted.is_empty());
            }
        }

        // Without hastening, nothing comes up early.
        #[test]
        fn what_was_never_hastened_comes_up_exactly(times in prop::collection::vec(0u64..500, 1..200)) {
            let mut queue = EventQueue::new(times.len());
            for (slot, &time) in times.iter().enumerate() {
                queue.push(Slot(slot as u32), timer(time, slot as u32));
            }
            let mut expected: Vec<_> = times.iter().enumerate().map(|(slot, &time)| timer(time, slot as u32)).collect();
            expected.sort_unstable();
            let found: Vec<_> = core::iter::from_fn(|| queue.pop()).map(|(key, _)| key).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
