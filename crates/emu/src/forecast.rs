//! The speed at which this machine simulates a network, measured before an emulation of it begins.

use fourhop_proto::wire::Ipv4Packet;
use fourhop_sim::batch::Control;
use fourhop_sim::setup::Setup;
use fourhop_sim::world::World;
use fourhop_units::{Dur, NodeId, Time};
use std::time::{Duration, Instant};

/// Duration of the measurement.
const TRIED: Duration = Duration::from_millis(150);
/// Simulated time of a step, after which the clock is checked and every node's backlog is refilled.
const STEP: Dur = Dur::from_millis(5);
/// Packets waiting at every node: more than it sends in a step.
const BACKLOG: usize = 4;

/// Simulated seconds per second when every node always has something to send, with the flows of the scenario: the
/// heaviest load possible. `None` if the network cannot be built, which the emulation itself will report.
pub fn saturated_speed(setup: &Setup, seed: u64) -> Option<f64> {
    let (mut world, _) = setup.build(seed, None).ok()?;
    let control = Control::new();
    let begun = Instant::now();
    let end = Time::from_secs(10);
    while begun.elapsed() < TRIED && world.now() < end {
        for n in 0..setup.positions.len() as u32 {
            fill(&mut world, NodeId(n));
        }
        world.run_until(world.now() + STEP, &control);
    }
    Some(world.now().as_secs_f64() / begun.elapsed().as_secs_f64())
}

/// Refills a node's backlog of packets for all its neighbours.
fn fill(world: &mut World, node: NodeId) {
    let mut bytes = Vec::new();
    let waiting = world.nodes()[node.index()].link().queue_len();
    for _ in waiting..BACKLOG {
        bytes.clear();
        let builder = etherparse::PacketBuilder::ipv4(node.ipv4().octets(), [255; 4], 1).udp(9, 9);
        // INVARIANT: writing to a vector does not fail, and a hundred bytes fit in a datagram.
        builder.write(&mut bytes, &[0; 100]).expect("into memory");
        world.inject(node, Ipv4Packet::from_bytes(&bytes).expect("a packet"));
    }
}
