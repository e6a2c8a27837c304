//! The monotonic clock as the simulator's time.

use fourhop_units::{Dur, Time};
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time since the simulator's zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Reading of `CLOCK_MONOTONIC` at zero.
    zero: Duration,
}

fn monotonic() -> Duration {
    // INVARIANT: Linux has this clock, and the memory it writes to is ours.
    clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has a monotonic clock").into()
}

impl Clock {
    /// Starts a clock at zero.
    pub fn start() -> Clock {
        Clock { zero: monotonic() }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        let since = monotonic().saturating_sub(self.zero);
        Time::ZERO + Dur::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// The value of `CLOCK_MONOTONIC` at a time.
    pub fn reading(&self, at: Time) -> Duration {
        self.zero + Duration::from_nanos(at.as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_begins_at_zero_and_goes_on() {
        let clock = Clock::start();
        let first = clock.now();
        assert!(first < Time::from_secs(5), "{first:?}");
        std::thread::sleep(Duration::from_millis(2));
        let later = clock.now();
        assert!(later >= first + Dur::from_millis(2));
        assert_eq!(clock.reading(later) - clock.reading(first), Duration::from_nanos((later - first).as_nanos()));
    }
}
