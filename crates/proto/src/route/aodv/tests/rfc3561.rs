//! RFC 3561 sections 6.1 to 6.9, clause by clause. Node 5 is on the bench; nodes below 5 are towards sources, those
//! above 5 towards destinations.

use super::*;

#[test]
fn section_6_1_numbers_compare_round_the_circle() {
    assert!(is_newer(1, 0) && !is_newer(0, 1) && !is_newer(7, 7));
    assert!(is_newer(2, u32::MAX - 3) && !is_newer(u32::MAX - 3, 2));
    assert!(is_newer(0x8000_0000, 1) && !is_newer(0x7fff_ffff, u32::MAX - 1));
}

#[test]
fn section_6_1_a_wrapped_number_replaces_one_before_the_wrap() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, u32::MAX);
    bench.receive_rrep(7, rrep(9, 0, 4, 5));
    assert_eq!((bench.route(9).seqno, bench.route(9).next_hop), (0, ip(7)));
    bench.receive_rrep(8, rrep(9, u32::MAX, 0, 5));
    assert_eq!(bench.route(9).next_hop, ip(7), "a shorter route with the number before the wrap is older");
}

#[test]
fn section_6_1_each_request_has_a_number_of_its_own_and_the_next_id() {
    let mut bench = Bench::standard();
    let first = requests(&bench.originate(9, 1))[0].0;
    let second = requests(&untimed(bench.pass(ms(240))))[0].0;
    assert_eq!((first.originator_seqno, second.originator_seqno), (1, 2));
    assert_eq!((first.rreq_id, second.rreq_id), (1, 2));
    assert_eq!((first.hop_count, first.originator, first.destination), (0, ip(5), ip(9)));
}

#[test]
fn section_6_1_the_destination_takes_the_larger_of_both_numbers() {
    let mut bench = Bench::standard();
    let reply = replies(&bench.receive_rreq(4, 5, rreq(1, 10, 1, 5, Some(40))))[0].0;
    assert_eq!((reply.destination_seqno, reply.hop_count, reply.lifetime_ms), (40, 0, 6_000));
    let reply = replies(&bench.receive_rreq(4, 5, rreq(1, 11, 2, 5, Some(12))))[0].0;
    assert_eq!(reply.destination_seqno, 40, "an older number asked for changes nothing");
    let reply = replies(&bench.receive_rreq(4, 5, rreq(1, 12, 3, 5, Some(41))))[0].0;
    assert_eq!(reply.destination_seqno, 41, "section 6.6.1: the increment that was asked for");
    assert_eq!(bench.aodv.seqno(), 41);
}

/// Sections 6.2 and 6.7: which routes are better.
#[test]
fn section_6_2_only_newer_or_equal_and_shorter_information_replaces_a_route() {
    let cases = [
        // (number, hops in the message, accepted?)
        (20, 3, true),  // newer, longer
        (10, 0, true),  // equal, shorter
        (10, 1, false), // equal, same length
        (10, 2, false), // equal, longer
        (9, 0, false),  // older, shorter
    ];
    for (seqno, hop_count, taken) in cases {
        let mut bench = Bench::standard();
        bench.learn(9, 6, 2, 10);
        bench.receive_rrep(7, rrep(9, seqno, hop_count, 5));
        let expected = if taken { (ip(7), seqno, hop_count + 1) } else { (ip(6), 10, 2) };
        let route = bench.route(9);
        assert_eq!((route.next_hop, route.seqno, route.hops), expected, "number {seqno}, {hop_count} hops advertised");
        assert_eq!(bench.aodv.counters().rrep_suppressed, u64::from(!taken));
    }
}

#[test]
fn section_6_2_a_forwarded_packet_renews_the_routes_to_both_ends_and_both_neighbours() {
    let mut bench = Bench::standard();
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 99, None));
    bench.learn(9, 6, 3, 10);
    bench.pass(ms(2_900));
    assert_eq!(sent(&bench.transit(1, 9, 1)), [(1, via(6))]);
    let until = bench.now + ms(3_000);
    for dst in [9, 6, 1, 4] {
        assert!(bench.route(dst).expires >= until, "route to {dst} not renewed");
    }
}

