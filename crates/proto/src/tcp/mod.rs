//! TCP (RFC 9293) without a clock, sockets or payload bytes.
//!
//! | file | content |
//! |---|---|
//! | [`config`](Config) | every choice as a named option; profiles `ns2` and `standard` |
//! | [`socket`](Socket), `input` | one connection: the states of RFC 9293, user calls; arriving segments, state by state |
//! | `sender` | data in flight, recovery, congestion control, pacing |
//! | `receiver`, [`ack_policy`](AckPolicy) | data received; acknowledgements and the offered window |
//! | `context` | the sender's view of its connection: current time, receiver, timers, the driver's buffer |
//! | [`adhoc`] | ad hoc TCP: receivers that follow the path, senders that freeze and probe |
//! | `timestamps`, `ecn` | RFC 7323; explicit congestion notification (RFC 3168) |
//! | `position`, `timers` | sequence numbers that do not wrap; a table of timers |
//!
//! Congestion control is in `fourhop-cc`: the stack here owns recovery and obeys [`fourhop_cc::Window`].
//!
//! A payload is just a length. [`Action::Send`] gives the position of its bytes in the stream and [`Action::Stored`]
//! that of arriving bytes, so a driver with real bytes needs only two buffers beside the socket.
//!
//! Not implemented: urgent data, fast open, path MTU discovery, keep-alive.

mod ack_policy;
mod action;
pub mod adhoc;
mod config;
mod context;
mod ecn;
mod input;
mod observe;
mod position;
mod receiver;
mod sender;
mod socket;
mod state;
mod stats;
mod timers;
mod timestamps;

#[cfg(test)]
mod tests;

pub use ack_policy::{AckDecision, AckPolicy, Arrival, ReceiverPolicy, Timing};
pub use action::Action;
pub use config::{
    Config, HopSource, PacingClock, PathHints, Release, RoundTrips, Rounding, RttSampling, SackRecovery, WindowCut,
};
pub use sender::{Admission, Pacer, Tick};
pub use socket::Socket;
pub use state::State;
pub use stats::Stats;
