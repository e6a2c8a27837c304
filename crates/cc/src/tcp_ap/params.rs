//! The parameters of adaptive pacing, in the paper and in its authors' code.

use super::variation::Spread;
use fourhop_units::{Dur, Rate};

/// Distance on paths shorter than the hop factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShortPath {
    /// The delay over all their hops (the paper, section 4.3).
    AllHops,
    /// The delay over one hop (the authors' code).
    OneHop,
}

/// Acknowledgements that give a round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// Every ACK, duplicates too: the sender gets the send time of the echoed segment ([`crate::Hint::RoundTrip`]).
    /// ns-2's TCP carries timestamps in every packet without counting their bytes.
    EveryAck,
    /// Those that acknowledge something new and nothing retransmitted ([`crate::Ack::rtt`], Karn).
    Unambiguous,
}

/// Where the n-hop delay comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelaySource {
    /// Estimated from the round trip.
    RoundTrip,
    /// Measured by synchronized clocks ([`crate::Hint::ForwardDelay`]), the paper's section 5.1.1.
    Clocks,
}

/// Parameters, named as in the paper where it has a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Params {
    /// Weight of the old average of the n-hop delay, in thousandths. Both: 700.
    pub alpha: u32,
    /// N: number of samples the variation covers, 1 to [`MAX_HISTORY`](super::variation::MAX_HISTORY). Both: 50.
    pub history: u32,
    /// n: hops that must lie between two senders, at least 1. Both: 4.
    pub factor: u32,
    /// Measure of variation.
    pub spread: Spread,
    /// Distance on paths shorter than `factor`.
    pub short_path: ShortPath,
    /// Header bytes that count on top of a segment's payload. Paper: those of TCP and IP, 40. Code: 112.
    pub data_overhead: u32,
    /// Bytes that count for an acknowledgement. Paper: 40. Code: 112.
    pub ack_bytes: u32,
    /// Rate of every link, regardless of the interface and the path. Code: 2 Mbit/s.
    pub link_rate: Option<Rate>,
    /// A queueing delay per hop above this is replaced by its average. Code: 0.5 s.
    pub queue_limit: Option<Dur>,
    /// Weight of the old average of the queueing delay, in thousandths. Code: 500.
    pub queue_alpha: u32,
    /// An n-hop delay of at least this is no sample. Code: 0.5 s.
    pub delay_limit: Option<Dur>,
    /// Interval before the first sample; `None`: not paced. Code: 50 ms.
    pub first_interval: Option<Dur>,
    /// Acknowledgements that give a round trip.
    pub samples: Samples,
    /// Where the n-hop delay comes from.
    pub delay_source: DelaySource,
}

impl Params {
    /// The paper's values. The paper does not define the state before the first sample: segments are not paced then.
    pub const fn paper() -> Params {
        Params {
            alpha: 700,
            history: 50,
            factor: 4,
            spread: Spread::DeviationOfRoundTrips,
            short_path: ShortPath::AllHops,
            data_overhead: 40,
            ack_bytes: 40,
            link_rate: None,
            queue_limit: None,
            queue_alpha: 500,
            delay_limit: None,
            first_interval: None,
            samples: Samples::Unambiguous,
            delay_source: DelaySource::RoundTrip,
        }
    }

    /// Behaviour of the authors' ns-2 agent of September 2005.
    pub const fn authors_code() -> Params {
        Params {
            spread: Spread::AbsoluteDeviationOfDelays,
            short_path: ShortPath::OneHop,
            data_overhead: 112,
            ack_bytes: 112,
            link_rate: Rate::from_bps(2_000_000),
            queue_limit: Some(Dur::from_millis(500)),
            delay_limit: Some(Dur::from_millis(500)),
            first_interval: Some(Dur::from_millis(50)),
            ..Params::paper()
        }
    }
}
