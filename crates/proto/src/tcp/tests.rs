//! Packet scripts and in-memory networks.

mod loss;
mod pair;
mod sack;
mod script;
mod states;
mod windows;
