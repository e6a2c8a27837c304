//! Local repair of a broken route by the node upstream of the break (RFC 3561 section 6.12).

use super::{Action, Aodv, RepairDeadline, RepairRule, Route, RouteState};
use crate::drop::DropReason;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

/// Deadlines of the repairs in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Repairs(Vec<(Time, Ipv4Addr)>);

impl Repairs {
    pub fn next(&self) -> Option<Time> {
        self.0.iter().map(|&(at, _)| at).min()
    }

    pub fn pop_due(&mut self, now: Time) -> Option<Ipv4Addr> {
        let at = self.0.iter().position(|&(at, _)| at <= now)?;
        Some(self.0.remove(at).1)
    }

    fn forget(&mut self, dst: Ipv4Addr) {
        self.0.retain(|&(_, other)| other != dst);
    }
}

impl Aodv {
    /// Starts a repair: the packet's route broke here, and this node searches for another one.
    pub(super) fn start_repair(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        let (dst, source) = (packet.dst, packet.src);
        self.hold(now, packet, out);
        let source_hops = self.table.get(source).map_or(0, Route::known_hops);
        self.begin_repair(now, dst, source_hops, out);
    }

    /// Handles the loss of a neighbour that cost no packet: starts the repair of the routes eligible under
    /// [`Config::repair_without_packet`](super::Config::repair_without_packet) and gives up the others.
    pub(super) fn lose_neighbour(&mut self, now: Time, neighbour: Ipv4Addr, out: &mut Vec<Action>) {
        if self.config.repair_without_packet && self.config.repair == RepairRule::WithinMaxRepairTtl {
            let most = self.config.max_repair_ttl();
            let repaired = |route: &&Route| {
                let carries = route.is_valid() && route.used && !route.precursors().is_empty();
                carries && route.next_hop == neighbour && route.hops <= most
            };
            let all: Vec<_> = self.table.iter().filter(repaired).map(|route| route.dst).collect();
            // The sender is unknown, so the distance behind the packets counts as zero.
            all.into_iter().for_each(|dst| self.begin_repair(now, dst, 0, out));
        }
        self.break_link(now, neighbour, None, out);
    }

    fn begin_repair(&mut self, now: Time, dst: Ipv4Addr, source_hops: u8, out: &mut Vec<Action>) {
        self.counters.repairs_started += 1;
        // Gateways answer with the number asked for. Without an increment, their answers would count as no better than
        // the broken route, and the stale routes of neighbours as just as good.
        let incremented = self.config.repair_seqno_incremented || self.plan.is_outside(dst);
        let route = self.table.entry(dst);
        if incremented && route.hops != Route::UNKNOWN_HOPS {
            // Any route with the requested number is better than the broken one, whose hop count becomes unknown.
            route.break_down(Time::ZERO);
        }
        route.state = RouteState::InRepair;
        match self.config.repair {
            RepairRule::WithinMaxRepairTtl => {
                let last_hops = route.known_hops();
                let ttl = last_hops.max(source_hops / 2).saturating_add(self.config.local_add_ttl);
                let ttl = ttl.min(self.config.net_diameter);
                if let Err(allowed_at) = self.rreq_rate.try_pass(now) {
                    // No request may be sent: the repair ends at once, without one.
                    self.table.entry(dst).search_mut().timeout = Some(allowed_at);
                    self.repairs.forget(dst);
                    self.repairs.0.push((now, dst));
                    return;
                }
                let wait = self.config.ring_traversal_time(ttl);
                self.send_request(now, dst, ttl, wait, out);
            }
            RepairRule::FartherFromSource | RepairRule::Off => self.search(now, dst, out),
        }
        let timeout = self.table.entry(dst).search().timeout.unwrap_or(now);
        match self.config.repair_deadline {
            RepairDeadline::DiscoveryPeriod => {
                self.repairs.forget(dst);
                self.repairs.0.push((timeout, dst));
            }
            RepairDeadline::InstantAsDelay => self.repairs.0.push((now + Dur::from_nanos(timeout.as_nanos()), dst)),
        }
    }

    /// Ends a repair for which another route was found.
    pub(super) fn repair_succeeded(&mut self, now: Time, dst: Ipv4Addr, out: &mut Vec<Action>) {
        self.counters.repairs_succeeded += 1;
        if self.config.repair_deadline == RepairDeadline::DiscoveryPeriod {
            self.repairs.forget(dst);
        }
        // RFC 3561 section 6.12: report a longer route upstream, with the N flag set so that it is kept.
        if self.config.repair == RepairRule::WithinMaxRepairTtl
            && let Some(route) = self.table.get(dst)
            && route.last_hops.is_some_and(|before| route.hops > before)
        {
            self.report(now, dst, true, out);
        }
    }

    /// Ends a repair whose time is up.
    pub(super) fn repair_timed_out(&mut self, now: Time, dst: Ipv4Addr, out: &mut Vec<Action>) {
        let forget_at = self.forget_at(now);
        let Some(route) = self.table.get_mut(dst).filter(|route| route.state == RouteState::InRepair) else { return };
        route.invalidate(forget_at);
        self.counters.repairs_failed += 1;
        if self.config.delete_invalid_routes {
            self.sweep_by(forget_at);
        }
        if self.config.repair_failure_reported {
            self.table.entry(dst).forget_search();
            self.buffer.drop_all(now, dst, DropReason::LinkBroken, out);
            self.report(now, dst, false, out);
        }
    }
}
