//! A gateway for Linux routers: it paces traffic into a mesh, writes the wired round trip into acknowledgements for
//! senders inside it, and shares the mesh among flows. The state machine is `fourhop_proto::gateway`; this is the
//! daemon around it. docs/gateway.md is the users' guide.
//!
//! | module | content |
//! |---|---|
//! | [`config`], [`reread`] | the configuration file, at the start and on SIGHUP |
//! | [`rules`] | the rules that queue packets for the gateway |
//! | [`keeper`] | restores rules that another program has changed |
//! | [`setup`] | the first configuration |
//! | [`check`], [`selftest`] | whether the machine has what a gateway needs |
//! | [`daemon`] | the main thread: start, reload, report, end |
//! | [`worker`] | a thread with queues and a state machine |
//! | [`pulse`] | lets packets pass if the workers hang |
//! | [`packet`] | a packet in the kernel's queue |
//! | [`hops`] | hop counts of nodes |
//! | [`nodes`] | data and counters of nodes |
//! | [`status`], [`prometheus`], [`top`] | output: JSON, metrics for Prometheus, a table |
//!
//! # If it fails
//! Without a listener packets bypass the queue; if it is too slow, packets pass, too (fail open). When the process is
//! killed, stopped or hangs, a second process lets waiting packets pass. When it ends by itself, it first removes the
//! rules, then releases its packets.
#![deny(clippy::print_stderr, clippy::print_stdout)]
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

/// Logs a message, with the syslog(3) priority if a service manager reads it.
macro_rules! log {
    ($level:literal, $($words:tt)+) => {
        if std::env::var_os("JOURNAL_STREAM").is_some() {
            fourhop_live::screen::note(format_args!("<{}>{}", $level, format_args!($($words)+)))
        } else {
            fourhop_live::screen::note(format_args!($($words)+))
        }
    };
}

pub mod check;
pub mod config;
pub mod daemon;
mod error;
pub mod hops;
pub mod keeper;
pub mod nodes;
pub mod packet;
pub mod prometheus;
pub mod pulse;
pub mod reread;
pub mod rules;
pub mod selftest;
pub mod setup;
pub mod status;
pub mod top;
pub mod unpaced;
pub mod worker;

pub use error::Error;

/// Name of the service: one process per network namespace has it.
pub const SERVICE: &str = "fourhop-gateway";
