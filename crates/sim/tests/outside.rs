//! A world driven from outside, as on a real clock: hosts attached to nodes send and receive packets that are plain
//! bytes to the network. Steps of any length have the same result as a single call.

use crate::common::{line, newreno};
use etherparse::{IpNumber, Ipv4Header, Ipv4HeaderSlice, PacketBuilder};
use fourhop_proto::net::port;
use fourhop_proto::node;
use fourhop_proto::route;
use fourhop_proto::wire::{Ipv4Packet, encode};
use fourhop_sim::batch::Control;
use fourhop_sim::setup::{Routing, Setup};
use fourhop_sim::wired::{Cable, Plan};
use fourhop_sim::world::World;
use fourhop_units::{Bytes, Dur, NodeId, Rate, Time};
use proptest::prelude::*;
use std::net::Ipv4Addr;

/// A host's datagram with `size` bytes of payload, which begin with `serial`.
fn datagram(from: NodeId, to: NodeId, serial: u32, size: usize) -> Vec<u8> {
    let mut payload = vec![0xa5; size.max(4)];
    payload[..4].copy_from_slice(&serial.to_be_bytes());
    let builder = PacketBuilder::ipv4(from.ipv4().octets(), to.ipv4().octets(), 64).udp(4_000, 4_001);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &payload).unwrap();
    bytes
}

fn packet(bytes: &[u8]) -> Ipv4Packet {
    Ipv4Packet::from_bytes(bytes).unwrap()
}

fn encoded(packet: &Ipv4Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode::packet(packet, &mut bytes);
    bytes
}

/// Nodes 200 m apart with AODV, and a simulated TCP flow besides the hosts.
fn mesh(node: node::Config, routing: route::Config, hops: u32) -> Setup {
    let mut setup = line(node, &(0..=hops).map(|n| f64::from(n) * 200.0).collect::<Vec<_>>());
    setup.node.link.arp = true;
    setup.routing = Routing::finding(routing);
    setup.flows.push(newreno(0, hops, 8));
    setup
}

/// A packet of a host at node `from` to `to`, and its time.
#[derive(Clone, Copy, Debug)]
struct Sending {
    at: Time,
    from: NodeId,
    to: NodeId,
    size: usize,
}

/// Everything that is visible from outside at the end.
#[derive(PartialEq, Debug)]
struct Story {
    delivered: Vec<(NodeId, Vec<u8>)>,
    counts: [u64; 4],
}

/// Drives the world to `end`: repeating steps of these lengths, or without steps except to send.
fn drive(setup: &Setup, sendings: &[Sending], steps: &[Dur], end: Time) -> Story {
    let (mut world, _) = setup.build(7, None).unwrap();
    (0..setup.positions.len()).for_each(|n| world.attach(NodeId(n as u32)));
    let control = Control::new();
    let mut delivered = Vec::new();
    let mut steps = steps.iter().copied().cycle();
    let mut waiting = (0..).zip(sendings).peekable();
    while world.now() < end {
        let next = waiting.peek().map_or(end, |(_, sending)| sending.at);
        let stop = steps.next().map_or(next, |step| next.min(world.now() + step));
        assert!(world.run_until(stop, &control));
        delivered.extend(world.drain_delivered().map(|(node, packet)| (node, encoded(&packet))));
        while let Some((serial, sending)) = waiting.next_if(|(_, sending)| sending.at <= world.now()) {
            let Sending { from, to, size, .. } = *sending;
            world.inject(from, packet(&datagram(from, to, serial, size)));
        }
    }
    for (layer, account) in world.accounts().named() {
        assert!(account.balances(), "{layer:?}: {account:?}");
    }
    Story { delivered, counts: [world.events(), world.frames(), world.receptions(), world.drops().total()] }
}

