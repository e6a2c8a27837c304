//! Rules of ns-2.35 that can be observed individually in small networks.

use crate::common::{Seen, build, line, micros, udp};
use fourhop_proto::app::end::FlowAddress;
use fourhop_proto::app::{cbr, ping, sink::Sink};
use fourhop_proto::drop::DropReason;
use fourhop_proto::net::Addresses;
use fourhop_proto::node::{self, Begun, Buffers, Ear, Endpoint, EndpointKind, FIRST, Heard, Node, Rules};
use fourhop_proto::phy::Radiated;
use fourhop_proto::preset::Configured;
use fourhop_proto::route::{self, Aodv, Router};
use fourhop_proto::wire::{AodvMessage, Body, Frame, FrameKind, Payload, RoutingMessage};
use fourhop_sim::batch::Control;
use fourhop_sim::setup::{Flow, Routing, Traffic};
use fourhop_units::{Bytes, Dur, NodeId, Purpose, Rate, Stream, Time, Watt};

/// Received power of every frame.
const POWER: Watt = Watt(1e-9);
const PROPAGATION_200_M: Dur = Dur::from_nanos(667);

fn us(us: u64) -> Dur {
    Dur::from_micros(us)
}

// 1. A datagram that finds everything idle: 25 us of link layer, DIFS, 0 to 30 slots.
#[test]
fn idle_access_takes_75_us_and_up_to_30_slots() {
    let interval = Dur::from_millis(20);
    let mut setup = line(node::Config::ns2(), &[0.0, 200.0]);
    setup.flows.push(udp(0, 1, Time::ZERO, interval));
    let (mut world, _, recorder) = build(&setup, 1);
    world.run_until(Time::from_secs(40), &Control::new());
    let mut counts = [0u32; 31];
    let mut last = None;
    for rts in recorder.seen().iter().filter(|seen| seen.sent && seen.is_rts()) {
        let number = rts.at.as_nanos() / interval.as_nanos();
        if last.replace(number) == Some(number) {
            continue; // An RTS sent again.
        }
        let delay = rts.at - (Time::ZERO + interval * number);
        let slots = (delay - us(75)).as_nanos();
        assert!(slots.is_multiple_of(20_000) && slots <= 600_000, "RTS {delay} after the datagram");
        counts[(slots / 20_000) as usize] += 1;
    }
    let samples: u32 = counts.iter().sum();
    assert!(samples >= 1990, "{samples} datagrams");
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    let mean = counts.iter().enumerate().map(|(k, &n)| k as f64 * f64::from(n)).sum::<f64>() / f64::from(samples);
    // The standard deviation of one draw is 8.94, of the mean 0.2.
    assert!((mean - 15.0).abs() < 0.8, "mean of {mean} slots");
}

/// Two nodes with AODV, driven by hand so that one of them can be removed.
struct Pair {
    nodes: [Node; 2],
    ears: [Ear; 2],
    rules: Rules,
    /// Copies on the air: beginning, end, receiver, frame.
    air: Vec<(Time, Time, usize, Frame)>,
    sent: Vec<(Time, usize, Frame)>,
}

impl Pair {
    fn new(seed: u64, interval: Dur) -> Pair {
        let mut config = node::Config::ns2();
        config.link.arp = false;
        let node = |n: u32| {
            let id = NodeId(n);
            let jitter = Stream::new(seed, id, Purpose::RoutingJitter);
            let aodv = Aodv::new(id.ipv4(), route::Config::ns2(), jitter).with_notes();
            let addresses = Addresses { ip: id.ipv4(), mac: id.mac() };
            Node::new(addresses, Stream::new(seed, id, Purpose::Backoff), &config, Router::from(aodv))
        };
        let mut nodes = [node(0), node(1)];
        let rate = Rate::from_bps(1460 * 8 * 1_000_000_000 / interval.as_nanos()).unwrap();
        let cbr = cbr::Config { start: Time::from_millis(100), stop: None, rate, payload: Bytes(1460) };
        let address = FlowAddress { peer: NodeId(1).ipv4(), local_port: 49_152, remote_port: 5001 };
        nodes[0].add_endpoint(Endpoint::new(address, EndpointKind::UdpSender(cbr::Cbr::new(cbr))));
        let address = FlowAddress { peer: NodeId(0).ipv4(), local_port: 5001, remote_port: 49_152 };
        nodes[1].add_endpoint(Endpoint::new(address, EndpointKind::UdpReceiver(Sink::default())));
        let rules = Rules::new(config.phy, &config.mac);
        Pair { nodes, ears: [Ear::new(), Ear::new()], rules, air: Vec::new(), sent: Vec::new() }
    }

