//! A driver's calls of a node: what they return, and when one may be skipped.

use super::*;
use crate::mac::{Config, RateControl, minstrel};

/// Station 9 starts a 500 us frame to node 1; returns its end.
fn begins(air: &mut Air, at: Time) -> Time {
    air.run(at);
    let (dst, src, airtime) = (NodeId(1).mac(), NodeId(OUTSIDE).mac(), Dur::from_micros(500));
    let kind = FrameKind::Cts;
    air.radiate(at, NodeId(OUTSIDE), Frame { dst, src, duration: Dur::ZERO, rate: Rate::kbps(1_000), airtime, kind });
    at + airtime
}

/// A node with a packet to send when a foreign frame begins 30 us later; also returns when that frame begins and ends.
fn put_off() -> (Air, Time, Time) {
    let mut air = Air::new(1, &config());
    air.send(datagram(1, 0, 0));
    let begin = Time::from_micros(30);
    let end = begins(&mut air, begin);
    (air, begin, end)
}

/// The driver counts the work of the layers above the MAC as an event, but starts no transmission for it.
#[test]
fn a_timer_of_the_upper_layers_is_something_and_only_an_access_is_a_frame() {
    let mut air = Air::new(1, &config());
    air.send(datagram(1, 0, 0));
    let Air { nodes, buffers, .. } = &mut air;
    let (node, ear) = &mut nodes[0];
    let mut frame = None;
    let upper = node.layers_timeout(FIRST).expect("a packet waits at the link layer");
    let early = upper - Dur::from_nanos(1);
    assert_eq!(node.handle_timeout(early, FIRST, ear, &mut frame, buffers), Due::Nothing);
    assert_eq!(node.handle_timeout(upper, FIRST, ear, &mut frame, buffers), Due::Something);
    assert_eq!(frame, None);
    let access = node.next_timeout(FIRST, ear).expect("the packet waits for the medium");
    assert_eq!(node.handle_timeout(access, FIRST, ear, &mut frame, buffers), Due::Frame);
    assert!(frame.is_some());
}

/// A driver may skip a call for an access that another frame has postponed. From the end of that frame the wait runs
/// again, and a packet on its way down must still be taken.
#[test]
fn a_node_is_called_in_vain_while_it_senses_a_frame_and_nothing_else_is_due() {
    let (mut air, begin, end) = put_off();
    let in_vain = |air: &Air, now| air.nodes[0].0.is_called_in_vain(now, &air.nodes[0].1);
    let last = end - Dur::from_nanos(1);
    assert_eq!([begin, last, end].map(|now| in_vain(&air, now)), [true, true, false]);
    air.now = begin;
    air.send(datagram(1, 1, 0));
    let upper = air.node(0).layers_timeout(FIRST).expect("the second packet");
    assert!(upper < last);
    assert_eq!([upper - Dur::from_nanos(1), upper, last].map(|now| in_vain(&air, now)), [true, false, false]);
}

/// IEEE 802.11-2020, clause 10.3.4.3: a station that finds the medium busy before it has been idle for DIFS draws a
/// back-off. Without one, all waiting stations would send at once after the frame.
#[test]
fn a_station_whose_immediate_access_is_lost_draws_a_back_off() {
    let (mut air, begin, end) = put_off();
    let (drawn_at, slots) = air.nodes[0].1.medium().sight().backoff.expect("the packet waits");
    assert_eq!(drawn_at, begin);
    assert!(slots > 0, "the stream of this test does not begin with 0");
    air.run(ms(20));
    let mac = &config().mac;
    assert_eq!(air.frames[0].0, end + mac.difs() + mac.slot * u64::from(slots));
}

/// Samples come in a random order that differs from seed to seed: with a single order, runs would vary too little.
#[test]
fn rate_control_samples_by_the_stream_that_the_driver_gives() {
    let mut config = config();
    let rate_control = RateControl::Minstrel(minstrel::Config { sample_gap: 2, ..minstrel::Config::mac80211() });
    config.mac = Config { rate_control, ..config.mac };
    let rates = |seed: u64| {
        let mut air = Air::new(2, &config);
        air.nodes[0].0.sample_rates(FIRST, Stream::new(seed, NodeId(0), Purpose::RateControl));
        for number in 0..12 {
            air.send(datagram(1, number, 0));
            air.run(air.now + Dur::from_millis(20));
        }
        let data = air.frames.iter().filter(|(_, src, _)| *src == 0);
        data.map(|(_, _, frame)| frame.rate).collect::<Vec<_>>()
    };
    assert_eq!(rates(1), rates(1));
    assert_ne!(rates(1), rates(2));
}
