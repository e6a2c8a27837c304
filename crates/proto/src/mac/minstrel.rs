//! Minstrel: picks the rate with the highest throughput, and tries others now and then.
//!
//! Sources: the description of Minstrel in the documentation of Linux's wireless subsystem (Smithies, Fietkau), and
//! mac80211's `rc80211_minstrel_ht`. Taken from them: counters per rate in intervals of 50 ms; an exponentially
//! weighted average of the success ratio; the throughput, derived from that ratio and the air time of a packet of 1200
//! bytes; the retry chain of the best, the second best and the most reliable rate; samples of other rates, in a random
//! order that is redrawn after each round.
//!
//! ```text
//! average   = 3/4 average + 1/4 share of the interval         throughput = min(average, 90 %) / air time, 0 below 10 %
//! best      = largest throughput                  surest     = of those above 75 % the fastest, else the surest
//! frame     = best, .., second, .., surest, ..                sample     = sampled rate, then the chain
//! ```
//!
//! A rate is sampled if without losses it would beat the best, and a slower one only if it has not been tried for 20
//! intervals. The driver supplies the air time of a packet at each rate. With the air times of aggregates, and samples
//! chosen by [`aggregate::rates`](super::aggregate::rates), it is Minstrel-HT.
//!
//! Differences from mac80211: the chain divides the retries that the retry limit allows, a third for each rate, whereas
//! drivers there have their own limits and each rate gets as many as fit into 6 ms. Samples are a fixed number of
//! packets apart, where Minstrel without HT keeps them at a tenth. The most reliable rate may have any number of
//! streams.

use fourhop_units::{Dur, Stream, Time};

/// Parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time over which successes are counted before they enter the averages. mac80211: 50 ms.
    pub interval: Dur,
    /// Weight of the old average in thousandths. mac80211: 96/128, but Linux 6.1 has a second-order filter.
    pub weight: u32,
    /// Packets from one sample to the next. Minstrel: 10.
    pub sample_gap: u32,
    /// Attempts that an average remembers: if an interval has fewer than a third of them, it weighs less than `weight`
    /// says. 0: no such reduction, as in mac80211. Ours: one sample of a rate must not outweigh the aggregates that
    /// have shown its throughput.
    pub memory: u32,
}

impl Config {
    /// Returns the parameters of mac80211, for packets sent one by one.
    pub const fn mac80211() -> Config {
        Config { interval: Dur::from_millis(50), weight: 750, sample_gap: 10, memory: 0 }
    }
}

/// Unit of probabilities.
const ONE: u64 = 1 << 16;
/// Intervals without an attempt after which a rate is sampled even if it is slow.
const STALE: u32 = 20;

/// Statistics of a rate.
#[derive(Clone, Copy, Default, Debug)]
struct Rate {
    /// Counts in the current interval.
    attempts: u32,
    successes: u32,
    /// Average success ratio; `None` if never tried.
    probability: Option<u64>,
    /// Attempts behind the average, where they are counted.
    weight: u64,
    /// Intervals since the last attempt.
    silent: u32,
    /// Throughput in internal units.
    throughput: u64,
}

/// The rates to one neighbour, identified by their indices in the table of air times, which is the same in all calls.
///
/// Call [`Minstrel::begin`] before each packet, [`Minstrel::rate`] before each attempt, and [`Minstrel::handle_result`]
/// after it. There are no timers: the end of an interval is noticed when the next packet is sent.
#[derive(Clone, Debug)]
pub struct Minstrel {
    rates: Vec<Rate>,
    /// The best, the second best and the most reliable rate.
    chain: [usize; 3],
    /// The rate that the current packet tries first, if it is a sample.
    pub(super) sample: Option<usize>,
    /// Packets until the next sample.
    gap: u32,
    /// The order of samples, and the position in it.
    order: Vec<usize>,
    turn: usize,
    interval_ends: Time,
}

