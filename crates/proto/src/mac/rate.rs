//! Rate control: chooses the rate of the next data frame to a neighbour.
//!
//! - ARF: Kamerman and Monteban, WaveLAN-II: a high-performance wireless LAN for the unlicensed band, Bell Labs
//!   Technical Journal 2 (3), 1997. After two consecutive missing ACKs it drops one rate. After ten consecutive ACKs
//!   it raises the rate, and drops it at once if the first frame there fails. After a number of frames since the last
//!   change it tries the next higher rate even without ten consecutive ACKs.
//! - AARF: Lacage, Manshaei and Turletti, IEEE 802.11 rate adaptation: a practical approach, MSWiM 2004. Each failed
//!   trial doubles the number of ACKs required before the next one; two consecutive failures reset it to ten.
//!
//! - Minstrel: [`super::minstrel`]; for 802.11n and later [`super::aggregate::rates`].
//!
//! Every transmission of a data frame counts, retries included; a missing CTS does not, since it says nothing about the
//! data rate. Not implemented: rate selection by signal strength. The timer of 1997 is counted in frames, as in the
//! AARF paper.

use super::config::{Config, RateControl};
use super::minstrel::{self, Minstrel};
use super::sizes::MEAN_PACKET;
use crate::phy::TxRate;
use fourhop_units::{Dur, MacAddr, Purpose, Rate, Stream, Time};

/// State per neighbour.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    addr: MacAddr,
    /// Index into the rates of the physical layer.
    rate: usize,
    acks: u32,
    missing: u32,
    frames: u32,
    /// Factor by which trials have become rarer.
    patience: u32,
    /// Whether the rate is new, so that the first missing ACK reverts it.
    trial: bool,
}

/// Minstrel's state per neighbour.
#[derive(Clone, Debug)]
struct Sampled {
    addr: MacAddr,
    minstrel: Minstrel,
    /// Attempts of the current packet so far, and the rate of the last.
    attempts: u32,
    rate: usize,
}

/// Minstrel for all neighbours of a station.
#[derive(Clone, Debug)]
struct Samples {
    random: Stream,
    /// Air time of a packet at each rate; empty before the first.
    airtimes: Vec<Dur>,
    neighbours: Vec<Sampled>,
}

/// Rates to all neighbours of a station.
///
/// Call [`Rates::begin`] before the first data frame of a packet and [`Rates::again`] before each retry, then
/// [`Rates::handle_ack`] or [`Rates::handle_missing_ack`]. There are no timers.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    neighbours: Vec<Neighbour>,
    samples: Option<Box<Samples>>,
}

impl Rates {
    /// Draws the order in which rates are tried from `random`. Without it, the order is the same at every station.
    pub fn sample_by(&mut self, random: Stream) {
        self.samples = Some(Box::new(Samples { random, airtimes: Vec::new(), neighbours: Vec::new() }));
    }

    /// Returns the rate of the first data frame of a packet to `addr`.
    pub fn begin(&mut self, now: Time, addr: MacAddr, config: &Config) -> Rate {
        match config.rate_control {
            RateControl::Fixed => config.single_rate(),
            RateControl::Arf(_) => self.of_ladder(addr, config),
            RateControl::Minstrel(options) => {
                let samples = self.samples.get_or_insert_with(|| {
                    let random = Stream::global(0, Purpose::RateControl);
                    Box::new(Samples { random, airtimes: Vec::new(), neighbours: Vec::new() })
                });
                let place = samples.begin(now, addr, config, &options);
                ladder(config)[place]
            }
        }
    }

    /// Returns the rate of the next retry, for a packet with at most `limit` attempts.
    pub fn again(&mut self, addr: MacAddr, limit: u32, config: &Config) -> Rate {
        match config.rate_control {
            RateControl::Fixed => config.single_rate(),
            RateControl::Arf(_) => self.of_ladder(addr, config),
            RateControl::Minstrel(_) => match self.sampled(addr) {
                Some(sampled) => {
                    sampled.rate = sampled.minstrel.rate(sampled.attempts, limit);
                    ladder(config)[sampled.rate]
                }
                None => config.single_rate(),
            },
        }
    }

