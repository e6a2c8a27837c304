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
    /// Babel (RFC 8966), for `routing.protocol = "babel"`: the parameters and defaults of its appendix B.
    /// `routing.metric` selects the link metric; no other key of `[routing]` applies.
    Babel = "babel" of babel::Config {
        /// Maximum time between two Hellos of a node; each is sent up to a quarter of this time earlier.
        hello_interval: Dur, time("10ms", "600s") => hello_interval;
        /// Maximum time between two updates of all routes.
        update_interval: Dur, time("10ms", "600s") => update_interval;
        /// Cost of a link without lost Hellos; `metric = "etx"` counts at least 256.
        rxcost: u32, Kind::Int(1, 65_534) => rxcost;
        /// Half-life of the smoothed metric; routes change if metric and smoothed metric are better. 0s: no smoothing.
        smoothing_half_life: Dur, time("0s", "600s") => smoothing_half_life;
        /// Wait before a request for a newer sequence number is repeated; it doubles each time.
        request_timeout: Dur, time("10ms", "600s") => request_timeout;
        /// Number of times that such a request is repeated.
        request_repeats: u8, Kind::Int(0, 8) => request_repeats;
        /// Maximum delay of urgent messages: retractions, changes of a route's origin, requests and their answers.
        urgent_timeout: Dur, time("1ms", "10s") => urgent_timeout;
    }
}
