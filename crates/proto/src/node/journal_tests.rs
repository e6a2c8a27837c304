//! The note of each kind of packet, and the numbers of packets.

use super::*;
use crate::wire::{
    AodvMessage, AtpContent, AtpData, AtpPacket, EchoMessage, PacketMeta, Rrep, TcpFlags, TcpOptions, TcpSegment,
    UdpDatagram,
};
use fourhop_units::{NodeId, Seq, Time};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

fn packet(body: Body) -> Ipv4Packet {
    Ipv4Packet { src: A, dst: B, ttl: 9, ident: 0, dscp: 0, body, meta: PacketMeta { number: 5, ..Default::default() } }
}

/// A note without content.
fn empty(packet: &Ipv4Packet, kind: PacketKind, protocol: u8) -> Note {
    let (len, step) = (packet.len(), Step::Head);
    let (src, dst) = ((A, 0), (packet.dst, 0));
    Note {
        number: 5,
        step,
        kind,
        protocol,
        src,
        dst,
        seq: 0,
        ack: None,
        window: 0,
        window_scale: None,
        payload: 0,
        len,
    }
}

fn segment(flags: TcpFlags, payload: u32) -> TcpSegment {
    TcpSegment {
        src_port: 7,
        dst_port: 9,
        seq: Seq::from_wire(100),
        ack: Seq::from_wire(200),
        flags,
        window: 300,
        options: TcpOptions { window_scale: Some(4), ..TcpOptions::default() },
        payload,
        ..TcpSegment::default()
    }
}

#[test]
fn the_flags_and_the_payload_of_a_segment_give_its_kind() {
    let no = TcpFlags::default();
    for (flags, payload, kind) in [
        (TcpFlags { rst: true, syn: true, fin: true, ..no }, 1, PacketKind::TcpRst),
        (TcpFlags { syn: true, fin: true, ..no }, 1, PacketKind::TcpSyn),
        (TcpFlags { fin: true, ..no }, 1, PacketKind::TcpData),
        (TcpFlags { fin: true, ..no }, 0, PacketKind::TcpFin),
        (no, 0, PacketKind::TcpAck),
    ] {
        for ack in [false, true] {
            let packet = packet(Body::Tcp(segment(TcpFlags { ack, ..flags }, payload)));
            let expected = Note {
                src: (A, 7),
                dst: (B, 9),
                seq: 100,
                ack: ack.then_some(200),
                window: 300,
                window_scale: Some(4),
                payload,
                ..empty(&packet, kind, 6)
            };
            assert_eq!(Note::of(&packet, Step::Head), expected);
        }
    }
}

#[test]
fn datagrams_and_echoes_have_ports_numbers_and_payload() {
    let udp = packet(Body::Udp(UdpDatagram { src_port: 7, dst_port: 9, number: 11, payload: 13 }));
    let expected = Note { src: (A, 7), dst: (B, 9), seq: 11, payload: 13, ..empty(&udp, PacketKind::Udp, 17) };
    assert_eq!(Note::of(&udp, Step::Head), expected);
    for (reply, kind, src, dst) in
        [(false, PacketKind::EchoRequest, (A, 7), (B, 0)), (true, PacketKind::EchoReply, (A, 0), (B, 7))]
    {
        let echo = packet(Body::Echo(EchoMessage { reply, ident: 7, number: 11, payload: 13 }));
        assert_eq!(Note::of(&echo, Step::Head), Note { src, dst, seq: 11, payload: 13, ..empty(&echo, kind, 1) });
    }
}

#[test]
fn a_transport_and_a_routing_protocol_name_their_packets() {
    let data = AtpData {
        number: Seq::from_wire(11),
        offset: 0,
        payload: 13,
        asks: false,
        delay_us: 0,
        entered_queue: Time::ZERO,
    };
    let atp = packet(AtpPacket { src_port: 7, dst_port: 9, content: AtpContent::Data(data) }.into());
    let expected = Note { src: (A, 7), dst: (B, 9), seq: 11, payload: 13, ..empty(&atp, PacketKind::AtpData, 253) };
    assert_eq!(Note::of(&atp, Step::Head), expected);

    let hello = AodvMessage::Rrep(Rrep {
        hop_count: 0,
        destination: A,
        destination_seqno: 3,
        originator: A,
        lifetime_ms: 1,
        ack_required: false,
        cost: None,
    });
    for (dst, kind) in [(B, PacketKind::Rrep), (Ipv4Addr::BROADCAST, PacketKind::Hello)] {
        let packet = Ipv4Packet { dst, ..packet(Body::Routing(hello.clone().into())) };
        let found = Note::of(&packet, Step::Head);
        let expected = Note { src: (A, 654), dst: (dst, 654), seq: found.seq, payload: 20, ..empty(&packet, kind, 17) };
        assert_eq!(found, expected);
    }
}

