//! Splitting joined segments gives the same bytes; other packets stay as they are.

use super::join::Join;
use super::split::split;
use etherparse::{Ipv4Header, Ipv6Header, PacketBuilder, PacketHeaders, TcpHeader, TransportHeader};
use fourhop_live::device::Form;
use fourhop_proto::wire::bytes::IpHead;
use fourhop_units::{NodeId, Purpose, Stream};

/// A segment of a flow, without its IP header.
#[derive(Clone)]
struct Segment {
    tcp: TcpHeader,
    payload: Vec<u8>,
    ident: u16,
    ttl: u8,
    ecn: u8,
}

impl Segment {
    fn new(seq: u32, ident: u16, len: usize) -> Segment {
        let mut tcp = TcpHeader::new(4_000, 5_000, seq, 700);
        (tcp.ack, tcp.acknowledgment_number) = (true, 77);
        tcp.set_options_raw(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]).unwrap();
        let payload = (0..len).map(|at| (seq as usize + at) as u8).collect();
        Segment { tcp, payload, ident, ttl: 63, ecn: 2 }
    }

    fn v4(&self) -> Vec<u8> {
        let len = self.tcp.header_len() + self.payload.len();
        let mut ip = Ipv4Header::new(len as u16, self.ttl, 6.into(), [10, 0, 0, 1], [10, 0, 0, 2]).unwrap();
        (ip.identification, ip.dont_fragment) = (self.ident, true);
        ip.ecn = etherparse::IpEcn::try_new(self.ecn).unwrap();
        ip.header_checksum = ip.calc_header_checksum();
        let mut tcp = self.tcp.clone();
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &self.payload).unwrap();
        [&ip.to_bytes()[..], &tcp.to_bytes()[..], &self.payload].concat()
    }

    fn v6(&self) -> Vec<u8> {
        let len = self.tcp.header_len() + self.payload.len();
        let mut ip = Ipv6Header { next_header: 6.into(), hop_limit: self.ttl, ..Ipv6Header::default() };
        (ip.payload_length, ip.source[15], ip.destination[15]) = (len as u16, 1, 2);
        let mut tcp = self.tcp.clone();
        tcp.checksum = tcp.calc_checksum_ipv6(&ip, &self.payload).unwrap();
        [&ip.to_bytes()[..], &tcp.to_bytes()[..], &self.payload].concat()
    }
}

/// Adds an Ethernet header if `link` is 14.
fn frame(link: usize, packet: &[u8]) -> Vec<u8> {
    let kind = if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind, packet].concat().split_off(14 - link)
}

/// The writes for packets that arrive at the same instant: number of packets, form and bytes.
fn written(link: usize, packets: &[Vec<u8>]) -> Vec<(u64, Form, Vec<u8>)> {
    let (mut join, mut out) = (Join::default(), Vec::new());
    for packet in packets {
        let mut bytes = join.memory();
        assert!(bytes.is_empty());
        bytes.extend(packet);
        join.push(0, bytes, link, IpHead::read(&packet[link..]).as_ref(), true, true);
    }
    join.drain().for_each(|mut joined| {
        let packets = joined.packets;
        assert_eq!(joined.firsts, packets);
        let (form, bytes) = joined.finish();
        out.push((packets, form, bytes.to_vec()));
    });
    out
}

fn apart(link: usize, written: &[(u64, Form, Vec<u8>)]) -> Vec<Vec<u8>> {
    let (mut out, mut piece) = (Vec::new(), Vec::new());
    for (_, form, bytes) in written {
        split(&mut bytes.clone(), *form, link, &mut piece, |packet| out.push(packet.to_vec()));
    }
    out
}

fn counts(written: &[(u64, Form, Vec<u8>)]) -> Vec<u64> {
    written.iter().map(|(packets, ..)| *packets).collect()
}

/// Consecutive segments of 100 bytes, with both numbers wrapping around.
fn train(count: u32) -> Vec<Segment> {
    (0..count)
        .map(|n| Segment::new((u32::MAX - 150).wrapping_add(100 * n), 65_534_u16.wrapping_add(n as u16), 100))
        .collect()
}

