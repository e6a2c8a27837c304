//! Resolved scenarios: defaults, overrides, flows, and writing.

use super::*;
use crate::scenario::key::Section;
use crate::scenario::sections::*;
use fourhop_units::NodeId;
use proptest::prelude::*;

#[test]
fn defaults_follow_the_profile() {
    let ns2 = with(&[]).unwrap();
    assert_eq!((ns2.name.as_str(), ns2.seed, ns2.batches), ("chain", 1, 10));
    assert_eq!(ns2.warmup, Dur::from_secs(10));
    assert_eq!(ns2.mac.backoff_draw, BackoffDraw::BelowCw);
    assert_eq!(ns2.routing.active_route_timeout, Dur::from_secs(10));
    assert_eq!(ns2.tcp.window, Some(64));
    let by_packets = with(&["packets=550"]).unwrap();
    assert_eq!((by_packets.packets, by_packets.warmup), (Some(550), Dur::ZERO));
    assert_eq!(with(&["packets=550", "warmup=3s"]).unwrap().warmup, Dur::from_secs(3));
    let standard = with(&["profile=standard"]).unwrap();
    assert_eq!(standard.mac.backoff_draw, BackoffDraw::UpToCw);
    assert_eq!(standard.routing.active_route_timeout, Dur::from_secs(3));
    assert_eq!(standard.tcp.window, None);
    assert_eq!(standard.flows[0].traffic.window, None);
}

/// The tables repeat the defaults of the protocol crates, whose configurations are the reference.
#[test]
fn defaults_are_those_of_the_protocols() {
    use fourhop_proto::{mac, net, phy, route, tcp};
    let ns2 = with(&[]).unwrap();
    assert_eq!(ns2.mac_config(), mac::Config::ns2());
    assert_eq!(ns2.receiver_config(), phy::Config::ns2());
    assert_eq!(ns2.link_config(), net::Config::ns2());
    assert_eq!(ns2.aodv_config(), route::Config::ns2());
    assert_eq!(ns2.propagation(), phy::two_ray::TwoRay::WAVELAN);
    let standard = with(&["profile=standard"]).unwrap();
    assert_eq!(standard.mac_config(), mac::Config::standard());
    assert_eq!(standard.receiver_config(), phy::Config::standard());
    assert_eq!(standard.link_config(), net::Config::standard());
    assert_eq!(standard.aodv_config(), route::Config::standard());
    let tcp = |scenario: &Scenario| format!("{:?}", scenario.tcp_config(&scenario.flows[0].traffic));
    // Round trips of every ACK need a driver that provides them, which a protocol's own defaults cannot assume.
    let mut with_echoes = tcp::Config::ns2();
    with_echoes.cc.tcp_ap.samples = fourhop_cc::tcp_ap::Samples::EveryAck;
    assert_eq!(tcp(&ns2), format!("{with_echoes:?}"));
    assert_eq!(tcp(&standard), format!("{:?}", tcp::Config::standard()));
}

#[test]
fn options_reach_the_protocols() {
    let scenario = with(&[
        "radio.capture=false",
        "radio.rate=11Mbps",
        "routing.hello=true",
        "routing.hello_interval=2s",
        "routing.repair=off",
        "routing.retry_tick=50ms",
        "link.queue_limit=20",
        "flows[0].window=3",
        "tcp.ack_policy=delayed",
    ])
    .unwrap();
    assert_eq!(scenario.receiver_config().capture_ratio, None);
    assert_eq!(scenario.mac_config().data_rate, Rate::kbps(11_000));
    let aodv = scenario.aodv_config();
    assert_eq!(aodv.hello.map(|h| (h.interval, h.allowed_loss)), Some((Dur::from_secs(2), 2)));
    assert_eq!(aodv.repair, fourhop_proto::route::aodv::RepairRule::Off);
    assert_eq!(aodv.retry, fourhop_proto::route::aodv::Retry::PacketOrTick(Dur::from_millis(50)));
    assert_eq!(scenario.link_config().queue.limit, 20);
    let tcp = scenario.tcp_config(&scenario.flows[0].traffic);
    assert_eq!(tcp.window_limit, Some(3));
    assert!(matches!(tcp.receiver.timing, fourhop_proto::tcp::Timing::Delayed { .. }));
}

