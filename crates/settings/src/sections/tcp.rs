//! `[tcp]`: options of all TCP connections.

use super::Profile;
use crate::key::{Choice, Fallback::*, Kind, Section, size, time};
use crate::layer::Profiled;
use crate::value::{Field, Values};
use crate::{choice, section};
use fourhop_cc::ap2::Without;
use fourhop_cc::bbr::Budget;
use fourhop_cc::rbp::Samples;
use fourhop_proto::tcp::{self, Release, Rounding, RttSampling, SackRecovery, WindowCut};
use fourhop_units::{Bytes, Dur};

choice! {
    /// Acknowledgement policy of receivers.
    AckPolicy {
        EverySegment = "every-segment", "each segment at once";
        Delayed = "delayed", "every second segment or after `delayed_ack_timeout`, RFC 5681 section 4.2";
        DynamicDelayed = "dynamic-delayed",
            "every d-th segment, d growing from 1 to 4, or after `delayed_ack_timeout` (Altman, Jimenez 2003)";
    }
}

choice! {
    /// Whose timers.
    TcpProfile {
        Scenario = "scenario", "those of the scenario's profile";
        Ns2Of2003 = "ns2-2003",
            "those of ns-2 before October 2004: `rtt_tick` 100ms, `rto_min` 1s, `rto_initial` 6s, `initial_window` 1";
    }
}

choice! {
    for RttSampling {
        OneTimedSegment = "one-timed-segment", "one at a time, RFC 6298 section 3, as in ns-2";
        EveryAck = "every-ack", "each acknowledgement of segments sent once or with a timestamp, RFC 7323 section 4";
    }
}

choice! {
    for WindowCut {
        WindowInUse = "window-in-use", "the congestion window, as in ns-2";
        FlightSize = "flight-size", "the data in flight, RFC 5681 equation 4";
    }
}

choice! {
    for SackRecovery {
        Scoreboard = "scoreboard", "RFC 6675";
        RackTlp = "rack-tlp",
            "RFC 8985: by time, with tail loss probes; receivers report duplicates. Always used by `bbr` and `ap2`, \
             never by senders of ad hoc TCP";
        PipeCounter = "pipe-counter", "a count of segments in flight; each hole is retransmitted once, as in ns-2";
    }
}

choice! {
    for Samples {
        Timer = "timer", "that of the retransmission timer, divided by the congestion window";
        EveryAck = "every-ack",
            "an average over all acknowledgements, divided by the window in use, like a pacing agent on ns-2's NewReno";
    }
}

choice! {
    for Budget {
        Draft = "draft", "at least three segments in all";
        LinuxV1 = "linux-v1",
            "three quanta more, rounded up to an even number, as in Linux's version 1";
    }
}

choice! {
    for Without {
        Nothing = "nothing", "AP2 as it is";
        Hops = "hops", "the target counts no hops";
        Gaps = "gaps", "the target ignores the gaps between acknowledgements";
        Bursts = "bursts", "segments leave one by one";
        Pacing = "pacing", "bursts leave as soon as the window has room";
        QuickFall = "quick-fall", "the window falls half the way, as it grows";
        Patience = "patience", "any loss in a round cuts the window by an eighth";
        Radios = "radios", "radios without aggregates are treated like others";
        Rivalry = "rivalry", "it yields to all flows that fill a queue";
        Room = "room", "a queue that overflows early does not shorten the target";
    }
}

choice! {
    for Rounding {
        Up = "up", "rounded up, at most one segment per tick";
        Down = "down", "rounded down, so that an interval shorter than a tick is zero";
        Carry = "carry", "kept on average: each tick releases all segments that have become due since the previous \
            tick";
    }
}

