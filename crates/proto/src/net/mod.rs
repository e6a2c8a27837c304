//! Between routing and the MAC: address resolution, the fixed delay of the link layer, and the interface queue.
//!
//! | file | content |
//! |---|---|
//! | [`link`] | the state machine: down through ARP and the queue, up to IP |
//! | [`arp`] | addresses of neighbours, one pending packet for each |
//! | [`queue`] | drop-tail, routing packets first |
//! | [`station_queues`] | FQ-CoDel per neighbour, with airtime fairness |
//! | [`link_red`] | early drops, driven by MAC retries |
//! | [`neighbourhood_red`] | early drops, driven by the load of the medium and the node's share of it |
//! | `addresses` | addresses of a station; a fixed table instead of ARP |
//! | [`sizes`] | size of a packet on the air |
//! | [`port`] | one direction of a wired link, which has none of the above |
//!
//! Sources: RFC 826 and RFC 1122 section 2.3.2; ns-2.35's `LL`, `ARPTable`, `PriQueue`.

mod addresses;
pub mod arp;
pub mod link;
pub mod link_red;
pub mod neighbourhood_red;
pub mod port;
pub mod queue;
pub mod sizes;
pub mod station_queues;

pub use addresses::Addresses;
pub use link::{Action, Config, Link, QueueKind};
pub use link_red::LinkRed;
pub use neighbourhood_red::NeighbourhoodRed;
pub use port::Port;
pub use station_queues::{Airtime, StationQueues};
