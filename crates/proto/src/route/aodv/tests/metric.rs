//! Routes by ETX and ETT: probes are counted, costs add up, and the cheap path wins over the short one.

use super::random::loops;
use super::*;
use crate::route::Metric;
use crate::wire::{PathCost, Probe};
use proptest::prelude::*;

fn by(metric: Metric) -> Config {
    Config { metric: Some(MetricConfig::paper(metric)), ..Config::standard() }
}

fn etx() -> Bench {
    Bench::new(by(Metric::Etx))
}

fn cost(sum: u32) -> Option<PathCost> {
    Some(PathCost { metric: Metric::Etx.code(), sum })
}

/// The probes among the routing messages.
fn probes(actions: &[Action]) -> Vec<(u16, Vec<(u32, u8)>)> {
    messages(actions)
        .filter_map(|(message, packet, next_hop)| match message {
            AodvMessage::Probe(probe) => {
                assert_eq!((packet.dst, packet.ttl, next_hop), (Ipv4Packet::BROADCAST, 1, NextHop::Broadcast));
                let heard = probe.heard.iter().map(|&(addr, count)| (number_of(addr), count));
                Some((probe.number, heard.collect()))
            }
            _ => None,
        })
        .collect()
}

impl Bench {
    /// Receives a probe of a neighbour that has received `heard` of node 5's probes.
    fn probe(&mut self, from: u32, number: u16, heard: u8) {
        let probe = AodvMessage::Probe(Probe { number, heard: vec![(ip(1), 3), (ip(5), heard)] });
        assert_eq!(self.receive_with(from, probe, 1, Ipv4Packet::BROADCAST), []);
    }

    /// Simulates that `arrived` of the neighbour's last ten probes have just arrived here, and `heard` of node 5's
    /// there.
    fn measure(&mut self, from: u32, arrived: u16, heard: u8) {
        (10 - arrived..10).for_each(|number| self.probe(from, number, heard));
    }

    fn link(&self, neighbour: u32) -> Option<u32> {
        self.aodv.link_cost(self.now, ip(neighbour))
    }

    /// Returns the next hop of packets for `dst` and the cost of their route.
    fn way(&self, dst: u32) -> (Ipv4Addr, u32) {
        let route = self.aodv.route(ip(dst)).filter(|route| route.is_valid()).expect("a valid route");
        (route.next_hop, route.cost)
    }
}

#[test]
fn a_link_costs_the_inverse_of_what_arrives_in_both_directions() {
    let mut bench = etx();
    for (neighbour, arrived, heard, expected) in
        [(1, 10, 10, 1_000), (2, 5, 10, 2_000), (3, 10, 4, 2_500), (4, 2, 3, 16_666), (6, 10, 200, 1_000)]
    {
        bench.measure(neighbour, arrived, heard);
        assert_eq!(bench.link(neighbour), Some(expected), "{arrived} and {heard} of ten");
    }
    bench.measure(7, 10, 0);
    assert_eq!((bench.link(7), bench.link(8)), (None, None), "one direction is not enough, and none is not either");
}

#[test]
fn the_last_ten_probes_count_and_those_that_are_missing_by_now() {
    let mut bench = etx();
    bench.measure(6, 10, 10);
    // Three go missing, which the next one reveals.
    bench.probe(6, 13, 10);
    assert_eq!(bench.link(6), Some(100_000 / 70));
    // A probe may be late by its jitter and by the neighbour's clock: half an interval.
    bench.pass(ms(1_400));
    assert_eq!(bench.link(6), Some(100_000 / 70));
    bench.pass(ms(200));
    assert_eq!(bench.link(6), Some(100_000 / 60), "the oldest of the window was received");
    bench.pass(ms(9_000));
    assert_eq!(bench.link(6), None, "none of the last ten");
    // Numbers wrap, and a neighbour that restarts begins from scratch.
    bench.probe(6, u16::MAX, 10);
    bench.probe(6, 0, 10);
    assert_eq!(bench.link(6), Some(100_000 / 20));
    bench.probe(6, 5_000, 10);
    assert_eq!(bench.link(6), Some(100_000 / 10));
}

