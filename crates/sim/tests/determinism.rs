//! A run is a function of its scenario and its seed: it is the same on every repetition and with any number of threads,
//! to the last byte of its capture files, and differs for another seed.

use fourhop_sim::batch::Control;
use fourhop_sim::scenario::{Scenario, load_toml};
use fourhop_sim::{RunOptions, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Files of the folder `scenarios`, with keys that shorten them.
const SCENARIOS: [(&str, &[&str]); 13] = [
    ("chain", &["duration=20s"]),
    ("udp", &["duration=20s"]),
    ("ping", &["duration=20s", "flows[1].start=2s"]),
    ("parallel", &["duration=15s"]),
    ("cross", &["duration=15s", "traffic.stagger=2s"]),
    ("grid", &["duration=10s"]),
    ("random", &["duration=6s"]),
    ("gateway-cross", &["duration=10s"]),
    ("two-gateways", &["duration=15s", "wired.delay=1ms", "mobility.waypoints=[[5, '80m/s', '800m', '150m']]"]),
    ("random-waypoint", &["duration=8s", "mobility.speed_max=30m/s"]),
    ("hallway", &["duration=8s"]),
    ("walk", &["duration=8s"]),
    (
        "chain",
        &[
            "duration=3s",
            "radio.model=sinr",
            "radio.phy=ht",
            "radio.rate=65Mbps",
            "topology.spacing=40m",
            "mac.rate_control=minstrel",
        ],
    ),
];
const PROFILES: [&str; 2] = ["ns2", "standard"];

/// A scenario of the folder with its settings, and the command that runs it.
struct Case {
    scenario: Scenario,
    command: String,
}

impl Case {
    fn new(name: &str, settings: &[&str], profile: &str) -> Case {
        let file = format!("scenarios/{name}.toml");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&file);
        let mut settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        settings.push(format!("profile={profile}"));
        let text = std::fs::read_to_string(path).unwrap();
        let scenario = load_toml(&text, &file, &settings).unwrap();
        let command = format!("fourhop run {file} --set {} --json", settings.join(" --set "));
        Case { scenario, command }
    }

    /// Returns everything that a run reports except its run time.
    fn run(&self, seed: u64, pcap: Option<&Path>) -> String {
        result(&self.scenario, seed, pcap, &Control::new())
    }

    #[track_caller]
    fn same(&self, seed: u64, what: &str, one: &str, other: &str) {
        if one != other {
            let at = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            let part = |text: &str| text[at.saturating_sub(80)..(at + 80).min(text.len())].to_string();
            panic!(
                "{what} differ, first here:\n  {}\n  {}\nreproduce: {} --seed {seed}",
                part(one),
                part(other),
                self.command
            );
        }
    }
}

fn cases() -> impl Iterator<Item = Case> {
    PROFILES.into_iter().flat_map(|profile| SCENARIOS.iter().map(move |(name, set)| Case::new(name, set, profile)))
}

fn result(scenario: &Scenario, seed: u64, pcap: Option<&Path>, control: &Control) -> String {
    let options = RunOptions { pcap_dir: pcap.map(PathBuf::from), ..RunOptions::default() };
    let mut result = serde_json::to_value(run(scenario, seed, &options, control).unwrap()).unwrap();
    let wall = result.as_object_mut().unwrap().remove("wall_s");
    assert!(wall.is_some(), "the only member that may differ");
    result.to_string()
}

/// Returns an empty folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("determinism").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    folder
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[track_caller]
fn same_files(case: &Case, seed: u64, one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert!(one.keys().eq(other.keys()));
    assert!(one.values().any(|bytes| bytes.len() > 10_000), "frames were captured");
    for ((name, a), b) in one.iter().zip(other.values()) {
        let at = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        assert!(a == b, "{name} differs from byte {at} on; reproduce: {} --seed {seed} --pcap captures", case.command);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for case in cases() {
        let seed = 7;
        case.same(seed, "two runs of one seed", &case.run(seed, None), &case.run(seed, None));
    }
}

#[test]
fn the_same_seed_gives_the_same_captures_and_a_capture_changes_nothing() {
    for profile in PROFILES {
        for (name, settings) in [SCENARIOS[0], SCENARIOS[2]] {
            let case = Case::new(name, settings, profile);
            let (one, other) = (folder(&format!("{name}-{profile}-one")), folder(&format!("{name}-{profile}-other")));
            let captured = case.run(3, Some(&one));
            case.run(3, Some(&other));
            same_files(&case, 3, &one, &other);
            case.same(3, "runs with and without captures", &captured, &case.run(3, None));
        }
    }
}

/// Returns results by seed, and a folder of captures for each seed, produced by `jobs` threads.
fn batch(case: &Case, jobs: usize, name: &str) -> (BTreeMap<u64, String>, PathBuf) {
    let folder = folder(name);
    let waiting = Mutex::new(1..=5);
    let next = || waiting.lock().unwrap().next();
    let run = |seed: u64| result(&case.scenario, seed, Some(&folder.join(seed.to_string())), &Control::new());
    let results = std::thread::scope(|scope| {
        let work = || std::iter::from_fn(next).map(|seed| (seed, run(seed))).collect::<Vec<_>>();
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    (results, folder)
}

#[test]
fn one_thread_and_many_give_the_same_runs_of_ns2() {
    one_thread_and_many_give_the_same_runs(PROFILES[0]);
}

#[test]
fn one_thread_and_many_give_the_same_runs_of_the_standards() {
    one_thread_and_many_give_the_same_runs(PROFILES[1]);
}

fn one_thread_and_many_give_the_same_runs(profile: &str) {
    for (name, _) in [SCENARIOS[0], SCENARIOS[3], SCENARIOS[7], SCENARIOS[9], SCENARIOS[11]] {
        let case = Case::new(name, &["duration=3s"], profile);
        let (alone, folder_alone) = batch(&case, 1, &format!("{name}-{profile}-alone"));
        assert_eq!(alone.len(), 5);
        for jobs in [2, 5] {
            let (together, folder) = batch(&case, jobs, &format!("{name}-{profile}-{jobs}"));
            for (seed, result) in &alone {
                case.same(*seed, &format!("runs on 1 and {jobs} threads"), result, &together[seed]);
                let of = |folder: &Path| folder.join(seed.to_string());
                same_files(&case, *seed, &of(&folder_alone), &of(&folder));
            }
        }
    }
}

#[test]
fn different_seeds_give_different_runs() {
    for case in cases() {
        let without_seed = |seed: u64| case.run(seed, None).replace(&format!("\"seed\":{seed}"), "");
        assert_ne!(without_seed(1), without_seed(2), "seeds 1 and 2 of {}", case.command);
    }
}
