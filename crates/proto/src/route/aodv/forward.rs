//! Data packets: the routes they take and keep alive (RFC 3561 section 6.2), and the buffer where they wait for a
//! route.

use super::{Action, Aodv, NextHop, Refresh, Retry};
use crate::drop::DropReason;
use crate::route::protocol::Protocol;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

impl Aodv {
    pub(super) fn forward_or_search(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        if let Some(packet) = self.try_forward(now, packet, out) {
            let (dst, begun) = (packet.dst, out.len());
            self.hold(now, packet, out);
            if !self.waits_for_repair(dst) {
                self.search(now, dst, out);
                // A search may evict a route from a full table.
                self.report_changes(now, begun, out);
            }
        }
    }

    /// Takes data from a neighbour as proof that it is alive. With [`SignalConfig`](super::SignalConfig), only its
    /// messages are proof.
    pub(super) fn data_from(&mut self, now: Time, from: Option<Ipv4Addr>) {
        if let Some(from) = from
            && self.config.signal.is_none()
        {
            self.hello.heard(now, from);
        }
    }

    /// Sends the packet if there is a valid route for it, and returns it otherwise.
    pub(super) fn try_forward(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) -> Option<Ipv4Packet> {
        let (dst, src) = (packet.dst, packet.src);
        let Some(next_hop) = self.next_hop(dst) else { return Some(packet) };
        self.keep_alive(now, dst, next_hop, Some(src));
        out.push(Action::Send { packet, next_hop: NextHop::Unicast(next_hop) });
        None
    }

    /// Keeps routes alive when data from `src` leaves for `dst` through `next_hop`.
    pub(super) fn keep_alive(&mut self, now: Time, dst: Ipv4Addr, next_hop: Ipv4Addr, src: Option<Ipv4Addr>) {
        if src == Some(self.addr) {
            self.usages.note(dst, next_hop);
        }
        self.carry(now, dst);
        if self.config.refresh == Refresh::WholePath {
            self.carry(now, next_hop);
            self.keep_way_back(now, src);
        }
    }

    /// Keeps alive the route back to `src` when data from it arrives.
    pub(super) fn keep_way_back(&mut self, now: Time, src: Option<Ipv4Addr>) {
        if self.config.refresh == Refresh::WholePath
            && let Some(src) = src.filter(|&src| src != self.addr)
            && let Some(previous_hop) = self.carry(now, src)
        {
            self.carry(now, previous_hop);
        }
    }

    /// Prolongs a valid route that carried data. Returns its next hop.
    fn carry(&mut self, now: Time, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        self.refresh(now, dst, true)
    }

    /// Prolongs a valid route that data or a message used. Returns its next hop.
    pub(super) fn refresh(&mut self, now: Time, dst: Ipv4Addr, data: bool) -> Option<Ipv4Addr> {
        let until = now + self.config.active_route_timeout;
        let route = self.table.get_mut(dst).filter(|route| route.has_next_hop())?;
        let next_hop = route.next_hop;
        route.used |= data;
        // A longer lifetime needs no earlier sweep than the one already due.
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

    /// Sends the packets that wait for a new route to `dst`, one every `spacing`.
    pub(super) fn flush(&mut self, now: Time, dst: Ipv4Addr, spacing: Dur, out: &mut Vec<Action>) {
        let mut at = now;
        while let Some(packet) = self.buffer.pop(now, dst, out) {
            let Some(next_hop) = self.carry(now, dst) else {
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
