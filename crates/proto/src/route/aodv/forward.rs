//! Data packets: the routes they take and keep alive (RFC 3561 section 6.2), the buffer where they wait for one.

use super::{Action, Aodv, NextHop, Refresh, Retry, RouteState};
use crate::drop::DropReason;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

impl Aodv {
    /// A data packet made at this node for another one.
    pub fn handle_outgoing(&mut self, now: Time, mut packet: Ipv4Packet, out: &mut Vec<Action>) {
        if let Some(ttl) = self.config.data_ttl {
            packet.ttl = ttl;
        }
        if packet.dst == self.addr || packet.dst.is_broadcast() {
            out.push(Action::Drop { packet, reason: DropReason::NoRoute });
        } else {
            self.forward_or_search(now, packet, out);
        }
    }

    pub(super) fn forward_or_search(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        if let Some(packet) = self.try_forward(now, packet, out) {
            let dst = packet.dst;
            self.hold(now, packet, out);
            if !self.waits_for_repair(dst) {
                self.search(now, dst, out);
            }
        }
    }

    /// A data packet received for another node; `from` is the neighbour that sent it, where known, and tells the HELLO
    /// option that the neighbour lives.
    pub fn handle_transit(&mut self, now: Time, mut packet: Ipv4Packet, from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        if let Some(from) = from
            && self.config.signal.is_none()
        {
            self.hello.heard(now, from);
        }
        if packet.src == self.addr {
            out.push(Action::Drop { packet, reason: DropReason::RouteLoop });
            return;
        }
        if packet.ttl <= 1 {
            out.push(Action::Drop { packet, reason: DropReason::TtlExpired });
            return;
        }
        packet.ttl -= 1;
        if let Some(packet) = self.try_forward(now, packet, out) {
            match self.table.get(packet.dst).map(|route| route.state) {
                Some(RouteState::InRepair) => self.hold(now, packet, out),
                _ => self.no_route(now, packet, out),
            }
        }
    }

    /// Sends the packet if there is a valid route for it.
    pub(super) fn try_forward(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) -> Option<Ipv4Packet> {
        let (dst, src) = (packet.dst, packet.src);
        let Some(next_hop) = self.table.get(dst).filter(|route| route.is_valid()).map(|route| route.next_hop) else {
            return Some(packet);
        };
        if src == self.addr {
            self.usages.note(dst, next_hop);
        }
        self.refresh(now, dst);
        if self.config.refresh == Refresh::WholePath {
            self.refresh(now, next_hop);
            if src != self.addr
                && let Some(previous_hop) = self.refresh(now, src)
            {
                self.refresh(now, previous_hop);
            }
        }
        out.push(Action::Send { packet, next_hop: NextHop::Unicast(next_hop) });
        None
    }

    /// A valid route was used: it lives on. Returns its next hop.
    pub(super) fn refresh(&mut self, now: Time, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        let until = now + self.config.active_route_timeout;
        let route = self.table.get_mut(dst).filter(|route| route.has_next_hop())?;
        let next_hop = route.next_hop;
        // A lifetime that grows needs no earlier look at the table than the one already due.
        if until >= route.expires {
            route.expires = until;
        } else if self.config.refresh == Refresh::DestinationOnly {
            route.expires = until;
            self.watch(until);
        }
        Some(next_hop)
    }

    /// Puts a data packet into the send buffer.
    pub(super) fn hold(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        self.buffer.push(now, packet, out);
        if let Retry::PacketOrTick(tick) = self.config.retry
            && self.retry_at.is_none()
        {
            self.retry_at = Some(now.next_multiple_of(tick));
        }
    }

    /// A route to `dst` has come up: sends what waits for it, one packet each `spacing`.
    pub(super) fn flush(&mut self, now: Time, dst: Ipv4Addr, spacing: Dur, out: &mut Vec<Action>) {
        let mut at = now;
        while let Some(packet) = self.buffer.pop(now, dst, out) {
            let Some(next_hop) = self.refresh(now, dst) else {
                out.push(Action::Drop { packet, reason: DropReason::NoRoute });
                continue;
            };
            if packet.src == self.addr {
                self.usages.note(dst, next_hop);
            }
            let next_hop = NextHop::Unicast(next_hop);
            if at > now {
                self.delay.push(at, packet, next_hop);
            } else {
                out.push(Action::Send { packet, next_hop });
            }
            at += spacing;
        }
    }
}
