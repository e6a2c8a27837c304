//! Aggregates on the bench: 802.11n at 5 GHz and 65 Mbit/s, slots of 9, SIFS 16, DIFS 34 us, answers at 6 Mbit/s.
//!
//! Packets of 1,500 bytes are MPDUs of 1,538; three make an A-MPDU of 3 * 1,544 - 2 bytes, 143 symbols after 36 us. A
//! block acknowledgement of 32 bytes takes 68 us, a request of 24 bytes 56 us, an ACK or CTS 44 us, an RTS 52 us.

use super::*;
use crate::mac::{BLOCK_ACK, Protection};
use crate::phy::PhyKind;
use crate::phy::mcs::{Format, Guard, Mcs, Width};
use crate::wire::{Aggregate, Mpdu};

const THREE: u64 = 36 + 4 * 143;
const TWO: u64 = 36 + 4 * 96;
const ONE: u64 = 36 + 4 * 48;
const BA: u64 = 68;
const SIFS: u64 = 16;
const DIFS: u64 = 34;

fn mcs() -> Mcs {
    Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap()
}

fn config() -> Config {
    Config {
        mcs: Some(mcs()),
        data_rate: mcs().rate(),
        basic_rate: Rate::kbps(6_000),
        rts_threshold: Bytes(100_000),
        ..Config::standard().with_phy(PhyKind::Ofdm)
    }
}

/// Feeds in the answer that ends an exchange, `SIFS` after the frame sent at `at`; returns its end.
fn answered(bench: &mut Bench, at: u64, kind: FrameKind) -> u64 {
    let sent = bench.last_frame.clone().expect("something was sent");
    let rate = Rate::kbps(6_000);
    let len = if matches!(kind, FrameKind::BlockAck { .. }) { BLOCK_ACK } else { Bytes(14) };
    let airtime = config().airtime(len, rate);
    let (dst, src) = (NodeId(0).mac(), NodeId(1).mac());
    let answer = Frame { dst, src, duration: Dur::ZERO, rate, airtime, kind };
    bench.hear(at + sent.airtime.as_micros_rounded() + SIFS, &answer)
}

/// The layer above has nothing: the station continues with its leftovers.
fn nothing_above(bench: &mut Bench, at: u64) {
    if bench.mac.is_ready() && bench.mac.has_unsent(Category::Be) {
        bench.mac.resume(us(at), Category::Be, &mut bench.medium);
    }
}

fn block_ack(start: u16, bitmap: u64) -> FrameKind {
    FrameKind::BlockAck { start, bitmap, category: Category::Be }
}

/// Returns the numbers and retry flags of the last aggregate.
fn sent(bench: &Bench) -> Vec<(u16, bool)> {
    match bench.last_frame.as_ref().map(|frame| &frame.kind) {
        Some(FrameKind::Aggregate(aggregate)) => aggregate.mpdus.iter().map(|mpdu| (mpdu.seq, mpdu.retry)).collect(),
        other => panic!("no aggregate: {other:?}"),
    }
}

/// A bench with the first packet at the MAC and `more` waiting above; access is immediate, after DIFS.
fn bench(config: Config, more: usize) -> Bench {
    let mut bench = Bench::new(config);
    bench.above.extend((0..more).map(|_| packet()));
    bench.packet(0, packet());
    bench
}

/// Returns the length of the back-off that the station draws next, in slots of 9 us.
fn slots(bench: &mut Bench, values: u32) -> u64 {
    9 * u64::from(bench.draws.below(values))
}

//  | DIFS | A-MPDU 0 1 2 | SIFS | (BA 0 2) | DIFS + k | A-MPDU 1 3 | SIFS | (BA) |
#[test]
fn what_is_missing_comes_again_with_what_is_new() {
    let mut bench = bench(config(), 2);
    bench.next_is(DIFS, "A-MPDU");
    let frame = bench.last_frame.clone().unwrap();
    assert_eq!((frame.airtime, frame.duration), (Dur::from_micros(THREE), Dur::from_micros(SIFS + BA)));
    assert_eq!(sent(&bench), [(0, false), (1, false), (2, false)]);
    bench.above.push_back(packet());
    let end = answered(&mut bench, DIFS, block_ack(0, 0b101));
    assert_eq!(end, DIFS + THREE + SIFS + BA);
    // The rest contends for the medium on its own.
    assert!(!bench.mac.is_ready());
    let again = end + DIFS + slots(&mut bench, 16);
    bench.next_is(again, "A-MPDU");
    assert_eq!(sent(&bench), [(1, true), (3, false)]);
    answered(&mut bench, again, block_ack(0, 0b1111));
    let counters = bench.mac.counters();
    assert_eq!((counters.acknowledged, counters.accepted, bench.mac.msdus().count()), (4, 4, 0));
    assert!(bench.mac.is_ready() && !bench.mac.has_unsent(Category::Be));
}

