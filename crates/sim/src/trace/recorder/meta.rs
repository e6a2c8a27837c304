//! `meta.json`: description of the run and of its recorded part.

use super::super::tables::{ColumnAbout, Tables};
use super::flows::FlowAbout;
use super::{Filter, Kind};
use crate::scenario::{NetworkFlow, Scenario};
use crate::setup::Setup;
use fourhop_units::{NodeId, Time};
use serde::Serialize;
use std::net::Ipv4Addr;

/// Version of the format; incremented by changes that could break a reader.
const FORMAT: u32 = 1;

/// The description of a trace.
#[derive(Clone, Serialize, Debug)]
pub struct Meta {
    format: u32,
    fourhop: &'static str,
    complete: bool,
    kind: &'static str,
    seed: u64,
    profile: serde_json::Value,
    scenario: serde_json::Value,
    start_ns: i64,
    end_ns: i64,
    filter: FilterAbout,
    nodes: Vec<NodeAbout>,
    ranges: Ranges,
    flows: Vec<FlowAbout>,
    walls: Vec<WallAbout>,
    /// Slots and interframe spaces.
    mac: MacAbout,
    tables: Vec<TableMeta>,
}

#[derive(Clone, Serialize, Debug)]
struct FilterAbout {
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    nodes: Option<Vec<u32>>,
    flows: Option<Vec<u32>>,
}

#[derive(Clone, Serialize, Debug)]
struct NodeAbout {
    node: u32,
    name: String,
    address: Ipv4Addr,
    radio: bool,
    gateway: bool,
    moves: bool,
    x_m: Option<f64>,
    y_m: Option<f64>,
}

#[derive(Clone, Serialize, Debug)]
struct Ranges {
    reception_m: f64,
    carrier_sense_m: f64,
}

#[derive(Clone, Serialize, Debug)]
struct WallAbout {
    corners_m: Vec<(f64, f64)>,
    loss_db: f64,
}

#[derive(Clone, Serialize, Debug)]
struct MacAbout {
    slot_ns: i64,
    sifs_ns: i64,
    difs_ns: i64,
}

#[derive(Clone, Serialize, Debug)]
struct TableMeta {
    name: &'static str,
    about: &'static str,
    rows: u64,
    columns: Vec<ColumnAbout>,
}

impl Meta {
    /// Describes the run before its first event.
    pub fn new(scenario: &Scenario, setup: &Setup, seed: u64, kind: Kind, filter: &Filter) -> Meta {
        let radios = (0..setup.positions.len() as u32).map(NodeId);
        let hosts = setup.wired.iter().flat_map(|plan| (0..plan.hosts).map(NodeId::wired));
        let gateways = setup.wired.as_ref().map_or(&[][..], |plan| &plan.gateways);
        let node = |node: NodeId| {
            let place = setup.positions.get(node.index()).filter(|_| node.wired_number().is_none());
            NodeAbout {
                node: scenario.number(node),
                name: match node.wired_number() {
                    None => scenario.station_name(node),
                    Some(_) => scenario.node_name(node),
                },
                address: node.ipv4(),
                radio: place.is_some(),
                gateway: gateways.contains(&node),
                moves: place.is_some() && setup.movement.is_some(),
                x_m: place.map(|place| place.0),
                y_m: place.map(|place| place.1),
            }
        };
        let walls = setup.site.iter().flat_map(|site| &site.walls);
        let (reception_m, carrier_sense_m) = setup.ranges_m();
        let mac = &setup.node.mac;
        let nanos = |dur: fourhop_units::Dur| dur.as_nanos() as i64;
        let scenario_json: serde_json::Value = serde_json::from_str(&scenario.to_json()).unwrap_or_default();
        Meta {
            format: FORMAT,
            fourhop: env!("CARGO_PKG_VERSION"),
            complete: false,
            kind: match kind {
                Kind::Simulated => "simulated",
                Kind::Emulated => "emulated",
            },
            seed,
            profile: scenario_json["profile"].clone(),
            scenario: scenario_json,
            start_ns: filter.from.as_nanos() as i64,
            end_ns: 0,
            filter: FilterAbout {
                from_ns: (filter.from > Time::ZERO).then_some(filter.from.as_nanos() as i64),
                to_ns: (filter.to < Time::NEVER).then_some(filter.to.as_nanos() as i64),
                nodes: filter.nodes.clone(),
                flows: filter.flows.clone(),
            },
            nodes: radios.chain(hosts).map(node).collect(),
            ranges: Ranges { reception_m, carrier_sense_m },
            flows: Vec::new(),
            walls: walls.map(|wall| WallAbout { corners_m: wall.corners.clone(), loss_db: wall.loss.0 }).collect(),
            mac: MacAbout { slot_ns: nanos(mac.slot), sifs_ns: nanos(mac.sifs), difs_ns: nanos(mac.difs()) },
            tables: Tables::about()
                .into_iter()
                .map(|table| TableMeta { name: table.name, about: table.about, rows: 0, columns: table.columns })
                .collect(),
        }
    }

    /// Updates the description to `now`, and returns it as JSON.
    pub fn by_now(&mut self, now: Time, complete: bool, flows: &[FlowAbout], rows: &[u64]) -> String {
        (self.complete, self.end_ns) = (complete, now.as_nanos() as i64);
        if let Some(to) = self.filter.to_ns {
            self.end_ns = self.end_ns.min(to);
        }
        self.flows = flows.to_vec();
        self.tables.iter_mut().zip(rows).for_each(|(table, &rows)| table.rows = rows);
        serde_json::to_string_pretty(self).expect("INVARIANT: a description is JSON") + "\n"
    }
}

/// Returns the flows of a scenario without their ports.
pub fn flows(scenario: &Scenario, flows: &[NetworkFlow]) -> Vec<FlowAbout> {
    let about = |(index, flow): (usize, &NetworkFlow)| FlowAbout {
        flow: index as u32,
        name: flow.name.clone(),
        src: Some(scenario.number(flow.src)),
        dst: Some(scenario.number(flow.dst)),
        transport: flow.traffic.transport.name().to_owned(),
        app: flow.traffic.app.name(),
        src_port: None,
        dst_port: 0,
    };
    flows.iter().enumerate().map(about).collect()
}
