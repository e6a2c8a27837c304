//! Gateways: node 5 on the bench answers for nodes without a radio.

use super::*;

fn gateway(config: Config) -> Bench {
    let mut bench = Bench::new(config);
    bench.aodv = bench.aodv.with_gateway([OUTSIDE]);
    bench
}

#[test]
fn a_gateway_answers_with_the_number_asked_for_and_no_hops_behind_it() {
    for config in [Config::standard(), Config::ns2()] {
        for (asked, answered) in [(None, 0), (Some(7), 7)] {
            let mut bench = gateway(config);
            let own = bench.aodv.seqno();
            let replies = replies(&bench.receive_rreq(4, 5, rreq(1, 10, 1, WIRED, asked)));
            let [(reply, next_hop)] = replies.as_slice() else { panic!("{replies:?}") };
            assert_eq!((reply.destination, reply.destination_seqno, reply.hop_count), (ip(WIRED), answered, 0));
            assert_eq!((reply.originator, *next_hop), (ip(1), via(4)));
            assert_eq!(bench.aodv.seqno(), own, "the number of another");
        }
    }
}

#[test]
fn nobody_else_does_and_a_gateway_answers_for_nobody_else() {
    let mut bench = Bench::standard();
    let actions = bench.receive_rreq(4, 5, rreq(1, 10, 1, WIRED, None));
    assert_eq!((replies(&actions).len(), bench.aodv.waiting_control()), (0, 1), "it passes the request on");
    let mut bench = gateway(Config::standard());
    let actions = bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
    assert_eq!((replies(&actions).len(), bench.aodv.waiting_control()), (0, 1));
}

#[test]
fn of_two_gateways_the_nearer_wins_whichever_answers_first() {
    for order in [[(6, 2), (7, 0)], [(7, 0), (6, 2)]] {
        let mut bench = Bench::standard();
        let asked = requests(&bench.originate(WIRED, 1))[0].0.destination_seqno;
        assert_eq!(asked, None);
        for (from, hop_count) in order {
            bench.receive_rrep(from, rrep(WIRED, 0, hop_count, 5));
        }
        assert_eq!((bench.route(WIRED).next_hop, bench.route(WIRED).hops), (ip(7), 1));
    }
}

#[test]
fn a_broken_way_out_is_searched_for_with_a_number_that_every_gateway_answers() {
    let mut bench = Bench::standard();
    bench.originate(WIRED, 1);
    bench.receive_rrep(6, rrep(WIRED, 0, 3, 5));
    bench.fail(data(5, WIRED, 2), 6);
    let asked = requests(&untimed(bench.pass(ms(500)))).into_iter().chain(requests(&bench.originate(WIRED, 3)));
    let asked: Vec<_> = asked.map(|(rreq, _)| rreq.destination_seqno).collect();
    assert!(asked.iter().all(|&seqno| seqno == Some(1)), "one more than the route that broke: {asked:?}");
    bench.receive_rrep(7, rrep(WIRED, 1, 5, 5));
    assert_eq!((bench.route(WIRED).next_hop, bench.route(WIRED).hops), (ip(7), 6));
}

/// Even where the request of a repair otherwise asks for the last known number: at the last relay before the gateway,
/// only the number distinguishes its answer from the broken route and from a neighbour's route that leads back.
#[test]
fn a_repair_asks_for_a_number_that_only_gateways_have() {
    let mut bench = Bench::ns2();
    bench.learn(WIRED, 6, 1, 0);
    let mut packet = data(1, WIRED, 1);
    packet.meta.hops = 2;
    let asked = requests(&bench.fail(packet, 6));
    assert_eq!(bench.aodv.counters().repairs_started, 1);
    assert_eq!(asked.iter().map(|(rreq, _)| rreq.destination_seqno).collect::<Vec<_>>(), [Some(1)]);
    bench.receive_rrep(4, rrep(WIRED, 0, 2, 5));
    assert_eq!(bench.route(WIRED).state, RouteState::InRepair, "node 4 sends through this node");
    assert_eq!(sent(&bench.receive_rrep(6, rrep(WIRED, 1, 0, 5))), [(1, via(6))]);
}

/// A neighbour that still sends through a node whose repair failed must not answer that node's next request, which
/// would cause a loop.
#[test]
fn a_failed_repair_does_not_lead_back() {
    let mut network = Network::chain(4, Config::ns2());
    network.nodes[3] = network.nodes[3].clone().with_gateway([OUTSIDE]);
    network.send(0, WIRED, 1);
    network.pass(ms(100));
    network.cut(2, 3);
    network.send(0, WIRED, 2);
    network.pass(Dur::from_secs(7));
    assert_eq!(network.nodes[2].counters().repairs_failed, 1);
    assert!(network.requests_of(2).len() > 2, "it has asked since");
    assert!(network.nodes[1].route(ip(WIRED)).is_some_and(Route::is_valid), "nothing has invalidated it");
    assert!(!network.nodes[2].route(ip(WIRED)).is_some_and(Route::is_valid));
}

#[test]
fn a_gateway_searches_for_the_destinations_of_packets_from_the_wire() {
    let mut bench = gateway(Config::standard());
    let mut out = Vec::new();
    bench.aodv.handle_entering(bench.now, data(WIRED, 9, 1), &mut out);
    assert_eq!((requests(&out).len(), bench.aodv.buffered()), (1, 1));
    let mut released = bench.receive_rrep(6, rrep(9, 4, 1, 5));
    assert_eq!(sent(&released), [(1, via(6))]);
    assert_eq!(dropped(&released), []);
    let Action::Send { packet, .. } = released.remove(0) else { panic!("{released:?}") };
    assert_eq!(packet.ttl, 64, "the gateway has counted it already");
    // Its link breaks: as a source, the gateway keeps the packet and searches again.
    let broken = bench.fail(packet, 6);
    assert_eq!((dropped(&broken), bench.aodv.buffered()), (vec![], 1));
}

#[test]
fn what_leaves_the_mesh_keeps_the_way_back_alive() {
    let mut bench = gateway(Config::standard());
    bench.receive_rreq(4, 5, rreq(1, 10, 1, WIRED, None));
    let before = bench.route(1).expires;
    bench.now = before - ms(1);
    bench.aodv.handle_used(bench.now, ip(WIRED), Some(ip(1)), Some(ip(4)));
    assert_eq!(bench.route(1).expires, bench.now + bench.aodv.config().active_route_timeout);
    assert_eq!(bench.route(4).expires, bench.route(1).expires, "and that to the neighbour it came from");
}
