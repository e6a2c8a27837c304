//! Forged messages: memory stays bounded, and routes in use stay.

use super::*;
use proptest::prelude::*;

const LIMITS: Limits = Limits { routes: 8, requests: 16, neighbours: 4, messages: 1 };

/// Numbers of forged nodes start here.
const FORGED: u32 = 1_000;

fn bench(config: Config) -> Bench {
    let mut bench = Bench::new(config);
    bench.aodv = bench.aodv.with_limits(LIMITS).with_route_changes();
    bench
}

/// A node with a route to node 9 through 6 that it uses itself, and one from 1 to 8 that it relays for.
fn busy(config: Config) -> Bench {
    let mut bench = bench(config);
    bench.learn(9, 6, 3, 20);
    bench.learn(8, 6, 2, 30);
    bench.learn(1, 4, 2, 10);
    assert_eq!((sent(&bench.originate(9, 1)).len(), sent(&bench.transit(1, 8, 2)).len()), (1, 1));
    bench
}

impl Bench {
    #[track_caller]
    fn assert_bounded(&self) {
        let aodv = &self.aodv;
        assert!(aodv.routes().count() <= LIMITS.routes, "{} routes", aodv.routes().count());
        assert!(aodv.remembered_requests() <= LIMITS.requests, "{} requests", aodv.remembered_requests());
        assert!(aodv.waiting_control() <= LIMITS.messages, "{} messages wait", aodv.waiting_control());
        let precursors = aodv.routes().map(|route| route.precursors().len()).max().unwrap_or(0);
        assert!(precursors <= LIMITS.neighbours, "{precursors} precursors");
        let watched = aodv.hello.len().max(aodv.signals.len());
        assert!(watched <= LIMITS.neighbours, "{watched} neighbours");
    }
}

#[test]
fn a_flood_of_forged_requests_is_forgotten_and_routes_in_use_stay() {
    for config in [Config::standard(), Config::ns2()] {
        let mut bench = busy(config);
        for n in 0..500 {
            // From many neighbours; for the route in use, for an unknown node and for this node.
            let wanted = [9, 77, 5][n as usize % 3];
            bench.receive_rreq(FORGED + n % 50, 5, rreq(2 * FORGED + n, 1, n, wanted, None));
            bench.assert_bounded();
            assert_eq!(sent(&bench.originate(9, 3)), [(3, via(6))], "{config:?}");
            assert_eq!(sent(&bench.transit(1, 8, 4)), [(4, via(6))], "{config:?}");
            bench.pass(ms(1));
        }
        let counters = bench.aodv.counters();
        assert!(counters.routes_displaced > 400 && counters.requests_displaced > 400, "{counters:?}");
        assert!(counters.relays_refused > 50, "{counters:?}");
    }
}

#[test]
fn what_gives_way_is_invalid_or_unused_and_ends_first() {
    let mut bench = busy(Config { neighbour_routes: false, ..Config::standard() });
    for (n, from) in [(20, 4), (21, 4), (22, 7), (23, 4), (24, 4)] {
        bench.receive_rreq(from, 1, rreq(n, 1, n, 77, None));
        bench.pass(ms(1));
    }
    // The table holds 1, 8, 9 and 20 to 24.
    bench.receive_rerr(7, &[(22, 2)]);
    let newcomer = |bench: &mut Bench, n: u32| {
        let actions = bench.receive_rreq(4, 1, rreq(n, 1, n, 77, None));
        let known: Vec<u32> = bench.aodv.routes().map(|route| number_of(route.dst)).collect();
        (known, actions)
    };
    let (known, actions) = newcomer(&mut bench, 30);
    assert_eq!(known, [1, 8, 9, 20, 21, 23, 24, 30], "22 is invalid");
    assert!(!actions.contains(&Action::RouteDown { destination: ip(22) }), "which was reported when it broke");
    let (known, actions) = newcomer(&mut bench, 31);
    assert_eq!(known, [1, 8, 9, 21, 23, 24, 30, 31], "20 is the oldest");
    assert!(actions.contains(&Action::RouteDown { destination: ip(20) }));
}

#[test]
fn searches_stay_and_what_finds_no_room_is_lost_by_name() {
    let mut bench = bench(Config { rreq_rate_limit: None, ..Config::standard() });
    for n in 0..8 {
        assert_eq!(requests(&bench.originate(20 + n, n as u16)).len(), 1);
    }
    assert_eq!(dropped(&bench.originate(40, 9)), [(9, DropReason::RouteTableFull)]);
    bench.receive_rreq(4, 5, rreq(50, 1, 1, 5, None));
    assert_eq!((bench.aodv.routes().count(), bench.aodv.counters().routes_refused > 1), (8, true));
    assert_eq!(sent(&bench.receive_rrep(6, rrep(23, 4, 1, 5))), [(3, via(6))], "an answer is no newcomer");
    assert_eq!(bench.aodv.buffered(), 7);
}

#[test]
fn known_neighbours_are_watched_on() {
    let often = HelloConfig { always: true, ..HelloConfig::standard() };
    let aware = SignalConfig::paper(Dbm(-80.0));
    let config = Config { hello: Some(often), signal: Some(aware), ..Config::standard() };
    let mut bench = bench(config);
    let hello = |bench: &mut Bench, from: u32, dbm: f64| {
        bench.aodv.handle_signal(ip(from), Dbm(dbm));
        let hello = rrep(from, 1, 0, from);
        bench.receive_with(from, AodvMessage::Rrep(hello), 1, Ipv4Packet::BROADCAST);
        bench.assert_bounded();
    };
    hello(&mut bench, 6, -70.0);
    for n in 0..100 {
        hello(&mut bench, FORGED + n, -60.0);
        hello(&mut bench, 2 * FORGED + n, -85.0);
    }
    assert!(bench.aodv.signal(ip(6)).is_some_and(|signal| signal.stable) && bench.route(6).is_valid());
    assert!(bench.aodv.counters().neighbours_refused > 100);
}

#[test]
fn the_statistics_of_own_traffic_are_bounded_too() {
    let mut bench = bench(Config::standard());
    for n in 0..100 {
        bench.learn(20 + n, 6, 2, 1);
        bench.pass(ms(200));
        bench.aodv.handle_used(bench.now, ip(20 + n), Some(ip(5)), None);
        bench.aodv.handle_used(bench.now, ip(20 + n), Some(ip(5)), None);
        bench.pass(ms(7_000));
    }
    assert_eq!(bench.aodv.usages.len(), LIMITS.routes);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Messages of any kind, from any node, about any node.
    #[test]
    fn no_messages_grow_it(
        messages in prop::collection::vec((0u8..4, 0u32..60, 0u32..60, 0u32..60, 0u32..4, any::<u8>()), 1..300),
        standard in any::<bool>(),
        hello in any::<bool>(),
    ) {
        let config = if standard { Config::standard() } else { Config::ns2() };
        let mut bench = bench(Config { hello: hello.then(HelloConfig::standard), ..config });
        for (kind, from, about, originator, seqno, ttl) in messages {
            match kind {
                0 => drop(bench.receive_rreq(from, ttl, rreq(originator, seqno, seqno, about, Some(seqno)))),
                1 => drop(bench.receive_rrep(from, Rrep { hop_count: ttl, ..rrep(about, seqno, 0, originator) })),
                2 => drop(bench.receive_rerr(from, &[(about, seqno)])),
                _ => drop(bench.originate(about, 0)),
            }
            bench.pass(ms(u64::from(ttl)));
            bench.assert_bounded();
        }
    }
}
