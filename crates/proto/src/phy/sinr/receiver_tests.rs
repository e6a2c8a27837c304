//! Each case draws the frames at one receiver. Powers are relative to the noise.

use super::*;
use crate::phy::PhyKind;
use crate::phy::sinr::config::Errors;
use crate::wire::{Aggregate, Attempt, Category, Foreign, Format, FrameKind, Guard, Mcs, Mpdu, Msdu, Payload, Width};
use fourhop_units::{Bytes, Dur, NodeId, Purpose};

const NOISE: f64 = 1e-12;

fn config() -> Config {
    Config {
        phy: PhyKind::Dsss,
        plcp: Dur::from_micros(192),
        width: Width::Mhz20,
        noise: Watt(NOISE),
        implementation_loss: 1.0,
        errors: Errors::ByRate,
        sensitivity: Watt(0.0),
        preamble_sinr: 1.0,
        capture: FrameCapture::Preamble,
        capture_ratio: 10.0,
        cca_energy: Watt(1e4 * NOISE),
        cca_preamble: true,
    }
}

struct Bench {
    receiver: Receiver,
    rate: Rate,
}

impl Bench {
    fn new(config: Config) -> Bench {
        let random = Stream::new(1, NodeId(0), Purpose::Channel);
        Bench { receiver: Receiver::new(config, random), rate: Rate::kbps(11_000) }
    }

    fn frame(&self, airtime: Dur) -> Frame {
        let (dst, src) = (NodeId(0).mac(), NodeId(1).mac());
        Frame { dst, src, duration: Dur::ZERO, rate: self.rate, airtime, kind: FrameKind::Ack }
    }

    fn arrive(&mut self, tx: u32, strength: f64, at_us: u64, end_us: u64) -> bool {
        let frame = self.frame(Dur::from_micros(end_us - at_us));
        let end = Time::from_micros(end_us);
        self.receiver.arrive(Time::from_micros(at_us), copy(tx, strength, end), &frame, false)
    }

    fn depart(&mut self, tx: u32, at_us: u64) -> Departure {
        self.receiver.depart(Time::from_micros(at_us), NodeId(tx), false).0
    }
}

/// A copy from node `src`.
fn copy(src: u32, strength: f64, end: Time) -> Arrival {
    Arrival { src: NodeId(src), power: Watt(NOISE * strength), end, reserved: Time::ZERO, rts: false }
}

const GOOD: Departure = Departure::Judged(Verdict::Good);
const COLLISION: Departure = Departure::Judged(Verdict::Bad(DropReason::Collision));

/// Returns how many of `count` frames of `length` at `rate` are received at `snr`.
fn received(config: Config, rate: Rate, length: Bytes, snr: f64, count: u32) -> u32 {
    let mut bench = Bench::new(config);
    bench.rate = rate;
    let airtime = config.phy.airtime(config.plcp, length, rate);
    (0..count)
        .filter(|&n| {
            let start = Time::from_millis(20 * u64::from(n) + 20);
            let _ = bench.receiver.arrive(start, copy(n, snr, start + airtime), &bench.frame(airtime), false);
            bench.receiver.depart(start + airtime, NodeId(n), false).0 == GOOD
        })
        .count() as u32
}

// One sender, no fading: the fraction of lost frames is that of the error rates, within four standard deviations of
// 4,000 trials, for every rate of 802.11b, a and g.
#[test]
fn alone_on_the_air_frames_are_lost_as_often_as_the_formula_says() {
    for kind in [PhyKind::Dsss, PhyKind::Ofdm, PhyKind::ErpOfdm] {
        let config = Config { phy: kind, plcp: kind.plcp(), preamble_sinr: 0.1, ..config() };
        for &rate in kind.rates() {
            let length = Bytes(1000);
            for target in [0.3, 0.9] {
                let snr = config.power_for(target, length, rate).0 / NOISE;
                let p = config.success(Watt(NOISE * snr), length, rate);
                assert!((p - target).abs() < 0.02, "{rate}: {p}");
                let trials = 4_000;
                let found = f64::from(received(config, rate, length, snr, trials)) / f64::from(trials);
                let sigma = (p * (1.0 - p) / f64::from(trials)).sqrt();
                assert!((found - p).abs() < 4.0 * sigma, "{kind:?} {rate}: {found}, {p} +- {sigma}");
            }
        }
    }
}

// The formula itself, checked by hand: 64 bits of delimiter and header at 1 Mbit/s and 8,000 bits of DBPSK.
#[test]
fn success_is_the_product_over_all_bits() {
    let snr = 0.45;
    let bit = 1.0 - 0.5 * f64::exp(-22.0 * snr);
    let config = Config { preamble_sinr: 0.1, ..config() };
    let found = config.success(Watt(NOISE * snr), Bytes(1000), Rate::kbps(1_000));
    assert!((found / bit.powi(8064) - 1.0).abs() < 2e-3, "{found} {}", bit.powi(8064));
}

