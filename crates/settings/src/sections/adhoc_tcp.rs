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
        Fixed = "fixed", "nothing";
        LargestRto = "largest-rto",
            "`probe_rtos` times the largest time-out since the number of hops changed, which the paper derives from \
                S_min";
    }
}

choice! {
    for Rounding {
        Floor = "floor", "it is cut off";
        Nearest = "nearest", "half a segment and more counts as one";
        Ceiling = "ceiling", "it counts as a segment";
    }
}

section! {
    /// Ad hoc TCP, for the transports `adhoc-tcp` (both ends), `adhoc-receiver` and `adhoc-sender`; docs/adhoc-tcp.md
    /// has the formulas. These transports have timestamps switched on, and receive buffers of 1 MiB at most.
    AdhocTcp = "adhoc_tcp" {
        /// Does the receiver limit the window to what the path holds?
        delimiter: bool, Kind::Bool, Both("true");
        /// Does that limit follow the rate that the receiver finds (equation 4)? Otherwise it is W_max, a quarter of
        /// the hops.
        rater: bool, Kind::Bool, Both("true");
        /// Rounding in equation 4.
        rounding: Rounding, Kind::Choice(Rounding::CHOICES), Both("floor");
        /// Does it close the window when a packet took too long?
        freezer: bool, Kind::Bool, Both("true");
        /// Deviations above the smoothed forward delay that are not yet too long.
        beta: u32, Kind::Int(0, 1_000), Both("5");
        /// Smoothed forward delays after which an estimate is stale.
        fresh_for: u32, Kind::Int(0, 1_000_000), Both("4");
        /// Where the low mark lies between smallest and largest buffer occupancy: below it a sender behind a wire is
        /// not limited.
        occupancy_low: Share, share("0%", "100%"), Layer(|_| Share::thousandths(Gate::QUARTERS.low).to_value());
        /// Where the high mark lies: above it a sender behind a wire is limited.
        occupancy_high: Share, share("0%", "100%"), Layer(|_| Share::thousandths(Gate::QUARTERS.high).to_value());
        /// Unit of the timestamps.
        timestamp_tick: Dur, time("1us", "1s"), Both("10us");
        /// How far the clocks of receivers are ahead of those of senders at time zero; negative: behind.
        clock_offset: TimeShift, time("-1000s", "1000s"), Both("0s");
        /// Frequency error of these clocks in parts per million.
        clock_drift: Number, number("-1000", "1000"), Both("0");
        /// Longest time between two probes of a frozen sender.
        probe_max: Dur, time("1ms", "10000s"), Both("32s");
        /// A further bound on this time.
        probe_bound: ProbeBound, Kind::Choice(ProbeBound::CHOICES), Both("fixed");
        /// Time-outs between two probes, if `probe_bound` is `largest-rto`.
        probe_rtos: u32, Kind::Int(1, 1_000), Both("2");
    }
}
