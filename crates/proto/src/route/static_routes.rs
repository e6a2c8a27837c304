//! Static routes: a fixed next hop per destination, and the shortest paths to fill the table with.
//!
//! No protocol is modelled. A link failure loses the packet that needed the link and has no other effect.

use super::action::{Action, NextHop, pass_on};
use super::protocol::Protocol;
use crate::drop::DropReason;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// A fixed routing table. It never needs a timeout.
#[derive(Clone, Debug)]
pub struct StaticRoutes {
    addr: Ipv4Addr,
    /// (destination, next hop, hops), by destination.
    next_hops: Vec<(Ipv4Addr, Ipv4Addr, u8)>,
}

impl StaticRoutes {
    /// Creates the table of the node `addr` from (destination, next hop, hops). Of several routes to one destination,
    /// the first counts.
    pub fn new(addr: Ipv4Addr, routes: impl IntoIterator<Item = (Ipv4Addr, Ipv4Addr, u8)>) -> StaticRoutes {
        let mut next_hops: Vec<_> = routes.into_iter().collect();
        next_hops.sort_by_key(|&(dst, ..)| dst);
        next_hops.dedup_by_key(|&mut (dst, ..)| dst);
        StaticRoutes { addr, next_hops }
    }

    fn route(&self, dst: Ipv4Addr) -> Option<(Ipv4Addr, Ipv4Addr, u8)> {
        let at = self.next_hops.binary_search_by_key(&dst, |&(d, ..)| d).ok()?;
        Some(self.next_hops[at])
    }
}

impl Protocol for StaticRoutes {
    fn handle_outgoing(&mut self, _now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        out.push(match self.next_hop(packet.dst) {
            Some(next_hop) => Action::Send { packet, next_hop: NextHop::Unicast(next_hop) },
            None => Action::Drop { packet, reason: DropReason::NoRoute },
        });
    }

    /// Decrements the TTL (RFC 1812 section 5.3.1).
    fn handle_transit(&mut self, now: Time, packet: Ipv4Packet, _from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        if let Some(packet) = pass_on(self.addr, packet, out) {
            self.handle_outgoing(now, packet, out);
        }
    }

    fn handle_link_failure(
        &mut self,
        _now: Time,
        packet: Option<Ipv4Packet>,
        _next_hop: Ipv4Addr,
        _reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        out.extend(packet.map(|packet| Action::Drop { packet, reason: DropReason::LinkBroken }));
    }

    fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        self.route(dst).map(|(_, next_hop, _)| next_hop)
    }

    fn hops(&self, dst: Ipv4Addr) -> Option<u8> {
        self.route(dst).map(|(.., hops)| hops)
    }
}

/// Shortest paths between all pairs of nodes, by hops or by the total cost of their links. Ties are broken by fewer
/// hops, then by the lowest number of the next hop, so that the paths are a function of the topology alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShortestPaths {
    nodes: usize,
    /// Hops from node `u` to node `t` at `[t * nodes + u]`; [`ShortestPaths::UNREACHABLE`] if there is no path.
    hops: Vec<u32>,
    /// Cost of the path from node `u` to node `t` at the same index; empty where the cost is the number of hops.
    costs: Vec<u64>,
    /// Next hop of node `u` towards node `t` at the same index; meaningless where there is no path or `u == t`.
    next: Vec<u32>,
}

impl ShortestPaths {
    const UNREACHABLE: u32 = u32::MAX;

    /// Finds paths with the fewest hops by breadth-first search over `adjacency`, which lists the nodes each node can
    /// send to.
    ///
    /// # Panics
    /// If a list names a node that does not exist.
    pub fn new(adjacency: &[Vec<usize>]) -> ShortestPaths {
        ShortestPaths::through(adjacency, |_| true)
    }

