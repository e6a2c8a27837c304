//! `[tcp_ap]`: adaptive pacing (ElRakabawy, Klemm, Lindemann 2005), for the transports `tcp-ap` and `tcp-ap-sack`.

use crate::key::{Choice, Fallback::*, Kind, Section, rate, share, size, time};
use crate::sections;
use crate::value::{Field, Share, Values};
use crate::{choice, section};
use fourhop_cc::tcp_ap::{self, ShortPath, variation::Spread};
use fourhop_proto::tcp::{HopSource, Release};
use fourhop_units::{Bytes, Dur, Rate};

choice! {
    /// Whose arithmetic.
    ApProfile {
        Paper = "paper", "the paper's text";
        AuthorsCode = "authors-code", "the ns-2 agent that its authors published";
    }
}

choice! {
    for Spread {
        DeviationOfRoundTrips = "deviation-of-round-trips", "standard deviation of the round trips over their mean";
        AbsoluteDeviationOfDelays = "absolute-deviation-of-delays", "mean absolute deviation of the n-hop delays over \
            their mean";
    }
}

choice! {
    for ShortPath {
        AllHops = "all-hops", "the delay over all their hops";
        OneHop = "one-hop", "the delay over one hop";
    }
}

choice! {
    for HopSource {
        Routing = "routing", "the sender's route";
        Ttl = "ttl", "the time to live of acknowledgements; the initial value is the smallest of 30, 32, 64, 128 and \
            255 that is possible";
        Travelled = "travelled", "the number of forwards of the acknowledgement, counted by the simulator";
    }
}

choice! {
    for Release {
        Gate = "gate", "as soon as the interval since the previous one has passed";
        Timer = "timer",
            "at once, unless the timer of the previous segment is running; when it fires, one segment leaves and \
                restarts it; it stops if the window is closed";
        Slots = "slots", "one per tick of a timer with this interval";
        Queue = "queue", "from a queue that the window fills and the timer empties; a loss clears it";
    }
}

choice! {
    /// Acknowledgements that give a round trip.
    ApSamples {
        EveryAck = "every-ack", "each, from the segment that it echoes, like ns-2's timestamps";
        EveryAckLatest = "every-ack-latest",
            "each, from the segment that it answers, without the wait of a delayed ACK";
        Unambiguous = "unambiguous", "those of new data sent once";
    }
}

choice! {
    /// Source of the n-hop delay.
    ApDelay {
        RoundTrip = "round-trip", "estimated from the round trip";
        OneWay = "one-way", "measured from end to end with synchronised clocks, and divided by the number of hops";
        Stamped = "stamped", "measured by the node `factor` hops ahead, with synchronised clocks";
    }
}

section! {
    /// Adaptive pacing, for the transports `tcp-ap` and `tcp-ap-sack`; docs/tcp-ap.md has the formulas.
    TcpAp = "tcp_ap" of tcp_ap::Params {
        /// Source of the arithmetic; the keys below override individual differences.
        profile: ApProfile, Kind::Choice(ApProfile::CHOICES), Both("paper");
        /// Weight of the previous value in the moving average of the n-hop delay.
        alpha: Share, share("0%", "99.9%") => alpha;
        /// Number of samples from which the variation is computed.
        history: u32, Kind::Int(1, 1_000) => history;
        /// Hops between two simultaneous senders.
        factor: u32, Kind::Int(1, 32) => factor;
        /// Measure of variation.
        spread: Spread, Kind::Choice(Spread::CHOICES), Computed("`deviation-of-round-trips`; `authors-code`: \
            `absolute-deviation-of-delays`") => spread;
        /// Pacing interval on paths shorter than `factor`.
        short_path: ShortPath, Kind::Choice(ShortPath::CHOICES), Computed("`all-hops`; `authors-code`: `one-hop`")
            => short_path;
        /// Headers added to the payload of a segment in the formulas.
        data_overhead: Bytes, size("0B", "1000B"), Computed("40B; `authors-code`: 112B") => data_overhead;
        /// Size of an acknowledgement in the formulas.
        ack_size: Bytes, size("0B", "1000B"), Computed("40B; `authors-code`: 112B") => ack_bytes;
        /// Rate of every link; none: that of the sender's interface. The default is 2Mbps with `authors-code`.
        link_rate: Option<Rate>, rate("1bps", "10Gbps") => link_rate;
        /// A queueing delay per hop above this is replaced by its average; 0s: never.
        queue_limit: Dur, time("0s", "1000s"), Computed("0s; `authors-code`: 500ms") => queue_limit;
        /// Weight of the previous value in the moving average of the queueing delay.
        queue_alpha: Share, share("0%", "99.9%") => queue_alpha;
        /// Discard n-hop delays that reach this; 0s: never.
        delay_limit: Dur, time("0s", "1000s"), Computed("0s; `authors-code`: 500ms") => delay_limit;
        /// Interval between segments before the first sample; 0s: not paced.
        first_interval: Dur, time("0s", "1000s"), Computed("0s; `authors-code`: 50ms") => first_interval;
        /// Source of the number of hops.
        hops: HopSource, Kind::Choice(HopSource::CHOICES), Computed("`routing`; `authors-code`: `travelled`");
        /// Release of segments that the window allows.
        release: Release, Kind::Choice(Release::CHOICES), Computed("`slots`; `authors-code`: `queue`");
        /// Double the retransmission timeout at each timeout.
        rto_backoff: bool, Kind::Bool, Computed("true; `authors-code`: false");
        /// Acknowledgements that give a round trip.
        samples: ApSamples, Kind::Choice(ApSamples::CHOICES), Profile("every-ack", "unambiguous");
        /// Source of the n-hop delay. Only `round-trip` can be deployed.
        delay: ApDelay, Kind::Choice(ApDelay::CHOICES), Both("round-trip");
    }
}

impl TcpAp {
    /// Returns the parameters of adaptive pacing.
    pub fn params(&self, profile: sections::Profile) -> tcp_ap::Params {
        tcp_ap::Params {
            samples: match self.samples {
                ApSamples::EveryAck | ApSamples::EveryAckLatest => tcp_ap::Samples::EveryAck,
                ApSamples::Unambiguous => tcp_ap::Samples::Unambiguous,
            },
            delay_source: match self.delay {
                ApDelay::RoundTrip => tcp_ap::DelaySource::RoundTrip,
                ApDelay::OneWay | ApDelay::Stamped => tcp_ap::DelaySource::Clocks,
            },
            ..self.configured(profile)
        }
    }
}

/// Fills in values that depend on the profile. `given` tells whether a key was written, even as `none`.
pub fn complete(values: &mut Values, given: impl Fn(&str) -> bool) {
    let code = ApProfile::from_value(values.get("profile")) == ApProfile::AuthorsCode;
    let params = if code { tcp_ap::Params::authors_code() } else { tcp_ap::Params::paper() };
    // How the sender is attached to the stack is up to the stack.
    let (hops, release) =
        if code { (HopSource::Travelled, Release::Queue) } else { (HopSource::Routing, Release::Slots) };
    let stack = [("hops", hops.to_value()), ("release", release.to_value()), ("rto_backoff", Field::to_value(&!code))];
    let stack = stack.into_iter().filter_map(|(key, value)| Some((key, value?)));
    for (key, value) in TcpAp::values_of(&params).into_iter().chain(stack).filter(|(key, _)| !given(key)) {
        values.insert(key, value);
    }
}