    /// Runs both nodes until `end`, or only node 0.
    fn run(&mut self, end: Time, both: bool) {
        let alive = if both { 2 } else { 1 };
        if !both {
            self.air.clear();
        }
        loop {
            let ends = self.air.iter().map(|&(_, end, ..)| end).min();
            let timers = (0..alive).filter_map(|n| self.nodes[n].next_timeout(FIRST, &self.ears[n])).min();
            let Some(now) = ends.into_iter().chain(timers).min().filter(|&now| now <= end) else { return };
            let (mut out, mut outputs) = (None, Buffers::default());
            let mut actor = None;
            if let Some(place) = self.air.iter().position(|&(_, end, ..)| end == now) {
                let (_, _, to, frame) = self.air.remove(place);
                let (src, for_us) = (NodeId(1 - to as u32), frame.dst == NodeId(to as u32).mac());
                if self.ears[to].handle_departure(now, src, &frame, for_us, None, &self.rules) == Heard::ForUs {
                    self.nodes[to].handle_reception(now, FIRST, (&frame, POWER), &mut self.ears[to], &mut outputs);
                }
                actor = Some(to);
            } else if let Some(n) =
                (0..alive).find(|&n| self.nodes[n].next_timeout(FIRST, &self.ears[n]).is_some_and(|at| at <= now))
            {
                self.nodes[n].handle_timeout(now, FIRST, &mut self.ears[n], &mut out, &mut outputs);
                actor = Some(n);
            }
            if let Some(frame) = out {
                let from = actor.unwrap();
                self.sent.push((now, from, frame.clone()));
                if both {
                    // In such a quiet network nothing else happens within the propagation delay.
                    let (begin, to) = (now + PROPAGATION_200_M, 1 - from);
                    let for_us = frame.dst == NodeId(to as u32).mac();
                    let copy = Radiated::new(NodeId(from as u32), &frame).copy(begin, Watt(8.9e-10), for_us);
                    let ear = &mut self.ears[to];
                    let begun = ear.handle_arrival::<Configured>(begin, copy, &frame, None, &self.rules);
                    assert_ne!(begun, Begun::AccessLost, "ns-2 knows no immediate access");
                    self.air.push((begin, begin + frame.airtime, to, frame));
                }
            }
        }
    }
}

// 2. The receiver vanishes: 7 RTS, 720 us and a growing number of slots apart; 670 us after the last one the packet is
//    given up, and 25 (link layer) + 50 (DIFS) + 20 k later the route error is sent.
#[test]
fn a_vanished_receiver_costs_seven_rts_and_a_route_error() {
    let mut longest = [0; 6];
    for seed in 1..=40 {
        let mut pair = Pair::new(seed, Dur::from_millis(200));
        pair.run(Time::from_millis(250), true);
        let received = match &pair.nodes[1].endpoints()[0] {
            endpoint if endpoint.received > Bytes(0) => pair.sent.len(),
            _ => panic!("seed {seed}: no route"),
        };
        pair.run(Time::from_millis(450), false);
        let after = &pair.sent[received..];
        let (rts, rest) = after.split_at(7);
        assert!(rts.iter().all(|(_, _, frame)| frame.kind == FrameKind::Rts), "seed {seed}");
        // The windows are 63, 127, 255, 511, 1023, 1023 after the first to sixth failure.
        for (n, pair) in rts.windows(2).enumerate() {
            let slots = (pair[1].0 - pair[0].0 - us(720)).as_nanos();
            assert!(slots.is_multiple_of(20_000), "seed {seed}");
            longest[n] = longest[n].max(slots / 20_000);
        }
        let (at, _, rerr) = &rest[0];
        let wait = (*at - rts[6].0 - us(670 + 25 + 50)).as_nanos();
        assert!(wait.is_multiple_of(20_000) && wait <= 600_000, "seed {seed}: {wait} ns");
        assert!(rerr.dst.is_broadcast());
        let FrameKind::Data { msdu, .. } = &rerr.kind else { panic!("a route error is data") };
        let Payload::Ipv4(packet) = &msdu.payload else { panic!("in a packet") };
        assert!(matches!(&packet.body, Body::Routing(RoutingMessage::Aodv(AodvMessage::Rerr(_)))), "{packet:?}");
        assert_eq!(pair.nodes[0].drops().of(DropReason::RtsRetryLimit), 1);
    }
    for (longest, window) in longest.into_iter().zip([63, 127, 255, 511, 1023, 1023]) {
        assert!(longest < window && longest > window / 2, "{longest} slots of a window of {window}");
    }
}

