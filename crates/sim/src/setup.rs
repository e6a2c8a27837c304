//! A network ready to run: positions, options of every layer, flows. Scenarios are translated into it, and tests of the
//! engine construct it directly.

mod change;
mod flow;
mod radio;
mod routing;

pub use change::Change;
pub use flow::{Flow, FlowEnds, Source, Traffic};
pub use radio::{Radio, SinrRadio};
pub use routing::Routing;

use crate::air::Air;
use crate::channel::Channel;
use crate::link_cost::LinkCost;
use crate::mobility::{Mobility, Movement};
use crate::propagation::Field;
use crate::propagation::site::Site;
use crate::spread::TooWide;
use crate::stations::{ChannelNumber, Stations};
use crate::trace::Tap;
use crate::wired::{Plan, Wired};
use crate::world::World;
use flow::connect;
use fourhop_proto::ccm;
use fourhop_proto::gateway::{DisciplineConfig, HashKey};
use fourhop_proto::mac::{OptionsRule, RateControl};
use fourhop_proto::net::{self, LinkRed, NeighbourhoodRed};
use fourhop_proto::node::{self, EarlyDrops, Node, OnChannel};
use fourhop_proto::phy::sinr;
use fourhop_proto::route::{Protocol, Router};
use fourhop_units::{Dur, MacAddr, NodeId, Purpose, Stream, Watt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// In a simulation nobody picks flows that collide in a gateway's tables, and a run must be reproducible, so the key is
/// a fixed one.
const HASH_KEY: HashKey = HashKey([0; 2]);

/// Everything that determines a run, besides the seed.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Positions of the nodes in metres; if they move, at time zero.
    pub positions: Vec<(f64, f64)>,
    /// Radios of the nodes; `None`: one each, all on one channel.
    pub radios: Option<Stations>,
    /// Movement of the nodes from there; `None`: they are fixed.
    pub movement: Option<Movement>,
    /// Transmitter, propagation and, with `sinr`, receiver.
    pub radio: Radio,
    /// Walls, measured losses, and transmitters and antennas of single nodes, if any.
    pub site: Option<Arc<Site>>,
    /// Options of the nodes.
    pub node: node::Config,
    /// With [`Radio::Sinr`], the nodes without MCS rates in a network where others have them, in ascending order.
    pub without_mcs: Vec<NodeId>,
    /// Routing of all nodes with radios.
    pub routing: Routing,
    /// Nodes without radios, gateways and wires, if any.
    pub wired: Option<Plan>,
    /// Queueing discipline for packets that cross a gateway; `None`: they are forwarded.
    pub discipline: Option<DisciplineConfig>,
    /// Flows, in order.
    pub flows: Vec<Flow>,
    /// C3TCP, if in use.
    pub c3tcp: Option<C3tcp>,
    /// Settings of single nodes, and static routes.
    pub particular: Particular,
}

/// Settings of single nodes, and static routes.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Particular {
    /// Processing time per packet, where it differs from the common one.
    pub packet_costs: BTreeMap<NodeId, Dur>,
    /// Nodes that forward nothing.
    pub ends_only: BTreeSet<NodeId>,
    /// Next hops of static routes, by node and destination.
    pub routes: BTreeMap<(NodeId, NodeId), NodeId>,
}

/// Nodes with C3TCP, and the treatment of options.
#[derive(Clone, Debug)]
pub struct C3tcp {
    /// Options of the modules below TCP.
    pub options: ccm::Options,
    /// Treatment of options at participating nodes.
    pub rule: OptionsRule,
    /// Nodes that do not participate.
    pub unaware: BTreeSet<NodeId>,
    /// Treatment of options at other nodes.
    pub unaware_rule: OptionsRule,
}

impl Setup {
    /// Returns the radios of all nodes.
    pub fn stations(&self) -> Stations {
        self.radios.clone().unwrap_or_else(|| Stations::single(self.positions.len()))
    }

    /// Returns, for each node, the neighbours on a common channel where both receive at least `least` from each other.
    pub fn links(&self, channel: &Channel, least: Watt) -> Vec<Vec<usize>> {
        let may_link = |from, to| self.site.as_ref().is_none_or(|site| site.may_link(from, to));
        let heard: Vec<Vec<usize>> = (0..self.positions.len())
            .map(|n| {
                let mut heard: Vec<_> = channel
                    .neighbours(NodeId(n as u32))
                    .iter()
                    .filter(|neighbour| neighbour.power >= least && may_link(neighbour.node, NodeId(n as u32)))
                    .map(|neighbour| neighbour.node.index())
                    .collect();
                heard.sort_unstable();
                heard
            })
            .collect();
        let id = |node: usize| NodeId(node as u32);
        let stations = self.stations();
        let meet = |a, b| stations.shared([id(a), id(b)]).next().is_some();
        let hears = |a: usize, b: usize| heard[b].binary_search(&a).is_ok() && meet(a, b);
        heard.iter().enumerate().map(|(n, by)| by.iter().copied().filter(|&other| hears(n, other)).collect()).collect()
    }