#[test]
fn section_6_2_a_route_expires_to_the_instant_and_is_forgotten_after_delete_period() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, 10);
    let end = bench.now + ms(6_000);
    bench.run_until(end - Dur::from_nanos(1));
    assert!(bench.route(9).is_valid());
    bench.run_until(end);
    let route = bench.route(9);
    assert_eq!((route.state, route.seqno, route.last_hops), (RouteState::Invalid, 11, Some(2)));
    let forgotten = end + Config::standard().delete_period();
    assert_eq!(Config::standard().delete_period(), Dur::from_secs(15));
    bench.run_until(forgotten - Dur::from_nanos(1));
    assert!(bench.aodv.route(ip(9)).is_some());
    bench.run_until(forgotten);
    assert!(bench.aodv.route(ip(9)).is_none());
    assert_eq!(bench.aodv.next_timeout(), None, "an empty table has nothing to do");
}

#[test]
fn section_6_3_an_unknown_number_sets_u_and_a_known_one_is_asked_for() {
    let mut bench = Bench::standard();
    assert_eq!(requests(&bench.originate(9, 1))[0].0.destination_seqno, None);
    bench.learn(9, 6, 2, 10);
    let out = bench.fail(data(5, 9, 1), 6);
    assert_eq!(requests(&out)[0].0.destination_seqno, Some(11), "the broken route's number, incremented");
}

/// ns-3 bug 966: a request per packet.
#[test]
fn section_6_3_packets_that_wait_send_no_further_request() {
    let mut bench = Bench::standard();
    assert_eq!(requests(&bench.originate(9, 1)).len(), 1);
    for number in 2..20 {
        assert_eq!(bench.originate(9, number), []);
    }
    assert_eq!(bench.aodv.buffered(), 19);
    let out = bench.receive_rrep(6, rrep(9, 3, 1, 5));
    let expected: Vec<_> = (1..20).map(|number| (number, via(6))).collect();
    assert_eq!(sent(&out), expected, "first in, first out");
    assert_eq!(bench.aodv.buffered(), 0);
}

/// Sections 6.3 and 6.4: rings 1, 3, 5, 7 wait RING_TRAVERSAL_TIME, then RREQ_RETRIES + 1 floods wait
/// NET_TRAVERSAL_TIME, doubled each time (ns-3 bug 2911: without limit).
#[test]
fn sections_6_3_and_6_4_expanding_ring_then_floods_with_binary_backoff() {
    let mut bench = Bench::standard();
    let start = bench.now;
    let mut found = vec![(Dur::ZERO, requests(&bench.originate(9, 1))[0].1)];
    let mut end = None;
    for (at, action) in bench.pass(ms(60_000)) {
        found.extend(requests(std::slice::from_ref(&action)).iter().map(|&(_, ttl)| (at - start, ttl)));
        if dropped(std::slice::from_ref(&action)) == [(1, DropReason::DiscoveryFailed)] {
            end = Some(at - start);
        }
    }
    let waits = [240, 400, 560, 720, 2_800, 5_600, 11_200];
    let ttls = [1, 3, 5, 7, 35, 35, 35];
    let mut at = Dur::ZERO;
    let mut expected = Vec::new();
    for (wait, ttl) in waits.into_iter().zip(ttls) {
        expected.push((at, ttl));
        at += ms(wait);
    }
    assert_eq!(found, expected);
    assert_eq!(end, Some(at));
    assert_eq!(bench.aodv.counters().rreq_repeated, 6);
    assert_eq!(requests(&bench.originate(9, 2))[0].1, 1, "the next packet starts a search of its own");
}

#[test]
fn section_6_3_at_most_ten_requests_a_second() {
    let mut bench = Bench::standard();
    let start = bench.now;
    let mut at_once = 0;
    for dst in 100..115 {
        at_once += requests(&bench.originate(dst, 1)).len();
    }
    assert_eq!(at_once, 10);
    let mut times = vec![start; 10];
    times.extend(
        bench.pass(ms(5_000)).iter().filter(|(_, a)| !requests(std::slice::from_ref(a)).is_empty()).map(|&(at, _)| at),
    );
    for window in times.windows(11) {
        assert!(window[10] - window[0] >= Dur::from_secs(1), "eleven requests within {:?}", window[10] - window[0]);
    }
    let searched: Vec<u32> = (100..115).filter(|&dst| bench.aodv.route(ip(dst)).is_some()).collect();
    assert_eq!(searched.len(), 15, "those over the limit are searched for later");
}

