//! Flows between two hosts joined by a wire.

use super::*;
use crate::app::ages::Ages;
use crate::app::end::FlowAddress;
use crate::app::{cbr, files, ping, transfer};
use crate::node::{Host, Output};
use crate::route::{AddressPlan, PortId, WiredRoutes};
use crate::tcp::adhoc::{Clock, Gate, ReceiverOptions, Rounding, Skew};
use crate::tcp::{HopSource, State};
use crate::wire::{Ipv4Packet, Prefix};
use core::net::Ipv4Addr;
use fourhop_cc::tcp_ap::{DelaySource, Params as TcpAp, Samples};
use fourhop_units::{NodeId, Purpose};

const LEFT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const RIGHT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// One-way delay of the wire.
const DELAY: Dur = Dur::from_millis(10);

fn host(addr: Ipv4Addr, other: Ipv4Addr) -> Host {
    let routes = WiredRoutes::new(AddressPlan::default(), [(Prefix::host(other), PortId(0))]);
    Host::new(addr, 64, Rate::kbps(10_000), routes)
}

/// Sender on the left, receiver on the right, and the packets on the wire between them.
struct Pair {
    left: Host,
    right: Host,
    /// In order of time: arrival time, and whether it arrives on the right.
    wire: Vec<(Time, bool, Ipv4Packet)>,
    seen: Vec<Ipv4Packet>,
}

impl Pair {
    fn new(sender: Endpoint, receiver: Option<Endpoint>) -> Pair {
        let mut pair = Pair { left: host(LEFT, RIGHT), right: host(RIGHT, LEFT), wire: Vec::new(), seen: Vec::new() };
        pair.left.add_endpoint(sender);
        receiver.into_iter().for_each(|receiver| assert_eq!(pair.right.add_endpoint(receiver), 0));
        pair
    }

    fn sender(&self) -> &Endpoint {
        &self.left.endpoints()[0]
    }

    fn receiver(&self) -> &Endpoint {
        &self.right.endpoints()[0]
    }

    fn socket(&self) -> &Socket {
        self.sender().socket().expect("it sends TCP")
    }

    /// Runs everything that happens up to `until`.
    fn run(&mut self, until: Time) {
        let mut out = Vec::new();
        for _ in 0..100_000 {
            let timers = Time::earlier_of(self.left.next_timeout(), self.right.next_timeout());
            let Some(now) = Time::earlier_of(timers, self.wire.first().map(|&(at, ..)| at)).filter(|&at| at <= until)
            else {
                return;
            };
            for to_right in [true, false] {
                let host = if to_right { &mut self.left } else { &mut self.right };
                host.handle_timeout(now, &mut out);
                while self.wire.first().is_some_and(|&(at, right, _)| at <= now && right != to_right) {
                    let (.., packet) = self.wire.remove(0);
                    host.handle_packet(now, packet, PortId(0), &mut out);
                }
                for output in out.drain(..) {
                    let Output::Wire { packet, .. } = output else { panic!("{output:?}") };
                    self.seen.push(packet.clone());
                    self.wire.push((now + DELAY, to_right, packet));
                }
            }
        }
        panic!("it does not come to an end");
    }
}

fn address(local_port: u16, remote_port: u16, peer: Ipv4Addr) -> FlowAddress {
    FlowAddress { peer, local_port, remote_port }
}

fn newreno() -> &'static Transport {
    Transport::find("newreno").expect("known")
}

fn tcp_config() -> tcp::Config {
    tcp::Config { delivery_ages: true, ..tcp::Config::standard() }
}

fn receiver(config: &tcp::Config) -> Endpoint {
    let socket = Socket::listen(config.clone(), newreno(), 9, Seq::from_wire(70));
    Endpoint::new(address(9, 7, LEFT), EndpointKind::TcpReceiver(Box::new(socket)))
}

fn sender(config: &tcp::Config, source: TcpSource) -> Endpoint {
    let socket = Socket::new(config.clone(), newreno(), 7, 9, Seq::from_wire(90));
    Endpoint::new(address(7, 9, RIGHT), EndpointKind::TcpSender(source, Box::new(socket)))
}

fn transfer(config: &tcp::Config, transfer: transfer::Config) -> Pair {
    let source = TcpSource::Transfer(Transfer::new(transfer));
    Pair::new(sender(config, source).with_dscp(10), Some(receiver(config)))
}

