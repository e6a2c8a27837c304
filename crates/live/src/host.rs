//! The machine's load while a program ran.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Readings of the machine's counters.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Processor time of this process.
    pub own: Duration,
    /// Time that the host of a virtual machine gave to others (steal time).
    pub stolen: Duration,
}

impl Reading {
    /// The current readings; zero if not reported by the system.
    pub fn now() -> Reading {
        let own = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Into::into);
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        Reading { own, stolen: Duration::from_millis(stolen_ticks(&stat) * MILLIS_PER_TICK) }
    }

    /// The difference from `before`.
    pub fn since(&self, before: &Reading) -> Reading {
        let since = |now: Duration, before| now.saturating_sub(before);
        Reading { own: since(self.own, before.own), stolen: since(self.stolen, before.stolen) }
    }
}

/// USER_HZ is 100 on every architecture that Linux runs on today (proc(5)).
const MILLIS_PER_TICK: u64 = 10;

/// The eighth number of the first line, which is the sum over all processors (proc(5), /proc/stat).
fn stolen_ticks(stat: &str) -> u64 {
    let line = stat.lines().next().unwrap_or_default();
    line.split_ascii_whitespace().nth(8).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// When a process started, in ticks since boot: process ids are reused. The twenty-second number of its line in /proc,
/// after its name, which may contain anything (proc(5)).
pub fn started(pid: u32) -> Option<u64> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, numbers) = line.rsplit_once(')')?;
    let mut numbers = numbers.split_ascii_whitespace();
    // A zombie exists until its parent has waited for it.
    let ended = numbers.next()? == "Z";
    numbers.nth(18)?.parse().ok().filter(|_| !ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_number() {
        assert_eq!(stolen_ticks("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1 1 1 1 1 1 1 1"), 88);
        assert_eq!(stolen_ticks(""), 0);
    }

    #[test]
    fn a_process_has_started_until_it_has_ended() {
        assert!(started(std::process::id()).is_some_and(|ticks| ticks > 0));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while started(child.id()).is_some() {
            assert!(std::time::Instant::now() < deadline, "it ends although nobody has waited for it");
        }
        child.wait().unwrap();
    }

    #[test]
    fn processor_time_grows_with_work() {
        let before = Reading::now();
        let mut sum = 0_u64;
        while Reading::now().since(&before).own < Duration::from_millis(2) {
            sum = std::hint::black_box(sum + 1);
        }
    }

    #[test]
    fn the_load_is_the_difference_of_two_readings() {
        let reading = |own, stolen| Reading { own: Duration::from_millis(own), stolen: Duration::from_millis(stolen) };
        let since = reading(70, 30).since(&reading(20, 10));
        assert_eq!((since.own, since.stolen), (Duration::from_millis(50), Duration::from_millis(20)));
        let before = reading(20, 10).since(&reading(70, 30));
        assert_eq!((before.own, before.stolen), (Duration::ZERO, Duration::ZERO));
        assert_eq!(stolen_ticks("cpu  1 2 3 4 5 6 7 x"), 0);
        assert_eq!(started(0), None);
    }
}