#[test]
fn section_6_4_a_search_for_a_lost_route_starts_beyond_its_hop_count() {
    for (hops, first, second) in [(2, 4, 6), (5, 7, 35), (6, 8, 35), (12, 14, 35)] {
        let mut bench = Bench::standard();
        bench.learn(9, 6, hops, 10);
        let out = bench.fail(data(5, 9, 1), 6);
        assert_eq!(requests(&out)[0].1, first, "{hops} hops");
        let wait = Config::standard().ring_traversal_time(first);
        let again = untimed(bench.pass(wait));
        assert_eq!(requests(&again)[0].1, second, "{hops} hops");
    }
}

/// INET issue 293: requests were identified by the ID alone.
#[test]
fn section_6_5_a_node_is_no_neighbour_of_itself() {
    for config in [Config::standard(), Config::ns2()] {
        // Its own messages come back, because the sockets of some systems deliver broadcasts to their sender.
        let mut bench = Bench::new(config);
        assert_eq!(bench.receive_rreq(5, 3, rreq(1, 7, 1, 77, None)), []);
        assert_eq!(bench.receive_rrep(5, rrep(9, 7, 1, 5)), []);
        assert_eq!(bench.aodv.routes().count(), 0, "{config:?}");
    }
}

#[test]
fn section_6_5_a_request_is_named_by_id_and_originator_together() {
    let mut bench = Bench::standard();
    bench.receive_rreq(4, 5, rreq(1, 10, 7, 9, None));
    bench.receive_rreq(4, 5, rreq(2, 10, 7, 9, None));
    assert_eq!(bench.aodv.counters().rreq_relayed, 2, "same ID, different originators");
    bench.receive_rreq(3, 5, rreq(1, 10, 7, 9, None));
    assert_eq!(bench.aodv.counters().rreq_duplicates, 1);
    bench.receive_rreq(3, 5, rreq(5, 10, 7, 9, None));
    assert_eq!(bench.aodv.counters().rreq_duplicates, 2, "its own request is one it knows");
    let remembered_for = Config::standard().path_discovery_time();
    assert_eq!(remembered_for, ms(5_600));
    bench.pass(remembered_for - Dur::from_nanos(1));
    bench.receive_rreq(4, 5, rreq(1, 10, 7, 9, None));
    assert_eq!(bench.aodv.counters().rreq_duplicates, 3);
    bench.pass(Dur::from_nanos(1));
    bench.receive_rreq(4, 5, rreq(1, 10, 7, 9, None));
    assert_eq!(bench.aodv.counters().rreq_duplicates, 3, "forgotten after PATH_DISCOVERY_TIME");
}

#[test]
fn section_6_5_a_request_makes_the_routes_back() {
    let mut bench = Bench::standard();
    let mut request = rreq(1, 10, 1, 9, None);
    request.hop_count = 2;
    bench.receive_rreq(4, 5, request);
    let now = bench.now;
    let back = bench.route(1);
    assert_eq!((back.next_hop, back.hops, back.known_seqno()), (ip(4), 3, Some(10)));
    // 2 x 2800 ms - 2 x 3 hops x 40 ms.
    assert_eq!(back.expires, now + ms(5_360));
    let neighbour = bench.route(4);
    assert_eq!((neighbour.next_hop, neighbour.hops, neighbour.known_seqno()), (ip(4), 1, None));
    assert_eq!(neighbour.expires, now + ms(3_000));
}

