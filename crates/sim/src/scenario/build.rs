//! Builds a [`Scenario`] from a tree: resolves each section, then checks conditions that involve several keys.

use super::Scenario;
use super::ScenarioError;
use super::error::Problem;
use super::key::{Choice, Section};
use super::movement;
use super::overrides::{self, Overrides};
use super::resolve::{Resolved, resolve};
use super::schema::section_names;
use super::sections;
use super::sections::{
    AdhocTcp, C3tcp, GatewayKeys, GatewayKind, General, Link, Mac, MobilityKeys, MobilityModel, Phy, Profile,
    RateControl, RouteMetric, Routing, RoutingProtocol, Tcp, TcpAp, TopologyKeys, TopologyKind, WireKeys, WiredKeys,
    complete_mac, complete_routing, complete_tcp, complete_tcp_ap,
};
use super::tree::{Data, Node};
use super::value::{Field, Value, Values, pairs};
use super::wired::{self, WiredSide};
use crate::batch::Control;
use crate::mobility::Movement;
use crate::mobility::file::Tracks;
use crate::topology::{Topology, geographic};
use fourhop_units::{Dur, Time};

/// Default start of the first flow.
pub const FIRST_START: Time = Time::from_secs(1);
/// Default delay between the starts of successive flows.
pub const STAGGER: Dur = Dur::from_millis(100);

/// The state of the construction.
pub(super) struct Builder {
    pub(super) root: Node,
    pub(super) profile: Profile,
    pub(super) problems: Vec<Problem>,
}

/// Builds a scenario from a tree and overrides.
pub fn build(
    mut root: Node,
    file: &str,
    overrides: Overrides<'_>,
    control: &Control,
) -> Result<Scenario, ScenarioError> {
    let mut problems = Vec::new();
    overrides::apply(&mut root, overrides, &mut problems);
    // If the profile is unknown, the rest is still checked; the scenario is refused anyway.
    let profile = root.text("profile").and_then(Profile::find).unwrap_or(Profile::Standard);
    let mut builder = Builder { root, profile, problems };
    let scenario = builder.scenario(file, control);
    let mut problems = builder.problems;
    match scenario {
        Some(scenario) if problems.is_empty() => Ok(scenario),
        _ => {
            problems.sort_by_key(|p| (p.line.is_none(), p.line, p.column));
            Err(ScenarioError { problems })
        }
    }
}

