//! The paper's description.

use super::*;
use Side::{Wired, Wireless};

/// Section 4.3 with the formulas of 4.2: 5 hops of 2 Mbit/s, a round trip of 100 ms: FHD = 2 (100/5 + 8 (1040 -
/// 40)/2000) = 48 ms. Packets leave the queue at this interval, whatever the sender does.
#[test]
fn data_leaves_one_four_hop_delay_apart_once_a_round_trip_is_known() {
    let mut script = Script::new(Config { goodput_control: None, ..Config::paper() });
    script.down(0, 0, 1);
    script.down(0, 0, 1_001);
    assert_eq!(script.left(), [(0, 1, Wireless), (0, 1_001, Wireless)], "nothing is known yet");
    assert_eq!(script.interval(0), None);
    script.down_acked(100, 0, 1_001);
    assert_eq!(script.interval(0), Some(Dur::from_millis(48)));
    script.left();
    for n in 2..6 {
        script.down(101, 0, 1 + 1_000 * n);
    }
    script.run(300);
    assert_eq!(
        script.left(),
        [(101, 2_001, Wireless), (149, 3_001, Wireless), (197, 4_001, Wireless), (245, 5_001, Wireless)]
    );
    assert_eq!(script.gateway.queued(), 0);
    assert_eq!(script.gateway.counters().waited, 3);
}

/// Section 4.3: the round trip starts when the packet leaves the queue.
#[test]
fn waiting_at_the_gateway_is_no_part_of_the_round_trip() {
    let mut script = Script::new(Config { goodput_control: None, ..Config::paper() });
    script.down(0, 0, 1);
    script.down_acked(100, 0, 1_001);
    script.down(110, 0, 1_001);
    script.down(110, 0, 2_001);
    script.run(158);
    script.down_acked(210, 0, 2_001);
    script.down_acked(258, 0, 3_001);
    let measured = script.gateway.flow(&key(0)).expect("known").measured;
    assert_eq!((measured.rtt, measured.variation), (Some(Dur::from_millis(100)), Some(0)));
}

/// A new interval applies to queued packets, whether it is longer or shorter.
#[test]
fn what_waits_follows_the_interval() {
    let mut script = Script::new(Config { goodput_control: None, ..Config::paper() });
    script.down(0, 0, 1);
    script.down(0, 0, 1_001);
    script.down_acked(100, 0, 1_001);
    script.left();
    script.down(140, 0, 2_001);
    script.down(141, 0, 3_001);
    // A second round trip of 150 ms makes 0.7 x 48 + 0.3 x 68 = 54 ms, and varies.
    script.down_acked(150, 0, 2_001);
    let interval = script.interval(0).expect("paced");
    assert!(interval > Dur::from_millis(54));
    script.run(1_000);
    let left = script.left();
    assert_eq!(left[2], (140 + interval.as_millis(), 3_001, Wireless));
}

/// All packets in the same direction stay behind queued ones; nothing overtakes, not even a reset.
#[test]
fn a_flow_keeps_its_order() {
    let mut script = Script::new(Config { goodput_control: None, ..Config::paper() });
    script.down(0, 0, 1);
    script.down_acked(100, 0, 1_001);
    script.left();
    script.down(110, 0, 1_001);
    script.down(111, 0, 2_001);
    script.packet(112, Wired, segment(0, true, 3_001, 7, 0));
    script.down(113, 0, 3_001);
    script.packet(114, Wired, flagged(segment(0, true, 4_001, 7, 0), |segment| segment.flags.fin = true));
    script.packet(115, Wired, flagged(segment(0, true, 4_002, 7, 0), |segment| segment.flags.rst = true));
    // Other flows need not wait for it.
    script.down(116, 1, 77);
    script.run(1_000);
    let seqs: Vec<u32> = script.left().iter().map(|left| left.1).collect();
    assert_eq!(seqs, [1_001, 77, 2_001, 3_001, 3_001, 4_001, 4_002]);
    assert_eq!(script.gateway.flows(), 1, "the reset has ended the flow, and the queue is empty");
}

