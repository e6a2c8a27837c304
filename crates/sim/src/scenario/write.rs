//! Writes a scenario with every key explicit, as TOML for people and as JSON for programs and hashes. Reading the
//! result gives the same scenario.

use super::key::{Choice, Metres, Number, Section, Value};
use super::sections::{AppKind, Connections, FlowKeys, General, TopologyKeys, TopologyKind, TrafficKeys};
use super::wired::{self, Spot};
use super::{App, Scenario, Traffic, movement};
use crate::topology::{Position, Topology};
use fourhop_units::{Dur, Time};
use std::fmt::Write;

/// Keys and values of one table.
type Table = Vec<(&'static str, Value)>;

impl Scenario {
    /// The scenario as TOML, every key explicit.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, table) in self.tables() {
            match name {
                "" => {}
                "flows" | "wires" => write!(text, "\n[[{name}]]\n").expect("INVARIANT: writing to a text succeeds"),
                name => write!(text, "\n[{name}]\n").expect("INVARIANT: writing to a text succeeds"),
            }
            for (key, value) in table {
                writeln!(text, "{key} = {}", toml(&value)).expect("INVARIANT: writing to a text succeeds");
            }
        }
        text
    }

    /// The scenario as JSON, every key explicit and the keys in alphabetical order: equal scenarios give equal texts.
    pub fn to_json(&self) -> String {
        let mut root = serde_json::Map::new();
        let mut lists = std::collections::BTreeMap::<_, Vec<_>>::new();
        for (name, table) in self.tables() {
            let map = table.into_iter().map(|(key, value)| (key.to_owned(), json(&value)));
            match name {
                "" => root.extend(map),
                "flows" | "wires" => lists.entry(name).or_default().push(serde_json::Value::Object(map.collect())),
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
        let mobility = movement::keys(self.movement.as_ref());
        let mut tables = vec![
            table(&general, None),
            table(&topology_keys(&self.topology), Some(topology_kind(&self.topology).name())),
            table(&mobility, Some(mobility.model.name())),
            table(&self.radio, Some(self.radio.model.name())),
            table(&self.mac, None),
            table(&self.link, None),
            table(&self.routing, None),
            table(&self.tcp, None),
            table(&self.tcp_ap, None),
            table(&self.adhoc_tcp, None),
            table(&self.c3tcp, None),
        ];
        if let Some(side) = &self.wired {
            let (wired, wires) = wired::keys(side);
            tables.push(table(&wired, None));
            tables.extend(wires.iter().map(|wire| table(wire, None)));
        }
        tables.extend(self.gateway.iter().map(|gateway| table(gateway, None)));
        if let Some(pairs) = &self.traffic {
            let Spread {
                app,
                size,
                mean_size,
                shape,
                mean_pause,
                connection,
                rate,
                payload,
                interval,
                outstanding,
                start,
                stop,
            } = spread(&pairs.traffic);
            let keys = TrafficKeys {
                pairs: Some(pairs.pairs),
                transport: pairs.traffic.transport.name().to_owned(),
                app,
                size,
                mean_size,
                shape,
                mean_pause,
                connection,
                rate,
                payload,
                interval,
                outstanding,
                start,
                stagger: pairs.stagger,
                stop,
                window: pairs.traffic.window,
            };
            tables.push(table(&keys, Some(app.name())));
        }
        for flow in &self.flows {
            let Spread {
                app,
                size,
                mean_size,
                shape,
                mean_pause,
                connection,
                rate,
                payload,
                interval,
                outstanding,
                start,
                stop,
            } = spread(&flow.traffic);
            let keys = FlowKeys {
                name: Some(flow.name.clone()),
                from: self.spot(flow.from),
                to: self.spot(flow.to),
                transport: flow.traffic.transport.name().to_owned(),
                app,
                size,
                mean_size,
                shape,
                mean_pause,
                connection,
                rate,
                payload,
                interval,
                outstanding,
                start: Some(start),
                stop,
                window: flow.traffic.window,
            };
            tables.push(table(&keys, Some(app.name())));
        }
        tables
    }
}

impl Scenario {
    /// An end of a flow as it is written.
    fn spot(&self, spot: Spot) -> Value {
        match (spot, &self.wired) {
            (Spot::Node(node), None) => Value::Int(u64::from(node.0)),
            (Spot::Node(node), _) if node.wired_number().is_none() => Value::Int(u64::from(node.0)),
            (spot, Some(side)) => Value::Text(side.name(spot)),
            (_, None) => Value::Text("random".into()),
        }
    }
}

/// The values of a section; what has no value but could have one is "none".
fn table<S: Section>(section: &S, selector: Option<&str>) -> (&'static str, Table) {
    let mut values: std::collections::BTreeMap<_, _> = section.values().into_iter().collect();
    let belongs = |only_for: &[&str]| only_for.is_empty() || selector.is_none_or(|s| only_for.contains(&s));
    let keys = S::KEYS.iter().filter(|key| belongs(key.only_for));
    let rows = keys.filter_map(|key| {
        let none = key.is_optional().then(|| Value::Text("none".into()));
        values.remove(key.name).or(none).map(|value| (key.name, value))
    });
    (S::NAME, rows.collect())
}

/// The keys of an application and its times.
struct Spread {
    app: AppKind,
    size: Option<fourhop_units::Bytes>,
    mean_size: Option<fourhop_units::Bytes>,
    shape: Option<Number>,
    mean_pause: Option<Dur>,
    connection: Option<Connections>,
    rate: Option<fourhop_units::Rate>,
    payload: Option<fourhop_units::Bytes>,
    interval: Option<Dur>,
    outstanding: Option<u32>,
    start: Dur,
    stop: Option<Dur>,
}

fn spread(traffic: &Traffic) -> Spread {
    let since_zero = |t: Time| t.saturating_since(Time::ZERO);
    let keys = Spread {
        app: AppKind::Bulk,
        size: None,
        mean_size: None,
        shape: None,
        mean_pause: None,
        connection: None,
        rate: None,
        payload: None,
        interval: None,
        outstanding: None,
        start: since_zero(traffic.start),
        stop: traffic.stop.map(since_zero),
    };
    match traffic.app {
        App::Bulk => keys,
        App::Transfer { size } => Spread { app: AppKind::Transfer, size: Some(size), ..keys },
        App::Files { mean_size, shape, mean_pause, fresh } => Spread {
            app: AppKind::Files,
            mean_size: Some(mean_size),
            shape: Some(Number(f64::from(shape) / 1e3)),
            mean_pause: Some(mean_pause),
            connection: Some(if fresh { Connections::Fresh } else { Connections::Same }),
            ..keys
        },
        App::Cbr { rate, payload } => Spread { app: AppKind::Cbr, rate: Some(rate), payload: Some(payload), ..keys },
        App::Ping { interval, outstanding, payload } => {
            Spread { app: AppKind::Ping, interval: Some(interval), outstanding, payload: Some(payload), ..keys }
        }
    }
}

fn topology_kind(topology: &Topology) -> TopologyKind {
    match topology {
        Topology::Chain { .. } => TopologyKind::Chain,
        Topology::ParallelChains { .. } => TopologyKind::ParallelChains,
        Topology::Cross { .. } => TopologyKind::Cross,
        Topology::Grid { .. } => TopologyKind::Grid,
        Topology::Random { .. } => TopologyKind::Random,
        Topology::Positions(_) => TopologyKind::Positions,
    }
}

fn topology_keys(topology: &Topology) -> TopologyKeys {
    let int = |n: u32| Value::Int(u64::from(n));
    let mut keys = TopologyKeys {
        kind: topology_kind(topology),
        chains: None,
        hops: None,
        columns: None,
        rows: None,
        spacing: None,
        separation: None,
        centred: None,
        nodes: None,
        width: None,
        height: None,
        redraws: None,
        seed: None,
        positions: None,
    };
    match topology {
        Topology::Chain { hops, spacing } | Topology::Cross { hops, spacing } => {
            (keys.hops, keys.spacing) = (Some(int(*hops)), Some(Metres(*spacing)));
        }
        Topology::ParallelChains { hops, spacing, separation, centred } => {
            keys.chains = Some(hops.len() as u32);
            keys.hops = Some(Value::List(hops.iter().copied().map(int).collect()));
            (keys.spacing, keys.separation) = (Some(Metres(*spacing)), Some(Metres(*separation)));
            keys.centred = Some(*centred);
        }
        Topology::Grid { columns, rows, spacing } => {
            (keys.columns, keys.rows, keys.spacing) = (Some(*columns), Some(*rows), Some(Metres(*spacing)));
        }
        Topology::Random { nodes, width, height, redraws, seed } => {
            (keys.nodes, keys.redraws, keys.seed) = (Some(*nodes), Some(*redraws), *seed);
            (keys.width, keys.height) = (Some(Metres(*width)), Some(Metres(*height)));
        }
        Topology::Positions(places) => keys.positions = Some(Value::List(places.iter().map(place).collect())),
    }
    keys
}

fn place(&(x, y): &Position) -> Value {
    use super::key::Field;
    Value::List([x, y].into_iter().filter_map(|c| Metres(c).to_value()).collect())
}

fn toml(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Quantity(unit, x) => format!("\"{}\"", unit.format(*x)),
        Value::Text(s) => toml_edit::Value::from(s.as_str()).to_string(),
        Value::List(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(b) => (*b).into(),
        Value::Int(n) => (*n).into(),
        Value::Quantity(unit, x) => unit.format(*x).into(),
        Value::Text(s) => s.as_str().into(),
        Value::List(items) => items.iter().map(json).collect(),
    }
}
