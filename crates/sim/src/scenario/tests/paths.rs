//! Flows without a path of links are found before they run.

use super::*;

/// Returns the messages about `CHAIN`, with nodes at `places` in metres along a line, and `rest`.
fn said(places: &[u32], rest: &str) -> Vec<String> {
    let places: Vec<_> = places.iter().map(|x| format!("[\"{x}m\", \"0m\"]")).collect();
    let topology = format!("kind = \"positions\"\npositions = [{}]\n{rest}", places.join(", "));
    let text = CHAIN.replace("kind = \"chain\"\nhops = 4\n", &topology);
    let scenario = load(&text).unwrap();
    scenario.flows_without_path(1, &Control::new()).unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn a_gap_is_named_with_the_nodes_at_its_sides() {
    assert_eq!(said(&[0, 200, 450], ""), [""; 0]);
    let lost = "flow-1: no path of links from node 0 to node 3: the unreached node nearest to node 1 is node 2, \
        260 m away, \
                and a hop reaches 250 m";
    assert_eq!(said(&[0, 200, 460, 600], ""), [lost]);
}

#[test]
fn a_host_is_reached_through_a_gateway() {
    let wired = "[wired]\ngateways = [1]\nnodes = [\"B\"]\n[[flows]]\nfrom = \"B\"\nto = 2\ntransport = \"newreno\"\n";
    assert_eq!(said(&[0, 300, 500], wired).len(), 1, "the first flow, and not that from the host to node 2");
    let far = "flow-1: no path of links from B to node 2: the unreached node nearest to node 2 is node 1, 700 m \
        away, and a \
               hop reaches 250 m";
    assert_eq!(said(&[0, 200, 900], wired)[0], far);
}

#[test]
fn a_node_that_comes_by_has_a_path() {
    let moves =
        |to: u32| format!("[mobility]\nmodel = \"waypoints\"\nwaypoints = [[1, \"5m/s\", \"{to}m\", \"0m\"]]\n");
    assert_eq!(said(&[0, 600], &moves(200)), [""; 0]);
    let lost = said(&[0, 600], &moves(400));
    assert_eq!(lost.len(), 1);
    assert!(lost[0].contains("from node 0 to node 1 at any time; at the start: the unreached node"), "{}", lost[0]);
}

#[test]
fn what_is_in_the_way_counts() {
    let wall = "[[walls]]\ncorners = [[\"300m\", \"-9m\"], [\"300m\", \"9m\"]]\nloss = \"9dB\"\n";
    let lost = "flow-1: no path of links from node 0 to node 2: the unreached node nearest to node 1 is node 2, \
        200 m away, \
                and a hop reaches 250 m in the open, without [[walls]], [[losses]] and [[nodes]]";
    assert_eq!(said(&[0, 200, 400], wall), [lost]);
    let measured = "[[losses]]\nfrom = 1\nto = 2\nloss = \"80dB\"\n";
    assert_eq!(said(&[0, 200, 400], &format!("{wall}{measured}")), [""; 0]);
    // Behind the wall at the start, in front of it later.
    let walk = "[mobility]\nmodel = \"waypoints\"\nwaypoints = [[2, \"50s\", \"250m\", \"0m\"]]\n";
    assert_eq!(said(&[0, 200, 400], &format!("{wall}{walk}")), [""; 0]);
}
