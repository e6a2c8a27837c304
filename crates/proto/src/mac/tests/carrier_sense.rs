//! Virtual carrier sense.

use super::*;

//   | (RTS 1>2, NAV to 7318) | (ACK 0) | (CTS, NAV to 3000) | ............ 7318 | DIFS | k slots | RTS
#[test]
fn the_nav_is_raised_and_never_lowered() {
    let mut bench = Bench::new(Config::ns2());
    bench.hear(0, &frame(FrameKind::Rts, 1, 2, 1000));
    assert_eq!(bench.medium.nav(), us(1352));
    bench.hear(400, &frame(FrameKind::Rts, 1, 2, 6566));
    assert_eq!(bench.medium.nav(), us(7318));
    bench.hear(1000, &frame(FrameKind::Ack, 1, 2, 0));
    bench.hear(2000, &frame(FrameKind::Cts, 1, 2, 696));
    assert_eq!(bench.medium.nav(), us(7318));
    bench.packet(4000, packet());
    let wait = bench.draw(31);
    bench.next_is(7318 + DIFS + wait, "RTS");
}

//   | (RTS 1>2, NAV to 7318) | nothing for 556 | DIFS | k | RTS     standard: no answer, the NAV is reset
//   | (RTS 1>2) | SIFS | (CTS 2>1) | ............. 7318 | DIFS | k   the same with an answer
#[test]
fn the_standard_drops_the_nav_of_an_rts_that_nothing_follows() {
    for (config, answered, free) in
        [(Config::standard(), false, 352 + 556), (Config::standard(), true, 7318), (Config::ns2(), false, 7318)]
    {
        let mut bench = Bench::new(config);
        bench.hear(0, &frame(FrameKind::Rts, 1, 2, 6966));
        bench.packet(352, packet());
        if answered {
            bench.hear(362, &frame(FrameKind::Cts, 2, 1, 6652));
        }
        let wait = bench.draw(config.backoff_values(31));
        bench.next_is(free + DIFS + wait, "RTS");
    }
}

//   | (CTS, NAV to 7318) | (RTS 1>2, NAV to 7318 as well) | nothing for 556 ...... 7318 | DIFS | k | RTS
#[test]
fn an_rts_that_does_not_raise_the_nav_does_not_drop_it_either() {
    let mut bench = Bench::new(Config::standard());
    bench.hear(0, &frame(FrameKind::Cts, 2, 1, 7318 - CTS));
    bench.hear(1000, &frame(FrameKind::Rts, 1, 2, 7318 - 1000 - RTS));
    bench.packet(1400, packet());
    let wait = bench.draw(32);
    bench.next_is(7318 + DIFS + wait, "RTS");
}

//   NAV, EIFS or captured frame | (RTS for us) | no CTS
#[test]
fn a_cts_is_refused_by_nav_always_and_by_eifs_and_capture_in_ns2() {
    let refusal = |config: Config, before: fn(&mut Bench)| {
        let mut bench = Bench::new(config);
        before(&mut bench);
        bench.hear(1200, &rts_for_us());
        bench.run(2000);
        match bench.log.as_slice() {
            [] => assert_eq!(bench.mac.counters().cts_refused, 1),
            log => assert_eq!(log, [(1200 + RTS + SIFS, "CTS")]),
        }
        bench.log.is_empty()
    };
    let nav = |bench: &mut Bench| {
        bench.hear(0, &frame(FrameKind::Rts, 3, 2, 6966));
    };
    let answered_nav = |bench: &mut Bench| {
        bench.hear(0, &frame(FrameKind::Rts, 3, 2, 6966));
        bench.hear(362, &frame(FrameKind::Cts, 2, 3, 6652));
    };
    // Each ends at 1200 or a little later, so that its EIFS of 364 reaches beyond the instant of the CTS, 1562.
    let eifs = |bench: &mut Bench| {
        bench.noise(1000, 200, DropReason::Collision);
    };
    let captured = |bench: &mut Bench| {
        bench.run(900);
        bench.medium.handle_captured_away(us(900), Dur::from_micros(304), &bench.rules);
    };
    assert!(refusal(Config::ns2(), nav));
    assert!(refusal(Config::standard(), answered_nav));
    assert!(refusal(Config::ns2(), eifs));
    assert!(!refusal(Config::standard(), eifs));
    assert!(refusal(Config::ns2(), captured));
    assert!(!refusal(Config::standard(), captured));
    assert!(!refusal(Config::ns2(), |_| {}));
}

//   | strong frame |        the weaker one under it ends at 1400
//   | weaker, captured away ....| EIFS | DIFS | k | RTS               ns-2 only
#[test]
fn a_captured_frame_keeps_ns2_silent_for_its_air_time_and_an_eifs() {
    for (config, free) in [(Config::ns2(), 100 + 6328 + EIFS), (Config::standard(), 352)] {
        let mut bench = Bench::new(config);
        bench.arrive(0);
        bench.packet(50, packet());
        bench.medium.handle_captured_away(us(100), Dur::from_micros(6328), &bench.rules);
        bench.judge(us(352), Verdict::Good, &frame(FrameKind::Ack, 3, 2, 0));
        let wait = bench.draw(config.backoff_values(31));
        bench.next_is(free + DIFS + wait, "RTS");
    }
}
