//! `[traffic]` and `[[flows]]`, checked against the network. Part of the scenario builder.

use super::build::{Builder, FIRST_START, STAGGER};
use super::error::{Problem, did_you_mean};
use super::key::{Choice, Section};
use super::quantity::Unit;
use super::resolve::{Resolved, resolve};
use super::sections::{AppKind, Connections, FlowKeys, TrafficKeys};
use super::tree::{Data, Node, Origin};
use super::value::{Field, Number, Value};
use super::wired::{Endpoint, WiredSide};
use super::{App, Flow, FlowTransport, PairTraffic, Traffic};
use crate::topology::Topology;
use fourhop_units::{Bytes, Dur, NodeId, Time};
use std::collections::BTreeMap;

impl Builder {
    /// Resolves `[traffic]`. The outer `None` means problems, the inner one that there is no such section.
    pub(super) fn traffic(
        &mut self,
        topology: Option<&Topology>,
        duration: Option<Dur>,
        window: Option<u32>,
    ) -> Option<Option<PairTraffic>> {
        let Some(entry) = self.root.entry("traffic") else { return Some(None) };
        let (node, whole) = (&entry.value, &entry.at);
        let app = app_of(node);
        let kind = app.map(AppKind::name);
        let mut resolved =
            resolve(TrafficKeys::KEYS, Some(node), "traffic", whole, self.profile, kind, &[], &mut self.problems)?;
        let keys = self.complete::<TrafficKeys>(&mut resolved, app, duration)?;
        let traffic = traffic_of(&resolved, FIRST_START, window);
        let topology = topology?;
        let natural = topology.natural_pairs().len() as u32;
        let nodes = u64::from(topology.nodes());
        let (most, why) = match natural {
            0 => (nodes * (nodes - 1), "the number of pairs of nodes"),
            n => (u64::from(n), "the number of natural pairs of the topology"),
        };
        let pairs = match keys.pairs {
            None if natural == 0 => {
                let allowed = format!("a whole number from 1 to {most}, {why}");
                self.problems.push(resolved.problem("pairs", Problem::MISSING, allowed));
                return None;
            }
            None => natural,
            Some(pairs) if u64::from(pairs) > most => {
                let allowed = format!("a whole number from 1 to {most}, {why}");
                self.problems.push(resolved.problem("pairs", pairs.to_string(), allowed));
                return None;
            }
            Some(pairs) => pairs,
        };
        let last = traffic.start + keys.stagger.saturating_mul(u64::from(pairs - 1));
        if duration.is_some_and(|d| last >= Time::ZERO + d) && traffic.start < Time::ZERO + duration? {
            let allowed = format!(
                "a shorter time, so that flow {pairs} starts before the end of the run at {}",
                Unit::Time.format(duration?.as_nanos() as f64)
            );
            self.problems.push(resolved.problem("stagger", resolved.show("stagger"), allowed));
        }
        Some(Some(PairTraffic { pairs, stagger: keys.stagger, traffic }))
    }

