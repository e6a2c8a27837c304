//! In any network, nothing is lost without a reason, nothing appears from nowhere, and nobody is faster than physics
//! allows.

use crate::common::accounts::{check_accounts, sum};
use fourhop_cc::Transport;
use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::{App, Scenario, load_toml};
use fourhop_sim::{RunOptions, run};
use fourhop_units::Dur;
use proptest::prelude::*;
use std::fmt::Write;

const PAYLOAD: u64 = 1460;

/// A TCP variant, NewReno every other time.
fn tcp() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("newreno"), prop::sample::select(Transport::ALL).prop_map(|transport| transport.name)]
}

/// A flow between nodes with radios.
const OVER_ATP: &str = "transport = 'atp'";

/// A flow as written in the scenario file, without its ends.
fn traffic() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (tcp(), 1u32..=64).prop_map(|(tcp, window)| format!("transport = '{tcp}'\nwindow = {window}")),
        1 => (tcp(), 1u32..=300_000)
            .prop_map(|(tcp, size)| format!("transport = '{tcp}'\napp = 'transfer'\nsize = '{size}B'")),
        1 => (tcp(), any::<bool>(), 0u32..500).prop_map(|(tcp, fresh, pause)| format!(
            "transport = '{tcp}'\napp = 'files'\nmean_pause = '{pause}ms'\nconnection = '{}'",
            if fresh { "fresh" } else { "same" }
        )),
        2 => (20u32..=3000, 50u64..=PAYLOAD)
            .prop_map(|(rate, payload)| format!("transport = 'udp'\nrate = '{rate}kbps'\npayload = '{payload}B'")),
        1 => Just(OVER_ATP.to_owned()),
        1 => (5u32..=500).prop_map(|interval| format!("transport = 'ping'\ninterval = '{interval}ms'")),
    ]
}

prop_compose! {
    fn flow()(from in any::<u32>(), to in any::<u32>(), traffic in traffic(), start in 0u32..1500,
              stop in prop::option::of(1500u32..3000), dscp in 0u32..64) -> (u32, u32, String) {
        let mut text = format!("{traffic}\nstart = '{start}ms'\ndscp = {dscp}\n");
        if let Some(stop) = stop {
            writeln!(text, "stop = '{stop}ms'").unwrap();
        }
        (from, to, text)
    }
}

/// Two radios at each node, and a third on a separate channel at the first.
const RADIOS: &str = "[[radios]]\nchannel = 1\n[[radios]]\nchannel = 6\n[[radios]]\nchannel = 11\nnodes = 0\n";

/// 802.11n and ac, whose rates follow from the MCS.
const HT: &str = "phy = 'ht'\nstreams = 2\n";
const HT_SINR: &str = "model = 'sinr'\nphy = 'vht'\nmcs = 8\nwidth = '40MHz'\nguard_interval = '400ns'\n";
/// Access categories.
const EDCA: &str = "edca = true\n";

/// In half of the networks nodes are fixed; in the others they come and go within seconds.
fn movement() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec!["topology", "steady-state"]);
    let random = (1u32..=400, 0u32..=1500, 100u32..=1500, start).prop_map(|(speed, pause, size, start)| {
        format!(
            "[mobility]\nmodel = 'random-waypoint'\nspeed_max = '{speed}m/s'\npause = '{pause}ms'\nwidth = '{size}m'\n\
             height = '{size}m'\nstart = '{start}'\n"
        )
    });
    prop_oneof![Just(String::new()), random]
}

/// Half of the networks have one or two gateways with a router and a host behind them.
fn wired() -> impl Strategy<Value = Option<String>> {
    let kinds = prop::sample::select(vec!["plain", "gap", "ap2", "fair-share", "fq-codel"]);
    let side = (1usize..=2, 20u32..=20_000, 0u32..=50, 1u32..=20, any::<bool>(), kinds);
    let text = |(gateways, kbps, delay, queue, bytes, kind)| {
        let capacity = if kind == "fair-share" { "capacity = '500kbps'\n" } else { "" };
        let list = if gateways == 1 { "0" } else { "0, 1" };
        let bytes = if bytes { "queue_bytes = '4kB'\noverhead = '38B'\n" } else { "" };
        format!(
            "[wired]\ngateways = [{list}]\nnodes = ['R', 'B']\nrate = '{kbps}kbps'\ndelay = '{delay}ms'\n\
             queue = {queue}\n{bytes}[gateway]\nkind = '{kind}'\n{capacity}"
        )
    };
    prop::option::of(side.prop_map(text))
}

