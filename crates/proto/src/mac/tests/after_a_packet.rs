//! After a packet.

use super::*;

//   broadcast | DIFS | post-back-off, from the minimum window ... packet inherits the rest
#[test]
fn a_broadcast_goes_at_the_basic_rate_without_ack_and_is_followed_by_a_back_off() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, msdu(MacAddr::BROADCAST, 48));
    let start = DIFS + bench.draw(31);
    bench.run(start + 848);
    let sent = bench.last_frame.clone().unwrap();
    assert_eq!((sent.rate, sent.duration, sent.airtime), (Rate::kbps(1000), Dur::ZERO, Dur::from_micros(848)));
    assert!(bench.mac.is_ready());
    let end = start + 848;
    let wait = bench.draw(31);
    bench.packet(end + 30, packet());
    bench.run(end + DIFS + wait);
    bench.expect(&[(start, "broadcast"), (end + DIFS + wait, "RTS")]);
}

//   ack | DIFS | post-back-off | nothing to send ... packet | DIFS | k slots | RTS
#[test]
fn a_post_back_off_that_has_run_out_is_no_credit_in_ns2() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, msdu(MacAddr::BROADCAST, 48));
    bench.draw(31);
    bench.draw(31);
    bench.packet(10_000, packet());
    let wait = bench.draw(31);
    bench.run(11_000);
    bench.log.retain(|&(_, what)| what == "RTS");
    bench.expect(&[(10_000 + DIFS + wait, "RTS")]);
}

//   | (broadcast) | delivered, no answer
#[test]
fn a_broadcast_heard_is_handed_up_and_not_answered() {
    let mut bench = Bench::new(Config::ns2());
    let kind = FrameKind::Data { seq: 1, retry: false, qos: None, msdu: msdu(MacAddr::BROADCAST, 48) };
    let heard = Frame { dst: MacAddr::BROADCAST, ..frame(kind, 1, 0, 0) };
    let end = bench.hear(0, &heard);
    bench.hear(1000, &Frame { src: NodeId(2).mac(), ..heard });
    bench.run(5000);
    bench.expect(&[(end, "up"), (1000 + end, "up")]);
}
