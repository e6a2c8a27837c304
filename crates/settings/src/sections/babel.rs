//! `[babel]`: Babel (RFC 8966), for `routing.protocol = "babel"`; docs/babel.md.

use crate::key::{Kind, time};
use crate::{profiled, section};
use fourhop_proto::route::babel;
use fourhop_units::Dur;

// Babel is newer than ns-2, and the same in both profiles.
profiled! {
    babel::Config: babel::Config::standard(), babel::Config::standard();
}

section! {
    /// Babel (RFC 8966), for `routing.protocol = "babel"`: the parameters of its appendix B, with their defaults there.
    /// `routing.metric` selects the link metric; no other key of `[routing]` applies.
    Babel = "babel" of babel::Config {
        /// Longest time between two Hellos of a node; each comes up to a quarter earlier.
        hello_interval: Dur, time("10ms", "600s") => hello_interval;
        /// Longest time between two updates of all routes.
        update_interval: Dur, time("10ms", "600s") => update_interval;
        /// Cost of a link without lost Hellos; `metric = "etx"` counts at least 256.
        rxcost: u32, Kind::Int(1, 65_534) => rxcost;
        /// Half-life of the smoothed metric; routes change if metric and smoothed metric are better. 0s: no smoothing.
        smoothing_half_life: Dur, time("0s", "600s") => smoothing_half_life;
        /// Wait before a request for a newer sequence number is repeated; it doubles each time.
        request_timeout: Dur, time("10ms", "600s") => request_timeout;
        /// Number of repetitions of such a request.
        request_repeats: u8, Kind::Int(0, 8) => request_repeats;
        /// Longest delay of urgent messages: retractions, changes of a route's origin, requests and their answers.
        urgent_timeout: Dur, time("1ms", "10s") => urgent_timeout;
    }
}
