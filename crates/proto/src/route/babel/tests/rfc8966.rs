//! RFC 8966 sections 3.3 to 3.7, rule by rule.

use super::*;
use NextHop::Broadcast;

/// Section 3.3.
#[test]
fn an_acknowledgement_comes_in_time() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.receive(1, &[BabelTlv::AckRequest { opaque: 77, interval: 4 }]);
    let said = bench.pass(ms(40));
    assert_eq!(said.iter().map(|&(_, to, tlv)| (to, tlv)).collect::<Vec<_>>(), [(to(1), BabelTlv::Ack { opaque: 77 })]);
}

/// Sections 3.3 and 3.1: before the time is over, spread at random over half of it.
#[test]
fn acknowledgements_are_spread_over_the_time_that_they_have() {
    let mut bench = Bench::with_neighbours([256, 256]);
    let mut delays = Vec::new();
    for opaque in 0..40 {
        let begun = bench.now;
        bench.receive(1, &[BabelTlv::AckRequest { opaque, interval: 4 }]);
        let said = bench.pass(ms(40));
        let ack = said.iter().find(|(.., tlv)| *tlv == BabelTlv::Ack { opaque }).expect("an acknowledgement");
        delays.push(ack.0 - begun);
    }
    assert!(delays.iter().all(|&delay| delay <= ms(20)), "{delays:?}");
    assert!(delays.iter().any(|&delay| delay > ms(15)) && delays.iter().any(|&delay| delay < ms(5)), "{delays:?}");
}

/// Sections 3.4.1 to 3.4.3, and A.2.1.
#[test]
fn a_link_needs_hellos_and_an_ihu() {
    let mut bench = Bench::new(HOPS);
    let cost = |bench: &Bench| bench.babel.links().collect::<Vec<_>>();
    bench.greet(1, 300);
    assert_eq!(cost(&bench), [(ip(1), BABEL_INFINITY)], "one Hello is not two of three");
    let said = bench.pass(ms(200));
    let ihu = BabelTlv::Ihu { address: Some(ip(1).into()), rxcost: BABEL_INFINITY, interval: 1200 };
    assert!(said.iter().any(|&(_, next_hop, tlv)| (next_hop, tlv) == (to(1), ihu)), "it is sent at once: {said:?}");
    bench.greet(1, 300);
    assert_eq!(cost(&bench), [(ip(1), 300)], "txcost");
    assert!(said_requests(&bench.pass(ms(200))).contains(&(to(1), None)), "what are its routes?");
    bench.receive(1, &[BabelTlv::Ihu { address: Some(ip(9).into()), rxcost: 900, interval: 6_000 }]);
    assert_eq!(cost(&bench), [(ip(1), 300)], "for somebody else");
    bench.receive(1, &[BabelTlv::Ihu { address: None, rxcost: 900, interval: 6_000 }]);
    assert_eq!(cost(&bench), [(ip(1), 900)], "for whom it reaches");
    bench.receive(1, &[BabelTlv::Ihu { address: None, rxcost: BABEL_INFINITY, interval: 6_000 }]);
    assert_eq!(cost(&bench), [(ip(1), BABEL_INFINITY)]);
    // Missing Hellos: the first is overdue after 1.5 intervals of a minute, then one each minute.
    bench.greet(1, 300);
    bench.pass(secs(151));
    assert_eq!(cost(&bench), [(ip(1), BABEL_INFINITY)], "of three one");
    bench.pass(secs(20 * 60));
    assert_eq!(cost(&bench), [], "forgotten");
}

fn said_requests(said: &Said) -> Vec<(NextHop, Option<Prefix>)> {
    let of = |(_, to, tlv): &(Time, NextHop, BabelTlv)| match tlv {
        BabelTlv::RouteRequest { prefix } => Some((*to, *prefix)),
        _ => None,
    };
    said.iter().filter_map(of).collect()
}

