//! A network ready to run: positions, options of every layer, flows. Scenarios are translated into it, and tests of the
//! engine construct it directly.

use crate::air::Air;
use crate::channel::Channel;
use crate::channel_choice::ChannelChoice;
use crate::link_cost::LinkCost;
use crate::mobility::{Mobility, Movement};
use crate::propagation::site::Site;
use crate::propagation::{Field, PathLoss, Propagation};
use crate::spread::TooWide;
use crate::stations::{ChannelNumber, Stations};
use crate::topology::{Graph, Position};
use crate::trace::Tap;
use crate::wired::{Plan, Wired};
use crate::world::World;
use fourhop_cc::Transport;
use fourhop_proto::app::{
    cbr, cbr::Cbr, files, files::Files, ping, ping::Pinger, sink::Sink, transfer, transfer::Transfer,
};
use fourhop_proto::atp;
use fourhop_proto::ccm;
use fourhop_proto::gateway::{CrossingConfig, HashKey};
use fourhop_proto::mac::{OptionsRule, RateControl};
use fourhop_proto::net::{self, LinkRed, NeighbourhoodRed};
use fourhop_proto::node::{self, EarlyDrops, Endpoint, EndpointKind, FlowAddress, Node, OnChannel, Renewal, TcpSource};
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_proto::phy::{self, TxRate, sinr};
use fourhop_proto::route::{self, Aodv, Babel, Metric, Router, ShortestPaths, StaticRoutes, babel};
use fourhop_proto::tcp::{self, Socket};
use fourhop_units::{Bytes, MacAddr, NodeId, Purpose, Seq, Stream, Watt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Nobody in a simulation chooses flows that share a place in a gateway's tables, and the same run must give the same result:
/// no secret, and the same in every run.
const HASH_KEY: HashKey = HashKey([0; 2]);

/// Model of propagation and reception.
#[derive(Clone, Debug)]
pub enum Radio {
    /// Two-ray ground and fixed thresholds, which are in the options of the nodes.
    Threshold(TwoRay),
    /// Noise, interference and chance.
    Sinr(Box<SinrRadio>),
}

/// The `sinr` radio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SinrRadio {
    /// Propagation of signals.
    pub propagation: Propagation,
    /// The receiver of every node.
    pub receiver: sinr::Config,
    /// Static routes use links on which at least this is received before fading.
    pub link: Watt,
    /// Do metrics of links count frames over all fades, rather than at the mean power?
    pub metric_over_fades: bool,
}

impl SinrRadio {
    /// The share of frames of `len` bytes at `rate` that arrive over noise at a mean power, whatever fading does to single ones.
    pub fn arriving(&self, power: Watt, len: Bytes, rate: impl Into<TxRate>) -> f64 {
        let rate = rate.into();
        let success = |factor: f64| self.receiver.success(Watt(power.0 * factor), len, rate);
        self.propagation.fading.map_or_else(|| success(1.0), |fading| fading.mean_over(success))
    }

    /// The mean power at which this share of them arrives.
    pub fn power_for(&self, share: f64, len: Bytes, rate: impl Into<TxRate>) -> Watt {
        let rate = rate.into();
        if self.propagation.fading.is_none() {
            return self.receiver.power_for(share, len, rate);
        }
        let noise = self.receiver.noise.0;
        // From -30 to 60 dB, to a thousandth of a dB.
        let (mut below, mut above) = (1e-3, 1e6);
        for _ in 0..17 {
            let middle = f64::sqrt(below * above);
            let enough = self.arriving(Watt(noise * middle), len, rate) >= share;
            (below, above) = if enough { (below, middle) } else { (middle, above) };
        }
        Watt(noise * above)
    }
}

impl From<TwoRay> for Radio {
    fn from(propagation: TwoRay) -> Radio {
        Radio::Threshold(propagation)
    }
}

impl Radio {
    /// Least power of a link between nodes with these thresholds.
    fn link(&self, thresholds: &phy::Config) -> Watt {
        match self {
            Radio::Threshold(_) => thresholds.rx_threshold,
            Radio::Sinr(radio) => radio.link,
        }
    }