    /// The same, where only nodes that satisfy `passes` relay packets; the others can only be endpoints of paths.
    ///
    /// # Panics
    /// If a list names a node that does not exist.
    pub fn through(adjacency: &[Vec<usize>], passes: impl Fn(usize) -> bool) -> ShortestPaths {
        let nodes = adjacency.len();
        let mut senders_to = vec![Vec::new(); nodes];
        for (from, receivers) in adjacency.iter().enumerate() {
            for &to in receivers {
                assert!(to < nodes, "node {from} lists neighbour {to}, but there are {nodes} nodes");
                senders_to[to].push(from);
            }
        }
        let mut hops = vec![Self::UNREACHABLE; nodes * nodes];
        let mut next = vec![0; nodes * nodes];
        let mut frontier = std::collections::VecDeque::new();
        for target in 0..nodes {
            let row = target * nodes..(target + 1) * nodes;
            let (hops, next) = (&mut hops[row.clone()], &mut next[row]);
            hops[target] = 0;
            frontier.push_back(target);
            while let Some(node) = frontier.pop_front() {
                if node != target && !passes(node) {
                    continue;
                }
                for &sender in &senders_to[node] {
                    if hops[sender] == Self::UNREACHABLE {
                        hops[sender] = hops[node] + 1;
                        next[sender] = node as u32;
                        frontier.push_back(sender);
                    } else if hops[sender] == hops[node] + 1 {
                        next[sender] = next[sender].min(node as u32);
                    }
                }
            }
        }
        ShortestPaths { nodes, hops, costs: Vec::new(), next }
    }

    /// Finds paths of least cost by Dijkstra's algorithm over `links`, which lists the nodes each node can send to,
    /// with the cost. Only nodes that satisfy `passes` relay packets; the others can only be endpoints of paths.
    ///
    /// # Panics
    /// If a list names a node that does not exist.
    pub fn cheapest_through(links: &[Vec<(usize, u32)>], passes: impl Fn(usize) -> bool) -> ShortestPaths {
        let nodes = links.len();
        let mut senders_to = vec![Vec::new(); nodes];
        for (from, receivers) in links.iter().enumerate() {
            for &(to, cost) in receivers {
                assert!(to < nodes, "node {from} lists neighbour {to}, but there are {nodes} nodes");
                senders_to[to].push((from, cost));
            }
        }
        let mut hops = vec![Self::UNREACHABLE; nodes * nodes];
        let mut costs = vec![u64::MAX; nodes * nodes];
        let mut next = vec![0; nodes * nodes];
        // The first visit is final: no link has a negative cost, and each adds a hop.
        let mut frontier = std::collections::BTreeSet::new();
        for target in 0..nodes {
            let at = |node: usize| target * nodes + node;
            (costs[at(target)], hops[at(target)]) = (0, 0);
            frontier.insert((0, 0, target));
            while let Some((cost, far, node)) = frontier.pop_first() {
                if node != target && !passes(node) {
                    continue;
                }
                for &(sender, link) in &senders_to[node] {
                    let place = at(sender);
                    let (known, found) = ((costs[place], hops[place]), (cost + u64::from(link), far + 1));
                    if found < known {
                        frontier.remove(&(known.0, known.1, sender));
                        frontier.insert((found.0, found.1, sender));
                        ((costs[place], hops[place]), next[place]) = (found, node as u32);
                    } else if found == known {
                        next[place] = next[place].min(node as u32);
                    }
                }
            }
        }
        ShortestPaths { nodes, hops, costs, next }
    }

    /// Replaces the next hops found by given ones, as (from, to, next). There is no path where they form a loop.
    pub fn with_next_hops(mut self, given: impl IntoIterator<Item = (usize, usize, usize)>) -> ShortestPaths {
        let mut changed = std::collections::BTreeSet::new();
        for (from, to, next) in given {
            let place = to * self.nodes + from;
            self.next[place] = next as u32;
            // Whether the path reaches `to` is determined below.
            self.hops[place] = 1;
            changed.insert(to);
        }
        for to in changed {
            let row = to * self.nodes..(to + 1) * self.nodes;
            let known = self.hops[row.clone()].to_vec();
            let next = &self.next[row.clone()];
            for (from, hops) in self.hops[row].iter_mut().enumerate() {
                let step = |&at: &usize| (at != to && known[at] != Self::UNREACHABLE).then(|| next[at] as usize);
                let walked = core::iter::successors(Some(from), step).take(known.len() + 1).collect::<Vec<_>>();
                let arrives = walked.last() == Some(&to);
                *hops = if arrives { walked.len() as u32 - 1 } else { Self::UNREACHABLE };
            }
        }
        self
    }

    /// Returns the cost of the path from `from` to `to` (its hops, unless links have costs), or `None` if there is no
    /// path.
    pub fn cost(&self, from: usize, to: usize) -> Option<u64> {
        let hops = self.hops(from, to)?;
        Some(self.costs.get(to * self.nodes + from).copied().unwrap_or(u64::from(hops)))
    }

