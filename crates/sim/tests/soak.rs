//! Random networks with extreme values, anything that the reader accepts, under debug assertions: no arithmetic
//! overflows, time never runs backwards, nothing panics, and every layer accounts for its input.
//!
//! Keys, ranges and names come from the tables of the scenario, so a new key is covered automatically. If the reader
//! refuses a draw, its messages are used to repair it: a key it complains about is drawn again or left out, a missing
//! one is added.
//!
//! With `SOAK_SECONDS` the test runs for that long (`make soak`), `SOAK_SEED` is the first seed; without them it is the
//! same every time.

use crate::common::accounts::check_accounts;
use fourhop_cc::Transport;
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::{Key, Kind, Scenario, Unit, load_toml, tables};
use fourhop_sim::{RunError, RunOptions, run};
use fourhop_units::{NodeId, Purpose, Stream};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The common part of all scenarios: `--set` cannot begin a list.
const BASE: &str = "[[flows]]\nfrom = 0\nto = \"last\"\ntransport = \"newreno\"\nstart = \"100ms\"\n\
                    [[flows]]\nfrom = \"last\"\nto = 0\ntransport = \"ping\"\nstart = \"400ms\"\n\
                    [[nodes]]\nnode = 0\n\
                    [[walls]]\ncorners = [[\"1m\", \"-9m\"], [\"1m\", \"9m\"]]\nloss = \"1dB\"\n";
const FLOWS: usize = 2;
/// Number of networks in a round. Each round has a separate seed.
const CASES: u32 = 40;
/// Number of rounds without `SOAK_SECONDS`.
const ROUNDS: u64 = 30;
/// Number of attempts to repair a scenario that the reader refuses.
const ATTEMPTS: u64 = 16;
/// Largest excess of a topology's sizes over their minimum: networks need not be large.
const SPARE_NODES: u64 = 5;
/// Wall-clock time after which a run is stopped, which is no error, and after which it counts as hanging, which is.
const ENOUGH: Duration = Duration::from_millis(100);
const HANGS: Duration = Duration::from_secs(60);

/// Returns every key with its path, the keys of flows once for each flow.
fn keys() -> Vec<(String, &'static Key)> {
    let of = |name: &'static str, keys: &'static [Key]| {
        let places = match name {
            "" => vec![String::new()],
            // The base has no `[[wires]]`: `[wired]` forms a line. Measured losses require fixed nodes.
            "wires" | "losses" => Vec::new(),
            "nodes" | "walls" => vec![format!("{name}[0].")],
            "flows" => (0..FLOWS).map(|flow| format!("flows[{flow}].")).collect(),
            _ => vec![format!("{name}.")],
        };
        places.into_iter().flat_map(move |place| keys.iter().map(move |key| (format!("{place}{}", key.name), key)))
    };
    tables().iter().flat_map(|table| of(table.name, table.keys)).collect()
}

