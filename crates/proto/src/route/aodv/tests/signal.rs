//! Signal-strength awareness (Gupta, Wormsbecker, Williamson 2004, section 3), and the HELLO and search options that
//! came with it.

use super::*;

const THRESHOLD: Dbm = Dbm(-80.0);

fn config(change: impl FnOnce(&mut SignalConfig)) -> Config {
    let mut signal = SignalConfig::paper(THRESHOLD);
    change(&mut signal);
    let hello = HelloConfig { always: true, ..HelloConfig::standard() };
    Config { hello: Some(hello), signal: Some(signal), link_layer_detection: false, ..Config::standard() }
}

fn aware() -> Bench {
    Bench::new(config(|_| {}))
}

impl Bench {
    fn signal(&mut self, from: u32, dbm: f64) {
        self.aodv.handle_signal(ip(from), Dbm(dbm));
    }

    fn smoothed(&self, of: u32) -> f64 {
        self.aodv.signal(ip(of)).expect("it was heard").smoothed.0
    }

    fn hello(&mut self, from: u32, seqno: u32, dbm: f64) -> Vec<Action> {
        self.signal(from, dbm);
        let mut hello = rrep(from, seqno, 0, from);
        hello.lifetime_ms = 2_000;
        self.receive_with(from, AodvMessage::Rrep(hello), 1, Ipv4Packet::BROADCAST)
    }

    fn reply(&mut self, from: u32, dbm: f64, reply: Rrep) -> Vec<Action> {
        self.signal(from, dbm);
        self.receive_rrep(from, reply)
    }

    fn is_valid(&self, dst: u32) -> bool {
        self.aodv.route(ip(dst)).is_some_and(Route::is_valid)
    }
}

#[test]
fn the_average_begins_at_the_first_sample_and_moves_a_quarter_of_the_way() {
    let mut bench = aware();
    for (sample, average) in [(-60.0, -60.0), (-80.0, -65.0), (-80.0, -68.75), (-40.0, -61.5625)] {
        bench.signal(6, sample);
        assert_eq!(bench.smoothed(6), average);
    }
    bench.signal(4, -90.0);
    assert_eq!((bench.smoothed(4), bench.smoothed(6)), (-90.0, -61.5625), "each neighbour has its own");
    let mut plain = Bench::standard();
    plain.signal(6, -60.0);
    assert_eq!(plain.aodv.signal(ip(6)), None);
}

#[test]
fn messages_of_weak_neighbours_are_not_looked_at() {
    let mut bench = aware();
    bench.hello(6, 4, -81.0);
    assert!(!bench.is_valid(6), "below the threshold");
    bench.signal(6, -81.0);
    assert_eq!(bench.receive_rreq(6, 5, rreq(1, 10, 1, 5, None)), [], "not even a request for this node is answered");
    assert!(!bench.is_valid(1));
    assert_eq!(bench.aodv.counters().weak_ignored, 2);
    assert_eq!(bench.aodv.counters().rreq_received, 0);
    // A neighbour of unknown strength does not count as strong.
    bench.receive_rreq(8, 5, rreq(1, 10, 1, 5, None));
    assert_eq!(bench.aodv.counters().weak_ignored, 3);
    bench.hello(7, 4, -79.0);
    assert!(bench.is_valid(7));
    // The average decides: one weak message among strong ones is accepted.
    bench.hello(7, 4, -82.0);
    assert_eq!((bench.smoothed(7), bench.aodv.counters().weak_ignored), (-79.75, 3));
}

#[test]
fn a_neighbour_that_fades_away_is_given_up_like_one_that_fell_silent() {
    let mut bench = aware();
    bench.hello(6, 4, -78.0);
    bench.signal(4, -70.0);
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
    bench.reply(6, -78.0, rrep(9, 20, 1, 1));
    let mut out = Vec::new();
    for _ in 0..3 {
        out.extend(bench.pass(ms(1_000)));
        bench.hello(6, 4, -90.0);
        // Data that still arrives does not keep it.
        bench.aodv.handle_transit(bench.now, data(9, 1, 1), Some(ip(6)), &mut Vec::new());
    }
    assert_eq!(bench.aodv.counters().neighbours_lost, 1);
    assert!(!bench.is_valid(9) && !bench.is_valid(6));
    let [(rerr, to)] = &errors(&untimed(out))[..] else { panic!("one route error") };
    assert_eq!((lost(rerr).len(), *to), (2, via(4)));
}