//   1 |===========================|     100 times the noise
//   2        |~~~~~|                    as strong
#[test]
fn interference_counts_for_as_long_as_it_lasts() {
    // 10 or 20 us at a low ratio (110, 220 bits at 11 Mbit/s), and most of the payload at a higher one.
    let survivors = |end_us: u64, strength: f64| {
        (0..400)
            .filter(|&n| {
                let mut bench = Bench::new(config());
                bench.receiver.random = Stream::new(n, NodeId(0), Purpose::Channel);
                bench.arrive(1, 100.0, 0, 1_000);
                bench.arrive(2, strength, 500, end_us);
                bench.depart(2, end_us);
                bench.depart(1, 1_000) == GOOD
            })
            .count() as f64
            / 400.0
    };
    let config = config();
    for (end_us, strength) in [(510, 70.0), (520, 70.0), (900, 50.0)] {
        let sinr = 100.0 / (1.0 + strength);
        let hazard = config.hazard(Mode::Cck11, sinr) * 11.0 * (end_us - 500) as f64;
        let (p, found) = ((-hazard).exp(), survivors(end_us, strength));
        assert!((0.05..0.98).contains(&p), "{p}");
        assert!((found - p).abs() < 4.0 * (p * (1.0 - p) / 400.0).sqrt(), "{end_us} us: {found}, {p}");
    }
}

// Three copies, each harmless alone, together destroy a frame: powers add up.
#[test]
fn interference_is_a_sum() {
    for (others, expected) in [(1, GOOD), (3, COLLISION)] {
        let mut bench = Bench::new(Config { errors: Errors::Ratio(10.0), ..config() });
        bench.arrive(0, 400.0, 0, 1_000);
        (1..=others).for_each(|tx| {
            bench.arrive(tx, 20.0, 300, 900);
        });
        (1..=others).for_each(|tx| {
            bench.depart(tx, 900);
        });
        assert_eq!(bench.depart(0, 1_000), expected, "{others} others");
    }
}

//   1 |=pre=|=====|          the later frame, 100 times stronger, takes over only in time
//   2    |=pre=|=====|
#[test]
fn a_stronger_frame_takes_over() {
    let outcomes = |capture, at_us| {
        let mut bench = Bench::new(Config { capture, ..config() });
        bench.arrive(1, 100.0, 0, 1_000);
        bench.arrive(2, 10_000.0, at_us, 1_500);
        (bench.depart(1, 1_000), bench.depart(2, 1_500))
    };
    let taken = (Departure::Lost(DropReason::Collision), GOOD);
    assert_eq!(outcomes(FrameCapture::Preamble, 100), taken);
    assert_eq!(outcomes(FrameCapture::Any, 100), taken);
    assert_eq!(outcomes(FrameCapture::Any, 500), taken);
    let lost = (COLLISION, Departure::Lost(DropReason::Collision));
    assert_eq!(outcomes(FrameCapture::Preamble, 500), lost);
    assert_eq!(outcomes(FrameCapture::None, 500), lost);
}

// A header destroyed by a strong frame frees the receiver: the third frame is received, and the MAC sees neither of
// the others.
//   1 |=pre=hdr|==========|
//   2        |~~~|
//   3               |=pre=|=====|       1,000 times stronger than 1
#[test]
fn after_a_bad_header_the_receiver_listens_again() {
    let mut bench = Bench::new(Config { capture: FrameCapture::None, ..config() });
    bench.arrive(1, 10.0, 0, 2_000);
    bench.arrive(2, 10_000.0, 130, 192);
    assert_eq!(bench.depart(2, 192), Departure::Lost(DropReason::Collision));
    bench.arrive(3, 10_000.0, 400, 1_500);
    assert_eq!(bench.depart(3, 1_500), GOOD);
    assert_eq!(bench.depart(1, 2_000), Departure::Lost(DropReason::Collision));
}

#[test]
fn what_begins_too_weak_is_never_followed() {
    let mut bench = Bench::new(config());
    assert!(!bench.arrive(1, 0.9, 0, 500));
    assert!(!bench.receiver.busy());
    assert_eq!(bench.depart(1, 500), Departure::Lost(DropReason::Undecodable));
    let mut deaf = Bench::new(Config { sensitivity: Watt(50.0 * NOISE), ..config() });
    deaf.arrive(1, 40.0, 0, 500);
    assert_eq!(deaf.depart(1, 500), Departure::Lost(DropReason::Undecodable));
}

// Noise alone: the MAC notices, and an EIFS follows.
#[test]
fn bits_that_noise_has_spoilt_are_no_collision() {
    let mut bench = Bench::new(config());
    bench.arrive(1, 1.2, 0, 1_000);
    assert_eq!(bench.depart(1, 1_000), Departure::Judged(Verdict::Bad(DropReason::FrameError)));
}