#[test]
fn section_6_5_a_relayed_request_is_one_hop_older_and_asks_for_the_newest_number() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, 10);
    bench.fail(data(1, 9, 1), 6);
    assert_eq!(bench.route(9).seqno, 11);
    bench.pass(ms(2_000));
    for (asked, id, passed_on) in [(None, 1, 11), (Some(3), 2, 11), (Some(30), 3, 30)] {
        let mut request = rreq(1, 10 + id, id, 9, asked);
        request.hop_count = 4;
        assert_eq!(bench.receive_rreq(4, 9, request), [], "a relayed broadcast waits for its jitter");
        let (relayed, ttl) = requests(&untimed(bench.pass(ms(10))))[0];
        assert_eq!((relayed.hop_count, ttl, relayed.destination_seqno), (5, 8, Some(passed_on)));
        assert_eq!((relayed.originator, relayed.originator_seqno, relayed.rreq_id), (ip(1), 10 + id, id));
    }
    assert_eq!(bench.route(9).seqno, 11, "a number that somebody asked for is not taken over");
}

/// ns-3 bug 2123: TTL not honoured.
#[test]
fn section_6_5_ttl_bounds_the_flood() {
    let mut bench = Bench::standard();
    bench.receive_rreq(4, 1, rreq(1, 10, 1, 9, None));
    assert_eq!(requests(&untimed(bench.pass(ms(20)))), []);
    let mut network = Network::chain(6, Config::standard());
    network.send(0, 5, 1);
    network.pass(ms(239));
    assert_eq!(network.nodes[1].counters().rreq_received, 1);
    assert_eq!(network.nodes[2].counters().rreq_received, 0, "TTL 1 reaches the neighbours");
    network.pass(ms(400));
    assert_eq!(network.nodes[3].counters().rreq_received, 1);
    assert_eq!(network.nodes[4].counters().rreq_received, 0, "TTL 3 reaches three hops");
}

/// INET issue 307: D flag unchecked.
#[test]
fn section_6_6_only_the_destination_answers_a_request_with_d() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, 10);
    let mut request = rreq(1, 10, 1, 9, None);
    request.destination_only = true;
    assert_eq!(replies(&bench.receive_rreq(4, 5, request)), []);
    let (relayed, _) = requests(&untimed(bench.pass(ms(10))))[0];
    assert!(relayed.destination_only, "the flag travels on");
    assert_eq!(relayed.destination_seqno, Some(10));
    let asked = Config { destination_only: true, ..Config::standard() };
    assert!(requests(&Bench::new(asked).originate(9, 1))[0].0.destination_only);
}

#[test]
fn section_6_6_a_relay_answers_with_an_active_route_that_is_new_enough() {
    for (asked, answers) in [(None, true), (Some(9), true), (Some(10), true), (Some(11), false)] {
        let mut bench = Bench::standard();
        bench.learn(9, 6, 2, 10);
        bench.pass(ms(1_500));
        let out = bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, asked));
        if !answers {
            assert_eq!(replies(&out), [], "asked for {asked:?}");
            continue;
        }
        let (reply, to) = replies(&out)[0];
        assert_eq!(to, via(4));
        assert_eq!((reply.hop_count, reply.destination_seqno, reply.lifetime_ms), (2, 10, 4_500));
        assert_eq!((reply.destination, reply.originator), (ip(9), ip(1)));
        assert_eq!(requests(&untimed(bench.pass(ms(20)))), [], "the request ends here");
        // Section 6.6.2: both ends of the route learn who uses it.
        assert_eq!(bench.route(9).precursors(), [ip(4)]);
        assert_eq!(bench.route(1).precursors(), [ip(6)]);
    }
}

#[test]
fn section_6_6_a_relay_does_not_answer_with_a_lost_route_or_an_unknown_number() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, 10);
    bench.fail(data(1, 9, 1), 6);
    bench.pass(ms(2_000));
    assert_eq!(replies(&bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, Some(5)))), []);
    // Node 3 is known only as a neighbour, without a number.
    bench.receive_rreq(3, 1, rreq(2, 10, 2, 77, None));
    assert!(bench.route(3).is_valid());
    assert_eq!(replies(&bench.receive_rreq(4, 5, rreq(1, 11, 3, 3, None))), []);
}

