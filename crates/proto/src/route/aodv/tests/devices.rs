//! Features for real devices only: the blacklist of unidirectional links (RFC 3561 section 6.8), repairs without a
//! failed packet (6.12), and numbers that survive a restart (6.13).

use super::*;

/// NEXT_HOP_WAIT.
const WAIT: Dur = Dur::from_millis(50);

fn asking() -> Config {
    Config { reply_ack_wait: Some(WAIT), ..Config::standard() }
}

/// A node 5 that has answered a request of node 1, relayed by node 4.
fn answered(config: Config) -> Bench {
    let mut bench = Bench::new(config);
    let out = bench.receive_rreq(4, 5, rreq(1, 10, 1, 5, None));
    let [(reply, next_hop)] = replies(&out)[..] else { panic!("{out:?}") };
    assert_eq!((reply.ack_required, next_hop), (true, via(4)));
    bench
}

#[test]
fn section_6_8_a_neighbour_that_acknowledges_no_reply_is_ignored_for_a_while() {
    let mut bench = answered(asking());
    bench.pass(WAIT);
    assert!(bench.aodv.is_blacklisted(ip(4)));
    assert!(replies(&bench.receive_rreq(4, 5, rreq(1, 11, 2, 5, None))).is_empty());
    assert!(bench.aodv.route(ip(1)).is_some_and(|route| route.seqno == 10), "nothing is learned from it");
    let counters = *bench.aodv.counters();
    assert_eq!((counters.neighbours_blacklisted, counters.blacklisted_ignored), (1, 1));
    assert!(!replies(&bench.receive_rreq(3, 5, rreq(1, 11, 2, 5, None))).is_empty(), "another way is answered");
    bench.receive_with(3, AodvMessage::RrepAck, 1, ip(5));
    // RREQ_RETRIES x NET_TRAVERSAL_TIME.
    bench.pass(asking().blacklist_timeout());
    assert!(!bench.aodv.is_blacklisted(ip(4)));
    assert!(!replies(&bench.receive_rreq(4, 5, rreq(1, 12, 3, 5, None))).is_empty());
}

#[test]
fn section_6_8_an_acknowledgement_in_time_keeps_the_neighbour() {
    let mut bench = answered(asking());
    bench.pass(WAIT - ms(1));
    bench.receive_with(4, AodvMessage::RrepAck, 1, ip(5));
    bench.pass(WAIT);
    assert!(!bench.aodv.is_blacklisted(ip(4)));
    assert_eq!((bench.aodv.counters().rrep_acks_received, bench.aodv.counters().neighbours_blacklisted), (1, 0));
}

#[test]
fn section_6_8_a_reply_that_the_link_layer_loses_blacklists_at_once() {
    let mut bench = answered(asking());
    bench.aodv.handle_link_failure(bench.now, None, ip(4), DropReason::DataRetryLimit, &mut Vec::new());
    assert!(bench.aodv.is_blacklisted(ip(4)));
}

#[test]
fn section_6_8_a_reply_passed_on_asks_too_and_a_hello_of_the_blacklist_makes_no_route() {
    let config = Config { hello: Some(HelloConfig::standard()), ..asking() };
    let mut bench = Bench::new(config);
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
    let out = bench.receive_rrep(6, rrep(9, 20, 0, 1));
    assert!(matches!(replies(&out)[..], [(reply, next_hop)] if reply.ack_required && next_hop == via(4)));
    bench.pass(config.net_traversal_time());
    assert!(bench.aodv.is_blacklisted(ip(4)));
    bench.aodv.handle_link_failure(bench.now, None, ip(4), DropReason::DataRetryLimit, &mut Vec::new());
    let hello = Rrep { originator: ip(4), ..rrep(4, 7, 0, 4) };
    bench.receive_with(4, AodvMessage::Rrep(hello), 1, Ipv4Packet::BROADCAST);
    assert!(!bench.route(4).is_valid());
}

#[test]
fn profiles_ask_for_no_acknowledgement() {
    for config in [Config::standard(), Config::ns2()] {
        let mut bench = Bench::new(config);
        let out = bench.receive_rreq(4, 5, rreq(1, 10, 1, 5, None));
        assert!(replies(&out).iter().all(|(reply, _)| !reply.ack_required));
        bench.pass(Dur::from_secs(9));
        assert!(!bench.aodv.is_blacklisted(ip(4)));
    }
}

/// A node 5 that relays from node 1 (through 4) to node 9 (through 6), two hops away; a kernel has forwarded packets.
fn forwarding(config: Config) -> Bench {
    let mut bench = Bench::new(config);
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
    bench.receive_rrep(6, rrep(9, 20, 1, 1));
    bench.aodv.handle_used(bench.now, ip(9), Some(ip(1)), Some(ip(4)));
    bench
}

#[test]
fn section_6_12_a_lost_neighbour_begins_the_repair_of_what_is_in_use() {
    let mut bench = forwarding(Config { repair_without_packet: true, ..Config::standard() });
    let mut out = Vec::new();
    bench.aodv.handle_link_failure(bench.now, None, ip(6), DropReason::DataRetryLimit, &mut out);
    assert_eq!(bench.route(9).state, RouteState::InRepair);
    // Node 6 might be the destination of packets, so it is searched for, too. TTL: hops + LOCAL_ADD_TTL.
    let asked: Vec<_> = requests(&out).into_iter().map(|(asked, ttl)| (asked.destination, ttl)).collect();
    assert_eq!(asked, [(ip(6), 3), (ip(9), 4)]);
    assert!(errors(&out).iter().all(|(rerr, _)| lost(rerr).iter().all(|&(dst, _)| dst != ip(9))));
    assert!(dropped(&bench.transit(1, 9, 1)).is_empty(), "packets wait");
    let out = bench.receive_rrep(7, rrep(9, 30, 1, 5));
    assert_eq!(sent(&out), [(1, via(7))]);
}

#[test]
fn section_6_12_without_the_option_it_loses_what_is_in_use() {
    let mut bench = forwarding(Config::standard());
    let mut out = Vec::new();
    bench.aodv.handle_link_failure(bench.now, None, ip(6), DropReason::DataRetryLimit, &mut out);
    assert_eq!(bench.route(9).state, RouteState::Invalid);
    assert!(requests(&out).is_empty() && errors(&out).len() == 1);
}

#[test]
fn section_6_13_numbers_go_on_after_a_restart() {
    let mut bench = Bench::standard();
    bench.aodv = bench.aodv.with_numbers(4_000, 77);
    let out = bench.originate(9, 1);
    let (asked, _) = requests(&out)[0];
    assert_eq!((asked.originator_seqno, asked.rreq_id), (4_001, 77));
    assert_eq!((bench.aodv.seqno(), bench.aodv.rreq_id()), (4_001, 78));
}
