//! TCP (RFC 9293) without clock, sockets or payload bytes.
//!
//! | file | what |
//! |---|---|
//! | [`config`](Config) | every choice as a named option; profiles `ns2` and `standard` |
//! | [`socket`](Socket) | one connection: the states of RFC 9293, what the user calls |
//! | `input` | arriving segments, state by state |
//! | `output` | which segment goes next: windows, Nagle, silly windows, probes |
//! | [`pacer`](Pacer), `send_queue` | when it leaves, if congestion control asks for an interval; the authors' agent's queue |
//! | `release` | connects these two to the socket |
//! | `stack_pacing` | the interval that Linux's stack takes where the algorithm asks for none |
//! | `ack`, `loss` | acknowledgements; recoveries and time-outs, how they cut the window (RFC 5681, 6298) |
//! | `recovery` | the recovery strategies: Reno and NewReno (RFC 5681, 6582), SACK (RFC 6675), RACK-TLP (RFC 8985), Vegas's fine-grained clock |
//! | `by_time` | connects RACK-TLP to the socket |
//! | `send` | the send sequence space and the list of segments in flight |
//! | `receive` | reassembly, advertised window, SACK blocks |
//! | [`ack_policy`](AckPolicy) | when the receiver acknowledges, how much it offers |
//! | [`adhoc`] | ad hoc TCP: receivers that follow the path, senders that freeze and probe |
//! | `eifel` | takes back a time-out that was not needed (RFC 3522) |
//! | `ecn` | explicit congestion notification (RFC 3168) |
//! | `freezing` | connects the frozen state to the socket |
//! | `rtt` | RFC 6298 and ns-2.35's coarse clock |
//! | `position`, `timer` | sequence numbers that do not wrap; a table of timers |
//!
//! Congestion control is `fourhop-cc`: the stack here owns recovery and obeys [`fourhop_cc::Window`].
//!
//! A payload is a length. [`Action::Send`] says where in the stream its bytes begin, [`Action::Stored`] where arriving
//! bytes belong, so a driver with real bytes needs only two buffers next to the socket.
//!
//! Left out: urgent data, fast open, path MTU discovery, keep-alive.

mod ack;
mod ack_policy;
mod action;
pub mod adhoc;
mod by_time;
mod config;
mod ecn;
mod eifel;
mod freezing;
mod input;
mod loss;
mod observe;
mod output;
mod pacer;
mod position;
mod receive;
mod recovery;
mod release;
mod rtt;
mod send;
mod send_queue;
mod socket;
mod stack_pacing;
mod state;
mod stats;
mod timer;

#[cfg(test)]
mod tests;

pub use ack_policy::{AckDecision, AckPolicy, Arrival, ReceiverPolicy, Timing};
pub use action::Action;
pub use config::{
    Config, HopSource, PacingClock, PathHints, Release, RoundTrips, Rounding, RttSampling, SackRecovery, WindowCut,
};
pub use pacer::{Admission, Pacer, Tick};
pub use socket::Socket;
pub use state::State;
pub use stats::Stats;