#[test]
fn section_6_6_3_a_gratuitous_reply_tells_the_destination_about_the_originator() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, 10);
    let mut request = rreq(1, 21, 1, 9, None);
    request.gratuitous = true;
    request.hop_count = 1;
    let out = bench.receive_rreq(4, 5, request);
    let [(_, to_originator), (gratuitous, to_destination)] = replies(&out)[..] else { panic!("{out:?}") };
    assert_eq!((to_originator, to_destination), (via(4), via(6)));
    assert_eq!((gratuitous.destination, gratuitous.originator), (ip(1), ip(9)));
    assert_eq!((gratuitous.destination_seqno, gratuitous.hop_count), (21, 2));
    assert_eq!(bench.aodv.counters().rrep_gratuitous, 1);
    assert!(requests(&Bench::standard().originate(9, 1))[0].0.gratuitous);
}

#[test]
fn section_6_7_a_reply_travels_back_and_leaves_routes_and_precursors() {
    let mut bench = Bench::standard();
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
    bench.pass(ms(3_000));
    let out = bench.receive_rrep(6, rrep(9, 20, 1, 1));
    let (forwarded, to) = replies(&out)[0];
    assert_eq!((forwarded.hop_count, to), (2, via(4)));
    let Action::Send { packet, .. } = &out[0] else { panic!("{out:?}") };
    assert_eq!((packet.src, packet.dst, packet.ttl), (ip(5), ip(4), 29));
    let route = bench.route(9);
    assert_eq!((route.next_hop, route.hops, route.seqno), (ip(6), 2, 20));
    assert_eq!(route.expires, bench.now + ms(6_000));
    assert_eq!(route.precursors(), [ip(4)]);
    assert_eq!(bench.route(6).precursors(), [ip(4)], "the next hop towards the destination has the same users");
    assert_eq!(bench.route(1).expires, bench.now + ms(3_000), "the route used for the reply lives on");
    let again = bench.receive_rrep(7, rrep(9, 20, 1, 1));
    assert_eq!(replies(&again), [], "a reply that brings nothing better goes no further");
}

/// Replies with an expired TTL are not relayed; the originator counts the replies it accepts.
#[test]
fn section_6_7_a_reply_goes_as_far_as_its_time_to_live() {
    for (ttl, left) in [(1, None), (2, Some(1))] {
        let mut bench = Bench::standard();
        bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
        let out = bench.receive_with(6, AodvMessage::Rrep(rrep(9, 20, 1, 1)), ttl, ip(5));
        assert_eq!(messages(&out).map(|(_, packet, _)| packet.ttl).next(), left);
        assert_eq!((bench.aodv.counters().rrep_lost, bench.aodv.counters().rrep_accepted), (2 - u64::from(ttl), 0));
        bench.originate(8, 1);
        bench.receive_rrep(6, rrep(8, 30, 1, 5));
        assert_eq!(bench.aodv.counters().rrep_accepted, 1);
    }
}

#[test]
fn section_6_5_each_request_is_remembered_once() {
    let mut bench = Bench::standard();
    assert_eq!(bench.aodv.remembered_requests(), 0);
    for id in 1..=3 {
        bench.receive_rreq(4, 1, rreq(1, 10, id, 9, None));
    }
    bench.receive_rreq(6, 1, rreq(1, 10, 3, 9, None));
    assert_eq!(bench.aodv.remembered_requests(), 3, "a copy is none of its own");
}

#[test]
fn section_6_7_a_reply_without_a_way_back_ends() {
    let mut bench = Bench::standard();
    assert_eq!(bench.receive_rrep(6, rrep(9, 20, 1, 1)), []);
    assert_eq!(bench.aodv.counters().rrep_lost, 1);
    assert!(bench.route(9).is_valid(), "the route it advertised is still valid");
}

#[test]
fn section_6_9_a_node_on_an_active_route_says_hello_unless_it_broadcast_already() {
    let config = Config { hello: Some(HelloConfig::standard()), ..Config::standard() };
    let mut bench = Bench::new(config);
    assert_eq!(untimed(bench.pass(ms(3_000))), [], "no active route, no HELLO");
    bench.learn(9, 6, 2, 10);
    let hello = untimed(bench.pass(ms(1_000)));
    let [(hello, NextHop::Broadcast)] = replies(&hello)[..] else { panic!("{hello:?}") };
    assert_eq!((hello.destination, hello.hop_count, hello.lifetime_ms), (ip(5), 0, 2_000));
    bench.pass(ms(500));
    bench.originate(50, 1);
    assert_eq!(replies(&untimed(bench.pass(ms(500)))), [], "the request counted as a HELLO");
}

