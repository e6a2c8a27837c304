//! Rules of ns-2.35 that differ from RFC 3561 or complement it.

use super::*;

/// The TTLs of the requests among the actions, with their times.
fn timed_requests(actions: &[(Time, Action)]) -> Vec<(Time, u8)> {
    let ttl = |(at, action): &(Time, Action)| Some((*at, requests(std::slice::from_ref(action)).first()?.1));
    actions.iter().filter_map(ttl).collect()
}

/// A node 5 that relays from node 1 (through 4) to node 9 (through 6), `hops` away with number 20.
fn relay_bench(config: Config, hops: u8) -> Bench {
    let mut bench = Bench::new(config);
    bench.receive_rreq(4, 1, rreq(1, 10, 1, 99, None));
    bench.receive_rrep(6, rrep(9, 20, hops - 1, 1));
    bench
}

fn travelled(hops: u8, number: u16) -> Ipv4Packet {
    let mut packet = data(1, 9, number);
    packet.meta.hops = hops;
    packet
}

#[test]
fn the_first_request_floods_the_network() {
    let mut bench = Bench::ns2();
    let out = bench.originate(9, 1);
    let [(request, ttl)] = requests(&out)[..] else { panic!("{out:?}") };
    assert_eq!((ttl, request.originator_seqno, request.gratuitous), (30, 4, false));
    // Without history it waits 2 x 30 x 30 ms = 1.8 s, which is noticed at the tick of 3.0 s; then twice as long.
    assert_eq!(timed_requests(&bench.run_until(at_ms(6_000))), [(at_ms(3_000), 30)]);
    assert_eq!(timed_requests(&bench.run_until(at_ms(6_999))), [(at_ms(7_000), 30)][..0]);
    assert_eq!(timed_requests(&bench.run_until(at_ms(7_000))), [(at_ms(7_000), 30)]);
    assert_eq!(bench.aodv.seqno(), 8, "even, plus two with each request");
}

#[test]
fn a_broken_four_hop_route_is_searched_with_6_8_and_four_floods_then_locked_out() {
    let mut bench = Bench::ns2();
    bench.learn(9, 6, 4, 20);
    assert_eq!(dropped(&bench.fail(data(5, 9, 1), 6)), [(1, DropReason::LinkBroken)]);
    bench.now = at_ms(1_100);
    let out = bench.originate(9, 2);
    let [(request, 6)] = requests(&out)[..] else { panic!("{out:?}") };
    assert_eq!(request.destination_seqno, Some(21), "odd: the number of a broken route");
    // The reply came after 10 ms over 4 hops: 2.5 ms per hop. Every wait but the last (30 x 2 x 2.5 ms x 4 = 600 ms)
    // ends before the next tick.
    let actions = bench.run_until(at_ms(5_000));
    let expected = [(1_500, 8), (2_000, 30), (2_500, 30), (3_000, 30), (3_500, 30)];
    assert_eq!(timed_requests(&actions), expected.map(|(at, ttl)| (at_ms(at), ttl)));
    let given_up: Vec<_> =
        actions.iter().filter(|(_, action)| matches!(action, Action::Drop { .. })).map(|&(at, _)| at).collect();
    assert_eq!(given_up, [at_ms(4_500)]);
    assert_eq!((bench.aodv.counters().searches_failed, bench.aodv.buffered()), (1, 0));
    // Locked out until 14.5 s: packets wait and no request is sent; then full floods at once.
    bench.originate(9, 3);
    assert_eq!(timed_requests(&bench.run_until(at_ms(14_499))), []);
    assert_eq!(timed_requests(&bench.run_until(at_ms(14_500))), [(at_ms(14_500), 30)]);
}

#[test]
fn seven_hops_are_always_flooded() {
    let mut bench = Bench::ns2();
    bench.learn(9, 6, 7, 20);
    bench.fail(data(5, 9, 1), 6);
    assert_eq!(requests(&bench.originate(9, 2))[0].1, 30);
}

#[test]
fn a_packet_repeats_the_request_once_its_time_is_over() {
    let mut bench = Bench::ns2();
    bench.learn(9, 6, 4, 20);
    bench.fail(data(5, 9, 1), 6);
    bench.now = at_ms(1_100);
    assert_eq!(requests(&bench.originate(9, 2)).len(), 1);
    bench.now = at_ms(1_129);
    assert_eq!(requests(&bench.originate(9, 3)).len(), 0, "6 x 2 x 2.5 ms are not over");
    bench.now = at_ms(1_130);
    assert_eq!(requests(&bench.originate(9, 4)).len(), 1);
}

