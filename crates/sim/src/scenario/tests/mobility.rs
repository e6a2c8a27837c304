//! `[mobility]`: conversion, refusals, movement files.

use super::resolved::assert_round_trip;
use super::*;
use crate::mobility::{Mobility, Movement};
use fourhop_units::{NodeId, Time};
use std::path::{Path, PathBuf};

fn place(scenario: &Scenario, node: u32, s: f64) -> (f64, f64) {
    let starts = scenario.positions(1).unwrap();
    let movement = scenario.movement.as_ref().expect("nodes move");
    Mobility::new(movement, &starts, 1).place(NodeId(node), Time::ZERO + Dur::from_secs_f64(s))
}

fn assert_near((x, y): (f64, f64), (ex, ey): (f64, f64)) {
    assert!((x - ex).hypot(y - ey) < 1e-6, "({x}, {y}) is not ({ex}, {ey})");
}

#[test]
fn nodes_stand_still_by_default() {
    assert_eq!(with(&[]).unwrap().movement, None);
    assert_eq!(with(&["mobility.model=fixed"]).unwrap().movement, None);
}

#[test]
fn waypoints_have_times_or_speeds_and_stays() {
    let ways = "mobility.waypoints=[[1,'10s','200m','100m'],[1,'5m/s','200m','0m','30s'],\
        [1,'60s','0m','0m'],[0,'36km/h','100m','0m']]";
    let scenario = with(&["mobility.model=waypoints", ways]).unwrap();
    assert_near(place(&scenario, 1, 0.0), (200.0, 0.0));
    assert_near(place(&scenario, 1, 5.0), (200.0, 50.0));
    assert_near(place(&scenario, 1, 20.0), (200.0, 50.0));
    assert_near(place(&scenario, 1, 59.999_999_999), (200.0, 0.0));
    assert_near(place(&scenario, 1, 60.0), (0.0, 0.0));
    assert_near(place(&scenario, 0, 5.0), (50.0, 0.0));
    assert_near(place(&scenario, 2, 5.0), (400.0, 0.0));
    assert_round_trip(&scenario);
}

#[test]
fn random_waypoints_reach_the_model() {
    let keys =
        ["mobility.model=random-waypoint", "mobility.speed_max=20m/s", "mobility.pause=10s", "mobility.width=1km"];
    let mut keys: Vec<_> = keys.to_vec();
    keys.push("mobility.height=500m");
    let scenario = with(&keys).unwrap();
    let Some(Movement::RandomWaypoint(config)) = scenario.movement else { panic!("{:?}", scenario.movement) };
    assert_eq!((config.speed_min, config.speed_max, config.pause), (1.0, 20.0, Dur::from_secs(10)));
    assert_eq!((config.width, config.height, config.steady, config.seed), (1000.0, 500.0, true, None));
    assert_round_trip(&scenario);
    let chain = scenario.topology.place(1, 250.0).unwrap();
    assert_ne!(scenario.positions(1).unwrap(), chain, "the steady state says where nodes start");
    assert_ne!(scenario.positions(1).unwrap(), scenario.positions(2).unwrap());
    keys.push("mobility.still=2");
    let some = with(&keys).unwrap();
    assert_eq!(some.positions(1).unwrap()[..2], chain[..2], "the first two stand where the topology puts them");
    assert_ne!(some.positions(1).unwrap()[2..], chain[2..]);
    for node in 0..3 {
        assert_eq!(place(&some, node, 0.0) == place(&some, node, 300.0), node < 2);
    }
    assert_round_trip(&some);
    assert!(errors(&[&keys[..], &["mobility.still=6"]].concat()).contains("at most the number of nodes, 5"));
    keys.push("mobility.start=topology");
    assert_eq!(with(&keys).unwrap().positions(1).unwrap(), chain);
}

