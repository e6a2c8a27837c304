use super::*;
use crate::config::Entry;
use fourhop_cc::Measurements;
use fourhop_cc::tcp_ap::Params;
use fourhop_proto::gateway::Throttle;
use fourhop_settings::Network;
use fourhop_units::Rate;

const HOST: [u8; 4] = [192, 0, 2, 1];
const NODE: [u8; 4] = [10, 0, 0, 4];
/// Queues into the mesh and out of it.
const DOWN: u16 = 7100;
const UP: u16 = 7101;
/// Longer than anything here takes.
const LONG: Dur = Dur::from_secs(100);

/// A TCP segment over IPv4 with this time to live, sequence number, acknowledgement and bytes of data.
fn segment(ends: [([u8; 4], u16); 2], ttl: u8, numbers: [u32; 2], payload: u16) -> Vec<u8> {
    let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, ttl, 6, 0, 0];
    bytes[2..4].copy_from_slice(&(40 + payload).to_be_bytes());
    ends.iter().for_each(|(address, _)| bytes.extend(address));
    ends.iter().for_each(|(_, port)| bytes.extend(port.to_be_bytes()));
    numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
    bytes.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    bytes.resize(40 + usize::from(payload), 7);
    bytes
}

/// Data from the host to this port of a node.
fn data(to: [u8; 4], port: u16, seq: u32, payload: u16) -> Vec<u8> {
    segment([(HOST, 80), (to, port)], 57, [seq, 1], payload)
}

/// An acknowledgement from a node to the host.
fn ack(from: [u8; 4], port: u16, ttl: u8, number: u32) -> Vec<u8> {
    segment([(from, port), (HOST, 80)], ttl, [1, number], 0)
}

fn core(gap: Gap) -> Core {
    Core::new(gap, DOWN, HashKey([1, 2]))
}

/// Options with which the second packet of a flow waits.
fn waiting() -> Gap {
    Gap { pace: Params { first_interval: Some(LONG), ..Gap::paper().pace }, ..Gap::paper() }
}

fn pacing() -> Core {
    let mut core = core(waiting());
    core.routes = routes(&[3]);
    core
}

/// Routes on which NODE is this many hops away, at 2 Mbit/s.
fn routes(hops: &[u8]) -> Arc<Routes> {
    let entry = |&hops: &u8| Entry { to: Network(NODE.into(), 32), hops, rate: None };
    Arc::new(Routes::new(&hops.iter().map(entry).collect::<Vec<_>>(), &[], Rate::kbps(2_000), false))
}

fn take(core: &mut Core, queue: u16, id: u32, bytes: &[u8]) {
    core.take(Time::from_secs(1), &QueuedPacket { queue, id, bytes, len: bytes.len() as u32 });
}

#[test]
fn numbers_that_are_missing_are_packets_that_have_passed() {
    let mut core = core(Gap::paper());
    let overload = |core: &mut Core, queue, id| {
        take(core, queue, id, &data(NODE, 5, 1, 0));
        core.totals.overload
    };
    assert_eq!([5, 6, 9].map(|id| overload(&mut core, DOWN, id)), [0, 0, 2]);
    assert_eq!([100, 101, 103].map(|id| overload(&mut core, UP, id)), [2, 2, 3], "each queue has its own");
    core.last = [Some(u32::MAX); 2];
    assert_eq!([0, 2].map(|id| overload(&mut core, DOWN, id)), [3, 4], "they go round");
    assert_eq!(overload(&mut core, DOWN, 2 + (1 << 30)), 4 + (1 << 20), "a jump is not believed");
}

