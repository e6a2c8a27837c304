//! Bytes against the layouts of the RFCs; an independent parser (`etherparse`) verifies packets with checksums.

use super::*;
use crate::drop::DropReason;
use crate::wire::Aggregate;
use crate::wire::options::Carried;
use crate::wire::{
    AtpContent, AtpData, AtpFeedback, AtpPacket, EchoMessage, MeasuredSegment, PacketMeta, Rerr, RoutingMessage, Rrep,
    Rreq, TcpFlags, TcpOptions, Timestamps, UdpDatagram, UnreachableDestination,
};
use crate::wire::{Format, Guard, Mcs, Width};
use core::net::Ipv4Addr;
use etherparse::{Ipv4HeaderSlice, SlicedPacket, TransportSlice};
use fourhop_units::{Bytes, NodeId, Rate, Seq};

fn ipv4(body: Body) -> Ipv4Packet {
    Ipv4Packet {
        src: NodeId(0).ipv4(),
        dst: NodeId(5).ipv4(),
        ttl: 30,
        ident: 7,
        dscp: 0,
        body,
        meta: PacketMeta::default(),
    }
}

fn segment(payload: u32, options: TcpOptions) -> TcpSegment {
    let flags = TcpFlags { ack: true, psh: payload > 0, ..TcpFlags::default() };
    TcpSegment {
        src_port: 49152,
        dst_port: 5001,
        seq: Seq::from_wire(u32::MAX),
        ack: Seq::from_wire(9),
        flags,
        window: 1000,
        options,
        payload,
        ..TcpSegment::default()
    }
}

fn atp_data(payload: u32) -> Body {
    let data = AtpData {
        number: Seq::from_wire(0x0102_0304),
        offset: 0x0b_0c0d_0e0f,
        payload,
        asks: true,
        delay_us: 0x0506_0708,
        entered_queue: fourhop_units::Time::from_secs(9),
    };
    AtpPacket { src_port: 0xc000, dst_port: 0x1389, content: AtpContent::Data(data) }.into()
}

fn atp_feedback() -> Body {
    let feedback = AtpFeedback {
        number: Seq::from_wire(1),
        delay_us: 2,
        complete: 3,
        blocks: [(4, 5), (6, 7)].into_iter().collect(),
        newest: Seq::from_wire(8),
        waited_us: 9,
    };
    AtpPacket { src_port: 1, dst_port: 2, content: AtpContent::Feedback(Box::new(feedback)) }.into()
}

/// The layout documented in `wire/atp.rs`, and a checksum that a receiver would accept: the sum including it is all
/// ones.
#[test]
fn atp_is_laid_out_as_its_module_says() {
    for (body, expected) in [
        (atp_data(3), "c000 1389 01 00 .... 01020304 05060708 0000000b0c0d0e0f 000000"),
        (
            atp_feedback(),
            "0001 0002 02 02 .... 00000001 00000002 0000000000000003 00000008 00000009 00000004 00000005 00000006 \
                00000007",
        ),
    ] {
        let mut bytes = Vec::new();
        packet(&ipv4(body), &mut bytes);
        let content = &bytes[20..];
        let hex: String = content.iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = expected.replace(' ', "");
        assert_eq!((&hex[..12], &hex[16..]), (&expected[..12], &expected[16..]));
        assert_eq!(bytes[9], 253);
        let pseudo = [&bytes[12..20], &[0, 253], &(content.len() as u16).to_be_bytes()].concat();
        let mut sum = crate::wire::bytes::checksum::sum(&pseudo) + crate::wire::bytes::checksum::sum(content);
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        assert_eq!(sum, 0xffff);
    }
}

#[test]
fn lengths_on_paper_are_lengths_in_bytes() {
    let mut sack = TcpOptions { timestamps: Some(Timestamps { value: 1, echo: 2 }), ..TcpOptions::default() };
    sack.sack.push((Seq::from_wire(1), Seq::from_wire(2)));
    let syn = TcpOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true, ..TcpOptions::default() };
    for body in [
        Body::Tcp(segment(1460, TcpOptions::default())),
        Body::Tcp(segment(0, sack)),
        Body::Measured(Box::new(MeasuredSegment { segment: segment(9, syn.clone()), carried: Carried::default() })),
        Body::Tcp(segment(0, syn)),
        Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number: 3, payload: 100 }),
        Body::Echo(EchoMessage { reply: false, ident: 1, number: 2, payload: 56 }),
        atp_data(1460),
        atp_feedback(),
        Body::Routing(RoutingMessage::Aodv(AodvMessage::Rerr(Rerr {
            no_delete: false,
            unreachable: vec![UnreachableDestination { addr: NodeId(1).ipv4(), seqno: 3 }],
        }))),
    ] {
        let content = ipv4(body);
        let mut bytes = Vec::new();
        packet(&content, &mut bytes);
        assert_eq!(bytes.len() as u32, content.len(), "{content:?}");
        let read = Ipv4HeaderSlice::from_slice(&bytes).expect("a header");
        assert_eq!(read.total_len() as usize, bytes.len());
        assert_eq!((read.ttl(), read.identification()), (30, 7));
    }
}

