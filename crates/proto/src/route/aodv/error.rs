//! Broken links and route errors (RFC 3561 section 6.11).

use super::{Action, Aodv, Config, Envelope, NextHop, RepairRule, Route, RouteState, is_newer};
use crate::drop::DropReason;
use crate::wire::{AodvMessage, Ipv4Packet, Rerr, UnreachableDestination};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// Recipients of a route error.
#[derive(Clone, Copy)]
enum Audience {
    Nobody,
    One(Ipv4Addr),
    All,
}

impl Audience {
    fn with(self, neighbours: &[Ipv4Addr]) -> Audience {
        neighbours.iter().fold(self, |audience, &neighbour| match audience {
            Audience::Nobody => Audience::One(neighbour),
            Audience::One(one) if one == neighbour => audience,
            _ => Audience::All,
        })
    }
}

impl Config {
    /// Returns whether a broken link or a route error invalidates this route.
    fn loses(&self, route: &Route) -> bool {
        match route.state {
            RouteState::Valid => true,
            // A repair ends by itself; only ns-2 gives it up on a further failure.
            RouteState::InRepair => self.repair == RepairRule::FartherFromSource,
            RouteState::Invalid => false,
        }
    }
}

impl Aodv {
    /// Handles a data packet that the link layer failed to deliver.
    pub(super) fn handle_data_failure(
        &mut self,
        now: Time,
        packet: Ipv4Packet,
        next_hop: Ipv4Addr,
        out: &mut Vec<Action>,
    ) {
        let dst = packet.dst;
        let behind = match self.notes {
            true => packet.meta.hops,
            false => self.table.get(packet.src).map_or(0, Route::known_hops),
        };
        let Some(route) = self.table.get(dst) else {
            out.push(Action::Drop { packet, reason: DropReason::LinkBroken });
            if self.config.control_breaks_links {
                self.break_link(now, next_hop, None, out);
            }
            return;
        };
        match self.config.repair {
            // ns-2 compares the hops behind the packet with those ahead. It checks neither the state of the route nor
            // whether it still uses the broken link. An invalid route counts as more hops than any packet has behind
            // it.
            RepairRule::FartherFromSource if behind > route.hops => {
                self.start_repair(now, packet, out);
                return;
            }
            RepairRule::WithinMaxRepairTtl if route.state == RouteState::InRepair => {
                self.hold(now, packet, out);
                self.break_link(now, next_hop, Some(dst), out);
                return;
            }
            RepairRule::WithinMaxRepairTtl
                if route.is_valid()
                    && route.next_hop == next_hop
                    && !self.is_source(packet.src)
                    && route.hops <= self.config.max_repair_ttl() =>
            {
                self.start_repair(now, packet, out);
                self.break_link(now, next_hop, Some(dst), out);
                return;
            }
            _ => {}
        }
        let own = self.is_source(packet.src);
        if own && self.config.rediscover_at_source {
            self.break_link(now, next_hop, None, out);
            // If another message has brought a route since, the packet leaves at once.
            if let Some(packet) = self.try_forward(now, packet, out) {
                self.hold(now, packet, out);
                self.search(now, dst, out);
            }
            return;
        }
        out.push(Action::Drop { packet, reason: DropReason::LinkBroken });
        self.break_link(now, next_hop, None, out);
    }

    /// Handles the break of the link to `neighbour`: all routes over it except the one to `except` are lost (RFC 3561
    /// section 6.11, case i).
    pub(super) fn break_link(
        &mut self,
        now: Time,
        neighbour: Ipv4Addr,
        except: Option<Ipv4Addr>,
        out: &mut Vec<Action>,
    ) {
        if self.config.purge_queue {
            out.push(Action::PurgeQueue { next_hop: neighbour });
        }
        if self.config.own_seqno == super::OwnSeqno::Even {
            self.seqno = self.seqno.wrapping_add(2);
        }
        let forget_at = self.forget_at(now);
        let mut unreachable = Vec::new();
        let mut audience = Audience::Nobody;
        for nth in 0..self.table.len() {
            let route = self.table.nth_mut(nth);
            route.remove_precursor(neighbour);
            if route.next_hop != neighbour || Some(route.dst) == except || !self.config.loses(route) {
                continue;
            }
            route.break_down(forget_at);
            if self.config.rerr_without_precursors {
                audience = Audience::All;
            } else if route.precursors().is_empty() {
                continue;
            } else {
                audience = audience.with(route.precursors());
                route.clear_precursors();
            }
            unreachable.push(UnreachableDestination { addr: route.dst, seqno: route.seqno });
        }
        if self.config.delete_invalid_routes {
            self.sweep_by(forget_at);
        }
        self.send_error(now, Rerr { no_delete: false, unreachable }, audience, false, out);
    }

