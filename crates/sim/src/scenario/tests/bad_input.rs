//! Every kind of mistake, with the exact message.

use super::resolved::assert_round_trip;
use super::*;

/// Returns the message for [`CHAIN`] with `line` replaced by `with`.
#[track_caller]
fn message(line: &str, with: &str) -> String {
    assert!(CHAIN.contains(line), "{line}");
    load(&CHAIN.replacen(line, with, 1)).expect_err("should be refused").to_string()
}

#[test]
fn unknown_key() {
    assert_eq!(
        message("hops = 4", "hops = 4\nspaceing = \"100m\""),
        "chain.toml:7:1: topology.spaceing: found an unknown key, allowed: kind, hops, spacing \
         (did you mean \"spacing\"?)"
    );
    assert_eq!(
        message("[topology]", "[macc]\nslot = \"9us\"\n[topology]"),
        "chain.toml:4:2: macc: found an unknown key, allowed: name, profile, duration, warmup, seed, batches, \
         packets, sample_every, topology, mobility, radio, radios, nodes, losses, walls, mac, edca, link, routing, \
         routes, babel, atp, tcp, tcp_ap, adhoc_tcp, c3tcp, wired, wires, gateway, traffic, flows (did you mean \
         \"mac\"?)"
    );
    assert!(message("hops = 4", "hops = 4\nzebra = 1").ends_with("allowed: kind, hops, spacing"));
}

#[test]
fn too_few_packets_for_the_batches() {
    assert_eq!(
        message("[topology]", "packets = 10\n[topology]"),
        "chain.toml:4:11: packets: found 10, allowed: more than `batches`, 10"
    );
}

#[test]
fn key_of_another_kind() {
    assert_eq!(
        message("hops = 4", "hops = 4\ncolumns = 3"),
        "chain.toml:7:1: topology.columns: found a key that does not belong to \"chain\", allowed: kind, hops, spacing \
         (it belongs to grid)"
    );
    assert_eq!(
        message("transport = \"newreno\"", "transport = \"newreno\"\nrate = \"1Mbps\""),
        "chain.toml:12:1: flows[0].rate: found a key that does not belong to \"bulk\", allowed: name, from, to, \
         transport, app, start, stop, dscp, window (it belongs to cbr, stream)"
    );
}

#[test]
fn missing_key() {
    assert_eq!(
        message("profile = \"ns2\"\n", ""),
        "chain.toml:1:1: profile: missing, allowed: \"ns2\" or \"standard\""
    );
    assert_eq!(
        message("hops = 4\n", ""),
        "chain.toml:4:1: topology.hops: missing, allowed: a whole number from 1 to 256"
    );
    assert_eq!(
        message("to = \"last\"\n", ""),
        "chain.toml:8:1: flows[0].to: missing, allowed: a node number, \"first\", \"last\", \"random\" or a \
         name from [wired]"
    );
}

/// Programs in emulated nodes provide the traffic.
#[test]
fn a_scenario_without_flows_is_a_network() {
    let network = "profile = \"ns2\"\nduration = \"1s\"\ntopology = { kind = \"chain\", hops = 1 }\n";
    for text in [network.to_owned(), format!("flows = []\n{network}")] {
        let scenario = load(&text).unwrap();
        assert!(scenario.flows.is_empty() && scenario.traffic.is_none());
        assert_round_trip(&scenario);
    }
}

#[test]
fn bad_unit() {
    assert_eq!(
        message("hops = 4", "hops = 4\nspacing = \"200ms\""),
        "chain.toml:7:11: topology.spacing: found \"200ms\", allowed: a length from \"0.1m\" to \"100km\" \
         (ms is a unit of time)"
    );
    assert_eq!(
        message("\"100s\"", "100"),
        "chain.toml:2:12: duration: found 100, allowed: a time from \"1ms\" to \"1000000s\" (the unit is missing)"
    );
    assert_eq!(
        message("[topology]", "radio.rate = \"2mbps\"\n[topology]"),
        "chain.toml:4:14: radio.rate: found \"2mbps\", allowed: a rate from \"100kbps\" to \"10Gbps\" \
         (did you mean \"Mbps\"?)"
    );
    assert_eq!(
        message("\"100s\"", "\"100 furlongs\""),
        "chain.toml:2:12: duration: found \"100 furlongs\", allowed: a time from \"1ms\" to \"1000000s\" \
         (units: ns, us, ms, s, min, h)"
    );
}

