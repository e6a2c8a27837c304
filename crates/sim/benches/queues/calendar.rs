//! A calendar queue (Brown, CACM 31(10), 1988): a year of days, each with the events of that day of any year. The length of
//! a day follows from how fast events came lately, the number of days from how many wait.

use super::{Entry, NEVER, Queue};
use fourhop_sim::event_queue::{Key, Slot};

/// How many events pass between two looks at the length of a day.
const POPS_PER_LOOK: u32 = 1024;

pub struct Calendar {
    days: Vec<Vec<Entry>>,
    /// A day is 2 to this power of nanoseconds.
    day_bits: u32,
    /// The day, counted from the beginning of time, that the last event taken was on.
    today: u64,
    events: Vec<Key>,
    waiting: usize,
    /// What is first, if known, and its place in its day.
    first: Option<(Entry, usize)>,
    pops: u32,
    last_look: u64,
}

impl Calendar {
    fn day(&self, key: Key) -> usize {
        ((key.time().as_nanos() >> self.day_bits) % self.days.len() as u64) as usize
    }

    /// Looks through the days of one year from today; if all that waits is in later years, through all of them.
    fn find(&self) -> Option<(Entry, usize)> {
        let on = |day: u64, latest: u64| {
            let entries = self.days[(day % self.days.len() as u64) as usize].iter().enumerate();
            let due = entries.filter(|(_, entry)| entry.time() >> self.day_bits <= latest);
            due.map(|(place, &entry)| (entry, place)).min()
        };
        let year = self.today..self.today + self.days.len() as u64;
        let this_year = year.clone().find_map(|day| on(day, day));
        this_year.or_else(|| year.filter_map(|day| on(day, u64::MAX)).min())
    }

    fn remove(&mut self, slot: Slot) {
        let present = core::mem::replace(&mut self.events[slot.0 as usize], NEVER);
        if present != NEVER {
            let day = self.day(present);
            // INVARIANT: an event that waits is in its day.
            let place = self.days[day].iter().position(|entry| entry.slot == slot.0).expect("an event in its day");
            self.days[day].swap_remove(place);
            self.waiting -= 1;
            self.first = None;
        }
    }

    fn look(&mut self, now: u64) {
        let between = (now - self.last_look) / u64::from(POPS_PER_LOOK);
        (self.pops, self.last_look) = (0, now);
        // Brown: a day of three times the mean distance of events, as many days as events.
        let (day_bits, days) = ((between * 3).max(1).ilog2(), self.waiting.next_power_of_two().max(2));
        if day_bits != self.day_bits || days != self.days.len() {
            let all: Vec<Entry> = self.days.drain(..).flatten().collect();
            (self.days, self.day_bits) = (vec![Vec::new(); days], day_bits);
            for entry in all {
                let day = self.day(entry.key);
                self.days[day].push(entry);
            }
            self.today = now >> day_bits;
            self.first = None;
        }
    }
}

impl Queue for Calendar {
    fn new(slots: usize) -> Calendar {
        let days = vec![Vec::new(); slots.next_power_of_two().max(2)];
        let events = vec![NEVER; slots];
        Calendar { days, day_bits: 14, today: 0, events, waiting: 0, first: None, pops: 0, last_look: 0 }
    }

    fn peek(&mut self) -> Option<(Key, Slot)> {
        if self.first.is_none() && self.waiting > 0 {
            self.first = self.find();
        }
        self.first.map(|(entry, _)| (entry.key, Slot(entry.slot)))
    }

    fn pop(&mut self) -> Option<(Key, Slot)> {
        let found = self.peek()?;
        let (entry, place) = self.first.take()?;
        let day = self.day(entry.key);
        self.days[day].swap_remove(place);
        self.events[entry.slot as usize] = NEVER;
        self.waiting -= 1;
        self.today = entry.time() >> self.day_bits;
        self.pops += 1;
        if self.pops == POPS_PER_LOOK {
            self.look(entry.time());
        }
        Some(found)
    }

    fn push(&mut self, slot: Slot, key: Key) {
        let entry = Entry { key, slot: slot.0 };
        let day = self.day(key);
        self.days[day].push(entry);
        self.events[slot.0 as usize] = key;
        self.waiting += 1;
        if self.first.is_some_and(|(first, _)| entry < first) {
            self.first = Some((entry, self.days[day].len() - 1));
        }
    }

    fn hasten(&mut self, slot: Slot, key: Key) -> bool {
        let sooner = key < self.events[slot.0 as usize];
        if sooner {
            self.remove(slot);
            self.push(slot, key);
        }
        sooner
    }

    fn set(&mut self, slot: Slot, key: Option<Key>) {
        self.remove(slot);
        if let Some(key) = key {
            self.push(slot, key);
        }
    }
}
