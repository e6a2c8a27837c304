//! Minstrel-HT: chooses the MCS of the next exchange with a receiver.
//!
//! ```text
//! set      = streams x width x guard interval x index, up to those of `config.mcs` and with no shorter guard interval
//! air time = (DIFS + least back-off / 2 + n MPDUs of 1200 bytes + SIFS + BlockAck) / n
//! n        = average length of aggregates so far, or what fits into the longest PPDU at this MCS
//! samples  = up, any, up, any, up, slow, up, ..: at most one in 20 ms, of a few MPDUs
//! ```
//!
//! Success ratios, throughputs and the retry chain are those of [`Minstrel`]. A sample `up` is the slowest MCS of a
//! group that without losses would beat the best; groups (streams, width, guard interval) take turns. `any` is one of
//! all such MCS, in random order, and `slow` one that would not beat it and has not been sampled for 20 intervals.
//!
//! Source: mac80211's `rc80211_minstrel_ht`: all groups in one table, overhead of an exchange divided among the MPDUs
//! of an average aggregate, the sequence of samples and their 20 ms (since Linux 5.13), samples not sent in long
//! aggregates (ath9k sends them alone). Differences: the duration limit of a PPDU applies at each MCS; back-off counts;
//! the average is exponential, where Linux 6.1 has a second-order filter, and remembers at least 16 attempts
//! ([`Config::memory`](super::super::minstrel::Config)); a failed MCS is left alone for 5 intervals; an unanswered
//! frame goes down the chain exchange by exchange, where drivers there have limits in hardware; RTS without CTS do not
//! count against an MCS. Not implemented: rates without MCS, RTS by rate, a third best in the chain, fewer streams for
//! the most reliable, and fewer streams at once when nearly nothing arrives at the best. `benches/minstrel` compares
//! both.

use super::outcome::{Choice, Outcome};
use crate::mac::config::{Config, RateControl};
use crate::mac::minstrel::{self, Minstrel};
use crate::mac::sizes::{BLOCK_ACK, MEAN_PACKET, QOS_CONTROL};
use crate::phy::Mcs;
use crate::wire::with_one_more;
use fourhop_units::{Bytes, Dur, Purpose, Stream, Time};

/// Maximum number of MPDUs in a sample.
const SAMPLE_FRAMES: u32 = 4;
/// Samples per interval: mac80211 sends one every 20 ms and has intervals of 50 ms.
const SAMPLE_SHARE: (u64, u64) = (2, 5);
/// Intervals for which a failed MCS is left alone.
const REST: u32 = 5;
/// Maximum number of attempts that the chain is divided among, the standard's limit: a station with twenty attempts
/// should reach the most reliable rate sooner.
const CHAIN: u32 = 7;
/// Attempts that averages remember.
const MEMORY: u32 = 16;

/// Purpose of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Up,
    Any,
    Slow,
}

const SEQUENCE: [Kind; 6] = [Kind::Up, Kind::Any, Kind::Up, Kind::Any, Kind::Up, Kind::Slow];

/// State per receiver.
#[derive(Clone, Debug)]
struct Receiver {
    minstrel: Minstrel,
    /// Air time of an MPDU at each MCS.
    airtimes: Vec<Dur>,
    /// Average number of MPDUs in an aggregate, in 256ths.
    length: u64,
    /// Exchanges in the interval, samples excluded, and their MPDUs.
    exchanges: u64,
    mpdus: u64,
    /// MPDUs since the last sample, and the earliest time of the next.
    since_sample: u32,
    next_sample: Time,
    /// Samples so far.
    samples: usize,
    /// Group that is next for an upward sample.
    group: usize,
    /// Consecutive exchanges without an answer.
    unanswered: u32,
    /// Index of the MCS of the current exchange, whether it is a sample, and whether it has yet to be sent.
    place: usize,
    is_sample: bool,
    open: bool,
}