    /// Returns the rate that most packets to `addr` would use: the highest for a neighbour without any packets so far.
    pub fn present(&self, addr: MacAddr, config: &Config) -> Rate {
        let known = self.neighbours.iter().find(|neighbour| neighbour.addr == addr).map(|neighbour| neighbour.rate);
        let sampled = || {
            let samples = &self.samples.as_ref()?.neighbours;
            samples.iter().find(|neighbour| neighbour.addr == addr).map(|neighbour| neighbour.minstrel.present())
        };
        known.or_else(sampled).map_or(config.single_rate(), |place| ladder(config)[place])
    }

    fn of_ladder(&mut self, addr: MacAddr, config: &Config) -> Rate {
        ladder(config)[self.neighbour(addr, config).rate]
    }

    fn sampled(&mut self, addr: MacAddr) -> Option<&mut Sampled> {
        self.samples.as_mut()?.neighbours.iter_mut().find(|neighbour| neighbour.addr == addr)
    }

    fn neighbour(&mut self, addr: MacAddr, config: &Config) -> &mut Neighbour {
        let known = &mut self.neighbours;
        let place = known.iter().position(|neighbour| neighbour.addr == addr).unwrap_or_else(|| {
            let rate = ladder(config).len() - 1;
            known.push(Neighbour { addr, rate, acks: 0, missing: 0, frames: 0, patience: 1, trial: false });
            known.len() - 1
        });
        &mut known[place]
    }

    fn handle_sampled(&mut self, addr: MacAddr, acknowledged: bool) {
        if let Some(sampled) = self.sampled(addr) {
            sampled.minstrel.handle_result(sampled.rate, 1, u32::from(acknowledged));
            sampled.attempts += 1;
        }
    }

    /// A data frame to `addr` was acknowledged.
    pub fn handle_ack(&mut self, addr: MacAddr, config: &Config) {
        let arf = match config.rate_control {
            RateControl::Fixed => return,
            RateControl::Arf(arf) => arf,
            RateControl::Minstrel(_) => return self.handle_sampled(addr, true),
        };
        let highest = ladder(config).len() - 1;
        let neighbour = self.neighbour(addr, config);
        neighbour.acks += 1;
        neighbour.frames += 1;
        (neighbour.missing, neighbour.trial) = (0, false);
        let due =
            neighbour.acks >= arf.up_after * neighbour.patience || neighbour.frames >= arf.timer * neighbour.patience;
        if due && neighbour.rate < highest {
            neighbour.move_to(neighbour.rate + 1);
            neighbour.trial = true;
        }
    }

    /// A data frame to `addr` was not acknowledged.
    pub fn handle_missing_ack(&mut self, addr: MacAddr, config: &Config) {
        let arf = match config.rate_control {
            RateControl::Fixed => return,
            RateControl::Arf(arf) => arf,
            RateControl::Minstrel(_) => return self.handle_sampled(addr, false),
        };
        let neighbour = self.neighbour(addr, config);
        neighbour.frames += 1;
        neighbour.missing += 1;
        neighbour.acks = 0;
        if neighbour.trial || neighbour.missing >= arf.down_after {
            neighbour.patience = match arf.adaptive {
                Some(most) if neighbour.trial => (2 * neighbour.patience).min((most / arf.up_after).max(1)),
                _ => 1,
            };
            neighbour.move_to(neighbour.rate.saturating_sub(1));
        }
    }
}

