//! The event queue: the first event is handled and its slot set to a later time, as by a timer.
//!
//! Two loads: the hold model, where that time is anything up to 1 ms; and a mix like the simulator's. For other kinds
//! of queues and their cost see docs/decisions/event-queue.md.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fourhop_sim::event_queue::{Class, EventQueue, Key, Slot};
use fourhop_units::{Dur, NodeId, Purpose, Stream, Time};

#[derive(Clone, Copy)]
enum Load {
    Hold,
    Mix,
}

/// A queue and the events planned in it.
struct Bench {
    queue: EventQueue,
    load: Load,
    random: Stream,
    /// Event of each slot. If the queue returns it early, it is planned again.
    due: Vec<Key>,
    steps: u32,
}

impl Bench {
    fn new(load: Load, slots: u32) -> Bench {
        let random = Stream::global(1, Purpose::Topology);
        let due = vec![timer(Time::NEVER, Slot(0)); slots as usize];
        let mut bench = Bench { queue: EventQueue::new(slots as usize), load, random, due, steps: 0 };
        (0..slots).for_each(|slot| bench.plan(Time::ZERO, Slot(slot)));
        bench
    }

    fn within(&mut self, from: u32, to: u32) -> Dur {
        Dur::from_nanos(u64::from(from + self.random.below(to - from)))
    }

    /// In the mix, five of eight slots always wait for something in 10 to 700 us, two for 6 ms, one for 1 s.
    fn plan(&mut self, now: Time, slot: Slot) {
        let later = match (self.load, slot.0 % 8) {
            (Load::Hold, _) => self.within(1, 1_000_000),
            (Load::Mix, 0..5) => self.within(10_000, 700_000),
            (Load::Mix, 5..7) => Dur::from_millis(6),
            (Load::Mix, _) => Dur::from_secs(1),
        };
        let key = timer(now + later, slot);
        self.due[slot.0 as usize] = key;
        self.queue.push(slot, key);
    }

    /// Takes the next event and plans the slot anew. In the mix, the following event is examined too; every fourth
    /// event hastens that of another slot and every eighth moves one, whether there and back or not.
    fn step(&mut self) -> Option<Key> {
        let (key, slot) = loop {
            let (key, slot) = self.queue.pop()?;
            let due = self.due[slot.0 as usize];
            if key == due {
                break (key, slot);
            }
            self.queue.push(slot, due);
        };
        let now = key.time();
        if matches!(self.load, Load::Mix) {
            self.queue.peek();
        }
        self.plan(now, slot);
        if matches!(self.load, Load::Mix) {
            self.steps = self.steps.wrapping_add(1);
            if self.steps.is_multiple_of(4) {
                let other = Slot(self.random.below(self.due.len() as u32));
                let key = timer(now + self.within(10_000, 700_000), other);
                let due = &mut self.due[other.0 as usize];
                if self.steps.is_multiple_of(8) {
                    self.queue.set(other, Some(key));
                    *due = key;
                } else {
                    self.queue.hasten(other, key);
                    *due = key.min(*due);
                }
            }
        }
        Some(key)
    }
}

fn timer(at: Time, slot: Slot) -> Key {
    Key::new(at, Class::Timer, NodeId(slot.0), NodeId(slot.0))
}

fn loads(c: &mut Criterion) {
    let hold = (Load::Hold, "event queue/next event and its successor", [16, 256, 4_096, 65_536].as_slice());
    let mix = (Load::Mix, "event queue/mix of a simulation", [15, 150, 10_000].as_slice());
    for (load, name, sizes) in [hold, mix] {
        let mut group = c.benchmark_group(name);
        for &slots in sizes {
            let mut bench = Bench::new(load, slots);
            group.bench_function(BenchmarkId::new("simulator", slots), |b| b.iter(|| bench.step()));
        }
        group.finish();
    }
}

criterion_group!(benches, loads);
criterion_main!(benches);