/// Section 4.2: data at 10 ms, its acknowledgement at 95 ms: 85 ms on the wired side.
#[test]
fn acknowledgements_tell_wireless_senders_the_wired_round_trip() {
    let mut script = Script::new(Config::paper());
    script.packet(10, Wireless, segment(0, false, 1, 1, 1_000));
    script.packet(20, Wireless, segment(0, false, 1_001, 1, 1_000));
    script.packet(95, Wired, segment(0, true, 1, 1_001, 0));
    let option = |script: &Script| match &script.last[0].body {
        Body::Tcp(segment) => segment.options.wired_rtt,
        _ => None,
    };
    assert_eq!(option(&script), Some(85));
    // A retransmission: no sample, the old value stays.
    script.packet(300, Wireless, segment(0, false, 1_001, 1, 1_000));
    script.packet(310, Wired, segment(0, true, 1, 2_001, 0));
    assert_eq!(option(&script), Some(85));
    script.packet(400, Wireless, segment(0, false, 2_001, 1, 1_000));
    script.packet(70_400, Wired, segment(0, true, 1, 3_001, 0));
    assert_eq!(option(&script), Some(u16::MAX), "16 bits");
    assert_eq!(script.gateway.counters().options, 3);
    // An acknowledgement for a wired sender carries none.
    script.down(70_500, 0, 1);
    script.packet(70_600, Wireless, segment(0, false, 3_001, 1_001, 0));
    assert_eq!(option(&script), None);
}

#[test]
fn an_acknowledgement_without_room_passes_as_it_is() {
    let mut script = Script::new(Config::paper());
    script.packet(10, Wireless, segment(0, false, 1, 1, 1_000));
    let full = flagged(segment(0, true, 1, 1_001, 0), |segment| {
        segment.options.sack =
            (0..4).map(|n| (Seq::from_wire(3_000 * n + 4_001), Seq::from_wire(3_000 * n + 5_001))).collect();
        segment.options.timestamps = None;
        segment.options.mss = Some(1_460);
    });
    assert_eq!(full.tcp().map(|view| view.segment.options.sack.len()), Some(4));
    script.packet(95, Wired, full.clone());
    assert_eq!(script.last, [full]);
    assert_eq!((script.gateway.counters().options, script.gateway.counters().no_room), (0, 1));
}

/// The option makes 1,000 bytes 1,008: a packet may be as long as the link allows, but no longer.
#[test]
fn an_acknowledgement_with_the_option_fits_its_link() {
    for (mtu, written) in [(1_007, false), (1_008, true)] {
        let mut packet = segment(0, true, 1, 1_001, 960);
        assert_eq!(
            (packet.write_wired_rtt(9, mtu), Packet::len(&packet)),
            (written, if written { 1_008 } else { 1_000 })
        );
    }
}

#[test]
fn every_part_can_be_switched_off() {
    let off = Config { pacing: false, option: false, goodput_control: None, ..Config::paper() };
    let mut script = Script::new(off);
    for n in 0..20 {
        script.down(100 * u64::from(n), 0, 1 + 1_000 * n);
        script.down(100 * u64::from(n), 1, 1 + 1_000 * n);
        script.packet(100 * u64::from(n), Wireless, segment(2, false, 1 + 1_000 * n, 1, 1_000));
        for flow in [0, 1] {
            script.down_acked(100 * u64::from(n) + 50, flow, 1_001 + 1_000 * n);
        }
        script.packet(100 * u64::from(n) + 60, Wired, segment(2, true, 1, 1_001 + 1_000 * n, 0));
        assert!(matches!(&script.last[0].body, Body::Tcp(segment) if segment.options.is_empty()));
    }
    assert_eq!((script.gateway.counters().waited, script.gateway.queued()), (0, 0));
}

/// Goodput control among all flows, and nothing else.
fn all() -> Config {
    let goodput_control = Some(GoodputControl { among: Among::All, ..GoodputControl::paper() });
    Config { pacing: false, goodput_control, ..Config::paper() }
}

