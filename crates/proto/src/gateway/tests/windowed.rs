//! AP2's windows: data in flight is bounded, a sparse flow does not wait, silence ends, and queues are marked.

use super::*;
use crate::wire::Ecn;

const AP2: Config = Config { mode: Mode::Ap2, sojourn: Some(Dur::from_millis(20)), ..Config::paper() };

/// A flow over 5 hops of 2 Mbit/s after its first round trip of 40 ms, with 20 packets that arrived at 50 ms.
fn crowded() -> Script {
    let mut script = Script::new(AP2);
    script.down(0, 0, 1);
    script.down_acked(40, 0, 1_001);
    script.left();
    for n in 1..=20 {
        let packet = segment(0, true, 1 + 1_000 * n, 1, 1_000);
        script.packet(50, Side::Wired, flagged(packet, |segment| segment.ecn = Ecn::Ect0));
    }
    script
}

fn down(left: &[(u64, u32, Side)]) -> Vec<u32> {
    left.iter().filter(|(.., side)| *side == Side::Wireless).map(|&(_, seq, _)| seq).collect()
}

#[test]
fn no_more_than_the_window_is_in_flight() {
    let mut script = crowded();
    script.run(80);
    assert_eq!(down(&script.left()), [1_001, 2_001, 3_001, 4_001]);
    assert_eq!(script.gateway.queued(), 16);
    // Two have arrived: slow start releases four more.
    script.down_acked(90, 0, 3_001);
    script.run(200);
    let left = down(&script.left());
    assert!(left.starts_with(&[5_001, 6_001]) && left.len() <= 4, "{left:?}");
}

#[test]
fn a_sparse_flow_does_not_wait_for_another() {
    let mut script = crowded();
    script.left();
    script.down(60, 1, 1);
    assert_eq!(script.left(), [(60, 1, Side::Wireless)]);
}

/// All four are lost, and the sender's retransmission of the first is queued behind 16 others. After 200 ms without an
/// acknowledgement they leave one by one, so that it arrives.
#[test]
fn a_repeated_packet_gets_through_although_the_window_is_full() {
    let mut script = crowded();
    script.run(230);
    script.left();
    script.down(240, 0, 1_001);
    script.run(20_000);
    let left = down(&script.left());
    assert_eq!((left.len(), left.last()), (17, Some(&1_001)));
}

/// RFC 3168: once per round trip, a packet queued for longer than the target plus a round trip is marked, if its
/// transport is ECN-capable.
#[test]
fn a_queue_is_marked() {
    let marked = |script: &Script| script.gateway.counters().marked;
    let mut script = crowded();
    script.run(80);
    assert_eq!(marked(&script), 0, "nothing waited for 40 ms");
    script.down_acked(120, 0, 3_001);
    let marks = |packet: &&Ipv4Packet| matches!(&packet.body, Body::Tcp(segment) if segment.ecn == Ecn::Ce);
    assert_eq!((marked(&script), script.last.iter().filter(marks).count(), script.last.len()), (1, 1, 3));
}

/// A receiver that takes dozens of packets at once acknowledges them at once: data reported by its SACK block is no
/// longer in flight.
#[test]
fn a_block_makes_room_for_as_much() {
    let mut script = crowded();
    script.run(80);
    assert_eq!(down(&script.left()), [1_001, 2_001, 3_001, 4_001]);
    let seq = Seq::from_wire;
    let answer = flagged(segment(0, false, 1, 1_001, 0), |segment| {
        segment.options.sack = [(seq(2_001), seq(5_001))].into_iter().collect();
    });
    script.packet(90, Side::Wireless, answer);
    script.run(150);
    assert!(down(&script.left()).len() >= 3, "the first is lost");
}

/// Packets to a node at an unknown distance pass at once.
#[test]
fn without_a_path_everything_passes() {
    let mut script = Script::new(AP2);
    script.path_lost(0, NODE);
    script.down(0, 0, 1);
    script.down_acked(40, 0, 1_001);
    (1..=20).for_each(|n| script.down(50, 0, 1 + 1_000 * n));
    assert_eq!((script.gateway.queued(), down(&script.left()).len()), (0, 21));
}

/// Runs a sender that always has more data for three seconds over a link that takes 2 ms for a segment and 38 ms for
/// its acknowledgement; returns when segments left, and how many were in flight after each.
fn over_a_link(script: &mut Script) -> (Vec<u64>, Vec<u32>) {
    let (mut sent, mut arrived, mut served) = (0, 0, 0);
    let mut answers = std::collections::VecDeque::new();
    let (mut times, mut under_way) = (Vec::new(), Vec::new());
    for at in 0..3_000 {
        // Before the first acknowledgement everything passes.
        while sent == 0 || arrived > 0 && script.gateway.queued() < 20 {
            script.down(at, 0, 1 + 1_000 * sent);
            sent += 1;
        }
        script.run(at);
        while answers.front().is_some_and(|&answered| answered <= at) {
            answers.pop_front();
            arrived += 1;
            script.down_acked(at, 0, 1 + 1_000 * arrived);
        }
        for (left, ..) in script.left().into_iter().filter(|(.., side)| *side == Side::Wireless) {
            served = (left + 2).max(served + 2);
            answers.push_back(served + 38);
            times.push(left);
            under_way.push(answers.len() as u32);
        }
    }
    (times, under_way)
}

/// 20 segments fill the link. AP2 keeps 20 ms and 6 segments more in flight, and three tenths of that leave together.
#[test]
fn on_radios_with_aggregates_bursts_leave() {
    let mut script = Script::new(AP2);
    script.gateway.handle_path(NODE, 1, Rate::kbps(65_000));
    let (times, under_way) = over_a_link(&mut script);
    let late = times.partition_point(|&at| at < 2_000);
    let most = under_way[late..].iter().max().copied().unwrap_or(0);
    assert!((24..=48).contains(&most), "{most}");
    let mut bursts = times[late..].chunk_by(|a, b| a == b).map(<[u64]>::len).collect::<Vec<_>>();
    bursts.sort_unstable();
    assert!(bursts[bursts.len() / 2] >= 6, "{bursts:?}");
    assert!(times.len() - late > 450, "{} of 500: the link is never idle for long", times.len() - late);
}
