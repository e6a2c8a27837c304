//! Conversion of `[[radios]]` to the stations of a run.

use super::Scenario;
use super::build::Builder;
use super::resolve::Resolved;
use super::sections::{C3tcp, Link, RadioKeys};
use crate::stations::Stations;
use crate::topology::Topology;
use fourhop_units::NodeId;

impl Builder {
    /// Resolves `[[radios]]` and checks it against the network; `None` if there are problems.
    pub(super) fn radios(&mut self, topology: Option<&Topology>) -> Option<Vec<RadioKeys>> {
        let read = self.list::<RadioKeys>()?;
        let topology = topology?;
        let before = self.problems.len();
        let mut channels = vec![Vec::new(); topology.nodes() as usize];
        for (resolved, keys) in &read {
            for number in keys.numbers(topology.nodes()) {
                if !self.known(resolved, "nodes", number, topology) {
                    continue;
                }
                let own: &mut Vec<_> = &mut channels[number as usize];
                if own.contains(&keys.channel) {
                    let found = format!("node {number}, which already has a radio on channel {}", keys.channel);
                    self.problems.push(resolved.problem("nodes", found, "each node only once per channel"));
                }
                own.push(keys.channel);
            }
        }
        if let Some((resolved, _)) = read.last()
            && let Some(without) = channels.iter().position(Vec::is_empty)
            && self.problems.len() == before
        {
            let found = format!("no radio at node {without}");
            self.problems.push(resolved.problem("nodes", found, "at least one radio at each node"));
        }
        (self.problems.len() == before).then(|| read.into_iter().map(|(_, keys)| keys).collect())
    }

    /// Refuses features that nodes with several radios cannot have.
    pub(super) fn check_several_radios(
        &mut self,
        scenario: &Scenario,
        (given, link): &(Resolved, Link),
        (c3tcp_given, c3tcp): (&Resolved, &C3tcp),
    ) {
        if !scenario.stations().are_several() {
            return;
        }
        let allowed = "false, or one radio at each node";
        for (key, on) in [("red", link.red), ("nred", link.nred)] {
            if on {
                self.problems.push(given.problem(key, "true", allowed));
            }
        }
        if let Some(name) = scenario.metered() {
            let allowed = format!("one radio at each node with the transport {name:?}");
            self.problems.push(self.root.at.problem("radios", "several at a node", allowed));
        }
        if c3tcp.enabled {
            self.problems.push(c3tcp_given.problem("enabled", "true", allowed));
        }
    }
}

impl Scenario {
    /// Returns the radios of the nodes and their channels.
    pub fn stations(&self) -> Stations {
        let nodes = self.topology.nodes();
        if self.radios.is_empty() {
            return Stations::single(nodes as usize);
        }
        let mut plan = vec![Vec::new(); nodes as usize];
        for keys in &self.radios {
            keys.numbers(nodes).into_iter().for_each(|node| plan[node as usize].push(keys.channel));
        }
        Stations::new(&plan)
    }

    /// For each station whose node is one of those `chosen`, returns the name of its captures and its carrier in
    /// megahertz.
    pub fn captured(&self, stations: &Stations, chosen: Option<&[u32]>) -> Vec<Option<(String, u16)>> {
        let about = |station| {
            let (node, radio) = stations.owner(station);
            let further = if radio == 0 { String::new() } else { format!("-radio-{}", radio + 1) };
            let is_chosen = chosen.is_none_or(|chosen| chosen.contains(&node.0));
            is_chosen.then(|| (format!("node-{node}{further}"), self.carrier_mhz(stations, station)))
        };
        (0..stations.count() as u32).map(NodeId).map(about).collect()
    }

    /// Returns the carrier of a station in megahertz: that of its channel (IEEE 802.11-2020 clauses 15.4.4.3 and
    /// 17.3.8.4) or, without a channel plan, of `[radio]`.
    fn carrier_mhz(&self, stations: &Stations, station: NodeId) -> u16 {
        if self.radios.is_empty() {
            return (self.radio.frequency.0 / 1e6).round() as u16;
        }
        match u16::from(stations.channel(station)) {
            14 => 2484,
            channel @ 1..14 => 2407 + 5 * channel,
            channel => 5000 + 5 * channel,
        }
    }
}