impl Minstrel {
    /// Starts without statistics on `count` rates, at the lowest.
    pub fn new(now: Time, count: usize, config: &Config) -> Minstrel {
        Minstrel {
            rates: vec![Rate::default(); count],
            chain: [0; 3],
            sample: None,
            gap: 1,
            order: (0..count).collect(),
            turn: 0,
            interval_ends: now + config.interval,
        }
    }

    /// Starts a packet that takes `airtimes` at the rates; `random` is the station's stream.
    pub fn begin(&mut self, now: Time, config: &Config, airtimes: &[Dur], random: &mut Stream) {
        if self.is_due(now) {
            self.end_interval(now, config, airtimes);
        }
        self.gap = self.gap.saturating_sub(1);
        self.sample = None;
        if self.gap == 0 {
            self.sample = self.next_sample(airtimes, random);
            self.gap = config.sample_gap;
        }
    }

    /// Whether the interval is over.
    pub(super) fn is_due(&self, now: Time) -> bool {
        now >= self.interval_ends
    }

    /// Returns the rate of attempt `attempt`, counted from 0, of a packet with at most `limit` attempts.
    pub fn rate(&self, attempt: u32, limit: u32) -> usize {
        let attempt = match (self.sample, attempt) {
            (Some(sample), 0) => return sample,
            (Some(_), attempt) => attempt - 1,
            (None, attempt) => attempt,
        };
        let each = (limit / 3).max(1);
        self.chain[((attempt / each) as usize).min(2)]
    }

    /// Returns the rate that most packets currently use.
    pub fn present(&self) -> usize {
        self.chain[0]
    }

    /// Records that of `attempts` packets at a rate `successes` were acknowledged.
    pub fn handle_result(&mut self, rate: usize, attempts: u32, successes: u32) {
        let rate = &mut self.rates[rate];
        rate.attempts += attempts;
        rate.successes += successes;
    }

    /// Updates the averages with the counts of the interval, then the chain.
    pub(super) fn end_interval(&mut self, now: Time, config: &Config, airtimes: &[Dur]) {
        self.interval_ends = now + config.interval;
        for (rate, airtime) in self.rates.iter_mut().zip(airtimes) {
            if rate.attempts == 0 {
                rate.silent = rate.silent.saturating_add(1);
            } else {
                rate.average(config);
            }
            rate.throughput = throughput(rate.probability.unwrap_or(0), *airtime);
        }
        let by_throughput = |&place: &usize| (self.rates[place].throughput, core::cmp::Reverse(place));
        let places = 0..self.rates.len();
        let best = places.clone().max_by_key(by_throughput).unwrap_or(0);
        let second = places.clone().filter(|&place| place != best).max_by_key(by_throughput).unwrap_or(best);
        let sure = |&place: &usize| {
            let Rate { probability, throughput, .. } = self.rates[place];
            let probability = probability.unwrap_or(0);
            let is_sure = probability * 4 > ONE * 3;
            (is_sure, if is_sure { throughput } else { probability }, core::cmp::Reverse(place))
        };
        self.chain = [best, second, places.max_by_key(sure).unwrap_or(best)];
    }

    fn next_sample(&mut self, airtimes: &[Dur], random: &mut Stream) -> Option<usize> {
        self.next_of(random, |minstrel, place| minstrel.is_worth_a_sample(place, airtimes))
    }

    /// Returns the next rate in the random order that is `worth` a sample, if any.
    pub(super) fn next_of(&mut self, random: &mut Stream, worth: impl Fn(&Minstrel, usize) -> bool) -> Option<usize> {
        for _ in 0..self.order.len() {
            if self.turn == 0 {
                // Fisher and Yates.
                for last in (1..self.order.len()).rev() {
                    self.order.swap(last, random.below(last as u32 + 1) as usize);
                }
            }
            let place = self.order[self.turn];
            self.turn = (self.turn + 1) % self.order.len();
            if worth(self, place) {
                return Some(place);
            }
        }
        None
    }

    fn is_worth_a_sample(&self, place: usize, airtimes: &[Dur]) -> bool {
        let in_use = self.chain.contains(&place) && self.rates[place].probability.is_some();
        !in_use && (self.could_be_best(place, airtimes) || self.is_stale(place))
    }

