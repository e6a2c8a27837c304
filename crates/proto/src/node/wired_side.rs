//! The wired side of a gateway: a node whose radio is one interface and whose wired links are others.
//!
//! ```text
//!    mesh ── Node::handle_packet ──┐                        ┌── cross ◄── Node::handle_wired ── wires
//!                                  ├─ cross ─► ports ─► wires
//!    mesh ◄── router ◄─────────────┴────────────────────────┘
//! ```
//!
//! The node's own packets do not cross; neither do routing messages, nor packets that come in by one wire and leave by
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
    /// The queueing discipline; `None`: packets are passed on.
    discipline: Option<Discipline<Ipv4Packet>>,
}

impl WiredSide {
    /// With ports as in `routes`; `plan` says which addresses are behind them.
    pub fn new(plan: AddressPlan, routes: WiredRoutes) -> WiredSide {
        WiredSide { plan, ports: Ports::new(routes), discipline: None }
    }

    /// With something that happens to packets that cross; `key` decides the places of flows there.
    #[must_use]
    pub fn with_discipline(self, config: &DisciplineConfig, key: HashKey) -> WiredSide {
        WiredSide { discipline: Some(Discipline::new(config, key)), ..self }
    }

    /// The queueing discipline, for inspection.
    pub fn discipline(&self) -> Option<&Discipline<Ipv4Packet>> {
        self.discipline.as_ref()
    }

    /// Is `dst` reached over wires?
    pub(super) fn leads_to(&self, dst: Ipv4Addr) -> bool {
        self.plan.is_outside(dst)
    }

    /// A packet crosses, coming from `from`: the place where something may hold it. `hops`: to the wireless node that
    /// it comes from or goes to, whose links have `rate`.
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

    /// The radio has this many packets in its queue.
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

    /// When the discipline has to be called.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        self.discipline.as_ref()?.next_timeout()
    }

    /// Packets kept here.
    pub(super) fn queued(&self) -> usize {
        self.discipline.as_ref().map_or(0, Discipline::queued)
    }
}