#[test]
fn a_neighbour_comes_back_above_threshold_and_hysteresis() {
    let mut bench = Bench::new(config(|signal| (signal.hysteresis, signal.weight) = (Db(3.0), 1.0)));
    let mut stable = |dbm| {
        bench.signal(6, dbm);
        bench.aodv.signal(ip(6)).is_some_and(|signal| signal.stable)
    };
    let seen = [-79.0, -77.0, -79.0, -80.0, -80.1, -79.0, -77.1, -77.0].map(&mut stable);
    assert_eq!(seen, [false, true, true, true, false, false, false, true]);
}

#[test]
fn of_two_copies_of_a_request_the_stronger_one_makes_the_way_back() {
    let mut bench = aware();
    bench.signal(6, -75.0);
    bench.receive_rreq(6, 5, Rreq { hop_count: 1, ..rreq(1, 10, 1, 9, None) });
    assert_eq!(bench.route(1).next_hop, ip(6));
    bench.signal(7, -76.0);
    bench.receive_rreq(7, 5, Rreq { hop_count: 1, ..rreq(1, 10, 1, 9, None) });
    assert_eq!(bench.route(1).next_hop, ip(6), "the weaker one does not");
    bench.signal(8, -65.0);
    bench.receive_rreq(8, 5, Rreq { hop_count: 2, ..rreq(1, 10, 1, 9, None) });
    assert_eq!(bench.route(1).next_hop, ip(6), "nor does a stronger one that took more hops: loops");
    bench.receive_rreq(8, 5, Rreq { hop_count: 1, ..rreq(1, 10, 1, 9, None) });
    assert_eq!((bench.route(1).next_hop, bench.route(1).hops), (ip(8), 2));
    let mut plain = Bench::standard();
    plain.receive_rreq(6, 5, Rreq { hop_count: 1, ..rreq(1, 10, 1, 9, None) });
    plain.signal(8, -65.0);
    plain.receive_rreq(8, 5, Rreq { hop_count: 1, ..rreq(1, 10, 1, 9, None) });
    assert_eq!(plain.route(1).next_hop, ip(6), "plain AODV takes the first");
}

#[test]
fn a_stable_route_stays_when_a_shorter_or_fresher_one_over_a_weaker_neighbour_turns_up() {
    for (keep_stable, expected) in [(true, 6), (false, 7)] {
        let mut bench = Bench::new(config(|signal| signal.keep_stable = keep_stable));
        bench.reply(6, -70.0, rrep(9, 20, 3, 5));
        bench.reply(7, -79.0, rrep(9, 20, 1, 5));
        assert_eq!(bench.route(9).next_hop, ip(expected), "shorter");
        bench.reply(7, -79.0, rrep(9, 30, 1, 5));
        assert_eq!(bench.route(9).next_hop, ip(expected), "fresher, for this node alone");
    }
    let mut bench = aware();
    bench.reply(6, -75.0, rrep(9, 20, 3, 5));
    bench.reply(7, -70.0, rrep(9, 20, 3, 5));
    assert_eq!(bench.route(9).next_hop, ip(7), "equal and stronger");
    bench.signal(4, -70.0);
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, Some(25)));
    bench.reply(6, -79.0, rrep(9, 30, 3, 1));
    assert_eq!(bench.route(9).next_hop, ip(6), "a newer number that this node passes on binds it");
    // The neighbour that the route uses fades: now any route may replace it.
    bench.signal(6, -100.0);
    bench.signal(6, -100.0);
    bench.reply(7, -79.0, rrep(9, 31, 3, 5));
    assert_eq!(bench.route(9).next_hop, ip(7));
}

#[test]
fn without_link_layer_detection_only_the_packet_is_lost() {
    let mut bench = aware();
    bench.reply(6, -70.0, rrep(9, 20, 1, 5));
    assert_eq!(dropped(&bench.fail(data(5, 9, 1), 6)), [(1, DropReason::LinkBroken)]);
    assert!(bench.is_valid(9));
    assert_eq!(bench.aodv.counters().link_failures, 1);
}

#[test]
fn hellos_go_out_always_if_asked_for() {
    let mut bench = aware();
    let hellos = bench.pass(ms(3_000));
    let at: Vec<_> = hellos.iter().map(|&(at, _)| at).collect();
    assert_eq!(at, [at_ms(1_000), at_ms(2_000), at_ms(3_000), at_ms(4_000)], "the bench begins at 1 s");
    assert_eq!(replies(&untimed(hellos)).len(), 4);
}