/// Header fields of a packet.
#[test]
fn packets_tell_what_they_carry() {
    let tcp = segment(1_460, TcpOptions::default());
    let measured = MeasuredSegment { segment: tcp.clone(), carried: Carried::default() };
    let datagram = UdpDatagram { src_port: 1, dst_port: 2, number: 3, payload: 100 };
    for (body, payload, carries, control) in [
        (Body::Tcp(tcp), Some(1_460), false, false),
        (Body::Measured(Box::new(measured)), Some(1_460), true, false),
        (Body::Udp(datagram), None, false, false),
        (Body::Routing(AodvMessage::RrepAck.into()), None, false, true),
    ] {
        let packet = ipv4(body);
        assert_eq!((packet.tcp_payload(), packet.carried().is_some()), (payload, carries), "{packet:?}");
        assert_eq!((packet.is_routing(), packet.is_network_control()), (control, control), "{packet:?}");
    }
    // RFC 9293 section 3.3.1: SYN and FIN take one number each, and data follows the SYN.
    for (syn, fin, len) in [(false, false, 9), (true, false, 10), (false, true, 10), (true, true, 11)] {
        let numbered =
            TcpSegment { flags: TcpFlags { syn, fin, ..TcpFlags::default() }, ..segment(9, Default::default()) };
        assert_eq!((numbered.seq_len(), numbered.data_seq()), (len, numbered.seq + u32::from(syn)));
    }
    let options = TcpOptions { sack_permitted: true, ..TcpOptions::default() };
    assert!(TcpOptions::default().is_empty() && !options.is_empty());
}

/// Limited broadcast and multicast (RFC 1112 section 4) are for all neighbours.
#[test]
fn broadcast_and_multicast_are_for_all() {
    for (dst, for_all) in [([255; 4], true), ([224, 0, 0, 1], true), ([239, 1, 2, 3], true), ([240, 0, 0, 1], false)] {
        let packet = Ipv4Packet { dst: dst.into(), ..ipv4(Body::Routing(AodvMessage::RrepAck.into())) };
        assert_eq!(packet.is_for_all(), for_all, "{dst:?}");
    }
}

/// RFC 791 section 3.2: a packet that may pass no further router is lost.
#[test]
fn time_to_live_counts_down_to_one() {
    let mut packet = Ipv4Packet { ttl: 2, ..ipv4(Body::Routing(AodvMessage::RrepAck.into())) };
    assert_eq!((packet.decrement_ttl(), packet.ttl), (Ok(()), 1));
    assert_eq!((packet.decrement_ttl(), packet.ttl), (Err(DropReason::TtlExpired), 1));
}

/// ns-2.35 counts an IPv4 header and its C structures: 28 bytes for a request with its timestamp, 24 for a reply.
#[test]
fn ns2_counts_its_structures() {
    let lost = UnreachableDestination { addr: NodeId(1).ipv4(), seqno: 3 };
    for (destinations, len) in [(1, 20 + 4 + 8), (3, 20 + 4 + 24)] {
        let rerr = AodvMessage::Rerr(Rerr { no_delete: false, unreachable: vec![lost; destinations] });
        assert_eq!(RoutingMessage::from(rerr).ns2_packet_len(), len);
    }
    assert_eq!(RoutingMessage::from(AodvMessage::RrepAck).ns2_packet_len(), 22);
}

#[test]
fn tcp_reads_back_with_a_good_checksum() {
    let mut bytes = Vec::new();
    packet(&ipv4(Body::Tcp(segment(100, TcpOptions::default()))), &mut bytes);
    let sliced = SlicedPacket::from_ip(&bytes).expect("well-formed");
    let Some(TransportSlice::Tcp(read)) = sliced.transport else { panic!("TCP expected") };
    assert_eq!((read.source_port(), read.sequence_number(), read.acknowledgment_number()), (49152, u32::MAX, 9));
    let expected = read.to_header().calc_checksum_ipv4_raw([10, 0, 0, 1], [10, 0, 0, 6], read.payload());
    assert_eq!(Ok(read.checksum()), expected);
}

// RFC 3561 section 5.1.
#[test]
fn a_route_request_is_laid_out_as_in_the_rfc() {
    let rreq = Rreq {
        hop_count: 3,
        rreq_id: 0x0102_0304,
        destination: Ipv4Addr::new(10, 0, 0, 9),
        destination_seqno: None,
        originator: Ipv4Addr::new(10, 0, 0, 1),
        originator_seqno: 5,
        destination_only: true,
        gratuitous: false,
        cost: None,
    };
    let mut bytes = Vec::new();
    aodv(&AodvMessage::Rreq(rreq), &mut bytes);
    let expected = [1, 0x18, 0, 3, 1, 2, 3, 4, 10, 0, 0, 9, 0, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 5];
    assert_eq!(bytes, expected);
}

