//! Conversion of `[[nodes]]`, `[[losses]]` and `[[walls]]` to the site of a run.

use super::build::Builder;
use super::error::Problem;
use super::key::{Choice, Section};
use super::resolve::{Resolved, resolve};
use super::sections::{
    Errors, LossKeys, NodeKeys, PathLossKind, Radio as RadioKeys, RadioModel, RouteKeys, RoutingProtocol, Unmeasured,
    WallKeys,
};
use super::tree::{Data, Node};
use super::{Scenario, value};
use crate::link_cost::LEAST;
use crate::mobility::Movement;
use crate::propagation::site::{Site, Station, Wall};
use crate::setup::{Particular, Radio, SinrRadio};
use crate::topology::Topology;
use fourhop_proto::phy::PhyKind;
use fourhop_proto::phy::sinr::config::ratio;
use fourhop_proto::route::Metric;
use fourhop_units::{Bytes, Db, NodeId, Rate, Watt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// By how much the share of frames that a link delivers may exceed the measured one, since the receiver does not notice
/// weaker frames.
const SHARE_TOLERANCE: f64 = 0.01;

/// A tenth of a decibel below the weakest link.
const BELOW: f64 = 0.977_237;

/// The sections that describe a network's site.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SiteKeys {
    /// Transmitters and antennas of single nodes.
    pub nodes: Vec<NodeKeys>,
    /// Measured losses.
    pub losses: Vec<LossKeys>,
    /// Walls.
    pub walls: Vec<WallKeys>,
    /// Static routes.
    pub routes: Vec<RouteKeys>,
}

impl Scenario {
    /// Returns the nodes without MCS rates in a network where others have them, in ascending order.
    pub fn without_mcs(&self) -> Vec<NodeId> {
        let older = self.site.nodes.iter().filter(|keys| keys.phy.is_some_and(|phy| phy != self.radio.phy));
        let mut nodes: Vec<NodeId> = older.flat_map(NodeKeys::numbers).map(NodeId).collect();
        nodes.sort_unstable();
        nodes
    }
}

impl Scenario {
    /// Returns the settings of single nodes, and the static routes.
    pub fn particular(&self) -> Particular {
        let SiteKeys { nodes, routes, .. } = &self.site;
        let each = |keys: &NodeKeys| keys.numbers().into_iter().map(NodeId);
        let cost = |keys: &NodeKeys| each(keys).zip(keys.packet_cost.into_iter().cycle()).collect::<Vec<_>>();
        Particular {
            packet_costs: nodes.iter().flat_map(cost).collect(),
            ends_only: nodes.iter().filter(|keys| !keys.forwards).flat_map(each).collect(),
            routes: routes.iter().map(|keys| ((NodeId(keys.node), NodeId(keys.to)), NodeId(keys.via))).collect(),
        }
    }
}

impl Builder {
    /// Resolves `[[nodes]]`, `[[losses]]` and `[[walls]]`, and checks them against the network; `None` if there are
    /// problems.
    pub(super) fn site(
        &mut self,
        topology: Option<&Topology>,
        radio: Option<&(Resolved, RadioKeys)>,
        movement: Option<&Option<Movement>>,
    ) -> Option<SiteKeys> {
        let (nodes, losses, walls) = (self.list::<NodeKeys>(), self.list::<LossKeys>(), self.list::<WallKeys>());
        let routes = self.list::<RouteKeys>();
        let (nodes, losses, routes) = (nodes?, losses?, routes?);
        let (topology, radio, movement) = (topology?, radio?, movement?);
        let before = self.problems.len();
        self.check_nodes(&nodes, topology, &radio.1);
        self.check_losses(&losses, topology, radio, movement.is_some());
        self.check_routes(&routes, topology);
        let (nodes, losses, walls, routes) = (sections(nodes), sections(losses), sections(walls?), sections(routes));
        let keys = SiteKeys { nodes, losses, walls, routes };
        (self.problems.len() == before).then_some(keys)
    }

    /// Resolves a section that may occur any number of times.
    pub(super) fn list<S: Section>(&mut self) -> Option<Vec<(Resolved, S)>> {
        let Some(entry) = self.root.entry(S::NAME) else { return Some(Vec::new()) };
        let Data::List(items) = &entry.value.data else {
            let allowed = format!("a list of tables: [[{}]]", S::NAME);
            self.problems.push(entry.value.at.problem(S::NAME, entry.value.describe(), allowed));
            return None;
        };
        let read = |(i, node): (usize, &Node)| {
            let path = format!("{}[{i}]", S::NAME);
            let resolved = resolve(S::KEYS, Some(node), &path, &node.at, self.profile, None, &[], &mut self.problems)?;
            let section = S::from_values(&resolved.values);
            Some((resolved, section))
        };
        // Check all of them, even if the first has problems.
        items.iter().enumerate().map(read).collect::<Vec<_>>().into_iter().collect()
    }

