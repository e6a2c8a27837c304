//! Neighbour lists: for each node the others within sensing range, with the received power and delay of its signal, in
//! the order in which a frame reaches them.
//!
//! These are for fixed nodes: everything is computed once. Cells as large as the sensing range keep the search linear
//! in the number of nodes.

use crate::spread::Spread;
use crate::stations::Stations;
use crate::topology::{Position, distance};
use fourhop_proto::phy::two_ray::{LIGHT_SPEED, TwoRay};
use fourhop_units::{Dur, NodeId, Watt};
use std::collections::BTreeMap;

/// A node within sensing range of a transmitter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Neighbour {
    /// Power received there.
    pub power: Watt,
    /// The node.
    pub node: NodeId,
    /// Propagation delay in nanoseconds. 32 bits suffice for 4 s, or 1.3 million kilometres, and save a third of the
    /// memory to walk through.
    delay_ns: u32,
}

impl Neighbour {
    /// `node` at `metres`, where it receives `power`.
    pub fn new(node: NodeId, power: Watt, metres: f64) -> Neighbour {
        // Like `Dur::from_secs_f64`, in 32 bits.
        let delay = metres / LIGHT_SPEED * 1e9;
        let whole = delay as u32;
        let delay_ns = whole.saturating_add(u32::from(delay - f64::from(whole) >= 0.5));
        Neighbour { power, node, delay_ns }
    }

    /// The same neighbour with another power.
    #[must_use]
    pub fn with_power(self, power: Watt) -> Neighbour {
        Neighbour { power, ..self }
    }

    /// Sort key: the order in which a frame reaches its neighbours.
    pub fn order(&self) -> (u32, NodeId) {
        (self.delay_ns, self.node)
    }

    /// Propagation delay.
    pub fn delay(&self) -> Dur {
        Dur::from_nanos(u64::from(self.delay_ns))
    }
}

/// The neighbours of every node.
#[derive(Clone, Debug)]
pub struct Channel {
    /// For each node, sorted by delay, then by node.
    neighbours: Vec<Box<[Neighbour]>>,
}

impl Channel {
    /// All pairs of `positions` (metres) that receive each other at `cs_threshold` or more.
    pub fn new(positions: &[(f64, f64)], radio: &TwoRay, cs_threshold: Watt) -> Channel {
        Channel::among(positions, radio.range_m(cs_threshold), cs_threshold, |_, metres| radio.received(metres))
    }

    /// All pairs of `positions` within `range` metres where the second node receives `least` or more from the first;
    /// `power` computes it from the two nodes, their positions and their distance.
    pub fn among(
        positions: &[Position],
        range: f64,
        least: Watt,
        power: impl Fn([(NodeId, Position); 2], f64) -> Watt,
    ) -> Channel {
        let cell = |(x, y): (f64, f64)| ((x / range).floor() as i64, (y / range).floor() as i64);
        let mut cells: BTreeMap<(i64, i64), Vec<u32>> = BTreeMap::new();
        for (n, &position) in positions.iter().enumerate() {
            cells.entry(cell(position)).or_default().push(n as u32);
        }
        let near = |(n, &(x, y)): (usize, &Position)| {
            let mut near = Vec::new();
            let (column, row) = cell((x, y));
            for nearby in (column - 1..=column + 1).flat_map(|c| (row - 1..=row + 1).map(move |r| (c, r))) {
                for &other in cells.get(&nearby).into_iter().flatten().filter(|&&other| other as usize != n) {
                    let ends = [(NodeId(n as u32), (x, y)), (NodeId(other), positions[other as usize])];
                    let distance = distance(ends[0].1, ends[1].1);
                    let power = power(ends, distance);
                    if power >= least {
                        near.push(Neighbour::new(NodeId(other), power, distance));
                    }
                }
            }
            near.sort_by_key(Neighbour::order);
            near.into()
        };
        Channel { neighbours: positions.iter().enumerate().map(near).collect() }
    }

    /// Returns the lists for the stations of these nodes: each hears the other nodes' stations on its channel.
    #[must_use]
    pub fn of_stations(self, stations: &Stations) -> Channel {
        if stations.share_one_channel() {
            return self;
        }
        let near = |station| {
            let mut near = self.neighbours(stations.node(station)).to_vec();
            stations.hear(station, &mut near);
            near.into()
        };
        Channel { neighbours: (0..stations.count() as u32).map(NodeId).map(near).collect() }
    }

    /// Returns the transmitter whose receivers are farthest apart in propagation delay, with the delays to its nearest
    /// and farthest receiver.
    pub fn spread(&self) -> Spread {
        let of = |node: u32| {
            let reached = self.neighbours(NodeId(node));
            let (nearest, farthest) = (reached.first()?.delay(), reached.last()?.delay());
            Some(Spread { src: Some(NodeId(node)), nearest, farthest })
        };
        let all = (0..self.neighbours.len() as u32).filter_map(of);
        all.max_by_key(|spread| spread.farthest - spread.nearest).unwrap_or_default()
    }

    /// Returns the nodes that sense `node`, in the order in which its frames reach them.
    #[inline]
    pub fn neighbours(&self, node: NodeId) -> &[Neighbour] {
        &self.neighbours[node.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_200_m_hears_one_hop_and_senses_two() {
        let positions: Vec<_> = (0..6).map(|n| (200.0 * f64::from(n), 0.0)).collect();
        let channel = Channel::new(&positions, &TwoRay::WAVELAN, Watt(1.559e-11));
        let of_2: Vec<_> = channel.neighbours(NodeId(2)).iter().map(|n| (n.node.0, n.delay().as_nanos())).collect();
        assert_eq!(of_2, [(1, 667), (3, 667), (0, 1333), (4, 1333)]);
        // Decodable at 200 m, only sensed at 400 m; the ratio of the two is 2^4.
        let powers: Vec<_> = channel.neighbours(NodeId(2)).iter().map(|n| n.power).collect();
        assert!(powers[0] >= Watt(3.652e-10) && powers[2] < Watt(3.652e-10));
        assert!((powers[0].over(powers[2]) - 16.0).abs() < 1e-9);
    }

    #[test]
    fn a_delay_is_rounded_as_a_duration_is() {
        let delay = |metres| Neighbour::new(NodeId(0), Watt(1.0), metres).delay();
        // 0.3 m corresponds to a nanosecond.
        let metres = (0..40_000).map(|n| f64::from(n) * 0.05).chain([0.15, 0.449_999_999_999, 1e6, 1.2e9]);
        for metres in metres {
            assert_eq!(delay(metres), Dur::from_secs_f64(metres / LIGHT_SPEED), "{metres} m");
        }
        assert_eq!(delay(1e12), Dur::from_nanos(u64::from(u32::MAX)), "the longest there is");
    }

    #[test]
    fn the_grid_finds_exactly_the_pairs_in_range() {
        let positions: Vec<_> =
            (0..200u32).map(|n| (f64::from(n * 7919 % 2500), f64::from(n * 104_729 % 1000))).collect();
        let threshold = Watt(1.559e-11);
        let channel = Channel::new(&positions, &TwoRay::WAVELAN, threshold);
        for (n, a) in positions.iter().enumerate() {
            let mut expected: Vec<u32> = (0..positions.len())
                .filter(|&m| {
                    m != n && TwoRay::WAVELAN.received((positions[m].0 - a.0).hypot(positions[m].1 - a.1)) >= threshold
                })
                .map(|m| m as u32)
                .collect();
            let mut found: Vec<u32> = channel.neighbours(NodeId(n as u32)).iter().map(|x| x.node.0).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}
