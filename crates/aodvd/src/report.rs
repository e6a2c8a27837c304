//! The status of a running daemon: one structure, as JSON and as tables.

use crate::engine::Engine;
use fourhop_live::screen::table;
use fourhop_proto::route::aodv::RouteState;
use fourhop_units::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// The daemon's counters.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Packets without a route that the kernel handed over.
    pub caught: u64,
    /// Packets handed back.
    pub released: u64,
    /// Those that the kernel did not take.
    pub release_failed: u64,
    /// Messages that the kernel did not take.
    pub send_failed: u64,
    /// Changes of routes that the kernel has refused.
    pub kernel_refused: u64,
    /// Routes and rules that another program took away, and that were put back.
    pub restored: u64,
    /// Attempts to write the numbers down that failed, as on a full disk.
    pub unwritten: u64,
    /// Packets that passed the interfaces, as far as they were seen.
    pub frames_seen: u64,
    /// Links given up because ARP had no answer.
    pub failures_arp: u64,
    /// Because frames were given up.
    pub failures_frames: u64,
    /// Because their device went down.
    pub failures_device: u64,
    /// Packets that were lost, by reason.
    pub lost: BTreeMap<&'static str, u64>,
}

/// The state of a daemon. Times are in seconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Version of the program.
    pub version: String,
    /// Address of the node.
    pub address: String,
    /// Its interfaces.
    pub interfaces: Vec<String>,
    /// Where signals come from.
    pub signal_source: String,
    /// Time since the start.
    pub uptime_s: f64,
    /// Processor time of the process.
    pub processor_s: f64,
    /// Own sequence number.
    pub seqno: u32,
    /// Faults of interfaces and of the state file, in words.
    #[serde(default)]
    pub problems: Vec<String>,
    /// Does it keep quiet after a start without numbers (RFC 3561 section 6.13)?
    pub quiet: bool,
    /// The routing table, invalid routes included.
    pub routes: Vec<Route>,
    /// The nodes that were heard.
    pub neighbours: Vec<Neighbour>,
    /// Routing delays and failures of own packets, by destination.
    pub searches: Vec<Search>,
    /// AODV's counters.
    pub counters: BTreeMap<String, u64>,
    /// Messages that were not let in, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Packets without a route that were lost, by reason.
    pub lost: BTreeMap<String, u64>,
    /// The daemon's own counters.
    pub daemon: BTreeMap<String, u64>,
}

/// A route.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Route {
    /// Where it leads.
    pub destination: String,
    /// `valid`, `invalid` or `repair`.
    pub state: String,
    /// The neighbour, of a valid one.
    pub next_hop: Option<String>,
    /// Where that is.
    pub interface: Option<String>,
    /// Hops, of a valid one.
    pub hops: Option<u8>,
    /// Sequence number, if one is known.
    pub seqno: Option<u32>,
    /// Until the end of its life.
    pub expires_s: f64,
    /// Has data been sent over it?
    pub used: bool,
    /// Neighbours that send through it.
    pub precursors: Vec<String>,
}

/// A node that was heard.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Neighbour {
    /// Its address.
    pub address: String,
    /// Its MAC address, if it has been seen.
    pub mac: Option<String>,
    /// Where it is reached.
    pub interface: String,
    /// Time since it was heard.
    pub heard_s: f64,
    /// Messages of it.
    pub messages: u64,
    /// Strength of the last one, in dBm.
    pub signal_dbm: Option<f64>,
    /// Smoothed, where AODV looks at it.
    pub smoothed_dbm: Option<f64>,
    /// Good enough to route over, where AODV looks at that.
    pub stable: Option<bool>,
    /// Are its requests ignored because the link works in one direction only?
    pub blacklisted: bool,
}

