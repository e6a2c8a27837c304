//! Frames of another stack, which has chosen rates and retries: 100 bytes take 592 us at 2 Mbit/s, 992 at 1.

use super::*;
use crate::wire::{Attempt, Foreign};

fn bench() -> Bench {
    Bench::new(Config { data_overhead: Bytes(0), rts_threshold: Bytes(0), ..Config::ns2() })
}

fn foreign(dst: MacAddr, attempts: &[(u64, bool)]) -> Msdu {
    let attempts: Vec<_> = attempts.iter().map(|&(kbps, rts)| Attempt { rate: Rate::kbps(kbps), rts }).collect();
    let frame = Foreign::new(9, &[0; 96], &attempts).unwrap();
    Msdu { dst, len: Bytes(100), payload: Payload::Foreign(frame) }
}

//   RTS | 670: no CTS | DIFS | slots of 0 .. 62 | DATA at 2 | 910: no ACK | DIFS | 0 .. 126 | DATA again at 1 | ACK
#[test]
fn each_attempt_has_its_rate_and_its_rts_and_the_thresholds_do_not_count() {
    let mut bench = bench();
    bench.packet(0, foreign(NodeId(1).mac(), &[(2_000, true), (2_000, false), (1_000, false)]));
    let mut at = DIFS + bench.draw(31);
    bench.next_is(at, "RTS");
    at += 670 + DIFS + bench.draw(63);
    bench.next_is(at, "DATA");
    let sent = bench.last_frame.clone().unwrap();
    assert_eq!((sent.airtime, sent.rate), (Dur::from_micros(592), Rate::kbps(2_000)));
    at += 592 + SIFS + ACK + 4 + DIFS + bench.draw(127);
    bench.next_is(at, "DATA again");
    let sent = bench.last_frame.clone().unwrap();
    assert_eq!((sent.airtime, sent.rate), (Dur::from_micros(992), Rate::kbps(1_000)));
    let end = bench.answer(at, FrameKind::Ack);
    bench.expect(&[(end, "sent")]);
    assert!(bench.mac.is_ready());
    let FrameKind::Data { msdu: Msdu { payload: Payload::Foreign(frame), .. }, .. } = sent.kind else { panic!() };
    assert_eq!((frame.number(), frame.begun(), frame.is_repeat()), (9, 3, true));
}

//   DATA | 910: no ACK | DIFS | slots of 0 .. 62 | DATA again | 910: given up, whatever the limits are
#[test]
fn it_is_given_up_after_the_last_attempt_and_the_window_is_the_smallest_again() {
    let mut bench = bench();
    bench.packet(0, foreign(NodeId(1).mac(), &[(2_000, false); 2]));
    let first = DIFS + bench.draw(31);
    let second = first + 910 + DIFS + bench.draw(63);
    bench.run(second + 950);
    bench.expect(&[(first, "DATA"), (second, "DATA again"), (second + 910, "data-retry-limit")]);
    bench.packet(second + 950, foreign(NodeId(1).mac(), &[(1_000, false); 20]));
    let mut at = second + 950 + DIFS + bench.draw(31);
    for window in [63, 127, 255, 511, 1023, 1023, 1023, 1023, 1023] {
        at += 992 + SIFS + ACK + 4 + DIFS + bench.draw(window);
    }
    bench.run(at);
    assert_eq!(bench.log.last(), Some(&(at, "DATA again")), "ten attempts are more than any limit of the options");
    assert_eq!(bench.mac.counters().data_limit_drops, 1);
}

//   broadcast at 2, the rate chosen by its stack | its stack is notified when the frame ends
#[test]
fn what_is_for_all_is_sent_once_at_its_rate() {
    let mut bench = bench();
    bench.packet(0, foreign(MacAddr::BROADCAST, &[(2_000, false)]));
    let at = DIFS + bench.draw(31);
    bench.run(at + 592);
    bench.expect(&[(at, "broadcast"), (at + 592, "sent")]);
}

//   a frame of 96 bytes with RTS is accepted only after a CTS; without RTS always, whatever the threshold
#[test]
fn a_receiver_expects_an_rts_where_the_sender_has_chosen_one() {
    for (rts, expected) in [(false, "up"), (true, "unexpected-data")] {
        let mut bench = bench();
        let msdu = foreign(NodeId(0).mac(), &[(2_000, rts)]);
        let kind = FrameKind::Data { seq: 1, retry: false, qos: None, msdu };
        let end = bench.hear(0, &frame(kind, 1, 0, 314));
        bench.expect(&[(end, expected)]);
    }
}
