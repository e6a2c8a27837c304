//! With any topology, any loss and any changes, packets are conserved, routes have no loops, nothing runs for ever,
//! sequence numbers never decrease, and early calls change nothing.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Send { src: u32, dst: u32, count: u8 },
    Connect(u32, u32),
    Cut(u32, u32),
    Pass(u64),
}

const NODES: u32 = 7;

/// One of the nodes, or sometimes the one without a radio.
fn destination() -> impl Strategy<Value = u32> {
    prop_oneof![5 => 0..NODES, 2 => Just(WIRED)]
}

/// Turns some nodes into gateways.
fn open(network: &mut Network, gateways: &[u32]) {
    for &gateway in gateways {
        let node = &mut network.nodes[gateway as usize];
        *node = node.clone().with_gateway([OUTSIDE]);
    }
}

/// Returns whether a packet from `src` to `dst` passes through the mesh.
fn crosses(network: &Network, src: u32, dst: u32) -> bool {
    src != dst && !network.nodes[src as usize].serves(ip(dst))
}

fn step() -> impl Strategy<Value = Step> {
    let node = 0..NODES;
    prop_oneof![
        4 => (node.clone(), destination(), 1u8..8).prop_map(|(src, dst, count)| Step::Send { src, dst, count }),
        2 => (node.clone(), node.clone()).prop_map(|(a, b)| Step::Connect(a, b)),
        2 => (node.clone(), node).prop_map(|(a, b)| Step::Cut(a, b)),
        4 => prop_oneof![0u64..200, 200u64..20_000].prop_map(Step::Pass),
    ]
}

fn configs() -> impl Strategy<Value = Config> {
    let hello = Config { hello: Some(HelloConfig::standard()), ..Config::standard() };
    let mixed = Config { repair_seqno_incremented: true, retry: Retry::Timer, ..Config::ns2() };
    let ticking = Config {
        retry: Retry::PacketOrTick(Dur::from_millis(500)),
        repair: RepairRule::FartherFromSource,
        purge_queue: true,
        after_failure: AfterFailure::LockOut(Dur::from_secs(10)),
        ..Config::standard()
    };
    let often = HelloConfig { always: true, jitter: ms(100), ..HelloConfig::standard() };
    let paper = SignalConfig::paper(Dbm(-80.0));
    let ssa = Config { hello: Some(often), signal: Some(paper), link_layer_detection: false, ..Config::standard() };
    let sticky = SignalConfig { hysteresis: Db(3.0), ..paper };
    let detecting = Config { signal: Some(sticky), link_layer_detection: true, ..ssa };
    prop_oneof![
        Just(Config::standard()),
        Just(Config::ns2()),
        Just(hello),
        Just(mixed),
        Just(ticking),
        Just(ssa),
        Just(detecting)
    ]
}

/// Routes known to a node: (destination, its sequence number, time until which it must be kept).
type Known = Vec<(Ipv4Addr, u32, Time)>;

/// Sequence numbers at every node: its own and those it knows.
fn numbers(network: &Network) -> Vec<(u32, Known)> {
    let of = |aodv: &Aodv| {
        let known = aodv.routes().filter_map(|route| {
            let until = match (aodv.config().delete_invalid_routes, route.state) {
                (false, _) => Time::from_secs(1_000_000),
                (true, RouteState::Invalid) => route.expires,
                (true, _) => network.now + aodv.config().delete_period(),
            };
            Some((route.dst, route.known_seqno()?, until))
        });
        (aodv.seqno(), known.collect())
    };
    network.nodes.iter().map(of).collect()
}

/// Finds loops in the valid routes to each destination: the nodes of the loop, and the destination.
pub(super) fn loops(network: &Network) -> Vec<(Vec<u32>, u32)> {
    let mut found = Vec::new();
    for dst in (0..NODES).chain([WIRED]) {
        for start in 0..NODES {
            let mut path = vec![start];
            for _ in 0..=NODES {
                let at = path[path.len() - 1];
                if network.nodes[at as usize].serves(ip(dst)) {
                    break;
                }
                let route = network.nodes[at as usize].route(ip(dst)).filter(|route| route.is_valid());
                let Some(next) = route.map(|route| number_of(route.next_hop)) else { break };
                if next == dst {
                    break;
                }
                if next == start {
                    found.push((path, dst));
                    break;
                }
                path.push(next);
            }
        }
    }
    found
}