#[test]
fn an_aggregate_is_one_packet_of_which_the_kernel_makes_the_same_segments() {
    for link in [0, 14] {
        for build in [Segment::v4, Segment::v6] {
            let mut segments = train(5);
            segments[4].payload.truncate(40);
            (segments[4].tcp.psh, segments[4].tcp.fin) = (true, true);
            let packets: Vec<_> = segments.iter().map(|segment| frame(link, &build(segment))).collect();
            let written = written(link, &packets);
            assert_eq!(counts(&written), [5]);
            let (_, form, bytes) = &written[0];
            let ipv6 = bytes[link] >> 4 == 6;
            let ip = if ipv6 { 40 } else { 20 };
            let start = (link + ip) as u16;
            assert_eq!(*form, Form::Segments { ipv6, start, headers: start + 32, size: 100 });
            // As the kernel reads it: complete headers, a correct IP checksum, and the sum of the pseudo header.
            let read = PacketHeaders::from_ip_slice(&bytes[link..]).unwrap();
            let Some(TransportHeader::Tcp(tcp)) = read.transport else { panic!("{read:?}") };
            assert_eq!(read.payload.slice().len(), 440);
            assert!(tcp.psh && tcp.fin && tcp.sequence_number == segments[0].tcp.sequence_number);
            let mut completed = bytes.clone();
            split(&mut completed, Form::NoChecksum { start, offset: 16 }, link, &mut Vec::new(), |_| {});
            let whole = match (read.net.unwrap(), &completed[link..]) {
                (etherparse::NetHeaders::Ipv4(ip, _), _) => {
                    assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                    tcp.calc_checksum_ipv4(&ip, read.payload.slice()).unwrap()
                }
                (etherparse::NetHeaders::Ipv6(ip, _), _) => tcp.calc_checksum_ipv6(&ip, read.payload.slice()).unwrap(),
                other => panic!("{other:?}"),
            };
            assert_eq!(completed[usize::from(start) + 16..][..2], whole.to_be_bytes());
            assert_eq!(apart(link, &written), packets);
        }
    }
}

/// Name of a change, the packets of each write, and the change to the middle one of five segments.
type Change = (&'static str, &'static [u64], fn(&mut Segment));

#[test]
fn what_differs_from_its_predecessor_stays_for_itself() {
    let changes: [Change; 13] = [
        ("a gap", &[2, 1, 2], |segment| segment.tcp.sequence_number += 1),
        ("another identification", &[2, 1, 2], |segment| segment.ident = segment.ident.wrapping_add(7)),
        ("another acknowledgement", &[2, 1, 2], |segment| segment.tcp.acknowledgment_number += 1),
        ("another window", &[2, 1, 2], |segment| segment.tcp.window_size += 1),
        ("another time to live", &[2, 1, 2], |segment| segment.ttl -= 1),
        ("congestion experienced", &[2, 1, 2], |segment| segment.ecn = 3),
        ("another timestamp", &[2, 1, 2], |segment| {
            segment.tcp.set_options_raw(&[1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 2]).unwrap();
        }),
        ("a push", &[3, 2], |segment| segment.tcp.psh = true),
        ("urgent data", &[2, 1, 2], |segment| (segment.tcp.urg, segment.tcp.urgent_pointer) = (true, 3)),
        ("an echo of congestion", &[2, 1, 2], |segment| segment.tcp.ece = true),
        ("a reaction to congestion", &[2, 1, 2], |segment| segment.tcp.cwr = true),
        ("an accurate echo", &[2, 1, 2], |segment| segment.tcp.ns = true),
        ("no payload", &[2, 1, 2], |segment| segment.payload.clear()),
    ];
    for (what, expected, change) in changes {
        let mut segments = train(5);
        change(&mut segments[2]);
        let packets: Vec<_> = segments.iter().map(Segment::v4).collect();
        let written = written(0, &packets);
        assert_eq!(counts(&written), expected, "{what}");
        assert_eq!(apart(0, &written), packets, "{what}");
    }
    let lengths: [(usize, &[u64]); 2] = [(99, &[3, 2]), (101, &[2, 2, 1])];
    for (length, expected) in lengths {
        let mut segments = train(5);
        segments[2].payload.resize(length, 7);
        for segment in &mut segments[3..] {
            segment.tcp.sequence_number = segment.tcp.sequence_number.wrapping_add(length as u32).wrapping_sub(100);
        }
        let written = written(0, &segments.iter().map(Segment::v4).collect::<Vec<_>>());
        assert_eq!(counts(&written), expected, "{length} bytes");
    }
}

/// The checksums of joined segments are not checked again.
#[test]
fn a_damaged_segment_reaches_the_kernel_as_it_is() {
    let packets: Vec<_> = train(3).iter().map(Segment::v4).collect();
    for at in 0..packets[1].len() {
        let mut damaged = packets.clone();
        damaged[1][at] ^= 0x10;
        let written = written(0, &damaged);
        assert!(written.iter().any(|(count, _, bytes)| *count == 1 && *bytes == damaged[1]), "byte {at}");
        assert_eq!(apart(0, &written), damaged);
    }
}