    /// Propagation of signals; with the `threshold` radio it depends on the distance alone.
    fn propagation(&self, thresholds: &phy::Config) -> Propagation {
        match self {
            Radio::Threshold(law) => Propagation {
                tx_power: law.tx_power,
                path_loss: PathLoss::TwoRay(*law),
                shadowing: None,
                fading: None,
                cutoff: thresholds.cs_threshold,
            },
            Radio::Sinr(radio) => radio.propagation,
        }
    }

    /// The links between nodes at `places` before shadows and fading: those over which either end receives enough of the other.
    /// on a channel that both have.
    pub fn graph(
        &self,
        thresholds: &phy::Config,
        site: Option<&Arc<Site>>,
        stations: &Stations,
        places: &[Position],
    ) -> Graph {
        let link = self.link(thresholds);
        let open = Propagation { shadowing: None, fading: None, cutoff: link, ..self.propagation(thresholds) };
        let one_channel = stations.share_one_channel();
        let meet = |[a, b]: [(NodeId, Position); 2]| one_channel || stations.shared([a.0, b.0]).next().is_some();
        let Some(site) = site else { return Graph::among(places, open.range_m(link), meet) };
        let field = open.field(0).with_site(Some(site.clone()));
        Graph::among(places, field.reach_among(places), |[a, b]| {
            meet([a, b]) && field.mean([a, b]) >= link && field.mean([b, a]) >= link
        })
    }
}

/// Routing of packets.
#[derive(Clone, Debug)]
pub enum Routing {
    /// Fewest hops, computed once from who can decode whom, at time zero if nodes move.
    Static,
    /// The same by the least sum of a metric of the links.
    Cheapest(Metric),
    /// On demand.
    Aodv(Box<route::Config>),
    /// Known before it is needed.
    Babel(babel::Config),
    /// None: every destination is taken for a neighbour, since hosts that are attached route by themselves.
    Outside,
}

/// What a flow carries.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// TCP.
    Tcp {
        /// Congestion control and recovery.
        transport: &'static Transport,
        /// Options of both sockets.
        config: Box<tcp::Config>,
        /// What is sent.
        source: Source,
    },
    /// A transfer over ATP, with the options of [`Setup::atp`].
    Atp(transfer::Config),
    /// Constant bit rate UDP.
    Udp(cbr::Config),
    /// Echo requests.
    Ping(ping::Config),
}

/// What a TCP flow sends.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A transfer.
    Transfer(transfer::Config),
    /// Short files with pauses between them.
    Files(files::Config),
}

/// A flow from one node to another.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Sender.
    pub src: NodeId,
    /// Receiver.
    pub dst: NodeId,
    /// What it carries.
    pub traffic: Traffic,
    /// DSCP of its packets, both ways.
    pub dscp: u8,
}

/// Everything a run is a function of, besides the seed.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Positions of the nodes in metres, at time zero if they move.
    pub positions: Vec<(f64, f64)>,
    /// Their radios; `None`: one at each, all on one channel.
    pub radios: Option<Stations>,
    /// How they move from there; `None`: they stand still.
    pub movement: Option<Movement>,
    /// Transmitter, propagation, and with `sinr` the receiver.
    pub radio: Radio,
    /// Walls, measured losses, single transmitters and antennas; `None`: there are none.
    pub site: Option<Arc<Site>>,
    /// Options of the nodes.
    pub node: node::Config,
    /// Those that know no MCS, in order, among others that do; with [`Radio::Sinr`].
    pub without_mcs: Vec<NodeId>,
    /// Routing of all nodes with radios.
    pub routing: Routing,
    /// Nodes without radios, gateways and wires; `None`: there are none.
    pub wired: Option<Plan>,
    /// What happens to packets that cross a gateway; `None`: they are passed on.
    pub crossing: Option<CrossingConfig>,
    /// Flows, in order.
    pub flows: Vec<Flow>,
    /// ATP, if a flow uses it: then every node tells its delays.
    pub atp: Option<atp::Config>,
    /// C3TCP, if it is in use.
    pub c3tcp: Option<C3tcp>,
}

