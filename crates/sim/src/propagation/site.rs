//! Particulars of a place: transmitters and antennas that differ from node to node, losses measured between two nodes,
//! and walls.
//!
//! Source: the link budget of Rappaport, Wireless Communications, section 4.2 (Friis): the received power in dBm is the
//! transmitted power, plus the gains of both antennas in dBi, minus the path loss in dB. The loss of a wall that the
//! straight line between the nodes crosses is added to that of the distance (the multi-wall model of COST 231, final
//! report, section 4.7.2, without its floors and its correction for many walls). Leaves out: gains that depend on
//! direction, waves that go around a wall or are reflected by it, and the angle at which a wall is crossed.

use super::Propagation;
use crate::topology::{Position, distance};
use fourhop_proto::phy::sinr::config::ratio;
use fourhop_units::{Db, NodeId, Watt};
use std::collections::BTreeMap;

/// Transmitter and antenna of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Station {
    /// Transmitted power.
    pub tx_power: Watt,
    /// Gain of the antenna over an isotropic one, for sent and received frames.
    pub gain: Db,
    /// Height of the antenna above ground in metres, which matters only for two-ray ground.
    pub height_m: f64,
}

/// A wall of straight pieces.
#[derive(Clone, PartialEq, Debug)]
pub struct Wall {
    /// Corners in order; a straight wall has two.
    pub corners: Vec<Position>,
    /// Loss for each intersection of the signal path with a piece of the wall.
    pub loss: Db,
}

/// All particulars of a place.
#[derive(Clone, PartialEq, Debug)]
pub struct Site {
    /// Transmitter and antenna of most nodes.
    pub usual: Station,
    /// Nodes with another transmitter or antenna.
    pub stations: BTreeMap<NodeId, Station>,
    /// Measured path losses from the first node to the second, between their antennas.
    pub losses: BTreeMap<(NodeId, NodeId), Db>,
    /// Walls.
    pub walls: Vec<Wall>,
    /// Largest power that nodes receive from each other if no loss was measured between them; `None`: determined by
    /// distance and walls.
    pub unmeasured: Option<Watt>,
    /// Whether there are links only where losses were measured.
    pub measured_alone: bool,
}

impl Site {
    /// Whether a route may lead from the first of two nodes to the second, if the signal is strong enough.
    pub fn may_link(&self, from: NodeId, to: NodeId) -> bool {
        !self.measured_alone || self.losses.contains_key(&(from, to))
    }

    /// Limits `power` received over a path without measurement to the largest allowed.
    pub(super) fn capped(&self, power: Watt) -> Watt {
        match self.unmeasured {
            Some(most) if power > most => most,
            _ => power,
        }
    }

    /// Returns the mean power at the second of two nodes when the first transmits, and whether the loss between them
    /// was measured. A measured loss includes any shadowing.
    pub(super) fn received(&self, open: &Propagation, ends: [(NodeId, Position); 2]) -> (Watt, bool) {
        let [(from, a), (to, b)] = ends;
        let budget = open.between(self.station(from), self.station(to));
        if let Some(&loss) = self.losses.get(&(from, to)) {
            return (Watt(budget.tx_power.0 / ratio(loss)), true);
        }
        let walls: f64 = self.walls.iter().map(|wall| wall.loss.0 * f64::from(wall.intersections(a, b))).sum();
        (Watt(budget.mean(distance(a, b)).0 / ratio(Db(walls))), false)
    }

    /// Returns `open` between two nodes with the best of everything: no signal reaches farther, except over measured
    /// losses.
    pub(super) fn strongest(&self, open: &Propagation) -> Propagation {
        let best = self.stations.values().fold(self.usual, |best, station| Station {
            tx_power: Watt(best.tx_power.0.max(station.tx_power.0)),
            gain: Db(best.gain.0.max(station.gain.0)),
            height_m: best.height_m.max(station.height_m),
        });
        open.between(best, best)
    }

    /// Returns the longest distance in metres over which a loss was measured among nodes at `places`.
    pub(super) fn longest_measured(&self, places: &[Position]) -> f64 {
        let metres = |&(a, b): &(NodeId, NodeId)| distance(places[a.index()], places[b.index()]);
        self.losses.keys().map(metres).fold(0.0, f64::max)
    }

