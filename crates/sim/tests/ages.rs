//! Ages of bytes at delivery in whole networks: lower bounds, and that measuring them changes nothing.

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};

fn run_with(flow: &str, changes: &[&str]) -> RunResult {
    let text = format!(
        "profile = 'ns2'\nduration = '40s'\nwarmup = '5s'\n[topology]\nkind = 'chain'\nhops = 3\n\
         [[flows]]\nfrom = 'first'\nto = 'last'\n{flow}\n"
    );
    let changes: Vec<_> = changes.iter().map(|&change| change.to_owned()).collect();
    let scenario = load_toml(&text, "ages.toml", &changes).unwrap();
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    RunResult { wall_s: 0.0, ..result }
}

const ASKED: &str = "tcp.delivery_ages=true";

#[test]
fn ages_are_measured_on_request_and_change_nothing_else() {
    for flow in ["transport = 'newreno'", "transport = 'tcp-ap'", "transport = 'adhoc-tcp'"] {
        let (plain, mut asked) = (run_with(flow, &[]), run_with(flow, &[ASKED]));
        let aged = &mut asked.flows[0];
        assert_eq!(plain.flows[0].age_mean_s, None);
        assert!(aged.age_mean_s.take().is_some());
        (aged.age_median_s, aged.age_p95_s, aged.age_p99_s) = (None, None, None);
        assert_eq!(plain, asked, "{flow}");
    }
}

/// A byte waits until the previous one has left, and then passes three hops: the mean age is at least the mean time
/// between two segments plus three times the duration of a frame of 1,500 bytes. With a window of one segment this wait
/// is the whole round trip, and the age exceeds that.
#[test]
fn the_wait_at_the_sender_counts() {
    let airtime_s = 3.0 * 1_500.0 * 8.0 / 2e6;
    for window in ["tcp.window=64", "tcp.window=1"] {
        let result = run_with("transport = 'newreno'", &[ASKED, window, "radio.rate=2Mbps"]);
        let flow = &result.flows[0];
        let (mean, median) = (flow.age_mean_s.unwrap(), flow.age_median_s.unwrap());
        let between_s = 1_460.0 * 8.0 / flow.goodput_bps;
        assert!(mean > between_s + airtime_s, "{window}: {mean} s, {between_s} s between segments");
        assert!(median <= flow.age_p95_s.unwrap() && flow.age_p95_s <= flow.age_p99_s, "{window}");
        if window == "tcp.window=1" {
            let rtt = flow.rtt_mean_s.unwrap();
            assert!(median > rtt && median < 2.0 * rtt, "{median} s at a round trip of {rtt} s");
        }
    }
}

/// A file is born when it is written: pauses between files do not count.
#[test]
fn pauses_between_files_do_not_count() {
    for connection in ["same", "fresh"] {
        let flow = format!(
            "transport = 'newreno'\napp = 'files'\nmean_size = '5kB'\nmean_pause = '2s'\nconnection = '{connection}'"
        );
        let result = run_with(&flow, &[ASKED]);
        let flow = &result.flows[0];
        assert!(flow.files.unwrap() >= 5, "{connection}");
        assert!(flow.age_median_s.unwrap() < 0.5, "{connection}: {:?}", flow.age_median_s);
    }
}
