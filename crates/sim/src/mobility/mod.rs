//! Movement of nodes: along straight lines at constant speed, with pauses.
//!
//! A node's movement is a sequence of legs, each from one position and instant to another; a pause is a leg that ends
//! where it starts. The position at any instant follows from the leg alone, so there are no time steps and no
//! accumulated errors. Legs come from a list ([`Movement::Waypoints`], to which ns-2 and BonnMotion files are
//! converted) or are drawn as needed ([`Movement::RandomWaypoint`]), and only the current leg is stored. Leaves out:
//! height, acceleration, curves.

pub mod bonnmotion;
pub mod file;
pub mod ns2;
pub mod random_waypoint;

pub use file::FileError;

use crate::topology::{Position, distance};
use fourhop_units::{Dur, NodeId, Time};
use random_waypoint::Walk;
use std::sync::Arc;

/// A position and instant. A node moves straight from one waypoint to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waypoint {
    /// Instant.
    pub at: Time,
    /// Position, in metres.
    pub place: Position,
}

/// Movement of the nodes of a network.
#[derive(Clone, PartialEq, Debug)]
pub enum Movement {
    /// For each node its waypoints in order of time. A node moves from its starting position at time zero to the first,
    /// and stays at the last.
    Waypoints(Arc<Vec<Vec<Waypoint>>>),
    /// Random destinations and random speeds.
    RandomWaypoint(random_waypoint::Config),
}

/// A straight line at constant speed, or a pause.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Leg {
    /// Start of the leg,
    pub from: Position,
    /// at this instant.
    pub start: Time,
    /// End of the leg,
    pub to: Position,
    /// at this instant.
    pub end: Time,
}

/// End of a leg that lasts forever.
pub const NEVER: Time = Time::from_nanos(u64::MAX);

impl Leg {
    /// A stay at `place` forever.
    pub fn stay(place: Position, start: Time) -> Leg {
        Leg { from: place, start, to: place, end: NEVER }
    }

    /// Returns the position at `now`; outside the leg, that of the nearer end.
    pub fn place(&self, now: Time) -> Position {
        if now >= self.end || self.from == self.to {
            return self.to;
        }
        // Conversion from `i64` is a single instruction; no leg lasts 292 years.
        let gone = now.saturating_since(self.start).as_nanos() as i64 as f64;
        let share = gone / self.end.saturating_since(self.start).as_nanos() as i64 as f64;
        (self.from.0 + (self.to.0 - self.from.0) * share, self.from.1 + (self.to.1 - self.from.1) * share)
    }

    /// Returns the speed in metres per second; infinite for a leg without duration.
    pub fn speed(&self) -> f64 {
        if self.from == self.to {
            return 0.0;
        }
        distance(self.from, self.to) / self.end.saturating_since(self.start).as_secs_f64()
    }
}

/// Returns the time to travel `metres` at `speed` metres per second, at least a nanosecond.
pub fn travel(metres: f64, speed: f64) -> Dur {
    Dur::from_secs_f64(metres / speed).max(Dur::from_nanos(1))
}

/// Source of a node's legs.
#[derive(Clone, Debug)]
enum Source {
    Listed { all: Arc<Vec<Vec<Waypoint>>>, node: usize, next: usize },
    Random(Box<Walk>),
}

/// A moving node.
#[derive(Clone, Debug)]
struct Mover {
    leg: Leg,
    source: Source,
}

impl Mover {
    /// Advances to the leg that contains `now`.
    fn advance(&mut self, now: Time) {
        while self.leg.end <= now && self.leg.end < NEVER {
            self.leg = match &mut self.source {
                Source::Listed { all, node, next } => {
                    let (from, start) = (self.leg.to, self.leg.end);
                    *next += 1;
                    all[*node].get(*next - 1).map_or(Leg::stay(from, start), |waypoint| Leg {
                        from,
                        start,
                        to: waypoint.place,
                        end: waypoint.at.max(start),
                    })
                }
                Source::Random(walk) => walk.next_leg(),
            };
        }
    }
}

/// The moving nodes of a run. The instants of queries must not decrease.
#[derive(Clone, Debug)]
pub struct Mobility {
    movers: Vec<Mover>,
    span: f64,
}

impl Mobility {
    /// Creates the nodes, at time zero at `places`, which may come from [`Movement::starts`].
    pub fn new(movement: &Movement, places: &[Position], seed: u64) -> Mobility {
        let movers = places.iter().enumerate().map(|(node, &place)| match movement {
            Movement::Waypoints(all) => Mover {
                leg: Leg { from: place, start: Time::ZERO, to: place, end: Time::ZERO },
                source: Source::Listed { all: all.clone(), node, next: 0 },
            },
            Movement::RandomWaypoint(config) if node < config.still as usize => Mover {
                leg: Leg::stay(place, Time::ZERO),
                source: Source::Listed { all: Arc::default(), node, next: 0 },
            },
            Movement::RandomWaypoint(config) => {
                let (walk, leg) = Walk::begin(*config, seed, NodeId(node as u32), place);
                Mover { leg, source: Source::Random(Box::new(walk)) }
            }
        });
        Mobility { movers: movers.collect(), span: movement.span(places) }
    }

    /// Returns an upper bound on the distance of two nodes in metres: the diagonal of the rectangle that contains all
    /// their paths.
    pub fn span(&self) -> f64 {
        self.span
    }

    /// Returns the number of nodes.
    pub fn count(&self) -> usize {
        self.movers.len()
    }

    /// Returns the leg of `node` at `now`, which must not be before the instant of an earlier query for it.
    pub fn leg(&mut self, node: NodeId, now: Time) -> Leg {
        *self.present(node, now)
    }

    /// Returns the position of `node` at `now`, in metres; `now` as for [`Mobility::leg`].
    pub fn place(&mut self, node: NodeId, now: Time) -> Position {
        self.present(node, now).place(now)
    }

    fn present(&mut self, node: NodeId, now: Time) -> &Leg {
        let mover = &mut self.movers[node.index()];
        debug_assert!(now >= mover.leg.start, "asked about {now} after {}", mover.leg.start);
        if mover.leg.end <= now {
            mover.advance(now);
        }
        &mover.leg
    }
}

impl Movement {
    /// Returns the number of initial nodes that stay where the topology puts them, regardless of [`Movement::starts`].
    pub fn still(&self) -> usize {
        match self {
            Movement::RandomWaypoint(config) => config.still as usize,
            Movement::Waypoints(_) => 0,
        }
    }

    /// Returns the diagonal, in metres, of the rectangle that nodes starting from `places` never leave.
    fn span(&self, places: &[Position]) -> f64 {
        let mut ways: Vec<Position> = match self {
            Movement::Waypoints(all) => all.iter().flatten().map(|waypoint| waypoint.place).collect(),
            Movement::RandomWaypoint(config) => vec![(0.0, 0.0), (config.width, config.height)],
        };
        ways.extend(places);
        let extent = |of: fn(&Position) -> f64| {
            let (least, most) = ways.iter().map(of).fold((f64::MAX, f64::MIN), |(l, m), x| (l.min(x), m.max(x)));
            most - least
        };
        distance((0.0, 0.0), (extent(|place| place.0), extent(|place| place.1)))
    }

    /// Returns the positions of `count` nodes at time zero, if the movement determines them rather than the topology.
    pub fn starts(&self, count: usize, seed: u64) -> Option<Vec<Position>> {
        match self {
            Movement::RandomWaypoint(config) if config.steady => {
                let nodes = (0..count as u32).map(NodeId);
                Some(nodes.map(|node| Walk::begin(*config, seed, node, (0.0, 0.0)).1.from).collect())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
