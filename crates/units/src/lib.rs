//! Types for the physical and protocol quantities that the other crates use.
//!
//! Each quantity has its own type, so that adding two powers in dBm, comparing two TCP sequence numbers with `<` or
//! passing seconds as a bare number does not compile. Time is integer nanoseconds; nothing here reads a clock.
//!
//! | module | content |
//! |---|---|
//! | [`time`] | [`Time`] (an instant) and [`Dur`] (a duration), both integer nanoseconds |
//! | [`data`] | [`Bytes`] and [`Rate`]; their quotient is a [`Dur`] |
//! | [`power`] | [`Watt`], [`Dbm`], [`Db`] |
//! | [`seq`] | [`Seq`], a TCP sequence number that wraps |
//! | [`id`] | [`NodeId`], [`MacAddr`] and the IPv4 address of a node |
//! | [`random`] | [`Stream`]: one named stream of random numbers per (seed, node, purpose) |
#![forbid(unsafe_code)]

pub mod data;
pub mod id;
pub mod power;
pub mod random;
pub mod seq;
pub mod time;

pub use data::{Bytes, Rate};
pub use id::{MacAddr, NodeId};
pub use power::{Db, Dbm, Watt};
pub use random::{Purpose, Stream};
pub use seq::Seq;
pub use time::{Dur, Time};
