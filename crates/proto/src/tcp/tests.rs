//! Packet scripts and in-memory networks.

mod adaptive;
mod adhoc_pair;
mod adhoc_sender;
mod loss;
mod pacing;
mod pair;
mod sack;
mod script;
mod states;
mod vegas;
mod windows;
