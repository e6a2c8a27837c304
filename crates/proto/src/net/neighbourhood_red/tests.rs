use super::*;
use crate::wire::UdpDatagram;
use fourhop_units::{Bytes, MacAddr, NodeId, Purpose};

const RULES: Config = Config { enabled: true, smoothing: 0, max_drop: 500, ..Config::off() };

fn red(config: Config) -> NeighbourhoodRed {
    NeighbourhoodRed::new(config, Stream::new(1, NodeId(0), Purpose::NeighbourhoodRed))
}

fn ms(at: u64) -> Time {
    Time::ZERO + Dur::from_millis(at)
}

fn data(dst: MacAddr) -> Msdu {
    let body = Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 100 });
    let (src, to) = (NodeId(0).ipv4(), NodeId(9).ipv4());
    let packet =
        Ipv4Packet { src, dst: to, ttl: 30, ident: 0, dscp: 0, body, meta: crate::wire::PacketMeta::default() };
    Msdu { dst, len: Bytes(128), payload: Payload::Ipv4(packet) }
}

/// Lets it sample a medium that is busy whenever `busy` returns true, until `until`. Returns its notifications and
/// their times.
fn look(red: &mut NeighbourhoodRed, until: Time, busy: impl Fn(Time) -> bool) -> Vec<(Time, u32)> {
    let mut sent = Vec::new();
    while red.next_timeout() < until {
        let now = red.next_timeout();
        sent.extend(red.handle_timeout(now, !busy(now)).map(|pressure| (now, pressure)));
    }
    sent
}

/// A station where the medium is always busy, with this much of the airtime its own.
fn at_full_load(own: Dur) -> NeighbourhoodRed {
    let mut red = red(RULES);
    look(&mut red, ms(95), |_| true);
    red.handle_carried(own);
    look(&mut red, ms(110), |_| true);
    red
}

fn dropped_of_4000(red: &mut NeighbourhoodRed) -> usize {
    let now = red.next_timeout();
    (0..4000).filter(|_| red.drops(now, &data(NodeId(1).mac()))).count()
}

#[test]
fn the_probability_rises_between_the_thresholds_and_stays_there() {
    let at = |percent: u64| RULES.probability(percent * 10_000);
    assert_eq!([at(0), at(50), at(75), at(100)], [0, 0, 250_000, 500_000]);
    // Thresholds in reverse order: a step after the lower one.
    let step = Config { high: 0, ..RULES };
    assert_eq!([step.probability(500_000), step.probability(500_001)], [0, 500_000]);
}

#[test]
fn random_looks_find_the_share_of_time_that_the_medium_is_busy() {
    let mut red = red(Config { interval: Dur::from_secs(20), ..RULES });
    // Busy 3 ms of each 4 ms: samples at fixed times might never see it idle.
    look(&mut red, ms(20_100), |now| now.as_nanos() % 4_000_000 < 3_000_000);
    assert!((red.load() - 0.75).abs() < 0.02, "{}", red.load());
}

#[test]
fn it_looks_every_two_milliseconds_in_the_mean_and_never_after_more_than_four() {
    let mut red = red(Config { interval: Dur::from_secs(20), ..RULES });
    let (mut last, mut longest) = (Time::ZERO, Dur::ZERO);
    while red.next_timeout() < ms(10_000) {
        let now = red.next_timeout();
        red.handle_timeout(now, true);
        (longest, last) = (longest.max(now - last), now);
    }
    assert!((4_800..5_200).contains(&red.looks), "{}", red.looks);
    assert!((Dur::from_micros(3_900)..=Dur::from_millis(4) + Dur::from_nanos(1)).contains(&longest), "{longest:?}");
}

#[test]
fn the_mean_keeps_four_fifths_of_the_old_one() {
    let mut red = red(Config { smoothing: 800, ..RULES });
    look(&mut red, ms(104), |_| true);
    assert_eq!(red.load, 200_000);
    look(&mut red, ms(212), |_| true);
    assert_eq!(red.load, 360_000);
}

#[test]
fn an_idle_medium_costs_nothing() {
    let mut red = red(RULES);
    red.handle_carried(Dur::from_millis(50));
    assert_eq!(look(&mut red, ms(1000), |_| false), []);
    assert_eq!(dropped_of_4000(&mut red), 0);
}

