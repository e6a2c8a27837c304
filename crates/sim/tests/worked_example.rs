//! One TCP segment and its acknowledgement over one hop of 200 m, at 2 Mbit/s data rate and 1 Mbit/s basic rate,
//! compared with the times of a MAC trace of ns-2.35. The back-offs are random: the test infers the drawn slots from
//! the first frame of each exchange and checks every other time to the microsecond.

use crate::common::{Seen, build, line, micros, newreno};
use fourhop_proto::node;
use fourhop_proto::wire::{Body, FrameKind, Payload};
use fourhop_sim::batch::Control;
use fourhop_units::{Dur, Time};

/// Rounding: the propagation delay of 200 m is 667 ns here and 666.67 ns in ns-2, and adds up over at most six frames.
const TOLERANCE_US: f64 = 0.005;

fn carries_segment(seen: &Seen) -> bool {
    match &seen.frame.kind {
        FrameKind::Data { msdu, .. } => match &msdu.payload {
            Payload::Ipv4(packet) => matches!(&packet.body, Body::Tcp(segment) if segment.payload == 1460),
            Payload::Arp(_) | Payload::Foreign(_) => false,
        },
        _ => false,
    }
}

fn duration_us(seen: &Seen) -> u64 {
    seen.frame.duration.as_micros_rounded()
}

//  A sender, B receiver
//
//  A  | RTS  |      |      | DATA                     |      |      |      |      | CTS  |      |      | ACK  |
//  B         | CTS  |                                 | ACK  | DIFS + 20 k | RTS  |      | DATA |
//     0      352.667       677.333               7006   7320       7370 + 20 k    7902.667      8716 ...
//                                                                                 (the times at A and B for k = 9)
#[test]
fn the_time_line_of_one_segment_is_that_of_ns2() {
    for seed in 1..=20 {
        // Window 1: the next segment waits for the acknowledgement, so nothing else is on the air.
        let mut setup = line(node::Config::ns2(), &[0.0, 200.0]);
        setup.flows.push(newreno(0, 1, 1));
        let (mut world, _, recorder) = build(&setup, seed);
        world.run_until(Time::from_secs(2), &Control::new());
        let seen = recorder.seen();

        // The third segment: all effects of the handshake are over.
        let segments: Vec<usize> = (0..seen.len()).filter(|&i| seen[i].sent && carries_segment(&seen[i])).collect();
        let data = segments[2];
        let first = (0..data).rev().find(|&i| seen[i].sent && seen[i].is_rts()).unwrap();
        let start = seen[first].at;
        let ack_rts = (data..).find(|&i| seen[i].sent && seen[i].is_rts()).unwrap();
        let since = |at: Time| micros(at - start);

        // B's back-off before the TCP ACK: 0 to 30 whole slots.
        let wait = since(seen[ack_rts].at) - 7370.0;
        let k = (wait / 20.0).round();
        assert!((wait - 20.0 * k).abs() < TOLERANCE_US && (0.0..=30.0).contains(&k), "seed {seed}: waits {wait} us");
        // The worked example has k = 9.
        let shift = 20.0 * (k - 9.0);

        let expected = [
            (0, true, "RTS", 0.0, 6966),
            (1, false, "RTS", 352.667, 6966),
            (1, true, "CTS", 362.667, 6652),
            (0, false, "CTS", 667.333, 6652),
            (0, true, "DATA", 677.333, 314),
            (1, false, "DATA", 7006.0, 314),
            (1, true, "ACK", 7016.0, 0),
            (0, false, "ACK", 7320.667, 0),
            (1, true, "RTS", 7550.0 + shift, 1126),
            (0, false, "RTS", 7902.667 + shift, 1126),
            (0, true, "CTS", 7912.667 + shift, 812),
            (1, false, "CTS", 8217.333 + shift, 812),
            (1, true, "DATA", 8227.333 + shift, 314),
            (0, false, "DATA", 8716.0 + shift, 314),
            (0, true, "ACK", 8726.0 + shift, 0),
            (1, false, "ACK", 9030.667 + shift, 0),
        ];
        for ((node, sent, kind, at, nav), seen) in expected.iter().zip(&seen[first..]) {
            let found = (seen.node, seen.sent, seen.kind(), duration_us(seen));
            assert_eq!(found, (*node, *sent, *kind, *nav), "seed {seed}, at {} us", since(seen.at));
            assert!(
                (since(seen.at) - at).abs() < TOLERANCE_US,
                "seed {seed}: {kind} at {} us, not {at}",
                since(seen.at)
            );
        }

        // Lengths of the two exchanges.
        let length = |from: usize, to: usize| micros(seen[to].at - seen[from].at);
        assert!((length(first, first + 7) - 7320.667).abs() < TOLERANCE_US);
        assert!((length(first + 8, first + 15) - 1480.667).abs() < TOLERANCE_US);

        // The next segment has waited for the end of A's ACK, and has drawn another back-off.
        let next = since(seen[first + 16].at);
        let slots = (next - (9030.0 + shift) - 50.0) / 20.0;
        assert!((slots - slots.round()).abs() < 1e-3 && (0.0..=30.0).contains(&slots.round()), "next RTS at {next}");
    }
}

// DATA received 7006 -> TCP 7031 -> TCP ACK in B's MAC 7056
// TCP ACK received 8716 -> TCP 8741 -> segment in A's MAC 8766
#[test]
fn the_link_layer_takes_25_us_up_and_25_us_down() {
    let mut setup = line(node::Config::ns2(), &[0.0, 200.0]);
    setup.flows.push(newreno(0, 1, 1));
    let (mut trial, _, recorder) = build(&setup, 1);
    trial.run_until(Time::from_secs(2), &Control::new());
    let seen = recorder.seen();
    let data = (0..seen.len()).filter(|&i| !seen[i].sent && carries_segment(&seen[i])).nth(2).unwrap();
    let received = seen[data].at;
    let acknowledged = seen[data..].iter().find(|s| !s.sent && s.node == 0 && s.kind() == "DATA").unwrap().at;

    let (mut world, ends, _) = build(&setup, 1);
    let step = |world: &mut fourhop_sim::world::World, at: Time| {
        world.run_until(at, &Control::new());
        let delivered = world.nodes()[1].endpoints()[ends[0].receiver.1].received.get();
        let sent = world.nodes()[0].endpoints()[ends[0].sender.1].socket().unwrap().stats().segments_sent;
        let waiting = |node: usize| world.nodes()[node].mac().msdus().next().is_some();
        (delivered, sent, waiting(0), waiting(1))
    };
    let just_before = |at: Time| at - Dur::from_nanos(1);
    let us = Dur::from_micros;

    let (before, ..) = step(&mut world, just_before(received + us(25)));
    let (after, _, _, waiting) = step(&mut world, received + us(25));
    assert_eq!(after - before, 1460);
    assert!(!waiting);
    assert!(!step(&mut world, just_before(received + us(50))).3);
    assert!(step(&mut world, received + us(50)).3);

    let (_, before, ..) = step(&mut world, just_before(acknowledged + us(25)));
    let (_, after, waiting, _) = step(&mut world, acknowledged + us(25));
    assert_eq!(after - before, 1);
    assert!(!waiting);
    assert!(!step(&mut world, just_before(acknowledged + us(50))).2);
    assert!(step(&mut world, acknowledged + us(50)).2);
}
