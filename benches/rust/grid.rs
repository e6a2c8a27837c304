//! Finding the neighbours of a frame among moving nodes: its cost by number of nodes at equal density.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_sim::air::Air;
use fourhop_sim::mobility::{Mobility, Movement, random_waypoint};
use fourhop_sim::stations::Stations;
use fourhop_units::{Dur, NodeId, Time, Watt};

/// Square metres per node, as with 120 nodes in 2500 m x 1000 m.
const AREA: f64 = 2500.0 * 1000.0 / 120.0;
/// Frames per node and second: with 802.11 at 2 Mbit/s and 45 others in sensing range, a busy network.
const FRAMES_PER_NODE: u64 = 20;

/// Each query includes its share of registering nodes again: the more nodes, the less time passes between queries.
fn neighbours(c: &mut Criterion) {
    let mut group = c.benchmark_group("grid/neighbours of a frame among n moving nodes");
    for n in [100u32, 1000, 10_000] {
        let side = (f64::from(n) * AREA).sqrt();
        let movement = Movement::RandomWaypoint(random_waypoint::Config {
            speed_min: 1.0,
            speed_max: 20.0,
            pause: Dur::from_secs(10),
            width: side,
            height: side,
            steady: true,
            still: 0,
            seed: None,
        });
        let starts = movement.starts(n as usize, 1).expect("the steady state has starts of its own");
        let stations = Stations::single(starts.len());
        let mut air = Air::moving(Mobility::new(&movement, &starts, 1), TwoRay::WAVELAN, Watt(1.559e-11), &stations);
        let step = Dur::from_secs(1) / (u64::from(n) * FRAMES_PER_NODE);
        let (mut now, mut turn) = (Time::ZERO, 0u32);
        let (mut queries, mut found) = (0u64, 0u64);
        group.bench_function(BenchmarkId::from_parameter(n), |b| {
            b.iter(|| {
                now += step;
                turn = (turn + 7919) % n;
                queries += 1;
                air.begin(0, NodeId(turn), now);
                found += air.neighbours(0, NodeId(turn)).len() as u64;
            });
        });
        println!("n = {n}: {:.1} neighbours on average", found as f64 / queries as f64);
    }
    group.finish();
}

criterion_group!(benches, neighbours);
criterion_main!(benches);