    /// Returns the propagation of the run with `seed`.
    fn field(&self, seed: u64) -> Field {
        self.radio.propagation(&self.node.phy).field(seed).with_site(self.site.clone())
    }

    /// Returns the least power of a link and, with that as threshold, who hears whom at the start of the run with
    /// `seed`, before fading.
    pub fn heard(&self, seed: u64) -> (Watt, Channel) {
        let link = self.radio.link(&self.node.phy);
        (link, self.heard_with(seed, link))
    }

    fn heard_with(&self, seed: u64, least: Watt) -> Channel {
        let field = self.field(seed);
        let range = field.reach_among(&self.positions);
        Channel::among(&self.positions, range, least, |ends, _| field.mean(ends))
    }

    /// Returns the ranges in metres for reception and for carrier sensing, without walls, shadowing and fading.
    pub fn ranges_m(&self) -> (f64, f64) {
        let propagation = self.radio.propagation(&self.node.phy);
        (propagation.range_m(self.radio.link(&self.node.phy)), propagation.range_m(propagation.cutoff))
    }

    /// Builds the world at time zero for one seed; also returns the endpoints of its flows.
    ///
    /// # Errors
    /// If the receivers of a frame are too far apart for the shortest frame.
    pub fn build(&self, seed: u64, tap: Option<Box<dyn Tap>>) -> Result<(World, Vec<FlowEnds>), TooWide> {
        let (functions, queues) = (self.node.mac.edca.is_some(), self.node.link.categories.is_some());
        debug_assert!(
            functions == queues,
            "access categories have a function in the MAC and a queue each, or there are none"
        );
        let stations = self.stations();
        let mobility = self.movement.as_ref().map(|movement| Mobility::new(movement, &self.positions, seed));
        let (air, routers) = match &self.radio {
            Radio::Threshold(law) if self.site.is_none() => {
                let (cs_threshold, rx_threshold) = (self.node.phy.cs_threshold, self.node.phy.rx_threshold);
                let channel = || Channel::new(&self.positions, law, cs_threshold);
                match mobility {
                    None => {
                        let channel = channel();
                        let routers = self.routers(seed, &stations, |cost| self.paths(&channel, rx_threshold, cost));
                        (Air::Still(channel.of_stations(&stations)), routers)
                    }
                    Some(mobility) => {
                        let routers = self.routers(seed, &stations, |cost| self.paths(&channel(), rx_threshold, cost));
                        (Air::moving(mobility, *law, cs_threshold, &stations), routers)
                    }
                }
            }
            Radio::Threshold(_) | Radio::Sinr(_) => {
                let field = self.field(seed);
                let cutoff = field.propagation().cutoff;
                let routers = self.routers(seed, &stations, |cost| {
                    let link = cost.as_ref().map_or_else(|| self.radio.link(&self.node.phy), LinkCost::least);
                    self.paths(&self.heard_with(seed, link), link, cost)
                });
                let air = match mobility {
                    None => Air::fixed(&self.positions, field, &stations),
                    Some(mobility) => Air::moving(mobility, field, cutoff, &stations),
                };
                (air, routers)
            }
        };
        self.check_spread(&air, &stations)?;
        let recorded = tap.as_ref().is_some_and(|tap| tap.looks_closely());
        let routers = routers.into_iter().map(|router| if recorded { router.with_route_changes() } else { router });
        let mut shared = [false, true].map(|aware| node::SharedConfig::from(&self.layers(aware))).to_vec();
        let legacy: Arc<[MacAddr]> =
            self.without_mcs.iter().flat_map(|&node| stations.of(node)).map(|n| Stations::addresses(n).mac).collect();
        if !legacy.is_empty() {
            shared.push(node::SharedConfig::from(&node::Config { mac: self.node.mac.without_mcs(), ..self.node }));
        }
        let on_channel = stations.by_channel();
        let mut nodes: Vec<Node> = routers
            .enumerate()
            .map(|(n, router)| self.node(NodeId(n as u32), seed, router, &shared, (&stations, &on_channel)))
            .collect();
        if !legacy.is_empty() {
            nodes.iter_mut().for_each(|node| node.know_without_mcs(&legacy));
        }
        let mut wired = Wired::default();
        if let Some(plan) = &self.wired {
            let gateways;
            (wired, gateways) = Wired::new(plan, self.node.ttl, &self.hops_to(&plan.gateways));
            for (gateway, side) in gateways {
                nodes[gateway.index()].add_wired_side(match &self.discipline {
                    Some(discipline) => side.with_discipline(discipline, HASH_KEY),
                    None => side,
                });
            }
        }
        if recorded {
            let radios = nodes.len() as u32;
            let step = radios + wired.hosts().len() as u32;
            (1..).zip(&mut nodes).for_each(|(first, node)| node.record(first, step));
            wired.record(1 + radios, step);
        }
        let mut place = |node: NodeId, endpoint| match node.wired_number() {
            Some(host) => (node, wired.host_mut(host).add_endpoint(endpoint)),
            None => (node, nodes[node.index()].add_endpoint(endpoint)),
        };
        let ends = self.flows.iter().enumerate().map(|(index, flow)| connect(&mut place, seed, index, flow)).collect();
        let rules = node::Rules::new(self.node.phy, &self.node.mac);
        let world = World::new(nodes, stations.clone(), rules, air, wired, tap);
        let world = match &self.radio {
            Radio::Threshold(_) => world,
            Radio::Sinr(radio) => {
                let stream = |n: usize| Stream::new(seed, NodeId(n as u32), Purpose::Channel);
                let receiver = |n: usize| {
                    let receiver = sinr::Receiver::new(radio.receiver, stream(n));
                    let is_legacy = self.is_without_mcs(stations.node(NodeId(n as u32)));
                    if is_legacy { receiver.without_mcs() } else { receiver }
                };
                world.with_receivers((0..stations.count()).map(receiver).collect())
            }
        };
        Ok((world, ends))
    }

