//! Writes a scenario with all keys explicit, as TOML for people and as JSON for programs and hashes. Reading the result
//! gives the same scenario.

use super::key::{Choice, Section};
use super::schema::is_list;
use super::sections::{AppKind, Connections, FlowKeys, General, MobilityKeys, TopologyKeys, TopologyKind, TrafficKeys};
use super::value::{Field, Keys, Metres, Number, Value, Values};
use super::wired::{self, Endpoint};
use super::{App, Scenario, Traffic, movement};
use crate::topology::{Position, Topology};
use fourhop_units::Time;
use std::fmt::Write;

/// Keys and values of one table.
pub(super) type Table = Vec<(&'static str, Value)>;

impl Scenario {
    /// Returns the scenario as TOML, with all keys explicit.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, table) in self.tables() {
            match name {
                "" => {}
                name if is_list(name) => write!(text, "\n[[{name}]]\n").expect("INVARIANT: writing to a text succeeds"),
                name => write!(text, "\n[{name}]\n").expect("INVARIANT: writing to a text succeeds"),
            }
            for (key, value) in table {
                writeln!(text, "{key} = {}", value.to_toml()).expect("INVARIANT: writing to a text succeeds");
            }
        }
        text
    }

    /// Returns the scenario as JSON, with all keys explicit and in alphabetical order: equal scenarios give equal
    /// texts.
    pub fn to_json(&self) -> String {
        let mut root = serde_json::Map::new();
        let mut lists = std::collections::BTreeMap::<_, Vec<_>>::new();
        for (name, table) in self.tables() {
            let map = table.into_iter().map(|(key, value)| (key.to_owned(), value.to_json()));
            match name {
                "" => root.extend(map),
                name if is_list(name) => lists.entry(name).or_default().push(serde_json::Value::Object(map.collect())),
                name => {
                    root.insert(name.to_owned(), serde_json::Value::Object(map.collect()));
                }
            }
        }
        for (name, tables) in lists {
            root.insert(name.to_owned(), serde_json::Value::Array(tables));
        }
        serde_json::Value::Object(root).to_string()
    }

    fn tables(&self) -> Vec<(&'static str, Table)> {
        let general = General {
            name: self.name.clone(),
            profile: self.profile,
            duration: self.duration,
            warmup: Some(self.warmup),
            seed: self.seed,
            batches: self.batches,
            packets: self.packets,
            sample_every: self.sample_every,
        };
        let (shape, places) = topology(&self.topology);
        let (model, ways) = movement::keys(self.movement.as_ref());
        let mut tables = vec![
            table(&general, None),
            selected::<TopologyKeys>("kind", shape, places),
            selected::<MobilityKeys>("model", model, ways),
            table(&self.radio, Some(self.radio.model.name())),
        ];
        tables.extend(self.radios.iter().map(|radios| table(radios, None)));
        tables.extend(self.site.nodes.iter().map(|node| table(node, None)));
        tables.extend(self.site.losses.iter().map(|loss| table(loss, None)));
        tables.extend(self.site.walls.iter().map(|wall| table(wall, None)));
        tables.extend([
            table(&self.mac, None),
            table(&self.edca, None),
            table(&self.link, None),
            table(&self.routing, None),
        ]);
        tables.extend(self.site.routes.iter().map(|route| table(route, None)));
        tables.extend(self.own.tables());
        tables.extend([
            table(&self.tcp, None),
            table(&self.tcp_ap, None),
            table(&self.adhoc_tcp, None),
            table(&self.c3tcp, None),
        ]);
        if let Some(side) = &self.wired {
            let (wired, wires) = wired::keys(side);
            tables.push(table(&wired, None));
            tables.extend(wires.iter().map(|wire| table(wire, None)));
        }
        tables.extend(self.gateway.iter().map(|gateway| table(gateway, None)));
        if let Some(pairs) = &self.traffic {
            let own = vec![("pairs", pairs.pairs.to_value()), ("stagger", pairs.stagger.to_value())];
            tables.push(traffic::<TrafficKeys>(&pairs.traffic, own));
        }
        for flow in &self.flows {
            let (from, to) = (self.endpoint(flow.from), self.endpoint(flow.to));
            let own = vec![("name", flow.name.to_value()), ("from", Some(from)), ("to", Some(to))];
            tables.push(traffic::<FlowKeys>(&flow.traffic, own));
        }
        tables
    }
}

impl Scenario {
    /// Returns an end of a flow as written.
    fn endpoint(&self, endpoint: Endpoint) -> Value {
        match (endpoint, &self.wired) {
            (Endpoint::Node(node), None) => Value::Int(u64::from(node.0)),
            (Endpoint::Node(node), _) if node.wired_number().is_none() => Value::Int(u64::from(node.0)),
            (endpoint, Some(side)) => Value::Text(side.name(endpoint)),
            (_, None) => Value::Text("random".into()),
        }
    }
}

