//! The sender's rate and its three phases: it rises towards what the path offers, falls to it at once, or stays.

use super::Config;
use fourhop_units::Dur;

/// Packets per second, in thousandths; at least one thousandth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PacketRate(u64);

/// Nanoseconds per packet at a thousandth of a packet per second.
const NANOS: u64 = 1_000_000_000_000;

impl PacketRate {
    /// One packet per `delay`.
    pub fn of_delay(delay: Dur) -> PacketRate {
        PacketRate(NANOS / delay.as_nanos().max(1)).at_least(1)
    }

    /// Time from one packet to the next.
    pub fn interval(self) -> Dur {
        Dur::from_nanos(NANOS / self.0)
    }

    fn at_least(self, thousandths: u64) -> PacketRate {
        PacketRate(self.0.max(thousandths))
    }

    /// The rate after feedback of `offered`. Description: it rises, by a fraction of the difference, only if the path
    /// offers more than the present rate plus a fraction of it; it falls to the offer at once; otherwise it is
    /// maintained.
    #[must_use]
    pub fn after_feedback(self, offered: PacketRate, config: &Config) -> PacketRate {
        let (own, offered) = (u128::from(self.0), u128::from(offered.0));
        let next = if offered * 1000 > own * u128::from(1000 + config.increase_over) {
            own + (offered - own) * u128::from(config.increase_by) / 1000
        } else {
            own.min(offered)
        };
        PacketRate(next as u64).at_least_one_in(config.epoch)
    }

    /// Half the rate.
    #[must_use]
    pub fn halved(self, config: &Config) -> PacketRate {
        PacketRate(self.0 / 2).at_least_one_in(config.epoch)
    }

    /// At least one packet per epoch, as feedback without a packet would say nothing. Ours.
    #[must_use]
    pub fn at_least_one_in(self, epoch: Dur) -> PacketRate {
        self.at_least(PacketRate::of_delay(epoch).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Dur = Dur::from_millis(1);

    fn after(own: u64, offered: u64) -> Dur {
        let rate = |per_second: u64| PacketRate::of_delay(Dur::from_secs(1) / per_second);
        rate(own).after_feedback(rate(offered), &Config::published()).interval()
    }

    #[test]
    fn the_rate_rises_by_a_fifth_of_what_the_path_offers_more() {
        // 50 + (100 - 50) / 5 = 60 packets per second.
        assert_eq!(after(50, 100), Dur::from_nanos(16_666_666));
    }

    #[test]
    fn it_stays_where_the_path_offers_at_most_a_tenth_more() {
        assert_eq!((after(50, 50), after(50, 55)), (MILLI * 20, MILLI * 20));
        assert!(after(50, 56) < MILLI * 20);
    }

    #[test]
    fn it_falls_at_once() {
        assert_eq!((after(50, 40), after(50, 1)), (MILLI * 25, MILLI * 1000));
    }

    #[test]
    fn it_never_falls_below_a_packet_in_an_epoch() {
        let config = Config::published();
        let slow = PacketRate::of_delay(MILLI * 800);
        assert_eq!(slow.halved(&config).interval(), config.epoch);
        assert_eq!(slow.after_feedback(PacketRate::of_delay(MILLI * 5_000), &config).interval(), config.epoch);
    }

    #[test]
    fn no_delay_overflows() {
        let config = Config::published();
        for delay in [Dur::ZERO, Dur::from_nanos(1), Dur::from_nanos(u64::MAX)] {
            let rate = PacketRate::of_delay(delay);
            for other in [Dur::ZERO, MILLI, Dur::from_nanos(u64::MAX)] {
                let after = rate.after_feedback(PacketRate::of_delay(other), &config);
                assert!(after.interval() <= config.epoch && after.halved(&config) <= after.max(rate));
            }
        }
    }
}
