//! Networks so large that a frame would leave its nearest receiver before it reaches the farthest are refused. In the
//! largest that are allowed time never runs backwards, which debug assertions check.

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunError, RunOptions, run};

fn outcome(text: &str) -> Result<RunResult, RunError> {
    let scenario = load_toml(text, "far.toml", &[]).unwrap();
    run(&scenario, 1, &RunOptions::default(), &Control::new())
}

/// Returns the error, which must be one about the scenario.
fn refusal(text: &str) -> String {
    match outcome(text) {
        Err(RunError::Scenario(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Nodes at `places` (metres along a line) that all hear each other. Answers take 28 us, the propagation delay of 8,400
/// m.
fn line(places: &[f64]) -> String {
    let places: Vec<_> = places.iter().map(|x| format!("['{x}m', '0m']")).collect();
    format!(
        "profile = 'standard'\nduration = '2s'\nwarmup = '0s'\n[topology]\nkind = 'positions'\npositions = [{}]\n\
         [radio]\nmodel = 'sinr'\nphy = 'ofdm'\nrate = '24Mbps'\nbasic_rate = '6Mbps'\ntx_power = '60dBm'\n\
         path_loss = 'free-space'\n[mac]\npropagation_margin = '60us'\nanswer_rate = 'mandatory'\n\
         [[flows]]\nfrom = 1\nto = 0\ntransport = 'newreno'\n[[flows]]\nfrom = 2\nto = 0\ntransport = 'newreno'\n",
        places.join(", ")
    )
}

#[test]
fn a_grid_of_100_km_is_refused() {
    let text = "profile = 'standard'\nduration = '2s'\n[topology]\nkind = 'grid'\ncolumns = 3\nrows = 3\nspacing = \
        '100km'\n\
                [radio]\nmodel = 'sinr'\nexponent = 1\n[traffic]\ntransport = 'newreno'\n";
    let error = refusal(text);
    assert_eq!(
        error,
        "far.toml: topology: found receivers of node 8 from 100000 m to 282843 m away, allowed: less than 91200 m \
            between \
         the nearest and the farthest receiver of a frame, the distance that light travels during the shortest frame, \
         an ACK \
         at 1 \
         Mbit/s of \
         304 us (a smaller network, a shorter range or slower frames)"
    );
}

#[test]
fn hops_of_30_km_are_too_long_for_ofdm() {
    let error = refusal(&line(&[0.0, 30e3, 60e3, 90e3]));
    assert!(error.contains("from 30000 m to 90000 m") && error.contains("less than 8400 m"), "{error}");
    assert!(error.contains("an ACK at 24 Mbit/s of 28 us"), "{error}");
}

#[test]
fn the_largest_network_that_is_allowed_runs() {
    // Node 0 hears node 1 at 5 km. One nanosecond corresponds to 0.3 m.
    let result = outcome(&line(&[0.0, 5e3, 13_399.7])).unwrap();
    assert!(result.flows.iter().all(|flow| flow.delivered_bytes > 0), "{:?}", result.flows);
    assert!(refusal(&line(&[0.0, 5e3, 13_400.0])).contains("receivers of node 0 from 5000 m to 13400 m away"));
}

#[test]
fn two_nodes_may_be_any_distance_apart() {
    let text = "profile = 'ns2'\nduration = '2s'\n[topology]\nkind = 'chain'\nhops = 1\nspacing = '100km'\n\
                [radio]\nmodel = 'sinr'\nexponent = 1\n[mac]\npropagation_margin = '1ms'\n[traffic]\ntransport = \
                'udp'\n\
                rate = '100kbps'\n";
    assert!(outcome(text).unwrap().flows[0].delivered_bytes > 0);
    let moving = "[mobility]\nmodel = 'random-waypoint'\nspeed_max = '10m/s'\nwidth = '1000km'\nheight = '1km'\n";
    assert!(outcome(&format!("{text}{moving}")).is_ok());
}

#[test]
fn moving_nodes_are_judged_by_the_smaller_of_their_area_and_their_reach() {
    let text = |width: &str, height: &str, exponent: &str| {
        format!(
            "profile = 'ns2'\nduration = '2s'\nwarmup = '0s'\n[topology]\nkind = 'chain'\nhops = 4\n\
             [radio]\nmodel = 'sinr'\nexponent = {exponent}\n[traffic]\ntransport = 'newreno'\n\
             [mobility]\nmodel = 'random-waypoint'\nspeed_max = '10m/s'\nwidth = '{width}'\nheight = '{height}'\n"
        )
    };
    // The diagonal is 5/4 of the width.
    let error = refusal(&text("73km", "54750m", "1"));
    assert!(error.contains("mobility: found moving nodes that receive each other up to 91250 m away"), "{error}");
    assert!(outcome(&text("72.9km", "54675m", "1")).is_ok());
    assert!(outcome(&text("1000km", "1000km", "3")).is_ok());
    // For paths out of a small network, their ends count.
    let ways = |x: &str| {
        format!(
            "profile = 'ns2'\nduration = '2s'\nwarmup = '0s'\n[topology]\nkind = 'chain'\nhops = 4\n\
             [radio]\nmodel = 'sinr'\nexponent = 1\n[traffic]\ntransport = 'newreno'\n\
             [mobility]\nmodel = 'waypoints'\nwaypoints = [[3, '100s', '{x}', '0m']]\n"
        )
    };
    assert!(refusal(&ways("-91km")).contains("up to 91800 m away"));
    assert!(outcome(&ways("-90.1km")).is_ok());
}
