//! Limits, and the removal of state.

use super::*;
use Side::{Wired, Wireless};
use core::net::Ipv4Addr;

fn config() -> Config {
    Config { goodput_control: None, ..Config::paper() }
}

/// A flow with a round trip of 100 ms, and so an interval of 48 ms, whose receiver advertises `window`.
fn paced(script: &mut Script, at: u64, n: u16, window: u16) {
    script.down(at, n, 1);
    let ack = flagged(segment(n, false, 1, 1_001, 0), |segment| segment.window = window);
    script.packet(at + 100, Wireless, ack);
    script.down(at + 100, n, 1_001);
}

fn syn(n: u16, down: bool) -> Ipv4Packet {
    flagged(segment(n, down, 0, 0, 0), |segment| {
        (segment.flags.syn, segment.flags.ack) = (true, false);
    })
}

/// Both SYNs, without window scales.
fn handshake(script: &mut Script, n: u16) {
    script.packet(0, Wired, syn(n, true));
    let answer = |segment: &mut TcpSegment| (segment.flags.ack, segment.window) = (true, 0);
    script.packet(0, Wireless, flagged(syn(n, false), answer));
}

fn fin(packet: Ipv4Packet) -> Ipv4Packet {
    flagged(packet, |segment| segment.flags.fin = true)
}

/// Section 4.3: no flow needs to queue more than its receiver advertises. Beyond that, the oldest segment leaves early.
#[test]
fn a_flow_holds_at_most_the_advertised_window() {
    let mut script = Script::new(config());
    handshake(&mut script, 0);
    paced(&mut script, 0, 0, 4_500);
    script.left();
    for n in 2..9 {
        script.down(110, 0, 1 + 1_000 * n);
        assert!(script.gateway.queued_bytes() <= 4_000);
    }
    assert_eq!(script.gateway.flow(&key(0)).map(|flow| flow.queued), Some(4_000));
    assert_eq!(script.gateway.counters().early, 3);
    assert_eq!(script.left(), [(110, 2_001, Wireless), (110, 3_001, Wireless), (110, 4_001, Wireless)]);
    script.run(10_000);
    assert_eq!((script.gateway.queued(), script.gateway.queued_bytes()), (0, 0));
}

/// After a handover the unit of windows is unknown; only `flow_buffer` limits the queue.
#[test]
fn a_window_without_its_scale_bounds_nothing() {
    let mut script = Script::new(config());
    paced(&mut script, 0, 0, 1_001);
    (2..20).for_each(|n| script.down(110, 0, 1 + 1_000 * n));
    assert_eq!((script.gateway.queued_bytes(), script.gateway.counters().early), (18_000, 0));
}

/// Data that fills the window to the last byte is still queued.
#[test]
fn a_window_is_used_to_its_last_byte() {
    let mut script = Script::new(config());
    handshake(&mut script, 0);
    paced(&mut script, 0, 0, 4_000);
    (2..6).for_each(|n| script.down(110, 0, 1 + 1_000 * n));
    assert_eq!(script.gateway.flow(&key(0)).map(|flow| flow.queued), Some(4_000));
    assert_eq!(script.gateway.counters().early, 0);
    script.down(110, 0, 6_001);
    assert_eq!((script.gateway.queued_bytes(), script.gateway.counters().early), (4_000, 1));
}

/// RFC 7323: the window counts in units of the scale, if both SYNs had the option; the window in a SYN is never scaled
/// (section 2.2).
#[test]
fn windows_are_scaled_as_agreed() {
    for (ours, theirs, queued) in [(Some(2), Some(3), 8_000), (Some(2), None, 1_000), (None, Some(3), 1_000)] {
        let mut script = Script::new(config());
        let scaled = |packet, shift| flagged(packet, move |segment| segment.options.window_scale = shift);
        script.packet(0, Wired, scaled(syn(0, true), ours));
        let answer = flagged(scaled(syn(0, false), theirs), |segment| {
            segment.flags.ack = true;
            segment.window = 1_900;
        });
        script.packet(10, Wireless, answer);
        paced(&mut script, 20, 0, 1_001);
        (2..20).for_each(|n| script.down(130, 0, 1 + 1_000 * n));
        assert_eq!(script.gateway.flow(&key(0)).map(|flow| flow.queued), Some(queued), "{ours:?} {theirs:?}");
    }
}

