//! A slow walk along a chain: plain AODV flaps where HELLOs arrive but data does not; signal-strength-aware AODV does
//! not.

use super::network::{Network, Radio};
use super::*;

const SPACING: f64 = 12.0;
const WALKER: u32 = 4;
/// The walker moves from beside node 0 to beyond node 3 and back at 0.33 m/s.
const SPEED: f64 = 0.33;
const FAR: f64 = 44.0;
const NEAR: f64 = 3.0;

fn place(node: u32, now: Time) -> f64 {
    if node != WALKER {
        return SPACING * f64::from(node);
    }
    let way = SPEED * now.as_secs_f64();
    let length = FAR - NEAR;
    let there = way % (2.0 * length);
    NEAR + if there < length { there } else { 2.0 * length - there }
}

/// Returns how often the next hop of the walker's packets changed, and how often it changed back to the previous one
/// within ten seconds.
fn walk(config: Config, seed: u64) -> (u64, usize) {
    let mut network = Network::new(5, config);
    network.radio = Some(Radio { place, broadcast_floor: Dbm(-86.0), data_floor: Dbm(-77.0) });
    network.reseed(seed);
    network.now = Time::ZERO;
    let end = Time::ZERO + Dur::from_secs_f64(2.0 * (FAR - NEAR) / SPEED);
    let mut stays: Vec<(Time, Ipv4Addr)> = Vec::new();
    for number in 0.. {
        network.pass(ms(100));
        if network.now >= end {
            break;
        }
        network.send(WALKER, 0, number);
        let route = network.nodes[WALKER as usize].route(ip(0)).filter(|route| route.is_valid());
        if let Some(next_hop) = route.map(|route| route.next_hop)
            && stays.last().is_none_or(|&(_, last)| last != next_hop)
        {
            stays.push((network.now, next_hop));
        }
    }
    let back = |three: &&[(Time, Ipv4Addr)]| three[0].1 == three[2].1 && three[2].0 - three[1].0 < ms(10_000);
    let flaps = stays.windows(3).filter(back).count();
    (network.nodes[WALKER as usize].usage(ip(0)).route_changes, flaps)
}

fn plain() -> Config {
    let hello = HelloConfig { always: true, jitter: ms(100), ..HelloConfig::standard() };
    Config { hello: Some(hello), ttl_start: 2, ..Config::standard() }
}

fn aware(hysteresis: f64) -> Config {
    let signal = SignalConfig { hysteresis: Db(hysteresis), ..SignalConfig::paper(Dbm(-75.0)) };
    Config { signal: Some(signal), link_layer_detection: false, ..plain() }
}

#[test]
fn a_slow_walk_flaps_in_plain_aodv_and_not_with_signal_strength() {
    let (changes, flaps) = walk(plain(), 1);
    assert!(flaps >= 10 && changes >= 30, "plain AODV changed its route {changes} times and flapped {flaps} times");
    let (changes, flaps) = walk(aware(3.0), 1);
    // Three handovers there and three back.
    assert_eq!(flaps, 0, "{changes} changes");
    assert!((4..=8).contains(&changes), "{changes}");
}

#[test]
fn over_many_walks_awareness_all_but_ends_flapping() {
    let over = |config: Config| (1..=8).map(|seed| walk(config, seed)).fold((0, 0), |(a, b), (x, y)| (a + x, b + y));
    let (plain, paper, sticky) = (over(plain()), over(aware(0.0)), over(aware(3.0)));
    assert!(paper.1 * 10 < plain.1, "flaps: plain {}, aware {}", plain.1, paper.1);
    assert!(sticky.1 <= paper.1 && sticky.0 <= 8 * 8, "{sticky:?}");
}
