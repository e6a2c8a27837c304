//! Saturated cells of 802.11b, a, n and ac against Bianchi's model. The air times for the model are added up here from
//! the clauses of IEEE 802.11-2020, not by the code under test. In the model a station counts down during frames of
//! others and has no memory of the past; a walk from slot to slot does neither, and is the reference for the cells.
//!
//! The table in VALIDATION.md is produced by this test; after a change that moves results on purpose `make results`
//! writes it anew.

use crate::bianchi::{attempts, cell, delivered_bps, fixed_point, throughput};
use crate::common::udp;
use fourhop_proto::mac::{self, Aggregation, AnswerRate};
use fourhop_proto::phy::PhyKind;
use fourhop_proto::phy::mcs::{Format, Guard, Mcs, Width};
use fourhop_sim::setup::Setup;
use fourhop_units::{Bytes, Dur, NodeId, Purpose, Rate, Stream, Time};
use std::fmt::Write;
use std::sync::Mutex;

const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../VALIDATION.md");
const MARKS: [&str; 2] = ["<!-- saturation: begin -->\n", "<!-- saturation: end -->"];
const STATIONS: [u32; 5] = [1, 2, 5, 10, 20];
/// Allowed ratios to the walk and to the model.
const CLOSE: [std::ops::RangeInclusive<f64>; 2] = [0.98..=1.02, 0.96..=1.04];

/// Payload of a packet. An MPDU adds 28 bytes of UDP and IP, and 36 of LLC, addresses and FCS; with QoS 2 more.
const PAYLOAD: u64 = 1460;
const MPDU: u64 = PAYLOAD + 28 + 36;
const QOS_MPDU: u64 = MPDU + 2;
/// An MPDU with a delimiter of 4 bytes, padded to a multiple of 4 bytes; the last one of an A-MPDU is not padded.
const SUBFRAME: u64 = 1532;

/// A cell of one standard. Times are in microseconds.
struct Case {
    name: &'static str,
    mac: mac::Config,
    /// Air times of the data and its answer, and before them, with RTS, those of both control frames and their SIFS.
    before: f64,
    data: f64,
    answer: f64,
    /// Air time of the frames that collide: the data or the RTS.
    collides: f64,
    packets: u64,
}

/// Microseconds of an 802.11a frame (clause 17.4.3): 16 bits of SERVICE and 6 of tail, whole symbols after 20 us.
fn ofdm(bytes: u64, bits_per_symbol: u64) -> f64 {
    (20 + 4 * (22 + 8 * bytes).div_ceil(bits_per_symbol)) as f64
}

/// A case without aggregates, at one rate of an older standard.
fn single(name: &'static str, phy: PhyKind, kbps: u64, data: f64, answer: f64) -> Case {
    let basic_rate = Rate::kbps(if phy == PhyKind::Dsss { 1_000 } else { 6_000 });
    let answer_rate = if phy == PhyKind::Dsss { AnswerRate::Basic } else { AnswerRate::Mandatory };
    let mac = mac::Config {
        data_rate: Rate::kbps(kbps),
        basic_rate,
        answer_rate,
        rts_threshold: Bytes(1 << 20),
        ..mac::Config::standard().with_phy(phy)
    };
    Case { name, mac, before: 0.0, data, answer, collides: data, packets: 1 }
}

/// A case with an MCS, in aggregates of `packets` packets.
fn by_mcs(name: &'static str, mcs: Mcs, packets: u64, data: f64) -> Case {
    // Answers at 24 Mbit/s: an ACK of 14 bytes, a BlockAck of 32.
    let answer = ofdm(if packets == 1 { 14 } else { 32 }, 96);
    let mut case = single(name, PhyKind::Ofdm, 6_000, data, answer);
    case.packets = packets;
    let frames = if packets == 1 { 1 } else { case.mac.aggregation.frames };
    let aggregation = Aggregation { frames, bytes: mcs.format().longest_aggregate(), ..case.mac.aggregation };
    case.mac = mac::Config { mcs: Some(mcs), data_rate: mcs.rate(), aggregation, ..case.mac };
    case
}