/// Section 4.6.5 and appendix B: intervals are upper bounds, and IHUs accompany every third Hello if none is lost.
#[test]
fn hellos_and_updates_come_in_their_intervals() {
    let mut bench = Bench::new(HOPS);
    for _ in 0..16 {
        bench.greet(1, 256);
    }
    let said = bench.pass(secs(59));
    let hellos: Vec<_> = said.iter().filter(|(.., tlv)| matches!(tlv, BabelTlv::Hello { .. })).collect();
    let numbers: Vec<_> = hellos.iter().map(|(.., tlv)| tlv).collect();
    assert!((14..=20).contains(&hellos.len()), "3 to 4 s apart: {}", hellos.len());
    assert_eq!(*numbers[0], BabelTlv::Hello { unicast: false, seqno: 0, interval: 400 });
    assert_eq!(*numbers[7], BabelTlv::Hello { unicast: false, seqno: 7, interval: 400 });
    assert!(hellos.windows(2).all(|pair| (ms(3_000)..=ms(4_000)).contains(&(pair[1].0 - pair[0].0))));
    let ihus = said.iter().filter(|(_, to, tlv)| *to == Broadcast && matches!(tlv, BabelTlv::Ihu { .. })).count();
    assert_eq!(ihus, hellos.len().div_ceil(3));
    let own = about(&said, 5);
    assert!((4..=6).contains(&own.len()) && own.iter().all(|one| *one == (Broadcast, Some((0, 0)))), "{own:?}");
}

/// Sections 3.5.2 and 3.6.
#[test]
fn the_cheapest_path_is_taken_and_its_hops_are_known() {
    let mut bench = Bench::with_neighbours([256, 300]);
    bench.advertise(1, update(9, 4, 512));
    assert_eq!(bench.way(9), Some((1, 768)));
    assert_eq!(bench.route(9).map(|route| route.hops), Some(3), "three times 256");
    bench.advertise(2, BabelUpdate { hops: Some(1), ..update(9, 4, 100) });
    assert_eq!(bench.way(9), Some((2, 400)));
    assert_eq!(bench.route(9).map(|route| route.hops), Some(2), "as the neighbour says");
    let via = BabelUpdate { next_hop: Some(ip(77)), ..update(8, 4, 100) };
    bench.advertise(1, via);
    assert_eq!(bench.way(8), Some((77, 356)), "a next hop other than the neighbour");
    bench.advertise(1, update(6, 1, 65_000));
    assert_eq!(bench.way(6), Some((1, 65_256)));
    bench.advertise(1, update(6, 2, 65_300));
    assert_eq!(bench.way(6), None, "more than fits is infinitely much");
    bench.advertise(3, update(7, 1, 0));
    assert_eq!(bench.way(7), None, "no neighbour");
    bench.advertise(1, update(5, 900, 0));
    assert_eq!(bench.way(5), None, "this node itself");
}

/// Section 3.5.1 with 3.7.3: this node's own updates are the reference.
#[test]
fn only_what_is_better_than_all_that_was_said_is_feasible() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 512));
    assert_eq!(about(&bench.pass(secs(2)), 9).first(), Some(&(Broadcast, Some((4, 768)))), "the distance is 768");
    bench.advertise(2, update(9, 4, 768));
    bench.receive(1, &[BabelTlv::Retraction { prefix: Some(host(9)), interval: 1600 }]);
    assert_eq!(bench.way(9), None, "768 is not below 768");
    bench.advertise(2, update(9, 4, 767));
    assert_eq!(bench.way(9), Some((2, 1023)));
    bench.receive(2, &[BabelTlv::Retraction { prefix: None, interval: 1600 }]);
    assert_eq!(bench.way(9), None, "all routes of a neighbour");
    bench.advertise(1, update(9, 3, 1));
    assert_eq!(bench.way(9), None, "an older number");
    bench.advertise(1, update(9, 5, 9_000));
    assert_eq!(bench.way(9), Some((1, 9_256)), "a newer one");
}

/// Section 3.5.3.
#[test]
fn an_unfeasible_update_leaves_the_selected_route_or_ends_it() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 512));
    bench.pass(secs(2));
    bench.advertise(1, update(9, 4, 900));
    assert_eq!(bench.way(9), Some((1, 768)), "of the same router: ignored");
    let said = bench.pass(secs(1));
    assert_eq!(asked(&said), [(to(1), host(9), 5, 64)], "and a newer number asked for (3.8.2.2)");
    // Another router's route, which was followed before.
    let other = |seqno, metric| BabelUpdate { router_id: id(8), ..update(9, seqno, metric) };
    bench.advertise(1, other(1, 100));
    assert_eq!(bench.way(9), Some((1, 356)));
    bench.pass(secs(2));
    bench.advertise(1, update(9, 5, 500));
    assert_eq!(bench.route(9).map(|route| route.router_id), Some(id(9)));
    bench.advertise(1, other(1, 356));
    assert_eq!(bench.way(9), None, "it must be unselected");
}

