//! From `[[nodes]]`, `[[losses]]` and `[[walls]]` to the site of a run.

use super::build::Builder;
use super::key::Section;
use super::resolve::{Resolved, resolve};
use super::sections::{LossKeys, NodeKeys, PathLossKind, Radio, RadioModel, WallKeys};
use super::tree::{Data, Node};
use super::{Scenario, value};
use crate::mobility::Movement;
use crate::propagation::site::{Site, Station, Wall};
use crate::topology::Topology;
use fourhop_units::{Db, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is written about a network's place.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SiteKeys {
    /// Transmitters and antennas of single nodes.
    pub nodes: Vec<NodeKeys>,
    /// Measured losses.
    pub losses: Vec<LossKeys>,
    /// Walls.
    pub walls: Vec<WallKeys>,
}

impl Builder {
    /// `[[nodes]]`, `[[losses]]` and `[[walls]]`, checked against the network; `None` if something is wrong.
    pub(super) fn site(
        &mut self,
        topology: Option<&Topology>,
        radio: Option<&Radio>,
        movement: Option<&Option<Movement>>,
    ) -> Option<SiteKeys> {
        let (nodes, losses, walls) = (self.list::<NodeKeys>(), self.list::<LossKeys>(), self.list::<WallKeys>());
        let (nodes, losses) = (nodes?, losses?);
        let (topology, radio, movement) = (topology?, radio?, movement?);
        let before = self.problems.len();
        self.check_nodes(&nodes, topology, radio);
        self.check_losses(&losses, topology, movement.is_some());
        let keys = SiteKeys { nodes: sections(nodes), losses: sections(losses), walls: sections(walls?) };
        (self.problems.len() == before).then_some(keys)
    }

    /// A section of which there may be several; none if it is not there.
    pub(super) fn list<S: Section>(&mut self) -> Option<Vec<(Resolved, S)>> {
        let Some(entry) = self.root.entry(S::NAME) else { return Some(Vec::new()) };
        let Data::List(items) = &entry.value.data else {
            let allowed = format!("a list of tables: [[{}]]", S::NAME);
            self.problems.push(entry.value.at.problem(S::NAME, entry.value.describe(), allowed));
            return None;
        };
        let read = |(i, node): (usize, &Node)| {
            let path = format!("{}[{i}]", S::NAME);
            let resolved = resolve::<S>(Some(node), &path, &node.at, self.profile, None, &[], &mut self.problems)?;
            let section = S::from_values(&resolved.values);
            Some((resolved, section))
        };
        // All of them are looked at, whatever is wrong with the first.
        items.iter().enumerate().map(read).collect::<Vec<_>>().into_iter().collect()
    }

    fn check_nodes(&mut self, nodes: &[(Resolved, NodeKeys)], topology: &Topology, radio: &Radio) {
        let mut described = BTreeMap::new();
        let mut names = BTreeSet::new();
        let on_ground = radio.model == RadioModel::Threshold || radio.path_loss == Some(PathLossKind::TwoRay);
        for (resolved, keys) in nodes {
            for number in keys.numbers() {
                let known = self.known(resolved, "node", number, topology);
                if let Some(earlier) = described.insert(number, &resolved.path)
                    && known
                {
                    let found = format!("{number}, which is described by {earlier} already");
                    self.problems.push(resolved.problem("node", found, "each node once"));
                }
            }
            if let Some(name) = &keys.name
                && let Some(wrong) = wrong_name(name, keys, !names.insert(name))
            {
                let allowed = "a name of its own for one node: letters, digits and hyphens, but not n and a number";
                self.problems.push(resolved.problem("name", wrong, allowed));
            }
            if !on_ground && keys.antenna_height.is_some() {
                let allowed = "nothing, or `radio.path_loss` \"two-ray\": no other law looks at heights";
                self.problems.push(resolved.problem("antenna_height", resolved.show("antenna_height"), allowed));
            }
        }
    }

