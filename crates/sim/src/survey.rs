//! The network at the start of a run, for pictures: positions, links with margins, flows.

use crate::batch::Control;
use crate::scenario::{Scenario, ScenarioError};
use crate::translate;
use fourhop_units::NodeId;
use serde::Serialize;

/// The network of a run at its start.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Survey {
    /// Positions of the nodes with radios in metres.
    pub positions: Vec<(f64, f64)>,
    /// Numbers of the nodes that are gateways.
    pub gateways: Vec<u32>,
    /// The links, sorted by node.
    pub links: Vec<SurveyedLink>,
    /// The flows, in order.
    pub flows: Vec<SurveyedFlow>,
}

/// A link in one direction: a node that hears another well enough.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct SurveyedLink {
    /// Sending node.
    pub from: u32,
    /// Receiving node.
    pub to: u32,
    /// Received power before fading, relative to the least power of a link.
    pub margin_db: f64,
}

/// A flow between two nodes.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct SurveyedFlow {
    /// Name in results.
    pub name: String,
    /// Number of the sending node; `None` if it has no radio.
    pub from: Option<u32>,
    /// Number of the receiving node; `None` if it has no radio.
    pub to: Option<u32>,
    /// Name of the transport.
    pub transport: &'static str,
}

/// Returns the network at the start of the run with `seed`.
///
/// # Errors
/// If there is no network for this seed, or `control` is stopped before it is found.
pub fn survey(scenario: &Scenario, seed: u64, control: &Control) -> Result<Survey, ScenarioError> {
    let (setup, flows) = translate::setup(scenario, seed, control)?;
    let (least, heard) = setup.heard(seed);
    let (stations, heard) = (&setup.stations(), &heard);
    let link = |from: u32| {
        let meets = move |to: NodeId| stations.shared([NodeId(from), to]).next().is_some();
        heard.neighbours(NodeId(from)).iter().filter(move |neighbour| meets(neighbour.node)).map(move |neighbour| {
            SurveyedLink { from, to: neighbour.node.0, margin_db: neighbour.power.to_dbm().0 - least.to_dbm().0 }
        })
    };
    let mut links: Vec<_> = (0..setup.positions.len() as u32).flat_map(link).collect();
    links.sort_unstable_by_key(|link| (link.from, link.to));
    let radio = |node: NodeId| node.wired_number().is_none().then_some(node.0);
    let flow = |flow: &crate::scenario::NetworkFlow| SurveyedFlow {
        name: flow.name.clone(),
        from: radio(flow.src),
        to: radio(flow.dst),
        transport: flow.traffic.transport.name(),
    };
    Ok(Survey {
        gateways: setup.wired.iter().flat_map(|plan| plan.gateways.iter().map(|gateway| gateway.0)).collect(),
        flows: flows.iter().map(flow).collect(),
        positions: setup.positions,
        links,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load_toml;

    #[test]
    fn a_survey_shows_the_links_of_either_direction_with_their_margins() {
        let text = "profile = 'ns2'\nduration = '9s'\n[topology]\nkind = 'chain'\nhops = 2\n[[nodes]]\nnode = 2\n\
                    tx_power = '20dBm'\n[wired]\ngateways = [2]\nnodes = ['B']\n[[flows]]\nfrom = 0\nto = 'B'\n\
                    transport = 'newreno'\n";
        let scenario = load_toml(text, "survey.toml", &[]).unwrap();
        let survey = survey(&scenario, 1, &Control::new()).unwrap();
        // With a range of 250 m, 200 m leave 3.88 dB; node 2 has 4.5 dB less and is not heard.
        let links: Vec<_> = survey.links.iter().map(|link| (link.from, link.to)).collect();
        assert_eq!(links, [(0, 1), (1, 0), (1, 2)]);
        assert!(survey.links.iter().all(|link| (link.margin_db - 3.876).abs() < 0.01), "{:?}", survey.links);
        assert_eq!((survey.positions[1], &survey.gateways[..]), ((200.0, 0.0), &[2][..]));
        let [flow] = &survey.flows[..] else { panic!("{:?}", survey.flows) };
        assert_eq!((flow.from, flow.to, flow.transport), (Some(0), None, "newreno"));
    }
}