#[test]
fn probes_go_out_each_second_with_jitter_and_say_what_was_heard() {
    let mut bench = etx();
    bench.measure(6, 7, 10);
    let mut at = Vec::new();
    for (nth, (time, action)) in bench.pass(ms(60_000)).into_iter().enumerate() {
        let sent = probes(&[action]);
        let [(number, heard)] = &sent[..] else { panic!("{sent:?}") };
        assert_eq!(usize::from(*number), nth);
        // One goes missing each second. Of the ten, the oldest three were never received, so the count stays at 7 for
        // three more.
        let missed = (time - at_ms(1_000) + ms(500)).div_floor(ms(1_000)).saturating_sub(1) as u8;
        let left = 7u8.min(10u8.saturating_sub(missed.min(10)));
        let expected = if left == 0 { vec![] } else { vec![(6, left)] };
        assert_eq!(*heard, expected, "after {missed} missing");
        at.push(time);
    }
    assert!((59..=61).contains(&at.len()), "{} probes in a minute", at.len());
    // The first one was due when the bench began.
    let gaps: Vec<_> = at[1..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (ms(800)..=ms(1_200)).contains(gap)), "{gaps:?}");
    assert!(gaps.iter().any(|&gap| gap < ms(950)) && gaps.iter().any(|&gap| gap > ms(1_050)));
    assert_eq!(bench.aodv.counters().probes_sent, at.len() as u64);
    assert_eq!(bench.aodv.links.len(), 0, "the neighbour is forgotten");
    assert_eq!(probes(&untimed(Bench::standard().pass(ms(10_000)))), [], "none without a metric");
}

#[test]
fn the_cheap_path_wins_over_the_short_one() {
    for (config, expected) in [(by(Metric::Etx), 7), (Config::standard(), 6)] {
        let mut bench = Bench::new(config);
        // Half the probes are lost in each direction over 6, none over 7.
        bench.measure(6, 5, 5);
        bench.measure(7, 10, 10);
        bench.originate(9, 1);
        bench.receive_rrep(6, Rrep { cost: cost(1_000), ..rrep(9, 20, 1, 5) });
        assert_eq!(bench.aodv.next_hop(ip(9)), Some(ip(6)), "the first answer");
        bench.receive_rrep(7, Rrep { cost: cost(2_000), ..rrep(9, 20, 2, 5) });
        assert_eq!(sent(&bench.originate(9, 2)), [(2, via(expected))], "two hops at 5, three at 3 transmissions");
        // A worse one of the same search changes nothing, but one of a later search does.
        bench.receive_rrep(6, Rrep { cost: cost(1_000), ..rrep(9, 20, 1, 5) });
        assert_eq!(sent(&bench.originate(9, 3)), [(3, via(expected))]);
        bench.receive_rrep(6, Rrep { cost: cost(9_000), ..rrep(9, 21, 5, 5) });
        assert_eq!(sent(&bench.originate(9, 4)), [(4, via(6))]);
    }
}

#[test]
fn expected_time_counts_the_rate_of_each_link() {
    let mut bench = Bench::new(by(Metric::Ett));
    let ett = |sum| Some(PathCost { metric: Metric::Ett.code(), sum });
    bench.measure(6, 10, 10);
    assert_eq!(bench.link(6), None, "the rate is not known yet");
    for (neighbour, mbps) in [(6, 1), (7, 11)] {
        bench.aodv.handle_rate(bench.now, ip(neighbour), Rate::kbps(1_000 * mbps));
        bench.measure(neighbour, 10, 10);
    }
    // 8,192 bits.
    assert_eq!((bench.link(6), bench.link(7)), (Some(8_192), Some(744)));
    bench.receive_rrep(6, Rrep { cost: ett(744), ..rrep(9, 20, 1, 5) });
    bench.receive_rrep(7, Rrep { cost: ett(1_488), ..rrep(9, 20, 2, 5) });
    assert_eq!(bench.way(9), (ip(7), 2_232));
    bench.receive_rrep(6, Rrep { cost: cost(1), ..rrep(9, 22, 2, 5) });
    assert_eq!(bench.way(9), (ip(7), 2_232), "the sum of another metric");
}

#[test]
fn a_request_that_comes_again_by_a_cheaper_path_is_passed_on_again() {
    let mut bench = etx();
    let copy = |bench: &mut Bench, from: u32, hop_count: u8, sum: u32| {
        let asked = Rreq { hop_count, cost: cost(sum), ..rreq(1, 10, 1, 9, None) };
        let out = bench.receive_rreq(from, 10, asked);
        let later = untimed(bench.pass(ms(20)));
        requests(&[out, later].concat())
    };
    for (neighbour, arrived) in [(6, 5), (7, 10), (8, 10)] {
        bench.measure(neighbour, arrived, 10);
    }
    let first = copy(&mut bench, 6, 1, 3_000);
    assert_eq!(first, [(Rreq { hop_count: 2, cost: cost(5_000), ..rreq(1, 10, 1, 9, None) }, 9)]);
    assert_eq!(copy(&mut bench, 8, 1, 4_500), [], "dearer, although no longer");
    let second = copy(&mut bench, 7, 2, 3_500);
    assert_eq!(second, [(Rreq { hop_count: 3, cost: cost(4_500), ..rreq(1, 10, 1, 9, None) }, 9)]);
    assert_eq!(bench.way(1), (ip(7), 4_500), "the way back changes with it");
    assert_eq!(copy(&mut bench, 7, 2, 3_500), [], "the same once more");
    // At most four times, however much cheaper.
    let again: Vec<usize> = (0..5).map(|n| copy(&mut bench, 8, 1, 3_400 - 100 * n).len()).collect();
    assert_eq!(again, [1, 1, 1, 0, 0]);
    // A later request starts over.
    let next = Rreq { hop_count: 1, cost: cost(9_000), ..rreq(1, 11, 2, 9, None) };
    bench.receive_rreq(7, 10, next);
    assert_eq!(bench.way(1), (ip(7), 10_000));
    bench.receive_rreq(8, 10, Rreq { cost: cost(500), ..next });
    assert_eq!(bench.way(1), (ip(8), 1_500));
}

