//! The source table: feasibility distances (RFC 8966 sections 3.2.5, 3.5.1 and 3.7.3). They keep routes loop-free: a
//! node follows a neighbour only if that neighbour has advertised a better route for the router-id than the node itself
//! ever has.

use super::seqno::is_newer;
use crate::wire::Prefix;
use crate::wire::RouterId;
use fourhop_units::{Dur, Time};

#[derive(Clone, Copy, Debug)]
struct Source {
    key: (Prefix, RouterId),
    seqno: u16,
    metric: u16,
    /// When an update was last sent.
    used: Time,
}

/// Sources, by prefix and router-id.
#[derive(Clone, Default, Debug)]
pub(super) struct Sources(Vec<Source>);

impl Sources {
    fn place(&self, prefix: Prefix, router_id: RouterId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&(prefix, router_id), |source| source.key)
    }

    /// Returns whether a route that is not a retraction is feasible (section 3.5.1).
    pub fn is_feasible(&self, prefix: Prefix, router_id: RouterId, seqno: u16, metric: u16) -> bool {
        self.place(prefix, router_id).ok().is_none_or(|at| {
            let own = &self.0[at];
            is_newer(seqno, own.seqno) || (seqno == own.seqno && metric < own.metric)
        })
    }

    /// Records that an update with a finite metric is sent (section 3.7.3).
    pub fn note_sent(&mut self, now: Time, prefix: Prefix, router_id: RouterId, seqno: u16, metric: u16) {
        match self.place(prefix, router_id) {
            Err(at) => self.0.insert(at, Source { key: (prefix, router_id), seqno, metric, used: now }),
            Ok(at) => {
                let own = &mut self.0[at];
                own.used = now;
                if is_newer(seqno, own.seqno) {
                    (own.seqno, own.metric) = (seqno, metric);
                } else if seqno == own.seqno {
                    own.metric = own.metric.min(metric);
                }
            }
        }
    }

    /// Returns the sequence number of the feasibility distance.
    pub fn seqno(&self, prefix: Prefix, router_id: RouterId) -> Option<u16> {
        self.place(prefix, router_id).ok().map(|at| self.0[at].seqno)
    }

    /// Removes entries that no update has used for `lifetime`.
    pub fn collect(&mut self, now: Time, lifetime: Dur) {
        self.0.retain(|source| source.used + lifetime > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    #[test]
    fn a_route_is_feasible_if_it_is_better_than_all_that_was_sent() {
        let prefix = Prefix::host(Ipv4Addr::new(10, 0, 0, 9));
        let id = |n: u8| RouterId::new([0, 0, 0, 0, 0, 0, 0, n]).expect("a name");
        let mut sources = Sources::default();
        assert!(sources.is_feasible(prefix, id(1), 7, 60_000), "nothing was sent");
        sources.note_sent(Time::ZERO, prefix, id(1), 7, 512);
        for (seqno, metric, feasible) in [(7, 511, true), (7, 512, false), (8, 60_000, true), (6, 1, false)] {
            assert_eq!(sources.is_feasible(prefix, id(1), seqno, metric), feasible, "({seqno}, {metric})");
        }
        assert!(sources.is_feasible(prefix, id(2), 1, 60_000), "of another router nothing was sent");
        sources.note_sent(Time::ZERO, prefix, id(1), 7, 900);
        assert!(!sources.is_feasible(prefix, id(1), 7, 512), "a worse one changes nothing");
        sources.note_sent(Time::ZERO, prefix, id(1), 6, 1);
        assert_eq!(sources.seqno(prefix, id(1)), Some(7), "nor does an older one");
        assert!(sources.is_feasible(prefix, id(1), 7, 511));
        sources.note_sent(Time::ZERO, prefix, id(1), 7, 400);
        assert!(!sources.is_feasible(prefix, id(1), 7, 400) && sources.is_feasible(prefix, id(1), 7, 399));
        sources.note_sent(Time::from_secs(9), prefix, id(1), 8, 900);
        assert!(sources.is_feasible(prefix, id(1), 8, 899) && !sources.is_feasible(prefix, id(1), 8, 900));
        sources.collect(Time::from_secs(188), Dur::from_secs(180));
        assert_eq!(sources.seqno(prefix, id(1)), Some(8));
        sources.collect(Time::from_secs(189), Dur::from_secs(180));
        assert_eq!(sources.seqno(prefix, id(1)), None);
    }
}
