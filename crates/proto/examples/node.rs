//! Two nodes within reach of each other: AODV finds the way, and a ping is answered. The driver gives every node the
//! time and what its radio hears; frames come out.
//!
//! ```text
//! cargo run -p fourhop-proto --example node
//! ```

use fourhop_proto::app::end::FlowAddress;
use fourhop_proto::app::ping::{self, Pinger};
use fourhop_proto::net::Addresses;
use fourhop_proto::node::{self, Begun, Buffers, Ear, Endpoint, EndpointKind, FIRST, Heard, Node, Rules};
use fourhop_proto::phy::Radiated;
use fourhop_proto::preset::Configured;
use fourhop_proto::route::{self, Aodv, Router};
use fourhop_proto::wire::Frame;
use fourhop_units::{Bytes, Dur, NodeId, Purpose, Stream, Time, Watt};

/// To the other node, 200 m away.
const PROPAGATION: Dur = Dur::from_nanos(667);
const POWER: Watt = Watt(1e-9);

fn node(n: u32, config: &node::Config) -> Node {
    let id = NodeId(n);
    let random = |purpose| Stream::new(1, id, purpose);
    let router = Router::from(Aodv::new(id.ipv4(), route::Config::standard(), random(Purpose::RoutingJitter)));
    Node::new(Addresses { ip: id.ipv4(), mac: id.mac() }, random(Purpose::Backoff), config, router)
}

fn main() {
    let config = node::Config::standard();
    let rules = Rules::new(config.phy, &config.mac);
    let mut nodes = [node(0, &config), node(1, &config)];
    let mut ears = [Ear::new(), Ear::new()];
    let address = FlowAddress { peer: NodeId(1).ipv4(), local_port: 7, remote_port: 0 };
    let pings = ping::Config {
        start: Time::from_secs(1),
        stop: None,
        interval: Dur::from_millis(100),
        outstanding: None,
        payload: Bytes(56),
    };
    nodes[0].add_endpoint(Endpoint::new(address, EndpointKind::Pinger(Pinger::new(pings))));

    // Frames in the air: when each ends, at which node, and what it is.
    let mut air: Vec<(Time, usize, Frame)> = Vec::new();
    let (mut outputs, mut frames) = (Buffers::default(), 0);
    let end = Time::from_secs(3);
    loop {
        let timer = (0..2).filter_map(|n| Some((nodes[n].next_timeout(FIRST, &ears[n])?, n))).min();
        let arrival = air.iter().map(|&(at, to, _)| (at, to)).min();
        let Some((now, actor)) = timer.into_iter().chain(arrival).min().filter(|&(now, _)| now < end) else { break };
        let mut radiated = None;
        if let Some(place) = air.iter().position(|&(at, to, _)| (at, to) == (now, actor)) {
            let (_, to, frame) = air.remove(place);
            let for_us = frame.dst == NodeId(to as u32).mac();
            let heard = ears[to].handle_departure(now, NodeId(1 - to as u32), &frame, for_us, None, &rules);
            if heard == Heard::ForUs {
                nodes[to].handle_reception(now, FIRST, (&frame, POWER), &mut ears[to], &mut outputs);
            }
        } else {
            nodes[actor].handle_timeout(now, FIRST, &mut ears[actor], &mut radiated, &mut outputs);
        }
        if let Some(frame) = radiated {
            let to = 1 - actor;
            let for_us = frame.dst == NodeId(to as u32).mac();
            let begin = now + PROPAGATION;
            let copy = Radiated::new(NodeId(actor as u32), &frame).copy(begin, POWER, for_us);
            if ears[to].handle_arrival::<Configured>(begin, copy, &frame, None, &rules) == Begun::AccessLost {
                nodes[to].handle_access_lost(begin, FIRST, &mut ears[to]);
            }
            frames += 1;
            air.push((begin + frame.airtime, to, frame));
        }
    }
    let EndpointKind::Pinger(pinger) = &nodes[0].endpoints()[0].kind else { unreachable!("it was added above") };
    println!("{} of {} pings answered, by {frames} frames", pinger.received(), pinger.sent());
    assert!(pinger.received() >= 19, "nothing is lost here");
}

#[test]
fn it_runs() {
    main();
}
