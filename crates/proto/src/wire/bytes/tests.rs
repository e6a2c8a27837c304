//! Against `etherparse`, the encoding of the simulator's packets, and the numbers of the RFCs.

use super::*;
use crate::wire::{Body, Ipv4Packet, PacketMeta, TcpFlags, TcpOptions, TcpSegment, Timestamps, encode};
use core::net::Ipv4Addr;
use etherparse::{SlicedPacket, TransportSlice};
use fourhop_units::Seq;
use proptest::prelude::*;

pub fn encoded(packet: &Ipv4Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode::packet(packet, &mut bytes);
    bytes
}

/// A data segment without options.
pub fn plain(payload: u32) -> Ipv4Packet {
    with_options(payload, TcpOptions::default())
}

fn with_options(payload: u32, options: TcpOptions) -> Ipv4Packet {
    let flags = TcpFlags { ack: true, ..TcpFlags::default() };
    let (seq, ack) = (Seq::from_wire(7), Seq::from_wire(u32::MAX));
    let segment = TcpSegment {
        src_port: 5_001,
        dst_port: 40_000,
        seq,
        ack,
        flags,
        window: 1_000,
        options,
        payload,
        ..TcpSegment::default()
    };
    let (src, dst) = (Ipv4Addr::new(192, 0, 2, 9), Ipv4Addr::new(198, 51, 100, 77));
    Ipv4Packet { src, dst, ttl: 60, ident: 0xabcd, dscp: 0, body: Body::Tcp(segment), meta: PacketMeta::default() }
}

/// Returns whether lengths, offset and both checksums of a TCP packet are correct.
pub fn is_sound(bytes: &[u8]) -> bool {
    let Ok(sliced) = SlicedPacket::from_ip(bytes) else { return false };
    let (Some(etherparse::NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) = (&sliced.net, &sliced.transport)
    else {
        return false;
    };
    let header = ip.header();
    let checksum = tcp.calc_checksum_ipv4(header.source(), header.destination());
    usize::from(header.total_len()) == bytes.len()
        && header.to_header().calc_header_checksum() == header.header_checksum()
        && checksum == Ok(tcp.checksum())
}

fn options() -> impl Strategy<Value = TcpOptions> {
    let block =
        (any::<u32>(), 1..100_000u32).prop_map(|(left, len)| (Seq::from_wire(left), Seq::from_wire(left) + len));
    let sack = prop::collection::vec(block, 0..4);
    (prop::option::of(any::<u16>()), prop::option::of(0..15u8), any::<bool>(), any::<bool>(), sack).prop_map(
        |(mss, window_scale, sack_permitted, times, sack)| TcpOptions {
            mss,
            window_scale: window_scale.filter(|_| mss.is_some()),
            sack_permitted: sack_permitted && sack.is_empty(),
            timestamps: times.then_some(Timestamps { value: 7, echo: u32::MAX }).filter(|_| sack.len() < 3),
            sack: sack.into_iter().collect(),
            wired_rtt: None,
        },
    )
}

/// TCP packets of the simulator, with any options except [`TcpOptions::wired_rtt`].
pub fn packets() -> impl Strategy<Value = Ipv4Packet> {
    (any::<u32>(), any::<u32>(), 0..1_400u32, options(), any::<u8>()).prop_map(|(seq, ack, payload, options, bits)| {
        let mut packet = with_options(payload, options);
        if let Body::Tcp(segment) = &mut packet.body {
            (segment.seq, segment.ack) = (Seq::from_wire(seq), Seq::from_wire(ack));
            segment.flags.psh = bits & 1 > 0;
            segment.flags.fin = bits & 2 > 0;
            segment.flags.syn = bits & 4 > 0;
            segment.flags.rst = bits & 8 > 0;
            segment.window = u16::from(bits) << 8 | 3;
        }
        packet
    })
}

proptest! {
    /// Encoded packets can be parsed, whether or not they are truncated after their headers.
    #[test]
    fn what_is_written_is_read(packet in packets(), cut in 0..1_400usize) {
        let mut bytes = encoded(&packet);
        bytes.truncate(bytes.len().saturating_sub(cut).max(80));
        prop_assert_eq!(segment(&bytes), packet.segment().cloned());
        let head = Ipv4Head::read(&bytes).unwrap();
        prop_assert_eq!((head.src, head.dst, head.ttl, head.ident), (packet.src, packet.dst, 60, 0xabcd));
        prop_assert_eq!((head.protocol, head.fragment, head.total_len), (6, false, packet.len() as usize));
        prop_assert_eq!(head.ports(&bytes), Some((5_001, 40_000)));
    }

    /// After each edit, the bytes equal the encoding of an equally edited packet, checksums included.
    #[test]
    fn an_edit_is_what_the_encoding_says(mut packet in packets(), window: u16, ttl: u8, millis: u16) {
        let mut bytes = encoded(&packet);
        prop_assert!(set_window(&mut bytes, window) && set_ttl(&mut bytes, ttl));
        let written = write_wired_rtt(&mut bytes, millis, 1_500);
        let Body::Tcp(segment) = &mut packet.body else { unreachable!("TCP alone is made here") };
        segment.window = window;
        segment.options.wired_rtt = Some(millis).filter(|_| written);
        packet.ttl = ttl;
        prop_assert_eq!(&bytes, &encoded(&packet));
        prop_assert!(is_sound(&bytes));
    }

    /// A damaged packet stays damaged: the difference from the correct checksum is preserved.
    #[test]
    fn a_bad_checksum_stays_bad(packet in packets(), at in 20..40usize, flip in 1..=255u8, word: u16) {
        let mut damaged = encoded(&packet);
        let parts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19].map(|offset| 20 + offset);
        damaged[parts[at % parts.len()]] ^= flip;
        prop_assert!(!is_sound(&damaged));
        write_wired_rtt(&mut damaged, word, 1_500);
        set_window(&mut damaged, word);
        prop_assert!(!is_sound(&damaged));
    }

    /// A truncated packet is edited like the whole one, and equals its beginning.
    #[test]
    fn edits_do_not_need_the_payload(packet in packets(), window: u16, ttl: u8, millis: u16) {
        let mut whole = encoded(&packet);
        let mut head = whole.clone();
        head.truncate(whole.len() - packet.segment().map_or(0, |segment| segment.payload as usize));
        for bytes in [&mut whole, &mut head] {
            set_window(bytes, window);
            set_ttl(bytes, ttl);
            write_wired_rtt(bytes, millis, 1_500);
        }
        prop_assert_eq!(&head, &whole[..head.len()]);
    }

    /// Arbitrary bytes: no panic, and anything that is not a TCP segment is left unchanged.
    #[test]
    fn garbage_is_left_alone(mut bytes in prop::collection::vec(any::<u8>(), 0..120), tcp: bool, word: u16) {
        if tcp && bytes.len() > 20 {
            // Likely enough to be taken for TCP.
            let len = bytes.len() as u16;
            (bytes[0], bytes[9], bytes[6], bytes[7]) = (0x45, 6, 0, 0);
            bytes[2..4].copy_from_slice(&len.to_be_bytes());
        }
        let before = bytes.clone();
        let seen = segment(&bytes);
        let head = Ipv4Head::read(&bytes);
        let _ = head.map(|head| head.ports(&bytes));
        let written = write_wired_rtt(&mut bytes, word, 1_500);
        prop_assert!(!written || seen.is_some());
        prop_assert!(written || bytes == before);
        // The window is written even if options are malformed, because it precedes them.
        prop_assert!(set_window(&mut bytes, word) || (seen.is_none() && bytes == before));
        prop_assert_eq!(set_ttl(&mut bytes, 5), head.is_ok());
    }
}

