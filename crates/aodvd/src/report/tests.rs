use super::*;
use crate::config::Config;
use crate::engine::{Arrival, Numbers};
use fourhop_proto::drop::DropReason;
use fourhop_proto::wire::{AodvMessage, Body, EchoMessage, Ipv4Packet, PacketMeta, Rrep, encode};
use fourhop_units::{Dbm, NodeId, Purpose, Stream};

fn ip(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, n)
}

fn engine(numbers: Option<Numbers>) -> Engine {
    let text = "address = '10.0.0.1'\ninterfaces = ['mesh0', 'mesh1']\nmesh = ['10.0.0.0/24']\n[hello]\n\
        always = false\n[signal]\nsource = 'emulator'\nemulator = '/x'\nthreshold = '-80dBm'\n";
    Engine::new(Config::parse(text).unwrap(), None, numbers, Stream::new(1, NodeId(1), Purpose::RoutingJitter))
}

/// A reply of neighbour 10.0.0.2 on the second interface, about 10.0.0.9, three hops away.
fn reply(engine: &mut Engine, now: Time, seqno: u32) {
    let reply = Rrep {
        hop_count: 2,
        destination: ip(9),
        destination_seqno: seqno,
        originator: ip(1),
        lifetime_ms: 6_000,
        ack_required: false,
        cost: None,
    };
    let mut payload = Vec::new();
    encode::aodv(&AodvMessage::Rrep(reply), &mut payload);
    let arrival = Arrival { interface: 1, from: ip(2), to: ip(1), ttl: 5, strength: Some(Dbm(-60.0)) };
    engine.handle_datagram(now, 0, arrival, &payload, &mut Vec::new()).unwrap();
}

fn ask(engine: &mut Engine, now: Time) {
    let body = Body::Echo(EchoMessage { reply: false, ident: 7, number: 1, payload: 56 });
    let (src, dst) = (ip(1), ip(9));
    let packet = Ipv4Packet { src, dst, ttl: 64, ident: 1, dscp: 0, body, meta: PacketMeta::default() };
    engine.handle_caught(now, 0, packet, true, &mut Vec::new());
}

