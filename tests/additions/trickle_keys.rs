//! `[trickle]`: a transport that wants no answer.

use crate::key::time;
use crate::{profiled, section};
use fourhop_proto::trickle;
use fourhop_units::Dur;

profiled! {
    trickle::Config: trickle::Config::usual(), trickle::Config::usual();
}

section! {
    /// A transport that wants no answer.
    Trickle = "trickle" of trickle::Config {
        /// Time between two packets.
        interval: Dur, time("1ms", "100s") => interval;
    }
}
