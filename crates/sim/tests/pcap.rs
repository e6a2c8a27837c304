//! Capture files: every byte of the headers that this project writes, and how tshark decodes the whole.

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::trace::CaptureForm;
use fourhop_sim::{RunOptions, run};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, TsResolution};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PROFILES: [&str; 2] = ["ns2", "standard"];

/// Traffic of all kinds: TCP with handshake and close, UDP, ping, AODV, ARP, with and without RTS.
fn capture(profile: &str, test: &str) -> (Vec<PathBuf>, RunResult) {
    let (folder, result) = capture_as(CaptureForm::default(), profile, test);
    ((0..3).map(|node| folder.join(format!("node-{node}.pcap"))).collect(), result)
}

fn capture_as(capture: CaptureForm, profile: &str, test: &str) -> (PathBuf, RunResult) {
    let text = format!(
        "profile = '{profile}'\nduration = '8s'\n[topology]\nkind = 'chain'\nhops = 2\n[mac]\nrts_threshold = '100B'\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'newreno'\n\
         [[flows]]\nfrom = 2\nto = 0\ntransport = 'newreno'\napp = 'transfer'\nsize = '20kB'\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'udp'\nrate = '50kbps'\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'ping'\n"
    );
    let scenario = load_toml(&text, "captured.toml", &[]).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pcap").join(format!("{test}-{profile}"));
    let options = RunOptions { pcap_dir: Some(folder.clone()), capture, ..RunOptions::default() };
    let result = run(&scenario, 1, &options, &Control::new()).unwrap();
    (folder, result)
}

struct Record {
    at: Duration,
    signal_dbm: Option<i8>,
    rate_500_kbps: u8,
    frame: Vec<u8>,
}

impl Record {
    fn sent(&self) -> bool {
        self.signal_dbm.is_none()
    }

    fn is_data(&self) -> bool {
        self.frame[0] == 0x08
    }
}

/// Reads a file and checks its radiotap headers.
fn records(path: &Path) -> Vec<Record> {
    let mut reader = PcapReader::new(File::open(path).unwrap()).unwrap();
    let header = reader.header();
    assert_eq!(header.datalink, DataLink::IEEE802_11_RADIOTAP);
    assert_eq!(header.ts_resolution, TsResolution::NanoSecond);
    let mut records = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        let bytes = &packet.data;
        assert_eq!(packet.orig_len as usize, bytes.len());
        // Version 0, length, fields present: flags, rate, channel and, for received frames, the signal.
        let len = usize::from(u16::from_le_bytes([bytes[2], bytes[3]]));
        let present = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
        let signal = (present & (1 << 5) != 0).then(|| bytes[14] as i8);
        assert_eq!((bytes[0], bytes[1], len), (0, 0, if signal.is_some() { 15 } else { 14 }));
        assert_eq!(present & !(1 << 5), 0b1110);
        assert_eq!(bytes[8], 0, "no frame check sequence follows, the preamble is long");
        assert_eq!(u16::from_le_bytes([bytes[10], bytes[11]]), 914, "MHz");
        assert_eq!(u16::from_le_bytes([bytes[12], bytes[13]]), 0x0020, "CCK");
        records.push(Record {
            at: packet.timestamp,
            signal_dbm: signal,
            rate_500_kbps: bytes[9],
            frame: bytes[len..].to_vec(),
        });
    }
    assert!(records.is_sorted_by_key(|record| record.at));
    records
}