const WHOLE: transfer::Config =
    transfer::Config { start: Time::from_secs(1), stop: None, size: Some(Bytes(20_000)), rate: None };

#[test]
fn a_file_arrives_whole_and_both_ends_close() {
    let mut pair = transfer(&tcp_config(), WHOLE);
    assert_eq!(pair.left.next_timeout(), Some(Time::from_secs(1)));
    pair.run(Time::from_secs(200));
    let (sender, receiver) = (pair.sender(), pair.receiver());
    assert_eq!((receiver.received, receiver.arrived, sender.received), (Bytes(20_000), Bytes(20_000), Bytes(0)));
    assert_eq!(pair.socket().state(), State::Closed);
    assert_eq!(receiver.socket().map(Socket::state), Some(State::Closed));
    // SYN, 14 segments of 1,460 bytes; the end reports the socket's counters.
    let counts = sender.counts();
    assert_eq!((counts.sent, counts.retransmitted, counts.timeouts), (sender.stats().segments_sent, 0, 0));
    assert!(counts.sent >= 14 && counts == Counts { sent: counts.sent, ..Counts::default() });
    // The receiver delays some acknowledgements.
    let rtt = sender.rtt_mean().expect("sampled");
    assert!((DELAY * 2..DELAY * 12).contains(&rtt), "{rtt:?}");
    let ages = |end: &Endpoint| end.ages().cloned();
    assert!(ages(sender).is_some() && ages(receiver).is_some());
    assert!(pair.seen.iter().all(|packet| packet.dscp == 10), "both directions");
    assert!(pair.left.account().balances() && pair.right.account().balances());
}

#[test]
fn ages_are_those_of_bytes_from_the_write_to_the_delivery() {
    let mut pair = transfer(&tcp_config(), WHOLE);
    pair.run(Time::from_secs(200));
    let logs = (pair.sender().ages().unwrap(), pair.receiver().ages().unwrap());
    let ages = Ages::of(logs.0, logs.1, Time::ZERO, Time::from_secs(200)).expect("bytes");
    // Bytes travel for 10 ms; the first also waited for the handshake.
    assert_eq!((ages.median, ages.p99), (DELAY, DELAY * 3));
    let unlogged = transfer(&tcp::Config::standard(), WHOLE);
    assert!(unlogged.sender().ages().is_none() && unlogged.receiver().ages().is_none());
}

#[test]
fn a_stop_ends_the_supply_and_closes() {
    let config = transfer::Config { stop: Some(Time::from_secs(3)), size: None, ..WHOLE };
    let mut pair = transfer(&tcp_config(), config);
    pair.run(Time::from_millis(2_999));
    assert_eq!(pair.socket().state(), State::Established);
    let before = pair.receiver().received;
    pair.run(Time::from_secs(200));
    assert_eq!(pair.socket().state(), State::Closed);
    assert_eq!(pair.socket().unacknowledged(), 0);
    assert!(before > Bytes(100_000), "{before:?}");
    assert!(pair.receiver().received >= before);
}

#[test]
fn a_transfer_with_a_rate_writes_it_as_time_goes_by() {
    let config = transfer::Config { stop: Some(Time::from_secs(3)), size: None, rate: Some(Rate::kbps(80)), ..WHOLE };
    let mut pair = transfer(&tcp_config(), config);
    pair.run(Time::from_secs(2));
    let first = pair.receiver().received;
    assert!((Bytes(9_000)..=Bytes(10_000)).contains(&first), "{first:?} in a second");
    pair.run(Time::from_secs(200));
    let all = pair.receiver().received;
    assert!((Bytes(19_000)..=Bytes(20_000)).contains(&all), "{all:?} in two seconds");
}

fn files(fresh: bool, stop: Time) -> Pair {
    let stream = |purpose| Stream::new(1, NodeId(0), purpose);
    let config = files::Config {
        start: Time::from_secs(1),
        stop: Some(stop),
        mean_size: Bytes(8_000),
        shape: 1_500,
        mean_pause: Dur::from_millis(500),
        fresh,
    };
    let source = TcpSource::Files(Files::new(config, stream(Purpose::FileSizes), stream(Purpose::Pauses)));
    let tcp = tcp_config();
    let (mut from, mut to) = (sender(&tcp, source), receiver(&tcp));
    if fresh {
        let renewal = |node| Renewal {
            config: tcp.clone(),
            transport: newreno(),
            iss: Stream::new(1, NodeId(node), Purpose::LaterConnections),
        };
        (from, to) = (from.with_renewal(renewal(0)), to.with_renewal(renewal(1)));
    }
    Pair::new(from, Some(to))
}