/// Options of layers as (additional sections, keys of `[radio]`, keys of `[mac]`); in most networks the defaults.
fn options() -> impl Strategy<Value = [&'static str; 3]> {
    let sections = prop_oneof![
        4 => Just(""),
        1 => Just("[c3tcp]\nenabled = true\n"),
        1 => Just("[c3tcp]\nenabled = true\nlocal_acks = true\n"),
        1 => Just("[tcp]\ntimestamps = true\n"),
        1 => Just("[tcp]\nsack = false\n"),
        2 => Just(RADIOS),
    ];
    let radio = prop_oneof![6 => Just(""), 2 => Just("model = 'sinr'\n"), 1 => Just(HT), 1 => Just(HT_SINR)];
    let mac = prop_oneof![
        6 => Just(""),
        2 => Just("rate_control = 'arf'\n"),
        1 => Just("rate_control = 'minstrel'\n"),
        2 => Just(EDCA),
    ];
    (sections, radio, mac).prop_map(|(sections, radio, mac)| [sections, radio, mac])
}

prop_compose! {
    /// A small network, dense or torn, with flows between any of its nodes.
    pub fn network()(
        profile in prop::sample::select(vec!["ns2", "standard"]),
        routing in prop::sample::select(vec!["aodv", "static", "ssa-aodv"]),
        rate in prop::sample::select(vec!["1Mbps", "2Mbps", "5.5Mbps", "11Mbps", "54Mbps"]),
        rts_threshold in prop::sample::select(vec![0u32, 500, 3000]),
        (queue, arp, width) in (2u32..=60, any::<bool>(), 1u32..=1200),
        discipline in prop::sample::select(vec!["", "", "queue = 'fq-codel'\nfq_limit = 40\ncodel_target = '5ms'\n"]),
        early in prop::sample::select(vec![
            "",
            "red = true\nred_low = 0\nred_max_drop = '50%'",
            "nred = true\nnred_low = '0%'",
        ]),
        duration in 2000u32..=4000,
        places in prop::collection::vec((0.0..1.0, 0u32..=400), 2..=9),
        flows in prop::collection::vec(flow(), 1..=4),
        movement in movement(),
        wired in wired(),
        [sections, radio, mac] in options(),
    ) -> String {
        let mut text = format!("profile = '{profile}'\nduration = '{duration}ms'\nwarmup = '0s'\n");
        let places: Vec<String> =
            places.iter().map(|(x, y)| format!("['{:.1}m', '{y}m']", x * f64::from(width))).collect();
        writeln!(text, "[topology]\nkind = 'positions'\npositions = [{}]", places.join(", ")).unwrap();
        // Not a DSSS rate, which the `sinr` radio and rate adaptation require.
        let (radio, mac) = if rate == "54Mbps" { ("", "") } else { (radio, mac) };
        let has_mcs = radio == HT || radio == HT_SINR;
        // Not available with aggregates and access categories.
        let sections = if (has_mcs || mac == EDCA) && sections.starts_with("[c3tcp]") { "" } else { sections };
        let ht = "rate_control = 'minstrel'\nprotection = 'auto'\n";
        let mac = if has_mcs && !mac.is_empty() && mac != EDCA { ht } else { mac };
        let rate = if has_mcs { String::new() } else { format!("rate = '{rate}'\n") };
        writeln!(text, "[radio]\n{rate}{radio}[mac]\nrts_threshold = '{rts_threshold}B'\n{mac}").unwrap();
        // Not available at nodes with several radios, or with access categories.
        let (several, early) = if sections == RADIOS || mac == EDCA { (true, "") } else { (false, early) };
        writeln!(text, "[link]\nqueue_limit = {queue}\narp = {arp}\n{discipline}{early}").unwrap();
        writeln!(text, "[routing]\nprotocol = '{routing}'").unwrap();
        if routing == "ssa-aodv" {
            writeln!(text, "signal_threshold = '-62dBm'").unwrap();
        }
        text += &movement;
        text += sections;
        if radio == HT_SINR && arp && mac != EDCA {
            text += "[[nodes]]\nnode = [0, 1]\nphy = 'ofdm'\n";
        }
        text += wired.as_deref().unwrap_or("");
        let mut names: Vec<String> = (0..places.len()).map(|node| node.to_string()).collect();
        if wired.is_some() {
            names.extend(["'R'".to_owned(), "'B'".to_owned(), "'B'".to_owned()]);
        }
        let gateways = wired.as_deref().map_or(0, |side| if side.contains("[0, 1]") { 2 } else { 1 });
        for (from, to, traffic) in flows {
            // Any node but `from`.
            let from = &names[from as usize % names.len()];
            let others: Vec<_> = names.iter().filter(|&name| name != from).collect();
            let mut to: &str = others[to as usize % others.len()];
            // A flow between two gateways is refused unless radio links connect them.
            if gateways == 2 && [from.as_str(), to].iter().all(|&name| name == "0" || name == "1") {
                to = "'B'";
            }
            let wired = [from.as_str(), to].iter().any(|name| name.starts_with('\''));
            let elsewhere = wired || several || has_mcs;
            let traffic = if elsewhere { traffic.replace(OVER_ATP, "transport = 'newreno'") } else { traffic };
            writeln!(text, "[[flows]]\nfrom = {from}\nto = {to}\n{traffic}").unwrap();
        }
        text
    }
}