#[test]
fn a_station_drops_by_its_part_of_the_load() {
    let half = at_full_load(Dur::from_secs(1));
    let whole = half.own;
    assert_eq!((half.load, whole), (ONE, ONE), "no more than all of it");
    // Spacing nearly doubles the drop rate: the mean gap between drops at p is (1/p + 1) / 2.
    let dropped = dropped_of_4000(&mut at_full_load(Dur::from_secs(1)));
    assert!((2600..2750).contains(&dropped), "p = 1/2: {dropped} of 4000");
    let own = Dur::from_millis(20);
    let (share, dropped) = (at_full_load(own).own, dropped_of_4000(&mut at_full_load(own)));
    assert!((150_000..=200_000).contains(&share), "{share}");
    let p = share as f64 / 2.0 / ONE as f64;
    let expected = 4000.0 * 2.0 / (1.0 / p + 1.0);
    assert!((dropped as f64 / expected - 1.0).abs() < 0.1, "{dropped} of 4000, expected {expected}");
}

#[test]
fn gaps_between_drops_have_a_bound() {
    let mut red = at_full_load(Dur::from_millis(20));
    let now = red.next_timeout();
    let drops: Vec<bool> = (0..4000).map(|_| red.drops(now, &data(NodeId(1).mac()))).collect();
    let longest = drops.split(|&dropped| dropped).map(<[bool]>::len).max().unwrap();
    let bound = (2 * ONE).div_ceil(red.own) as usize;
    assert!((bound / 2..=bound).contains(&longest), "{longest} of at most {bound}");
}

#[test]
fn who_has_no_traffic_does_not_notify() {
    let mut bystander = red(RULES);
    assert_eq!(look(&mut bystander, ms(1000), |_| true), []);
    let mut taking_part = red(RULES);
    look(&mut taking_part, ms(95), |_| true);
    taking_part.handle_carried(Dur::from_millis(1));
    let sent = look(&mut taking_part, ms(150), |_| true);
    assert_eq!(sent.iter().map(|&(_, pressure)| pressure).collect::<Vec<_>>(), [500_000]);
}

#[test]
fn one_that_was_notified_of_more_is_silent_and_drops_by_that() {
    let mut red = red(Config { high: 2000, ..RULES });
    red.handle_notification(ms(50), 900_000);
    red.handle_notification(ms(60), 300_000);
    red.handle_carried(Dur::from_millis(200));
    assert_eq!(look(&mut red, ms(110), |_| true), [], "its own would be a sixth");
    let dropped = dropped_of_4000(&mut red);
    assert!(dropped > 3600, "nine tenths, spaced: {dropped} of 4000");
    // The notification at 50 ms counts for two intervals.
    assert_eq!(look(&mut red, ms(230), |_| true), []);
    red.handle_carried(Dur::from_millis(200));
    let sent = look(&mut red, ms(330), |_| true);
    assert_eq!(sent.iter().map(|&(_, pressure)| pressure).next_back(), Some(166_666));
    let lapsed = dropped_of_4000(&mut red);
    assert!(lapsed < 1300, "{lapsed} of 4000");
}

#[test]
fn a_notification_counts_for_two_intervals_and_no_longer() {
    let mut red = red(RULES);
    red.handle_notification(ms(50), 900_000);
    assert_eq!((red.notified_at(ms(249)), red.notified_at(ms(250))), (900_000, 0));
    // An equal one replaces it, a smaller one does not.
    red.handle_notification(ms(100), 900_000);
    red.handle_notification(ms(150), 899_999);
    assert_eq!((red.notified_at(ms(299)), red.notified_at(ms(300))), (900_000, 0));
}

#[test]
fn broadcasts_and_network_control_are_spared() {
    let mut red = at_full_load(Dur::from_secs(1));
    let now = red.next_timeout();
    let control = notification(NodeId(3).ipv4(), 1);
    let unicast = Msdu { dst: NodeId(1).mac(), len: Bytes(24), payload: Payload::Ipv4(control) };
    for spared in [data(MacAddr::BROADCAST), unicast] {
        assert!((0..100).all(|_| !red.drops(now, &spared)));
    }
}

#[test]
fn a_notification_is_a_sound_packet_and_read_as_what_was_written() {
    let packet = notification(NodeId(3).ipv4(), 123_456);
    let Body::Opaque(bytes) = &packet.body else { panic!("bytes") };
    assert_eq!(Ipv4Packet::from_bytes(bytes.bytes()), Ok(packet.clone()));
    assert!(etherparse::Ipv4Header::from_slice(bytes.bytes()).is_ok_and(|(header, _)| {
        header.header_checksum == header.calc_header_checksum() && header.total_len == 24
    }));
    assert!(packet.is_network_control() && packet.is_for_all());
    assert_eq!(read_notification(&packet), Some(123_456));
    let Payload::Ipv4(other) = data(MacAddr::BROADCAST).payload else { panic!("IP") };
    assert_eq!(read_notification(&other), None);
    assert_eq!(read_notification(&Ipv4Packet::control_broadcast(NodeId(3).ipv4(), PROTOCOL, &[1])), None, "too short");
}
