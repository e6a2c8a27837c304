//! The rater: the throughput of a hop of the path, from the delay of one packet over all hops (section III-B).
//!
//! Equation 2: FLD = n P / S_average, with n hops and a packet of P bytes, so that S_average = n P / FLD is the
//! harmonic mean of the hops. Equation 3 bounds it: above S_max, which an 802.11 hop cannot exceed, there must be a
//! faster link on the path; below S_min, the least that the freezing timer tolerates, the route is about to break.
//!
//! Rates are in bytes per second. Equation 1 is the same for a single hop and its two instants.

use fourhop_units::{Bytes, Dur, Rate};

/// Estimates the throughput of a hop and checks it against its upper bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rater {
    /// B_raw, the bit rate of the receiver's own interface.
    link_rate: Rate,
    /// The time that a hop needs for a packet besides its payload, without contention.
    overhead: Dur,
    average: Option<u64>,
    /// Whether S_average has been above S_max since the hop count last changed.
    faster_link: bool,
}

impl Rater {
    /// A rater for hops at `link_rate` that spend at least `overhead` on each packet.
    pub const fn new(link_rate: Rate, overhead: Dur) -> Rater {
        Rater { link_rate, overhead, average: None, faster_link: false }
    }

    /// Takes a packet of `bytes` that took `fld` over `hops`.
    pub fn sample(&mut self, hops: u8, bytes: u32, fld: Dur) {
        // No IP packet is longer.
        let bytes = bytes.min(u32::from(u16::MAX));
        let average = Rater::throughput(hops, bytes, fld);
        self.average = Some(average);
        self.faster_link |= average > self.s_max(bytes);
    }

    /// Starts anew: the route has changed.
    pub fn reset(&mut self) {
        (self.average, self.faster_link) = (None, false);
    }

    /// S_average of the newest packet (equation 2).
    pub fn average(&self) -> Option<u64> {
        self.average
    }

    /// Whether a packet was too fast for radio hops (equation 3), so that a wire must be part of the path.
    pub fn suspects_faster_link(&self) -> bool {
        self.faster_link
    }

    /// S_max: the throughput of a hop with packets of `bytes`, without contention.
    pub fn s_max(&self, bytes: u32) -> u64 {
        let bytes = bytes.min(u32::from(u16::MAX));
        Rater::throughput(1, bytes, self.overhead + self.link_rate.time_for(Bytes(u64::from(bytes))))
    }

    /// n P / FLD. With the freezing timer in place of FLD this is S_min (end of section III-B; the text omits n, which
    /// equation 3 needs to hold).
    fn throughput(hops: u8, bytes: u32, delay: Dur) -> u64 {
        let rate = u128::from(hops) * u128::from(bytes) * 1_000_000_000 / u128::from(delay.as_nanos().max(1));
        u64::try_from(rate).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Dur = Dur::from_millis;

    fn rater() -> Rater {
        // 500 bytes at 2 Mbit/s take 2 ms; with 1 ms of overhead S_max is 500 B / 3 ms.
        Rater::new(Rate::kbps(2_000), MS(1))
    }

    /// Equation 2 by hand: 5 hops, 500 bytes, 25 ms.
    #[test]
    fn the_average_is_hops_times_size_over_delay() {
        let mut rater = rater();
        assert_eq!(rater.average(), None);
        rater.sample(5, 500, MS(25));
        assert_eq!(rater.average(), Some(100_000));
        assert_eq!(rater.s_max(500), 166_666);
        assert_eq!(Rater::throughput(5, 500, MS(50)), 50_000);
    }

    /// Equation 3: above S_max a faster link is assumed, until the route changes.
    #[test]
    fn what_is_too_fast_for_radio_tells_of_a_wire() {
        let mut rater = rater();
        rater.sample(5, 500, Dur::from_micros(15_100));
        assert!(!rater.suspects_faster_link());
        rater.sample(5, 500, Dur::from_micros(14_900));
        assert!(rater.suspects_faster_link());
        rater.sample(5, 500, MS(25));
        assert!(rater.suspects_faster_link());
        rater.reset();
        assert!(!rater.suspects_faster_link() && rater.average().is_none());
    }

    proptest! {
        /// Equation 3: S_min <= S_average where the freezing timer has not expired; nothing overflows.
        #[test]
        fn the_bounds_are_ordered(
            hops in any::<u8>(),
            bytes in 0u32..70_000,
            fld in any::<u64>(),
            more in any::<u64>(),
        ) {
            let mut rater = rater();
            rater.sample(hops, bytes, Dur::from_nanos(fld));
            let timer = Dur::from_nanos(fld.saturating_add(more));
            prop_assert!(Rater::throughput(hops, bytes, timer) <= rater.average().unwrap() || bytes > 65_535);
            rater.s_max(u32::MAX);
        }
    }
}