    /// Whether this rate, other than the best, would have a higher throughput if nothing were lost.
    pub(super) fn would_be_better(&self, place: usize, airtimes: &[Dur]) -> bool {
        place != self.chain[0] && self.could_be_best(place, airtimes)
    }

    /// Whether almost nothing arrived when this rate was last tried, less than `intervals` intervals ago.
    pub(super) fn has_failed(&self, place: usize, intervals: u32) -> bool {
        let Rate { probability, silent, .. } = self.rates[place];
        silent < intervals && probability.is_some_and(|probability| probability * 10 < ONE)
    }

    fn could_be_best(&self, place: usize, airtimes: &[Dur]) -> bool {
        throughput(ONE, airtimes[place]) > self.rates[self.chain[0]].throughput
    }

    /// Whether this rate has not been tried for a long time.
    pub(super) fn is_stale(&self, place: usize) -> bool {
        self.rates[place].silent >= STALE
    }
}

impl Rate {
    /// Updates the average with the attempts of the interval.
    fn average(&mut self, config: &Config) {
        let attempts = u64::from(self.attempts);
        let share = ONE * u64::from(self.successes) / attempts;
        let (old, new) = (u64::from(config.weight.min(1_000)), 1_000 - u64::from(config.weight.min(1_000)));
        let (old, new) = match u64::from(config.memory) {
            0 => (old, new),
            memory => (self.weight.min((attempts * old / new.max(1)).max(memory)), attempts),
        };
        self.weight = old + new;
        let average = self.probability.map_or(share, |average| (average * old + share * new) / (old + new));
        (self.probability, self.silent) = (Some(average), 0);
        (self.attempts, self.successes) = (0, 0);
    }
}