/// Returns the delays of node 2's RTS after the last frame of node 0 that node 2 has sensed, less propagation.
fn gaps_after_undecodable(config: node::Config) -> Vec<f64> {
    // Node 2 senses node 0 from 400 m, but does not decode it.
    let mut setup = line(config, &[0.0, 200.0, 400.0]);
    // Unsaturated, so that datagrams of node 2 also arrive while node 0 sends, and then draw their slots.
    setup.flows.push(udp(0, 1, Time::ZERO, Dur::from_millis(17)));
    setup.flows.push(udp(2, 1, Time::from_millis(1), Dur::from_millis(19)));
    let (mut world, _, recorder) = build(&setup, 3);
    world.run_until(Time::from_secs(60), &Control::new());
    let seen = recorder.seen();
    let propagation = PROPAGATION_200_M * 2;
    let (mut own, mut far): (Option<(Time, Time)>, Option<Time>) = (None, None);
    let mut gaps = Vec::new();
    let mut ends: Vec<(Time, bool, &Seen)> = Vec::new();
    for seen in seen.iter().filter(|seen| seen.sent && seen.node != 1) {
        let end = seen.at + seen.frame.airtime;
        ends.push((if seen.node == 0 { end } else { seen.at }, seen.node == 0, seen));
    }
    ends.sort_by_key(|&(at, ..)| at);
    for (at, is_far, seen) in ends {
        if is_far {
            // Node 2 misses a frame that ends while it transmits.
            let missed = own.is_some_and(|(from, to)| from <= at + propagation && at + propagation < to);
            far = (!missed).then_some(at);
        } else {
            if let (true, Some(far)) = (seen.is_rts(), far)
                && at > far + propagation
            {
                gaps.push(micros(at - far) - micros(propagation));
            }
            own = Some((at, at + seen.frame.airtime));
        }
    }
    assert!(gaps.len() > 1000, "{} RTS", gaps.len());
    gaps
}

// 3. After data that node 2 senses but cannot decode, it waits for EIFS and DIFS (364 + 50); without that rule, for the
//    NAV of node 1's CTS, which covers SIFS and the ACK, and for DIFS (314 + 50).
#[test]
fn after_an_undecodable_frame_the_wait_is_414_us() {
    let least = |gaps: &[f64]| gaps.iter().copied().fold(f64::INFINITY, f64::min);
    let ns2 = gaps_after_undecodable(node::Config::ns2());
    assert!((least(&ns2) - 414.0).abs() < 0.01, "{}", least(&ns2));
    let mut config = node::Config::ns2();
    config.mac.eifs_on_undecodable = false;
    let without = gaps_after_undecodable(config);
    assert!((least(&without) - 364.0).abs() < 0.01, "{}", least(&without));
}