/// MCS selection for all receivers of a station, which are numbered from 0.
///
/// Call [`McsControl::choose`] before each exchange of data, then [`McsControl::handle_outcome`], unless the data was
/// never sent. There are no timers.
#[derive(Clone, Debug)]
pub struct McsControl {
    options: minstrel::Config,
    random: Stream,
    /// Slowest first.
    set: Vec<Mcs>,
    /// Indices into `set` by streams, width and guard interval, slowest first in each group.
    groups: Vec<Vec<usize>>,
    receivers: Vec<Receiver>,
}

impl McsControl {
    /// Creates the state without statistics; `None` if rates are fixed.
    pub fn new(config: &Config) -> Option<McsControl> {
        let RateControl::Minstrel(options) = config.rate_control else { return None };
        let set = config.mcs_set();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let group_of = |place: usize| (set[place].streams(), set[place].width(), set[place].guard());
        for place in 0..set.len() {
            match groups.iter_mut().find(|group| group_of(group[0]) == group_of(place)) {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        let random = Stream::global(0, Purpose::RateControl);
        let options = minstrel::Config { memory: MEMORY, ..options };
        Some(McsControl { options, random, set, groups, receivers: Vec::new() })
    }

    /// Draws samples from `random`. Without it, they are the same at every station.
    pub fn sample_by(&mut self, random: Stream) {
        self.random = random;
    }

    /// Returns the MCS currently used for most exchanges with a receiver; `None` if there has been none.
    pub fn present(&self, receiver: usize) -> Option<Mcs> {
        self.receivers.get(receiver).map(|known| self.set[known.minstrel.present()])
    }

    /// Chooses the parameters of the next data exchange with `receiver`, a known number or the next new one.
    pub fn choose(&mut self, now: Time, receiver: usize, config: &Config) -> Choice {
        let McsControl { options, random, set, groups, receivers } = self;
        while receivers.len() <= receiver {
            receivers.push(Receiver::new(now, config, set, options));
        }
        let known = &mut receivers[receiver];
        if known.minstrel.is_due(now) {
            known.end_interval(now, config, set, options);
        }
        if !known.open {
            if known.unanswered == 0 {
                let sample = known.next_sample(now, options, groups, random);
                known.is_sample = sample.is_some();
                known.minstrel.sample = sample;
            } else {
                known.is_sample = false;
            }
            known.place = known.minstrel.rate(known.unanswered, config.short_retry_limit.min(CHAIN));
            known.open = true;
        }
        let frames = if known.is_sample { SAMPLE_FRAMES } else { u32::MAX };
        Choice { mcs: set[known.place], frames: frames.min(config.aggregation.frames) }
    }

    /// Records the fate of the exchange, with or without an answer.
    pub fn handle_outcome(&mut self, receiver: usize, outcome: Outcome, answered: bool) {
        let known = &mut self.receivers[receiver];
        known.minstrel.handle_result(known.place, outcome.sent, outcome.acked);
        known.unanswered = if answered { 0 } else { known.unanswered + 1 };
        known.open = false;
        if !known.is_sample {
            known.exchanges += 1;
            known.mpdus += u64::from(outcome.sent);
            known.since_sample = known.since_sample.saturating_add(outcome.sent);
        }
    }
}

impl Receiver {
    fn new(now: Time, config: &Config, set: &[Mcs], options: &minstrel::Config) -> Receiver {
        let mut receiver = Receiver {
            minstrel: Minstrel::new(now, set.len(), options),
            airtimes: vec![Dur::ZERO; set.len()],
            length: 256,
            exchanges: 0,
            mpdus: 0,
            since_sample: options.sample_gap,
            next_sample: now,
            samples: 0,
            group: 0,
            unanswered: 0,
            place: 0,
            is_sample: false,
            open: false,
        };
        receiver.reckon(config, set);
        receiver
    }

    fn end_interval(&mut self, now: Time, config: &Config, set: &[Mcs], options: &minstrel::Config) {
        if let Some(mean) = (256 * self.mpdus).checked_div(self.exchanges) {
            let weight = u64::from(options.weight.min(1_000));
            self.length = (self.length * weight + mean * (1_000 - weight)) / 1_000;
            (self.exchanges, self.mpdus) = (0, 0);
            self.reckon(config, set);
        }
        self.minstrel.end_interval(now, options, &self.airtimes);
    }

    /// Computes the air time of an MPDU at each MCS.
    fn reckon(&mut self, config: &Config, set: &[Mcs]) {
        let mpdu = with_one_more(Bytes(0), MEAN_PACKET + config.data_overhead + QOS_CONTROL);
        let each = mpdu.get().next_multiple_of(crate::wire::DELIMITER);
        let access = config.difs() + config.slot * u64::from(config.cw_min) / 2;
        for (airtime, &mcs) in self.airtimes.iter_mut().zip(set) {
            let fits = config.aggregation.longest(config, mcs, Dur::MAX).get() / each;
            let count = ((self.length + 128) / 256).min(fits).max(1);
            let answer = config.sifs + config.airtime(BLOCK_ACK, config.answer_to(mcs.reference_rate()));
            *airtime = (access + mcs.airtime(config.phy, Bytes(each * count)) + answer) / count;
        }
    }

    /// Returns the MCS to be sampled, if a sample is due.
    fn next_sample(
        &mut self,
        now: Time,
        options: &minstrel::Config,
        groups: &[Vec<usize>],
        random: &mut Stream,
    ) -> Option<usize> {
        if now < self.next_sample || self.since_sample < options.sample_gap {
            return None;
        }
        let (share, whole) = SAMPLE_SHARE;
        self.next_sample = now + options.interval * share / whole;
        self.since_sample = 0;
        let kind = SEQUENCE[self.samples % SEQUENCE.len()];
        self.samples += 1;
        let airtimes = &self.airtimes;
        let is_promising = |minstrel: &Minstrel, place: usize| {
            minstrel.would_be_better(place, airtimes) && !minstrel.has_failed(place, REST)
        };
        match kind {
            Kind::Up => {
                let minstrel = &self.minstrel;
                (0..groups.len()).find_map(|_| {
                    self.group = (self.group + 1) % groups.len();
                    groups[self.group].iter().copied().find(|&place| is_promising(minstrel, place))
                })
            }
            Kind::Any => self.minstrel.next_of(random, is_promising),
            Kind::Slow => self.minstrel.next_of(random, |minstrel, place| {
                minstrel.is_stale(place) && !minstrel.would_be_better(place, airtimes)
            }),
        }
    }
}

impl Config {
    /// Returns the MCS that unicast data may use, slowest first: with rate control all with up to the streams, channel
    /// width and index of `mcs`, and no shorter guard interval.
    pub fn mcs_set(&self) -> Vec<Mcs> {
        let Some(most) = self.mcs else { return Vec::new() };
        if matches!(self.rate_control, RateControl::Fixed) {
            return vec![most];
        }
        let format = most.format();
        let widths = format.widths().iter().filter(|&&width| width <= most.width());
        let kinds = widths.flat_map(|&width| format.guards().iter().map(move |&guard| (width, guard)));
        let mut set: Vec<Mcs> = kinds
            .filter(|&(_, guard)| guard >= most.guard())
            .flat_map(|(width, guard)| Mcs::all(format, most.streams(), width, guard))
            .filter(|mcs| mcs.index() <= most.index())
            .collect();
        // At equal rates the one with fewer streams, which has the longer range, comes first.
        set.sort_by_key(|mcs| (mcs.rate(), *mcs));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::PhyKind;
    use crate::phy::mcs::{Format, Guard, Width};
    use fourhop_units::{NodeId, Rate};

    fn config(mcs: Mcs) -> Config {
        Config {
            mcs: Some(mcs),
            data_rate: mcs.rate(),
            basic_rate: Rate::kbps(6_000),
            rate_control: RateControl::Minstrel(minstrel::Config::mac80211()),
            ..Config::standard().with_phy(PhyKind::Ofdm)
        }
    }

    fn mcs(index: u8, streams: u8, guard: Guard) -> Mcs {
        Mcs::new(Format::Ht, index, streams, Width::Mhz20, guard).unwrap()
    }

    /// A sender that always has packets of 1200 bytes for one receiver.
    struct Bench {
        config: Config,
        control: McsControl,
        now: Time,
        chance: Stream,
    }

    /// MCS and duration of each exchange.
    type Spent = Vec<(Mcs, Dur)>;

    impl Bench {
        fn new(most: Mcs) -> Bench {
            let config = config(most);
            let mut control = McsControl::new(&config).unwrap();
            control.sample_by(Stream::new(1, NodeId(0), Purpose::RateControl));
            Bench { config, control, now: Time::ZERO, chance: Stream::new(2, NodeId(0), Purpose::RateControl) }
        }

        /// Sends for `time` over a link on which MPDUs arrive with probability `share` for each MCS.
        fn send(&mut self, time: Dur, share: impl Fn(Mcs) -> f64) -> Spent {
            let mut spent = Spent::new();
            let until = self.now + time;
            while self.now < until {
                let Choice { mcs, frames } = self.control.choose(self.now, 0, &self.config);
                let fits = self.config.aggregation.longest(&self.config, mcs, Dur::MAX).get() / 1244;
                let sent = frames.min(fits as u32).max(1);
                let acked = (0..sent).filter(|_| self.chance.unit() < share(mcs)).count() as u32;
                let lasts = mcs.airtime(self.config.phy, Bytes(1244 * u64::from(sent))) + Dur::from_micros(200);
                self.now += lasts;
                let outcome = Outcome { sent, acked, acked_packets: u64::from(acked) };
                self.control.handle_outcome(0, outcome, acked > 0);
                match spent.iter_mut().find(|(other, _)| *other == mcs) {
                    Some((_, sum)) => *sum += lasts,
                    None => spent.push((mcs, lasts)),
                }
            }
            spent
        }

        /// Returns the MCS with the most time, and its share of the time.
        fn mostly(spent: &Spent) -> (Mcs, f64) {
            let all: f64 = spent.iter().map(|(_, time)| time.as_secs_f64()).sum();
            let &(mcs, time) = spent.iter().max_by_key(|(_, time)| *time).unwrap();
            (mcs, time.as_secs_f64() / all)
        }
    }

    #[test]
    fn the_set_has_every_mcs_up_to_the_highest() {
        let most = Mcs::new(Format::Ht, 7, 2, Width::Mhz40, Guard::Ns400).unwrap();
        let set = config(most).mcs_set();
        assert_eq!(set.len(), 8 * 2 * 2 * 2);
        assert!(set.is_sorted_by_key(|mcs| mcs.rate()));
        assert_eq!((set[0], *set.last().unwrap()), (mcs(0, 1, Guard::Ns800), most));
        let narrow = config(mcs(5, 1, Guard::Ns800)).mcs_set();
        assert_eq!(narrow, (0..=5).map(|index| mcs(index, 1, Guard::Ns800)).collect::<Vec<_>>());
        // 10 in each of 24 groups, less 9 in 20 MHz except for three streams, and 6 in 80 MHz with three.
        let vht = Mcs::new(Format::Vht, 9, 4, Width::Mhz80, Guard::Ns400).unwrap();
        assert_eq!(config(vht).mcs_set().len(), 240 - 2 * 3 - 2);
        let fixed = Config { rate_control: RateControl::Fixed, ..config(most) };
        assert_eq!(fixed.mcs_set(), [most]);
        assert!(McsControl::new(&fixed).is_none());
    }

    // 1,242 bytes with a delimiter, 1,244 in a sequence: at 65 Mbit/s 39 symbols, and 36 us before the first. To these
    // add DIFS, half the back-off of 15 slots, SIFS and the BlockAck at 6 Mbit/s.
    #[test]
    fn an_mpdu_takes_its_part_of_an_aggregate() {
        let config = config(mcs(7, 1, Guard::Ns800));
        let set = config.mcs_set();
        let mut receiver = Receiver::new(Time::ZERO, &config, &set, &minstrel::Config::mac80211());
        let around = Dur::from_nanos(34_000 + 67_500 + 16_000 + 68_000);
        assert_eq!(receiver.airtimes[7], around + Dur::from_micros(36 + 4 * 39));
        (receiver.exchanges, receiver.mpdus) = (3, 90);
        for at in [50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800] {
            (receiver.exchanges, receiver.mpdus) = (3, 90);
            receiver.end_interval(Time::from_millis(at), &config, &set, &minstrel::Config::mac80211());
        }
        // At most 30 MPDUs fit into 5.484 ms at 65 Mbit/s, 3 at 6.5.
        let each = |symbols: u64, count: u64| (around + Dur::from_micros(36 + 4 * symbols)) / count;
        assert_eq!((receiver.length + 128) / 256, 30);
        assert_eq!((receiver.airtimes[7], receiver.airtimes[0]), (each(1149, 30), each(1150, 3)));
    }

    #[test]
    fn it_finds_the_mcs_that_carries_most() {
        let shares = |mcs: Mcs| [1.0, 1.0, 1.0, 0.98, 0.9, 0.3, 0.02, 0.0][usize::from(mcs.index())];
        let mut bench = Bench::new(mcs(7, 1, Guard::Ns400));
        bench.send(Dur::from_secs(1), shares);
        let (found, share) = Bench::mostly(&bench.send(Dur::from_secs(4), shares));
        assert_eq!(found, mcs(4, 1, Guard::Ns400));
        assert!(share > 0.93, "{share}");
    }

    // Two streams at index 3 carry as much as one at 5 would, and arrive; one at 5 does not.
    #[test]
    fn streams_are_tried_beside_indices() {
        let shares = |mcs: Mcs| f64::from(mcs.index() <= if mcs.streams() == 1 { 4 } else { 3 });
        let mut bench = Bench::new(mcs(7, 2, Guard::Ns400));
        bench.send(Dur::from_secs(1), shares);
        let (found, share) = Bench::mostly(&bench.send(Dur::from_secs(4), shares));
        assert_eq!(found, mcs(3, 2, Guard::Ns400));
        assert!(share > 0.93, "{share}");
    }

    #[test]
    fn it_falls_back_at_once_and_comes_up_again() {
        let up_to = |most: u8| move |mcs: Mcs| f64::from(mcs.index() <= most);
        let mut bench = Bench::new(mcs(7, 1, Guard::Ns800));
        bench.send(Dur::from_secs(1), up_to(7));
        assert_eq!(Bench::mostly(&bench.send(Dur::from_secs(1), up_to(7))).0.index(), 7);
        bench.send(Dur::from_millis(300), up_to(2));
        let (worse, share) = Bench::mostly(&bench.send(Dur::from_secs(1), up_to(2)));
        assert!(worse.index() == 2 && share > 0.85, "{worse:?} {share}");
        bench.send(Dur::from_secs(2), up_to(7));
        let (better, share) = Bench::mostly(&bench.send(Dur::from_secs(1), up_to(7)));
        assert!(better.index() == 7 && share > 0.93, "{better:?} {share}");
    }

    // One MPDU in a hundred at 65 Mbit/s, next to 58.5 at which all arrive: a few lucky MPDUs are no reason to switch.
    #[test]
    fn a_lucky_sample_is_believed_no_longer_than_an_interval() {
        let shares = |mcs: Mcs| if mcs.index() == 7 { 0.6 } else { 1.0 };
        let mut bench = Bench::new(mcs(7, 1, Guard::Ns800));
        bench.send(Dur::from_secs(1), shares);
        let (found, share) = Bench::mostly(&bench.send(Dur::from_secs(10), shares));
        assert!(found.index() == 6 && share > 0.9, "{found:?} {share}");
    }

    // Samples are rare and short: at most one in 20 ms, of four MPDUs.
    #[test]
    fn samples_take_little_time() {
        let mut bench = Bench::new(mcs(7, 1, Guard::Ns800));
        bench.send(Dur::from_secs(1), |_| 1.0);
        let mut samples = Vec::new();
        let until = bench.now + Dur::from_secs(2);
        while bench.now < until {
            let Choice { frames, .. } = bench.control.choose(bench.now, 0, &bench.config);
            if frames == SAMPLE_FRAMES {
                samples.push(bench.now);
            }
            bench.control.handle_outcome(0, Outcome { sent: frames, acked: frames, acked_packets: 1 }, true);
            bench.now += Dur::from_millis(5);
        }
        assert!(samples.len() > 10 && samples.len() <= 100, "{}", samples.len());
        assert!(samples.windows(2).all(|pair| pair[1] - pair[0] >= Dur::from_millis(20)));
    }

    // Without an answer the exchange is repeated down the chain; one that was not sent carries no information and is
    // not chosen anew.
    #[test]
    fn repeats_go_down_the_chain_and_what_was_not_sent_is_chosen_again() {
        let mut bench = Bench::new(mcs(7, 1, Guard::Ns800));
        bench.send(Dur::from_secs(2), |mcs| if mcs.index() == 7 { 0.9 } else { 1.0 });
        let mut next = |now| bench.control.choose(now, 0, &bench.config);
        let now = bench.now;
        let first = next(now);
        assert_eq!([next(now), next(now)], [first; 2]);
        let chain = bench.control.receivers[0].minstrel.clone();
        for (unanswered, place) in (1..7).map(|attempt| (attempt, chain.rate(attempt, bench.config.short_retry_limit)))
        {
            bench.control.handle_outcome(0, Outcome { sent: 4, acked: 0, acked_packets: 0 }, false);
            let again = bench.control.choose(now, 0, &bench.config);
            assert_eq!((again.mcs, bench.control.receivers[0].unanswered), (bench.control.set[place], unanswered));
            assert_eq!(again.frames, 64);
        }
    }

    // mac80211's Minstrel-HT averages the MPDUs per aggregate: here 16, except for the samples of four.
    #[test]
    fn the_mean_length_is_that_of_the_aggregates_sent() {
        let mut bench = Bench::new(mcs(7, 1, Guard::Ns800));
        bench.config.aggregation.frames = 16;
        bench.send(Dur::from_secs(3), |_| 1.0);
        assert_eq!((bench.control.receivers[0].length + 128) / 256, 16);
    }

    // If stations drew the same numbers, they would sample the same MCS at the same time.
    #[test]
    fn stations_draw_their_samples_from_streams_of_their_own() {
        let tried = |node: u32| {
            let mut bench = Bench::new(mcs(7, 2, Guard::Ns400));
            bench.control.sample_by(Stream::new(1, NodeId(node), Purpose::RateControl));
            let mut samples = Vec::new();
            for _ in 0..1_000 {
                bench.now += Dur::from_millis(2);
                let Choice { mcs, frames } = bench.control.choose(bench.now, 0, &bench.config);
                samples.extend((frames == SAMPLE_FRAMES).then_some(mcs));
                bench.control.handle_outcome(0, Outcome { sent: frames, acked: frames, acked_packets: 1 }, true);
            }
            samples
        };
        assert_eq!(tried(0), tried(0));
        assert_ne!(tried(0), tried(1));
    }
}
