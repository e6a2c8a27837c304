//! The maximum airtime of a flow with AP2's window in competition with others.
//!
//! A window follows its rate, and a mesh does not share evenly: a node next to the gateway keeps the medium busy,
//! relays farther away find no idle time, and the windows of their flows close. Windows of equal size change nothing,
//! because a small one is enough for a single hop. Therefore rates are limited:
//!
//! ```text
//!   limit of a node = (even share + all airtime) / 2 = A (n + 1) / 2n
//! ```
//!
//! for n loading nodes, where A is the maximum airtime of all together in any recent second. An even limit would waste
//! airtime that the others cannot use; without a limit, a fast node gets nearly all (docs/gateway.md).
//!
//! The airtime of a flow is the time that its acknowledged data takes on those links of its path that exclude each
//! other ([`disturbing`]), at their nominal rate.

use super::even::disturbing;
use core::net::IpAddr;
use fourhop_units::{Dur, Rate, Time};
use std::collections::BTreeMap;

/// The maximum is taken over the last one to two such periods.
const LASTS: Dur = Dur::from_secs(10);
/// Time constant of a flow's rate.
const MEAN: Dur = Dur::from_secs(1);
/// Maximum time that a segment waits for the sake of other flows.
const LONGEST: u64 = SECOND as u64;
/// A flow that has carried nothing for this long loses its share: its node may be gone.
const SILENT: Dur = Dur::from_secs(5);
const SECOND: u128 = 1_000_000_000;

/// Nanoseconds of airtime for this many bytes on a path.
fn on_air(bytes: u64, hops: u8, rate: Rate) -> u64 {
    let links = u128::from(disturbing(hops));
    u64::try_from(u128::from(bytes) * 8 * SECOND * links / u128::from(rate.bps())).unwrap_or(u64::MAX)
}

/// The rate of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    acked: u64,
    /// Mean, in bytes per second.
    rate: u64,
    began: Time,
    updated: Time,
    heard: Time,
}

impl Carried {
    pub fn new(now: Time) -> Carried {
        Carried { acked: 0, rate: 0, began: now, updated: now, heard: now }
    }

    /// Updates the rate; `acked` bytes have been acknowledged so far.
    pub fn update(&mut self, now: Time, acked: u64) {
        let elapsed = now.saturating_since(self.updated).as_nanos();
        if elapsed == 0 {
            return;
        }
        let bytes = acked - self.acked;
        if bytes > 0 {
            self.heard = now;
        }
        let elapsed = u128::from(elapsed);
        // At first, the mean is over the time elapsed so far.
        let over = u128::from(now.saturating_since(self.began).min(MEAN).as_nanos());
        let weight = elapsed.min(over);
        let rate = u128::from(bytes) * SECOND / elapsed;
        let mean = (u128::from(self.rate) * (over - weight) + rate * weight) / over;
        (self.acked, self.rate, self.updated) = (acked, u64::try_from(mean).unwrap_or(u64::MAX), now);
    }

    pub fn is_silent(&self, now: Time) -> bool {
        now.saturating_since(self.heard) > SILENT
    }

    /// Returns the airtime per second, in nanoseconds.
    pub fn airtime(&self, hops: u8, rate: Rate) -> u64 {
        on_air(self.rate, hops, rate)
    }
}

/// Loading flows, by node.
#[derive(Clone, Default, Debug)]
pub struct Loads {
    airtime: u64,
    flows: BTreeMap<IpAddr, u32>,
}

impl Loads {
    /// Adds a flow of `node` with this airtime.
    pub fn add(&mut self, node: IpAddr, airtime: u64) {
        self.airtime = self.airtime.saturating_add(airtime);
        *self.flows.entry(node).or_default() += 1;
    }
}

/// The maximum airtime of all flows together, in nanoseconds per second.
#[derive(Clone, Copy, Default, Debug)]
pub struct Airtime {
    /// In the previous period and in the current one.
    most: [u64; 2],
    began: Time,
}

