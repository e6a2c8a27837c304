//! Hosts, routers, links and gateways: rates and times that can be computed by hand, and networks of both kinds.

use crate::common::{line, newreno};
use fourhop_proto::app::ping;
use fourhop_proto::net::port;
use fourhop_proto::node;
use fourhop_proto::route::{self, Protocol};
use fourhop_sim::batch::Control;
use fourhop_sim::setup::{Flow, Routing, Setup, Source, Traffic};
use fourhop_sim::wired::{Cable, Plan};
use fourhop_sim::world::World;
use fourhop_units::{Bytes, Dur, NodeId, Rate, Time};

const MSS: u64 = 1460;

/// The papers' wires: 10 Mbit/s, 40 ms, 50 packets.
fn wire(a: NodeId, b: NodeId) -> Cable {
    let port = port::Config {
        rate: Rate::kbps(10_000),
        delay: Dur::from_millis(40),
        queue: 50,
        queue_bytes: None,
        overhead: Bytes(0),
    };
    Cable { ends: [a, b], port }
}

/// An endless NewReno transfer with this window.
fn between(src: NodeId, dst: NodeId, window: u32) -> Flow {
    Flow { src, dst, ..newreno(0, 0, window) }
}

/// Nodes 200 m apart, the last of them a gateway, followed by a router and a host over wires.
fn mesh_and_wire(radios: u32, routing: Routing, flows: Vec<Flow>) -> Setup {
    let places: Vec<_> = (0..radios).map(|n| f64::from(n) * 200.0).collect();
    let mut setup = line(node::Config::ns2(), &places);
    let [router, host] = [0, 1].map(NodeId::wired);
    let gateway = NodeId(radios - 1);
    let cables = vec![wire(gateway, router), wire(router, host)];
    setup.wired = Some(Plan { gateways: vec![gateway], hosts: 2, cables });
    setup.node.link.arp = true;
    (setup.routing, setup.flows) = (routing, flows);
    setup
}

/// Returns the world after `seconds`, and checks that every account balances.
fn run(setup: &Setup, seconds: u64) -> (World, Vec<fourhop_sim::setup::FlowEnds>) {
    let (mut world, ends) = setup.build(1, None).unwrap();
    assert!(world.run_until(Time::from_secs(seconds), &Control::default()));
    for (layer, account) in world.accounts().named() {
        assert!(account.balances(), "{layer:?} {account:?}");
    }
    (world, ends)
}

fn received(world: &World, ends: (NodeId, usize)) -> u64 {
    world.endpoints(ends.0)[ends.1].received.get()
}

#[test]
fn a_window_over_a_pure_wire_goes_round_once_each_round_trip() {
    // Two links in each direction: 2 x (1.2 + 40) ms for 1,500 bytes and 2 x (0.032 + 40) ms for an ACK of 40 bytes.
    let [router, here, there] = [0, 1, 2].map(NodeId::wired);
    let mut setup = line(node::Config::ns2(), &[0.0]);
    let cables = vec![wire(here, router), wire(router, there)];
    setup.wired = Some(Plan { gateways: Vec::new(), hosts: 3, cables });
    setup.flows = vec![between(here, there, 16)];
    let (mut world, ends) = setup.build(1, None).unwrap();
    world.run_until(Time::from_secs(10), &Control::default());
    let before = received(&world, ends[0].receiver);
    world.run_until(Time::from_secs(110), &Control::default());
    let goodput = (received(&world, ends[0].receiver) - before) as f64 * 8.0 / 100.0;
    let round_trip = 2.0 * (0.0012 + 0.040) + 2.0 * (0.000_032 + 0.040);
    let expected = 16.0 * MSS as f64 * 8.0 / round_trip;
    assert!((goodput / expected - 1.0).abs() < 0.002, "{goodput} instead of {expected}");
    assert_eq!(world.drops().total(), 0);
}

