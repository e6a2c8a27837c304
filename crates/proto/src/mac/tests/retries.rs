//! Retries.

use super::*;

//   RTS | 670: no CTS | DIFS | slots of 0 .. 62, 126, 254, 510, 1022, 1022 | RTS ... the 7th | 670 | given up
#[test]
fn seven_unanswered_rts_and_the_packet_is_given_up() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let mut expected = Vec::new();
    let mut at = 0;
    for (n, window) in [31, 63, 127, 255, 511, 1023, 1023].into_iter().enumerate() {
        at += if n == 0 { DIFS } else { 720 } + bench.draw(window);
        expected.push((at, "RTS"));
    }
    expected.push((at + 670, "rts-retry-limit"));
    bench.run(at + 700);
    bench.expect(&expected);

    // The window is back at its minimum, and no post-back-off was drawn.
    bench.packet(at + 700, packet());
    let wait = bench.draw(31);
    bench.next_is(at + 700 + DIFS + wait, "RTS");
    assert_eq!((bench.mac.counters().rts_sent, bench.mac.counters().rts_timeouts), (8, 7));
}

//   3 x RTS | RTS (CTS) DATA, no ACK | 6 x RTS | RTS (CTS) DATA, no ACK | ... the 4th DATA without ACK: given up
#[test]
fn each_data_retry_takes_a_fresh_rts_and_a_cts_clears_the_count_but_not_the_window() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let (mut at, mut window) = (DIFS, 31);
    let mut expected = Vec::new();
    for (round, unanswered) in [3, 6, 0, 6].into_iter().enumerate() {
        for _ in 0..unanswered {
            at += bench.draw(window);
            expected.push((at, "RTS"));
            at += 720;
            window = (2 * window + 1).min(1023);
        }
        at += bench.draw(window);
        let data_at = bench.answer(at, FrameKind::Cts) + SIFS;
        expected.push((at, "RTS"));
        expected.push((data_at, if round == 0 { "DATA" } else { "DATA again" }));
        at = data_at + DATA + SIFS + ACK + 4 + DIFS;
        window = (2 * window + 1).min(1023);
    }
    expected.push((at - DIFS, "data-retry-limit"));
    bench.run(at);
    bench.expect(&expected);
    let counters = bench.mac.counters();
    assert_eq!((counters.data_timeouts, counters.data_limit_drops, counters.rts_limit_drops), (4, 1, 0));
}

//   below the threshold:  DIFS + k | DATA | (ACK);  without ACK seven times DATA, no RTS at all
#[test]
fn short_packets_go_without_rts_when_there_is_a_threshold() {
    let config = Config { rts_threshold: Bytes(500), ..Config::ns2() };
    let short = 192 + 8 * (40 + 34) / 2;
    let mut bench = Bench::new(config);
    bench.packet(0, msdu(NodeId(1).mac(), 40));
    let (mut at, mut window) = (0, 31);
    let mut expected = Vec::new();
    for n in 0..7 {
        at += DIFS + bench.draw(window);
        expected.push((at, if n == 0 { "DATA" } else { "DATA again" }));
        at += short + SIFS + ACK + 4;
        window = (2 * window + 1).min(1023);
    }
    expected.push((at, "data-retry-limit"));
    bench.run(at);
    bench.expect(&expected);

    // Conversely, it answers a short frame with an ACK, and still refuses a long one without its CTS.
    let end = bench.hear(at + 1000, &frame(data(9, 40), 1, 0, 314));
    bench.hear(at + 5000, &frame(data(10, 1500), 1, 0, 314));
    bench.run(at + 12_000);
    bench.expect(&[(end, "up"), (end + SIFS, "ACK"), (at + 5000 + DATA, "unexpected-data")]);
}

//   34 + 466 bytes of 500: DATA at once;  34 + 467: RTS
#[test]
fn the_threshold_compares_the_whole_frame() {
    for (len, what) in [(466, "DATA"), (467, "RTS"), (480, "RTS")] {
        let mut bench = Bench::new(Config { rts_threshold: Bytes(500), ..Config::ns2() });
        bench.packet(0, msdu(NodeId(1).mac(), len));
        let wait = bench.draw(31);
        bench.next_is(DIFS + wait, what);
    }
}

//   DATA |..(DATA for us)..|..(ACK)..| SIFS | pending ACK      with a time-out long enough for both to arrive
#[test]
fn an_ack_owed_while_awaiting_an_ack_is_not_forgotten() {
    let config = Config { rts_threshold: Bytes(500), propagation_margin: Dur::from_micros(1000), ..Config::ns2() };
    let mut bench = Bench::new(config);
    bench.packet(0, msdu(NodeId(1).mac(), 40));
    let start = DIFS + bench.draw(31);
    let end = bench.hear(start + 600, &frame(data(9, 40), 2, 0, 314));
    let ack_end = bench.hear(end + 20, &frame(FrameKind::Ack, 1, 0, 0));
    bench.run(ack_end + 1000);
    bench.expect(&[(start, "DATA"), (end, "up"), (ack_end + SIFS, "ACK")]);
    bench.hear(ack_end + 2000, &rts_for_us());
    bench.run(ack_end + 3000);
    bench.expect(&[(ack_end + 2000 + RTS + SIFS, "CTS")]);
}