#[test]
fn bad_type() {
    assert_eq!(
        message("hops = 4", "hops = 4.5"),
        "chain.toml:6:8: topology.hops: found 4.5, allowed: a whole number from 1 to 256"
    );
    assert_eq!(
        message("[topology]", "mac.nav_reset = \"yes\"\n[topology]"),
        "chain.toml:4:17: mac.nav_reset: found \"yes\", allowed: true or false"
    );
    assert_eq!(message("[topology]", "mac = 3\n[topology]"), "chain.toml:4:7: mac: found 3, allowed: a table of keys");
    assert_eq!(
        message("\"100s\"", "2026-11-21"),
        "chain.toml:2:12: duration: found the date 2026-11-21, allowed: a time from \"1ms\" to \"1000000s\""
    );
    assert_eq!(
        load("profile = \"ns2\"\nduration = \"1s\"\nflows = 3\ntopology = { kind = \"chain\", hops = 1 }")
            .unwrap_err()
            .to_string(),
        "chain.toml:3:9: flows: found 3, allowed: a list of flows: [[flows]]"
    );
}

#[test]
fn negative_or_absurd_number() {
    assert_eq!(
        message("hops = 4", "hops = -4"),
        "chain.toml:6:8: topology.hops: found -4, allowed: a whole number from 1 to 256"
    );
    assert_eq!(
        message("hops = 4", "hops = 1000000"),
        "chain.toml:6:8: topology.hops: found 1000000, allowed: a whole number from 1 to 256"
    );
    assert_eq!(
        message("\"100s\"", "\"-1s\""),
        "chain.toml:2:12: duration: found \"-1s\", allowed: a time from \"1ms\" to \"1000000s\""
    );
    assert_eq!(
        message("[topology]", "radio.tx_power = \"90dBm\"\n[topology]"),
        "chain.toml:4:18: radio.tx_power: found \"90dBm\", allowed: a power from \"-50dBm\" to \"60dBm\""
    );
}

#[test]
fn node_out_of_range() {
    assert_eq!(message("\"last\"", "5"), "chain.toml:10:6: flows[0].to: found 5, allowed: a node number from 0 to 4");
    assert_eq!(
        message("\"first\"", "-1"),
        "chain.toml:9:8: flows[0].from: found -1, allowed: a node number, \"first\", \"last\", \"random\" or a \
         name from [wired]"
    );
    assert_eq!(
        message("\"first\"", "\"middle\""),
        "chain.toml:9:8: flows[0].from: found \"middle\", allowed: a node number from 0 to 4, \"first\", \"last\", \
         \"random\""
    );
}

#[test]
fn flow_to_itself() {
    assert_eq!(
        message("\"last\"", "0"),
        "chain.toml:10:6: flows[0].to: found 0, the sender of the flow, allowed: another node"
    );
}

#[test]
fn unknown_transport() {
    let names = resolve::transport_names().iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(" or ");
    assert_eq!(
        message("\"newreno\"", "\"newrenoo\""),
        format!(
            "chain.toml:11:13: flows[0].transport: found \"newrenoo\", allowed: {names} (did you mean \"newreno\"?)"
        )
    );
}

#[test]
fn transport_and_application_that_do_not_fit() {
    assert_eq!(
        message("transport = \"newreno\"", "transport = \"udp\"\napp = \"bulk\""),
        "chain.toml:12:7: flows[0].app: found \"bulk\" over \"udp\", allowed: \"cbr\", the application over \"udp\""
    );
    assert_eq!(
        message("transport = \"newreno\"", "transport = \"newreno\"\napp = \"ping\""),
        "chain.toml:12:7: flows[0].app: found \"ping\" over \"newreno\", allowed: \"bulk\", \"transfer\", \"stream\" \
            or \"files\", the applications over TCP"
    );
    assert_eq!(
        message("transport = \"newreno\"", "transport = \"newreno\"\napp = \"transfer\""),
        "chain.toml:8:1: flows[0].size: missing, allowed: a size from \"1B\" to \"1000GB\""
    );
}