impl Builder {
    fn scenario(&mut self, file: &str, control: &Control) -> Option<Scenario> {
        let general = self.general(file);
        let radio = self.radio();
        let phy = radio.as_ref().map_or(Phy::Dsss, |(_, radio)| radio.phy);
        let mac = self.completed::<Mac>(None, |values, _| complete_mac(values, phy));
        if let Some((resolved, mac)) = &mac
            && mac.cw_min > mac.cw_max
        {
            let allowed = format!("at most `cw_max`, {}", mac.cw_max);
            self.problems.push(resolved.problem("cw_min", mac.cw_min.to_string(), allowed));
        }
        if let (Some((resolved, mac)), Some((_, radio))) = (&mac, &radio)
            && let Some(allowed) = match radio.phy.format() {
                None if radio.phy.kind().rates().contains(&radio.rate) => None,
                None => Some("\"fixed\" with a `radio.rate` that IEEE 802.11 does not have"),
                Some(_) if mac.rate_control == RateControl::Minstrel => None,
                Some(_) => Some("\"fixed\" or \"minstrel\" from 802.11n on"),
            }
            && mac.rate_control != RateControl::Fixed
        {
            self.problems.push(resolved.problem("rate_control", resolved.show("rate_control"), allowed));
        }
        let edca = self.edca(phy);
        if let (Some((resolved, mac)), Some((_, radio))) = (&mac, &radio)
            && radio.phy.format().is_some()
            && !radio.phy.kind().rates().contains(&mac.legacy_rate)
        {
            let rates = radio.phy.kind().rates().iter().map(|rate| format!("\"{}Mbps\"", rate.bps() / 1_000_000));
            let allowed = rates.collect::<Vec<_>>().join(" or ");
            self.problems.push(resolved.problem("legacy_rate", resolved.show("legacy_rate"), allowed));
        }
        let link = self.section::<Link>();
        let routing = self.routing();
        let profile = self.profile;
        let mut tcp = self.completed::<Tcp>(None, |values, given| complete_tcp(values, profile, given));
        if let Some((resolved, tcp)) = &tcp
            && tcp.rto_min > tcp.rto_max
        {
            let allowed = format!("at most `rto_max`, {}", resolved.show("rto_max"));
            self.problems.push(resolved.problem("rto_min", resolved.show("rto_min"), allowed));
        }
        let tcp_ap = self.completed::<TcpAp>(None, |values, given| complete_tcp_ap(values, given));
        let c3tcp = self.section::<C3tcp>();
        if let (Some((_, c3tcp)), Some((given, tcp))) = (&c3tcp, &mut tcp)
            && c3tcp.enabled
            && !given.is_given("receive_buffer")
        {
            tcp.receive_buffer = sections::UNSCALED_WINDOW;
        }
        let adhoc_tcp = self.section::<AdhocTcp>();
        if let Some((resolved, adhoc)) = &adhoc_tcp
            && adhoc.occupancy_low > adhoc.occupancy_high
        {
            let allowed = format!("at most `occupancy_high`, {}", resolved.show("occupancy_high"));
            self.problems.push(resolved.problem("occupancy_low", resolved.show("occupancy_low"), allowed));
        }
        let own = self.own_sections();
        let mobility = self.mobility(file);
        let topology = match &mobility {
            Some((resolved, _, Some(tracks))) => {
                if let Some(entry) = self.root.entry("topology") {
                    let allowed = "no [topology]: the movement file says where nodes start";
                    self.problems.push(entry.at.problem("topology", entry.value.describe(), allowed));
                }
                Some((resolved.clone(), Topology::Positions(tracks.starts.clone())))
            }
            // The unreadable file has been reported already.
            None if self.names_a_movement_file() => None,
            _ => self.topology(),
        };
        let movement =
            mobility.zip(topology.as_ref()).and_then(|(mobility, (_, topology))| self.movement(mobility, topology));
        let radios = self.radios(topology.as_ref().map(|(_, t)| t));
        let site = self.site(topology.as_ref().map(|(_, t)| t), radio.as_ref(), movement.as_ref());
        let duration = general.as_ref().map(|(_, g)| g.duration);
        let window = tcp.as_ref().and_then(|(_, tcp)| tcp.window);
        let traffic = self.traffic(topology.as_ref().map(|(_, t)| t), duration, window);
        let wired = self.wired(topology.as_ref().map(|(_, t)| t));
        let gateway = self.gateway();
        let flows = self.flows(topology.as_ref().map(|(_, t)| t), wired.as_ref(), &traffic, duration, window);
        let (_, general) = general?;
        let (topology_resolved, topology) = topology?;
        let (c3tcp_resolved, c3tcp) = c3tcp?;
        if let Some(node) = c3tcp.unaware_nodes().into_iter().find(|node| node.0 >= topology.nodes()) {
            let allowed = format!("nodes from 0 to {}", topology.nodes() - 1);
            self.problems.push(c3tcp_resolved.problem("unaware", node.to_string(), allowed));
        }
        let mut scenario = Scenario {
            file: file.to_owned(),
            name: general.name,
            profile: general.profile,
            duration: general.duration,
            warmup: general.warmup.unwrap_or(match general.packets {
                None => general.duration / 10,
                Some(_) => Dur::ZERO,
            }),
            seed: general.seed,
            batches: general.batches,
            packets: general.packets,
            sample_every: general.sample_every,
            topology,
            movement: movement?,
            radio: radio?.1,
            radios: radios?,
            site: site?,
            mac: mac?.1,
            edca: edca?,
            link: link.as_ref()?.1.clone(),
            routing: routing?,
            tcp: tcp?.1,
            tcp_ap: tcp_ap?.1,
            adhoc_tcp: adhoc_tcp?.1,
            own: own?,
            c3tcp: c3tcp.clone(),
            wired: wired?,
            gateway: gateway?,
            traffic: traffic?,
            flows: flows?,
        };
        if scenario.radio.phy.format().is_some() {
            // Both measure individual frames.
            let with = "with a `radio.phy` that aggregates frames";
            if scenario.c3tcp.enabled {
                self.problems.push(c3tcp_resolved.problem("enabled", "true", format!("false {with}")));
            }
            if let Some(name) = scenario.metered() {
                let allowed = format!("another transport {with}");
                self.problems.push(self.root.at.problem("transport", format!("{name:?}"), allowed));
            }
        }
        if let Some(link) = &link {
            self.check_edca(&scenario, link, (&c3tcp_resolved, &c3tcp));
            self.check_several_radios(&scenario, link, (&c3tcp_resolved, &c3tcp));
        }
        if let Err(mut error) = scenario.positions_under(scenario.seed, control) {
            for problem in &mut error.problems {
                let at = topology_resolved.problem("kind", "", "");
                (problem.line, problem.column) = (at.line, at.column);
            }
            self.problems.append(&mut error.problems);
        }
        self.check_shares(&mut scenario);
        self.check_static(&scenario);
        Some(scenario)
    }