fn cases() -> Vec<Case> {
    // Long preamble and header (clause 15.2.2), an ACK at 1 Mbit/s.
    let cck = 192.0 + 8.0 * MPDU as f64 / 11.0;
    let b = |name| single(name, PhyKind::Dsss, 11_000, cck, 304.0);
    let a = |name, kbps, bits| {
        single(name, PhyKind::Ofdm, kbps, ofdm(MPDU, bits), ofdm(14, if bits > 96 { 96 } else { 24 }))
    };
    let with_rts = |case: Case, name, rts: f64, cts: f64| {
        let before = rts + cts + 2.0 * case.mac.sifs.as_nanos() as f64 / 1e3;
        let mac = mac::Config { rts_threshold: Bytes(0), ..case.mac };
        Case { name, mac, before, collides: rts, ..case }
    };
    let ht = |mcs, streams, width, guard| Mcs::new(Format::Ht, mcs, streams, width, guard).unwrap();
    let mcs7 = ht(7, 1, Width::Mhz20, Guard::Ns800);
    // Legacy preamble 20 us, HT-SIG 8, HT-STF 4, HT-LTF 4 per stream (clause 19.3.2).
    let at65 = |bytes: u64| (36 + 4 * (22 + 8 * bytes).div_ceil(260)) as f64;
    // Symbols of 3.6 us, their total rounded up to a multiple of 4 us (clause 19.4.3).
    let at300 = |bytes: u64| (40 + 4 * ((22 + 8 * bytes).div_ceil(1080) * 36).div_ceil(40)) as f64;
    // VHT-SIG-A 8 us, VHT-STF 4, VHT-LTF 4, VHT-SIG-B 4 (clause 21.3.2); 64 MPDUs fill the window.
    let at390 = |bytes: u64| (40 + 4 * (22 + 8 * bytes).div_ceil(1560)) as f64;
    let bytes = |packets: u64| packets * SUBFRAME - 2;
    let vht = Mcs::new(Format::Vht, 9, 1, Width::Mhz80, Guard::Ns800).unwrap();
    vec![
        b("802.11b, 11 Mbit/s"),
        with_rts(b(""), "802.11b, 11 Mbit/s, RTS", 352.0, 304.0),
        a("802.11a, 6 Mbit/s", 6_000, 24),
        a("802.11a, 54 Mbit/s", 54_000, 216),
        // An RTS of 20 bytes and a CTS of 14 at 6 Mbit/s.
        with_rts(a("", 54_000, 216), "802.11a, 54 Mbit/s, RTS", ofdm(20, 24), ofdm(14, 24)),
        by_mcs("802.11n, 65 Mbit/s, no aggregates", mcs7, 1, at65(QOS_MPDU)),
        by_mcs("802.11n, 65 Mbit/s", mcs7, 28, at65(bytes(28))),
        by_mcs("802.11n, 300 Mbit/s", ht(7, 2, Width::Mhz40, Guard::Ns400), 42, at300(bytes(42))),
        by_mcs("802.11ac, 390 Mbit/s", vht, 64, at390(bytes(64))),
    ]
}

impl Case {
    /// Returns how long a success and a collision occupy the medium.
    fn busy(&self) -> (Dur, Dur) {
        let us = |us: f64| Dur::from_nanos((us * 1e3).round() as u64);
        let success = us(self.before + self.data + self.answer) + self.mac.sifs + self.mac.difs();
        (success, us(self.collides) + self.mac.eifs())
    }

    /// Returns the model's throughput in bit/s.
    fn model(&self, stations: u32) -> f64 {
        let (success, collision) = self.busy();
        throughput(stations, &self.mac, success, collision, Bytes(self.packets * PAYLOAD))
    }

    /// Returns the throughput in bit/s of the walk: counters freeze while the medium is busy, and a station that has
    /// just sent may draw zero.
    fn walked(&self, stations: u32) -> f64 {
        const BUSY: u32 = 60_000;
        let mut random = Stream::new(1, NodeId(0), Purpose::Backoff);
        let mut draw = |cw: u32| random.below(self.mac.backoff_values(cw));
        // Counter, window, consecutive failures.
        let mut all: Vec<_> = (0..stations).map(|_| (draw(self.mac.cw_min), self.mac.cw_min, 0)).collect();
        let (mut slots, mut good) = (0, 0);
        for _ in 0..BUSY {
            let idle = all.iter().map(|&(counter, ..)| counter).min().unwrap();
            slots += u64::from(idle);
            all.iter_mut().for_each(|(counter, ..)| *counter -= idle);
            let alone = all.iter().filter(|&&(counter, ..)| counter == 0).count() == 1;
            good += u32::from(alone);
            for (counter, cw, failures) in all.iter_mut().filter(|(counter, ..)| *counter == 0) {
                *failures = if alone { 0 } else { (*failures + 1) % self.mac.short_retry_limit };
                *cw = if *failures == 0 { self.mac.cw_min } else { (2 * *cw + 1).min(self.mac.cw_max) };
                *counter = draw(*cw);
            }
        }
        let (success, collision) = self.busy();
        let spent = self.mac.slot * slots + success * u64::from(good) + collision * u64::from(BUSY - good);
        (u64::from(good) * self.packets * PAYLOAD * 8) as f64 / spent.as_secs_f64()
    }

