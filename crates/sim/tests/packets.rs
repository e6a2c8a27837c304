//! Runs that end after a number of packets and are cut by packets: `packets` in a scenario.

use fourhop_sim::batch::Control;
use fourhop_sim::result::{RunResult, jain};
use fourhop_sim::scenario::{Scenario, load_toml};
use fourhop_sim::{RunOptions, run};

const MSS: u64 = 1460;

fn scenario(settings: &[&str]) -> Scenario {
    let text = "profile = 'ns2'\nduration = '200s'\n[topology]\nkind = 'parallel-chains'\nhops = 3\n\
                [routing]\nprotocol = 'static'\n[traffic]\ntransport = 'newreno'\n";
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    load_toml(text, "packets.toml", &settings).unwrap()
}

fn result(settings: &[&str]) -> RunResult {
    run(&scenario(settings), 1, &RunOptions::default(), &Control::new()).unwrap()
}

/// 3300 packets in 11 parts of 300: the run ends with the last packet, and ten parts are measured.
#[test]
fn a_run_ends_with_the_packets_asked_for() {
    let control = Control::new();
    let scenario = scenario(&["packets=3300"]);
    let result = run(&scenario, 1, &RunOptions::default(), &control).unwrap();
    assert_eq!(result.ended_by, "packets");
    assert!(result.simulated_s < 199.0, "{}", result.simulated_s);
    assert_eq!(control.progress().as_nanos(), scenario.duration.as_nanos(), "done is done");
    let delivered: u64 = result.flows.iter().map(|flow| flow.delivered_bytes).sum();
    // Ten parts of 300. Filling a hole delivers up to a window of 64 at once, so a bound may be that late.
    assert!((2936..=3064).contains(&(delivered / MSS)), "{}", delivered / MSS);
    for flow in &result.flows {
        assert_eq!(flow.batch_goodput_bps.len(), 10);
    }
    // A batch's goodput is its bytes over its time: with equal bytes in each, their harmonic mean is the rate of the
    // whole.
    let rates: Vec<f64> =
        (0..10).map(|part| result.flows.iter().map(|flow| flow.batch_goodput_bps[part]).sum()).collect();
    let harmonic = rates.len() as f64 / rates.iter().map(|rate| 1.0 / rate).sum::<f64>();
    assert!(
        (harmonic / result.aggregate_goodput_bps - 1.0).abs() < 0.03,
        "{harmonic} {}",
        result.aggregate_goodput_bps
    );
    assert_eq!(result.jain, jain(&[result.flows[0].goodput_bps, result.flows[1].goodput_bps]));
}

/// Sampling a run more often does not change it: the flows are the same with either kind of cut.
#[test]
fn counting_packets_changes_no_event() {
    let by_packets = result(&["packets=550"]);
    let ended = format!("duration={}ms", (by_packets.simulated_s * 1e3).round());
    let by_time = result(&[&ended, "warmup=0s"]);
    assert_eq!((by_packets.events, by_packets.frames), (by_time.events, by_time.frames));
    assert_eq!(by_packets.drops, by_time.drops);
    assert_eq!(by_packets.flows[0].sent, by_time.flows[0].sent);
}

/// If `duration` comes first, complete parts count as batches, and everything counts towards the mean.
#[test]
fn duration_ends_a_run_that_delivers_too_little() {
    let some = result(&["packets=5500", "duration=30s"]);
    assert_eq!((some.ended_by, some.simulated_s), ("duration", 30.0));
    let parts = some.flows[0].batch_goodput_bps.len();
    assert!((1..10).contains(&parts), "{parts}");
    let none = result(&["packets=5500000", "duration=10s"]);
    assert!(none.flows.iter().all(|flow| flow.batch_goodput_bps.is_empty()));
    assert!(none.aggregate_goodput_bps > 0.0, "measured whole");
    let bytes: u64 = none.flows.iter().map(|flow| flow.delivered_bytes).sum();
    assert!((none.aggregate_goodput_bps - bytes as f64 * 8.0 / 10.0).abs() < 1.0);
}

/// Counting begins after the warm-up.
#[test]
fn warmup_comes_before_the_count() {
    let at_once = result(&["packets=110"]);
    let later = result(&["packets=110", "warmup=20s"]);
    assert!(later.simulated_s > at_once.simulated_s + 15.0, "{} {}", later.simulated_s, at_once.simulated_s);
}

/// Datagrams and echo requests are packets, too.
#[test]
fn packets_of_udp_and_ping() {
    for traffic in ["traffic={transport='udp',rate='100kbps',payload='500B'}", "traffic={transport='ping'}"] {
        let result = result(&["packets=33", traffic]);
        assert_eq!((result.ended_by, result.flows[0].batch_goodput_bps.len()), ("packets", 10), "{traffic}");
    }
}
