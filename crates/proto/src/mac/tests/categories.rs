//! EDCA on the bench: 802.11a at 6 Mbit/s without RTS, slots of 9, SIFS 16 us.
//!
//! AIFS is 34 us for voice and video, 43 for best effort, 79 for background. QoS data with 1,500 bytes takes 2,076 us
//! (20 of preamble, 514 symbols: 22 bits and 1,538 bytes), with 200 bytes 344 us; an ACK 44 us, an RTS 52 us.

use super::*;
use crate::mac::edca;
use crate::phy::PhyKind;
use Category::{Be, Bk, Vi, Vo};

const SIFS: u64 = 16;
const SLOT: u64 = 9;
const LONG: u64 = 2_076;
const SHORT: u64 = 344;
const ACK: u64 = 44;

fn config() -> Config {
    Config {
        data_rate: Rate::kbps(6_000),
        basic_rate: Rate::kbps(6_000),
        rts_threshold: Bytes(100_000),
        edca: Some(edca::Config::standard(PhyKind::Ofdm)),
        ..Config::standard().with_phy(PhyKind::Ofdm)
    }
}

/// One exchange per opportunity.
fn without_txops() -> Config {
    let mut edca = edca::Config::standard(PhyKind::Ofdm);
    for parameters in [&mut edca.bk, &mut edca.be, &mut edca.vi, &mut edca.vo] {
        parameters.txop = Dur::ZERO;
    }
    Config { edca: Some(edca), ..config() }
}

/// `len` bytes for station 1 with a DSCP of this category.
fn packet_of(category: Category, len: u64) -> Msdu {
    let mut msdu = msdu(NodeId(1).mac(), len);
    if let Payload::Ipv4(packet) = &mut msdu.payload {
        packet.dscp = category.tid() << 3;
    }
    msdu
}

impl Bench {
    fn give(&mut self, at: u64, category: Category, len: u64) {
        self.run(at);
        assert!(self.mac.wants(category));
        self.mac.handle_packet(us(at), category, packet_of(category, len), &mut self.medium);
    }

    /// Returns the length of the back-off that the station draws next from a window.
    fn slots(&mut self, cw: u32) -> u64 {
        SLOT * u64::from(self.draws.below(cw + 1))
    }

    fn category_sent(&self) -> Category {
        match self.last_frame.as_ref().map(|frame| &frame.kind) {
            Some(FrameKind::Data { qos: Some(category), .. }) => *category,
            other => panic!("no QoS data: {other:?}"),
        }
    }

    /// Feeds in the ACK for the frame sent at `at`; returns its end.
    fn acknowledge(&mut self, at: u64) -> u64 {
        self.run(at);
        let sent = self.last_frame.clone().expect("something was sent");
        self.hear(at + sent.airtime.as_micros_rounded() + SIFS, &control(FrameKind::Ack, 1, 0, 0))
    }
}

fn control(kind: FrameKind, src: u32, dst: u32, duration: u64) -> Frame {
    let len = if kind == FrameKind::Rts { Bytes(20) } else { Bytes(14) };
    let airtime = config().airtime(len, Rate::kbps(6_000));
    let (src, dst) = (NodeId(src).mac(), NodeId(dst).mac());
    Frame { dst, src, duration: Dur::from_micros(duration), rate: Rate::kbps(6_000), airtime, kind }
}

//   packet
//     | AIFS | data                     long idle: 34 us from its end for VO and VI, 43 for BE, 79 for BK
#[test]
fn each_category_waits_for_its_aifs() {
    for (category, aifs) in [(Vo, 34), (Vi, 34), (Be, 43), (Bk, 79)] {
        let mut bench = Bench::new(config());
        // An ACK of others ends at 144; a packet that arrives at 150 is sent an AIFS after that.
        let end = bench.hear(100, &control(FrameKind::Ack, 3, 2, 0));
        bench.give(150, category, 1_500);
        bench.next_is(end + aifs, "DATA");
        assert_eq!(bench.category_sent(), category);
        let frame = bench.last_frame.clone().unwrap();
        assert_eq!((frame.airtime, frame.duration), (Dur::from_micros(LONG), Dur::from_micros(SIFS + ACK)));
        // After an idle AIFS it is sent at once.
        let mut bench = Bench::new(config());
        bench.give(500, category, 1_500);
        bench.next_is(500, "DATA");
    }
}

