//! The simulator: virtual time around the protocol crates.
#![forbid(unsafe_code)]

pub mod batch;
pub mod scenario;
pub mod topology;