    fn check_nodes(&mut self, nodes: &[(Resolved, NodeKeys)], topology: &Topology, radio: &RadioKeys) {
        let mut described = BTreeMap::new();
        let mut names = BTreeSet::new();
        let on_ground = radio.model == RadioModel::Threshold || radio.path_loss == Some(PathLossKind::TwoRay);
        for (resolved, keys) in nodes {
            for number in keys.numbers() {
                let known = self.known(resolved, "node", number, topology);
                if let Some(earlier) = described.insert(number, &resolved.path)
                    && known
                {
                    let found = format!("{number}, which {earlier} already describes");
                    self.problems.push(resolved.problem("node", found, "each node once"));
                }
            }
            if let Some(name) = &keys.name
                && let Some(found) = bad_name(name, keys, !names.insert(name))
            {
                let allowed = "a unique name for one node: up to 64 characters without a comma, and not n and a number";
                self.problems.push(resolved.problem("name", found, allowed));
            }
            if let Some(phy) = keys.phy
                && phy != radio.phy
                && !(radio.model == RadioModel::Sinr
                    && radio.phy.format().is_some()
                    && phy.format().is_none()
                    && phy.kind() == radio.phy.kind())
            {
                let older = if radio.phy.kind() == PhyKind::ErpOfdm { "erp-ofdm" } else { "ofdm" };
                let allowed = match radio.phy.format() {
                    Some(_) => format!("{:?}, or {older:?} with `radio.model` \"sinr\"", radio.phy.name()),
                    None => format!("{:?}, that of `radio.phy`, unless it is of 802.11n or later", radio.phy.name()),
                };
                self.problems.push(resolved.problem("phy", resolved.show("phy"), allowed));
            }
            if !on_ground && keys.antenna_height.is_some() {
                let allowed = "only with `radio.path_loss` \"two-ray\": no other model uses heights";
                self.problems.push(resolved.problem("antenna_height", resolved.show("antenna_height"), allowed));
            }
        }
    }

    /// Checks that routes lead from each of their nodes to their destination, and that none is listed twice.
    fn check_routes(&mut self, routes: &[(Resolved, RouteKeys)], topology: &Topology) {
        let mut table = BTreeMap::new();
        for &(ref resolved, RouteKeys { node, to, via }) in routes {
            let known = self.known(resolved, "node", node, topology)
                & self.known(resolved, "to", to, topology)
                & self.known(resolved, "via", via, topology);
            if known && (to == node || via == node) {
                let key = if to == node { "to" } else { "via" };
                self.problems.push(resolved.problem(key, node.to_string(), "a node other than `node`"));
            } else if known && let Some((earlier, _)) = table.insert((node, to), (&resolved.path, via)) {
                let found = format!("{to}, to which {earlier} already gives a route from {node}");
                self.problems.push(resolved.problem("to", found, "each route only once"));
            }
        }
        for &(ref resolved, RouteKeys { node, to, .. }) in routes {
            let next = |at: &u32| table.get(&(*at, to)).map(|&(_, via)| via);
            let mut met = BTreeSet::from([node]);
            if core::iter::successors(next(&node), next).any(|at| !met.insert(at)) {
                let found = format!("{to}, to which the given routes form a loop");
                return self.problems.push(resolved.problem("to", found, "routes that end there"));
            }
        }
    }

