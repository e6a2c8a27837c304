//! Packets as bytes: against `etherparse`, and the option against the whole packet.

use super::*;
use crate::wire::encode;
use etherparse::{SlicedPacket, TransportSlice};
use proptest::prelude::*;

pub fn encoded(packet: &Ipv4Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode::packet(packet, &mut bytes);
    bytes
}

/// Lengths, offset and both checksums of a TCP packet are right.
fn is_sound(bytes: &[u8]) -> bool {
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
            timestamps: times
                .then_some(crate::wire::Timestamps { value: 7, echo: u32::MAX })
                .filter(|_| sack.len() < 3),
            sack: sack.into_iter().collect(),
            wired_rtt: None,
        },
    )
}

fn packets() -> impl Strategy<Value = Ipv4Packet> {
    (any::<u32>(), any::<u32>(), 0..1_400u32, options(), any::<u8>()).prop_map(|(seq, ack, payload, options, bits)| {
        flagged(segment(0, true, seq, ack, payload), |segment| {
            segment.options = options.clone();
            segment.flags.psh = bits & 1 > 0;
            segment.flags.fin = bits & 2 > 0;
            segment.flags.syn = bits & 4 > 0;
            segment.window = u16::from(bits) << 8 | 3;
        })
    })
}

proptest! {
    /// The simulator's packet and its bytes show the same.
    #[test]
    fn bytes_and_values_show_the_same(packet in packets()) {
        let bytes = encoded(&packet);
        prop_assert_eq!(bytes.tcp(), packet.tcp());
        prop_assert_eq!(bytes.five_tuple(), packet.five_tuple());
        prop_assert_eq!(Packet::len(&bytes), Packet::len(&packet));
    }

    /// The option written into bytes is the encoding of the packet with the option, checksums included; and so is a second
    /// value over the first. Where it does not fit both stay as they were.
    #[test]
    fn the_option_in_bytes_is_the_option_of_the_packet(packet in packets(), millis: u16, again: u16, mtu in 1_000..1_600u32) {
        let (mut bytes, mut value) = (encoded(&packet), packet.clone());
        prop_assert!(is_sound(&bytes));
        for millis in [millis, again] {
            let written = bytes.write_wired_rtt(millis, mtu);
            prop_assert_eq!(value.write_wired_rtt(millis, mtu), written);
            prop_assert_eq!(&bytes, &encoded(&value));
            prop_assert!(is_sound(&bytes));
            let expected = if written { value.len() } else { packet.len() };
            prop_assert_eq!(Packet::len(&bytes), expected);
            prop_assert!(!written || Packet::len(&bytes) <= mtu);
        }
    }

    /// A packet that was damaged stays damaged: the difference from the right checksum stays.
    #[test]
    fn a_wrong_checksum_stays_wrong(packet in packets(), at in 20..40usize, flip in 1..=255u8, millis: u16) {
        let mut damaged = encoded(&packet);
        let parts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19].map(|offset| 20 + offset);
        let at = parts[at % parts.len()];
        damaged[at] ^= flip;
        prop_assert!(!is_sound(&damaged));
        damaged.write_wired_rtt(millis, 1_500);
        prop_assert!(!is_sound(&damaged));
    }

    /// Anything at all: no panic, and what is no TCP segment is not changed.
    #[test]
    fn garbage_is_left_alone(mut bytes in prop::collection::vec(any::<u8>(), 0..120), tcp: bool, millis: u16) {
        if tcp && bytes.len() > 20 {
            // Likely enough to be taken for TCP.
            let len = bytes.len() as u16;
            (bytes[0], bytes[9], bytes[6], bytes[7]) = (0x45, 6, 0, 0);
            bytes[2..4].copy_from_slice(&len.to_be_bytes());
        }
        let before = bytes.clone();
        let seen = bytes.tcp();
        let _ = bytes.five_tuple();
        let written = bytes.write_wired_rtt(millis, 1_500);
        prop_assert!(!written || seen.is_some());
        prop_assert!(written || bytes == before);
    }
}

#[test]
fn what_is_no_whole_segment_is_none() {
    let good = encoded(&segment(0, true, 1, 1, 100));
    assert!(good.tcp().is_some());
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        bytes.tcp()
    };
    assert_eq!(changed(&|bytes| bytes[0] = 0x65), None, "IPv6");
    assert_eq!(changed(&|bytes| bytes[0] = 0x44), None, "a header of 16 bytes");
    assert_eq!(changed(&|bytes| bytes[9] = 17), None, "UDP");
    assert_eq!(changed(&|bytes| bytes[6] = 0x20), None, "a first fragment");
    assert_eq!(changed(&|bytes| bytes[7] = 1), None, "a later fragment");
    assert_eq!(changed(&|bytes| bytes.truncate(80)), None, "cut off");
    assert_eq!(changed(&|bytes| bytes[32] = 0x40), None, "a TCP header of 16 bytes");
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

/// Options behind an end of options do not count; the option replaces the end.
#[test]
fn the_option_comes_before_the_end_of_options() {
    let mut packet = encoded(&flagged(segment(0, true, 1, 1, 0), |segment| segment.options.window_scale = Some(7)));
    assert_eq!(packet[40..44], [3, 3, 7, 0]);
    assert!(packet.write_wired_rtt(0x1234, 1_500));
    assert_eq!(packet[40..], [3, 3, 7, 253, 6, 0x34, 0x68, 0x12, 0x34, 0, 0, 0]);
    assert!(is_sound(&packet));
}

/// MD5 and TCP-AO signatures cover the header.
#[test]
fn signed_segments_are_not_touched() {
    for kind in [19, 29] {
        let mut packet = encoded(&flagged(segment(0, true, 1, 1, 0), |segment| segment.options.mss = Some(1_460)));
        packet[40] = kind;
        let before = packet.clone();
        assert!(!packet.write_wired_rtt(9, 1_500));
        assert_eq!(packet, before);
    }
}