    /// Returns the neighbour through which `from` reaches `to`, or `None` if it cannot or is `to` itself.
    pub fn next_hop(&self, from: usize, to: usize) -> Option<usize> {
        match self.hops(from, to) {
            None | Some(0) => None,
            Some(_) => Some(self.next[to * self.nodes + from] as usize),
        }
    }

    /// Returns the hops from `from` to `to`, or `None` if there is no path.
    pub fn hops(&self, from: usize, to: usize) -> Option<u32> {
        Some(self.hops[to * self.nodes + from]).filter(|&hops| hops != Self::UNREACHABLE)
    }

    /// Returns the nodes on the path, both ends included.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        self.hops(from, to)?;
        Some(core::iter::successors(Some(from), |&node| self.next_hop(node, to)).collect())
    }

    /// Returns whether there is a path between every two nodes.
    pub fn is_connected(&self) -> bool {
        !self.hops.contains(&Self::UNREACHABLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Body, EchoMessage, PacketMeta};
    use fourhop_units::NodeId;
    use proptest::prelude::*;

    fn echo(src: u32, dst: u32, ttl: u8) -> Ipv4Packet {
        let body = Body::Echo(EchoMessage { reply: false, ident: 1, number: 1, payload: 8 });
        let meta = PacketMeta::default();
        Ipv4Packet { src: NodeId(src).ipv4(), dst: NodeId(dst).ipv4(), ttl, ident: 0, dscp: 0, body, meta }
    }

    #[test]
    fn ties_go_to_the_lowest_node_number() {
        // A square 0-1-3, 0-2-3 whose lists name the higher neighbour first.
        let paths = ShortestPaths::new(&[vec![2, 1], vec![3, 0], vec![3, 0], vec![2, 1]]);
        assert_eq!(paths.path(0, 3), Some(vec![0, 1, 3]));
        assert_eq!(paths.path(3, 0), Some(vec![3, 1, 0]));
        assert_eq!(paths.hops(0, 3), Some(2));
        assert_eq!(paths.next_hop(2, 2), None);
        assert!(paths.is_connected());
    }

    #[test]
    fn nodes_that_pass_nothing_on_are_ends_of_paths_alone() {
        // 0-1-4 is the shortest path, and 0-2-3-4 the only one without node 1.
        let links = [vec![1, 2], vec![0, 4], vec![0, 3], vec![2, 4], vec![1, 3]];
        let paths = ShortestPaths::through(&links, |node| node != 1);
        assert_eq!(paths.path(0, 4), Some(vec![0, 2, 3, 4]));
        assert_eq!((paths.path(1, 4), paths.path(4, 1)), (Some(vec![1, 4]), Some(vec![4, 1])));
        let costs: Vec<Vec<_>> = links.iter().map(|to| to.iter().map(|&to| (to, 1_000)).collect()).collect();
        assert_eq!(ShortestPaths::cheapest_through(&costs, |node| node != 1).path(0, 4), Some(vec![0, 2, 3, 4]));
    }

    #[test]
    fn given_next_hops_take_the_place_of_those_found() {
        let links = [vec![1, 2], vec![0, 3], vec![0, 3], vec![1, 2]];
        let paths = ShortestPaths::new(&links).with_next_hops([(0, 3, 2)]);
        assert_eq!((paths.path(0, 3), paths.path(3, 0)), (Some(vec![0, 2, 3]), Some(vec![3, 1, 0])));
        // Nodes 0 and 1 send packets back and forth: nothing arrives from either.
        let circle = ShortestPaths::new(&links).with_next_hops([(1, 3, 0)]);
        assert_eq!((circle.path(0, 3), circle.path(1, 3), circle.path(2, 3)), (None, None, Some(vec![2, 3])));
        // Given next hops may use links that the model does not have.
        let far = ShortestPaths::new(&[vec![], vec![]]).with_next_hops([(0, 1, 1)]);
        assert_eq!((far.path(0, 1), far.hops(1, 0)), (Some(vec![0, 1]), None));
    }

    #[test]
    fn links_may_lead_one_way_and_islands_have_no_path() {
        let paths = ShortestPaths::new(&[vec![1], vec![2], vec![0], vec![]]);
        assert_eq!(paths.hops(0, 2), Some(2));
        assert_eq!(paths.hops(2, 1), Some(2));
        assert_eq!((paths.hops(0, 3), paths.next_hop(0, 3), paths.path(3, 0)), (None, None, None));
        assert!(!paths.is_connected());
    }

    /// A triangle whose direct link needs four transmissions, and the two others one and a quarter each.
    #[test]
    fn the_cheap_path_wins_over_the_short_one() {
        let links = [vec![(1, 1_250), (2, 4_000)], vec![(0, 1_250), (2, 1_250)], vec![(0, 4_000), (1, 1_250)]];
        let paths = ShortestPaths::cheapest_through(&links, |_| true);
        assert_eq!((paths.path(0, 2), paths.cost(0, 2), paths.hops(0, 2)), (Some(vec![0, 1, 2]), Some(2_500), Some(2)));
        assert_eq!((paths.path(0, 1), paths.cost(0, 1)), (Some(vec![0, 1]), Some(1_250)));
        // The direct path costs as much, with fewer hops; there is no path back.
        let even = ShortestPaths::cheapest_through(&[vec![(1, 1_000), (2, 2_000)], vec![(2, 1_000)], vec![]], |_| true);
        assert_eq!((even.path(0, 2), even.cost(0, 2), even.hops(2, 0)), (Some(vec![0, 2]), Some(2_000), None));
        assert_eq!((even.cost(2, 0), even.cost(1, 1), even.is_connected()), (None, Some(0), false));
    }

    proptest! {
        /// If all links cost the same, the cheapest paths are the shortest, ties included; whatever the costs, no
        /// detour over one more link is cheaper.
        #[test]
        fn cheapest_paths_are_what_they_say(
            links in prop::collection::vec((0..8usize, 0..8usize, 1..5u32), 0..40), equal in any::<bool>(),
        ) {
            let mut lists = vec![Vec::new(); 8];
            for (from, to, cost) in links.into_iter().filter(|(from, to, _)| from != to) {
                lists[from].push((to, if equal { 1 } else { cost }));
            }
            let paths = ShortestPaths::cheapest_through(&lists, |_| true);
            for (from, list) in lists.iter().enumerate() {
                for to in 0..8 {
                    let over = |&(next, cost): &(usize, u32)| Some(paths.cost(next, to)? + u64::from(cost));
                    let least = list.iter().filter_map(over).min();
                    prop_assert_eq!(paths.cost(from, to), if from == to { Some(0) } else { least });
                    let walked = paths.path(from, to).map(|path| path.len() as u32 - 1);
                    prop_assert_eq!(walked, paths.hops(from, to));
                }
            }
            if equal {
                let plain: Vec<Vec<usize>> =
                    lists.iter().map(|list| list.iter().map(|&(to, _)| to).collect()).collect();
                let shortest = ShortestPaths::new(&plain);
                let ways = |paths: &ShortestPaths| {
                    (0..64).map(|n| (paths.path(n / 8, n % 8), paths.cost(n / 8, n % 8))).collect::<Vec<_>>()
                };
                prop_assert_eq!(ways(&paths), ways(&shortest));
            }
        }
    }

    #[test]
    fn a_relay_takes_one_ttl_and_drops_what_has_none_left() {
        let [a, b] = [NodeId(1), NodeId(2)].map(NodeId::ipv4);
        let mut routes = StaticRoutes::new(a, [(NodeId(3).ipv4(), b, 2)]);
        let mut out = Vec::new();
        routes.handle_transit(Time::ZERO, echo(0, 3, 2), None, &mut out);
        routes.handle_transit(Time::ZERO, echo(0, 3, 1), None, &mut out);
        routes.handle_transit(Time::ZERO, echo(0, 9, 8), None, &mut out);
        routes.handle_transit(Time::ZERO, echo(1, 3, 8), None, &mut out);
        assert_eq!(
            out,
            [
                Action::Send { packet: echo(0, 3, 1), next_hop: NextHop::Unicast(b) },
                Action::Drop { packet: echo(0, 3, 1), reason: DropReason::TtlExpired },
                Action::Drop { packet: echo(0, 9, 7), reason: DropReason::NoRoute },
                Action::Drop { packet: echo(1, 3, 8), reason: DropReason::RouteLoop },
            ]
        );
    }
}