#[test]
fn every_frame_a_node_sent_and_received_is_there() {
    for profile in PROFILES {
        let (files, result) = capture(profile, "bytes");
        let captures: Vec<_> = files.iter().map(|file| records(file)).collect();
        let sent: usize = captures.iter().flatten().filter(|record| record.sent()).count();
        assert_eq!(sent as u64, result.frames);
        let received = captures.iter().flatten().filter(|record| !record.sent()).count();
        assert_eq!(received as u64, result.conservation["radio"].passed);
        assert!(captures.iter().all(|records| records.last().unwrap().at > Duration::from_secs(7)));

        for (node, records) in captures.iter().enumerate() {
            let mut kinds = BTreeSet::new();
            for record in records {
                let frame = &record.frame;
                kinds.insert(frame[0]);
                let transmitter = |mac: &[u8]| assert_eq!(mac[5] == node as u8, record.sent());
                match frame[0] {
                    0xb4 => {
                        assert_eq!(frame.len(), 16, "RTS");
                        transmitter(&frame[10..16]);
                    }
                    0xc4 | 0xd4 => assert_eq!(frame.len(), 10, "CTS and ACK"),
                    0x08 => {
                        transmitter(&frame[10..16]);
                        assert_eq!(frame[24..30], [0xaa, 0xaa, 3, 0, 0, 0], "LLC and SNAP");
                        match frame[30..32] {
                            [0x08, 0x00] => {
                                assert_eq!(usize::from(u16::from_be_bytes([frame[34], frame[35]])), frame.len() - 32);
                            }
                            [0x08, 0x06] => assert_eq!(frame.len(), 32 + 28),
                            _ => panic!("neither IPv4 nor ARP"),
                        }
                    }
                    other => panic!("frame control {other:02x}"),
                }
                // Control frames and broadcasts at 1 Mbit/s, other frames at 2.
                let basic = !record.is_data() || frame[4] == 0xff;
                assert_eq!(record.rate_500_kbps, if basic { 2 } else { 4 });
                // 200 m at 24.5 dBm: -60.5 dBm received.
                assert!(record.signal_dbm.is_none_or(|dbm| (-61..=-60).contains(&dbm)), "{:?}", record.signal_dbm);
            }
            assert!(kinds.is_superset(&BTreeSet::from([0x08, 0xc4, 0xd4])), "{kinds:?}");
        }
    }
}

#[test]
fn a_frame_received_is_the_frame_sent() {
    let (files, _) = capture("ns2", "copies");
    let captures: Vec<_> = files.iter().map(|file| records(file)).collect();
    // Node 1 in the middle decodes only node 0, from 200 m; data is stamped at its end.
    let mut sent = captures[0].iter().filter(|record| record.sent() && record.is_data());
    let heard = captures[1].iter().filter(|record| !record.sent() && record.is_data() && record.frame[15] == 0);
    let mut count = 0;
    for heard in heard {
        count += 1;
        let airtime = |record: &Record| {
            // ns-2 counts 34 bytes around an IPv4 packet; TCP and ping have the same length there as on the wire.
            let bits = 8 * (u64::from(record.frame[34]) * 256 + u64::from(record.frame[35]) + 34);
            Duration::from_micros(192) + Duration::from_nanos(bits * 1000 / (u64::from(record.rate_500_kbps) / 2))
        };
        let original = sent.find(|record| record.frame == heard.frame).expect("it was sent before, in this order");
        if original.frame[30..32] == [8, 0] && [1, 6].contains(&original.frame[41]) {
            assert_eq!(heard.at - original.at, airtime(original) + Duration::from_nanos(667));
        }
    }
    assert!(count > 100, "{count}");
}

/// A packet of a merged file: time, bytes, flags for the direction and for a bad check sequence, and comment.
type Merged = (Duration, Vec<u8>, u32, Option<String>);

/// Returns the names of a merged file's interfaces, and the packets of each.
fn merged(folder: &Path) -> Vec<(String, Vec<Merged>)> {
    let mut reader = PcapNgReader::new(File::open(folder.join("capture.pcapng")).unwrap()).unwrap();
    let mut interfaces: Vec<(String, Vec<Merged>)> = Vec::new();
    let mut last = Duration::ZERO;
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                let [InterfaceDescriptionOption::IfName(name), resolution] = &interface.options[..] else {
                    panic!("{interface:?}")
                };
                assert_eq!(*resolution, InterfaceDescriptionOption::IfTsResol(9), "nanoseconds");
                interfaces.push((name.to_string(), Vec::new()));
            }
            Block::EnhancedPacket(packet) => {
                assert!(packet.timestamp >= last, "in the order of time");
                last = packet.timestamp;
                let EnhancedPacketOption::Flags(flags) = packet.options[0] else { panic!("{packet:?}") };
                let comment = packet.options.get(1).map(|option| match option {
                    EnhancedPacketOption::Comment(text) => text.to_string(),
                    other => panic!("{other:?}"),
                });
                let packets = &mut interfaces[packet.interface_id as usize].1;
                packets.push((packet.timestamp, packet.data.into_owned(), flags, comment));
            }
            other => panic!("{other:?}"),
        }
    }
    interfaces
}

#[test]
fn a_merged_file_has_what_the_files_of_the_nodes_have() {
    for profile in PROFILES {
        let (files, _) = capture(profile, "apart");
        let (folder, _) = capture_as(CaptureForm { merged: true, lost: false }, profile, "merged");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        let interfaces = merged(&folder);
        assert_eq!(
            interfaces.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["node-0", "node-1", "node-2"]
        );
        for (file, (_, packets)) in files.iter().zip(interfaces) {
            let mut reader = PcapReader::new(File::open(file).unwrap()).unwrap();
            let mut packets = packets.into_iter();
            while let Some(apart) = reader.next_packet() {
                let apart = apart.unwrap();
                let (at, bytes, flags, comment) = packets.next().expect("as many");
                assert_eq!((at, &bytes[..]), (apart.timestamp, &apart.data[..]));
                // Received, with a signal, or sent.
                assert_eq!((flags, comment), (if bytes[2] == 15 { 1 } else { 2 }, None));
            }
            assert_eq!(packets.count(), 0);
        }
    }
}

