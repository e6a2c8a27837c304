//! `[direct]`: a routing protocol for neighbours.

use crate::key::time;
use crate::{profiled, section};
use fourhop_proto::route::direct;
use fourhop_units::Dur;

profiled! {
    direct::Config: direct::Config::usual(), direct::Config::usual();
}

section! {
    /// A routing protocol for neighbours.
    Direct = "direct" of direct::Config {
        /// Time between two beacons of a node.
        interval: Dur, time("10ms", "100s") => interval;
    }
}
