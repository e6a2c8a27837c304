//! The emulator: the nodes of a scenario are network namespaces, the simulated mesh is the air between them, and time
//! is that of a clock. Programs in the nodes run unchanged, over the kernel's own TCP.
//!
//! | module | what |
//! |---|---|
//! | [`emulation`] | [`Emulation::new`], [`Emulation::run`]: devices, clock and world in one loop |
//! | [`members`] | the nodes by name |
//! | [`nodes`] | their namespaces and devices, made and removed |
//! | [`state`] | what is written about a running emulation: who finds it, who cleans up after it |
//! | [`carry`] | from bytes at a device to packets of the world and back, in both modes |
//! | [`underway`] | packets that have neither left the network nor been lost |
//! | [`wires`] | wires between nodes whose kernels route |
//! | [`hosted`] | nodes whose host is the simulator's AODV or Babel, beside routing daemons |
//! | [`radio`] | what radios hear, for routing daemons |
//! | [`icmp`] | what a router says of packets that it loses |
//! | [`flows`] | the flows that pass, their rates and round trips |
//! | [`segments`] | TCP segments that cross a device as one packet |
//! | [`fragments`] | packets that are too long for a frame, in pieces |
//! | [`forecast`] | how fast this machine simulates the network |
//! | [`line`](mod@line) | command lines |
//! | [`report`] | what a run has shown, and whether its time was true |
//! | [`program`] | programs inside a node |
//! | [`change`] | what is changed while it runs |
//! | [`medium`] | the same air for the kernel's own Wi-Fi: a program of its own, `fourhop-medium` |
//!
//! Leaves out: back-pressure. Reading a device frees its packet at once, so the kernel's own limits below TCP
//! (TSQ, queueing disciplines) never act; the queue that fills is that of the simulated interface.
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
