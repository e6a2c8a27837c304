//! `[[nodes]]`, `[[losses]]`, `[[walls]]` and positions by latitude and longitude: conversion and refusals.

use super::resolved::assert_round_trip;
use super::*;
use crate::propagation::site::Station;
use fourhop_proto::phy::TxRate;
use fourhop_proto::phy::sinr::config::ratio;
use fourhop_proto::route::Metric;
use fourhop_units::{Bytes, Db, Dbm, NodeId, Rate, Watt};

/// Returns the chain of four hops with `rest` after its flow.
fn chain(rest: &str) -> Result<Scenario, ScenarioError> {
    load(&format!("{CHAIN}{rest}"))
}

#[track_caller]
fn problem(rest: &str) -> String {
    let problems = chain(rest).expect_err("it has a problem").problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].to_string()
}

fn hops(scenario: &Scenario) -> Option<u32> {
    scenario.network(1).unwrap().flows[0].hops
}

#[test]
fn what_is_written_becomes_a_site_and_reads_back() {
    let text = "[[nodes]]\nnode = [0, 4]\ntx_power = '20dBm'\nantenna_gain = '8dB'\n[[nodes]]\nnode = 2\n\
        antenna_height = '12m'\n\
                [[losses]]\nfrom = 0\nto = 1\nloss = '70.5dB'\n[[losses]]\nfrom = 1\nto = 2\nloss = '80dB'\nboth_ways \
                = false\n\
                [[walls]]\ncorners = [['10m', '-5m'], ['10m', '5m'], ['20m', '5m']]\nloss = '6dB'\n";
    let scenario = chain(text).unwrap();
    assert_round_trip(&scenario);
    let site = scenario.site().unwrap();
    let usual = site.usual;
    assert_eq!((usual.tx_power, usual.gain, usual.height_m), (Watt(0.281_838_15), Db(0.0), 1.5));
    let end = Station { tx_power: Dbm(20.0).to_watt(), gain: Db(8.0), ..usual };
    let stations: Vec<_> = site.stations.iter().map(|(node, station)| (node.0, *station)).collect();
    assert_eq!(stations, [(0, end), (2, Station { height_m: 12.0, ..usual }), (4, end)]);
    let losses: Vec<_> = site.losses.iter().map(|((from, to), loss)| (from.0, to.0, loss.0)).collect();
    assert_eq!(losses, [(0, 1, 70.5), (1, 0, 70.5), (1, 2, 80.0)]);
    assert_eq!(site.walls[0].corners, [(10.0, -5.0), (10.0, 5.0), (20.0, 5.0)]);
    assert_eq!(with(&[]).unwrap().site(), None);
}

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000).unwrap()
}

/// The chain with an 802.11g radio that receives from 0 dB on.
fn by_noise(rest: &str) -> String {
    format!("[radio]\nmodel = 'sinr'\nphy = 'erp-ofdm'\nrate = '24Mbps'\npreamble_sinr = '0dB'\n{rest}")
}

#[test]
fn what_was_measured_of_a_link_becomes_the_loss_that_gives_it() {
    let text = by_noise(
        "[[nodes]]\nnode = 1\nantenna_gain = '8dB'\n[[losses]]\nfrom = 0\nto = 1\nsnr = '15dB'\n\
         [[losses]]\nfrom = 1\nto = 2\ndelivery = '60%'\nframe = '500B'\nframe_rate = '12Mbps'\nboth_ways = false\n\
         [[losses]]\nfrom = 2\nto = 3\netx = 4\n",
    );
    let scenario = chain(&text).unwrap();
    assert_round_trip(&scenario);
    let crate::setup::Radio::Sinr(radio) = scenario.radio_setup() else { panic!("the model is sinr") };
    let field = radio.propagation.field(1).with_site(scenario.site());
    let power = |a, b| field.mean([(NodeId(a), (0.0, 0.0)), (NodeId(b), (200.0, 0.0))]);
    // The measured loss includes antennas.
    for (a, b) in [(0, 1), (1, 0)] {
        assert!((power(a, b).over(radio.receiver.noise).log10() * 10.0 - 15.0).abs() < 1e-9);
    }
    let share = |power, len, rate| radio.receiver.success(power, Bytes(len), mbps(rate));
    assert!((share(power(1, 2), 500, 12) - 0.6).abs() < 1e-3);
    assert!((share(power(2, 1), 500, 12) - 0.6).abs() > 0.1, "the other direction is what distance says");
    // One transmission in four delivers both data and answer: each arrives half of the time.
    for (a, b) in [(2, 3), (3, 2)] {
        assert!((share(power(a, b), 170, 6) - 0.5).abs() < 1e-3);
    }
}

