//! `[tcp_ap]`: adaptive pacing (ElRakabawy, Klemm, Lindemann 2005), for the transports `tcp-ap` and `tcp-ap-sack`.

use crate::scenario::key::{Fallback::*, Kind, Share, Value, Values, choice, rate, section, share, size, time};
use crate::scenario::quantity::Unit;
use fourhop_units::{Bytes, Dur, Rate};

choice! {
    /// Whose arithmetic.
    ApProfile {
        Paper = "paper", "the paper's text";
        AuthorsCode = "authors-code", "the ns-2 agent that its authors published";
    }
}

choice! {
    /// What varies, and how that is expressed.
    ApSpread {
        DeviationOfRoundTrips = "deviation-of-round-trips", "standard deviation of the round trips over their mean";
        AbsoluteDeviationOfDelays = "absolute-deviation-of-delays", "mean absolute deviation of the n-hop delays over their mean";
    }
}

choice! {
    /// What paths shorter than `factor` wait for.
    ApShortPath {
        AllHops = "all-hops", "the delay over all their hops";
        OneHop = "one-hop", "the delay over one hop";
    }
}

choice! {
    /// Where the number of hops comes from.
    ApHops {
        Routing = "routing", "the sender's route";
        Ttl = "ttl", "the time to live of acknowledgements, from the next of 30, 32, 64, 128 and 255 on";
        Travelled = "travelled", "how often the acknowledgement was forwarded, as the simulator counts it";
    }
}

choice! {
    /// When segments that the window allows leave.
    ApRelease {
        Gate = "gate", "as soon as the interval since the last one has passed";
        Slots = "slots", "at the ticks of a timer that fires each interval, one a tick";
        Queue = "queue", "from a queue that the window fills and such a timer empties; a loss empties the queue";
    }
}

choice! {
    /// Which acknowledgements give a round trip.
    ApSamples {
        EveryAck = "every-ack", "each, by when the segment that it echoes was made, as ns-2's timestamps tell";
        EveryAckLatest = "every-ack-latest",
            "each, by when the segment that it answers was made, so that the wait of a delayed ACK does not count";
        Unambiguous = "unambiguous", "those that acknowledge something new and nothing that was sent twice";
    }
}

choice! {
    /// Where the n-hop delay comes from.
    ApDelay {
        RoundTrip = "round-trip", "estimated from the round trip";
        OneWay = "one-way", "measured from end to end by clocks that agree, and shared out among the hops";
        Stamped = "stamped", "measured by the node `factor` hops on, by clocks that agree";
    }
}

section! {
    /// Adaptive pacing, for the transports `tcp-ap` and `tcp-ap-sack`; docs/tcp-ap.md has the formulas.
    TcpAp = "tcp_ap" {
        /// Whose arithmetic; keys below override single differences.
        profile: ApProfile, Kind::Choice(ApProfile::CHOICES), Both("paper");
        /// Weight of the old average of the n-hop delay.
        alpha: Share, share("0%", "99.9%"), Both("70%");
        /// Samples the variation is taken over.
        history: u32, Kind::Int(1, 1_000), Both("50");
        /// Hops that lie between two senders.
        factor: u32, Kind::Int(1, 32), Both("4");
        /// What varies.
        spread: ApSpread, Kind::Choice(ApSpread::CHOICES),
            Computed("`deviation-of-round-trips`; `authors-code`: `absolute-deviation-of-delays`");
        /// What paths shorter than `factor` wait for.
        short_path: ApShortPath, Kind::Choice(ApShortPath::CHOICES), Computed("`all-hops`; `authors-code`: `one-hop`");
        /// Headers that count on top of the payload of a segment.
        data_overhead: Bytes, size("0B", "1000B"), Computed("40B; `authors-code`: 112B");
        /// What counts for an acknowledgement.
        ack_size: Bytes, size("0B", "1000B"), Computed("40B; `authors-code`: 112B");
        /// Rate of every link; none: that of the sender's interface. `authors-code`: 2Mbps, if the key is not given.
        link_rate: Option<Rate>, rate("1bps", "10Gbps"), Both("none");
        /// A queueing delay per hop above this is replaced by its average; 0s: never.
        queue_limit: Dur, time("0s", "1000s"), Computed("0s; `authors-code`: 500ms");
        /// Weight of the old average of the queueing delay.
        queue_alpha: Share, share("0%", "99.9%"), Both("50%");
        /// An n-hop delay of this and more is no sample; 0s: every one is.
        delay_limit: Dur, time("0s", "1000s"), Computed("0s; `authors-code`: 500ms");
        /// Between segments before the first sample; 0s: not paced.
        first_interval: Dur, time("0s", "1000s"), Computed("0s; `authors-code`: 50ms");
        /// Where the number of hops comes from.
        hops: ApHops, Kind::Choice(ApHops::CHOICES), Computed("`routing`; `authors-code`: `travelled`");
        /// When segments that the window allows leave.
        release: ApRelease, Kind::Choice(ApRelease::CHOICES), Computed("`slots`; `authors-code`: `queue`");
        /// Does the retransmission time-out double each time?
        rto_backoff: bool, Kind::Bool, Computed("true; `authors-code`: false");
        /// Which acknowledgements give a round trip.
        samples: ApSamples, Kind::Choice(ApSamples::CHOICES), Profile("every-ack", "unambiguous");
        /// Where the n-hop delay comes from. Only `round-trip` can be deployed.
        delay: ApDelay, Kind::Choice(ApDelay::CHOICES), Both("round-trip");
    }
}

/// Fills in what follows from the profile. `given` says whether a key was written, `none` included.
pub fn complete(values: &mut Values, given: impl Fn(&str) -> bool) {
    let code = values.get("profile") == Some(&Value::Text(ApProfile::AuthorsCode.name().to_owned()));
    let text = |text: &str| Value::Text(text.to_owned());
    let quantity = |unit, x| Value::Quantity(unit, x);
    let rows = [
        ("spread", text(ApSpread::DeviationOfRoundTrips.name()), text(ApSpread::AbsoluteDeviationOfDelays.name())),
        ("short_path", text(ApShortPath::AllHops.name()), text(ApShortPath::OneHop.name())),
        ("data_overhead", quantity(Unit::Size, 40.0), quantity(Unit::Size, 112.0)),
        ("ack_size", quantity(Unit::Size, 40.0), quantity(Unit::Size, 112.0)),
        ("queue_limit", quantity(Unit::Time, 0.0), quantity(Unit::Time, 5e8)),
        ("delay_limit", quantity(Unit::Time, 0.0), quantity(Unit::Time, 5e8)),
        ("first_interval", quantity(Unit::Time, 0.0), quantity(Unit::Time, 5e7)),
        ("hops", text(ApHops::Routing.name()), text(ApHops::Travelled.name())),
        ("release", text(ApRelease::Slots.name()), text(ApRelease::Queue.name())),
        ("rto_backoff", Value::Bool(true), Value::Bool(false)),
    ];
    for (key, paper, authors) in rows {
        values.entry(key).or_insert(if code { authors } else { paper });
    }
    if code && !given("link_rate") {
        values.insert("link_rate", quantity(Unit::Rate, 2e6));
    }
}
