//! Networks whose nodes have several radios, airtime-fair queues, and Minstrel: the gain of a second channel, no
//! unaccounted packets, and shares of air time.

use fourhop_proto::route::Protocol;
use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run, translate};
use fourhop_units::NodeId;

/// Runs a scenario and checks that its accounts balance.
fn result(text: &str) -> RunResult {
    let scenario = load_toml(text, "radios.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    for (layer, balance) in &result.conservation {
        assert_eq!(balance.taken, balance.passed + balance.dropped + balance.held, "{layer}");
    }
    result
}

/// A chain of 4 hops.
fn chain(more: &str) -> String {
    format!("profile = 'standard'\nduration = '12s'\n[topology]\nkind = 'chain'\nhops = 4\n{more}")
}

const STATIC: &str = "[routing]\nprotocol = 'static'\n";
const UDP: &str = "[[flows]]\nfrom = 0\nto = 4\ntransport = 'udp'\nrate = '3Mbps'\n";
const TCP: &str = "[[flows]]\nfrom = 0\nto = 4\ntransport = 'newreno'\nwindow = 8\n";
const BOTH: &str = "[[radios]]\nchannel = 36\n[[radios]]\nchannel = 44\n";

/// With one channel one of the four links is active at a time, or two at the ends of the chain; with two channels each
/// has two links, which alternate; with three no two links hear each other but the first and the last. A flow that
/// sends too much loses more to hidden stations with one channel than with two.
#[test]
fn two_channels_carry_about_twice_what_one_does() {
    let three = format!("{BOTH}[[radios]]\nchannel = 149\n");
    for (flow, twice, thrice) in [(TCP, 1.65..2.1, 2.7..3.3), (UDP, 1.8..3.0, 9.0..25.0)] {
        let goodput = |radios: &str| result(&chain(&format!("{STATIC}{radios}{flow}"))).flows[0].goodput_bps;
        let (one, two, many) = (goodput(""), goodput(BOTH), goodput(&three));
        println!("{one} {two} {many}");
        assert!(twice.contains(&(two / one)), "{flow}: {one} with one channel, {two} with two");
        assert!(thrice.contains(&(many / one)), "{flow}: {one} with one channel, {many} with three");
    }
}

#[test]
fn a_channel_is_a_name_and_a_second_one_that_nobody_uses_changes_nothing() {
    let plain = result(&chain(&format!("{STATIC}{TCP}")));
    let mut named = result(&chain(&format!("{STATIC}[[radios]]\nchannel = 11\n{TCP}")));
    named.wall_s = plain.wall_s;
    assert_eq!(plain, named);
    let idle =
        result(&chain(&format!("{STATIC}[[radios]]\nchannel = 1\n[[radios]]\nchannel = 6\nnodes = [0, 4]\n{TCP}")));
    assert_eq!((plain.flows, plain.frames, plain.drops), (idle.flows, idle.frames, idle.drops));
    let sent = |radio: &str| idle.counters[radio]["data_sent"];
    assert!(sent("radio 0@1") > 0 && sent("radio 0@6") == 0, "{:?}", idle.counters.keys());
}

#[test]
fn cells_on_different_channels_do_not_hear_each_other() {
    let pairs = |channels: [u32; 2]| {
        let [a, b] = channels;
        let radios = match a == b {
            true => String::new(),
            false => format!("[[radios]]\nchannel = {a}\nnodes = [0, 1]\n[[radios]]\nchannel = {b}\nnodes = [2, 3]\n"),
        };
        result(&format!(
            "profile = 'standard'\nduration = '6s'\n[topology]\nkind = 'positions'\npositions = [['0m', '0m'], ['9m', \
                '0m'], \
             ['0m', '9m'], ['9m', '9m']]\n{STATIC}{radios}[[flows]]\nfrom = 0\nto = 1\ntransport = 'udp'\nrate = \
             '3Mbps'\n\
             [[flows]]\nfrom = 2\nto = 3\ntransport = 'udp'\nrate = '3Mbps'\n"
        ))
    };
    let (one, two) = (pairs([1, 1]), pairs([1, 6]));
    let ratio = two.aggregate_goodput_bps / one.aggregate_goodput_bps;
    println!("{ratio}");
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
    let unheard = load_toml(
        &chain(&format!("[[radios]]\nchannel = 1\nnodes = [0, 1, 2]\n[[radios]]\nchannel = 6\nnodes = [3, 4]\n{TCP}")),
        "x.toml",
        &[],
    )
    .unwrap();
    assert_eq!(unheard.network(1).unwrap().flows[0].hops, None, "nodes 2 and 3 share no channel");
}