impl Samples {
    /// Starts a packet to `addr` and returns the index of its rate.
    fn begin(&mut self, now: Time, addr: MacAddr, config: &Config, options: &minstrel::Config) -> usize {
        let Samples { random, airtimes, neighbours } = self;
        if airtimes.is_empty() {
            airtimes.extend(ladder(config).iter().map(|&rate| {
                config.data_airtime(MEAN_PACKET, rate) + config.sifs + config.answer_airtime(config.answer_to(rate))
            }));
        }
        let place = neighbours.iter().position(|neighbour| neighbour.addr == addr).unwrap_or_else(|| {
            let minstrel = Minstrel::new(now, airtimes.len(), options);
            neighbours.push(Sampled { addr, minstrel, attempts: 0, rate: 0 });
            neighbours.len() - 1
        });
        let sampled = &mut neighbours[place];
        sampled.minstrel.begin(now, options, airtimes, random);
        (sampled.attempts, sampled.rate) = (0, sampled.minstrel.rate(0, u32::MAX));
        sampled.rate
    }
}

impl Neighbour {
    fn move_to(&mut self, rate: usize) {
        self.rate = rate;
        (self.acks, self.missing, self.frames, self.trial) = (0, 0, 0, false);
    }
}

impl Config {
    /// Returns the rates that unicast data without MCS may use, lowest first.
    fn data_rates(&self) -> &[Rate] {
        match self.rate_control {
            RateControl::Fixed => core::slice::from_ref(&self.data_rate),
            RateControl::Arf(_) | RateControl::Minstrel(_) => ladder(self),
        }
    }

    /// Returns how unicast data may be sent, lowest rate first.
    pub fn data_txs(&self) -> impl Iterator<Item = TxRate> {
        let legacy = if self.mcs.is_some() { &[] } else { self.data_rates() };
        legacy.iter().copied().map(TxRate::Legacy).chain(self.mcs_set().into_iter().map(TxRate::Mcs))
    }

    /// Returns the lowest of them.
    pub fn lowest_data_tx(&self) -> TxRate {
        self.data_txs().next().unwrap_or(self.data_tx())
    }
}