//   1   |=============|          followed: busy by its preamble
//   2       |==================| missed: busy only by its energy
#[test]
fn carrier_sense_is_by_preamble_and_by_energy() {
    for (strength, busy) in [(9_000.0, false), (11_000.0, true)] {
        let mut bench = Bench::new(Config { capture: FrameCapture::None, ..config() });
        assert!(bench.arrive(1, 100.0, 0, 800));
        assert!(!bench.arrive(2, strength, 300, 1_200));
        bench.depart(1, 800);
        assert_eq!(bench.receiver.busy(), busy);
        bench.depart(2, 1_200);
        assert!(!bench.receiver.busy());
    }
    // With energy detection alone, a received frame leaves the medium idle.
    let mut bench = Bench::new(Config { cca_preamble: false, ..config() });
    assert!(!bench.arrive(1, 100.0, 0, 800));
    assert!(!bench.receiver.busy());
    assert_eq!(bench.depart(1, 800), GOOD);
    // Several weak copies make it busy together.
    assert!(!bench.arrive(1, 6_000.0, 1_000, 2_000));
    assert!(bench.arrive(2, 6_000.0, 1_100, 2_000));
}

#[test]
fn half_duplex_loses_what_meets_a_transmission() {
    let mut bench = Bench::new(config());
    let frame = bench.frame(Dur::from_micros(500));
    let _ = bench.receiver.arrive(Time::ZERO, copy(1, 1e3, Time::from_micros(500)), &frame, true);
    assert_eq!(bench.depart(1, 500), Departure::Lost(DropReason::HalfDuplex));
    bench.arrive(2, 1e3, 600, 1_200);
    bench.receiver.transmit_started();
    assert_eq!(bench.depart(2, 1_200), Departure::Lost(DropReason::HalfDuplex));
    assert_eq!(bench.receiver.on_air(), 0);
}

#[test]
fn the_receiver_says_whom_it_follows_and_who_ends_next() {
    let mut bench = Bench::new(config());
    assert_eq!((bench.receiver.next_departure(), bench.receiver.follows(NodeId(1))), (None, false));
    bench.arrive(1, 1e3, 0, 1_000);
    bench.arrive(2, 1.0, 10, 600);
    bench.arrive(3, 1.0, 20, 600);
    assert_eq!(bench.receiver.next_departure(), Some((Time::from_micros(600), NodeId(2))), "of two the first node");
    assert_eq!([1, 2, 3].map(|tx| bench.receiver.follows(NodeId(tx))), [true, false, false]);
    bench.depart(2, 600);
    assert_eq!(bench.receiver.next_departure(), Some((Time::from_micros(600), NodeId(3))));
    bench.depart(3, 600);
    assert_eq!(bench.receiver.next_departure(), Some((Time::from_micros(1_000), NodeId(1))));
    bench.depart(1, 1_000);
    assert_eq!((bench.receiver.next_departure(), bench.receiver.follows(NodeId(1))), (None, false));
}

/// Three MPDUs of 650 bytes at 65 Mbit/s: 36 us of preamble, then 244 us.
fn aggregate() -> Frame {
    let mcs = Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap();
    let mpdu = |seq| {
        let attempt = Attempt { rate: Rate::kbps(1_000), rts: false };
        let payload = Payload::Foreign(Foreign::new(1, &[0], &[attempt]).unwrap());
        let first = Msdu { dst: NodeId(0).mac(), len: Bytes(620), payload };
        Mpdu { seq, retry: false, len: Bytes(650), first, more: Vec::new() }
    };
    let aggregate = Aggregate { mcs, category: Category::Be, mpdus: (0..3).map(mpdu).collect() };
    let (dst, src, airtime) = (NodeId(0).mac(), NodeId(1).mac(), mcs.airtime(PhyKind::Ofdm, aggregate.len()));
    Frame { dst, src, duration: Dur::ZERO, rate: mcs.rate(), airtime, kind: FrameKind::Aggregate(Box::new(aggregate)) }
}

//   1 |=pre=|==0==|==1==|==2==|     each MPDU has its own check (clause 9.7.1): interference with one of them destroys
//   2               |~|             only that one; if none survives, the frame is lost, by noise or by others
#[test]
fn of_an_aggregate_arrives_what_nothing_has_spoilt() {
    let outcome = |strength: f64, other: Option<(u64, u64)>| {
        let ofdm = Config { phy: PhyKind::Ofdm, plcp: PhyKind::Ofdm.plcp(), capture: FrameCapture::None, ..config() };
        let (mut bench, frame) = (Bench::new(ofdm), aggregate());
        let _ = bench.receiver.arrive(Time::ZERO, copy(1, strength, Time::ZERO + frame.airtime), &frame, false);
        if let Some((from, to)) = other {
            bench.arrive(2, strength, from, to);
            bench.depart(2, to);
        }
        let departure = bench.receiver.depart(Time::ZERO + frame.airtime, NodeId(1), false).0;
        (departure, bench.receiver.arrived())
    };
    assert_eq!(aggregate().airtime, Dur::from_micros(36 + 4 * 61));
    assert_eq!(outcome(1e5, None), (GOOD, 0b111));
    assert_eq!(outcome(1e5, Some((140, 150))), (GOOD, 0b101));
    assert_eq!(outcome(1e5, Some((40, 275))), (COLLISION, 0));
    // 10 dB: enough for the header at 6 Mbit/s, but for no MPDU at 65.
    assert_eq!(outcome(10.0, None), (Departure::Judged(Verdict::Bad(DropReason::FrameError)), 0));
}
