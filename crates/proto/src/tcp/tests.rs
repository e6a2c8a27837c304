//! Packet scripts and in-memory networks.

mod adaptive;
mod adhoc_pair;
mod adhoc_sender;
mod bbr;
mod bursts;
mod ecn;
mod loss;
mod pacing;
mod pair;
mod rack;
mod sack;
mod script;
mod states;
mod vegas;
mod windows;
