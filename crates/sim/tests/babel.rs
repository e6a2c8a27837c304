//! Babel in whole networks, and how tshark decodes its bytes.

use crate::common::tshark;
use fourhop_proto::route::Prefix;
use fourhop_proto::wire::{
    BabelMessage, BabelTlv, BabelUpdate, Body, Ipv4Packet, PacketMeta, RouterId, RoutingMessage, encode,
};
use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};
use fourhop_units::NodeId;
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use std::fs::File;
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn result(text: &str) -> RunResult {
    let scenario = load_toml(&format!("profile = 'standard'\n{text}"), "babel.toml", &[]).unwrap();
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    for (layer, balance) in &result.conservation {
        assert_eq!(balance.taken, balance.passed + balance.dropped + balance.held, "{layer}");
    }
    result
}

/// Nodes in a row; each hears its neighbours. Routes exist before the first packet, and none is ever lost.
#[test]
fn a_chain_is_ready_before_the_traffic_begins() {
    for (metric, hops) in [("etx", 4), ("hops", 4)] {
        let result = result(&format!(
            "duration = '60s'\nwarmup = '0s'\n[topology]\nkind = 'chain'\nhops = {hops}\n\
             [routing]\nprotocol = 'babel'\nmetric = '{metric}'\n\
             [[flows]]\nfrom = 0\nto = {hops}\ntransport = 'ping'\ninterval = '500ms'\n\
             payload = '56B'\nstart = '30s'\n"
        ));
        let (flow, babel) = (&result.flows[0], &result.counters["babel"]);
        let answered = flow.delivered_bytes / 56;
        assert!(flow.sent >= 59 && answered >= flow.sent - 1, "{metric}: {} of {}", answered, flow.sent);
        assert!(!result.drops.get("network").is_some_and(|drops| drops.contains_key("no-route")), "{metric}");
        assert_eq!((flow.route_changes, babel["routes_lost"], babel["links_up"]), (0, 0, 8), "{metric}: {babel:?}");
        assert_eq!(babel["routes_found"], 20, "each of five nodes knows four others");
        assert!(result.counters["route"].values().all(|&count| count == 0), "AODV is silent");
    }
}

/// Before there are routes, packets are dropped at their source: nothing is buffered.
#[test]
fn packets_without_a_route_are_dropped() {
    let result = result(
        "duration = '20s'\nwarmup = '0s'\n[topology]\nkind = 'chain'\nhops = 2\n[routing]\nprotocol = 'babel'\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'udp'\nrate = '40kbps'\npayload = '500B'\nstart = '0s'\n",
    );
    assert!(result.drops["network"]["no-route"] > 10, "{:?}", result.drops);
    assert!(result.flows[0].delivered_bytes > 0, "then they arrive");
}

/// A relay walks away while another is available.
#[test]
fn another_relay_takes_over() {
    let result = result(
        "duration = '180s'\nwarmup = '0s'\nbatches = 18\n[topology]\nkind = 'positions'\n\
         positions = [['0m', '0m'], ['200m', '0m'], ['400m', '0m'], ['200m', '-140m']]\n\
         [mobility]\nmodel = 'waypoints'\nwaypoints = [[1, '60s', '200m', '0m'], [1, '20m/s', '200m', '2000m']]\n\
         [routing]\nprotocol = 'babel'\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'udp'\nrate = '80kbps'\npayload = '500B'\nstart = '0s'\n",
    );
    let shares: Vec<f64> = result.flows[0].batch_goodput_bps.iter().map(|bps| bps / 80e3).collect();
    assert!(shares[3..6].iter().all(|&share| share > 0.9), "{shares:?}");
    // ETX sees the link fade by missing Hellos, after some intervals of 4 s.
    assert!(shares[10..].iter().all(|&share| share > 0.9), "{shares:?}");
    assert!(result.counters["babel"]["links_down"] >= 2, "{:?}", result.counters["babel"]);
}

/// A host behind a gateway is a network that the gateway announces.
#[test]
fn a_host_behind_a_gateway_is_reached_and_answers() {
    let result = result(
        "duration = '60s'\nwarmup = '30s'\n[topology]\nkind = 'chain'\nhops = 3\n[wired]\ngateways = ['last']\n\
         nodes = ['server']\n[routing]\nprotocol = 'babel'\n\
         [[flows]]\nfrom = 0\nto = 'server'\ntransport = 'newreno'\nstart = '30s'\n\
         [[flows]]\nfrom = 'server'\nto = 1\ntransport = 'newreno'\nstart = '30s'\n",
    );
    assert!(result.flows.iter().all(|flow| flow.goodput_bps > 50e3), "{:?}", result.flows);
}

/// TCP-AP needs the hops to its destination, which RFC 8966 does not provide but our sub-TLV does.
#[test]
fn pacing_by_hops_works_over_babel() {
    let goodput = |transport: &str| {
        let text = format!(
            "duration = '90s'\nwarmup = '40s'\n[topology]\nkind = 'chain'\nhops = 6\n[routing]\nprotocol = 'babel'\n\
             [[flows]]\nfrom = 0\nto = 6\ntransport = '{transport}'\nstart = '30s'\n"
        );
        result(&text).flows[0].goodput_bps
    };
    let [paced, plain] = ["tcp-ap", "newreno"].map(goodput);
    assert!(paced > 100e3 && plain > 100e3, "{paced} {plain}");
}

