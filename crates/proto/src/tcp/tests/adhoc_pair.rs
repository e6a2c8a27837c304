//! Ad hoc TCP end to end: streams stay whole and no end waits forever, whatever the path and the clocks do.

use super::pair::{Fate, Pair, config, fate};
use crate::tcp::adhoc::{Clock, Gate, ReceiverOptions, Rounding, SenderOptions, Skew};
use crate::tcp::{Config, ReceiverPolicy};
use fourhop_cc::Transport;
use fourhop_units::{Dur, Rate};
use proptest::prelude::*;

/// The default unit in scenarios.
const TICK: Dur = Dur::from_micros(10);

fn sack() -> &'static Transport {
    Transport::find("sack").expect("a transport of that name")
}

fn receiver(skew: Skew) -> ReceiverOptions {
    ReceiverOptions {
        delimiter: true,
        rater: true,
        rounding: Rounding::Floor,
        freezer: true,
        beta: 5,
        fresh_for: 4,
        gate: Gate::QUARTERS,
        // Six hops fit into the network's 20 ms.
        link_rate: Rate::kbps(54_000),
        overhead: Dur::from_millis(1),
        skew,
    }
}

/// Makes a configuration ad hoc: its sender, its receiver, or both.
fn adhoc(config: Config, sends: bool, receives: Option<ReceiverOptions>, probe_rtos: Option<u32>) -> Config {
    Config {
        timestamps: true,
        clock: Clock { tick: TICK, synchronised: true },
        sack: true,
        receive_buffer: config.receive_buffer.min(1 << 20),
        adhoc_sender: sends.then_some(SenderOptions { probe_max: Dur::from_secs(32), probe_rtos }),
        receiver: receives.map_or(config.receiver, |options| config.receiver.with_adhoc(options)),
        ..config
    }
}

fn options() -> impl Strategy<Value = Option<ReceiverOptions>> {
    let skew = (any::<i64>(), -1_000_000i64..1_000_000).prop_map(|(any, drift_ppb)| {
        // Most offsets are small enough that the clocks might be meant to agree.
        let offset_ns = if any % 4 == 0 { any } else { any % 200_000_000 };
        Skew { offset_ns, drift_ppb }
    });
    let rounding = prop::sample::select(&[Rounding::Floor, Rounding::Nearest, Rounding::Ceiling][..]);
    (any::<[bool; 4]>(), rounding, 0u32..10, 0u32..10, skew).prop_map(
        |([receives, delimiter, rater, freezer], rounding, beta, fresh_for, skew)| {
            let options = ReceiverOptions { delimiter, rater, rounding, freezer, beta, fresh_for, ..receiver(skew) };
            receives.then_some(options)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Either end ad hoc, or both, or neither; any losses, route breaks of any length, numbers of hops and clocks: the
    /// stream arrives whole both ways and the connection ends, so no frozen sender stays so.
    #[test]
    fn streams_stay_whole_under_freezes_probes_and_breaks(
        base in config(),
        sends in any::<[bool; 2]>(),
        receives in [options(), options()],
        probe_rtos in prop::option::of(1u32..4),
        fates in prop::collection::vec(fate(), 0..150),
        hops in prop::collection::vec(any::<u8>(), 0..6),
        breaks in prop::collection::vec((0u64..60_000, 0u64..300_000), 0..4),
        bytes in any::<[u16; 2]>(),
        iss in any::<[u32; 2]>(),
    ) {
        let configs = [0, 1].map(|end| adhoc(base.clone(), sends[end], receives[end], probe_rtos));
        let mut pair = Pair::of(sack(), configs, fates, iss);
        pair.hops = hops;
        pair.breaks = breaks.into_iter().map(|(from, long)| (from, from + long)).collect();
        pair.transfer(bytes.map(u64::from));
    }
}

fn full() -> Config {
    let base = Config { initial_window: 2, ..Config::standard() };
    adhoc(base, true, Some(receiver(Skew::default())), None)
}

/// The acknowledgement that reopens the window is lost: the sender probes.
#[test]
fn a_lost_opening_is_asked_for() {
    // The eleventh segment and the five after it do not arrive, whether they are acknowledgements or probes.
    let fates = (0..400).map(|n| if (10..16).contains(&n) { Fate::Lost } else { Fate::Delivered }).collect();
    let mut pair = Pair::of(sack(), [full(), full()], fates, [1, 2]);
    pair.hops = vec![6];
    let pair = pair.transfer([100_000, 0]);
    assert!(pair.sockets[0].freeze().stats().probes > 0);
}

/// An outage of a minute: one timeout, probes, no second timeout, and slow start from the window of the path.
#[test]
fn a_break_costs_one_time_out() {
    let mut pair = Pair::of(sack(), [full(), full()], Vec::new(), [1, 2]);
    pair.hops = vec![6];
    pair.breaks = vec![(300, 60_300)];
    let pair = pair.transfer([200_000, 0]);
    let (stats, freezes) = (pair.sockets[0].stats(), pair.sockets[0].freeze().stats());
    assert_eq!((stats.timeouts, freezes.by_timeout), (1, 1));
    assert!((6..=9).contains(&freezes.probes), "{freezes:?}");
    assert_eq!(pair.sockets[0].ssthresh(), 2);
}

/// A plain sender limited to two segments by an ad hoc receiver: it never has more in flight, and needs nothing new.
#[test]
fn a_plain_sender_obeys_an_ad_hoc_receiver() {
    let base = Config { initial_window: 2, ..Config::standard() };
    let plain = adhoc(base.clone(), false, None, None);
    let server = adhoc(base, false, Some(receiver(Skew::default())), None);
    let mut pair = Pair::of(sack(), [plain, server], Vec::new(), [1, 2]);
    pair.hops = vec![6];
    let pair = pair.transfer([200_000, 0]);
    let window = pair.sockets[0].peer_window();
    assert!(window <= 2 * u64::from(pair.sockets[0].mss()) + 32, "{window}");
    assert_eq!(pair.sockets[0].stats().timeouts, 0);
    assert_eq!(*pair.sockets[0].freeze().stats(), Default::default());
}

/// The reverse: to a plain receiver the ad hoc sender behaves like a plain one.
#[test]
fn an_ad_hoc_sender_leaves_a_plain_receiver_alone() {
    let base = Config { receiver: ReceiverPolicy::EVERY_SEGMENT, ..Config::standard() };
    let fates: Vec<Fate> = (0..400).map(|n| if n % 11 == 10 { Fate::Lost } else { Fate::Delivered }).collect();
    let run = |sends| {
        let configs = [adhoc(base.clone(), sends, None, None), adhoc(base.clone(), false, None, None)];
        let pair = Pair::of(sack(), configs, fates.clone(), [7, 9]).transfer([300_000, 0]);
        (pair.now, pair.sockets[0].stats())
    };
    assert_eq!(run(true), run(false));
}
