//! Aggregates in whole networks: air times by hand, Bianchi's model, ns-3, losses of single MPDUs, and properties of
//! any aggregate.

use crate::bianchi;
use crate::common::{build, line, udp};
use fourhop_proto::mac::{self, Aggregation};
use fourhop_proto::node;
use fourhop_proto::phy::log_distance::LogDistance;
use fourhop_proto::phy::mcs::{Format, Guard, Mcs, Width};
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_proto::phy::{PhyKind, sinr};
use fourhop_proto::wire::FrameKind;
use fourhop_sim::batch::Control;
use fourhop_sim::propagation::{PathLoss, Propagation};
use fourhop_sim::scenario::load_toml;
use fourhop_sim::setup::{Radio, Setup, SinrRadio};
use fourhop_sim::{RunOptions, run};
use fourhop_units::{Bytes, Db, Dbm, Dur, Rate, Time, Watt};

const US: fn(u64) -> Dur = Dur::from_micros;

/// 802.11n at 5 GHz without RTS.
fn ht(mcs: Mcs) -> node::Config {
    let mut config = node::Config::standard();
    config.mac = mac::Config {
        data_rate: mcs.rate(),
        mcs: Some(mcs),
        basic_rate: Rate::kbps(6_000),
        rts_threshold: Bytes(1 << 20),
        ..config.mac.with_phy(PhyKind::Ofdm)
    };
    config
}

/// 65 Mbit/s.
fn mcs7() -> Mcs {
    Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap()
}

// 1,460 bytes, 28 of UDP and IP, 36 of LLC, addresses and FCS, 2 of QoS: 1,526, in a subframe 1,532. 5,484 us have room
// for 1,362 symbols of 260 bits, 44,262 bytes: 28 MPDUs of 42,894 bytes together, 1,320 symbols of 4 us after 36 us. A
// block acknowledgement takes 68 us at 6 Mbit/s.
const IN_TIME: u64 = 28;
const PPDU: u64 = 36 + 4 * 1320;
const BLOCK_ACK: u64 = 20 + 4 * 12;

#[test]
fn each_exchange_takes_what_its_frames_take() {
    let mut setup = line(ht(mcs7()), &[0.0, 200.0]);
    setup.flows.push(udp(0, 1, Time::from_millis(500), US(150)));
    let (mut world, _, recorder) = build(&setup, 1);
    world.run_until(Time::from_secs(2), &Control::new());
    let seen = recorder.seen();
    let sent: Vec<_> = seen.iter().filter(|seen| seen.sent && seen.at > Time::from_secs(1)).collect();
    assert!(sent.len() > 200);
    for pair in sent.windows(2) {
        if let FrameKind::Aggregate(aggregate) = &pair[0].frame.kind {
            assert_eq!((aggregate.mpdus.len() as u64, aggregate.len()), (IN_TIME, Bytes(IN_TIME * 1532 - 2)));
            assert_eq!((pair[0].frame.airtime, pair[0].frame.duration), (US(PPDU), US(16 + BLOCK_ACK)));
            let FrameKind::BlockAck { start, bitmap, .. } = pair[1].frame.kind else { panic!("{:?} follows", pair[1]) };
            assert_eq!((pair[1].frame.airtime, pair[1].frame.rate), (US(BLOCK_ACK), Rate::kbps(6_000)));
            // 200 m take 667 ns.
            assert_eq!(pair[1].at - pair[0].at, US(PPDU + 16) + Dur::from_nanos(667));
            // The last of them ends the window of the scoreboard.
            let last = aggregate.mpdus.last().unwrap().seq;
            assert_eq!(start.wrapping_add(63) & 0x0fff, last);
            assert_eq!(bitmap.leading_ones().min(28), 28);
        }
    }
}

