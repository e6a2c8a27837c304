//! RFC 3561 sections 6.11 and 6.12: broken links, route errors, local repair. Node 5 is on the bench.

use super::*;

fn no_repair() -> Config {
    Config { repair: RepairRule::Off, ..Config::standard() }
}

/// A node 5 that relays from node 1 (through 4) to node 9 (through 6), which is `hops` away and has number 20.
fn relay_bench(config: Config, hops: u8) -> Bench {
    let mut bench = Bench::new(config);
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
    bench.receive_rrep(6, rrep(9, 20, hops - 1, 1));
    bench.pass(ms(20));
    assert_eq!(bench.route(9).precursors(), [ip(4)]);
    bench
}

#[test]
fn section_6_11_case_i_lists_the_neighbour_and_all_behind_it_that_others_use() {
    let mut bench = relay_bench(no_repair(), 2);
    bench.learn(8, 6, 3, 30);
    bench.learn(7, 7, 1, 40);
    let out = bench.fail(data(1, 9, 1), 6);
    assert_eq!(dropped(&out), [(1, DropReason::LinkBroken)]);
    let [(rerr, to)] = &errors(&out)[..] else { panic!("{out:?}") };
    // Node 6 was a neighbour without a known number; node 8 has no precursor.
    assert_eq!((lost(rerr), *to), (vec![(ip(6), 0), (ip(9), 21)], via(4)));
    assert!(!rerr.no_delete);
    for (dst, valid) in [(9, false), (8, false), (6, false), (7, true)] {
        assert_eq!(bench.route(dst).is_valid(), valid, "route to {dst}");
    }
    assert_eq!(bench.route(8).seqno, 31, "lost as well, with its number incremented");
    assert_eq!(bench.route(9).expires, bench.now + Config::standard().delete_period());
    assert!(purged(&out).is_empty());
    assert_eq!(errors(&bench.fail(data(1, 9, 2), 6)), [], "the link breaks once");
}