// With Rayleigh fading the share above a threshold is exp(-threshold / mean): if nine frames of ten arrive, the mean is
// 1 / -ln 0.9, or 9.8 dB, above the power that the frame needs.
#[test]
fn a_share_of_frames_is_one_over_all_fades() {
    let text = by_noise("fading = 'rayleigh'\n[[losses]]\nfrom = 0\nto = 1\ndelivery = '90%'\n");
    let crate::setup::Radio::Sinr(radio) = chain(&text).unwrap().radio_setup() else { panic!("the model is sinr") };
    let needed = radio.receiver.power_for(0.5, Bytes(170), mbps(6));
    let site = chain(&text).unwrap().site().unwrap();
    let above = 20.0 - site.losses[&(NodeId(0), NodeId(1))].0 - needed.to_dbm().0;
    assert!((above - 9.8).abs() < 0.3, "{above}");
    // A dominant wave 6 dB above the others makes fades shallower.
    let steady = chain(&text.replace("rayleigh", "rician")).unwrap().site().unwrap();
    let less = steady.losses[&(NodeId(0), NodeId(1))].0 - site.losses[&(NodeId(0), NodeId(1))].0;
    assert!(less > 3.0 && less < 7.0, "{less}");
    // Fading lifts a signal above a threshold that its mean does not reach: any share is possible.
    chain(&text.replace("90%", "30%").replace("preamble_sinr = '0dB'", "preamble_sinr = '4dB'")).unwrap();
}

#[test]
fn what_was_not_measured_is_as_distance_says_or_no_link_or_nothing() {
    let one = "[[losses]]\nfrom = 0\nto = 1\nloss = '60dB'\n";
    let near = |unmeasured: &str| {
        let radio = format!("[topology]\nkind = 'chain'\nhops = 4\nspacing = '20m'\n{}", by_noise(""));
        let text =
            CHAIN.replace("[topology]\nkind = \"chain\"\nhops = 4\n", &format!("{radio}unmeasured = '{unmeasured}'\n"));
        load(&format!("{text}{one}")).unwrap()
    };
    assert_eq!(hops(&near("path-loss")), Some(1), "80 m are near");
    for unmeasured in ["no-link", "silent"] {
        let scenario = near(unmeasured);
        assert_round_trip(&scenario);
        assert_eq!(hops(&scenario), None, "{unmeasured}");
        let (setup, _) = crate::translate::setup(&scenario, 1, &Control::new()).unwrap();
        let (least, heard) = setup.heard(1);
        assert_eq!(heard.neighbours(NodeId(1)).iter().filter(|to| to.power >= least).count(), 1);
        let crate::setup::Radio::Sinr(radio) = scenario.radio_setup() else { panic!("the model is sinr") };
        let field = radio.propagation.field(1).with_site(scenario.site());
        let power = field.mean([(NodeId(1), (20.0, 0.0)), (NodeId(2), (40.0, 0.0))]);
        assert_eq!(power > radio.propagation.cutoff, unmeasured == "no-link", "it disturbs, or it does not");
        let probe = Metric::PACKET + scenario.mac.data_overhead;
        assert!(radio.receiver.success(power, probe, mbps(24)) < 0.1);
    }
    let by_distance = near("heard");
    assert_round_trip(&by_distance);
    assert_eq!(hops(&by_distance), None, "no route leads over what was not measured");
    let (setup, _) = crate::translate::setup(&by_distance, 1, &Control::new()).unwrap();
    let (least, heard) = setup.heard(1);
    assert!(heard.neighbours(NodeId(1)).iter().filter(|to| to.power >= least).count() > 1, "but it is heard");
    // The other radio senses signals that are not links.
    let plain = chain(&format!("[radio]\nunmeasured = 'no-link'\n{one}")).unwrap();
    let site = plain.site().unwrap();
    let most = site.unmeasured.unwrap();
    assert!(most < plain.receiver_config().rx_threshold && most > plain.receiver_config().cs_threshold);
    assert_eq!(
        problem("[radio]\nunmeasured = 'silent'\n"),
        "chain.toml:13:14: radio.unmeasured: found \"silent\", allowed: \"path-loss\", or [[losses]] with measured \
            links"
    );
}

