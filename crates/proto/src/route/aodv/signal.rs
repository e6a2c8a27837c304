//! Signal-strength-aware AODV: which neighbours are good enough to route over.
//!
//! Source: Gupta, Wormsbecker, Williamson, "Experimental Evaluation of TCP Performance in Multi-hop Wireless Ad Hoc
//! Networks", MASCOTS 2004, section 3. A node tracks the received strength of each neighbour's routing messages,
//! smoothed exponentially, and does not process messages of neighbours whose smoothed strength is below
//! HELLO_STRENGTH_THRESHOLD: they create no route and do not prove that the neighbour is there. A fading neighbour is
//! therefore given up like one that fell silent (RFC 3561 section 6.9), before frames to it fail.
//!
//! # Where the paper leaves room
//! - The paper prefers stable routes to fresh or short ones without saying how. With [`SignalConfig::keep_stable`], a
//!   valid route over a neighbour above the threshold is replaced by one over another neighbour in only two cases: that
//!   neighbour is received more strongly, or its sequence number is newer and this node passes it on. A node that
//!   announces a number has to follow it, or routes could form loops. In return, among several copies of a request or
//!   reply with the same number and hop count, the one from the strongest neighbour counts instead of the first. An
//!   equal number with more hops is never accepted.
//! - The average starts with the first sample of a neighbour.
//! - Samples are taken from routing messages, whether they are processed or not. Data provides no sample, and does not
//!   prove that a neighbour below the threshold is there.
//! - [`SignalConfig::hysteresis`] is our addition; the paper has one threshold.
//!
//! A neighbour whose strength is not known, because the driver never reported it, counts as below the threshold.

use super::{Aodv, Distance, Route, SignalConfig, is_newer};
use crate::route::action::Signal;
use core::net::Ipv4Addr;
use fourhop_units::Dbm;

/// All neighbours ever heard, sorted by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals(Vec<Signal>);

impl Signals {
    pub(super) fn get(&self, neighbour: Ipv4Addr) -> Option<&Signal> {
        self.0.binary_search_by_key(&neighbour, |signal| signal.neighbour).ok().map(|at| &self.0[at])
    }

    /// Adds a sample; returns false if there is no room for the neighbour. A full table evicts the weakest neighbour
    /// that is not routed over.
    pub(super) fn sample(&mut self, config: &SignalConfig, neighbour: Ipv4Addr, strength: Dbm, limit: usize) -> bool {
        let signal = match self.0.binary_search_by_key(&neighbour, |signal| signal.neighbour) {
            Ok(at) => &mut self.0[at],
            Err(_) if self.0.len() >= limit && !self.forget_weakest() => return false,
            Err(_) => {
                let at = self.0.partition_point(|signal| signal.neighbour < neighbour);
                self.0.insert(at, Signal { neighbour, latest: strength, smoothed: strength, stable: false });
                &mut self.0[at]
            }
        };
        signal.latest = strength;
        signal.smoothed.0 += config.weight * (strength.0 - signal.smoothed.0);
        let needed = if signal.stable { config.threshold } else { config.threshold + config.hysteresis };
        signal.stable = signal.smoothed >= needed;
        true
    }

    fn forget_weakest(&mut self) -> bool {
        let unstable = self.0.iter().enumerate().filter(|(_, signal)| !signal.stable);
        let weakest = unstable.min_by(|(_, a), (_, b)| a.smoothed.0.total_cmp(&b.smoothed.0)).map(|(at, _)| at);
        let Some(at) = weakest else { return false };
        self.0.remove(at);
        true
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn is_stable(&self, neighbour: Ipv4Addr) -> bool {
        self.get(neighbour).is_some_and(|signal| signal.stable)
    }

    /// Returns whether `one` is received more strongly than `other`.
    fn is_stronger(&self, one: Ipv4Addr, other: Ipv4Addr) -> bool {
        match (self.get(one), self.get(other)) {
            (Some(one), Some(other)) => one.smoothed > other.smoothed,
            (one, _) => one.is_some(),
        }
    }
}

impl Aodv {
    /// Returns whether routing messages of this neighbour are ignored.
    pub(super) fn is_too_weak(&self, neighbour: Ipv4Addr) -> bool {
        self.config.signal.is_some() && !self.signals.is_stable(neighbour)
    }

    /// Returns whether a route to `dst` with this sequence number and distance over the neighbour `via` replaces the
    /// current one. `passed_on`: this node announces it to others.
    pub(super) fn is_better(
        &mut self,
        dst: Ipv4Addr,
        seqno: u32,
        distance: Distance,
        via: Ipv4Addr,
        passed_on: bool,
    ) -> bool {
        let route = self.table.entry(dst);
        let stays = self.config.signal.is_some_and(|config| config.keep_stable)
            && route.is_valid()
            && route.seqno_valid
            && !route.heard_only
            && route.next_hop != via
            && self.signals.is_stable(route.next_hop);
        if !stays {
            return route.accepts(seqno, distance);
        }
        let stronger = self.signals.is_stronger(via, route.next_hop);
        if is_newer(seqno, route.seqno) {
            passed_on || stronger
        } else {
            // With no more hops than before, every node's next hop still has fewer than the node itself: no loop can
            // form.
            seqno == route.seqno && distance.hops <= route.hops && stronger
        }
    }

    /// Handles another copy of a request, which offers a reverse route over a different neighbour.
    pub(super) fn prefer_stronger(&mut self, originator: Ipv4Addr, seqno: u32, distance: Distance, via: Ipv4Addr) {
        let differs = |route: &Route| route.is_valid() && route.seqno == seqno && route.next_hop != via;
        if self.config.signal.is_some_and(|config| config.keep_stable)
            && self.table.get(originator).is_some_and(differs)
            && self.is_better(originator, seqno, distance, via, false)
        {
            let route = self.table.entry(originator);
            (route.next_hop, route.hops) = (via, distance.hops);
        }
    }
}