#[test]
fn a_wire_that_is_the_bottleneck_carries_its_rate() {
    // 10 Mbit/s of packets of 1,500 bytes with 1,460 bytes of payload. A window of 100 exceeds the 68 packets of a
    // round trip of 81.2 ms, and the rest fits into the queue.
    let [here, there] = [0, 1].map(NodeId::wired);
    let mut setup = line(node::Config::ns2(), &[0.0]);
    setup.wired = Some(Plan { gateways: Vec::new(), hosts: 2, cables: vec![wire(here, there)] });
    setup.flows = vec![between(here, there, 100)];
    let (mut world, ends) = setup.build(1, None).unwrap();
    world.run_until(Time::from_secs(20), &Control::default());
    let before = received(&world, ends[0].receiver);
    world.run_until(Time::from_secs(120), &Control::default());
    let goodput = (received(&world, ends[0].receiver) - before) as f64 * 8.0 / 100.0;
    let expected = 10e6 * MSS as f64 / 1500.0;
    assert!((goodput / expected - 1.0).abs() < 0.001, "{goodput} instead of {expected}");
    let port = &world.wired().wires()[0].port;
    assert!((25..=40).contains(&port.longest_queue()), "{}", port.longest_queue());
}

#[test]
fn tcp_crosses_the_gateway_both_ways_by_static_routes_and_by_aodv() {
    for routing in
        [Routing::Static, Routing::finding(route::Config::ns2()), Routing::finding(route::Config::standard())]
    {
        let host = NodeId::wired(1);
        for (src, dst) in [(NodeId(0), host), (host, NodeId(0))] {
            let setup = mesh_and_wire(3, routing.clone(), vec![between(src, dst, 16)]);
            let (world, ends) = run(&setup, 30);
            // Two radio hops of 2 Mbit/s carry 629 kbit/s; the window over at least 165 ms carries about 1 Mbit/s.
            let goodput = received(&world, ends[0].receiver) as f64 * 8.0 / 29.0;
            assert!((400e3..640e3).contains(&goodput), "{src} to {dst}: {goodput}");
            assert_eq!(world.drops().of(fourhop_proto::drop::DropReason::NoRoute), 0);
        }
    }
}

#[test]
fn ping_over_mesh_and_wire_takes_the_sum_of_its_parts() {
    let config = ping::Config {
        start: Time::from_secs(1),
        stop: None,
        interval: Dur::from_secs(1),
        outstanding: None,
        payload: Bytes(56),
    };
    let flow = Flow { src: NodeId::wired(1), dst: NodeId(0), traffic: Traffic::Ping(config), dscp: 0 };
    let setup = mesh_and_wire(2, Routing::finding(route::Config::ns2()), vec![flow]);
    let (world, ends) = run(&setup, 20);
    let end = &world.endpoints(ends[0].sender.0)[ends[0].sender.1];
    let node::EndpointKind::Pinger(pinger) = &end.kind else { panic!("{end:?}") };
    // The request sent 20 ms before the end is still in transit.
    assert_eq!(pinger.received(), 19);
    // 84 bytes over two wires in each direction: 4 x (0.0672 + 40) ms; one radio hop in each direction takes about a
    // millisecond.
    let last = pinger.last_rtt().unwrap().as_secs_f64();
    assert!((0.1613..0.1660).contains(&last), "{last}");
}

#[test]
fn the_nearer_of_two_gateways_is_taken_and_routers_learn_which() {
    // 0 (gateway) - 1 - 2 - 3 - 4 (gateway), both connected to a router with the host behind it; node 1 belongs to
    // gateway 0.
    let places: Vec<_> = (0..5).map(|n| f64::from(n) * 200.0).collect();
    let mut setup = line(node::Config::ns2(), &places);
    let [router, host] = [0, 1].map(NodeId::wired);
    let cables = vec![wire(NodeId(0), router), wire(NodeId(4), router), wire(router, host)];
    setup.wired = Some(Plan { gateways: vec![NodeId(4), NodeId(0)], hosts: 2, cables });
    setup.node.link.arp = true;
    setup.routing = Routing::finding(route::Config::ns2());
    setup.flows = vec![between(NodeId(1), host, 8), between(host, NodeId(3), 8)];
    let (world, ends) = run(&setup, 20);
    let hops = |node: usize, to: NodeId| world.nodes()[node].router().hops(to.ipv4());
    assert_eq!((hops(1, host), hops(3, host)), (Some(1), Some(1)));
    for ends in &ends {
        assert!(received(&world, ends.receiver) > 200_000);
    }
    let router = &world.wired().hosts()[0];
    let ways = [1, 3].map(|n| router.routes().port(NodeId(n).ipv4()).unwrap().0);
    assert_eq!(ways, [0, 1]);
}