#[test]
fn what_cannot_have_been_measured_is_refused() {
    let link = "[[losses]]\nfrom = 0\nto = 1\n";
    let said = |rest: &str| problem(&by_noise(&format!("{link}{rest}")));
    assert!(problem(link).ends_with("losses[0].loss: missing, allowed: one of loss, snr, delivery, etx and rate"));
    assert!(
        said("loss = '80dB'\nsnr = '9dB'\n")
            .ends_with("losses[0].snr: found \"9dB\" besides loss, allowed: one of loss, snr, delivery, etx and rate")
    );
    assert!(problem(&format!("{link}delivery = '90%'\n")).ends_with(
        "losses[0].delivery: found \"90%\", allowed: `loss`, or `radio.model` \"sinr\": \"threshold\" has no noise"
    ));
    assert!(
        said("etx = 2\nboth_ways = false\n")
            .ends_with("losses[0].both_ways: found false, allowed: true with `etx`, which covers both directions")
    );
    assert!(
        said("snr = '9dB'\nframe = '100B'\n")
            .ends_with("losses[0].frame: found \"100B\", allowed: only with `delivery` or `etx`")
    );
    let rate = said("delivery = '50%'\nframe_rate = '11Mbps'\n");
    assert!(rate.contains("losses[0].frame_rate: found \"11Mbps\", allowed: \"6Mbps\" or \"9Mbps\""), "{rate}");
    let ratio = by_noise(&format!("errors = 'ratio'\n{link}etx = 2\n"));
    assert!(problem(&ratio).ends_with("or `radio.errors` \"by-rate\": with \"ratio\", all frames arrive or none"));
    // Half of the frames at 6 Mbit/s arrive at 1.7 dB or so, where a receiver that needs 4 dB is deaf.
    let deaf = by_noise(&format!("{link}delivery = '50%'\n")).replace("preamble_sinr = '0dB'", "preamble_sinr = '4dB'");
    let error = problem(&deaf);
    assert!(
        error.contains("losses[0].delivery: found \"50%\", allowed: a share of at least 100.0% at 6 Mbit/s"),
        "{error}"
    );
}

#[test]
fn names_of_nodes_change_nothing_but_what_they_are_called() {
    let named = chain(
        "[[nodes]]\nnode = 1\nname = 'roof'\n[[nodes]]\nnode = 3\nname = 'Bücherei Köln #2'\nantenna_gain = '1dB'\n",
    )
    .unwrap();
    assert_round_trip(&named);
    assert_eq!([0, 1, 3].map(|n| named.station_name(NodeId(n))), ["n0", "roof", "Bücherei Köln #2"]);
    let site = named.site().unwrap();
    assert_eq!(site.stations.keys().collect::<Vec<_>>(), [&NodeId(3)]);
    let alone = chain("[[nodes]]\nnode = 1\nname = 'roof'\n").unwrap();
    assert_eq!(alone.site(), None, "the network is that without");
    let refused = |rest: &str| problem(&format!("[[nodes]]\n{rest}\n"));
    let allowed = "allowed: a unique name for one node: up to 64 characters without a comma, and not n and a number";
    for (rest, found) in [
        ("node = 1\nname = 'n3'", "found \"n3\""),
        ("node = 1\nname = 'a,b'", "found \"a,b\""),
        ("node = 1\nname = ' a'", "found \" a\""),
        ("node = 1\nname = \"a\\nb\"", "found \"a\\nb\""),
        ("node = [1, 2]\nname = 'roof'", "found \"roof\" for several nodes"),
        ("node = 2\nname = 'a'\n[[nodes]]\nnode = 1\nname = 'a'", "found \"a\", another node's name"),
    ] {
        let said = refused(rest);
        assert!(said.contains(found) && said.ends_with(allowed), "{said}");
    }
}

