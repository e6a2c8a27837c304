//! Minstrel-HT over synthetic channels, and beside it that of Linux: `benches/minstrel/run.py` builds the latter.
//!
//! ```text
//! cargo run --release -p fourhop-proto --example minstrel -- SEED STREAMS [PROGRAM]    # PROGRAM: driver.c, compiled
//! ```
//!
//! One link of 802.11n in 20 MHz always has packets of 1,500 bytes. An exchange lasts DIFS, the mean back-off, the
//! PPDU, SIFS and the BlockAck; an aggregate has what fits into the longest PPDU and 65,535 bytes. MPDUs arrive
//! independently of each other, as the ratio of signal to noise says. If none arrives there is no answer, and the rate
//! control's next choice follows.
//!
//! Output, in rows: channel; control (`linux`, `ours`, or `best`, the best fixed MCS of a steady channel); kbit/s; the
//! MCS with most air time; its share in per cent. After a step: the ms until 100 ms carry 90 % of what the last 15 s
//! do.

use fourhop_proto::mac::aggregate::rates::McsControl;
use fourhop_proto::mac::aggregate::{Choice, Outcome, WINDOW};
use fourhop_proto::mac::{BLOCK_ACK, Config, QOS_CONTROL, RateControl, minstrel};
use fourhop_proto::phy::error_rate::Mode;
use fourhop_proto::phy::mcs::{Format, Guard, PPDU_MAX, Width};
use fourhop_proto::phy::{Mcs, PhyKind};
use fourhop_units::{Bytes, Dur, NodeId, Purpose, Rate, Stream, Time};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const PACKET: Bytes = Bytes(1_500);
const RUN: u64 = 60;
/// Size of the bins of goodput after a step, in ms.
const BIN: u64 = 100;

/// How the signal strength changes, in dB over noise.
#[derive(Clone, Copy)]
enum Course {
    Steady(f64),
    /// From the first to the second value at half time.
    Step(f64, f64),
    /// Around a mean, normal with a standard deviation of 5 dB, correlation exp(-t / this many seconds).
    Fading(f64, f64),
}

impl Course {
    /// The strength, one value per 10 ms.
    fn values(self, random: &mut Stream) -> Vec<f64> {
        let mut deviation = 0.0;
        let value = |at: u64| match self {
            Course::Steady(db) => db,
            Course::Step(from, to) => {
                if at < RUN * 50 {
                    from
                } else {
                    to
                }
            }
            Course::Fading(mean, seconds) => {
                let kept = f64::exp(-0.01 / seconds);
                let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                deviation = kept * deviation + f64::sqrt(1.0 - kept * kept) * 5.0 * normal;
                mean + deviation
            }
        };
        (0..RUN * 100).map(value).collect()
    }
}

/// Linux's rate control, which runs as a process, and the position in its retry chain.
struct Linux {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    chain: Vec<(Mcs, u32)>,
    stage: usize,
    tries: u32,
    /// Most MPDUs of an aggregate: a sample has one, and a repeat no more than the aggregate that it repeats.
    frames: u32,
    report: String,
}

enum Control {
    Ours(Box<McsControl>),
    Linux(Box<Linux>),
}

impl Control {
    fn ours(config: &Config, seed: u64) -> Control {
        let mut control = McsControl::new(config).expect("rates are not fixed");
        control.sample_by(Stream::new(seed, NodeId(0), Purpose::RateControl));
        Control::Ours(Box::new(control))
    }