#[test]
fn jitter_spreads_hellos_around_their_interval() {
    let hello = HelloConfig { always: true, jitter: ms(100), ..HelloConfig::standard() };
    let mut first = Vec::new();
    for id in 0..20 {
        let mut aodv = node(id, Config { hello: Some(hello), ..Config::standard() });
        let mut at = Vec::new();
        while at.len() < 50 {
            let now = aodv.next_timeout().expect("there is always a next HELLO");
            aodv.handle_timeout(now, &mut Vec::new());
            at.push(now);
        }
        assert!(at[0] < at_ms(1_000), "the first comes within the first interval");
        let gaps: Vec<_> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (ms(900)..=ms(1_100)).contains(gap)), "{gaps:?}");
        assert!(gaps.iter().any(|&gap| gap < ms(980)) && gaps.iter().any(|&gap| gap > ms(1_020)));
        first.push(at[0]);
    }
    assert!(first.iter().any(|&at| at < at_ms(300)) && first.iter().any(|&at| at > at_ms(700)));
}

/// Section 5.2 of the paper: 320 ms, then again. With a ring of TTL 2, that is the RFC's waiting time.
#[test]
fn requests_are_repeated_after_320_ms() {
    for config in [
        Config { search_timeout: SearchTimeout::Fixed(ms(320)), ..Config::standard() },
        Config { ttl_start: 2, ..Config::standard() },
    ] {
        let mut bench = Bench::new(config);
        bench.originate(9, 1);
        let out = bench.pass(ms(320));
        let [(at, _)] = out[..] else { panic!("{out:?}") };
        assert_eq!(at, at_ms(1_320));
        assert_eq!(requests(&untimed(out))[0].1, config.ttl_start + config.ttl_increment);
    }
}

#[test]
fn discovery_times_run_from_the_first_request_to_the_reply() {
    let mut bench = Bench::standard();
    bench.originate(9, 1);
    bench.pass(ms(500));
    assert!(bench.aodv.counters().rreq_repeated > 0);
    bench.receive_rrep(6, rrep(9, 20, 1, 5));
    let found = bench.aodv.usage(ip(9)).discoveries;
    assert_eq!((found.count, found.first, found.sum), (1, Some(ms(500)), ms(500)));
    // A better reply to the same request is not a second discovery.
    bench.receive_rrep(6, rrep(9, 22, 1, 5));
    assert_eq!(bench.aodv.usage(ip(9)).discoveries.count, 1);
    bench.fail(data(5, 9, 2), 6);
    bench.pass(ms(10));
    bench.receive_rrep(6, rrep(9, 30, 1, 5));
    let found = bench.aodv.usage(ip(9)).discoveries;
    assert_eq!((found.count, found.first, found.longest, found.sum), (2, Some(ms(500)), ms(500), ms(510)));
}

#[test]
fn changes_of_the_route_count_as_packets_see_them() {
    let mut bench = Bench::standard();
    bench.learn(9, 6, 2, 10);
    for (seqno, next_hop) in [(12, 7), (14, 6), (16, 7), (18, 7)] {
        bench.originate(9, 1);
        bench.learn(9, next_hop, 2, seqno);
    }
    // 6, 7, 6, 7: the last two changes to the table before the next packet are one at most.
    assert_eq!(bench.aodv.usage(ip(9)).route_changes, 3);
    bench.transit(1, 9, 2);
    assert_eq!(bench.aodv.usage(ip(9)).route_changes, 3, "packets of others do not count");
    assert_eq!(bench.aodv.usage(ip(77)), Usage::default());
}

/// RFC 3561 section 6.7: a reply with the A flag is acknowledged to the neighbour that sent it, and relayed without the
/// flag.
#[test]
fn a_reply_that_asks_for_it_is_acknowledged() {
    let mut bench = Bench::standard();
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 9, None));
    let out = bench.receive_rrep(6, Rrep { ack_required: true, ..rrep(9, 20, 1, 1) });
    let acks: Vec<_> = messages(&out).filter(|(message, ..)| **message == AodvMessage::RrepAck).collect();
    let [(_, packet, next_hop)] = acks[..] else { panic!("{out:?}") };
    assert_eq!((packet.ttl, packet.dst, next_hop), (1, ip(6), via(6)));
    assert_eq!(replies(&out), [(rrep(9, 20, 2, 1), via(4))]);
    assert_eq!(bench.receive_with(6, AodvMessage::RrepAck, 1, ip(5)), [], "one that comes is taken note of");
}

#[test]
fn a_route_error_about_more_than_255_destinations_is_sent_in_parts() {
    let mut bench = Bench::new(Config { rerr_rate_limit: None, repair: RepairRule::Off, ..Config::standard() });
    bench.receive_rreq(4, 5, rreq(1, 10, 1, 300, None));
    for dst in 1000..1300 {
        bench.receive_rrep(6, rrep(dst, 20, 1, 1));
    }
    let out = bench.fail(data(1, 1000, 1), 6);
    let lengths: Vec<_> = errors(&out).iter().map(|(rerr, _)| rerr.unreachable.len()).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 301, "with the neighbour itself");
    assert_eq!(lengths, [255, 46]);
}