// DIFS of 34 us, 7.5 slots of 9 us on average, PPDU, SIFS, block acknowledgement, 2 * 0.667 us of propagation.
#[test]
fn a_saturated_hop_carries_what_its_exchanges_allow() {
    let mut setup = line(ht(mcs7()), &[0.0, 200.0]);
    setup.flows.push(udp(0, 1, Time::from_millis(500), US(150)));
    let us = 34.0 + 7.5 * 9.0 + (PPDU + 16 + BLOCK_ACK) as f64 + 2.0 * 0.667;
    let expected = (IN_TIME * 1460 * 8) as f64 / (us * 1e-6);
    let measured = bianchi::delivered_bps(&setup, 2, Time::from_secs(12));
    assert!((measured / expected - 1.0).abs() < 0.002, "{measured:.0} of {expected:.0} bit/s");
}

/// The `cell` of Bianchi's test, with aggregates.
fn cell(senders: u32, node: node::Config, interval: Dur) -> Setup {
    let mut setup = bianchi::cell(senders, false);
    let phy = setup.node.phy;
    setup.node = node::Config { phy, ..node };
    setup.flows = (1..=senders).map(|n| udp(n, 0, Time::from_millis(u64::from(n)), interval)).collect();
    setup
}

#[test]
fn a_saturated_cell_with_aggregates_gets_what_bianchi_predicts() {
    let node = ht(mcs7());
    let mac = node.mac;
    let (success, collision) = (US(PPDU + 16 + BLOCK_ACK) + mac.difs(), US(PPDU) + mac.eifs());
    for n in [1, 2, 5, 10] {
        let measured = bianchi::delivered_bps(&cell(n, node, US(150)), 2, Time::from_secs(17));
        let model = bianchi::throughput(n, &mac, success, collision, Bytes(IN_TIME * 1460));
        let ratio = measured / model;
        assert!((0.98..1.02).contains(&ratio), "{n} stations: {measured:.0} of {model:.0} bit/s, {ratio:.4}");
    }
}

// Noise hits single MPDUs: the share sent again is that of the formula, and everything arrives eventually.
#[test]
fn mpdus_are_lost_one_by_one() {
    let config = ht(mcs7());
    let mut setup = line(config, &[0.0, 100.0]);
    let power = TwoRay::WAVELAN.received(100.0);
    let mut receiver = receiver();
    let len = Bytes(1526);
    let needed = receiver.power_for(0.8, len, mcs7());
    receiver.noise = Watt(receiver.noise.0 * power.0 / needed.0);
    let expected = receiver.success(power, len, mcs7());
    assert!((expected - 0.8).abs() < 0.01, "{expected}");
    let (tx_power, path_loss) = (TwoRay::WAVELAN.tx_power, PathLoss::TwoRay(TwoRay::WAVELAN));
    let propagation = Propagation { tx_power, path_loss, shadowing: None, fading: None, cutoff: Watt(0.0) };
    setup.radio = Radio::Sinr(Box::new(SinrRadio { propagation, receiver, link: power, metric_over_fades: false }));
    setup.flows = vec![udp(0, 1, Time::ZERO, Dur::from_millis(1))];
    let (mut world, ends) = setup.build(1, None).unwrap();
    world.run_until(Time::from_secs(20), &Control::new());
    let counters = world.nodes()[0].mac().counters();
    let (sent, again) = (counters.mpdus_sent as f64, counters.mpdus_again as f64);
    let sigma = (expected * (1.0 - expected) / sent).sqrt();
    assert!((again / sent - (1.0 - expected)).abs() < 4.0 * sigma, "{again} of {sent}, {expected}");
    let (node, index) = ends[0].receiver;
    let received = world.nodes()[node.index()].endpoints()[index].received.get() / 1460;
    // 20,000 datagrams except those on their way; 7 losses in a row occur once in 78,000.
    assert!((19_940..=20_000).contains(&received), "{received}");
    assert!(world.accounts().named().iter().all(|(_, account)| account.balances()), "{:?}", world.accounts());
}