/// Draws a value of `key`, more often extreme than not, in the syntax of `--set`.
fn draw(path: &str, key: &Key, stream: &mut Stream) -> String {
    if key.is_optional() && stream.below(8) == 0 {
        return "none".to_owned();
    }
    match key.kind {
        // A tenth of the networks has any duration, and is stopped by the wall clock; the others are short.
        Kind::Quantity(..) if path == "duration" && stream.below(10) > 0 => format!("{}ms", 1 + stream.below(4_000)),
        Kind::Bool => (stream.below(2) == 0).to_string(),
        Kind::Int(from, to) | Kind::IntOrList(from, to, _) | Kind::IntOr(from, to, _) => {
            let is_size = path.starts_with("topology.") || path == "traffic.pairs";
            let to = if is_size { to.min(from + SPARE_NODES) } else { to };
            match stream.below(5) {
                0 => from,
                1 => to,
                2 => to - 1.min(to - from),
                3 => from + u64::from(stream.below(12)).min(to - from),
                _ => from + (stream.unit() * (to - from) as f64) as u64,
            }
            .to_string()
        }
        Kind::Quantity(unit, from, to) => quantity(unit, from, to, stream),
        Kind::Choice(choices) => choices[stream.below(choices.len() as u32) as usize].0.to_owned(),
        Kind::Transport => match stream.below(5) {
            0 => "udp".to_owned(),
            1 => "ping".to_owned(),
            2 if stream.below(4) == 0 => "atp".to_owned(),
            _ => Transport::ALL[stream.below(Transport::ALL.len() as u32) as usize].name.to_owned(),
        },
        Kind::Node => ["0", "1", "first", "last", "random", "a", "b"][stream.below(7) as usize].to_owned(),
        Kind::Gateways => ["[0]", "['last']", "['first', 'last']", "['random']"][stream.below(4) as usize].to_owned(),
        Kind::Names(_) => "['a', 'b']".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Form(_) => "10.0.0.1".to_owned(),
        Kind::List(..) => "[]".to_owned(),
        Kind::Positions => {
            let reach = 10f64.powi(stream.below(5) as i32 + 1);
            let mut place = || format!("['{:.1}m', '{:.1}m']", stream.unit() * reach, stream.unit() * reach);
            format!("[{}]", (0..5).map(|_| place()).collect::<Vec<_>>().join(", "))
        }
        Kind::Coordinates => {
            let spread = 10f64.powi(-(stream.below(5) as i32));
            let mut place = || format!("[{}, {}]", 50.0 + stream.unit() * spread, stream.unit() * spread);
            format!("[{}]", (0..5).map(|_| place()).collect::<Vec<_>>().join(", "))
        }
        Kind::Waypoints => {
            let reach = 10f64.powi(stream.below(5) as i32 + 1);
            let mut way = |node| {
                let (at, x) = (stream.unit() * 3.0, (stream.unit() - 0.5) * reach);
                format!("[{node}, '{at:.3}s', '{x:.1}m', '0m']")
            };
            format!("[{}]", (0..2).map(&mut way).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Draws one end of a range, a value just inside it, or one in between: evenly, or by order of magnitude.
fn quantity(unit: Unit, from: &str, to: &str, stream: &mut Stream) -> String {
    let base = |text| unit.parse(text).expect("ranges are quantities");
    let (least, most): (f64, f64) = (base(from), base(to));
    let share = stream.unit();
    let value = match stream.below(8) {
        0 | 1 => return from.to_owned(),
        2 | 3 => return to.to_owned(),
        4 => least + (most - least) * 1e-6 * share,
        5 => least + (most - least) * share,
        _ => {
            let low = if least > 0.0 { least } else { most * 1e-9 };
            if low < most { low * (most / low).powf(share) } else { most }
        }
    };
    let name = if unit == Unit::Power { "W" } else { unit.units()[0].0 };
    // Values of indivisible units are rounded when read, which must not move them out of range.
    let value = if matches!(unit, Unit::Time | Unit::Rate | Unit::Size) { value.ceil() } else { value };
    format!("{value:e}{name}")
}

/// Returns a scenario that the reader accepts, close to the one described by `wishes`, and its overrides.
fn scenario(wishes: &[(usize, u64)], keys: &[(String, &'static Key)]) -> Option<(Scenario, Vec<String>)> {
    let stream = |seed: u64| Stream::new(seed, NodeId(0), Purpose::Topology);
    let mut given: BTreeMap<&str, String> = BTreeMap::from([("duration", "3s".into())]);
    for &(index, seed) in wishes {
        let (path, key) = &keys[index];
        given.insert(path, draw(path, key, &mut stream(seed)));
    }
    // Each network needs other repairs.
    let mut mending = stream(wishes.iter().fold(0, |sum, &(_, seed)| sum ^ seed));
    for round in 0..ATTEMPTS {
        given.entry("profile").or_insert("ns2".into());
        given.entry("topology.kind").or_insert("chain".into());
        let overrides: Vec<String> = given.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let error = match load_toml(BASE, "soak.toml", &overrides) {
            Ok(scenario) => return Some((scenario, overrides)),
            Err(error) => error,
        };
        for problem in error.problems {
            let section = problem.key.split_once('.').map_or(&*problem.key, |(section, _)| section);
            match keys.iter().find(|(path, _)| *path == problem.key) {
                // A section that does not apply here, or cannot be repaired key by key.
                None => given.retain(|path, _| path.split('.').next() != Some(section)),
                Some(_) if round > ATTEMPTS / 2 && !section.ends_with(']') => {
                    given.retain(|path, _| path.split('.').next() != Some(section));
                }
                Some((path, key)) => {
                    if given.remove(path.as_str()).is_none() {
                        given.insert(path, draw(path, key, &mut mending));
                    }
                }
            }
        }
    }
    None
}

/// Runs `work` with a control that stops it when it has run long enough, and ends the process if it hangs.
fn bounded<T>(what: &str, work: impl FnOnce(&Control) -> T) -> T {
    let control = Control::new();
    let (done, ended) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let ended = ended;
            let is_running = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if is_running(ENOUGH) {
                control.stop();
                if is_running(HANGS) {
                    eprintln!("does not end when it is asked to:\n{what}");
                    std::process::abort();
                }
            }
        });
        // Dropped even if `work` panics.
        let _done = done;
        work(&control)
    })
}

#[test]
fn whatever_is_accepted_runs() {
    let number =
        |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|e| panic!("{name}: {e}")));
    let (seconds, first) = (number("SOAK_SECONDS"), number("SOAK_SEED").unwrap_or(1));
    let begun = Instant::now();
    let keys = keys();
    // Few keys out of all, many out of all, and many adjacent ones in the tables, which interact. Networks with many
    // unusual keys rarely deliver anything.
    let wish = || (0..keys.len(), any::<u64>());
    let near = (0..keys.len(), prop::collection::vec((0usize..50, any::<u64>()), 0..50)).prop_map(|(first, wishes)| {
        wishes.into_iter().map(|(step, seed)| ((first + step) % keys.len(), seed)).collect::<Vec<_>>()
    });
    let wishes = prop_oneof![prop::collection::vec(wish(), 0..8), prop::collection::vec(wish(), 0..60), near];
    let [drawn, accepted, ended, delivered] = [const { Cell::new(0u32) }; 4];
    let case = |wishes: Vec<(usize, u64)>| {
        drawn.set(drawn.get() + 1);
        let Some((scenario, overrides)) = scenario(&wishes, &keys) else { return Ok(()) };
        accepted.set(accepted.get() + 1);
        let what = overrides.iter().map(|text| format!("  --set \"{text}\"")).collect::<Vec<_>>().join(" \\\n");
        let result = bounded(&what, |control| run(&scenario, 1, &RunOptions::default(), control));
        match result {
            Ok(result) => {
                ended.set(ended.get() + 1);
                delivered.set(delivered.get() + u32::from(result.flows.iter().any(|flow| flow.delivered_bytes > 0)));
                check_accounts(&result).map_err(|error| TestCaseError::fail(format!("{error}\n{what}")))
            }
            // Stopped by the clock, or refused for its size or a disconnected draw.
            Err(RunError::Stopped | RunError::Scenario(_)) => Ok(()),
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    };
    let goes_on = |round: u64| match seconds {
        Some(seconds) => begun.elapsed() < Duration::from_secs(seconds),
        None => round < ROUNDS,
    };
    for seed in (first..).take_while(|seed| goes_on(seed - first)) {
        let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        if let Err(TestError::Fail(reason, wishes)) = runner.run(&wishes, case) {
            let made = scenario(&wishes, &keys).map(|(_, overrides)| overrides);
            panic!("SOAK_SEED={seed}: {reason}\n{BASE}{}", made.unwrap_or_default().join("\n"));
        }
    }
    let [drawn, accepted, ended, delivered] = [drawn, accepted, ended, delivered].map(Cell::into_inner);
    println!("{drawn} networks drawn, {accepted} accepted, {ended} ran to their end, {delivered} delivered something");
    assert!(accepted * 10 > drawn * 9, "the reader accepts {accepted} of {drawn} only");
    assert!(delivered * 2 > drawn, "only {delivered} of {drawn} networks carried anything");
}
