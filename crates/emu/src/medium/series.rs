//! The rates of a frame: those that the medium attempts, and those it reports.

use super::hwsim::{RATES, Try};
use fourhop_proto::phy::PhyKind;
use fourhop_proto::wire::Attempt;
use fourhop_units::Rate;

/// The rates of a frame. Those that the scenario's radio lacks take no time and are never acknowledged, as if the
/// receiver could not decode them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Series {
    tries: [Try; RATES],
    carried: [bool; RATES],
}

impl Series {
    /// The rates on a channel, for a radio of this kind.
    pub fn new(tries: [Try; RATES], frequency: u32, phy: PhyKind) -> Series {
        let carried = tries.map(|one| rate(one, frequency, phy).is_some());
        Series { tries, carried }
    }

    /// The attempts in order; for group frames only the first, without RTS.
    pub fn attempts(&self, frequency: u32, for_all: bool) -> Vec<Attempt> {
        if for_all {
            let first = Some(self.tries[0]).filter(|_| self.carried[0]).and_then(|one| one.rate(frequency));
            return first.map(|rate| Attempt { rate, rts: false }).into_iter().collect();
        }
        let of = |one: Try| one.rate(frequency).map(|rate| (Attempt { rate, rts: one.has_rts() }, one.count));
        let carried = self.listed().filter(|&(_, carried)| carried).filter_map(|(one, _)| of(one));
        carried.flat_map(|(attempt, count)| std::iter::repeat_n(attempt, count.into())).collect()
    }

    /// The tries at each rate, once `begun` attempts have begun: rates that are not carried count as tried once their
    /// turn has come.
    pub fn tried(&self, begun: usize, lost: bool) -> [Try; RATES] {
        let (mut left, mut tried) = (begun, [Try::NONE; RATES]);
        for ((one, carried), report) in self.listed().zip(&mut tried) {
            if left == 0 && !lost {
                break;
            }
            let count = if carried { left.min(one.count.into()) } else { one.count.into() };
            if carried && count == 0 {
                break;
            }
            *report = Try { count: count as u8, ..one };
            left -= if carried { count } else { 0 };
        }
        tried
    }

    /// Tries at rates that are not carried.
    pub fn uncarried(&self) -> impl Iterator<Item = Try> + use<> {
        let Series { tries, carried } = *self;
        (0..RATES)
            .map_while(move |n| (tries[n].index >= 0).then_some(n))
            .filter(move |&n| !carried[n])
            .map(move |n| tries[n])
    }

    fn listed(&self) -> impl Iterator<Item = (Try, bool)> {
        self.tries.into_iter().zip(self.carried).take_while(|(one, _)| one.index >= 0)
    }
}

fn rate(one: Try, frequency: u32, phy: PhyKind) -> Option<Rate> {
    one.rate(frequency).filter(|rate| phy.rates().contains(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates by their index at 2.4 GHz, each with its number of tries.
    fn series(rates: &[(i8, u8)], phy: PhyKind) -> Series {
        let tries = std::array::from_fn(|n| {
            rates.get(n).map_or(Try::NONE, |&(index, count)| Try { index, count, ..Try::NONE })
        });
        Series::new(tries, 2412, phy)
    }

    fn counts(tried: [Try; RATES]) -> Vec<(i8, u8)> {
        tried.iter().filter(|one| one.index >= 0).map(|one| (one.index, one.count)).collect()
    }

    #[test]
    fn attempts_follow_the_rates_and_are_reported_by_them() {
        let series = series(&[(3, 2), (1, 3), (0, 1)], PhyKind::Dsss);
        let rates: Vec<_> = series.attempts(2412, false).iter().map(|attempt| attempt.rate.bps() / 1_000).collect();
        assert_eq!(rates, [11_000, 11_000, 2_000, 2_000, 2_000, 1_000]);
        assert_eq!(counts(series.tried(1, false)), [(3, 1)]);
        assert_eq!(counts(series.tried(2, false)), [(3, 2)]);
        assert_eq!(counts(series.tried(4, false)), [(3, 2), (1, 2)]);
        assert_eq!(counts(series.tried(6, true)), [(3, 2), (1, 3), (0, 1)]);
        assert_eq!(series.uncarried().count(), 0);
        assert_eq!(series.attempts(2412, true).len(), 1, "what is for all is sent once");
    }

    #[test]
    fn rates_that_the_radio_lacks_fail_at_once() {
        // 54 Mbit/s in an 802.11b network.
        let series = series(&[(11, 3), (3, 1), (10, 2), (0, 2)], PhyKind::Dsss);
        assert_eq!(series.attempts(2412, false).len(), 3);
        assert_eq!(counts(series.tried(1, false)), [(11, 3), (3, 1)]);
        assert_eq!(counts(series.tried(2, false)), [(11, 3), (3, 1), (10, 2), (0, 1)]);
        assert_eq!(counts(series.tried(3, true)), [(11, 3), (3, 1), (10, 2), (0, 2)]);
        assert_eq!(series.uncarried().map(|one| one.count).sum::<u8>(), 5);
        assert!(series.attempts(2412, true).is_empty(), "what is for all has its first rate alone");
    }

    #[test]
    fn what_cannot_be_sent_has_been_tried_and_lost() {
        let series = series(&[(3, 1), (0, 1)], PhyKind::ErpOfdm);
        assert!(series.attempts(2412, false).is_empty());
        assert_eq!(counts(series.tried(0, true)), [(3, 1), (0, 1)]);
    }
}
