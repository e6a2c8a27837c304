//! A world and its driver. Besides packets, drivers pass frames of another 802.11 stack; they learn the power at which
//! something arrived, move nodes and stop runs.

use crate::common::{build, line, newreno};
use fourhop_proto::node;
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_proto::wire::{Attempt, Category, Foreign, Ipv4Packet, Msdu, Payload};
use fourhop_sim::batch::Control;
use fourhop_sim::mobility::Movement;
use fourhop_sim::setup::{Change, Routing, Setup};
use fourhop_sim::world::{FrameEvent, World};
use fourhop_units::{Bytes, Dur, NodeId, Rate, Time, Watt};
use std::sync::Arc;

/// Nodes at these places on a line, below hosts that route by themselves.
fn below_hosts(places: &[f64]) -> Setup {
    let mut setup = line(node::Config::standard(), places);
    setup.routing = Routing::Outside;
    setup
}

/// The world at time zero, with a host at each of its nodes.
fn with_hosts(setup: &Setup) -> World {
    let (mut world, _) = setup.build(1, None).unwrap();
    (0..setup.positions.len() as u32).for_each(|node| world.attach(NodeId(node)));
    world
}

/// A datagram of a host, without options and with 100 bytes of payload.
fn datagram(from: u32, to: u32) -> Ipv4Packet {
    let [src, dst] = [from, to].map(|node| NodeId(node).ipv4().octets());
    let builder = etherparse::PacketBuilder::ipv4(src, dst, 64).udp(4_000, 4_001);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &[0xa5; 100]).unwrap();
    Ipv4Packet::from_bytes(&bytes).unwrap()
}

/// The power at this distance in metres.
fn power_at(metres: f64) -> Watt {
    TwoRay::WAVELAN.received(metres)
}

/// Sends a packet and lets it arrive; returns the power of every packet that arrives, with its source and destination.
fn exchange(world: &mut World, from: u32, to: u32) -> Vec<(NodeId, NodeId, Watt)> {
    world.inject(NodeId(from), datagram(from, to));
    assert!(world.run_until(world.now() + Dur::from_millis(500), &Control::new()));
    let powers = world.delivered_powers().to_vec();
    let arrived: Vec<_> = world.drain_delivered().collect();
    assert_eq!(powers.len(), arrived.len(), "one power for each packet");
    assert!(world.delivered_powers().is_empty(), "they go with their packets");
    let source = |packet: &Ipv4Packet| NodeId::from_ipv4(packet.src).unwrap();
    arrived.iter().zip(powers).map(|((node, packet), power)| (source(packet), *node, power)).collect()
}

/// A frame that its stack allows so many attempts, all at 2 Mbit/s.
fn frame(number: u64, to: NodeId, attempts: usize) -> (Foreign, Msdu) {
    let attempt = Attempt { rate: Rate::kbps(2_000), rts: false };
    let frame = Foreign::new(number, &[number as u8; 96], &vec![attempt; attempts]).unwrap();
    (frame.clone(), Msdu { dst: to.mac(), len: Bytes(100), payload: Payload::Foreign(frame) })
}

/// Passes a frame to the radio of node 0; returns what becomes of it.
fn fate(world: &mut World, frame: Msdu) -> Vec<(NodeId, FrameEvent)> {
    assert!(world.takes_frame(NodeId(0), Category::Be), "it is idle");
    world.inject_frame(NodeId(0), Category::Be, frame);
    assert!(!world.takes_frame(NodeId(0), Category::Be), "it has one frame at a time");
    assert!(world.run_until(world.now() + Dur::from_secs(1), &Control::new()));
    let events = world.drain_frames().collect();
    assert_eq!(world.drain_frames().count(), 0, "each is reported once");
    events
}

#[test]
fn a_frame_of_another_stack_arrives_unchanged_and_its_sender_learns_of_the_acknowledgement() {
    let mut world = with_hosts(&below_hosts(&[0.0, 150.0]));
    let (sent, msdu) = frame(7, NodeId(1), 3);
    let power = power_at(150.0);
    let received = FrameEvent::Received { frame: sent.clone(), power };
    let done = FrameEvent::Done { frame: sent, lost: false, power };
    assert_eq!(fate(&mut world, msdu), [(NodeId(1), received), (NodeId(0), done)]);
    assert_eq!(world.frames(), 2, "the frame and its acknowledgement");
}

