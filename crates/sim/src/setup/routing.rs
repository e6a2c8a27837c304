//! The router of each node, with its state at time zero.

use super::{Particular, Setup};
use crate::channel::Channel;
use crate::channel_choice::ChannelChoice;
use crate::link_cost::LinkCost;
use crate::stations::Stations;
use crate::wired::Plan;
use fourhop_proto::route::{Finding, Metric, Place, Router, ShortestPaths, StaticRoutes};
use fourhop_units::{NodeId, Purpose, Stream, Watt};

/// Routing of packets.
#[derive(Clone, Debug)]
pub enum Routing {
    /// Fewest hops, computed once from the links at time zero.
    Static,
    /// Least sum of a link metric, likewise computed once.
    Cheapest(Metric),
    /// A protocol by which nodes find routes themselves.
    Finding(Finding),
    /// No routing: every destination is treated as a neighbour, since attached hosts do their own routing.
    Outside,
}

impl Routing {
    /// Routing by this protocol, with its options.
    pub fn finding(protocol: impl Into<Finding>) -> Routing {
        Routing::Finding(protocol.into())
    }
}

impl Setup {
    /// Returns shortest paths over the links with at least this power, or with `cost` the cheapest ones.
    pub(super) fn paths(&self, channel: &Channel, least: Watt, cost: Option<LinkCost>) -> ShortestPaths {
        let links = self.links(channel, least);
        let Particular { ends_only, routes, .. } = &self.particular;
        let passes = |node: usize| !ends_only.contains(&NodeId(node as u32));
        let given = routes.iter().map(|(&(from, to), next)| (from.index(), to.index(), next.index()));
        let Some(cost) = cost else { return ShortestPaths::through(&links, passes).with_next_hops(given) };
        let power = |from: usize, to: usize| {
            let heard = channel.neighbours(NodeId(from as u32)).iter().find(|neighbour| neighbour.node.index() == to);
            heard.map_or(Watt(0.0), |neighbour| neighbour.power)
        };
        let of = |from: usize, to: usize| Some((to, cost.of(power(from, to), power(to, from))?));
        let links = links.iter().enumerate();
        let costs: Vec<_> = links.map(|(from, to)| to.iter().filter_map(|&to| of(from, to)).collect()).collect();
        ShortestPaths::cheapest_through(&costs, passes).with_next_hops(given)
    }

    /// Returns the router of each node. `paths` computes the paths for static routes, by hops or by link costs.
    pub(super) fn routers(
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
                    // The way out leads to the nearest gateway.
                    let gateways = self.wired.as_ref().map_or(&[][..], |plan| &plan.gateways);
                    let reachable = gateways.iter().map(|gateway| gateway.index());
                    let near =
                        reachable.filter_map(|to| Some((paths.cost(from, to)?, to))).min_by_key(|&(cost, _)| cost);
                    let out = near.and_then(|(_, to)| way(to));
                    let mesh = (0..count).filter_map(move |to| Some((to, way(to)?)));
                    let wired = (0..hosts).filter_map(move |n| Some((NodeId::wired(n).0 as usize, out?)));
                    mesh.chain(wired).map(move |(to, (next_hop, hops))| (ip(to), next_hop, hops))
                };
                (0..count).map(|from| StaticRoutes::new(ip(from), routes(from)).into()).collect()
            }
            Routing::Outside => {
                let ip = |node: usize| NodeId(node as u32).ipv4();
                let beside = || (0..count).map(|to| (ip(to), ip(to), 1));
                (0..count).map(|from| StaticRoutes::new(ip(from), beside()).into()).collect()
            }
            Routing::Finding(protocol) => (0..count)
                .map(|n| {
                    let id = NodeId(n as u32);
                    let mut place = Place::new(id.ipv4(), Stream::new(seed, id, Purpose::RoutingJitter));
                    place.notes = true;
                    if let Some(plan) = &self.wired {
                        place.serves = plan.gateways.contains(&id).then_some(Plan::OUTSIDE);
                        place.plan = plan.addresses();
                    }
                    protocol.router(place)
                })
                .collect(),
        }
    }
}
