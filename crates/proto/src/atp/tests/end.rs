//! The two ends of a transfer driven as by nodes, a fixed delay apart.

use super::{CONFIG, FIRST};
use crate::app::ages::{AgeLog, Ages};
use crate::app::end::{Counts, FlowAddress, FlowEnd, PathSeen, Shared};
use crate::app::transfer::{self, Transfer};
use crate::atp::Config;
use crate::atp::end::End;
use crate::wire::{AtpContent, AtpPacket, Body, Segment};
use core::net::Ipv4Addr;
use fourhop_units::{Bytes, Dur, Time};

/// One-way delay.
const DELAY: Dur = Dur::from_millis(20);

/// An end with the state that its node keeps for it.
struct Node {
    end: End,
    received: Bytes,
    arrived: Bytes,
    ages: Option<AgeLog>,
    local_port: u16,
}

impl Node {
    fn new(end: End, local_port: u16) -> Node {
        let ages = end.records_ages().then(AgeLog::default);
        Node { end, received: Bytes(0), arrived: Bytes(0), ages, local_port }
    }

    fn call(&mut self, out: &mut Vec<Body>, call: impl FnOnce(&mut End, Shared<'_>)) {
        let Node { end, received, arrived, ages, local_port } = self;
        let peer = Ipv4Addr::LOCALHOST;
        let address = FlowAddress { peer, local_port: *local_port, remote_port: 30 - *local_port };
        call(end, Shared { address, received, arrived, ages: ages.as_mut(), out });
    }
}

/// A transfer that begins after a second: sender, receiver, and every packet with its time.
fn transferred(config: Config, bytes: u64, until: Time) -> (Node, Node, Vec<(Time, AtpPacket)>) {
    let transfer = transfer::Config { start: Time::from_secs(1), stop: None, size: Some(Bytes(bytes)), rate: None };
    let (sender, receiver) = End::pair(&config, Transfer::new(transfer), FIRST);
    let mut nodes = [Node::new(sender, 10), Node::new(receiver, 20)];
    let (mut seen, mut wire, mut out) = (Vec::new(), Vec::<(Time, usize, AtpPacket)>::new(), Vec::new());
    loop {
        let timers = Time::earlier_of(nodes[0].end.next_timeout(), nodes[1].end.next_timeout());
        let next = Time::earlier_of(timers, wire.first().map(|&(at, ..)| at));
        let Some(now) = next.filter(|&at| at <= until) else { break };
        for to in [0, 1] {
            nodes[to].call(&mut out, |end, shared| end.handle_timeout(now, shared));
            while wire.first().is_some_and(|&(at, there, _)| at <= now && there == to) {
                let (.., packet) = wire.remove(0);
                nodes[to].call(&mut out, |end, shared| end.handle_packet(now, &packet, shared));
            }
            for body in out.drain(..) {
                let Body::Transport(Segment::Atp(mut packet)) = body else { panic!("{body:?}") };
                if let AtpContent::Data(data) = &mut packet.content {
                    data.delay_us = 10_000;
                }
                seen.push((now, packet.clone()));
                wire.push((now + DELAY, 1 - to, packet));
            }
        }
    }
    let [sender, receiver] = nodes;
    (sender, receiver, seen)
}

#[test]
fn a_transfer_begins_at_its_start_and_arrives_whole() {
    let (sender, receiver, seen) = transferred(CONFIG, 30_500, Time::from_secs(60));
    assert_eq!((receiver.received, receiver.arrived, sender.received), (Bytes(30_500), Bytes(30_500), Bytes(0)));
    let ports = |packet: &AtpPacket| (packet.src_port, packet.dst_port);
    assert_eq!(seen.first().map(|(at, packet)| (*at, ports(packet))), Some((Time::from_secs(1), (10, 20))));
    assert!(seen.iter().any(|(_, packet)| ports(packet) == (20, 10)));
    assert_eq!(sender.end.next_timeout(), None, "nothing is left to do");
    assert_eq!(sender.end.counts(), Counts { sent: 31, ..Counts::default() });
    assert_eq!((receiver.end.counts(), receiver.end.path_seen()), (Counts::default(), PathSeen::default()));
    assert!(sender.ages.is_none() && receiver.ages.is_none());
}

#[test]
fn the_sender_knows_the_path_from_feedback() {
    let (sender, receiver, _) = transferred(CONFIG, 300_000, Time::from_secs(60));
    let path = sender.end.path_seen();
    assert_eq!((path.rtt, path.offered), (Some(DELAY * 2), Some(Dur::from_millis(10))));
    assert_eq!(path.interval, Some(Dur::from_millis(10)));
    let (count, sum) = sender.end.rtt_samples();
    assert!(count > 1 && sum == DELAY * 2 * count, "{count} {sum:?}");
    assert_eq!(receiver.end.rtt_samples(), (0, Dur::ZERO));
}

#[test]
fn ages_of_bytes_run_from_the_packet_before_them_to_their_delivery() {
    let config = Config { delivery_ages: true, ..CONFIG };
    let (sender, receiver, _) = transferred(config, 300_000, Time::from_secs(60));
    let (sent, received) = (sender.ages.expect("kept"), receiver.ages.expect("kept"));
    let ages = Ages::of(&sent, &received, Time::ZERO, Time::from_secs(60)).expect("bytes");
    // A packet per 10 ms, then 20 ms in transit; the first was sent as a probe and did not wait.
    assert_eq!((ages.median, ages.p95), (Dur::from_millis(30), Dur::from_millis(30)));
}
