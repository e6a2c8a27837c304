//! The wired side of a gateway: a node with a radio as one interface and wired links as the others.
//!
//! ```text
//!    mesh ── Node::handle_packet ──┐                        ┌── cross ◄── Node::handle_wired ── wires
//!                                  ├─ cross ─► ports ─► wires
//!    mesh ◄── router ◄─────────────┴────────────────────────┘
//! ```
//!
//! The node's own packets do not cross; neither do routing messages, nor packets that arrive by one wire and leave by
//! another.

use super::ports::Ports;
use crate::gateway::{Action, Discipline, DisciplineConfig, HashKey, Side};
use crate::route::{AddressPlan, WiredRoutes};
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Rate, Time};

/// The wired side of a gateway.
#[derive(Debug)]
pub struct WiredSide {
    plan: AddressPlan,
    pub(super) ports: Ports,
    /// The queueing discipline; `None`: packets are simply forwarded.
    discipline: Option<Discipline<Ipv4Packet>>,
}

impl WiredSide {
    /// Creates a wired side with the ports of `routes`; `plan` says which addresses are behind them.
    pub fn new(plan: AddressPlan, routes: WiredRoutes) -> WiredSide {
        WiredSide { plan, ports: Ports::new(routes), discipline: None }
    }

    /// Adds a queueing discipline for packets that cross; `key` seeds its hash of flows.
    #[must_use]
    pub fn with_discipline(self, config: &DisciplineConfig, key: HashKey) -> WiredSide {
        WiredSide { discipline: Some(Discipline::new(config, key)), ..self }
    }

    /// Returns the queueing discipline, for inspection.
    pub fn discipline(&self) -> Option<&Discipline<Ipv4Packet>> {
        self.discipline.as_ref()
    }

    /// Whether `dst` is reached over wires.
    pub(super) fn leads_to(&self, dst: Ipv4Addr) -> bool {
        self.plan.is_outside(dst)
    }

    /// Passes on a packet that crosses, coming from `from`; the queueing discipline may delay it. `hops` is the
    /// distance to the wireless node that it comes from or goes to, whose links have `rate`.
    pub(super) fn handle_packet(
        &mut self,
        now: Time,
        from: Side,
        packet: Ipv4Packet,
        hops: Option<u8>,
        rate: Rate,
        out: &mut Vec<Action<Ipv4Packet>>,
    ) {
        let Some(discipline) = &mut self.discipline else {
            return out.push(Action::Forward { packet, to: from.other() });
        };
        if let Some(hops) = hops {
            discipline.handle_path(if from == Side::Wired { packet.dst } else { packet.src }, hops, rate);
        }
        discipline.handle_packet(now, from, packet, out);
    }

    /// Reports the number of packets in the radio's queue.
    pub(super) fn handle_backlog(&mut self, now: Time, packets: usize, out: &mut Vec<Action<Ipv4Packet>>) {
        if let Some(discipline) = &mut self.discipline {
            discipline.handle_backlog(now, packets, out);
        }
    }

    /// Does what is due at `now`.
    pub(super) fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action<Ipv4Packet>>) {
        if let Some(discipline) = &mut self.discipline {
            discipline.handle_timeout(now, out);
        }
    }

    /// Returns when the discipline must be called.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        self.discipline.as_ref()?.next_timeout()
    }

    /// Returns the number of packets queued here.
    pub(super) fn queued(&self) -> usize {
        self.discipline.as_ref().map_or(0, Discipline::queued)
    }
}
