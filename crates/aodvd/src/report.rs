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
mod tests;
