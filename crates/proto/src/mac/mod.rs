//! IEEE 802.11 distributed coordination function with RTS/CTS.
//!
//! | file | what |
//! |---|---|
//! | [`config`] | constants, frame times, the options in which ns-2 and the standard differ |
//! | [`dcf`] | the state machine: timers, access, what is sent |
//! | `function` | the state of an access function; a station has one or four |
//! | `exchange` | what an exchange consists of: its states, what it carries, answers owed |
//! | `foreign` | frames of another stack, which has chosen their rates and repeats |
//! | `retry` | what follows when a wait ends: repeats, giving up, the contention window |
//! | `action` | what the station tells the layers above and its driver |
//! | `counters` | what a station counts |
//! | `times` | times that follow from a rate, computed once for each |
//! | [`medium`] | carrier sense, NAV, EIFS and access to the medium: a state machine of its own |
//! | [`rate`] | rate control: which neighbour has which; ARF and AARF |
//! | [`minstrel`] | rate control by what each rate has carried |
//! | [`edca`] | four access categories in one station, and transmission opportunities |
//! | [`aggregate`] | aggregates and block acknowledgements (802.11n and later) |
//! | `receive` | what the station does with received frames |
//! | [`measure`] | what a frame finds on its link, put into its options (C3TCP) |
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
