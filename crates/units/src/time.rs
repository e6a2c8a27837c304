//! Instants and durations in integer nanoseconds.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant: nanoseconds since the start of the run, which is zero. Good for 584 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in nanoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dur(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than the end of any run.
    pub const NEVER: Time = Time(u64::MAX);

    /// `ns` nanoseconds after the start.
    pub const fn from_nanos(ns: u64) -> Time {
        Time(ns)
    }

    /// `us` microseconds after the start.
    pub const fn from_micros(us: u64) -> Time {
        Time(us * 1_000)
    }

    /// `ms` milliseconds after the start.
    pub const fn from_millis(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// `s` seconds after the start.
    pub const fn from_secs(s: u64) -> Time {
        Time(s * 1_000_000_000)
    }

    /// Returns the nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start, for display and statistics only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time since `earlier`; zero if that is in the future.
    pub const fn saturating_since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }

    /// Returns this time, or `None` for [`Time::NEVER`].
    #[inline(always)]
    pub const fn unless_never(self) -> Option<Time> {
        if self.0 == Time::NEVER.0 { None } else { Some(self) }
    }

    /// Whether this time has come; if so, sets it to [`Time::NEVER`].
    #[inline(always)]
    pub fn take_by(&mut self, now: Time) -> bool {
        let due = *self <= now;
        if due {
            *self = Time::NEVER;
        }
        due
    }

    /// Stores an optional time in half the memory.
    #[inline(always)]
    pub const fn or_never(at: Option<Time>) -> Time {
        match at {
            Some(at) => at,
            None => Time::NEVER,
        }
    }

    /// Returns the earlier of two optional times.
    pub fn earlier_of(a: Option<Time>, b: Option<Time>) -> Option<Time> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b < a { b } else { a }),
            (a, None) => a,
            (None, b) => b,
        }
    }

    /// Returns the first multiple of `step` after this instant.
    ///
    /// # Panics
    /// If `step` is zero.
    pub const fn next_multiple_of(self, step: Dur) -> Time {
        Time((self.0 / step.0 + 1) * step.0)
    }
}

impl Dur {
    /// A duration of zero.
    pub const ZERO: Dur = Dur(0);
    /// Longer than any run.
    pub const MAX: Dur = Dur(u64::MAX);

    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Dur {
        Dur(ns)
    }

    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Dur {
        Dur(us * 1_000)
    }

    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Dur {
        Dur(ms * 1_000_000)
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Dur {
        Dur(s * 1_000_000_000)
    }

    /// `s` seconds rounded to the nearest nanosecond; negative values and NaN become zero. For values read from files
    /// and computed geometry, never for protocol arithmetic.
    pub fn from_secs_f64(s: f64) -> Dur {
        Dur((s * 1e9).round() as u64)
    }

    /// Returns the nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns whole microseconds, rounded to nearest.
    pub const fn as_micros_rounded(self) -> u64 {
        (self.0 + 500) / 1_000
    }

    /// Returns whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Returns the seconds, for display and statistics only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }

    /// Returns the product, or [`Dur::MAX`] if it does not fit.
    pub const fn saturating_mul(self, factor: u64) -> Dur {
        Dur(self.0.saturating_mul(factor))
    }

    /// Returns how many whole `unit`s fit.
    ///
    /// # Panics
    /// If `unit` is zero.
    pub const fn div_floor(self, unit: Dur) -> u64 {
        self.0 / unit.0
    }

    /// Whether this is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Dur> for Time {
    type Output = Time;
    fn add(self, d: Dur) -> Time {
        Time(self.0 + d.0)
    }
}

impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, d: Dur) {
        self.0 += d.0;
    }
}

impl Sub<Dur> for Time {
    type Output = Time;
    fn sub(self, d: Dur) -> Time {
        Time(self.0 - d.0)
    }
}

impl Sub<Time> for Time {
    type Output = Dur;
    /// # Panics
    /// If `earlier` is in the future (in builds with overflow checks); see [`Time::saturating_since`].
    fn sub(self, earlier: Time) -> Dur {
        Dur(self.0 - earlier.0)
    }
}

impl Add for Dur {
    type Output = Dur;
    fn add(self, d: Dur) -> Dur {
        Dur(self.0 + d.0)
    }
}

impl AddAssign for Dur {
    fn add_assign(&mut self, d: Dur) {
        self.0 += d.0;
    }
}

impl Sub for Dur {
    type Output = Dur;
    fn sub(self, d: Dur) -> Dur {
        Dur(self.0 - d.0)
    }
}

impl SubAssign for Dur {
    fn sub_assign(&mut self, d: Dur) {
        self.0 -= d.0;
    }
}

impl Mul<u64> for Dur {
    type Output = Dur;
    fn mul(self, factor: u64) -> Dur {
        Dur(self.0 * factor)
    }
}

impl Div<u64> for Dur {
    type Output = Dur;
    fn div(self, divisor: u64) -> Dur {
        Dur(self.0 / divisor)
    }
}

impl Sum for Dur {
    fn sum<I: Iterator<Item = Dur>>(durs: I) -> Dur {
        durs.fold(Dur::ZERO, Add::add)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns % 1_000_000_000 == 0 => write!(f, "{} s", ns / 1_000_000_000),
            ns if ns % 1_000_000 == 0 => write!(f, "{} ms", ns / 1_000_000),
            ns => write!(f, "{}.{:03} us", ns / 1_000, ns % 1_000),
        }
    }
}

impl fmt::Debug for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_multiple_lies_strictly_ahead() {
        let half = Dur::from_millis(500);
        assert_eq!(Time::ZERO.next_multiple_of(half), Time::from_millis(500));
        assert_eq!(Time::from_millis(500).next_multiple_of(half), Time::from_secs(1));
    }

    #[test]
    fn durations_print_in_the_unit_that_fits() {
        assert_eq!(Dur::from_secs(3).to_string(), "3 s");
        assert_eq!(Dur::from_millis(40).to_string(), "40 ms");
        assert_eq!(Dur::from_nanos(666_667).to_string(), "666.667 us");
        assert_eq!(Dur::from_secs_f64(200.0 / 3e8).as_nanos(), 667);
    }

    #[test]
    fn whole_seconds_are_whole_numbers() {
        for s in [1, 3, 1000, 123_457] {
            assert_eq!(Dur::from_secs(s).as_secs_f64(), s as f64);
            assert_eq!(Time::from_secs(s).as_secs_f64(), s as f64);
        }
    }
}