// 4. A at 0 m, B at b, C at 600 m, D at 800 m; flows A to B and C to D. At B the powers of A and C are in the ratio
// ((600 - b) / b)^4: 10.3 for b = 215 m, 8.9 for b = 220 m. The capture ratio is 10.
#[test]
fn capture_begins_between_220_and_215_m() {
    let run = |b: f64| {
        let mut setup = line(node::Config::ns2(), &[0.0, b, 600.0, 800.0]);
        setup.flows.push(udp(0, 1, Time::ZERO, Dur::from_millis(8)));
        setup.flows.push(udp(2, 3, Time::ZERO, Dur::from_millis(8)));
        let (mut world, ends, _) = build(&setup, 1);
        world.run_until(Time::from_secs(20), &Control::new());
        let drops = world.drops_at(NodeId(1));
        let received = world.nodes()[1].endpoints()[ends[0].receiver.1].datagrams;
        (drops.of(DropReason::Captured), drops.of(DropReason::Collision), received)
    };
    let (captured, _, received_near) = run(215.0);
    assert!(captured > 1000, "{captured}");
    let (captured, collisions, received_far) = run(220.0);
    assert_eq!(captured, 0);
    assert!(collisions > 1000, "{collisions}");
    assert!(received_near > 2 * received_far, "{received_near} datagrams against {received_far}");
}

// 5. The queue of 50 holds 49 packets besides the one in the MAC; a routing packet overtakes them all.
#[test]
fn forty_nine_wait_and_one_is_in_the_mac() {
    let mut setup = line(node::Config::ns2(), &[0.0, 200.0]);
    setup.flows.push(udp(0, 1, Time::ZERO, Dur::from_millis(1)));
    let (mut world, ends, _) = build(&setup, 1);
    let mut longest = 0;
    for ms in 1..1000 {
        world.run_until(Time::from_millis(ms), &Control::new());
        let node = &world.nodes()[0];
        longest = longest.max(node.link().queue_len() + node.mac().msdus().count());
    }
    assert_eq!(longest, 50);
    let node = &world.nodes()[0];
    let sent = match &node.endpoints()[ends[0].sender.1].kind {
        EndpointKind::UdpSender(cbr) => cbr.sent(),
        other => panic!("{other:?}"),
    };
    let received = world.nodes()[1].endpoints()[ends[0].receiver.1].datagrams;
    let lost = node.drops().of(DropReason::QueueFull);
    assert!(sent - received - lost <= 51 && lost > 800, "{sent} sent, {received} received, {lost} lost");
}

#[test]
fn a_routing_packet_overtakes_the_queue() {
    let relay_delay = |routing_first: bool| {
        let mut config = node::Config::ns2();
        config.link.queue.routing_first = routing_first;
        config.link.queue.limit = 1000;
        // Node 1 has a growing queue of datagrams for node 0; at 2 s node 2 requests a route to node 3 beyond it.
        let mut setup = line(config, &[200.0, 400.0, 600.0, 0.0]);
        setup.routing = Routing::finding(route::Config::ns2());
        setup.flows.push(udp(1, 0, Time::ZERO, Dur::from_millis(6)));
        let ping = ping::Config {
            start: Time::from_secs(2),
            stop: None,
            interval: Dur::from_secs(100),
            outstanding: None,
            payload: Bytes(56),
        };
        setup.flows.push(Flow { src: NodeId(2), dst: NodeId(3), traffic: Traffic::Ping(ping), dscp: 0 });
        let (mut world, _, recorder) = build(&setup, 1);
        world.run_until(Time::from_secs(5), &Control::new());
        let seen = recorder.seen();
        let request = |seen: &Seen| seen.is_broadcast() && seen.is_routing() && seen.at > Time::from_secs(2);
        let heard = seen.iter().find(|s| !s.sent && s.node == 1 && request(s)).expect("node 1 hears the request").at;
        let passed_on = seen.iter().find(|s| s.sent && s.node == 1 && request(s)).expect("and passes it on").at;
        micros(passed_on - heard) / 1e3
    };
    // Jitter is at most 10 ms, an exchange takes 7.6 ms; about 70 datagrams are queued by then.
    assert!(relay_delay(true) < 10.0 + 3.0 * 7.6, "{} ms", relay_delay(true));
    assert!(relay_delay(false) > 300.0, "{} ms", relay_delay(false));
}