fn sendings(count: usize) -> impl Strategy<Value = Vec<Sending>> {
    let one = (0..2_000_000_000u64, any::<bool>(), 4..1_472usize).prop_map(|(at, back, size)| {
        let (from, to) = if back { (2, 0) } else { (0, 2) };
        Sending { at: Time::ZERO + Dur::from_nanos(at), from: NodeId(from), to: NodeId(to), size }
    });
    prop::collection::vec(one, 1..count).prop_map(|mut all| {
        all.sort_by_key(|sending| sending.at);
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn steps_of_any_length_change_nothing(
        sendings in sendings(60),
        steps in prop::collection::vec(1..3_000_000u64, 1..6),
        standard in any::<bool>(),
    ) {
        let setup = match standard {
            true => mesh(node::Config::standard(), route::Config::standard(), 2),
            false => mesh(node::Config::ns2(), route::Config::ns2(), 2),
        };
        let end = Time::from_secs(4);
        let steps: Vec<_> = steps.into_iter().map(Dur::from_nanos).collect();
        let whole = drive(&setup, &sendings, &[], end);
        let stepped = drive(&setup, &sendings, &steps, end);
        prop_assert_eq!(&whole, &stepped);
        prop_assert!(whole.delivered.len() <= sendings.len(), "nothing is doubled");
    }
}

#[test]
fn packets_of_hosts_arrive_as_they_were_but_for_their_time_to_live() {
    let mut setup = mesh(node::Config::standard(), route::Config::standard(), 3);
    setup.flows.clear();
    let (mut world, _) = setup.build(1, None).unwrap();
    let [here, there] = [NodeId(0), NodeId(3)];
    world.attach(there);
    // A first fragment with options (a no-operation and an end of list), TOS and ECN, of a protocol that is unknown
    // here.
    let mut header = Ipv4Header::new(1_000, 64, IpNumber(253), here.ipv4().octets(), there.ipv4().octets()).unwrap();
    header.dscp = 46.try_into().unwrap();
    header.ecn = 1.try_into().unwrap();
    header.identification = 0x1234;
    (header.more_fragments, header.dont_fragment) = (true, false);
    header.options = [1, 0, 0, 0].into();
    header.set_payload_len(1_000).unwrap();
    let mut sent = Vec::new();
    header.header_checksum = header.calc_header_checksum();
    header.write(&mut sent).unwrap();
    sent.extend((0..1_000u32).map(|n| n as u8));
    world.inject(here, packet(&sent));
    world.run_until(Time::from_secs(2), &Control::new());
    let (node, arrived) = world.drain_delivered().next().expect("it arrives");
    assert_eq!((node, arrived.len(), arrived.ttl), (there, sent.len() as u32, 62), "two relays on its way");
    let bytes = encoded(&arrived);
    let slice = Ipv4HeaderSlice::from_slice(&bytes).unwrap();
    assert_eq!(slice.header_checksum(), slice.to_header().calc_header_checksum());
    let differs: Vec<_> = (0..sent.len()).filter(|&at| sent[at] != bytes[at]).collect();
    assert!(differs.iter().all(|at| [8, 10, 11].contains(at)), "time to live and checksum alone: {differs:?}");
    assert_eq!(world.drain_delivered().count(), 0);
}

#[test]
fn what_no_host_is_attached_for_is_lost_with_a_reason() {
    use fourhop_proto::drop::DropReason;
    let setup = mesh(node::Config::standard(), route::Config::standard(), 1);
    let (mut world, _) = setup.build(1, None).unwrap();
    world.inject(NodeId(0), packet(&datagram(NodeId(0), NodeId(1), 0, 100)));
    world.run_until(Time::from_millis(500), &Control::new());
    assert_eq!(world.drops().of(DropReason::NoListener), 1);
}

#[test]
fn a_relay_with_a_host_learns_what_it_lost() {
    use fourhop_proto::drop::DropReason;
    let mut setup = mesh(node::Config::standard(), route::Config::standard(), 3);
    setup.flows.clear();
    let (mut world, _) = setup.build(1, None).unwrap();
    world.attach(NodeId(2));
    let mut bytes = datagram(NodeId(0), NodeId(3), 0, 100);
    for ttl in [1, 2] {
        bytes[8] = ttl;
        world.inject(NodeId(0), packet(&bytes));
        world.run_until(world.now() + Dur::from_secs(1), &Control::new());
    }
    let lost: Vec<_> = world.drain_lost().map(|(node, packet, reason)| (node, packet.src, reason)).collect();
    assert_eq!(lost, [(NodeId(2), NodeId(0).ipv4(), DropReason::TtlExpired)], "node 1 has no host to tell");
    assert_eq!(world.drops().of(DropReason::TtlExpired), 2);
}

/// Hosts that do their own routing choose the neighbour for each packet; the packet's own addresses may be any.
#[test]
fn where_hosts_route_every_destination_is_a_neighbour() {
    let mut setup = mesh(node::Config::standard(), route::Config::standard(), 2);
    setup.flows.clear();
    (setup.routing, setup.node.link.arp) = (Routing::Outside, false);
    let (mut world, _) = setup.build(1, None).unwrap();
    (0..3).for_each(|n| world.attach(NodeId(n)));
    for (to, reaches) in [(1, true), (2, false)] {
        let mut sent = packet(&datagram(NodeId(0), NodeId(2), to, 100));
        sent.dst = NodeId(to).ipv4();
        world.inject(NodeId(0), sent);
        world.run_until(world.now() + Dur::from_secs(1), &Control::new());
        let arrived: Vec<_> = world.drain_delivered().map(|(node, packet)| (node, packet.ttl)).collect();
        assert_eq!(arrived, if reaches { vec![(NodeId(1), 64)] } else { vec![] });
    }
}

#[test]
fn a_broadcast_reaches_the_hosts_of_all_neighbours_and_goes_no_further() {
    let mut setup = mesh(node::Config::standard(), route::Config::standard(), 3);
    setup.flows.clear();
    let (mut world, _) = setup.build(1, None).unwrap();
    (0..4).for_each(|n| world.attach(NodeId(n)));
    for dst in [Ipv4Addr::BROADCAST, Ipv4Addr::new(224, 0, 0, 109)] {
        let mut bytes = datagram(NodeId(1), NodeId(0), 0, 64);
        bytes[16..20].copy_from_slice(&dst.octets());
        world.inject(NodeId(1), packet(&bytes));
        world.run_until(world.now() + Dur::from_millis(100), &Control::new());
        let mut reached: Vec<_> = world.drain_delivered().map(|(node, packet)| (node, packet.dst)).collect();
        reached.sort();
        assert_eq!(reached, [(NodeId(0), dst), (NodeId(2), dst)]);
    }
}

/// A driver that sleeps until the next event, and a host behind a gateway's wire.
#[test]
fn a_host_behind_a_gateway_answers_a_host_of_the_mesh() {
    let [router, far] = [0, 1].map(NodeId::wired);
    let wire = |a, b| Cable {
        ends: [a, b],
        port: port::Config {
            rate: Rate::kbps(10_000),
            delay: Dur::from_millis(10),
            queue: 50,
            queue_bytes: None,
            overhead: Bytes(0),
        },
    };
    let mut setup = mesh(node::Config::standard(), route::Config::standard(), 2);
    setup.flows.clear();
    let cables = vec![wire(NodeId(2), router), wire(router, far)];
    setup.wired = Some(Plan { gateways: vec![NodeId(2)], hosts: 2, cables });
    let (mut world, _) = setup.build(3, None).unwrap();
    world.attach(NodeId(0));
    world.attach(far);
    world.inject(NodeId(0), packet(&datagram(NodeId(0), far, 1, 500)));
    let (mut asked, mut answered) = (None, None);
    step_by_event(&mut world, Time::from_secs(2), |world, node, packet| {
        if node == far {
            asked = Some((world.now(), packet.ttl));
            world.inject(far, self::packet(&datagram(far, NodeId(0), 2, 300)));
        } else {
            answered = Some((world.now(), packet.ttl, packet.len()));
        }
    });
    let (asked_at, ttl) = asked.expect("the question arrives");
    assert_eq!(ttl, 61, "a relay, the gateway and the router");
    let (answered_at, ttl, len) = answered.expect("the answer arrives");
    assert_eq!((ttl, len), (61, 328));
    // Two wires of 10 ms in each direction.
    assert!(asked_at > Time::from_millis(20) && answered_at > asked_at + Dur::from_millis(20));
}

fn step_by_event(world: &mut World, end: Time, mut take: impl FnMut(&mut World, NodeId, Ipv4Packet)) {
    let control = Control::new();
    while let Some(at) = world.next_event().filter(|&at| at <= end) {
        assert!(at >= world.now(), "time never runs backwards");
        world.run_until(at, &control);
        let delivered: Vec<_> = world.drain_delivered().collect();
        delivered.into_iter().for_each(|(node, packet)| take(world, node, packet));
    }
}