//   |== ACK of others ==| AIFS | k slots | data       k from 0 .. CW_min: 3 VO, 7 VI, 15 BE and BK
#[test]
fn each_category_draws_from_its_window() {
    for (category, aifs, cw) in [(Vo, 34, 3), (Vi, 34, 7), (Be, 43, 15), (Bk, 79, 15)] {
        let mut seen = vec![false; cw as usize + 1];
        for seed in 0..200 {
            let mut bench = Bench::seeded(config(), seed);
            bench.arrive(0);
            bench.give(10, category, 1_500);
            let wait = bench.slots(cw);
            bench.judge(us(44), Verdict::Good, &control(FrameKind::Ack, 3, 2, 0));
            seen[(wait / SLOT) as usize] = true;
            bench.next_is(44 + aifs + wait, "DATA");
        }
        assert!(seen.iter().all(|&seen| seen), "{category:?}: {seen:?}");
    }
}

//   |== noise ==| EIFS - DIFS (60) | AIFS | k | data
#[test]
fn an_eifs_is_followed_by_what_the_aifs_is_longer() {
    for (category, aifs, cw) in [(Vo, 34, 3), (Bk, 79, 15)] {
        let mut bench = Bench::new(config());
        bench.arrive(0);
        bench.give(10, category, 1_500);
        let wait = bench.slots(cw);
        let end = bench.noise(10, 100, DropReason::Collision);
        bench.next_is(end + 60 + aifs + wait, "DATA");
    }
}

//   BE, k slots:  | AIFS 43 |0|1|2|===| AIFS 43 | k - 4 | data      the boundaries at 43, 52, 61 and 70 have counted
#[test]
fn each_interruption_counts_the_boundary_behind_aifs() {
    let bench = |k: u64| {
        (0..).map(|seed| Bench::seeded(config(), seed)).find(|bench| u64::from(bench.draws.clone().below(16)) == k)
    };
    for (k, left) in [(15, 11), (4, 0), (2, 0)] {
        let mut bench = bench(k).unwrap();
        bench.arrive(0);
        bench.give(10, Be, 1_500);
        bench.judge(us(44), Verdict::Good, &control(FrameKind::Ack, 3, 2, 0));
        // With k = 2 it would have been sent at 44 + 43 + 18.
        if k == 2 {
            bench.next_is(44 + 61, "DATA");
            continue;
        }
        let end = bench.hear(44 + 72, &control(FrameKind::Ack, 3, 2, 0));
        bench.next_is(end + 43 + left * SLOT, "DATA");
    }
}

//  VO  | AIFS 34 | k |== data ==| SIFS | ACK |
//  BE  | AIFS 43 |.k'...........................| AIFS 43 | the rest
#[test]
fn the_urgent_category_goes_first_and_the_other_keeps_its_slots() {
    for seed in 0..20 {
        let mut bench = Bench::seeded(without_txops(), seed);
        bench.arrive(0);
        bench.give(10, Be, 1_500);
        let best_effort = bench.slots(15);
        bench.give(10, Vo, 200);
        let voice = bench.slots(3);
        bench.judge(us(44), Verdict::Good, &control(FrameKind::Ack, 3, 2, 0));
        if 34 + voice >= 43 + best_effort {
            continue;
        }
        let at = 44 + 34 + voice;
        bench.next_is(at, "DATA");
        assert_eq!((bench.category_sent(), bench.mac.msdus().count()), (Vo, 2));
        let frame = bench.last_frame.clone().unwrap();
        assert_eq!(frame.airtime, Dur::from_micros(SHORT));
        let end = bench.acknowledge(at);
        let _post = bench.slots(3);
        // Boundaries of best effort up to the one at which voice started to send.
        let waited = (34 + voice).saturating_sub(43);
        let counted = if 34 + voice >= 43 { waited / SLOT + 1 } else { 0 };
        bench.next_is(end + 43 + best_effort - counted * SLOT, "DATA");
        assert_eq!(bench.category_sent(), Be);
    }
}

