//! Packets on their way down and up, to the microsecond.

use super::*;
use crate::net::link::Action::{Deliver, Drop, Unreachable};
use crate::wire::options::{Carried, Options, Path};
use crate::wire::{
    AodvMessage, ArpOperation, AtpContent, AtpData, AtpPacket, MeasuredSegment, PacketMeta, Rerr, Segment, TcpSegment,
    UdpDatagram,
};
use fourhop_units::{Bytes, NodeId, Seq};

const HERE: NodeId = NodeId(0);
const WITHOUT_ARP: Config = Config { arp: false, ..Config::ns2() };

fn us(us: u64) -> Time {
    Time::ZERO + Dur::from_micros(us)
}

fn link(config: Config) -> Link {
    Link::new(Addresses { ip: HERE.ipv4(), mac: HERE.mac() }, config)
}

fn packet_of(body: Body, ident: u16, dscp: u8) -> Ipv4Packet {
    Ipv4Packet { src: HERE.ipv4(), dst: NodeId(9).ipv4(), ttl: 30, ident, dscp, body, meta: PacketMeta::default() }
}

fn packet(ident: u16) -> Ipv4Packet {
    packet_of(Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 100 }), ident, 0)
}

fn routing(ident: u16) -> Ipv4Packet {
    packet_of(Body::Routing(AodvMessage::Rerr(Rerr { no_delete: false, unreachable: Vec::new() }).into()), ident, 0)
}

fn to(node: u32) -> NextHop {
    NextHop::Unicast(NodeId(node).ipv4())
}

/// A packet as exchanged by link layers.
fn msdu_of(packet: Ipv4Packet) -> Msdu {
    Msdu { dst: HERE.mac(), len: Bytes(1), payload: Payload::Ipv4(packet) }
}

fn message(operation: ArpOperation, sender: u32, target: u32) -> Msdu {
    let (sender_mac, sender_ip) = (NodeId(sender).mac(), NodeId(sender).ipv4());
    let target_mac = (operation == ArpOperation::Reply).then(|| NodeId(target).mac());
    let target_ip = NodeId(target).ipv4();
    let payload = Payload::Arp(ArpMessage { operation, sender_mac, sender_ip, target_mac, target_ip });
    Msdu { dst: HERE.mac(), len: Bytes(28), payload }
}

fn ident(payload: &Payload) -> u16 {
    match payload {
        Payload::Ipv4(packet) => packet.ident,
        other => panic!("{other:?} is no packet"),
    }
}

/// Sends packets down, which must bring nothing up.
fn send(link: &mut Link, now: Time, packets: impl IntoIterator<Item = (Ipv4Packet, u32)>) {
    for (packet, next_hop) in packets {
        let mut out = Vec::new();
        link.handle_packet(now, packet, to(next_hop), &mut out);
        assert_eq!(out, []);
    }
}

fn due(link: &mut Link, now: Time) -> Vec<Action> {
    let mut out = Vec::new();
    link.handle_timeout(now, &mut out);
    out
}

/// Dequeues everything: payloads and receivers.
fn waiting(link: &mut Link, now: Time) -> Vec<(Payload, MacAddr)> {
    core::iter::from_fn(|| link.dequeue(now, |lost| panic!("{lost:?} is lost"))).map(|m| (m.payload, m.dst)).collect()
}

fn idents(link: &mut Link, now: Time) -> Vec<u16> {
    waiting(link, now).iter().map(|(payload, _)| ident(payload)).collect()
}

