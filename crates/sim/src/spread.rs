//! The time between a frame's arrival at its first and at its last receiver.
//!
//! The world passes a frame to all of its receivers before it ends at the first of them: [`World`](crate::world::World)
//! visits the beginnings of its copies, then their ends. This is the order of time as long as no frame is shorter than
//! the difference in propagation delay between its nearest and its farthest receiver. An ACK takes 304 µs at 1 Mbit/s
//! and 28 µs at 24 Mbit/s: 91 and 8 km. A larger network is refused when it is built.

use fourhop_proto::mac::ShortestFrame;
use fourhop_proto::phy::two_ray::LIGHT_SPEED;
use fourhop_units::{Dur, NodeId};
use thiserror::Error;

/// Propagation delays to the first and to the last receiver of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Spread {
    /// The transmitter with the largest difference; `None`: nodes move, and it may be any.
    pub src: Option<NodeId>,
    /// Propagation delay to its nearest receiver.
    pub nearest: Dur,
    /// Propagation delay to its farthest receiver.
    pub farthest: Dur,
}

/// Receivers of a frame are so far apart that the shortest frame would leave the first before it reaches the last.
#[derive(Clone, Copy, PartialEq, Debug, Error)]
#[error("{}, allowed: {}", self.found(), self.allowed())]
pub struct TooWide {
    /// Propagation delays of the receivers.
    pub spread: Spread,
    /// The frame that is too short for that.
    pub frame: ShortestFrame,
}

impl Spread {
    /// Checks that no frame leaves its first receiver before it has reached its last.
    ///
    /// # Errors
    /// If `frame` is too short for that.
    pub fn check(self, frame: ShortestFrame) -> Result<(), TooWide> {
        // At one instant, ends precede beginnings: a frame that lasts exactly as long is too short.
        if self.farthest - self.nearest < frame.airtime { Ok(()) } else { Err(TooWide { spread: self, frame }) }
    }
}

impl TooWide {
    /// Returns the value found, in words.
    pub fn found(&self) -> String {
        let (nearest, farthest) = (metres(self.spread.nearest), metres(self.spread.farthest));
        match self.spread.src {
            Some(src) => format!("receivers of node {src} from {nearest:.0} m to {farthest:.0} m away"),
            None => format!("moving nodes that receive each other up to {farthest:.0} m away"),
        }
    }

    /// Returns the allowed values, in words.
    pub fn allowed(&self) -> String {
        let ShortestFrame { name, rate, airtime } = self.frame;
        let most = metres(airtime);
        let rate = rate.bps() as f64 / 1e6;
        format!(
            "less than {most:.0} m between the nearest and the farthest receiver of a frame, the distance that light \
                travels during the shortest frame, {name} at {rate} Mbit/s of {} us",
            airtime.as_nanos() as f64 / 1e3,
        )
    }
}

/// Returns the distance that light travels in `delay`.
fn metres(delay: Dur) -> f64 {
    delay.as_secs_f64() * LIGHT_SPEED
}
