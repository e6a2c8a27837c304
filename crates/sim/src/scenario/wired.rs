//! The wired side of a scenario: its names, its links, and their resolution in a run with a given seed.

use super::error::{Problem, did_you_mean};
use super::resolve::Resolved;
use super::sections::{WireKeys, WiredKeys};
use super::value::{Field, Value};
use super::{Scenario, key::Section};
use crate::topology::Topology;
use crate::trace::WireEnd;
use crate::wired::{Cable, Plan};
use fourhop_proto::net::port;
use fourhop_proto::route::PortId;
use fourhop_units::{NodeId, Purpose, Stream};
use std::collections::BTreeSet;

/// A node as named in a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// This one.
    Node(NodeId),
    /// The gateway with this number, from 0.
    Gateway(usize),
    /// A node of the topology drawn by each run; never a gateway or a node drawn before.
    Random,
}

/// Gateways, nodes without radios and links.
#[derive(Clone, PartialEq, Debug)]
pub struct WiredSide {
    /// The gateways: nodes of the topology, or random.
    pub gateways: Vec<Endpoint>,
    /// Names of the nodes without radios.
    pub nodes: Vec<String>,
    /// Defaults of links.
    pub link: port::Config,
    /// The links. Their ends are gateways or nodes without radios.
    pub wires: Vec<([Endpoint; 2], port::Config)>,
}

/// Name of a gateway.
pub fn gateway_name(index: usize) -> String {
    format!("gateway-{}", index + 1)
}

impl WiredSide {
    /// Returns the gateway or node with that name, unless it is a node of the topology.
    pub fn find(&self, name: &str) -> Option<Endpoint> {
        let nodes = self.nodes.iter().position(|node| node == name).map(|n| Endpoint::Node(NodeId::wired(n as u32)));
        let gateway = || {
            let index = name.strip_prefix("gateway-")?.parse::<usize>().ok()?.checked_sub(1)?;
            (index < self.gateways.len() && gateway_name(index) == name).then_some(Endpoint::Gateway(index))
        };
        nodes.or_else(gateway)
    }

    /// Returns all names: gateways, then nodes.
    pub fn names(&self) -> Vec<String> {
        (0..self.gateways.len()).map(gateway_name).chain(self.nodes.iter().cloned()).collect()
    }

    /// Returns the name of a gateway or node.
    pub fn name(&self, endpoint: Endpoint) -> String {
        match endpoint {
            Endpoint::Gateway(index) => gateway_name(index),
            Endpoint::Node(node) => match node.wired_number() {
                Some(n) => self.nodes[n].clone(),
                None => node.to_string(),
            },
            Endpoint::Random => "random".to_owned(),
        }
    }

    /// Returns the nodes without a path of links to a gateway.
    fn cut_off(&self) -> Vec<&str> {
        let mut joined = vec![false; self.nodes.len()];
        let number = |endpoint: Endpoint| match endpoint {
            Endpoint::Node(node) => node.wired_number(),
            _ => None,
        };
        let mut farther = true;
        while std::mem::take(&mut farther) {
            for ([a, b], _) in &self.wires {
                let reached = |endpoint: Endpoint| number(endpoint).is_none_or(|n| joined[n]);
                if reached(*a) != reached(*b) {
                    [*a, *b].into_iter().filter_map(number).for_each(|n| joined[n] = true);
                    farther = true;
                }
            }
        }
        self.nodes.iter().zip(joined).filter(|(_, joined)| !joined).map(|(name, _)| name.as_str()).collect()
    }
}

/// Returns the texts of a list.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().map(|item| String::from_value(Some(item))).collect(),
        other => unreachable!("INVARIANT: names are a list, not {other:?}"),
    }
}

