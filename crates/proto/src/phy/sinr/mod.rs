//! The `sinr` radio: a frame survives with a probability derived, bit by bit, from the ratio of its power to noise and
//! the sum of everything else on the air.
//!
//! | file | content |
//! |---|---|
//! | [`config`] | noise, receiver and carrier sense: parameters with their sources |
//! | `parts` | the MPDUs of an aggregate; each survives or not |
//! | [`receiver`] | the state machine: synchronisation, capture, piecewise interference, carrier sense |
//!
//! Sources: IEEE Std 802.11-2020 clauses 15 to 18; Lacage and Henderson, Yet another network simulator, 2006 (pieces of
//! interference); Kochut et al., Sniffing out the correct physical layer capture model in 802.11b, 2004 (capture by
//! later frames). Error rates are in [`error_rate`](super::error_rate).
//!
//! Not modelled: antenna diversity, adjacent channels, automatic gain control, intersymbol interference, and any change
//! of a copy's power during its reception (at 1 m/s and 2.4 GHz the channel changes within 50 ms; a frame lasts at most
//! 13 ms).

pub mod config;
mod parts;
pub mod receiver;

pub use config::{Config, Errors, FrameCapture};
pub use receiver::Receiver;
