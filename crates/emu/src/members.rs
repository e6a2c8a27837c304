//! The nodes of an emulation by name.

use crate::EmulationError;
use fourhop_sim::scenario::{Scenario, gateway_name};
use fourhop_sim::setup::Setup;
use fourhop_units::NodeId;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::net::Ipv4Addr;

/// A node of an emulation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Its name: that of `[[nodes]]` or `[wired]`, or `n` and its number.
    pub name: String,
    /// Other names for it, such as `gateway-1`.
    pub also: Vec<String>,
    /// Its address.
    pub address: Ipv4Addr,
    /// Its number in the world.
    #[serde(skip)]
    pub node: NodeId,
}

/// The nodes with radios in order, then those without.
///
/// # Errors
/// If two have one name.
pub fn members(scenario: &Scenario, setup: &Setup) -> Result<Vec<Member>, EmulationError> {
    let radios = (0..setup.positions.len() as u32).map(NodeId);
    let plan = setup.wired.as_ref();
    let also = |node: NodeId| {
        let gateways = plan.iter().flat_map(|plan| plan.gateways.iter().enumerate());
        gateways.filter(|&(_, &gateway)| gateway == node).map(|(index, _)| gateway_name(index)).collect()
    };
    let radios =
        radios.map(|node| Member { name: scenario.station_name(node), also: also(node), address: node.ipv4(), node });
    let hosts = scenario.wired.iter().flat_map(|side| side.nodes.iter().enumerate());
    let hosts = hosts.map(|(number, name)| {
        let node = NodeId::wired(number as u32);
        Member { name: name.clone(), also: Vec::new(), address: node.ipv4(), node }
    });
    let members: Vec<Member> = radios.chain(hosts).collect();
    let mut names: Vec<&String> = members.iter().flat_map(|member| member.also.iter().chain([&member.name])).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(members),
        Some(pair) => {
            let two = format!("{}: two nodes are called {:?}; each needs a name of its own", scenario.file, pair[0]);
            Err(EmulationError::Unsuited(two))
        }
    }
}

/// The file /etc/hosts of a node.
pub fn hosts_file(members: &[Member], own: &Member) -> String {
    let mut text = format!("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n{}\tself\n", own.address);
    for Member { name, also, address, .. } in members {
        let _ = write!(text, "{address}\t{name}");
        also.iter().for_each(|name| {
            let _ = write!(text, " {name}");
        });
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_sim::batch::Control;
    use fourhop_sim::scenario::load_toml;
    use fourhop_sim::translate;

    fn named(text: &str) -> Result<Vec<Member>, EmulationError> {
        let scenario = load_toml(text, "x.toml", &[]).unwrap();
        let (setup, _) = translate::setup(&scenario, 1, &Control::new()).unwrap();
        members(&scenario, &setup)
    }

    const GATEWAY: &str = "profile = 'standard'\nduration = '9s'\n[topology]\nkind = 'chain'\nhops = 2\nspacing = '200m'\n\
        [wired]\ngateways = ['last']\nnodes = ['router', 'server']\n\
        \
        [[flows]]\nfrom = 'first'\nto = 'server'\ntransport = 'newreno'\n";

    #[test]
    fn every_node_has_a_name_and_gateways_have_two() {
        let members = named(&format!("{GATEWAY}[[nodes]]\nnode = 0\nname = 'roof'\n")).unwrap();
        let names: Vec<_> = members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["roof", "n1", "n2", "router", "server"]);
        assert_eq!(members[2].also, ["gateway-1"]);
        let hosts = hosts_file(&members, &members[0]);
        assert!(hosts.contains("\n10.0.0.3\tn2 gateway-1\n") && hosts.contains("\n10.128.0.2\tserver\n"), "{hosts}");
        assert!(hosts.contains("10.0.0.1\tself\n"));
    }

    #[test]
    fn a_name_for_two_nodes_is_refused() {
        let error = named(&format!("{GATEWAY}[[nodes]]\nnode = 0\nname = 'server'\n")).unwrap_err();
        assert_eq!(error.to_string(), "x.toml: two nodes are called \"server\"; each needs a name of its own");
    }
}
