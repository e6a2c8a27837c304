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
        /// Behaviour of the protocols. It sets the defaults of all other sections.
        profile: Profile, Kind::Choice(Profile::CHOICES), Required;
        /// Simulated time; with `packets`, the maximum.
        duration: Dur, time("1ms", "1000000s"), Required;
        /// Time at the start of the run that is not measured.
        warmup: Option<Dur>, time("0s", "1000000s"), Computed("10 % of `duration`; 0s with `packets`");
        /// Seed of the first run; each further run adds 1.
        seed: u64, Kind::Int(0, 9_007_199_254_740_991), Both("1");
        /// Number of equal parts into which the measured interval is divided for batch means.
        batches: u32, Kind::Int(2, 10_000), Both("10");
        /// End the run after this many packets, counted over all flows. They are divided into `batches` + 1 equal
        /// parts; the first part is not measured. A packet is `tcp.mss` bytes, or one payload of UDP or ping.
        packets: Option<u64>, Kind::Int(3, 1_000_000_000), Both("none");
        /// Interval between the samples of time series (window, RTT, goodput, queue length); none: no series are
        /// recorded.
        sample_every: Option<Dur>, time("1ms", "1000000s"), Both("none");
    }
}
