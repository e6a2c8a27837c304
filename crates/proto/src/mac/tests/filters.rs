//! Filters.

use super::*;

//   exchange | again, marked as a retry: CTS and ACK, but no delivery
#[test]
fn a_duplicate_is_acknowledged_and_dropped() {
    let mut bench = Bench::new(Config::ns2());
    for start in [0, 10_000] {
        bench.hear(start, &rts_for_us());
        bench.hear(start + 676, &frame(data(5, 1500), 1, 0, 314));
        bench.run(start + 8000);
    }
    // The same number from another station is not a duplicate.
    bench.hear(20_000, &Frame { src: NodeId(2).mac(), ..rts_for_us() });
    bench.hear(20_676, &frame(data(5, 1500), 2, 0, 314));
    bench.run(30_000);
    let mut expected = Vec::new();
    for (start, what) in [(0, "up"), (10_000, "duplicate"), (20_000, "up")] {
        expected.extend([(start + 362, "CTS"), (start + 7004, what), (start + 7014, "ACK")]);
    }
    bench.expect(&expected);
    assert_eq!(bench.mac.counters().duplicates, 1);
}

//   | (DATA) | without a CTS of ours before it: no ACK
#[test]
fn data_that_follows_no_cts_is_discarded() {
    let mut bench = Bench::new(Config::ns2());
    bench.hear(0, &frame(data(5, 1500), 1, 0, 314));
    bench.run(8000);
    bench.expect(&[(DATA, "unexpected-data")]);
}

//   An unexpected CTS or ACK has no effect.
#[test]
fn answers_to_no_question_are_ignored() {
    let mut bench = Bench::new(Config::ns2());
    bench.hear(0, &frame(FrameKind::Cts, 1, 0, 6652));
    bench.hear(1000, &frame(FrameKind::Ack, 1, 0, 0));
    bench.packet(2000, packet());
    let wait = bench.draw(31);
    bench.next_is(2000 + DIFS + wait, "RTS");
    assert_eq!(bench.mac.counters().acknowledged, 0);
}
