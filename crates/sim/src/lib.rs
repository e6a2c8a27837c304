//! The simulator: virtual time around the protocol crates.
#![forbid(unsafe_code)]