// RFC 1624 section 4: a header whose checksum becomes zero, where RFC 1141 gave its other representation.
#[test]
fn the_example_of_the_rfc() {
    assert_eq!(checksum::updated(0xdd2f, 0x5555, 0x3285), 0x0000);
}

/// A carry out of a carry: ~0 + ~0 + 1 is 0x1ffff, folded once 0x10000.
#[test]
fn a_carry_may_carry_again() {
    assert_eq!(checksum::updated(0x0000, 0x0000, 0x0001), 0xfffe);
    // The same within a sum of many words.
    assert_eq!(checksum::updated(0x0000, 0x0000, 0x1_ffff), 0xfffe);
}

/// Content at an odd offset is half of a word at either end.
#[test]
fn what_begins_or_ends_within_a_word_is_covered() {
    let whole = |bytes: &[u8]| checksum::updated(0xffff, 0, checksum::sum(bytes));
    for (at, len) in [(3, 1), (3, 2), (4, 1), (3, 3), (4, 2), (7, 1)] {
        let mut bytes = [0, 0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc];
        let sum = whole(&bytes);
        bytes[..2].copy_from_slice(&sum.to_be_bytes());
        checksum::write(&mut bytes, 0, at, &[0xee; 3][..len]);
        assert!(bytes[at..at + len].iter().all(|&byte| byte == 0xee));
        assert_eq!(whole(&bytes), 0, "{len} at {at}");
    }
}

