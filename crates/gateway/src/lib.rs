//! TCP-GAP on a Linux router: paces traffic into a mesh, writes the wired round trip into acknowledgements for senders
//! in it, and shares evenly between flows. The state machine is `fourhop_proto::gateway`; this is the daemon around it.
//! docs/gateway.md is for its users.
//!
//! | module | what |
//! |---|---|
//! | [`config`], [`reread`] | what a file says, at the start and on SIGHUP |
//! | [`rules`] | the rules that bring packets here |
//! | [`keeper`] | puts them back where another program has taken them away |
//! | [`setup`], [`selftest`] | what writes a first configuration, and tries the kernel's queue |
//! | [`daemon`] | the main thread: starts, reloads, reports, ends |
//! | [`worker`] | a thread with queues and a state machine |
//! | [`pulse`] | sees to it that packets pass when the workers stand still |
//! | [`packet`] | a packet that the kernel holds |
//! | [`hops`] | how far nodes are |
//! | [`nodes`] | what is known and counted of them |
//! | [`status`], [`figures`], [`top`] | what is said of it all: JSON, Prometheus, a table |
//!
//! # If it fails
//! Without a listener packets pass the queue (bypass); what it is too slow for passes (fail open). When the process is
//! killed, stopped or hangs, a second process lets pass what the kernel holds. When it ends by itself, the rules go
//! first, then what it holds leaves.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

/// Says what happened, with the priority of syslog(3) that a service manager reads.
macro_rules! log {
    ($level:literal, $($words:tt)+) => {
        if std::env::var_os("JOURNAL_STREAM").is_some() {
            eprintln!("<{}>{}", $level, format_args!($($words)+))
        } else {
            eprintln!("{}", format_args!($($words)+))
        }
    };
}

pub mod config;
pub mod daemon;
mod error;
pub mod figures;
pub mod hops;
pub mod keeper;
pub mod nodes;
pub mod packet;
pub mod pulse;
pub mod reread;
pub mod rules;
pub mod selftest;
pub mod setup;
pub mod status;
pub mod top;
pub mod worker;

pub use error::Error;

/// Name of the service: one process in a network namespace has it.
pub const SERVICE: &str = "fourhop-gateway";
