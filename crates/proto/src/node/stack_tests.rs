//! Nodes within range of each other, and outside stations whose frames are fed in by hand.
//!
//! A frame reaches every other node at once, strong enough for each. Station 9 is the outside one.

use super::*;
use crate::net::{LinkRed, NeighbourhoodRed, link_red, neighbourhood_red};
use crate::node::{self, Begun, Heard, Rules};
use crate::phy::{PhyKind, Radiated};
use crate::preset::Configured;
use crate::route::StaticRoutes;
use crate::wire::{
    Aggregate, Body, Ecn, Format, FrameKind, Guard, Mcs, Mpdu, PacketMeta, PriorityMap, TcpFlags, TcpSegment,
    UdpDatagram, Width,
};
use fourhop_units::{Bytes, NodeId, Purpose, Rate};
use std::sync::Arc;

#[path = "stack_driver_tests.rs"]
mod driver;

/// Far above every threshold.
const POWER: Watt = Watt(1e-6);
const OUTSIDE: u32 = 9;

struct Air {
    nodes: Vec<(Node, Ear)>,
    rules: Rules,
    /// On the air: end and sender of each frame.
    flying: Vec<(Time, NodeId, Frame)>,
    /// Frames sent by nodes so far: start and sender of each.
    frames: Vec<(Time, u32, Frame)>,
    buffers: Buffers,
    outputs: Vec<(u32, Output)>,
    now: Time,
}

impl Air {
    /// Nodes 0, 1, ... with a one-hop route to every station and an outside host each.
    fn new(count: u32, config: &node::Config) -> Air {
        let node = |id: NodeId| {
            let addresses = Addresses { ip: id.ipv4(), mac: id.mac() };
            let routes = (0..=OUTSIDE).map(|other| (NodeId(other).ipv4(), NodeId(other).ipv4(), 1));
            let router = Router::from(StaticRoutes::new(addresses.ip, routes));
            let mut node = Node::new(addresses, Stream::new(1, id, Purpose::Backoff), config, router);
            node.attach();
            (node, Ear::new())
        };
        Air {
            nodes: (0..count).map(|id| node(NodeId(id))).collect(),
            rules: Rules::new(config.phy, &config.mac),
            flying: Vec::new(),
            frames: Vec::new(),
            buffers: Buffers::default(),
            outputs: Vec::new(),
            now: Time::ZERO,
        }
    }

    fn radiate(&mut self, now: Time, src: NodeId, frame: Frame) {
        let radiated = Radiated::new(src, &frame);
        for (id, (node, ear)) in (0..).zip(&mut self.nodes).filter(|&(id, _)| NodeId(id) != src) {
            let copy = radiated.copy(now, POWER, frame.dst == NodeId(id).mac());
            if ear.handle_arrival::<Configured>(now, copy, &frame, None, &self.rules) == Begun::AccessLost {
                node.handle_access_lost(now, FIRST, ear);
            }
        }
        self.flying.push((now + frame.airtime, src, frame));
    }

    fn end(&mut self, now: Time, src: NodeId, frame: &Frame) {
        for (id, (node, ear)) in (0..).zip(&mut self.nodes).filter(|&(id, _)| NodeId(id) != src) {
            let for_us = frame.dst == NodeId(id).mac();
            if ear.handle_departure(now, src, frame, for_us, None, &self.rules) == Heard::ForUs {
                node.handle_reception(now, FIRST, (frame, POWER), ear, &mut self.buffers);
                self.outputs.extend(self.buffers.outputs.drain(..).map(|output| (id, output)));
            }
        }
    }

