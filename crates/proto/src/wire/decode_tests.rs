//! Decoding is the inverse of encoding, and survives any other input.

use super::*;
use crate::wire::encode;
use proptest::prelude::*;

fn addresses() -> impl Strategy<Value = Ipv4Addr> {
    // All unicast networks except 0 and 127 (RFC 1122 section 3.2.1.3).
    (prop_oneof![1u8..127, 128u8..224], any::<[u8; 3]>()).prop_map(|(a, [b, c, d])| Ipv4Addr::new(a, b, c, d))
}

fn messages() -> impl Strategy<Value = AodvMessage> {
    let cost = || prop::option::of((any::<u8>(), any::<u32>()).prop_map(|(metric, sum)| PathCost { metric, sum }));
    let rreq = (
        (any::<u8>(), any::<u32>(), addresses(), any::<Option<u32>>()),
        (addresses(), any::<u32>(), any::<bool>(), any::<bool>(), cost()),
    );
    let rreq = rreq.prop_map(|((hop_count, rreq_id, destination, destination_seqno), own)| {
        let (originator, originator_seqno, destination_only, gratuitous, cost) = own;
        AodvMessage::Rreq(Rreq {
            hop_count,
            rreq_id,
            destination,
            destination_seqno,
            originator,
            originator_seqno,
            destination_only,
            gratuitous,
            cost,
        })
    });
    let rrep = (any::<u8>(), addresses(), any::<u32>(), addresses(), any::<u32>(), any::<bool>(), cost());
    let rrep =
        rrep.prop_map(|(hop_count, destination, destination_seqno, originator, lifetime_ms, ack_required, cost)| {
            let rrep = Rrep { hop_count, destination, destination_seqno, originator, lifetime_ms, ack_required, cost };
            AodvMessage::Rrep(rrep)
        });
    let lost = (addresses(), any::<u32>()).prop_map(|(addr, seqno)| UnreachableDestination { addr, seqno });
    let rerr = (any::<bool>(), proptest::collection::vec(lost, 1..=255))
        .prop_map(|(no_delete, unreachable)| AodvMessage::Rerr(Rerr { no_delete, unreachable }));
    let probe = (any::<u16>(), proptest::collection::vec((addresses(), any::<u8>()), 0..=255))
        .prop_map(|(number, heard)| AodvMessage::Probe(Probe { number, heard }));
    prop_oneof![rreq, rrep, rerr, Just(AodvMessage::RrepAck), probe]
}

fn encoded(message: &AodvMessage) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode::aodv(message, &mut bytes);
    bytes
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(message in messages()) {
        let bytes = encoded(&message);
        prop_assert_eq!(bytes.len() as u32, message.len());
        prop_assert_eq!(aodv(&bytes), Ok(message));
    }

    #[test]
    fn every_message_cut_short_is_an_error(message in messages(), cut in any::<prop::sample::Index>()) {
        let bytes = encoded(&message);
        let mut without = message.clone();
        if let AodvMessage::Rreq(Rreq { cost, .. }) | AodvMessage::Rrep(Rrep { cost, .. }) = &mut without {
            *cost = None;
        }
        let short = aodv(&bytes[..cut.index(bytes.len())]);
        // Except one without its extension, which is a message in its own right.
        prop_assert!(short.is_err() || (without != message && short == Ok(without)));
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = aodv(&bytes);
    }

    // Random bytes rarely begin with one of four types: here they do, and most have the right length.
    #[test]
    fn bytes_that_look_like_a_message_are_one_or_an_error(
        kind in 0u8..=5,
        rest in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let bytes: Vec<u8> = [kind].into_iter().chain(rest).collect();
        if let Ok(message) = aodv(&bytes) {
            // A decoded message encodes to the same bytes, except for the ignored ones.
            let again = encoded(&message);
            prop_assert!(again.len() <= bytes.len());
            prop_assert_eq!(aodv(&again), Ok(message));
        }
    }
}

#[test]
fn what_receivers_are_to_ignore_is_ignored() {
    let mut request = vec![1, 0x08, 0, 3, 1, 2, 3, 4, 10, 0, 0, 9, 0, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 5];
    let plain = aodv(&request).expect("a request");
    assert!(matches!(plain, AodvMessage::Rreq(Rreq { destination_seqno: None, hop_count: 3, .. })));
    request[1] |= 0xc7; // J, R and reserved bits
    request[2] = 0xff; // reserved
    request[15] = 77; // a sequence number despite the U flag
    assert_eq!(aodv(&request), Ok(plain.clone()));
    // A HELLO interval (section 6.9.1) follows, then one of an unknown type that may be skipped.
    request.extend([1, 4, 0, 0, 3, 232, 100, 0]);
    assert_eq!(aodv(&request), Ok(plain));
}

