//! Neighbours in range, and hop counts between nodes.

use super::Position;
use core::ops::Range;
use fourhop_units::NodeId;
use std::collections::BTreeMap;

/// A graph of nodes with links between pairs in range.
#[derive(Clone, Debug)]
pub struct Graph {
    /// `neighbours[first[n]..first[n + 1]]` are those of node n, in ascending order.
    neighbours: Vec<u32>,
    first: Vec<u32>,
}

impl Graph {
    /// Links all nodes at most `range` metres apart.
    pub fn new(places: &[Position], range: f64) -> Graph {
        Graph::among(places, range, |_| true)
    }

    /// Links the pairs of nodes at most `range` metres apart for which `linked` returns true; it is called once for
    /// each pair, with node numbers and positions.
    pub fn among(places: &[Position], range: f64, linked: impl Fn([(NodeId, Position); 2]) -> bool) -> Graph {
        let (by_row, rows) = rows(places, range);
        let mut links = Vec::new();
        let mut consider = |a: u32, b: u32| {
            let ends = [a, b].map(|node| (NodeId(node), places[node as usize]));
            let (dx, dy) = (ends[1].1.0 - ends[0].1.0, ends[1].1.1 - ends[0].1.1);
            if dx * dx + dy * dy <= range * range && linked(ends) {
                links.extend([(a, b), (b, a)]);
            }
        };
        let x = |node: u32| places[node as usize].0;
        for (row, run) in &rows {
            let run = &by_row[run.clone()];
            let above = row.checked_add(1).and_then(|above| rows.get(&above));
            let mut above = above.map_or(&[][..], |run| &by_row[run.clone()]);
            for (i, &a) in run.iter().enumerate() {
                run[i + 1..].iter().take_while(|&&b| x(b) - x(a) <= range).for_each(|&b| consider(a, b));
                // A node too far to the left of this one is also too far for all that follow.
                let left = above.iter().take_while(|&&b| x(a) - x(b) > range).count();
                above = &above[left..];
                above.iter().take_while(|&&b| x(b) - x(a) <= range).for_each(|&b| consider(a, b));
            }
        }
        links.sort_unstable();
        let first =
            (0..=places.len()).map(|n| links.partition_point(|&(from, _)| (from as usize) < n) as u32).collect();
        Graph { neighbours: links.into_iter().map(|(_, to)| to).collect(), first }
    }

    /// Returns the nodes in range of `node`.
    pub fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.of(node.0).iter().map(|&n| NodeId(n))
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.neighbours[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// Returns the least number of hops from `source` to each node; `None` if there is no path.
    pub fn hops_from(&self, source: NodeId) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.nodes()];
        let mut queue = vec![source.0];
        hops[source.index()] = Some(0);
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            let beyond = hops[node as usize].map(|h| h + 1);
            for &neighbour in self.of(node) {
                if hops[neighbour as usize].is_none() {
                    hops[neighbour as usize] = beyond;
                    queue.push(neighbour);
                }
            }
        }
        hops
    }

    /// Whether there is a path from every node to every other.
    pub fn is_connected(&self) -> bool {
        self.nodes() == 0 || self.hops_from(NodeId(0)).iter().all(Option::is_some)
    }

    /// Prepares for queries about many pairs of nodes.
    pub fn search(&self) -> Search<'_> {
        Search {
            graph: self,
            reached: vec![Reached::default(); self.nodes()],
            searches: 0,
            borders: Default::default(),
        }
    }
}

/// Returns the nodes sorted by row, a row being as high as `range`, and within a row by x; also the range of each row
/// in that order. Neighbours in range are in the node's own row or in one of the two adjacent ones.
fn rows(places: &[Position], range: f64) -> (Vec<u32>, BTreeMap<i64, Range<usize>>) {
    // Slightly higher, so that rounding does not separate nodes exactly `range` apart by two rows.
    let height = range * (1.0 + 1e-9);
    let row = |node: u32| (places[node as usize].1 / height).floor() as i64;
    let mut order: Vec<u32> = (0..places.len() as u32).collect();
    order.sort_by(|&a, &b| row(a).cmp(&row(b)).then(places[a as usize].0.total_cmp(&places[b as usize].0)));
    let mut rows: BTreeMap<i64, Range<usize>> = BTreeMap::new();
    for (at, &node) in order.iter().enumerate() {
        rows.entry(row(node)).or_insert(at..at).end = at + 1;
    }
    (order, rows)
}

/// Whether a search has reached a node, and from which end.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Reached {
    search: u32,
    end: u8,
}

/// Breadth-first search from both ends of a path at once. In a large network it visits far fewer nodes than a search
/// from one end, and very few if the ends are close. Marks are not cleared after a search but contain its number.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    graph: &'a Graph,
    reached: Vec<Reached>,
    searches: u32,
    /// The outermost nodes reached from each end.
    borders: [Vec<u32>; 2],
}

impl Search<'_> {
    /// Returns the hops of a shortest path from `from` to the nearest of `to`; `None` if there is no path.
    pub fn hops(&mut self, from: NodeId, to: &[NodeId]) -> Option<u32> {
        self.searches += 1;
        self.borders.iter_mut().for_each(Vec::clear);
        for (end, nodes) in [&[from], to].into_iter().enumerate() {
            for node in nodes {
                if self.reach(node.0, end as u8) {
                    return Some(0);
                }
            }
        }
        for hops in 1.. {
            let end = usize::from(self.borders[1].len() < self.borders[0].len());
            let border = std::mem::take(&mut self.borders[end]);
            if border.is_empty() {
                return None;
            }
            let graph = self.graph;
            // Both ends have explored everything within their hops so far, so the first meeting is on a shortest path.
            if border.iter().any(|&node| graph.of(node).iter().any(|&neighbour| self.reach(neighbour, end as u8))) {
                return Some(hops);
            }
        }
        None
    }

    /// Marks a node as reached from `end`; returns whether it has been reached from the other end.
    fn reach(&mut self, node: u32, end: u8) -> bool {
        let mark = Reached { search: self.searches, end };
        let known = &mut self.reached[node as usize];
        if known.search != self.searches {
            *known = mark;
            self.borders[usize::from(end)].push(node);
            return false;
        }
        *known != mark
    }
}