    /// Resolves a section whose keys are independent of each other.
    pub(super) fn section<S: Section>(&mut self) -> Option<(Resolved, S)> {
        self.completed(None, |_, _| {})
    }

    /// Resolves a section of the kind `selector`. `complete` can ask which keys were written, and adds values that
    /// follow from others.
    pub(super) fn completed<S: Section>(
        &mut self,
        selector: Option<&str>,
        complete: impl FnOnce(&mut Values, &dyn Fn(&str) -> bool),
    ) -> Option<(Resolved, S)> {
        let whole = self.root.at.clone();
        let node = self.root.entry(S::NAME).map(|e| &e.value);
        let mut resolved = resolve(S::KEYS, node, S::NAME, &whole, self.profile, selector, &[], &mut self.problems)?;
        let mut values = std::mem::take(&mut resolved.values);
        complete(&mut values, &|key| resolved.is_given(key));
        resolved.values = values;
        let section = S::from_values(&resolved.values);
        Some((resolved, section))
    }

    fn routing(&mut self) -> Option<Routing> {
        let (resolved, routing) = self.completed::<Routing>(None, |values, given| complete_routing(values, given))?;
        if routing.protocol == RoutingProtocol::SsaAodv {
            if routing.metric != RouteMetric::Hops {
                let allowed = "\"hops\" for \"ssa-aodv\", or another `protocol`: \"aodv\", \"static\"";
                self.problems.push(resolved.problem("metric", resolved.show("metric"), allowed));
            }
            if routing.signal_threshold.is_none() {
                let allowed = "a power such as \"-85dBm\" for \"ssa-aodv\"";
                self.problems.push(resolved.problem("signal_threshold", Problem::MISSING, allowed));
            }
            if !routing.hello {
                self.problems.push(resolved.problem("hello", "false", "true for \"ssa-aodv\""));
            }
        }
        if routing.protocol == RoutingProtocol::Babel && routing.metric == RouteMetric::Ett {
            let allowed = "\"etx\" or \"hops\" for \"babel\", whose Hellos carry no rates";
            self.problems.push(resolved.problem("metric", resolved.show("metric"), allowed));
        }
        Some(routing)
    }

