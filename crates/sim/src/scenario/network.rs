//! The network of a run with a given seed: positions of nodes and endpoints of flows.

use super::ScenarioError;
use super::error::Problem;
use super::wired::Drawn;
use super::{Scenario, Traffic};
use crate::batch::Control;
use crate::mobility::Mobility;
use crate::spread::TooWide;
use crate::topology::{Graph, Position, Search, Topology};
use fourhop_units::{NodeId, Purpose, Stream, Time};
use std::collections::BTreeSet;

/// Nodes and flows of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    /// Positions of the nodes in metres at time zero.
    pub positions: Vec<Position>,
    /// The nodes that are gateways.
    pub gateways: Vec<NodeId>,
    /// All flows: those of `[traffic]`, then those of `[[flows]]`.
    pub flows: Vec<NetworkFlow>,
}

/// A flow between two nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct NetworkFlow {
    /// Name in results.
    pub name: String,
    /// Sending node.
    pub src: NodeId,
    /// Receiving node.
    pub dst: NodeId,
    /// Radio hops of a shortest path at the start; if one end has no radio, to or from the nearest gateway. `None` if
    /// there is no path.
    pub hops: Option<u32>,
    /// Data to send.
    pub traffic: Traffic,
}

impl Scenario {
    /// Returns the positions of the nodes in metres at time zero of the run with `seed`.
    ///
    /// # Errors
    /// If every draw of a random network was disconnected.
    pub fn positions(&self, seed: u64) -> Result<Vec<Position>, ScenarioError> {
        self.positions_under(seed, &Control::new())
    }

    /// Like [`Scenario::positions`], but gives up when `control` is stopped.
    pub(super) fn positions_under(&self, seed: u64, control: &Control) -> Result<Vec<Position>, ScenarioError> {
        let still = self.movement.as_ref().map_or(0, |movement| movement.still());
        let starts = self.movement.as_ref().and_then(|m| m.starts(self.topology.nodes() as usize, seed));
        let Some(mut starts) = starts else { return self.topology_places(seed, control) };
        if still > 0 {
            starts[..still].copy_from_slice(&self.topology_places(seed, control)?[..still]);
        }
        Ok(starts)
    }

    /// Returns the links between nodes at given positions, before shadowing and fading.
    pub(super) fn graph(&self) -> impl Fn(&[Position]) -> Graph {
        let (radio, receiver, site) = (self.radio_setup(), self.receiver_config(), self.site());
        let stations = self.stations();
        move |places| radio.graph(&receiver, site.as_ref(), &stations, places)
    }

    fn topology_places(&self, seed: u64, control: &Control) -> Result<Vec<Position>, ScenarioError> {
        self.topology.place_under(seed, self.graph(), control).map_err(|gone| {
            let range = self.range_m();
            self.refused(
                "topology",
                format!("a random network that is not connected after {} draws (seed {seed})", gone.draws),
                format!("a network in which every node reaches every other over hops of at most {range:.0} m"),
                "more `nodes`, a smaller area or more `redraws`",
            )
        })
    }

    /// Returns the error for receivers of a frame that are too far apart.
    pub fn too_wide(&self, error: &TooWide) -> ScenarioError {
        let key = if self.movement.is_some() { "mobility" } else { "topology" };
        self.refused(key, error.found(), error.allowed(), "a smaller network, a shorter range or slower frames")
    }

    /// Returns the error for a network that cannot be built.
    fn refused(&self, key: &str, found: String, allowed: String, hint: &str) -> ScenarioError {
        let (file, key, hint) = (self.file.clone(), key.to_owned(), Some(hint.to_owned()));
        ScenarioError { problems: vec![Problem { file, line: None, column: None, key, found, allowed, hint }] }
    }

    /// Returns the positions of the nodes in metres at each of `instants`, which must not decrease, in the run with
    /// `seed`.
    ///
    /// # Errors
    /// As [`Scenario::positions`], and if `control` is stopped before they are found.
    pub fn places(&self, seed: u64, instants: &[Time], control: &Control) -> Result<Vec<Vec<Position>>, ScenarioError> {
        let starts = self.positions_under(seed, control)?;
        let Some(movement) = &self.movement else { return Ok(vec![starts; instants.len()]) };
        let mut mobility = Mobility::new(movement, &starts, seed);
        let nodes = 0..starts.len() as u32;
        Ok(instants.iter().map(|&now| nodes.clone().map(|node| mobility.place(NodeId(node), now)).collect()).collect())
    }