    /// Runs everything that happens up to `until`; at the same instant, ends come first.
    fn run(&mut self, until: Time) {
        for _ in 0..10_000 {
            let ends = self.flying.iter().map(|&(end, ..)| end).min();
            let timer = self.nodes.iter().filter_map(|(node, ear)| node.next_timeout(FIRST, ear)).min();
            let Some(now) = Time::earlier_of(ends, timer).filter(|&at| at <= until) else {
                self.now = until;
                return;
            };
            if ends == Some(now) {
                let at = self.flying.iter().position(|&(end, ..)| end == now).unwrap();
                let (_, src, frame) = self.flying.remove(at);
                self.end(now, src, &frame);
                continue;
            }
            for id in 0..self.nodes.len() {
                let (node, ear) = &mut self.nodes[id];
                let mut air = None;
                if node.next_timeout(FIRST, ear).is_some_and(|at| at <= now) {
                    let _ = node.handle_timeout(now, FIRST, ear, &mut air, &mut self.buffers);
                    self.outputs.extend(self.buffers.outputs.drain(..).map(|output| (id as u32, output)));
                }
                if let Some(frame) = air {
                    self.frames.push((now, id as u32, frame.clone()));
                    self.radiate(now, NodeId(id as u32), frame);
                }
            }
        }
        panic!("it does not come to an end");
    }

    /// The outside host of node 0 sends a packet.
    fn send(&mut self, packet: Ipv4Packet) {
        let (node, ear) = &mut self.nodes[0];
        node.handle_local(self.now, packet, ear, &mut self.buffers);
        self.outputs.extend(self.buffers.outputs.drain(..).map(|output| (0, output)));
    }

    /// Station 9 sends a frame to node 0 at `at`; returns its end.
    fn feed(&mut self, at: Time, kind: FrameKind, airtime: Dur) -> Time {
        self.run(at);
        let (dst, src) = (NodeId(0).mac(), NodeId(OUTSIDE).mac());
        let frame = Frame { dst, src, duration: Dur::ZERO, rate: Rate::kbps(6_000), airtime, kind };
        self.radiate(at, NodeId(OUTSIDE), frame);
        self.run(at + airtime);
        at + airtime
    }

    fn node(&self, id: usize) -> &Node {
        &self.nodes[id].0
    }

    /// Packets delivered to outside hosts, with the node number of each.
    fn delivered(&self) -> Vec<(u32, Ipv4Packet)> {
        let packet = |(id, output): &(u32, Output)| match output {
            Output::Deliver(packet) => Some((*id, packet.clone())),
            _ => None,
        };
        self.outputs.iter().filter_map(packet).collect()
    }

    /// MPDU numbers of each aggregate so far, with its start.
    fn aggregates(&self) -> Vec<(Time, Vec<u16>)> {
        let numbers = |(at, _, frame): &(Time, u32, Frame)| match &frame.kind {
            FrameKind::Aggregate(aggregate) => Some((*at, aggregate.mpdus.iter().map(|mpdu| mpdu.seq).collect())),
            _ => None,
        };
        self.frames.iter().filter_map(numbers).collect()
    }
}

fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// Without ARP and RTS.
fn config() -> node::Config {
    let mut config = node::Config::standard();
    config.link.arp = false;
    config.mac.rts_threshold = Bytes(100_000);
    config
}

/// 802.11n at 65 Mbit/s.
fn aggregating() -> node::Config {
    let mut config = config();
    let mcs = Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap();
    config.mac = mac::Config {
        mcs: Some(mcs),
        data_rate: mcs.rate(),
        basic_rate: Rate::kbps(6_000),
        legacy_rate: Rate::kbps(6_000),
        ..config.mac.with_phy(PhyKind::Ofdm)
    };
    config
}

/// A datagram from node 0's host; its number identifies the packet.
fn datagram(dst: u32, number: u32, dscp: u8) -> Ipv4Packet {
    let body = Body::Udp(UdpDatagram { src_port: 5, dst_port: 6, number, payload: 1_000 });
    let (src, dst) = (NodeId(0).ipv4(), NodeId(dst).ipv4());
    Ipv4Packet { src, dst, ttl: 9, ident: 0, dscp, body, meta: PacketMeta::default() }
}

fn number(packet: &Ipv4Packet) -> u32 {
    match &packet.body {
        Body::Udp(datagram) => datagram.number,
        other => panic!("{other:?}"),
    }
}