#[test]
fn a_packet_is_in_the_queue_after_the_delay_and_not_before() {
    let mut link = link(WITHOUT_ARP);
    send(&mut link, us(10), [(packet(1), 3)]);
    assert_eq!((link.next_timeout(), link.queued(), link.queue_len()), (Some(us(35)), (1, 0), 0));
    assert_eq!(due(&mut link, us(34)), []);
    assert_eq!((link.queue_len(), link.queued()), (0, (1, 0)));
    assert_eq!(due(&mut link, us(35)), []);
    assert_eq!((link.queue_len(), link.queued(), link.next_timeout()), (1, (1, 0), None));
    assert_eq!(waiting(&mut link, us(35)), [(Payload::Ipv4(packet(1)), NodeId(3).mac())]);
    assert_eq!(link.queued(), (0, 0));
}

#[test]
fn a_broadcast_needs_no_address() {
    let mut link = link(Config::ns2());
    link.handle_packet(us(0), packet(1), NextHop::Broadcast, &mut Vec::new());
    due(&mut link, us(25));
    assert_eq!(waiting(&mut link, us(25)), [(Payload::Ipv4(packet(1)), MacAddr::BROADCAST)]);
    assert_eq!(link.arp_sent(), 0);
}

#[test]
fn a_packet_comes_up_after_the_delay_with_its_neighbour() {
    let mut link = link(Config::ns2());
    link.handle_received(us(100), msdu_of(packet(1)), NodeId(4).mac());
    link.handle_received(us(101), msdu_of(packet(2)), NodeId(5).mac());
    assert_eq!((link.queued(), link.next_timeout()), ((0, 2), Some(us(125))));
    assert_eq!(due(&mut link, us(124)), []);
    assert_eq!(due(&mut link, us(125)), [Deliver { packet: packet(1), from: NodeId(4).mac() }]);
    assert_eq!(link.queued(), (0, 1));
    assert_eq!(due(&mut link, us(126)), [Deliver { packet: packet(2), from: NodeId(5).mac() }]);
}

#[test]
fn the_next_of_both_directions_is_due() {
    let mut link = link(WITHOUT_ARP);
    link.handle_received(us(7), msdu_of(packet(1)), NodeId(4).mac());
    send(&mut link, us(2), [(packet(2), 3)]);
    assert_eq!(link.next_timeout(), Some(us(27)));
    due(&mut link, us(27));
    assert_eq!(link.next_timeout(), Some(us(32)));
}

#[test]
fn a_neighbour_is_asked_for_before_the_first_packet_to_it() {
    let mut link = link(Config::ns2());
    send(&mut link, us(0), [(packet(1), 3)]);
    // The packet that waits for the answer, and the request.
    assert_eq!((link.queued(), link.next_timeout(), link.arp_sent()), ((2, 0), Some(us(5)), 1));
    due(&mut link, us(5));
    let request = message(ArpOperation::Request, 0, 3).payload;
    assert_eq!(waiting(&mut link, us(5)), [(request, MacAddr::BROADCAST)]);
    assert_eq!(link.neighbour_ip(NodeId(3).mac()), None);
    // The answer releases it, with ARP's delay, and triggers no answer itself.
    link.handle_received(us(900), message(ArpOperation::Reply, 3, 0), NodeId(3).mac());
    assert_eq!((link.queued(), link.next_timeout(), link.arp_sent()), ((1, 0), Some(us(905)), 1));
    due(&mut link, us(905));
    assert_eq!(waiting(&mut link, us(905)), [(Payload::Ipv4(packet(1)), NodeId(3).mac())]);
    assert_eq!(link.neighbour_ip(NodeId(3).mac()), Some(NodeId(3).ipv4()));
    // From now on the address is known.
    send(&mut link, us(1_000), [(packet(2), 3)]);
    assert_eq!((link.next_timeout(), link.arp_sent()), (Some(us(1_025)), 1));
}