/// Sections 3.5.4 and 3.5.3: a route is retracted first, and forgotten later.
#[test]
fn an_expired_route_is_retracted_and_kept_before_it_is_forgotten() {
    let outside = Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 9).expect("a prefix");
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(2, BabelUpdate { prefix: outside, interval: 60_000, ..update(2, 1, 0) });
    bench.advertise(1, update(9, 4, 512));
    bench.pass(secs(55));
    assert_eq!(bench.way(9), Some((1, 768)));
    let said = bench.pass(secs(2));
    assert_eq!(bench.way(9), None, "3.5 times 16 s; and not through the shorter prefix");
    assert!(about(&said, 9).contains(&(Broadcast, None)), "{said:?}");
    assert_eq!(bench.way(1_000), Some((2, 256)), "which leads elsewhere");
    bench.greet(2, 256);
    bench.pass(secs(56));
    assert_eq!(bench.way(9), Some((2, 256)), "forgotten");
}

/// Appendix A.3.
#[test]
fn a_route_that_is_better_for_a_moment_is_not_taken() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 200));
    bench.advertise(2, update(9, 4, 300));
    bench.pass(secs(3));
    bench.advertise(2, update(9, 4, 190));
    assert_eq!(bench.way(9), Some((1, 456)), "smoothed it is still the worse one");
    bench.pass(secs(20));
    bench.advertise(2, update(9, 4, 190));
    assert_eq!(bench.way(9), Some((2, 446)));
    bench.receive(2, &[BabelTlv::Retraction { prefix: Some(host(9)), interval: 1600 }]);
    assert_eq!(bench.way(9), Some((1, 456)), "what cannot be reached is left at once");
}

/// Section 3.7.2.
#[test]
fn what_matters_is_sent_at_once_and_twice() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.pass(secs(16));
    bench.advertise(1, update(9, 4, 512));
    bench.pass(secs(2));
    let begun = bench.now;
    bench.receive(1, &[BabelTlv::Retraction { prefix: Some(host(9)), interval: 1600 }]);
    let said = bench.pass(secs(1));
    assert_eq!(about(&said, 9), [(Broadcast, None); 2]);
    let first = said.iter().find(|(.., tlv)| matches!(tlv, BabelTlv::Retraction { .. })).expect("a retraction");
    assert!(first.0 <= begun + ms(200), "urgent");
    bench.advertise(1, update(9, 5, 512));
    bench.pass(secs(2));
    bench.advertise(1, BabelUpdate { router_id: id(8), ..update(9, 1, 512) });
    assert_eq!(about(&bench.pass(secs(1)), 9), [(Broadcast, Some((1, 768))); 2], "another router");
    bench.advertise(1, BabelUpdate { router_id: id(8), ..update(9, 2, 600) });
    let minor = about(&bench.pass(ms(1_000)), 9);
    assert!(minor.len() <= 1, "no news but with everything: {minor:?}");
    bench.advertise(1, BabelUpdate { router_id: id(8), ..update(9, 3, 900) });
    assert!(about(&bench.pass(ms(1_000)), 9).contains(&(Broadcast, Some((3, 1_156)))), "much worse");
}

/// Section 3.7.1: this node requests an update before a route that was not renewed expires (3.8.2.3).
#[test]
fn a_route_in_use_is_asked_for_before_it_expires() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 512));
    bench.advertise(2, update(9, 4, 600));
    assert_eq!(said_requests(&bench.pass(secs(48))), []);
    let said = bench.pass(secs(2));
    assert_eq!(said_requests(&said), [(to(1), Some(host(9)))], "seven eighths of 56 s; only of the one in use");
    bench.advertise(1, update(9, 4, 512));
    bench.pass(secs(40));
    assert_eq!(bench.way(9), Some((1, 768)));
}