fn msdu(packet: Ipv4Packet, dst: u32) -> Msdu {
    Msdu { dst: NodeId(dst).mac(), len: Bytes(1_028), payload: Payload::Ipv4(packet) }
}

//  | DIFS | DATA | SIFS | ACK |, and 25 us later the packet is at IP.
#[test]
fn a_packet_goes_down_one_stack_and_up_the_other() {
    let mut air = Air::new(3, &config());
    air.send(datagram(1, 0, 0));
    air.run(ms(50));
    let [(sent, 0, data), (answered, 1, ack)] = &air.frames[..] else { panic!("{:?}", air.frames) };
    assert_eq!((&ack.kind, ack.dst), (&FrameKind::Ack, NodeId(0).mac()));
    assert_eq!(*answered, *sent + data.airtime + Dur::from_micros(10));
    let [(1, packet)] = &air.delivered()[..] else { panic!("{:?}", air.outputs) };
    assert_eq!((packet.meta.hops, packet.ttl), (1, 9));
    assert!(air.nodes.iter().all(|(node, _)| node.drops().total() == 0));
}

/// Høiland-Jørgensen et al. 2017, section 3.2: a station is charged for frames sent to it and for frames it sends;
/// broadcasts are charged to nobody.
#[test]
fn air_time_of_a_frame_for_one_station_is_charged_to_its_sender_and_its_receiver() {
    let mut config = config();
    config.link.queue_kind = net::QueueKind::FqCodel;
    let mut air = Air::new(2, &config);
    air.send(datagram(1, 0, 0));
    air.run(ms(50));
    let airtimes = |node: &Node, of: u32| {
        let queues: Vec<_> = node.link().station_queues().collect();
        let mut all = queues[0].airtimes();
        all.find(|&(addr, _)| addr == NodeId(of).mac()).map(|(_, airtime)| (airtime.sent, airtime.received))
    };
    let received = air.frames[0].2.airtime;
    assert_eq!(airtimes(air.node(1), 0), Some((Dur::ZERO, received)));
    air.send(Ipv4Packet { dst: Ipv4Packet::BROADCAST, ..datagram(1, 1, 0) });
    air.run(ms(100));
    assert_eq!(air.frames.len(), 3, "DATA, ACK, broadcast");
    assert_eq!(airtimes(air.node(1), 0), Some((Dur::ZERO, received)));
    // The MAC reports an exchange when it takes the next packet.
    assert!(airtimes(air.node(0), 1).is_some_and(|(sent, received)| sent > Dur::ZERO && received == Dur::ZERO));
}

/// IEEE 802.11-2020, clause 10.23.2.2: each category contends separately, voice with the shortest AIFS.
#[test]
fn packets_of_all_categories_reach_the_mac_and_voice_goes_first() {
    let mut config = config();
    config.mac.edca = Some(mac::edca::Config::standard(PhyKind::Dsss));
    config.link.categories = Some(PriorityMap::ClassSelector);
    let mut air = Air::new(2, &config);
    // A packet that all of them wait for.
    air.send(datagram(1, 0, 0));
    air.run(ms(1));
    for (number, class) in [(1, 0), (2, 8), (3, 32), (4, 48)] {
        air.send(datagram(1, number, class));
    }
    air.run(ms(500));
    let order: Vec<_> = air.delivered().iter().map(|(_, packet)| number(packet)).collect();
    assert_eq!(order.len(), 5);
    assert_eq!(order[..2], [0, 4], "{order:?}");
    assert_eq!(air.node(0).mac().counters().accepted, 5);
}