/// Two flows down, one ten times as fast: after 5 s it is throttled to the mean, by spacing its packets.
#[test]
fn goodput_control_slows_the_fast_flow() {
    let mut script = Script::new(all());
    let (mut fast, mut slow) = (1, 1);
    for tick in 0..100 {
        let at = tick * 50;
        // Earlier segments are acknowledged: something is always in flight.
        script.down(at, 0, fast);
        script.down_acked(at + 10, 0, fast);
        fast += 1_000;
        if tick % 10 == 0 {
            script.down(at + 20, 1, slow);
            script.down_acked(at + 30, 1, slow);
            slow += 1_000;
        }
    }
    script.run(5_000);
    // 99 packets of 8000 bits in 5 s, 9 in the 4.98 s since the other started: 158.4 and 14.5 kbit/s.
    let throttle = script.gateway.flow(&key(0)).and_then(|flow| flow.throttle).expect("throttled");
    assert_eq!((throttle.rate, throttle.before), (86_428, 158_400));
    assert_eq!(script.gateway.flow(&key(1)).and_then(|flow| flow.throttle), None);
    script.left();
    (0..3).for_each(|n| script.down(5_001, 0, fast + 1_000 * n));
    script.run(5_400);
    // 8000 bits at 86.4 kbit/s: 92.6 ms after 4.95 s.
    assert_eq!(script.left().iter().map(|left| left.0).collect::<Vec<_>>(), [5_042, 5_135, 5_227]);
    // The slow flow gains nothing: after its intervals to recover, the throttle is removed and the queue released.
    (3..9).for_each(|n| script.down(24_990, 0, fast + 1_000 * n));
    assert_eq!(script.gateway.queued(), 5);
    script.run(25_000);
    assert_eq!(script.gateway.queued(), 0);
    assert_eq!(script.gateway.flow(&key(0)).and_then(|flow| flow.throttle), None);
}

/// A flow with nothing to carry is not slow: it is not compared. One that has data but cannot carry it is.
#[test]
fn idle_flows_are_not_compared() {
    for (answered, throttled) in [(true, false), (false, true)] {
        let mut script = Script::new(all());
        script.down(0, 1, 1);
        if answered {
            script.down_acked(10, 1, 1_001);
        }
        for (tick, n) in (0..99).map(|tick| (tick, 1 + 1_000 * tick as u32)) {
            script.down(10_001 + tick * 50, 0, n);
            script.down_acked(10_011 + tick * 50, 0, n);
        }
        script.run(15_000);
        let throttle = script.gateway.flow(&key(0)).and_then(|flow| flow.throttle);
        assert_eq!(throttle.is_some(), throttled, "{throttle:?}");
    }
}

/// Section 4.4: the end of a flow resets throttling.
#[test]
fn the_end_of_a_flow_takes_throttles_away() {
    let mut script = Script::new(all());
    for (tick, n) in (0..100).map(|tick| (tick, 1 + 1_000 * tick as u32)) {
        script.down(tick * 50, 0, n);
        script.down_acked(tick * 50 + 10, 0, n);
    }
    script.down(0, 1, 1);
    script.run(5_000);
    assert!(script.gateway.flow(&key(0)).is_some_and(|flow| flow.throttle.is_some()));
    script.packet(5_100, Wireless, flagged(segment(1, false, 1, 1, 0), |segment| segment.flags.rst = true));
    assert!(script.gateway.flow(&key(0)).is_some_and(|flow| flow.throttle.is_none()));
    assert_eq!(script.gateway.control_counters().map(|counters| counters.resets), Some(1));
}

/// Goodput counts only while data is queued or in flight: a flow that pauses half of the time is as fast as one that
/// does not, and one that pauses most of the time is not compared.
#[test]
fn pauses_are_no_want_of_goodput() {
    // Out of 5 s the second flow has data in flight for this many ms, with the same packet rate while active.
    for (active, goodput) in [(5_000, 160_000), (3_000, 96_000), (2_000, 64_000)] {
        let mut script = Script::new(all());
        let mut next = [1, 1];
        for at in (0..5_000).step_by(50) {
            for flow in (0..2).filter(|&flow| flow == 0 || at < active) {
                script.down(at, flow, next[usize::from(flow)]);
                next[usize::from(flow)] += 1_000;
            }
            if at > 0 {
                script.down_acked(at, 0, next[0] - 1_000);
            }
            if at > 0 && at < active {
                script.down_acked(at, 1, next[1] - 1_000);
            }
            if at + 50 == active {
                script.down_acked(active - 1, 1, next[1]);
            }
        }
        script.run(5_000);
        assert_eq!(script.gateway.flow(&key(1)).map(|flow| flow.acked.1 * 8 / 5), Some(goodput), "{active}");
        assert!((0..2).all(|n| script.gateway.flow(&key(n)).is_some_and(|flow| flow.throttle.is_none())), "{active}");
    }
}
