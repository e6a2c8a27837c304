//! Comparison of 802.11n with ns-3.37 in cases that `aggregation.rs` does not cover: hidden stations in chains of three
//! spacings, hops that alternate between two channels, access categories. `benches/ns3/wifi.py farther` generates the
//! data.

use fourhop_sim::batch::Control;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A line of the data: goodput in Mbit/s, its standard deviation over runs, and the case.
struct Case {
    goodput: f64,
    deviation: f64,
    words: BTreeMap<String, String>,
}

impl Case {
    fn number(&self, key: &str, otherwise: f64) -> f64 {
        self.words.get(key).map_or(otherwise, |value| value.parse().unwrap())
    }

    fn name(&self) -> String {
        let words = self.words.iter().filter(|(key, _)| !["aside", "flows"].contains(&key.as_str()));
        words.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    /// Returns the same network, radio, limits and answer rates. ns-3 synchronises from -82 dBm on, also senses from
    /// there on what it has not synchronised on, and does not give up.
    fn scenario(&self, seconds: u32) -> String {
        let hops = self.number("hops", 0.0) as u32;
        let stations = self.number("stations", 0.0) as u32;
        let categories: Vec<&str> = self.words.get("categories").map_or(Vec::new(), |all| all.split(',').collect());
        let (spacing, aside) = (self.number("spacing", 10.0), self.number("aside", 0.0));
        let step = (spacing * spacing - aside * aside).sqrt();
        let mut places: Vec<_> = (0..=hops).map(|n| (step * f64::from(n), f64::from(n % 2) * aside)).collect();
        places.extend((1..=stations).map(|n| {
            let angle = std::f64::consts::TAU * f64::from(n) / f64::from(stations);
            (angle.cos(), angle.sin())
        }));
        let mut text = format!("profile = 'standard'\nduration = '{seconds}s'\nwarmup = '1s'\n");
        let places: Vec<_> = places.iter().map(|(x, y)| format!("['{x:.6}m', '{y:.6}m']")).collect();
        write!(text, "[topology]\nkind = 'positions'\npositions = [{}]\n", places.join(", ")).unwrap();
        write!(
            text,
            "[radio]\nmodel = 'sinr'\nphy = 'ht'\nmcs = {}\nbasic_rate = '6Mbps'\nfrequency = '5180MHz'\n\
             tx_power = '16.0206dBm'\npath_loss = 'log-distance'\nexponent = 3.0\nreference_loss = '46.6777dB'\n\
             noise_figure = '7dB'\nimplementation_loss = '0dB'\npreamble_sinr = '4dB'\nsensitivity = '-82dBm'\n\
             cca_energy = '-82dBm'\n\
             frame_capture = 'none'\n\
             [mac]\nanswer_rate = 'mandatory'\nrts_threshold = '64kB'\nshort_retry_limit = 255\nedca = {}\n\
             [link]\nqueue_limit = 115\narp = false\n[routing]\nprotocol = 'static'\n",
            self.number("mcs", 7.0),
            !categories.is_empty(),
        )
        .unwrap();
        if !categories.is_empty() {
            text += "[edca]\nbk_txop = '0s'\nbe_txop = '0s'\nvi_txop = '0s'\nvo_txop = '0s'\n";
        }
        if self.number("channels", 1.0) > 1.0 {
            text += "[[radios]]\nchannel = 36\n[[radios]]\nchannel = 44\n";
        }
        // All nodes hear each other, so shortest paths would skip some.
        for n in 0..hops {
            write!(text, "[[routes]]\nnode = {n}\nto = {hops}\nvia = {}\n", n + 1).unwrap();
        }
        let ends: Vec<_> = if hops > 0 { vec![(0, hops)] } else { (1..=stations).map(|n| (n, 0)).collect() };
        for (n, (from, to)) in ends.into_iter().enumerate() {
            let priority = match categories.get(n) {
                Some(&"vo") => 6,
                Some(&"vi") => 5,
                Some(&"bk") => 1,
                _ => 0,
            };
            write!(
                text,
                "[[flows]]\nfrom = {from}\nto = {to}\ntransport = 'udp'\nrate = '117.76Mbps'\npayload = '1472B'\n\
                 start = '{}ms'\ndscp = {}\n",
                100 + 13 * from,
                priority << 3
            )
            .unwrap();
        }
        text
    }

    /// Returns the goodput of each flow in Mbit/s, the mean over `runs`.
    fn flows(&self, runs: u64, seconds: u32) -> Vec<f64> {
        let scenario = load_toml(&self.scenario(seconds), "case.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let mut sums = Vec::new();
        for seed in 1..=runs {
            let result = run(&scenario, seed, &RunOptions::default(), &Control::new()).unwrap();
            sums.resize(result.flows.len(), 0.0);
            for (sum, flow) in sums.iter_mut().zip(&result.flows) {
                *sum += flow.goodput_bps / 1e6 / runs as f64;
            }
        }
        sums
    }
}

fn cases() -> Vec<Case> {
    let lines = include_str!("data/ns3-farther.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let mut number = || words.next().unwrap().parse().unwrap();
            let (goodput, deviation) = (number(), number());
            let pairs = words.map(|word| word.split_once('=').unwrap());
            Case { goodput, deviation, words: pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect() }
        })
        .collect()
}

/// Tolerances of the sum, and of the most urgent category. Five hops are 5 to 8 % below ns-3, for a reason that we do
/// not know.
const CLOSE: [f64; 2] = [0.10, 0.05];

#[test]
fn chains_channels_and_categories_get_what_ns3_says() {
    let cases = cases();
    let mut far = Vec::new();
    // Cases in which error rates decide are tested separately, for each of ns-3's error models.
    for case in cases.iter().filter(|case| case.number("spacing", 10.0) < 40.0) {
        let found = case.flows(4, 6);
        let mut off = found.iter().sum::<f64>() / case.goodput - 1.0;
        let mut close = CLOSE[0];
        if let Some(flows) = case.words.get("flows") {
            let first = |all: &[f64]| all[0] + if case.name().contains("vi,vi") { all[1] } else { 0.0 };
            let theirs: Vec<f64> = flows.split(',').map(|flow| flow.parse().unwrap()).collect();
            close = CLOSE[1];
            off = if off.abs() > close { off } else { first(&found) / first(&theirs) - 1.0 };
        }
        let line = format!("{off:+.3}: {found:.2?} of {:.2} ± {:.2}, {}", case.goodput, case.deviation, case.name());
        println!("{line}");
        if off.abs() > close {
            far.push(line);
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}

/// Hops of 40 m at 26 Mbit/s: the next sender but one leaves a frame about 12 dB, where error rates decide. ns-3's
/// models of them differ by a factor of four to five. Ours assumes hard-decision decoding, and is in between.
#[test]
fn where_error_rates_decide_ns3_has_more_and_less() {
    let cases = cases();
    for hops in [3.0, 5.0] {
        let of = |pessimistic: bool| {
            let is = |case: &&Case| {
                case.number("spacing", 10.0) == 40.0
                    && case.number("hops", 0.0) == hops
                    && case.words.contains_key("errors") == pessimistic
            };
            cases.iter().find(is).unwrap()
        };
        let found: f64 = of(true).flows(4, 6).iter().sum();
        let (low, high) = (of(true).goodput, of(false).goodput);
        println!("{hops} hops: {found:.2}, ns-3 {low:.2} and {high:.2}");
        assert!(found > 1.5 * low && found < high / 1.5, "{hops} hops: {found:.2} between {low:.2} and {high:.2}");
    }
}