/// A receiver without MCS cannot decode an aggregate; its packets are sent frame by frame at a legacy rate.
#[test]
fn a_station_without_mcs_gets_frames_that_it_can_decode() {
    for legacy in [None, Some(NodeId(1))] {
        let mut air = Air::new(3, &aggregating());
        if let Some(legacy) = legacy {
            air.nodes[0].0.know_without_mcs(&Arc::from([legacy.mac()]));
        }
        for to in [1, 2] {
            air.send(datagram(to, to, 0));
            air.run(air.now + Dur::from_millis(10));
        }
        let data = |to: u32| {
            let of_it = |(_, src, frame): &&(Time, u32, Frame)| (*src, frame.dst) == (0, NodeId(to).mac());
            air.frames.iter().find(of_it).map(|(_, _, frame)| matches!(frame.kind, FrameKind::Aggregate(_)))
        };
        assert_eq!((data(1), data(2)), (Some(legacy.is_none()), Some(true)));
        assert_eq!(air.delivered().len(), 2);
    }
}

fn of_number(seq: u16) -> FrameKind {
    let first = msdu(Ipv4Packet { dst: NodeId(0).ipv4(), ..datagram(0, u32::from(seq), 0) }, 0);
    let mcs = aggregating().mac.mcs.unwrap();
    let mpdus = vec![Mpdu { seq, retry: false, len: Bytes(1_066), first, more: Vec::new() }];
    FrameKind::Aggregate(Box::new(Aggregate { mcs, category: Category::Be, mpdus }))
}

/// IEEE 802.11-2020, clause 10.25.6.6: MPDUs after a gap wait. mac80211 gives up missing ones after 100 ms.
#[test]
fn what_comes_behind_a_gap_goes_up_when_the_wait_is_over() {
    let mut air = Air::new(1, &aggregating());
    let airtime = Dur::from_micros(180);
    air.feed(ms(1), of_number(0), airtime);
    let since = air.feed(ms(2), of_number(2), airtime);
    let wait = Dur::from_millis(100);
    air.run(since + wait - Dur::from_nanos(1));
    assert_eq!(air.delivered().iter().map(|(_, packet)| number(packet)).collect::<Vec<_>>(), [0]);
    air.run(since + wait + Dur::from_micros(25));
    assert_eq!(air.delivered().iter().map(|(_, packet)| number(packet)).collect::<Vec<_>>(), [0, 2]);
}

/// MPDUs that a block acknowledgement reports missing are retransmitted (IEEE 802.11-2020, clause 10.25.6.7), even when
/// nothing new is queued above.
#[test]
fn what_is_left_of_an_aggregate_goes_on_with_an_empty_queue() {
    let mut air = Air::new(1, &aggregating());
    (0..4).for_each(|number| air.send(datagram(OUTSIDE, number, 0)));
    for bitmap in [0b0001u64, 0b0011, 0b0111, 0b1111] {
        let before = air.frames.len();
        while air.frames.len() == before {
            let (node, ear) = &air.nodes[0];
            let next = node.next_timeout(FIRST, ear).expect("something is left to send");
            air.run(next);
        }
        let (at, _, frame) = air.frames.last().unwrap().clone();
        let alone = matches!(&frame.kind, FrameKind::Aggregate(aggregate) if aggregate.mpdus.len() == 1);
        let answer = FrameKind::BlockAck { start: 0, bitmap, category: Category::Be };
        let (answer, airtime) = if alone { (FrameKind::Ack, 44) } else { (answer, 68) };
        air.feed(at + frame.airtime + Dur::from_micros(16), answer, Dur::from_micros(airtime));
    }
    air.run(ms(500));
    let numbers: Vec<_> = air.aggregates().into_iter().map(|(_, numbers)| numbers).collect();
    assert_eq!(numbers, [vec![0, 1, 2, 3], vec![1, 2, 3], vec![2, 3], vec![3]]);
    assert_eq!((air.node(0).mac().counters().acknowledged, air.node(0).link().queue_len()), (4, 0));
}

/// Packets for a broken link are removed from its queue; those for others stay.
#[test]
fn a_purge_takes_what_waits_for_one_neighbour() {
    let mut air = Air::new(1, &config());
    for (number, to) in [(0, 1), (1, 1), (2, 2), (3, 1)] {
        air.send(datagram(to, number, 0));
    }
    air.run(Time::from_micros(30));
    let (node, _) = &mut air.nodes[0];
    assert_eq!(node.link().queue_len(), 3, "one is at the MAC");
    let mut out = Vec::new();
    node.purge(NodeId(1).ipv4(), &mut out);
    assert_eq!((out.len(), node.link().queue_len()), (2, 1));
}

