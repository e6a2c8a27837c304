//! Parameters of the algorithms: one plain struct for all of them, so that a scenario can set them and each algorithm
//! reads its own.

use crate::tcp_ap::params as tcp_ap;
use crate::{ap2, bbr};

/// The round trip to divide, and the window to divide it by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// The round trip of the retransmission timer (RFC 6298, Karn's rule) over the congestion window; the interval
    /// follows every change of either.
    Timer,
    /// A separate average over every acknowledgement, duplicates included, with a weight of 1/8 for the newest
    /// ([`crate::Hint::RoundTrip`]), divided by the window in use before that acknowledgement, inflated in recovery.
    /// After an outage of seconds an acknowledgement echoes a segment sent seconds ago, so the interval becomes long
    /// too and stays so until the next acknowledgement. A pacing agent on ns-2.35's NewReno does this.
    EveryAck,
}

/// Parameters of all algorithms; each documents in its file which ones it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Params {
    /// Vegas: below this many segments queued in the path the window grows (Brakmo et al. 1995, section 4; ns-2.35: 1).
    pub alpha: u32,
    /// Vegas: above this many the window shrinks (ns-2.35: 3).
    pub beta: u32,
    /// Vegas: above this many slow start ends (ns-2.35: 1).
    pub gamma: u32,
    /// CUBIC: whether HyStart++ (RFC 9406) ends its first slow start. RFC 9438 section 4.10 leaves it open.
    pub hystart: bool,
    /// BBR: the window's allowance for segments that are handed down together.
    pub bbr_budget: bbr::Budget,
    /// Rate-based pacing: V of RTT / (cwnd + V). Gupta et al. 2004: 1.
    pub pacing_v: u32,
    /// Rate-based pacing: which round trip is divided. The paper does not say.
    pub pacing_samples: Samples,
    /// Congestion-window limit: a fixed limit in segments; `None`: by the number of hops.
    pub limit: Option<u32>,
    /// AP2: the part that an experiment removes.
    pub ap2_without: ap2::Without,
    /// Adaptive pacing.
    pub tcp_ap: tcp_ap::Params,
}

impl Params {
    /// The values of the papers and of ns-2.35.
    pub const fn new() -> Params {
        Params {
            alpha: 1,
            beta: 3,
            gamma: 1,
            hystart: false,
            bbr_budget: bbr::Budget::Draft,
            pacing_v: 1,
            pacing_samples: Samples::Timer,
            limit: None,
            ap2_without: ap2::Without::Nothing,
            tcp_ap: tcp_ap::Params::paper(),
        }
    }
}

impl Default for Params {
    fn default() -> Params {
        Params::new()
    }
}
