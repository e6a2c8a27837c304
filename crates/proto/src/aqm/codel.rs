//! CoDel (RFC 8289): drops at the head of a queue whose packets have had too high a delay for too long.
//!
//! Written from section 5 of the RFC. The control law divides by a square root in integer arithmetic.

use fourhop_units::{Dur, Time};

/// Parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Acceptable standing queue delay. RFC 8289 section 4.3: 5 ms; not useful below the transmission time of a packet.
    pub target: Dur,
    /// Worst round trip expected. Section 4.3: 100 ms.
    pub interval: Dur,
}

/// State of one queue.
#[derive(Clone, Copy, Default, Debug)]
pub struct Codel {
    /// When the delay will have been above the target for an interval, if it stays there.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

/// Verdict on the packet at the head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Send it.
    Pass,
    /// Drop it, and ask about the next one.
    Drop,
}

impl Codel {
    /// Section 5.3, `control_law`: the next drop is interval / sqrt(count) after `at`.
    fn next_drop(&self, config: &Config, at: Time) -> Time {
        // The square root in 1/2^16.
        let root = (u64::from(self.count.max(1)) << 32).isqrt();
        at + Dur::from_nanos((u128::from(config.interval.as_nanos()) << 16).div_euclid(u128::from(root)) as u64)
    }

    /// Section 5.6, `dodequeue`: whether the delay has been above the target for an interval. `backlog` bytes remain
    /// behind this packet.
    fn may_drop(&mut self, config: &Config, now: Time, waited: Dur, backlog: u64, mtu: u32) -> bool {
        if waited < config.target || backlog <= u64::from(mtu) {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + config.interval);
                false
            }
            Some(at) => now >= at,
        }
    }

    /// Section 5.5, `dequeue`, for the packet at the head, which has waited this long. Called again after
    /// [`Verdict::Drop`].
    pub fn handle_head(&mut self, config: &Config, now: Time, waited: Dur, backlog: u64, mtu: u32) -> Verdict {
        let may_drop = self.may_drop(config, now, waited, backlog, mtu);
        if self.dropping {
            if !may_drop {
                self.dropping = false;
            } else if now >= self.drop_next {
                self.count += 1;
                self.drop_next = self.next_drop(config, self.drop_next);
                return Verdict::Drop;
            }
        } else if may_drop {
            self.dropping = true;
            // Resume a drop rate that controlled the queue a short while ago.
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now.saturating_since(self.drop_next) < config.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.next_drop(config, now);
            self.last_count = self.count;
            return Verdict::Drop;
        }
        Verdict::Pass
    }

    /// Notes that the queue ran empty (section 5.6).
    pub fn handle_empty(&mut self) {
        self.first_above = None;
        self.dropping = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config { target: Dur::from_millis(5), interval: Dur::from_millis(100) };

    /// When a queue drops packets if it is checked every millisecond and its packets have always waited for `wait`.
    fn drops(wait: Dur, millis: u64) -> Vec<u64> {
        let mut codel = Codel::default();
        let mut found = Vec::new();
        for ms in 0..millis {
            while codel.handle_head(&CONFIG, Time::from_millis(1_000 + ms), wait, 100_000, 1_500) == Verdict::Drop {
                found.push(ms);
            }
        }
        found
    }

    #[test]
    fn below_the_target_nothing_is_dropped() {
        assert_eq!(drops(Dur::from_millis(4), 1_000), []);
    }

    /// RFC 8289 section 5.6: a delay of exactly the target is too much.
    #[test]
    fn at_the_target_packets_are_dropped() {
        assert_eq!(drops(CONFIG.target, 200), [100]);
    }

    /// The first drop comes an interval after the delay rose, the next ones at distances of interval / sqrt(n).
    #[test]
    fn drops_come_faster_until_the_delay_falls() {
        let found = drops(Dur::from_millis(20), 500);
        assert_eq!(&found[..5], [100, 200, 271, 329, 379]);
    }

    /// RFC 8289 section 5.5: a recent drop rate is resumed, less the drops it began with; "recent" means less than 16
    /// intervals since the drop that would have been next, and a single drop is no rate.
    #[test]
    fn a_recent_drop_rate_is_taken_up_again() {
        let drop_next = Time::from_secs(9);
        let resumed = |count, last_count, since: Dur| {
            let now = drop_next + since;
            let mut codel = Codel { first_above: Some(now), drop_next, count, last_count, dropping: false };
            assert_eq!(codel.handle_head(&CONFIG, now, Dur::from_millis(20), 100_000, 1_500), Verdict::Drop);
            (codel.count, codel.last_count, (codel.drop_next - now).as_millis())
        };
        let recent = Dur::from_millis(1_600) - Dur::from_nanos(1);
        // Ten drops before, counted from 1: 100 ms / sqrt(9).
        assert_eq!(resumed(10, 1, recent), (9, 9, 33));
        assert_eq!(resumed(12, 8, Dur::ZERO), (4, 4, 50));
        assert_eq!(resumed(3, 1, recent), (2, 2, 70));
        assert_eq!(resumed(2, 1, recent), (1, 1, 100), "one drop is no rate");
        assert_eq!(resumed(10, 1, Dur::from_millis(1_600)), (1, 1, 100), "too long ago");
    }

    /// The same over time: eleven drops by 602 ms, then a moment without delay.
    #[test]
    fn the_delay_comes_back_after_a_moment() {
        let mut codel = Codel::default();
        let mut found = Vec::new();
        for ms in 0..=800 {
            let wait = Dur::from_millis(if ms == 605 { 1 } else { 20 });
            while codel.handle_head(&CONFIG, Time::from_millis(1_000 + ms), wait, 100_000, 1_500) == Verdict::Drop {
                found.push(ms);
            }
        }
        assert_eq!(found[9..11], [571, 603]);
        // An interval above the target again, then 100 ms / sqrt(10), 100 ms / sqrt(11).
        assert_eq!(found[11..], [706, 738, 768, 797]);
    }

    #[test]
    fn a_last_packet_is_never_dropped() {
        let mut codel = Codel::default();
        for ms in 0..1_000 {
            let verdict = codel.handle_head(&CONFIG, Time::from_millis(ms), Dur::from_secs(1), 1_500, 1_500);
            assert_eq!(verdict, Verdict::Pass);
        }
    }

    /// Section 5.6: a queue that ran empty has no delay to speak of; later packets get a new interval.
    #[test]
    fn an_empty_queue_begins_anew() {
        let mut codel = Codel::default();
        let head = |codel: &mut Codel, ms| {
            codel.handle_head(&CONFIG, Time::from_millis(ms), Dur::from_millis(20), 100_000, 1_500)
        };
        assert!((0..100).all(|ms| head(&mut codel, ms) == Verdict::Pass));
        codel.handle_empty();
        assert!((100..200).all(|ms| head(&mut codel, ms) == Verdict::Pass));
        assert_eq!(head(&mut codel, 200), Verdict::Drop);
        codel.handle_empty();
        assert!((300..400).all(|ms| head(&mut codel, ms) == Verdict::Pass));
        assert_eq!(head(&mut codel, 400), Verdict::Drop);
    }
}