/// Returns the values of a section; missing optional values are "none".
pub(super) fn table<S: Section>(section: &S, selector: Option<&str>) -> (&'static str, Table) {
    rows::<S>(section.values().into_iter().collect(), selector)
}

fn rows<S: Section>(mut values: Values, selector: Option<&str>) -> (&'static str, Table) {
    let belongs = |only_for: &[&str]| only_for.is_empty() || selector.is_none_or(|s| only_for.contains(&s));
    let keys = S::KEYS.iter().filter(|key| belongs(key.only_for));
    let rows = keys.filter_map(|key| {
        let none = key.is_optional().then(|| Value::Text("none".into()));
        values.remove(key.name).or(none).map(|value| (key.name, value))
    });
    (S::NAME, rows.collect())
}

/// A section whose `key` determines which of its other `keys` apply.
fn selected<S: Section>(key: &'static str, kind: impl Choice + Field, keys: Keys) -> (&'static str, Table) {
    let all = keys.into_iter().chain([(key, kind.to_value())]);
    rows::<S>(all.filter_map(|(key, value)| Some((key, value?))).collect(), Some(kind.name()))
}

/// `[traffic]` or one of `[[flows]]`: the keys common to both, and its `own` keys.
fn traffic<S: Section>(traffic: &Traffic, own: Keys) -> (&'static str, Table) {
    let since_zero = |t: Time| t.saturating_since(Time::ZERO).to_value();
    let (app, keys) = match traffic.app {
        App::Bulk => (AppKind::Bulk, vec![]),
        App::Transfer { size } => (AppKind::Transfer, vec![("size", size.to_value())]),
        App::Stream { rate } => (AppKind::Stream, vec![("rate", rate.to_value())]),
        App::Files { mean_size, shape, mean_pause, fresh } => {
            let connection = if fresh { Connections::Fresh } else { Connections::Same };
            let keys = vec![
                ("mean_size", mean_size.to_value()),
                ("shape", Number::thousandths(shape).to_value()),
                ("mean_pause", mean_pause.to_value()),
                ("connection", connection.to_value()),
            ];
            (AppKind::Files, keys)
        }
        App::Cbr { rate, payload } => (AppKind::Cbr, vec![("rate", rate.to_value()), ("payload", payload.to_value())]),
        App::Ping { interval, outstanding, payload } => {
            let keys = vec![
                ("interval", interval.to_value()),
                ("outstanding", outstanding.to_value()),
                ("payload", payload.to_value()),
            ];
            (AppKind::Ping, keys)
        }
    };
    let common = [
        ("transport", traffic.transport.name().to_owned().to_value()),
        ("start", since_zero(traffic.start)),
        ("stop", traffic.stop.and_then(since_zero)),
        ("window", traffic.window.to_value()),
        ("dscp", u32::from(traffic.dscp).to_value()),
    ];
    selected::<S>("app", app, common.into_iter().chain(keys).chain(own).collect())
}

fn topology(topology: &Topology) -> (TopologyKind, Keys) {
    let metres = |m: &f64| Metres(*m).to_value();
    match topology {
        Topology::Chain { hops, spacing } => {
            (TopologyKind::Chain, vec![("hops", hops.to_value()), ("spacing", metres(spacing))])
        }
        Topology::Cross { hops, spacing } => {
            (TopologyKind::Cross, vec![("hops", hops.to_value()), ("spacing", metres(spacing))])
        }
        Topology::ParallelChains { hops, spacing, separation, centred } => {
            let keys = vec![
                ("chains", (hops.len() as u32).to_value()),
                ("hops", Some(Value::List(hops.iter().filter_map(Field::to_value).collect()))),
                ("spacing", metres(spacing)),
                ("separation", metres(separation)),
                ("centred", centred.to_value()),
            ];
            (TopologyKind::ParallelChains, keys)
        }
        Topology::Grid { columns, rows, spacing } => {
            let keys = vec![("columns", columns.to_value()), ("rows", rows.to_value()), ("spacing", metres(spacing))];
            (TopologyKind::Grid, keys)
        }
        Topology::Random { nodes, width, height, redraws, seed } => {
            let keys = vec![
                ("nodes", nodes.to_value()),
                ("width", metres(width)),
                ("height", metres(height)),
                ("redraws", redraws.to_value()),
                ("seed", seed.to_value()),
            ];
            (TopologyKind::Random, keys)
        }
        Topology::Positions(places) => {
            (TopologyKind::Positions, vec![("positions", Some(Value::List(places.iter().map(place).collect())))])
        }
    }
}

fn place(&(x, y): &Position) -> Value {
    Value::List([x, y].into_iter().filter_map(|c| Metres(c).to_value()).collect())
}