//  VO  | AIFS 34 | 1 |== data ==| SIFS | ACK |
//  BE  | AIFS 43 |0| would send at the same instant: window 31, no retry bit
#[test]
fn of_two_that_end_at_once_the_urgent_one_sends_and_the_other_backs_off() {
    let mut bench = (0..)
        .map(|seed| Bench::seeded(without_txops(), seed))
        .find(|bench| {
            let mut draws = bench.draws.clone();
            (draws.below(16), draws.below(4)) == (0, 1)
        })
        .unwrap();
    bench.arrive(0);
    bench.give(10, Be, 1_500);
    bench.give(10, Vo, 200);
    let _drawn = (bench.slots(15), bench.slots(3));
    bench.judge(us(44), Verdict::Good, &control(FrameKind::Ack, 3, 2, 0));
    let at = 44 + 43;
    bench.next_is(at, "DATA");
    assert_eq!(bench.category_sent(), Vo);
    let again = bench.slots(31);
    let end = bench.acknowledge(at);
    let _post = bench.slots(3);
    bench.next_is(end + 43 + again, "DATA");
    assert_eq!(bench.category_sent(), Be);
    let counts = |category| bench.mac.counters_of(category).unwrap().1.internal_collisions;
    assert_eq!([Be, Vo].map(counts), [1, 0]);
}

/// Best effort and voice always wait for at most one slot, and count alike.
fn colliding() -> Config {
    let mut config = without_txops();
    let mut edca = config.edca.unwrap();
    for parameters in [&mut edca.be, &mut edca.vo] {
        *parameters = edca::Parameters { aifsn: 2, cw_min: 0, cw_max: 0, txop: Dur::ZERO };
    }
    config.edca = Some(edca);
    config
}

// Seven collisions within the station are as bad as seven on the air.
#[test]
fn internal_collisions_come_to_the_retry_limit() {
    let mut bench = Bench::new(colliding());
    bench.arrive(0);
    bench.give(10, Be, 1_500);
    bench.give(10, Vo, 200);
    bench.judge(us(44), Verdict::Good, &control(FrameKind::Ack, 3, 2, 0));
    let mut at = 44 + 34;
    for n in 1..=7 {
        bench.run(at);
        let expected: &[(u64, &str)] = if n < 7 { &[(at, "DATA")] } else { &[(at, "data-retry-limit"), (at, "DATA")] };
        bench.expect(expected);
        assert_eq!(bench.category_sent(), Vo);
        let end = bench.acknowledge(at);
        bench.give(end, Vo, 200);
        at = end + 34;
    }
    let (frames, own) = bench.mac.counters_of(Be).unwrap();
    assert_eq!((frames.accepted, frames.data_limit_drops, own.internal_collisions), (1, 1, 7));
    assert_eq!(bench.mac.counters().data_limit_drops, 1);
}

// A broadcast is sent once and never given up (clause 10.3.6): collisions within the station only delay it.
#[test]
fn internal_collisions_give_up_no_broadcast() {
    let mut bench = Bench::new(colliding());
    bench.arrive(0);
    let for_all = Msdu { dst: MacAddr::BROADCAST, ..packet_of(Be, 200) };
    bench.mac.handle_packet(us(10), Be, for_all, &mut bench.medium);
    bench.give(10, Vo, 200);
    bench.judge(us(44), Verdict::Good, &control(FrameKind::Ack, 3, 2, 0));
    let mut at = 44 + 34;
    for _ in 0..9 {
        bench.next_is(at, "DATA");
        let end = bench.acknowledge(at);
        bench.give(end, Vo, 200);
        at = end + 34;
    }
    bench.next_is(at, "DATA");
    let end = bench.acknowledge(at);
    bench.next_is(end + 34, "broadcast");
    assert_eq!(bench.mac.counters().data_limit_drops, 0);
}

