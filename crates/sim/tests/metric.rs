//! ETX and ETT in whole networks: static routes by the definition, AODV by the measurements of its probes.

use fourhop_proto::mac::CTS_OR_ACK;
use fourhop_proto::route::Protocol;
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::setup::Radio;
use fourhop_sim::{RunOptions, run};
use fourhop_units::{Bytes, NodeId, Rate, Watt};

/// A relay half-way between two nodes `metres` apart, with a radio at 11 Mbit/s whose links lose frames.
fn triangle(metres: f64, keys: &[&str]) -> fourhop_sim::scenario::Scenario {
    let text = format!(
        "profile = 'standard'\nduration = '60s'\nwarmup = '20s'\n\
         [topology]\nkind = 'positions'\npositions = [['0m', '0m'], ['{}m', '1m'], ['{metres}m', '0m']]\n\
         [radio]\nmodel = 'sinr'\nrate = '11Mbps'\nbasic_rate = '1Mbps'\ntx_power = '20dBm'\nexponent = 3\n\
         preamble_sinr = '-10dB'\n\
         [mac]\nrts_threshold = '3kB'\n[routing]\nprotocol = 'static'\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'newreno'\nstart = '20s'\n",
        metres / 2.0
    );
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    load_toml(&text, "triangle.toml", &keys).unwrap()
}

/// Returns the node to which node 0 sends packets for node 2.
fn next_hop(scenario: &fourhop_sim::scenario::Scenario) -> Option<u32> {
    let (setup, _) = fourhop_sim::translate::setup(scenario, 1, &Control::new()).unwrap();
    let (world, _) = setup.build(1, None).unwrap();
    let next_hop = world.nodes()[0].router().next_hop(NodeId(2).ipv4())?;
    Some(next_hop.to_bits() - NodeId(0).ipv4().to_bits())
}

/// Returns the shares of data frames at this rate and of acknowledgements that arrive over `metres`.
fn arriving(scenario: &fourhop_sim::scenario::Scenario, metres: f64, rate: Rate) -> (f64, f64) {
    let Radio::Sinr(radio) = scenario.radio_setup() else { panic!("the other radio") };
    let power: Watt = radio.propagation.mean(metres);
    let mac = scenario.mac_config();
    // A packet of 1,024 bytes and 36 of header and FCS; 14 bytes for the answer.
    let data = radio.receiver.success(power, Bytes(1_024 + 36), rate);
    (data, radio.receiver.success(power, CTS_OR_ACK, mac.answer_to(rate)))
}

#[test]
fn static_routes_by_etx_take_the_path_with_the_fewest_transmissions() {
    let mut taken = [0, 0];
    for quarters in 600..1_100 {
        let metres = f64::from(quarters) / 4.0;
        let scenario = triangle(metres, &["routing.metric=etx"]);
        let rate = Rate::kbps(11_000);
        let transmissions = |metres: f64| {
            let (data, ack) = arriving(&scenario, metres, rate);
            if data < 0.1 || ack < 0.1 { f64::INFINITY } else { (1e3 / (data * ack)).round() }
        };
        let half = f64::hypot(metres / 2.0, 1.0);
        let expected = if transmissions(metres) <= 2.0 * transmissions(half) { 2 } else { 1 };
        assert_eq!(next_hop(&scenario), Some(expected), "{metres} m");
        taken[expected as usize - 1] += 1;
    }
    assert!(taken[0] > 20 && taken[1] > 20, "both ways occur: {taken:?}");
}

#[test]
fn static_routes_by_ett_count_what_the_rates_cost() {
    let keys = ["mac.rate_control=arf", "routing.metric=etx"];
    // Time of a packet in microseconds at the rate that minimises it, and transmissions at that rate.
    let best = |metres: f64| {
        let scenario = triangle(metres, &keys);
        let at = |kbps: u64| {
            let (data, ack) = arriving(&scenario, metres, Rate::kbps(kbps));
            (8_192e3 / kbps as f64 / (data * ack), 1.0 / (data * ack))
        };
        [1_000, 2_000, 5_500, 11_000].map(at).into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
    };
    // The direct link needs hardly more than one transmission, but at a low rate; over half the distance the highest
    // rate gets through.
    let slow_and_sure = |&metres: &f64| best(metres).0 > 2.2 * best(metres / 2.0).0 && best(metres).1 < 1.5;
    let metres = (100..1_000).map(f64::from).find(slow_and_sure).expect("11 times between the rates");
    let scenario = triangle(metres, &keys);
    assert_eq!(next_hop(&scenario), Some(2));
    assert_eq!(next_hop(&triangle(metres, &["mac.rate_control=arf", "routing.metric=ett"])), Some(1));
    assert_eq!(next_hop(&triangle(metres, &["mac.rate_control=arf"])), Some(2), "one hop");
}