//  | DIFS | A-MPDU | no answer | DIFS + k, twice the window | the same again
#[test]
fn without_an_answer_all_comes_again_after_a_longer_back_off() {
    let mut bench = bench(config(), 1);
    bench.next_is(DIFS, "A-MPDU");
    let timeout = DIFS + TWO + SIFS + BA + 4;
    bench.run(timeout);
    let again = timeout + DIFS + slots(&mut bench, 32);
    bench.next_is(again, "A-MPDU");
    assert_eq!(sent(&bench), [(0, true), (1, true)]);
}

// A single MPDU is answered by an ACK; the contention window returns to its minimum.
#[test]
fn one_mpdu_alone_is_acknowledged_by_ack() {
    let mut bench = bench(config(), 0);
    bench.next_is(DIFS, "A-MPDU");
    let frame = bench.last_frame.clone().unwrap();
    assert_eq!((frame.airtime, frame.duration), (Dur::from_micros(ONE), Dur::from_micros(SIFS + 44)));
    let end = answered(&mut bench, DIFS, FrameKind::Ack);
    assert_eq!(bench.mac.counters().acknowledged, 1);
    bench.packet(end, packet());
    let wait = slots(&mut bench, 16);
    bench.next_is(end + DIFS + wait, "A-MPDU");
    assert_eq!(sent(&bench), [(1, false)]);
}

//  | DIFS | RTS | SIFS | (CTS) | SIFS | A-MPDU |
#[test]
fn rts_reserves_for_the_whole_exchange() {
    let mut bench = bench(Config { rts_threshold: Bytes(0), ..config() }, 2);
    bench.next_is(DIFS, "RTS");
    let rts = bench.last_frame.clone().unwrap();
    assert_eq!(rts.duration, Dur::from_micros(3 * SIFS + 44 + THREE + BA));
    let cts = answered(&mut bench, DIFS, FrameKind::Cts);
    bench.next_is(cts + SIFS, "A-MPDU");
    assert_eq!(sent(&bench).len(), 3);
}

//  | DIFS | CTS to self | SIFS | A-MPDU | SIFS | (BA) |
#[test]
fn a_cts_to_oneself_protects_what_follows() {
    let protection = crate::mac::Aggregation { protection: Protection::CtsToSelf, ..config().aggregation };
    let mut bench = bench(Config { aggregation: protection, ..config() }, 2);
    bench.next_is(DIFS, "CTS");
    let cts = bench.last_frame.clone().unwrap();
    assert_eq!((cts.dst, cts.duration), (NodeId(0).mac(), Dur::from_micros(SIFS + THREE + SIFS + BA)));
    bench.next_is(DIFS + 44 + SIFS, "A-MPDU");
    let end = answered(&mut bench, DIFS + 44 + SIFS, block_ack(0, 0b111));
    assert_eq!((end, bench.mac.msdus().count()), (DIFS + 44 + SIFS + THREE + SIFS + BA, 0));
}

// The first MPDU fails seven times, the ones sent with it arrive at once: then a BlockAckReq advances the window and is
// answered.
#[test]
fn a_request_follows_what_was_given_up() {
    let mut bench = bench(config(), 1);
    bench.next_is(DIFS, "A-MPDU");
    let mut end = answered(&mut bench, DIFS, block_ack(0, 0b10));
    for seq in 2..8 {
        nothing_above(&mut bench, end);
        bench.above.push_back(packet());
        let at = end + DIFS + slots(&mut bench, 16);
        bench.next_is(at, "A-MPDU");
        assert_eq!(sent(&bench), [(0, true), (seq, false)]);
        end = answered(&mut bench, at, block_ack(0, 1 << seq));
    }
    bench.expect(&[(end, "data-retry-limit")]);
    nothing_above(&mut bench, end);
    let at = end + DIFS + slots(&mut bench, 16);
    bench.next_is(at, "BAR");
    let request = bench.last_frame.clone().unwrap();
    assert_eq!(request.kind, FrameKind::BlockAckRequest { start: 8, category: Category::Be });
    assert_eq!((request.airtime, request.duration), (Dur::from_micros(56), Dur::from_micros(SIFS + BA)));
    answered(&mut bench, at, block_ack(8, 0));
    assert!(!bench.mac.has_unsent(Category::Be) && bench.mac.is_ready());
}

/// An aggregate from station 1 to station 0 with these numbers.
fn aggregate(numbers: &[u16]) -> Frame {
    let mpdu =
        |&seq: &u16| Mpdu { seq, retry: false, len: Bytes(1538), first: msdu(NodeId(0).mac(), 1500), more: vec![] };
    let aggregate = Aggregate { mcs: mcs(), category: Category::Be, mpdus: numbers.iter().map(mpdu).collect() };
    let (dst, src, rate) = (NodeId(0).mac(), NodeId(1).mac(), mcs().rate());
    let airtime = mcs().airtime(PhyKind::Ofdm, aggregate.len());
    let duration = Dur::from_micros(SIFS + BA);
    Frame { dst, src, duration, rate, airtime, kind: FrameKind::Aggregate(Box::new(aggregate)) }
}