/// The radio of ns-3's defaults: 16 dBm, log-distance with exponent 3 from 46.7 dB at 1 m, a noise figure of 7 dB, 4 dB
/// for a preamble, no capture by later frames. All stations decode each other, but links are no longer than 14 m.
fn near(width: Width) -> Radio {
    let path_loss = LogDistance { reference_loss: Db(46.6777), reference_m: 1.0, exponent: 3.0 };
    let tx_power = Dbm(16.0206).to_watt();
    let noise = sinr::config::thermal_noise_in(width, Db(7.0));
    let receiver = sinr::Config {
        width,
        noise,
        preamble_sinr: sinr::config::ratio(Db(4.0)),
        capture: sinr::FrameCapture::None,
        cca_energy: Dbm(-62.0).to_watt(),
        ..receiver()
    };
    let link = Dbm(16.0206 - 46.6777 - 30.0 * 1.4f64.log10() - 30.0).to_watt();
    let propagation = Propagation {
        tx_power,
        path_loss: PathLoss::LogDistance(path_loss),
        shadowing: None,
        fading: None,
        cutoff: Watt(noise.0 / 10.0),
    };
    Radio::Sinr(Box::new(SinrRadio { propagation, receiver, link, metric_over_fades: false }))
}

/// An 802.11a receiver that loses frames to error rates alone.
fn receiver() -> sinr::Config {
    sinr::Config {
        phy: PhyKind::Ofdm,
        plcp: PhyKind::Ofdm.plcp(),
        width: Width::Mhz20,
        noise: Watt(1e-12),
        implementation_loss: 1.0,
        errors: sinr::Errors::ByRate,
        sensitivity: Watt(0.0),
        preamble_sinr: 1.0,
        capture: sinr::FrameCapture::Preamble,
        capture_ratio: 10.0,
        cca_energy: Watt(1e-6),
        cca_preamble: true,
    }
}

/// Parses the data of ns-3: for each line the goodput in Mbit/s and the case.
fn ns3_cases() -> Vec<(f64, std::collections::BTreeMap<String, String>)> {
    let lines = include_str!("data/ns3-wifi.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let goodput = words.next().unwrap().parse().unwrap();
            let pairs = words.skip(1).map(|word| word.split_once('=').unwrap());
            (goodput, pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
        })
        .collect()
}