    fn general(&mut self, file: &str) -> Option<(Resolved, General)> {
        let whole = self.root.at.clone();
        let root = Some(&self.root);
        let sections = section_names();
        let mut resolved = resolve(General::KEYS, root, "", &whole, self.profile, None, &sections, &mut self.problems)?;
        resolved.values.entry("name").or_insert_with(|| Value::Text(stem(file).to_owned()));
        let general = General::from_values(&resolved.values);
        if general.warmup.is_some_and(|warmup| warmup >= general.duration) {
            let allowed = format!("less than `duration`, {}", resolved.show("duration"));
            self.problems.push(resolved.problem("warmup", resolved.show("warmup"), allowed));
        }
        if let Some(packets) = general.packets
            && packets <= u64::from(general.batches)
        {
            let allowed = format!("more than `batches`, {}", general.batches);
            self.problems.push(resolved.problem("packets", packets.to_string(), allowed));
        }
        Some((resolved, general))
    }

    fn topology(&mut self) -> Option<(Resolved, Topology)> {
        let whole = self.root.at.clone();
        let node = self.root.entry("topology").map(|e| &e.value);
        let kind = node.and_then(|n| n.text("kind")).filter(|kind| TopologyKind::find(kind).is_some());
        let resolved =
            resolve(TopologyKeys::KEYS, node, "topology", &whole, self.profile, kind, &[], &mut self.problems)?;
        match topology(&TopologyKeys::from_values(&resolved.values)) {
            Ok(topology) => Some((resolved, topology)),
            Err((key, allowed)) => {
                self.problems.push(resolved.problem(key, resolved.show(key), allowed));
                None
            }
        }
    }

    /// Resolves `[mobility]` and reads its file, if it names one.
    fn mobility(&mut self, file: &str) -> Option<(Resolved, MobilityKeys, Option<Tracks>)> {
        let whole = self.root.at.clone();
        let node = self.root.entry("mobility").map(|e| &e.value);
        let model = match node.and_then(|n| n.entry("model")) {
            None => Some("fixed"),
            Some(_) => node.and_then(|n| n.text("model")).filter(|model| MobilityModel::find(model).is_some()),
        };
        let resolved =
            resolve(MobilityKeys::KEYS, node, "mobility", &whole, self.profile, model, &[], &mut self.problems)?;
        let keys = MobilityKeys::from_values(&resolved.values);
        match movement::tracks(&keys, &resolved, file) {
            Ok(tracks) => Some((resolved, keys, tracks)),
            Err(problem) => {
                self.problems.push(*problem);
                None
            }
        }
    }

    fn names_a_movement_file(&self) -> bool {
        self.root.entry("mobility").is_some_and(|e| e.value.entry("file").is_some())
    }

    /// The outer `None` means problems, the inner one that no node moves.
    fn movement(
        &mut self,
        (resolved, keys, tracks): (Resolved, MobilityKeys, Option<Tracks>),
        topology: &Topology,
    ) -> Option<Option<Movement>> {
        match movement::movement(&keys, tracks, topology) {
            Ok(movement) => Some(movement),
            Err((key, found, allowed)) => {
                self.problems.push(resolved.problem(key, found, allowed));
                None
            }
        }
    }

    /// Resolves `[wired]` and `[[wires]]`. The outer `None` means problems, the inner one that all nodes have radios.
    fn wired(&mut self, topology: Option<&Topology>) -> Option<Option<WiredSide>> {
        let wires = self.root.entry("wires").cloned();
        if self.root.entry("wired").is_none() {
            if let Some(wires) = wires {
                let problem = wires.at.problem("wires", "links", "links only with a section [wired]");
                self.problems.push(problem);
                return None;
            }
            return Some(None);
        }
        let (resolved, keys) = self.section::<WiredKeys>()?;
        let mut side = wired::side(&resolved, &keys, topology?, &mut self.problems)?;
        match wires.as_ref().map(|entry| &entry.value) {
            None => wired::usual_wires(&mut side),
            Some(Node { data: Data::List(items), .. }) if !items.is_empty() => {
                let before = self.problems.len();
                for (i, node) in items.iter().enumerate() {
                    let (path, whole) = (format!("wires[{i}]"), &node.at);
                    let keys =
                        resolve(WireKeys::KEYS, Some(node), &path, whole, self.profile, None, &[], &mut self.problems);
                    let wire = keys.and_then(|keys| wired::wire(&keys, &side, &mut self.problems));
                    side.wires.extend(wire);
                }
                if self.problems.len() > before {
                    return None;
                }
            }
            Some(node) => {
                let problem = node.at.problem("wires", node.describe(), "a list of at least one link: [[wires]]");
                self.problems.push(problem);
                return None;
            }
        }
        wired::check_joined(&resolved, &side, &mut self.problems);
        Some(Some(side))
    }

