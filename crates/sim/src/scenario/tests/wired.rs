//! `[wired]` and `[[wires]]`: conversion and refusals.

use super::resolved::assert_round_trip;
use super::*;
use fourhop_units::NodeId;

/// A chain of five nodes whose last one is a gateway, and a flow with the keys `flows`.
fn text(wired: &str, flows: &str) -> String {
    format!(
        "profile = \"ns2\"\nduration = \"10s\"\n[topology]\nkind = \"chain\"\nhops = 4\n{wired}\n[[flows]]\n\
         transport = \"newreno\"\n{flows}\n"
    )
}

const LINE: &str = "[wired]\ngateways = [\"last\"]\nnodes = [\"R1\", \"R2\", \"B\"]";
const UP: &str = "from = 0\nto = \"B\"";

fn problem(wired: &str, flows: &str) -> String {
    let problems = load(&text(wired, flows)).expect_err("it has a problem").problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].to_string()
}

#[test]
fn without_wires_nodes_form_a_line_behind_the_gateway() {
    let scenario = load(&text(LINE, UP)).unwrap();
    assert_round_trip(&scenario);
    let network = scenario.network(1).unwrap();
    assert_eq!((network.gateways.as_slice(), network.flows[0].hops), (&[NodeId(4)][..], Some(4)));
    assert_eq!((network.flows[0].src, network.flows[0].dst), (NodeId(0), NodeId::wired(2)));
    assert_eq!([network.flows[0].src, network.flows[0].dst].map(|node| scenario.number(node)), [0, 7]);
    let plan = scenario.wired_plan(&network.gateways).unwrap();
    let ends: Vec<_> = plan.cables.iter().map(|cable| cable.ends).collect();
    let [r1, r2, b] = [0, 1, 2].map(NodeId::wired);
    assert_eq!(ends, [[NodeId(4), r1], [r1, r2], [r2, b]]);
    assert!(plan.cables.iter().all(|cable| cable.port.rate.bps() == 10_000_000 && cable.port.queue == 50));
}

#[test]
fn links_have_options_of_their_own_and_the_rest_from_the_section() {
    let wired = "[wired]\ngateways = [4, 0]\nnodes = [\"R\", \"B\"]\nrate = \"5Mbps\"\ndelay = \"1ms\"\n\
                 [[wires]]\nends = [\"gateway-1\", \"R\"]\n[[wires]]\nends = [\"R\", \"gateway-2\"]\nrate = \
                     \"100Mbps\"\n\
                 queue_bytes = \"64kB\"\n[[wires]]\nends = [\"R\", \"B\"]\nqueue = 9";
    let scenario = load(&text(wired, "from = \"B\"\nto = \"gateway-2\"")).unwrap();
    assert_round_trip(&scenario);
    let plan = scenario.wired_plan(&scenario.network(1).unwrap().gateways).unwrap();
    let rates: Vec<_> = plan.cables.iter().map(|cable| (cable.port.rate.bps() / 1_000_000, cable.port.queue)).collect();
    assert_eq!(rates, [(5, 50), (100, 50), (5, 9)]);
    assert_eq!(scenario.network(1).unwrap().flows[0].dst, NodeId(0));
}

#[test]
fn random_gateways_and_ends_differ_from_each_other_and_from_run_to_run() {
    let wired = "[wired]\ngateways = [\"random\"]\nnodes = [\"B\"]";
    let flows = "from = \"B\"\nto = \"random\"\n[[flows]]\ntransport = \"newreno\"\nfrom = \"random\"\nto = \"B\"";
    let scenario = load(&text(wired, flows)).unwrap();
    assert_round_trip(&scenario);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..20 {
        let network = scenario.network(seed).unwrap();
        assert_eq!(network, scenario.network(seed).unwrap());
        let drawn = [network.gateways[0], network.flows[0].dst, network.flows[1].src];
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2], "{drawn:?}");
        seen.insert(drawn);
    }
    assert!(seen.len() > 5);
}

#[test]
fn errors_say_what_is_allowed() {
    assert_eq!(
        problem("[wired]\ngateways = [7]\nnodes = [\"B\"]", UP),
        "chain.toml:7:12: wired.gateways: found 7, allowed: node numbers from 0 to 4, \"first\", \"last\" or \"random\""
    );
    assert_eq!(
        problem("[wired]\ngateways = [4, \"last\"]\nnodes = [\"B\"]", UP),
        "chain.toml:7:12: wired.gateways: found \"last\" twice, allowed: each node once"
    );
    assert_eq!(
        problem("[wired]\ngateways = [4]\nnodes = [\"B\", \"B\"]", UP),
        "chain.toml:8:9: wired.nodes: found \"B\", another node's name, allowed: different names, none of them \
            \"first\", \
         \"last\", \"random\" or \"gateway...\""
    );
    let wires = |ends: &str| format!("{LINE}\n[[wires]]\nends = {ends}");
    assert_eq!(
        problem(&wires("[\"gateway-1\", \"R3\"]"), UP),
        "chain.toml:10:8: wires[0].ends: found \"R3\", allowed: gateway-1, R1, R2, B (did you mean \"R1\"?)"
    );
    assert_eq!(
        problem(&wires("[\"gateway-1\", \"R1\"]"), UP),
        "chain.toml:8:9: wired.nodes: found no path from R2, B to a gateway, allowed: nodes that [[wires]] connect to \
            a gateway, directly or through other nodes"
    );
    assert_eq!(
        problem(LINE, "from = 0\nto = \"C\""),
        "chain.toml:12:6: flows[0].to: found \"C\", allowed: a node number from 0 to 4, \"first\", \"last\", \
            \"random\", \
         \"gateway-1\", \"R1\", \"R2\", \"B\" (did you mean \"B\"?)"
    );
    assert_eq!(
        problem("[[wires]]\nends = [\"R1\", \"B\"]", "from = 0\nto = 1"),
        "chain.toml:6:3: wires: found links, allowed: links only with a section [wired]"
    );
}

#[test]
fn a_flow_between_gateways_that_no_radio_links_join_is_refused() {
    let wired = LINE.replace("\"last\"", "0, 4");
    let joined = text(&wired, "from = 0\nto = 4");
    assert_eq!(load(&joined).unwrap().network(1).unwrap().flows[0].hops, Some(4));
    let apart = load(&joined.replace("hops = 4", "hops = 4\nspacing = \"2km\"")).unwrap();
    let error = apart.network(1).expect_err("nothing could arrive").problems[0].to_string();
    assert!(error.contains("flow-1 from gateway 0 to gateway 4, which no radio links connect"), "{error}");
    // A flow that ends elsewhere gets a warning, like any without a path.
    let other = load(&text(&wired, "from = 0\nto = 3").replace("hops = 4", "hops = 4\nspacing = \"2km\"")).unwrap();
    assert_eq!(other.flows_without_path(1, &Control::new()).unwrap().len(), 1);
}
