//! ATP in whole networks: delays reported by nodes compared with those on the air; rates that converge; two flows; no
//! loss without a reason; a network without ATP is not affected.

use crate::common::accounts::check_accounts;
use crate::common::{Seen, build, line};
use fourhop_proto::app::transfer;
use fourhop_proto::atp;
use fourhop_proto::node;
use fourhop_proto::wire::{AtpContent, AtpData, AtpPacket, Body, FrameKind, Payload, Segment};
use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::{Scenario, load_toml};
use fourhop_sim::setup::{Flow, Setup, Traffic};
use fourhop_sim::{RunOptions, run};
use fourhop_units::{Dur, NodeId, Time};

const SMOOTHED: atp::Config = atp::Config::published();

/// A string of nodes with one flow from end to end.
fn string(places: &[f64], config: atp::Config) -> Setup {
    let mut setup = line(node::Config::ns2(), places);
    let transfer = transfer::Config { start: Time::from_secs(1), stop: None, size: None, rate: None };
    let dst = NodeId(places.len() as u32 - 1);
    setup.flows = vec![Flow { src: NodeId(0), dst, traffic: Traffic::Own(config.into(), transfer), dscp: 0 }];
    setup
}

fn data(seen: &Seen) -> Option<&AtpData> {
    let FrameKind::Data { msdu, .. } = &seen.frame.kind else { return None };
    let Payload::Ipv4(packet) = &msdu.payload else { return None };
    let Body::Transport(Segment::Atp(AtpPacket { content: AtpContent::Data(data), .. })) = &packet.body else {
        return None;
    };
    Some(data)
}

fn seen(setup: &Setup, seconds: u64) -> Vec<Seen> {
    let (mut world, _, recorder) = build(setup, 1);
    world.run_until(Time::from_secs(seconds), &Control::new());
    recorder.seen()
}

/// Over one hop, with only the newest sample, a packet that did not wait reports how long the previous one took from
/// leaving the queue to its ACK; and no delay is shorter than the exchange on the air.
#[test]
fn a_node_reports_what_the_air_did() {
    let setup = string(&[0.0, 200.0], atp::Config { smoothing: 0, ..SMOOTHED });
    let mac = setup.node.mac;
    let seen = seen(&setup, 4);
    let (mut last, mut compared): (Option<(Time, Time)>, _) = (None, 0);
    for (place, sent) in seen.iter().enumerate().filter(|(_, seen)| seen.sent && seen.node == 0) {
        let Some(packet) = data(sent) else { continue };
        let Some(ack) = seen[place..].iter().find(|seen| seen.node == 0 && !seen.sent && seen.kind() == "ACK") else {
            break;
        };
        if let Some((left, acked)) = last.filter(|(_, acked)| *acked < packet.entered_queue) {
            let took = acked - left;
            assert_eq!(u64::from(packet.delay_us), took.as_micros_rounded(), "at {:?}", sent.at);
            let rates = mac.rates_around(mac.data_rate);
            let exchange = mac.rts_airtime(rates.rts)
                + mac.answer_airtime(rates.cts)
                + sent.frame.airtime
                + mac.answer_airtime(rates.ack)
                + mac.sifs * 3;
            assert!(took >= exchange, "{took:?} against {exchange:?}");
            compared += 1;
        }
        let left = last.map_or(packet.entered_queue, |(_, acked)| packet.entered_queue.max(acked));
        last = Some((left, ack.at));
    }
    assert!(compared > 50, "{compared}");
}

/// The first packet finds an idle path: three times the duration of its transmission without contention.
#[test]
fn a_quick_start_learns_the_rate_of_an_idle_path() {
    let setup = string(&[0.0, 200.0, 400.0, 600.0], SMOOTHED);
    let seen = seen(&setup, 2);
    let at = |node| seen.iter().find(|seen| seen.node == node && seen.sent && data(seen).is_some()).expect("a probe");
    let (first, FrameKind::Data { msdu, .. }) = (at(0), &at(0).frame.kind) else { panic!("no data") };
    let reported = u64::from(data(first).unwrap().delay_us);
    assert_eq!(reported, (setup.node.mac.unhindered(msdu) * 3).as_micros_rounded());
    assert!(
        [at(1), at(2)]
            .iter()
            .all(|later| data(later).is_some_and(|data| data.asks && u64::from(data.delay_us) == reported))
    );
    let second =
        seen.iter().filter(|seen| seen.node == 0 && seen.sent && data(seen).is_some()).nth(1).expect("a second");
    let third = seen.iter().filter(|seen| seen.node == 0 && seen.sent && data(seen).is_some()).nth(2).expect("a third");
    let between = (data(third).unwrap().entered_queue - data(second).unwrap().entered_queue).as_micros_rounded();
    assert_eq!(between, reported, "a packet in each delay of the path");
}

