//! Decides when data of a flow may leave.

use super::config::{Config, Mode};
use super::window::ASSUMED;
use super::windowed::Windowed;
use fourhop_cc::Measurements;
use fourhop_cc::tcp_ap::Pace;
use fourhop_units::{Dur, Time};

/// Maximum number of timed segments in flight with AP2: more than the windows of most paths.
pub const TIMED: usize = 1_024;

/// Round trip of a short wire.
const ASSUMED_LEAST: Dur = Dur::from_millis(10);

/// The pacer selected by [`Mode`].
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "all flows of a gateway have one mode: those of `gap` need no pointer")]
pub enum Pacer {
    /// TCP-AP's interval, and the state from which it is computed.
    Gap(Pace, Option<Dur>),
    /// AP2's window.
    Ap2(Box<Windowed>),
}

impl Pacer {
    /// Creates a pacer for an unknown path.
    pub fn new(now: Time, config: &Config) -> Pacer {
        match config.mode {
            Mode::Gap => Pacer::Gap(Pace::new(&config.pace), None),
            Mode::Ap2 => Pacer::Ap2(Box::new(Windowed::new(now))),
        }
    }

    /// Creates a pacer before the first data.
    pub fn first(now: Time, config: &Config) -> Pacer {
        match Pacer::new(now, config) {
            Pacer::Gap(pace, _) => Pacer::Gap(pace, config.pace.first_interval),
            other => other,
        }
    }

    /// Returns the interval of adaptive pacing.
    pub fn interval(&self) -> Option<Dur> {
        match self {
            Pacer::Gap(_, interval) => *interval,
            Pacer::Ap2(_) => None,
        }
    }

    /// Returns the mean time between segments that a window allows.
    pub fn mean_interval(&self) -> Option<Dur> {
        match self {
            Pacer::Gap(..) => None,
            Pacer::Ap2(windowed) => windowed.interval(),
        }
    }

    /// Returns the wired round trip assumed until it is known: with a window that opens within a few round trips, a
    /// long one would let the sender fill the queue.
    pub fn assumed(&self) -> Dur {
        match self {
            Pacer::Gap(..) => ASSUMED,
            Pacer::Ap2(_) => ASSUMED_LEAST,
        }
    }

    /// Returns the minimum time that packets of a window may wait, given the interval between them.
    pub fn least_wait(&self, interval: Dur) -> Dur {
        match self {
            Pacer::Gap(..) => Dur::ZERO,
            Pacer::Ap2(windowed) => windowed.least_wait().max(interval),
        }
    }

    pub fn measurements(&self) -> Measurements {
        match self {
            Pacer::Gap(pace, _) => pace.measurements(),
            Pacer::Ap2(windowed) => windowed.measurements(),
        }
    }

    /// Returns the bytes it occupies elsewhere.
    pub fn memory(&self) -> usize {
        match self {
            Pacer::Gap(pace, _) => pace.memory(),
            Pacer::Ap2(_) => size_of::<Windowed>(),
        }
    }
}
