//! Positions compared with other ways to compute them, and files.

use super::*;
use crate::mobility::file::Tracks;
use proptest::prelude::*;

fn listed(starts: &[Position], waypoints: Vec<Vec<Waypoint>>) -> Mobility {
    Mobility::new(&Movement::Waypoints(Arc::new(waypoints)), starts, 1)
}

fn near(a: Position, b: Position, metres: f64) -> bool {
    distance(a, b) <= metres
}

#[test]
fn a_node_goes_straight_from_waypoint_to_waypoint_and_stays_at_the_last() {
    let way = [(10, (100.0, 0.0)), (15, (100.0, 0.0)), (20, (100.0, 50.0))];
    let way = way.map(|(s, place)| Waypoint { at: Time::from_secs(s), place }).to_vec();
    let mut mobility = listed(&[(0.0, 0.0)], vec![way]);
    let mut at = |s: f64| mobility.place(NodeId(0), Time::ZERO + Dur::from_secs_f64(s));
    assert_eq!(at(0.0), (0.0, 0.0));
    assert!(near(at(2.5), (25.0, 0.0), 1e-9));
    assert_eq!(at(10.0), (100.0, 0.0));
    assert_eq!(at(12.0), (100.0, 0.0));
    assert!(near(at(19.0), (100.0, 40.0), 1e-9));
    assert_eq!(at(1e6), (100.0, 50.0));
}

const CONFIG: random_waypoint::Config = random_waypoint::Config {
    speed_min: 1.0,
    speed_max: 20.0,
    pause: Dur::from_secs(10),
    width: 1500.0,
    height: 300.0,
    steady: false,
    still: 0,
    seed: None,
};

/// Checks every second of an hour of 40 nodes against the model: area, speed and pauses.
#[test]
fn random_waypoints_keep_to_area_speed_and_pause() {
    let movement = Movement::RandomWaypoint(CONFIG);
    let starts = vec![(700.0, 100.0); 40];
    let mut mobility = Mobility::new(&movement, &starts, 3);
    for node in (0..40).map(NodeId) {
        let (mut paused, mut before) = (Dur::ZERO, mobility.leg(node, Time::ZERO));
        assert_eq!((before.from, before.to, before.end), (starts[0], starts[0], Time::from_secs(10)), "pauses first");
        for s in 1..3600 {
            let now = Time::from_secs(s);
            let leg = mobility.leg(node, now);
            let (x, y) = leg.place(now);
            assert!((0.0..=1500.0).contains(&x) && (0.0..=300.0).contains(&y));
            if leg.from == leg.to {
                assert_eq!(leg.end - leg.start, CONFIG.pause);
            } else {
                assert!((1.0 - 1e-6..=20.0 + 1e-6).contains(&leg.speed()), "{}", leg.speed());
            }
            if leg.start != before.start {
                assert!(leg.start >= before.end);
                paused += if leg.from == leg.to { CONFIG.pause } else { Dur::ZERO };
                before = leg;
            }
        }
        assert!(paused > Dur::from_secs(100));
    }
}

#[test]
fn every_node_and_seed_moves_its_own_way_and_always_the_same() {
    let place = |seed, node| {
        Mobility::new(&Movement::RandomWaypoint(CONFIG), &[(0.0, 0.0); 2], seed)
            .place(NodeId(node), Time::from_secs(77))
    };
    assert_eq!(place(1, 0), place(1, 0));
    assert!(place(1, 0) != place(1, 1) && place(1, 0) != place(2, 0));
}

/// With a start in the steady state, nothing about 4,000 nodes changes over time: the share that pauses, the mean
/// speed, the distance from the middle.
#[test]
fn the_steady_state_is_steady() {
    let config = random_waypoint::Config { steady: true, ..CONFIG };
    let movement = Movement::RandomWaypoint(config);
    let starts = movement.starts(4000, 9).unwrap();
    let mut mobility = Mobility::new(&movement, &starts, 9);
    let mut measure = |now: Time| {
        let (mut paused, mut speed, mut spread) = (0.0, 0.0, 0.0);
        for node in (0..4000).map(NodeId) {
            let leg = mobility.leg(node, now);
            paused += f64::from(leg.from == leg.to) / 4000.0;
            speed += leg.speed() / 4000.0;
            spread += (leg.place(now).0 - 750.0).abs() / 4000.0;
        }
        (paused, speed, spread)
    };
    let (first, later) = (measure(Time::ZERO), measure(Time::from_secs(2000)));
    // Standard errors for a share near 0.15, speeds spread by 6 m/s and distances spread by 200 m.
    assert!((first.0 - later.0).abs() < 0.04 && (first.0 - config.paused_share()).abs() < 0.03, "{first:?} {later:?}");
    assert!((first.1 - later.1).abs() < 0.7, "{first:?} {later:?}");
    assert!((first.2 - later.2).abs() < 20.0, "{first:?} {later:?}");
    // Uniform positions would be 375 m from the middle on average.
    assert!(first.2 < 330.0, "{first:?}");
    assert_eq!(starts[7], mobility_start(&movement, &starts, 7));
}

