//! Hints from routing and interface reach the congestion control of a sender.

use crate::batch::Control;
use crate::scenario::load_toml;
use crate::translate;
use fourhop_proto::node::EndpointKind;
use fourhop_units::Time;

/// Returns the window limit of `cwl` after five seconds on a chain.
fn limit(hops: u32, more: &str) -> u32 {
    let text = format!(
        "name = \"x\"\nprofile = \"ns2\"\nduration = \"10s\"\n[topology]\nkind = \"chain\"\nhops = {hops}\nspacing = \
            \"200m\"\n\
         [traffic]\ntransport = \"cwl\"\n{more}"
    );
    let scenario = load_toml(&text, "x.toml", &[]).expect("a good scenario");
    let (setup, _) = translate::setup(&scenario, 1, &Control::new()).expect("a chain is connected");
    let (mut world, ends) = setup.build(1, None).unwrap();
    world.run_until(Time::from_secs(5), &Control::new());
    let (node, index) = ends[0].sender;
    match &world.nodes()[node.index()].endpoints()[index].kind {
        EndpointKind::TcpSender(_, socket) => socket.window().cwnd_clamp,
        other => panic!("{other:?} is no TCP sender"),
    }
}

/// The hop count is available from AODV's route and from the table of static routes alike; a fixed limit ignores it.
#[test]
fn hop_counts_reach_the_sender() {
    for (hops, expected) in [(4, 1), (8, 2), (12, 3)] {
        assert_eq!(limit(hops, ""), expected, "AODV, {hops} hops");
        assert_eq!(limit(hops, "[routing]\nprotocol = \"static\"\n"), expected, "static, {hops} hops");
    }
    assert_eq!(limit(8, "[tcp]\nlimit = 5\n"), 5);
}
