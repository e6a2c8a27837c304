//! The nodes of an emulation by name.

use crate::EmulationError;
use fourhop_sim::scenario::{Scenario, gateway_name};
use fourhop_sim::setup::Setup;
use fourhop_units::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

/// A node of an emulation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Its name for the system, used as a host name and a file name: ASCII letters, digits and hyphens.
    pub name: String,
    /// Its name in the scenario: that of `[[nodes]]` or `[wired]`, or `n` followed by its number.
    #[serde(default)]
    pub label: String,
    /// Other names, such as `gateway-1`.
    pub also: Vec<String>,
    /// Its address.
    pub address: Ipv4Addr,
    /// Its number in the world.
    #[serde(skip)]
    pub node: NodeId,
}

impl Member {
    /// Whether this is one of its names.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.label == name || self.also.iter().any(|other| other == name)
    }
}

/// The node of that name.
pub fn find<'a>(members: &'a [Member], name: &str) -> Option<&'a Member> {
    members.iter().find(|member| member.is_called(name))
}

/// The nodes with radios in order, then those without.
///
/// # Errors
/// If two nodes share a name.
pub fn members(scenario: &Scenario, setup: &Setup) -> Result<Vec<Member>, EmulationError> {
    let radios = (0..setup.positions.len() as u32).map(NodeId);
    let plan = setup.wired.as_ref();
    let also = |node: NodeId| {
        let gateways = plan.iter().flat_map(|plan| plan.gateways.iter().enumerate());
        gateways.filter(|&(_, &gateway)| gateway == node).map(|(index, _)| gateway_name(index)).collect()
    };
    let radios = radios.map(|node| (scenario.station_name(node), also(node), node));
    let hosts = scenario.wired.iter().flat_map(|side| side.nodes.iter().enumerate());
    let hosts = hosts.map(|(number, name)| (name.clone(), Vec::new(), NodeId::wired(number as u32)));
    let listed: Vec<(String, Vec<String>, NodeId)> = radios.chain(hosts).collect();
    let mut names: Vec<&String> = listed.iter().flat_map(|(label, also, _)| also.iter().chain([label])).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(with_system_names(&listed)),
        Some(pair) => {
            let two = format!("{}: two nodes are called {:?}; give each a unique name", scenario.file, pair[0]);
            Err(EmulationError::Unsuited(two))
        }
    }
}

/// Names that the system accepts unchanged are kept; others give way to them.
fn with_system_names(listed: &[(String, Vec<String>, NodeId)]) -> Vec<Member> {
    let mut taken: BTreeSet<String> = listed
        .iter()
        .flat_map(|(label, also, _)| also.iter().chain([label]))
        .filter(|name| system_name(name) == **name)
        .cloned()
        .chain(["localhost", "self"].map(str::to_owned))
        .collect();
    let mut name = |label: &String, number: usize| {
        let plain = system_name(label);
        if plain == *label {
            return plain;
        }
        let numbered = format!("node-{number}");
        let free = [plain.clone(), numbered.clone()].into_iter().find(|name| !name.is_empty() && !taken.contains(name));
        let found = free.unwrap_or_else(|| format!("{plain}-{numbered}"));
        taken.insert(found.clone());
        found
    };
    let member = |(number, (label, also, node)): (usize, &(String, Vec<String>, NodeId))| Member {
        name: name(label, number),
        label: label.clone(),
        also: also.clone(),
        address: node.ipv4(),
        node: *node,
    };
    listed.iter().enumerate().map(member).collect()
}

/// ASCII letters and digits, at most 32 characters, joined by hyphens, which replace all others.
fn system_name(label: &str) -> String {
    let plain: String = label.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
    let mut parts: Vec<&str> = plain.split('-').collect();
    if label.is_ascii() && label.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-') && label.len() <= LONGEST {
        return label.to_owned();
    }
    parts.retain(|part| !part.is_empty());
    let mut name = parts.join("-");
    name.truncate(LONGEST);
    name.trim_end_matches('-').to_owned()
}

/// Longest name for the system, in characters.
const LONGEST: usize = 32;

/// The content of a node's /etc/hosts.
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

    const GATEWAY: &str = "profile = 'standard'\nduration = '9s'\n[topology]\nkind = 'chain'\nhops = 2\nspacing = \
        '200m'\n\
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
    fn a_name_that_is_no_host_name_gets_one_and_is_found_by_both() {
        let nodes = "[[nodes]]\nnode = 0\nname = 'Bücherei-Köln'\n[[nodes]]\nnode = 1\nname = 'Кухня'\n\
            [[nodes]]\nnode = 2\nname = 'B cherei Köln'\n";
        let members = named(&format!("{GATEWAY}{nodes}")).unwrap();
        let names: Vec<_> = members.iter().map(|member| (member.label.as_str(), member.name.as_str())).collect();
        let expected = [("Bücherei-Köln", "B-cherei-K-ln"), ("Кухня", "node-1"), ("B cherei Köln", "node-2")];
        assert_eq!(names[..3], expected);
        assert!(hosts_file(&members, &members[0]).is_ascii());
        let state = crate::state::State::new("t", "x.toml", &members);
        for (label, name) in expected {
            assert_eq!(state.find(label), state.find(name));
            assert_eq!(state.find(name).map(|member| state.namespace(member)), Some(format!("t-{name}")));
        }
    }

    #[test]
    fn a_name_for_two_nodes_is_refused() {
        let error = named(&format!("{GATEWAY}[[nodes]]\nnode = 0\nname = 'server'\n")).unwrap_err();
        assert_eq!(error.to_string(), "x.toml: two nodes are called \"server\"; give each a unique name");
    }
}
