//! The emulator: the nodes of a scenario are network namespaces, the simulated mesh is the air between them, and time
//! follows the clock. Programs in the nodes run unchanged, over the kernel's own TCP.
//!
//! | module | content |
//! |---|---|
//! | [`emulation`] | [`Emulation::new`], [`Emulation::run`]: devices, clock and world in one loop |
//! | [`members`] | the nodes by name |
//! | [`nodes`] | their namespaces and devices: creation and removal |
//! | [`state`] | the record of a running emulation, for finding it and cleaning up after it |
//! | [`carry`] | conversion between bytes at a device and packets of the world, in both modes |
//! | [`underway`] | packets that have neither left the network nor been lost |
//! | [`wires`] | wires between nodes whose kernels route |
//! | [`hosted`] | nodes hosted by the simulator's AODV or Babel, beside routing daemons |
//! | [`radio`] | receptions of the radios, for routing daemons |
//! | [`icmp`] | a router's messages about packets that it loses |
//! | [`flows`] | observed flows, their rates and round trips |
//! | [`segments`] | TCP segments passed through a device as one packet |
//! | [`fragments`] | fragmentation of packets that are too long for a frame |
//! | [`forecast`] | how fast this machine simulates the network |
//! | [`line`](mod@line) | command lines |
//! | [`report`] | results of a run, and whether its timing was accurate |
//! | [`program`] | programs inside a node |
//! | [`change`] | changes to a running emulation |
//! | [`medium`] | the same air for the kernel's own Wi-Fi: a separate program, `fourhop-medium` |
//!
//! Leaves out: back-pressure. Reading a device frees its packet at once, so the kernel's own limits below TCP (TSQ,
//! queueing disciplines) never act; only the queue of the simulated interface fills up.
#![cfg(target_os = "linux")]
#![deny(clippy::print_stderr, clippy::print_stdout)]
#![forbid(unsafe_code)]

mod behind;
pub mod carry;
pub mod change;
pub mod emulation;
mod error;
pub mod flows;
pub mod forecast;
pub mod fragments;
pub mod hosted;
pub mod icmp;
pub mod line;
pub mod medium;
pub mod members;
pub mod nodes;
mod outgoing;
pub mod program;
mod prometheus;
pub mod radio;
pub mod report;
mod running;
pub mod segments;
mod spent;
pub mod state;
pub mod underway;
pub mod wires;

pub use emulation::{Emulation, Options, Stop};
pub use error::EmulationError;
pub use report::Report;
pub use running::Running;