#[test]
fn the_wait_is_measured_over_the_last_three_discoveries() {
    let mut search = table::Search::NONE;
    assert_eq!(search.latency_per_hop(), None);
    search.record_latency(ms(3));
    assert_eq!(search.latency_per_hop(), Some(ms(3)));
    for latency in [5, 7, 12] {
        search.record_latency(ms(latency));
    }
    assert_eq!(search.latency_per_hop(), Some(ms(8)));
}

#[test]
fn a_flush_is_spaced_and_overtaken() {
    let mut bench = Bench::ns2();
    let start = bench.now;
    for number in 1..5 {
        bench.originate(9, number);
    }
    let mut order: Vec<(Time, u16)> =
        sent(&bench.receive_rrep(6, rrep(9, 20, 1, 5))).iter().map(|&(number, _)| (start, number)).collect();
    assert_eq!(bench.aodv.buffered(), 3);
    bench.pass(ms(0));
    for step in [ms(5), ms(10)] {
        order
            .extend(bench.pass(step).into_iter().flat_map(|(at, a)| sent(&[a]).into_iter().map(move |(n, _)| (at, n))));
        let number = 100 + order.len() as u16;
        order.extend(sent(&bench.originate(9, number)).iter().map(|&(n, _)| (bench.now, n)));
    }
    order.extend(bench.pass(ms(50)).into_iter().flat_map(|(at, a)| sent(&[a]).into_iter().map(move |(n, _)| (at, n))));
    let at = |ms: u64| at_ms(1_000 + ms);
    assert_eq!(order, [(at(0), 1), (at(5), 101), (at(10), 2), (at(15), 103), (at(20), 3), (at(30), 4)]);
}

#[test]
fn a_request_of_the_destination_releases_the_buffer_at_once_and_ends_the_search() {
    let mut bench = Bench::ns2();
    bench.originate(9, 1);
    bench.originate(9, 2);
    let out = bench.receive_rreq(6, 5, rreq(9, 10, 1, 5, None));
    assert_eq!(sent(&out), [(1, via(6)), (2, via(6))]);
    assert_eq!(bench.route(9).expires, bench.now + Dur::from_secs(10), "renewed by what was sent");
    // Without an outstanding request, the reverse route lives 6 s.
    bench.receive_rreq(6, 5, rreq(8, 10, 1, 5, None));
    assert_eq!(bench.route(8).expires, bench.now + Dur::from_secs(6));
    // With one, it lives 10 s, even if no packet waits any more.
    let mut bench = Bench::new(Config { buffer_timeout: ms(1), ..Config::ns2() });
    bench.originate(9, 1);
    bench.pass(ms(5));
    assert_eq!(dropped(&bench.receive_rreq(6, 5, rreq(9, 10, 1, 5, None))), [(1, DropReason::BufferTimeout)]);
    assert_eq!(bench.route(9).expires, bench.now + Dur::from_secs(10));
}

/// Searches that end at the same tick are all handled then, even though the first removes its packets from the buffer.
#[test]
fn searches_that_fail_together_fail_at_the_same_tick() {
    let mut bench = Bench::ns2();
    for (number, dst) in [(1, 7), (2, 8), (3, 9)] {
        bench.originate(dst, number);
    }
    let happened = bench.pass(ms(60_000));
    let drops = happened.iter().filter(|(_, action)| matches!(action, Action::Drop { .. }));
    let times: Vec<Time> = drops.map(|&(at, _)| at).collect();
    assert!(times.len() == 3 && times.iter().all(|&at| at == times[0]), "{times:?}");
}

#[test]
fn the_send_buffer_holds_64_packets() {
    let mut bench = Bench::ns2();
    let out: Vec<_> = (0..66).flat_map(|number| bench.originate(9, number)).collect();
    assert_eq!(dropped(&out), [(0, DropReason::BufferFull), (1, DropReason::BufferFull)]);
    assert_eq!(bench.aodv.buffered(), 64);
}

#[test]
fn packets_made_here_have_ttl_30() {
    let mut bench = Bench::ns2();
    bench.learn(9, 6, 2, 20);
    let out = bench.originate(9, 1);
    assert!(matches!(&out[..], [Action::Send { packet, .. }] if packet.ttl == 30), "{out:?}");
}