// At the mean power nearly all frames arrive over this distance. Over Rayleigh fades a share of about exp(-1) arrives
// in each direction, and over half the distance, 9 dB better, exp(-1/8).
#[test]
fn over_fades_a_metric_counts_what_probes_would_find() {
    let keys = ["radio.fading=rayleigh", "radio.doppler=2Hz", "routing.metric=etx"];
    let sure = |&metres: &f64| arriving(&triangle(metres, &keys), metres, Rate::kbps(11_000)).0 > 0.95;
    let metres = (100..1_000).rev().map(f64::from).find(sure).unwrap();
    assert_eq!(next_hop(&triangle(metres, &keys)), Some(2));
    let faded = triangle(metres, &[&keys[..], &["routing.metric_over_fades=true"]].concat());
    assert_eq!(next_hop(&faded), Some(1));
    let Radio::Sinr(radio) = faded.radio_setup() else { panic!("the other radio") };
    let share = radio.arriving(radio.propagation.mean(metres), Bytes(1_060), Rate::kbps(11_000));
    assert!((share - 0.37).abs() < 0.1, "{share}");
    let power = radio.power_for(share, Bytes(1_060), Rate::kbps(11_000));
    assert!((power.over(radio.propagation.mean(metres)) - 1.0).abs() < 1e-3);
}

#[test]
fn without_losses_etx_and_ett_are_hops() {
    for metric in ["hops", "etx", "ett"] {
        let text = format!(
            "profile = 'ns2'\nduration = '20s'\n[topology]\nkind = 'grid'\nrows = 4\ncolumns = 4\n\
             [routing]\nprotocol = 'static'\nmetric = '{metric}'\n[[flows]]\nfrom = 0\nto = 15\ntransport = 'newreno'\n"
        );
        let scenario = load_toml(&text, "grid.toml", &[]).unwrap();
        let (setup, _) = fourhop_sim::translate::setup(&scenario, 1, &Control::new()).unwrap();
        let (world, _) = setup.build(1, None).unwrap();
        let hops = world.nodes().iter().map(|node| node.router().hops(NodeId(15).ipv4()));
        // Hops along rows and columns: at a spacing of 200 m, nodes do not hear each other diagonally.
        let expected = (0..16u8).map(|n| (n != 15).then_some((3 - n / 4) + (3 - n % 4)));
        assert_eq!(hops.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{metric}");
    }
}

#[test]
fn aodv_measures_its_links_by_probes_and_takes_the_good_path() {
    // So far apart that half of the probes, 134 bytes and 36 of header and FCS at 1 Mbit/s, get through directly.
    let share = |metres: f64| {
        let Radio::Sinr(radio) = triangle(metres, &[]).radio_setup() else { panic!("the other radio") };
        radio.receiver.success(radio.propagation.mean(metres), Bytes(134 + 36), Rate::kbps(1_000))
    };
    let metres = (100..1_000).map(f64::from).find(|&metres| share(metres) < 0.6).expect("it reaches no farther");
    assert!(share(metres) > 0.3 && share(metres / 2.0) > 0.99, "{metres} m");
    let outcome = |metric: &str| {
        let metric = format!("routing.metric={metric}");
        let scenario = triangle(metres, &["radio.rate=2Mbps", "routing.protocol=aodv", &metric]);
        let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
        let route = &result.counters["route"];
        (result.flows[0].delivered_bytes, route["probes_sent"], route["probes_received"])
    };
    let (plain, none, _) = outcome("hops");
    assert_eq!(none, 0);
    for metric in ["etx", "ett"] {
        let (delivered, sent, received) = outcome(metric);
        // Three nodes for 60 s. Each probe is meant for two nodes; the far one misses some.
        assert!((177..=180).contains(&sent), "{sent}");
        assert!(received < 2 * sent * 19 / 20 && received > sent * 4 / 3, "{received} of {sent}");
        assert!(delivered > plain * 11 / 10, "{metric}: {delivered} beside {plain}");
    }
}