#[test]
fn data_takes_the_route_or_is_dropped() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 512));
    let mut out = Vec::new();
    bench.babel.handle_outgoing(bench.now, data(5, 9), &mut out);
    assert_eq!(out, [Action::Send { packet: data(5, 9), next_hop: to(1) }]);
    out.clear();
    bench.babel.handle_outgoing(bench.now, data(5, 8), &mut out);
    assert_eq!(out, [Action::Drop { packet: data(5, 8), reason: DropReason::NoRoute }]);
    out.clear();
    bench.babel.handle_transit(bench.now, data(3, 9), None, &mut out);
    assert!(matches!(&out[..], [Action::Send { packet, next_hop }] if packet.ttl == 63 && *next_hop == to(1)));
    out.clear();
    bench.babel.handle_link_failure(bench.now, Some(data(5, 9)), ip(1), DropReason::DataRetryLimit, &mut out);
    assert_eq!(out, [Action::Drop { packet: data(5, 9), reason: DropReason::LinkBroken }]);
    assert_eq!(bench.way(9), Some((1, 768)), "Hellos decide, not single frames");
    bench.advertise(2, update(9, 5, 0));
    bench.pass(secs(30));
    bench.advertise(2, update(9, 6, 0));
    out.clear();
    bench.babel.handle_outgoing(bench.now, data(5, 9), &mut out);
    assert_eq!(bench.babel.usage(ip(9)).route_changes, 1, "{:?}", bench.route(9));
}

#[test]
fn changes_are_reported_to_mirrors() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.babel = bench.babel.clone().with_route_changes();
    let body = Body::Routing(BabelMessage { tlvs: vec![BabelTlv::Update(update(9, 4, 512))] }.into());
    let packet = Ipv4Packet {
        src: ip(1),
        dst: BabelMessage::GROUP,
        ttl: 1,
        ident: 0,
        dscp: 0,
        body,
        meta: PacketMeta::default(),
    };
    let mut out = Vec::new();
    bench.babel.handle_message(bench.now, packet.clone(), ip(1), &mut out);
    let lifetime = secs(56);
    assert_eq!(out, [Action::RouteUp { destination: ip(9), next_hop: ip(1), hops: 3, lifetime }]);
    out.clear();
    bench.babel.handle_message(bench.now, packet.clone(), ip(1), &mut out);
    assert_eq!(out, [], "nothing has changed");
    bench.babel.handle_message(bench.now, packet, ip(5), &mut out);
    assert_eq!(bench.babel.counters().packets_received, 6, "its own packets are none");
}

#[test]
fn a_gateway_announces_what_is_behind_it() {
    let outside = Prefix::new(Ipv4Addr::new(10, 128, 0, 0), 9).expect("a prefix");
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.babel = bench.babel.clone().with_gateway([outside]);
    assert!(bench.babel.serves(Ipv4Addr::new(10, 128, 0, 7)) && !bench.babel.serves(ip(1)));
    let said = bench.pass(secs(17));
    let announced = |(.., tlv): &(Time, NextHop, BabelTlv)| match tlv {
        BabelTlv::Update(update) => update.prefix == outside && update.router_id == id(5),
        _ => false,
    };
    assert!(said.iter().any(announced));
    bench.advertise(1, BabelUpdate { prefix: outside, ..update(1, 1, 0) });
    assert_eq!(bench.babel.route(Ipv4Addr::new(10, 128, 0, 7)), None, "it needs no other gateway");
}

/// Messages that do not fit one packet are split into several.
#[test]
fn a_large_table_takes_several_packets() {
    let mut bench = Bench::with_neighbours([256, 256]);
    let many = 300;
    for dst in 0..many {
        bench.advertise(1, update(100 + dst, 1, 256));
    }
    let (until, mut sizes, mut announced) = (bench.now + secs(17), Vec::new(), std::collections::BTreeSet::new());
    while bench.babel.wake <= until {
        let (now, mut out) = (bench.babel.wake, Vec::new());
        bench.babel.handle_timeout(now, &mut out);
        for action in &out {
            let Action::Send { packet, .. } = action else { continue };
            let Body::Routing(message) = &packet.body else { continue };
            sizes.push(message.len());
        }
        announced.extend(words(now, &out).into_iter().filter_map(|(.., tlv)| match tlv {
            BabelTlv::Update(update) => Some(update.prefix),
            _ => None,
        }));
    }
    assert!(sizes.iter().all(|&size| size <= 1_232) && sizes.iter().any(|&size| size > 1_200), "{sizes:?}");
    assert_eq!(announced.len(), many as usize + 1);
}

#[test]
fn addresses_of_ihus_may_be_of_the_other_family() {
    let mut bench = Bench::new(HOPS);
    let stranger: IpAddr = core::net::Ipv6Addr::LOCALHOST.into();
    bench.receive(1, &[BabelTlv::Ihu { address: Some(stranger), rxcost: 256, interval: 6_000 }]);
    assert_eq!(bench.babel.links().count(), 0, "not for this node");
}