/// ns-3 bug 1629: HELLO on by default.
#[test]
fn section_6_9_hello_is_off_unless_asked_for() {
    assert_eq!((Config::standard().hello, Config::ns2().hello), (None, None));
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, 10);
    assert_eq!(replies(&untimed(bench.pass(ms(5_000)))), []);
}

#[test]
fn section_6_9_a_neighbour_that_falls_silent_is_a_broken_link() {
    let config = Config { hello: Some(HelloConfig::standard()), ..Config::standard() };
    let mut bench = Bench::new(config);
    let hello = |seqno| AodvMessage::Rrep(rrep(6, seqno, 0, 6));
    bench.receive_with(6, hello(4), 1, Ipv4Packet::BROADCAST);
    assert_eq!((bench.route(6).hops, bench.route(6).known_seqno()), (1, Some(4)));
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
    bench.receive_rrep(6, rrep(9, 20, 1, 1));
    bench.pass(ms(1_900));
    // A data packet from the neighbour proves that it is alive.
    let mut out = Vec::new();
    bench.aodv.handle_transit(bench.now, data(9, 1, 1), Some(ip(6)), &mut out);
    bench.pass(ms(1_999));
    assert_eq!(bench.aodv.counters().neighbours_lost, 0);
    let out = untimed(bench.pass(ms(1)));
    assert_eq!(bench.aodv.counters().neighbours_lost, 1);
    assert!(!bench.route(9).is_valid() && !bench.route(6).is_valid());
    let [(rerr, to)] = &errors(&out)[..] else { panic!("{out:?}") };
    assert_eq!((lost(rerr), *to), (vec![(ip(6), 5), (ip(9), 21)], via(4)));
}

#[test]
fn the_send_buffer_keeps_order_drops_the_oldest_and_what_waited_too_long() {
    let mut bench = Bench::new(Config { buffer_capacity: 3, ..Config::standard() });
    let mut out = Vec::new();
    for (dst, number) in [(9, 1), (8, 2), (9, 3), (9, 4)] {
        out.extend(bench.originate(dst, number));
    }
    assert_eq!(dropped(&out), [(1, DropReason::BufferFull)]);
    assert_eq!(sent(&bench.receive_rrep(6, rrep(9, 1, 1, 5))), [(3, via(6)), (4, via(6))]);
    assert_eq!(sent(&bench.receive_rrep(6, rrep(8, 1, 1, 5))), [(2, via(6))]);

    let mut bench = Bench::new(Config { buffer_timeout: ms(100), ..Config::standard() });
    bench.originate(9, 1);
    bench.pass(ms(101));
    assert_eq!(dropped(&bench.originate(9, 2)), [(1, DropReason::BufferTimeout)]);
}

#[test]
fn forwarding_counts_ttl_down_and_drops_what_comes_back_to_its_source() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, 10);
    let mut packet = data(1, 9, 1);
    packet.ttl = 2;
    let out = bench.relay(packet);
    let [Action::Send { packet, .. }] = &out[..] else { panic!("{out:?}") };
    assert_eq!(packet.ttl, 1);
    let packet = packet.clone();
    assert_eq!(dropped(&bench.relay(packet)), [(1, DropReason::TtlExpired)]);
    assert_eq!(dropped(&bench.transit(5, 9, 2)), [(2, DropReason::RouteLoop)]);
}

#[test]
fn derived_times_follow_their_parameters() {
    let config = Config { net_diameter: 10, node_traversal_time: ms(100), ..Config::standard() };
    assert_eq!(config.net_traversal_time(), ms(2_000));
    assert_eq!(config.path_discovery_time(), ms(4_000));
    assert_eq!(config.ring_traversal_time(3), ms(1_000));
    assert_eq!(config.max_repair_ttl(), 3);
    let config = Config { active_route_timeout: ms(7_000), ..config };
    assert_eq!((config.my_route_timeout(), config.delete_period()), (ms(14_000), ms(35_000)));
}