#[test]
fn what_is_no_ipv4_header_is_named() {
    let good = encoded(&plain(100));
    let read = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        Ipv4Head::read(&bytes).map(|head| head.header_len)
    };
    assert_eq!(read(&|_| ()), Ok(20));
    assert_eq!(read(&|bytes| bytes.truncate(19)), Err(Ipv4Error::Truncated { needed: 20, found: 19 }));
    assert_eq!(read(&|bytes| bytes[0] = 0x65), Err(Ipv4Error::Version(6)));
    assert_eq!(read(&|bytes| bytes[0] = 0x44), Err(Ipv4Error::HeaderLength(16)));
    assert_eq!(read(&|bytes| bytes[3] = 19), Err(Ipv4Error::TotalLength { header: 20, total: 19 }));
    assert_eq!(read(&|bytes| bytes[3] = 20), Ok(20), "a packet may be a header alone");
    let short = |bytes: &mut Vec<u8>| {
        bytes[0] = 0x46;
        bytes.truncate(23);
    };
    assert_eq!(read(&short), Err(Ipv4Error::Truncated { needed: 24, found: 23 }));
    assert_eq!(Ipv4Error::Version(6).to_string(), "IP version 6, 4 expected");
}

/// IPv4 options come between its header and TCP's; fragments show no ports and no segment.
#[test]
fn ipv4_options_and_fragments() {
    let packet = plain(10);
    let mut bytes = encoded(&packet);
    // Four bytes: three times no operation, then end (RFC 791 section 3.1).
    bytes.splice(20..20, [1, 1, 1, 0]);
    (bytes[0], bytes[3]) = (0x46, bytes[3] + 4);
    assert_eq!(segment(&bytes).as_ref(), packet.segment());
    let window = |bytes: &[u8]| segment(bytes).map(|segment| segment.window);
    assert!(set_window(&mut bytes, 0x0102));
    assert_eq!((window(&bytes), &bytes[38..40]), (Some(0x0102), &[1, 2][..]));
    assert_eq!(Ipv4Head::read(&bytes).unwrap().ports(&bytes), Some((5_001, 40_000)));
    // More fragments, or an offset; "don't fragment" does not count.
    for (bits, fragment) in [(0x2000u16, true), (0x0001, true), (0x1fff, true), (0x4000, false)] {
        bytes[6..8].copy_from_slice(&bits.to_be_bytes());
        let head = Ipv4Head::read(&bytes).unwrap();
        assert_eq!((head.fragment, head.is_tcp(), head.ports(&bytes).is_none()), (fragment, !fragment, fragment));
        assert_eq!(segment(&bytes).is_none(), fragment);
    }
}

#[test]
fn ports_are_shown_by_tcp_and_udp_and_only_if_they_are_there() {
    let shown = |protocol: u8, total: u8, len: usize| {
        let mut bytes = encoded(&plain(0));
        (bytes[3], bytes[9]) = (total, protocol);
        bytes.truncate(len);
        Ipv4Head::read(&bytes).unwrap().ports(&bytes).is_some()
    };
    assert!(shown(6, 40, 40) && shown(17, 28, 28) && shown(17, 24, 24));
    assert!(!shown(1, 40, 40), "ICMP");
    assert!(!shown(17, 23, 40), "the packet ends before");
    assert!(!shown(17, 40, 23), "cut off before");
}

#[test]
fn what_is_no_whole_header_is_no_segment() {
    let good = encoded(&plain(100));
    assert!(segment(&good).is_some());
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        segment(&bytes)
    };
    assert_eq!(changed(&|bytes| bytes[0] = 0x65), None, "IPv6");
    assert_eq!(changed(&|bytes| bytes[9] = 17), None, "UDP");
    assert_eq!(changed(&|bytes| bytes.truncate(39)), None, "cut off within the header");
    assert_eq!(changed(&|bytes| bytes[3] = 39), None, "the packet ends within the header");
    assert_eq!(changed(&|bytes| bytes.truncate(40)).map(|segment| segment.payload), Some(100), "cut off behind it");
    assert_eq!(changed(&|bytes| bytes[32] = 0x40), None, "a TCP header of 16 bytes");
    let longest = |len: usize| {
        changed(&|bytes| {
            bytes[32] = 0xf0;
            bytes.truncate(len);
        })
    };
    assert_eq!(longest(80).map(|segment| segment.payload), Some(60), "a header of 60 bytes");
    assert_eq!(longest(79), None, "cut off within its options");
    let odd = |bytes: &mut Vec<u8>| {
        bytes[32] = 0x60;
        bytes[40..44].copy_from_slice(&[1, 1, 8, 10]);
    };
    assert_eq!(changed(&odd), None, "an option longer than the header");
    let empty = |bytes: &mut Vec<u8>| {
        bytes[32] = 0x60;
        bytes[40..44].copy_from_slice(&[1, 8, 1, 1]);
    };
    assert_eq!(changed(&empty), None, "an option of one byte that says it has a length");
    assert!(changed(&|bytes| bytes.extend([0; 6])).is_some(), "padding of the link");
}