    /// Handles a data packet to relay for which there is no route (RFC 3561 section 6.11, case ii).
    pub(super) fn no_route(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        let addr = packet.dst;
        let (seqno, precursors) = self.table.get(addr).map_or((0, &[][..]), |route| (route.seqno, route.precursors()));
        let audience = match Audience::Nobody.with(precursors) {
            // The neighbour that sent the packet believes in a route and must learn that there is none.
            Audience::Nobody => Audience::All,
            _ if self.config.rerr_without_precursors => Audience::All,
            known => known,
        };
        let unreachable = vec![UnreachableDestination { addr, seqno }];
        self.send_error(now, Rerr { no_delete: false, unreachable }, audience, false, out);
        out.push(Action::Drop { packet, reason: DropReason::NoRoute });
    }

    /// Handles a route error (RFC 3561 section 6.11, case iii).
    pub(super) fn handle_error(&mut self, now: Time, rerr: &Rerr, envelope: Envelope, out: &mut Vec<Action>) {
        self.counters.rerr_received += 1;
        let from = envelope.from;
        self.neighbour_seen(now, from, out);
        let forget_at = self.forget_at(now);
        let mut unreachable = Vec::new();
        let mut audience = Audience::Nobody;
        for lost in &rerr.unreachable {
            let Some(route) = self.table.get_mut(lost.addr) else { continue };
            let old = is_newer(route.seqno, lost.seqno);
            if !self.config.loses(route) || route.next_hop != from || (self.config.rerr_needs_seqno && old) {
                continue;
            }
            if !rerr.no_delete {
                if !old {
                    route.seqno = lost.seqno;
                }
                route.invalidate(forget_at);
                if self.config.purge_queue {
                    out.push(Action::PurgeQueue { next_hop: from });
                }
            }
            if !route.precursors().is_empty() {
                unreachable.push(UnreachableDestination { addr: route.dst, seqno: route.seqno });
                audience = audience.with(route.precursors());
                if !rerr.no_delete {
                    route.clear_precursors();
                }
            }
        }
        if self.config.delete_invalid_routes {
            self.sweep_by(forget_at);
        }
        if self.config.rerr_without_precursors && !unreachable.is_empty() {
            audience = Audience::All;
        }
        self.send_error(now, Rerr { no_delete: rerr.no_delete, unreachable }, audience, true, out);
    }

    /// Reports the destination as unreachable to the precursors.
    pub(super) fn report(&mut self, now: Time, dst: Ipv4Addr, no_delete: bool, out: &mut Vec<Action>) {
        let Some(route) = self.table.get_mut(dst) else { return };
        let audience = Audience::Nobody.with(route.precursors());
        let unreachable = vec![UnreachableDestination { addr: dst, seqno: route.seqno }];
        if !no_delete {
            route.clear_precursors();
        }
        self.send_error(now, Rerr { no_delete, unreachable }, audience, false, out);
    }

    fn send_error(&mut self, now: Time, rerr: Rerr, audience: Audience, relayed: bool, out: &mut Vec<Action>) {
        let mut rerr = rerr;
        if rerr.unreachable.len() > usize::from(u8::MAX) {
            // DestCount has eight bits (RFC 3561 section 5.3).
            let rest = rerr.unreachable.split_off(usize::from(u8::MAX));
            let rest = Rerr { no_delete: rerr.no_delete, unreachable: rest };
            self.send_error(now, rerr, audience, relayed, out);
            return self.send_error(now, rest, audience, relayed, out);
        }
        let dst = match audience {
            _ if rerr.unreachable.is_empty() => return,
            Audience::Nobody => return,
            Audience::One(neighbour) => neighbour,
            Audience::All => Ipv4Packet::BROADCAST,
        };
        if self.rerr_rate.try_pass(now).is_err() {
            self.counters.rerr_limited += 1;
            return;
        }
        self.counters.rerr_sent += 1;
        let packet = self.message(AodvMessage::Rerr(rerr), dst, 1, now);
        match audience {
            Audience::One(neighbour) => out.push(Action::Send { packet, next_hop: NextHop::Unicast(neighbour) }),
            _ => self.broadcast(now, packet, relayed, out),
        }
    }
}
