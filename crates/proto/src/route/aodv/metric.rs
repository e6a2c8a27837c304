//! Routing by a link metric instead of hops: probes measure the links, and requests and replies carry the path cost.
//!
//! For the source of the metric and the probes, see [`Metric`]. Every node broadcasts a small probe each second, with
//! jitter, and reports in it how many of each neighbour's last ten probes it has received: the delivery ratio from the
//! neighbour to it, the neighbour's d_f. It counts the other direction itself. The rule for requests is that of DSR in
//! the same paper, which relays a request again when a copy arrives over a better path. For AODV, we add:
//!
//! - Requests and replies carry the cost of the path from their sender to the originator or destination, in an
//!   [extension](crate::wire::PathCost). A node adds the cost of the link to the neighbour that the message came from.
//! - Of routes with equal sequence numbers the cheaper one wins, not the one with fewer hops. No loop can form, for the
//!   same reason as with hops in RFC 3561: every link has a positive cost, so a node's cost exceeds its next hop's, and
//!   while the number stays equal, a node's cost never rises.
//! - If another copy of a request arrives over a cheaper path, it replaces the reverse route and is answered or relayed
//!   again, at most [`BETTER_COPIES`] times per request.
//! - Hearing a neighbour does not create a route to it, as it does in RFC 3561 (sections 6.5 and 6.9); it only renews
//!   the direct route that a search has found.
//! - Waiting packets leave with the first answer; a cheaper one that arrives later redirects the route.
//! - The cost of a route is that of its discovery. It does not follow changes of the links, and a better path is found
//!   only by the next search.
//! - Requests and replies over a link that is not measured in both directions are ignored, as are those without the
//!   extension or with another metric. Nodes that only implement the RFC send no probes: they are never routed over.
//!
//! Probes are broadcast, hence sent at a basic rate and without acknowledgement, and are shorter than data: a link that
//! loses only data looks better than it is. Both papers say so.

use super::{Action, Aodv, Distance, MetricConfig, NextHop, Route};
use crate::route::metric::Metric;
use crate::wire::{AodvMessage, Ipv4Packet, PathCost, Probe, Rreq};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Rate, Stream, Time};

/// Probes in the window: w / tau of the paper, 10 s of 1 s each.
const WINDOW: u32 = 10;
/// How often a request is relayed or answered again for a cheaper copy; our choice.
pub(super) const BETTER_COPIES: u8 = 4;

/// The link to a neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    addr: Ipv4Addr,
    /// Sequence number of its last probe.
    number: u16,
    /// When its last probe arrived.
    at: Time,
    /// Bit n: whether the probe n before the last one was received.
    received: u16,
    /// How many of this node's last probes it reports having received.
    reported: u8,
    /// Data rate to it, if set by the driver.
    pub rate: Option<Rate>,
}

impl Neighbour {
    /// Returns how many of the last [`WINDOW`] probes arrived, counting those due since the last one as missed.
    fn heard(&self, now: Time, interval: Dur) -> u32 {
        // The jitter is well within half an interval.
        let due = now.saturating_since(self.at) + Dur::from_nanos(interval.as_nanos() / 2);
        let missed = due.div_floor(interval).saturating_sub(1).min(u64::from(WINDOW)) as u32;
        (u32::from(self.received) << missed & ((1 << WINDOW) - 1)).count_ones()
    }

    fn count(&mut self, now: Time, probe: &Probe, own: impl Fn(Ipv4Addr) -> bool) {
        let ahead = probe.number.wrapping_sub(self.number);
        // A node that has restarted counts from the beginning again, so its number is lower than the last one.
        self.received = if ahead < WINDOW as u16 { self.received << ahead | 1 } else { 1 };
        (self.number, self.at) = (probe.number, now);
        let reported = probe.heard.iter().find(|(addr, _)| own(*addr)).map_or(0, |&(_, count)| count);
        self.reported = reported.min(WINDOW as u8);
    }
}

/// Results of the probes; empty without a metric.
#[derive(Clone, Debug)]
pub(super) struct Links {
    config: Option<MetricConfig>,
    /// When the next turn begins; its probe follows with jitter.
    turn: Time,
    next_at: Time,
    number: u16,
    /// Sorted by address.
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

    /// Returns the entry for a neighbour, created if there is room.
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

    /// Returns the cost of the link to a neighbour, or `None` if a direction is not measured, or the rate is needed but
    /// not known.
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
    /// Returns whether it needs the data rates to its neighbours.
    pub fn wants_rates(&self) -> bool {
        self.config.metric.is_some_and(|config| config.metric != Metric::Etx)
    }

    /// Returns the current cost of the link to a neighbour, in the unit of the metric, or `None` without a metric or if
    /// the link is not measured in both directions.
    pub fn link_cost(&self, now: Time, neighbour: Ipv4Addr) -> Option<u32> {
        self.links.cost(now, neighbour)
    }

    /// Returns the cost of the path to the originator of a request or reply from `from`, or `None` if the path must not
    /// be used.
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

    /// Returns the cost as an extension of a message.
    pub(super) fn path_cost(&self, sum: u32) -> Option<PathCost> {
        self.config.metric.map(|config| PathCost { metric: config.metric.code(), sum })
    }

    /// Returns whether hearing a neighbour makes or renews a route to it. With a metric it only renews the direct
    /// route: paths are compared by searches, and a route made by a HELLO would prevent a search.
    pub(super) fn hears_directly(&self, neighbour: Ipv4Addr) -> bool {
        let direct = |route: &Route| route.is_valid() && route.next_hop == neighbour;
        self.config.metric.is_none() || self.table.get(neighbour).is_some_and(direct)
    }

    /// Returns whether another copy of a request arrived over a cheaper path, so that it is handled like the first one.
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

    /// Handles a probe.
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
        // A missed turn is not made up for.
        links.turn = (links.turn + config.interval).max(now);
        links.next_at = links.turn + self.jitter.duration(config.jitter() * 2);
        self.counters.probes_sent += 1;
        let packet = self.message(AodvMessage::Probe(probe), Ipv4Packet::BROADCAST, 1, now);
        out.push(Action::Send { packet, next_hop: NextHop::Broadcast });
    }
}
