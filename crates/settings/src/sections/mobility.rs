//! `[mobility]`: movement of the nodes.

use crate::key::{Choice, Fallback::*, Kind, length, speed, time};
use crate::value::{Metres, Speed, Value};
use crate::{choice, section};
use fourhop_units::Dur;

choice! {
    /// Mobility model.
    MobilityModel {
        Fixed = "fixed", "nodes do not move";
        Waypoints = "waypoints", "from the positions of the topology along given paths";
        RandomWaypoint = "random-waypoint", "straight to random positions at random speeds, with pauses";
        Ns2 = "ns2", "a movement file of ns-2 (setdest), instead of `[topology]`";
        BonnMotion = "bonnmotion", "a .movements file of BonnMotion, instead of `[topology]`";
    }
}

choice! {
    /// Initial positions of random waypoints.
    Start {
        SteadyState = "steady-state", "positions, speeds and pauses from the stationary distribution; the topology \
            sets the number of nodes";
        Topology = "topology", "the positions of the topology; nodes begin with a pause";
    }
}

section! {
    /// Movement of the nodes: in straight lines at constant speed, with pauses. Static routes and the `hops` in results
    /// are computed from the positions at the start.
    MobilityKeys = "mobility" {
        /// Mobility model.
        model: MobilityModel, Kind::Choice(MobilityModel::CHOICES), Both("fixed");
        /// Paths of the nodes: a list of `[node, time, x, y]` or `[node, speed, x, y]`, such as `[[3, "10s", "400m",
        /// "0m"], [3, "5m/s", "400m", "200m", "30s"]]`. The node moves straight from its previous position and arrives
        /// at this time, or moves at this speed. A fifth item is a pause.
        waypoints: Option<Value>, Kind::Waypoints, Required, &["waypoints"];
        /// Movement file, relative to the folder of the scenario file. The resolved scenario contains the paths
        /// themselves.
        file: Option<String>, Kind::Text, Required, &["ns2", "bonnmotion"];
        /// Minimum speed.
        speed_min: Option<Speed>, speed("0.001m/s", "10000m/s"), Both("1m/s"), &["random-waypoint"];
        /// Maximum speed; speeds are uniformly distributed between `speed_min` and this.
        speed_max: Option<Speed>, speed("0.001m/s", "10000m/s"), Required, &["random-waypoint"];
        /// Pause at each position.
        pause: Option<Dur>, time("0s", "1000000s"), Both("0s"), &["random-waypoint"];
        /// Width of the rectangle in which nodes move; the origin is a corner of it.
        width: Option<Metres>, length("0.1m", "1000km"), Required, &["random-waypoint"];
        /// Height of the rectangle.
        height: Option<Metres>, length("0.1m", "1000km"), Required, &["random-waypoint"];
        /// Initial positions.
        start: Option<Start>, Kind::Choice(Start::CHOICES), Both("steady-state"), &["random-waypoint"];
        /// Number of nodes, counted from node 0, that stay at their position in the topology.
        still: Option<u32>, Kind::Int(0, 1_000_000), Both("0"), &["random-waypoint"];
        /// Seed of the movement; none: the seed of the run.
        seed: Option<u64>, Kind::Int(0, 9_007_199_254_740_991), Both("none"), &["random-waypoint"];
    }
}
