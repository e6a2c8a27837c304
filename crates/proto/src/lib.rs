//! Every layer of a multihop 802.11 node as a state machine without clock and without I/O. The modules, in the order a
//! frame passes through them:
//!
//! | module | layer |
//! |---|---|
//! | [`wire`] | frames and packets, their sizes and their encoding |
//! | [`drop`](mod@drop) | reasons for packet loss |
//! | [`phy`] | the receiver: capture, collisions, carrier sense; two-ray ground |
//! | [`mac`] | the 802.11 DCF |
//! | [`aqm`] | AQM for per-flow queues: CoDel, FQ-CoDel |
//! | [`net`] | ARP, link delay, interface queue |
//! | [`route`] | static shortest paths, AODV and Babel |
//! | [`tcp`] | TCP |
//! | [`ccm`] | C3TCP's module below TCP |
//! | [`atp`] | ATP, a transport other than TCP |
//! | [`gateway`] | gateways between a wireless network and the Internet |
//! | [`app`] | traffic sources |
//! | [`node`] | all layers stacked into a node |
//! | [`preset`] | radio and MAC options known at compile time |
//!
//! # One shape
//! Every state machine has `handle_<event>(&mut self, now, input, out)`, `handle_timeout(&mut self, now, out)` and
//! `next_timeout(&self) -> Option<Time>`. `out` is a vector of actions that the driver owns, empties and reuses. Time
//! is always a parameter, never queried, and never runs backwards between calls. After any `handle_*` call the driver
//! asks for `next_timeout` again; calling `handle_timeout` before that instant does nothing.
#![forbid(unsafe_code)]

pub mod app;
pub mod aqm;
pub mod atp;
pub mod ccm;
mod counters;
pub mod drop;
pub mod gateway;
pub mod mac;
pub mod net;
pub mod node;
pub mod phy;
pub mod preset;
pub mod route;
pub mod tcp;
pub mod wire;