#[test]
fn what_does_not_go_over_atp() {
    let atp = |keys: &str| format!("transport = \"atp\"\n{keys}");
    assert_eq!(
        message("transport = \"newreno\"", &atp("app = \"files\"\nmean_pause = \"1s\"")),
        "chain.toml:12:7: flows[0].app: found \"files\" over \"atp\", allowed: \"bulk\" or \"transfer\", the \
            applications over \"atp\""
    );
    assert_eq!(
        message("transport = \"newreno\"", &atp("window = 8")),
        "chain.toml:12:10: flows[0].window: found 8, allowed: no window: \"atp\" sends at a rate"
    );
    let wired = "[wired]\ngateways = [0]\nnodes = [\"host\"]\n[[flows]]\nfrom = 2\nto = \"host\"\ntransport = \"atp\"";
    let error = load(&format!("{CHAIN}\n{wired}\n")).expect_err("should be refused").to_string();
    assert!(
        error.contains(
            "flows[1].to: found \"host\", a node without a radio, over \"atp\", allowed: a node of the topology: \
                nodes behind gateways report no delays"
        ),
        "{error}"
    );
    let kept = with(&["flows[0].transport=atp", "tcp.window=8", "tcp.mss=512B", "tcp.delivery_ages=true"]).unwrap();
    let config = kept.atp_config();
    assert_eq!((kept.flows[0].traffic.window, config.mss, config.delivery_ages), (None, 512, true));
    assert_eq!(load(&kept.to_toml()).unwrap().to_toml(), kept.to_toml());
}

#[test]
fn disconnected_random_topology() {
    let random = "kind = \"random\"\nnodes = 10\nwidth = \"50km\"\nheight = \"50km\"\nredraws = 20";
    assert_eq!(
        message("kind = \"chain\"\nhops = 4", random),
        "chain.toml:5:8: topology: found a random network that is not connected after 20 draws (seed 1), allowed: a \
            network in which every node reaches every other over hops of at most 250 m (more `nodes`, a smaller area \
            or more `redraws`)"
    );
}

#[test]
fn text_that_is_not_toml_or_json() {
    let error = message("hops = 4", "hops = = 4");
    assert!(error.starts_with("chain.toml:6:8: found text that is not TOML, allowed: a file in TOML ("), "{error}");
    let error = message("hops = 4", "hops = 4\nhops = 5");
    assert!(error.starts_with("chain.toml:7:1: found text that is not TOML"), "{error}");
    let error = load_json("{\"profile\": }", "built in Python", &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("built in Python:1:13: found text that is not JSON, allowed: a scenario in JSON ("),
        "{error}"
    );
}

#[test]
fn topologies_that_cannot_be() {
    assert_eq!(
        message("kind = \"chain\"\nhops = 4", "kind = \"cross\"\nhops = 5"),
        "chain.toml:6:8: topology.hops: found 5, allowed: an even number: the lines share their middle node"
    );
    assert_eq!(
        message("kind = \"chain\"\nhops = 4", "kind = \"parallel-chains\"\nchains = 3\nhops = [4, 5]"),
        "chain.toml:7:8: topology.hops: found [4, 5], allowed: one number, or as many as `chains`: 3"
    );
    assert_eq!(
        message("kind = \"chain\"\nhops = 4", "kind = \"parallel-chains\"\nhops = 0"),
        "chain.toml:6:8: topology.hops: found 0, allowed: a whole number from 1 to 256, or a list of such numbers"
    );
    assert_eq!(
        message("hops = 4", "hops = [4, 5]"),
        "chain.toml:6:8: topology.hops: found a list of 2, allowed: a whole number from 1 to 256"
    );
    assert_eq!(
        message("\"chain\"", "\"chian\""),
        "chain.toml:5:8: topology.kind: found \"chian\", allowed: \"chain\" or \"parallel-chains\" or \"cross\" or \
         \"grid\" or \"random\" or \"positions\" or \"coordinates\" (did you mean \"chain\"?)"
    );
    let places = "kind = \"positions\"\npositions = [[\"0m\", \"0m\"], [200, \"0m\"]]";
    assert_eq!(
        message("kind = \"chain\"\nhops = 4", places),
        "chain.toml:6:13: topology.positions: found a list of 2, allowed: a list of at least 2 positions such as \
         [\"200m\", \"0m\"], each from \"-1000km\" to \"1000km\" (one coordinate is 200: the unit is missing)"
    );
}