#[test]
fn relayed_requests_wait_for_a_random_time_below_10_ms_and_own_ones_do_not() {
    let mut bench = Bench::ns2();
    let mut waits = Vec::new();
    for id in 0..40 {
        assert_eq!(bench.receive_rreq(4, 9, rreq(1, 10, id, 9, None)), []);
        assert_eq!(bench.aodv.waiting_control(), 1);
        let sent_at = bench.pass(ms(10))[0].0;
        waits.push(sent_at + ms(10) - bench.now);
    }
    assert!(waits.iter().all(|&wait| wait < ms(10)));
    let mean = waits.iter().copied().sum::<Dur>() / 40;
    // Uniform over 10 ms: the mean of 40 has a standard deviation of 0.46 ms.
    assert!(mean > ms(3) && mean < ms(7), "{mean}");
}

#[test]
fn a_route_expires_at_the_tick_after_its_time_and_drops_nothing_else() {
    let mut bench = Bench::ns2();
    bench.now = at_ms(1_200);
    bench.learn(9, 6, 2, 20);
    assert_eq!(bench.aodv.next_timeout(), Some(at_ms(7_500)), "the first tick after 7.2 s");
    bench.run_until(at_ms(7_400));
    assert_eq!(sent(&bench.transit(1, 9, 1)), [(1, via(6))], "past its time, still up");
    assert_eq!(bench.route(9).expires, at_ms(17_400));
    let out = untimed(bench.run_until(at_ms(17_500)));
    assert_eq!((bench.route(9).state, bench.route(9).seqno), (RouteState::Invalid, 21));
    assert_eq!(out, [], "no route error");
    assert_eq!(bench.aodv.next_timeout(), None, "an idle node costs nothing");
    bench.pass(Dur::from_secs(1_000));
    assert_eq!(bench.route(9).seqno, 21, "never forgotten");
}

#[test]
fn a_lifetime_that_ends_on_a_tick_lasts_to_the_next() {
    let mut bench = Bench::ns2();
    bench.learn(9, 6, 2, 20);
    assert_eq!(bench.route(9).expires, at_ms(7_000));
    bench.run_until(at_ms(7_000));
    assert!(bench.route(9).is_valid());
    bench.run_until(at_ms(7_500));
    assert!(!bench.route(9).is_valid());
}

#[test]
fn a_request_is_remembered_for_6_to_12_s() {
    for (seen, forgotten) in [(1_000, 12_000), (5_900, 12_000), (6_000, 12_000), (6_001, 18_000)] {
        let mut bench = Bench::ns2();
        bench.now = at_ms(seen);
        bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
        bench.now = at_ms(forgotten - 1);
        bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
        assert_eq!(bench.aodv.counters().rreq_duplicates, 1, "seen at {seen} ms");
        bench.now = at_ms(forgotten);
        bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
        assert_eq!(bench.aodv.counters().rreq_duplicates, 1, "seen at {seen} ms");
    }
}

#[test]
fn the_destination_answers_with_the_next_even_number() {
    for (asked, answered) in [(None, 4), (Some(1), 4), (Some(9), 10), (Some(10), 12)] {
        let mut bench = Bench::ns2();
        let (reply, _) = replies(&bench.receive_rreq(4, 5, rreq(1, 10, 1, 5, asked)))[0];
        assert_eq!((reply.destination_seqno, reply.lifetime_ms), (answered, 10_000), "asked for {asked:?}");
    }
}

#[test]
fn neighbours_get_no_routes_and_originators_no_gratuitous_replies() {
    let mut bench = relay_bench(Config::ns2(), 2);
    let destinations: Vec<_> = bench.aodv.routes().map(|route| route.dst).collect();
    assert_eq!(destinations, [ip(1), ip(9)], "originator and destination, not the neighbours 4 and 6");
    let out = bench.receive_rreq(3, 5, rreq(2, 10, 1, 9, None));
    assert_eq!(replies(&out).len(), 1);
}

#[test]
fn an_intermediate_reply_carries_whole_seconds() {
    let mut bench = relay_bench(Config::ns2(), 2);
    bench.pass(ms(1_300));
    let (reply, to) = replies(&bench.receive_rreq(3, 5, rreq(2, 10, 1, 9, None)))[0];
    assert_eq!((reply.lifetime_ms, reply.hop_count, to), (4_000, 2, via(3)));
    assert_eq!(bench.route(9).precursors(), [ip(3), ip(4)]);
    assert_eq!(bench.route(2).precursors(), [ip(6)]);
}