    fn check_spread(&self, air: &Air, stations: &Stations) -> Result<(), TooWide> {
        let mut spread = air.spread();
        spread.src = spread.src.map(|station| stations.node(station));
        spread.check(self.node.mac.shortest_frame())
    }

    /// Returns the number of radio hops from each of `gateways` to each node at time zero.
    pub fn hops_to(&self, gateways: &[NodeId]) -> Vec<Vec<Option<u32>>> {
        let graph = self.radio.graph(&self.node.phy, self.site.as_ref(), &self.stations(), &self.positions);
        gateways.iter().map(|&gateway| graph.hops_from(gateway)).collect()
    }

    /// Returns the options of nodes that take part in C3TCP or do not; without C3TCP they are the same.
    fn layers(&self, aware: bool) -> node::Config {
        let mut config = self.node;
        if let Some(c3tcp) = &self.c3tcp {
            config.mac.options = if aware { c3tcp.rule } else { c3tcp.unaware_rule };
        }
        config
    }

    fn is_without_mcs(&self, node: NodeId) -> bool {
        !self.without_mcs.is_empty() && self.without_mcs.contains(&node)
    }

    /// `shared` contains the options of nodes without C3TCP, of nodes with it, and of nodes without MCS rates.
    fn node(
        &self,
        id: NodeId,
        seed: u64,
        router: Router,
        shared: &[node::SharedConfig],
        (stations, on_channel): (&Stations, &BTreeMap<ChannelNumber, OnChannel>),
    ) -> Node {
        let backoff = |station| Stream::new(seed, station, Purpose::Backoff);
        let modules = self.c3tcp.as_ref().filter(|c3tcp| !c3tcp.unaware.contains(&id));
        let config = &shared[if self.is_without_mcs(id) { 2 } else { usize::from(modules.is_some()) }];
        let mut node = Node::new(Stations::addresses(id), backoff(id), config.clone(), router);
        for station in stations.of(id).skip(1) {
            let others = on_channel[&stations.channel(station)].clone();
            node.add_radio(Stations::addresses(station), backoff(station), config.clone(), others);
        }
        if matches!(self.node.mac.rate_control, RateControl::Minstrel(_)) {
            for (radio, station) in stations.of(id).enumerate() {
                node.sample_rates(radio, Stream::new(seed, station, Purpose::RateControl));
            }
        }
        if let Some(c3tcp) = modules {
            node.add_modules(c3tcp.options);
        }
        let meter = self.flows.iter().find_map(|flow| match &flow.traffic {
            Traffic::Own(options, _) => options.meter(),
            _ => None,
        });
        if let Some(options) = meter {
            node.add_meter(options);
        }
        let cost = self.particular.packet_costs.get(&id).copied().unwrap_or(self.node.link.packet_cost);
        if cost > Dur::ZERO {
            node.add_processor(cost);
        }
        let net::Config { red, nred, ecn, .. } = self.node.link;
        if red.enabled || nred.enabled {
            let random = |purpose| Stream::new(seed, id, purpose);
            node.add_early_drops(EarlyDrops {
                link: red.enabled.then(|| LinkRed::new(red, random(Purpose::LinkRed))),
                neighbourhood: nred.enabled.then(|| NeighbourhoodRed::new(nred, random(Purpose::NeighbourhoodRed))),
                marks: ecn,
                marked: 0,
            });
        }
        node
    }
}
