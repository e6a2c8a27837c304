//! IPv6: against `etherparse`, with extension headers, truncated, and with garbage.

use super::tests::{encoded, packets, plain};
use super::words::be16;
use super::*;
use crate::wire::{Ipv4Packet, TcpSegment};
use core::net::{IpAddr, Ipv6Addr};
use etherparse::{SlicedPacket, TransportSlice};
use proptest::prelude::*;

const SRC: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 9);
const DST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0xabcd, 7);
/// Six bytes of hop-by-hop options: a padding of four (RFC 8200 section 4.2).
const PADDING: [u8; 6] = [1, 4, 0, 0, 0, 0];

/// Moves the segment of an IPv4 packet into an IPv6 packet, after the extension headers `more`; `first` is the kind of
/// the first.
fn moved(packet: &Ipv4Packet, first: u8, more: &[u8]) -> Vec<u8> {
    let old = encoded(packet);
    let segment = &old[20..];
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend(((more.len() + segment.len()) as u16).to_be_bytes());
    bytes.extend([first, 57]);
    bytes.extend(SRC.octets());
    bytes.extend(DST.octets());
    bytes.extend(more);
    let tcp = bytes.len();
    bytes.extend(segment);
    let sum = match SlicedPacket::from_ip(&bytes).expect("well-formed").transport {
        Some(TransportSlice::Tcp(tcp)) => tcp.calc_checksum_ipv6(SRC.octets(), DST.octets()).expect("short"),
        other => panic!("TCP expected: {other:?}"),
    };
    bytes[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// Kind of the first extension header, and the bytes of all: none; hop-by-hop options; those and a fragment header of a
/// whole packet.
fn extensions() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let options = [&[6, 0][..], &PADDING].concat();
    let both = [&[44, 0][..], &PADDING, &[6, 0, 0, 0, 1, 2, 3, 4]].concat();
    prop_oneof![Just((6, vec![])), Just((0, options)), Just((0, both))]
}

fn is_sound(bytes: &[u8]) -> bool {
    let Ok(sliced) = SlicedPacket::from_ip(bytes) else { return false };
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { return false };
    usize::from(be16(bytes, 4)) + 40 == bytes.len()
        && tcp.calc_checksum_ipv6(SRC.octets(), DST.octets()) == Ok(tcp.checksum())
}

proptest! {
    #[test]
    fn a_segment_is_read_and_edited_as_in_ipv4(
        mut packet in packets(), (first, more) in extensions(), window: u16, millis: u16, cut in 0..1_400usize,
    ) {
        let mut bytes = moved(&packet, first, &more);
        prop_assert!(is_sound(&bytes));
        prop_assert_eq!(segment(&bytes), packet.segment().cloned());
        let head = IpHead::read(&bytes).unwrap();
        prop_assert_eq!((head.src, head.dst, head.protocol, head.ttl), (IpAddr::V6(SRC), IpAddr::V6(DST), 6, 57));
        prop_assert_eq!((head.fragment, head.header_len, head.total_len), (false, 40 + more.len(), bytes.len()));
        prop_assert_eq!(head.ports(&bytes), Some((5_001, 40_000)));
        let mut head = bytes.clone();
        head.truncate(bytes.len().saturating_sub(cut).max(40 + more.len() + 60));
        prop_assert_eq!(segment(&head), packet.segment().cloned());

        prop_assert!(set_window(&mut bytes, window));
        let written = write_wired_rtt(&mut bytes, millis, 1_500);
        let crate::wire::Body::Tcp(TcpSegment { window: field, options, .. }) = &mut packet.body else {
            unreachable!()
        };
        *field = window;
        options.wired_rtt = Some(millis).filter(|_| written);
        prop_assert_eq!(&bytes, &moved(&packet, first, &more));
        prop_assert!(is_sound(&bytes));
    }

    #[test]
    fn garbage_is_no_trouble(mut bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0usize..8, word: u16) {
        let kinds = [0, 6, 43, 44, 51, 60, 135, 17];
        if bytes.len() > 40 {
            (bytes[0], bytes[4], bytes[5], bytes[6]) = (0x60, 0, bytes[5].max(60), kinds[kind]);
        }
        let before = bytes.clone();
        let seen = segment(&bytes);
        let _ = IpHead::read(&bytes).map(|head| head.ports(&bytes));
        prop_assert!(!write_wired_rtt(&mut bytes, word, 1_500) || seen.is_some());
        prop_assert!(set_window(&mut bytes, word) || bytes == before);
    }
}

/// A later fragment has no TCP header, and the first one is incomplete.
#[test]
fn fragments_show_no_segment() {
    let whole = plain(100);
    for (word, fragment) in [([0, 1], true), ([0, 8], true), ([0, 9], true), ([0, 0], false), ([0, 6], false)] {
        let mut bytes = moved(&whole, 44, &[6, 0, 0, 0, 1, 2, 3, 4]);
        bytes[42..44].copy_from_slice(&word);
        let head = IpHead::read(&bytes).unwrap();
        assert_eq!(
            (head.fragment, head.is_tcp(), segment(&bytes).is_some()),
            (fragment, !fragment, !fragment),
            "{word:?}"
        );
    }
}

/// Authentication headers count in other units (RFC 4302 section 2.2): 4 * (2 + 4) bytes.
#[test]
fn headers_end_where_they_say() {
    let mut bytes = moved(&plain(100), 6, &[]);
    let payload = be16(&bytes, 4) + 24;
    bytes[4..6].copy_from_slice(&payload.to_be_bytes());
    bytes[6] = 51;
    bytes.splice(40..40, [[6, 4].as_slice(), &[0; 22]].concat());
    assert_eq!(IpHead::read(&bytes).map(|head| (head.protocol, head.header_len)), Some((6, 64)));
    assert_eq!(segment(&bytes).map(|segment| segment.payload), Some(100));
    for end in [0, 39, 41, 63] {
        assert_eq!(IpHead::read(&bytes[..end]), None, "cut off after {end}");
    }
    // Shorter than its headers.
    bytes[4..6].copy_from_slice(&[0, 23]);
    assert_eq!(IpHead::read(&bytes), None);
}
