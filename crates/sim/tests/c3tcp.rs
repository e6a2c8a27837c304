//! C3TCP in the simulator: options on the air compared with events there; nodes that do not take part in it; a network
//! without C3TCP is not affected.

use crate::common::{Seen, build, line, newreno};
use fourhop_proto::ccm;
use fourhop_proto::mac::OptionsRule;
use fourhop_proto::node;
use fourhop_proto::wire::{Body, Frame, FrameKind, MeasuredSegment, Msdu, Payload};
use fourhop_sim::setup::{C3tcp, Setup};
use fourhop_units::{Dur, NodeId, Time};

const SIMULATED: ccm::Options = ccm::Options { simulated: true, ..ccm::Options::NEWEST };
const MEASURE: OptionsRule = OptionsRule::Measure { backward_queueing: true };

fn string(unaware: &[u32], unaware_rule: OptionsRule) -> Setup {
    let mut setup = line(node::Config::ns2(), &[0.0, 200.0, 400.0, 600.0]);
    setup.flows = vec![newreno(0, 3, 60)];
    let unaware = unaware.iter().map(|&node| NodeId(node)).collect();
    setup.c3tcp = Some(C3tcp { options: SIMULATED, rule: MEASURE, unaware, unaware_rule });
    setup
}

fn measured(frame: &Frame) -> Option<(u16, &Msdu, &MeasuredSegment)> {
    let FrameKind::Data { msdu, seq, .. } = &frame.kind else { return None };
    let Payload::Ipv4(packet) = &msdu.payload else { return None };
    let Body::Measured(measured) = &packet.body else { return None };
    Some((*seq, msdu, measured))
}

fn run(setup: &Setup, seconds: u64) -> (fourhop_sim::world::World, Vec<Seen>) {
    let (mut world, _, recorder) = build(setup, 1);
    world.run_until(Time::from_secs(seconds), &fourhop_sim::batch::Control::new());
    (world, recorder.seen())
}

/// Each hop's part of the delay is the time from when its packet left the queue to the end of the exchange. T_tr is as
/// long as the exchange on the air, except for rounding to a microsecond and the propagation delay.
#[test]
fn options_say_what_the_air_did() {
    let setup = string(&[], OptionsRule::Strip);
    let mac = setup.node.mac;
    let (_, seen) = run(&setup, 6);
    let mut hops = 0;
    for (place, sent) in seen.iter().enumerate().filter(|(_, seen)| seen.sent) {
        let Some((seq, msdu, at_sender)) = measured(&sent.frame) else { continue };
        let Some(path) = at_sender.carried.options.path else { continue };
        // On the air: the packet, the options and their EtherType.
        let len = u64::from(40 + at_sender.segment.payload) + 1 + 11 + 2;
        assert_eq!(msdu.len.get(), len);
        assert_eq!(sent.frame.airtime, mac.data_airtime(msdu.len, mac.data_rate));
        let exchange = sent.frame.airtime + mac.sifs + mac.answer_airtime(mac.answer_to(mac.data_rate)) + mac.difs();
        let whole = sent.at - at_sender.carried.entered_queue + exchange;
        let bandwidth = (8 * (len - 14)) as f64 / whole.as_secs_f64();
        assert!(f64::from(path.bandwidth) <= bandwidth + 1.0, "the least of the links: {path:?} and {bandwidth}");
        if path.links == 1 {
            assert!((f64::from(path.bandwidth) - bandwidth).abs() <= 1.0, "{path:?} is not {bandwidth}");
            let delay = sent.at - at_sender.carried.left_queue + exchange;
            assert_eq!(u64::from(path.delay), delay.as_micros_rounded());
        }
        // The ACK ends when the formula says, except for the propagation of frame and ACK.
        let ack = seen[place..]
            .iter()
            .take(8)
            .find(|ack| ack.frame.kind == FrameKind::Ack && !ack.sent && ack.node == sent.node && ack.at > sent.at);
        let Some(ack) = ack.filter(|ack| ack.at < sent.at + exchange) else { continue };
        let flight = ack.at + mac.difs() - (sent.at + exchange);
        assert!(flight < Dur::from_micros(2), "{flight:?} for frame {seq}");
        hops += 1;
    }
    assert!(hops > 300, "{hops} exchanges looked at");
}

