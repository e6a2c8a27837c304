//! The simulator: virtual time around the protocol crates.
//!
//! | module | content |
//! |---|---|
//! | [`scenario`] | user input: TOML, JSON or ns-2's reference files, checked and resolved |
//! | [`topology`] | positions of the nodes |
//! | [`run`](run()) | one run: turns a scenario and a seed into a [`result`] |
//! | [`setup`] | a network ready to run: options of every layer, flows |
//! | [`channel`] | neighbour lists of fixed nodes |
//! | [`propagation`] | path loss, shadowing and fading |
//! | [`stations`] | the radios of the nodes and their channels |
//! | [`mobility`] | movement of nodes |
//! | [`grid`] | search for moving nodes in range |
//! | [`air`] | the receivers of a frame, whether nodes are fixed or move |
//! | [`spread`] | how far apart the receivers of a frame may be |
//! | [`event_queue`] | the order of events |
//! | [`wired`] | hosts, routers and links without radios |
//! | [`world`] | nodes and frames in virtual time |
//! | [`trace`] | capture files, time series |
//! | [`batch`] | many runs on all cores |
//! | [`translate`](mod@translate) | conversion of a scenario to a setup |
//! | [`survey()`] | the network of a run at its start, for pictures |
//! | [`PacedUdp`] | paced UDP in place of a flow |
#![forbid(unsafe_code)]

pub mod air;
pub mod batch;
pub mod channel;
mod channel_choice;
pub mod columns;
pub mod event_queue;
pub mod grid;
#[cfg(test)]
mod hint_tests;
mod link_cost;
mod measure;
pub mod mobility;
mod outside;
mod paced_udp;
pub mod propagation;
pub mod result;
mod run;
pub mod scenario;
pub mod setup;
mod so_far;
pub mod spread;
pub mod stations;
mod survey;
pub mod topology;
pub mod trace;
pub mod translate;
pub mod wired;
pub mod world;

pub use paced_udp::PacedUdp;
pub use run::{RunError, RunOptions, can_run, counters, run};
pub use so_far::FlowSoFar;
pub use survey::{Survey, SurveyedFlow, SurveyedLink, survey};