/// Babel has no ETT metric (RFC 8966 appendix A.2).
#[test]
fn keys_that_make_no_sense_are_refused() {
    let text = "profile = 'standard'\nduration = '9s'\n[topology]\nkind = 'chain'\nhops = 1\n\
                [routing]\nprotocol = 'babel'\nmetric = 'ett'\n[[flows]]\nfrom = 0\nto = 1\ntransport = 'ping'\n";
    let error = load_toml(text, "babel.toml", &[]).unwrap_err().to_string();
    for part in ["routing.metric: found \"ett\"", "\"etx\" or \"hops\" for \"babel\""] {
        assert!(error.contains(part), "{error}");
    }
}

fn ip(node: u32) -> Ipv4Addr {
    NodeId(node).ipv4()
}

/// Every TLV, and tshark's expected output.
fn messages() -> Vec<(Vec<BabelTlv>, &'static str)> {
    let own = BabelUpdate {
        prefix: Prefix::host(ip(2)),
        router_id: RouterId::of_address(ip(2)).unwrap(),
        next_hop: None,
        interval: 1600,
        seqno: 7,
        metric: 0,
        hops: Some(0),
    };
    let other = BabelUpdate {
        prefix: Prefix::new(Ipv4Addr::new(10, 128, 0, 0), 9).unwrap(),
        router_id: RouterId::new([2, 0, 0, 0xff, 0xfe, 0, 0, 8]).unwrap(),
        next_hop: Some(ip(4)),
        metric: 769,
        hops: None,
        ..own
    };
    let hello = BabelTlv::Hello { unicast: false, seqno: 77, interval: 400 };
    let ihu = BabelTlv::Ihu { address: Some(ip(1).into()), rxcost: 300, interval: 1200 };
    let asked = BabelTlv::SeqnoRequest { prefix: own.prefix, seqno: 8, hop_count: 64, router_id: own.router_id };
    let prefix = Some(own.prefix);
    // Types; sequence numbers; metrics; received costs; prefix lengths.
    vec![
        (vec![hello, ihu], "4,5|0x004d||0x012c|"),
        (vec![BabelTlv::Update(own)], "8|0x0007|0||32"),
        (vec![BabelTlv::Update(other), BabelTlv::Update(own)], "6,7,8,8|0x0007,0x0007|769,0||9,32"),
        (vec![BabelTlv::Retraction { prefix, interval: 1600 }], "8|0x0000|65535||32"),
        (vec![BabelTlv::RouteRequest { prefix: None }, BabelTlv::RouteRequest { prefix }], "9,9||||0,32"),
        (vec![asked], "10|0x0008|||32"),
        (vec![BabelTlv::AckRequest { opaque: 9, interval: 100 }, BabelTlv::Ack { opaque: 9 }], "2,3||||"),
    ]
}

#[test]
fn tshark_reads_every_tlv_as_it_was_meant() {
    if Command::new("tshark").arg("--version").output().is_err() {
        // Not with the macros, whose output is captured if the test passes.
        writeln!(std::io::stderr(), "SKIPPED: tshark is not installed, Babel was not checked with it").unwrap();
        return;
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("babel.pcap");
    let header = PcapHeader { datalink: DataLink::RAW, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(File::create(&file).unwrap(), header).unwrap();
    for (second, (tlvs, _)) in messages().into_iter().enumerate() {
        let body = Body::Routing(RoutingMessage::Babel(BabelMessage { tlvs }));
        let (src, dst) = (ip(2), BabelMessage::GROUP);
        let packet = Ipv4Packet { src, dst, ttl: 1, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        let mut bytes = Vec::new();
        encode::packet(&packet, &mut bytes);
        let captured = PcapPacket::new(Duration::from_secs(second as u64), bytes.len() as u32, &bytes);
        writer.write_packet(&captured).unwrap();
    }
    drop(writer);
    let read = |arguments: &[&str]| tshark(&file, arguments);
    let complaints = read(&[
        "-Y",
        "!babel || _ws.malformed || _ws.expert.severity == error || _ws.expert.severity == warning || \
         ip.checksum.status == 0 || udp.checksum.status == 0",
    ]);
    assert_eq!(complaints, "");
    let fields = ["babel.message.type", "babel.message.seqno", "babel.message.metric", "babel.message.rxcost"];
    let columns: Vec<&str> = fields.iter().chain(&["babel.message.plen"]).flat_map(|&field| ["-e", field]).collect();
    let seen = read(&[&["-T", "fields", "-E", "separator=|"], &columns[..]].concat());
    let expected: Vec<_> = messages().into_iter().map(|(_, expected)| expected).collect();
    assert_eq!(seen.lines().collect::<Vec<_>>(), expected);
}
