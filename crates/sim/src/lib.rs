//! The simulator: virtual time around the protocol crates.
//!
//! | module | what |
//! |---|---|
//! | [`event_queue`] | the order of events |
//! | [`channel`] | who hears whom |
//! | [`trace`] | capture files |
#![forbid(unsafe_code)]

pub mod channel;
pub mod event_queue;
pub mod trace;