    /// Builds the network. Each station offers 2.7 times its share, or, if it is alone, a third more than the cell
    /// carries: its queue is never empty, however often it wins in a row.
    fn setup(&self, stations: u32) -> Setup {
        let mut setup = cell(stations, true);
        setup.node.mac = self.mac;
        setup.node.link.queue.limit = 1_000;
        let exchange = self.before + self.data + self.answer;
        let interval = (exchange / self.packets as f64 * f64::from(stations.max(2)) / 2.0 * 0.75 * 1e3) as u64;
        let flow = |n| udp(n, 0, Time::from_millis(u64::from(n)), Dur::from_nanos(interval));
        setup.flows = (1..=stations).map(flow).collect();
        setup
    }

    /// Returns the row of the table, and the cells that are far from the model.
    fn row(&self) -> (String, Vec<String>) {
        let (mut row, mut far) = (format!("| {} |", self.name), Vec::new());
        // About 5,000 exchanges after two seconds of warm-up.
        let seconds = 2 + (5_000.0 * (self.before + self.data + self.answer) / 1e6).ceil() as u64;
        for stations in STATIONS {
            let (model, walked) = (self.model(stations), self.walked(stations));
            let measured = delivered_bps(&self.setup(stations), 1, Time::from_secs(seconds));
            write!(row, " {:.2}, {:+.1} % |", model / 1e6, (measured / model - 1.0) * 100.0).unwrap();
            if !CLOSE[0].contains(&(measured / walked)) || !CLOSE[1].contains(&(measured / model)) {
                far.push(format!("{}, {stations} stations: {measured:.0}, {walked:.0}, {model:.0} bit/s", self.name));
            }
        }
        (row + "\n", far)
    }
}

#[test]
fn results_of_saturated_cells_are_bianchis() {
    let cases = cases();
    let rows = Mutex::new(vec![(String::new(), Vec::new()); cases.len()]);
    let waiting = Mutex::new(cases.iter().enumerate());
    let work = || {
        let next = || waiting.lock().unwrap().next();
        while let Some((n, case)) = next() {
            let row = case.row();
            rows.lock().unwrap()[n] = row;
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut table = String::from("| stations |");
    STATIONS.iter().for_each(|n| write!(table, " {n} |").unwrap());
    table += "\n|---|---|---|---|---|---|\n";
    let mut far = Vec::new();
    for (row, its) in rows.into_inner().unwrap() {
        table += &row;
        far.extend(its);
    }
    assert!(far.is_empty(), "{far:#?}\n{table}");
    let report = std::fs::read_to_string(REPORT).unwrap();
    let (head, rest) = report.split_once(MARKS[0]).unwrap();
    let (listed, tail) = rest.split_once(MARKS[1]).unwrap();
    if std::env::var_os("WRITE_RESULTS").is_some() {
        std::fs::write(REPORT, format!("{head}{}{table}{}{tail}", MARKS[0], MARKS[1])).unwrap();
    } else {
        assert_eq!(listed, table, "VALIDATION.md lists other results: if they moved on purpose, run `make results`");
    }
}

/// Equation 7 of the paper, without a retry limit: the probability of an attempt in a slot, if a share `p` of the
/// attempts collides and the window of `window` values doubles `doublings` times.
fn equation_7(p: f64, window: f64, doublings: i32) -> f64 {
    let twice = 1.0 - 2.0 * p;
    2.0 * twice / (twice * (window + 1.0) + p * window * (1.0 - (2.0 * p).powi(doublings)))
}

#[test]
fn the_model_is_bianchis_where_nothing_is_given_up() {
    let mac = mac::Config { short_retry_limit: 2_000, ..mac::Config::standard() };
    for p in [0.0, 0.1, 0.3, 0.45, 0.7, 0.9] {
        let (ours, his) = (attempts(&mac, p), equation_7(p, 32.0, 5));
        assert!((ours / his - 1.0).abs() < 1e-9, "{p}: {ours} of {his}");
    }
    for n in STATIONS {
        let tau = fixed_point(n, &mac);
        let p = 1.0 - (1.0 - tau).powi(n as i32 - 1);
        assert!((equation_7(p, 32.0, 5) / tau - 1.0).abs() < 1e-6, "{n} stations: {tau}");
    }
}
