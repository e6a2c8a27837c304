//! Routing messages on the wire: how tshark decodes the bytes, and how strongly nodes hear each other's messages.

use crate::common::tshark;
use fourhop_proto::wire::{
    AodvMessage, Body, Ipv4Packet, PacketMeta, PathCost, Rerr, Rrep, Rreq, UnreachableDestination, decode, encode,
};
use fourhop_sim::batch::Control;
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

fn ip(node: u32) -> Ipv4Addr {
    NodeId(node).ipv4()
}

/// Each message of RFC 3561 section 5 with all its flags, its destination address, and tshark's expected output: type,
/// flags, hop count, RREQ ID, destination, its number, originator, its number, lifetime, unreachable ones.
fn messages() -> Vec<(AodvMessage, Ipv4Addr, &'static str)> {
    let rreq = Rreq {
        hop_count: 3,
        rreq_id: 77,
        destination: ip(8),
        destination_seqno: Some(4_000_000_000),
        originator: ip(0),
        originator_seqno: 6,
        destination_only: true,
        gratuitous: true,
        cost: None,
    };
    let unknown = Rreq { destination_seqno: None, destination_only: false, gratuitous: false, ..rreq };
    let hello = Rrep {
        hop_count: 0,
        destination: ip(2),
        destination_seqno: 9,
        originator: ip(2),
        lifetime_ms: 2_000,
        ack_required: false,
        cost: None,
    };
    let rrep = Rrep { hop_count: 4, destination: ip(8), originator: ip(0), ack_required: true, ..hello };
    let lost = |node, seqno| UnreachableDestination { addr: ip(node), seqno };
    let rerr = Rerr { no_delete: true, unreachable: vec![lost(8, 10), lost(7, 11)] };
    let all = Ipv4Packet::BROADCAST;
    let cost = Some(PathCost { metric: 1, sum: 2_500 });
    vec![
        (AodvMessage::Rreq(Rreq { cost, ..rreq }), all, "1|0x3000|3|77|10.0.0.9|4000000000|10.0.0.1|6||"),
        (AodvMessage::Rrep(Rrep { cost, ..rrep }), ip(1), "2|0x4000|4||10.0.0.9|9|10.0.0.1||2000|"),
        (AodvMessage::Rreq(rreq), all, "1|0x3000|3|77|10.0.0.9|4000000000|10.0.0.1|6||"),
        (AodvMessage::Rreq(unknown), all, "1|0x0800|3|77|10.0.0.9|0|10.0.0.1|6||"),
        (AodvMessage::Rrep(hello), all, "2|0x0000|0||10.0.0.3|9|10.0.0.3||2000|"),
        (AodvMessage::Rrep(rrep), ip(1), "2|0x4000|4||10.0.0.9|9|10.0.0.1||2000|"),
        (AodvMessage::Rerr(rerr), all, "3|0x8000||||10,11||||10.0.0.9,10.0.0.8"),
        (AodvMessage::RrepAck, ip(1), "4|||||||||"),
    ]
}

#[test]
fn tshark_reads_every_message_as_it_was_meant() {
    if Command::new("tshark").arg("--version").output().is_err() {
        // Not with the macros, whose output is captured if the test passes.
        writeln!(std::io::stderr(), "SKIPPED: tshark is not installed, AODV messages were not checked with it")
            .unwrap();
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("aodv.pcap");
    let header = PcapHeader { datalink: DataLink::RAW, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(File::create(&file).unwrap(), header).unwrap();
    for (second, (message, dst, _)) in messages().into_iter().enumerate() {
        let body = Body::Routing(message.into());
        let packet = Ipv4Packet { src: ip(2), dst, ttl: 1, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        let mut bytes = Vec::new();
        encode::packet(&packet, &mut bytes);
        let captured = PcapPacket::new(Duration::from_secs(second as u64), bytes.len() as u32, &bytes);
        writer.write_packet(&captured).unwrap();
    }
    drop(writer);
    let fields = [
        "aodv.type",
        "aodv.flags",
        "aodv.hopcount",
        "aodv.rreq_id",
        "aodv.dest_ip",
        "aodv.dest_seqno",
        "aodv.orig_ip",
        "aodv.orig_seqno",
        "aodv.lifetime",
        "aodv.unreach_dest_ip",
    ];
    let read = |arguments: &[&str]| tshark(&file, arguments);
    let complaints = read(&[
        "-Y",
        "_ws.malformed || _ws.expert.severity == error || ip.checksum.status == 0 || udp.checksum.status == 0",
    ]);
    assert_eq!(complaints, "");
    let columns: Vec<&str> = fields.iter().flat_map(|&field| ["-e", field]).collect();
    let seen = read(&[&["-T", "fields", "-E", "separator=|"], &columns[..]].concat());
    let expected: Vec<_> = messages().into_iter().map(|(.., expected)| expected).collect();
    // Some versions of tshark print flags in decimal.
    let hex = |line: &str| {
        let mut parts: Vec<_> = line.split('|').map(String::from).collect();
        if let Ok(flags) = parts[1].parse::<u16>() {
            parts[1] = format!("0x{flags:04x}");
        }
        parts.join("|")
    };
    assert_eq!(seen.lines().map(hex).collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_encoded_decodes_to_itself() {
    for (message, ..) in messages() {
        let mut bytes = Vec::new();
        encode::aodv(&message, &mut bytes);
        assert_eq!(decode::aodv(&bytes), Ok(message));
    }
}

/// Nodes 200 m apart hear each other at -60.5 dBm (two-ray ground); those 400 m apart, beyond the reception range of
/// 250 m, do not.
fn chain(threshold: &str) -> u64 {
    let text = format!(
        "profile = 'standard'\nduration = '20s'\n[topology]\nkind = 'chain'\nhops = 2\n\
         [routing]\nprotocol = 'ssa-aodv'\nsignal_threshold = '{threshold}'\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'ping'\nstart = '5s'\n"
    );
    let scenario = load_toml(&text, "ssa.toml", &[]).unwrap();
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    assert!(result.counters["route"]["hellos_received"] + result.counters["route"]["weak_ignored"] >= 70);
    result.flows[0].delivered_bytes
}

#[test]
fn the_strength_of_a_frame_reaches_routing() {
    assert!(chain("-61dBm") > 0, "everyone is heard strongly enough");
    assert_eq!(chain("-60dBm"), 0, "nobody is");
}