/// Section 4.3: when the buffer is full, new flows pass unpaced until old ones end.
#[test]
fn without_room_in_the_buffer_new_flows_pass_unpaced() {
    let mut script = Script::new(Config { buffer: 10_000, ..config() });
    handshake(&mut script, 0);
    handshake(&mut script, 1);
    paced(&mut script, 0, 0, 8_000);
    paced(&mut script, 200, 1, 8_000);
    script.left();
    (2..6).for_each(|n| script.down(310, 0, 1 + 1_000 * n));
    script.left();
    (2..6).for_each(|n| script.down(310, 1, 1 + 1_000 * n));
    assert_eq!(script.left().len(), 4, "all at once");
    assert_eq!(script.gateway.counters().buffer_full, 4);
    script.run(1_000);
    script.packet(1_001, Wireless, flagged(segment(0, false, 1, 1, 0), |segment| segment.flags.rst = true));
    script.left();
    (6..10).for_each(|n| script.down(1_010, 1, 1 + 1_000 * n));
    assert_eq!(script.left().len(), 1, "there is room now");
    script.run(2_000);
}

#[test]
fn a_flow_is_forgotten_when_both_sides_have_closed() {
    let mut script = Script::new(config());
    script.packet(0, Wired, syn(0, true));
    script.packet(10, Wireless, flagged(syn(0, false), |segment| segment.flags.ack = true));
    paced(&mut script, 20, 0, 50_000);
    script.packet(200, Wired, fin(segment(0, true, 2_001, 1, 0)));
    script.packet(250, Wireless, fin(segment(0, false, 1, 2_002, 0)));
    assert_eq!(script.gateway.flows(), 1, "one FIN is not acknowledged");
    script.packet(260, Wired, segment(0, true, 2_002, 2, 0));
    assert_eq!((script.gateway.flows(), script.gateway.counters().ended), (0, 1));
    assert_eq!(script.gateway.next_timeout(), None, "nothing is left to do");
    // Late packets create no new flow.
    script.packet(300, Wireless, fin(segment(0, false, 1, 2_002, 0)));
    assert_eq!(script.gateway.flows(), 0);
}

/// FINs with queued data: the flow is known until its last packet has left.
#[test]
fn what_waits_keeps_an_ended_flow() {
    let mut script = Script::new(config());
    paced(&mut script, 0, 0, 50_000);
    script.down(110, 0, 2_001);
    script.packet(111, Wireless, flagged(segment(0, false, 1, 1_001, 0), |segment| segment.flags.rst = true));
    assert_eq!((script.gateway.flows(), script.gateway.queued()), (1, 1));
    script.run(148);
    assert_eq!((script.gateway.flows(), script.gateway.queued()), (0, 0));
}

#[test]
fn silent_flows_are_forgotten_after_minutes() {
    let mut script = Script::new(config());
    paced(&mut script, 0, 0, 50_000);
    script.packet(0, Wired, syn(1, true));
    script.run(29_999);
    assert_eq!(script.gateway.flows(), 2);
    script.run(30_000);
    assert_eq!(script.gateway.flows(), 1, "half open: half a minute");
    script.run(180_099);
    assert_eq!(script.gateway.flows(), 1);
    script.run(180_100);
    assert_eq!((script.gateway.flows(), script.gateway.counters().timed_out), (0, 2));
}