#[test]
fn a_failure_drops_purges_and_broadcasts_all_routes_over_the_link() {
    let mut bench = Bench::ns2();
    bench.learn(9, 6, 2, 20);
    bench.learn(8, 6, 3, 30);
    bench.learn(7, 7, 1, 40);
    let seqno = bench.aodv.seqno();
    let out = bench.fail(data(5, 9, 1), 6);
    let [Action::Drop { .. }, Action::PurgeQueue { next_hop }, Action::Send { packet, next_hop: NextHop::Broadcast }] =
        &out[..]
    else {
        panic!("{out:?}")
    };
    assert_eq!((*next_hop, packet.ttl), (ip(6), 1));
    assert_eq!(lost(&errors(&out)[0].0), [(ip(8), 31), (ip(9), 21)], "without precursors, too");
    assert_eq!(bench.aodv.seqno(), seqno + 2);
    assert!(bench.route(7).is_valid());
}

#[test]
fn a_lost_routing_message_breaks_nothing_and_a_packet_without_entry_is_dropped() {
    let mut bench = Bench::ns2();
    bench.learn(9, 6, 2, 20);
    let body = Body::Routing(AodvMessage::Rrep(rrep(1, 10, 0, 9)).into());
    let reply = Ipv4Packet { body, ..data(5, 6, 0) };
    let out = bench.fail(reply, 6);
    assert!(matches!(&out[..], [Action::Drop { .. }]), "{out:?}");
    let out = bench.fail(data(1, 77, 1), 6);
    assert_eq!((dropped(&out), out.len()), (vec![(1, DropReason::LinkBroken)], 1));
    assert!(bench.route(9).is_valid());
}

