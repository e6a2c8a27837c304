//! Positions of nodes, and which of them are in range of each other.
//!
//! Positions are in metres. Random networks are uniform over a rectangle and drawn again until the network is connected
//! with the radio's nominal range. `mobility` moves nodes from there.

pub mod geographic;
mod graph;

pub use graph::{Graph, Search};

use crate::batch::Control;
use fourhop_units::{NodeId, Purpose, Stream};

/// A position in metres.
pub type Position = (f64, f64);

/// Returns the distance of two positions in metres.
pub fn distance(a: Position, b: Position) -> f64 {
    let (x, y) = (b.0 - a.0, b.1 - a.1);
    (x * x + y * y).sqrt()
}

/// Shape of a network. Nodes are numbered from 0 in the order of [`Topology::place`].
#[derive(Clone, PartialEq, Debug)]
pub enum Topology {
    /// `hops` + 1 nodes in a line along x.
    Chain {
        /// Hops from end to end.
        hops: u32,
        /// Metres between neighbours.
        spacing: f64,
    },
    /// Parallel lines along x, numbered line by line.
    ParallelChains {
        /// Hops of each line.
        hops: Vec<u32>,
        /// Metres between neighbours.
        spacing: f64,
        /// Metres between lines.
        separation: f64,
        /// Whether the middles of the lines are aligned rather than their first nodes.
        centred: bool,
    },
    /// A line along x and one along y that share the middle node, numbered in this order.
    Cross {
        /// Hops of each line, even.
        hops: u32,
        /// Metres between neighbours.
        spacing: f64,
    },
    /// Node `row * columns + column`.
    Grid {
        /// Nodes in a row.
        columns: u32,
        /// Nodes in a column.
        rows: u32,
        /// Metres between neighbours.
        spacing: f64,
    },
    /// Uniform over a rectangle, and connected.
    Random {
        /// Number of nodes.
        nodes: u32,
        /// Width in metres.
        width: f64,
        /// Height in metres.
        height: f64,
        /// Draws before giving up.
        redraws: u32,
        /// Seed of the positions; the run's seed if `None`.
        seed: Option<u64>,
    },
    /// Given positions.
    Positions(Vec<Position>),
}

/// Error for a search that found no connected network in this number of draws until it was given up or stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not connected after {draws} draws")]
pub struct Disconnected {
    /// Number of networks drawn.
    pub draws: u32,
}

impl Topology {
    /// Returns the number of nodes.
    pub fn nodes(&self) -> u32 {
        match self {
            Topology::Chain { hops, .. } => hops + 1,
            Topology::ParallelChains { hops, .. } => hops.iter().map(|h| h + 1).sum(),
            Topology::Cross { hops, .. } => 2 * hops + 1,
            Topology::Grid { columns, rows, .. } => columns * rows,
            Topology::Random { nodes, .. } => *nodes,
            Topology::Positions(places) => places.len() as u32,
        }
    }

    /// Returns the positions of all nodes in the run with `seed`; `range` is the reach of the radio in metres, for
    /// which a random network has to be connected.
    ///
    /// # Errors
    /// If no draw of a random network is connected.
    pub fn place(&self, seed: u64, range: f64) -> Result<Vec<Position>, Disconnected> {
        self.place_under(seed, |places| Graph::new(places, range), &Control::new())
    }

    /// Like [`Topology::place`], but with the links that `graph` finds between positions; gives up when `control` is
    /// stopped.
    ///
    /// # Errors
    /// If no draw of a random network is connected.
    pub fn place_under(
        &self,
        seed: u64,
        graph: impl Fn(&[Position]) -> Graph,
        control: &Control,
    ) -> Result<Vec<Position>, Disconnected> {
        Ok(match *self {
            Topology::Chain { hops, spacing } => line(hops, spacing).map(|x| (x, 0.0)).collect(),
            Topology::ParallelChains { ref hops, spacing, separation, centred } => {
                let longest = hops.iter().copied().max().unwrap_or(0);
                let chains = hops.iter().enumerate().flat_map(|(i, &hops)| {
                    let left = if centred { f64::from(longest - hops) * spacing / 2.0 } else { 0.0 };
                    line(hops, spacing).map(move |x| (left + x, i as f64 * separation))
                });
                chains.collect()
            }
            Topology::Cross { hops, spacing } => {
                let middle = f64::from(hops / 2) * spacing;
                let across = line(hops, spacing).map(|x| (x, middle));
                let down = line(hops, spacing).filter(|&y| y != middle).map(|y| (middle, y));
                across.chain(down).collect()
            }
            Topology::Grid { columns, rows, spacing } => (0..rows)
                .flat_map(|row| line(columns - 1, spacing).map(move |x| (x, f64::from(row) * spacing)))
                .collect(),
            Topology::Random { nodes, width, height, redraws, seed: own } => {
                let mut stream = Stream::global(own.unwrap_or(seed), Purpose::Topology);
                let mut draws = 0;
                (0..redraws)
                    .take_while(|_| !control.is_stopped())
                    .inspect(|_| draws += 1)
                    .map(|_| (0..nodes).map(|_| (stream.unit() * width, stream.unit() * height)).collect::<Vec<_>>())
                    .find(|places| graph(places).is_connected())
                    .ok_or(Disconnected { draws })?
            }
            Topology::Positions(ref places) => places.clone(),
        })
    }

    /// Returns the pairs of nodes between which traffic naturally runs, if any.
    pub fn natural_pairs(&self) -> Vec<(NodeId, NodeId)> {
        let pair = |from: u32, to: u32| (NodeId(from), NodeId(to));
        match *self {
            Topology::Chain { hops, .. } => vec![pair(0, hops)],
            Topology::ParallelChains { ref hops, .. } => {
                let mut first = 0;
                let ends = hops.iter().map(|hops| {
                    let ends = pair(first, first + hops);
                    first += hops + 1;
                    ends
                });
                ends.collect()
            }
            Topology::Cross { hops, .. } => vec![pair(0, hops), pair(hops + 1, 2 * hops)],
            Topology::Grid { columns, rows, .. } => {
                let across = (0..rows).map(|row| pair(row * columns, (row + 1) * columns - 1));
                let down = (0..columns).map(|column| pair(column, (rows - 1) * columns + column));
                across.chain(down).filter(|(from, to)| from != to).collect()
            }
            Topology::Random { .. } | Topology::Positions(_) => Vec::new(),
        }
    }
}

/// `hops` + 1 places along a line from 0.
fn line(hops: u32, spacing: f64) -> impl Iterator<Item = f64> {
    (0..=hops).map(move |i| f64::from(i) * spacing)
}

#[cfg(test)]
mod tests;