    fn station(&self, node: NodeId) -> Station {
        self.stations.get(&node).copied().unwrap_or(self.usual)
    }
}

impl Wall {
    /// Returns how often the straight line between two positions intersects the wall; the same in both directions. A
    /// node on a wall counts as on one side of it, and a line through a corner from one side of the wall to the other
    /// intersects it once.
    fn intersections(&self, a: Position, b: Position) -> u32 {
        // Use the same order in both directions, because a point exactly on a line counts as on one side of it.
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let crossed = |piece: &&[Position]| {
            is_left(a, b, piece[0]) != is_left(a, b, piece[1])
                && is_left(piece[0], piece[1], a) != is_left(piece[0], piece[1], b)
        };
        self.corners.windows(2).filter(crossed).count() as u32
    }
}

/// Whether `place` is to the left of the line from `a` to `b`, or on it.
fn is_left(a: Position, b: Position, place: Position) -> bool {
    (b.0 - a.0) * (place.1 - a.1) - (b.1 - a.1) * (place.0 - a.0) >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propagation::PathLoss;
    use fourhop_proto::phy::log_distance::LogDistance;
    use fourhop_proto::phy::two_ray::TwoRay;
    use std::sync::Arc;

    const A: (NodeId, Position) = (NodeId(0), (0.0, 0.0));
    const B: (NodeId, Position) = (NodeId(1), (2000.0, 0.0));
    const USUAL: Station = Station { tx_power: Watt(0.1), gain: Db(0.0), height_m: 1.5 };

    fn open(path_loss: PathLoss) -> Propagation {
        Propagation { tx_power: USUAL.tx_power, path_loss, shadowing: None, fading: None, cutoff: Watt(1e-12) }
    }

    fn two_ray() -> Propagation {
        open(PathLoss::TwoRay(TwoRay { tx_power: USUAL.tx_power, ..TwoRay::WAVELAN }))
    }

    fn site() -> Site {
        Site {
            usual: USUAL,
            stations: BTreeMap::new(),
            losses: BTreeMap::new(),
            walls: Vec::new(),
            unmeasured: None,
            measured_alone: false,
        }
    }

    fn straight(from: Position, to: Position, loss: f64) -> Wall {
        Wall { corners: vec![from, to], loss: Db(loss) }
    }

    /// How many decibels more than without the site reach the second node.
    fn gained(open: Propagation, site: Site, ends: [(NodeId, Position); 2]) -> f64 {
        let plain = open.field(1).mean(ends);
        10.0 * open.field(1).with_site(Some(Arc::new(site))).mean(ends).over(plain).log10()
    }

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn a_site_without_anything_is_the_open() {
        close(gained(two_ray(), site(), [A, B]), 0.0);
    }

    // Rappaport, equation 4.52: beyond the crossover distance the power grows with the square of each height.
    #[test]
    fn power_gains_and_heights_enter_as_in_the_link_budget() {
        let mut site = site();
        site.stations.insert(A.0, Station { tx_power: Watt(1.0), gain: Db(8.0), height_m: 6.0 });
        site.stations.insert(B.0, Station { gain: Db(3.0), ..USUAL });
        let height = 20.0 * 4.0f64.log10();
        close(gained(two_ray(), site.clone(), [A, B]), 10.0 + 8.0 + 3.0 + height);
        close(gained(two_ray(), site.clone(), [B, A]), 8.0 + 3.0 + height);
        // Other laws ignore heights.
        close(gained(open(PathLoss::LogDistance(LogDistance::free_space(2.4e9))), site, [B, A]), 8.0 + 3.0);
    }

    #[test]
    fn a_measured_loss_stands_in_the_place_of_law_walls_and_shadows_in_its_direction() {
        let mut site = site();
        site.stations.insert(B.0, Station { gain: Db(5.0), ..USUAL });
        site.walls.push(straight((100.0, -1.0), (100.0, 1.0), 20.0));
        site.losses.insert((A.0, B.0), Db(90.0));
        let shadows = super::super::shadowing::Config { deviation: Db(8.0), distance_m: 10.0, seed: None };
        let field =
            Propagation { shadowing: Some(shadows), ..two_ray() }.field(1).with_site(Some(Arc::new(site.clone())));
        close(field.mean([A, B]).to_dbm().0, 20.0 + 5.0 - 90.0);
        assert_ne!(field.mean([B, A]), field.mean([A, B]));
        close(gained(two_ray(), site, [B, A]), 5.0 - 20.0);
    }

    #[test]
    fn what_was_not_measured_is_capped_after_shadows() {
        let mut site = site();
        site.losses.insert((A.0, B.0), Db(90.0));
        let most = Watt(1e-13);
        site.unmeasured = Some(most);
        let shadows = super::super::shadowing::Config { deviation: Db(8.0), distance_m: 10.0, seed: None };
        let law = Propagation { shadowing: Some(shadows), ..two_ray() };
        for seed in 1..9 {
            let field = law.field(seed).with_site(Some(Arc::new(site.clone())));
            close(field.mean([A, B]).to_dbm().0, 20.0 - 90.0);
            let open = law.field(seed).mean([B, A]);
            assert_eq!(field.mean([B, A]), if open > most { most } else { open });
        }
        site.unmeasured = Some(Watt(0.0));
        assert_eq!(law.field(1).with_site(Some(Arc::new(site))).mean([B, A]), Watt(0.0));
    }

    #[test]
    fn each_intersection_with_a_wall_costs_its_loss() {
        let mut site = site();
        site.walls.push(straight((100.0, -10.0), (100.0, 10.0), 7.0));
        site.walls.push(straight((150.0, 10.0), (150.0, 30.0), 5.0));
        // A room around the far end.
        let room = vec![(1990.0, -9.0), (1990.0, 9.0), (2010.0, 9.0), (2010.0, -9.0), (1990.0, -9.0)];
        site.walls.push(Wall { corners: room, loss: Db(4.0) });
        for ends in [[A, B], [B, A]] {
            close(gained(two_ray(), site.clone(), ends), -11.0);
        }
        let beyond = (NodeId(2), (2400.0, 0.0));
        close(gained(two_ray(), site, [A, beyond]), -7.0 - 2.0 * 4.0);
    }

    // Nodes and walls on the lines of a grid: paths through corners, along walls, and from nodes on walls.
    #[test]
    fn corners_and_ends_count_once_and_alike_in_both_directions() {
        let bent = Wall { corners: vec![(0.0, -5.0), (0.0, 0.0), (0.0, 5.0)], loss: Db(1.0) };
        assert_eq!(bent.intersections((-5.0, 0.0), (5.0, 0.0)), 1, "through the joint");
        let steps = [-10.0, -5.0, 0.0, 5.0, 10.0];
        let grid: Vec<Position> = steps.iter().flat_map(|&x| steps.map(|y| (x, y))).collect();
        for &a in &grid {
            for &b in &grid {
                assert_eq!(bent.intersections(a, b), bent.intersections(b, a), "{a:?} {b:?}");
                // A node on the wall counts as on its left.
                let sides = (a.0 <= 0.0) != (b.0 <= 0.0);
                assert!(bent.intersections(a, b) <= u32::from(sides), "{a:?} {b:?}: one straight wall");
            }
        }
        assert_eq!(bent.intersections((-5.0, 5.1), (5.0, 5.1)), 0, "past its end");
        assert_eq!(bent.intersections((0.0, -20.0), (0.0, 20.0)), 0, "along it");
    }

    #[test]
    fn what_the_strongest_reach_and_what_was_measured_is_looked_for() {
        let field = |site: Site| two_ray().field(1).with_site(Some(Arc::new(site)));
        let mut site = site();
        let plain = field(site.clone()).reach_m();
        assert_eq!(plain, two_ray().reach_m());
        // 24 dB more between two such nodes: four times as far if power falls with the fourth power of distance.
        site.stations.insert(A.0, Station { gain: Db(6.0), ..USUAL });
        site.stations.insert(B.0, Station { tx_power: Watt(0.1 * ratio(Db(12.0))), ..USUAL });
        close(field(site.clone()).reach_m() / plain, 10f64.powf(24.0 / 40.0));
        site.losses.insert((A.0, B.0), Db(60.0));
        assert_eq!(field(site).reach_among(&[(0.0, 0.0), (50_000.0, 0.0)]), 50_000.0);
    }
}
