//! Nodes driven as by hosts with a TUN device: arbitrary addresses, packets as bytes, no simulator. The channel between
//! them is perfect: every frame reaches its neighbours intact.

use etherparse::{PacketBuilder, SlicedPacket, TransportSlice};
use fourhop_proto::net::Addresses;
use fourhop_proto::node::{Begun, Buffers, Config, Ear, FIRST, Heard, Node, Output, Rules};
use fourhop_proto::phy::Radiated;
use fourhop_proto::preset::Configured;
use fourhop_proto::route::{Aodv, Config as AodvConfig, Router, StaticRoutes};
use fourhop_proto::wire::{Frame, Ipv4Packet, encode};
use fourhop_units::{Dur, MacAddr, NodeId, Purpose, Stream, Time, Watt};
use std::net::Ipv4Addr;

const POWER: Watt = Watt(1e-9);
const PROPAGATION: Dur = Dur::from_nanos(667);

/// Unordered addresses from three vendors.
const STATIONS: [Addresses; 4] = [
    station([192, 168, 7, 20], [0x00, 0x1b, 0x21, 0x3a, 0x00, 0x01]),
    station([10, 255, 0, 3], [0xdc, 0xa6, 0x32, 0x99, 0x10, 0x7f]),
    station([172, 16, 4, 200], [0x00, 0x0c, 0x42, 0x00, 0xff, 0xfe]),
    station([192, 168, 7, 1], [0x00, 0x0c, 0x42, 0x00, 0xff, 0x01]),
];

const fn station(ip: [u8; 4], mac: [u8; 6]) -> Addresses {
    Addresses { ip: Ipv4Addr::new(ip[0], ip[1], ip[2], ip[3]), mac: MacAddr(mac) }
}

/// A frame on its way to one station.
struct Copy {
    end: Time,
    to: usize,
    from: usize,
    frame: Frame,
}

/// Stations in a line; each hears its neighbours.
struct Line {
    nodes: Vec<Node>,
    ears: Vec<Ear>,
    rules: Rules,
    air: Vec<Copy>,
    /// Packets delivered to hosts, as bytes, with the time and the station.
    got: Vec<(Time, usize, Vec<u8>)>,
    buffers: Buffers,
}

impl Line {
    fn new(router: impl Fn(usize) -> Router) -> Line {
        let config = Config::standard();
        let node = |n: usize| {
            let backoff = Stream::new(1, NodeId(n as u32), Purpose::Backoff);
            let mut node = Node::new(STATIONS[n], backoff, &config, router(n));
            node.attach();
            node
        };
        Line {
            nodes: (0..STATIONS.len()).map(node).collect(),
            ears: vec![Ear::new(); STATIONS.len()],
            rules: Rules::new(config.phy, &config.mac),
            air: Vec::new(),
            got: Vec::new(),
            buffers: Buffers::default(),
        }
    }

    fn send(&mut self, now: Time, from: usize, bytes: &[u8]) {
        let packet = Ipv4Packet::from_bytes(bytes).expect("hosts send packets");
        self.nodes[from].handle_local(now, packet, &mut self.ears[from], &mut self.buffers);
        self.take_outputs(now, from);
    }

    fn take_outputs(&mut self, now: Time, node: usize) {
        for output in self.buffers.outputs.drain(..) {
            // A loss at a node whose host could report it is also counted there.
            if matches!(output, Output::Lost { .. }) {
                continue;
            }
            let Output::Deliver(packet) = output else { panic!("no station has a wire: {output:?}") };
            let mut bytes = Vec::new();
            encode::packet(&packet, &mut bytes);
            self.got.push((now, node, bytes));
        }
    }

    fn run(&mut self, end: Time) {
        loop {
            let copies = self.air.iter().map(|copy| copy.end);
            let timers = self.nodes.iter().zip(&self.ears).filter_map(|(node, ear)| node.next_timeout(FIRST, ear));
            let Some(now) = copies.chain(timers).min().filter(|&now| now <= end) else { return };
            if let Some(place) = self.air.iter().position(|copy| copy.end == now) {
                let Copy { to, from, frame, .. } = self.air.remove(place);
                let (src, for_us) = (NodeId(from as u32), frame.dst == STATIONS[to].mac);
                if self.ears[to].handle_departure(now, src, &frame, for_us, None, &self.rules) == Heard::ForUs {
                    self.nodes[to].handle_reception(now, FIRST, (&frame, POWER), &mut self.ears[to], &mut self.buffers);
                    self.take_outputs(now, to);
                }
                continue;
            }
            let due = |n: &usize| self.nodes[*n].next_timeout(FIRST, &self.ears[*n]).is_some_and(|at| at <= now);
            let n = (0..self.nodes.len()).find(due).expect("somebody's timer is due");
            let mut frame = None;
            self.nodes[n].handle_timeout(now, FIRST, &mut self.ears[n], &mut frame, &mut self.buffers);
            self.take_outputs(now, n);
            if let Some(frame) = frame {
                self.radiate(now, n, &frame);
            }
        }
    }