/// Who takes part in C3TCP, and how.
#[derive(Clone, Debug)]
pub struct C3tcp {
    /// Of the modules below TCP.
    pub options: ccm::Options,
    /// What the link layers of those do that take part.
    pub rule: OptionsRule,
    /// Nodes that do not.
    pub unaware: BTreeSet<NodeId>,
    /// What theirs do.
    pub unaware_rule: OptionsRule,
}

/// Where the two ends of a flow are in the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowEnds {
    /// Node and endpoint of the sender.
    pub sender: (NodeId, usize),
    /// Node and endpoint of the receiver; for ping the sender again.
    pub receiver: (NodeId, usize),
}

/// First port of senders (the dynamic range of RFC 6335) and port of receivers.
const SENDER_PORTS: (u16, u16) = (49_152, 16_384);
/// Receivers' ports begin here.
const RECEIVER_PORT: u16 = 5_001;
/// First port and number of ports of receivers that have a connection for each file: no other flow has theirs.
const FILE_PORTS: (u16, u16) = (10_000, 39_000);

impl Setup {
    /// The radios of all nodes.
    pub fn stations(&self) -> Stations {
        self.radios.clone().unwrap_or_else(|| Stations::single(self.positions.len()))
    }

    /// Neighbours that receive at least `least` of each other and share a channel, node by node.
    pub fn links(&self, channel: &Channel, least: Watt) -> Vec<Vec<usize>> {
        let heard: Vec<Vec<usize>> = (0..self.positions.len())
            .map(|n| {
                let mut heard: Vec<_> = channel
                    .neighbours(NodeId(n as u32))
                    .iter()
                    .filter(|neighbour| neighbour.power >= least)
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

    /// What the signals of the run with `seed` meet.
    fn field(&self, seed: u64) -> Field {
        self.radio.propagation(&self.node.phy).field(seed).with_site(self.site.clone())
    }

    /// The least power of a link, and who hears whom with it at the start of the run with `seed`, before fading.
    pub fn heard(&self, seed: u64) -> (Watt, Channel) {
        let link = self.radio.link(&self.node.phy);
        (link, self.heard_with(seed, link))
    }

    fn heard_with(&self, seed: u64, least: Watt) -> Channel {
        let field = self.field(seed);
        let range = field.reach_among(&self.positions);
        Channel::among(&self.positions, range, least, |ends, _| field.mean(ends))
    }

    /// Shortest paths over the links with at least this power, or cheapest ones.
    fn paths(&self, channel: &Channel, least: Watt, cost: Option<LinkCost>) -> ShortestPaths {
        let links = self.links(channel, least);
        let Some(cost) = cost else { return ShortestPaths::new(&links) };
        let power = |from: usize, to: usize| {
            let heard = channel.neighbours(NodeId(from as u32)).iter().find(|neighbour| neighbour.node.index() == to);
            heard.map_or(Watt(0.0), |neighbour| neighbour.power)
        };
        let of = |from: usize, to: usize| Some((to, cost.of(power(from, to), power(to, from))?));
        let links = links.iter().enumerate();
        let costs: Vec<_> = links.map(|(from, to)| to.iter().filter_map(|&to| of(from, to)).collect()).collect();
        ShortestPaths::cheapest(&costs)
    }

    /// How far in metres a frame can be received, and is sensed, without walls, shadows and fading.
    pub fn ranges_m(&self) -> (f64, f64) {
        let propagation = self.radio.propagation(&self.node.phy);
        (propagation.range_m(self.radio.link(&self.node.phy)), propagation.range_m(propagation.cutoff))
    }

    /// The ports of the flow with this place among all: the first of its sender, that of its receiver, and whether the sender
    /// goes on to another for each connection.
    pub fn ports(index: usize, flow: &Flow) -> (u16, u16, bool) {
        let fresh = matches!(&flow.traffic, Traffic::Tcp { source: Source::Files(files), .. } if files.fresh);
        let remote = match fresh {
            true => FILE_PORTS.0 + (index % usize::from(FILE_PORTS.1)) as u16,
            false => RECEIVER_PORT + (index / usize::from(SENDER_PORTS.1)) as u16,
        };
        (SENDER_PORTS.0 + (index % usize::from(SENDER_PORTS.1)) as u16, remote, fresh)
    }

    /// The world at time zero for one seed, and where its flows end.
    ///
    /// # Errors
    /// If receivers of a frame are too far apart for the shortest of its frames.
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
                    None => Air::standing(&self.positions, field, &stations),
                    Some(mobility) => Air::moving(mobility, field, cutoff, &stations),
                };
                (air, routers)
            }
        };
        let mut spread = air.spread();
        spread.src = spread.src.map(|station| stations.node(station));
        spread.check(self.node.mac.shortest_frame())?;
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
                nodes[gateway.index()].add_wired_side(match &self.crossing {
                    Some(crossing) => side.with_crossing(crossing, HASH_KEY),
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
        let ends = self
            .flows
            .iter()
            .enumerate()
            .map(|(index, flow)| connect(&mut place, seed, index, flow, self.atp.as_ref()))
            .collect();
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

    /// Radio hops from each of `gateways` to each node at time zero.
    pub fn hops_to(&self, gateways: &[NodeId]) -> Vec<Vec<Option<u32>>> {
        let graph = self.radio.graph(&self.node.phy, self.site.as_ref(), &self.stations(), &self.positions);
        gateways.iter().map(|&gateway| graph.hops_from(gateway)).collect()
    }

    /// Options of nodes that take part in C3TCP and of those that do not; where nobody does there is no difference.
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

    /// `shared` are the options of nodes that are not aware of C3TCP, of those that are, and of those that know no MCS.
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
        if let Some(options) = self.atp {
            node.add_meter(options);
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

    /// `paths` makes those of static routes, over all links or by what they cost.
    fn routers(
        &self,
        seed: u64,
        stations: &Stations,
        paths: impl FnOnce(Option<LinkCost>) -> ShortestPaths,
    ) -> Vec<Router> {
        let count = self.positions.len();
        match &self.routing {
            Routing::Static | Routing::Cheapest(_) => {
                let paths = paths(match self.routing {
                    Routing::Cheapest(metric) => {
                        Some(LinkCost::new(metric, &self.radio, &self.node.phy, &self.node.mac))
                    }
                    _ => None,
                });
                let ip = |node: usize| NodeId(node as u32).ipv4();
                let channels = ChannelChoice::new(&paths, stations, count);
                let hosts = self.wired.as_ref().map_or(0, |plan| plan.hosts);
                let routes = |from: usize| {
                    let (paths, channels) = (&paths, &channels);
                    let hops = move |to| paths.hops(from, to).map(|hops| u8::try_from(hops).unwrap_or(u8::MAX));
                    let way = move |to| Some((channels.next_hop(from, to)?, hops(to)?));
                    // The way out is the nearest gateway.
                    let gateways = self.wired.as_ref().map_or(&[][..], |plan| &plan.gateways);
                    let reachable = gateways.iter().map(|gateway| gateway.index());
                    let near =
                        reachable.filter_map(|to| Some((paths.cost(from, to)?, to))).min_by_key(|&(cost, _)| cost);
                    let out = near.and_then(|(_, to)| way(to));
                    let mesh = (0..count).filter_map(move |to| Some((to, way(to)?)));
                    let wired = (0..hosts).filter_map(move |n| Some((NodeId::wired(n).0 as usize, out?)));
                    mesh.chain(wired).map(move |(to, (next_hop, hops))| (ip(to), next_hop, hops))
                };
                (0..count).map(|from| Router::Static(StaticRoutes::new(ip(from), routes(from)))).collect()
            }
            Routing::Outside => {
                let ip = |node: usize| NodeId(node as u32).ipv4();
                let beside = || (0..count).map(|to| (ip(to), ip(to), 1));
                (0..count).map(|from| Router::Static(StaticRoutes::new(ip(from), beside()))).collect()
            }
            Routing::Aodv(config) => (0..count)
                .zip(std::iter::repeat(Arc::new(**config)))
                .map(|(n, config)| {
                    let id = NodeId(n as u32);
                    let jitter = Stream::new(seed, id, Purpose::RoutingJitter);
                    let aodv = Aodv::new(id.ipv4(), config, jitter).with_notes();
                    Router::Aodv(Box::new(match &self.wired {
                        Some(plan) if plan.gateways.contains(&id) => aodv.with_gateway([Plan::OUTSIDE]),
                        Some(plan) => aodv.with_plan(plan.addresses()),
                        None => aodv,
                    }))
                })
                .collect(),
            Routing::Babel(config) => (0..count)
                .zip(std::iter::repeat(Arc::new(*config)))
                .map(|(n, config)| {
                    let id = NodeId(n as u32);
                    let babel = Babel::new(id.ipv4(), config, Stream::new(seed, id, Purpose::RoutingJitter));
                    let is_gateway = self.wired.as_ref().is_some_and(|plan| plan.gateways.contains(&id));
                    let outside = is_gateway.then_some(Plan::OUTSIDE);
                    Router::Babel(Box::new(babel.with_gateway(outside)))
                })
                .collect(),
        }
    }
}

/// Puts the two ends of a flow into their nodes by `place`.
fn connect(
    place: &mut impl FnMut(NodeId, Endpoint) -> (NodeId, usize),
    seed: u64,
    index: usize,
    flow: &Flow,
    atp: Option<&atp::Config>,
) -> FlowEnds {
    let (local, remote, fresh) = Setup::ports(index, flow);
    let mut place = |node, endpoint: Endpoint| place(node, endpoint.with_dscp(flow.dscp));
    let at_src = FlowAddress { peer: flow.dst.ipv4(), local_port: local, remote_port: remote };
    let at_dst = FlowAddress { peer: flow.src.ipv4(), local_port: remote, remote_port: local };
    match &flow.traffic {
        Traffic::Tcp { transport, config, source } => {
            // One stream per flow and side, so that flows do not shift each other's numbers.
            let mut iss = Stream::new(seed, NodeId(index as u32), Purpose::Tcp);
            let (iss_src, iss_dst) = (Seq::from_wire(iss.bits32()), Seq::from_wire(iss.bits32()));
            let client = Socket::new((**config).clone(), transport, local, remote, iss_src);
            let server = Socket::listen((**config).clone(), transport, remote, iss_dst);
            let stream = |purpose| Stream::new(seed, NodeId(index as u32), purpose);
            let source = match source {
                Source::Transfer(transfer) => TcpSource::Transfer(Transfer::new(*transfer)),
                Source::Files(files) => {
                    TcpSource::Files(Files::new(*files, stream(Purpose::FileSizes), stream(Purpose::Pauses)))
                }
            };
            let sender = Endpoint::new(at_src, EndpointKind::TcpSender(source, Box::new(client)));
            let receiver = Endpoint::new(at_dst, EndpointKind::TcpReceiver(Box::new(server)));
            let renewed = |endpoint: Endpoint, side: u32| match fresh {
                true => endpoint.with_renewal(Renewal {
                    config: (**config).clone(),
                    transport,
                    iss: Stream::new(seed, NodeId(2 * index as u32 + side), Purpose::LaterConnections),
                }),
                false => endpoint,
            };
            FlowEnds { sender: place(flow.src, renewed(sender, 0)), receiver: place(flow.dst, renewed(receiver, 1)) }
        }
        Traffic::Atp(transfer) => {
            let config = atp.copied().unwrap_or(atp::Config::published());
            let first = Stream::new(seed, NodeId(index as u32), Purpose::Tcp).bits32();
            let sender = atp::Sender::new(config, Seq::from_wire(first));
            let sender = EndpointKind::AtpSender(Transfer::new(*transfer), Box::new(sender));
            let receiver = EndpointKind::AtpReceiver(Box::new(atp::Receiver::new(config)));
            FlowEnds {
                sender: place(flow.src, Endpoint::new(at_src, sender)),
                receiver: place(flow.dst, Endpoint::new(at_dst, receiver)),
            }
        }
        Traffic::Udp(config) => FlowEnds {
            sender: place(flow.src, Endpoint::new(at_src, EndpointKind::UdpSender(Cbr::new(*config)))),
            receiver: place(flow.dst, Endpoint::new(at_dst, EndpointKind::UdpReceiver(Sink::default()))),
        },
        Traffic::Ping(config) => {
            let sender = place(flow.src, Endpoint::new(at_src, EndpointKind::Pinger(Pinger::new(*config))));
            FlowEnds { sender, receiver: sender }
        }
    }
}
