//! One station on a bench: frames are fed in by hand, what comes out is compared with a time line drawn above each test.
//!
//! Times are microseconds; there is no propagation delay. Station 0 is the one tested, 1 its partner, 2 and 3 are others.
//! A packet of 1,500 bytes has RTS 352, CTS 304, data 6,328, ACK 304 us (2 and 1 Mbit/s). The bench draws the station's
//! random numbers a second time, so that each expected time also says which window the station had to draw from.

use super::*;
use crate::wire::{Body, Ipv4Packet, PacketMeta, Payload, UdpDatagram};
use fourhop_units::{Bytes, NodeId, Purpose, Rate};

const RTS: u64 = 352;
const CTS: u64 = 304;
const DATA: u64 = 6328;
const ACK: u64 = 304;
const SIFS: u64 = 10;
const DIFS: u64 = 50;
const SLOT: u64 = 20;
const EIFS: u64 = 364;

/// Hands the station the receiver's verdict on the frame that occupied it.
fn judge(mac: &mut Dcf, now: Time, verdict: Verdict, frame: &Frame, out: &mut Vec<Action>) {
    match verdict {
        Verdict::Good => mac.handle_reception(now, frame, false, out),
        lost => mac.handle_error(now, lost, false),
    }
}

struct Bench {
    mac: Dcf,
    draws: Stream,
    out: Vec<Action>,
    log: Vec<(u64, &'static str)>,
    last_frame: Option<Frame>,
}

impl Bench {
    fn new(config: Config) -> Bench {
        Bench::seeded(config, 1)
    }

    fn seeded(config: Config, seed: u64) -> Bench {
        let stream = Stream::new(seed, NodeId(0), Purpose::Backoff);
        let mac = Dcf::new(NodeId(0).mac(), config, stream.clone());
        Bench { mac, draws: stream, out: Vec::new(), log: Vec::new(), last_frame: None }
    }

    /// A bench whose first draw from 0 .. 30 is `slots`.
    fn with_first_draw(config: Config, slots: u64) -> Bench {
        (0..)
            .map(|seed| Bench::seeded(config, seed))
            .find(|bench| bench.draws.clone().below(31) == slots as u32)
            .unwrap()
    }

    /// Length of the back-off that the station draws next from `values` possible ones.
    fn draw(&mut self, values: u32) -> u64 {
        SLOT * u64::from(self.draws.below(values))
    }

    fn note(&mut self, now: u64) {
        for action in self.out.drain(..) {
            let what = match &action {
                Action::Transmit(frame) => name(frame),
                Action::Deliver { .. } => "up",
                Action::GaveUp { reason, .. } | Action::Discarded(reason) => reason.name(),
            };
            self.log.push((now, what));
            if let Action::Transmit(frame) = action {
                self.last_frame = Some(frame);
            }
        }
    }

    /// Timers up to and including `until`.
    fn run(&mut self, until: u64) {
        while let Some(at) = self.mac.next_timeout().filter(|&at| at <= us(until)) {
            self.mac.handle_timeout(at, &mut self.out);
            self.note(at.as_nanos() / 1000);
        }
    }

    fn packet(&mut self, at: u64, msdu: Msdu) {
        self.run(at);
        self.mac.handle_packet(us(at), msdu);
    }

    /// Energy from `at` to the returned end, and what the receiver makes of it.
    fn receive(&mut self, at: u64, frame: &Frame, verdict: Verdict) -> u64 {
        self.run(at);
        self.mac.handle_arrival(us(at));
        let end = at + frame.airtime.as_micros_rounded();
        self.run(end - 1);
        judge(&mut self.mac, us(end), verdict, frame, &mut self.out);
        self.note(end);
        end
    }

    /// A good frame; returns its end.
    fn hear(&mut self, at: u64, frame: &Frame) -> u64 {
        self.receive(at, frame, Verdict::Good)
    }

    /// Something of `airtime` that is lost for `reason`; returns its end.
    fn noise(&mut self, at: u64, airtime: u64, reason: DropReason) -> u64 {
        let frame = Frame { airtime: Dur::from_micros(airtime), ..frame(FrameKind::Ack, 3, 2, 0) };
        self.receive(at, &frame, Verdict::Bad(reason))
    }

