//! `fourhop-aodvd`: AODV (RFC 3561) that looks at the signal, as a routing daemon for Linux, around the state machine
//! that the simulator runs, `fourhop_proto::route::Aodv`.
//!
//! | module | what |
//! |---|---|
//! | [`config`] | what the file of the configuration says |
//! | [`engine`] | AODV with limits, checks and authentication, without clock, socket or kernel |
//! | [`guard`] | what is let in |
//! | [`authentication`] | messages that holders of a key have sent |
//! | [`port`] | interfaces: datagrams, and packets that go on |
//! | [`kernel`] | routes, the device that catches packets without one, variables |
//! | [`traffic`] | which routes the kernel uses |
//! | [`signal`] | how strongly neighbours are received |
//! | [`kept`] | what survives a restart, and a kill |
//! | [`daemon`] | all of it in one loop |
//! | [`report`], [`figures`] | what it shows: tables and JSON, figures for Prometheus |
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod authentication;
pub mod config;
pub mod daemon;
pub mod engine;
mod error;
pub mod figures;
pub mod guard;
pub mod kept;
pub mod kernel;
pub mod port;
pub mod report;
pub mod signal;
pub mod traffic;

pub use error::Error;