fn mobility_start(movement: &Movement, starts: &[Position], node: u32) -> Position {
    Mobility::new(movement, starts, 9).place(NodeId(node), Time::ZERO)
}

#[test]
fn the_mean_distance_of_a_unit_square_is_known() {
    let config = random_waypoint::Config { width: 1.0, height: 1.0, ..CONFIG };
    assert!((config.mean_distance() - 0.521_405).abs() < 1e-6);
    let wide = random_waypoint::Config { width: 1000.0, height: 1.0, ..CONFIG };
    assert!((wide.mean_distance() / 1000.0 - 1.0 / 3.0).abs() < 1e-4, "a line: a third of its length");
}

#[test]
fn the_mean_distance_in_a_rectangle_is_that_of_a_sum_over_it() {
    let (width, height) = (5.0, 2.0);
    // Two uniform points on a side are `apart` of its length from each other with density 2 (1 - apart).
    let parts = 400;
    let along = |side: f64| {
        (0..parts).map(move |n| {
            let apart = (f64::from(n) + 0.5) / f64::from(parts);
            (apart * side, 2.0 * (1.0 - apart) / f64::from(parts))
        })
    };
    let of = |(x, weight): (f64, f64)| along(height).map(move |(y, other)| weight * other * x.hypot(y));
    let summed: f64 = along(width).flat_map(of).sum();
    let config = random_waypoint::Config { width, height, ..CONFIG };
    assert!((config.mean_distance() / summed - 1.0).abs() < 1e-4, "{} {summed}", config.mean_distance());
}

/// A node as ns-2 moves it, stepped a millisecond at a time with no formula but speed times time.
fn stepped(start: Position, commands: &[(f64, f64, f64, f64)], until: f64) -> Position {
    let (mut place, mut to, mut speed, mut now) = (start, start, 0.0, 0.0);
    let step = 1e-3;
    let mut commands = commands.iter().peekable();
    while now < until - step / 2.0 {
        while let Some(&&(at, x, y, v)) = commands.peek()
            && at <= now + step / 2.0
        {
            (to, speed) = ((x, y), v);
            commands.next();
        }
        let left = distance(place, to);
        if left > 0.0 {
            let share = (speed * step / left).min(1.0);
            place = (place.0 + (to.0 - place.0) * share, place.1 + (to.1 - place.1) * share);
        }
        now += step;
    }
    place
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn setdest_moves_nodes_as_stepping_does(
        mut commands in prop::collection::vec((0u32..200, 1u32..9000, 1u32..9000, 0u32..600), 0..8),
        until in 1u32..250,
    ) {
        commands.sort_by_key(|command| command.0);
        let commands: Vec<_> = commands
            .into_iter()
            .map(|(at, x, y, v)| (f64::from(at) / 10.0, f64::from(x) / 10.0, f64::from(y) / 10.0, f64::from(v) / 10.0))
            .collect();
        let mut text = String::from(
            "# a comment\n$node_(0) set X_ 83.25\n$node_(0) set Y_ 120\n$node_(0) set Z_ 0.0\n$node_(1) set X_ 5\n\
             $node_(1) set Y_ 5\n$god_ set-dist 0 1 1\n",
        );
        for (at, x, y, v) in commands.iter().rev() {
            // Later instants first: commands are sorted by time, and those of one instant keep their order.
            if commands.iter().filter(|other| other.0 == *at).count() == 1 {
                text += &format!("$ns_ at {at} \"$node_(0) setdest {x} {y} {v}\"\n");
            }
        }
        let single: Vec<_> =
            commands.iter().copied().filter(|c| commands.iter().filter(|other| other.0 == c.0).count() == 1).collect();
        let until = f64::from(until) / 10.0;
        let Tracks { starts, waypoints } = ns2::read(&text).unwrap();
        let place = listed(&starts, waypoints).place(NodeId(0), Time::ZERO + Dur::from_secs_f64(until));
        let expected = stepped((83.25, 120.0), &single, until);
        // A step is 6 cm at 60 m/s; turns and arrivals take effect a step late.
        prop_assert!(near(place, expected, 0.01), "{place:?} {expected:?}");
    }

    #[test]
    fn no_text_makes_the_readers_fail(text in "[$node_()setdtXY0-9. \"\n#-]{0,80}") {
        let _ = ns2::read(&text);
        let _ = bonnmotion::read(&text);
    }
}