    /// The partner's answer to what the station sent at `at`, SIFS after its end; returns the end of the answer.
    fn answer(&mut self, at: u64, kind: FrameKind) -> u64 {
        self.run(at);
        let sent = self.last_frame.clone().expect("something was sent");
        self.hear(at + sent.airtime.as_micros_rounded() + SIFS, &frame(kind, 1, 0, 0))
    }

    /// What happened since the last look.
    #[track_caller]
    fn expect(&mut self, events: &[(u64, &str)]) {
        assert_eq!(core::mem::take(&mut self.log), events);
    }

    /// Nothing happens until `what` does at `at`.
    #[track_caller]
    fn next_is(&mut self, at: u64, what: &'static str) {
        self.run(at);
        self.expect(&[(at, what)]);
    }
}

fn us(us: u64) -> Time {
    Time::from_micros(us)
}

fn name(frame: &Frame) -> &'static str {
    match &frame.kind {
        FrameKind::Rts => "RTS",
        FrameKind::Cts => "CTS",
        FrameKind::Ack => "ACK",
        FrameKind::Data { .. } if frame.dst.is_broadcast() => "broadcast",
        FrameKind::Data { retry: true, .. } => "DATA again",
        FrameKind::Data { .. } => "DATA",
    }
}

fn msdu(dst: MacAddr, len: u64) -> Msdu {
    let datagram = UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 0 };
    let (src, to) = (NodeId(0).ipv4(), NodeId(1).ipv4());
    let packet = Ipv4Packet { src, dst: to, ttl: 1, ident: 0, body: Body::Udp(datagram), meta: PacketMeta::default() };
    Msdu { dst, len: Bytes(len), payload: Payload::Ipv4(packet) }
}

/// 1,500 bytes for station 1.
fn packet() -> Msdu {
    msdu(NodeId(1).mac(), 1500)
}

/// A frame between two stations with its air time for the ns-2 rates and `duration` us in its duration field.
fn frame(kind: FrameKind, src: u32, dst: u32, duration: u64) -> Frame {
    let config = Config::ns2();
    let airtime = match &kind {
        FrameKind::Rts => config.rts_airtime(),
        FrameKind::Cts | FrameKind::Ack => config.ack_airtime(),
        FrameKind::Data { msdu, .. } => config.data_airtime(msdu.len, config.data_rate),
    };
    let (src, dst) = (NodeId(src).mac(), NodeId(dst).mac());
    Frame { dst, src, duration: Dur::from_micros(duration), rate: config.basic_rate, airtime, kind }
}

fn data(seq: u16, len: u64) -> FrameKind {
    FrameKind::Data { seq, retry: false, msdu: msdu(NodeId(0).mac(), len) }
}

/// An RTS of station 1 for station 0 and 1,500 bytes.
fn rts_for_us() -> Frame {
    frame(FrameKind::Rts, 1, 0, 6966)
}

// ---- access ----

//   packet
//     | DIFS | k slots | RTS
//   1000   1050      1050 + 20 k
#[test]
fn an_idle_station_waits_difs_and_a_random_number_of_slots() {
    let mut seen = [false; 31];
    for seed in 0..500 {
        let mut bench = Bench::seeded(Config::ns2(), seed);
        bench.packet(1000, packet());
        let wait = bench.draw(31);
        seen[(wait / SLOT) as usize] = true;
        bench.next_is(1000 + DIFS + wait, "RTS");
    }
    assert!(seen.iter().all(|&seen| seen), "0 .. 30 slots all occur: {seen:?}");
}

//   packet            117                421
//     | DIFS | 3 slots +|== another's ACK ==| DIFS | k - 3 slots | RTS
//     0     50                                   471
#[test]
fn a_busy_medium_freezes_the_slots_and_costs_a_full_difs() {
    for k in [4, 5, 30] {
        let mut bench = Bench::with_first_draw(Config::ns2(), k);
        bench.packet(0, packet());
        let end = bench.hear(117, &frame(FrameKind::Ack, 3, 2, 0));
        bench.next_is(end + DIFS + (k - 3) * SLOT, "RTS");
    }
}

//   packet     40            344
//     | DIFS...|==== ACK ====| DIFS | k slots | RTS
#[test]
fn a_pause_within_difs_costs_no_slot() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let end = bench.hear(40, &frame(FrameKind::Ack, 3, 2, 0));
    let wait = bench.draw(31);
    bench.next_is(end + DIFS + wait, "RTS");
}

