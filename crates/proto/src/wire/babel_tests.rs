//! Packets of RFC 8966 section 4, byte by byte.

use super::*;
use crate::wire::decode::{self, BabelError};
use core::net::Ipv6Addr;
use proptest::prelude::*;

fn addr(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, last)
}

fn host(last: u8) -> Prefix {
    Prefix::host(addr(last))
}

fn id(last: u8) -> RouterId {
    RouterId::new([2, 0, 0, 0xff, 0xfe, 0, 0, last]).expect("a name")
}

fn update(prefix: Prefix, router_id: RouterId) -> BabelUpdate {
    BabelUpdate { prefix, router_id, next_hop: None, interval: 1600, seqno: 7, metric: 256, hops: None }
}

fn encoded(tlvs: &[BabelTlv]) -> Vec<u8> {
    let (message, mut bytes) = (BabelMessage { tlvs: tlvs.to_vec() }, Vec::new());
    message.encode(&mut bytes);
    assert_eq!(bytes.len(), message.len() as usize);
    bytes
}

/// A packet with this body.
fn packet(body: &[u8]) -> Vec<u8> {
    [&[42, 2, 0, body.len() as u8], body].concat()
}

/// Returns the TLVs parsed over IPv4 and the number skipped.
#[track_caller]
fn read(body: &[u8]) -> (Vec<BabelTlv>, u32) {
    let (message, left_out) = decode::babel(&packet(body), true).expect("a packet");
    (message.tlvs, left_out)
}

#[test]
fn every_tlv_is_laid_out_as_the_rfc_draws_it() {
    let link_local = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x0000, 0xff, 0xfe00, 0x0001);
    let global = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    let lan = Prefix::new(Ipv4Addr::new(10, 128, 0, 0), 9).expect("a prefix");
    let ihu = |address| BabelTlv::Ihu { address, rxcost: 0x0123, interval: 1200 };
    let cases: &[(BabelTlv, &[u8])] = &[
        (BabelTlv::AckRequest { opaque: 0xabcd, interval: 100 }, &[2, 6, 0, 0, 0xab, 0xcd, 0, 100]),
        (BabelTlv::Ack { opaque: 0xabcd }, &[3, 2, 0xab, 0xcd]),
        (BabelTlv::Hello { unicast: false, seqno: 0xe5b5, interval: 400 }, &[4, 6, 0, 0, 0xe5, 0xb5, 1, 0x90]),
        (BabelTlv::Hello { unicast: true, seqno: 1, interval: 0 }, &[4, 6, 0x80, 0, 0, 1, 0, 0]),
        (ihu(None), &[5, 6, 0, 0, 1, 0x23, 4, 0xb0]),
        (ihu(Some(addr(2).into())), &[5, 10, 1, 0, 1, 0x23, 4, 0xb0, 10, 0, 0, 2]),
        (ihu(Some(link_local.into())), &[5, 14, 3, 0, 1, 0x23, 4, 0xb0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1]),
        (
            ihu(Some(global.into())),
            &[5, 22, 2, 0, 1, 0x23, 4, 0xb0, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        ),
        // Flag R derives the router-id from the address; no TLV is needed.
        (
            BabelTlv::Update(update(host(5), RouterId::of_address(addr(5)).expect("a name"))),
            &[8, 14, 1, 0x40, 32, 0, 6, 0x40, 0, 7, 1, 0, 10, 0, 0, 5],
        ),
        (
            BabelTlv::Update(BabelUpdate { next_hop: Some(addr(9)), hops: Some(3), ..update(lan, id(4)) }),
            &[
                6, 10, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 4, 7, 6, 1, 0, 10, 0, 0, 9, //
                8, 15, 1, 0, 9, 0, 6, 0x40, 0, 7, 1, 0, 10, 128, 112, 1, 3,
            ],
        ),
        (
            BabelTlv::Retraction { prefix: Some(host(5)), interval: 1600 },
            &[8, 14, 1, 0, 32, 0, 6, 0x40, 0, 0, 0xff, 0xff, 10, 0, 0, 5],
        ),
        (BabelTlv::Retraction { prefix: None, interval: 1600 }, &[8, 10, 0, 0, 0, 0, 6, 0x40, 0, 0, 0xff, 0xff]),
        (BabelTlv::RouteRequest { prefix: None }, &[9, 2, 0, 0]),
        (BabelTlv::RouteRequest { prefix: Some(host(5)) }, &[9, 6, 1, 32, 10, 0, 0, 5]),
        (
            BabelTlv::SeqnoRequest { prefix: lan, seqno: 8, hop_count: 64, router_id: id(4) },
            &[10, 16, 1, 9, 0, 8, 64, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 4, 10, 128],
        ),
    ];
    for (tlv, bytes) in cases {
        assert_eq!(encoded(&[*tlv]), packet(bytes), "{tlv:?}");
        assert_eq!(read(bytes), (vec![*tlv], 0), "{tlv:?}");
    }
}