    fn linux(program: &str, seed: u64, config: &Config) -> Control {
        let command = &mut Command::new(program);
        let streams = config.mcs.map_or(1, Mcs::streams);
        let command =
            command.args([seed.to_string(), streams.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the program starts");
        let input = process.stdin.take().expect("it is a pipe");
        let output = BufReader::new(process.stdout.take().expect("it is a pipe"));
        let (chain, report) = (Vec::new(), String::new());
        Control::Linux(Box::new(Linux { process, input, output, chain, stage: 0, tries: 0, frames: 0, report }))
    }

    fn choose(&mut self, now: Time, config: &Config) -> Choice {
        match self {
            Control::Ours(control) => control.choose(now, 0, config),
            Control::Linux(linux) => linux.choose(now),
        }
    }

    fn handle(&mut self, outcome: Outcome) {
        match self {
            Control::Ours(control) => control.handle_outcome(0, outcome, outcome.acked > 0),
            Control::Linux(linux) => linux.handle(outcome),
        }
    }
}

impl Linux {
    fn choose(&mut self, now: Time) -> Choice {
        if self.stage == self.chain.len() {
            let mut line = String::new();
            writeln!(self.input, "{}{}", now.as_nanos() / 1_000, self.report).expect("it reads");
            self.output.read_line(&mut line).expect("it answers");
            let numbers: Vec<u32> = line.split_whitespace().map(|word| word.parse().expect("a number")).collect();
            self.chain = numbers[1..].chunks(2).map(|pair| (mcs(pair[0] as u8), pair[1])).collect();
            (self.stage, self.tries, self.frames) = (0, 0, if numbers[0] == 1 { 1 } else { WINDOW as u32 });
            self.report.clear();
        }
        Choice { mcs: self.chain[self.stage].0, frames: self.frames }
    }

    fn handle(&mut self, Outcome { sent, acked, .. }: Outcome) {
        let (mcs, tries) = self.chain[self.stage];
        (self.tries, self.frames) = (self.tries + 1, sent);
        if acked > 0 || self.tries == tries {
            self.report += &format!(" {} {} {sent} {acked}", number(mcs), self.tries);
            (self.stage, self.tries) = (if acked > 0 { self.chain.len() } else { self.stage + 1 }, 0);
        }
    }
}

impl Drop for Linux {
    fn drop(&mut self) {
        // It may have ended by itself, on bad input.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// MCS 0 to 15 of 802.11n.
fn mcs(number: u8) -> Mcs {
    Mcs::new(Format::Ht, number % 8, number / 8 + 1, Width::Mhz20, Guard::Ns800).expect("there is one")
}

fn number(mcs: Mcs) -> usize {
    usize::from(mcs.index() + 8 * (mcs.streams() - 1))
}

/// MPDUs in an aggregate of at most `frames`, and the duration of the exchange.
fn exchange(config: &Config, mcs: Mcs, frames: u32) -> (u32, Dur) {
    let each = (PACKET + config.data_overhead + QOS_CONTROL).get().next_multiple_of(4) + 4;
    let longest = mcs.longest_within(config.phy, PPDU_MAX).min(mcs.format().longest_aggregate());
    let sent = frames.min((longest.get() / each) as u32).max(1);
    let access = config.difs() + config.slot * u64::from(config.cw_min) / 2;
    let answer = config.sifs + config.airtime(BLOCK_ACK, config.answer_to(mcs.reference_rate()));
    (sent, access + mcs.airtime(config.phy, Bytes(each * u64::from(sent))) + answer)
}

/// Probability that an MPDU arrives.
fn success(config: &Config, mcs: Mcs, db: f64) -> f64 {
    let bits = (PACKET + config.data_overhead + QOS_CONTROL).bits() as f64;
    let ratio = f64::powf(10.0, db / 10.0) * mcs.ratio_to_ofdm();
    f64::exp(-bits * Mode::Ofdm(mcs.coded()).curve().at(ratio))
}

/// The row of a run, without channel and control. `lost` is the percentage of aggregates that are lost as a whole.
fn run(config: &Config, mut control: Control, course: Course, lost: u32, seed: u64) -> String {
    let values = course.values(&mut Stream::new(seed, NodeId(0), Purpose::Channel));
    let mut random = Stream::new(seed, NodeId(1), Purpose::Channel);
    let (mut now, end) = (Time::ZERO, Time::from_millis(1_000 * RUN));
    let (mut spent, mut bins) = ([Dur::ZERO; 16], vec![0; (RUN * 1_000 / BIN) as usize]);
    while now < end {
        let Choice { mcs, frames } = control.choose(now, config);
        let (sent, lasts) = exchange(config, mcs, frames);
        let at = now.as_nanos() / 1_000_000;
        let collides = random.below(100) < lost;
        let share = if collides { 0.0 } else { success(config, mcs, values[(at / 10) as usize]) };
        let acked = (0..sent).filter(|_| random.unit() < share).count() as u32;
        control.handle(Outcome { sent, acked, acked_packets: u64::from(acked) });
        spent[number(mcs)] += lasts;
        bins[(at / BIN) as usize] += u64::from(acked) * PACKET.bits();
        now += lasts;
    }
    let most = (0..16).max_by_key(|&place| spent[place]).expect("there are 16");
    let share = 100.0 * spent[most].as_secs_f64() / (now - Time::ZERO).as_secs_f64();
    let second = (1_000 / BIN) as usize;
    let (from, last) = (bins.len() / 2, &bins[bins.len() - 15 * second..]);
    let enough = last.iter().sum::<u64>() * 9 / 10 / last.len() as u64;
    let late = match course {
        Course::Step(..) => bins[from..].iter().position(|&bits| bits >= enough).map(|place| (place as u64 + 1) * BIN),
        _ => None,
    };
    let late = late.map_or(String::new(), |ms| ms.to_string());
    format!("{},{most},{share:.1},{late}", bins.iter().sum::<u64>() / (1_000 * RUN))
}

/// The row of the best fixed MCS.
fn best(config: &Config, db: f64, lost: u32) -> String {
    let most = config.mcs.map_or(0, number) as u8;
    let carries = |number: u8| {
        let (sent, lasts) = exchange(config, mcs(number), WINDOW as u32);
        let arrive = success(config, mcs(number), db) * f64::from(sent * (100 - lost)) / 100.0;
        (arrive * PACKET.bits() as f64 / lasts.as_secs_f64() / 1e3, number)
    };
    let (kbps, number) = (0..=most).map(carries).max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are some");
    format!("{kbps:.0},{number},100.0,")
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().map_or(1, |word| word.parse().expect("a number"));
    let (seed, streams) = (number(), number());
    let fastest = mcs(streams as u8 * 8 - 1);
    let program = arguments.next();
    let config = Config {
        mcs: Some(fastest),
        data_rate: fastest.rate(),
        basic_rate: Rate::kbps(6_000),
        rate_control: RateControl::Minstrel(minstrel::Config::mac80211()),
        ..Config::standard().with_phy(PhyKind::Ofdm)
    };
    let steady = (2..16).map(|half| Course::Steady(f64::from(2 * half)));
    let steps = [Course::Step(13.0, 23.0), Course::Step(23.0, 13.0)];
    let fading = [1.0, 0.1].into_iter().flat_map(|seconds| [12.0, 22.0].map(|mean| Course::Fading(mean, seconds)));
    let colliding = [10.0, 19.0, 28.0].map(|db| (Course::Steady(db), 25));
    for (course, lost) in steady.chain(steps).chain(fading).map(|course| (course, 0)).chain(colliding) {
        let name = match course {
            Course::Steady(db) if lost == 0 => format!("steady {db} dB"),
            Course::Steady(db) => format!("collisions {db} dB"),
            Course::Step(from, to) => format!("step {from} to {to} dB"),
            Course::Fading(mean, seconds) => format!("fading around {mean} dB in {seconds} s"),
        };
        println!("{name},ours,{}", run(&config, Control::ours(&config, seed), course, lost, seed));
        if let Some(program) = &program {
            println!("{name},linux,{}", run(&config, Control::linux(program, seed, &config), course, lost, seed));
        }
        if let Course::Steady(db) = course {
            println!("{name},best,{}", best(&config, db, lost));
        }
    }
}
