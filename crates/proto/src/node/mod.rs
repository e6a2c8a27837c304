//! One node: radio, MAC, link, routing and transports stacked.
//!
//! ```text
//!   endpoints (TCP, UDP, ping)  ── handle_outgoing ──►  router ──►  link (ARP, queue) ──►  MAC  ──►  frames to the air
//!        ▲                                               │  ▲              │   ▲            │  ▲
//!        └── packets for this node ──── IP ◄─────────────┼──┼── 25 us ◄────┘   └─ next MSDU ─┘  │
//!                                        └── transit ────┘  └── link failures ◄─────────────────┘
//!                                                                                     receiver ◄── copies from the air
//! ```
//!
//! The node is a state machine of the common shape; its driver is the world of the simulator or a device. All that it
//! does to its surroundings is to radiate frames.

mod account;
mod endpoint;
mod stack;

pub use account::{Account, Drops, Layers};
pub use endpoint::{Endpoint, EndpointKind, FlowAddress, Renewal, TcpSource};
pub use stack::{Config, Node};
