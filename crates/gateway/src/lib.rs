//! TCP-GAP on a Linux router: what goes into a mesh is paced, senders in it are told the wired round trip, flows share evenly.
//! The state machine is `fourhop_proto::gateway`; this is the daemon around it. docs/gateway.md is for its users.
//!
//! | module | what |
//! |---|---|
//! | [`config`] | what a file says |
//! | [`rules`] | the rules that bring packets here |
//! | [`daemon`] | the main thread: starts, reloads, reports, ends |
//! | [`worker`] | a thread with queues and a state machine |
//! | [`packet`] | a packet that the kernel holds |
//! | [`hops`] | how far nodes are |
//! | [`nodes`] | what is known and counted of them |
//! | [`status`], [`figures`], [`top`] | what is said of it all: JSON, Prometheus, a table |
//!
//! # If it fails
//! Without a listener packets pass the queue (bypass); what it is too slow for passes (fail open). What the kernel still holds
//! when the process is killed is lost, and sent again by TCP. When it ends by itself, the rules go first, then what it holds leaves.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod config;
pub mod daemon;
mod error;
pub mod figures;
pub mod hops;
pub mod nodes;
pub mod packet;
pub mod rules;
pub mod status;
pub mod top;
pub mod worker;

pub use error::Error;
