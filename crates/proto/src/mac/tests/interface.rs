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
            let due = bench.mac.handle_timeout(us(at), &mut bench.medium, &mut bench.air, &mut bench.out);
            assert_eq!(due, Due::Nothing);
        }
        assert!(bench.out.is_empty() && bench.air.is_none());
        let wait = bench.draw(config.backoff_values(31));
        bench.next_is(3000 + DIFS + wait, "RTS");
    }
}
