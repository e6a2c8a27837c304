//! Walls, measured losses, single transmitters and antennas in whole networks.

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};

fn outcome(text: &str, seed: u64) -> RunResult {
    let scenario = load_toml(text, "site.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, seed, &RunOptions::default(), &Control::new()).unwrap()
}

/// A chain of three hops with the flow `flow`; `rest` contains the particulars.
fn chain(flow: &str, rest: &str) -> String {
    format!(
        "profile = 'ns2'\nduration = '8s'\n[topology]\nkind = 'chain'\nhops = 3\n[routing]\nprotocol = 'static'\n\
            {rest}\n\
         [[flows]]\n{flow}\n"
    )
}

const UDP: &str = "from = 0\nto = 3\ntransport = 'udp'\nrate = '80kbps'\npayload = '500B'\nstart = '0s'";

/// Share of sent packets that arrived.
fn share(rest: &str) -> f64 {
    outcome(&chain(UDP, rest), 1).flows[0].goodput_bps / 80e3
}

#[test]
fn a_site_that_changes_nothing_changes_no_result() {
    let radios = [
        "",
        "[radio]\nmodel = 'sinr'\npath_loss = 'two-ray'\nshadowing = '3dB'\nfading = 'rayleigh'\ndoppler = '3Hz'\n",
    ];
    let movements =
        ["", "[mobility]\nmodel = 'random-waypoint'\nspeed_max = '20m/s'\nwidth = '600m'\nheight = '100m'\n"];
    for radio in radios {
        for movement in movements {
            let text =
                |site: &str| chain("from = 0\nto = 3\ntransport = 'newreno'", &format!("{radio}{movement}{site}"));
            let site = "[[nodes]]\nnode = [0, 2]\nantenna_gain = '0dB'\n\
                        [[walls]]\ncorners = [['-9m', '-9m'], ['9km', '-9m']]\nloss = '30dB'\n";
            let json = |text: &str| {
                let mut result = outcome(text, 3);
                result.wall_s = 0.0;
                serde_json::to_string(&result).unwrap()
            };
            let plain = json(&text(""));
            assert_eq!(json(&text(site)), plain, "{radio}{movement}");
            assert!(plain.contains("\"frames\":") && !plain.contains("\"frames\":0,"), "{radio}{movement}");
        }
    }
}

#[test]
fn a_wall_parts_a_network_and_a_measured_link_or_antennas_join_it() {
    let wall = "[[walls]]\ncorners = [['300m', '-50m'], ['300m', '50m']]\nloss = '10dB'\n";
    assert!(share("") > 0.9);
    assert_eq!(share(wall), 0.0);
    assert!(share(&format!("{wall}[[losses]]\nfrom = 1\nto = 2\nloss = '80dB'\n")) > 0.9);
    assert!(share(&format!("{wall}[[nodes]]\nnode = [1, 2]\nantenna_gain = '4dB'\n")) > 0.9);
    // A link that carries frames in only one direction is not a link: their acknowledgements are missing.
    assert_eq!(share(&format!("{wall}[[losses]]\nfrom = 1\nto = 2\nloss = '80dB'\nboth_ways = false\n")), 0.0);
}

// Senders 0 and 3 are outside each other's sensing range until one of them uses more power.
#[test]
fn a_node_with_more_power_is_heard_and_obeyed_farther_away() {
    let text = |rest: &str| {
        format!(
            "profile = 'ns2'\nduration = '8s'\n[topology]\nkind = 'positions'\n\
             positions = [['0m', '0m'], ['-100m', '0m'], ['1000m', '0m'], ['900m', '0m']]\n{rest}\
             [[flows]]\nfrom = 0\nto = 1\ntransport = 'udp'\nrate = '3Mbps'\n\
             [[flows]]\nfrom = 3\nto = 2\ntransport = 'udp'\nrate = '3Mbps'\n"
        )
    };
    let goodputs = |rest: &str| outcome(&text(rest), 1).flows.iter().map(|flow| flow.goodput_bps).collect::<Vec<_>>();
    let apart = goodputs("");
    assert!((apart[0] / apart[1] - 1.0).abs() < 0.02, "each has the medium for itself: {apart:?}");
    let shouted = goodputs("[[nodes]]\nnode = 0\ntx_power = '40dBm'\n");
    assert!(shouted[1] < 0.8 * apart[1], "{shouted:?} {apart:?}");
    assert!(shouted[0] > 0.98 * apart[0], "who shouts hears nobody: {shouted:?} {apart:?}");
}