    fn check_losses(
        &mut self,
        losses: &[(Resolved, LossKeys)],
        topology: &Topology,
        radio: &(Resolved, RadioKeys),
        moving: bool,
    ) {
        let mut measured = BTreeMap::new();
        if losses.is_empty() && radio.1.unmeasured != Unmeasured::PathLoss {
            let allowed = "\"path-loss\", or [[losses]] with measured links";
            self.problems.push(radio.0.problem("unmeasured", radio.0.show("unmeasured"), allowed));
        }
        for (resolved, keys) in losses {
            let (from, to) = (keys.from, keys.to);
            let Some(what) = self.quality(resolved, keys, &radio.1) else { continue };
            if moving {
                let allowed = "only with `mobility.model` \"fixed\": a loss is measured between two positions";
                self.problems.push(resolved.problem(what, resolved.show(what), allowed));
            }
            let known = self.known(resolved, "from", from, topology) & self.known(resolved, "to", to, topology);
            if from == to {
                self.problems.push(resolved.problem("to", to.to_string(), "a node other than `from`"));
                continue;
            }
            for (from, to) in directions(keys) {
                if let Some(earlier) = measured.insert((from, to), &resolved.path)
                    && known
                {
                    let found = format!("{to}, to which {earlier} already gives the loss from {from}");
                    let mut problem = resolved.problem("to", found, "each direction between two nodes only once");
                    problem.hint = Some("`both_ways = false` limits an entry to one direction".to_owned());
                    self.problems.push(problem);
                    break;
                }
            }
        }
    }

    /// Returns the key that describes the quality of a link; `None` unless there is exactly one, and it applies to this
    /// radio.
    fn quality(&mut self, resolved: &Resolved, keys: &LossKeys, radio: &RadioKeys) -> Option<&'static str> {
        let before = self.problems.len();
        let what = match keys.measured()[..] {
            [what] => what,
            [] => {
                let allowed = "one of loss, snr, delivery, etx and rate";
                self.problems.push(resolved.problem("loss", Problem::MISSING, allowed));
                return None;
            }
            [first, second, ..] => {
                let found = format!("{} besides {first}", resolved.show(second));
                self.problems.push(resolved.problem(second, found, "one of loss, snr, delivery, etx and rate"));
                return None;
            }
        };
        let share = keys.delivered().is_some();
        let by_errors = share || keys.rate.is_some();
        let shown = || resolved.show(what);
        if what != "loss" && radio.model != RadioModel::Sinr {
            let allowed = "`loss`, or `radio.model` \"sinr\": \"threshold\" has no noise";
            self.problems.push(resolved.problem(what, shown(), allowed));
        } else if by_errors && radio.errors != Some(Errors::ByRate) {
            let allowed = "`loss` or `snr`, or `radio.errors` \"by-rate\": with \"ratio\", all frames arrive or none";
            self.problems.push(resolved.problem(what, shown(), allowed));
        }
        if what == "etx" && !keys.both_ways {
            self.problems.push(resolved.problem("both_ways", "false", "true with `etx`, which covers both directions"));
        }
        for (key, given) in [("frame", keys.frame.is_some()), ("frame_rate", keys.frame_rate.is_some())] {
            if given && !share {
                let allowed = "only with `delivery` or `etx`";
                self.problems.push(resolved.problem(key, resolved.show(key), allowed));
            }
        }
        if let Some(rate) = keys.frame_rate
            && !radio.phy.kind().rates().contains(&rate)
        {
            let rates: Vec<_> =
                radio.phy.kind().rates().iter().map(|rate| format!("\"{}Mbps\"", rate.bps() as f64 / 1e6)).collect();
            let allowed = format!("{} with `radio.phy` {:?}", rates.join(" or "), radio.phy.name());
            self.problems.push(resolved.problem("frame_rate", resolved.show("frame_rate"), allowed));
        }
        (self.problems.len() == before).then_some(what)
    }

    /// Checks that the receiver can deliver the measured shares of frames: it may not notice weaker frames at all.
    pub(super) fn check_shares(&mut self, scenario: &mut Scenario) {
        if self.root.entry("radio").is_some_and(|radio| is_overridden(&radio.value, "fading")) {
            return scenario.take_nearest_shares();
        }
        let radio = scenario.radio_setup();
        let Radio::Sinr(sinr) = &radio else { return };
        let Some(Data::List(items)) = self.root.entry("losses").map(|entry| &entry.value.data) else { return };
        let mut found = PowersByShare::new();
        let problems = items.iter().enumerate().zip(&scenario.site.losses).filter_map(|((i, node), keys)| {
            let share = keys.delivered()?;
            let (frame, rate) = scenario.probe(keys);
            let least = sinr.arriving(scenario.measured_power(keys, &radio, &mut found)?, frame, rate);
            if least - share <= SHARE_TOLERANCE {
                return None;
            }
            let key = if keys.etx.is_some() { "etx" } else { "delivery" };
            let value = node.entry(key).map_or(node, |entry| &entry.value);
            let allowed = format!(
                "a share of at least {:.1}% at {} Mbit/s: below `radio.preamble_sinr` the radio detects no frames, \
                    and at this value that many already arrive",
                100.0 * least,
                rate.bps() as f64 / 1e6
            );
            Some(value.at.problem(&format!("losses[{i}].{key}"), value.describe(), allowed))
        });
        // Report only the first of many.
        let mut problems: Vec<_> = problems.collect();
        if problems.len() > 1 {
            problems[0].hint =
                Some(format!("{} more links are like this; with fading, any share can arrive", problems.len() - 1));
        }
        self.problems.extend(problems.into_iter().next());
    }

    /// Refuses static routes, and nodes that forward nothing, with other routing protocols.
    pub(super) fn check_static(&mut self, scenario: &Scenario) {
        if scenario.routing.protocol == RoutingProtocol::Static {
            return;
        }
        let SiteKeys { nodes, routes, .. } = &scenario.site;
        let (key, found) = match nodes.iter().position(|keys| !keys.forwards) {
            Some(i) => (format!("nodes[{i}].forwards"), "false"),
            None if !routes.is_empty() => ("routes".to_owned(), "a list of tables"),
            None => return,
        };
        let allowed = "only with `routing.protocol` \"static\": other protocols find their own routes";
        let section = self.root.entry(if key == "routes" { "routes" } else { "nodes" });
        let at = section.expect("INVARIANT: it has entries").value.at.clone();
        self.problems.push(at.problem(&key, found, allowed));
    }

    /// Whether there is a node with that number; otherwise reports a problem.
    pub(super) fn known(&mut self, resolved: &Resolved, key: &'static str, number: u32, topology: &Topology) -> bool {
        let known = number < topology.nodes();
        if !known {
            let allowed = format!("a node number from 0 to {}", topology.nodes() - 1);
            self.problems.push(resolved.problem(key, number.to_string(), allowed));
        }
        known
    }
}

