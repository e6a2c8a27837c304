//! One node: a stack of radio, MAC, link, routing and transports.
//!
//! ```text
//!   endpoints (TCP, UDP, ping)  ── handle_outgoing ──►  router ──►  link (ARP, queue) ──►  MAC  ──►  frames to the air
//!        ▲                                               │  ▲              │   ▲            │  ▲
//!        └── packets for this node ──── IP ◄─────────────┼──┼── 25 us ◄────┘   └─ next MSDU ─┘  │
//!                                        └── transit ────┘  └── link failures ◄─────────────────┘
//!                                                                                          ear ◄── copies from the air
//! ```
//!
//! The node is a state machine of the common shape; its driver is the simulator's world or a program with devices. Its
//! outputs are frames to radiate and packets ([`Output`]): for an outside host, which sends through
//! [`Node::handle_local`], and for the wires of a gateway. Its [`Ear`] is a separate state machine that the driver
//! keeps next to it: it hears every frame in the air and selects those that the node must handle.

mod account;
mod balance;
mod buffers;
mod categories;
mod config;
mod dropping;
mod ear;
mod early;
mod endpoint;
mod foreign;
mod host;
mod journal;
mod link_drops;
mod local;
mod network;
mod output;
mod own_transport;
mod ports;
mod processor;
mod radio;
mod radios;
mod stack;
mod supply;
mod timers;
mod transports;
mod upper;
mod wired_side;

pub use account::{Account, Drops, Layers};
pub use buffers::Buffers;
pub use config::{Config, SharedConfig};
pub use ear::{Begun, Ear, Heard, Known, Rules};
pub use early::EarlyDrops;
pub use endpoint::{Endpoint, EndpointKind, Renewal, TcpSource};
pub use host::Host;
pub use journal::{Note, PacketKind, Step};
pub use link_drops::LinkDrops;
pub use output::Output;
pub use own_transport::{OwnEnd, OwnOptions, OwnTransport};
pub use radio::{FIRST, OnChannel};
pub use stack::Node;
pub use wired_side::WiredSide;