/// A node that only knows RFC 3561 skips an extension of its type; ours parse it, at any position.
#[test]
fn the_cost_of_a_path_is_an_extension_that_others_skip() {
    let request = [1, 0x08, 0, 3, 1, 2, 3, 4, 10, 0, 0, 9, 0, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 5];
    let Ok(AodvMessage::Rreq(plain)) = aodv(&request) else { panic!("a request") };
    assert_eq!(plain.cost, None);
    let costly = |bytes: &[u8]| match aodv(bytes) {
        Ok(AodvMessage::Rreq(rreq)) => {
            assert_eq!(Rreq { cost: None, ..rreq }, plain);
            rreq.cost
        }
        other => panic!("{other:?}"),
    };
    let cost = PathCost { metric: 1, sum: 0x01_02_03_04 };
    let ours = [69, 5, 1, 1, 2, 3, 4];
    assert_eq!(encoded(&AodvMessage::Rreq(Rreq { cost: Some(cost), ..plain })), [&request[..], &ours].concat());
    assert_eq!(costly(&[&request[..], &ours].concat()), Some(cost));
    assert_eq!(costly(&[&request[..], &[1, 4, 0, 0, 3, 232], &ours, &[100, 0]].concat()), Some(cost));
    assert_eq!(costly(&[&request[..], &[69, 4, 1, 1, 2, 3]].concat()), None, "another length is another extension");
    assert!((1..=127).contains(&PathCost::EXTENSION), "RFC 3561 section 9: these are skipped");
}

#[test]
fn probes_have_one_size_until_their_list_needs_more() {
    let probe =
        |entries: u8| Probe { number: 7, heard: (0..entries).map(|n| (Ipv4Addr::new(10, 0, 0, n), n)).collect() };
    assert_eq!([0, 20, 21, 255].map(|n| encoded(&AodvMessage::Probe(probe(n))).len()), [106, 106, 109, 1_279]);
    assert_eq!(&encoded(&AodvMessage::Probe(probe(1)))[..10], [69, 1, 0, 7, 10, 0, 0, 0, 0, 0]);
}

#[test]
fn errors_have_their_names() {
    assert_eq!(aodv(&[]), Err(AodvError::Empty));
    assert_eq!(aodv(&[0; 24]), Err(AodvError::UnknownType(0)));
    assert_eq!(aodv(&[5, 0]), Err(AodvError::UnknownType(5)));
    assert_eq!(aodv(&[1; 23]), Err(AodvError::Truncated { kind: 1, needed: 24, found: 23 }));
    assert_eq!(aodv(&[4]), Err(AodvError::Truncated { kind: 4, needed: 2, found: 1 }));
    assert_eq!(aodv(&[3, 0, 0, 0]), Err(AodvError::NoDestination));
    assert_eq!(aodv(&[3, 0, 0, 2, 9, 9]), Err(AodvError::Truncated { kind: 3, needed: 20, found: 6 }));
    let mut reply = [0; 22];
    (reply[0], reply[2]) = (2, 24);
    (reply[4], reply[12]) = (10, 10);
    assert_eq!(aodv(&reply[..20]), Err(AodvError::Subnet(24)));
    reply[2] = 0;
    assert_eq!(aodv(&reply[..21]), Err(AodvError::UnknownExtension(0)), "extensions have no type 0");
    (reply[20], reply[21]) = (1, 4);
    let short = AodvError::TruncatedExtension { kind: 1, needed: 6, found: 2 };
    assert_eq!(aodv(&reply), Err(short));
    assert_eq!(short.to_string(), "an extension of type 1 with 2 bytes, allowed: 6");
    assert_eq!(aodv(&[4, 0, 200, 0]), Err(AodvError::UnknownExtension(200)));
}

/// A route to one of these would take a kernel's traffic for everyone, or for itself.
#[test]
fn routes_to_what_is_no_host_are_refused() {
    let ip = Ipv4Addr::new;
    let (host, seqno) = (ip(10, 0, 0, 9), 1);
    for addr in
        [ip(0, 0, 0, 0), ip(0, 1, 2, 3), ip(127, 0, 0, 1), ip(224, 0, 0, 1), ip(240, 0, 0, 1), Ipv4Addr::BROADCAST]
    {
        let rreq = |destination, originator| {
            let cost = None;
            let (rreq_id, originator_seqno, destination_seqno) = (1, 1, None);
            let (destination_only, gratuitous, hop_count) = (false, false, 1);
            AodvMessage::Rreq(Rreq {
                hop_count,
                rreq_id,
                destination,
                destination_seqno,
                originator,
                originator_seqno,
                destination_only,
                gratuitous,
                cost,
            })
        };
        let rrep = |destination, originator| {
            let (hop_count, destination_seqno, lifetime_ms, ack_required, cost) = (1, 1, 1_000, false, None);
            let rrep = Rrep { hop_count, destination, destination_seqno, originator, lifetime_ms, ack_required, cost };
            AodvMessage::Rrep(rrep)
        };
        let unreachable = [host, addr].map(|addr| UnreachableDestination { addr, seqno }).to_vec();
        let rerr = AodvMessage::Rerr(Rerr { no_delete: false, unreachable });
        for message in [rreq(host, addr), rreq(addr, host), rrep(host, addr), rrep(addr, host), rerr] {
            assert_eq!(aodv(&encoded(&message)), Err(AodvError::NoHost(addr)), "{message:?}");
        }
    }
    assert_eq!(AodvError::NoHost(host).to_string(), "the address 10.0.0.9, allowed: addresses of hosts");
}