#[test]
fn forwarding_without_a_route_reports_number_0_which_receivers_ignore() {
    let mut bench = Bench::ns2();
    let out = bench.transit(1, 9, 1);
    assert_eq!(dropped(&out), [(1, DropReason::NoRoute)]);
    let [(rerr, NextHop::Broadcast)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!(lost(rerr), [(ip(9), 0)]);
    let mut upstream = Bench::ns2();
    upstream.learn(9, 4, 2, 20);
    upstream.receive_rerr(4, &[(9, 0)]);
    assert!(upstream.route(9).is_valid());
}

#[test]
fn a_route_error_purges_and_reaches_only_precursors() {
    let mut bench = relay_bench(Config::ns2(), 2);
    bench.learn(8, 6, 3, 30);
    assert!(bench.receive_rerr(6, &[(9, 19)]).is_empty(), "an older number");
    let out = bench.receive_rerr(6, &[(9, 21), (8, 31)]);
    assert_eq!(purged(&out), [ip(6), ip(6)]);
    assert!(!bench.route(9).is_valid() && !bench.route(8).is_valid());
    let relayed = bench.pass(ms(10));
    let actions = untimed(relayed);
    let [(rerr, NextHop::Broadcast)] = &errors(&actions)[..] else { panic!("{actions:?}") };
    assert_eq!(lost(rerr), [(ip(9), 21)], "after a jitter; node 8 has no precursors");
    assert!(bench.route(9).precursors().is_empty());
}

/// On the reverse path (of the TCP ACKs) no reply was relayed, so there are no precursors: the error stops after one
/// hop, and the next node learns from the next packet.
#[test]
fn a_route_error_on_the_reverse_route_stops_after_one_hop() {
    let mut network = Network::chain(8, Config::ns2());
    network.send(0, 7, 1);
    network.pass(ms(200));
    network.send(7, 0, 2);
    network.pass(ms(200));
    assert_eq!(network.delivered_numbers(), [1, 2]);
    let valid = |network: &Network, n: usize| network.nodes[n].route(ip(0)).is_some_and(Route::is_valid);
    network.fail_next = Some((5, 4));
    network.send(7, 0, 3);
    network.pass(ms(100));
    assert_eq!(network.error_senders(), [5]);
    assert_eq!((valid(&network, 5), valid(&network, 6), valid(&network, 7)), (false, false, true));
    network.send(7, 0, 4);
    network.pass(ms(100));
    assert_eq!(network.error_senders(), [5, 6]);
    assert!(!valid(&network, 7));
    assert_eq!(
        network.dropped.last().map(|(_, packet, reason)| (number(packet), *reason)),
        Some((4, DropReason::NoRoute))
    );
}

#[test]
fn a_route_error_on_the_forward_route_goes_back_to_the_source() {
    let mut network = Network::chain(8, Config::ns2());
    network.send(0, 7, 1);
    network.pass(ms(200));
    network.fail_next = Some((2, 3));
    network.send(0, 7, 2);
    network.pass(ms(100));
    // The source has no precursors, so the errors end at the last hop before it.
    assert_eq!(network.error_senders(), [2, 1]);
    assert!(!network.nodes[0].route(ip(7)).expect("known").is_valid());
    assert_eq!(network.requests_of(0).len(), 1, "nothing is asked before the next packet");
}

#[test]
fn repair_starts_where_more_hops_lie_behind_than_ahead() {
    for (travelled_hops, repairs) in [(1, 0), (2, 0), (3, 1), (4, 1)] {
        let mut bench = relay_bench(Config::ns2(), 2);
        bench.learn(8, 6, 3, 30);
        let out = bench.fail(travelled(travelled_hops, 1), 6);
        assert_eq!(bench.aodv.counters().repairs_started, repairs, "{travelled_hops} hops travelled");
        if repairs == 1 {
            assert_eq!((dropped(&out), purged(&out), errors(&out)), (vec![], vec![], vec![]));
            let route = bench.route(9);
            assert_eq!((route.state, route.hops, route.seqno), (RouteState::InRepair, 2, 20));
            assert!(bench.route(8).is_valid(), "the other routes over the link stay up");
            assert_eq!(requests(&out)[0].0.destination_seqno, Some(20), "the number it has already");
            assert_eq!(requests(&out)[0].1, 30);
            assert_eq!(bench.transit(1, 9, 2), [], "swallowed");
        }
    }
}

#[test]
fn a_repair_refuses_the_neighbours_answers_and_takes_the_destinations() {
    let mut bench = relay_bench(Config::ns2(), 2);
    bench.fail(travelled(3, 1), 6);
    bench.receive_rrep(6, rrep(9, 20, 1, 5));
    bench.receive_rrep(4, rrep(9, 20, 3, 5));
    assert_eq!(bench.aodv.counters().rrep_suppressed, 2);
    assert_eq!(bench.route(9).state, RouteState::InRepair);
    assert_eq!(sent(&bench.receive_rrep(6, rrep(9, 22, 1, 5))), [(1, via(6))]);
    assert_eq!(bench.aodv.counters().repairs_succeeded, 1);
}

#[test]
fn a_route_under_repair_answers_requests_for_ever() {
    let mut bench = relay_bench(Config::ns2(), 2);
    bench.fail(travelled(3, 1), 6);
    let (reply, _) = replies(&bench.receive_rreq(3, 5, rreq(2, 10, 1, 9, Some(20))))[0];
    assert_eq!((reply.hop_count, reply.lifetime_ms), (2, u32::MAX));
    let honest = Config { reply_from_repair: false, ..Config::ns2() };
    let mut bench = relay_bench(honest, 2);
    bench.fail(travelled(3, 1), 6);
    assert_eq!(replies(&bench.receive_rreq(3, 5, rreq(2, 10, 1, 9, Some(20)))), []);
}

/// The lifetime in such a reply is corrected by the first packet that uses the route.
#[test]
fn an_eternal_route_is_cut_to_the_active_timeout_by_its_first_packet() {
    let mut bench = Bench::ns2();
    bench.receive_rrep(6, Rrep { lifetime_ms: u32::MAX, ..rrep(9, 20, 1, 5) });
    bench.pass(Dur::from_secs(60));
    assert_eq!(sent(&bench.originate(9, 1)), [(1, via(6))]);
    bench.pass(ms(10_500));
    assert!(!bench.route(9).is_valid());
}

#[test]
fn the_repair_timer_fires_at_twice_the_time() {
    let mut bench = relay_bench(Config::ns2(), 2);
    bench.now = at_ms(4_000);
    bench.fail(travelled(3, 1), 6);
    // The request waits 2 x 30 x 30 ms, until 5.8 s; the timer mistakes that instant for a delay.
    bench.run_until(at_ms(9_799));
    assert_eq!(bench.route(9).state, RouteState::InRepair);
    let out = untimed(bench.run_until(at_ms(9_800)));
    assert_eq!((bench.route(9).state, errors(&out)), (RouteState::Invalid, vec![]), "nobody is notified");
    assert_eq!(bench.aodv.buffered(), 1, "packets still wait");
    let in_time = Config { repair_deadline: RepairDeadline::DiscoveryPeriod, ..Config::ns2() };
    let mut bench = relay_bench(in_time, 2);
    bench.now = at_ms(4_000);
    bench.fail(travelled(3, 1), 6);
    bench.run_until(at_ms(5_800));
    assert_eq!(bench.route(9).state, RouteState::Invalid);
}

#[test]
fn a_route_under_repair_is_lost_to_a_further_failure_and_still_carries_replies() {
    let mut bench = relay_bench(Config::ns2(), 2);
    bench.fail(travelled(3, 1), 6);
    let reply = rrep(1, 30, 0, 9);
    assert_eq!(replies(&bench.receive_rrep(4, reply))[0].1, via(6), "a reply goes over the broken hop");
    let out = bench.fail(data(5, 9, 2), 6);
    assert_eq!(lost(&errors(&out)[0].0), [(ip(9), 21)]);
    assert_eq!(bench.route(9).state, RouteState::Invalid);
}

/// Returns the longest gap between deliveries of a flow of 5 packets per second over 7 hops, after one failure at the
/// penultimate relay.
fn outage(config: Config) -> Dur {
    let mut network = Network::chain(8, config);
    // Late enough that the repair timer, which fires at twice the time, does not cut the outage short.
    network.now = Time::from_secs(200);
    for number in 0..200 {
        if number == 20 {
            network.fail_next = Some((5, 6));
        }
        network.send(0, 7, number);
        network.pass(ms(200));
    }
    network.assert_conserved();
    assert_eq!(network.fail_next, None);
    let times: Vec<Time> = network.delivered.iter().map(|&(at, _)| at).collect();
    times.windows(2).map(|pair| pair[1].saturating_since(pair[0])).max().expect("deliveries")
}

#[test]
fn local_repair_is_a_dead_end_of_11_to_17_s() {
    let dead_end = outage(Config::ns2());
    assert!(dead_end > Dur::from_secs(11) && dead_end < Dur::from_secs(17), "{dead_end}");
    for config in [
        Config { repair: RepairRule::Off, ..Config::ns2() },
        Config { repair_seqno_incremented: true, ..Config::ns2() },
        Config::standard(),
    ] {
        assert!(outage(config) < ms(2_000), "{} with {config:?}", outage(config));
    }
}

/// A route whose repair failed goes down with its old number (the line of aodv.cc that would increment it is commented
/// out) and without a message, so a neighbour that sends through this node answers its next request.
#[test]
fn a_failed_repair_may_lead_back() {
    let raised = Config { repair_seqno_incremented: true, ..Config::ns2() };
    for (config, loops) in [(Config::ns2(), true), (raised, false)] {
        let mut network = Network::chain(4, config);
        network.send(0, 3, 1);
        network.pass(ms(100));
        network.cut(2, 3);
        network.send(0, 3, 2);
        network.pass(Dur::from_secs(7));
        assert_eq!(network.nodes[2].counters().repairs_failed, 1);
        let next_hop = |n: u32| network.nodes[n as usize].route(ip(3)).filter(|r| r.is_valid()).map(|r| r.next_hop);
        assert_eq!((next_hop(1), next_hop(2)), (Some(ip(2)), loops.then(|| ip(1))));
    }
}

/// ns-2 reads values from its own headers; AODV on a device has their counterparts in its table.
#[test]
fn on_a_device_hops_and_times_come_from_the_table() {
    for (hops_back, repairs) in [(2, 0), (3, 1)] {
        let mut bench = Bench::ns2();
        bench.aodv.notes = false;
        bench.learn(1, 4, hops_back, 10);
        bench.learn(9, 6, 2, 20);
        bench.fail(travelled(200, 1), 6);
        assert_eq!(bench.aodv.counters().repairs_started, repairs, "{hops_back} hops back");
    }
    let mut bench = Bench::ns2();
    bench.aodv.notes = false;
    bench.originate(9, 1);
    bench.pass(ms(120));
    bench.receive_rrep(6, rrep(9, 20, 1, 5));
    assert_eq!(bench.route(9).search().latency_per_hop(), Some(ms(60)), "two hops in 120 ms");
}