#[test]
fn files_follow_each_other_over_one_connection() {
    let mut pair = files(false, Time::from_secs(20));
    pair.run(Time::from_secs(60));
    let files = pair.sender().files().expect("it sends files");
    assert!(files.completed() > 10, "{}", files.completed());
    let syns = pair.seen.iter().filter(|packet| packet.segment().is_some_and(|segment| segment.flags.syn)).count();
    assert_eq!((syns, pair.socket().state()), (2, State::Established));
    assert_eq!(pair.sender().address.local_port, 7);
    assert_eq!((pair.socket().unacknowledged(), pair.socket().rtt_samples().0 > 10), (0, true));
}

#[test]
fn each_file_can_have_a_connection_from_the_next_port() {
    let mut pair = files(true, Time::from_secs(20));
    pair.run(Time::from_secs(200));
    let completed = pair.sender().files().expect("it sends files").completed();
    assert!(completed > 10, "{completed}");
    let opened: Vec<_> = pair
        .seen
        .iter()
        .filter_map(|packet| packet.segment().filter(|segment| segment.flags.syn && !segment.flags.ack))
        .map(|segment| segment.src_port)
        .collect();
    assert_eq!(opened, (7..7 + completed as u16).collect::<Vec<_>>());
    assert_eq!(pair.receiver().address.remote_port, *opened.last().unwrap());
    // Counters and round trips of all connections, not only of the last.
    let (all, last) = (pair.sender().stats(), pair.socket().stats());
    assert!(all.segments_sent >= completed * 3 && all.segments_sent > last.segments_sent);
    let data = |packet: &&Ipv4Packet| packet.segment().is_some_and(|segment| segment.payload > 0);
    let bytes: u64 = pair.seen.iter().filter(data).map(|packet| u64::from(packet.segment().unwrap().payload)).sum();
    assert_eq!(pair.receiver().received, Bytes(bytes));
    // A mean over all connections lies between the round trip of the wire and the same plus the longest ACK delay.
    let rtt = pair.sender().rtt_mean().unwrap();
    assert!((DELAY * 2..DELAY * 2 + Dur::from_millis(200)).contains(&rtt), "{rtt:?}");
}

#[test]
fn ports_that_come_soon_are_later_and_others_are_from_before() {
    assert!(is_later_port(50_001, 50_000) && is_later_port(FIRST_PORT, u16::MAX));
    assert!(is_later_port(50_000 + 8_191, 50_000) && !is_later_port(50_000 + 8_192, 50_000));
    assert!(!is_later_port(50_000, 50_000) && !is_later_port(49_999, 50_000) && !is_later_port(u16::MAX, FIRST_PORT));
}

/// RFC 9293 section 3.10.7.2: a connection begins with a SYN that acknowledges nothing. Any other segment from a port
/// that could be next, such as a reset, must not end the existing connection.
#[test]
fn only_a_syn_from_a_later_port_makes_another_connection() {
    let config = tcp_config();
    let iss = Stream::new(1, NodeId(1), Purpose::LaterConnections);
    let mut end = receiver(&config).with_renewal(Renewal { config, transport: newreno(), iss });
    let remote_after = |end: &mut Endpoint, flags: crate::wire::TcpFlags| {
        let segment = TcpSegment { src_port: 8, dst_port: 9, flags, window: 60_000, ..TcpSegment::default() };
        end.handle_segment(Time::ZERO, &segment, &PacketMeta::default(), &mut Vec::new(), &mut Vec::new());
        end.address.remote_port
    };
    let reset = crate::wire::TcpFlags { rst: true, ..Default::default() };
    for flags in [reset, tcp_flags(true, true), tcp_flags(false, true)] {
        assert_eq!(remote_after(&mut end, flags), 7, "{flags:?}");
    }
    assert_eq!(remote_after(&mut end, tcp_flags(true, false)), 8);
}