/// Section 3.7.2: a new number alone waits for the periodic update.
#[test]
fn a_newer_number_alone_is_not_urgent() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 512));
    // Until a periodic update, after which there is none for 12 s.
    while !bench.pass(ms(100)).iter().any(|(.., tlv)| matches!(tlv, BabelTlv::Update(own) if own.prefix == host(5))) {}
    bench.advertise(1, update(9, 5, 512));
    assert_eq!(about(&bench.pass(secs(2)), 9), []);
    assert_eq!(bench.route(9).map(|route| route.seqno), Some(5));
}

#[test]
fn only_another_next_hop_counts_as_a_changed_route() {
    let mut bench = Bench::with_neighbours([256, 256]);
    let mut changed = |from, seqno, metric| {
        bench.advertise(from, update(9, seqno, metric));
        bench.babel.counters().routes_changed
    };
    assert_eq!(changed(1, 4, 512), 0, "it is new");
    assert_eq!([changed(1, 5, 512), changed(1, 5, 400), changed(1, 5, 400)], [0; 3]);
    assert_eq!([changed(2, 5, 100), changed(2, 5, 90)], [1; 2]);
}

#[test]
fn counters_follow_what_is_heard_and_said() {
    let mut bench = Bench::new(HOPS);
    let mut said = Said::new();
    for node in [1, 2] {
        bench.greet(node, 256);
        bench.greet(node, 256);
    }
    said.extend(bench.pass(secs(2)));
    bench.advertise(1, update(9, 4, 512));
    said.extend(bench.pass(secs(2)));
    bench.advertise(1, update(9, 4, 900));
    bench.advertise(2, update(9, 5, 100));
    said.extend(bench.pass(secs(20)));
    bench.advertise(2, update(9, 5, 100));
    bench.receive(1, &[BabelTlv::RouteRequest { prefix: Some(host(9)) }]);
    bench.receive(1, &[BabelTlv::SeqnoRequest { prefix: host(9), seqno: 6, hop_count: 9, router_id: id(9) }]);
    bench.receive(1, &[BabelTlv::SeqnoRequest { prefix: host(5), seqno: 9, hop_count: 9, router_id: id(5) }]);
    said.extend(bench.pass(secs(1)));
    bench.receive(2, &[BabelTlv::Ihu { address: None, rxcost: BABEL_INFINITY, interval: 6_000 }]);
    bench.receive(1, &[BabelTlv::Retraction { prefix: Some(host(9)), interval: 1600 }]);
    said.extend(bench.pass(secs(1)));
    let mut out = Vec::new();
    bench.babel.handle_link_failure(bench.now, None, ip(1), DropReason::DataRetryLimit, &mut out);

    let counters = bench.babel.counters();
    let count = |is: fn(&BabelTlv) -> bool| said.iter().filter(|(.., tlv)| is(tlv)).count() as u64;
    assert_eq!(counters.hellos_sent, count(|tlv| matches!(tlv, BabelTlv::Hello { .. })));
    assert_eq!(counters.ihus_sent, count(|tlv| matches!(tlv, BabelTlv::Ihu { .. })));
    assert_eq!(counters.updates_sent, count(|tlv| matches!(tlv, BabelTlv::Update(_))));
    assert_eq!(counters.retractions_sent, count(|tlv| matches!(tlv, BabelTlv::Retraction { .. })));
    assert_eq!(counters.route_requests_sent, count(|tlv| matches!(tlv, BabelTlv::RouteRequest { .. })));
    let asked = count(|tlv| matches!(tlv, BabelTlv::SeqnoRequest { .. }));
    assert_eq!(counters.seqno_requests_made + counters.seqno_requests_forwarded, asked);
    assert_eq!((counters.hellos_received, counters.ihus_received), (4, 5));
    assert_eq!((counters.updates_received, counters.retractions_received), (4, 1));
    assert_eq!((counters.route_requests_received, counters.seqno_requests_received), (1, 2));
    assert_eq!((counters.unfeasible_ignored, counters.seqno_requests_forwarded, counters.seqnos_made), (1, 1, 1));
    assert_eq!((counters.links_up, counters.links_down, counters.link_failures), (2, 1, 1));
    assert_eq!((counters.routes_found, counters.routes_changed, counters.routes_lost), (1, 1, 1));
}