/// Returns the sender's interval and the last delay fed back, at each of these seconds.
fn rates(setup: &Setup, seconds: std::ops::Range<u64>) -> Vec<(f64, f64)> {
    let (mut world, ends, _) = build(setup, 1);
    let mut at = |second| {
        world.run_until(Time::from_secs(second), &Control::new());
        let (node, place) = ends[0].sender;
        let path = world.endpoints(node)[place].own().expect("a sender of ATP").path_seen();
        let of = |dur: Option<Dur>| dur.expect("the path has reported a rate").as_secs_f64();
        (of(path.interval), of(path.offered))
    };
    seconds.map(&mut at).collect()
}

/// Over one hop the rate converges to what the bottleneck's delay allows and stays there. Over four hops, where a flow
/// competes with itself and the offer changes all the time, the rate is never above the last offer, and never far below
/// it for long.
#[test]
fn the_rate_is_what_the_bottleneck_offers() {
    for (interval, offered) in rates(&string(&[0.0, 200.0], SMOOTHED), 40..80) {
        assert!((0.999..1.11).contains(&(interval / offered)), "{interval} s, offered {offered} s");
    }
    let chain = rates(&string(&[0.0, 200.0, 400.0, 600.0, 800.0], SMOOTHED), 10..100);
    assert!(chain.iter().all(|(interval, offered)| interval / offered > 0.999), "{chain:?}");
    let mean = |of: fn(&(f64, f64)) -> f64| chain.iter().map(of).sum::<f64>() / chain.len() as f64;
    assert!(mean(|(interval, _)| *interval) < 3.0 * mean(|(_, offered)| *offered), "{chain:?}");
}

/// A scenario of `network` whose flows use ATP.
fn scenario(network: &str, changes: &[&str]) -> Scenario {
    let text = format!(
        "profile = 'ns2'\nduration = '120s'\nwarmup = '40s'\n[topology]\n{network}\n[radio]\nrate = '2Mbps'\n\
         [routing]\nprotocol = 'static'\n[traffic]\ntransport = 'atp'\n"
    );
    let changes: Vec<_> = changes.iter().map(|&change| change.to_owned()).collect();
    load_toml(&text, "atp.toml", &changes).unwrap()
}

fn result(scenario: &Scenario) -> RunResult {
    let result = run(scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    check_accounts(&result).unwrap();
    RunResult { wall_s: 0.0, ..result }
}

/// A single hop is the bottleneck: a saturated exchange of 1,460 bytes takes 7.6 ms at 2 Mbit/s with RTS. The rate
/// rises to this limit, nothing is lost, and the queue stays empty.
#[test]
fn over_one_hop_the_rate_converges_to_what_the_link_takes() {
    let alone = result(&scenario("kind = 'chain'\nhops = 1", &["tcp.delivery_ages=true"]));
    let flow = &alone.flows[0];
    assert!((1.35e6..1.55e6).contains(&flow.goodput_bps), "{}", flow.goodput_bps);
    assert_eq!((flow.retransmitted, flow.timeouts), (0, 0));
    assert!(flow.age_p99_s.unwrap() < 0.05 && flow.rtt_mean_s.unwrap() < 0.03, "{flow:?}");
}

#[test]
fn two_flows_that_cross_share() {
    let cross = result(&scenario("kind = 'cross'\nhops = 4", &[]));
    assert!(cross.jain.unwrap() > 0.9, "{:?}", cross.jain);
    for flow in &cross.flows {
        assert!(flow.goodput_bps > 50e3, "{}: {}", flow.name, flow.goodput_bps);
    }
}

#[test]
fn a_transfer_arrives_whole_and_then_nothing_more_is_sent() {
    let done = scenario("kind = 'chain'\nhops = 4", &["traffic.app=transfer", "traffic.size=100kB", "warmup=0s"]);
    let result = result(&done);
    let flow = &result.flows[0];
    assert_eq!((flow.delivered_bytes, flow.sent - flow.retransmitted), (100_000, 69));
}

/// The same result twice, with route discovery, moving nodes and another radio.
#[test]
fn runs_repeat() {
    let network = "kind = 'random'\nnodes = 20\nwidth = '700m'\nheight = '500m'";
    let changes = ["traffic.pairs=3", "routing.protocol=aodv", "radio.model=sinr", "duration=20s", "warmup=2s"];
    let moving =
        ["mobility.model=random-waypoint", "mobility.speed_max=20m/s", "mobility.width=700m", "mobility.height=500m"];
    let scenario = scenario(network, &[&changes[..], &moving].concat());
    let first = result(&scenario);
    assert!(first.flows.iter().any(|flow| flow.delivered_bytes > 0));
    assert_eq!(first, result(&scenario));
}

/// A finite supply is delivered completely, and a chain so long that packets are lost all the time still delivers every
/// byte in order; otherwise `check_accounts` would find fewer.
#[test]
fn losses_are_repaired() {
    let lossy = scenario("kind = 'chain'\nhops = 8", &["duration=60s", "warmup=5s", "routing.protocol=aodv"]);
    let flow = &result(&lossy).flows[0];
    assert!(flow.retransmitted > 0 && flow.goodput_bps > 50e3, "{flow:?}");
}