//  VO  | data |SIFS|(ACK)| AIFS 34 | k: the rest of the post-back-off, with the next packet | data
//  BE                    | AIFS 43 | longer .................
#[test]
fn a_post_back_off_runs_while_another_category_waits() {
    let mut bench = (0..)
        .map(|seed| Bench::seeded(without_txops(), seed))
        .find(|bench| {
            let mut draws = bench.draws.clone();
            // Best effort waits long; voice is sent at once and then waits for three slots.
            (draws.below(16), draws.below(4), draws.below(4)) == (15, 0, 3)
        })
        .unwrap();
    bench.arrive(0);
    bench.give(10, Be, 1_500);
    bench.give(10, Vo, 200);
    let _drawn = (bench.slots(15), bench.slots(3), bench.slots(3));
    bench.judge(us(44), Verdict::Good, &control(FrameKind::Ack, 3, 2, 0));
    bench.next_is(44 + 34, "DATA");
    let end = bench.acknowledge(44 + 34);
    bench.give(end + 10, Vo, 200);
    bench.next_is(end + 34 + 3 * SLOT, "DATA");
    assert_eq!(bench.category_sent(), Vo);
}

// VO  | AIFS | DATA |SIFS|(ACK)|SIFS| DATA |SIFS|(ACK)|SIFS| ... four of 344 us and their ACKs within 2,080 us, then a
// new back-off
#[test]
fn a_txop_holds_what_fits_its_limit() {
    let mut bench = Bench::new(config());
    bench.above.extend((0..6).map(|_| packet_of(Vo, 200)));
    bench.give(500, Vo, 200);
    let mut at = 500;
    // 420 us from one to the next: the fifth would end at 2,084.
    let exchange = SHORT + SIFS + ACK + SIFS;
    for n in 0..4 {
        bench.next_is(at, "DATA");
        let frame = bench.last_frame.clone().unwrap();
        let further = if n < 3 { exchange } else { 0 };
        assert_eq!(frame.duration, Dur::from_micros(SIFS + ACK + further), "frame {n}");
        let end = bench.acknowledge(at);
        at = end + SIFS;
    }
    let wait = bench.slots(3);
    bench.next_is(at - SIFS + 34 + wait, "DATA");
    let (frames, own) = bench.mac.counters_of(Vo).unwrap();
    assert_eq!((own.txops, own.continued, frames.acknowledged), (2, 3, 4));
    // The one on the air and the one taken in advance to follow it.
    assert_eq!((frames.accepted, bench.mac.msdus().count(), bench.above.len()), (6, 2, 1));
}

// Sequence numbers are per receiver and category; an unanswered frame ends its opportunity and is retransmitted.
#[test]
fn a_missing_ack_ends_the_txop() {
    let mut bench = Bench::new(config());
    bench.above.extend([packet_of(Vo, 200), packet_of(Vo, 200)]);
    bench.give(500, Vo, 200);
    bench.next_is(500, "DATA");
    let end = bench.acknowledge(500);
    let at = end + SIFS;
    bench.next_is(at, "DATA");
    // The station waits 4 us longer, but they do not count.
    let timeout = at + SHORT + SIFS + ACK;
    bench.run(timeout + 4);
    let wait = bench.slots(7);
    bench.next_is(timeout + 34 + wait, "DATA again");
    let numbers = |bench: &Bench| match bench.last_frame.as_ref().map(|frame| &frame.kind) {
        Some(FrameKind::Data { seq, .. }) => *seq,
        other => panic!("{other:?}"),
    };
    assert_eq!(numbers(&bench), 1);
    let end = bench.acknowledge(timeout + 34 + wait);
    bench.next_is(end + SIFS, "DATA");
    assert_eq!(numbers(&bench), 2);
    bench.give(end + SIFS, Be, 200);
    let end = bench.acknowledge(end + SIFS);
    let wait = bench.slots(15);
    let _post = bench.slots(3);
    let _ = wait;
    bench.run(end + 2_000);
    assert_eq!((bench.category_sent(), numbers(&bench)), (Be, 0));
}

