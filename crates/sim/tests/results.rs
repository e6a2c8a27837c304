//! The results of all scenarios of the folder, in both profiles and with both radios, match a list: optimisations must
//! not change them. The list has a number for each run, computed from its whole result except the run time and zeros,
//! so that a new counter that has counted nothing does not change it.
//!
//! After a change that moves results on purpose, write the list anew (`make results`) and note that in the changelog.

use fourhop_sim::batch::Control;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};
use serde_json::Value;
use std::fmt::Write;
use std::sync::Mutex;

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/results.txt");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/");

/// All scenarios of the folder, with keys that shorten them.
const SCENARIOS: [(&str, &[&str]); 23] = [
    ("adhoc-mix", &["duration=8s"]),
    ("adhoc-tcp", &["duration=12s"]),
    ("c3tcp", &["duration=20s"]),
    ("chain", &["duration=12s"]),
    ("chain-standard", &["duration=12s"]),
    ("contention", &["duration=10s", "flows[1].start=2s"]),
    ("cross", &["duration=10s", "traffic.stagger=2s"]),
    ("flat", &["duration=5s"]),
    ("gateway-chain", &["duration=12s"]),
    ("gateway-cross", &["duration=8s"]),
    ("gateway-parallel", &["duration=8s"]),
    ("gateway-random", &["duration=5s"]),
    ("grid", &["duration=6s"]),
    ("hallway", &["duration=5s"]),
    ("parallel", &["duration=10s"]),
    ("ping", &["duration=12s", "flows[1].start=2s"]),
    ("random", &["duration=4s"]),
    ("random-waypoint", &["duration=5s", "mobility.speed_max=30m/s"]),
    ("testbed", &["duration=5s", "warmup=0s", "flows[0].start=100ms"]),
    ("two-channels", &["duration=20s"]),
    ("two-gateways", &["duration=10s", "wired.delay=1ms", "mobility.waypoints=[[5, '80m/s', '800m', '150m']]"]),
    ("udp", &["duration=12s"]),
    ("walk", &["duration=5s"]),
];
/// Scenarios with features that ns-2.35 does not have, each only in its own profile and with its own radio.
const OF_TODAY: [(&str, &[&str]); 5] = [
    ("80211ac", &["duration=2s", "warmup=0s"]),
    ("80211n", &["duration=2s", "warmup=0s"]),
    ("babel", &["duration=20s", "warmup=0s"]),
    ("edca", &["duration=2s", "warmup=0s"]),
    ("two-radios", &["duration=2s", "warmup=0s"]),
];
const PROFILES: [&str; 2] = ["ns2", "standard"];

/// Radios to run a scenario with besides its own, if they fit the rest of it.
const RADIOS: [&[&str]; 7] = [
    &[],
    &["radio.model=sinr"],
    &["radio.model=sinr", "radio.frame_capture=any", "radio.cca_preamble=false", "radio.fading=rayleigh"],
    &["radio.late_capture=true", "radio.lock_on_undecodable=false", "radio.energy_detection=false"],
    &["radio.late_capture=false", "radio.lock_on_undecodable=true", "radio.energy_detection=true"],
    &["mac.nav_reset=true", "mac.eifs_ended_by_good_frame=false", "mac.rts_threshold=500B"],
    &["mac.nav_reset=false", "mac.eifs_ended_by_good_frame=true", "mac.capture_nav=false"],
];

/// FNV-1a (draft-eastlake-fnv-21), 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Removes zeros.
fn prune(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(prune);
            fields.retain(|_, field| {
                field.as_f64() != Some(0.0) && field.as_object().is_none_or(|inner| !inner.is_empty())
            });
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}

/// Returns one line of the list, or `None` if the radio does not fit the scenario.
fn line(name: &str, settings: &[&str], profile: &str, radio: &[&str], seed: u64) -> Option<String> {
    let text = std::fs::read_to_string(format!("{FOLDER}{name}.toml")).unwrap();
    let profile = format!("profile={profile}");
    let words = settings.iter().copied().chain([profile.as_str()]).chain(radio.iter().copied());
    let settings: Vec<String> = words.map(str::to_owned).collect();
    let scenario = match load_toml(&text, name, &settings) {
        Ok(scenario) => scenario,
        Err(_) if !radio.is_empty() => return None,
        Err(error) => panic!("{error}"),
    };
    let result =
        run(&scenario, seed, &RunOptions::default(), &Control::new()).unwrap_or_else(|error| panic!("{error}"));
    let mut result = serde_json::to_value(result).unwrap();
    result.as_object_mut().unwrap().remove("wall_s");
    prune(&mut result);
    Some(format!("{name} {profile} seed={seed} {} {:016x}\n", radio.join(" "), hash(&result.to_string())))
}

fn found() -> String {
    let mut cases = Vec::new();
    for (name, settings) in SCENARIOS {
        for profile in PROFILES {
            cases.push((name, settings, profile, RADIOS[0], 1));
            cases.push((name, settings, profile, RADIOS[1], 2));
        }
    }
    for (name, settings) in [SCENARIOS[12], SCENARIOS[16], SCENARIOS[17]] {
        for profile in PROFILES {
            cases.extend(RADIOS[2..].iter().map(|&radio| (name, settings, profile, radio, 3)));
        }
    }
    cases.extend(OF_TODAY.map(|(name, settings)| (name, settings, PROFILES[1], RADIOS[0], 1)));
    let lines = Mutex::new(vec![None; cases.len()]);
    let waiting = Mutex::new(cases.into_iter().enumerate());
    let work = || {
        let next = || waiting.lock().unwrap().next();
        while let Some((n, (name, settings, profile, radio, seed))) = next() {
            let line = line(name, settings, profile, radio, seed);
            lines.lock().unwrap()[n] = line;
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut list = String::new();
    lines.into_inner().unwrap().into_iter().flatten().for_each(|line| list.write_str(&line).unwrap());
    list
}

#[test]
fn results_are_those_of_the_list() {
    let found = found();
    if std::env::var_os("WRITE_RESULTS").is_some() {
        std::fs::write(LIST, &found).unwrap();
    }
    let listed = std::fs::read_to_string(LIST).unwrap();
    let changed: Vec<_> = found.lines().zip(listed.lines()).filter(|(found, listed)| found != listed).collect();
    assert!(changed.is_empty(), "other results, or other runs (found, listed): {changed:#?}");
    assert_eq!(found.lines().count(), listed.lines().count());
}

/// A scenario that is added to the folder must be added here.
#[test]
fn every_scenario_of_the_folder_is_in_the_list() {
    let names = std::fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect();
    names.sort_unstable();
    let mut listed: Vec<_> = SCENARIOS.iter().chain(&OF_TODAY).map(|(name, _)| *name).collect();
    listed.sort_unstable();
    assert_eq!(names, listed);
}
