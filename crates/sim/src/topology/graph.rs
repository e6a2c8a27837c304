//! Which nodes are in range of each other, and how many hops apart nodes are.

use super::Position;
use fourhop_units::NodeId;

/// Nodes with links between all pairs that are in range.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Neighbours of each node, in the order of their numbers.
    neighbours: Vec<Vec<u32>>,
}

impl Graph {
    /// Links all nodes at most `range` metres apart.
    pub fn new(places: &[Position], range: f64) -> Graph {
        Graph::among(places, range, |_| true)
    }

    /// Links the nodes at most `range` metres apart that `linked` says; it is asked once for each two of them, the places
    /// with the numbers.
    pub fn among(places: &[Position], range: f64, linked: impl Fn([(NodeId, Position); 2]) -> bool) -> Graph {
        let mut neighbours = vec![Vec::new(); places.len()];
        // In the order of x, candidates are a short run instead of all nodes.
        let mut by_x: Vec<usize> = (0..places.len()).collect();
        by_x.sort_by(|&a, &b| places[a].0.total_cmp(&places[b].0));
        for (i, &a) in by_x.iter().enumerate() {
            for &b in &by_x[i + 1..] {
                let (dx, dy) = (places[b].0 - places[a].0, places[b].1 - places[a].1);
                if dx > range {
                    break;
                }
                let ends = [a, b].map(|node| (NodeId(node as u32), places[node]));
                if dx * dx + dy * dy <= range * range && linked(ends) {
                    neighbours[a].push(b as u32);
                    neighbours[b].push(a as u32);
                }
            }
        }
        neighbours.iter_mut().for_each(|list| list.sort_unstable());
        Graph { neighbours }
    }

    /// The nodes in range of `node`.
    pub fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.neighbours[node.index()].iter().map(|&n| NodeId(n))
    }

    /// Least number of hops from `source` to each node; `None` where no path leads.
    pub fn hops_from(&self, source: NodeId) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.neighbours.len()];
        let mut queue = vec![source.0];
        hops[source.index()] = Some(0);
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            let beyond = hops[node as usize].map(|h| h + 1);
            for &neighbour in &self.neighbours[node as usize] {
                if hops[neighbour as usize].is_none() {
                    hops[neighbour as usize] = beyond;
                    queue.push(neighbour);
                }
            }
        }
        hops
    }

    /// Does a path lead from every node to every other?
    pub fn is_connected(&self) -> bool {
        self.neighbours.is_empty() || self.hops_from(NodeId(0)).iter().all(Option::is_some)
    }
}