#[test]
fn what_comes_is_counted_for_the_node_by_its_direction() {
    let mut core = core(Gap { nodes: 2, ..Gap::paper() });
    core.routes = routes(&[3]);
    take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
    take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 0));
    take(&mut core, UP, 1, &segment([(NODE, 5), (HOST, 80)], 61, [1, 1_001], 500));
    let Report { totals, nodes, .. } = core.report();
    let [node] = &nodes[..] else { panic!("{nodes:?}") };
    assert_eq!((node.address, node.hops, node.rate_bps), (NODE.into(), Some(3), Some(2_000_000)));
    assert_eq!((node.into_bytes, node.into_packets), (1_000, 2));
    assert_eq!((node.out_bytes, node.out_packets, node.unknown), (500, 1, 0));
    assert_eq!((totals.packets, totals.unknown, totals.no_tcp, totals.nodes_full), (3, 0, 0, 0));
    let of_node = |action: &Action<Queued>| matches!(action, Action::Forward { packet, .. } if packet.node == 0);
    assert!(core.out.len() == 3 && core.out.iter().all(of_node), "they carry its number: {:?}", core.out);
}

#[test]
fn data_to_a_node_without_a_path_is_unknown_and_other_packets_are_not() {
    let mut core = core(Gap::paper());
    take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
    take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 0));
    take(&mut core, UP, 1, &segment([(NODE, 5), (HOST, 80)], 61, [1, 1_001], 500));
    assert_eq!((core.totals.unknown, core.nodes.report()[0].unknown), (1, 1));
}

#[test]
fn packets_that_are_no_tcp_and_nodes_beyond_the_limit_are_counted() {
    let mut core = core(Gap { nodes: 1, ..Gap::paper() });
    let mut udp = data(NODE, 5, 1, 100);
    udp[9] = 17;
    take(&mut core, DOWN, 1, &udp);
    assert_eq!((core.totals.no_tcp, core.totals.unknown), (1, 0));
    assert_eq!((core.nodes.report()[0].into_bytes, core.nodes.report()[0].into_packets), (0, 1));
    take(&mut core, DOWN, 2, &[0; 8]);
    assert_eq!((core.totals.no_tcp, core.totals.nodes_full, core.nodes.report().len()), (2, 0, 1));
    take(&mut core, DOWN, 3, &data([10, 0, 0, 5], 5, 1, 100));
    assert_eq!((core.totals.no_tcp, core.totals.nodes_full, core.nodes.report().len()), (2, 1, 1));
    assert_eq!(core.out.len(), 3, "all of them pass");
}

#[test]
fn the_time_to_live_of_packets_out_of_the_mesh_tells_hops() {
    let mut core = core(Gap::paper());
    core.routes = Arc::new(Routes::new(&[], &[], Rate::kbps(2_000), true));
    let hops = |core: &Core| core.nodes.report()[0].hops;
    take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
    assert_eq!((hops(&core), core.totals.unknown), (None, 1), "that of the host says nothing");
    take(&mut core, UP, 1, &ack(NODE, 5, 61, 1_001));
    assert_eq!(hops(&core), Some(3));
    take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 1_000));
    assert_eq!(core.totals.unknown, 1);
    (2..6).for_each(|id| take(&mut core, UP, id, &ack(NODE, 5, 60, 1_001)));
    assert_eq!(hops(&core), Some(4));
}

#[test]
fn data_into_the_mesh_waits_and_other_packets_do_not() {
    let (mut waits, mut nodes) = (Lateness::default(), Nodes::new(1));
    let place = nodes.see(Time::ZERO, NODE.into()).unwrap();
    let mut left = |bytes: &[u8], to, node| {
        let queued = QueuedPacket { queue: DOWN, id: 7, bytes, len: bytes.len() as u32 };
        let mut packet = Queued::new(Time::from_millis(100), &queued);
        packet.node = node;
        let action = Action::Forward { packet, to };
        let packet = leaving(Time::from_millis(130), action, &mut waits, &mut nodes);
        assert_eq!((packet.queue, packet.id), (DOWN, 7));
        nodes.turn();
        (waits.count(), nodes.report()[0].sojourn.max)
    };
    let data = data(NODE, 5, 1, 1_000);
    assert_eq!(left(&data, Side::Wireless, place), (1, 30.0));
    assert_eq!(left(&data, Side::Wired, place), (1, 0.0));
    assert_eq!(left(&ack(NODE, 5, 61, 1), Side::Wireless, place), (1, 0.0));
    assert_eq!(left(&data, Side::Wireless, u32::MAX), (2, 0.0), "of a node that there was no room for");
}

