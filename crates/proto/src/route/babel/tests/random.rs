//! With any topology, any loss and any changes, next hops never form a loop. Once changes end, all routes are present,
//! and the shortest if links are lossless.

use super::network::Network;
use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Connect(u32, u32),
    Cut(u32, u32),
    Pass(u64),
}

const NODES: u32 = 7;

fn step() -> impl Strategy<Value = Step> {
    let node = 0..NODES;
    prop_oneof![
        2 => (node.clone(), node.clone()).prop_map(|(a, b)| Step::Connect(a, b)),
        2 => (node.clone(), node).prop_map(|(a, b)| Step::Cut(a, b)),
        3 => prop_oneof![0u64..2_000, 2_000u64..60_000].prop_map(Step::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn next_hops_never_lead_in_a_circle(
        etx in any::<bool>(),
        links in prop::collection::vec((0..NODES, 0..NODES), 4..16),
        steps in prop::collection::vec(step(), 1..24),
        loss in prop_oneof![Just((0u32, 0u32)), (0u32..70, 0u32..30)],
    ) {
        let quality = if etx { LinkQuality::Etx } else { LinkQuality::TwoOutOfThree };
        let mut network = Network::new(NODES, Config { quality, ..Config::standard() });
        network.loss = loss;
        for (a, b) in links.into_iter().filter(|(a, b)| a != b) {
            network.connect(a, b);
        }
        for step in steps {
            match step {
                Step::Connect(a, b) if a != b => network.connect(a, b),
                Step::Cut(a, b) => network.cut(a, b),
                Step::Pass(length) => network.pass(ms(length), Network::assert_no_circle),
                Step::Connect(..) => {}
            }
        }
        network.loss = (0, 0);
        network.pass(secs(300), Network::assert_no_circle);
        for from in 0..NODES {
            for (to, hops) in (0..NODES).zip(network.hops(from)).filter(|&(to, _)| to != from) {
                let metric = network.nodes[from as usize].route(ip(to)).map(|route| u32::from(route.metric));
                prop_assert_eq!(metric, hops.map(|hops| 256 * hops), "from {} to {}", from, to);
            }
        }
    }
}
