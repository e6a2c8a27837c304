//! The gateway between a multihop wireless network and the Internet: TCP with Gateway Adaptive Pacing.
//!
//! Source: ElRakabawy, Klemm, Lindemann, "Gateway adaptive pacing for TCP across multihop wireless networks and the
//! Internet" and its journal version, Computer Networks 52, 2008, sections 4.1 to 4.6. [`Gateway`] is the paper's; for
//! comparison there are [`FairShare`], a static limiter, and [`FqCodel`] (RFC 8290). A [`Discipline`] is any of them,
//! at the point where packets pass from one side to the other.
//!
//! | file | content |
//! |---|---|
//! | `packet`, `simulated`, `bytes` | what a gateway reads and changes in a packet: of the simulator, as bytes |
//! | `gap` | the gateway: flows, and which packets leave when |
//! | `table` | the flow table |
//! | `flow`, `rtt` | a flow; round trips on either side |
//! | `goodput` | goodput control |
//! | `even`, `airtime` | a common interval for all flows; airtime limits for flows with AP2's window |
//! | `window` | advertised windows limited to the capacity of the path |
//! | `pacer`, `windowed` | what releases data: an interval, or AP2's window |
//! | `fair_share`, `fq_codel` | the others; the queues of the latter are in [`crate::aqm`] |
//!
//! # Promises
//! For any input, a gateway does not lose, duplicate or reorder packets of a flow (in one direction). It changes
//! nothing except its option and, with a [`Config::sojourn`], the window in acknowledgements to the wired side, which
//! it never raises. It stays within its memory bounds and does not panic. [`FairShare`] and [`FqCodel`] drop packets,
//! with a reason. With [`Mode::Ap2`] a gateway also marks packets of ECN-capable transports (RFC 3168).

mod airtime;
mod bytes;
mod config;
mod delayed;
mod even;
mod fair_share;
mod flow;
mod fq_codel;
mod gap;
mod goodput;
mod pacer;
mod packet;
mod rtt;
mod simulated;
mod table;
mod window;
mod windowed;

#[cfg(test)]
mod tests;

pub use crate::aqm::HashKey;
pub use crate::aqm::codel::Config as CodelConfig;
pub use config::{Among, Config, GoodputControl, Mode};
pub use fair_share::{Config as FairShareConfig, FairShare};
pub(crate) use fq_codel::bucket;
pub use fq_codel::{Config as FqCodelConfig, FqCodel};
pub use gap::{Counters, FlowState, Gateway};
pub use goodput::{ControlCounters, Throttle};
pub use packet::{FiveTuple, Packet, TcpView};
pub use table::FlowKey;

use crate::drop::DropReason;
use core::net::IpAddr;
use fourhop_units::{Rate, Time};

/// A side of the gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The multihop wireless network.
    Wireless,
    /// The Internet.
    Wired,
}

impl Side {
    /// Returns the opposite side.
    pub const fn other(self) -> Side {
        match self {
            Side::Wireless => Side::Wired,
            Side::Wired => Side::Wireless,
        }
    }
}

/// Actions for the driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action<P> {
    /// Forward this packet to that side.
    Forward {
        /// The packet.
        packet: P,
        /// The side.
        to: Side,
    },
    /// This packet is dropped.
    Drop {
        /// The packet.
        packet: P,
        /// Reason for the loss.
        reason: DropReason,
    },
}

/// Choice and options of a gateway's queueing discipline.
#[derive(Clone, PartialEq, Debug)]
pub enum DisciplineConfig {
    /// The paper's gateway.
    Gap(Config),
    /// An equal share for each flow.
    FairShare(FairShareConfig),
    /// FQ-CoDel.
    FqCodel(FqCodelConfig),
}