/// Each default is in its range and of its row's kind; each row's kind fits its field.
#[test]
fn tables_agree_with_themselves() {
    fn check<S: Section>(given: &[(&'static str, value::Value)]) {
        for profile in [Profile::Ns2, Profile::Standard] {
            let mut values: value::Values = given.iter().cloned().collect();
            for key in S::KEYS {
                assert!(key.doc.trim().ends_with(['.', '?']), "{}: {}", key.name, key.doc);
                if let Kind::Quantity(unit, from, to) = key.kind {
                    assert!(unit.parse(from).unwrap() < unit.parse(to).unwrap(), "{}", key.name);
                }
                let Some(value) = key.default_value(profile) else { continue };
                match (&value, key.kind) {
                    (value::Value::Quantity(unit, x), Kind::Quantity(_, from, to)) => {
                        assert!((unit.parse(from).unwrap()..=unit.parse(to).unwrap()).contains(x), "{}", key.name);
                    }
                    (value::Value::Int(n), Kind::Int(from, to)) => assert!((from..=to).contains(n), "{}", key.name),
                    (value::Value::Text(s), Kind::Choice(choices)) => {
                        assert!(choices.iter().any(|(name, _)| name == s), "{}", key.name);
                    }
                    (value::Value::Bool(_), Kind::Bool) => {}
                    other => panic!("{}: {other:?}", key.name),
                }
                values.entry(key.name).or_insert(value);
            }
            let written: value::Values = S::from_values(&values).values().into_iter().collect();
            assert_eq!(written, values);
        }
    }
    let text = |s: &str| value::Value::Text(s.into());
    let duration = value::Value::Quantity(Unit::Time, 1e9);
    check::<General>(&[("name", text("x")), ("profile", text("ns2")), ("duration", duration)]);
    check::<TopologyKeys>(&[("kind", text("chain"))]);
    check::<MobilityKeys>(&[("model", text("fixed"))]);
    let (rate, us) = (value::Value::Quantity(Unit::Rate, 1e6), value::Value::Quantity(Unit::Time, 2e4));
    let (watt, hertz) = (value::Value::Quantity(Unit::Power, 0.1), value::Value::Quantity(Unit::Frequency, 1e9));
    let computed = [("rate", rate.clone()), ("basic_rate", rate), ("plcp", us.clone())];
    check::<Radio>(&[&computed[..], &[("tx_power", watt), ("frequency", hertz)]].concat());
    let longest = ("ampdu_bytes", value::Value::Quantity(Unit::Size, 65_535.0));
    check::<Mac>(&[("slot", us.clone()), ("sifs", us), ("cw_min", value::Value::Int(31)), longest]);
    check::<Link>(&[]);
    check::<Routing>(&[]);
    check::<Tcp>(&[]);
    check::<TrafficKeys>(&[("transport", text("newreno")), ("app", text("bulk"))]);
    let node = value::Value::Int(0);
    check::<FlowKeys>(&[("from", node.clone()), ("to", node), ("transport", text("newreno")), ("app", text("bulk"))]);
}

#[test]
fn overrides_reach_every_place() {
    let scenario = with(&[
        "topology.hops=7",
        "topology.spacing = \"150 m\"",
        "flows[0].transport=reno",
        "mac.rts_threshold=3kB",
        "name='a = b'",
        "tcp.window=none",
        "tcp.window=8",
    ])
    .unwrap();
    assert_eq!(scenario.topology, Topology::Chain { hops: 7, spacing: 150.0 });
    assert_eq!(scenario.flows[0].traffic.transport.name(), "reno");
    assert_eq!(scenario.mac.rts_threshold, Bytes(3000));
    assert_eq!(scenario.name, "a = b");
    assert_eq!(scenario.flows[0].traffic.window, Some(8));
    assert_eq!(with(&["tcp.window=none"]).unwrap().tcp.window, None);
}

/// Integers computed by a program are written with a decimal point.
#[test]
fn whole_numbers_may_have_a_point() {
    let scenario = with(&["topology.hops=7.0", "flows[0].to=3.0"]).unwrap();
    assert_eq!((scenario.topology.nodes(), scenario.flows[0].to), (8, Endpoint::Node(NodeId(3))));
    let json = with(&[]).unwrap().to_json().replace("\"hops\":4", "\"hops\":4.0");
    assert_eq!(load_json(&json, "", &[]).unwrap().topology.nodes(), 5);
    assert!(with(&["topology.hops=7.5"]).unwrap_err().to_string().contains("found 7.5, allowed: a whole number"));
    assert!(with(&["topology.hops=1e300"]).is_err());
}

#[test]
fn one_override_reaches_every_flow_it_fits() {
    let text = CHAIN.to_owned()
        + "[[flows]]\nfrom = 4\nto = 1\ntransport = \"udp\"\nrate = \"64kbps\"\n\
           [[flows]]\nfrom = 3\nto = 1\ntransport = \"sack\"\n[traffic]\ntransport = \"reno\"\n";
    let set = |sets: &[&str]| {
        let sets: Vec<_> = sets.iter().map(|&set| set.to_owned()).collect();
        load_toml(&text, "", &sets).unwrap()
    };
    let scenario = set(&["transport=vegas", "flows[*].start=7s"]);
    let names: Vec<_> = scenario.flows.iter().map(|flow| flow.traffic.transport.name()).collect();
    assert_eq!((names, scenario.traffic.unwrap().traffic.transport.name()), (vec!["vegas", "udp", "vegas"], "vegas"));
    assert!(scenario.flows.iter().all(|flow| flow.traffic.start == Time::from_secs(7)));
    assert_eq!(keys_meant(&set(&[]).to_json(), "tcp.window").unwrap(), ["tcp.window"]);
}

#[test]
fn flows_start_one_after_the_other() {
    let text =
        CHAIN.to_owned() + "[[flows]]\nname = \"voice\"\nfrom = 4\nto = 1\ntransport = \"udp\"\nrate = \"64kbps\"";
    let scenario = load(&text).unwrap();
    let flows = scenario.network(1).unwrap().flows;
    assert_eq!((flows[0].name.as_str(), flows[0].hops), ("flow-1", Some(4)));
    assert_eq!((flows[0].src, flows[0].dst), (NodeId(0), NodeId(4)));
    assert_eq!((flows[1].name.as_str(), flows[1].hops), ("voice", Some(3)));
    assert_eq!((flows[0].traffic.start, flows[1].traffic.start), (Time::from_secs(1), Time::from_millis(1100)));
    assert_eq!(flows[1].traffic.app, App::Cbr { rate: Rate::kbps(64), payload: Bytes(1460) });
    assert_eq!(flows[0].traffic.app, App::Bulk);
}

#[test]
fn traffic_runs_between_natural_pairs() {
    let text = "profile = \"ns2\"\nduration = \"50s\"\n[topology]\nkind = \"grid\"\ncolumns = 3\nrows = 3\n\
                [traffic]\ntransport = \"newreno\"";
    let flows = load(text).unwrap().network(1).unwrap().flows;
    assert_eq!(flows.len(), 6);
    assert!(flows.iter().all(|f| f.hops == Some(2)));
    assert_eq!(flows[5].traffic.start, Time::from_millis(1500));
    let some = load(&(text.to_owned() + "\npairs = 2\nstagger = \"1s\"")).unwrap().network(1).unwrap().flows;
    assert_eq!(some.len(), 2);
    assert_eq!(some[1].traffic.start, Time::from_secs(2));
}

const RANDOM: &str = "profile = \"ns2\"\nduration = \"50s\"\n[topology]\nkind = \"random\"\nnodes = 40\n\
                      width = \"1km\"\nheight = \"1km\"\n[traffic]\ntransport = \"newreno\"\npairs = 10";

#[test]
fn random_flows_are_distinct_and_a_function_of_the_seed() {
    let scenario = load(RANDOM).unwrap();
    let network = scenario.network(3).unwrap();
    let mut ends: Vec<_> = network.flows.iter().map(|f| (f.src, f.dst)).collect();
    assert!(network.flows.iter().all(|f| f.src != f.dst && f.hops.is_some()));
    ends.sort();
    ends.dedup();
    assert_eq!(ends.len(), 10);
    assert_eq!(network, scenario.network(3).unwrap());
    assert_ne!(network, scenario.network(4).unwrap());
    let fixed = load_toml(RANDOM, "r.toml", &["topology.seed=3".into()]).unwrap();
    assert_eq!(fixed.network(1).unwrap(), network);
    assert_eq!(fixed.network(2).unwrap(), network);
}

#[test]
fn every_pair_can_be_drawn() {
    let all = [
        "topology.nodes=4".into(),
        "traffic.pairs=12".into(),
        "topology.width=200m".into(),
        "topology.height=50m".into(),
    ];
    assert_eq!(load_toml(RANDOM, "r.toml", &all).unwrap().network(1).unwrap().flows.len(), 12);
}

#[test]
fn nodes_out_of_reach_have_no_hops() {
    let far = with(&["topology.spacing=300m"]).unwrap();
    assert_eq!(far.network(1).unwrap().flows[0].hops, None);
    let louder = with(&["topology.spacing=300m", "radio.tx_power=28dBm"]).unwrap();
    assert_eq!(louder.network(1).unwrap().flows[0].hops, Some(4));
}

/// Checks that the written scenario reads back as the same, and that the two formats agree.
#[track_caller]
pub fn assert_round_trip(scenario: &Scenario) {
    let toml = scenario.to_toml();
    let again = load_toml(&toml, "again.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    assert_eq!(again.to_toml(), toml);
    let json = scenario.to_json();
    let from_json = load_json(&json, "again", &[]).unwrap_or_else(|e| panic!("{e}\n{json}"));
    assert_eq!(from_json.to_json(), json);
    assert_eq!(from_json.to_toml(), toml);
    let same = |a: &Scenario, b: &Scenario| {
        format!("{:?}", Scenario { file: String::new(), ..a.clone() })
            == format!("{:?}", Scenario { file: String::new(), ..b.clone() })
    };
    assert!(same(scenario, &again) && same(scenario, &from_json), "{toml}");
}

#[test]
fn writing_and_reading_agree() {
    let extra = "[[flows]]\nname = \"a \\\"b\\\"\\n\"\nfrom = 3\nto = 1\ntransport = \"ping\"\nstop = \"7s\"\n\
                 [[flows]]\nfrom = 1\nto = 2\ntransport = \"reno\"\napp = \"transfer\"\nsize = \"30kB\"\n\
                 [[flows]]\nfrom = 2\nto = 0\ntransport = \"udp\"\nrate = \"250.5kbps\"\npayload = \"512B\"";
    assert_round_trip(&load(&(CHAIN.to_owned() + extra)).unwrap());
    assert_round_trip(&load(RANDOM).unwrap());
    for topology in [
        "{kind='parallel-chains',hops=[4,10]}",
        "{kind='parallel-chains',chains=3,hops=2,centred=false}",
        "{kind='cross',hops=4,spacing='123.4m'}",
        "{kind='grid',columns=5,rows=2}",
        "{kind='random',nodes=20,width='500m',height='0.3km',seed=9}",
        "{kind='positions',positions=[['0m','-3.25m'],['0.2km','1e2m']]}",
    ] {
        for profile in ["ns2", "standard"] {
            assert_round_trip(&with(&[&format!("topology={topology}"), &format!("profile={profile}")]).unwrap());
        }
    }
}

proptest! {
    #[test]
    fn any_accepted_value_survives_writing(
        hops in 1u32..=256,
        spacing in 0.1f64..100_000.0,
        rate in 1_000_000u64..=1_000_000_000,
        dbm in 10.0f64..60.0,
        tick_ns in 1u64..=1_000_000_000,
        window in prop::option::of(1u32..1000),
        seed in 0u64..1 << 53,
    ) {
        let window = window.map_or("none".into(), |w| w.to_string());
        let scenario = with(&[
            &format!("topology.hops={hops}"),
            &format!("topology.spacing={spacing}m"),
            &format!("radio.rate={rate}bps"),
            &format!("radio.tx_power={dbm}dBm"),
            &format!("tcp.rtt_tick={tick_ns}ns"),
            &format!("tcp.window={window}"),
            &format!("seed={seed}"),
        ]).unwrap();
        prop_assert_eq!(scenario.radio.rate.bps(), rate);
        prop_assert_eq!(scenario.tcp.rtt_tick, Dur::from_nanos(tick_ns));
        assert_round_trip(&scenario);
    }

    /// Whatever a file holds, reading it ends in a scenario or in problems, each with a file and a text.
    #[test]
    fn no_override_breaks_the_reader(key in "[a-z_.\\[\\]0-9]{1,20}", value in "\\PC{0,20}") {
        if let Err(error) = with(&[&format!("{key}={value}")]) {
            prop_assert!(!error.problems.is_empty());
            prop_assert!(error.problems.iter().all(|p| !p.found.is_empty() && !p.allowed.is_empty()));
        }
    }
}

/// Each difference between the profiles of adaptive pacing is a key, and written keys override the profile.
#[test]
fn adaptive_pacing_follows_its_profile() {
    use fourhop_cc::tcp_ap::{Params, Samples};
    use fourhop_proto::tcp;
    let params = |overrides: &[&str]| {
        let scenario = with(overrides).unwrap();
        let again = load_json(&scenario.to_json(), &scenario.file, &[]).unwrap();
        assert_eq!(again.tcp_ap, scenario.tcp_ap, "{overrides:?}");
        (scenario.tcp_config(&scenario.flows[0].traffic), scenario)
    };
    let every_ack = |params| Params { samples: Samples::EveryAck, ..params };
    let (paper, _) = params(&["flows[0].transport=tcp-ap"]);
    assert_eq!((paper.cc.tcp_ap, paper.release), (every_ack(Params::paper()), tcp::Release::Slots));
    assert!(paper.rto_backoff && paper.path_hints.hops == tcp::HopSource::Routing);
    let (code, _) = params(&["flows[0].transport=tcp-ap", "tcp_ap.profile=authors-code"]);
    assert_eq!((code.cc.tcp_ap, code.release), (every_ack(Params::authors_code()), tcp::Release::Queue));
    assert!(!code.rto_backoff && code.path_hints.hops == tcp::HopSource::Travelled);
    let mixed = [
        "flows[0].transport=tcp-ap-sack",
        "tcp_ap.profile=authors-code",
        "tcp_ap.link_rate=none",
        "tcp_ap.short_path=all-hops",
        "tcp_ap.delay=stamped",
        "tcp_ap.factor=3",
        "tcp_ap.delay_limit=0s",
        "tcp_ap.alpha=30%",
    ];
    let (mixed, _) = params(&mixed);
    let ap = mixed.cc.tcp_ap;
    assert_eq!((ap.link_rate, ap.delay_limit, ap.alpha, ap.data_overhead), (None, None, 300, 112));
    assert_eq!((ap.short_path, ap.factor), (fourhop_cc::tcp_ap::ShortPath::AllHops, 3));
    assert_eq!(mixed.path_hints.forward_delay_over, Some(3));
    // Other transports keep TCP's defaults; TCP's own pacing options concern `rbp` alone.
    let (newreno, _) = params(&["tcp_ap.profile=authors-code"]);
    assert_eq!((newreno.release, newreno.path_hints), (tcp::Config::ns2().release, tcp::PathHints::PLAIN));
    assert!(newreno.rto_backoff);
}

/// The timers of 2003 replace those of either profile, except for keys that are given; nothing else changes.
#[test]
fn tcp_may_have_the_timers_of_2003() {
    use fourhop_proto::tcp::Config;
    let resolved = |overrides: &[&str]| {
        let scenario = with(overrides).unwrap();
        let again = load_json(&scenario.to_json(), &scenario.file, &[]).unwrap();
        assert_eq!(again.tcp, scenario.tcp, "{overrides:?}");
        format!("{:?}", scenario.tcp_config(&scenario.flows[0].traffic))
    };
    for profile in ["profile=ns2", "profile=standard"] {
        let plain = with(&[profile]).unwrap();
        let plain = plain.tcp_config(&plain.flows[0].traffic);
        let old = Config {
            rtt_tick: Dur::from_millis(100),
            rto_min: Dur::from_secs(1),
            rto_initial: Dur::from_secs(6),
            initial_window: 1,
            ..plain
        };
        assert_eq!(resolved(&[profile, "tcp.profile=ns2-2003"]), format!("{old:?}"));
        let mixed = Config { rto_initial: Dur::from_secs(3), initial_window: 2, ..old };
        let keys = [profile, "tcp.profile=ns2-2003", "tcp.rto_initial=3s", "tcp.initial_window=2"];
        assert_eq!(resolved(&keys), format!("{mixed:?}"));
    }
}

#[test]
fn files_have_a_distribution_and_connections() {
    let scenario = with(&["flows[0].app=files", "flows[0].mean_pause=400ms", "flows[0].connection=fresh"]).unwrap();
    let App::Files { mean_size, shape, mean_pause, fresh } = scenario.flows[0].traffic.app else { panic!("files") };
    assert_eq!((mean_size.get(), shape, mean_pause, fresh), (30_000, 1_500, Dur::from_millis(400), true));
    let again = load_json(&scenario.to_json(), &scenario.file, &[]).unwrap();
    assert_eq!(again.flows, scenario.flows);
    assert!(with(&["flows[0].app=files"]).is_err(), "a pause must be given");
    let other = with(&["flows[0].app=files", "flows[0].mean_pause=0s", "flows[0].shape=2"]).unwrap();
    assert!(matches!(other.flows[0].traffic.app, App::Files { shape: 2_000, .. }));
}

/// The kind of physical layer determines times and rates; written keys override it.
#[test]
fn ofdm_has_its_own_times_and_rates() {
    use fourhop_proto::phy::PhyKind;
    let mac = |overrides: &[&str]| {
        let scenario = with(overrides).unwrap();
        assert_round_trip(&scenario);
        scenario.mac_config()
    };
    let us = Dur::from_micros;
    let a = mac(&["radio.phy=ofdm"]);
    assert_eq!((a.phy, a.slot, a.sifs, a.plcp, a.cw_min), (PhyKind::Ofdm, us(9), us(16), us(20), 15));
    assert_eq!((a.data_rate, a.basic_rate), (Rate::kbps(54_000), Rate::kbps(6_000)));
    let g = mac(&["radio.phy=erp-ofdm", "mac.slot=9us", "radio.rate=36Mbps", "mac.answer_rate=mandatory"]);
    assert_eq!((g.slot, g.sifs, g.data_rate), (us(9), us(10), Rate::kbps(36_000)));
    assert_eq!(g.answer_to(g.data_rate), Rate::kbps(24_000));
}

/// The MCS determines the rate; the band determines all other times.
#[test]
fn generations_with_mcs_have_their_own_keys() {
    use fourhop_proto::mac::Protection;
    use fourhop_proto::phy::PhyKind;
    use fourhop_proto::phy::mcs::{Format, Guard, Mcs, Width};
    let mac = |overrides: &[&str]| {
        let scenario = with(overrides).unwrap();
        assert_round_trip(&scenario);
        scenario.mac_config()
    };
    let n = mac(&["radio.phy=ht"]);
    assert_eq!((n.phy, n.slot, n.cw_min, n.basic_rate), (PhyKind::Ofdm, Dur::from_micros(9), 15, Rate::kbps(6_000)));
    assert_eq!((n.mcs, n.data_rate), (Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800), Rate::kbps(65_000)));
    assert_eq!(n.aggregation, fourhop_proto::mac::Aggregation::standard());
    // Not a whole number of Mbit/s: it survives writing and reading.
    let short = mac(&["radio.phy=ht-2.4ghz", "radio.guard_interval=400ns", "radio.mcs=7", "mac.ampdu_frames=16"]);
    assert_eq!((short.phy, short.data_rate.bps(), short.aggregation.frames), (PhyKind::ErpOfdm, 72_222_222, 16));
    let ac =
        mac(&["radio.phy=vht", "radio.width=80MHz", "radio.streams=2", "radio.mcs=9", "mac.protection=cts-to-self"]);
    assert_eq!((ac.data_rate, ac.aggregation.bytes), (Rate::kbps(780_000), Bytes(1_048_575)));
    assert_eq!(ac.aggregation.protection, Protection::CtsToSelf);
    assert_eq!(mac(&["radio.phy=ofdm"]).mcs, None);
    // 40 MHz have 3 dB more noise than 20 MHz.
    let noise =
        |width| match with(&["radio.phy=ht", "radio.model=sinr", "topology.spacing=20m", width]).unwrap().radio_setup()
        {
            crate::setup::Radio::Sinr(radio) => radio.receiver.noise.to_dbm().0,
            crate::setup::Radio::Threshold(_) => panic!("sinr was asked for"),
        };
    assert!((noise("radio.width=40MHz") - noise("radio.width=20MHz") - 3.01).abs() < 0.01);
}

/// Keys that do not apply together with the others are absent, and every model survives writing and reading.
#[test]
fn the_sinr_radio_has_keys_of_its_own() {
    use crate::propagation::PathLoss;
    use crate::setup::Radio;
    use fourhop_proto::phy::sinr::{Errors, FrameCapture};
    let radio = |overrides: &[&str]| {
        let all: Vec<_> =
            ["radio.model=sinr", "topology.spacing=20m"].into_iter().chain(overrides.iter().copied()).collect();
        let scenario = with(&all).unwrap();
        assert_round_trip(&scenario);
        match scenario.radio_setup() {
            Radio::Sinr(radio) => (*radio, scenario),
            Radio::Threshold(_) => panic!("sinr was asked for"),
        }
    };
    let (plain, scenario) = radio(&["radio.rate=11Mbps"]);
    assert!(plain.propagation.shadowing.is_none() && plain.propagation.fading.is_none());
    assert_eq!((plain.receiver.errors, plain.receiver.capture), (Errors::ByRate, FrameCapture::Preamble));
    // kTB and 7 dB; the cut-off is 10 dB lower; 100 mW: carrier sense at -76 dBm.
    assert!((plain.receiver.noise.to_dbm().0 + 93.55).abs() < 0.01);
    assert!((plain.propagation.cutoff.to_dbm().0 + 103.55).abs() < 0.01);
    assert!((plain.receiver.cca_energy.to_dbm().0 + 76.0).abs() < 1e-9);
    // 20 dBm - 40.1 dB at 1 m, n = 3, 4.1 dB above noise for 1,536 bytes at 11 Mbit/s.
    assert!((scenario.range_m() - 205.0).abs() < 1.0, "{}", scenario.range_m());
    assert!(scenario.radio.environment.is_none() && scenario.radio.doppler.is_none());
    // A link is judged at the lowest possible data rate: 1 Mbit/s needs 4.1 dB less, which its preamble still requires,
    // and reaches 1.37 times as far.
    let reach = |rate_control: &str| radio(&["radio.rate=11Mbps", rate_control]).1.range_m();
    for kind in ["mac.rate_control=arf", "mac.rate_control=aarf"] {
        assert!((reach(kind) / scenario.range_m() - 1.37).abs() < 0.01, "{}", reach(kind) / scenario.range_m());
    }
    assert_eq!(reach("mac.rate_control=fixed"), scenario.range_m());

    let (hallway, _) = radio(&[
        "radio.phy=ofdm",
        "radio.path_loss=itu-indoor",
        "radio.environment=hallway",
        "radio.shadowing=4dB",
        "radio.fading=rician",
        "radio.doppler=2Hz",
        "radio.frame_capture=any",
        "radio.errors=ratio",
        "radio.required_sinr=12dB",
        "radio.sensitivity=-82dBm",
        "mac.rate_control=aarf",
    ]);
    assert!(matches!(hallway.propagation.path_loss, PathLoss::LogDistance(law) if law.exponent == 1.8));
    assert!((hallway.propagation.fading.unwrap().k - 3.981).abs() < 1e-3);
    assert!(matches!(hallway.receiver.errors, Errors::Ratio(ratio) if (ratio - 15.849).abs() < 1e-3));
    assert!((hallway.link.to_dbm().0 + 81.97).abs() < 0.05, "noise + 12 dB: {:?}", hallway.link.to_dbm());
    let (two_ray, _) = radio(&["radio.path_loss=two-ray", "radio.antenna_height=1m"]);
    assert!(matches!(two_ray.propagation.path_loss, PathLoss::TwoRay(law) if law.antenna_height_m == 1.0));
}

#[test]
fn awareness_of_signals_brings_its_hellos() {
    use fourhop_proto::route::aodv::{HelloConfig, SearchTimeout, SignalConfig};
    use fourhop_units::{Db, Dbm};
    let plain = with(&["profile=standard", "routing.signal_threshold=-80dBm"]).unwrap().aodv_config();
    assert_eq!(plain, fourhop_proto::route::Config::standard(), "only the protocol switches it on");
    let aware = ["profile=standard", "routing.protocol=ssa-aodv", "routing.signal_threshold=-80dBm"];
    let scenario = with(&aware).unwrap();
    let config = scenario.aodv_config();
    let often = HelloConfig { always: true, jitter: Dur::from_millis(100), ..HelloConfig::standard() };
    assert_eq!((config.hello, config.ttl_start, config.link_layer_detection), (Some(often), 2, false));
    let signal = config.signal.expect("it was asked for");
    assert!((signal.threshold - Dbm(-80.0)).0.abs() < 1e-9);
    assert_eq!(signal, SignalConfig { threshold: signal.threshold, ..SignalConfig::paper(Dbm(-80.0)) });
    // Written keys take precedence, and the resolved scenario reads back as the same.
    let mut own = aware.to_vec();
    own.extend([
        "routing.ttl_start=1",
        "routing.hello_jitter=0s",
        "routing.hello_always=false",
        "routing.link_layer_detection=true",
        "routing.signal_hysteresis=3dB",
        "routing.request_wait=320ms",
    ]);
    let scenario = with(&own).unwrap();
    let config = scenario.aodv_config();
    assert_eq!((config.hello, config.ttl_start), (Some(HelloConfig::standard()), 1));
    assert!(config.link_layer_detection);
    assert_eq!(config.search_timeout, SearchTimeout::Fixed(Dur::from_millis(320)));
    assert_eq!(config.signal.expect("still").hysteresis, Db(3.0));
    let again = load_toml(&scenario.to_toml(), "again.toml", &[]).unwrap();
    assert_eq!(again.aodv_config(), config);
}

#[test]
fn a_metric_of_links_brings_searches_of_the_whole_network() {
    use fourhop_proto::route::{Metric, aodv::MetricConfig};
    let by_hops = with(&["profile=standard", "routing.probe_interval=3s"]).unwrap().aodv_config();
    assert_eq!(by_hops, fourhop_proto::route::Config::standard(), "only the metric switches probes on");
    let config = with(&["profile=standard", "routing.metric=etx"]).unwrap().aodv_config();
    assert_eq!(config.metric, Some(MetricConfig::paper(Metric::Etx)));
    assert_eq!((config.ttl_start, config.destination_only), (config.net_diameter, true));
    let own = ["profile=standard", "routing.metric=ett", "routing.probe_interval=500ms", "routing.ttl_start=2"];
    let scenario = with(&[&own[..], &["routing.destination_only=false"]].concat()).unwrap();
    let config = scenario.aodv_config();
    assert_eq!(config.metric, Some(MetricConfig { metric: Metric::Ett, interval: Dur::from_millis(500) }));
    assert_eq!((config.ttl_start, config.destination_only), (2, false));
    assert_eq!(load_toml(&scenario.to_toml(), "again.toml", &[]).unwrap().aodv_config(), config);
    let error = with(&["routing.protocol=ssa-aodv", "routing.signal_threshold=-80dBm", "routing.metric=etx"]);
    let error = error.unwrap_err().to_string();
    for part in ["routing.metric: found \"etx\"", "\"hops\" for \"ssa-aodv\"", "\"aodv\", \"static\""] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!error.contains("hello"), "nothing else is wrong: {error}");
}

#[test]
fn awareness_of_signals_needs_a_threshold_and_hellos() {
    let error = with(&["routing.protocol=ssa-aodv", "routing.hello=false"]).unwrap_err().to_string();
    for part in ["routing.signal_threshold: missing", "a power such as \"-85dBm\"", "routing.hello: found false"] {
        assert!(error.contains(part), "{error}");
    }
}
