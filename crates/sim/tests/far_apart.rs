//! Networks so large that a frame would leave its nearest receiver before it reaches the farthest are refused. In the
//! largest that are allowed time never runs backwards: for the engine, which debug assertions check, and for taps.

use crate::common;
use etherparse::PacketBuilder;
use fourhop_proto::drop::DropReason;
use fourhop_proto::node::{self, Ear, Node};
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_proto::wire::{Frame, Ipv4Packet};
use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::setup::Routing;
use fourhop_sim::trace::{Copy, Tap, TxId};
use fourhop_sim::{RunError, RunOptions, run};
use fourhop_units::{Dur, NodeId, Time};
use std::sync::{Arc, Mutex};

fn outcome(text: &str) -> Result<RunResult, RunError> {
    let scenario = load_toml(text, "far.toml", &[]).unwrap();
    run(&scenario, 1, &RunOptions::default(), &Control::new())
}

/// Returns the error, which must be one about the scenario.
fn refusal(text: &str) -> String {
    match outcome(text) {
        Err(RunError::Scenario(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Nodes at `places` (metres along a line) that all hear each other. Answers take 28 us, the propagation delay of 8,400
/// m.
fn line(places: &[f64]) -> String {
    let places: Vec<_> = places.iter().map(|x| format!("['{x}m', '0m']")).collect();
    format!(
        "profile = 'standard'\nduration = '2s'\nwarmup = '0s'\n[topology]\nkind = 'positions'\npositions = [{}]\n\
         [radio]\nmodel = 'sinr'\nphy = 'ofdm'\nrate = '24Mbps'\nbasic_rate = '6Mbps'\ntx_power = '60dBm'\n\
         path_loss = 'free-space'\n[mac]\npropagation_margin = '60us'\nanswer_rate = 'mandatory'\n\
         [[flows]]\nfrom = 1\nto = 0\ntransport = 'newreno'\n[[flows]]\nfrom = 2\nto = 0\ntransport = 'newreno'\n",
        places.join(", ")
    )
}

#[test]
fn a_grid_of_100_km_is_refused() {
    let text = "profile = 'standard'\nduration = '2s'\n[topology]\nkind = 'grid'\ncolumns = 3\nrows = 3\nspacing = \
        '100km'\n\
                [radio]\nmodel = 'sinr'\nexponent = 1\n[traffic]\ntransport = 'newreno'\n";
    let error = refusal(text);
    assert_eq!(
        error,
        "far.toml: topology: found receivers of node 8 from 100000 m to 282843 m away, allowed: less than 91200 m \
            between \
         the nearest and the farthest receiver of a frame, the distance that light travels during the shortest frame, \
         an ACK \
         at 1 \
         Mbit/s of \
         304 us (a smaller network, a shorter range or slower frames)"
    );
}

#[test]
fn hops_of_30_km_are_too_long_for_ofdm() {
    let error = refusal(&line(&[0.0, 30e3, 60e3, 90e3]));
    assert!(error.contains("from 30000 m to 90000 m") && error.contains("less than 8400 m"), "{error}");
    assert!(error.contains("an ACK at 24 Mbit/s of 28 us"), "{error}");
}

#[test]
fn the_largest_network_that_is_allowed_runs() {
    // Node 0 hears node 1 at 5 km. One nanosecond corresponds to 0.3 m.
    let result = outcome(&line(&[0.0, 5e3, 13_399.7])).unwrap();
    assert!(result.flows.iter().all(|flow| flow.delivered_bytes > 0), "{:?}", result.flows);
    assert!(refusal(&line(&[0.0, 5e3, 13_400.0])).contains("receivers of node 0 from 5000 m to 13400 m away"));
}

#[test]
fn two_nodes_may_be_any_distance_apart() {
    let text = "profile = 'ns2'\nduration = '2s'\n[topology]\nkind = 'chain'\nhops = 1\nspacing = '100km'\n\
                [radio]\nmodel = 'sinr'\nexponent = 1\n[mac]\npropagation_margin = '1ms'\n[traffic]\ntransport = \
                'udp'\n\
                rate = '100kbps'\n";
    assert!(outcome(text).unwrap().flows[0].delivered_bytes > 0);
    let moving = "[mobility]\nmodel = 'random-waypoint'\nspeed_max = '10m/s'\nwidth = '1000km'\nheight = '1km'\n";
    assert!(outcome(&format!("{text}{moving}")).is_ok());
}

#[test]
fn moving_nodes_are_judged_by_the_smaller_of_their_area_and_their_reach() {
    let text = |width: &str, height: &str, exponent: &str| {
        format!(
            "profile = 'ns2'\nduration = '2s'\nwarmup = '0s'\n[topology]\nkind = 'chain'\nhops = 4\n\
             [radio]\nmodel = 'sinr'\nexponent = {exponent}\n[traffic]\ntransport = 'newreno'\n\
             [mobility]\nmodel = 'random-waypoint'\nspeed_max = '10m/s'\nwidth = '{width}'\nheight = '{height}'\n"
        )
    };
    // The diagonal is 5/4 of the width.
    let error = refusal(&text("73km", "54750m", "1"));
    assert!(error.contains("mobility: found moving nodes that receive each other up to 91250 m away"), "{error}");
    assert!(outcome(&text("72.9km", "54675m", "1")).is_ok());
    assert!(outcome(&text("1000km", "1000km", "3")).is_ok());
    // For paths out of a small network, their ends count.
    let ways = |x: &str| {
        format!(
            "profile = 'ns2'\nduration = '2s'\nwarmup = '0s'\n[topology]\nkind = 'chain'\nhops = 4\n\
             [radio]\nmodel = 'sinr'\nexponent = 1\n[traffic]\ntransport = 'newreno'\n\
             [mobility]\nmodel = 'waypoints'\nwaypoints = [[3, '100s', '{x}', '0m']]\n"
        )
    };
    assert!(refusal(&ways("-91km")).contains("up to 91800 m away"));
    assert!(outcome(&ways("-90.1km")).is_ok());
}

/// Checks that events come in order of time; counts the frames.
#[derive(Clone, Default)]
struct InOrder(Arc<Mutex<(Time, u64)>>);

impl InOrder {
    fn see(&self, now: Time) {
        let (last, _) = &mut *self.0.lock().unwrap();
        assert!(now >= *last, "{now:?} after {last:?}");
        *last = now;
    }
}

impl Tap for InOrder {
    fn sent(&mut self, now: Time, _: NodeId, _: TxId, _: &Frame) {
        self.see(now);
        self.0.lock().unwrap().1 += 1;
    }

    fn received(&mut self, now: Time, _: Copy, _: &Frame) {
        self.see(now);
    }

    fn lost(&mut self, now: Time, _: Copy, _: &Frame, _: DropReason) {
        self.see(now);
    }

    fn ear(&mut self, now: Time, _: NodeId, _: &Ear, _: bool) {
        self.see(now);
    }

    fn node(&mut self, now: Time, _: NodeId, _: &Node, _: &Ear, _: bool) {
        self.see(now);
    }

    fn finish(&mut self, _: Time) -> std::io::Result<()> {
        Ok(())
    }
}

/// Traces and captures of all nodes are in order of time (docs/trace.md, docs/captures.md). Here the end of a broadcast
/// reaches the far node 198 us after the near one, which may send before that: DIFS and seven slots take 190 us.
#[test]
fn events_are_in_order_of_time_though_one_node_answers_before_another_has_heard() {
    let mut setup = common::line(node::Config::standard(), &[0.0, 500.0, 60_000.0]);
    setup.routing = Routing::Outside;
    (setup.node.phy.rx_threshold, setup.node.phy.cs_threshold) =
        (TwoRay::WAVELAN.received(70e3), TwoRay::WAVELAN.received(70e3));
    let seen = InOrder::default();
    let (mut world, _) = setup.build(1, Some(Box::new(seen.clone()))).unwrap();
    let packet = |from: u32, to: [u8; 4]| {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4(NodeId(from).ipv4().octets(), to, 64).udp(4_000, 4_001);
        builder.write(&mut bytes, &[0; 100]).unwrap();
        Ipv4Packet::from_bytes(&bytes).unwrap()
    };
    for _ in 0..400 {
        world.inject(NodeId(0), packet(0, [255; 4]));
        world.inject(NodeId(1), packet(1, NodeId(0).ipv4().octets()));
        world.run_until(world.now() + Dur::from_millis(5), &Control::new());
    }
    let (_, frames) = *seen.0.lock().unwrap();
    assert!(frames > 1_200, "broadcasts, packets and acknowledgements: {frames}");
}