/// Returns the rates up to the highest allowed.
fn ladder(config: &Config) -> &'static [Rate] {
    let rates = config.phy.rates();
    let count = rates.iter().filter(|&&rate| rate <= config.single_rate()).count();
    &rates[..count.max(1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::Arf;
    use fourhop_units::NodeId;

    const ARF: Arf = Arf { up_after: 10, down_after: 2, timer: 15, adaptive: None };

    struct Bench {
        config: Config,
        rates: Rates,
    }

    impl Bench {
        fn new(arf: Arf) -> Bench {
            let config =
                Config { data_rate: Rate::kbps(11_000), rate_control: RateControl::Arf(arf), ..Config::standard() };
            Bench { config, rates: Rates::default() }
        }

        /// Returns the rate in 100 kbit/s before each frame; `+` is acknowledged, `-` is not.
        fn play(&mut self, outcomes: &str) -> Vec<u64> {
            let peer = NodeId(1).mac();
            outcomes
                .chars()
                .map(|outcome| {
                    let rate = self.rates.begin(Time::ZERO, peer, &self.config);
                    match outcome {
                        '+' => self.rates.handle_ack(peer, &self.config),
                        _ => self.rates.handle_missing_ack(peer, &self.config),
                    }
                    rate.bps() / 100_000
                })
                .collect()
        }
    }

    #[test]
    fn two_missing_acks_in_a_row_lower_the_rate_and_ten_acks_raise_it() {
        let mut bench = Bench::new(ARF);
        assert_eq!(bench.play("-+-+--"), [110, 110, 110, 110, 110, 110]);
        assert_eq!(bench.play("----"), [55, 55, 20, 20]);
        assert_eq!(bench.play("--"), [10, 10], "below the lowest there is none");
        assert_eq!(bench.play("+++++++++++"), [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 20]);
    }

    #[test]
    fn a_trial_that_fails_is_taken_back_at_once() {
        let mut bench = Bench::new(ARF);
        bench.play("--++++++++++");
        assert_eq!(bench.play("-+"), [110, 55]);
        // An ACK ends the trial: from then on it takes two failures.
        bench.play("+++++++++");
        assert_eq!(bench.play("+--+"), [110, 110, 110, 55]);
    }

    #[test]
    fn after_fifteen_frames_a_higher_rate_is_tried_in_any_case() {
        let mut bench = Bench::new(ARF);
        bench.play("--");
        assert_eq!(bench.play("+-+-+-+-+-+-+-+"), [55; 15]);
        assert_eq!(bench.play("+"), [110]);
    }

    // AARF: 10, then 20, then 40 ACKs, at most 50 (five times ten: four doublings give no more than 50).
    #[test]
    fn aarf_tries_more_seldom_after_each_failure() {
        let mut bench = Bench::new(Arf { adaptive: Some(50), ..ARF });
        bench.play("--");
        for acks in [10, 20, 40, 50, 50] {
            let before = bench.play(&"+".repeat(acks));
            assert!(before.iter().all(|&rate| rate == 55), "{acks}: {before:?}");
            assert_eq!(bench.play("-"), [110], "after {acks}");
        }
        // Two consecutive failures reset it.
        bench.play("--");
        assert_eq!(bench.play("+++++++++++")[10], 55);
    }

    #[test]
    fn above_the_highest_rate_there_is_none() {
        let mut bench = Bench::new(ARF);
        assert_eq!(bench.play(&"+".repeat(40)), [110; 40]);
        // None of these was a trial: it still takes two failures.
        assert_eq!(bench.play("--+"), [110, 110, 55]);
    }

    #[test]
    fn neighbours_have_rates_of_their_own() {
        let mut bench = Bench::new(ARF);
        bench.play("--");
        assert_eq!(bench.rates.begin(Time::ZERO, NodeId(2).mac(), &bench.config), Rate::kbps(11_000));
        assert_eq!(bench.rates.begin(Time::ZERO, NodeId(1).mac(), &bench.config), Rate::kbps(5_500));
        let slow = Config { data_rate: Rate::kbps(2_000), ..bench.config };
        assert_eq!(Rates::default().begin(Time::ZERO, NodeId(1).mac(), &slow), Rate::kbps(2_000));
        let fixed = Config { rate_control: RateControl::Fixed, ..bench.config };
        assert_eq!(bench.rates.begin(Time::ZERO, NodeId(1).mac(), &fixed), Rate::kbps(11_000));
    }

    /// Minstrel for single frames: each neighbour has separate averages, and `present` is the rate of most packets.
    #[test]
    fn minstrel_finds_a_rate_for_each_neighbour() {
        let mut bench = Bench::new(ARF);
        bench.config.rate_control = RateControl::Minstrel(minstrel::Config::mac80211());
        let [near, far] = [1, 2].map(|id| NodeId(id).mac());
        bench.rates.sample_by(Stream::new(1, NodeId(0), Purpose::RateControl));
        assert_eq!(bench.rates.present(near, &bench.config), Rate::kbps(11_000), "nothing was sent");
        for packet in 0..1_000 {
            let now = Time::from_millis(packet);
            for (peer, reaches) in [(near, Rate::kbps(11_000)), (far, Rate::kbps(2_000))] {
                let mut rate = bench.rates.begin(now, peer, &bench.config);
                for _ in 1..7 {
                    if rate <= reaches {
                        bench.rates.handle_ack(peer, &bench.config);
                        break;
                    }
                    bench.rates.handle_missing_ack(peer, &bench.config);
                    rate = bench.rates.again(peer, 7, &bench.config);
                }
            }
        }
        assert_eq!(bench.rates.present(near, &bench.config), Rate::kbps(11_000));
        assert_eq!(bench.rates.present(far, &bench.config), Rate::kbps(2_000));
    }
}