#[test]
fn values_that_contradict_each_other() {
    assert_eq!(
        message("\"100s\"", "\"100s\"\nwarmup = \"100s\""),
        "chain.toml:3:10: warmup: found \"100s\", allowed: less than `duration`, \"100s\""
    );
    assert_eq!(
        message("[topology]", "mac.cw_min = 2000\n[topology]"),
        "chain.toml:4:14: mac.cw_min: found 2000, allowed: at most `cw_max`, 1023"
    );
    let edca = |keys: &str| message("[topology]", &format!("mac.edca = true\n{keys}\n[topology]"));
    assert_eq!(
        edca("edca.vo_cw_min = 31"),
        "chain.toml:5:18: edca.vo_cw_min: found 31, allowed: at most `vo_cw_max`, 15"
    );
    assert_eq!(
        edca("edca.vi_aifsn = 1"),
        "chain.toml:5:17: edca.vi_aifsn: found 1, allowed: a whole number from 2 to 15"
    );
    assert_eq!(
        edca("link.red = true"),
        "chain.toml:5:12: link.red: found true, allowed: false with `mac.edca`: it works on one queue, but there are \
            four"
    );
    assert!(edca("radio = { phy = \"ht\", model = \"sinr\" }\nnodes = [{ node = 1, phy = \"ofdm\" }]").ends_with(
        "nodes.phy: found an older `phy`, allowed: no such station with `mac.edca`: stations of 802.11a and g have no \
                access categories"
    ));
    assert_eq!(
        edca("c3tcp.enabled = true"),
        "chain.toml:5:17: c3tcp.enabled: found true, allowed: false with `mac.edca`: its options follow a MAC header \
            without QoS Control"
    );
    assert_eq!(
        message("[topology]", "radio.basic_rate = \"11Mbps\"\n[topology]"),
        "chain.toml:4:20: radio.basic_rate: found \"11Mbps\", allowed: at most `rate`, \"2Mbps\""
    );
    assert_eq!(
        message("[topology]", "radio.phy = \"ofdm\"\nradio.rate = \"11Mbps\"\n[topology]"),
        "chain.toml:5:14: radio.rate: found \"11Mbps\", allowed: \"6Mbps\" or \"9Mbps\" or \"12Mbps\" or \"18Mbps\" or \
         \"24Mbps\" or \"36Mbps\" or \"48Mbps\" or \"54Mbps\" with `phy` \"ofdm\""
    );
    let ht = |keys: &str| message("[topology]", &format!("radio.phy = \"ht\"\n{keys}\n[topology]"));
    assert_eq!(
        ht("radio.mcs = 9"),
        "chain.toml:5:13: radio.mcs: found 9, allowed: 0, 1, 2, 3, 4, 5, 6, 7 with `streams` 1 and `width` \"20MHz\" \
            with `phy` \"ht\""
    );
    assert_eq!(
        ht("radio.width = \"80MHz\""),
        "chain.toml:5:15: radio.width: found \"80MHz\", allowed: \"20MHz\" or \"40MHz\" with `phy` \"ht\""
    );
    assert_eq!(
        ht("radio.guard_interval = \"1600ns\""),
        "chain.toml:5:24: radio.guard_interval: found \"1600ns\", allowed: \"400ns\" or \"800ns\" with `phy` \"ht\""
    );
    assert_eq!(
        ht("radio.rate = \"54Mbps\""),
        "chain.toml:5:14: radio.rate: found \"54Mbps\", allowed: no value, or \"65Mbps\" as given by `mcs`, with `phy` \
            \"ht\""
    );
    assert_eq!(
        ht("mac.rate_control = \"arf\""),
        "chain.toml:5:20: mac.rate_control: found \"arf\", allowed: \"fixed\" or \"minstrel\" from 802.11n on"
    );
    assert_eq!(
        ht("mac.legacy_rate = \"11Mbps\""),
        "chain.toml:5:19: mac.legacy_rate: found \"11Mbps\", allowed: \"6Mbps\" or \"9Mbps\" or \"12Mbps\" or \
            \"18Mbps\" or \
         \"24Mbps\" or \"36Mbps\" or \"48Mbps\" or \"54Mbps\""
    );
    let older = |keys: &str| {
        message("[topology]", &format!("{keys}\nnodes = [{{ node = 1, phy = \"erp-ofdm\" }}]\n[topology]"))
    };
    let allowed = "chain.toml:6:28: nodes[0].phy: found \"erp-ofdm\", allowed:";
    assert_eq!(
        older("radio.phy = \"ht\"\nradio.model = \"sinr\""),
        format!("{allowed} \"ht\", or \"ofdm\" with `radio.model` \"sinr\"")
    );
    assert_eq!(
        older("radio.phy = \"ht-2.4ghz\"\nradio.model = \"threshold\""),
        format!("{allowed} \"ht-2.4ghz\", or \"erp-ofdm\" with `radio.model` \"sinr\"")
    );
    assert_eq!(
        older("radio.phy = \"ofdm\"\nradio.model = \"sinr\""),
        format!("{allowed} \"ofdm\", that of `radio.phy`, unless it is of 802.11n or later")
    );
    assert_eq!(
        ht("c3tcp.enabled = true"),
        "chain.toml:5:17: c3tcp.enabled: found true, allowed: false with a `radio.phy` that aggregates frames"
    );
    assert_eq!(
        message("[topology]", "radio.mcs = 3\n[topology]"),
        "chain.toml:4:13: radio.mcs: found 3, allowed: only with `phy` \"ht\" or \"ht-2.4ghz\" or \"vht\" or \"he\" \
            or \"he-2.4ghz\""
    );
    assert_eq!(
        message("[topology]", "radio.cs_threshold = \"-20dBm\"\n[topology]"),
        "chain.toml:4:22: radio.cs_threshold: found \"-20dBm\", allowed: at most `rx_threshold`, \"3.652e-10W\""
    );
    assert_eq!(
        message("[topology]", "tcp.rto_min = \"70s\"\n[topology]"),
        "chain.toml:4:15: tcp.rto_min: found \"70s\", allowed: at most `rto_max`, \"60s\""
    );
    assert_eq!(
        message("\"newreno\"", "\"newreno\"\nstart = \"100s\""),
        "chain.toml:12:9: flows[0].start: found \"100s\", allowed: a time before the end of the run at 100s"
    );
    assert_eq!(
        message("\"newreno\"", "\"newreno\"\nstart = \"5s\"\nstop = \"5s\""),
        "chain.toml:13:8: flows[0].stop: found \"5s\", allowed: a time after the start at 5s"
    );
    let twice = "\"newreno\"\n[[flows]]\nname = \"flow-1\"\nfrom = 1\nto = 2\ntransport = \"udp\"\nrate = \"1kbps\"";
    assert_eq!(
        message("\"newreno\"", twice),
        "chain.toml:13:8: flows[1].name: found \"flow-1\", which is already the name of a flow of flows[0], allowed: \
            a unique name"
    );
}