#[test]
fn section_6_11_several_precursors_get_a_broadcast_and_none_nothing() {
    let mut bench = relay_bench(no_repair(), 2);
    bench.receive_rreq(3, 5, rreq(2, 10, 1, 9, None));
    assert_eq!(bench.route(9).precursors(), [ip(3), ip(4)]);
    let out = bench.fail(data(1, 9, 1), 6);
    let [(_, to)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!(*to, NextHop::Broadcast);
    let Some(Action::Send { packet, .. }) = out.iter().find(|a| matches!(a, Action::Send { .. })) else { panic!() };
    assert_eq!((packet.ttl, packet.dst), (1, Ipv4Packet::BROADCAST));

    let mut bench = Bench::new(no_repair());
    bench.learn(9, 6, 2, 20);
    assert_eq!(errors(&bench.fail(data(5, 9, 1), 6)), [], "only this node used the route");
}

#[test]
fn section_6_11_case_ii_a_packet_without_a_route() {
    let mut bench = Bench::standard();
    let out = bench.transit(1, 9, 1);
    let [(rerr, to)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!((lost(rerr), *to), (vec![(ip(9), 0)], NextHop::Broadcast));
    assert_eq!(dropped(&out), [(1, DropReason::NoRoute)]);
    // A neighbour that believes in a route through this one gives it up, although the number is older.
    let mut upstream = Bench::standard();
    upstream.learn(9, 4, 2, 20);
    upstream.receive_rerr(4, &[(9, 0)]);
    assert_eq!((upstream.route(9).state, upstream.route(9).seqno), (RouteState::Invalid, 20));
}

#[test]
fn section_6_11_case_iii_an_error_from_the_next_hop_is_passed_on_to_precursors() {
    let mut bench = relay_bench(no_repair(), 2);
    bench.learn(8, 6, 3, 30);
    let out = bench.receive_rerr(6, &[(9, 21), (8, 31), (77, 5)]);
    let [(rerr, to)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!((lost(rerr), *to), (vec![(ip(9), 21)], via(4)), "node 8 has no precursor, node 77 is unknown");
    assert_eq!((bench.route(9).seqno, bench.route(8).seqno), (21, 31), "numbers are copied");
    assert!(!bench.route(9).is_valid() && !bench.route(8).is_valid());
    assert_eq!(errors(&bench.receive_rerr(6, &[(9, 21)])), [], "a route is lost once");
}

#[test]
fn section_6_11_an_error_from_another_neighbour_or_without_precursors_goes_no_further() {
    let mut bench = relay_bench(no_repair(), 2);
    assert_eq!(errors(&bench.receive_rerr(7, &[(9, 21)])), []);
    assert!(bench.route(9).is_valid(), "node 7 is not the next hop");
    let mut source = Bench::standard();
    source.learn(9, 6, 2, 20);
    assert_eq!(errors(&source.receive_rerr(6, &[(9, 21)])), []);
    assert!(!source.route(9).is_valid());
}

/// ns-3 bug 1042: route errors without end.
#[test]
fn section_6_11_at_most_ten_errors_a_second() {
    let mut bench = Bench::standard();
    let sent: usize = (0..50).map(|number| errors(&bench.transit(1, 9, number)).len()).sum();
    assert_eq!((sent, bench.aodv.counters().rerr_limited), (10, 40));
    bench.pass(ms(1_000));
    assert_eq!(errors(&bench.transit(1, 9, 50)).len(), 1);
}

#[test]
fn section_6_11_a_lost_reply_breaks_the_link_too() {
    let mut bench = relay_bench(no_repair(), 2);
    let meta = PacketMeta::default();
    let body = Body::Routing(AodvMessage::Rrep(rrep(1, 10, 0, 9)).into());
    let out = bench.fail(Ipv4Packet { src: ip(5), dst: ip(6), ttl: 35, ident: 0, dscp: 0, body, meta }, 6);
    assert!(!bench.route(9).is_valid());
    assert_eq!(errors(&out).len(), 1);
    assert!(matches!(&out[0], Action::Drop { reason: DropReason::LinkBroken, .. }));
}

#[test]
fn a_source_keeps_its_packets_and_searches_again() {
    let mut bench = Bench::new(no_repair());
    bench.learn(9, 6, 2, 20);
    let out: Vec<_> = (1..4).flat_map(|number| bench.fail(data(5, 9, number), 6)).collect();
    assert_eq!((dropped(&out), requests(&out).len(), bench.aodv.buffered()), (vec![], 1, 3));
    let flushed = bench.receive_rrep(7, rrep(9, 21, 2, 5));
    assert_eq!(sent(&flushed), [(1, via(7)), (2, via(7)), (3, via(7))]);
    let mut bench = Bench::new(Config { rediscover_at_source: false, ..no_repair() });
    bench.learn(9, 6, 2, 20);
    assert_eq!(dropped(&bench.fail(data(5, 9, 1), 6)), [(1, DropReason::LinkBroken)]);
}

#[test]
fn section_6_12_a_relay_near_the_destination_repairs() {
    let mut bench = relay_bench(Config::standard(), 3);
    bench.learn(8, 6, 3, 30);
    let out = bench.fail(data(1, 9, 1), 6);
    let [(request, ttl)] = requests(&out)[..] else { panic!("{out:?}") };
    assert_eq!(request.destination_seqno, Some(21), "the number after the last known one");
    assert_eq!(ttl, 5, "max(3 hops to go, half of 1 hop back) + LOCAL_ADD_TTL");
    assert_eq!(bench.route(9).state, RouteState::InRepair);
    assert!(!bench.route(8).is_valid(), "other routes over the link are given up at once");
    assert_eq!(dropped(&out), []);
    let [(rerr, _)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!(lost(rerr), [(ip(6), 0)], "nobody is notified of the route under repair");
    assert_eq!(bench.transit(1, 9, 2), [], "further packets wait");
    assert_eq!(bench.originate(9, 3), [], "own ones too");
    assert_eq!(bench.fail(data(1, 9, 4), 6), [], "and those that come back");
    // A route of the same length releases them without a report.
    let out = bench.receive_rrep(7, rrep(9, 21, 2, 5));
    assert_eq!(sent(&out), [(1, via(7)), (2, via(7)), (3, via(7)), (4, via(7))]);
    assert_eq!(errors(&out), []);
    let counters = bench.aodv.counters();
    assert_eq!((counters.repairs_started, counters.repairs_succeeded, counters.repairs_failed), (1, 1, 0));
    assert_eq!(errors(&untimed(bench.pass(ms(1_000)))), [], "the end of the waiting time means nothing any more");
}

#[test]
fn section_6_12_the_ring_reaches_half_way_to_the_source() {
    let mut bench = Bench::standard();
    let mut request = rreq(1, 10, 1, 9, None);
    request.hop_count = 11;
    bench.receive_rreq(4, 5, request);
    bench.receive_rrep(6, rrep(9, 20, 0, 1));
    assert_eq!(requests(&bench.fail(data(1, 9, 1), 6))[0].1, 12 / 2 + 2);
}

#[test]
fn section_6_12_a_longer_repaired_route_is_announced_with_n() {
    let mut bench = relay_bench(Config::standard(), 2);
    bench.fail(data(1, 9, 1), 6);
    let out = bench.receive_rrep(7, rrep(9, 21, 3, 5));
    let [(rerr, to)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!((rerr.no_delete, lost(rerr), *to), (true, vec![(ip(9), 21)], via(4)));
    assert_eq!(bench.route(9).precursors(), [ip(4)]);
    // Upstream the route stays, and precursors are notified.
    let mut upstream = relay_bench(Config::standard(), 3);
    let unreachable = vec![UnreachableDestination { addr: ip(9), seqno: 21 }];
    let rerr = AodvMessage::Rerr(Rerr { no_delete: true, unreachable });
    let out = upstream.receive_with(6, rerr, 1, Ipv4Packet::BROADCAST);
    assert!(upstream.route(9).is_valid());
    let [(rerr, to)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!((rerr.no_delete, *to), (true, via(4)));
}

#[test]
fn section_6_12_a_failed_repair_ends_in_an_error() {
    let mut bench = relay_bench(Config::standard(), 2);
    bench.fail(data(1, 9, 1), 6);
    // One request with TTL 4 waits 2 x 40 ms x (4 + 2).
    assert_eq!(untimed(bench.pass(ms(479))), []);
    let out = untimed(bench.pass(ms(1)));
    assert_eq!(dropped(&out), [(1, DropReason::LinkBroken)]);
    let [(rerr, to)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!((rerr.no_delete, lost(rerr), *to), (false, vec![(ip(9), 21)], via(4)));
    assert_eq!(bench.route(9).state, RouteState::Invalid);
    assert_eq!(bench.aodv.buffered(), 0);
    let counters = bench.aodv.counters();
    assert_eq!((counters.repairs_succeeded, counters.repairs_failed, counters.rreq_originated), (0, 1, 1));
}

/// Two repairs at a time, each with its own deadline: neither delays nor cancels the other's.
#[test]
fn section_6_12_repairs_at_the_same_time_end_each_by_itself() {
    let mut bench = relay_bench(Config::standard(), 2);
    bench.receive_rreq(4, 5, rreq(1, 11, 2, 8, None));
    bench.receive_rrep(7, rrep(8, 30, 1, 1));
    let begun = bench.now;
    assert_eq!(requests(&bench.fail(data(1, 9, 1), 6))[0].0.destination, ip(9));
    bench.pass(ms(100));
    assert_eq!(requests(&bench.fail(data(1, 8, 2), 7))[0].0.destination, ip(8));
    assert_eq!([9, 8].map(|dst| bench.route(dst).state), [RouteState::InRepair; 2]);
    // The first has waited 2 x 40 ms x (4 + 2) and fails; the second continues and fails 100 ms later.
    for (dst, end, seqno) in [(9, ms(480), 21), (8, ms(580), 31)] {
        let until = begun + end;
        assert_eq!(untimed(bench.run_until(until - ms(1))), [], "before the end of the repair for {dst}");
        let out = untimed(bench.run_until(until));
        let [(rerr, to)] = &errors(&out)[..] else { panic!("{out:?}") };
        assert_eq!((lost(rerr), *to), (vec![(ip(dst), seqno)], via(4)));
        assert_eq!(dropped(&out), [(if dst == 9 { 1 } else { 2 }, DropReason::LinkBroken)]);
    }
    assert_eq!(bench.aodv.counters().repairs_failed, 2);
}

#[test]
fn section_6_12_a_repair_that_succeeds_leaves_the_end_of_another() {
    let mut bench = relay_bench(Config::standard(), 2);
    bench.receive_rreq(4, 5, rreq(1, 11, 2, 8, None));
    bench.receive_rrep(7, rrep(8, 30, 1, 1));
    bench.fail(data(1, 9, 1), 6);
    bench.fail(data(1, 8, 2), 7);
    assert_eq!(sent(&bench.receive_rrep(3, rrep(9, 21, 1, 5))), [(1, via(3))]);
    let out = untimed(bench.pass(ms(480)));
    assert_eq!(dropped(&out), [(2, DropReason::LinkBroken)]);
    assert_eq!((bench.route(9).state, bench.route(8).state), (RouteState::Valid, RouteState::Invalid));
    let counters = bench.aodv.counters();
    assert_eq!((counters.repairs_started, counters.repairs_succeeded, counters.repairs_failed), (2, 1, 1));
}

/// A repair that has succeeded is over: its deadline does not apply to the next one.
#[test]
fn section_6_12_a_second_repair_has_an_end_of_its_own() {
    let mut bench = relay_bench(Config::standard(), 2);
    let begun = bench.now;
    bench.fail(data(1, 9, 1), 6);
    bench.pass(ms(100));
    bench.receive_rrep(7, rrep(9, 21, 1, 5));
    bench.pass(ms(100));
    bench.fail(data(1, 9, 2), 7);
    assert_eq!(untimed(bench.run_until(begun + ms(679))), []);
    assert_eq!(dropped(&untimed(bench.run_until(begun + ms(680)))), [(2, DropReason::LinkBroken)]);
    let counters = bench.aodv.counters();
    assert_eq!((counters.repairs_started, counters.repairs_succeeded, counters.repairs_failed), (2, 1, 1));
}

#[test]
fn failures_are_counted_and_those_of_arp_apart() {
    let mut bench = relay_bench(no_repair(), 2);
    bench.fail(data(1, 9, 1), 6);
    let mut out = Vec::new();
    bench.aodv.handle_link_failure(bench.now, Some(data(1, 9, 2)), ip(6), DropReason::ArpUnresolved, &mut out);
    bench.aodv.handle_link_failure(bench.now, None, ip(6), DropReason::ArpUnresolved, &mut out);
    let counters = bench.aodv.counters();
    assert_eq!((counters.link_failures, counters.link_failures_unresolved), (3, 2));
}

#[test]
fn section_6_12_a_destination_beyond_max_repair_ttl_is_not_repaired() {
    for (hops, repairs) in [(10, 1), (11, 0)] {
        let mut bench = relay_bench(Config::standard(), hops);
        let out = bench.fail(data(1, 9, 1), 6);
        assert_eq!(bench.aodv.counters().repairs_started, repairs, "{hops} hops");
        assert_eq!(dropped(&out).len() as u64, 1 - repairs);
    }
}

/// ns-3 bug 1097: an invalid route marked valid.
#[test]
fn a_lost_neighbour_heard_again_is_a_neighbour_and_nothing_more() {
    let mut bench = Bench::new(no_repair());
    bench.learn(6, 6, 1, 20);
    bench.fail(data(1, 6, 1), 6);
    assert_eq!((bench.route(6).state, bench.route(6).seqno), (RouteState::Invalid, 21));
    bench.receive_rreq(6, 1, rreq(8, 1, 1, 77, None));
    let route = bench.route(6);
    assert_eq!((route.is_valid(), route.hops, route.heard_only), (true, 1, true));
    assert_eq!(replies(&bench.receive_rreq(4, 5, rreq(1, 10, 1, 6, Some(3)))), [], "it knows no number to answer with");
    // A second break does not increment further beyond the neighbour's own number, which then becomes valid again.
    bench.fail(data(1, 6, 2), 6);
    assert_eq!(bench.route(6).seqno, 21);
    bench.receive_rreq(6, 1, rreq(6, 21, 2, 77, None));
    assert_eq!((bench.route(6).heard_only, bench.route(6).seqno), (false, 21));
}

#[test]
fn a_chain_heals_round_a_broken_link() {
    // 0-1-2-3-4 with a detour 2-5-3.
    let mut network = Network::new(6, Config::standard());
    (0..4).for_each(|n| network.connect(n, n + 1));
    network.send(0, 4, 1);
    network.pass(ms(2_000));
    network.connect(2, 5);
    network.connect(5, 3);
    network.cut(2, 3);
    network.send(0, 4, 2);
    network.pass(ms(1_000));
    assert_eq!(network.delivered_numbers(), [1, 2], "{:?}", network.dropped);
    assert_eq!(network.nodes[2].counters().repairs_succeeded, 1);
}