section! {
    /// Options of all TCP connections; a flow's transport names its congestion control.
    Tcp = "tcp" of tcp::Config {
        /// Defaults of the timers below.
        profile: TcpProfile, Kind::Choice(TcpProfile::CHOICES), Both("scenario");
        /// Limit of data in flight, in segments; none: only the peer's window limits it.
        window: Option<u32>, Kind::Int(1, 1_000_000) => window_limit;
        /// Maximum payload of a segment.
        mss: Bytes, size("1B", "65495B") => mss;
        /// Maximum payload of a segment to a peer that does not announce an MSS.
        mss_without_option: Bytes, size("1B", "65495B") => mss_without_option;
        /// Initial congestion window in segments.
        initial_window: u32, Kind::Int(1, 1_000) => initial_window;
        /// Initial slow-start threshold in segments; none: slow start lasts until the first loss. ns-2 uses `window`.
        initial_ssthresh: Option<u32>, Kind::Int(2, 1_000_000) => initial_ssthresh;
        /// Limit of the congestion window in segments.
        cwnd_clamp: Option<u32>, Kind::Int(1, 1_000_000) => cwnd_clamp;
        /// Let the window grow only while it limits the sender.
        grow_only_when_limited: bool, Kind::Bool => grow_only_when_limited;
        /// Maximum number of segments that one acknowledgement contributes to the growth of the window.
        growth_limit: u32, Kind::Int(1, 1_000) => growth_limit;
        /// Number of duplicate acknowledgements that indicate a loss.
        dup_ack_threshold: u32, Kind::Int(1, 255) => dup_ack_threshold;
        /// Each duplicate acknowledgement below the threshold sends a new segment (RFC 3042).
        limited_transmit: bool, Kind::Bool => limited_transmit;
        /// Window that a loss reduces.
        window_cut: WindowCut, Kind::Choice(WindowCut::CHOICES) => window_cut;
        /// Cut the threshold again at each repeated timeout of a segment.
        cut_on_each_timeout: bool, Kind::Bool => cut_on_each_timeout;
        /// Maximum number of new segments that one acknowledgement releases during fast recovery.
        recovery_burst: Option<u32>, Kind::Int(1, 1_000) => recovery_burst;
        /// Only the first partial acknowledgement restarts the retransmission timer (RFC 6582).
        impatient: bool, Kind::Bool => impatient;
        /// The acknowledgement that ends recovery also grows the window.
        grow_on_full_ack: bool, Kind::Bool => grow_on_full_ack;
        /// Tick of the clock that measures round trips.
        rtt_tick: Dur, time("1ns", "1s") => rtt_tick;
        /// Segments that give round-trip samples.
        rtt_sampling: RttSampling, Kind::Choice(RttSampling::CHOICES) => rtt_sampling;
        /// Retransmission timeout before the first sample of the round trip.
        rto_initial: Dur, time("1ms", "1000s") => rto_initial;
        /// Minimum retransmission timeout.
        rto_min: Dur, time("1ms", "1000s") => rto_min;
        /// Maximum retransmission timeout.
        rto_max: Dur, time("1ms", "10000s") => rto_max;
        /// Clock granularity G of RFC 6298.
        rto_granularity: Dur, time("0s", "1s") => rto_granularity;
        /// Minimum wait before the first probe of a closed window; 0s: one timeout (RFC 9293 section 3.8.6.1). 4.4BSD
        /// waits 5s.
        persist_min: Dur, time("0s", "1000s") => persist_min;
        /// Backoff factor beyond which the smoothed round trip is forgotten; none: never.
        forget_srtt_beyond_backoff: Option<u32>, Kind::Int(1, 65_536) => forget_srtt_beyond_backoff;
        /// Number of consecutive timeouts after which a connection is given up; none: never.
        max_timeouts: Option<u32>, Kind::Int(1, 1_000) => max_timeouts;
        /// Also pace retransmissions.
        pace_retransmissions: bool, Kind::Bool => pace_retransmissions;
        /// The stack paces, as Linux does with `fq`: 2 windows per round trip in slow start and 1.2 later, after the
        /// first ten segments. Pacing transports ignore it.
        stack_pacing: bool, Kind::Bool => stack_pacing;
        /// Delay small segments while data is in flight.
        nagle: bool, Kind::Bool => nagle;
        /// Use the timestamp option (RFC 7323).
        timestamps: bool, Kind::Bool => timestamps;
        /// Use ECN (RFC 3168). `ecn` in `[link]` and `[gateway]` makes queues mark packets.
        ecn: bool, Kind::Bool => ecn;
        /// Use SACK (RFC 2018). Transports with SACK recovery switch it on.
        sack: bool, Kind::Bool => sack;
        /// Maximum number of SACK blocks per acknowledgement.
        sack_blocks: u32, Kind::Int(1, 4) => sack_blocks;
        /// Loss recovery of transports with SACK.
        sack_recovery: SackRecovery, Kind::Choice(SackRecovery::CHOICES) => sack_recovery;
        /// Use the round trips of segments behind a hole for congestion control.
        sample_behind_holes: bool, Kind::Bool => sample_behind_holes;
        /// A retransmission by Vegas's fine clock doubles the retransmission timeout.
        vegas_backs_off: bool, Kind::Bool => vegas_backs_off;
        /// Keep the inflation of Vegas's window by duplicate acknowledgements.
        vegas_keeps_inflation: bool, Kind::Bool => vegas_keeps_inflation;
        /// Count Vegas's segments without their headers on the air.
        vegas_without_header: bool, Kind::Bool => vegas_without_header;
        /// Vegas: the window grows if fewer segments than this are in the path's queues.
        alpha: u32, Kind::Int(0, 1_000) => cc.alpha;
        /// Vegas: the window shrinks if more segments than this are in the path's queues.
        beta: u32, Kind::Int(0, 1_000) => cc.beta;
        /// Vegas: slow start ends if more segments than this are in the path's queues.
        gamma: u32, Kind::Int(0, 1_000) => cc.gamma;
        /// CUBIC: end the first slow start when round trips grow, with HyStart++ (RFC 9406).
        hystart: bool, Kind::Bool => cc.hystart;
        /// BBR: room in the window for aggregation.
        bbr_budget: Budget, Kind::Choice(Budget::CHOICES) => cc.bbr_budget;
        /// AP2: a part to disable, for experiments (docs/ap2.md).
        ap2_without: Without, Kind::Choice(Without::CHOICES) => cc.ap2_without;
        /// Rate-based pacing: V in RTT / (cwnd + V).
        pacing_v: u32, Kind::Int(0, 1_000) => cc.pacing_v;
        /// Rate-based pacing: the round trip, and the window that divides it.
        pacing_samples: Samples, Kind::Choice(Samples::CHOICES) => cc.pacing_samples;
        /// Rate-based pacing: release of segments that the window allows.
        pacing_release: Release, Kind::Choice(Release::CHOICES) => release;
        /// Clock tick for segments at a `gate`. Linux 2.4 on a PC: 10ms.
        pacing_tick: Dur, time("1ns", "1s") => pacing_clock.tick;
        /// Rounding of pacing intervals to ticks.
        pacing_rounding: Rounding, Kind::Choice(Rounding::CHOICES) => pacing_clock.rounding;
        /// Measure the age of bytes at delivery (docs/results.md).
        delivery_ages: bool, Kind::Bool => delivery_ages;
        /// Congestion-window limit of `cwl` in segments; none: a quarter of the hops.
        limit: Option<u32>, Kind::Int(1, 1_000_000) => cc.limit;
        /// Size of the receive buffer.
        receive_buffer: Bytes, size("1kB", "1073741824B") => receive_buffer;
        /// Acknowledgement policy of receivers.
        ack_policy: AckPolicy, Kind::Choice(AckPolicy::CHOICES), Profile("every-segment", "delayed");
        /// Maximum delay of a delayed acknowledgement.
        delayed_ack_timeout: Dur, time("1ms", "499ms"), Profile("100ms", "40ms");
        /// Time for which a closed connection is remembered (TIME-WAIT).
        time_wait: Dur, time("0s", "10000s") => time_wait;
    }
}

/// Fills in the timers of `profile`. `given` tells whether a key was written.
pub fn complete(values: &mut Values, scenario: Profile, given: impl Fn(&str) -> bool) {
    if TcpProfile::from_value(values.get("profile")) == TcpProfile::Ns2Of2003 {
        let config = tcp::Config::of(scenario).with_timers_of_2003();
        values.extend(Tcp::values_of(&config).into_iter().filter(|(key, _)| !given(key)));
    }
}
