//! The interface.

use super::*;

//   handle_timeout before next_timeout changes nothing
#[test]
fn an_early_timeout_does_nothing() {
    for config in [Config::ns2(), Config::standard()] {
        let mut bench = Bench::new(config);
        bench.hear(0, &frame(FrameKind::Cts, 3, 2, 3000 - CTS));
        bench.packet(1000, packet());
        for at in (1001..3000).step_by(7) {
            let due = bench.mac.handle_timeout(us(at), &mut bench.medium, &mut bench.air, &mut (), &mut bench.out);
            assert_eq!(due, Due::Nothing);
        }
        assert!(bench.out.is_empty() && bench.air.is_none());
        let wait = bench.draw(config.backoff_values(31));
        bench.next_is(3000 + DIFS + wait, "RTS");
    }
}

//   with a packet to send: not ready; it waits for access until the RTS is sent, and again after a missing CTS
#[test]
fn a_packet_in_hand_waits_for_access_until_it_goes() {
    let mut bench = Bench::new(Config::ns2());
    let state = |bench: &Bench| (bench.mac.is_ready(), bench.mac.msdus().next().cloned(), bench.medium.awaits_access());
    assert_eq!(state(&bench), (true, None, false));
    bench.packet(0, packet());
    assert_eq!(state(&bench), (false, Some(packet()), true));
    let start = DIFS + bench.draw(31);
    bench.run(start);
    assert_eq!(state(&bench), (false, Some(packet()), false), "the RTS is on the air");
    bench.run(start + 670);
    assert_eq!(state(&bench), (false, Some(packet()), true));
    let again = start + 670 + DIFS + bench.draw(63);
    let data_at = bench.answer(again, FrameKind::Cts) + SIFS;
    bench.answer(data_at, FrameKind::Ack);
    assert_eq!(state(&bench), (true, None, false), "nothing waits for the end of the post-back-off");
}

//   (RTS) CTS (DATA) ACK | broadcast | RTS (CTS) DATA (ACK) | RTS x 7
#[test]
fn each_frame_and_each_packet_is_counted() {
    let mut bench = Bench::new(Config::ns2());
    bench.hear(0, &rts_for_us());
    bench.hear(676, &frame(data(5, 1500), 1, 0, 314));
    bench.packet(10_000, msdu(MacAddr::BROADCAST, 48));
    bench.run(15_000);
    bench.packet(20_000, packet());
    while bench.last_frame.as_ref().is_none_or(|frame| frame.kind != FrameKind::Rts) {
        let at = bench.mac.next_timeout(&bench.medium).expect("the packet waits").as_nanos() / 1_000;
        bench.run(at);
    }
    let rts_at = bench.log.last().expect("the RTS").0;
    let data_at = bench.answer(rts_at, FrameKind::Cts) + SIFS;
    bench.answer(data_at, FrameKind::Ack);
    bench.packet(40_000, packet());
    bench.run(400_000);
    let mut expected = super::super::Counters::default();
    (expected.accepted, expected.broadcasts, expected.acknowledged) = (3, 1, 1);
    (expected.rts_sent, expected.rts_timeouts, expected.rts_limit_drops) = (8, 7, 1);
    (expected.cts_sent, expected.acks_sent, expected.data_sent, expected.delivered) = (1, 1, 1, 1);
    assert_eq!(bench.mac.counters(), expected);
}

//   broadcast 1 | broadcast 2 | ... 4,095 | 0 | 1      12 bits (clause 9.2.4.4.2)
#[test]
fn sequence_numbers_count_to_4095_and_begin_anew() {
    let mut bench = Bench::new(Config::ns2());
    for n in 1..=4_098 {
        bench.packet(2_000 * n, msdu(MacAddr::BROADCAST, 48));
        bench.run(2_000 * n + 1_999);
        let Some(Frame { kind: FrameKind::Data { seq, .. }, .. }) = bench.last_frame else { panic!("packet {n}") };
        assert_eq!(u64::from(seq), n % 4_096);
        bench.log.clear();
    }
}
