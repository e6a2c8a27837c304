//! The event queue: the first event is handled and its slot set to a later time, as a timer does.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fourhop_sim::event_queue::{Class, EventQueue, Key, Slot};
use fourhop_units::{Dur, NodeId, Purpose, Stream};

fn hold(c: &mut Criterion) {
    let mut group = c.benchmark_group("event queue/next event and its successor");
    for slots in [16u32, 256, 4_096, 65_536] {
        let mut random = Stream::global(1, Purpose::Topology);
        let mut later = move || Dur::from_nanos(1 + u64::from(random.below(1_000_000)));
        let mut queue = EventQueue::new(slots as usize);
        let key = |at, slot: u32| Key::new(at, Class::Timer, NodeId(slot), NodeId(slot));
        for slot in 0..slots {
            queue.push(Slot(slot), key(fourhop_units::Time::ZERO + later(), slot));
        }
        group.bench_function(BenchmarkId::from_parameter(slots), |b| {
            b.iter(|| {
                if let Some((first, slot)) = queue.pop() {
                    queue.push(slot, key(first.time() + later(), slot.0));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
