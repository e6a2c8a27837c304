//! Frames on the air: the cost of a frame that reaches n neighbours, and of a route discovery that floods a network.
#![allow(missing_docs)]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fourhop_proto::app::cbr;
use fourhop_proto::node;
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_proto::route;
use fourhop_sim::batch::Control;
use fourhop_sim::setup::{Flow, Routing, Setup, Traffic};
use fourhop_sim::world::World;
use fourhop_units::{Bytes, Dur, NodeId, Rate, Time};

fn network(positions: Vec<(f64, f64)>, routing: Routing, interval: Dur, dst: u32) -> World {
    let payload = Bytes(1460);
    let rate = Rate::from_bps(payload.bits() * 1_000_000_000 / interval.as_nanos()).expect("a rate above zero");
    let traffic = Traffic::Udp(cbr::Config { start: Time::ZERO, stop: None, rate, payload });
    let flows = vec![Flow { src: NodeId(0), dst: NodeId(dst), traffic, dscp: 0 }];
    let mut setup = Setup {
        positions,
        radios: None,
        movement: None,
        radio: TwoRay::WAVELAN.into(),
        site: None,
        node: node::Config::ns2(),
        routing,
        wired: None,
        discipline: None,
        flows,
        c3tcp: None,
        without_mcs: Vec::new(),
        particular: Default::default(),
    };
    setup.node.link.arp = false;
    setup.build(1, None).expect("its nodes are near each other").0
}

/// 100 datagrams per second between two nodes: RTS, CTS, data and ACK each reach the same n neighbours.
fn frame_over_neighbours(c: &mut Criterion) {
    let mut group = c.benchmark_group("air/one second of 100 exchanges over n neighbours");
    for n in [1u32, 8, 64, 512] {
        let positions = (0..=n).map(|i| (f64::from(i % 32), f64::from(i / 32))).collect();
        let mut world = network(positions, Routing::Static, Dur::from_millis(10), 1);
        let control = Control::new();
        group.throughput(Throughput::Elements(400 * u64::from(n)));
        group.bench_function(BenchmarkId::from_parameter(n), |b| {
            b.iter(|| {
                let end = world.now() + Dur::from_secs(1);
                world.run_until(end, &control)
            });
        });
        let seconds = world.now().as_secs_f64();
        let expected = 400.0 * seconds * f64::from(n);
        assert!((world.receptions() as f64 / expected - 1.0).abs() < 0.02, "four frames for each datagram");
    }
    group.finish();
}

/// The first packet of a flow across a 10 x 10 grid: its request is heard everywhere, the reply returns.
fn aodv_flood(c: &mut Criterion) {
    let positions: Vec<_> = (0..100).map(|i| (200.0 * f64::from(i % 10), 200.0 * f64::from(i / 10))).collect();
    let routing = Routing::finding(route::Config::ns2());
    let control = Control::new();
    c.bench_function("air/AODV flood of 100 nodes", |b| {
        b.iter_batched_ref(
            || network(positions.clone(), routing.clone(), Dur::from_secs(10), 99),
            |world| {
                world.run_until(Time::from_secs(1), &control);
                assert!(world.frames() > 99, "every node relays the request");
            },
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, frame_over_neighbours, aodv_flood);
criterion_main!(benches);