#[test]
fn lost_frames_show_with_a_bad_check_sequence_and_nothing_else_changes() {
    for profile in PROFILES {
        let (folder, result) = capture_as(CaptureForm { merged: true, lost: true }, profile, "lost");
        let (without, _) = capture_as(CaptureForm { merged: true, lost: false }, profile, "not-lost");
        let collisions = result.drops["radio"]["collision"];
        assert!(collisions > 10, "{collisions}");
        let mut lost = 0;
        for ((_, all), (_, good)) in merged(&folder).into_iter().zip(merged(&without)) {
            // Radiotap's flag for a bad check sequence.
            let (bad, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, bytes, ..)| bytes[8] == 0x40);
            assert_eq!(rest, good);
            for (_, bytes, flags, comment) in &bad {
                assert_eq!((bytes[2], *flags, comment.as_deref()), (15, 1 << 24 | 1, Some("lost: collision")));
            }
            lost += bad.len() as u64;
        }
        assert_eq!(lost, collisions, "{profile}");
    }
}

fn tshark(file: &Path, arguments: &[&str]) -> Vec<String> {
    let checks = ["ip", "tcp", "udp"].map(|protocol| format!("-o{protocol}.check_checksum:TRUE"));
    let output = Command::new("tshark").args(checks).arg("-n").arg("-r").arg(file).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}

#[test]
fn tshark_decodes_every_frame_without_complaint() {
    if Command::new("tshark").arg("--version").output().is_err() {
        // Not with the macros, whose output is captured if the test passes.
        writeln!(std::io::stderr(), "SKIPPED: tshark is not installed, captures were not checked with it").unwrap();
        return;
    }
    let known: BTreeSet<String> = [
        "",
        ":llc:arp",
        ":llc:ip:icmp:data",
        ":llc:ip:tcp",
        ":llc:ip:tcp:data",
        ":llc:ip:udp:aodv",
        ":llc:ip:udp:data",
    ]
    .map(|rest| format!("radiotap:wlan_radio:wlan{rest}"))
    .into();
    for profile in PROFILES {
        let (files, _) = capture(profile, "tshark");
        for file in &files {
            let bad = "_ws.malformed || _ws.expert.severity == error || ip.checksum.status == 0 || \
                       tcp.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0";
            let complaints = tshark(file, &["-Y", bad]);
            assert!(complaints.is_empty(), "{}: {complaints:#?}", file.display());
            let fields =
                "frame.protocols aodv.type arp.opcode tcp.options.mss_val tcp.flags.fin tcp.len icmp.type udp.dstport";
            let arguments: Vec<&str> =
                ["-T", "fields"].into_iter().chain(fields.split(' ').flat_map(|f| ["-e", f])).collect();
            let lines = tshark(file, &arguments);
            let column = |n: usize| lines.iter().map(move |line| line.split('\t').nth(n).unwrap());
            // No port or payload may trigger another dissector.
            assert_eq!(column(0).map(String::from).collect::<BTreeSet<_>>(), known, "{}", file.display());
            for (what, n, value, least) in [
                ("route requests", 1, "1", 1),
                ("route replies", 1, "2", 1),
                ("ARP replies", 2, "2", 1),
                ("SYN", 3, "1460", 4),
                ("FIN", 4, "1", 2),
                ("echo replies", 6, "0", 2),
                ("datagrams", 7, "5001", 5),
            ] {
                let found = column(n).filter(|&field| field == value).count();
                assert!(found >= least, "{}: {found} {what}", file.display());
            }
            let segments = column(5).filter(|len| len.parse::<u32>().is_ok_and(|len| len > 0)).count();
            assert!(segments > 100, "{}: {segments} segments with data", file.display());
        }
    }
}