#[test]
fn what_a_parser_remembers_is_said_once() {
    let [one, two] = [5, 6].map(|last| BabelTlv::Update(update(host(last), id(4))));
    let first = encoded(&[one]).len();
    assert_eq!(encoded(&[one, two]).len(), first + 16, "no second router-id");
    let other = BabelTlv::Update(update(host(7), id(8)));
    assert_eq!(encoded(&[one, other, two]).len(), first + 2 * (12 + 16), "it has to be said again");
}

/// Section 4.6.9: flag P and omitted bytes.
#[test]
fn compressed_prefixes_are_read() {
    let (tlvs, left_out) = read(&[
        6, 10, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 4, // Router-Id
        8, 14, 1, 0x80, 32, 0, 6, 0x40, 0, 7, 1, 0, 10, 0, 0, 5, // the whole prefix, flag P
        8, 11, 1, 0, 32, 3, 6, 0x40, 0, 7, 1, 0, 6, // three bytes from before
        8, 10, 1, 0, 24, 3, 6, 0x40, 0, 7, 1, 0, // all three bytes omitted
    ]);
    let lan = Prefix::new(addr(0), 24).expect("a prefix");
    let expected = [host(5), host(6), lan].map(|prefix| BabelTlv::Update(update(prefix, id(4))));
    assert_eq!((tlvs, left_out), (expected.to_vec(), 0));
    // Nothing to compress against, more omitted than available, a prefix that is truncated or too long.
    for value in [
        &[8, 11, 1, 0, 32, 3, 6, 0x40, 0, 7, 1, 0, 6][..],
        &[8, 10, 1, 0, 24, 4, 6, 0x40, 0, 7, 1, 0],
        &[8, 13, 1, 0, 32, 0, 6, 0x40, 0, 7, 1, 0, 10, 0, 0],
        &[8, 15, 1, 0, 33, 0, 6, 0x40, 0, 7, 1, 0, 10, 0, 0, 5, 0],
    ] {
        assert_eq!(read(&[&[6, 10, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 4], value].concat()), (vec![], 1), "{value:?}");
    }
}

/// Sections 4.6.7 to 4.6.9.
#[test]
fn an_update_needs_a_router_and_a_next_hop() {
    let bare = [8, 14, 1, 0, 32, 0, 6, 0x40, 0, 7, 1, 0, 10, 0, 0, 5];
    assert_eq!(read(&bare), (vec![], 1), "whose is it?");
    let named = [&[6, 10, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 4][..], &bare].concat();
    assert_eq!(read(&named), (vec![BabelTlv::Update(update(host(5), id(4)))], 0), "over IPv4 from its sender");
    let over_ipv6 = |body: &[u8]| decode::babel(&packet(body), false).expect("a packet");
    assert_eq!(over_ipv6(&named), (BabelMessage::default(), 1), "where to?");
    let (message, _) = over_ipv6(&[&[7, 6, 1, 0, 10, 0, 0, 9][..], &named].concat());
    let via = BabelUpdate { next_hop: Some(addr(9)), ..update(host(5), id(4)) };
    assert_eq!(message.tlvs, [BabelTlv::Update(via)]);
    // An IPv6 next hop says nothing about IPv4; router-ids of all zeros or all ones are invalid.
    let (message, left_out) = over_ipv6(&[&[7, 10, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1][..], &named].concat());
    assert_eq!((message.tlvs.len(), left_out), (0, 1));
    for byte in [0, 0xff] {
        assert_eq!(read(&[&[6, 10, 0, 0][..], &[byte; 8], &bare].concat()), (vec![], 2));
    }
    // A retraction needs neither.
    let mut end = bare;
    end[10..12].fill(0xff);
    let retraction = BabelTlv::Retraction { prefix: Some(host(5)), interval: 1600 };
    assert_eq!(over_ipv6(&end), (BabelMessage { tlvs: vec![retraction] }, 0));
}