#[test]
fn traffic_that_the_topology_cannot_have() {
    let traffic = |rest: &str| {
        let (head, _) = CHAIN.split_once("[[flows]]").unwrap();
        load(&format!("{head}[traffic]\ntransport = \"newreno\"\n{rest}")).unwrap_err().to_string()
    };
    assert_eq!(
        traffic("pairs = 2"),
        "chain.toml:10:9: traffic.pairs: found 2, allowed: a whole number from 1 to 1, the number of natural pairs of \
            the topology"
    );
    let random = "profile = \"ns2\"\nduration = \"9s\"\ntraffic.transport = \"newreno\"\n[topology]\n\
                  kind = \"random\"\nnodes = 9\nwidth = \"300m\"\nheight = \"300m\"";
    assert_eq!(
        load(random).unwrap_err().to_string(),
        "chain.toml:3:1: traffic.pairs: missing, allowed: a whole number from 1 to 72, the number of pairs of nodes"
    );
    let cross = "profile = \"ns2\"\nduration = \"9s\"\ntopology = { kind = \"cross\", hops = 4 }\n[traffic]\n\
                 transport = \"newreno\"\nstagger = \"8s\"";
    assert_eq!(
        load(cross).unwrap_err().to_string(),
        "chain.toml:6:11: traffic.stagger: found \"8s\", allowed: a shorter time, so that flow 2 starts before the \
            end of \
         the run at 9s"
    );
}

