//! Adaptive pacing in the Linux kernel: AP2, TCP-AP and RBP as congestion controls that BPF gives to a stock kernel,
//! and what loads them. Every program of the host then uses them towards the mesh.
//!
//! `include/` has the arithmetic, compiled for the kernel and for the host; `c/` the programs of the
//! kernel, whose heads say what each does. Here is what user space does for them.
//!
//! | module | what |
//! |---|---|
//! | [`config`] | parameters by destination, out of a file |
//! | [`layout`] | the same as the kernel's table has it |
//! | [`kernel`] | what this kernel offers, and what it lacks |
//! | [`loaded`] | loading, pinning, unpinning |
//! | [`settings`] | what of the system is set meanwhile, and restored |
//! | [`state`] | what is written down about all that |
//! | [`connections`] | what the kernel knows of paced connections |
//! | [`prometheus`] | the same for Prometheus |
//! | [`inventory`] | what of ours is in the kernel |
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