#[test]
fn the_destination_answers_every_cheaper_copy() {
    let mut bench = etx();
    bench.measure(6, 5, 10);
    bench.measure(7, 10, 10);
    let asked = rreq(1, 10, 1, 5, None);
    let answers = |out: &[Action]| {
        replies(out).iter().map(|&(rrep, next_hop)| (rrep.cost, rrep.destination_seqno, next_hop)).collect::<Vec<_>>()
    };
    let first = bench.receive_rreq(6, 10, Rreq { hop_count: 0, cost: cost(0), ..asked });
    assert_eq!(answers(&first), [(cost(0), 0, via(6))]);
    let second = bench.receive_rreq(7, 10, Rreq { hop_count: 1, cost: cost(500), ..asked });
    assert_eq!(answers(&second), [(cost(0), 0, via(7))], "the same number: the dearer path does not replace it");
    assert_eq!(answers(&bench.receive_rreq(6, 10, Rreq { hop_count: 1, cost: cost(500), ..asked })), []);
}

#[test]
fn a_relay_answers_with_what_its_route_costs() {
    let mut bench = etx();
    bench.measure(6, 10, 10);
    bench.measure(7, 10, 5);
    bench.receive_rrep(6, Rrep { cost: cost(2_000), ..rrep(9, 20, 1, 5) });
    let out = bench.receive_rreq(7, 10, Rreq { cost: cost(1_000), gratuitous: true, ..rreq(1, 10, 1, 9, Some(20)) });
    let reported: Vec<_> =
        replies(&out).iter().map(|&(rrep, next_hop)| (number_of(rrep.destination), rrep.cost, next_hop)).collect();
    assert_eq!(reported, [(9, cost(3_000), via(7)), (1, cost(3_000), via(6))]);
    // The cost in a relayed reply grows by the link.
    let out = bench.receive_rrep(6, Rrep { cost: cost(4_000), ..rrep(9, 21, 2, 1) });
    assert_eq!(replies(&out)[0].0.cost, cost(5_000));
}

#[test]
fn what_comes_over_links_that_are_not_measured_or_names_no_cost_is_ignored() {
    let mut bench = etx();
    bench.measure(6, 10, 10);
    bench.receive_rreq(7, 10, Rreq { cost: cost(0), ..rreq(7, 10, 1, 9, None) });
    bench.receive_rreq(6, 10, rreq(6, 10, 1, 9, None));
    bench.receive_rrep(7, Rrep { cost: cost(0), ..rrep(9, 20, 1, 5) });
    bench.receive_rrep(6, rrep(9, 20, 1, 5));
    assert_eq!((bench.aodv.routes().count(), bench.aodv.counters().unmeasured_ignored), (0, 4));
    // A sum that overflows is not a path.
    bench.receive_rrep(6, Rrep { cost: cost(u32::MAX), ..rrep(9, 20, 1, 5) });
    assert_eq!((bench.aodv.route(ip(9)), bench.aodv.counters().unmeasured_ignored), (None, 5));
    // A node that only knows the RFC accepts all of it, by hops, and passes on no cost.
    let mut plain = Bench::standard();
    plain.probe(6, 1, 10);
    plain.receive_rreq(6, 10, Rreq { cost: cost(7_000), ..rreq(1, 10, 1, 9, None) });
    assert_eq!((plain.aodv.next_hop(ip(1)), plain.aodv.counters().probes_received), (Some(ip(6)), 0));
    assert_eq!(requests(&untimed(plain.pass(ms(20))))[0].0.cost, None);
}

