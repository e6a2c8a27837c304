//! Chains compared with ns-2.35: goodput and counts of events, for scenarios and numbers stored next to this file
//! (`data/ns2`). This is a short version; VALIDATION.md has the long one.
//!
//! The two simulators draw different random numbers, so means over seeds are compared. Tolerances: UDP below capacity
//! and window 1, 1 %; NewReno up to 6 hops, 5 %; beyond, 10 % or overlapping 95 % intervals. A count may differ by its
//! percentage, or by chance: three standard errors of the difference of the two means. A rare event is assumed to have
//! at least the spread of a Poisson count (a few runs tell little about it).

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_ns2;
use fourhop_sim::{RunOptions, run};
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ns2/");

/// A mean with its spread over runs.
#[derive(Clone, Copy, Debug)]
struct Sample {
    mean: f64,
    sd: f64,
    runs: f64,
}

impl Sample {
    fn new(values: &[f64]) -> Sample {
        let runs = values.len() as f64;
        let mean = values.iter().sum::<f64>() / runs;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Sample { mean, sd: (squares / (runs - 1.0).max(1.0)).sqrt(), runs }
    }

    fn standard_error(&self) -> f64 {
        self.sd / self.runs.sqrt()
    }

    fn standard_error_of_count(&self) -> f64 {
        self.sd.max(self.mean.sqrt()) / self.runs.sqrt()
    }
}

struct Comparison {
    name: &'static str,
    reference: Value,
    results: Vec<RunResult>,
}

impl Comparison {
    /// Runs the scenario with the first `seeds` seeds, for as long as ns-2 did.
    fn new(name: &'static str, seeds: u64) -> Comparison {
        let read = |file: &str| std::fs::read_to_string(format!("{FOLDER}{file}")).unwrap();
        let all: Value = serde_json::from_str(&read("reference.json")).unwrap();
        let of = |entry: &&Value| entry["scenario"] == name;
        let reference = all["scenarios"].as_array().unwrap().iter().find(of).unwrap().clone();
        let duration = format!("{}s", reference["duration_s"]);
        let scenario = load_ns2(&read(&format!("{name}.txt")), name, Some("newreno"), Some(&duration), &[]).unwrap();
        let options = RunOptions::default();
        let results = (1..=seeds).map(|seed| run(&scenario, seed, &options, &Control::new()).unwrap()).collect();
        Comparison { name, reference, results }
    }

    fn goodput_kbps(&self) -> (Sample, Sample) {
        let theirs: Vec<f64> =
            self.reference["goodput_kbps"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        let ours: Vec<f64> = self.results.iter().map(|result| result.flows[0].goodput_bps / 1e3).collect();
        (Sample::new(&ours), Sample::new(&theirs))
    }

    #[track_caller]
    fn goodput_within(&self, tolerance: f64) {
        let (ours, ns2) = self.goodput_kbps();
        let off = ours.mean / ns2.mean - 1.0;
        println!("{:10} goodput {:8.2} kbit/s, ns-2 {:8.2}, {:+.2} %", self.name, ours.mean, ns2.mean, 100.0 * off);
        assert!(off.abs() <= tolerance, "{}: {ours:?} kbit/s against {ns2:?} of ns-2", self.name);
    }

    fn ours(&self, counter: &str) -> Sample {
        let value = |result: &RunResult| match counter {
            "tcp_timeouts" => result.flows[0].timeouts,
            "rreq_originated" => result.counters["route"][counter],
            _ => result.counters["mac"][counter],
        };
        Sample::new(&self.results.iter().map(|result| value(result) as f64).collect::<Vec<_>>())
    }

    #[track_caller]
    fn counters_within(&self, tolerances: &[(&str, f64)]) {
        let given = &self.reference["counters"];
        let mut off = Vec::new();
        for &(counter, tolerance) in tolerances {
            let number = |of: &str| given[of][counter].as_f64().unwrap();
            let ns2 = Sample { mean: number("mean"), sd: number("sd"), runs: given["seeds"].as_f64().unwrap() };
            let ours = self.ours(counter);
            let chance = 3.0 * ours.standard_error_of_count().hypot(ns2.standard_error_of_count());
            // A difference of one event is acceptable if there are hardly any.
            let allowed = (tolerance * ns2.mean).max(chance).max(1.0);
            let line = format!(
                "{:10} {counter:16} {:9.0}, ns-2 {:9.0}, may differ by {allowed:.0}",
                self.name, ours.mean, ns2.mean
            );
            println!("{line}");
            if (ours.mean - ns2.mean).abs() > allowed {
                off.push(line);
            }
        }
        assert!(off.is_empty(), "counts that do not agree:\n{}", off.join("\n"));
    }
}

/// Tolerances where seeds scatter by 2 %.
const UP_TO_6_HOPS: [(&str, f64); 7] = [
    ("cts_sent", 0.03),
    ("cts_refused", 0.05),
    ("rts_timeouts", 0.05),
    ("rts_limit_drops", 0.05),
    ("data_timeouts", 0.10),
    ("rreq_originated", 0.05),
    ("tcp_timeouts", 0.10),
];

#[test]
fn udp_below_capacity_agrees() {
    for name in ["udp4_200", "udp8_150"] {
        Comparison::new(name, 2).goodput_within(0.01);
    }
}

#[test]
fn window_1_agrees() {
    Comparison::new("chain4_w1", 2).goodput_within(0.01);
}

#[test]
fn one_hop_agrees() {
    let chain = Comparison::new("chain1", 2);
    chain.goodput_within(0.01);
    chain.counters_within(&UP_TO_6_HOPS);
}

#[test]
fn two_hops_agree() {
    let chain = Comparison::new("chain2", 2);
    chain.goodput_within(0.01);
    chain.counters_within(&UP_TO_6_HOPS);
}

#[test]
fn three_hops_agree() {
    let chain = Comparison::new("chain3", 4);
    chain.goodput_within(0.05);
    chain.counters_within(&UP_TO_6_HOPS);
}

#[test]
fn four_hops_agree() {
    let chain = Comparison::new("chain4", 4);
    chain.goodput_within(0.05);
    chain.counters_within(&UP_TO_6_HOPS);
}

#[test]
fn six_hops_agree() {
    let chain = Comparison::new("chain6", 4);
    chain.goodput_within(0.05);
    chain.counters_within(&UP_TO_6_HOPS);
}

#[test]
fn eight_hops_agree() {
    let chain = Comparison::new("chain8", 10);
    let (ours, ns2) = chain.goodput_kbps();
    // Student's t for 95 % and 9 degrees of freedom.
    let half_width = |sample: &Sample| 2.262 * sample.standard_error();
    let overlap = (ours.mean - ns2.mean).abs() <= half_width(&ours) + half_width(&ns2);
    if !overlap {
        chain.goodput_within(0.10);
    }
    chain.counters_within(&UP_TO_6_HOPS.map(|(counter, _)| (counter, 0.12)));
}
