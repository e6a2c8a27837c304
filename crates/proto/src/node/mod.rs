//! One node: radio, MAC, link, routing and transports stacked.
//!
//! ```text
//!   endpoints (TCP, UDP, ping)  ── handle_outgoing ──►  router ──►  link (ARP, queue) ──►  MAC  ──►  frames to the air
//!        ▲                                               │  ▲              │   ▲            │  ▲
//!        └── packets for this node ──── IP ◄─────────────┼──┼── 25 us ◄────┘   └─ next MSDU ─┘  │
//!                                        └── transit ────┘  └── link failures ◄─────────────────┘
//!                                                                                          ear ◄── copies from the air
//! ```
//!
//! The node is a state machine of the common shape; its driver is the world of the simulator or a program with devices.
//! Its outputs are frames to radiate and packets ([`Output`]): for an outside host, which sends through
//! [`Node::handle_local`], and for the wires of a gateway. Its [`Ear`] is a separate state machine, which the driver
//! keeps next to it: it hears every frame in the air and says which of them the node must handle.

mod account;
mod ages;
mod balance;
mod buffers;
mod categories;
mod config;
mod dropping;
mod ear;
mod early;
mod endpoint;
mod endpoint_atp;
mod host;
mod journal;
mod link_drops;
mod local;
mod network;
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
pub use ages::{AgeLog, Ages};
pub use buffers::Buffers;
pub use config::{Config, SharedConfig};
pub use ear::{Begun, Ear, Heard, Known, Rules};
pub use early::EarlyDrops;
pub use endpoint::{Endpoint, EndpointKind, FlowAddress, Renewal, TcpSource};
pub use host::Host;
pub use journal::{Note, PacketKind, Step};
pub use link_drops::LinkDrops;
pub use radio::{FIRST, OnChannel};
pub use stack::Node;
pub use wired_side::WiredSide;

use crate::drop::DropReason;
use crate::route::PortId;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;

/// Output of a node besides frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// For the host outside: it is attached, and no simulated flow took the packet.
    Deliver(Ipv4Packet),
    /// For the wire at a port.
    Wire {
        /// Which.
        port: PortId,
        /// The packet.
        packet: Ipv4Packet,
    },
    /// A packet of a host outside is lost at IP of a node that has one attached: that host can say so to the sender
    /// (RFC 1812 section 4.3.3, of which this node does nothing itself).
    Lost {
        /// The packet, as it was when it was lost.
        packet: Ipv4Packet,
        /// Reason of the loss.
        reason: DropReason,
    },
    /// A packet has taken a step here. Only of a node that [records](Node::record), as is [`Output::Route`].
    Noted(Note),
    /// A route has come, or leads elsewhere than before, or is gone.
    Route {
        /// Where it leads.
        destination: Ipv4Addr,
        /// The neighbour to send to and the number of hops; `None`: it is gone.
        way: Option<(Ipv4Addr, u8)>,
    },
}
