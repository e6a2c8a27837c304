//! Detects flows without a path of links: in a run no packet of theirs would arrive, and nothing would say why.

use super::Scenario;
use super::ScenarioError;
use super::network::hops;
use crate::batch::Control;
use crate::topology::{Graph, Position, Topology, distance};
use core::fmt;
use fourhop_units::{NodeId, Time};

/// Number of instants at which paths are searched for if nodes move: a flow that has one at any of them is fine.
const MOMENTS: u64 = 20;

/// Largest number of flows to report: usually all lack the same link.
const NAMED: usize = 20;

/// A flow without a path of links from end to end.
#[derive(Clone, PartialEq, Debug)]
pub struct NoPath {
    /// Name of the flow.
    pub flow: String,
    /// Names of its ends, as in messages.
    pub ends: (String, String),
    /// The narrowest gap around the nodes that the sender reaches by radio (the receiver, if the sender has no radio):
    /// a reached node, the nearest unreached one, and the metres between them. `None` if there is no other node.
    pub gap: Option<(NodeId, NodeId, f64)>,
    /// Range of a hop in metres without obstacles.
    pub range_m: f64,
    /// Whether walls, measured losses or single antennas also affect links.
    pub has_site: bool,
    /// Whether nodes move. Then no path was found at any instant, and the gap is that at the start.
    pub moving: bool,
}

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = &self.ends;
        write!(f, "{}: no path of links from {from} to {to}", self.flow)?;
        let at_start = if self.moving { " at any time; at the start" } else { "" };
        match self.gap {
            Some((near, far, metres)) => write!(
                f,
                "{at_start}: the unreached node nearest to node {near} is node {far}, {metres:.0} m away, and a \
                    hop \
                 reaches {:.0} m{}",
                self.range_m,
                if self.has_site { " in the open, without [[walls]], [[losses]] and [[nodes]]" } else { "" }
            ),
            None => Ok(()),
        }
    }
}

impl Scenario {
    /// Returns the first flows of the run with `seed` whose endpoints no path of links connects. Links are those of
    /// static routes and `hops`: without shadowing and fading. Random networks are connected, so they have no such
    /// flows.
    ///
    /// # Errors
    /// As [`Scenario::network_under`].
    pub fn flows_without_path(&self, seed: u64, control: &Control) -> Result<Vec<NoPath>, ScenarioError> {
        let moving = self.movement.is_some();
        if matches!(self.topology, Topology::Random { .. }) && !moving {
            return Ok(Vec::new());
        }
        let network = self.network_under(seed, control)?;
        let by_wire = |src: NodeId, dst: NodeId| src.wired_number().is_some() && dst.wired_number().is_some();
        let mut lost: Vec<_> =
            network.flows.iter().filter(|flow| flow.hops.is_none() && !by_wire(flow.src, flow.dst)).collect();
        if moving && !lost.is_empty() {
            let moments: Vec<Time> = (1..=MOMENTS).map(|n| Time::ZERO + self.duration * n / MOMENTS).collect();
            let graph = self.graph();
            for places in self.places(seed, &moments, control)? {
                let graph = graph(&places);
                let mut search = graph.search();
                lost.retain(|flow| hops(&mut search, &network.gateways, flow.src, flow.dst).is_none());
            }
        }
        let name = |node: NodeId| match node.wired_number() {
            Some(_) => self.node_name(node),
            None => format!("node {node}"),
        };
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        let graph = self.graph()(&network.positions);
        Ok(lost
            .into_iter()
            .take(NAMED)
            .map(|flow| {
                let begin = if flow.src.wired_number().is_some() { flow.dst } else { flow.src };
                NoPath {
                    flow: flow.name.clone(),
                    ends: (name(flow.src), name(flow.dst)),
                    gap: gap(&network.positions, &graph, begin),
                    range_m: self.range_m(),
                    has_site: self.site().is_some(),
                    moving,
                }
            })
            .collect())
    }
}

/// Returns the nearest pair of a node reached from `begin` and one not reached; the first of several.
fn gap(places: &[Position], graph: &Graph, begin: NodeId) -> Option<(NodeId, NodeId, f64)> {
    let reached = graph.hops_from(begin);
    let (mut inside, mut outside): (Vec<usize>, Vec<usize>) =
        (0..places.len()).partition(|&node| reached[node].is_some());
    let by_x = |&a: &usize, &b: &usize| places[a].0.total_cmp(&places[b].0);
    inside.sort_by(by_x);
    outside.sort_by(by_x);
    let mut nearest: Option<(f64, usize, usize)> = None;
    for &near in &inside {
        let x = places[near].0;
        let right = outside.partition_point(|&far| places[far].0 < x);
        // Search outwards on both sides as long as x alone is not farther than the best found.
        let mut look = |far: usize| {
            let found = (distance(places[near], places[far]), near, far);
            let nearer = |known: (f64, usize, usize)| {
                found.0.total_cmp(&known.0).then((found.1, found.2).cmp(&(known.1, known.2))).is_lt()
            };
            if nearest.is_none_or(nearer) {
                nearest = Some(found);
            }
            nearest.is_some_and(|known| (places[far].0 - x).abs() <= known.0)
        };
        outside[right..].iter().all(|&far| look(far));
        outside[..right].iter().rev().all(|&far| look(far));
    }
    nearest.map(|(metres, near, far)| (NodeId(near as u32), NodeId(far as u32), metres))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::{Purpose, Stream};

    #[test]
    fn the_gap_is_the_first_of_the_narrowest() {
        let mut gaps = 0;
        for seed in 0..40 {
            let mut stream = Stream::global(seed, Purpose::Topology);
            // Multiples of 100 m, so that several gaps are equally wide.
            let mut draw = || f64::from(stream.below(16)) * 100.0;
            let places: Vec<Position> = (0..40).map(|_| (draw(), draw())).collect();
            let graph = Graph::new(&places, 150.0);
            let reached = graph.hops_from(NodeId(3));
            let pairs = (0..40).flat_map(|near| (0..40).map(move |far| (near, far)));
            let between =
                pairs.filter(|&(near, far): &(usize, usize)| reached[near].is_some() && reached[far].is_none());
            let metres = |&(near, far): &(usize, usize)| distance(places[near], places[far]);
            let expected = between.min_by(|a, b| metres(a).total_cmp(&metres(b)));
            let found = gap(&places, &graph, NodeId(3));
            gaps += usize::from(found.is_some());
            assert_eq!(found.map(|(near, far, _)| (near.index(), far.index())), expected, "seed {seed}");
        }
        assert!(gaps > 30, "{gaps}");
    }
}