/// Fate of own packets for a destination.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Search {
    /// The destination.
    pub destination: String,
    /// Searches that a reply ended.
    pub found: u64,
    /// How long the first took.
    pub first_s: Option<f64>,
    /// The longest.
    pub longest_s: f64,
    /// Their mean.
    pub mean_s: Option<f64>,
    /// How often packets left through another neighbour than the one before.
    pub route_changes: u64,
}

impl Report {
    /// The present state of a daemon.
    pub fn new(now: Time, engine: &Engine, counters: &Counters, mac: impl Fn(Ipv4Addr) -> Option<String>) -> Report {
        let config = engine.config();
        let aodv = engine.aodv();
        let name = |interface: usize| config.interfaces.get(interface).cloned().unwrap_or_default();
        let routes = aodv.routes().map(|route| {
            let kernel = engine.routes().get(&route.dst);
            Route {
                destination: route.dst.to_string(),
                state: match route.state {
                    RouteState::Valid => "valid",
                    RouteState::Invalid => "invalid",
                    RouteState::InRepair => "repair",
                }
                .to_owned(),
                next_hop: kernel.map(|(next_hop, _)| next_hop.to_string()),
                interface: kernel.map(|&(_, interface)| name(interface)),
                hops: route.is_valid().then_some(route.hops),
                seqno: route.seqno_valid.then_some(route.seqno),
                expires_s: route.expires.saturating_since(now).as_secs_f64(),
                used: route.used,
                precursors: route.precursors().iter().map(Ipv4Addr::to_string).collect(),
            }
        });
        let neighbours = engine.neighbours().iter().map(|(&address, neighbour)| {
            let signal = engine.signal(address);
            Neighbour {
                address: address.to_string(),
                mac: mac(address),
                interface: name(neighbour.interface),
                heard_s: now.saturating_since(neighbour.heard).as_secs_f64(),
                messages: neighbour.messages,
                signal_dbm: neighbour.strength.map(|dbm| dbm.0),
                smoothed_dbm: signal.map(|signal| signal.smoothed.0),
                stable: signal.map(|signal| signal.stable),
                blacklisted: aodv.is_blacklisted(address),
            }
        });
        let searches = aodv.usages().map(|(destination, usage)| {
            let found = usage.discoveries;
            Search {
                destination: destination.to_string(),
                found: found.count,
                first_s: found.first.map(|first| first.as_secs_f64()),
                longest_s: found.longest.as_secs_f64(),
                mean_s: (found.count > 0).then(|| found.sum.as_secs_f64() / found.count as f64),
                route_changes: usage.route_changes,
            }
        });
        let named = |name: &str, count: u64| (name.to_owned(), count);
        Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            address: config.address.to_string(),
            interfaces: config.interfaces.clone(),
            signal_source: config.signal.source.map_or("none", fourhop_settings::key::Choice::name).to_owned(),
            uptime_s: now.as_secs_f64(),
            processor_s: fourhop_live::host::Reading::now().own.as_secs_f64(),
            seqno: aodv.seqno(),
            problems: vec![],
            quiet: engine.is_quiet(now),
            routes: routes.collect(),
            neighbours: neighbours.collect(),
            searches: searches.collect(),
            counters: aodv.counters().named().map(|(name, count)| named(name, count)).collect(),
            refused: engine.refusals().iter().map(|(refusal, &count)| named(refusal.name(), count)).collect(),
            lost: counters.lost.iter().map(|(&name, &count)| (name.to_owned(), count)).collect(),
            daemon: [
                ("caught", counters.caught),
                ("released", counters.released),
                ("release_failed", counters.release_failed),
                ("send_failed", counters.send_failed),
                ("kernel_refused", counters.kernel_refused),
                ("restored", counters.restored),
                ("unwritten", counters.unwritten),
                ("frames_seen", counters.frames_seen),
                ("link_failures_arp", counters.failures_arp),
                ("link_failures_frames", counters.failures_frames),
                ("link_failures_device", counters.failures_device),
                ("kept_back", engine.kept_back),
            ]
            .into_iter()
            .map(|(name, count)| named(name, count))
            .collect(),
        }
    }

    /// The valid routes as a table.
    pub fn routes_table(&self) -> String {
        let rows = self.routes.iter().filter(|route| route.state != "invalid").map(|route| {
            let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            vec![
                route.destination.clone(),
                or_dash(&route.next_hop),
                or_dash(&route.interface),
                route.hops.map_or("-".to_owned(), |hops| hops.to_string()),
                route.seqno.map_or("-".to_owned(), |seqno| seqno.to_string()),
                format!("{:.1}", route.expires_s),
                if route.state == "repair" {
                    "repair"
                } else if route.used {
                    "used"
                } else {
                    ""
                }
                .to_owned(),
                route.precursors.join(" "),
            ]
        });
        let head = ["destination", "next hop", "interface", "hops", "number", "expires s", "", "used by"];
        table(&head, &[false, false, false, true, true, true], &rows.collect::<Vec<_>>())
    }

    /// The nodes that were heard as a table.
    pub fn neighbours_table(&self) -> String {
        let rows = self.neighbours.iter().map(|neighbour| {
            let dbm = |dbm: Option<f64>| dbm.map_or("-".to_owned(), |dbm| format!("{dbm:.1}"));
            let state = match (neighbour.blacklisted, neighbour.stable) {
                (true, _) => "one-way",
                (false, Some(false)) => "weak",
                (false, Some(true)) => "stable",
                (false, None) => "",
            };
            vec![
                neighbour.address.clone(),
                neighbour.mac.clone().unwrap_or_else(|| "-".to_owned()),
                neighbour.interface.clone(),
                format!("{:.1}", neighbour.heard_s),
                neighbour.messages.to_string(),
                dbm(neighbour.signal_dbm),
                dbm(neighbour.smoothed_dbm),
                state.to_owned(),
            ]
        });
        let head = ["neighbour", "MAC address", "interface", "heard s", "messages", "dBm", "smoothed", ""];
        table(&head, &[false, false, false, true, true, true, true], &rows.collect::<Vec<_>>())
    }

    /// Both, under a line about the daemon.
    pub fn overview(&self) -> String {
        let count = |name: &str| self.counters.get(name).copied().unwrap_or(0);
        let refused: u64 = self.refused.values().sum();
        let problems: String = self.problems.iter().map(|words| format!("problem: {words}\n")).collect();
        format!(
            "{} over {}, up {:.0} s, number {}{}, signal: {}\nrequests {} sent, {} received, {} passed on; replies {} \
                sent, {} \
             passed on; errors {} sent, {} received; refused {}\n{problems}\n{}\n{}",
            self.address,
            self.interfaces.join(" "),
            self.uptime_s,
            self.seqno,
            if self.quiet { ", quiet" } else { "" },
            self.signal_source,
            count("rreq_originated"),
            count("rreq_received"),
            count("rreq_relayed"),
            count("rrep_originated"),
            count("rrep_forwarded"),
            count("rerr_sent"),
            count("rerr_received"),
            refused,
            self.routes_table(),
            self.neighbours_table(),
        )
    }
}

#[cfg(test)]
mod tests {
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

    /// A reply of the neighbour 10.0.0.2 at the second interface about 10.0.0.9, three hops away.
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
        // Two searches, of 250 ms and of 100 ms; the route of the first breaks.
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
        // Without its numbers it keeps its request back.
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
        assert_eq!(head, "destination  next hop  interface  hops  number  expires s          used by");
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
                "10.0.0.1 over mesh0 mesh1, up 61 s, number 12, quiet, signal: nl80211\n\
                 requests 1 sent, 2 received, 3 passed on; replies 4 sent, 5 passed on; errors 6 sent, 7 received; \
                 refused 42\nproblem: mesh1 is down\n\n{tables}"
            )
        );
        let calm = Report { quiet: false, ..report }.overview();
        assert!(calm.contains("number 12, signal: nl80211"), "{calm}");
    }
}