/// NewReno flows over a bottleneck between two routers, started every 0.1 s from 1 s on. Flow `n` has a separate delay
/// of 2 + 5n ms on one side; all have 2 ms on the other. Returns the goodput of each from 100 s to 500 s in kbit/s.
fn dumbbell(kbps: u64, queue: usize, window: u32, flows: u32) -> Vec<f64> {
    let mut setup = line(node::Config::ns2(), &[0.0]);
    let link = |a, b, kbps, delay, queue| {
        let port = port::Config { rate: Rate::kbps(kbps), delay: Dur::from_millis(delay), queue, ..wire(a, b).port };
        Cable { ends: [a, b], port }
    };
    let [left, right] = [0, 1].map(NodeId::wired);
    let mut cables = vec![link(left, right, kbps, 40, queue)];
    for n in 0..flows {
        let [src, dst] = [2 + 2 * n, 3 + 2 * n].map(NodeId::wired);
        cables.push(link(src, left, 10_000, 2 + 5 * u64::from(n), 49));
        cables.push(link(right, dst, 10_000, 2, 49));
        let mut flow = between(src, dst, window);
        let Traffic::Tcp { config, source, .. } = &mut flow.traffic else { unreachable!() };
        // ns-2.35 starts with the window as threshold.
        config.initial_ssthresh = window;
        let Source::Transfer(transfer) = source else { unreachable!() };
        transfer.start = Time::from_secs(1) + Dur::from_millis(100) * u64::from(n);
        setup.flows.push(flow);
    }
    setup.wired = Some(Plan { gateways: Vec::new(), hosts: 2 + 2 * flows, cables });
    let (mut world, ends) = setup.build(1, None).unwrap();
    world.run_until(Time::from_secs(100), &Control::default());
    let before: Vec<_> = ends.iter().map(|ends| received(&world, ends.receiver)).collect();
    world.run_until(Time::from_secs(500), &Control::default());
    ends.iter()
        .zip(before)
        .map(|(ends, before)| (received(&world, ends.receiver) - before) as f64 * 8.0 / 4e5)
        .collect()
}

#[test]
fn newreno_over_a_dumbbell_agrees_with_ns2() {
    // ns-2.35, Agent/TCP/Newreno with packetSize_ 1460 and TCPSink over duplex-link with DropTail, at the same times:
    // bottleneck, its queue-limit (one more than packets wait), window_, and goodput of ns-2 in kbit/s.
    for (kbps, limit, window, expected) in [
        (1_500, 20, 64, &[1460.0][..]),
        (1_500, 10, 64, &[1440.3]),
        (10_000, 50, 64, &[8152.0]),
        (10_000, 20, 200, &[9562.8]),
        (1_500, 20, 64, &[769.9, 690.1]),
    ] {
        let found = dumbbell(kbps, limit - 1, window, expected.len() as u32);
        let [sum, sum_ns2] = [&found[..], expected].map(|each| each.iter().sum::<f64>());
        println!("{kbps} kbit/s, {limit}, window {window}: {found:.1?}, ns-2 {expected:.1?}");
        assert!((sum / sum_ns2 - 1.0).abs() < 0.002, "{found:?} instead of {expected:?}");
        for (flow, ns2) in found.iter().zip(expected) {
            assert!((flow / ns2 - 1.0).abs() < 0.005, "{found:?} instead of {expected:?}");
        }
    }
}