    /// Returns nodes and flows of the run with `seed`.
    ///
    /// # Errors
    /// As [`Scenario::positions`].
    pub fn network(&self, seed: u64) -> Result<Network, ScenarioError> {
        self.network_under(seed, &Control::new())
    }

    /// Like [`Scenario::network`], but gives up when `control` is stopped.
    ///
    /// # Errors
    /// As [`Scenario::positions`], and if `control` is stopped before it is found.
    pub fn network_under(&self, seed: u64, control: &Control) -> Result<Network, ScenarioError> {
        let positions = self.positions_under(seed, control)?;
        let graph = self.graph()(&positions);
        let mut drawn = Drawn::new(self, seed);
        let gateways = drawn.gateways.clone();
        let mut search = graph.search();
        let mut hops = |src, dst| hops(&mut search, &gateways, src, dst);
        let mut flows = Vec::new();
        if let Some(pairs) = &self.traffic {
            for (i, (src, dst)) in self.pairs(seed, pairs.pairs).into_iter().enumerate() {
                let traffic =
                    Traffic { start: pairs.traffic.start + pairs.stagger * i as u64, ..pairs.traffic.clone() };
                flows.push(NetworkFlow { name: format!("flow-{}", i + 1), src, dst, hops: hops(src, dst), traffic });
            }
        }
        for flow in &self.flows {
            let (src, dst) = (drawn.node(flow.from), drawn.node(flow.to));
            flows.push(NetworkFlow {
                name: flow.name.clone(),
                src,
                dst,
                hops: hops(src, dst),
                traffic: flow.traffic.clone(),
            });
        }
        // Their packets would take the wires, on which gateways have no addresses.
        let ends_at_gateways = |flow: &&NetworkFlow| [flow.src, flow.dst].iter().all(|end| gateways.contains(end));
        let cut_off = flows.iter().filter(ends_at_gateways).find(|flow| flow.hops.is_none());
        if let Some(NetworkFlow { name, src, dst, .. }) = cut_off.filter(|_| self.movement.is_none()) {
            let found = format!("{name} from gateway {src} to gateway {dst}, which no radio links connect");
            let allowed = "gateways with a path of radio links between them: wires are not part of the mesh";
            return Err(self.refused("flows", found, allowed.to_owned(), "`from` or `to` a host on the wired side"));
        }
        Ok(Network { positions, gateways, flows })
    }

    /// Returns the first `count` natural pairs or, if the topology has none, that many distinct random pairs. If a
    /// random network has a seed of its own for the positions, that also determines the pairs.
    fn pairs(&self, seed: u64, count: u32) -> Vec<(NodeId, NodeId)> {
        let mut pairs = self.topology.natural_pairs();
        pairs.truncate(count as usize);
        if pairs.is_empty() {
            let own = match self.topology {
                Topology::Random { seed, .. } => seed,
                _ => None,
            };
            let mut stream = Stream::global(own.unwrap_or(seed), Purpose::Flows);
            let nodes = self.topology.nodes();
            let mut drawn = BTreeSet::new();
            while pairs.len() < count as usize {
                let pair = (NodeId(stream.below(nodes)), NodeId(stream.below(nodes)));
                if pair.0 != pair.1 && drawn.insert(pair) {
                    pairs.push(pair);
                }
            }
        }
        pairs
    }
}

/// Returns the radio hops of a shortest path; if one end has no radio, to or from the nearest gateway. Returns `None`
/// if there is no path, or if neither end has a radio.
pub(super) fn hops(search: &mut Search<'_>, gateways: &[NodeId], src: NodeId, dst: NodeId) -> Option<u32> {
    match (src.wired_number(), dst.wired_number()) {
        (None, None) => search.hops(src, &[dst]),
        (Some(_), Some(_)) => None,
        (radio, _) => search.hops(if radio.is_none() { src } else { dst }, gateways),
    }
}