/// Returns the wired side that `[wired]` describes, without links so far.
pub(super) fn side(
    resolved: &Resolved,
    keys: &WiredKeys,
    topology: &Topology,
    problems: &mut Vec<Problem>,
) -> Option<WiredSide> {
    let before = problems.len();
    let last = topology.nodes() - 1;
    let mut gateways = Vec::new();
    let Value::List(items) = &keys.gateways else { unreachable!("INVARIANT: gateways are a list") };
    for item in items {
        let gateway = match item {
            Value::Text(word) if word == "first" => Endpoint::Node(NodeId(0)),
            Value::Text(word) if word == "last" => Endpoint::Node(NodeId(last)),
            Value::Text(_) => Endpoint::Random,
            Value::Int(n) if *n <= u64::from(last) => Endpoint::Node(NodeId(*n as u32)),
            other => {
                let allowed = format!("node numbers from 0 to {last}, \"first\", \"last\" or \"random\"");
                problems.push(resolved.problem("gateways", super::resolve::show(other), allowed));
                continue;
            }
        };
        if gateway != Endpoint::Random && gateways.contains(&gateway) {
            let found = format!("{} twice", super::resolve::show(item));
            problems.push(resolved.problem("gateways", found, "each node once"));
        }
        gateways.push(gateway);
    }
    if gateways.len() > topology.nodes() as usize {
        let allowed = format!("at most {} gateways, one for each node", topology.nodes());
        problems.push(resolved.problem("gateways", format!("{} of them", gateways.len()), allowed));
    }
    let nodes = texts(&keys.nodes);
    for (n, name) in nodes.iter().enumerate() {
        let taken = ["first", "last", "random", "none"].contains(&name.as_str()) || name.starts_with("gateway");
        if taken || nodes[..n].contains(name) {
            let why = if taken { "a reserved word" } else { "another node's name" };
            let allowed = "different names, none of them \"first\", \"last\", \"random\" or \"gateway...\"";
            problems.push(resolved.problem("nodes", format!("{name:?}, {why}"), allowed));
        }
    }
    let link = port::Config {
        rate: keys.rate,
        delay: keys.delay,
        queue: keys.queue as usize,
        queue_bytes: keys.queue_bytes,
        overhead: keys.overhead,
    };
    (problems.len() == before).then_some(WiredSide { gateways, nodes, link, wires: Vec::new() })
}

/// Returns the link that an entry of `[[wires]]` describes.
pub(super) fn wire(
    resolved: &Resolved,
    side: &WiredSide,
    problems: &mut Vec<Problem>,
) -> Option<([Endpoint; 2], port::Config)> {
    let keys = WireKeys::from_values(&resolved.values);
    let ends = texts(&keys.ends).into_iter().map(|name| {
        let end = side.find(&name);
        if end.is_none() {
            let names = side.names();
            let mut problem = resolved.problem("ends", format!("{name:?}"), names.join(", "));
            problem.hint = did_you_mean(&name, names.iter().map(String::as_str));
            problems.push(problem);
        }
        end
    });
    let ends: Vec<_> = ends.collect();
    let &[a, b] = ends.as_slice() else {
        problems.push(resolved.problem("ends", resolved.show("ends"), "a list of two names"));
        return None;
    };
    let (a, b) = (a?, b?);
    if a == b {
        problems.push(resolved.problem("ends", resolved.show("ends"), "two different nodes"));
    }
    let usual = side.link;
    let port = port::Config {
        rate: keys.rate.unwrap_or(usual.rate),
        delay: keys.delay.unwrap_or(usual.delay),
        queue: keys.queue.map_or(usual.queue, |queue| queue as usize),
        queue_bytes: keys.queue_bytes.or(usual.queue_bytes),
        overhead: keys.overhead.unwrap_or(usual.overhead),
    };
    Some(([a, b], port))
}

/// Sets the default links: from every gateway to the first node, and from each node to the next.
pub(super) fn usual_wires(side: &mut WiredSide) {
    let node = |n: usize| Endpoint::Node(NodeId::wired(n as u32));
    let up = (0..side.gateways.len()).map(|gateway| [Endpoint::Gateway(gateway), node(0)]);
    let line = (1..side.nodes.len()).map(|n| [node(n - 1), node(n)]);
    side.wires = up.chain(line).map(|ends| (ends, side.link)).collect();
}

/// Checks that every node is connected to a gateway.
pub(super) fn check_joined(resolved: &Resolved, side: &WiredSide, problems: &mut Vec<Problem>) {
    let cut_off = side.cut_off();
    if !cut_off.is_empty() {
        let found = format!("no path from {} to a gateway", cut_off.join(", "));
        problems.push(resolved.problem(
            "nodes",
            found,
            "nodes that [[wires]] connect to a gateway, directly or through other nodes",
        ));
    }
}

/// Returns `[wired]` and `[[wires]]` as written.
pub(super) fn keys(side: &WiredSide) -> (WiredKeys, Vec<WireKeys>) {
    let list = |texts: Vec<String>| Value::List(texts.into_iter().map(Value::Text).collect());
    let gateway = |endpoint: &Endpoint| match endpoint {
        Endpoint::Node(node) => Value::Int(u64::from(node.0)),
        Endpoint::Gateway(_) | Endpoint::Random => Value::Text("random".into()),
    };
    let wired = WiredKeys {
        gateways: Value::List(side.gateways.iter().map(gateway).collect()),
        nodes: list(side.nodes.clone()),
        rate: side.link.rate,
        delay: side.link.delay,
        queue: side.link.queue as u32,
        queue_bytes: side.link.queue_bytes,
        overhead: side.link.overhead,
    };
    let wires = side.wires.iter().map(|(ends, port)| WireKeys {
        ends: list(ends.iter().map(|&end| side.name(end)).collect()),
        rate: Some(port.rate),
        delay: Some(port.delay),
        queue: Some(port.queue as u32),
        queue_bytes: port.queue_bytes,
        overhead: Some(port.overhead),
    });
    (wired, wires.collect())
}

