//! Random waypoint (Johnson, Maltz 1996): travel straight to a position drawn uniformly from a rectangle, at a speed
//! drawn uniformly from an interval, pause, and repeat.
//!
//! With uniformly drawn starting positions the model drifts: nodes gather in the middle and slow down for many minutes.
//! `steady` draws the start from the stationary distribution instead (Navidi, Camp 2004): the share of nodes that
//! pause, the rest of their pause, how far along which leg the others are, and their speed, whose density is
//! proportional to 1 / speed.

use super::{Leg, travel};
use crate::topology::{Position, distance};
use fourhop_units::{Dur, NodeId, Purpose, Stream, Time};

/// Options.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Least speed in m/s, above 0: without a lower bound the mean speed would fall forever (Yoon, Liu, Noble 2003).
    pub speed_min: f64,
    /// Largest speed in m/s.
    pub speed_max: f64,
    /// Pause at each destination.
    pub pause: Dur,
    /// Width of the rectangle in metres; its corner is the origin.
    pub width: f64,
    /// Height of the rectangle in metres.
    pub height: f64,
    /// Whether to start in the steady state, rather than at given positions with a pause.
    pub steady: bool,
    /// Seed of the movement; the run's seed if `None`.
    pub seed: Option<u64>,
    /// Number of initial nodes that stay where the topology puts them.
    pub still: u32,
}

impl Config {
    /// Returns the share of time spent in pauses.
    pub fn paused_share(&self) -> f64 {
        let pause = self.pause.as_secs_f64();
        pause / (pause + self.mean_distance() * self.mean_inverse_speed())
    }

    /// Returns the mean distance of two uniformly drawn positions in the rectangle (Ghosh 1951).
    pub fn mean_distance(&self) -> f64 {
        let (a, b) = (self.width, self.height);
        let d = self.diagonal();
        let cubes = a * a * a / (b * b) + b * b * b / (a * a);
        let sides = d * (3.0 - (a / b) * (a / b) - (b / a) * (b / a));
        let logs = 2.5 * (b * b / a * libm::log((a + d) / b) + a * a / b * libm::log((b + d) / a));
        (cubes + sides + logs) / 15.0
    }

    fn diagonal(&self) -> f64 {
        distance((0.0, 0.0), (self.width, self.height))
    }

    /// Returns the mean of 1 / speed over the legs.
    fn mean_inverse_speed(&self) -> f64 {
        let spread = self.speed_max - self.speed_min;
        if spread > 0.0 { libm::log(self.speed_max / self.speed_min) / spread } else { 1.0 / self.speed_min }
    }
}

/// The movement of one node.
#[derive(Clone, Debug)]
pub struct Walk {
    config: Config,
    stream: Stream,
    place: Position,
    at: Time,
    /// Whether a pause comes next.
    arrived: bool,
}

impl Walk {
    /// Begins the movement of `node` with its first leg. `place` is where it starts, unless it starts in the steady
    /// state.
    pub fn begin(config: Config, seed: u64, node: NodeId, place: Position) -> (Walk, Leg) {
        let stream = Stream::new(config.seed.unwrap_or(seed), node, Purpose::Mobility);
        let mut walk = Walk { config, stream, place, at: Time::ZERO, arrived: true };
        let leg = if config.steady { walk.steady_leg() } else { walk.next_leg() };
        (walk, leg)
    }

    /// Returns the next leg: a pause after travel, travel after a pause.
    pub fn next_leg(&mut self) -> Leg {
        if self.arrived && !self.config.pause.is_zero() {
            self.arrived = false;
            return self.go(self.place, self.config.pause);
        }
        let to = self.draw_place();
        let Config { speed_min, speed_max, .. } = self.config;
        let speed = speed_min + (speed_max - speed_min) * self.stream.unit();
        self.arrived = true;
        self.go(to, travel(distance(self.place, to), speed))
    }

    fn steady_leg(&mut self) -> Leg {
        let config = self.config;
        if self.stream.unit() < config.paused_share() {
            self.place = self.draw_place();
            self.arrived = false;
            let rest = self.stream.duration(config.pause);
            return self.go(self.place, rest);
        }
        // A node is more often on a long leg than on a short one, in proportion to the length.
        let diagonal = config.diagonal();
        let (from, to) = loop {
            let ends = (self.draw_place(), self.draw_place());
            if self.stream.unit() * diagonal < distance(ends.0, ends.1) {
                break ends;
            }
        };
        let share = self.stream.unit();
        self.place = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
        let speed = config.speed_min * libm::pow(config.speed_max / config.speed_min, self.stream.unit());
        self.arrived = true;
        self.go(to, travel(distance(self.place, to), speed))
    }

    fn go(&mut self, to: Position, time: Dur) -> Leg {
        let leg = Leg { from: self.place, start: self.at, to, end: self.at + time };
        (self.place, self.at) = (leg.to, leg.end);
        leg
    }

    fn draw_place(&mut self) -> Position {
        (self.stream.unit() * self.config.width, self.stream.unit() * self.config.height)
    }
}