#[test]
fn what_waits_leaves_at_the_end_and_is_forgotten_after_a_standstill() {
    for ends in [true, false] {
        let mut core = pacing();
        take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
        take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 900));
        let totals = core.report().totals;
        assert_eq!((totals.flows, totals.waiting, totals.queued_bytes, totals.waited), (1, 1, 900, 1));
        assert!(totals.memory_bytes > core.nodes.memory() as u64 && core.nodes.memory() > 0);
        assert_eq!(core.out.len(), 1);
        if ends {
            core.release(Time::from_secs(2));
            assert_eq!(core.out.len(), 2);
        } else {
            core.forget_waiting(Time::from_secs(2));
            assert_eq!(core.out.len(), 0, "there is nothing to say of those that have left");
            take(&mut core, DOWN, 90, &data(NODE, 5, 1_901, 900));
            assert_eq!(core.totals.overload, 0, "those that have left are not missing");
        }
        assert_eq!(core.report().totals.waiting, 0);
    }
}

#[test]
fn new_orders_hold_for_nodes_that_are_known_already() {
    let mut core = pacing();
    take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
    take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 900));
    let gap = waiting();
    core.obey(Time::from_secs(2), gap, routes(&[4]));
    assert_eq!((core.nodes.report()[0].hops, core.out.len()), (Some(4), 1));
    core.obey(Time::from_secs(2), gap, routes(&[]));
    assert_eq!((core.nodes.report()[0].hops, core.out.len()), (None, 2), "without a path nothing waits");
    take(&mut core, DOWN, 3, &data(NODE, 5, 1_901, 900));
    assert_eq!(core.totals.unknown, 1);
}

#[test]
fn a_node_that_is_silent_is_forgotten_and_its_packets_leave() {
    let mut core = pacing();
    take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
    take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 900));
    core.waits.record(Dur::from_millis(40));
    core.turn(Time::from_secs(11));
    assert_eq!((core.report().nodes.len(), core.out.len(), core.report().sojourn.max), (1, 1, 40.0));
    core.waits.record(Dur::from_millis(50));
    assert_eq!(core.report().sojourn.max, 40.0, "of the ten seconds that are over");
    core.turn(Time::from_secs(602));
    assert_eq!((core.report().nodes.len(), core.out.len()), (0, 2));
}

#[test]
fn the_first_ten_seconds_and_those_after_silence_are_reported_as_they_are() {
    let mut core = core(Gap::paper());
    core.waits.record(Dur::from_millis(40));
    assert_eq!(core.report().sojourn.max, 40.0);
    core.turn(Time::from_secs(11));
    core.turn(Time::from_secs(21));
    core.waits.record(Dur::from_millis(50));
    assert_eq!(core.report().sojourn.max, 50.0);
}

#[test]
fn flows_are_reported_by_their_bytes_and_summed_up_by_node_and_direction() {
    let mut core = core(Gap::paper());
    core.routes = routes(&[3]);
    // The flow of port n has n * 10 bytes into the mesh, that of port 100 has 500 out of it.
    for port in 1..=25 {
        take(&mut core, DOWN, u32::from(port), &data(NODE, port, 1, port * 10));
        take(&mut core, UP, u32::from(port), &ack(NODE, port, 61, 1 + u32::from(port) * 10));
    }
    take(&mut core, UP, 26, &segment([(NODE, 100), (HOST, 80)], 61, [1, 1], 500));
    take(&mut core, DOWN, 26, &segment([(HOST, 80), (NODE, 100)], 57, [1, 501], 0));
    let Report { totals, nodes, flows, .. } = core.report();
    assert_eq!((totals.flows, flows.len(), nodes.len()), (26, SHOWN, 1));
    assert_eq!((nodes[0].into.flows, nodes[0].out.flows), (25, 1));
    assert_eq!((&flows[0].node[..], &flows[0].host[..]), ("10.0.0.4:100", "192.0.2.1:80"));
    let bytes: Vec<_> = flows.iter().map(|flow| (flow.into_bytes, flow.out_bytes)).collect();
    assert_eq!(bytes[..3], [(0, 500), (250, 0), (240, 0)]);
    assert_eq!(bytes[SHOWN - 1], (70, 0));
}

