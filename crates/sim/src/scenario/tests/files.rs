//! The scenarios that come with the project are valid, and are read as intended.

use super::resolved::assert_round_trip;
use super::*;
use fourhop_units::NodeId;
use std::path::{Path, PathBuf};

/// Returns all files of `folder` with that extension, in the order of their names.
#[allow(clippy::disallowed_methods, reason = "the test looks at the files that come with the project")]
fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("a folder entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == ending));
    paths.sort();
    let name = |path: &Path| path.file_name().expect("files have names").to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("text"))).collect()
}

#[test]
fn example_scenarios_are_right() {
    let files = files("../../scenarios", "toml");
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    for needed in ["chain.toml", "cross.toml", "grid.toml", "parallel.toml", "ping.toml", "random.toml", "udp.toml"] {
        assert!(names.contains(&needed), "{needed} is missing");
    }
    let mut profiles = Vec::new();
    for (name, text) in &files {
        let scenario = load_toml(text, name, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert!(text.starts_with('#'), "{name} begins with what it is");
        profiles.push(scenario.profile);
        for seed in 1..4 {
            let network = scenario.network(seed).unwrap_or_else(|e| panic!("{e}"));
            assert!(network.flows.iter().all(|f| f.hops.is_some()), "{name}: every flow has a path");
        }
        assert_round_trip(&scenario);
    }
    assert!(profiles.contains(&Profile::Ns2) && profiles.contains(&Profile::Standard));
}

#[test]
fn the_chain_takes_other_lengths() {
    let (_, text) = files("../../scenarios", "toml").into_iter().find(|(name, _)| name == "chain.toml").unwrap();
    for hops in [1, 16] {
        let scenario = load_toml(&text, "chain.toml", &[format!("topology.hops={hops}")]).unwrap();
        assert_eq!(scenario.network(1).unwrap().flows[0].hops, Some(hops));
    }
}

#[test]
fn ns2_files_become_scenarios() {
    let files = files("tests/data/ns2", "txt");
    assert!(files.len() >= 7);
    for (name, text) in files {
        let scenario = load_ns2(&text, &name, Some("newreno"), Some("400s"), &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scenario.profile, Profile::Ns2);
        assert_eq!(scenario.radio.rate, Rate::kbps(2_000));
        assert_eq!(scenario.duration, Dur::from_secs(400));
        let flow = &scenario.network(1).unwrap().flows[0];
        assert_eq!((flow.src, flow.traffic.start), (NodeId(0), Time::from_secs(1)));
        let is_udp = name.starts_with("udp");
        assert_eq!(scenario.warmup, Dur::from_secs(if is_udp { 1 } else { 40 }), "{name}");
        assert_eq!(flow.traffic.transport.name(), if is_udp { "udp" } else { "newreno" });
        let window = if name.ends_with("_w1.txt") { 1 } else { 64 };
        assert_eq!(flow.traffic.window, Some(window), "{name}");
        assert_round_trip(&scenario);
    }
}

#[test]
fn flows_of_an_ns2_file_start_one_after_the_other() {
    let text = "rate 11 # Mbit/s\nwindow 8\nnode 0 0\nnode 200 0.5\nnode 400 0\nflow 0 2 2\nflow 2 0 2\n";
    let overrides = ["seed=9".to_owned(), "radio.basic_rate=2Mbps".to_owned()];
    let scenario = load_ns2(text, "dir/two.txt", Some("reno"), None, &overrides).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.seed), ("two", 9));
    assert_eq!((scenario.radio.rate, scenario.radio.basic_rate), (Rate::kbps(11_000), Rate::kbps(2_000)));
    assert_eq!(scenario.duration, Dur::from_secs(1000));
    let flows = scenario.network(1).unwrap().flows;
    assert_eq!(flows[1].traffic.start, Time::from_millis(1100));
    assert_eq!((flows[1].src, flows[1].dst, flows[1].hops), (NodeId(2), NodeId(0), Some(2)));
    assert_eq!(flows[1].traffic.transport.name(), "reno");
    assert_eq!(scenario.topology, Topology::Positions(vec![(0.0, 0.0), (200.0, 0.5), (400.0, 0.0)]));
}
