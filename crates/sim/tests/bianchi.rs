//! References that do not depend on another simulator: saturation throughput of one cell against Bianchi's model, air
//! times added up by hand, and the capacity of a chain.

use crate::common::{line, udp};
use fourhop_proto::mac;
use fourhop_proto::node;
use fourhop_sim::batch::Control;
use fourhop_sim::setup::Setup;
use fourhop_units::{Bytes, Dur, Time};

/// Payload of every datagram.
const PAYLOAD: Bytes = Bytes(1460);
/// Start of the measurement, when everything is saturated.
const WARM: Time = Time::from_secs(2);

/// Returns the bit/s delivered to the receivers of all flows from [`WARM`] to `end`, the mean over `seeds` runs.
pub fn delivered_bps(setup: &Setup, seeds: u64, end: Time) -> f64 {
    let one = |seed| {
        let (mut world, ends) = setup.build(seed, None).unwrap();
        let control = Control::new();
        let mut received = |at| {
            world.run_until(at, &control);
            let bytes = |(node, index): (fourhop_units::NodeId, usize)| {
                world.nodes()[node.index()].endpoints()[index].received.get()
            };
            ends.iter().map(|ends| bytes(ends.receiver)).sum::<u64>()
        };
        let before = received(WARM);
        (received(end) - before) as f64 * 8.0 / (end - WARM).as_secs_f64()
    };
    (1..=seeds).map(one).sum::<f64>() / seeds as f64
}

/// `senders` stations on a circle of 1 m, all with more to send than fits, to the one in its middle. Nobody captures:
/// any overlap is a collision, as in the model.
pub fn cell(senders: u32, rts: bool) -> Setup {
    let mut setup = line(node::Config::standard(), &[0.0]);
    setup.node.phy.capture_ratio = None;
    if !rts {
        setup.node.mac.rts_threshold = Bytes(10_000);
    }
    for n in 1..=senders {
        let angle = std::f64::consts::TAU * f64::from(n) / f64::from(senders);
        setup.positions.push((angle.cos(), angle.sin()));
        // Not all at the same instant.
        setup.flows.push(udp(n, 0, Time::from_millis(u64::from(n)), Dur::from_millis(5)));
    }
    setup
}

/// Saturation throughput in bit/s of `n` stations: G. Bianchi, "Performance analysis of the IEEE 802.11 distributed
/// coordination function", JSAC 18(3), 2000, with the retry limit of H. Wu et al., INFOCOM 2002. Busy times follow from
/// our constants: after a collision the others observe EIFS (IEEE 802.11-2020 clause 10.3.7), not DIFS.
fn bianchi(n: u32, rts: bool, mac: &mac::Config, len: Bytes) -> f64 {
    let data = mac.data_airtime(len, mac.data_rate);
    let (success, collision) = if rts {
        let exchange = mac.rts_airtime(mac.basic_rate)
            + mac.answer_airtime(mac.basic_rate)
            + data
            + mac.answer_airtime(mac.basic_rate)
            + mac.sifs * 3;
        (exchange + mac.difs(), mac.rts_airtime(mac.basic_rate) + mac.eifs())
    } else {
        (data + mac.sifs + mac.answer_airtime(mac.basic_rate) + mac.difs(), data + mac.eifs())
    };

    throughput(n, mac, success, collision, PAYLOAD)
}

/// The same for any exchange: `success` and `collision` are how long the medium is busy, `carried` the payload of an
/// exchange.
pub fn throughput(n: u32, mac: &mac::Config, success: Dur, collision: Dur, carried: Bytes) -> f64 {
    let s = |d: Dur| d.as_secs_f64();
    let tau = fixed_point(n, mac);
    let others = n as i32 - 1;
    let busy = 1.0 - (1.0 - tau).powi(n as i32);
    let good = f64::from(n) * tau * (1.0 - tau).powi(others);
    let slot = (1.0 - busy) * s(mac.slot) + good * s(success) + (busy - good) * s(collision);
    good * carried.bits() as f64 / slot
}

/// Returns the probability that a station transmits in a slot if a share `p` of its attempts collides: attempts per
/// packet over slots per packet. Stage i draws from the window after i failures.
pub fn attempts(mac: &mac::Config, p: f64) -> f64 {
    let (mut tried, mut slots, mut reached, mut cw) = (0.0, 0.0, 1.0, mac.cw_min);
    for _ in 0..mac.short_retry_limit {
        tried += reached;
        slots += reached * (f64::from(mac.backoff_values(cw) - 1) / 2.0 + 1.0);
        reached *= p;
        cw = (2 * cw + 1).min(mac.cw_max);
    }
    tried / slots
}

/// Returns the value of that probability that is consistent with how often attempts then collide.
pub fn fixed_point(n: u32, mac: &mac::Config) -> f64 {
    // attempts(collide(tau)) falls with tau: bisect.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let tau = (low + high) / 2.0;
        let collide = 1.0 - (1.0_f64 - tau).powi(n as i32 - 1);
        if attempts(mac, collide) > tau {
            low = tau;
        } else {
            high = tau;
        }
    }
    low
}

#[test]
fn a_saturated_cell_gets_what_bianchi_predicts() {
    let mac = mac::Config::standard();
    // IPv4 and UDP.
    let len = PAYLOAD + Bytes(20 + 8);
    for rts in [true, false] {
        for n in [1, 2, 5, 10, 20] {
            let measured = delivered_bps(&cell(n, rts), 4, Time::from_secs(42));
            let model = bianchi(n, rts, &mac, len);
            let ratio = measured / model;
            assert!((0.985..1.015).contains(&ratio), "{n} stations, RTS {rts}: {measured:.0} of {model:.0} bit/s");
        }
    }
}