#[test]
fn datagrams_and_echoes_cross_the_wire() {
    let config =
        cbr::Config { start: Time::ZERO, stop: Some(Time::from_secs(5)), rate: Rate::kbps(8), payload: Bytes(500) };
    let source = Endpoint::new(address(7, 9, RIGHT), EndpointKind::UdpSender(Cbr::new(config)));
    let sink = Endpoint::new(address(9, 7, LEFT), EndpointKind::UdpReceiver(Sink::default()));
    let mut pair = Pair::new(source, Some(sink));
    pair.run(Time::from_secs(9));
    assert_eq!((pair.receiver().datagrams, pair.receiver().received), (10, Bytes(5_000)));
    assert_eq!((pair.sender().counts(), pair.sender().rtt_mean()), (Counts::default(), None));
    assert!(pair.sender().socket().is_none() && pair.sender().files().is_none() && pair.sender().own().is_none());

    let config = ping::Config {
        start: Time::ZERO,
        stop: Some(Time::from_secs(5)),
        interval: Dur::from_secs(1),
        outstanding: None,
        payload: Bytes(56),
    };
    let pinger = Endpoint::new(address(7, 0, RIGHT), EndpointKind::Pinger(Pinger::new(config)));
    let mut pair = Pair::new(pinger, None);
    pair.run(Time::from_secs(9));
    let EndpointKind::Pinger(pinger) = &pair.sender().kind else { panic!() };
    assert_eq!((pinger.received(), pair.sender().arrived), (5, Bytes(280)));
}

fn hints(hops: HopSource, round_trips: RoundTrips, over: Option<u8>) -> tcp::Config {
    let path_hints = PathHints { hops, round_trips, forward_delay_over: over };
    tcp::Config { path_hints, ..tcp_config() }
}

#[test]
fn notes_say_when_a_packet_was_made_and_what_its_flow_needs() {
    let now = Time::from_secs(4);
    let plain = PacketMeta { created: now, ..PacketMeta::default() };
    let measuring = transfer(&hints(HopSource::Ttl, RoundTrips::Latest, Some(4)), WHOLE);
    assert_eq!(measuring.sender().notes(now), PacketMeta { measure_at: 4, ..plain });
    assert_eq!(measuring.receiver().notes(now), plain);
    assert_eq!(transfer(&tcp_config(), WHOLE).sender().notes(now), plain);
}

/// ns-2.35's Vegas counts its segments without their headers; its packets report this to the link layer.
#[test]
fn packets_say_whether_their_headers_count() {
    for (config, hides) in [(tcp::Config::ns2(), true), (tcp::Config::standard(), false)] {
        let vegas = Transport::find("vegas").expect("known");
        let socket = Socket::new(config, vegas, 7, 9, Seq::from_wire(90));
        let source = TcpSource::Transfer(Transfer::new(WHOLE));
        let end = Endpoint::new(address(7, 9, RIGHT), EndpointKind::TcpSender(source, Box::new(socket)));
        assert_eq!(end.notes(Time::ZERO).hides_headers, hides);
    }
}

#[test]
fn a_receiver_echoes_when_the_segment_was_made_and_what_was_measured_on_its_way() {
    for (round_trips, newest) in [(RoundTrips::Latest, true), (RoundTrips::Unknown, false)] {
        let config = hints(HopSource::Ttl, round_trips, Some(4));
        let mut end = receiver(&config);
        let (mut scratch, mut out) = (Vec::new(), Vec::new());
        let mut take = |end: &mut Endpoint, seq, flags, payload, created: u64, forward_hops| {
            let segment = TcpSegment {
                src_port: 7,
                dst_port: 9,
                seq: Seq::from_wire(seq),
                flags,
                payload,
                ..TcpSegment::default()
            };
            let notes = PacketMeta {
                created: Time::from_millis(created),
                forward: Dur::from_millis(created),
                forward_hops,
                ..PacketMeta::default()
            };
            end.handle_segment(Time::from_secs(2), &segment, &notes, &mut scratch, &mut out);
            end.notes(Time::from_secs(2))
        };
        let flags = tcp_flags(true, false);
        let notes = take(&mut end, 90, flags, 0, 500, 0);
        assert_eq!((notes.forward_hops, notes.echo), (0, Time::ZERO), "nothing of a SYN");
        let flags = tcp_flags(false, true);
        let notes = take(&mut end, 91, flags, 100, 700, 3);
        assert_eq!((notes.forward, notes.forward_hops, notes.echo), (Dur::from_millis(700), 3, Time::from_millis(700)));
        // A retransmission: it was created in the past, and only the newest round trip counts it.
        let notes = take(&mut end, 91, flags, 100, 650, 0);
        assert_eq!((notes.forward, notes.forward_hops), (Dur::from_millis(700), 3));
        assert_eq!(notes.echo, Time::from_millis(if newest { 650 } else { 700 }));
    }
}