    /// Resolves `[gateway]`. The outer `None` means problems, the inner one that there is no wired side.
    fn gateway(&mut self) -> Option<Option<GatewayKeys>> {
        if self.root.entry("wired").is_none() {
            let Some(entry) = self.root.entry("gateway") else { return Some(None) };
            self.problems.push(entry.at.problem("gateway", "a section", "a section only with [wired]"));
            return None;
        }
        let (resolved, keys) = self.section::<GatewayKeys>()?;
        if keys.kind == GatewayKind::FairShare && keys.capacity.is_none() {
            self.problems.push(resolved.problem("capacity", "none", "a rate such as 1Mbps for `kind` \"fair-share\""));
            return None;
        }
        Some(Some(keys))
    }
}

/// Returns the name of a file without folder and extension.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the topology of the keys, or the invalid key and its allowed values.
fn topology(keys: &TopologyKeys) -> Result<Topology, (&'static str, String)> {
    // INVARIANT: `resolve` has ensured that the keys of a kind are present.
    let given = "INVARIANT: keys of the kind are present";
    let spacing = || keys.spacing.expect(given).0;
    let single = || match keys.hops.as_ref().expect(given) {
        Value::Int(n) => *n as u32,
        other => unreachable!("INVARIANT: only parallel chains have a list, not {other:?}"),
    };
    Ok(match keys.kind {
        TopologyKind::Chain => Topology::Chain { hops: single(), spacing: spacing() },
        TopologyKind::ParallelChains => {
            let hops = match keys.hops.as_ref().expect(given) {
                Value::List(items) => items.iter().map(|n| u32::from_value(Some(n))).collect(),
                n => vec![u32::from_value(Some(n)); keys.chains.unwrap_or(2) as usize],
            };
            if let Some(chains) = keys.chains.filter(|&chains| chains as usize != hops.len()) {
                return Err(("hops", format!("one number, or as many as `chains`: {chains}")));
            }
            if !(2..=64).contains(&hops.len()) {
                return Err(("hops", "a list of 2 to 64 numbers".to_owned()));
            }
            let separation = keys.separation.expect(given).0;
            Topology::ParallelChains { hops, spacing: spacing(), separation, centred: keys.centred.expect(given) }
        }
        TopologyKind::Cross => match single() {
            hops if hops % 2 == 0 => Topology::Cross { hops, spacing: spacing() },
            _ => return Err(("hops", "an even number: the lines share their middle node".to_owned())),
        },
        TopologyKind::Grid => {
            let (columns, rows) = (keys.columns.expect(given), keys.rows.expect(given));
            if columns * rows < 2 {
                return Err(("columns", "more than one node in total".to_owned()));
            }
            Topology::Grid { columns, rows, spacing: spacing() }
        }
        TopologyKind::Random => Topology::Random {
            nodes: keys.nodes.expect(given),
            width: keys.width.expect(given).0,
            height: keys.height.expect(given).0,
            redraws: keys.redraws.expect(given),
            seed: keys.seed,
        },
        TopologyKind::Positions => Topology::Positions(pairs(keys.positions.as_ref().expect(given))),
        TopologyKind::Coordinates => {
            let places = geographic::project(&pairs(keys.coordinates.as_ref().expect(given)));
            // Bound on the distance of a node from the origin.
            let far = places.iter().position(|place| place.0.abs() > 1e6 || place.1.abs() > 1e6);
            if let Some(number) = far {
                let allowed = format!("positions within 1000 km of the first; number {number} is farther away");
                return Err(("coordinates", allowed));
            }
            Topology::Positions(places)
        }
    })
}