fn state(ms: u64) -> FlowState {
    FlowState {
        seen: Time::ZERO,
        measured: Measurements { rtt: Some(Dur::from_millis(ms)), delay: None, variation: Some(ONE / 4) },
        interval: Some(Dur::from_millis(2 * ms)),
        even: None,
        throttle: None,
        wired_rtt: None,
        waiting: 3,
        queued: 4_000,
        acked: (10, 20),
    }
}

#[test]
fn means_are_those_of_the_flows_that_have_a_value() {
    let mut means = Means::default();
    assert_eq!(means.class(), Class::default(), "none, and no division by zero");
    means.add(&state(100));
    let throttle = Some(Throttle { rate: 80_000, before: 90_000 });
    means.add(&FlowState { even: Some(Dur::from_millis(400)), throttle, ..state(300) });
    let nothing = Measurements { rtt: None, ..state(0).measured };
    let wired_rtt = Some(Dur::from_millis(30));
    means.add(&FlowState { measured: nothing, interval: None, wired_rtt, ..state(0) });
    let class = means.class();
    assert_eq!((class.flows, class.waiting, class.queued_bytes, class.throttled), (3, 9, 12_000, 1));
    let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
    assert!(near(class.wireless_rtt_s, 0.2) && near(class.wired_rtt_s, 0.03), "{class:?}");
    assert!(near(class.interval_s, 0.3), "a common interval takes the place of a flow's own: {class:?}");
}

#[test]
fn a_flow_is_reported_in_seconds_and_with_its_ends() {
    let key = FlowKey { wireless: (NODE.into(), 5), wired: ("2001:db8::1".parse().unwrap(), 80) };
    let throttle = Some(Throttle { rate: 80_000, before: 90_000 });
    let found = flow(&key, &FlowState { even: Some(Dur::from_millis(400)), throttle, ..state(100) });
    let expected = Flow {
        node: "10.0.0.4:5".to_owned(),
        host: "[2001:db8::1]:80".to_owned(),
        into_bytes: 20,
        out_bytes: 10,
        waiting: 3,
        queued_bytes: 4_000,
        wireless_rtt_s: Some(0.1),
        wired_rtt_s: None,
        variation: 0.25,
        interval_s: Some(0.4),
        own_interval_s: Some(0.2),
        throttle_bps: Some(80_000),
    };
    assert_eq!(found, expected);
    let found = flow(&key, &FlowState { measured: Measurements::default(), interval: None, ..state(100) });
    assert_eq!((found.variation, found.interval_s, found.throttle_bps), (0.0, None, None));
}

#[test]
fn a_worker_sees_that_its_orders_are_others() {
    let shared = Shared::default();
    shared.order((Gap::paper(), routes(&[3])));
    shared.order((Gap { mtu: 1_400, ..Gap::paper() }, routes(&[4])));
    assert_eq!(shared.changes.load(Ordering::Acquire), 2);
    assert_eq!(*shared.orders.lock().unwrap(), Some((Gap { mtu: 1_400, ..Gap::paper() }, routes(&[4]))));
}

#[test]
fn verdicts_are_kept() {
    let shared = Shared::default();
    shared.verdicts().leaving += 3;
    shared.verdicts().left += 2;
    let verdicts = *shared.verdicts();
    assert_eq!((verdicts.leaving, verdicts.left), (3, 2));
}