#[test]
fn hops_follow_walls_losses_and_antennas() {
    assert_eq!(hops(&with(&[]).unwrap()), Some(4));
    // 200 m leave a margin of 3.9 dB: a loss of 4 dB is too much.
    let wall = |loss: &str| format!("[[walls]]\ncorners = [['500m', '-9m'], ['500m', '9m']]\nloss = '{loss}'\n");
    assert_eq!(hops(&chain(&wall("3.8dB")).unwrap()), Some(4));
    assert_eq!(hops(&chain(&wall("4dB")).unwrap()), None);
    let measured = "[[losses]]\nfrom = 2\nto = 3\nloss = '88dB'\n";
    assert_eq!(hops(&chain(&format!("{}{measured}", wall("4dB"))).unwrap()), Some(4));
    // A link has two directions.
    assert_eq!(hops(&chain(&format!("{}{measured}both_ways = false\n", wall("4dB"))).unwrap()), None);
    let shortcut = "[[losses]]\nfrom = 0\nto = 4\nloss = '80dB'\n";
    assert_eq!(hops(&chain(shortcut).unwrap()), Some(1));
    // Over 400 m, 8.2 dB are missing.
    assert_eq!(hops(&chain("[[nodes]]\nnode = [0, 2, 4]\nantenna_gain = '4dB'\n").unwrap()), Some(4));
    assert_eq!(hops(&chain("[[nodes]]\nnode = [0, 2, 4]\nantenna_gain = '4.1dB'\n").unwrap()), Some(2));
}

#[test]
fn random_networks_are_drawn_until_the_links_that_walls_leave_connect_them() {
    let text = "profile = 'ns2'\nduration = '10s'\n[topology]\nkind = 'random'\nnodes = 12\nwidth = '600m'\nheight = \
        '300m'\n\
                [traffic]\ntransport = 'newreno'\npairs = 1\n";
    let walled = format!("{text}[[walls]]\ncorners = [['300m', '0m'], ['300m', '300m']]\nloss = '6dB'\n");
    let draw = |text: &str, seed| load(text).unwrap().network(seed).unwrap();
    let moved = (1..20).filter(|&seed| draw(text, seed).positions != draw(&walled, seed).positions).count();
    assert!(moved > 0, "some network that hangs together in the open does not with the wall");
    assert!((1..20).all(|seed| draw(&walled, seed).flows[0].hops.is_some()));
    let error = load(&walled.replace("6dB", "200dB").replace("= 12", "= 20")).unwrap_err();
    assert!(error.to_string().contains("a random network that is not connected after 1000 draws"), "{error}");
}

#[test]
fn shadows_have_a_seed_of_their_own() {
    let field = |overrides: &[&str], run: u64| {
        let all = [&["radio.model=sinr", "radio.shadowing=6dB", "topology.spacing=20m"], overrides].concat();
        let scenario = with(&all).unwrap();
        assert_round_trip(&scenario);
        match scenario.radio_setup() {
            crate::setup::Radio::Sinr(radio) => {
                radio.propagation.field(run).mean([(NodeId(0), (0.0, 0.0)), (NodeId(1), (9.0, 5.0))])
            }
            other => panic!("{other:?}"),
        }
    };
    assert_ne!(field(&[], 1), field(&[], 2));
    assert_eq!(field(&["radio.seed=5"], 1), field(&["radio.seed=5"], 2));
    assert_eq!(field(&["radio.seed=5"], 1), field(&[], 5));
}

#[test]
fn errors_of_nodes_say_what_is_allowed() {
    assert_eq!(
        problem("[[nodes]]\nnode = [1, 7]\n"),
        "chain.toml:13:8: nodes[0].node: found 7, allowed: a node number from 0 to 4"
    );
    assert_eq!(
        problem("[[nodes]]\nnode = 1\n[[nodes]]\nnode = [0, 1]\n"),
        "chain.toml:15:8: nodes[1].node: found 1, which nodes[0] already describes, allowed: each node once"
    );
    assert_eq!(
        problem("[nodes]\nnode = 1\n"),
        "chain.toml:12:1: nodes: found a table, allowed: a list of tables: [[nodes]]"
    );
    assert_eq!(
        problem("[[nodes]]\nnode = 1\ntx_power = '2Mbps'\n"),
        "chain.toml:14:12: nodes[0].tx_power: found \"2Mbps\", allowed: a power from \"-50dBm\" to \"60dBm\" \
         (Mbps is a unit of rate)"
    );
    assert_eq!(
        problem("[[nodes]]\nnode = 1\nantenna_height = '9m'\n[radio]\nmodel = 'sinr'\nexponent = 2\n"),
        "chain.toml:14:18: nodes[0].antenna_height: found \"9m\", allowed: only with `radio.path_loss` \"two-ray\": \
            no other model uses heights"
    );
}