//   0     packet
//   |=== noise ===| (EIFS) | DIFS | k slots | RTS         ns-2: 364 + 50; standard: 364 in all
//   0            1000
#[test]
fn eifs_is_followed_by_difs_in_ns2_and_replaces_it_in_the_standard() {
    for (config, values, wait) in [(Config::ns2(), 31, EIFS + DIFS), (Config::standard(), 32, EIFS)] {
        let mut bench = Bench::new(config);
        bench.mac.handle_arrival(us(0));
        bench.packet(500, packet());
        let end = bench.noise(500, 500, DropReason::Collision);
        let slots = bench.draw(values);
        bench.next_is(end + wait + slots, "RTS");
    }
}

//   |=== never decodable ===| DIFS | k slots | RTS        standard: no EIFS without a header
#[test]
fn the_standard_observes_no_eifs_after_mere_energy() {
    for (config, values, wait) in [(Config::ns2(), 31, EIFS + DIFS), (Config::standard(), 32, DIFS)] {
        let mut bench = Bench::new(config);
        bench.mac.handle_arrival(us(0));
        bench.packet(500, packet());
        let end = bench.noise(500, 500, DropReason::Undecodable);
        let slots = bench.draw(values);
        bench.next_is(end + wait + slots, "RTS");
    }
}

//   |== noise ==| 10 |== ACK of others ==| DIFS | k |      standard: the good frame ends the EIFS
//   |== noise ==|............ EIFS 364 ......| DIFS | k |  ns-2
//   0         1000  1010               1314 1364
#[test]
fn a_good_frame_ends_eifs_in_the_standard_only() {
    for (config, values, free) in [(Config::ns2(), 31, 1364), (Config::standard(), 32, 1314)] {
        let mut bench = Bench::new(config);
        bench.mac.handle_arrival(us(0));
        bench.packet(500, packet());
        bench.noise(500, 500, DropReason::Collision);
        bench.hear(1010, &frame(FrameKind::Ack, 3, 2, 0));
        let slots = bench.draw(values);
        bench.next_is(free + DIFS + slots, "RTS");
    }
}

// ---- the exchange ----

//   DIFS + k | RTS | SIFS | (CTS) | SIFS | DATA | SIFS | (ACK) | DIFS + post-back-off | RTS of the next packet
#[test]
fn the_sender_goes_through_rts_cts_data_ack() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let start = DIFS + bench.draw(31);
    bench.run(start);
    let sent = bench.last_frame.clone().unwrap();
    assert_eq!((sent.duration, sent.airtime), (Dur::from_micros(6966), Dur::from_micros(RTS)));
    assert!(!bench.mac.is_ready() && bench.mac.is_transmitting(us(start)));
    assert!(!bench.mac.is_transmitting(us(start + RTS)));

    let cts_end = bench.answer(start, FrameKind::Cts);
    assert_eq!(cts_end, start + RTS + SIFS + CTS);
    bench.run(cts_end + SIFS);
    let sent = bench.last_frame.clone().unwrap();
    assert_eq!((sent.duration, sent.rate), (Dur::from_micros(314), Rate::kbps(2000)));
    let ack_end = bench.answer(cts_end + SIFS, FrameKind::Ack);
    assert_eq!(ack_end, cts_end + SIFS + DATA + SIFS + ACK);
    assert!(bench.mac.is_ready());
    bench.expect(&[(start, "RTS"), (cts_end + SIFS, "DATA")]);

    // The next packet inherits the post-back-off that was drawn when the ACK came.
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
    // The second RTS came while data was awaited, the third ends at the instant the wait does: neither is answered.
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

//   RTS |...(RTS for us)...| CTS never comes: an RTS that arrives while a CTS is awaited is not answered
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
    bench.mac.handle_arrival(us(start + 10));
    judge(&mut bench.mac, us(start + 314), Verdict::Missed, &rts_for_us(), &mut bench.out);
    bench.run(start + 719);
    let again = start + 720 + bench.draw(63);
    bench.run(again);
    bench.expect(&[(start, "RTS"), (again, "RTS")]);
}

//   | (DATA) | SIFS with noise | ACK all the same
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

// ---- retries ----

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

    // The window is the smallest again, and no post-back-off was drawn.
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
    let counters = *bench.mac.counters();
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

    // The other way round, an ACK answers it, and a long frame without its CTS is still refused.
    let end = bench.hear(at + 1000, &frame(data(9, 40), 1, 0, 314));
    bench.hear(at + 5000, &frame(data(10, 1500), 1, 0, 314));
    bench.run(at + 12_000);
    bench.expect(&[(end, "up"), (end + SIFS, "ACK"), (at + 5000 + DATA, "unexpected-data")]);
}

