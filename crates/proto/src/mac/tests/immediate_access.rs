//! Immediate access (standard).

use super::*;

//   idle for long | packet, RTS at once
//   (ACK) ends 1000 | packet 1020 | RTS 1050: the rest of DIFS
#[test]
fn the_standard_sends_at_once_when_the_medium_was_idle_for_difs() {
    let mut bench = Bench::new(Config::standard());
    bench.packet(1000, packet());
    bench.next_is(1000, "RTS");

    let mut bench = Bench::new(Config::standard());
    bench.hear(1000 - ACK, &frame(FrameKind::Ack, 3, 2, 0));
    bench.packet(1020, packet());
    bench.next_is(1000 + DIFS, "RTS");
}

//   (ACK) ends 1000 | packet 1020 | 1030: busy again ... 1334 | DIFS | k slots | RTS
#[test]
fn immediate_access_is_lost_when_the_medium_becomes_busy_within_difs() {
    let mut bench = Bench::new(Config::standard());
    bench.hear(1000 - ACK, &frame(FrameKind::Ack, 3, 2, 0));
    bench.packet(1020, packet());
    bench.hear(1030, &frame(FrameKind::Ack, 3, 2, 0));
    let wait = bench.draw(32);
    bench.next_is(1334 + DIFS + wait, "RTS");
}

//   NAV until 3000, or EIFS until 1364, expired unnoticed | packet much later: at once | packet 20 later: rest of DIFS
#[test]
fn immediate_access_counts_idle_time_from_the_end_of_a_reservation() {
    for (later, wait) in [(5000, 0), (20, 30)] {
        let mut bench = Bench::new(Config::standard());
        bench.hear(0, &frame(FrameKind::Cts, 3, 2, 3000 - CTS));
        bench.packet(3000 + later, packet());
        bench.next_is(3000 + later + wait, "RTS");

        let mut bench = Bench::new(Config::standard());
        let end = bench.noise(0, 1000, DropReason::Collision);
        let free = end + EIFS - DIFS;
        bench.packet(free + later, packet());
        bench.next_is(free + later + wait, "RTS");
    }
}

//   (CTS) | SIFS | DATA | SIFS | (ACK) | in the standard a post-back-off is drawn even after giving up a packet
#[test]
fn the_standard_backs_off_after_every_packet() {
    let mut bench = Bench::new(Config::standard());
    bench.packet(1000, packet());
    let mut at = 1000;
    for window in [64, 128, 256, 512, 1024, 1024] {
        at += 720 + bench.draw(window);
    }
    bench.run(at + 670);
    assert_eq!(bench.log.last(), Some(&(at + 670, "rts-retry-limit")));
    bench.log.clear();
    bench.packet(at + 680, packet());
    let wait = bench.draw(32);
    bench.next_is(at + 720 + wait, "RTS");
}
