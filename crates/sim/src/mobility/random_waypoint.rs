//! Random waypoint (Johnson, Maltz 1996): go straight to a position drawn uniformly from a rectangle, at a speed drawn
//! uniformly from an interval, pause, and repeat.
//!
//! Started from uniformly drawn positions the model drifts: nodes gather in the middle and slow down for many minutes.
//! `steady` draws the start from the stationary distribution instead (Navidi, Camp 2004): the share of nodes that
//! pause, the rest of their pause, how far along which leg the others are, and their speed, whose density falls as 1 /
//! speed.

use super::{Leg, travel};
use crate::topology::{Position, distance};
use fourhop_units::{Dur, NodeId, Purpose, Stream, Time};

/// Options.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Least speed in m/s, above 0: without a bound the mean speed would fall for ever (Yoon, Liu, Noble 2003).
    pub speed_min: f64,
    /// Greatest speed in m/s.
    pub speed_max: f64,
    /// Stay at each place.
    pub pause: Dur,
    /// Width of the rectangle in metres; its corner is the origin.
    pub width: f64,
    /// Height of the rectangle in metres.
    pub height: f64,
    /// Start in the steady state, rather than at given places with a pause.
    pub steady: bool,
    /// Seed of the movement; the run's seed if `None`.
    pub seed: Option<u64>,
    /// This number of nodes, the first ones, stand still where the topology puts them.
    pub still: u32,
}

impl Config {
    /// Share of time spent in pauses.
    pub fn paused_share(&self) -> f64 {
        let pause = self.pause.as_secs_f64();
        pause / (pause + self.mean_distance() * self.mean_inverse_speed())
    }

    /// Mean distance of two uniformly drawn places of the rectangle (Ghosh 1951).
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

    /// Mean of 1 / speed over the legs.
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
    /// Does a pause come next?
    arrived: bool,
}

impl Walk {
    /// The movement of `node` and its first leg. `place` is where it starts, unless it starts in the steady state.
    pub fn begin(config: Config, seed: u64, node: NodeId, place: Position) -> (Walk, Leg) {
        let stream = Stream::new(config.seed.unwrap_or(seed), node, Purpose::Mobility);
        let mut walk = Walk { config, stream, place, at: Time::ZERO, arrived: true };
        let leg = if config.steady { walk.steady_leg() } else { walk.next_leg() };
        (walk, leg)
    }

    /// The next leg: a pause after a journey, a journey after a pause.
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
        // Long legs are met more often than short ones, in proportion to their length.
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