#[test]
fn a_request_for_this_station_is_answered_and_teaches_it_the_asker() {
    let mut link = link(Config::ns2());
    link.handle_received(us(50), message(ArpOperation::Request, 6, 0), NodeId(6).mac());
    link.handle_received(us(50), message(ArpOperation::Request, 7, 1), NodeId(7).mac());
    assert_eq!((link.next_timeout(), link.arp_sent()), (Some(us(55)), 1));
    due(&mut link, us(55));
    let reply = message(ArpOperation::Reply, 0, 6).payload;
    assert_eq!(waiting(&mut link, us(55)), [(reply, NodeId(6).mac())]);
    for node in [6, 7] {
        assert_eq!(link.neighbour_ip(NodeId(node).mac()), Some(NodeId(node).ipv4()));
    }
}

#[test]
fn arp_overtakes_packets_by_its_shorter_delay_and_no_others() {
    let mut link = link(Config::ns2());
    link.handle_received(us(0), message(ArpOperation::Request, 6, 1), NodeId(6).mac());
    send(&mut link, us(0), [(packet(1), 6)]);
    // Due at 25 us: the first together with packet 1, the second before it.
    link.handle_received(us(20), message(ArpOperation::Request, 8, 0), NodeId(8).mac());
    link.handle_received(us(19), message(ArpOperation::Request, 7, 0), NodeId(7).mac());
    assert_eq!(link.next_timeout(), Some(us(24)));
    due(&mut link, us(25));
    let order: Vec<_> = waiting(&mut link, us(25)).into_iter().map(|(_, dst)| dst).collect();
    assert_eq!(order, [7, 6, 8].map(|node| NodeId(node).mac()));
}

#[test]
fn packets_to_a_neighbour_that_does_not_answer_come_back() {
    let mut link = link(Config::ns2());
    let fates: Vec<_> = (1..=4)
        .map(|ident| {
            let mut out = Vec::new();
            link.handle_packet(us(0), packet(ident), to(3), &mut out);
            out
        })
        .collect();
    let displaced = |ident| vec![Drop { payload: Payload::Ipv4(packet(ident)), reason: DropReason::ArpDisplaced }];
    let back = |ident| Unreachable { packet: packet(ident), next_hop: NodeId(3).ipv4() };
    assert_eq!(fates, [vec![], displaced(1), displaced(2), vec![back(3), back(4)]]);
    assert_eq!(link.arp_sent(), 3);
}

#[test]
fn a_request_is_repeated_each_second_and_given_up_after_three() {
    let mut link = link(Config::standard());
    send(&mut link, us(0), [(packet(1), 3)]);
    due(&mut link, us(5));
    for (second, sent) in [(1, 2), (2, 3)] {
        let at = Time::from_secs(second);
        assert_eq!(link.next_timeout(), Some(at));
        assert_eq!(due(&mut link, at), []);
        assert_eq!((link.arp_sent(), link.next_timeout()), (sent, Some(at + Dur::from_micros(5))));
        due(&mut link, at + Dur::from_micros(5));
    }
    let back = Unreachable { packet: packet(1), next_hop: NodeId(3).ipv4() };
    assert_eq!(due(&mut link, Time::from_secs(3)), [back]);
    assert_eq!((link.arp_sent(), link.next_timeout(), link.queue_len()), (3, None, 3));
    assert!(waiting(&mut link, us(0)).iter().all(|(_, dst)| dst.is_broadcast()));
}

#[test]
fn an_overflow_says_which_packet_and_routing_goes_first_where_the_queue_says_so() {
    for routing_first in [false, true] {
        let mut link = link(Config { queue: queue::Config { limit: 3, routing_first }, ..WITHOUT_ARP });
        send(&mut link, us(0), [(packet(1), 3), (packet(2), 3), (routing(3), 3)]);
        let lost = due(&mut link, us(25));
        let dropped = |packet, reason| [Drop { payload: Payload::Ipv4(packet), reason }];
        if routing_first {
            assert_eq!(lost, dropped(packet(2), DropReason::QueueDisplaced));
            assert_eq!(idents(&mut link, us(25)), [3, 1]);
        } else {
            assert_eq!(lost, dropped(routing(3), DropReason::QueueFull));
            assert_eq!(idents(&mut link, us(25)), [1, 2]);
        }
    }
}