    pub(super) fn flows(
        &mut self,
        topology: Option<&Topology>,
        wired: Option<&Option<WiredSide>>,
        traffic: &Option<Option<PairTraffic>>,
        duration: Option<Dur>,
        window: Option<u32>,
    ) -> Option<Vec<Flow>> {
        let before = self.problems.len();
        let Some(entry) = self.root.entry("flows") else { return Some(Vec::new()) };
        let Data::List(items) = &entry.value.data else {
            let problem = entry.value.at.problem("flows", entry.value.describe(), "a list of flows: [[flows]]");
            self.problems.push(problem);
            return None;
        };
        let (items, entry_at) = (items.clone(), entry.at.clone());
        let earlier = traffic.as_ref().and_then(|t| t.as_ref()).map_or(0, |t| t.pairs);
        let mut names: BTreeMap<String, String> =
            (1..=earlier).map(|n| (format!("flow-{n}"), "[traffic]".to_owned())).collect();
        let mut flows = Vec::new();
        for (i, node) in items.iter().enumerate() {
            let path = format!("flows[{i}]");
            let start = FIRST_START + STAGGER * i as u64;
            let Some((resolved, flow)) =
                self.flow(node, &path, earlier as usize + i + 1, start, topology.zip(wired), duration, window)
            else {
                continue;
            };
            if let Some(other) = names.get(&flow.name) {
                let found = format!("{:?}, which is already the name of a flow of {other}", flow.name);
                self.problems.push(resolved.problem("name", found, "a unique name"));
            }
            names.entry(flow.name.clone()).or_insert(path);
            flows.push(flow);
        }
        let random =
            |flow: &Flow| [flow.from, flow.to].into_iter().filter(|&endpoint| endpoint == Endpoint::Random).count();
        let drawn: usize = flows.iter().map(random).sum();
        let gateways = wired.and_then(Option::as_ref).map_or(0, |side| side.gateways.len());
        if let Some(nodes) = topology.map(Topology::nodes)
            && drawn > 0
            && drawn + gateways > nodes as usize
        {
            let found = format!("{drawn} random ends and {gateways} gateways");
            let allowed = format!("at most {nodes} together, one for each node");
            self.problems.push(entry_at.problem("flows", found, allowed));
        }
        (self.problems.len() == before).then_some(flows)
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a scenario that a flow is checked against")]
    fn flow(
        &mut self,
        node: &Node,
        path: &str,
        number: usize,
        start: Time,
        nodes: Option<(&Topology, &Option<WiredSide>)>,
        duration: Option<Dur>,
        window: Option<u32>,
    ) -> Option<(Resolved, Flow)> {
        let app = app_of(node);
        let kind = app.map(AppKind::name);
        let whole: &Origin = &node.at;
        let mut resolved =
            resolve(FlowKeys::KEYS, Some(node), path, whole, self.profile, kind, &[], &mut self.problems)?;
        let start_value = Value::Quantity(Unit::Time, start.as_nanos() as f64);
        resolved.values.entry("start").or_insert(start_value);
        let keys = self.complete::<FlowKeys>(&mut resolved, app, duration)?;
        let (topology, wired) = nodes?;
        let from = self.node(&resolved, "from", &keys.from, topology, wired.as_ref());
        let to = self.node(&resolved, "to", &keys.to, topology, wired.as_ref());
        let (from, to) = (from?, to?);
        if from == to && from != Endpoint::Random {
            let found = format!("{}, the sender of the flow", resolved.show("to"));
            self.problems.push(resolved.problem("to", found, "another node"));
        }
        let traffic = traffic_of(&resolved, start, window);
        for (key, end) in [("from", from), ("to", to)] {
            if let FlowTransport::Own(own) = traffic.transport
                && matches!(end, Endpoint::Node(node) if node.wired_number().is_some())
            {
                let found = format!("{}, a node without a radio, over {:?}", resolved.show(key), own.name());
                let allowed = "a node of the topology: nodes behind gateways report no delays";
                self.problems.push(resolved.problem(key, found, allowed));
            }
        }
        let name = keys.name.unwrap_or_else(|| format!("flow-{number}"));
        Some((resolved, Flow { name, from, to, traffic }))
    }

    /// Fills in values that depend on the application, and checks application, transport and times against each other.
    fn complete<S: Section>(
        &mut self,
        resolved: &mut Resolved,
        app: Option<AppKind>,
        duration: Option<Dur>,
    ) -> Option<S> {
        let app = app.expect("INVARIANT: app or transport would have been a problem");
        resolved.values.entry("app").or_insert_with(|| Value::Text(app.name().to_owned()));
        let payload = match app {
            AppKind::Cbr => Some(1460.0),
            AppKind::Ping => Some(56.0),
            AppKind::Bulk | AppKind::Transfer | AppKind::Stream | AppKind::Files => None,
        };
        if let Some(payload) = payload {
            resolved.values.entry("payload").or_insert(Value::Quantity(Unit::Size, payload));
        }
        let transport: String = Field::from_value(resolved.values.get("transport"));
        let is_transfer = matches!(app, AppKind::Bulk | AppKind::Transfer);
        let (fits, allowed) = match FlowTransport::find(&transport).expect("INVARIANT: transports are checked") {
            FlowTransport::Udp => (app == AppKind::Cbr, "\"cbr\", the application over \"udp\"".to_owned()),
            FlowTransport::Ping => (app == AppKind::Ping, "\"ping\", the application over \"ping\"".to_owned()),
            FlowTransport::Own(own) => {
                if Option::<u32>::from_value(resolved.values.get("window")).is_some() {
                    let allowed = format!("no window: {:?} sends at a rate", own.name());
                    self.problems.push(resolved.problem("window", resolved.show("window"), allowed));
                }
                (is_transfer, format!("\"bulk\" or \"transfer\", the applications over {:?}", own.name()))
            }
            FlowTransport::Tcp(_) => (
                is_transfer || matches!(app, AppKind::Stream | AppKind::Files),
                "\"bulk\", \"transfer\", \"stream\" or \"files\", the applications over TCP".to_owned(),
            ),
        };
        if !fits {
            self.problems.push(resolved.problem("app", format!("{:?} over {transport:?}", app.name()), allowed));
        }
        let time = |key: &str| Option::<Dur>::from_value(resolved.values.get(key));
        let show = |d: Dur| Unit::Time.format(d.as_nanos() as f64);
        let (start, stop) = (time("start").unwrap_or(FIRST_START - Time::ZERO), time("stop"));
        if let Some(duration) = duration.filter(|&d| start >= d) {
            let allowed = format!("a time before the end of the run at {}", show(duration));
            self.problems.push(resolved.problem("start", resolved.show("start"), allowed));
        }
        if stop.is_some_and(|stop| stop <= start) {
            let allowed = format!("a time after the start at {}", show(start));
            self.problems.push(resolved.problem("stop", resolved.show("stop"), allowed));
        }
        Some(S::from_values(&resolved.values))
    }

    pub(super) fn node(
        &mut self,
        resolved: &Resolved,
        key: &'static str,
        value: &Value,
        topology: &Topology,
        wired: Option<&WiredSide>,
    ) -> Option<Endpoint> {
        let last = topology.nodes() - 1;
        let named = match value {
            Value::Text(name) => wired.and_then(|side| side.find(name)),
            _ => None,
        };
        match value {
            Value::Text(name) if name == "first" => Some(Endpoint::Node(NodeId(0))),
            Value::Text(name) if name == "last" => Some(Endpoint::Node(NodeId(last))),
            Value::Text(name) if name == "random" => Some(Endpoint::Random),
            Value::Int(n) if *n <= u64::from(last) => Some(Endpoint::Node(NodeId(*n as u32))),
            // A gateway's name is an alias of its node, if the node is known.
            _ if let Some(Endpoint::Gateway(index)) = named => wired.map(|side| match side.gateways[index] {
                Endpoint::Random => Endpoint::Gateway(index),
                known => known,
            }),
            _ if named.is_some() => named,
            _ => {
                let names = wired.map(WiredSide::names).unwrap_or_default();
                let words: Vec<_> =
                    ["first", "last", "random"].into_iter().chain(names.iter().map(String::as_str)).collect();
                let quoted: String = words.iter().map(|word| format!(", {word:?}")).collect();
                // A number out of range is not a misspelt name.
                let quoted = if matches!(value, Value::Int(_)) { String::new() } else { quoted };
                let allowed = format!("a node number from 0 to {last}{quoted}");
                let mut problem = resolved.problem(key, resolved.show(key), allowed);
                if let Value::Text(name) = value {
                    problem.hint = did_you_mean(name, words);
                }
                self.problems.push(problem);
                None
            }
        }
    }
}

/// Returns the application of a table, from its own key or its transport.
fn app_of(node: &Node) -> Option<AppKind> {
    match node.entry("app") {
        Some(_) => AppKind::find(node.text("app")?),
        None => Some(match FlowTransport::find(node.text("transport")?)? {
            FlowTransport::Tcp(_) | FlowTransport::Own(_) => AppKind::Bulk,
            FlowTransport::Udp => AppKind::Cbr,
            FlowTransport::Ping => AppKind::Ping,
        }),
    }
}

/// Returns the traffic, the common part of `[traffic]` and `[[flows]]`.
fn traffic_of(resolved: &Resolved, start: Time, window: Option<u32>) -> Traffic {
    let values = &resolved.values;
    let transport: String = Field::from_value(values.get("transport"));
    let transport = FlowTransport::find(&transport).expect("INVARIANT: transports are checked");
    let size = |key: &str| -> Bytes { Field::from_value(values.get(key)) };
    let app = match Field::from_value(values.get("app")) {
        AppKind::Bulk => App::Bulk,
        AppKind::Transfer => App::Transfer { size: size("size") },
        AppKind::Stream => App::Stream { rate: Field::from_value(values.get("rate")) },
        AppKind::Files => App::Files {
            mean_size: size("mean_size"),
            shape: (Number::from_value(values.get("shape")).0 * 1e3).round() as u32,
            mean_pause: Field::from_value(values.get("mean_pause")),
            fresh: Connections::from_value(values.get("connection")) == Connections::Fresh,
        },
        AppKind::Cbr => App::Cbr { rate: Field::from_value(values.get("rate")), payload: size("payload") },
        AppKind::Ping => App::Ping {
            interval: Field::from_value(values.get("interval")),
            outstanding: Field::from_value(values.get("outstanding")),
            payload: size("payload"),
        },
    };
    let time = |key: &str| Option::<Dur>::from_value(values.get(key)).map(|d| Time::ZERO + d);
    Traffic {
        transport,
        app,
        start: time("start").unwrap_or(start),
        stop: time("stop"),
        window: Option::<u32>::from_value(values.get("window"))
            .or(window.filter(|_| !matches!(transport, FlowTransport::Own(_)))),
        // INVARIANT: at most 63.
        dscp: u32::from_value(values.get("dscp")) as u8,
    }
}