/// Throughput of a rate for packets that take `airtime`.
fn throughput(probability: u64, airtime: Dur) -> u64 {
    if probability * 10 < ONE {
        return 0;
    }
    // Collisions cause losses at any rate.
    let probability = probability.min(ONE * 9 / 10);
    (probability << 24) / airtime.as_nanos().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::{NodeId, Purpose};

    /// Air times of 1200 bytes at 1, 2, 5.5 and 11 Mbit/s, without preambles.
    fn airtimes() -> Vec<Dur> {
        [1_000, 2_000, 5_500, 11_000].map(|kbps| Dur::from_nanos(9_600_000_000 / kbps)).to_vec()
    }

    struct Bench {
        minstrel: Minstrel,
        random: Stream,
        now: Time,
        airtimes: Vec<Dur>,
    }

    impl Bench {
        fn new() -> Bench {
            let airtimes = airtimes();
            let minstrel = Minstrel::new(Time::ZERO, airtimes.len(), &Config::mac80211());
            let random = Stream::new(1, NodeId(0), Purpose::RateControl);
            Bench { minstrel, random, now: Time::ZERO, airtimes }
        }

        /// Sends packets, one per millisecond, with up to 7 attempts each; each rate succeeds in its share of attempts
        /// in per cent, spread evenly. Returns the number of packets that started at each rate.
        fn send(&mut self, packets: u32, shares: [u32; 4]) -> [u32; 4] {
            let (mut began, mut sent) = ([0; 4], [0; 4]);
            for _ in 0..packets {
                self.now += Dur::from_millis(1);
                self.minstrel.begin(self.now, &Config::mac80211(), &self.airtimes, &mut self.random);
                began[self.minstrel.rate(0, 7)] += 1;
                for attempt in 0..7 {
                    let rate = self.minstrel.rate(attempt, 7);
                    sent[rate] += 1;
                    let arrives = sent[rate] * shares[rate] / 100 > (sent[rate] - 1) * shares[rate] / 100;
                    self.minstrel.handle_result(rate, 1, u32::from(arrives));
                    if arrives {
                        break;
                    }
                }
            }
            began
        }
    }

    #[test]
    fn where_all_arrives_the_fastest_rate_is_found() {
        let mut bench = Bench::new();
        bench.send(500, [100; 4]);
        assert_eq!(bench.minstrel.chain, [3, 2, 3]);
        let began = bench.send(1_000, [100; 4]);
        assert!(began[3] > 950, "{began:?}");
    }

    // 5.5 Mbit/s at 90 % carries more than 11 Mbit/s at 40 %; 2 Mbit/s at 100 % is more reliable than either but
    // slower.
    #[test]
    fn the_best_rate_is_that_of_the_largest_throughput() {
        let mut bench = Bench::new();
        bench.send(2_000, [100, 100, 90, 40]);
        let [best, second, surest] = bench.minstrel.chain;
        assert_eq!((best, second, surest), (2, 3, 2));
        // 2 Mbit/s at 100 % against 5.5 at 30 %: 1.8 against 1.65.
        let mut bench = Bench::new();
        bench.send(2_000, [100, 100, 30, 5]);
        assert_eq!(bench.minstrel.chain, [1, 2, 1]);
    }

    #[test]
    fn a_rate_below_a_tenth_carries_nothing_and_above_nine_tenths_no_more() {
        let airtime = Dur::from_millis(1);
        assert_eq!((throughput(ONE / 11, airtime), throughput(ONE, airtime)), (0, throughput(ONE * 9 / 10, airtime)));
        assert!(throughput(ONE / 2, airtime) > throughput(ONE / 2, airtime * 2));
    }

    #[test]
    fn it_follows_a_link_that_becomes_worse_and_better() {
        let mut bench = Bench::new();
        bench.send(1_000, [100; 4]);
        bench.send(1_000, [100, 100, 0, 0]);
        assert_eq!(bench.minstrel.chain[0], 1, "{:?}", bench.minstrel.rates);
        bench.send(3_000, [100; 4]);
        assert_eq!(bench.minstrel.chain[0], 3, "{:?}", bench.minstrel.rates);
    }

    #[test]
    fn a_tenth_of_the_packets_at_most_are_samples() {
        let mut bench = Bench::new();
        // 5.5 Mbit/s at 30 % is best; 11 Mbit/s would be better if it were not lost.
        bench.send(2_000, [100, 60, 30, 5]);
        assert_eq!(bench.minstrel.chain, [2, 1, 0]);
        let began = bench.send(10_000, [100, 60, 30, 5]);
        assert!((500..=1_000).contains(&began[3]), "what may be better is tried: {began:?}");
        assert!(began[0] + began[1] < 60, "what cannot be is tried seldom: {began:?}");
    }

    #[test]
    fn a_rate_has_failed_if_nearly_nothing_arrived_a_short_while_ago() {
        let mut minstrel = Bench::new().minstrel;
        let failed = |minstrel: &mut Minstrel, probability, silent| {
            minstrel.rates[1] = Rate { probability, silent, ..minstrel.rates[1] };
            minstrel.has_failed(1, 5)
        };
        assert!(failed(&mut minstrel, Some(ONE / 10 - 1), 4) && !failed(&mut minstrel, Some(ONE / 10 - 1), 5));
        assert!(!failed(&mut minstrel, Some(ONE / 10 + 1), 4) && !failed(&mut minstrel, None, 0));
    }

    #[test]
    fn repeats_go_down_the_chain() {
        let mut bench = Bench::new();
        bench.send(2_000, [100, 95, 60, 40]);
        let [best, second, surest] = bench.minstrel.chain;
        bench.minstrel.sample = None;
        let rates: Vec<_> = (0..7).map(|attempt| bench.minstrel.rate(attempt, 7)).collect();
        assert_eq!(rates, [best, best, second, second, surest, surest, surest]);
        assert_eq!(
            (0..4).map(|attempt| bench.minstrel.rate(attempt, 4)).collect::<Vec<_>>(),
            [best, second, surest, surest]
        );
        bench.minstrel.sample = Some(0);
        assert_eq!((0..3).map(|attempt| bench.minstrel.rate(attempt, 7)).collect::<Vec<_>>(), [0, best, best]);
    }
}