#[test]
fn what_cannot_be_is_refused() {
    let moved = |waypoints: &str| errors(&["mobility.model=waypoints", &format!("mobility.waypoints={waypoints}")]);
    let cases = [
        (errors(&["mobility.model=walk"]), "found \"walk\", allowed: \"fixed\" or \"waypoints\""),
        (errors(&["mobility.model=random-waypoint"]), "mobility.speed_max: missing, allowed: a speed from"),
        (errors(&["mobility.speed_max=3m/s"]), "found a key that does not belong to \"fixed\""),
        (moved("[[9,'1s','0m','0m']]"), "found [9, \"1s\", \"0m\", \"0m\"], allowed: a node number from 0 to 4"),
        (moved("[[1,'1s','0m']]"), "(one waypoint has 3 items)"),
        (moved("[[1,'1m','0m','0m']]"), "(item 2 of one waypoint is \"1m\", not a time up to"),
        (moved("[[1,'1s','0m',3]]"), "(item 4 of one waypoint is 3, not a length"),
        (moved("[[1,'9s','0m','0m'],[1,'8s','0m','0m']]"), "allowed: \"9s\" or later"),
        (moved("[[1,'0.001m/s','900km','0m']]"), "allowed: a waypoint that ends within \"1000000s\""),
        (errors(&["mobility.model=ns2", "mobility.file=none.tcl"]), "found \"none.tcl\", which cannot be read: "),
    ];
    for (text, expected) in cases {
        assert!(text.contains(expected), "{text}\n{expected}");
    }
    let random = "topology={kind='random',nodes=9,width='400m',height='400m'}";
    let text = errors(&[
        random,
        "flows=[{from=0,to=1,transport='newreno'}]",
        "mobility={model='waypoints',waypoints=[[1,'5m/s','0m','0m']]}",
    ]);
    assert!(text.contains("allowed: a time: where this node of a random topology starts"), "{text}");
}

fn errors(overrides: &[&str]) -> String {
    with(overrides).map(|scenario| format!("{:?}", scenario.movement)).unwrap_err().to_string()
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fourhop-movement-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const HEAD: &str =
    "profile = 'standard'\nduration = '100s'\n[[flows]]\nfrom = 0\nto = 1\ntransport = 'newreno'\n[mobility]\n";

#[test]
fn movement_files_lie_beside_the_scenario_and_go_into_what_it_resolves_to() {
    let folder = folder();
    let ns2 = "$node_(0) set X_ 10.5\n$node_(0) set Y_ 20.25\n$node_(1) set X_ 100\n$node_(1) set Y_ 20\n\
               $ns_ at 2.5 \"$node_(1) setdest 200 20 7.3\"\n$ns_ at 90 \"$node_(1) setdest 1 1 0.001\"\n";
    std::fs::write(folder.join("walk.tcl"), ns2).unwrap();
    std::fs::write(folder.join("walk.movements"), "0 10.5 20.25\n0 100 20 2.5 100 20 16.5 200 20\n").unwrap();
    let file = folder.join("scenario.toml").display().to_string();
    for (model, name) in [("ns2", "walk.tcl"), ("bonnmotion", "walk.movements")] {
        let text = format!("{HEAD}model = '{model}'\nfile = '{name}'\n");
        let scenario = load_toml(&text, &file, &[]).unwrap();
        assert_eq!(scenario.positions(7).unwrap(), [(10.5, 20.25), (100.0, 20.0)]);
        let speed = if model == "ns2" { 7.3 } else { 100.0 / 14.0 };
        assert_near(place(&scenario, 1, 4.5), (100.0 + 2.0 * speed, 20.0));
        // The resolved scenario needs no file.
        assert_round_trip(&scenario);
        assert!(!scenario.to_json().contains(name));
    }
    std::fs::write(folder.join("walk.tcl"), "\n$node_(0) set Q_ 5").unwrap();
    let text = format!("{HEAD}model = 'ns2'\nfile = 'walk.tcl'\n");
    let error = load_toml(&text, &file, &[]).unwrap_err();
    let expected = format!(
        "{}:2:15: mobility.file: found \"Q_\", allowed: X_, Y_ or Z_",
        Path::new(&file).with_file_name("walk.tcl").display()
    );
    assert_eq!(error.to_string(), expected);
    let text = format!("{HEAD}model = 'bonnmotion'\nfile = 'walk.movements'\n[topology]\nkind = 'chain'\nhops = 1\n");
    let error = load_toml(&text, &file, &[]).unwrap_err().to_string();
    assert!(error.contains("topology: found a table, allowed: no [topology]: the movement file says where"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
