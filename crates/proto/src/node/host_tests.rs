//! A host between two wires.

use super::*;
use crate::app::cbr::{self, Cbr};
use crate::app::end::FlowAddress;
use crate::app::sink::Sink;
use crate::drop::DropReason;
use crate::node::endpoint::EndpointKind;
use crate::route::AddressPlan;
use crate::wire::{Body, EchoMessage, PacketMeta, Prefix, UdpDatagram};
use fourhop_units::Bytes;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const LEFT: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
const RIGHT: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);
const NOWHERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const TTL: u8 = 64;

fn host() -> Host {
    let routes = [(LEFT, PortId(0)), (RIGHT, PortId(1))].map(|(addr, port)| (Prefix::host(addr), port));
    Host::new(HERE, TTL, Rate::kbps(10_000), WiredRoutes::new(AddressPlan::default(), routes))
}

fn packet(src: Ipv4Addr, dst: Ipv4Addr, port: u16) -> Ipv4Packet {
    let body = Body::Udp(UdpDatagram { src_port: port, dst_port: port, number: 0, payload: 100 });
    Ipv4Packet { src, dst, ttl: 9, ident: 0, dscp: 0, body, meta: PacketMeta::default() }
}

fn come(host: &mut Host, packet: Ipv4Packet, port: u16) -> Vec<Output> {
    let mut out = Vec::new();
    host.handle_packet(Time::ZERO, packet, PortId(port), &mut out);
    out
}

/// Returns (taken, passed, dropped) after checking that they balance.
fn counts(host: &Host) -> (u64, u64, u64) {
    let account = host.account();
    assert!(account.balances() && account.held == 0, "{account:?}");
    (account.taken, account.passed, account.dropped)
}

#[test]
fn a_packet_leaves_by_the_wire_to_its_destination_with_one_hop_less_to_live() {
    let mut host = host();
    let sent = Ipv4Packet { ttl: 8, ..packet(LEFT, RIGHT, 5) };
    assert_eq!(come(&mut host, packet(LEFT, RIGHT, 5), 0), [Output::Wire { port: PortId(1), packet: sent }]);
    assert_eq!(counts(&host), (1, 1, 0));
}

#[test]
fn the_way_down_is_learned_from_packets_on_their_way_up() {
    let mut host = host();
    come(&mut host, packet(NOWHERE, LEFT, 5), 1);
    assert_eq!(host.routes().port(NOWHERE), Some(PortId(1)));
}

#[test]
fn what_has_no_route_or_no_hop_to_live_is_dropped_and_reported_to_a_host_outside_alone() {
    for attached in [false, true] {
        let mut host = host();
        if attached {
            host.attach();
        }
        assert_eq!(come(&mut host, packet(LEFT, NOWHERE, 0), 0), [], "nobody is told of a lost route");
        let old = Ipv4Packet { ttl: 1, ..packet(LEFT, RIGHT, 0) };
        let lost = Output::Lost { packet: old.clone(), reason: DropReason::TtlExpired };
        assert_eq!(come(&mut host, old, 0), if attached { vec![lost] } else { vec![] });
        // A packet of a flow: both its ends are simulated.
        assert_eq!(come(&mut host, Ipv4Packet { ttl: 1, ..packet(LEFT, RIGHT, 5) }, 0), []);
        assert_eq!(counts(&host), (3, 0, 3));
        let of = |reason| host.drops().of(reason);
        assert_eq!((of(DropReason::NoRoute), of(DropReason::TtlExpired)), (1, 2));
    }
}

#[test]
fn a_packet_that_no_flow_takes_is_for_the_host_outside_or_lost() {
    let mut host = host();
    assert_eq!(come(&mut host, packet(LEFT, HERE, 5), 0), []);
    assert_eq!((counts(&host), host.drops().of(DropReason::NoListener)), ((1, 0, 1), 1));
    host.attach();
    assert_eq!(come(&mut host, packet(LEFT, HERE, 5), 0), [Output::Deliver(packet(LEFT, HERE, 5))]);
    assert_eq!(counts(&host), (2, 1, 1));
}

#[test]
fn a_host_outside_sends_through_the_routes() {
    let mut host = host();
    host.attach();
    let mut out = Vec::new();
    host.handle_local(packet(HERE, RIGHT, 5), &mut out);
    assert_eq!(out, [Output::Wire { port: PortId(1), packet: packet(HERE, RIGHT, 5) }]);
    host.handle_local(packet(HERE, NOWHERE, 5), &mut out);
    assert_eq!((out.len(), counts(&host)), (1, (2, 1, 1)));
}

#[test]
fn an_echo_is_answered_and_recorded() {
    let mut host = host();
    host.record(7, 10);
    let echo = EchoMessage { reply: false, ident: 3, number: 1, payload: 56 };
    let ping = |ident| Ipv4Packet { body: Body::Echo(echo), ident, dscp: 46, ..packet(LEFT, HERE, 0) };
    let reply = Body::Echo(EchoMessage { reply: true, ..echo });
    for ident in 0..2 {
        let out = come(&mut host, ping(9), 0);
        let steps = out.iter().filter_map(|output| match output {
            Output::Noted(note) => Some((note.number, note.step)),
            _ => None,
        });
        let [request, answer] = [7, 17].map(|first| first + 20 * u32::from(ident));
        assert_eq!(
            steps.collect::<Vec<_>>(),
            [(request, Step::Emitted), (request, Step::Delivered), (answer, Step::Created)]
        );
        let Some(Output::Wire { port: PortId(0), packet }) = out.last() else { panic!("{out:?}") };
        assert_eq!((packet.src, packet.dst, packet.ttl, packet.ident, packet.dscp), (HERE, LEFT, TTL, ident, 46));
        assert_eq!(packet.body, reply);
    }
    assert_eq!(counts(&host), (4, 4, 0));
}

#[test]
fn flows_begin_and_end_at_a_host() {
    let mut host = host();
    let address = |local_port| FlowAddress { peer: RIGHT, local_port, remote_port: 9 };
    let config = cbr::Config { start: Time::from_secs(1), stop: None, rate: Rate::kbps(8), payload: Bytes(1_000) };
    assert_eq!(host.add_endpoint(Endpoint::new(address(4), EndpointKind::UdpReceiver(Sink::default()))), 0);
    assert_eq!(host.next_timeout(), None);
    assert_eq!(host.add_endpoint(Endpoint::new(address(5), EndpointKind::UdpSender(Cbr::new(config)))), 1);
    let mut out = Vec::new();
    for second in 1..3 {
        let at = Time::from_secs(second);
        assert_eq!(host.next_timeout(), Some(at));
        host.handle_timeout(at, &mut out);
        let Some(Output::Wire { port: PortId(1), packet }) = out.pop() else { panic!("{out:?}") };
        let body = Body::Udp(UdpDatagram { src_port: 5, dst_port: 9, number: second as u32 - 1, payload: 1_000 });
        assert_eq!((packet.body, out.len()), (body, 0));
    }
    come(&mut host, Ipv4Packet { src: RIGHT, ..packet(RIGHT, HERE, 9) }, 1);
    let body = Body::Udp(UdpDatagram { src_port: 9, dst_port: 4, number: 0, payload: 100 });
    come(&mut host, Ipv4Packet { body, ..packet(RIGHT, HERE, 9) }, 1);
    assert_eq!(host.endpoints()[0].received, Bytes(100));
    assert_eq!(counts(&host), (4, 3, 1));
}
