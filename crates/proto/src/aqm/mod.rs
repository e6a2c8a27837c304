//! Active queue management: each flow has its own queue, and each queue is kept short.
//!
//! | file | content |
//! |---|---|
//! | [`codel`] | CoDel (RFC 8289) for one queue |
//! | [`flow_queues`] | FQ-CoDel (RFC 8290): queues of flows in deficit round robin |
//! | `hash` | the keyed hash that maps a flow to its queue |
//!
//! The gateway has one set of queues in front of the radio ([`crate::gateway::FqCodel`]), the link layer has one per
//! neighbour ([`crate::net::station_queues`]).
//!
//! The owner of the queues may mark packets instead of dropping them (RFC 3168).

pub mod codel;
pub mod flow_queues;
pub(crate) mod hash;

pub use flow_queues::FlowQueues;
pub use hash::HashKey;