/// Options after an end of options are ignored; the option replaces the end.
#[test]
fn the_option_comes_before_the_end_of_options() {
    let mut packet = encoded(&with_options(0, TcpOptions { window_scale: Some(7), ..TcpOptions::default() }));
    assert_eq!(packet[40..44], [3, 3, 7, 0]);
    assert!(write_wired_rtt(&mut packet, 0x1234, 1_500));
    assert_eq!(packet[40..], [3, 3, 7, 253, 6, 0x34, 0x68, 0x12, 0x34, 0, 0, 0]);
    assert!(is_sound(&packet));
}

/// If the list ended early, its padding makes room: the header does not grow, or even shrinks.
#[test]
fn padding_makes_room_for_the_option() {
    let mut packet = encoded(&with_options(
        9,
        TcpOptions { timestamps: Some(Timestamps { value: 1, echo: 2 }), ..TcpOptions::default() },
    ));
    // Ten bytes of timestamps and two of padding become an end of options and eleven ignored bytes.
    packet[40] = 0;
    set_window(&mut packet, 5);
    let payload = packet[52..].to_vec();
    assert!(write_wired_rtt(&mut packet, 300, 1_500));
    assert_eq!(packet[40..48], [253, 6, 0x34, 0x68, 1, 44, 0, 0]);
    assert_eq!((&packet[48..], packet[3], packet[32] >> 4), (&payload[..], 57, 7));
}

/// A gateway overwrites the option of a gateway before it. An experiment of others (RFC 6994) or an option of another
/// kind is not ours and stays.
#[test]
fn the_option_is_written_over_and_others_are_left_alone() {
    let wired_rtt = |bytes: &[u8]| segment(bytes).expect("a segment").options.wired_rtt;
    let mut packet = encoded(&plain(5));
    assert_eq!(wired_rtt(&packet), None);
    for millis in [300, 0xffff, 0] {
        assert!(write_wired_rtt(&mut packet, millis, 1_500));
        assert_eq!((wired_rtt(&packet), packet.len(), is_sound(&packet)), (Some(millis), 20 + 28 + 5, true));
    }
    for (at, octet) in [(40, 254), (42, 0x35), (43, 0x69)] {
        let mut other = packet.clone();
        other[at] = octet;
        assert_eq!(wired_rtt(&other), None, "{octet} at {at}");
        // The other one keeps its position, and ours is appended.
        assert!(write_wired_rtt(&mut other, 7, 1_500));
        assert_eq!((wired_rtt(&other), other.len(), other[at]), (Some(7), 20 + 32 + 5, octet));
    }
}

/// Operating systems start with 32, 64, 128 or 255, ns-2's AODV with 30; the first link decrements nothing.
#[test]
fn hops_are_counted_from_where_time_to_live_begins() {
    for (ttl, hops) in
        [(255, 1), (254, 2), (129, 127), (128, 1), (100, 29), (64, 1), (33, 32), (31, 2), (30, 1), (1, 30)]
    {
        assert_eq!(hops_by_ttl(ttl), hops, "TTL {ttl}");
    }
}

/// RFC 7323 section 2.3.
#[test]
fn a_window_scale_of_more_than_14_is_14() {
    let scaled =
        |shift| segment(&encoded(&with_options(0, TcpOptions { window_scale: Some(shift), ..TcpOptions::default() })));
    assert_eq!(scaled(14).map(|segment| segment.options.window_scale), Some(Some(14)));
    assert_eq!(scaled(15).map(|segment| segment.options.window_scale), Some(Some(14)));
}

/// MD5 and TCP-AO signatures cover the header.
#[test]
fn signed_segments_are_not_touched() {
    for kind in [19, 29] {
        let mut packet = encoded(&with_options(0, TcpOptions { mss: Some(1_460), ..TcpOptions::default() }));
        packet[40] = kind;
        let before = packet.clone();
        assert!(!write_wired_rtt(&mut packet, 9, 1_500));
        assert_eq!(packet, before);
    }
}

/// Neither longer than the link accepts nor longer than IPv4 can express.
#[test]
fn no_packet_becomes_longer_than_its_link_takes() {
    for (payload, mtu, written) in [(92, 140, true), (93, 140, false), (65_487, 70_000, true), (65_488, 70_000, false)]
    {
        let mut packet = encoded(&plain(payload));
        assert_eq!(write_wired_rtt(&mut packet, 9, mtu), written, "{payload} bytes of payload");
        assert_eq!(packet.len(), 40 + payload as usize + if written { 8 } else { 0 });
    }
}