/// A flood of SYNs cannot exceed the capacity of the table, and displaces no answered flows.
#[test]
fn a_flood_of_syns_displaces_only_its_like() {
    let mut script = Script::new(Config { flows: 8, ..config() });
    (0..4).for_each(|n| paced(&mut script, 0, n, 50_000));
    for n in 100..10_100 {
        script.packet(200, Wired, syn(n, true));
        assert!(script.gateway.flows() <= 8);
    }
    assert!((0..4).all(|n| script.gateway.flow(&key(n)).is_some()));
    assert_eq!(script.gateway.counters().displaced, 10_000 - 4);
    let memory = script.gateway.memory();
    (100..10_100).for_each(|n| script.packet(200, Wired, syn(n, true)));
    assert_eq!(script.gateway.memory(), memory);
}

/// When all flows in a full table have been answered, further ones pass.
#[test]
fn without_room_in_the_table_flows_pass_unpaced() {
    let mut script = Script::new(Config { flows: 2, ..config() });
    (0..3).for_each(|n| paced(&mut script, 0, n, 50_000));
    assert!(script.gateway.flow(&key(2)).is_none());
    script.left();
    (2..12).for_each(|n| script.down(110, 2, 1 + 1_000 * n));
    assert_eq!(script.left().len(), 10);
    assert!(script.gateway.counters().table_full > 0);
}

/// A flow displaced with packets in its queue loses none of them.
#[test]
fn a_displaced_flow_takes_its_packets_along() {
    let pace = fourhop_cc::tcp_ap::Params { first_interval: Some(Dur::from_secs(10)), ..config().pace };
    let mut script = Script::new(Config { flows: 1, pace, ..config() });
    (0..4).for_each(|n| script.down(0, 0, 1 + 1_000 * n));
    assert_eq!((script.left().len(), script.gateway.queued()), (1, 3));
    script.down(1, 1, 1);
    assert_eq!(script.left(), [(1, 1_001, Wireless), (1, 2_001, Wireless), (1, 3_001, Wireless), (1, 1, Wireless)]);
    assert_eq!((script.gateway.queued(), script.gateway.queued_bytes()), (0, 0));
}

/// More wireless nodes than the limit: the rest is not paced, and nothing else happens.
#[test]
fn distances_are_bounded_too() {
    let mut script = Script::new(Config { nodes: 1, ..config() });
    let other = Ipv4Addr::new(10, 0, 0, 7);
    script.gateway.handle_path(other, 3, Rate::kbps(2_000));
    let moved = |packet: Ipv4Packet| Ipv4Packet { dst: if packet.src == HOST { other } else { packet.dst }, ..packet };
    script.packet(0, Wired, moved(segment(0, true, 1, 1, 1_000)));
    script.packet(100, Wireless, Ipv4Packet { src: other, ..segment(0, false, 1, 1_001, 0) });
    let known = FlowKey { wireless: (other.into(), 40_000), wired: (HOST.into(), 5_001) };
    assert_eq!(script.gateway.flow(&known).map(|flow| flow.interval), Some(None));
    // A path that is withdrawn makes room.
    script.path_lost(200, NODE);
    script.gateway.handle_path(other, 3, Rate::kbps(2_000));
    script.packet(200, Wired, moved(segment(0, true, 1_001, 1, 1_000)));
    script.packet(300, Wireless, Ipv4Packet { src: other, ..segment(0, false, 1, 2_001, 0) });
    assert!(script.gateway.flow(&known).is_some_and(|flow| flow.interval.is_some()));
}

