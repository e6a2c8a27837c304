//! The time that the kernel takes: late wake-ups and its calls.

use fourhop_units::{Dur, Time};
use std::collections::VecDeque;

/// Spans remembered. No more packets than this wait for each other.
const MOST: usize = 256;

/// Recent spans, in order and without overlaps.
#[derive(Clone, Debug, Default)]
pub struct Spent {
    spans: VecDeque<(Time, Time)>,
}

impl Spent {
    /// The kernel had the processor from `from` to `to`.
    pub fn record(&mut self, from: Time, to: Time) {
        if self.spans.len() == MOST {
            self.spans.pop_front();
        }
        self.spans.push_back((from, to));
    }

    /// How much of the time since `from` the kernel had.
    pub fn since(&self, from: Time) -> Dur {
        let recent = self.spans.iter().rev().take_while(|&&(_, to)| to > from);
        recent.map(|&(began, to)| to.saturating_since(began.max(from))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_counted_from_any_instant() {
        let at = Time::from_micros;
        let mut spent = Spent::default();
        assert_eq!(spent.since(Time::ZERO), Dur::ZERO);
        spent.record(at(10), at(20));
        spent.record(at(25), at(26));
        for (from, us) in [(0, 11), (10, 11), (15, 6), (20, 1), (22, 1), (26, 0), (30, 0)] {
            assert_eq!(spent.since(at(from)), Dur::from_micros(us), "from {from} us on");
        }
        (0..1000).for_each(|n| spent.record(at(100 + 2 * n), at(101 + 2 * n)));
        assert_eq!(spent.since(Time::ZERO), Dur::from_micros(MOST as u64), "old ones are forgotten");
    }
}