#[test]
fn on_demand_routes_lead_over_the_channels_that_nodes_share() {
    // Each hop has a separate channel that no other hop uses.
    let plan = "[[radios]]\nchannel = 1\nnodes = [0, 1]\n[[radios]]\nchannel = 6\nnodes = [1, 2]\n\
                [[radios]]\nchannel = 11\nnodes = [2, 3]\n[[radios]]\nchannel = 36\nnodes = [3, 4]\n";
    for (protocol, metric) in [("aodv", "hops"), ("aodv", "etx"), ("aodv", "airtime"), ("static", "airtime")] {
        for hello in [false, true] {
            let routing = format!("[routing]\nprotocol = '{protocol}'\nmetric = '{metric}'\nhello = {hello}\n");
            let [one, four] = ["", plan].map(|radios| result(&chain(&format!("{routing}{radios}{TCP}"))));
            println!("{protocol} {metric} {hello}: {} {}", one.flows[0].goodput_bps, four.flows[0].goodput_bps);
            assert!(
                four.flows[0].goodput_bps > 2.0 * one.flows[0].goodput_bps,
                "{protocol} by {metric}, HELLO: {hello}"
            );
            assert_eq!(four.drops.get("mac").map_or(0, |lost| lost.values().sum::<u64>()), 0, "nobody is hidden");
        }
    }
}

#[test]
fn routes_alternate_between_two_channels() {
    let scenario = load_toml(&chain(&format!("{STATIC}{BOTH}{TCP}")), "x.toml", &[]).unwrap();
    let (setup, _) = translate::setup(&scenario, 1, &Control::new()).unwrap();
    let (world, _) = setup.build(1, None).unwrap();
    let channel = |node: u32, to: u32| {
        let hop = world.nodes()[node as usize].router().next_hop(NodeId(to).ipv4()).unwrap();
        world.stations().channel(NodeId::from_ipv4(hop).unwrap())
    };
    assert_eq!([0, 1, 2, 3].map(|node| channel(node, 4)), [44, 36, 44, 36]);
    assert_eq!([4, 3, 2, 1].map(|node| channel(node, 0)), [44, 36, 44, 36]);
}

/// Node 0 sends as much as it can to a nearby station and to one so far away that it is reached at 6 or 9 Mbit/s.
/// Returns the air time and the goodput of both.
fn cell(link: &str) -> ([f64; 2], [f64; 2]) {
    let result = result(&format!(
        "profile = 'standard'\nduration = '12s'\nwarmup = '2s'\n[topology]\nkind = 'positions'\n\
         positions = [['0m', '0m'], ['5m', '0m'], ['0m', '80m']]\n[radio]\nmodel = 'sinr'\nphy = 'ofdm'\nrate = \
         '54Mbps'\n\
         basic_rate = '6Mbps'\ntx_power = '20dBm'\nexponent = 3.3\n[mac]\nrate_control = 'minstrel'\nrts_threshold = \
         '3kB'\n\
         {STATIC}[link]\nqueue = 'fq-codel'\n{link}\
         [[flows]]\nfrom = 0\nto = 1\ntransport = 'udp'\nrate = '50Mbps'\n[[flows]]\nfrom = 0\nto = 2\ntransport = \
         'udp'\n\
         rate = '50Mbps'\n"
    ));
    let airtime = ["airtime 0-1", "airtime 0-2"].map(|link| result.counters[link]["sent_us"] as f64);
    let goodput = [0, 1].map(|flow| result.flows[flow].goodput_bps);
    (airtime, goodput)
}

fn jain([a, b]: [f64; 2]) -> f64 {
    (a + b).powi(2) / (2.0 * (a * a + b * b))
}

#[test]
fn with_the_scheduler_stations_share_air_time_and_without_they_share_frames() {
    let (airtime, goodput) = cell("");
    println!("{airtime:?} {goodput:?}");
    assert!(jain(airtime) >= 0.95, "{airtime:?}");
    assert!(goodput[0] > 4.0 * goodput[1], "{goodput:?}");
    // Without airtime fairness the slow station has as much goodput as the fast one, and most of the air time.
    let (airtime, goodput) = cell("airtime_fairness = false\n");
    println!("{airtime:?} {goodput:?}");
    assert!(jain(goodput) >= 0.95, "{goodput:?}");
    assert!(airtime[1] > 5.0 * airtime[0], "{airtime:?}");
}
