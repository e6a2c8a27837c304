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
    /// Packets without a route handed over by the kernel.
    pub caught: u64,
    /// Packets handed back to the kernel.
    pub released: u64,
    /// Packets that the kernel did not take back.
    pub release_failed: u64,
    /// Messages that the kernel refused to send.
    pub send_failed: u64,
    /// Route changes that the kernel has refused.
    pub kernel_refused: u64,
    /// Routes and rules that another program removed, and that were restored.
    pub restored: u64,
    /// Failed attempts to write the numbers, for example because the disk was full.
    pub unwritten: u64,
    /// Packets observed at the interfaces.
    pub frames_seen: u64,
    /// Links given up because ARP requests were not answered.
    pub failures_arp: u64,
    /// Links given up because frames were given up.
    pub failures_frames: u64,
    /// Links given up because their device went down.
    pub failures_device: u64,
    /// Lost packets, by reason.
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
    /// Source of signal strengths.
    pub signal_source: String,
    /// Time since the start.
    pub uptime_s: f64,
    /// Processor time of the process.
    pub processor_s: f64,
    /// Own sequence number.
    pub seqno: u32,
    /// Problems of interfaces and of the state file, as text.
    #[serde(default)]
    pub problems: Vec<String>,
    /// Whether it is quiet after a start without numbers (RFC 3561 section 6.13).
    pub quiet: bool,
    /// The routing table, including invalid routes.
    pub routes: Vec<Route>,
    /// The nodes that were heard.
    pub neighbours: Vec<Neighbour>,
    /// Routing delays and failures of own packets, by destination.
    pub searches: Vec<Search>,
    /// AODV's counters.
    pub counters: BTreeMap<String, u64>,
    /// Refused messages, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Lost packets without a route, by reason.
    pub lost: BTreeMap<String, u64>,
    /// The daemon's own counters.
    pub daemon: BTreeMap<String, u64>,
}

/// A route.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Route {
    /// The destination.
    pub destination: String,
    /// `valid`, `invalid` or `repair`.
    pub state: String,
    /// The next hop, for a valid route.
    pub next_hop: Option<String>,
    /// Its interface.
    pub interface: Option<String>,
    /// Hop count, for a valid route.
    pub hops: Option<u8>,
    /// Sequence number, if one is known.
    pub seqno: Option<u32>,
    /// Time until it expires.
    pub expires_s: f64,
    /// Whether data has been sent over it.
    pub used: bool,
    /// Neighbours that forward over it.
    pub precursors: Vec<String>,
}

/// A node that was heard.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Neighbour {
    /// Its address.
    pub address: String,
    /// Its MAC address, if known.
    pub mac: Option<String>,
    /// The interface over which it is reached.
    pub interface: String,
    /// Time since it was last heard.
    pub heard_s: f64,
    /// Number of its messages.
    pub messages: u64,
    /// Signal strength of the last one, in dBm.
    pub signal_dbm: Option<f64>,
    /// Smoothed signal strength, if AODV considers it.
    pub smoothed_dbm: Option<f64>,
    /// Whether it is good enough to route over, if AODV considers that.
    pub stable: Option<bool>,
    /// Whether its requests are ignored because the link works in only one direction.
    pub blacklisted: bool,
}

/// Outcome of own packets for a destination.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Search {
    /// The destination.
    pub destination: String,
    /// Searches ended by a reply.
    pub found: u64,
    /// Duration of the first search.
    pub first_s: Option<f64>,
    /// Duration of the longest search.
    pub longest_s: f64,
    /// Mean duration of the searches.
    pub mean_s: Option<f64>,
    /// How often packets took a different next hop than the previous one.
    pub route_changes: u64,
}

impl Report {
    /// The current state of a daemon.
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
        let head = ["destination", "next hop", "interface", "hops", "seqno", "expires s", "", "used by"];
        table(&head, &[false, false, false, true, true, true], &rows.collect::<Vec<_>>())
    }

    /// The neighbours as a table.
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

    /// Both tables, under a summary of the daemon.
    pub fn overview(&self) -> String {
        let count = |name: &str| self.counters.get(name).copied().unwrap_or(0);
        let refused: u64 = self.refused.values().sum();
        let problems: String = self.problems.iter().map(|words| format!("problem: {words}\n")).collect();
        format!(
            "{} over {}, up {:.0} s, seqno {}{}, signal: {}\nrequests {} sent, {} received, {} forwarded; replies {} \
                sent, {} forwarded; errors {} sent, {} received; refused {}\n{problems}\n{}\n{}",
            self.address,
            self.interfaces.join(" "),
            self.uptime_s,
            self.seqno,
            if self.quiet { ", silent" } else { "" },
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
