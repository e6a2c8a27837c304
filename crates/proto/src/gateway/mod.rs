//! The gateway between a multihop wireless network and the Internet: TCP with Gateway Adaptive Pacing.
//!
//! Source: ElRakabawy, Klemm, Lindemann, "Gateway adaptive pacing for TCP across multihop wireless networks and the
//! Internet" and its journal version, Computer Networks 52, 2008, sections 4.1 to 4.6. [`Gateway`] is the paper's; for
//! comparison there are [`FairShare`], a static limiter, and [`FqCodel`] (RFC 8290). [`Discipline`] is any of them, at
//! the point where packets go from one side to the other.
//!
//! | file | holds |
//! |---|---|
//! | `packet`, `simulated`, `bytes` | what is seen and changed of a packet: of the simulator, as bytes |
//! | `gap` | the gateway: who is who, what leaves when |
//! | `table` | the flow table |
//! | `flow`, `rtt` | one flow; round trips on either side |
//! | `goodput` | goodput control |
//! | `even`, `airtime` | the same interval for every flow; the most airtime of one with AP2's window |
//! | `window` | advertised windows limited to the capacity of the path |
//! | `pacer`, `windowed` | what lets data leave: an interval, or AP2's window |
//! | `fair_share`, `fq_codel` | the others; the queues of the latter are in [`crate::aqm`] |
//!
//! # Promises
//! For any input, a gateway does not lose, duplicate or reorder packets of a flow (in one direction). It changes
//! nothing except its option and, if a [`Config::sojourn`] is set, the window of acknowledgements to the wired side,
//! which it never raises. It stays within its memory bounds and does not panic. [`FairShare`] and [`FqCodel`] drop,
//! with a reason. With [`Mode::Ap2`] a gateway also marks packets whose transport listens (RFC 3168).

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

/// An interface of the gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The multihop wireless network.
    Wireless,
    /// The Internet.
    Wired,
}

impl Side {
    /// The opposite one.
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
    /// Send this packet out on that side.
    Forward {
        /// The packet.
        packet: P,
        /// Where to.
        to: Side,
    },
    /// This packet is lost.
    Drop {
        /// The packet.
        packet: P,
        /// Reason of the loss.
        reason: DropReason,
    },
}

/// The queueing discipline of a gateway.
#[derive(Clone, PartialEq, Debug)]
pub enum DisciplineConfig {
    /// The paper's gateway.
    Gap(Config),
    /// The same share for each flow.
    FairShare(FairShareConfig),
    /// FQ-CoDel.
    FqCodel(FqCodelConfig),
}

/// The queueing discipline of a gateway.
///
/// # Call order
/// [`handle_path`](Discipline::handle_path) before the packets it concerns, and whenever a route has changed. Then,
/// with time that never runs backwards, [`handle_packet`](Discipline::handle_packet),
/// [`handle_backlog`](Discipline::handle_backlog), [`handle_path_lost`](Discipline::handle_path_lost) when a route is
/// gone (a driver that never says so keeps pacing by the last path), and
/// [`handle_timeout`](Discipline::handle_timeout); each may change [`next_timeout`](Discipline::next_timeout). An early
/// `handle_timeout` does nothing.
#[derive(Clone, Debug)]
pub enum Discipline<P> {
    /// The paper's gateway.
    Gap(Box<Gateway<P>>),
    /// The same share for each flow.
    FairShare(Box<FairShare<P>>),
    /// FQ-CoDel.
    FqCodel(Box<FqCodel<P>>),
}

impl<P: Packet> Discipline<P> {
    /// With nothing in it; `key` decides the places of flows.
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

    /// No path leads to a wireless node any more: what waits for it leaves, its flows are not paced until there is one
    /// again.
    pub fn handle_path_lost(&mut self, now: Time, node: impl Into<IpAddr>, out: &mut Vec<Action<P>>) {
        if let Discipline::Gap(gateway) = self {
            gateway.handle_path_lost(now, node, out);
        }
    }

    /// A packet has come in on side `from` and is to leave on the other.
    pub fn handle_packet(&mut self, now: Time, from: Side, packet: P, out: &mut Vec<Action<P>>) {
        match self {
            Discipline::Gap(gateway) => gateway.handle_packet(now, from, packet, out),
            Discipline::FairShare(limiter) => limiter.handle_packet(now, from, packet, out),
            Discipline::FqCodel(queue) => queue.handle_packet(now, from, packet, out),
        }
    }

    /// The wireless interface has this many packets in its queue.
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

    /// When `handle_timeout` has to be called.
    pub fn next_timeout(&self) -> Option<Time> {
        match self {
            Discipline::Gap(gateway) => gateway.next_timeout(),
            Discipline::FairShare(limiter) => limiter.next_timeout(),
            Discipline::FqCodel(queue) => queue.next_timeout(),
        }
    }

    /// Packets that wait.
    pub fn queued(&self) -> usize {
        match self {
            Discipline::Gap(gateway) => gateway.queued(),
            Discipline::FairShare(limiter) => limiter.queued(),
            Discipline::FqCodel(queue) => queue.queued(),
        }
    }

    /// The paper's gateway, if it is one.
    pub fn gateway(&self) -> Option<&Gateway<P>> {
        match self {
            Discipline::Gap(gateway) => Some(gateway),
            _ => None,
        }
    }
}
