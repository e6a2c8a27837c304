//! The other queueing disciplines.

use super::*;
use crate::drop::DropReason;
use Side::{Wired, Wireless};
use core::net::Ipv4Addr;
use fourhop_units::Bytes;

/// Drives a gateway over time; records departures to the wireless side as (ms, flow), and drops.
struct Run {
    discipline: Discipline<Ipv4Packet>,
    out: Vec<Action<Ipv4Packet>>,
    left: Vec<(u64, u16)>,
    dropped: Vec<DropReason>,
}

impl Run {
    fn new(config: DisciplineConfig) -> Run {
        Run {
            discipline: Discipline::new(&config, HashKey([0; 2])),
            out: Vec::new(),
            left: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn packet(&mut self, at: u64, n: u16, seq: u32) {
        self.until(at);
        self.discipline.handle_packet(ms(at), Wired, segment(n, true, seq, 1, 960), &mut self.out);
        self.collect(ms(at));
    }

    fn until(&mut self, at: u64) {
        while let Some(due) = self.discipline.next_timeout().filter(|&due| due <= ms(at)) {
            self.discipline.handle_timeout(due, &mut self.out);
            self.collect(due);
        }
    }

    fn collect(&mut self, now: Time) {
        for action in self.out.drain(..) {
            match action {
                Action::Forward { packet, to } => {
                    let view = packet.tcp().expect("TCP");
                    if to == Wireless {
                        self.left.push((now.as_nanos() / 1_000_000, view.segment.dst_port - 40_000));
                    }
                }
                Action::Drop { reason, .. } => self.dropped.push(reason),
            }
        }
    }

    fn count(&self, n: u16) -> usize {
        self.left.iter().filter(|left| left.1 == n).count()
    }
}

/// 1000 bytes each at 80 kbit/s: ten packets per second, five for each of two flows, however many arrive.
#[test]
fn fair_shares_are_equal() {
    let limiter = FairShareConfig { capacity: Rate::kbps(80), queue: 20, flows: 16, idle_timeout: Dur::from_secs(10) };
    let mut run = Run::new(DisciplineConfig::FairShare(limiter));
    for tick in 0..1_000u32 {
        run.packet(10 * u64::from(tick), 0, tick);
        if tick % 10 == 0 {
            run.packet(10 * u64::from(tick), 1, tick);
        }
    }
    assert!((50..=52).contains(&run.count(0)), "{}", run.count(0));
    assert!((49..=51).contains(&run.count(1)), "{}", run.count(1));
    assert!(run.dropped.iter().all(|&reason| reason == DropReason::GatewayQueueFull));
    let queued = run.discipline.queued();
    assert_eq!(run.left.len() + run.dropped.len() + queued, 1_100);
    run.until(100_000);
    assert_eq!((run.discipline.queued(), run.discipline.next_timeout()), (0, None));
}

fn limiter(kbps: u64, queue: u32) -> DisciplineConfig {
    let (capacity, idle_timeout) = (Rate::kbps(kbps), Dur::from_millis(500));
    DisciplineConfig::FairShare(FairShareConfig { capacity, queue, flows: 2, idle_timeout })
}

/// 1000 bytes at 80 kbit/s take 100 ms of the whole capacity. A lone packet leaves at once; exactly as many are queued
/// as the limit allows; a second flow doubles the interval from the next packet on.
#[test]
fn a_share_is_what_one_of_so_many_flows_gets() {
    let mut run = Run::new(limiter(80, 3));
    run.packet(0, 0, 1);
    assert_eq!((run.left.pop(), run.discipline.queued()), (Some((0, 0)), 0), "alone: at once");
    (2..6).for_each(|n| run.packet(0, 0, n));
    assert_eq!((run.discipline.queued(), run.dropped.len()), (3, 1), "three wait, the fourth is one too many");
    run.packet(150, 1, 1);
    run.until(1_000);
    assert_eq!(run.left, [(100, 0), (150, 1), (200, 0), (400, 0)]);
    // A third flow finds no slot and passes unlimited; packets from the wireless side always do.
    let mut run = Run::new(limiter(80, 3));
    (0..3).for_each(|flow| (0..2).for_each(|n| run.packet(0, flow, n)));
    assert_eq!(run.left, [(0, 0), (0, 1), (0, 2), (0, 2)]);
    run.discipline.handle_packet(ms(0), Wireless, segment(0, false, 1, 1, 0), &mut run.out);
    assert!(matches!(run.out.pop(), Some(Action::Forward { to: Wired, .. })));
}

/// A flow that is silent too long no longer counts: its queued packets leave, and the others keep their times.
#[test]
fn a_silent_flow_gives_up_its_share() {
    let mut run = Run::new(limiter(8, 3));
    run.packet(0, 0, 1);
    run.packet(0, 0, 2);
    run.packet(100, 1, 1);
    run.packet(100, 1, 2);
    // 1 s for the first flow, which was alone when it sent, 2 s for the second, which keeps acknowledging.
    for at in [400, 800, 1_200, 1_600, 2_000] {
        run.until(at);
        run.discipline.handle_packet(ms(at), Wireless, segment(1, false, 1, 1, 0), &mut run.out);
        run.collect(ms(at));
    }
    run.until(10_000);
    assert_eq!(run.left, [(0, 0), (100, 1), (500, 0), (2_100, 1)]);
    assert_eq!((run.discipline.queued(), run.discipline.next_timeout()), (0, None));
}

fn fq_codel(capacity: Option<Rate>) -> FqCodelConfig {
    FqCodelConfig { capacity, ..FqCodelConfig::rfc8290() }
}

/// One flow sends three times what fits, the other little: the small one loses nothing, and its packets bypass the
/// queue of the other.
#[test]
fn fq_codel_isolates_flows() {
    let rate = Rate::kbps(800);
    let mut run = Run::new(DisciplineConfig::FqCodel(fq_codel(Some(rate))));
    let per_packet = rate.time_for(Bytes(1_000)).as_nanos() / 1_000_000;
    assert_eq!(per_packet, 10);
    for tick in 0..3_000u32 {
        run.packet(3 * u64::from(tick), 0, tick);
        if tick % 50 == 0 {
            run.packet(3 * u64::from(tick), 1, tick);
        }
    }
    assert_eq!(run.count(1), 60, "none is lost, none waits");
    assert!(run.dropped.len() > 100 && run.dropped.iter().all(|&reason| reason == DropReason::Codel));
    // 9 s at 100 packets per second.
    assert!((895..=900).contains(&run.left.len()), "{}", run.left.len());
    assert_eq!(run.left.len() + run.dropped.len() + run.discipline.queued(), 3_060);
}

/// The longest queue is the one that is longest now: after losing a packet and becoming short, it loses no more.
#[test]
fn fq_codel_drops_from_what_is_longest_now() {
    let mut config = FqCodelConfig { limit: 10, ..fq_codel(Some(Rate::kbps(80))) };
    config.codel.target = Dur::from_secs(100);
    let mut run = Run::new(DisciplineConfig::FqCodel(config));
    (0..20).for_each(|n| run.packet(0, 0, n));
    assert_eq!(run.dropped.len(), 9);
    run.until(800);
    (0..15).for_each(|n| run.packet(850, 1, n));
    run.until(10_000);
    assert_eq!((run.count(0), run.count(1), run.dropped.len()), (11, 8, 16));
}

/// RFC 8290 section 4.1.1: flows are separated by each of the addresses and ports.
#[test]
fn fq_codel_separates_flows_by_each_part_of_the_five_tuple() {
    let other: [fn(Ipv4Packet) -> Ipv4Packet; 4] = [
        |packet| Ipv4Packet { src: Ipv4Addr::new(10, 128, 0, 2), ..packet },
        |packet| Ipv4Packet { dst: Ipv4Addr::new(10, 0, 0, 7), ..packet },
        |packet| flagged(packet, |segment| segment.src_port += 1),
        |packet| flagged(packet, |segment| segment.dst_port += 1),
    ];
    for (part, change) in other.into_iter().enumerate() {
        let mut run = Run::new(DisciplineConfig::FqCodel(fq_codel(Some(Rate::kbps(800)))));
        (0..10).for_each(|n| run.packet(0, 0, n));
        let packet = change(segment(0, true, 777, 1, 960));
        run.discipline.handle_packet(ms(0), Wired, packet.clone(), &mut run.out);
        let mut place = run.left.len();
        while !run.out.iter().any(|action| matches!(action, Action::Forward { packet: left, .. } if *left == packet)) {
            let due = run.discipline.next_timeout().expect("packets wait");
            run.discipline.handle_timeout(due, &mut run.out);
            place += 1;
        }
        assert_eq!(place, 3, "part {part}: behind the quantum of the other flow, not behind all of it");
    }
}

/// RFC 8290 section 4.2: a new flow goes first, once; when its queue empties, it waits for a round among the old ones.
/// 10 ms per packet: the long flow spends its quantum of 1,514 bytes on two packets, then the other's packet leaves,
/// then two of the long one.
#[test]
fn an_empty_flow_does_not_come_back_as_a_new_one() {
    let mut run = Run::new(DisciplineConfig::FqCodel(fq_codel(Some(Rate::kbps(800)))));
    (0..10).for_each(|n| run.packet(0, 0, n));
    run.packet(5, 1, 1);
    run.packet(35, 1, 2);
    run.until(200);
    assert_eq!(run.left[..6], [(0, 0), (10, 0), (20, 1), (30, 0), (40, 0), (50, 1)]);
}

/// RFC 8289 section 5.6: no packet is dropped with at most one behind it, however long it has waited.
#[test]
fn fq_codel_drops_nothing_of_a_short_queue() {
    let mut run = Run::new(DisciplineConfig::FqCodel(fq_codel(Some(Rate::kbps(80)))));
    run.packet(0, 0, 0);
    (0..50).for_each(|n| run.packet(100 * u64::from(n), 0, n + 1));
    run.until(10_000);
    assert_eq!((run.left.len(), run.dropped.len()), (51, 0));
}

/// Without a shaper the interface pulls packets.
#[test]
fn fq_codel_follows_the_interface() {
    let mut run = Run::new(DisciplineConfig::FqCodel(fq_codel(None)));
    (0..10).for_each(|n| run.packet(0, 0, n));
    assert_eq!((run.left.len(), run.discipline.queued()), (2, 8));
    assert_eq!(run.discipline.next_timeout(), None);
    run.discipline.handle_backlog(ms(1), 1, &mut run.out);
    run.collect(ms(1));
    assert_eq!((run.left.len(), run.discipline.queued()), (3, 7));
    run.discipline.handle_backlog(ms(2), 0, &mut run.out);
    run.collect(ms(2));
    assert_eq!((run.left.len(), run.discipline.queued()), (5, 5));
}

/// The limit is kept, at the cost of the longest queue.
#[test]
fn fq_codel_drops_from_the_longest_queue() {
    let mut run = Run::new(DisciplineConfig::FqCodel(FqCodelConfig { limit: 10, ..fq_codel(Some(Rate::kbps(80))) }));
    (0..50).for_each(|n| run.packet(0, 0, n));
    run.packet(0, 1, 0);
    assert_eq!(run.discipline.queued(), 10);
    assert!(run.dropped.iter().all(|&reason| reason == DropReason::GatewayQueueFull));
    run.until(2_000);
    assert_eq!(run.count(1), 1);
}