/// A segment of a transport with or without ECN.
fn segment(ecn: Ecn) -> Msdu {
    let flags = TcpFlags { ack: true, ..TcpFlags::default() };
    let segment = TcpSegment { src_port: 5, dst_port: 6, flags, ecn, payload: 1_000, ..TcpSegment::default() };
    msdu(Ipv4Packet { body: Body::Tcp(segment), ..datagram(1, 0, 0) }, 1)
}

/// RFC 3168 section 5: a queue that would drop may mark instead, but only packets of ECN-capable transports.
#[test]
fn an_early_drop_is_a_mark_where_marks_are_in_use_and_the_transport_listens() {
    let random = || Stream::new(1, NodeId(0), Purpose::LinkRed);
    // Each would drop every packet: because of the last one's retries, or of a medium always busy with this node.
    let link = || {
        let config = link_red::Config { enabled: true, low: 0, high: 0, max_drop: 1_000 };
        LinkRed::new(config, random())
    };
    let neighbourhood = || {
        let config = neighbourhood_red::Config {
            enabled: true,
            low: 0,
            high: 0,
            max_drop: 1_000,
            interval: Dur::from_millis(100),
            smoothing: 0,
        };
        let mut red = NeighbourhoodRed::new(config, random());
        red.handle_carried(Dur::from_secs(1));
        red.handle_timeout(ms(100), false);
        red
    };
    for (marks, ecn, marked) in
        [(true, Ecn::Ect0, true), (true, Ecn::NotEct, false), (false, Ecn::Ect0, false), (false, Ecn::NotEct, false)]
    {
        for (by_link, reason) in [(true, DropReason::LinkRed), (false, DropReason::NeighbourhoodRed)] {
            // The first packet is never answered.
            let mut air = Air::new(1, &config());
            air.send(datagram(1, 0, 0));
            let mut early = EarlyDrops { marks, ..EarlyDrops::default() };
            if by_link {
                early.link = Some(link())
            } else {
                early.neighbourhood = Some(neighbourhood())
            }
            air.nodes[0].0.early = Some(Box::new(early));
            if by_link {
                air.nodes[0].0.early_drop(Time::ZERO, &mut segment(Ecn::NotEct));
                air.run(ms(500));
            }
            let mut msdu = segment(ecn);
            let fate = air.nodes[0].0.early_drop(ms(500), &mut msdu);
            assert_eq!(fate, (!marked).then_some(reason), "{marks} {ecn:?}");
            let Payload::Ipv4(Ipv4Packet { body: Body::Tcp(segment), .. }) = &msdu.payload else { panic!() };
            assert_eq!(segment.ecn, if marked { Ecn::Ce } else { ecn });
            assert_eq!(air.node(0).early_drops().map(|early| early.marked), Some(u64::from(marked)));
        }
    }
}

/// C3TCP works below TCP: with local acknowledgements every segment is absorbed by a module, which sends and delivers
/// its own.
#[test]
fn segments_go_through_the_modules_of_c3tcp() {
    let mut air = Air::new(2, &config());
    for (node, _) in &mut air.nodes {
        node.add_modules(ccm::Options { local_acks: true, simulated: true, ..ccm::Options::NEWEST });
    }
    let flags = TcpFlags { syn: true, ..TcpFlags::default() };
    let syn = TcpSegment { src_port: 5, dst_port: 6, flags, window: 60_000, ..TcpSegment::default() };
    air.send(Ipv4Packet { body: Body::Tcp(syn.clone()), ..datagram(1, 0, 0) });
    air.run(ms(50));
    let [(1, packet)] = &air.delivered()[..] else { panic!("{:?}", air.outputs) };
    assert_eq!(packet.body, Body::Tcp(syn));
    for node in [0, 1] {
        assert_eq!(air.node(node).modules().map(ccm::Modules::balance), Some((1, 1)));
    }
}