#[test]
fn of_commands_for_one_instant_the_last_counts_and_speed_zero_stops() {
    let text = "$node_(0) set X_ 10\n$node_(0) set Y_ 10\n$node_(1) set X_ 1\n$node_(1) set Y_ 1\n\
                $ns_ at 1.0 \"$node_(0) setdest 500 10 10\"\n$ns_ at 1.0 \"$node_(0) setdest 10 500 10\"\n\
                $ns_ at 3.0 \"$node_(0) setdest 10 500 0.0\"\n";
    let Tracks { starts, waypoints } = ns2::read(text).unwrap();
    let mut mobility = listed(&starts, waypoints);
    assert!(near(mobility.place(NodeId(0), Time::from_secs(2)), (10.0, 20.0), 1e-9));
    assert!(near(mobility.place(NodeId(0), Time::from_secs(100)), (10.0, 30.0), 1e-9));
}

#[test]
fn a_node_that_arrives_after_every_run_is_on_its_way() {
    let text = "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$node_(1) set X_ 1\n$node_(1) set Y_ 1\n\
                $ns_ at 5.0 \"$node_(0) setdest 610 820 0.0001\"\n";
    let Tracks { starts, waypoints } = ns2::read(text).unwrap();
    // 1000 m at 0.1 mm/s take ten times as long as any run. After 500,000 s it is 50 m away in the direction (3, 4).
    let place = listed(&starts, waypoints).place(NodeId(0), Time::from_secs(500_005));
    assert!(near(place, (40.0, 60.0), 1e-6), "{place:?}");
}

#[test]
fn bonnmotion_lines_are_nodes() {
    let text = "0.0 0 0 10 100 0 20 100 0\n5 7 8\n";
    let Tracks { starts, waypoints } = bonnmotion::read(text).unwrap();
    assert_eq!(starts, [(0.0, 0.0), (7.0, 8.0)]);
    let mut mobility = listed(&starts, waypoints);
    assert!(near(mobility.place(NodeId(0), Time::from_secs(4)), (40.0, 0.0), 1e-9));
    assert_eq!(mobility.place(NodeId(1), Time::from_secs(4)), (7.0, 8.0));
    assert_eq!(mobility.place(NodeId(0), Time::from_secs(30)), (100.0, 0.0));
}

#[test]
fn errors_name_line_and_token() {
    let ns2 = |text: &str| ns2::read(text).unwrap_err().to_string();
    let bonnmotion = |text: &str| bonnmotion::read(text).unwrap_err().to_string();
    let cases = [
        (ns2("$node_(0) set W_ 1"), "line 1, column 15: found \"W_\", allowed: X_, Y_ or Z_"),
        (
            ns2("\n$node_(0) set X_ far"),
            "line 2, column 18: found \"far\", allowed: a place in metres, a number from -1000000 to 1000000",
        ),
        (ns2("$node_(0) set X_"), "line 1, column 17: found the end of the line, allowed: a place in metres, a number"),
        (ns2("set opt 1"), "line 1, column 1: found \"set\", allowed: \"$node_(N) set ...\""),
        (ns2("$node_(x) set X_ 1"), "found \"x\", allowed: a node number from 0 to 99999"),
        (
            ns2("$ns_ at 1 \"$node_(0) setdest 0.0 5 5\""),
            "line 1, column 30: found \"0.0\", allowed: x in metres above 0, as in ns-2",
        ),
        (ns2("$ns_ at 1 \"$node_(0) setdest 1 5 -5\""), "found \"-5\", allowed: a speed in m/s, a number from 0 to"),
        (ns2("$ns_ at 1 \"$node_(0) stop\""), "found \"stop\", allowed: \"setdest\""),
        (
            ns2("$node_(1) set X_ 1\n$node_(1) set Y_ 1"),
            "line 2, column 1: found the end of the file, allowed: a line `$node_(0) set X_",
        ),
        (ns2(""), "found 0 nodes, allowed: at least 2 nodes"),
        (bonnmotion("0 1 2\n0 1"), "line 2, column 4: found the end of the line, allowed: y in metres"),
        (bonnmotion("5 1 2 4 1 2"), "line 1, column 7: found \"4\", allowed: a time no earlier than the previous one"),
        (bonnmotion("0 1 2"), "found 1 nodes, allowed: one line per node, for at least 2 nodes"),
        (bonnmotion("0 x 2"), "line 1, column 3: found \"x\", allowed: x in metres, a number"),
    ];
    for (error, expected) in cases {
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}