//   DATA |..(DATA for us)..|..(ACK)..| SIFS | ACK owed      with a time-out long enough for both to arrive
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

// ---- after a packet ----

//   broadcast | DIFS | post-back-off, from the smallest window ... packet inherits what is left
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

//   | (broadcast) | up, no answer
#[test]
fn a_broadcast_heard_is_handed_up_and_not_answered() {
    let mut bench = Bench::new(Config::ns2());
    let kind = FrameKind::Data { seq: 1, retry: false, msdu: msdu(MacAddr::BROADCAST, 48) };
    let heard = Frame { dst: MacAddr::BROADCAST, ..frame(kind, 1, 0, 0) };
    let end = bench.hear(0, &heard);
    bench.hear(1000, &Frame { src: NodeId(2).mac(), ..heard });
    bench.run(5000);
    bench.expect(&[(end, "up"), (1000 + end, "up")]);
}

// ---- virtual carrier sense ----

//   | (RTS 1>2, NAV to 7318) | (ACK 0) | (CTS, NAV to 3000) | ............ 7318 | DIFS | k slots | RTS
#[test]
fn the_nav_is_raised_and_never_lowered() {
    let mut bench = Bench::new(Config::ns2());
    bench.hear(0, &frame(FrameKind::Rts, 1, 2, 1000));
    assert_eq!(bench.mac.nav(), us(1352));
    bench.hear(400, &frame(FrameKind::Rts, 1, 2, 6566));
    assert_eq!(bench.mac.nav(), us(7318));
    bench.hear(1000, &frame(FrameKind::Ack, 1, 2, 0));
    bench.hear(2000, &frame(FrameKind::Cts, 1, 2, 696));
    assert_eq!(bench.mac.nav(), us(7318));
    bench.packet(4000, packet());
    let wait = bench.draw(31);
    bench.next_is(7318 + DIFS + wait, "RTS");
}

//   | (RTS 1>2, NAV to 7318) | nothing for 556 | DIFS | k | RTS     standard: nobody answered, the NAV goes
//   | (RTS 1>2) | SIFS | (CTS 2>1) | ............. 7318 | DIFS | k   the same, answered
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
        bench.mac.handle_captured_away(us(900), Dur::from_micros(304));
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
        bench.mac.handle_arrival(us(0));
        bench.packet(50, packet());
        bench.mac.handle_captured_away(us(100), Dur::from_micros(6328));
        judge(&mut bench.mac, us(352), Verdict::Good, &frame(FrameKind::Ack, 3, 2, 0), &mut bench.out);
        let wait = bench.draw(config.backoff_values(31));
        bench.next_is(free + DIFS + wait, "RTS");
    }
}

// ---- filters ----

//   exchange | the same once more, marked as a retry: CTS and ACK, but nothing goes up
#[test]
fn a_duplicate_is_acknowledged_and_dropped() {
    let mut bench = Bench::new(Config::ns2());
    for start in [0, 10_000] {
        bench.hear(start, &rts_for_us());
        bench.hear(start + 676, &frame(data(5, 1500), 1, 0, 314));
        bench.run(start + 8000);
    }
    // The same number from another station is no duplicate.
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

//   A CTS or ACK nobody waits for does nothing.
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

// ---- immediate access (standard) ----

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

//   NAV until 3000, or EIFS until 1364, which ran out unnoticed | packet long after: at once | packet 20 later: rest of DIFS
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

//   (CTS) | SIFS | DATA | SIFS | (ACK) | post-back-off is drawn in the standard even after a packet given up
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

// ---- the interface ----

//   handle_timeout before next_timeout changes nothing
#[test]
fn an_early_timeout_does_nothing() {
    for config in [Config::ns2(), Config::standard()] {
        let mut bench = Bench::new(config);
        bench.hear(0, &frame(FrameKind::Cts, 3, 2, 3000 - CTS));
        bench.packet(1000, packet());
        for at in (1001..3000).step_by(7) {
            bench.mac.handle_timeout(us(at), &mut bench.out);
        }
        assert!(bench.out.is_empty());
        let wait = bench.draw(config.backoff_values(31));
        bench.next_is(3000 + DIFS + wait, "RTS");
    }
}
