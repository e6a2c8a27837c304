//! The exchange.

use super::*;

//   DIFS + k | RTS | SIFS | (CTS) | SIFS | DATA | SIFS | (ACK) | DIFS + post-back-off | RTS of the next packet
#[test]
fn the_sender_goes_through_rts_cts_data_ack() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let start = DIFS + bench.draw(31);
    bench.run(start);
    let sent = bench.last_frame.clone().unwrap();
    assert_eq!((sent.duration, sent.airtime), (Dur::from_micros(6966), Dur::from_micros(RTS)));
    assert!(!bench.mac.is_ready() && bench.medium.is_transmitting(us(start)));
    assert!(!bench.medium.is_transmitting(us(start + RTS)));

    let cts_end = bench.answer(start, FrameKind::Cts);
    assert_eq!(cts_end, start + RTS + SIFS + CTS);
    bench.run(cts_end + SIFS);
    let sent = bench.last_frame.clone().unwrap();
    assert_eq!((sent.duration, sent.rate), (Dur::from_micros(314), Rate::kbps(2000)));
    let ack_end = bench.answer(cts_end + SIFS, FrameKind::Ack);
    assert_eq!(ack_end, cts_end + SIFS + DATA + SIFS + ACK);
    assert!(bench.mac.is_ready());
    bench.expect(&[(start, "RTS"), (cts_end + SIFS, "DATA")]);

    // The next packet inherits the post-back-off drawn when the ACK arrived.
    bench.packet(ack_end, packet());
    let wait = bench.draw(31);
    bench.next_is(ack_end + DIFS + wait, "RTS");
}

//   | (RTS) | SIFS | CTS | SIFS | (DATA) | SIFS | ACK |
//   0      352    362   666    676     7004   7014   7318
#[test]
fn the_receiver_answers_rts_with_cts_and_data_with_ack() {
    let mut bench = Bench::new(Config::ns2());
    let end = bench.hear(0, &rts_for_us());
    bench.run(end + SIFS);
    let cts = bench.last_frame.clone().unwrap();
    assert_eq!((cts.duration, cts.dst, cts.rate), (Dur::from_micros(6652), NodeId(1).mac(), Rate::kbps(1000)));
    bench.hear(676, &frame(data(5, 1500), 1, 0, 314));
    bench.run(9000);
    bench.expect(&[(362, "CTS"), (7004, "up"), (7014, "ACK")]);
    assert_eq!(bench.last_frame.as_ref().unwrap().duration, Dur::ZERO);
}

//   | (RTS) | SIFS | CTS | ... no data: 6646 after the CTS began the station is free again and answers the next RTS
#[test]
fn a_receiver_waits_for_data_as_long_as_it_was_announced() {
    let mut bench = Bench::new(Config::ns2());
    bench.hear(0, &rts_for_us());
    bench.hear(2000, &rts_for_us());
    bench.hear(362 + 6646 - RTS, &rts_for_us());
    bench.run(8000);
    // The second RTS arrives while data is awaited, the third ends when that wait does: neither is answered.
    bench.expect(&[(362, "CTS")]);
    bench.hear(8000, &rts_for_us());
    bench.run(9000);
    bench.expect(&[(8000 + RTS + SIFS, "CTS")]);
}

//   | (RTS) |..packet..| CTS | SIFS | (DATA) | SIFS | ACK | DIFS | k slots | RTS
//           352  357  362                                7318
#[test]
fn a_packet_that_comes_while_an_answer_is_owed_waits_for_the_exchange() {
    for (config, values) in [(Config::ns2(), 31), (Config::standard(), 32)] {
        let mut bench = Bench::new(config);
        bench.hear(0, &rts_for_us());
        bench.packet(357, packet());
        bench.hear(676, &frame(data(5, 1500), 1, 0, 314));
        let wait = bench.draw(values);
        bench.run(7318 + DIFS + wait);
        bench.expect(&[(362, "CTS"), (7004, "up"), (7014, "ACK"), (7318 + DIFS + wait, "RTS")]);
    }
}

//   RTS |...(RTS for us)...| CTS never arrives: an RTS received while a CTS is awaited is not answered
#[test]
fn who_awaits_an_answer_answers_nobody() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let start = DIFS + bench.draw(31);
    bench.hear(start + RTS - 40, &rts_for_us());
    bench.run(start + 719);
    bench.expect(&[(start, "RTS")]);
}

//   A frame that ended while the station was transmitting leaves no trace, not even an EIFS.
#[test]
fn half_duplex_a_frame_missed_while_sending_has_no_effect() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let start = DIFS + bench.draw(31);
    bench.run(start);
    bench.arrive(start + 10);
    bench.judge(us(start + 314), Verdict::Missed, &rts_for_us());
    bench.run(start + 719);
    let again = start + 720 + bench.draw(63);
    bench.run(again);
    bench.expect(&[(start, "RTS"), (again, "RTS")]);
}

//   | (DATA) | SIFS with noise | ACK
#[test]
fn an_ack_goes_whatever_the_medium_does_a_cts_of_ns2_does_not() {
    let mut bench = Bench::new(Config::ns2());
    bench.hear(0, &rts_for_us());
    bench.hear(676, &frame(data(5, 1500), 1, 0, 314));
    bench.noise(7006, 1000, DropReason::Collision);
    bench.expect(&[(362, "CTS"), (7004, "up"), (7014, "ACK")]);

    let mut bench = Bench::new(Config::ns2());
    bench.hear(0, &rts_for_us());
    bench.noise(355, 1000, DropReason::Collision);
    bench.run(5000);
    bench.expect(&[]);
    assert_eq!(bench.mac.counters().cts_refused, 1);
}

//   RTS | SIFS | (CTS) | noise | EIFS | DIFS + k | RTS      ns-2's check_pktTx: data that finds the medium busy starts
//   over with RTS and the next window
#[test]
fn data_that_finds_the_medium_busy_begins_again() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let start = DIFS + bench.draw(31);
    let cts_end = bench.answer(start, FrameKind::Cts);
    bench.expect(&[(start, "RTS")]);
    let quiet = bench.noise(cts_end + 5, 100, DropReason::Collision);
    let wait = bench.draw(63);
    bench.next_is(quiet + EIFS + DIFS + wait, "RTS");
}