#[test]
fn all_problems_are_found_at_once_in_the_order_of_the_file() {
    let text = CHAIN
        .replace("\"100s\"", "\"100m\"")
        .replace("hops = 4", "hops = 0\ncolour = 1")
        .replace("\"newreno\"", "\"tahoee\"");
    let problems = load(&text).unwrap_err().problems;
    let keys: Vec<_> = problems.iter().map(|p| (p.line, p.key.as_str())).collect();
    assert_eq!(
        keys,
        [
            (Some(2), "duration"),
            (Some(6), "topology.hops"),
            (Some(7), "topology.colour"),
            (Some(12), "flows[0].transport"),
        ]
    );
}

#[test]
fn overrides_are_checked_like_the_file() {
    let error = |text: &str| with(&[text]).unwrap_err().to_string();
    assert_eq!(error("topology.hops=0"), "--set: topology.hops: found 0, allowed: a whole number from 1 to 256");
    assert!(error("flows[0].transport=newren").ends_with("(did you mean \"newreno\"?)"));
    assert!(error("flows[0].transport=newren").starts_with("--set: flows[0].transport: found \"newren\", allowed: "));
    assert_eq!(error("flows[1].transport=udp"), "--set: flows[1].transport: found [1], allowed: a number from 0 to 0");
    assert_eq!(error("hops"), "--set: found \"hops\", allowed: key=value, such as tcp.window=8");
    assert_eq!(error("flows[x].to=1"), "--set: found \"flows[x].to=1\", allowed: key=value, such as tcp.window=8");
    assert_eq!(
        error("duration.max=1"),
        "--set: duration.max: found \"max\" inside \"100s\", allowed: a key of a table"
    );
    assert_eq!(error("topology[0]=1"), "--set: topology[0]: found [0] of a table, allowed: a number in a list");
    assert!(error("mac.cw_mim=7").contains("mac.cw_mim: found an unknown key"));
    assert!(error("flows[*].window=0").starts_with("--set: flows[0].window: found 0, allowed: a whole number from 1"));
}

/// A scenario with [[flows]] and a key of [traffic] would have one more flow, and the result would be that of both.
#[test]
fn an_override_adds_no_traffic_beside_flows() {
    for text in ["traffic.transport=reno", "traffic={transport=\"reno\"}"] {
        let error = with(&[text]).unwrap_err().to_string();
        assert!(error.contains("found a key of [traffic] in a scenario that has [[flows]] instead"), "{error}");
        assert!(
            error.ends_with("(transport=NAME is the transport of every TCP flow, flows[*].KEY a key of every flow)")
        );
    }
}

#[test]
fn forms_for_several_keys_need_one() {
    let udp = CHAIN.replace("\"newreno\"", "\"udp\"\nrate = \"64kbps\"");
    let error = |text: &str, set: &str| load_toml(text, "", &[set.to_owned()]).unwrap_err().to_string();
    let said = "--set: transport: found a scenario without a TCP flow, allowed: one with a TCP flow";
    assert_eq!(error(&udp, "transport=reno"), said);
    let pairs = CHAIN.split("[[flows]]").next().unwrap().to_owned() + "[traffic]\ntransport = \"newreno\"\n";
    let said = "--set: flows[*].window: found a scenario without a [[flows]], allowed: one with a [[flows]]";
    assert_eq!(error(&pairs, "flows[*].window=2"), said);
}

#[test]
fn a_scenario_from_a_program_has_keys_but_no_lines() {
    let json = r#"{"profile": "ns2", "duration": "10s", "topology": {"kind": "chain", "hops": null},
                   "flows": [{"from": 0, "to": 1, "transport": "newreno"}]}"#;
    assert_eq!(
        load_json(json, "built in Python", &[]).unwrap_err().to_string(),
        "built in Python: topology.hops: found null, allowed: a whole number from 1 to 256"
    );
}