//  | (A-MPDU 0 1 2, the second bad) | SIFS | BA | ... | (1 alone) | SIFS | ACK |
#[test]
fn the_receiver_answers_with_what_it_has_and_hands_up_in_order() {
    let mut bench = Bench::new(config());
    let frame = aggregate(&[0, 1, 2]);
    bench.arrive(0);
    let end = THREE;
    bench.medium.handle_good_frame(us(end), Time::ZERO, false, &bench.rules);
    bench.medium.handle_quiet(us(end));
    bench.mac.handle_reception(us(end), &frame, 0b101, &mut bench.medium, &mut bench.out);
    bench.note(end);
    bench.run(end + SIFS);
    bench.expect(&[(end, "up"), (end + SIFS, "BA")]);
    let answer = bench.last_frame.clone().unwrap();
    assert_eq!((answer.kind, answer.airtime), (block_ack(0, 0b101), Dur::from_micros(BA)));
    assert_eq!((bench.mac.reordering(), bench.mac.next_reorder_timeout()), (1, Some(us(end + 100_000))));
    let end = bench.hear(2000, &aggregate(&[1]));
    bench.run(end + SIFS);
    bench.expect(&[(end, "up"), (end, "up"), (end + SIFS, "ACK")]);
    // It arrives again: its ACK was lost.
    let end = bench.hear(4000, &aggregate(&[1]));
    bench.run(end + SIFS);
    bench.expect(&[(end, "duplicate"), (end + SIFS, "ACK")]);
}

// Leftovers for one station alternate with packets for another.
#[test]
fn a_bad_link_does_not_hold_up_the_others() {
    let mut bench = bench(config(), 1);
    bench.next_is(DIFS, "A-MPDU");
    let other = msdu(NodeId(2).mac(), 1500);
    // 1 is missing: it is retransmitted on its own.
    let end = answered(&mut bench, DIFS, block_ack(0, 0b01));
    bench.above.push_back(packet());
    let at = end + DIFS + slots(&mut bench, 16);
    bench.next_is(at, "A-MPDU");
    let end = answered(&mut bench, at, block_ack(0, 0b101));
    // Now it is the turn of the layer above.
    assert!(bench.mac.is_ready() && bench.mac.has_unsent(Category::Be));
    bench.packet(end, other);
    let at = end + DIFS + slots(&mut bench, 16);
    bench.next_is(at, "A-MPDU");
    assert_eq!(bench.last_frame.as_ref().unwrap().dst, NodeId(2).mac());
    let end = answered(&mut bench, at, FrameKind::Ack);
    let at = end + DIFS + slots(&mut bench, 16);
    bench.next_is(at, "A-MPDU");
    assert_eq!((bench.last_frame.as_ref().unwrap().dst, sent(&bench)), (NodeId(1).mac(), vec![(1, true)]));
}

// A-MSDUs count by their packets; a BlockAckReq releases packets that wait behind a gap (clause 10.25.6.6.3).
#[test]
fn a_request_lets_up_what_waits_behind_a_gap() {
    let mut bench = Bench::new(config());
    let mut frame = aggregate(&[1]);
    let FrameKind::Aggregate(content) = &mut frame.kind else { panic!() };
    content.mpdus[0].more = vec![msdu(NodeId(0).mac(), 100)];
    let end = bench.hear(0, &frame);
    bench.run(end + SIFS);
    bench.expect(&[(end + SIFS, "ACK")]);
    assert_eq!((bench.mac.reordering(), bench.mac.counters().delivered), (2, 0));
    let kind = FrameKind::BlockAckRequest { start: 1, category: Category::Be };
    let request = Frame { airtime: Dur::from_micros(56), rate: Rate::kbps(6_000), kind, ..frame };
    let end = bench.hear(1_000, &request);
    bench.run(end + SIFS);
    bench.expect(&[(end, "up"), (end, "up"), (end + SIFS, "BA")]);
    assert_eq!((bench.mac.reordering(), bench.mac.counters().delivered), (0, 2));
}

//  | RTS | no CTS | ... seven times: then both packets are given up, as after seven aggregates without an answer.
#[test]
fn packets_whose_rts_stays_without_an_answer_are_given_up() {
    let mut bench = bench(Config { rts_threshold: Bytes(0), ..config() }, 1);
    bench.run(1_000_000);
    let count = |what: &str| bench.log.iter().filter(|&&(_, name)| name == what).count();
    assert_eq!((count("RTS"), count("rts-retry-limit"), bench.log.len()), (7, 2, 9));
    assert_eq!((bench.mac.counters().rts_limit_drops, bench.mac.counters().rts_timeouts), (2, 7));
    assert_eq!(bench.mac.msdus().count(), 0);
}

#[test]
fn only_a_station_with_mcs_sends_aggregates() {
    assert!(Bench::new(config()).mac.aggregates() && !Bench::new(Config::standard()).mac.aggregates());
}