#[test]
fn errors_of_losses_and_walls_say_what_is_allowed() {
    assert_eq!(
        problem("[[losses]]\nfrom = 0\nto = 5\nloss = '70dB'\n"),
        "chain.toml:14:6: losses[0].to: found 5, allowed: a node number from 0 to 4"
    );
    assert_eq!(
        problem("[[losses]]\nfrom = 3\nto = 3\nloss = '70dB'\n"),
        "chain.toml:14:6: losses[0].to: found 3, allowed: a node other than `from`"
    );
    assert_eq!(
        problem("[[losses]]\nfrom = 0\nto = 1\nloss = '70dB'\n[[losses]]\nfrom = 1\nto = 0\nloss = '71dB'\n"),
        "chain.toml:18:6: losses[1].to: found 0, to which losses[0] already gives the loss from 1, allowed: each \
            direction between two nodes only once (`both_ways = false` limits an entry to one direction)"
    );
    assert_eq!(
        problem(
            "[[losses]]\nfrom = 0\nto = 1\nloss = '70dB'\n[mobility]\nmodel = 'waypoints'\n\
             waypoints = [[1, '10s', '400m', '0m']]\n"
        ),
        "chain.toml:15:8: losses[0].loss: found \"70dB\", allowed: only with `mobility.model` \"fixed\": a loss is \
            measured between two positions"
    );
    assert_eq!(
        problem("[[walls]]\ncorners = [['0m', '0m']]\nloss = '6dB'\n"),
        "chain.toml:13:11: walls[0].corners: found a list of 1, allowed: a list of at least 2 positions such as \
            [\"200m\", \"0m\"], \
         each from \"-1000km\" to \"1000km\""
    );
    // Several mistakes are reported together.
    let problems = chain("[[walls]]\nloss = '6m'\n[[losses]]\nfrom = 9\nto = 9\n").unwrap_err().problems;
    let keys: Vec<_> = problems.iter().map(|problem| problem.key.as_str()).collect();
    assert_eq!(keys, ["walls[0].corners", "walls[0].loss", "losses[0].loss"]);
}

const CITY: &str = "profile = 'ns2'\nduration = '10s'\n[topology]\nkind = 'coordinates'\n\
                    coordinates = [[52.5163, 13.3777], [52.5163, 13.3800], [52.5180, 13.3800]]\n\
                    [[flows]]\nfrom = 0\nto = 2\ntransport = 'newreno'\n";

#[test]
fn coordinates_become_places_in_metres() {
    let scenario = load(CITY).unwrap();
    assert_round_trip(&scenario);
    let places = scenario.positions(1).unwrap();
    // 0.0023 degrees of longitude at this latitude, 0.0017 of latitude.
    for (found, (x, y)) in places.iter().zip([(0.0, 0.0), (156.07, 0.0), (156.07, 189.15)]) {
        assert!((found.0 - x).abs() < 0.1 && (found.1 - y).abs() < 0.1, "{places:?}");
    }
    assert_eq!(hops(&scenario), Some(1));
}

