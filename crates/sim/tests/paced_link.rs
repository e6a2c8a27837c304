//! The gateway as configured by its daemon, in front of a single 802.11 link. There is no packet ahead to collide with,
//! so pacing must not cost goodput, whatever the kind of receiver and however many flows share the link.

use fourhop_proto::gateway::DisciplineConfig;
use fourhop_sim::batch::Control;
use fourhop_sim::result::jain;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{FlowSoFar, translate};
use fourhop_units::{Dur, Time};

const SECONDS: u64 = 30;

/// Returns the payload per second of each download from a host 40 ms away to nodes at these hops, and the longest of
/// their mean round trips.
fn downloads(rate: &str, policy: &str, hops: &[u32], paced: bool) -> (Vec<f64>, Dur) {
    let longest = hops.iter().max().expect("a flow");
    let mut text = format!(
        "profile = 'standard'\nduration = '{SECONDS}s'\n[radio]\nrate = '{rate}'\n[topology]\nkind = 'chain'\n\
         hops = {longest}\n[mac]\nrts_threshold = '0B'\n[routing]\nprotocol = 'static'\n\
         [tcp]\nwindow = 'none'\nack_policy = '{policy}'\nrto_min = '200ms'\n\
         [wired]\ngateways = ['first']\nnodes = ['S']\nrate = '100Mbps'\ndelay = '40ms'\n\
         [gateway]\nkind = '{}'\nsojourn = '50ms'\n",
        if paced { "gap" } else { "plain" }
    );
    hops.iter().for_each(|to| text += &format!("[[flows]]\nfrom = 'S'\nto = {to}\ntransport = 'cubic'\n"));
    let scenario = load_toml(&text, "link.toml", &[]).unwrap();
    let (mut setup, _) = translate::setup(&scenario, 1, &Control::new()).unwrap();
    if let Some(DisciplineConfig::Gap(config)) = &mut setup.discipline {
        (config.whole_segments, config.delayed_acks, config.least_round_trip) = (true, true, true);
        config.even = Some(Dur::from_millis(500));
    }
    let (mut world, ends) = setup.build(1, None).unwrap();
    assert!(world.run_until(Time::from_secs(SECONDS), &Control::new()));
    let flows: Vec<FlowSoFar> = ends.iter().map(|ends| FlowSoFar::of(&world, ends, 1_460)).collect();
    let goodput = flows.iter().map(|flow| flow.bytes as f64 * 8.0 / SECONDS as f64).collect();
    (goodput, flows.iter().filter_map(|flow| flow.rtt_mean).max().expect("round trips"))
}

#[test]
fn pacing_leaves_a_single_hop_its_goodput_and_shortens_its_queue() {
    for rate in ["2Mbps", "11Mbps"] {
        for policy in ["every-segment", "delayed"] {
            for flows in [1, 4] {
                let hops = vec![1; flows];
                let (plain, queued) = downloads(rate, policy, &hops, false);
                let (paced, waited) = downloads(rate, policy, &hops, true);
                let case = format!("{rate} {policy}: {paced:?} of {plain:?}, {waited:?} {queued:?}");
                assert!(paced.iter().sum::<f64>() > 0.93 * plain.iter().sum::<f64>(), "{case}");
                assert!(jain(&paced).is_none_or(|index| index > 0.99), "{case}");
                assert!(waited < queued, "{case}");
            }
        }
    }
}

/// Receivers that delay acknowledgements must not stall the flow by a segment for each of their waits; the goodput of a
/// receiver that acknowledges immediately serves as reference.
#[test]
fn receivers_that_delay_acknowledgements_keep_a_longer_path_busy() {
    let (quick, _) = downloads("11Mbps", "every-segment", &[4], true);
    let (delayed, _) = downloads("11Mbps", "delayed", &[4], true);
    assert!(delayed[0] > 0.95 * quick[0], "{delayed:?} {quick:?}");
}

/// Competing with a flow over more links, a flow over a single link is paced like all others.
#[test]
fn a_single_hop_shares_evenly_with_longer_paths() {
    let (both, _) = downloads("11Mbps", "every-segment", &[1, 4], true);
    assert!(jain(&both).unwrap() > 0.9, "{both:?}");
}