fn rows(table: &str) -> Vec<Vec<&str>> {
    table.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn the_state_has_routes_neighbours_and_searches_with_their_times() {
    let mut engine = engine(Some(Numbers { seqno: 10, rreq_id: 1, stamp: 0 }));
    let at = Time::from_millis;
    // Two searches, of 250 ms and of 100 ms; the route of the first breaks in between.
    ask(&mut engine, at(1_000));
    reply(&mut engine, at(1_250), 7);
    engine.handle_failure(at(2_000), 0, ip(2), DropReason::DataRetryLimit, &mut Vec::new());
    let mac = |address| (address == ip(2)).then(|| "02:00:00:00:00:02".to_owned());
    let report = Report::new(at(2_000), &engine, &Counters::default(), mac);
    let [_, broken] = &report.routes[..] else { panic!("{:?}", report.routes) };
    assert_eq!((&*broken.destination, &*broken.state), ("10.0.0.9", "invalid"));
    assert_eq!((broken.hops, &broken.next_hop, &broken.interface), (None, &None, &None));
    ask(&mut engine, at(3_000));
    reply(&mut engine, at(3_100), 9);
    let report = Report::new(at(4_100), &engine, &Counters::default(), mac);
    let [near, far] = &report.routes[..] else { panic!("{:?}", report.routes) };
    assert_eq!((&*near.destination, near.seqno), ("10.0.0.2", None), "a neighbour whose number nobody has said");
    let expected = Route {
        destination: "10.0.0.9".to_owned(),
        state: "valid".to_owned(),
        next_hop: Some("10.0.0.2".to_owned()),
        interface: Some("mesh1".to_owned()),
        hops: Some(3),
        seqno: Some(9),
        expires_s: 5.0,
        used: true,
        precursors: vec![],
    };
    assert_eq!(far, &expected);
    let neighbour = Neighbour {
        address: "10.0.0.2".to_owned(),
        mac: mac(ip(2)),
        interface: "mesh1".to_owned(),
        heard_s: 1.0,
        messages: 2,
        signal_dbm: Some(-60.0),
        smoothed_dbm: Some(-60.0),
        stable: Some(true),
        blacklisted: false,
    };
    assert_eq!(report.neighbours, [neighbour]);
    let [search] = &report.searches[..] else { panic!("{:?}", report.searches) };
    assert_eq!((&*search.destination, search.found, search.first_s), ("10.0.0.9", 2, Some(0.25)));
    assert!((search.longest_s - 0.25).abs() < 1e-9 && search.mean_s.is_some_and(|s| (s - 0.175).abs() < 1e-9));
    assert!((report.uptime_s - 4.1).abs() < 1e-9 && !report.quiet);
    assert_eq!((&*report.address, &*report.signal_source), ("10.0.0.1", "emulator"));
    assert_eq!((report.seqno, report.counters["rreq_originated"]), (engine.aodv().seqno(), 2));
}

#[test]
fn a_search_without_an_answer_has_no_mean() {
    let mut engine = engine(Some(Numbers { seqno: 10, rreq_id: 1, stamp: 0 }));
    ask(&mut engine, Time::from_secs(1));
    let report = Report::new(Time::from_secs(1), &engine, &Counters::default(), |_| None);
    assert!(report.searches.iter().all(|search| (search.found, search.mean_s) == (0, None)), "{report:?}");
}

#[test]
fn every_counter_has_its_name() {
    let mut engine = engine(None);
    let stranger = Arrival { interface: 0, from: [192, 0, 2, 1].into(), to: ip(1), ttl: 1, strength: None };
    for _ in 0..3 {
        let _ = engine.handle_datagram(Time::ZERO, 0, stranger, &[4, 0], &mut Vec::new());
    }
    // Without its numbers it suppresses its request.
    ask(&mut engine, Time::ZERO);
    let counters = Counters {
        caught: 11,
        released: 12,
        release_failed: 13,
        send_failed: 14,
        kernel_refused: 15,
        restored: 16,
        unwritten: 17,
        frames_seen: 18,
        failures_arp: 19,
        failures_frames: 20,
        failures_device: 21,
        lost: [("no_route", 22)].into(),
    };
    let report = Report::new(Time::ZERO, &engine, &counters, |_| None);
    let expected = [
        ("caught", 11),
        ("released", 12),
        ("release_failed", 13),
        ("send_failed", 14),
        ("kernel_refused", 15),
        ("restored", 16),
        ("unwritten", 17),
        ("frames_seen", 18),
        ("link_failures_arp", 19),
        ("link_failures_frames", 20),
        ("link_failures_device", 21),
        ("kept_back", 1),
    ];
    let owned = |counts: &[(&str, u64)]| counts.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
    assert_eq!(report.daemon, owned(&expected));
    assert_eq!((report.refused, report.lost), (owned(&[("stranger", 3)]), owned(&[("no_route", 22)])));
    assert!(report.quiet);
}

#[test]
fn the_table_of_routes_leaves_out_invalid_ones_and_says_which_are_used_or_repaired() {
    let route = |destination: &str, state: &str| Route {
        destination: destination.to_owned(),
        state: state.to_owned(),
        ..Route::default()
    };
    let fresh = Route {
        next_hop: Some("10.0.0.2".to_owned()),
        interface: Some("mesh0".to_owned()),
        hops: Some(3),
        seqno: Some(17),
        expires_s: 12.34,
        ..route("10.0.0.9", "valid")
    };
    let used = Route {
        used: true,
        precursors: vec!["10.0.0.4".to_owned(), "10.0.0.5".to_owned()],
        ..Route { destination: "10.0.0.10".to_owned(), ..fresh.clone() }
    };
    let repaired = Route { used: true, ..route("10.0.0.11", "repair") };
    let routes = vec![fresh, used, repaired, route("10.0.0.12", "invalid")];
    let table = Report { routes, ..Report::default() }.routes_table();
    assert_eq!(
        rows(&table)[1..],
        [
            &["10.0.0.9", "10.0.0.2", "mesh0", "3", "17", "12.3"][..],
            &["10.0.0.10", "10.0.0.2", "mesh0", "3", "17", "12.3", "used", "10.0.0.4", "10.0.0.5"],
            &["10.0.0.11", "-", "-", "-", "-", "0.0", "repair"],
        ]
    );
    let head = table.lines().next().unwrap();
    assert_eq!(head, "destination  next hop  interface  hops  seqno  expires s          used by");
}

#[test]
fn the_table_of_neighbours_says_which_are_weak_and_which_hear_nothing() {
    let neighbour = |n: u8, stable: Option<bool>, blacklisted: bool| Neighbour {
        address: ip(n).to_string(),
        interface: "mesh0".to_owned(),
        heard_s: 0.26,
        messages: 5,
        stable,
        blacklisted,
        ..Neighbour::default()
    };
    let measured = Neighbour {
        mac: Some("02:00:00:00:00:02".to_owned()),
        signal_dbm: Some(-71.25),
        smoothed_dbm: Some(-70.06),
        ..neighbour(2, Some(true), false)
    };
    let neighbours =
        vec![measured, neighbour(3, Some(false), false), neighbour(4, Some(true), true), neighbour(5, None, false)];
    let table = Report { neighbours, ..Report::default() }.neighbours_table();
    assert_eq!(
        rows(&table),
        [
            &["neighbour", "MAC", "address", "interface", "heard", "s", "messages", "dBm", "smoothed"][..],
            &["10.0.0.2", "02:00:00:00:00:02", "mesh0", "0.3", "5", "-71.2", "-70.1", "stable"],
            &["10.0.0.3", "-", "mesh0", "0.3", "5", "-", "-", "weak"],
            &["10.0.0.4", "-", "mesh0", "0.3", "5", "-", "-", "one-way"],
            &["10.0.0.5", "-", "mesh0", "0.3", "5", "-", "-"],
        ]
    );
}

#[test]
fn the_overview_begins_with_the_daemon_its_messages_and_its_problems() {
    let names = [
        "rreq_originated",
        "rreq_received",
        "rreq_relayed",
        "rrep_originated",
        "rrep_forwarded",
        "rerr_sent",
        "rerr_received",
    ];
    let report = Report {
        address: "10.0.0.1".to_owned(),
        interfaces: vec!["mesh0".to_owned(), "mesh1".to_owned()],
        signal_source: "nl80211".to_owned(),
        uptime_s: 61.4,
        seqno: 12,
        quiet: true,
        problems: vec!["mesh1 is down".to_owned()],
        counters: (1..).zip(names).map(|(n, name)| (name.to_owned(), n)).collect(),
        refused: [("flood".to_owned(), 30), ("stranger".to_owned(), 12)].into(),
        routes: vec![Route { destination: "10.0.0.9".to_owned(), ..Route::default() }],
        ..Report::default()
    };
    let tables = format!("{}\n{}", report.routes_table(), report.neighbours_table());
    assert_eq!(
        report.overview(),
        format!(
            "10.0.0.1 over mesh0 mesh1, up 61 s, seqno 12, silent, signal: nl80211\n\
             requests 1 sent, 2 received, 3 forwarded; replies 4 sent, 5 forwarded; errors 6 sent, 7 received; \
             refused 42\nproblem: mesh1 is down\n\n{tables}"
        )
    );
    let calm = Report { quiet: false, ..report }.overview();
    assert!(calm.contains("seqno 12, signal: nl80211"), "{calm}");
}