// ns-3.37 with the same MCS, limits and answer rates; all stations hear each other (benches/ns3/wifi.cc).
#[test]
fn saturated_networks_get_what_ns3_says() {
    let mut far = Vec::new();
    for (goodput, case) in ns3_cases() {
        let number = |key: &str, otherwise: f64| case.get(key).map_or(otherwise, |value| value.parse().unwrap());
        let format = if case.contains_key("standard") { Format::Vht } else { Format::Ht };
        let width = match number("width", 20.0) as u64 {
            20 => Width::Mhz20,
            40 => Width::Mhz40,
            _ => Width::Mhz80,
        };
        let guard = if number("shortGuard", 0.0) > 0.0 { Guard::Ns400 } else { Guard::Ns800 };
        let mcs = Mcs::new(format, number("mcs", 7.0) as u8, number("streams", 1.0) as u8, width, guard).unwrap();
        let mut node = ht(mcs);
        let bytes = number("ampdu", 65_535.0) as u64;
        // ns-3 answers at 24 Mbit/s.
        node.mac.answer_rate = mac::AnswerRate::Mandatory;
        node.mac.aggregation = Aggregation { bytes: Bytes(bytes), ..node.mac.aggregation };
        if bytes == 0 {
            node.mac.aggregation.frames = 1;
        }
        if number("rts", 0.0) > 0.0 {
            node.mac.rts_threshold = Bytes(0);
        }
        // ns-3 queues 114 packets.
        node.link.queue.limit = 115;
        let interval = Dur::from_nanos((number("interval", 1e-4) * 1e9) as u64);
        let (hops, stations) = (number("hops", 0.0) as u32, number("stations", 1.0) as u32);
        let mut setup = if hops > 0 {
            let places: Vec<f64> = (0..=hops).map(|n| 9.8 * f64::from(n)).collect();
            let mut setup = line(node, &places);
            // 10 m from hop to hop, but no three stations in a straight line. If they were, a slot of the middle one
            // would begin later at the others by exactly the propagation delay of its frame, and rounding delays to
            // nanoseconds would decide whether they hear it before they begin. ns-3 takes 4 us to sense a frame.
            setup.positions.iter_mut().skip(1).step_by(2).for_each(|place| place.1 = 2.0);
            setup.flows.push(udp(0, hops, Time::from_millis(100), interval));
            setup
        } else {
            cell(stations, node, interval)
        };
        setup.radio = near(width);
        for flow in &mut setup.flows {
            let fourhop_sim::setup::Traffic::Udp(cbr) = &mut flow.traffic else { unreachable!("all are UDP") };
            // 1,500 bytes of IP, as in ns-3.
            cbr.payload = Bytes(1472);
        }
        // If whole aggregates collide, runs differ.
        let collide = (stations == 10 || hops > 1) && number("rts", 0.0) == 0.0;
        let runs = if collide { 4 } else { 1 };
        let measured = bianchi::delivered_bps(&setup, runs, Time::from_secs(7)) / 1e6;
        let ratio = measured / goodput;
        let line = format!("{ratio:.3}: {measured:.3} of {goodput:.3} Mbit/s, {case:?}");
        println!("{line}");
        if (ratio - 1.0).abs() > 0.05 {
            far.push(line);
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}

/// A chain of three hops with these keys.
fn chain(keys: &str, flow: &str) -> fourhop_sim::result::RunResult {
    let text = format!(
        "profile = 'standard'\nduration = '8s'\nwarmup = '1s'\n[topology]\nkind = 'chain'\nhops = 3\n[radio]\nphy = \
            'ht'\n{keys}\n\
         [[flows]]\nfrom = 0\nto = 3\n{flow}\n"
    );
    let scenario = load_toml(&text, "chain.toml", &[]).unwrap();
    run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap()
}

#[test]
fn tcp_over_three_hops_gains_by_aggregates() {
    let goodput = |keys: &str| chain(keys, "transport = 'cubic'").flows[0].goodput_bps;
    let (alone, aggregated) = (goodput("[mac]\nampdu_frames = 1"), goodput(""));
    assert!(aggregated > 1.5 * alone, "{aggregated} with aggregates, {alone} without");
    let amsdu = goodput("[mac]\nampdu_frames = 1\namsdu_bytes = '3839B'");
    assert!(amsdu > 1.2 * alone, "{amsdu} with A-MSDU, {alone} without");
    // A CTS-to-self at 6 Mbit/s costs 44 + 16 us per exchange; RTS and CTS more than twice that.
    let (own, both) = (goodput("[mac]\nprotection = 'cts-to-self'\nrts_threshold = '64kB'"), aggregated);
    assert!(own > both * 0.98, "{own} with CTS to self, {both} with RTS");
}

/// FQ-CoDel at a gateway releases as many packets as the radio has sent, including those that aggregates have taken
/// from the queue.
#[test]
fn a_gateway_fills_aggregates() {
    let goodput = |gateway: &str| {
        let text = format!(
            "profile = 'standard'\nduration = '6s'\nwarmup = '1s'\n[topology]\nkind = 'chain'\nhops = 1\n[radio]\nphy \
                = 'ht'\n\
             [mac]\nrts_threshold = '64kB'\n[routing]\nprotocol = 'static'\n[wired]\ngateways = [0]\nnodes = ['host']\n\
             rate = '1Gbps'\ndelay = '1ms'\n[gateway]\n{gateway}\n[[flows]]\nfrom = 'host'\nto = 1\ntransport = \
             'cubic'\n"
        );
        let scenario = load_toml(&text, "gateway.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap().flows[0].goodput_bps
    };
    let [plain, short, long] = ["kind = 'plain'", "kind = 'fq-codel'", "kind = 'fq-codel'\nbacklog = 64"].map(goodput);
    println!("{plain} {short} {long}");
    assert!(
        short > 0.7 * plain && long > 0.75 * plain,
        "{short} and {long} with 2 and 64 packets, {plain} without FQ-CoDel"
    );
}
