//! A common interval for all flows into the mesh: the airtime that adaptive pacing grants them in total, shared evenly.
//!
//! Adaptive pacing gives each flow the interval of its own path, so a flow over one hop gets several times as much as
//! one over six: its packets cost less airtime. Here the airtime is pooled and divided by packets:
//!
//! ```text
//!   airtime that the flows may take in a second:  sum of c_i / I_i
//!   with the same interval I for all:             sum of c_i / I          so  I = sum of c_i / sum of (c_i / I_i)
//! ```
//!
//! I_i is the interval that adaptive pacing computes for flow i, and c_i the number of links on its path that exclude
//! each other: its hops, but at most four, since links four hops apart do not interfere (ElRakabawy et al., section 4.1
//! of the TCP-AP paper). A path that becomes congested lengthens its own I_i, and with it the common interval.
//!
//! If every path is a single link, there is no packet ahead to collide with. Each flow then keeps the delay of its
//! link, without what adaptive pacing adds for variation: the link is busy, and the flows share it evenly, because the
//! delay of each grows with the packets of all (`crates/sim/tests/paced_link.rs`).

use fourhop_units::Dur;

/// Consecutive links that exclude each other.
const REACH: u8 = 4;

/// Interval used by the flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shared {
    /// Each flow uses the interval of adaptive pacing.
    Own,
    /// Each flow uses the delay of its link.
    Links,
    /// All flows use this interval.
    Same(Dur),
}

/// Sums over flows.
#[derive(Clone, Copy, Default, Debug)]
pub struct Pool {
    flows: u32,
    /// Flows over more than one link.
    beyond: u32,
    links: u64,
    /// Links over interval, in 2^-20 per second.
    taken: u128,
}

impl Pool {
    /// Adds a flow over this many hops with this interval of adaptive pacing.
    pub fn add(&mut self, hops: u8, interval: Dur) {
        self.flows += 1;
        self.beyond += u32::from(hops > 1);
        let links = disturbing(hops);
        self.links += links;
        self.taken += ((u128::from(links) * 1_000_000_000) << 20) / u128::from(interval.as_nanos().max(1));
    }

    /// Adds a flow that is not paced: its data leaves the mesh, or waits only for its window.
    pub fn add_other(&mut self, hops: u8) {
        self.beyond += u32::from(hops > 1);
    }

    /// Returns the interval for all flows. A single flow follows its own interval, which changes with each round trip;
    /// with a snapshot of it, it carried an eighth less over four hops.
    pub fn shared(&self) -> Shared {
        match (self.flows, self.beyond) {
            (0, _) => Shared::Own,
            (_, 0) => Shared::Links,
            (1, _) => Shared::Own,
            _ => self.same().map_or(Shared::Own, Shared::Same),
        }
    }

    fn same(&self) -> Option<Dur> {
        let nanos = ((u128::from(self.links) * 1_000_000_000) << 20).checked_div(self.taken)?;
        Some(Dur::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }
}

/// Returns the number of links of a path that exclude each other: only one of them at a time can carry a packet.
pub fn disturbing(hops: u8) -> u64 {
    u64::from(hops.clamp(1, REACH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pooled(flows: &[(u8, u64)]) -> Shared {
        let mut pool = Pool::default();
        flows.iter().for_each(|&(hops, millis)| pool.add(hops, Dur::from_millis(millis)));
        match pool.shared() {
            Shared::Same(interval) => Shared::Same(Dur::from_micros((interval.as_nanos() + 500) / 1_000)),
            other => other,
        }
    }

    #[test]
    fn airtime_is_pooled_and_divided_by_packets() {
        let same = |millis| Shared::Same(Dur::from_millis(millis));
        assert_eq!(pooled(&[]), Shared::Own);
        assert_eq!(pooled(&[(3, 40)]), Shared::Own, "alone it keeps its own");
        assert_eq!(pooled(&[(3, 40), (3, 40)]), same(40));
        // One link every 10 ms and four every 40 ms are 200 links per second: one and four for both, every 25 ms each.
        assert_eq!(pooled(&[(1, 10), (4, 40)]), same(25));
        assert_eq!(pooled(&[(1, 10), (9, 40)]), same(25), "links beyond the fourth are free meanwhile");
    }

    #[test]
    fn flows_over_single_links_have_nothing_to_keep_distance_from() {
        assert_eq!(pooled(&[(1, 10)]), Shared::Links);
        assert_eq!(pooled(&[(1, 10), (1, 40)]), Shared::Links);
        let mut pool = Pool::default();
        pool.add(1, Dur::from_millis(10));
        pool.add_other(1);
        assert_eq!(pool.shared(), Shared::Links);
        pool.add_other(2);
        assert_eq!(pool.shared(), Shared::Own, "a flow over two links may collide with the one over one");
    }
}