#[test]
fn a_frame_that_nobody_acknowledges_is_given_up_after_the_attempts_that_its_stack_allows() {
    let mut world = with_hosts(&below_hosts(&[0.0, 2_000.0]));
    let (_, msdu) = frame(8, NodeId(1), 3);
    let events = fate(&mut world, msdu);
    let [(NodeId(0), FrameEvent::Done { frame, lost: true, .. })] = &events[..] else { panic!("{events:?}") };
    assert_eq!((frame.number(), frame.begun(), world.frames()), (8, 3, 3));
}

/// Only the host that asks is attached, so that its power is not that of another.
#[test]
fn the_driver_learns_the_power_at_which_each_packet_arrived() {
    let (mut world, _) = below_hosts(&[0.0, 100.0, -220.0]).build(1, None).unwrap();
    world.attach(NodeId(0));
    for (from, metres) in [(1, 100.0), (2, 220.0), (1, 100.0)] {
        assert_eq!(exchange(&mut world, from, 0), [(NodeId(from), NodeId(0), power_at(metres))]);
    }
}

#[test]
fn a_node_that_is_moved_is_heard_from_its_new_place() {
    let mut setup = below_hosts(&[0.0, 200.0]);
    let mut world = with_hosts(&setup);
    assert_eq!(exchange(&mut world, 0, 1), [(NodeId(0), NodeId(1), power_at(200.0))]);
    for (metres, is_near) in [(2_000.0, false), (100.0, true)] {
        let change = Change { place: Some((metres, 0.0)), ..Change::default() };
        let air = setup.change(NodeId(1), &change, 1).unwrap();
        assert!(world.change_air(air));
        let expected = is_near.then_some((NodeId(0), NodeId(1), power_at(metres)));
        assert_eq!(exchange(&mut world, 0, 1), Vec::from_iter(expected), "{metres} m");
    }
    // Nodes that move by themselves cannot be placed.
    setup.movement = Some(Movement::Waypoints(Arc::new(vec![Vec::new(); 2])));
    let mut moving = with_hosts(&setup);
    let air = setup.change(NodeId(1), &Change { place: Some((2_000.0, 0.0)), ..Change::default() }, 1).unwrap();
    assert!(!moving.change_air(air));
    assert_eq!(exchange(&mut moving, 0, 1).len(), 1);
}

/// The sensitivity is the least power that a receiver decodes: ns-2.35 loses a frame if `Pr < RXThresh_`
/// (wireless-phy.cc).
#[test]
fn a_frame_at_exactly_the_sensitivity_is_received() {
    for (sensitivity, arrives) in [(power_at(200.0), true), (power_at(199.9), false)] {
        let mut setup = below_hosts(&[0.0, 200.0]);
        setup.node.phy.rx_threshold = sensitivity;
        let mut world = with_hosts(&setup);
        assert_eq!(exchange(&mut world, 0, 1).len(), usize::from(arrives));
    }
}

#[test]
fn a_run_that_is_stopped_says_how_far_it_came_and_can_go_on() {
    let mut setup = line(node::Config::ns2(), &[0.0, 200.0, 400.0]);
    setup.flows.push(newreno(0, 2, 8));
    let end = Time::from_secs(20);
    let (mut world, ..) = build(&setup, 1);
    let stopped = Control::new();
    stopped.stop();
    assert!(!world.run_until(end, &stopped));
    let now = world.now();
    assert!(Time::ZERO < now && now < end, "{now:?}");
    assert_eq!(stopped.progress(), now);
    let control = Control::new();
    assert!(world.run_until(end, &control));
    assert_eq!((world.now(), control.progress()), (end, end));
    let (mut whole, ..) = build(&setup, 1);
    whole.run_until(end, &Control::new());
    let seen = |world: &World| (world.events(), world.frames(), world.receptions(), world.drops());
    assert_eq!(seen(&world), seen(&whole));
    assert!(whole.frames() > 1_000);
}