    fn check_losses(&mut self, losses: &[(Resolved, LossKeys)], topology: &Topology, moving: bool) {
        let mut measured = BTreeMap::new();
        for (resolved, keys) in losses {
            let (from, to) = (keys.from, keys.to);
            if moving {
                let allowed = "nothing, or `mobility.model` \"fixed\": a loss is measured between two places";
                self.problems.push(resolved.problem("loss", resolved.show("loss"), allowed));
            }
            let known = self.known(resolved, "from", from, topology) & self.known(resolved, "to", to, topology);
            if from == to {
                self.problems.push(resolved.problem("to", to.to_string(), "another node than `from`"));
                continue;
            }
            for (from, to) in directions(keys) {
                if let Some(earlier) = measured.insert((from, to), &resolved.path)
                    && known
                {
                    let found = format!("{to}, and {earlier} has the loss from {from} to it already");
                    let mut problem = resolved.problem("to", found, "each direction between two nodes once");
                    problem.hint = Some("`both_ways = false` gives one direction alone".to_owned());
                    self.problems.push(problem);
                    break;
                }
            }
        }
    }

    /// Is there a node of that number? If not, that is a problem.
    pub(super) fn known(&mut self, resolved: &Resolved, key: &'static str, number: u32, topology: &Topology) -> bool {
        let known = number < topology.nodes();
        if !known {
            let allowed = format!("a node number from 0 to {}", topology.nodes() - 1);
            self.problems.push(resolved.problem(key, number.to_string(), allowed));
        }
        known
    }
}

/// What is wrong with the name of a node, if anything.
fn wrong_name(name: &str, keys: &NodeKeys, taken: bool) -> Option<String> {
    let number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let alphabet = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let sound = alphabet && (1..=32).contains(&name.len()) && !name.starts_with('-');
    let usual = name.strip_prefix('n').is_some_and(number) || name == "localhost";
    let several = keys.numbers().len() != 1;
    (!sound || usual || several || taken).then(|| {
        let why = if several {
            " for several nodes"
        } else if taken {
            ", another node's name"
        } else {
            ""
        };
        format!("{name:?}{why}")
    })
}

fn sections<S>(read: Vec<(Resolved, S)>) -> Vec<S> {
    read.into_iter().map(|(_, section)| section).collect()
}

/// The directions that a measured loss holds for.
fn directions(keys: &LossKeys) -> impl Iterator<Item = (u32, u32)> + use<> {
    let back = keys.both_ways.then_some((keys.to, keys.from));
    std::iter::once((keys.from, keys.to)).chain(back)
}

impl Scenario {
    /// What a node with a radio is called where it is emulated.
    pub fn station_name(&self, node: NodeId) -> String {
        let named = self.site.nodes.iter().filter(|keys| keys.numbers() == [node.0]);
        named.filter_map(|keys| keys.name.clone()).next().unwrap_or_else(|| format!("n{node}"))
    }

    /// Walls, measured losses, single transmitters and antennas; `None`: there are none.
    pub fn site(&self) -> Option<Arc<Site>> {
        let SiteKeys { nodes, losses, walls } = &self.site;
        let nodes = || nodes.iter().filter(|keys| !keys.only_names());
        if nodes().next().is_none() && losses.is_empty() && walls.is_empty() {
            return None;
        }
        let law = self.propagation();
        let usual = Station { tx_power: law.tx_power, gain: Db(0.0), height_m: law.antenna_height_m };
        let station = |keys: &NodeKeys| Station {
            tx_power: keys.tx_power.unwrap_or(usual.tx_power),
            gain: keys.antenna_gain,
            height_m: keys.antenna_height.map_or(usual.height_m, |height| height.0),
        };
        let each = |keys: &NodeKeys| keys.numbers().into_iter().map(NodeId).zip(std::iter::repeat(station(keys)));
        let measured =
            |keys: &LossKeys| directions(keys).map(|(a, b)| (NodeId(a), NodeId(b))).zip(std::iter::repeat(keys.loss));
        Some(Arc::new(Site {
            usual,
            stations: nodes().flat_map(each).collect(),
            losses: losses.iter().flat_map(measured).collect(),
            walls: walls.iter().map(|keys| Wall { corners: value::pairs(&keys.corners), loss: keys.loss }).collect(),
        }))
    }
}