/// Sections 4.4 and 4.5: skipped TLVs still change the parser state.
#[test]
fn a_mandatory_sub_tlv_that_is_not_known_spoils_its_tlv_alone() {
    let hello = [4, 6, 0, 0, 0, 1, 1, 0x90];
    let with = |sub: &[u8]| {
        let mut tlv = hello.to_vec();
        tlv[1] += sub.len() as u8;
        read(&[&tlv, sub, &hello].concat())
    };
    let said = BabelTlv::Hello { unicast: false, seqno: 1, interval: 400 };
    assert_eq!(with(&[0]), (vec![said, said], 0), "Pad1");
    assert_eq!(with(&[1, 3, 0, 0, 0]), (vec![said, said], 0), "PadN");
    assert_eq!(with(&[0x7e, 2, 9, 9]), (vec![said, said], 0), "not mandatory");
    assert_eq!(with(&[0x80, 0]), (vec![said], 1), "mandatory");
    assert_eq!(with(&[1, 3, 0]), (vec![said], 1), "cut short");
    let (tlvs, left_out) = read(&[
        8, 16, 1, 0xc0, 32, 0, 6, 0x40, 0, 7, 1, 0, 10, 0, 0, 5, 0x80, 0, // flags P and R, skipped
        8, 11, 1, 0, 32, 3, 6, 0x40, 0, 7, 1, 0, 6,
    ]);
    let router = RouterId::of_address(addr(5)).expect("a name");
    assert_eq!((tlvs, left_out), (vec![BabelTlv::Update(update(host(6), router))], 1));
}

#[test]
fn padding_unknown_types_and_ipv6_routes_are_skipped() {
    let (tlvs, left_out) = read(&[
        0, 1, 2, 0, 0, // Pad1, PadN
        99, 1, 7, // an unknown type
        8, 18, 2, 0x40, 64, 0, 6, 0x40, 0, 7, 1, 0, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, // IPv6, flag R
        8, 18, 3, 0, 128, 0, 6, 0x40, 0, 7, 1, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 4, // link-local
        8, 14, 4, 0, 32, 0, 6, 0x40, 0, 7, 1, 0, 10, 0, 0, 5, // RFC 9229
        9, 10, 2, 64, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, 4, 6, 0, 0, 0, 1, 1, 0x90,
    ]);
    assert_eq!((tlvs.len(), left_out), (1, 2));
    let (tlvs, left_out) = read(&[
        8, 26, 2, 0x40, 128, 0, 6, 0x40, 0, 7, 1, 0, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, 2, 0, 0, 0xff, 0xfe, 0, 0, 4, 8,
        14, 1, 0, 32, 0, 6, 0x40, 0, 7, 1, 0, 10, 0, 0, 5,
    ]);
    assert_eq!((tlvs, left_out), (vec![BabelTlv::Update(update(host(5), id(4)))], 0), "the name from an IPv6 address");
}

#[test]
fn what_breaks_a_rule_is_left_out() {
    for body in [
        &[4, 5, 0, 0, 0, 1, 1][..],                                 // a truncated Hello
        &[4, 6, 0, 0, 0, 1, 1],                                     // a truncated packet
        &[4],                                                       //
        &[5, 6, 0, 0, 1, 0, 0, 0],                                  // an IHU without interval
        &[5, 6, 9, 0, 1, 0, 4, 0xb0],                               // unknown address encoding
        &[8, 10, 0, 0, 0, 0, 6, 0x40, 0, 7, 1, 0],                  // a finite metric for a wildcard
        &[9, 6, 1, 33, 10, 0, 0, 5],                                // a prefix of 33 bits
        &[9, 2, 0, 8],                                              // a wildcard with a length
        &[10, 14, 0, 0, 0, 8, 64, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 4], // a seqno request for a wildcard
        &[10, 14, 1, 0, 0, 8, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 4],  // with a hop count of 0
        &[7, 6, 1, 0, 127, 0, 0, 1],                                // loopback as next hop
    ] {
        assert_eq!(read(body), (vec![], 1), "{body:?}");
    }
}

