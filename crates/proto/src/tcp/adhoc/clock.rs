//! Forward delays: the difference between the sender's clock in the timestamp and the receiver's clock.
//!
//! Section III-A requires synchronised clocks. RFC 7323 section 5.4 lets a clock start at any value; ours start at a
//! different value for each connection unless they are [`synchronised`](Clock::synchronised).

use fourhop_units::{Dur, Time};

/// The clock of timestamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// Its unit. RFC 7323 section 5.4: 1 ms to 1 s; forward delays over a few hops need a finer one.
    pub tick: Dur,
    /// Whether it shows the time since the beginning, the same at all nodes.
    pub synchronised: bool,
}

/// Difference between the clocks of a receiver and its sender.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Skew {
    /// How far the receiver's clock is ahead at time zero, in ns; negative: behind.
    pub offset_ns: i64,
    /// How much faster it runs, in parts per billion.
    pub drift_ppb: i64,
}

/// A delay beyond this means that the two clocks are unrelated.
const IMPLAUSIBLE: Dur = Dur::from_secs(120);
/// So does a delay this far below zero.
const IMPLAUSIBLE_BEHIND: Dur = Dur::from_secs(10);

impl Clock {
    /// Milliseconds from an arbitrary start.
    pub const OWN: Clock = Clock { tick: Dur::from_millis(1), synchronised: false };

    /// Reading of the clock.
    pub fn reading(&self, now: Time) -> u32 {
        (now.as_nanos() / self.tick.as_nanos().max(1)) as u32
    }

    /// The time since `sent`, a reading of the sender's clock, by a clock that is off by `skew`: at least a tick, so
    /// that no clock makes a delay vanish. `None` if the two clocks cannot be meant to agree.
    pub fn delay_since(&self, sent: u32, now: Time, skew: Skew) -> Option<Dur> {
        let tick = i128::from(self.tick.as_nanos().max(1));
        let here = i128::from(now.as_nanos());
        let here = here + i128::from(skew.offset_ns) + here * i128::from(skew.drift_ppb) / 1_000_000_000;
        let reading = here.div_euclid(tick) as u32;
        let ticks = i128::from(reading.wrapping_sub(sent) as i32);
        let ns = ticks * tick;
        let plausible = -i128::from(IMPLAUSIBLE_BEHIND.as_nanos())..=i128::from(IMPLAUSIBLE.as_nanos());
        plausible.contains(&ns).then(|| Dur::from_nanos(ns.max(tick) as u64))
    }

    /// RFC 7323 section 5.5 for this tick: when the order of two readings ceases to mean anything (24 days at 1 ms).
    pub fn outdated(&self) -> Dur {
        self.tick.saturating_mul(24 * 24 * 3_600_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FINE: Clock = Clock { tick: Dur::from_micros(10), synchronised: true };

    #[test]
    fn a_delay_is_the_difference_of_two_readings() {
        let sent = FINE.reading(Time::from_millis(1_000));
        let delay = |skew| FINE.delay_since(sent, Time::from_millis(1_025), skew);
        assert_eq!(delay(Skew::default()), Some(Dur::from_millis(25)));
        assert_eq!(delay(Skew { offset_ns: 5_000_000, drift_ppb: 0 }), Some(Dur::from_millis(30)));
        // 20 ppm of about a second.
        assert_eq!(delay(Skew { offset_ns: 0, drift_ppb: 20_000 }), Some(Dur::from_micros(25_020)));
    }

    /// A clock that is behind makes delays small, down to the minimum of one tick. Far off, it is no clock at all.
    #[test]
    fn a_clock_behind_hides_delays() {
        let sent = FINE.reading(Time::from_millis(1_000));
        let delay = |ms: i64| {
            FINE.delay_since(sent, Time::from_millis(1_025), Skew { offset_ns: ms * 1_000_000, drift_ppb: 0 })
        };
        assert_eq!(delay(-20), Some(Dur::from_millis(5)));
        assert_eq!(delay(-100), Some(Dur::from_micros(10)));
        assert_eq!(delay(-20_000), None);
        assert_eq!(delay(200_000), None);
    }

    #[test]
    fn readings_wrap() {
        let wrap = Time::from_nanos((1 << 32) * 10_000);
        let sent = FINE.reading(Time::from_nanos(wrap.as_nanos() - 1_000_000));
        assert_eq!(FINE.delay_since(sent, wrap, Skew::default()), Some(Dur::from_millis(1)));
    }

    proptest! {
        /// No reading, instant, tick or skew makes it fail or answer nothing at all for zero.
        #[test]
        fn any_clock_gives_a_delay_or_none(
            tick in 1u64..2_000_000_000, sent in any::<u32>(), now in any::<u64>(),
            offset_ns in any::<i64>(), drift_ppb in any::<i64>(),
        ) {
            let clock = Clock { tick: Dur::from_nanos(tick), synchronised: true };
            if let Some(delay) = clock.delay_since(sent, Time::from_nanos(now), Skew { offset_ns, drift_ppb }) {
                prop_assert!(delay >= Dur::from_nanos(tick));
            }
            clock.outdated();
        }
    }
}