/// A packet of an outside host with this content.
fn outside(protocol: u8, content: &[u8]) -> Ipv4Packet {
    let made = Ipv4Packet::control_broadcast(A, protocol, content);
    Ipv4Packet { dst: B, meta: PacketMeta { number: 5, ..Default::default() }, ..made }
}

#[test]
fn what_hosts_outside_send_is_read_from_its_bytes() {
    let udp = outside(17, &[0, 7, 0, 9, 0, 12, 0, 0, 1, 2, 3, 4]);
    let expected = Note { src: (A, 7), dst: (B, 9), payload: 4, ..empty(&udp, PacketKind::Udp, 17) };
    assert_eq!(Note::of(&udp, Step::Head), expected);

    let tcp = [0, 7, 0, 9, 0, 0, 0, 100, 0, 0, 0, 200, 0x50, 0x10, 1, 44, 0, 0, 0, 0, 8, 8, 8];
    let tcp = outside(6, &tcp);
    let expected = Note {
        src: (A, 7),
        dst: (B, 9),
        seq: 100,
        ack: Some(200),
        window: 300,
        payload: 3,
        ..empty(&tcp, PacketKind::TcpData, 6)
    };
    assert_eq!(Note::of(&tcp, Step::Head), expected);

    let other = outside(89, &[1, 2, 3]);
    assert_eq!(Note::of(&other, Step::Head), Note { payload: 3, ..empty(&other, PacketKind::Other, 89) });
}

#[test]
fn names_find_their_kinds() {
    for kind in PacketKind::ALL {
        assert_eq!(PacketKind::named(kind.name()), *kind);
    }
    assert_eq!(PacketKind::named("none of these"), PacketKind::Other);
}

fn unnumbered() -> Ipv4Packet {
    let body = Body::Udp(UdpDatagram { src_port: 7, dst_port: 9, number: 0, payload: 0 });
    Ipv4Packet { meta: PacketMeta::default(), ..packet(body) }
}

fn steps(out: &mut Vec<Output>) -> Vec<(u32, Step)> {
    out.drain(..)
        .map(|output| match output {
            Output::Noted(note) => (note.number, note.step),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_packet_gets_a_number_at_its_first_step_and_keeps_it() {
    let (mut journal, mut out) = (Journal::default(), Vec::new());
    journal.begin(3, 4);
    assert!(journal.is_kept());
    let [mut first, mut second, mut third] = [(); 3].map(|()| unnumbered());
    journal.note(&mut first, Step::Created, &mut out);
    journal.note(&mut first, Step::Head, &mut out);
    assert_eq!(steps(&mut out), [(3, Step::Created), (3, Step::Head)]);
    journal.note(&mut second, Step::Emitted, &mut out);
    assert_eq!(steps(&mut out), [(7, Step::Emitted)]);
    // Packets of routing first appear when they are sent.
    journal.note_queued(&mut third, NextHop::Unicast(B), &mut out);
    journal.note_queued(&mut third, NextHop::Broadcast, &mut out);
    assert_eq!(steps(&mut out), [(11, Step::Emitted), (11, Step::Queued(Some(B))), (11, Step::Queued(None))]);
    journal.route(B, Some((NodeId(2).ipv4(), 3)), &mut out);
    assert_eq!(out, [Output::Route { destination: B, way: Some((NodeId(2).ipv4(), 3)) }]);
}

#[test]
fn a_journal_that_is_not_kept_says_nothing_and_numbers_nothing() {
    let (mut journal, mut out, mut packet) = (Journal::default(), Vec::new(), unnumbered());
    journal.note(&mut packet, Step::Created, &mut out);
    journal.note_queued(&mut packet, NextHop::Broadcast, &mut out);
    journal.route(B, None, &mut out);
    assert_eq!((out, packet.meta.number, journal.is_kept()), (vec![], 0, false));
}

#[test]
fn the_last_step_can_fail_afterwards_and_no_other() {
    let mut packet = unnumbered();
    packet.meta.number = 5;
    let note = |step| Output::Noted(Note::of(&packet, step));
    let mut out = [note(Step::Received(None)), note(Step::Delivered)];
    revise(&mut out, DropReason::NoListener);
    assert_eq!(out, [note(Step::Received(None)), note(Step::Dropped(DropReason::NoListener))]);
    let mut out = [note(Step::Delivered), Output::Route { destination: B, way: None }];
    let before = out.clone();
    revise(&mut out, DropReason::NoListener);
    assert_eq!(out, before);
    revise(&mut [], DropReason::NoListener);
}
