//! `fourhop-aodvd`: AODV (RFC 3561) with signal strength, as a routing daemon for Linux around the state machine
//! of the simulator, `fourhop_proto::route::Aodv`.
//!
//! | module | content |
//! |---|---|
//! | [`config`] | the configuration file |
//! | [`engine`] | AODV with limits, checks and authentication, without clock, socket or kernel |
//! | [`guard`] | checks of incoming messages |
//! | [`authentication`] | authentication of messages by shared keys |
//! | [`port`] | interfaces: datagrams, and packets handed back to the kernel |
//! | [`kernel`] | routes, the device for packets without a route, variables |
//! | [`traffic`] | routes in use by the kernel |
//! | [`signal`] | signal strength of neighbours |
//! | [`kept`] | state that survives a restart and a kill |
//! | [`daemon`] | the main loop |
//! | [`report`], [`prometheus`] | output: tables and JSON, metrics for Prometheus |
#![deny(clippy::print_stderr, clippy::print_stdout)]
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod authentication;
pub mod config;
pub mod daemon;
pub mod engine;
mod error;
pub mod guard;
pub mod kept;
pub mod kernel;
pub mod port;
pub mod prometheus;
pub mod report;
pub mod signal;
pub mod traffic;

pub use error::Error;

// Shared with the tests of `fourhop-live`; it takes these two modules from its crate root.
#[cfg(test)]
#[path = "../../live/src/test_network.rs"]
mod test_network;
#[cfg(test)]
use fourhop_live::{namespace, netlink};