/// Returns whether this is a loop that ns-2 has as well: through a node whose repair failed without a newer number
/// (`ns2::a_failed_repair_may_lead_back`). Routes to nodes without a radio must not have such loops either.
fn is_of_ns2(network: &Network, (path, dst): &(Vec<u32>, u32)) -> bool {
    let failed = |&n: &u32| {
        let node = &network.nodes[n as usize];
        !node.config().repair_seqno_incremented && node.counters().repairs_failed > 0
    };
    *dst != WIRED && path.iter().any(failed)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_routes_have_no_loops_and_numbers_do_not_go_back(
        config in configs(),
        links in prop::collection::vec((0..NODES, 0..NODES), 4..16),
        steps in prop::collection::vec(step(), 1..40),
        loss in (0u32..100, 0u32..100),
        gateways in prop::collection::vec(0..NODES, 0..3),
    ) {
        let mut network = Network::new(NODES, config);
        open(&mut network, &gateways);
        (network.broadcast_loss, network.unicast_loss) = loss;
        network.faded = true;
        for (a, b) in links.into_iter().filter(|(a, b)| a != b) {
            network.connect(a, b);
        }
        let mut before = numbers(&network);
        let mut next_number = 0;
        for step in steps {
            match step {
                Step::Send { src, dst, count } if crosses(&network, src, dst) => {
                    for _ in 0..count {
                        next_number += 1;
                        network.send(src, dst, next_number);
                    }
                }
                Step::Connect(a, b) if a != b => network.connect(a, b),
                Step::Cut(a, b) => network.cut(a, b),
                Step::Pass(length) => network.pass(ms(length)),
                _ => {}
            }
            network.assert_conserved();
            let found = loops(&network).into_iter().find(|found| !is_of_ns2(&network, found));
            prop_assert_eq!(found, None, "routes from a node to a destination come back to it");
            let after = numbers(&network);
            for ((own, known), (own_after, known_after)) in before.iter().zip(&after) {
                prop_assert!(!is_newer(*own, *own_after), "own number went from {own} to {own_after}");
                for (dst, seqno, until) in known.iter().filter(|(.., until)| network.now < *until) {
                    let seqno_after = known_after.iter().find(|(d, ..)| d == dst).map(|&(_, seqno, _)| seqno);
                    prop_assert!(seqno_after.is_some(), "{dst}: number {seqno} forgotten before {until}");
                    prop_assert!(!is_newer(*seqno, seqno_after.unwrap()), "{dst}: {seqno} became {seqno_after:?}");
                }
            }
            before = after;
        }
        // Long after the last packet, nothing is left to do but HELLOs.
        network.pass(Dur::from_secs(120));
        network.assert_conserved();
        prop_assert_eq!(network.in_flight(), 0);
        prop_assert_eq!(network.nodes.iter().map(Aodv::waiting_control).sum::<usize>(), 0);
        if config.after_failure == AfterFailure::Restart {
            prop_assert_eq!(network.nodes.iter().map(Aodv::buffered).sum::<usize>(), 0);
        }
    }

    /// A packet may wander while routes change, but never beyond its TTL. A network without movement delivers
    /// everything once its routes have converged.
    #[test]
    fn a_network_at_rest_delivers(
        config in configs(),
        links in prop::collection::vec((0..NODES, 0..NODES), 0..8),
        flows in prop::collection::vec((0..NODES, destination()), 1..6),
        gateways in prop::collection::vec(0..NODES, 1..3),
    ) {
        let mut network = Network::chain(NODES, config);
        open(&mut network, &gateways);
        for (a, b) in links.into_iter().filter(|(a, b)| a != b) {
            network.connect(a, b);
        }
        for (number, &(src, dst)) in flows.iter().enumerate() {
            if !crosses(&network, src, dst) {
                continue;
            }
            network.send(src, dst, number as u16);
            network.pass(ms(700));
        }
        network.pass(Dur::from_secs(40));
        prop_assert_eq!(network.delivered.len(), network.handed_in, "dropped: {:?}", network.dropped);
    }

    /// ns-2's ticks run at all multiples of 0.5 s; a node that is only called when due behaves the same.
    #[test]
    fn early_calls_change_nothing(
        config in configs(),
        sends in prop::collection::vec((0..NODES, 0..NODES, 0u64..3_000), 1..20),
        loss in 0u32..100,
    ) {
        let logs = [None, Some(ms(50))].map(|poke| {
            let mut network = Network::chain(NODES, config);
            (network.broadcast_loss, network.unicast_loss, network.poke) = (loss, loss, poke);
            for (number, &(src, dst, pause)) in sends.iter().enumerate() {
                if src != dst {
                    network.send(src, dst, number as u16);
                }
                network.pass(ms(pause));
            }
            (network.log, network.delivered, network.dropped)
        });
        prop_assert_eq!(&logs[0], &logs[1]);
    }
}