/// ElRakabawy, Klemm, Lindemann 2005, section 5.1.1: with synchronised clocks, the gap between segments is the time
/// that packets take over four hops, which an ACK brings back. A packet that was not measured gives no information.
#[test]
fn a_sender_learns_how_long_its_segments_took() {
    let mut config = hints(HopSource::Travelled, RoundTrips::Unknown, Some(4));
    config.cc.tcp_ap = TcpAp { delay_source: DelaySource::Clocks, samples: Samples::Unambiguous, ..TcpAp::paper() };
    let transport = Transport::find("tcp-ap").expect("known");
    let socket = Socket::new(config, transport, 7, 9, Seq::from_wire(90));
    let source = TcpSource::Transfer(Transfer::new(WHOLE));
    let mut end = Endpoint::new(address(7, 9, RIGHT), EndpointKind::TcpSender(source, Box::new(socket)));
    let (mut scratch, mut out) = (Vec::new(), Vec::new());
    let mut now = Time::from_secs(1);
    end.handle_timeout(now, &mut scratch, &mut out);
    let path = Path { hops: Some(4), interface: Interface::Radio(Rate::kbps(2_000)) };
    end.handle_path(now, path, &mut scratch, &mut out);
    let mut answer = |end: &mut Endpoint, syn, ack, forward_hops| {
        now += DELAY * 2;
        let segment = TcpSegment {
            src_port: 9,
            dst_port: 7,
            seq: Seq::from_wire(if syn { 70 } else { 71 }),
            ack: Seq::from_wire(ack),
            flags: tcp_flags(syn, true),
            window: 60_000,
            ..TcpSegment::default()
        };
        let notes = PacketMeta { forward: Dur::from_millis(30), forward_hops, ..PacketMeta::default() };
        end.handle_segment(now, &segment, &notes, &mut scratch, &mut out);
        end.socket().and_then(Socket::pacing_interval)
    };
    assert_eq!(answer(&mut end, true, 91, 0), None);
    let first = answer(&mut end, false, 91 + 536, 0);
    assert_eq!(first, None, "not measured");
    // Times 1 + 2 cov: the round trips are 20 and 40 ms, 30 on average with a deviation of 14.14.
    assert_eq!(answer(&mut end, false, 91 + 2 * 536, 4).map(Dur::as_millis), Some(58));
}

/// Cho, Sirisena, Pawlikowski 2004: the receiver allows as many segments as a path of that many hops holds, two on a
/// short path. It infers the hops from the time to live of arriving segments.
#[test]
fn an_ad_hoc_receiver_knows_the_hops_of_its_path() {
    let mut config = tcp_config();
    (config.timestamps, config.clock) = (true, Clock { tick: Dur::from_micros(10), synchronised: true });
    let receives = ReceiverOptions {
        delimiter: true,
        rater: true,
        rounding: Rounding::Floor,
        freezer: true,
        beta: 5,
        fresh_for: 4,
        gate: Gate::QUARTERS,
        link_rate: Rate::kbps(54_000),
        overhead: Dur::from_millis(1),
        skew: Skew::default(),
    };
    let plain = config.clone();
    config.receiver = config.receiver.with_adhoc(receives);
    let source = TcpSource::Transfer(Transfer::new(WHOLE));
    let mut pair = Pair::new(sender(&plain, source), Some(receiver(&config)));
    pair.run(Time::from_secs(200));
    assert_eq!(pair.receiver().received, Bytes(20_000));
    let window = pair.socket().peer_window();
    assert!(window <= 2 * u64::from(pair.socket().mss()) + 32, "{window}");
}

fn tcp_flags(syn: bool, ack: bool) -> crate::wire::TcpFlags {
    crate::wire::TcpFlags { syn, ack, ..Default::default() }
}
