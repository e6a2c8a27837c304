//! Routing: the next hop of a packet.
//!
//! [`Router`] is the layer as a node sees it; it dispatches statically over [`StaticRoutes`], a table given from
//! outside, [`Aodv`], on-demand routing by RFC 3561, and [`Babel`], which knows all routes beforehand (RFC 8966). Each
//! is a [`Protocol`] and answers with [`Action`]s: the routing layer owns no queue to the link and delivers nothing; it
//! tells its node what to send and where, what is lost and why, and the next hop that has failed.
//!
//! # Legal call order
//! Time never runs backwards between calls. A packet is handed over by value and leaves in exactly one [`Action`], at
//! once or later, unless it is a routing message, which the layer consumes. Every `handle_*` call may change
//! `next_timeout`; an early `handle_timeout` does nothing. The order of the actions is the order of their effects.
//!
//! # What the node does
//! - Packets for the node's own address and for the broadcast address are delivered by the node and never come here.
//! - The node counts the [`hops`](crate::wire::PacketMeta::hops) of a packet from a radio before it
//!   hands the packet over.
//! - Packets whose body is [`Body::Routing`](crate::wire::Body) go to `handle_message` whatever their destination.

mod action;
mod address_plan;
pub mod aodv;
pub mod babel;
mod counters;
mod metric;
mod mirror;
mod protocol;
mod router;
mod static_routes;
mod usage;
mod wired_routes;

pub use crate::wire::Prefix;
pub use action::{Action, NextHop, Signal};
pub use address_plan::AddressPlan;
pub use aodv::{Aodv, Config};
pub use babel::Babel;
pub use counters::Counters;
pub use metric::Metric;
pub use protocol::{CounterVisitor, Distributed, Place, Protocol};
pub use router::{Finding, Router};
pub use static_routes::{ShortestPaths, StaticRoutes};
pub use usage::{Discoveries, Usage};
pub use wired_routes::{PortId, WiredRoutes};