/// The nodes that a run chooses for random ones.
pub(super) struct Drawn {
    stream: Stream,
    nodes: u32,
    taken: BTreeSet<NodeId>,
    /// The gateways in order.
    pub gateways: Vec<NodeId>,
}

impl Drawn {
    /// Draws the gateways. If a random network has a seed of its own for the positions, that also determines the
    /// gateways.
    pub fn new(scenario: &Scenario, seed: u64) -> Drawn {
        let own = match scenario.topology {
            Topology::Random { seed, .. } => seed,
            _ => None,
        };
        let stream = Stream::global(own.unwrap_or(seed), Purpose::Endpoints);
        let gateways = scenario.wired.as_ref().map_or(&[][..], |side| &side.gateways);
        let fixed = |endpoint: &Endpoint| match endpoint {
            Endpoint::Node(node) => Some(*node),
            _ => None,
        };
        let taken = gateways.iter().filter_map(fixed).collect();
        let mut drawn = Drawn { stream, nodes: scenario.topology.nodes(), taken, gateways: Vec::new() };
        for endpoint in gateways {
            let node = fixed(endpoint).unwrap_or_else(|| drawn.draw());
            drawn.gateways.push(node);
        }
        drawn
    }

    /// Returns the node of an endpoint.
    pub fn node(&mut self, endpoint: Endpoint) -> NodeId {
        match endpoint {
            Endpoint::Node(node) => node,
            Endpoint::Gateway(index) => self.gateways[index],
            Endpoint::Random => self.draw(),
        }
    }

    /// Draws a node not drawn before, as long as there is one.
    fn draw(&mut self) -> NodeId {
        loop {
            let node = NodeId(self.stream.below(self.nodes));
            if self.taken.insert(node) || self.taken.len() >= self.nodes as usize {
                return node;
            }
        }
    }
}

impl Scenario {
    /// Returns the wired side of a run with these gateways, if any.
    pub fn wired_plan(&self, gateways: &[NodeId]) -> Option<Plan> {
        let side = self.wired.as_ref()?;
        let node = |endpoint: Endpoint| match endpoint {
            Endpoint::Node(node) => node,
            Endpoint::Gateway(index) => gateways[index],
            Endpoint::Random => unreachable!("INVARIANT: links have named ends"),
        };
        let cables = side.wires.iter().map(|&(ends, port)| Cable { ends: ends.map(node), port }).collect();
        Some(Plan { gateways: gateways.to_vec(), hosts: side.nodes.len() as u32, cables })
    }

    /// Returns the name of a node in results: its number if it has a radio.
    pub fn node_name(&self, node: NodeId) -> String {
        match (&self.wired, node.wired_number()) {
            (Some(side), Some(n)) => side.nodes[n].clone(),
            _ => node.to_string(),
        }
    }

    /// Returns both ends of each link, with a name for a file such as `node-4-to-R1` and `R1-to-node-4`.
    pub fn wire_ends(&self, plan: &Plan) -> Vec<(WireEnd, String)> {
        // Characters that are unsuitable for file names become underscores.
        let plain = |node: NodeId| match node.wired_number() {
            None => format!("node-{node}"),
            Some(_) => self.node_name(node).replace(|c: char| !c.is_alphanumeric() && c != '-', "_"),
        };
        let nodes = plan.gateways.iter().copied().chain((0..plan.hosts).map(NodeId::wired));
        let mut named = Vec::new();
        for node in nodes {
            let peers: Vec<NodeId> = plan.ports(node).map(|(_, peer)| peer).collect();
            for (port, &peer) in peers.iter().enumerate() {
                let name = format!("{}-to-{}", plain(node), plain(peer));
                // Links between the same two nodes are distinguished by a number.
                let name = match peers[..port].iter().filter(|&&other| other == peer).count() {
                    0 => name,
                    earlier => format!("{name}-{}", earlier + 1),
                };
                named.push((WireEnd { node, port: PortId(port as u16) }, name));
            }
        }
        named
    }

    /// Returns the number of a node in results: nodes without radios follow those of the topology.
    pub fn number(&self, node: NodeId) -> u32 {
        node.wired_number().map_or(node.0, |n| self.topology.nodes() + n as u32)
    }
}
