//! The freezer: how long the next packet may take before the sender should be stopped (section III-D).
//!
//! Equation 5: FLDD' = 1/4 |FLD - SFLD| + 3/4 FLDD and SFLD' = 7/8 SFLD + 1/8 FLD, starting from SFLD = FLD and FLDD =
//! FLD / 2 of the first packet; the second packet's FLDD is its distance from the first. A packet may take SFLD + beta
//! FLDD, both as of its departure. The limit counts only if they were fresh then.
//!
//! The paper does not define fresh. Here an estimate is fresh if, at the departure of the packet, it was no older than
//! a multiple of SFLD ([`Freezer::new`]).

use fourhop_units::{Dur, Time};

/// Estimates remembered: no more packets are in flight at a time on the paths for which a window of n/4 is enough.
const REMEMBERED: usize = 8;

/// Estimates at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Estimate {
    at: Time,
    /// SFLD in eighths of a nanosecond.
    sfld_x8: u64,
    /// FLDD in quarters.
    fldd_x4: u64,
}

/// Decides whether a packet took too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Freezer {
    beta: u32,
    fresh_for: u32,
    /// Packets since the route changed, the i of equation 5.
    samples: u32,
    /// Ring buffer; the newest is at `samples - 1` modulo its size.
    past: [Estimate; REMEMBERED],
}

impl Freezer {
    /// `beta` deviations are tolerated (the paper: 5); estimates older than `fresh_for` smoothed delays are stale.
    pub fn new(beta: u32, fresh_for: u32) -> Freezer {
        Freezer { beta, fresh_for, samples: 0, past: [Estimate::default(); REMEMBERED] }
    }

    /// Starts anew: the route has changed, and i is 0 again.
    pub fn reset(&mut self) {
        *self = Freezer::new(self.beta, self.fresh_for);
    }

    /// The freezing timer of a packet that departed at `departed`; `None` if nothing fresh was known then.
    pub fn timer(&self, departed: Time) -> Option<Dur> {
        let known = (self.samples as usize).min(REMEMBERED);
        let newest = self.samples as usize + REMEMBERED;
        let before =
            (1..=known).map(|back| &self.past[(newest - back) % REMEMBERED]).find(|past| past.at <= departed)?;
        let age = departed.saturating_since(before.at);
        let fresh = age.as_nanos() <= (before.sfld_x8 / 8).saturating_mul(u64::from(self.fresh_for));
        fresh.then(|| self.limit(before))
    }

    /// Takes a packet that departed at `departed` and arrived at `now`, `fld` later; returns whether it took too long
    /// by the estimates before it.
    pub fn sample(&mut self, now: Time, departed: Time, fld: Dur) -> bool {
        let late = self.timer(departed).is_some_and(|timer| fld > timer);
        self.learn(now, fld);
        late
    }

    /// Smoothed forward delay.
    pub fn sfld(&self) -> Option<Dur> {
        self.newest().map(|past| Dur::from_nanos(past.sfld_x8 / 8))
    }

    /// Deviation of the forward delay.
    pub fn fldd(&self) -> Option<Dur> {
        self.newest().map(|past| Dur::from_nanos(past.fldd_x4 / 4))
    }

    /// Maximum delay of a packet that departs now.
    pub fn limit_now(&self) -> Option<Dur> {
        self.newest().map(|past| self.limit(past))
    }

    fn newest(&self) -> Option<&Estimate> {
        let last = self.samples.checked_sub(1)?;
        Some(&self.past[last as usize % REMEMBERED])
    }

    fn limit(&self, past: &Estimate) -> Dur {
        Dur::from_nanos((past.sfld_x8 / 8).saturating_add((past.fldd_x4 / 4).saturating_mul(u64::from(self.beta))))
    }