// RFC 3561 sections 5.2 to 5.4. A HELLO is a reply about its sender (section 6.9).
#[test]
fn replies_errors_and_acknowledgements_are_laid_out_as_in_the_rfc() {
    let hello = Rrep {
        hop_count: 0,
        destination: Ipv4Addr::new(10, 0, 0, 1),
        destination_seqno: 9,
        originator: Ipv4Addr::new(10, 0, 0, 1),
        lifetime_ms: 2_000,
        ack_required: false,
        cost: None,
    };
    let lost = |last, seqno| UnreachableDestination { addr: Ipv4Addr::new(10, 0, 0, last), seqno };
    let rerr = Rerr { no_delete: true, unreachable: vec![lost(7, 2), lost(8, 0x0102_0304)] };
    for (message, expected) in [
        (AodvMessage::Rrep(hello), &[2, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 9, 10, 0, 0, 1, 0, 0, 7, 208][..]),
        (
            AodvMessage::Rrep(Rrep { hop_count: 3, ack_required: true, ..hello }),
            &[2, 0x40, 0, 3, 10, 0, 0, 1, 0, 0, 0, 9, 10, 0, 0, 1, 0, 0, 7, 208],
        ),
        (AodvMessage::Rerr(rerr), &[3, 0x80, 0, 2, 10, 0, 0, 7, 0, 0, 0, 2, 10, 0, 0, 8, 1, 2, 3, 4]),
        (AodvMessage::RrepAck, &[4, 0]),
    ] {
        let mut bytes = Vec::new();
        aodv(&message, &mut bytes);
        assert_eq!(bytes, expected);
        assert_eq!(bytes.len() as u32, message.len());
    }
}

#[test]
fn control_frames_have_their_lengths_without_fcs() {
    let kinds = [
        (FrameKind::Rts, 16),
        (FrameKind::Cts, 10),
        (FrameKind::Ack, 10),
        (FrameKind::BlockAck { start: 1, bitmap: 0x8000_0000_0000_0003, category: Category::Be }, 28),
        (FrameKind::BlockAckRequest { start: 1, category: Category::Be }, 20),
    ];
    for (kind, len) in kinds {
        let control = Frame {
            dst: NodeId(1).mac(),
            src: NodeId(0).mac(),
            duration: Dur::from_micros(6966),
            rate: Rate::kbps(1000),
            airtime: Dur::from_micros(352),
            kind,
        };
        let mut bytes = Vec::new();
        frame(&control, &mut bytes);
        assert_eq!(bytes.len(), len);
        assert_eq!(bytes[2..4], 6966u16.to_le_bytes());
    }
    let data = Frame {
        dst: NodeId(1).mac(),
        src: NodeId(0).mac(),
        duration: Dur::ZERO,
        rate: Rate::kbps(2000),
        airtime: Dur::ZERO,
        kind: FrameKind::Data {
            seq: 1,
            retry: true,
            qos: None,
            msdu: Msdu {
                dst: NodeId(1).mac(),
                len: Bytes(40),
                payload: Payload::Ipv4(ipv4(Body::Tcp(segment(0, TcpOptions::default())))),
            },
        },
    };
    let mut bytes = Vec::new();
    frame(&data, &mut bytes);
    // 24 for the MAC header, 8 for LLC/SNAP with the EtherType, 40 for the packet.
    assert_eq!(bytes.len(), 72);
    assert_eq!((bytes[0], bytes[1], &bytes[22..24]), (0x08, 0x08, &[0x10, 0x00][..]));
}

// 26 for the header with QoS Control, 8 for LLC/SNAP, 40 for the packet; in an A-MSDU, 14 before each LLC/SNAP and 2 of
// padding after the first.
#[test]
fn mpdus_of_aggregates_are_qos_data() {
    let msdu = Msdu {
        dst: NodeId(1).mac(),
        len: Bytes(40),
        payload: Payload::Ipv4(ipv4(Body::Tcp(segment(0, TcpOptions::default())))),
    };
    let mpdu = |more: Vec<Msdu>| Mpdu { seq: 0x123, retry: false, len: Bytes(78), first: msdu.clone(), more };
    let mcs = Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap();
    let aggregate = Aggregate { mcs, category: Category::Be, mpdus: vec![mpdu(vec![]), mpdu(vec![msdu.clone()])] };
    let kind = FrameKind::Aggregate(Box::new(aggregate));
    let (dst, src, rate) = (NodeId(1).mac(), NodeId(0).mac(), mcs.rate());
    let sent = Frame { dst, src, duration: Dur::from_micros(84), rate, airtime: Dur::ZERO, kind };
    let mut bytes = Vec::new();
    frame(&sent, &mut bytes);
    assert_eq!(bytes.len(), (26 + 48) + 26 + (14 + 48 + 2) + (14 + 48));
    assert_eq!((bytes[0], &bytes[22..26], &bytes[26..29]), (0x88, &[0x30, 0x12, 0, 0][..], &[0xaa, 0xaa, 3][..]));
    let second = &bytes[74..];
    assert_eq!((&second[24..26], &second[26..32], &second[38..40]), (&[0x80, 0][..], &dst.0[..], &[0, 48][..]));
    assert_eq!((&second[26 + 64..26 + 70], &second[26 + 76..26 + 78]), (&dst.0[..], &[0, 48][..]));
}
