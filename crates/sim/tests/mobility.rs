//! Moving nodes, as seen by routing and transport.

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};

const PROFILES: [&str; 2] = ["ns2", "standard"];

/// Two minutes of 80 kbit/s from node 0 to node 2, in parts of 10 s.
fn walk(profile: &str, positions: &str, waypoints: &str) -> RunResult {
    let text = format!(
        "profile = '{profile}'\nduration = '120s'\nwarmup = '0s'\nbatches = 12\n[topology]\nkind = 'positions'\n\
         positions = {positions}\n[mobility]\nmodel = 'waypoints'\nwaypoints = {waypoints}\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'udp'\nrate = '80kbps'\npayload = '500B'\nstart = '0s'\n"
    );
    let scenario = load_toml(&text, "walk.toml", &[]).unwrap();
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    for (layer, balance) in &result.conservation {
        assert_eq!(balance.taken, balance.passed + balance.dropped + balance.held, "{layer}");
    }
    result
}

/// Returns the share of the 80 kbit/s that arrived in each part.
fn shares(result: &RunResult) -> Vec<f64> {
    result.flows[0].batch_goodput_bps.iter().map(|bps| bps / 80e3).collect()
}

// Node 2 leaves at 20 s at 50 m/s. It is 250 m from node 1 after 3 s, far away until 60 s, and back within reach at 77
// s.
#[test]
fn a_node_that_walks_away_is_lost_and_found_again() {
    for profile in PROFILES {
        let positions = "[['0m', '0m'], ['200m', '0m'], ['400m', '0m']]";
        let ways = "[[2, '20s', '400m', '0m'], [2, '50m/s', '400m', '1000m', '20s'], [2, '50m/s', '400m', '0m']]";
        let result = walk(profile, positions, ways);
        let shares = shares(&result);
        assert!(shares[0] > 0.9 && shares[1] > 0.99, "{profile}: {shares:?}");
        assert!((0.2..0.4).contains(&shares[2]), "3 s of 10: {profile}: {shares:?}");
        assert!(shares[3..7].iter().all(|&share| share == 0.0), "{profile}: {shares:?}");
        assert!(shares[9..].iter().all(|&share| share > 0.95), "{profile}: {shares:?}");
        assert!(result.counters["route"]["link_failures"] > 0, "{profile}: {:?}", result.counters["route"]);
    }
}

// The relay walks away while another is available: packets take the other path once the break has been detected.
#[test]
fn another_relay_takes_over() {
    for profile in PROFILES {
        let positions = "[['0m', '0m'], ['200m', '0m'], ['400m', '0m'], ['200m', '-140m']]";
        let result = walk(profile, positions, "[[1, '20s', '200m', '0m'], [1, '20m/s', '200m', '1000m']]");
        let shares = shares(&result);
        assert!(shares[0] > 0.9 && shares[1] > 0.99, "{profile}: {shares:?}");
        // It is 150 m off its line at 27.5 s, where its own copies still reach both ends.
        assert!(shares[2] + shares[3] > 1.8, "{profile}: {shares:?}");
        assert!(shares[4..].iter().all(|&share| share > 0.95), "{profile}: {shares:?}");
    }
}

#[test]
fn nodes_that_stand_still_by_their_ways_change_no_result() {
    let text = |mobility: &str| {
        format!(
            "profile = 'ns2'\nduration = '20s'\n[topology]\nkind = 'chain'\nhops = 4\n{mobility}\
             [[flows]]\nfrom = 0\nto = 4\ntransport = 'newreno'\n"
        )
    };
    let result = |mobility: &str| {
        let scenario = load_toml(&text(mobility), "still.toml", &[]).unwrap();
        let mut result = run(&scenario, 5, &RunOptions::default(), &Control::new()).unwrap();
        result.wall_s = 0.0;
        result
    };
    // Their lists are computed at each transmission and equal those computed once.
    assert_eq!(result(""), result("[mobility]\nmodel = 'waypoints'\nwaypoints = [[2, '100s', '400m', '0m']]\n"));
}

// At 400 m/s, node 2 leaves the reach of node 0 while a datagram is on the air: the datagram arrives, its ACK does not,
// and after the retries node 0 sends it again via node 1 (RFC 3561 section 6.12). It arrives twice and is delivered
// once.
#[test]
fn a_datagram_that_comes_again_by_another_way_is_delivered_once() {
    let text = "profile = 'standard'\nduration = '2s'\nwarmup = '0s'\n[topology]\nkind = 'positions'\n\
                positions = [['0m', '0m'], ['100m', '0m'], ['200m', '0m']]\n[radio]\nrate = '1Mbps'\n\
                [mobility]\nmodel = 'waypoints'\nwaypoints = [[2, '1s', '200m', '0m'], [2, '400m/s', '300m', '0m']]\n\
                [[flows]]\nfrom = 0\nto = 2\ntransport = 'udp'\nrate = '400kbps'\npayload = '500B'\nstart = '0s'\n";
    let scenario = load_toml(text, "again.toml", &[]).unwrap();
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    assert_eq!((result.counters["udp"]["repeated"], result.counters["udp"]["late"]), (1, 0));
    let flow = &result.flows[0];
    assert_eq!(flow.throughput_bps - flow.goodput_bps, 500.0 * 8.0 / 2.0, "{flow:?}");
    assert!(flow.delivered_bytes > 150 * 500, "the other way carries on: {flow:?}");
}