#[test]
fn tshark_names_the_interfaces_of_a_merged_file_and_the_frames_that_were_lost() {
    if Command::new("tshark").arg("--version").output().is_err() {
        writeln!(std::io::stderr(), "SKIPPED: tshark is not installed, captures were not checked with it").unwrap();
        return;
    }
    let (folder, result) = capture_as(CaptureForm { merged: true, lost: true }, "standard", "merged-tshark");
    let file = folder.join("capture.pcapng");
    let bad = "radiotap.flags.badfcs == 1";
    assert_eq!(tshark(&file, &["-Y", bad]).len() as u64, result.drops["radio"]["collision"]);
    let complaints = tshark(&file, &["-Y", "_ws.malformed || _ws.expert.severity == error"]);
    assert!(complaints.is_empty(), "{complaints:#?}");
    let names = tshark(&file, &["-T", "fields", "-e", "frame.interface_name"]).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(names, BTreeSet::from(["node-0", "node-1", "node-2"].map(String::from)));
    let reasons =
        tshark(&file, &["-Y", bad, "-T", "fields", "-e", "frame.comment"]).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(reasons, BTreeSet::from(["lost: collision".to_owned()]));
    // A frame on the air is recorded at its beginning by the sender and at its end by the receivers, all in order of
    // time.
    let sent = "radiotap.dbm_antsignal";
    let fields = tshark(&file, &["-T", "fields", "-e", "frame.time_epoch", "-e", sent]);
    let times: Vec<f64> = fields.iter().map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted() && fields.iter().any(|line| line.ends_with('\t')));
}

#[test]
fn both_sides_of_a_gateway_are_captured_and_tshark_reads_the_wire() {
    let text = "profile = 'ns2'\nduration = '8s'\n[topology]\nkind = 'chain'\nhops = 1\n[wired]\ngateways = [1]\n\
                nodes = ['R', 'B/1']\n[[flows]]\nfrom = 0\nto = 'B/1'\ntransport = 'newreno'\napp = 'transfer'\nsize \
                = '60kB'\n\
                [[flows]]\nfrom = 'B/1'\nto = 0\ntransport = 'ping'\n";
    let scenario = load_toml(text, "wired.toml", &[]).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pcap").join("wired");
    let options = RunOptions { pcap_dir: Some(folder.clone()), ..RunOptions::default() };
    let result = run(&scenario, 1, &options, &Control::new()).unwrap();
    let read = |name: &str| {
        let mut reader = PcapReader::new(File::open(folder.join(name)).unwrap()).unwrap();
        assert_eq!(reader.header().datalink, DataLink::RAW);
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet() {
            let packet = packet.unwrap();
            packets.push((packet.timestamp, packet.data.into_owned()));
        }
        assert!(packets.is_sorted_by_key(|(at, _)| *at));
        packets
    };
    let ends = ["node-1-to-R.pcap", "R-to-node-1.pcap", "R-to-B_1.pcap", "B_1-to-R.pcap"].map(read);
    for (number, count) in ends.iter().map(Vec::len).enumerate() {
        let link = if number < 2 { ["1-R", "R-1"] } else { ["R-B/1", "B/1-R"] };
        let in_flight: u64 = link.iter().map(|direction| result.wires[*direction]["held"]).sum();
        let arrived: u64 = link.iter().map(|direction| result.wires[*direction]["arrived"]).sum();
        // An end records what it sends and receives, but not what is still in transit to it.
        assert!((arrived..=arrived + in_flight).contains(&(count as u64)), "{link:?}: {count}, {arrived}, {in_flight}");
    }
    // Packets of the gateway arrive 40 ms plus their time on the wire later, with a TTL that each router decrements.
    let (first, second) = (&ends[0][0], &ends[1][0]);
    assert_eq!((first.1.len(), &first.1), (second.1.len(), &second.1));
    let bits = first.1.len() as u64 * 8;
    assert_eq!(second.0 - first.0, Duration::from_millis(40) + Duration::from_nanos(bits * 100));
    assert_eq!(ends[2][0].1[8] + 1, second.1[8]);
    if Command::new("tshark").arg("--version").output().is_err() {
        writeln!(std::io::stderr(), "SKIPPED: tshark is not installed, captures were not checked with it").unwrap();
        return;
    }
    let known = BTreeSet::from(["raw:ip:tcp", "raw:ip:tcp:data", "raw:ip:icmp:data"].map(String::from));
    for end in ["node-1-to-R.pcap", "B_1-to-R.pcap"] {
        let bad = "_ws.malformed || _ws.expert.severity == error || ip.checksum.status == 0 || \
                   tcp.checksum.status == 0 || icmp.checksum.status == 0";
        let complaints = tshark(&folder.join(end), &["-Y", bad]);
        assert!(complaints.is_empty(), "{end}: {complaints:#?}");
        let protocols: BTreeSet<_> =
            tshark(&folder.join(end), &["-T", "fields", "-e", "frame.protocols"]).into_iter().collect();
        assert_eq!(protocols, known);
    }
}