fn check(scenario: &Scenario, result: &RunResult) -> Result<(), TestCaseError> {
    check_accounts(result)?;
    let wire_rate = scenario.wired.as_ref().map_or(0, |side| side.link.rate.bps());
    let rate = scenario.mac_config().data_rate.bps().max(wire_rate) as f64;
    for (flow, given) in result.flows.iter().zip(&scenario.flows) {
        prop_assert!(flow.goodput_bps <= flow.throughput_bps * (1.0 + 1e-9), "{flow:?}");
        prop_assert!(flow.throughput_bps <= rate, "{flow:?}");
        prop_assert!(flow.retransmitted <= flow.sent);
        let payload = match given.traffic.app {
            App::Bulk | App::Stream { .. } | App::Files { .. } => PAYLOAD,
            App::Transfer { size } => {
                prop_assert!(flow.delivered_bytes <= size.get(), "{flow:?}");
                PAYLOAD
            }
            App::Cbr { payload, .. } | App::Ping { payload, .. } => payload.get(),
        };
        prop_assert!(flow.delivered_bytes <= flow.sent * payload, "{flow:?}");
    }
    let flows = result.flows.len() as f64;
    if let Some(jain) = result.jain {
        prop_assert!((1.0 / flows - 1e-9..=1.0 + 1e-9).contains(&jain), "{jain}");
    }
    let total: f64 = result.flows.iter().map(|flow| flow.goodput_bps).sum();
    prop_assert!((result.aggregate_goodput_bps - total).abs() <= 1e-6 * total.max(1.0));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_layer_of_every_network_accounts_for_what_it_was_given(text in network(), seed in 0u64..1000) {
        let scenario = load_toml(&text, "random.toml", &[]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let result = run(&scenario, seed, &RunOptions::default(), &Control::new()).unwrap();
        check(&scenario, &result)
            .map_err(|error| TestCaseError::fail(format!("{error}\nseed {seed} of this scenario:\n{text}")))?;
    }
}

// NewReno overloads the chain, so that frames go unanswered: with link-layer RED packets are dropped early, which is
// accounted for separately, and the MAC gives up fewer.
#[test]
fn link_layer_red_drops_before_the_mac_gives_up() {
    let dropped = |red: bool| {
        let text = format!(
            "profile = 'ns2'\nduration = '60s'\n[topology]\nkind = 'chain'\nhops = 8\n[traffic]\ntransport = \
                'newreno'\n\
             [link]\nred = {red}\nred_max_drop = '20%'\n"
        );
        let result =
            run(&load_toml(&text, "red.toml", &[]).unwrap(), 1, &RunOptions::default(), &Control::new()).unwrap();
        check_accounts(&result).unwrap();
        (sum(&result, "link", &["link-red"]), sum(&result, "mac", &["rts-retry-limit", "data-retry-limit"]))
    };
    let ((none, given_up), (early, given_up_with_red)) = (dropped(false), dropped(true));
    assert_eq!(none, 0);
    assert!(early > 10, "{early} dropped early");
    assert!(given_up_with_red < given_up, "{given_up_with_red} given up with RED, {given_up} without");
}

// One hop and nobody else: as much arrives as the air time of an exchange allows, and no more.
#[test]
fn a_saturated_hop_carries_what_its_air_times_allow() {
    for (rate, payload) in [("1Mbps", 1460u64), ("2Mbps", 1460), ("11Mbps", 1460), ("11Mbps", 100), ("54Mbps", 1460)] {
        let text = format!(
            "profile = 'ns2'\nduration = '20s'\n[topology]\nkind = 'chain'\nhops = 1\n[radio]\nrate = '{rate}'\n\
             [[flows]]\nfrom = 0\nto = 1\ntransport = 'udp'\nrate = '60Mbps'\npayload = '{payload}B'\n"
        );
        let scenario = load_toml(&text, "hop.toml", &[]).unwrap();
        let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
        let mac = scenario.mac_config();
        let len = fourhop_units::Bytes(payload + 20);
        let exchange = mac.rts_airtime(mac.basic_rate)
            + mac.answer_airtime(mac.basic_rate)
            + mac.data_airtime(len, mac.data_rate)
            + mac.answer_airtime(mac.basic_rate);
        // Four frames over 200 m, three SIFS, DIFS and 15 slots on average.
        let around = Dur::from_nanos(4 * 667) + mac.sifs * 3 + mac.difs() + mac.slot * 15;
        let expected = (payload * 8) as f64 / (exchange + around).as_secs_f64();
        let found = result.flows[0].goodput_bps;
        assert!((found / expected - 1.0).abs() < 0.01, "{rate}, {payload} bytes: {found} bit/s, not {expected}");
    }
}