/// Without a path there is nothing to pace a flow by: queued packets leave in order, new ones pass, and round trips
/// change nothing. With a path the flow is measured anew: 48 ms after a round trip of 100 ms, whatever was before.
#[test]
fn flows_of_a_lost_path_pass_until_there_is_one_again() {
    let mut script = Script::new(config());
    for n in 0..2 {
        script.down(0, n, 1);
        script.down_acked(400, n, 1_001);
    }
    let before = script.interval(0);
    assert!(before > Some(Dur::from_millis(100)));
    script.left();
    (1..4).for_each(|n| script.down(410, 0, 1 + 1_000 * n));
    script.path_lost(420, Ipv4Addr::new(10, 0, 0, 9));
    assert_eq!((script.left().len(), script.interval(0)), (1, before), "a path that was not known is no loss");
    script.path_lost(420, NODE);
    assert_eq!(script.left(), [(420, 2_001, Wireless), (420, 3_001, Wireless)]);
    assert_eq!((script.gateway.queued(), script.gateway.flows()), (0, 2));
    script.down(430, 0, 4_001);
    script.down_acked(530, 0, 5_001);
    script.down(531, 0, 5_001);
    assert_eq!(script.left().len(), 3);
    assert_eq!([0, 1].map(|n| script.interval(n)), [None, None]);
    script.gateway.handle_path(NODE, 5, Rate::kbps(2_000));
    script.down(600, 1, 1_001);
    script.down_acked(700, 1, 2_001);
    assert_eq!(script.interval(1), Some(Dur::from_millis(48)));
    script.left();
    script.down(710, 1, 2_001);
    script.down(710, 1, 3_001);
    script.run(1_000);
    assert_eq!(script.left(), [(710, 2_001, Wireless), (758, 3_001, Wireless)]);
}

/// A flow that is over except for its queue ends with its path.
#[test]
fn a_flow_that_is_over_does_not_outlive_its_path() {
    let mut script = Script::new(config());
    paced(&mut script, 0, 0, 50_000);
    script.down(110, 0, 2_001);
    script.packet(111, Wired, flagged(segment(0, true, 3_001, 7, 0), |segment| segment.flags.rst = true));
    assert_eq!((script.gateway.flows(), script.gateway.queued()), (1, 2));
    script.path_lost(112, NODE);
    assert_eq!((script.gateway.flows(), script.gateway.queued(), script.gateway.counters().ended), (0, 0, 1));
}

/// Section 4.3: the sum of the advertised windows; room for 200 flows of 64 segments of 1,460 bytes is 18.7 MB.
#[test]
fn the_buffer_of_the_paper_holds_200_windows() {
    assert_eq!(Config::paper().buffer, 18_688_000);
}

/// Memory of a flow besides its table entry: its last round trips, at most 50 numbers, and an entry per queued packet.
#[test]
fn memory_is_that_of_what_is_remembered() {
    let mut script = Script::new(config());
    script.packet(0, Wired, syn(0, true));
    let unmeasured = script.gateway.memory();
    script.packet(1, Wired, segment(0, true, 1, 1, 0));
    assert_eq!(script.gateway.memory(), unmeasured, "what carries no data is not measured");
    script.down(10, 0, 1);
    let first = script.gateway.memory();
    assert!(first >= unmeasured + 200, "{unmeasured}, then {first}");
    for n in 0..60 {
        script.down_acked(100 * (n + 1), 0, 1 + 1_000 * (n as u32 + 1));
        script.down(100 * (n + 1) + 50, 0, 1 + 1_000 * (n as u32 + 1));
    }
    let measured = script.gateway.memory();
    assert!((first + 400..first + 2_000).contains(&measured), "{first}, then {measured}");
    (0..20).for_each(|n| script.down(6_060, 0, 100_001 + 1_000 * n));
    let waiting = script.gateway.memory();
    assert!(script.gateway.queued() >= 15 && waiting >= measured + 15 * size_of::<Ipv4Packet>());
}

/// A late SYN with an acknowledgement starts no new connection: a closed one stays closed. One without does.
#[test]
fn only_a_syn_of_its_own_begins_another_connection() {
    for (acknowledges, flows) in [(true, 0), (false, 1)] {
        let mut script = Script::new(config());
        paced(&mut script, 20, 0, 50_000);
        script.packet(200, Wired, fin(segment(0, true, 2_001, 1, 0)));
        script.packet(210, Wired, flagged(syn(0, true), |segment| segment.flags.ack = acknowledges));
        script.packet(250, Wireless, fin(segment(0, false, 1, 2_002, 0)));
        script.packet(260, Wired, segment(0, true, 2_002, 2, 0));
        assert_eq!(script.gateway.flows(), flows);
    }
}

