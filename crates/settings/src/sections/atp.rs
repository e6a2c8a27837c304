//! `[atp]`: ATP (Sundaresan, Anantharaman, Hsieh, Sivakumar 2003), for the transport `atp`; docs/atp.md.

use crate::key::{Kind, share, time};
use crate::value::Share;
use crate::{profiled, section};
use fourhop_proto::atp;
use fourhop_units::Dur;

// ATP is newer than ns-2, and the same in both profiles.
profiled! {
    atp::Config: atp::Config::published(), atp::Config::published();
}

section! {
    /// ATP, for the transport `atp`: its senders and receivers, and the delay reports of all nodes if any flow uses it.
    /// `tcp.mss` and `tcp.delivery_ages` also apply; no other key of `[tcp]` does.
    Atp = "atp" of atp::Config {
        /// Time between two feedback messages; it should be longer than a round trip.
        epoch: Dur, time("10ms", "1000s") => epoch;
        /// Weight of the previous value in the moving average of delays, at nodes and receivers; 0%: only the newest
        /// delay counts.
        smoothing: Share, share("0%", "99.9%") => smoothing;
        /// Margin above the current rate that a path must offer before the rate rises.
        increase_over: Share, share("0%", "1000%") => increase_over;
        /// Share of the surplus by which the rate then rises.
        increase_by: Share, share("0.1%", "100%") => increase_by;
        /// Delay that a node reports after an idle epoch, in multiples of its transmission time.
        idle_factor: u32, Kind::Int(1, 100) => idle_factor;
    }
}