    fn learn(&mut self, now: Time, fld: Dur) {
        // Eight times a year still fits; anything longer is not a network delay.
        let fld = fld.as_nanos().min(u64::MAX >> 4);
        let next = match self.newest() {
            None => Estimate { at: now, sfld_x8: fld * 8, fldd_x4: fld * 2 },
            Some(past) => {
                let deviation = fld.abs_diff(past.sfld_x8 / 8);
                let fldd_x4 = match self.samples {
                    1 => deviation * 4,
                    _ => past.fldd_x4 - past.fldd_x4 / 4 + deviation,
                };
                Estimate { at: now, sfld_x8: past.sfld_x8 - past.sfld_x8 / 8 + fld, fldd_x4 }
            }
        };
        self.past[self.samples as usize % REMEMBERED] = next;
        // Beyond the ring's size only the place in the ring matters.
        self.samples = if self.samples < u32::MAX { self.samples + 1 } else { REMEMBERED as u32 * 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Dur = Dur::from_millis;
    const AT: fn(u64) -> Time = Time::from_millis;

    /// Equation 5 by hand: 80, then 96, then 88 ms.
    #[test]
    fn estimates_follow_equation_5() {
        let mut freezer = Freezer::new(5, 4);
        assert_eq!(freezer.limit_now(), None);
        freezer.sample(AT(100), AT(20), MS(80));
        assert_eq!((freezer.sfld(), freezer.fldd(), freezer.limit_now()), (Some(MS(80)), Some(MS(40)), Some(MS(280))));
        freezer.sample(AT(200), AT(104), MS(96));
        assert_eq!((freezer.sfld(), freezer.fldd(), freezer.limit_now()), (Some(MS(82)), Some(MS(16)), Some(MS(162))));
        // |88 - 82| / 4 + 3/4 16 = 13.5; 7/8 82 + 88/8 = 82.75.
        freezer.sample(AT(300), AT(212), MS(88));
        assert_eq!(freezer.sfld(), Some(Dur::from_micros(82_750)));
        assert_eq!(freezer.fldd(), Some(Dur::from_micros(13_500)));
    }

    /// The limit is the one in force when the packet left, not when it arrived.
    #[test]
    fn a_packet_is_measured_by_what_was_known_when_it_left() {
        let mut freezer = Freezer::new(5, 4);
        freezer.sample(AT(100), AT(0), MS(100));
        // Both leave at 110 ms under SFLD = 100, FLDD = 50: limit 350 ms.
        assert_eq!(freezer.timer(AT(110)), Some(MS(350)));
        assert!(!freezer.sample(AT(210), AT(110), MS(100)));
        // The first of them made FLDD zero, which does not affect the second.
        assert_eq!(freezer.timer(AT(210)), Some(MS(100)));
        assert_eq!(freezer.timer(AT(110)), Some(MS(350)));
        assert!(!freezer.sample(AT(430), AT(110), MS(320)));
        assert!(freezer.sample(AT(600), AT(215), MS(385)));
    }

    /// Estimates older than four smoothed delays say nothing about a packet, and nothing is known about one that left
    /// before the first estimate.
    #[test]
    fn stale_estimates_do_not_count() {
        let mut freezer = Freezer::new(5, 4);
        freezer.sample(AT(100), AT(0), MS(100));
        assert_eq!(
            (freezer.timer(AT(500)), freezer.timer(AT(501)), freezer.timer(AT(99))),
            (Some(MS(350)), None, None)
        );
        assert!(!freezer.sample(AT(9_000), AT(600), MS(8_400)));
    }

    /// A packet that takes exactly the limit is in time.
    #[test]
    fn the_limit_itself_is_in_time() {
        for (nanos, late) in [(350_000_000, false), (350_000_001, true)] {
            let mut freezer = Freezer::new(5, 4);
            freezer.sample(AT(100), AT(0), MS(100));
            assert_eq!(freezer.sample(AT(500), AT(110), Dur::from_nanos(nanos)), late);
        }
    }

    /// When the packet count overflows, places continue around the ring.
    #[test]
    fn four_thousand_million_packets_are_no_end() {
        let mut freezer = Freezer::new(5, 4);
        let play = |freezer: &mut Freezer, n: u64| freezer.sample(AT(100 * n), AT(100 * n - 70), MS(60 + n % 13));
        (1..=31).for_each(|n| _ = play(&mut freezer, n));
        let mut old = Freezer { samples: u32::MAX, ..freezer };
        for n in 32..60 {
            assert_eq!(play(&mut freezer, n), play(&mut old, n));
            assert_eq!((old.sfld(), old.fldd()), (freezer.sfld(), freezer.fldd()), "packet {n}");
            assert_eq!(old.timer(AT(100 * n - 350)), freezer.timer(AT(100 * n - 350)), "packet {n}");
        }
    }

    #[test]
    fn a_new_route_begins_at_zero() {
        let mut freezer = Freezer::new(5, 4);
        for n in 0..20 {
            freezer.sample(AT(100 + n), AT(n), MS(100));
        }
        assert_eq!(freezer.limit_now(), Some(MS(100)));
        freezer.reset();
        assert_eq!(freezer.limit_now(), None);
        freezer.sample(AT(1_000), AT(800), MS(200));
        assert_eq!(freezer.limit_now(), Some(MS(700)));
    }

    proptest! {
        /// No delays, times and factors make it fail.
        #[test]
        fn nothing_overflows(
            samples in prop::collection::vec(any::<[u64; 3]>(), 0..40), beta in any::<u32>(), fresh_for in any::<u32>(),
        ) {
            let mut freezer = Freezer::new(beta, fresh_for);
            for [now, departed, fld] in samples {
                freezer.sample(Time::from_nanos(now), Time::from_nanos(departed), Dur::from_nanos(fld));
                prop_assert!(freezer.limit_now() >= freezer.sfld());
            }
        }
    }
}