/// End to end, the sum over the links is the delay in the simulator, except for the ends of exchanges, which overlap
/// with the next link, and the processing in nodes.
#[test]
fn the_delay_is_the_true_one_but_for_tails_of_exchanges() {
    let setup = string(&[], OptionsRule::Strip);
    let mac = setup.node.mac;
    let (world, _) = run(&setup, 20);
    let address = world.nodes()[0].endpoints()[0].address;
    let key = ccm::FlowKey { peer: address.peer, local_port: address.local_port, peer_port: address.remote_port };
    let window = world.nodes()[0].modules().unwrap().of(key).unwrap().window();
    let estimate = window.current(Time::from_secs(20)).expect("acknowledgements keep coming");
    let tail = (mac.sifs + mac.answer_airtime(mac.answer_to(mac.data_rate)) + mac.difs()) * 6;
    let processing = setup.node.link.delay * 12;
    let truth = estimate.truth.expect("the simulator tells");
    let error = (estimate.delay + processing).saturating_sub(truth + tail);
    let other = (truth + tail).saturating_sub(estimate.delay + processing);
    assert!(error.max(other) < Dur::from_micros(20), "{estimate:?}");
    assert!(window.written().unwrap() < 20_000);
}

/// A real device has no metadata from the simulator: it counts links by the time to live. The network behaves the same
/// with and without, and only the true delay is missing.
#[test]
fn a_real_device_knows_all_but_the_true_delay() {
    let estimated = |simulated| {
        let mut setup = string(&[], OptionsRule::Strip);
        setup.c3tcp.as_mut().unwrap().options.simulated = simulated;
        let (world, seen) = run(&setup, 5);
        let address = world.nodes()[0].endpoints()[0].address;
        let key = ccm::FlowKey { peer: address.peer, local_port: address.local_port, peer_port: address.remote_port };
        let module = world.nodes()[0].modules().unwrap().of(key).unwrap().window();
        (module.current(Time::from_secs(5)).unwrap(), module.written(), seen.len())
    };
    let (simulated, device) = (estimated(true), estimated(false));
    assert_eq!((simulated.0.truth.is_some(), device.0.truth), (true, None));
    assert_eq!(device, (ccm::Estimate { truth: None, ..simulated.0 }, simulated.1, simulated.2));
}

#[test]
fn a_window_is_lowered_only_where_every_node_measures() {
    let written = |unaware: &[u32], rule| {
        let (world, seen) = run(&string(unaware, rule), 10);
        let modules = world.nodes()[0].modules();
        let address = world.nodes()[0].endpoints()[0].address;
        let key = ccm::FlowKey { peer: address.peer, local_port: address.local_port, peer_port: address.remote_port };
        let window = modules.and_then(|modules| modules.of(key)).and_then(|module| module.window().written());
        let delivered = world.nodes()[3].endpoints()[0].received.get();
        (window, delivered, seen.iter().filter(|seen| measured(&seen.frame).is_some()).count())
    };
    let advertised = 60_000;
    let (aware, delivered, _) = written(&[], OptionsRule::Strip);
    assert!(aware.unwrap() < advertised && delivered > 300_000, "{aware:?} {delivered}");
    for rule in [OptionsRule::Strip, OptionsRule::Pass] {
        // In the middle, at the receiver, at the sender.
        for (node, counts) in [(2, true), (3, true), (0, false)] {
            let (window, delivered, options) = written(&[node], rule);
            assert!(window.is_none_or(|window| window >= advertised), "{rule:?}, node {node}: {window:?}");
            assert!(delivered > 300_000);
            assert_eq!(options > 0, counts, "{rule:?}, node {node}: {options} frames with options");
        }
    }
}
