//! Routes by a metric of links instead of hops: probes measure the links, requests and replies carry the sum.
//!
//! Source of metric and probes: see [`Metric`]. Every node broadcasts a small probe each second with jitter, and says
//! in it how many of the last ten probes of each neighbour it has received: that is the share of the way from the
//! neighbour to it, d_r of the neighbour. It counts the other direction itself. Source of the rule for
//! requests: the same paper's DSR, which passes on a request again when a copy comes by a better path. For AODV, and
//! ours:
//!
//! - A request and a reply say what the path from their sender to the originator or destination costs, in an
//!   [extension](crate::wire::PathCost). A node adds the link to the neighbour that the message came from.
//! - Of routes with equal sequence numbers the cheaper one counts, not the one with fewer hops. No loop can form, for
//!   the reason RFC 3561 has with hops: every link costs something, so that a node's cost is above its next hop's, and
//!   with an equal number a node's cost never rises.
//! - A further copy of a request that has come by a cheaper path replaces the way back and is answered or passed on
//!   again, at most [`BETTER_COPIES`] times for a request.
//! - Hearing a neighbour makes no route to it, as it does in RFC 3561 (sections 6.5 and 6.9): it renews the direct
//!   route that a search has found.
//! - Packets that wait leave by the first answer; a cheaper one that comes later turns the route.
//! - The cost of a route is that of its discovery. It does not change as the links do, and a better path is found only
//!   with the next search.
//! - Requests and replies over a link that is not measured in both directions are ignored, and so are those without the
//!   extension, or with another metric. Nodes that know the RFC only send no probes: they are never routed over.
//!
//! Probes are broadcast, thus at a basic rate and without acknowledgement, and shorter than data: a link that loses
//! data alone looks better than it is. Both papers say so.

use super::{Action, Aodv, Distance, MetricConfig, NextHop, Route};
use crate::route::metric::Metric;
use crate::wire::{AodvMessage, Ipv4Packet, PathCost, Probe, Rreq};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Rate, Stream, Time};

/// Probes in the window: w / tau of the paper, 10 s of 1 s each.
const WINDOW: u32 = 10;
/// How often a request is passed on or answered again for a cheaper copy: ours.
pub(super) const BETTER_COPIES: u8 = 4;

/// The link to a neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    addr: Ipv4Addr,
    /// Number of its last probe.
    number: u16,
    /// When it came.
    at: Time,
    /// Bit n: the probe n before the last one was received.
    received: u16,
    /// Of this node's last probes, those it has received by its own account.
    reported: u8,
    /// Data rate to it, if the driver has set it.
    pub rate: Option<Rate>,
}

impl Neighbour {
    /// How many of the last [`WINDOW`] probes came, where those count that are due since the last one.
    fn heard(&self, now: Time, interval: Dur) -> u32 {
        // The jitter is well within half an interval.
        let due = now.saturating_since(self.at) + Dur::from_nanos(interval.as_nanos() / 2);
        let missed = due.div_floor(interval).saturating_sub(1).min(u64::from(WINDOW)) as u32;
        (u32::from(self.received) << missed & ((1 << WINDOW) - 1)).count_ones()
    }

    fn count(&mut self, now: Time, probe: &Probe, own: impl Fn(Ipv4Addr) -> bool) {
        let ahead = probe.number.wrapping_sub(self.number);
        // A node that has begun anew counts from the beginning: its number lies behind.
        self.received = if ahead < WINDOW as u16 { self.received << ahead | 1 } else { 1 };
        (self.number, self.at) = (probe.number, now);
        let reported = probe.heard.iter().find(|(addr, _)| own(*addr)).map_or(0, |&(_, count)| count);
        self.reported = reported.min(WINDOW as u8);
    }
}

/// The results of the probes; empty without a metric.
#[derive(Clone, Debug)]
pub(super) struct Links {
    config: Option<MetricConfig>,
    /// When the next turn begins; its probe comes with jitter.
    turn: Time,
    next_at: Time,
    number: u16,
    /// By address.
    neighbours: Vec<Neighbour>,
}

impl Links {
    pub fn new(config: Option<MetricConfig>, jitter: &mut Stream) -> Links {
        let first = config.map_or(Time::ZERO, |config| Time::ZERO + jitter.duration(config.interval));
        Links { config, turn: first, next_at: first, number: 0, neighbours: Vec::new() }
    }

    pub fn next(&self) -> Option<Time> {
        self.config.map(|_| self.next_at)
    }

    fn get(&self, addr: Ipv4Addr) -> Option<&Neighbour> {
        self.neighbours.binary_search_by_key(&addr, |neighbour| neighbour.addr).ok().map(|at| &self.neighbours[at])
    }