// Without RTS a collision costs a whole data frame, which RTS is meant to avoid. With two stations it does not pay off.
#[test]
fn rts_pays_when_many_contend() {
    let end = Time::from_secs(22);
    let gain = |n| delivered_bps(&cell(n, true), 2, end) / delivered_bps(&cell(n, false), 2, end);
    assert!(gain(2) < 0.96);
    assert!(gain(20) > 1.10);
}

/// One hop of 200 m, with more offered than fits.
fn one_hop(node: node::Config, interval: Dur) -> Setup {
    let mut setup = line(node, &[0.0, 200.0]);
    setup.flows.push(udp(0, 1, Time::from_millis(500), interval));
    setup
}

//  RTS 352, CTS 304, DATA 192 + 8 (1460 + 20 + 34) / 2 = 6248, ACK 304, three SIFS, four times 0.667 over the air
//  = 7240.67; then DIFS 50 and on average 15 slots (0..30) of 20 = 300
#[test]
fn a_saturated_hop_in_profile_ns2_takes_what_its_frames_take() {
    let us = 352.0 + 304.0 + 6248.0 + 304.0 + 30.0 + 4.0 * 200.0 / 3e2 + 50.0 + 300.0;
    assert!((us - 7590.67_f64).abs() < 0.01);
    let measured = delivered_bps(&one_hop(node::Config::ns2(), Dur::from_millis(5)), 4, Time::from_secs(102));
    let expected = PAYLOAD.bits() as f64 / (us * 1e-6);
    assert!((measured / expected - 1.0).abs() < 0.001, "{measured:.0} of {expected:.0} bit/s");
}

//  As above with a UDP header, LLC/SNAP instead of a fourth address, and 0..31 slots: DATA 192 + 8 (1460 + 28 + 36) / 2
//  = 6288, 15.5 slots = 310. Without RTS: DATA, SIFS, ACK, two times 0.667 over the air.
#[test]
fn a_saturated_hop_in_profile_standard_takes_what_its_frames_take() {
    let flight = 200.0 / 3e2;
    let with_rts = 352.0 + 304.0 + 6288.0 + 304.0 + 30.0 + 4.0 * flight + 50.0 + 310.0;
    let without = 6288.0 + 10.0 + 304.0 + 2.0 * flight + 50.0 + 310.0;
    for (rts_threshold, us) in [(Bytes(0), with_rts), (Bytes(10_000), without)] {
        let mut setup = one_hop(node::Config::standard(), Dur::from_millis(5));
        setup.node.mac.rts_threshold = rts_threshold;
        let measured = delivered_bps(&setup, 4, Time::from_secs(102));
        let expected = PAYLOAD.bits() as f64 / (us * 1e-6);
        assert!((measured / expected - 1.0).abs() < 0.001, "{measured:.0} of {expected:.0} bit/s");
    }
}

//  11 Mbit/s: DATA 192 + 8 (1460 + 20 + 34) / 11 = 1293.09; the rest as at 2 Mbit/s
#[test]
fn a_faster_rate_shortens_the_data_frame_only() {
    let mut node = node::Config::ns2();
    node.mac.data_rate = fourhop_units::Rate::kbps(11_000);
    let us = 352.0 + 304.0 + 192.0 + 8.0 * 1514.0 / 11.0 + 304.0 + 30.0 + 4.0 * 200.0 / 3e2 + 50.0 + 300.0;
    let measured = delivered_bps(&one_hop(node, Dur::from_millis(2)), 4, Time::from_secs(42));
    let expected = PAYLOAD.bits() as f64 / (us * 1e-6);
    assert!((measured / expected - 1.0).abs() < 0.003, "{measured:.0} of {expected:.0} bit/s");
}

// J. Li et al., "Capacity of ad hoc wireless networks", MobiCom 2001: with interference beyond the reception range only
// every fourth hop of a chain can be active, so no rate carries more than a quarter of one hop; 802.11 reaches about a
// seventh if the source sends as fast as it can.
#[test]
fn a_long_chain_carries_no_more_than_a_quarter_of_one_hop() {
    let end = Time::from_secs(62);
    let hop = delivered_bps(&one_hop(node::Config::ns2(), Dur::from_millis(5)), 2, end);
    for hops in [8, 12] {
        let places: Vec<f64> = (0..=hops).map(|n| 200.0 * f64::from(n)).collect();
        let share = |interval_ms| {
            let mut setup = line(node::Config::ns2(), &places);
            setup.flows.push(udp(0, hops, Time::from_millis(500), Dur::from_millis(interval_ms)));
            delivered_bps(&setup, 2, end) / hop
        };
        let shares: Vec<f64> = [45, 42, 39, 36, 33, 30, 25, 5].map(share).to_vec();
        assert!(shares.iter().all(|&share| share < 0.25), "{hops} hops: {shares:.3?}");
        let best = shares.iter().copied().fold(0.0, f64::max);
        assert!(best > 0.15, "{hops} hops: pacing reaches {best:.3}, {shares:.3?}");
        let greedy = shares[shares.len() - 1];
        assert!((0.06..0.16).contains(&greedy), "{hops} hops: {greedy:.3}");
    }
}
