//! Packet scripts and in-memory networks.

mod adaptive;
mod loss;
mod pacing;
mod pair;
mod sack;
mod script;
mod states;
mod vegas;
mod windows;