#[test]
fn ns2_files() {
    let good = "rate 2\nnode 0 0\nnode 200 0\nnode 400 0\nflow 0 2 2\n";
    let error = |line: &str, with: &str| {
        assert!(good.contains(line), "{line}");
        load_ns2(&good.replacen(line, with, 1), "c.txt", None, None, &[]).unwrap_err().to_string()
    };
    assert_eq!(
        error("flow 0 2 2", "flwo 0 2 2"),
        "c.txt:5:1: flwo: found an unknown statement, allowed: rate, window, node, movement, flow, udp (did you mean \
            \"flow\"?)\n\
         c.txt: flow: missing, allowed: at least one `flow` or `udp` line"
    );
    assert_eq!(error("node 400 0", "node 400"), "c.txt:4:1: node: found 1 values, allowed: node X Y (metres)");
    assert_eq!(
        error("node 400 0", "node 400 x"),
        "c.txt:4:10: node: found \"x\", allowed: a number: node X Y (metres)"
    );
    assert_eq!(
        error("flow 0 2 2", "flow 0 7 2"),
        "c.txt:5:8: flows[0].to: found 7, allowed: a node number from 0 to 2"
    );
    assert_eq!(error("rate 2\n", ""), "c.txt: rate: missing, allowed: rate R (Mbit/s)");
    assert_eq!(
        error("rate 2", "rate -2"),
        "c.txt:1:6: radio.rate: found \"-2Mbps\", allowed: a rate from \"100kbps\" to \"10Gbps\""
    );
    let bare_seconds = load_ns2(good, "c.txt", None, Some("500"), &[]).unwrap();
    assert_eq!(bare_seconds.duration, Dur::from_secs(500));
    let transport = load_ns2(good, "c.txt", Some("vegass"), None, &[]).unwrap_err().to_string();
    assert!(transport.starts_with("--transport: flows[0].transport: found \"vegass\""), "{transport}");
    assert_eq!(
        load_ns2(good, "c.txt", None, Some("500 parsec"), &[]).unwrap_err().to_string(),
        "--duration: duration: found \"500 parsec\", allowed: a time from \"1ms\" to \"1000000s\" (units: ns, us, ms, \
            s, min, h)"
    );
}

#[test]
fn keys_of_another_radio() {
    let radio = |lines: &str| message("[topology]", &format!("[radio]\n{lines}\n[topology]"));
    let error = radio("model = \"sinr\"\nrx_threshold = \"-64dBm\"");
    assert!(
        error.starts_with(
            "chain.toml:6:1: radio.rx_threshold: found a key that does not belong to \"sinr\", allowed: model, "
        ) && error.ends_with(" (it belongs to threshold)"),
        "{error}"
    );
    let error = radio("fading = \"rayleigh\"");
    assert!(error.ends_with(" (it belongs to sinr)"), "{error}");
    assert_eq!(
        radio("model = \"sinr\"\nexponent = 2.5\npath_loss = \"two-ray\""),
        "chain.toml:6:12: radio.exponent: found \"2.5\", allowed: only with `path_loss` \"log-distance\""
    );
    assert_eq!(
        radio("model = \"sinr\"\ndoppler = \"2Hz\""),
        "chain.toml:6:11: radio.doppler: found \"2Hz\", allowed: only with `fading` \"rayleigh\" or \"rician\""
    );
    assert_eq!(
        radio("model = \"sinr\"\nrate = \"3Mbps\""),
        "chain.toml:6:8: radio.rate: found \"3Mbps\", allowed: \"1Mbps\" or \"2Mbps\" or \"5.5Mbps\" or \"11Mbps\" \
            with \
         `phy` \"dsss\""
    );
    assert_eq!(
        radio("model = \"sinr\"\nplcp = \"100us\""),
        "chain.toml:6:8: radio.plcp: found \"100us\", allowed: \"192us\" or \"96us\" with `model` \"sinr\" and `phy` \
            \"dsss\""
    );
    assert_eq!(
        message("[topology]", "radio.rate = \"3Mbps\"\nmac.rate_control = \"arf\"\n[topology]"),
        "chain.toml:5:20: mac.rate_control: found \"arf\", allowed: \"fixed\" with a `radio.rate` that IEEE 802.11 \
            does not \
         have"
    );
}
