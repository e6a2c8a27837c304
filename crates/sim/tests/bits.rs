//! Results are identical to the last bit on every machine: a few runs, which together call every floating-point
//! function of the engine, are compared with a list written on one machine.
//!
//! After a change that moves results on purpose, write the list anew (`make results`) and note that in the changelog. A
//! change that fails only here has made the results depend on the machine.

use fourhop_sim::batch::Control;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};
use std::fmt::Write;

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bits.txt");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/");

/// Scenarios with keys on top: powers in dBm, both path loss laws and their inverses, shadowing, fading, error rates of
/// both kinds of modulation, distances that are not round numbers, both starts of random waypoint, sizes of files and
/// pauses between them.
const RUNS: [(&str, &[&str]); 7] = [
    ("chain.toml", &["radio.tx_power=24.5dBm", "radio.capture_ratio=9.7dB", "duration=5s"]),
    ("random.toml", &["duration=3s"]),
    ("hallway.toml", &["duration=3s"]),
    ("testbed.toml", &["duration=3s", "warmup=0s", "flows[0].start=100ms"]),
    ("random-waypoint.toml", &["duration=3s"]),
    ("random-waypoint.toml", &["duration=3s", "radio.model=sinr", "radio.shadowing=5dB", "radio.fading=rician"]),
    ("gateway-chain.toml", &["duration=20s", "flows[0].app=files", "flows[0].mean_pause=300ms"]),
];

/// Returns one line per run: counts of events, then the bits of the fractional results.
fn found() -> String {
    let mut list = String::new();
    for (file, keys) in RUNS {
        let text = std::fs::read_to_string(format!("{FOLDER}{file}")).unwrap();
        let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        let scenario = load_toml(&text, file, &keys).unwrap_or_else(|error| panic!("{error}"));
        let result = run(&scenario, 3, &RunOptions::default(), &Control::new()).unwrap();
        write!(list, "{file} {} {} {}", result.events, result.frames, result.receptions).unwrap();
        for flow in &result.flows {
            let bits = [flow.goodput_bps, flow.averaged_goodput_bps, flow.rtt_mean_s.unwrap_or(0.0)].map(f64::to_bits);
            write!(list, " {:x} {:x} {:x}", bits[0], bits[1], bits[2]).unwrap();
        }
        list.push('\n');
    }
    list
}

#[test]
fn results_are_those_of_the_list_bit_for_bit() {
    let found = found();
    if std::env::var_os("WRITE_BITS").is_some() {
        std::fs::write(LIST, &found).unwrap();
    }
    let listed = std::fs::read_to_string(LIST).unwrap();
    for (found, listed) in found.lines().zip(listed.lines()) {
        assert_eq!(found, listed);
    }
    assert_eq!(found.lines().count(), listed.lines().count());
}