#[test]
fn a_chain_carries_packets_both_ways() {
    let mut network = Network::chain(8, Config::standard());
    network.send(0, 7, 1);
    network.pass(ms(4_000));
    network.send(7, 0, 2);
    network.pass(ms(100));
    assert_eq!(network.delivered_numbers(), [1, 2]);
    assert_eq!(network.requests_of(7), [], "the way back is known");
    let route = network.nodes[0].route(ip(7)).expect("just used");
    assert_eq!((route.hops, route.next_hop), (7, ip(1)));
}

#[test]
fn an_early_timeout_does_nothing() {
    let mut bench = Bench::standard();
    bench.originate(9, 1);
    let due = bench.aodv.next_timeout().expect("a request waits");
    let mut out = Vec::new();
    bench.aodv.handle_timeout(due - Dur::from_nanos(1), &mut out);
    assert_eq!(out, []);
    assert_eq!(bench.aodv.next_timeout(), Some(due));
}

/// All values allowed in a scenario, at their limits.
#[test]
fn rings_and_floods_stop_at_their_largest_values() {
    for search_timeout in [SearchTimeout::Traversal, SearchTimeout::Measured { max: Dur::from_secs(10) }] {
        let config = Config {
            net_diameter: 255,
            ttl_start: 200,
            ttl_increment: 100,
            ttl_threshold: 255,
            rreq_retries: 255,
            rreq_rate_limit: None,
            buffer_timeout: Dur::from_secs(1_000_000_000),
            search_timeout,
            ..Config::standard()
        };
        let mut bench = Bench::new(config);
        let first = requests(&bench.originate(9, 1));
        let rest = requests(&untimed(bench.run_until(Time::from_secs(1_000_000_000))));
        let ttls: Vec<u8> = first.iter().chain(&rest).map(|(_, ttl)| *ttl).collect();
        assert_eq!((ttls[0], ttls.len()), (200, 1 + 256), "one ring, one flood and RREQ_RETRIES more");
        assert!(ttls[1..].iter().all(|&ttl| ttl == 255));
        assert_eq!((bench.aodv.counters().searches_failed, bench.aodv.buffered()), (1, 0));
    }
}

/// Packets forwarded by a kernel count as forwarded here.
#[test]
fn traffic_of_others_keeps_the_same_routes_alive() {
    // Before and after the routes to the neighbours have expired.
    for (config, age) in [(Config::standard(), 2_900), (Config::standard(), 4_000), (Config::ns2(), 4_000)] {
        let [mut reported, mut forwarding] = [0, 1].map(|_| {
            let mut bench = Bench::new(config);
            bench.learn(9, 6, 3, 20);
            bench.learn(1, 4, 2, 10);
            bench.pass(ms(age));
            bench
        });
        assert_eq!(sent(&forwarding.transit(1, 9, 1)), [(1, via(6))]);
        reported.aodv.handle_used(reported.now, ip(9), Some(ip(1)), Some(ip(4)));
        reported.aodv.handle_used(reported.now, ip(77), Some(ip(78)), None);
        let routes = |bench: &Bench| bench.aodv.routes().cloned().collect::<Vec<_>>();
        assert_eq!(routes(&reported), routes(&forwarding));
        let least = reported.now + config.active_route_timeout;
        assert!(reported.route(9).expires >= least, "{age} ms: {config:?}");
        assert!(age > 3_000 || (reported.route(4).expires, reported.route(6).expires) == (least, least));
    }
}

#[test]
fn without_a_source_the_way_there_lives_on_and_own_traffic_is_noted() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 3, 20);
    bench.learn(1, 4, 2, 10);
    bench.pass(ms(5_000));
    let before = bench.route(1).expires;
    bench.aodv.handle_used(bench.now, ip(9), None, None);
    assert_eq!((bench.route(9).expires, bench.route(1).expires), (bench.now + ms(3_000), before));
    bench.aodv.handle_used(bench.now, ip(9), Some(ip(5)), None);
    bench.learn(9, 7, 2, 21);
    bench.aodv.handle_used(bench.now, ip(9), Some(ip(5)), None);
    assert_eq!(bench.aodv.usage(ip(9)).route_changes, 1);
}
