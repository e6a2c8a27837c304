//! The same interval for every flow into the mesh, out of what adaptive pacing gives all of them together.
//!
//! Adaptive pacing gives each flow the interval of its own path, so that of flows at one hop and at six the first gets
//! several times as much: its packets cost less airtime. Here the airtime is pooled and divided by packets:
//!
//! ```text
//!   airtime that the flows may take in a second:  sum of c_i / I_i
//!   with the same interval I for all:             sum of c_i / I          so  I = sum of c_i / sum of (c_i / I_i)
//! ```
//!
//! I_i is what adaptive pacing asks for flow i, and c_i the links on its path of which only one can carry a packet at a
//! time: its hops, four at most, since links four hops apart do not disturb each other (ElRakabawy et al., section 4.1
//! of the TCP-AP paper). A path that becomes crowded lengthens its own I_i and with it the interval of all.

use fourhop_units::Dur;

/// Links of which only one at a time can carry a packet.
const REACH: u8 = 4;

/// Sums over flows.
#[derive(Clone, Copy, Default, Debug)]
pub struct Pool {
    flows: u32,
    links: u64,
    /// Links over interval, in 2^-20 per second.
    taken: u128,
}

impl Pool {
    /// A flow over so many hops, for which adaptive pacing asks that interval.
    pub fn add(&mut self, hops: u8, interval: Dur) {
        self.flows += 1;
        let links = u64::from(hops.clamp(1, REACH));
        self.links += links;
        self.taken += ((u128::from(links) * 1_000_000_000) << 20) / u128::from(interval.as_nanos().max(1));
    }

    /// The interval for all; `None`: there are not two flows. One alone follows its own, which changes with each round
    /// trip; with what that was at one moment it carried an eighth less over four hops (docs/gateway.md).
    pub fn interval(&self) -> Option<Dur> {
        if self.flows < 2 {
            return None;
        }
        let nanos = ((u128::from(self.links) * 1_000_000_000) << 20).checked_div(self.taken)?;
        Some(Dur::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pooled(flows: &[(u8, u64)]) -> Option<u64> {
        let mut pool = Pool::default();
        flows.iter().for_each(|&(hops, millis)| pool.add(hops, Dur::from_millis(millis)));
        pool.interval().map(|interval| (interval.as_nanos() + 500) / 1_000)
    }

    #[test]
    fn airtime_is_pooled_and_divided_by_packets() {
        assert_eq!(pooled(&[]), None);
        assert_eq!(pooled(&[(3, 40)]), None, "alone it keeps its own");
        assert_eq!(pooled(&[(3, 40), (3, 40)]), Some(40_000));
        // One link each 10 ms and four each 40 ms are 200 links a second: one and four for both, each 25 ms.
        assert_eq!(pooled(&[(1, 10), (4, 40)]), Some(25_000));
        assert_eq!(pooled(&[(1, 10), (9, 40)]), Some(25_000), "links beyond the fourth are free meanwhile");
    }
}
