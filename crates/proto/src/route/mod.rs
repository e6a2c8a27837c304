//! Routing: the next hop of a packet.
//!
//! [`Router`] is the layer as a node sees it. It dispatches statically over [`StaticRoutes`], a fixed table; [`Aodv`],
//! on-demand routing (RFC 3561); and [`Babel`], which maintains all routes proactively (RFC 8966). Each is a
//! [`Protocol`] and answers with [`Action`]s: the routing layer owns no transmit queue and delivers nothing. It asks
//! its node to send packets and reports which are lost and why, and which next hop has failed.
//!
//! # Call order
//! Time never runs backwards between calls. A packet is passed in by value and leaves in exactly one [`Action`], at
//! once or later; routing messages are the exception, because the layer consumes them. Every `handle_*` call may change
//! `next_timeout`; an early `handle_timeout` does nothing. Actions must be carried out in order.
//!
//! # Duties of the node
//! - The node itself delivers packets for its own address and for the broadcast address; they never reach this layer.
//! - The node counts the [`hops`](crate::wire::PacketMeta::hops) of a packet from a radio before it passes the packet
//!   on.
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