#[test]
fn other_packets_are_refused() {
    let refused = |bytes: &[u8]| decode::babel(bytes, true).expect_err("no packet");
    assert_eq!(refused(&[42, 2, 0]), BabelError::Truncated { needed: 4, found: 3 });
    assert_eq!(refused(&[42, 2, 0, 1]), BabelError::Truncated { needed: 5, found: 4 });
    assert_eq!(refused(&[42, 3, 0, 0]), BabelError::NotBabel([42, 3]));
    assert_eq!(refused(&[41, 2, 0, 0]), BabelError::NotBabel([41, 2]));
    // A trailer is not part of the body (section 4.2).
    assert_eq!(decode::babel(&[42, 2, 0, 4, 3, 2, 0, 9, 16, 0], true).map(|(read, _)| read.tlvs.len()), Ok(1));
}

fn prefixes() -> impl Strategy<Value = Prefix> {
    (any::<u32>(), 0u8..=32).prop_map(|(bits, len)| Prefix::new(Ipv4Addr::from_bits(bits), len).expect("a length"))
}

fn tlvs() -> impl Strategy<Value = BabelTlv> {
    let id = prop_oneof![(1u8..4).prop_map(id), (1u8..9).prop_map(|n| RouterId::of_address(addr(n)).expect("a name"))];
    let finite = 0..BABEL_INFINITY;
    let interval = 1u16..;
    prop_oneof![
        1 => (any::<u16>(), interval.clone()).prop_map(|(opaque, interval)| BabelTlv::AckRequest { opaque, interval }),
        1 => (any::<bool>(), any::<u16>(), any::<u16>())
            .prop_map(|(unicast, seqno, interval)| BabelTlv::Hello { unicast, seqno, interval }),
        1 => (any::<Option<IpAddr>>(), any::<u16>(), interval.clone())
            .prop_map(|(address, rxcost, interval)| BabelTlv::Ihu { address, rxcost, interval }),
        4 => (prefixes(), id.clone(), 1u8.., interval, any::<u16>(), finite, any::<Option<u8>>()).prop_map(
            |(prefix, router_id, via, interval, seqno, metric, hops)| {
                let next_hop = Some(addr(via));
                BabelTlv::Update(BabelUpdate { prefix, router_id, next_hop, interval, seqno, metric, hops })
            }
        ),
        1 => (any::<bool>(), prefixes(), any::<u16>()).prop_map(|(one, prefix, interval)| BabelTlv::Retraction {
            prefix: one.then_some(prefix),
            interval
        }),
        1 => (any::<bool>(), prefixes())
            .prop_map(|(one, prefix)| BabelTlv::RouteRequest { prefix: one.then_some(prefix) }),
        1 => (prefixes(), any::<u16>(), 1u8.., id).prop_map(|(prefix, seqno, hop_count, router_id)| {
            BabelTlv::SeqnoRequest { prefix, seqno, hop_count, router_id }
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(tlvs in prop::collection::vec(tlvs(), 0..12)) {
        let read = decode::babel(&encoded(&tlvs), false);
        prop_assert_eq!(read, Ok((BabelMessage { tlvs }, 0)));
    }

    /// Any bytes are parsed or refused, and parsed content survives another round trip.
    #[test]
    fn any_bytes_are_read_or_refused(
        body in prop::collection::vec(prop_oneof![0u8..12, any::<u8>()], 0..200), over_ipv4 in any::<bool>()
    ) {
        if let Ok((message, _)) = decode::babel(&packet(&body), over_ipv4) {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            prop_assert_eq!(decode::babel(&bytes, over_ipv4), Ok((message, 0)));
        }
    }
}