#[test]
fn queues_for_each_neighbour_overflow_and_put_routing_first_too() {
    for routing_first in [false, true] {
        let config = Config {
            queue_kind: QueueKind::FqCodel,
            fq: station_queues::Config { limit: 2, ..station_queues::Config::mac80211() },
            queue: queue::Config { limit: 50, routing_first },
            ..WITHOUT_ARP
        };
        let mut link = link(config);
        send(&mut link, us(0), [(packet(1), 3), (packet(2), 3), (routing(3), 4)]);
        let lost = due(&mut link, us(25));
        if routing_first {
            assert_eq!(lost, []);
            assert_eq!((link.queue_len(), idents(&mut link, us(25))), (3, vec![3, 1, 2]));
        } else {
            // From the longest queue.
            assert_eq!(lost, [Drop { payload: Payload::Ipv4(packet(1)), reason: DropReason::QueueFull }]);
            assert_eq!(link.queue_len(), 2);
        }
    }
}

#[test]
fn only_queues_for_each_neighbour_want_to_know_of_air_time() {
    for (queue_kind, counts) in [(QueueKind::DropTail, false), (QueueKind::FqCodel, true)] {
        let mut link = link(Config { queue_kind, ..WITHOUT_ARP });
        assert_eq!(link.counts_airtime(), counts);
        link.charge(NodeId(3).mac(), Airtime { sent: Dur::from_micros(7), received: Dur::ZERO }, Category::Be);
        let used: Vec<_> = link.station_queues().flat_map(|queues| queues.airtimes()).collect();
        assert_eq!(used.len(), usize::from(counts));
    }
}

#[test]
fn an_aggregate_takes_what_waits_for_one_neighbour() {
    for queue_kind in [QueueKind::DropTail, QueueKind::FqCodel] {
        let mut link = link(Config { queue_kind, ..WITHOUT_ARP });
        send(&mut link, us(0), [(packet(1), 3), (packet(2), 4), (packet(3), 4)]);
        due(&mut link, us(25));
        let mut next = |node| {
            link.dequeue_for(us(25), NodeId(node).mac(), Category::Be, |lost| panic!("{lost:?}"))
                .map(|msdu| ident(&msdu.payload))
        };
        assert_eq!([next(4), next(4), next(4), next(5), next(3)], [Some(2), Some(3), None, None, Some(1)]);
    }
}

