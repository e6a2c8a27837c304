//! IEEE 802.11 distributed coordination function with RTS/CTS.
//!
//! | file | what |
//! |---|---|
//! | [`config`] | constants, frame times, options in which ns-2 and the standard differ |
//! | [`dcf`] | the state machine: timers, channel access, transmissions |
//! | `function` | state of an access function; a station has one or four |
//! | `exchange` | parts of a frame exchange: states, content, pending answers |
//! | `foreign` | frames of another stack, which has chosen their rates and retries |
//! | `retry` | time-outs: retries, giving up, the contention window |
//! | `action` | outputs to the layers above and to the driver |
//! | `counters` | counters of a station |
//! | `times` | times that follow from a rate, computed once per rate |
//! | [`medium`] | carrier sense, NAV, EIFS and channel access: a separate state machine |
//! | [`rate`] | rate control per neighbour; ARF and AARF |
//! | [`minstrel`] | rate control by measured throughput |
//! | [`edca`] | four access categories in one station, and transmission opportunities |
//! | [`aggregate`] | aggregates and block acknowledgements (802.11n and later) |
//! | `receive` | handling of received frames |
//! | [`measure`] | link measurements that frames carry in their options (C3TCP) |
//! | [`backoff`] | the pausable back-off, computed rather than counted slot by slot |
//!
//! Sources: IEEE Std 802.11-2020 clauses 10.2 to 10.3 (DCF), 15 (DSSS PHY) and 17 (OFDM PHY); behaviour of ns-2.35's
//! `Mac802_11`. Not implemented: fragmentation, power save, beacons, encryption.

mod action;
pub mod aggregate;
pub mod backoff;
pub mod config;
mod counters;
pub mod dcf;
pub mod edca;
mod exchange;
mod foreign;
mod function;
pub mod measure;
pub mod medium;
pub mod minstrel;
pub mod rate;
mod receive;
mod retry;
mod sizes;
#[cfg(test)]
mod tests;
mod times;

pub use action::{Action, Due};
pub use aggregate::{Aggregation, Protection, Supply};
pub use config::{AnswerRate, Arf, BackoffDraw, Config, OptionsRule, RateControl};
pub use counters::Counters;
pub use dcf::Dcf;
pub use medium::Medium;
pub use sizes::{BLOCK_ACK, BLOCK_ACK_REQUEST, CTS_OR_ACK, QOS_CONTROL, RTS};
pub use times::ShortestFrame;
