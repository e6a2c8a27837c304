//! Adaptive pacing in the Linux kernel: AP2, TCP-AP and RBP as congestion controls that BPF adds to a stock kernel, and
//! their loader. Every program of the host then uses them towards the mesh.
//!
//! `include/` contains the arithmetic, compiled for the kernel and for the host; `c/` the programs of the kernel, each
//! documented at its top. Here is their user-space side.
//!
//! | module | what |
//! |---|---|
//! | [`config`] | parameters by destination, from a file |
//! | [`layout`] | the same in the format of the kernel's table |
//! | [`kernel`] | features that this kernel offers or lacks |
//! | [`loaded`] | loading, pinning, unpinning |
//! | [`settings`] | system settings changed while loaded, and restored |
//! | [`state`] | the record of what is loaded and changed |
//! | [`connections`] | paced connections in the kernel |
//! | [`prometheus`] | the same as metrics for Prometheus |
//! | [`inventory`] | our programs and tables in the kernel |
//! | [`route`] | which connections take which congestion control |
#![deny(clippy::print_stderr, clippy::print_stdout)]
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod config;
pub mod connections;
mod error;
pub mod inventory;
pub mod kernel;
pub mod layout;
pub mod loaded;
pub mod prometheus;
pub mod route;
pub mod settings;
pub mod state;

pub use error::{Error, Tried};