#[test]
fn hearing_a_neighbour_makes_no_route_and_renews_the_direct_one() {
    let hello = Some(HelloConfig { always: true, ..HelloConfig::standard() });
    let mut bench = Bench::new(Config { hello, ..by(Metric::Etx) });
    let hello = |bench: &mut Bench, seqno| {
        bench.receive_with(9, AodvMessage::Rrep(rrep(9, seqno, 0, 9)), 1, Ipv4Packet::BROADCAST);
        bench.receive_rreq(9, 1, Rreq { hop_count: 1, cost: cost(5_000), ..rreq(2, seqno, seqno, 3, None) });
    };
    bench.measure(6, 10, 10);
    bench.measure(9, 10, 5);
    hello(&mut bench, 20);
    assert_eq!(bench.aodv.next_hop(ip(9)), None);
    bench.receive_rrep(6, Rrep { cost: cost(800), ..rrep(9, 21, 1, 5) });
    hello(&mut bench, 22);
    assert_eq!(bench.way(9), (ip(6), 1_800), "not even with a newer number");
    bench.receive_rrep(9, Rrep { cost: cost(0), ..rrep(9, 23, 0, 5) });
    for seqno in 24..34 {
        bench.pass(ms(1_000));
        bench.measure(9, 10, 5);
        hello(&mut bench, seqno);
    }
    assert_eq!(bench.way(9), (ip(9), 2_000), "it would have expired after 6 s");
    bench.pass(ms(2_500));
    assert_eq!(bench.aodv.next_hop(ip(9)), None, "HELLOs that stop break it");
}

#[test]
fn no_more_neighbours_are_measured_than_allowed() {
    let mut bench = etx();
    bench.aodv = bench.aodv.with_limits(Limits { neighbours: 4, ..Limits::AMPLE });
    for neighbour in 10..50 {
        bench.probe(neighbour, 1, 10);
        bench.aodv.handle_rate(bench.now, ip(100 + neighbour), Rate::kbps(1_000));
    }
    assert_eq!((bench.aodv.links.len(), bench.aodv.counters().neighbours_refused), (4, 36));
    assert_eq!((bench.link(10), bench.link(14)), (Some(100_000 / 10), None));
}

/// 0 - 1 - 2 without losses, and a link 0 - 2 that loses half in each direction: 2 transmissions over two hops instead
/// of 4 over one.
#[test]
fn a_network_finds_the_good_path() {
    for (metric, hops) in [(Some(Metric::Etx), 2), (None, 1)] {
        let metric = metric.map(MetricConfig::paper);
        let config = Config { metric, ttl_start: 35, destination_only: true, ..Config::standard() };
        let mut network = Network::chain(3, config);
        network.connect(0, 2);
        network.lossy = Some(((0, 2), 128));
        network.pass(Dur::from_secs(12));
        // Ten searches. The packet that triggers one leaves with the first answer; the next hop of the following packet
        // is what counts. The bad link loses some requests: in the plain network, those that arrive decide.
        for search in 0..10 {
            for number in [2 * search, 2 * search + 1] {
                network.send(0, 2, number);
                network.pass(ms(500));
            }
            network.pass(Dur::from_secs(7));
        }
        assert_eq!(network.delivered.len(), 20);
        let direct = |(_, packet): &&(Time, Ipv4Packet)| packet.meta.hops == 1 && number(packet) % 2 == 1;
        let direct = network.delivered.iter().filter(direct).count();
        match hops {
            2 => assert_eq!(direct, 0),
            _ => assert!(direct >= 3, "{direct} of ten"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// With any costs and any changes of them there are no loops, and every packet ends somewhere.
    #[test]
    fn routes_by_cost_have_no_loops(
        kind in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        links in prop::collection::vec((0..7u32, 0..7u32), 4..16),
        changes in prop::collection::vec((0..7u32, 0..7u32, any::<bool>(), 0u64..4_000, any::<bool>()), 1..30),
        loss in 20u32..160,
    ) {
        let (time, ns2, relays, hellos) = kind;
        let config = Config {
            metric: Some(MetricConfig::paper(if time { Metric::Ett } else { Metric::Etx })),
            hello: hellos.then_some(HelloConfig { always: true, ..HelloConfig::standard() }),
            destination_only: !relays,
            // ns-2's repairs make loops of their own (`ns2::a_failed_repair_may_lead_back`).
            repair: RepairRule::Off,
            ..if ns2 { Config::ns2() } else { Config::standard() }
        };
        let mut network = Network::chain(7, config);
        network.reseed(u64::from(loss));
        (network.broadcast_loss, network.unicast_loss) = (loss, loss / 4);
        for (a, b) in links.into_iter().filter(|(a, b)| a != b) {
            network.connect(a, b);
        }
        network.pass(Dur::from_secs(5));
        for (number, (a, b, cut, pause, sends)) in changes.into_iter().enumerate() {
            match (cut, sends) {
                _ if a == b => {}
                (_, true) => network.send(a, b, number as u16),
                (true, false) => network.cut(a, b),
                (false, false) => network.connect(a, b),
            }
            for _ in 0..4 {
                network.pass(ms(pause / 4));
                prop_assert_eq!(loops(&network), vec![]);
            }
            network.assert_conserved();
        }
    }
}
