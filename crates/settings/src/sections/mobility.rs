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
        Ns2 = "ns2", "a movement file of ns-2 (setdest), in place of `[topology]`";
        BonnMotion = "bonnmotion", "a .movements file of BonnMotion, in place of `[topology]`";
    }
}

choice! {
    /// Initial positions of random waypoints.
    Start {
        SteadyState = "steady-state", "positions, speeds and pauses from the stationary distribution; the topology \
            sets the number of nodes";
        Topology = "topology", "at the positions of the topology, with a pause";
    }
}

section! {
    /// Movement of the nodes: in straight lines at constant speed, with pauses. Static routes and `hops` in results are
    /// those of the start.
    MobilityKeys = "mobility" {
        /// Mobility model.
        model: MobilityModel, Kind::Choice(MobilityModel::CHOICES), Both("fixed");
        /// Paths of the nodes, a list of `[node, when, x, y]` or `[node, how fast, x, y]`, such as `[[3, "10s", "400m",
        /// "0m"], [3, "5m/s", "400m", "200m", "30s"]]`: straight from the place before, arriving then or going at this
        /// speed; a fifth item is a stay.
        waypoints: Option<Value>, Kind::Waypoints, Required, &["waypoints"];
        /// Movement file, relative to the folder of the scenario file. The resolved scenario holds the paths
        /// themselves.
        file: Option<String>, Kind::Text, Required, &["ns2", "bonnmotion"];
        /// Minimum speed.
        speed_min: Option<Speed>, speed("0.001m/s", "10000m/s"), Both("1m/s"), &["random-waypoint"];
        /// Maximum speed; speeds are uniform in between.
        speed_max: Option<Speed>, speed("0.001m/s", "10000m/s"), Required, &["random-waypoint"];
        /// Stay at each place.
        pause: Option<Dur>, time("0s", "1000000s"), Both("0s"), &["random-waypoint"];
        /// Width of the rectangle of the places, whose corner is the origin.
        width: Option<Metres>, length("0.1m", "1000km"), Required, &["random-waypoint"];
        /// Height of the rectangle.
        height: Option<Metres>, length("0.1m", "1000km"), Required, &["random-waypoint"];
        /// Start positions.
        start: Option<Start>, Kind::Choice(Start::CHOICES), Both("steady-state"), &["random-waypoint"];
        /// Number of nodes, counted from node 0, that stay at their position in the topology.
        still: Option<u32>, Kind::Int(0, 1_000_000), Both("0"), &["random-waypoint"];
        /// Seed of the movement; none: the run's.
        seed: Option<u64>, Kind::Int(0, 9_007_199_254_740_991), Both("none"), &["random-waypoint"];
    }
}
