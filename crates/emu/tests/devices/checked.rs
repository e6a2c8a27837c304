//! Nodes that send arbitrary bytes, in a world of three radios and a wired host: whatever bytes a device gives are
//! accepted or refused, what is accepted passes through the network and comes out as something that a device accepts,
//! and no packet comes out that nobody has sent. Shared by the test next to it and by the fuzz target in `fuzz/`.
//!
//! An input is a sequence of steps: first the content of the devices and who measures, then for each frame its node,
//! how long the network runs afterwards (in units of 100 us), its length (two bytes), and its bytes.

use fourhop_emu::carry::link::Link;
use fourhop_emu::carry::measured::Measured;
use fourhop_emu::carry::receivers::Receivers;
use fourhop_emu::carry::{Carry, Mode};
use fourhop_emu::flows::Flows;
use fourhop_emu::fragments::fragments;
use fourhop_emu::icmp;
use fourhop_proto::net::sizes::Sizes;
use fourhop_proto::wire::Ipv4Packet;
use fourhop_proto::wire::bytes::{IpHead, Ipv4Head};
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::setup::Routing;
use fourhop_sim::translate;
use fourhop_sim::world::World;
use fourhop_units::{Dur, NodeId, Time};

const RADIOS: usize = 3;
/// Largest packet of the devices.
const MTU: usize = 1_500;
const SCENARIO: &str = "profile = 'standard'\nduration = '9s'\n[topology]\nkind = 'chain'\nhops = 2\nspacing = '200m'\n\
    [[flows]]\nfrom = 'first'\nto = 'last'\ntransport = 'newreno'\n";

/// Counts of an input's outcomes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Passed {
    /// Packets that the network took.
    pub taken: u64,
    /// Packets and frames that came out at devices.
    pub delivered: u64,
    /// ICMP messages about lost packets.
    pub icmp_errors: u64,
}

fn made(kind: u8) -> (World, Carry) {
    let local_acks = kind & 4 != 0;
    let keys = format!("[c3tcp]\nenabled = true\nlocal_acks = {local_acks}\n");
    let keys = if kind % 4 == 1 { keys } else { String::new() };
    let scenario = load_toml(&format!("{SCENARIO}{keys}"), "devices.toml", &[]).expect("a sound scenario");
    let (mut setup, _) = translate::setup(&scenario, 1, &Control::new()).expect("a sound scenario");
    setup.flows.clear();
    let carry = match kind % 4 {
        0 => Carry::Routed,
        1 => Carry::Measured(Measured::new(RADIOS, local_acks)),
        2 => Carry::Receivers(Receivers::new(scenario.adhoc_receiver(), scenario.adhoc_clock())),
        _ => {
            (setup.routing, setup.node.link.arp) = (Routing::Outside, false);
            Carry::Link(Link::new(RADIOS, Sizes::Standard))
        }
    };
    let (mut world, _) = setup.build(1, None).expect("a network of three");
    (0..RADIOS as u32).for_each(|node| world.attach(NodeId(node)));
    (world, carry)
}

/// Executes the steps of `data`.
pub fn exercise(data: &[u8]) -> Passed {
    let mut passed = Passed::default();
    let Some((&kind, mut rest)) = data.split_first() else { return passed };
    let (mut world, mut carry) = made(kind);
    let mode = if kind % 4 == 3 { Mode::Link } else { Mode::Routed };
    let (control, mut flows) = (Control::new(), Flows::default());
    while let Some((&[node, units, high, low], tail)) = rest.split_first_chunk() {
        let len = usize::from(u16::from_be_bytes([high, low])).min(tail.len());
        let (frame, tail) = tail.split_at(len);
        rest = tail;
        let node = NodeId(u32::from(node) % RADIOS as u32);
        if frame.len() <= carry.header() + MTU {
            enter(&mut world, &mut carry, &mut flows, node, frame, &mut passed);
        } else if mode == Mode::Routed {
            let pieces = fragments(frame, MTU).unwrap_or_default();
            assert!(pieces.iter().all(|piece| piece.len() <= MTU));
            pieces.iter().for_each(|piece| enter(&mut world, &mut carry, &mut flows, node, piece, &mut passed));
            let error = icmp::too_long(node.ipv4(), frame, MTU as u32);
            assert!(pieces.is_empty() || error.is_none());
        }
        let end = world.now() + Dur::from_micros(100 * u64::from(units));
        go_on(&mut world, &mut carry, &mut flows, mode, end, &control, &mut passed);
    }
    let end = world.now() + Dur::from_secs(2);
    go_on(&mut world, &mut carry, &mut flows, mode, end, &control, &mut passed);
    // A copy for each node that may hear it, and another one each time a link layer missed the acknowledgement.
    assert!(passed.taken > 0 || passed.delivered == 0, "{passed:?}");
    passed
}

fn enter(world: &mut World, carry: &mut Carry, flows: &mut Flows, node: NodeId, frame: &[u8], passed: &mut Passed) {
    let now = world.now();
    let Ok(packet) = carry.enter(now, node, frame) else { return };
    if let Some(bytes) = carry.ip(frame)
        && let Some(head) = IpHead::read(bytes)
    {
        flows.sent(now, bytes, &head);
    }
    passed.taken += 1;
    world.inject(node, packet);
}

fn go_on(
    world: &mut World,
    carry: &mut Carry,
    flows: &mut Flows,
    mode: Mode,
    end: Time,
    control: &Control,
    passed: &mut Passed,
) {
    world.run_until(end, control);
    let now = world.now();
    let delivered: Vec<_> = world.drain_delivered().collect();
    for (node, packet) in delivered {
        let mut out = Vec::new();
        if !carry.leave(now, node, &packet, &mut out) {
            continue;
        }
        passed.delivered += 1;
        assert!(!out.is_empty() && out.len() <= carry.header() + MTU, "{} bytes", out.len());
        let Some(bytes) = carry.ip(&out) else { continue };
        if mode == Mode::Routed {
            // The kernel gets a packet whose header checksum is correct if it was before.
            let head = Ipv4Head::read(bytes).expect("an IPv4 packet");
            assert_eq!(head.total_len, bytes.len());
        }
        if let Some(head) = IpHead::read(bytes) {
            flows.arrived(now, bytes, &head);
        }
    }
    let lost: Vec<_> = world.drain_lost().collect();
    for (node, packet, reason) in lost {
        let Some(message) = icmp::message(node.ipv4(), &packet, reason) else { continue };
        passed.icmp_errors += 1;
        assert!(message.len() <= 576);
        let message = Ipv4Packet::from_bytes(&message).expect("an IPv4 packet");
        if mode == Mode::Routed && packet.src != node.ipv4() {
            world.inject(node, message);
        }
    }
}