    fn radiate(&mut self, now: Time, from: usize, frame: &Frame) {
        let begin = now + PROPAGATION;
        let end = begin + frame.airtime;
        let count = self.nodes.len();
        for to in [from.wrapping_sub(1), from + 1].into_iter().filter(|&to| to < count) {
            let for_us = frame.dst == STATIONS[to].mac;
            let copy = Radiated::new(NodeId(from as u32), frame).copy(begin, POWER, for_us);
            if self.ears[to].handle_arrival::<Configured>(begin, copy, frame, None, &self.rules) == Begun::AccessLost {
                self.nodes[to].handle_access_lost(begin, FIRST, &mut self.ears[to]);
            }
            self.air.push(Copy { end, to, from, frame: frame.clone() });
        }
    }
}

fn datagram(from: usize, to: usize, ttl: u8, payload: &[u8]) -> Vec<u8> {
    let (src, dst) = (STATIONS[from].ip.octets(), STATIONS[to].ip.octets());
    let mut bytes = Vec::new();
    PacketBuilder::ipv4(src, dst, ttl).udp(654, 9_999).write(&mut bytes, payload).expect("into memory");
    bytes
}

fn aodv(n: usize) -> Router {
    let jitter = Stream::new(1, NodeId(n as u32), Purpose::RoutingJitter);
    Router::from(Aodv::new(STATIONS[n].ip, AodvConfig::standard(), jitter))
}

/// Returns the payload of the packet and its time to live.
fn content(bytes: &[u8]) -> (Vec<u8>, u8) {
    let packet = SlicedPacket::from_ip(bytes).expect("a packet");
    let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("no datagram: {packet:?}") };
    (udp.payload().to_vec(), bytes[8])
}

#[test]
fn hosts_talk_over_three_hops_whatever_their_addresses() {
    let mut line = Line::new(aodv);
    line.send(Time::from_millis(1), 0, &datagram(0, 3, 64, b"question"));
    line.run(Time::from_millis(500));
    let [(_, station, bytes)] = &line.got[..] else { panic!("{:?}", line.got) };
    assert_eq!((*station, content(bytes)), (3, (b"question".to_vec(), 62)), "the relays, not the ends, count");
    line.send(Time::from_millis(500), 3, &datagram(3, 0, 64, b"answer"));
    line.run(Time::from_millis(600));
    let (at, station, bytes) = &line.got[1];
    assert_eq!((*station, content(bytes)), (0, (b"answer".to_vec(), 62)));
    assert!(*at < Time::from_millis(540), "the way back is known: {at:?}");
    // Its neighbours are known by their arbitrary addresses, not by a rule.
    assert_eq!(line.nodes[1].link().neighbour_ip(STATIONS[2].mac), Some(STATIONS[2].ip));
    for node in &line.nodes {
        assert!(node.accounts().network.balances() && node.accounts().link.balances());
    }
}

#[test]
fn a_packet_without_lives_left_ends_at_a_relay() {
    let mut line = Line::new(aodv);
    line.send(Time::from_millis(1), 0, &datagram(0, 3, 2, b"too far"));
    line.run(Time::from_secs(1));
    assert_eq!(line.got.len(), 0);
    let lost: Vec<_> =
        line.nodes.iter().map(|node| node.drops().of(fourhop_proto::drop::DropReason::TtlExpired)).collect();
    assert_eq!(lost.iter().sum::<u64>(), 1, "{lost:?}");
}

#[test]
fn a_kernels_routes_can_stand_in_for_routing() {
    let towards = |n: usize| {
        let way = move |to: usize| match to.cmp(&n) {
            core::cmp::Ordering::Less => Some((STATIONS[to].ip, STATIONS[n - 1].ip, (n - to) as u8)),
            core::cmp::Ordering::Equal => None,
            core::cmp::Ordering::Greater => Some((STATIONS[to].ip, STATIONS[n + 1].ip, (to - n) as u8)),
        };
        (0..STATIONS.len()).filter_map(way)
    };
    let mut line = Line::new(|n| Router::from(StaticRoutes::new(STATIONS[n].ip, towards(n))));
    for serial in 0..20u8 {
        let at = Time::from_millis(10 * u64::from(serial));
        line.run(at);
        let (from, to) = if serial % 2 == 0 { (0, 3) } else { (3, 1) };
        line.send(at, from, &datagram(from, to, 64, &[serial; 700]));
    }
    line.run(Time::from_secs(2));
    let mut serials: Vec<_> = line.got.iter().map(|(_, _, bytes)| content(bytes).0[0]).collect();
    serials.sort_unstable();
    assert_eq!(serials, (0..20).collect::<Vec<_>>(), "each once");
}
