//! Data packets: they take the selected route or are dropped.

use super::{Action, Babel, NextHop};
use crate::drop::DropReason;
use crate::route::action::pass_on;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;

impl Babel {
    /// A packet made at this node for another one, or one that came in through this gateway.
    pub fn handle_outgoing(&mut self, packet: Ipv4Packet, out: &mut Vec<Action>) {
        if packet.src == self.addr
            && let Some(next_hop) = self.next_hop(packet.dst)
        {
            self.usages.note(packet.dst, next_hop);
        }
        self.forward(packet, out);
    }

    /// A packet received for another node.
    pub fn handle_transit(&mut self, packet: Ipv4Packet, out: &mut Vec<Action>) {
        if let Some(packet) = pass_on(self.addr, packet, out) {
            self.forward(packet, out);
        }
    }

    fn forward(&self, packet: Ipv4Packet, out: &mut Vec<Action>) {
        out.push(match self.next_hop(packet.dst) {
            Some(next_hop) => Action::Send { packet, next_hop: NextHop::Unicast(next_hop) },
            None => Action::Drop { packet, reason: DropReason::NoRoute },
        });
    }

    /// The neighbour through which packets for `dst` leave.
    pub fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        self.table.lookup(dst).map(|route| route.next_hop)
    }
}