/// The queueing discipline of a gateway.
///
/// Call [`handle_path`](Discipline::handle_path) before the packets that it concerns, and whenever a route has changed.
/// Then, with time that never runs backwards: [`handle_packet`](Discipline::handle_packet),
/// [`handle_backlog`](Discipline::handle_backlog), [`handle_path_lost`](Discipline::handle_path_lost) when a route is
/// gone (without it, pacing continues by the last path), and [`handle_timeout`](Discipline::handle_timeout); each may
/// change [`next_timeout`](Discipline::next_timeout). An early `handle_timeout` does nothing.
#[derive(Clone, Debug)]
pub enum Discipline<P> {
    /// The paper's gateway.
    Gap(Box<Gateway<P>>),
    /// An equal share for each flow.
    FairShare(Box<FairShare<P>>),
    /// FQ-CoDel.
    FqCodel(Box<FqCodel<P>>),
}

impl<P: Packet> Discipline<P> {
    /// Creates an empty discipline; `key` seeds its hash of flows.
    pub fn new(config: &DisciplineConfig, key: HashKey) -> Discipline<P> {
        match config {
            DisciplineConfig::Gap(config) => Discipline::Gap(Box::new(Gateway::new(*config, key))),
            DisciplineConfig::FairShare(config) => Discipline::FairShare(Box::new(FairShare::new(*config, key))),
            DisciplineConfig::FqCodel(config) => Discipline::FqCodel(Box::new(FqCodel::new(*config, key))),
        }
    }

    /// A wireless node is `hops` away, over links of `rate`.
    pub fn handle_path(&mut self, node: impl Into<IpAddr>, hops: u8, rate: Rate) {
        if let Discipline::Gap(gateway) = self {
            gateway.handle_path(node, hops, rate);
        }
    }

    /// No path leads to a wireless node any more: packets queued for it leave, and its flows are not paced until there
    /// is a path again.
    pub fn handle_path_lost(&mut self, now: Time, node: impl Into<IpAddr>, out: &mut Vec<Action<P>>) {
        if let Discipline::Gap(gateway) = self {
            gateway.handle_path_lost(now, node, out);
        }
    }

    /// A packet has arrived on side `from` and must leave on the other.
    pub fn handle_packet(&mut self, now: Time, from: Side, packet: P, out: &mut Vec<Action<P>>) {
        match self {
            Discipline::Gap(gateway) => gateway.handle_packet(now, from, packet, out),
            Discipline::FairShare(limiter) => limiter.handle_packet(now, from, packet, out),
            Discipline::FqCodel(queue) => queue.handle_packet(now, from, packet, out),
        }
    }

    /// The wireless interface reports this many packets in its queue.
    pub fn handle_backlog(&mut self, now: Time, packets: usize, out: &mut Vec<Action<P>>) {
        if let Discipline::FqCodel(queue) = self {
            queue.handle_backlog(now, packets, out);
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        match self {
            Discipline::Gap(gateway) => gateway.handle_timeout(now, out),
            Discipline::FairShare(limiter) => limiter.handle_timeout(now, out),
            Discipline::FqCodel(queue) => queue.handle_timeout(now, out),
        }
    }

    /// Returns when `handle_timeout` must be called.
    pub fn next_timeout(&self) -> Option<Time> {
        match self {
            Discipline::Gap(gateway) => gateway.next_timeout(),
            Discipline::FairShare(limiter) => limiter.next_timeout(),
            Discipline::FqCodel(queue) => queue.next_timeout(),
        }
    }

    /// Returns the number of queued packets.
    pub fn queued(&self) -> usize {
        match self {
            Discipline::Gap(gateway) => gateway.queued(),
            Discipline::FairShare(limiter) => limiter.queued(),
            Discipline::FqCodel(queue) => queue.queued(),
        }
    }

    /// Returns the paper's gateway, if this is one.
    pub fn gateway(&self) -> Option<&Gateway<P>> {
        match self {
            Discipline::Gap(gateway) => Some(gateway),
            _ => None,
        }
    }
}
