//! `[tcp]`: what all TCP connections have in common.

use crate::scenario::key::{Fallback::*, Kind, choice, section, size, time};
use fourhop_units::{Bytes, Dur};

choice! {
    /// When a receiver acknowledges.
    AckPolicy {
        EverySegment = "every-segment", "each segment at once";
        Delayed = "delayed", "every second segment or after `delayed_ack_timeout`, RFC 5681 section 4.2";
    }
}

choice! {
    /// Which segments give round-trip samples.
    RttSampling {
        OneTimedSegment = "one-timed-segment", "one at a time, RFC 6298 section 3, as in ns-2";
        EveryAck = "every-ack", "each acknowledgement of segments sent once or with a timestamp, RFC 7323 section 4";
    }
}

choice! {
    /// From which window a loss cuts.
    WindowCut {
        WindowInUse = "window-in-use", "the congestion window, as in ns-2";
        FlightSize = "flight-size", "what is under way, RFC 5681 equation 4";
    }
}

section! {
    /// What all TCP connections have in common; the transport of a flow names its congestion control.
    Tcp = "tcp" {
        /// Limit of what is under way, in segments; none: the peer's window alone.
        window: Option<u32>, Kind::Int(1, 1_000_000), Profile("64", "none");
        /// Largest payload of a segment.
        mss: Bytes, size("1B", "65495B"), Both("1460B");
        /// What a peer gets that does not state its largest segment.
        mss_without_option: Bytes, size("1B", "65495B"), Both("536B");
        /// Initial congestion window in segments.
        initial_window: u32, Kind::Int(1, 1_000), Profile("2", "10");
        /// Slow-start threshold at the beginning in segments; none: slow start goes on until the first loss. ns-2 takes
        /// what `window` is set to for all senders.
        initial_ssthresh: Option<u32>, Kind::Int(2, 1_000_000), Profile("64", "none");
        /// Limit of the congestion window in segments.
        cwnd_clamp: Option<u32>, Kind::Int(1, 1_000_000), Both("none");
        /// Does the window grow only while it is what limits the sender?
        grow_only_when_limited: bool, Kind::Bool, Profile("false", "true");
        /// Segments one acknowledgement may add to growth.
        growth_limit: u32, Kind::Int(1, 1_000), Profile("1", "2");
        /// Duplicate acknowledgements that mean a loss.
        dup_ack_threshold: u32, Kind::Int(1, 255), Both("3");
        /// Does each duplicate acknowledgement below the threshold send a new segment (RFC 3042)?
        limited_transmit: bool, Kind::Bool, Both("true");
        /// From which window a loss cuts.
        window_cut: WindowCut, Kind::Choice(WindowCut::CHOICES), Profile("window-in-use", "flight-size");
        /// Does each repeated time-out of a segment cut the threshold again?
        cut_on_each_timeout: bool, Kind::Bool, Profile("true", "false");
        /// New segments one acknowledgement may release during fast recovery.
        recovery_burst: Option<u32>, Kind::Int(1, 1_000), Profile("2", "none");
        /// Does only the first partial acknowledgement restart the retransmission timer (RFC 6582)?
        impatient: bool, Kind::Bool, Both("true");
        /// Does the acknowledgement that ends recovery also grow the window?
        grow_on_full_ack: bool, Kind::Bool, Profile("true", "false");
        /// Tick of the clock that measures round trips.
        rtt_tick: Dur, time("1ns", "1s"), Profile("10ms", "1ns");
        /// Which segments give round-trip samples.
        rtt_sampling: RttSampling, Kind::Choice(RttSampling::CHOICES), Profile("one-timed-segment", "every-ack");
        /// Retransmission time-out before the first sample of the round trip.
        rto_initial: Dur, time("1ms", "1000s"), Profile("3s", "1s");
        /// Least retransmission time-out.
        rto_min: Dur, time("1ms", "1000s"), Profile("200ms", "1s");
        /// Largest retransmission time-out.
        rto_max: Dur, time("1ms", "10000s"), Both("60s");
        /// Clock granularity G of RFC 6298.
        rto_granularity: Dur, time("0s", "1s"), Profile("0s", "1ms");
        /// Back-off factor beyond which the smoothed round trip is forgotten; none: never.
        forget_srtt_beyond_backoff: Option<u32>, Kind::Int(1, 65_536), Profile("8", "none");
        /// Time-outs in a row after which a connection is given up; none: never.
        max_timeouts: Option<u32>, Kind::Int(1, 1_000), Profile("none", "15");
        /// Do retransmissions wait for the pacing interval too?
        pace_retransmissions: bool, Kind::Bool, Both("false");
        /// Are small segments held back while data is under way?
        nagle: bool, Kind::Bool, Both("false");
        /// Is the timestamp option used (RFC 7323)?
        timestamps: bool, Kind::Bool, Profile("false", "true");
        /// Do receivers report what they hold (RFC 2018)? Transports that recover by it switch it on.
        sack: bool, Kind::Bool, Profile("false", "true");
        /// Receive buffer.
        receive_buffer: Bytes, size("1kB", "1073741824B"), Profile("1073741824B", "1048576B");
        /// When a receiver acknowledges.
        ack_policy: AckPolicy, Kind::Choice(AckPolicy::CHOICES), Profile("every-segment", "delayed");
        /// Longest delay of a delayed acknowledgement.
        delayed_ack_timeout: Dur, time("1ms", "499ms"), Profile("100ms", "40ms");
        /// Time a closed connection is remembered.
        time_wait: Dur, time("0s", "10000s"), Both("60s");
    }
}
