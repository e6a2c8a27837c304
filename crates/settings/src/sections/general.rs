//! Keys at the top level of a scenario.

use crate::key::{Choice, Fallback::*, Kind, time};
use crate::profile::Profile;
use crate::section;
use fourhop_units::Dur;

section! {
    /// Runs, times and measurement.
    General = "" {
        /// Name of the scenario in tables and file names.
        name: String, Kind::Text, Computed("the name of the file");
        /// Behaviour of the protocols: decides the defaults of all other sections.
        profile: Profile, Kind::Choice(Profile::CHOICES), Required;
        /// Simulated time; with `packets` the longest.
        duration: Dur, time("1ms", "1000000s"), Required;
        /// Time at the start that is not measured.
        warmup: Option<Dur>, time("0s", "1000000s"), Computed("10 % of `duration`; with `packets` 0s");
        /// Seed of the first run; the others count up from it.
        seed: u64, Kind::Int(0, 9_007_199_254_740_991), Both("1");
        /// Number of equal parts the measured interval is cut into for batch means.
        batches: u32, Kind::Int(2, 10_000), Both("10");
        /// The run ends after this many packets over all flows. They make `batches` + 1 equal parts; the first is not
        /// measured. A packet is `tcp.mss` bytes, or a payload of UDP and ping.
        packets: Option<u64>, Kind::Int(3, 1_000_000_000), Both("none");
        /// Step of the time series (window, RTT, goodput, queue length); none are recorded without it.
        sample_every: Option<Dur>, time("1ms", "1000000s"), Both("none");
    }
}
