//! Packet scripts of a node.

use super::{CONFIG, data, ms};
use crate::atp::Meter;
use crate::wire::{
    ArpMessage, ArpOperation, AtpContent, AtpData, AtpPacket, Body, Ipv4Packet, Msdu, PacketMeta, Payload, Segment,
};
use fourhop_units::{Bytes, Dur, MacAddr, NodeId};

/// A packet that entered the queue at `entered_ms`, with the delay in milliseconds recorded so far.
fn packet(entered_ms: u64, delay_ms: u32) -> Msdu {
    let data = AtpData { entered_queue: ms(entered_ms), ..data(0, 0, delay_ms) };
    body(AtpPacket { src_port: 1, dst_port: 2, content: AtpContent::Data(data) }.into())
}

fn body(body: Body) -> Msdu {
    let (src, dst) = (NodeId(0).ipv4(), NodeId(1).ipv4());
    let packet = Ipv4Packet { src, dst, ttl: 9, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
    Msdu { dst: NodeId(1).mac(), len: Bytes(1_044), payload: Payload::Ipv4(packet) }
}

/// Lets the packet leave at a millisecond; without contention its transmission takes 5 ms. Returns its delay in
/// microseconds then.
fn departs(meter: &mut Meter, at: u64, mut msdu: Msdu) -> u32 {
    meter.handle_departure(ms(at), &mut msdu, |_| Dur::from_millis(5));
    let Payload::Ipv4(Ipv4Packet {
        body: Body::Transport(Segment::Atp(AtpPacket { content: AtpContent::Data(data), .. })),
        ..
    }) = msdu.payload
    else {
        panic!("no data of ATP")
    };
    data.delay_us
}

#[test]
fn an_idle_node_reckons_with_three_packets_of_the_flow_around_it() {
    let mut meter = Meter::new(CONFIG);
    assert_eq!(departs(&mut meter, 7, packet(7, 0)), 15_000);
}

#[test]
fn the_delay_is_the_mean_wait_and_the_mean_transmission() {
    let mut meter = Meter::new(CONFIG);
    departs(&mut meter, 0, packet(0, 0));
    meter.handle_free(ms(20));
    meter.handle_free(ms(25));
    // Waits 0 and 12 ms: 3 ms; one transmission of 20 ms.
    assert_eq!(departs(&mut meter, 32, packet(20, 0)), 23_000);
    // Waits 0, 12, 3 ms: 3 ms; transmissions 20 and 8 ms: 17 ms.
    assert_eq!(departs(&mut meter, 40, packet(37, 0)), 20_000);
}

#[test]
fn the_largest_delay_of_the_path_stays() {
    let mut meter = Meter::new(CONFIG);
    assert_eq!(departs(&mut meter, 0, packet(0, 16)), 16_000);
    assert_eq!(departs(&mut meter, 20, packet(20, 1)), 20_000);
}

#[test]
fn after_an_epoch_without_packets_what_was_measured_is_forgotten() {
    let mut meter = Meter::new(CONFIG);
    departs(&mut meter, 0, packet(0, 0));
    meter.handle_free(ms(200));
    assert_eq!(departs(&mut meter, 1_199, packet(1_199, 0)), 200_000);
    meter.handle_free(ms(1_399));
    assert_eq!(departs(&mut meter, 2_399, packet(2_399, 0)), 15_000);
}

/// Other unicast traffic uses the medium; broadcasts and ARP, which nobody acknowledges or few need, do not count.
#[test]
fn every_unicast_packet_counts_for_the_transmission() {
    let udp = body(Body::Udp(crate::wire::UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 100 }));
    let mut meter = Meter::new(CONFIG);
    meter.handle_departure(ms(0), &mut udp.clone(), |_| Dur::from_millis(5));
    meter.handle_free(ms(40));
    assert_eq!(departs(&mut meter, 50, packet(50, 0)), 40_000);

    let arp = Payload::Arp(ArpMessage {
        operation: ArpOperation::Reply,
        sender_mac: NodeId(0).mac(),
        sender_ip: NodeId(0).ipv4(),
        target_mac: Some(NodeId(1).mac()),
        target_ip: NodeId(1).ipv4(),
    });
    for ignored in [Msdu { dst: MacAddr::BROADCAST, ..udp.clone() }, Msdu { payload: arp, ..udp }] {
        let mut meter = Meter::new(CONFIG);
        meter.handle_departure(ms(0), &mut ignored.clone(), |_| Dur::from_millis(5));
        meter.handle_free(ms(40));
        assert_eq!(departs(&mut meter, 50, packet(50, 0)), 15_000);
    }
}