/// Whether the value of `key` comes from outside its table, as with `--set`.
pub(super) fn is_overridden(table: &Node, key: &str) -> bool {
    table.entry(key).is_some_and(|entry| entry.value.at.file != table.at.file)
}

/// Longest name of a node, in characters.
const LONGEST_NAME: usize = 64;

/// Returns the error in the name of a node, if any.
fn bad_name(name: &str, keys: &NodeKeys, taken: bool) -> Option<String> {
    let number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Commas separate names in a list.
    let alphabet = name.chars().all(|it| !it.is_control() && it != ',');
    let sound = alphabet && (1..=LONGEST_NAME).contains(&name.chars().count()) && name.trim() == name;
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

/// Powers by the share (as bits) of frames, of this size and rate, that arrive at that power.
type PowersByShare = BTreeMap<(u64, Bytes, Rate), Watt>;

/// Returns the directions that a measured loss applies to.
fn directions(keys: &LossKeys) -> impl Iterator<Item = (u32, u32)> + use<> {
    let back = keys.both_ways.then_some((keys.to, keys.from));
    std::iter::once((keys.from, keys.to)).chain(back)
}

impl Scenario {
    /// Returns the name of a node with a radio in an emulation.
    pub fn station_name(&self, node: NodeId) -> String {
        let named = self.site.nodes.iter().filter(|keys| keys.numbers() == [node.0]);
        named.filter_map(|keys| keys.name.clone()).next().unwrap_or_else(|| format!("n{node}"))
    }

    /// If overrides have changed a file's fading, assigns the least power at which the radio notices frames to links
    /// whose measured share is no longer possible.
    fn take_nearest_shares(&mut self) {
        let radio = self.radio_setup();
        let Radio::Sinr(sinr) = &radio else { return };
        let mut found = PowersByShare::new();
        let mut losses = core::mem::take(&mut self.site.losses);
        for keys in &mut losses {
            let (frame, rate) = self.probe(keys);
            if let Some((share, power)) = keys.delivered().zip(self.measured_power(keys, &radio, &mut found))
                && sinr.arriving(power, frame, rate) - share > SHARE_TOLERANCE
            {
                (keys.delivery, keys.etx, keys.frame, keys.frame_rate) = (None, None, None, None);
                keys.snr = Some(Db(10.0 * libm::log10(power.0 / sinr.receiver.noise.0)));
            }
        }
        self.site.losses = losses;
    }

    /// Returns size and rate of the frames by which a link's share was measured.
    fn probe(&self, keys: &LossKeys) -> (Bytes, Rate) {
        (keys.frame.unwrap_or(LossKeys::PROBE), keys.frame_rate.unwrap_or(self.radio.basic_rate))
    }

    /// Returns the power before fading that makes a link behave as measured; `None` if its loss was measured. Since the
    /// power is a mean over all fades, it is searched for once for all links with the same share.
    fn measured_power(&self, keys: &LossKeys, radio: &Radio, found: &mut PowersByShare) -> Option<Watt> {
        let Radio::Sinr(sinr) = radio else { return None };
        let receiver = &sinr.receiver;
        if let Some(snr) = keys.snr {
            return Some(Watt(receiver.noise.0 * ratio(snr)));
        }
        let (frame, rate) = self.probe(keys);
        let power = |share: f64| {
            *found.entry((share.to_bits(), frame, rate)).or_insert_with(|| sinr.power_for(share, frame, rate))
        };
        if let Some(rate) = keys.rate {
            let (frame, target) = (self.mac.data_overhead + Metric::PACKET, rate.bps() as f64);
            let key = (target.to_bits(), frame, rate);
            return Some(*found.entry(key).or_insert_with(|| self.power_carrying(sinr, target, frame)));
        }
        keys.delivered().map(power)
    }

    /// Returns the least mean power at which the best of the data rates, times the share of frames that arrive at that
    /// rate, is `target` bit/s. If no rate is that high, returns the highest power considered, 60 dB over noise.
    fn power_carrying(&self, sinr: &SinrRadio, target: f64, frame: Bytes) -> Watt {
        // Lower rates do not carry that much even without losses.
        let txs: Vec<_> = self.mac_config().data_txs().filter(|tx| tx.rate().bps() as f64 >= target).collect();
        let carries =
            |power: Watt| txs.iter().any(|&tx| tx.rate().bps() as f64 * sinr.arriving(power, frame, tx) >= target);
        let (mut below, mut above) = (1e-3, 1e6);
        for _ in 0..17 {
            let middle = f64::sqrt(below * above);
            let enough = carries(Watt(sinr.receiver.noise.0 * middle));
            (below, above) = if enough { (below, middle) } else { (middle, above) };
        }
        Watt(sinr.receiver.noise.0 * above)
    }

    /// Returns the largest power that nodes receive from each other if nothing was measured between them.
    fn unmeasured_power(&self, radio: &Radio) -> Option<Watt> {
        match (self.radio.unmeasured, radio) {
            (Unmeasured::PathLoss | Unmeasured::Heard, _) => None,
            (Unmeasured::Silent, _) => Some(Watt(0.0)),
            (Unmeasured::NoLink, Radio::Threshold(_)) => Some(Watt(self.receiver_config().rx_threshold.0 * BELOW)),
            (Unmeasured::NoLink, Radio::Sinr(sinr)) => {
                // Neither hop counts nor link metrics treat it as a link, see `link_cost`.
                let (rate, frame) = (self.mac_config().lowest_data_tx(), Metric::PACKET + self.mac.data_overhead);
                let least = match sinr.metric_over_fades {
                    true => sinr.power_for(LEAST, frame, rate),
                    false => sinr.receiver.power_for(LEAST, frame, rate),
                };
                Some(Watt(least.0.min(sinr.link.0) * BELOW))
            }
        }
    }

    /// Returns walls, measured losses, and transmitters and antennas of single nodes, if any.
    pub fn site(&self) -> Option<Arc<Site>> {
        let SiteKeys { nodes, losses, walls, .. } = &self.site;
        let nodes = || nodes.iter().filter(|keys| !keys.only_names());
        let radio = self.radio_setup();
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
        let stations: BTreeMap<NodeId, Station> = nodes().flat_map(each).collect();
        let mut found = PowersByShare::new();
        let measured = |keys| {
            let stations = &stations;
            let of = move |node| stations.get(&node).copied().unwrap_or(usual);
            let received = self.measured_power(keys, &radio, &mut found);
            directions(keys).map(move |(a, b)| {
                let (a, b) = (NodeId(a), NodeId(b));
                let sent = of(a).tx_power.to_dbm().0 + of(a).gain.0 + of(b).gain.0;
                ((a, b), received.map_or(keys.loss.unwrap_or(Db(0.0)), |power| Db(sent - power.to_dbm().0)))
            })
        };
        Some(Arc::new(Site {
            usual,
            losses: losses.iter().flat_map(measured).collect(),
            walls: walls.iter().map(|keys| Wall { corners: value::pairs(&keys.corners), loss: keys.loss }).collect(),
            unmeasured: self.unmeasured_power(&radio),
            measured_alone: self.radio.unmeasured == Unmeasured::Heard,
            stations,
        }))
    }
}