#[test]
fn packets_are_no_longer_than_ip_allows_and_flows_do_not_wait_for_each_other() {
    let segments: Vec<_> = (0..64).map(|n| Segment::new(1448 * n, n as u16, 1448)).collect();
    let mut packets: Vec<_> = segments.iter().map(Segment::v4).collect();
    assert_eq!(counts(&written(0, &packets)), [45, 19], "65,535 bytes");
    // Another flow, and acknowledgements of a third, in between.
    let other: Vec<_> = train(64)
        .into_iter()
        .map(|mut segment| {
            segment.tcp.source_port = 9;
            segment.v4()
        })
        .collect();
    let mut acknowledgement = Segment::new(5, 5, 0);
    acknowledgement.tcp.source_port = 8;
    let mixed: Vec<_> =
        packets.iter().zip(&other).flat_map(|(a, b)| [a.clone(), b.clone(), acknowledgement.v4()]).collect();
    let counted = counts(&written(0, &mixed));
    assert_eq!((counted[0], counted[1], counted.len()), (45, 64, 67));
    // A packet without ports keeps its place.
    let mut echo = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9).icmpv4_echo_request(1, 1).write(&mut echo, &[]).unwrap();
    packets.truncate(4);
    packets.insert(2, echo);
    assert_eq!(counts(&written(0, &packets)), [2, 1, 2]);
}

#[test]
fn devices_and_instants_are_apart() {
    let packets: Vec<_> = train(2).iter().map(Segment::v4).collect();
    let mut join = Join::default();
    let mut seen = Vec::new();
    for (device, packet, ends) in [(0, 0, false), (1, 1, true), (0, 0, true), (0, 1, true)] {
        let head = IpHead::read(&packets[packet]);
        join.push(device, packets[packet].clone(), 0, head.as_ref(), true, false);
        if ends {
            join.drain().for_each(|joined| seen.push((joined.device, joined.packets, joined.firsts)));
        }
    }
    assert_eq!(seen, [(0, 1, 0), (1, 1, 0), (0, 1, 0), (0, 1, 0)]);
    packets.iter().for_each(|bytes| join.push(0, bytes.clone(), 0, IpHead::read(bytes).as_ref(), false, true));
    join.drain().for_each(|joined| assert_eq!(joined.packets, 1, "not where it is switched off"));
}

/// The first segment reacts to congestion, the last ends the write.
#[test]
fn segments_of_a_packet_share_its_flags_as_software_in_the_kernel_does() {
    let mut whole = Segment::new(1, 9, 250);
    (whole.tcp.psh, whole.tcp.fin, whole.tcp.cwr) = (true, true, true);
    let tagged = |packet: Vec<u8>| {
        let mut bytes = frame(14, &packet);
        bytes.splice(12..12, [0x81, 0, 0, 5]);
        bytes
    };
    let form = Form::Segments { ipv6: false, start: 38, headers: 0, size: 100 };
    let made = apart(14, &[(3, form, tagged(whole.v4()))]);
    let mut expected = Vec::new();
    for (number, length) in [(0, 100), (1, 100), (2, 50)] {
        let mut segment = Segment::new(1 + 100 * number, 9 + number as u16, length);
        (segment.tcp.cwr, segment.tcp.psh, segment.tcp.fin) = (number == 0, number == 2, number == 2);
        expected.push(tagged(segment.v4()));
    }
    assert_eq!(made, expected);
    let mut udp = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9).udp(1, 2).write(&mut udp, b"hello").unwrap();
    let complete = udp.clone();
    // The sum of the pseudo header: addresses, protocol, length.
    let sum = 0x0a00_u32 * 2 + 1 + 2 + 17 + 13;
    udp[26..28].copy_from_slice(&(sum as u16).to_be_bytes());
    assert_eq!(apart(0, &[(1, Form::NoChecksum { start: 20, offset: 6 }, udp)]), [complete]);
}

#[test]
fn any_bytes_in_any_form_are_split_or_passed_on() {
    let mut draw = Stream::new(1, NodeId(0), Purpose::Tcp);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = (0..draw.below(200)).map(|_| draw.bits32() as u8).collect();
        if let Some(first) = bytes.first_mut().filter(|_| draw.below(2) == 0) {
            *first = 0x45;
        }
        let word = |draw: &mut Stream| draw.below(120) as u16;
        let form = match draw.below(3) {
            0 => Form::NoChecksum { start: word(&mut draw), offset: word(&mut draw) },
            n => {
                let (start, headers, size) = (word(&mut draw), word(&mut draw), word(&mut draw));
                Form::Segments { ipv6: n == 1, start, headers, size }
            }
        };
        let mut called = 0;
        let link = 14 * draw.below(2) as usize;
        split(&mut bytes.clone(), form, link, &mut Vec::new(), |_| called += 1);
        assert!(called > 0 || bytes.is_empty() || matches!(form, Form::Segments { .. }));
        if bytes.len() >= link {
            let mut join = Join::default();
            join.push(0, bytes.clone(), link, IpHead::read(&bytes[link..]).as_ref(), true, true);
            join.drain().for_each(|mut joined| assert_eq!(joined.finish().1, bytes));
        }
    }
}