/// One flow in each direction: two SYNs, a segment down that is queued and one that is not, and one up with its
/// acknowledgement.
#[test]
fn each_packet_is_counted() {
    let mut script = Script::new(config());
    script.packet(0, Wired, syn(0, true));
    script.packet(0, Wireless, syn(1, false));
    paced(&mut script, 10, 0, 50_000);
    script.down(111, 0, 2_001);
    script.packet(120, Wireless, segment(1, false, 1, 1, 1_000));
    script.packet(170, Wired, segment(1, true, 1, 1_001, 0));
    // Belongs to no flow, and starts none.
    script.packet(180, Wired, segment(9, true, 1, 1, 0));
    script.run(1_000);
    let expected = Counters {
        packets: 9,
        followed: 8,
        waited: 1,
        most_held: 1_000,
        most_held_in_a_flow: 1_000,
        options: 1,
        flows: 2,
        ..Counters::default()
    };
    assert_eq!(*script.gateway.counters(), expected);
    assert!(!Packet::is_empty(&syn(0, true)));
}

/// Everything is observed, nothing queued and nothing changed.
#[test]
fn a_gateway_that_observes_holds_nothing() {
    let observing = Config { observe: true, sojourn: Some(Dur::from_millis(50)), ..config() };
    let mut script = Script::new(observing);
    paced(&mut script, 0, 0, 60_000);
    script.left();
    (2..5).for_each(|n| script.down(110, 0, 1 + 1_000 * n));
    assert_eq!((script.left().len(), script.gateway.queued()), (3, 0));
    assert!(script.interval(0).is_some());
    assert_eq!(script.gateway.counters().held_back, 0);
}

/// Flows continue with new options; queued packets leave once nothing has to wait any more.
#[test]
fn other_options_hold_for_flows_that_are_there() {
    let mut script = Script::new(config());
    paced(&mut script, 0, 0, 60_000);
    (2..5).for_each(|n| script.down(110, 0, 1 + 1_000 * n));
    assert_eq!(script.gateway.queued(), 3);
    let mut out = Vec::new();
    script.gateway.handle_config(ms(120), Config { flow_packets: 9, ..config() }, &mut out);
    assert_eq!((out.len(), script.gateway.queued()), (0, 3), "pacing goes on");
    script.gateway.handle_config(ms(120), Config { observe: true, flows: 1, ..config() }, &mut out);
    assert_eq!((out.len(), script.gateway.queued(), script.gateway.flows()), (3, 0, 1));
    assert!(script.interval(0).is_some());
    script.gateway.handle_config(ms(130), Config { pacing: false, ..config() }, &mut out);
    assert_eq!(script.interval(0), None);
    let listed: Vec<_> = script.gateway.each_flow().map(|(key, state)| (*key, state.acked)).collect();
    assert_eq!(listed, [(key(0), (0, 1_000))]);
}

/// A common interval for all flows with data in flight, derived from adaptive pacing of all; a single flow has its own.
#[test]
fn intervals_are_made_the_same_among_those_that_carry_data() {
    let every = Dur::from_millis(500);
    let mut script = Script::new(Config { goodput_control: None, even: Some(every), ..Config::paper() });
    // The first is paced at 48 ms; the second, with a round trip of 150 ms, at 68.
    for (n, rtt) in [(0, 100), (1, 150)] {
        script.down(0, n, 1);
        script.down_acked(rtt, n, 1_001);
    }
    let (first, second) = (script.interval(0).expect("paced"), script.interval(1).expect("paced"));
    assert!(first < second);
    let even = |script: &Script, n| script.gateway.flow(&key(n)).expect("known").even;
    script.down(200, 0, 1_001);
    script.run(600);
    assert_eq!((even(&script, 0), even(&script, 1)), (None, None), "one alone has its own");
    script.down(700, 1, 1_001);
    script.run(1_100);
    let shared = even(&script, 0).expect("two carry data");
    assert_eq!(even(&script, 1), Some(shared));
    assert!(first < shared && shared < second);
}