#[test]
fn purging_takes_the_packets_for_one_next_hop_out_of_every_queue() {
    for queue_kind in [QueueKind::DropTail, QueueKind::FqCodel] {
        for categories in [None, Some(PriorityMap::Rfc8325)] {
            let mut link = link(Config { queue_kind, categories, ..WITHOUT_ARP });
            let voice = |ident| Ipv4Packet { dscp: 46, ..packet(ident) };
            send(&mut link, us(0), [(packet(1), 3), (packet(2), 4), (voice(3), 3), (voice(4), 4)]);
            due(&mut link, us(25));
            let mut out = Vec::new();
            link.purge(NodeId(3).ipv4(), &mut out);
            let gone: Vec<_> = out
                .iter()
                .map(|action| match action {
                    Drop { payload, reason: DropReason::QueuePurged } => ident(payload),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!((gone, link.queue_len()), (vec![1, 3], 2), "{queue_kind:?} {categories:?}");
        }
    }
}

#[test]
fn what_is_not_known_cannot_be_purged() {
    let mut link = link(Config::ns2());
    link.handle_packet(us(0), packet(1), NextHop::Broadcast, &mut Vec::new());
    send(&mut link, us(0), [(packet(2), 3)]);
    due(&mut link, us(25));
    let mut out = Vec::new();
    link.purge(NodeId(3).ipv4(), &mut out);
    assert_eq!((out.len(), link.queue_len()), (0, 2));
    link.handle_received(us(100), message(ArpOperation::Reply, 3, 0), NodeId(3).mac());
    due(&mut link, us(105));
    link.purge(NodeId(3).ipv4(), &mut out);
    assert_eq!(out, [Drop { payload: Payload::Ipv4(packet(2)), reason: DropReason::QueuePurged }]);
}

#[test]
fn each_access_category_has_a_queue() {
    for queue_kind in [QueueKind::DropTail, QueueKind::FqCodel] {
        let mut link = link(Config { queue_kind, categories: Some(PriorityMap::Rfc8325), ..WITHOUT_ARP });
        // Background, video, voice, best effort.
        let of = [(8, Category::Bk), (34, Category::Vi), (46, Category::Vo), (0, Category::Be)];
        for (ident, (dscp, _)) in (1..).zip(of) {
            send(&mut link, us(0), [(Ipv4Packet { dscp, ..packet(ident) }, 3)]);
        }
        due(&mut link, us(25));
        assert_eq!((link.queue_len(), link.queued()), (4, (4, 0)));
        let fq = usize::from(queue_kind == QueueKind::FqCodel);
        assert_eq!(link.station_queues().count(), 4 * fq);
        for (ident_, (_, category)) in (1..).zip(of) {
            link.charge(NodeId(3).mac(), Airtime { sent: Dur::from_micros(5), received: Dur::ZERO }, category);
            let charged =
                link.station_queues().flat_map(|queues| queues.airtimes()).filter(|(_, used)| !used.sent.is_zero());
            assert_eq!(charged.count(), usize::from(ident_) * fq, "in this category alone");
            let refused = |lost| panic!("{lost:?}");
            let taken = if ident_ % 2 == 0 {
                link.dequeue_of(us(25), category, refused)
            } else {
                link.dequeue_for(us(25), NodeId(3).mac(), category, refused)
            };
            assert_eq!(taken.map(|msdu| ident(&msdu.payload)), Some(ident_));
            assert_eq!(link.dequeue_of(us(25), category, refused), None);
        }
        assert_eq!(link.queue_len(), 0);
    }
}

#[test]
fn packets_that_measure_learn_when_they_came_to_the_queue() {
    let path = Some(Path { bandwidth: 1, delay: 2, links: 3 });
    let options = Options { path, ..Options::default() };
    let on_air = options.on_air();
    let tcp = MeasuredSegment {
        segment: TcpSegment { payload: 500, ..TcpSegment::default() },
        carried: Carried { options, ..Carried::default() },
    };
    let data = AtpData {
        number: Seq::from_wire(1),
        offset: 0,
        payload: 100,
        asks: false,
        delay_us: 0,
        entered_queue: Time::ZERO,
    };
    let atp = AtpPacket { src_port: 1, dst_port: 2, content: AtpContent::Data(data) };
    let mut link = link(WITHOUT_ARP);
    let plain = u64::from(packet_of(Body::Tcp(tcp.segment.clone()), 1, 0).len());
    send(&mut link, us(10), [(packet_of(Body::Measured(Box::new(tcp)), 1, 0), 3), (packet_of(atp.into(), 2, 0), 3)]);
    due(&mut link, us(35));
    let first = link.dequeue(us(35), |_| {}).unwrap();
    assert!(on_air > Bytes(0));
    assert_eq!(first.len, Bytes(plain) + on_air);
    let Payload::Ipv4(Ipv4Packet { body: Body::Measured(tcp), .. }) = first.payload else { panic!() };
    assert_eq!(tcp.carried.entered_queue, us(35));
    let second = link.dequeue(us(35), |_| {}).unwrap();
    let Payload::Ipv4(Ipv4Packet { body: Body::Transport(Segment::Atp(atp)), .. }) = second.payload else { panic!() };
    let AtpContent::Data(data) = atp.content else { panic!() };
    assert_eq!(data.entered_queue, us(35));
}
