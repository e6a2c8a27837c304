//! `[adhoc_tcp]`: ad hoc TCP (Cho, Sirisena, Pawlikowski 2004), for the transports `adhoc-tcp`, `adhoc-receiver` and
//! `adhoc-sender`.

use crate::key::{Choice, Fallback::*, Kind, number, share, time};
use crate::value::{Field, Number, Share, TimeShift};
use crate::{choice, section};
use fourhop_proto::tcp::adhoc::{Gate, Rounding};
use fourhop_units::Dur;

choice! {
    /// Upper bound of the time between probes, besides `probe_max`.
    ProbeBound {
        Fixed = "fixed", "none";
        LargestRto = "largest-rto",
            "`probe_rtos` times the largest timeout since the number of hops changed, which the paper derives from \
                S_min";
    }
}

choice! {
    for Rounding {
        Floor = "floor", "down to whole segments";
        Nearest = "nearest", "to the nearest whole segment; half a segment is rounded up";
        Ceiling = "ceiling", "up to whole segments";
    }
}

section! {
    /// Ad hoc TCP, for the transports `adhoc-tcp` (both ends), `adhoc-receiver` and `adhoc-sender`; docs/adhoc-tcp.md
    /// has the formulas. These transports use timestamps, and receive buffers of at most 1 MiB.
    AdhocTcp = "adhoc_tcp" {
        /// The receiver limits the window to the capacity of the path.
        delimiter: bool, Kind::Bool, Both("true");
        /// This limit follows the rate that the receiver measures (equation 4); if false, it is W_max, a quarter of the
        /// hops.
        rater: bool, Kind::Bool, Both("true");
        /// Rounding in equation 4.
        rounding: Rounding, Kind::Choice(Rounding::CHOICES), Both("floor");
        /// The receiver closes the window when a packet takes too long.
        freezer: bool, Kind::Bool, Both("true");
        /// Number of deviations above the smoothed forward delay that are tolerated.
        beta: u32, Kind::Int(0, 1_000), Both("5");
        /// Age, in smoothed forward delays, after which an estimate is stale.
        fresh_for: u32, Kind::Int(0, 1_000_000), Both("4");
        /// Low mark between minimum and maximum buffer occupancy: below it, a sender behind a wire is not limited.
        occupancy_low: Share, share("0%", "100%"), Layer(|_| Share::thousandths(Gate::QUARTERS.low).to_value());
        /// High mark between minimum and maximum buffer occupancy: above it, a sender behind a wire is limited.
        occupancy_high: Share, share("0%", "100%"), Layer(|_| Share::thousandths(Gate::QUARTERS.high).to_value());
        /// Unit of the timestamps.
        timestamp_tick: Dur, time("1us", "1s"), Both("10us");
        /// Offset of receivers' clocks from senders' clocks at time zero; positive: ahead.
        clock_offset: TimeShift, time("-1000s", "1000s"), Both("0s");
        /// Frequency error of these clocks in parts per million.
        clock_drift: Number, number("-1000", "1000"), Both("0");
        /// Maximum time between two probes of a frozen sender.
        probe_max: Dur, time("1ms", "10000s"), Both("32s");
        /// A further bound on the time between two probes.
        probe_bound: ProbeBound, Kind::Choice(ProbeBound::CHOICES), Both("fixed");
        /// Maximum time between two probes in timeouts, if `probe_bound` is `largest-rto`.
        probe_rtos: u32, Kind::Int(1, 1_000), Both("2");
    }
}
