//! Neighbourhood RED in whole networks: the load measured by nodes compared with that on the air; flows share more
//! evenly; a network without it is not affected.

use crate::common::accounts::check_accounts;
use crate::common::{Seen, build, line, udp};
use fourhop_proto::net::neighbourhood_red::{Config, read_notification};
use fourhop_proto::node;
use fourhop_proto::wire::{FrameKind, Payload};
use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};
use fourhop_units::{Dur, Time};

/// Air time of exchanges as seen by a bystander: from the beginning of an RTS to the end of the ACK, which the NAV
/// covers.
fn busy(seen: &[Seen], from: Time, to: Time) -> Dur {
    let (mut since, mut sum) = (None, Dur::ZERO);
    for seen in seen.iter().filter(|seen| (from..to).contains(&seen.at)) {
        match (seen.kind(), seen.sent) {
            ("RTS", true) => since = Some(seen.at),
            // The sender of the data hears the end of the ACK.
            ("ACK", false) if seen.node == 0 => sum += since.take().map_or(Dur::ZERO, |since| seen.at - since),
            _ => {}
        }
    }
    sum
}

#[test]
fn a_bystander_finds_how_busy_the_medium_is() {
    for interval in [Dur::from_millis(12), Dur::from_millis(30)] {
        let mut setup = line(node::Config::ns2(), &[0.0, 200.0, 100.0]);
        let whole = Config { enabled: true, smoothing: 0, interval: Dur::from_secs(10), ..Config::off() };
        setup.node.link.nred = whole;
        setup.flows = vec![udp(0, 1, Time::from_secs(1), interval)];
        let (mut world, _, recorder) = build(&setup, 1);
        world.run_until(Time::from_secs(21), &Control::new());
        let found = world.nodes()[2].early_drops().unwrap().neighbourhood.as_ref().unwrap().load();
        let (from, to) = (Time::from_secs(10), Time::from_secs(20));
        let share = busy(&recorder.seen(), from, to).as_secs_f64() / (to - from).as_secs_f64();
        assert!((0.2..0.9).contains(&share) && (found - share).abs() < 0.03, "found {found}, on the air {share}");
    }
}

fn chains(keys: &str, seed: u64) -> RunResult {
    let text = format!(
        "profile = 'ns2'\nduration = '60s'\nwarmup = '10s'\n[topology]\nkind = 'parallel-chains'\nhops = [4, 10]\n\
         separation = '400m'\n[routing]\nprotocol = 'static'\n[traffic]\ntransport = 'newreno'\n[link]\n{keys}"
    );
    let scenario = load_toml(&text, "chains.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, seed, &RunOptions::default(), &Control::new()).unwrap();
    check_accounts(&result).unwrap();
    result
}

#[test]
fn the_long_flow_gets_more_beside_the_short_one_and_both_together_less() {
    let (mut gain, mut cost) = (0.0, 0.0);
    for seed in 1..=3 {
        let [plain, red] = ["", "nred = true"].map(|keys| chains(keys, seed));
        let drops = |result: &RunResult| result.drops["link"].get("neighbourhood-red").copied().unwrap_or(0);
        assert!(drops(&plain) == 0 && drops(&red) > 100, "{} drops", drops(&red));
        gain += red.jain.unwrap() - plain.jain.unwrap();
        cost += 1.0 - red.aggregate_goodput_bps / plain.aggregate_goodput_bps;
    }
    assert!(gain / 3.0 > 0.1, "the index rises by {} on average", gain / 3.0);
    assert!((0.1..0.4).contains(&(cost / 3.0)), "goodput falls by {}", cost / 3.0);
}

#[test]
fn notifications_are_broadcast_by_those_with_traffic_alone_and_not_more_often_than_once_in_an_interval() {
    let mut setup = line(node::Config::ns2(), &[0.0, 200.0, 100.0]);
    setup.node.link.nred = Config { enabled: true, ..Config::off() };
    setup.flows = vec![udp(0, 1, Time::from_secs(1), Dur::from_millis(9))];
    let (mut world, _, recorder) = build(&setup, 1);
    world.run_until(Time::from_secs(21), &Control::new());
    let state_of = |node: u32| {
        let sent = recorder.seen().into_iter().filter(move |seen| seen.sent && seen.node == node);
        sent.filter(|seen| match &seen.frame.kind {
            FrameKind::Data { msdu, .. } => {
                matches!(&msdu.payload, Payload::Ipv4(packet) if read_notification(packet).is_some())
            }
            _ => false,
        })
        .count()
    };
    let [sender, receiver, bystander] = [0, 1, 2].map(state_of);
    assert_eq!(bystander, 0);
    let both = sender + receiver;
    assert!((50..=400).contains(&both), "{sender} and {receiver} in 20 s");
}