#[test]
fn coordinates_that_cannot_be_are_refused() {
    let message = |from: &str, to: &str| load(&CITY.replace(from, to)).unwrap_err().to_string();
    let allowed = "a list of at least 2 positions such as [52.5163, 13.3777], degrees of latitude from -85 to 85 and \
        of longitude from -180 to 180";
    let key = "chain.toml:5:15: topology.coordinates: found";
    assert_eq!(
        message("[52.5163, 13.3777]", "[113.3777, 52.5163]"),
        format!("{key} a list of 3, allowed: {allowed} (one latitude is 113.3777)")
    );
    assert_eq!(
        message("[52.5163, 13.3777]", "['0m', '0m']"),
        format!("{key} a list of 3, allowed: {allowed} (one latitude is \"0m\")")
    );
    assert_eq!(
        message("[52.5163, 13.3777]", "52.5163"),
        format!("{key} a list of 3, allowed: {allowed} (one position is 52.5163)")
    );
    let far = message("[52.5180, 13.3800]", "[42.0, 13.3800]");
    assert!(far.ends_with("allowed: positions within 1000 km of the first; number 2 is farther away"), "{far}");
}

#[test]
fn a_measured_rate_is_what_the_link_carries_with_its_fading() {
    let link = "[[losses]]\nfrom = 0\nto = 1\nrate = '20Mbps'\n";
    for fading in ["", "fading = 'rayleigh'\n"] {
        let scenario = chain(&by_noise(&format!("{fading}{link}"))).unwrap();
        assert_round_trip(&scenario);
        let crate::setup::Radio::Sinr(sinr) = scenario.radio_setup() else { panic!("the radio has noise") };
        let site = scenario.site().unwrap();
        let power = Watt(sinr.propagation.tx_power.0 / ratio(site.losses[&(NodeId(0), NodeId(1))]));
        let frame = scenario.mac.data_overhead + Metric::PACKET;
        let carried = |tx: TxRate| tx.rate().bps() as f64 * sinr.arriving(power, frame, tx);
        let most = scenario.mac_config().data_txs().map(carried).fold(0.0, f64::max);
        assert!((most / 20e6 - 1.0).abs() < 1e-3, "{fading}: {most}");
    }
}

#[test]
fn an_override_takes_away_what_it_makes_meaningless() {
    let text = by_noise(
        "fading = 'rician'\nrician_k = '3dB'\ndoppler = '2Hz'\n[[losses]]\nfrom = 0\nto = 1\ndelivery = '50%'\n",
    );
    let text = text.replace("preamble_sinr = '0dB'", "preamble_sinr = '4dB'");
    let still = load_toml(&format!("{CHAIN}{text}"), "x.toml", &["radio.fading=none".to_owned()]).unwrap();
    assert_eq!((still.radio.fading, still.radio.rician_k, still.radio.doppler), (None, None, None));
    // Half of the frames cannot arrive without fading: the link becomes the weakest that this radio notices.
    let [loss] = &still.site.losses[..] else { panic!("{:?}", still.site.losses) };
    assert_eq!((loss.delivery, loss.snr.map(|snr| snr.0.round())), (None, Some(4.0)));
    assert_round_trip(&still);
    let kept = chain(&text.replace("fading = 'rician'\n", "")).unwrap_err().to_string();
    assert!(kept.contains("rician_k") && kept.contains("allowed: only with"), "{kept}");
}

#[test]
fn given_routes_lead_somewhere_and_belong_to_static_routing() {
    let routes = |rest: &str| chain(&format!("[routing]\nprotocol = 'static'\n{rest}"));
    let route = |node: u32, to: u32, via: u32| format!("[[routes]]\nnode = {node}\nto = {to}\nvia = {via}\n");
    let given = routes(&(route(0, 3, 2) + &route(2, 3, 3))).unwrap();
    assert_round_trip(&given);
    assert_eq!(given.particular().routes[&(NodeId(0), NodeId(3))], NodeId(2));
    let circle = routes(&(route(0, 3, 1) + &route(1, 3, 0))).unwrap_err().to_string();
    assert!(circle.contains("routes[0].to: found 3, to which the given routes form a loop"), "{circle}");
    let twice = routes(&(route(0, 3, 1) + &route(0, 3, 2))).unwrap_err().to_string();
    assert!(twice.contains("to which routes[0] already gives a route from 0"), "{twice}");
    for rest in [route(0, 3, 1), "[[nodes]]\nnode = 1\nforwards = false\n".to_owned()] {
        let error = chain(&format!("[routing]\nprotocol = 'aodv'\n{rest}")).unwrap_err().to_string();
        assert!(error.contains("only with `routing.protocol` \"static\""), "{error}");
    }
}