    /// The entry of a neighbour, if there is one or room for one.
    pub(super) fn entry(&mut self, now: Time, addr: Ipv4Addr, limit: usize) -> Option<&mut Neighbour> {
        let at = match self.neighbours.binary_search_by_key(&addr, |neighbour| neighbour.addr) {
            Ok(at) => at,
            Err(_) if self.neighbours.len() >= limit => return None,
            Err(at) => {
                let unheard = Neighbour { addr, number: 0, at: now, received: 0, reported: 0, rate: None };
                self.neighbours.insert(at, unheard);
                at
            }
        };
        Some(&mut self.neighbours[at])
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// Cost of the link to a neighbour; none if a direction is not measured, or the rate is not known where it matters.
    fn cost(&self, now: Time, addr: Ipv4Addr) -> Option<u32> {
        let MetricConfig { metric, interval } = self.config?;
        let neighbour = self.get(addr)?;
        let both_ways = neighbour.heard(now, interval) * u32::from(neighbour.reported);
        let transmissions = (1_000 * WINDOW * WINDOW).checked_div(both_ways)?;
        let rate = match metric {
            Metric::Etx => Rate::kbps(1),
            Metric::Ett | Metric::Airtime(_) => neighbour.rate?,
        };
        Some(metric.cost(transmissions, rate))
    }
}

impl Aodv {
    /// Does it need the rate of data to its neighbours?
    pub fn wants_rates(&self) -> bool {
        self.config.metric.is_some_and(|config| config.metric != Metric::Etx)
    }

    /// The current cost of the link to a neighbour, in the unit of the metric; none without a metric, or if the link is
    /// not measured in both directions.
    pub fn link_cost(&self, now: Time, neighbour: Ipv4Addr) -> Option<u32> {
        self.links.cost(now, neighbour)
    }

    /// The cost of the path to the originator, by a request or reply from `from`; none if the path is not to be used.
    pub(super) fn distance(
        &self,
        now: Time,
        from: Ipv4Addr,
        hop_count: u8,
        cost: Option<PathCost>,
    ) -> Option<Distance> {
        let hops = hop_count.saturating_add(1);
        let Some(config) = self.config.metric else { return Some(Distance { cost: 0, hops }) };
        let so_far = cost.filter(|cost| cost.metric == config.metric.code())?.sum;
        Some(Distance { cost: so_far.checked_add(self.links.cost(now, from)?)?, hops })
    }

    /// The same as the extension of a message says it.
    pub(super) fn path_cost(&self, sum: u32) -> Option<PathCost> {
        self.config.metric.map(|config| PathCost { metric: config.metric.code(), sum })
    }

    /// Does hearing a neighbour make or renew a route to it? With a metric it renews the direct one alone: paths are
    /// compared by searches, and a route that a HELLO made would keep one from being searched.
    pub(super) fn hears_directly(&self, neighbour: Ipv4Addr) -> bool {
        let direct = |route: &Route| route.is_valid() && route.next_hop == neighbour;
        self.config.metric.is_none() || self.table.get(neighbour).is_some_and(direct)
    }

    /// Has a further copy of a request come by a cheaper path, so that it is handled as the first one was?
    pub(super) fn is_cheaper_copy(&mut self, rreq: &Rreq, distance: Distance) -> bool {
        let cheaper = |route: &&mut Route| {
            route.is_valid() && route.seqno == rreq.originator_seqno && distance.cost < route.distance().cost
        };
        match self.table.get_mut(rreq.originator).filter(cheaper) {
            Some(route) if route.better_copies < BETTER_COPIES => {
                route.better_copies += 1;
                true
            }
            _ => false,
        }
    }

    /// A probe has arrived.
    pub(super) fn handle_probe(&mut self, now: Time, probe: &Probe, from: Ipv4Addr) {
        if self.config.metric.is_none() {
            return;
        }
        let (addr, interfaces) = (self.addr, &self.interfaces);
        match self.links.entry(now, from, self.limits.neighbours) {
            Some(neighbour) => {
                neighbour.count(now, probe, |heard| heard == addr || interfaces.contains(&heard));
                self.counters.probes_received += 1;
            }
            None => self.counters.neighbours_refused += 1,
        }
    }

    /// Sends the probe that is due, and forgets neighbours without a probe in a whole window.
    pub(super) fn probe_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        let Some(config) = self.config.metric.filter(|_| self.links.next_at <= now) else { return };
        let links = &mut self.links;
        links.neighbours.retain(|neighbour| neighbour.heard(now, config.interval) > 0);
        let heard = links.neighbours.iter().take(usize::from(u8::MAX));
        let heard = heard.map(|neighbour| (neighbour.addr, neighbour.heard(now, config.interval) as u8)).collect();
        let probe = Probe { number: links.number, heard };
        links.number = links.number.wrapping_add(1);
        // A turn that has passed is not made up for.
        links.turn = (links.turn + config.interval).max(now);
        links.next_at = links.turn + self.jitter.duration(config.jitter() * 2);
        self.counters.probes_sent += 1;
        let packet = self.message(AodvMessage::Probe(probe), Ipv4Packet::BROADCAST, 1, now);
        out.push(Action::Send { packet, next_hop: NextHop::Broadcast });
    }
}