impl Airtime {
    pub fn note(&mut self, now: Time, loads: &Loads) {
        if now.saturating_since(self.began) > LASTS {
            (self.most, self.began) = ([self.most[1], 0], now);
        }
        self.most[1] = self.most[1].max(loads.airtime);
    }

    /// Returns the minimum time between segments of this size in a flow; `None`, no limit, if `node` or all others have
    /// no load, or nothing has been noted yet.
    pub fn spacing(&self, loads: &Loads, node: IpAddr, bytes: u32, hops: u8, rate: Rate) -> Option<Dur> {
        let flows = u128::from(*loads.flows.get(&node)?);
        let nodes = loads.flows.len() as u128;
        let most = u128::from(self.most[0].max(self.most[1]));
        if nodes < 2 || most == 0 {
            return None;
        }
        let cost = u128::from(on_air(u64::from(bytes), hops, rate));
        let nanos = cost * SECOND * 2 * nodes * flows / (most * (nodes + 1));
        Some(Dur::from_nanos(u64::try_from(nanos).unwrap_or(LONGEST).min(LONGEST)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: IpAddr = IpAddr::V4(core::net::Ipv4Addr::new(10, 0, 0, 1));
    const FAR: IpAddr = IpAddr::V4(core::net::Ipv4Addr::new(10, 0, 0, 2));
    const RATE: Rate = Rate::kbps(8_000);

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn loads(near: u64, far: u64) -> Loads {
        let mut loads = Loads::default();
        loads.add(NEAR, near);
        loads.add(FAR, far);
        loads
    }

    /// 1000 bytes take 1 ms on a link, 4 ms on four. Both flows together had 800 ms per second: one may take 600 ms of
    /// it.
    #[test]
    fn a_node_may_take_its_share_and_half_of_the_rest() {
        let mut airtime = Airtime::default();
        let loads = loads(790_000_000, 10_000_000);
        assert_eq!(airtime.spacing(&loads, NEAR, 1_000, 1, RATE), None, "nothing is known");
        airtime.note(at(0), &loads);
        let spacing = |loads: &Loads, node, hops| airtime.spacing(loads, node, 1_000, hops, RATE);
        assert_eq!(spacing(&loads, NEAR, 1), Some(Dur::from_nanos(1_666_666)));
        assert_eq!(spacing(&loads, FAR, 4), Some(Dur::from_nanos(6_666_666)));
        let mut two = loads.clone();
        two.add(FAR, 0);
        assert_eq!(spacing(&two, FAR, 4), Some(Dur::from_nanos(13_333_333)), "its flows share it");
        let mut alone = Loads::default();
        alone.add(NEAR, 1);
        assert_eq!((spacing(&alone, NEAR, 1), spacing(&alone, FAR, 1)), (None, None));
    }

    #[test]
    fn the_most_counts_until_it_is_old() {
        let mut airtime = Airtime::default();
        airtime.note(at(0), &loads(800_000_000, 0));
        let mut spacing = |ms| {
            let loads = loads(400_000_000, 0);
            airtime.note(at(ms), &loads);
            airtime.spacing(&loads, NEAR, 3_000, 1, RATE)
        };
        assert_eq!(spacing(10_000), Some(Dur::from_millis(5)));
        assert_eq!(spacing(10_100), Some(Dur::from_millis(5)));
        assert_eq!(spacing(20_200), Some(Dur::from_millis(10)));
    }

    #[test]
    fn a_rate_is_a_mean_over_a_second_and_ends() {
        let mut carried = Carried::new(at(0));
        carried.update(at(500), 500_000);
        assert_eq!(carried.airtime(1, RATE), 1_000_000_000);
        carried.update(at(1_000), 500_000);
        assert_eq!(carried.airtime(1, RATE), 500_000_000, "nothing came for half of a second");
        carried.update(at(2_000), 1_000_000);
        assert_eq!(carried.airtime(2, RATE), 1_000_000_000);
        carried.update(at(7_000), 1_000_000);
        assert_eq!((carried.airtime(2, RATE), carried.is_silent(at(7_000))), (0, false));
        assert!(carried.is_silent(at(7_001)));
    }
}