//  VO  | AIFS | RTS |SIFS|(CTS)|SIFS| DATA |SIFS|(ACK)|SIFS| DATA |      only the first frame has an RTS
#[test]
fn rts_protects_a_whole_txop() {
    let mut bench = Bench::new(Config { rts_threshold: Bytes(0), ..config() });
    bench.above.push_back(packet_of(Vo, 200));
    bench.give(500, Vo, 200);
    bench.next_is(500, "RTS");
    // RTS and CTS announce the first exchange, the data announces the next.
    assert_eq!(bench.last_frame.as_ref().unwrap().duration, Dur::from_micros(3 * SIFS + 44 + SHORT + ACK));
    let cts = bench.hear(500 + 52 + SIFS, &control(FrameKind::Cts, 1, 0, 0));
    bench.next_is(cts + SIFS, "DATA");
    let further = SIFS + SHORT + SIFS + ACK;
    assert_eq!(bench.last_frame.as_ref().unwrap().duration, Dur::from_micros(SIFS + ACK + further));
    let end = bench.acknowledge(cts + SIFS);
    bench.next_is(end + SIFS, "DATA");
}

// The answer reserves the time announced by its frame; a repeated frame is answered but not delivered.
#[test]
fn an_ack_reserves_the_rest_of_the_txop() {
    let mut bench = Bench::new(Config { rts_threshold: Bytes(0), ..config() });
    let data = |seq, qos, duration| {
        let kind = FrameKind::Data { seq, retry: false, qos: Some(qos), msdu: msdu(NodeId(0).mac(), 200) };
        Frame { airtime: Dur::from_micros(SHORT), ..control(kind, 1, 0, duration) }
    };
    let further = SIFS + SHORT + SIFS + ACK;
    // Without RTS, since it is the second frame of an opportunity.
    let end = bench.hear(1_000, &data(7, Vo, SIFS + ACK + further));
    bench.run(end + SIFS);
    bench.expect(&[(end, "up"), (end + SIFS, "ACK")]);
    assert_eq!(bench.last_frame.as_ref().unwrap().duration, Dur::from_micros(further));
    let end = bench.hear(3_000, &data(7, Be, SIFS + ACK));
    bench.run(end + SIFS);
    bench.expect(&[(end, "up"), (end + SIFS, "ACK")]);
    assert_eq!(bench.last_frame.as_ref().unwrap().duration, Dur::ZERO);
    let end = bench.hear(5_000, &data(7, Vo, SIFS + ACK));
    bench.run(end + SIFS);
    bench.expect(&[(end, "duplicate"), (end + SIFS, "ACK")]);
}

// Group-addressed frames are QoS data too, sent once, and end the opportunity.
#[test]
fn a_broadcast_is_qos_data() {
    let mut bench = Bench::new(config());
    let mut for_all = packet_of(Vo, 200);
    for_all.dst = MacAddr::BROADCAST;
    bench.above.push_back(packet_of(Vo, 200));
    bench.mac.handle_packet(us(500), Vo, for_all, &mut bench.medium);
    bench.next_is(500, "broadcast");
    let frame = bench.last_frame.clone().unwrap();
    assert_eq!((frame.airtime, frame.duration, bench.category_sent()), (Dur::from_micros(SHORT), Dur::ZERO, Vo));
    bench.run(500 + SHORT + 34 + 27);
    assert!(bench.mac.wants(Vo) && bench.above.len() == 1);
}
