//! The wired side, and the routes through it.

use core::net::Ipv4Addr;
use fourhop_proto::net::port;
use fourhop_proto::route::{AddressPlan, PortId, Prefix, ShortestPaths, WiredRoutes};
use fourhop_units::NodeId;

/// A full-duplex link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cable {
    /// Its ends: nodes without a radio, or gateways.
    pub ends: [NodeId; 2],
    /// Configuration of each direction.
    pub port: port::Config,
}

/// Nodes without radios, gateways and the links between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Nodes with a radio and wires. Of equally near ones, the first is preferred.
    pub gateways: Vec<NodeId>,
    /// Number of nodes without radios.
    pub hosts: u32,
    /// The links. The ports of a node are numbered in the order in which its links are listed.
    pub cables: Vec<Cable>,
}

impl Plan {
    /// Addresses of the nodes without radios, and of no others ([`NodeId::wired`]).
    // INVARIANT: nine bits are at most 32.
    pub const OUTSIDE: Prefix = Prefix::new(Ipv4Addr::new(10, 128, 0, 0), 9).expect("at most 32 bits");

    /// Returns the address plan, with [`Plan::OUTSIDE`] behind gateways.
    pub fn addresses(&self) -> AddressPlan {
        AddressPlan::default().with_outside([Self::OUTSIDE])
    }

    /// Returns the ports of `node`: the index of the cable, and the node at the other end.
    pub fn ports(&self, node: NodeId) -> impl Iterator<Item = (usize, NodeId)> + '_ {
        self.cables.iter().enumerate().filter_map(move |(index, cable)| match cable.ends {
            [a, b] if a == node => Some((index, b)),
            [a, b] if b == node => Some((index, a)),
            _ => None,
        })
    }

    /// Returns all nodes with wires: those without radios, then gateways.
    fn nodes(&self) -> Vec<NodeId> {
        (0..self.hosts).map(NodeId::wired).chain(self.gateways.iter().copied()).collect()
    }

    /// Returns the routing tables of all nodes with wires, in the order of `nodes`: shortest paths by number of links.
    /// `mesh_hops` contains for each gateway the radio hops to each node with a radio at the start.
    pub fn routes(&self, mesh_hops: &[Vec<Option<u32>>]) -> Vec<WiredRoutes> {
        let nodes = self.nodes();
        let place = |node: NodeId| nodes.iter().position(|&other| other == node);
        let adjacency: Vec<Vec<usize>> =
            nodes.iter().map(|&node| self.ports(node).filter_map(|(_, peer)| place(peer)).collect()).collect();
        let paths = ShortestPaths::new(&adjacency);
        let port = |from: usize, to: usize| {
            let next = nodes[paths.next_hop(from, to)?];
            let number = self.ports(nodes[from]).position(|(_, peer)| peer == next)?;
            Some(PortId(number as u16))
        };
        let hosts = self.hosts as usize;
        let table = |from: usize| {
            let wired = (0..hosts).filter_map(|to| Some((nodes[to], port(from, to)?)));
            // A gateway reaches all nodes with radios on its other side.
            let radios = if from < hosts { mesh_hops.first().map_or(0, Vec::len) } else { 0 };
            let reachable: Vec<_> =
                (0..self.gateways.len()).filter_map(|gateway| Some((gateway, port(from, hosts + gateway)?))).collect();
            let nearest = |node: usize| {
                let hops = |&&(gateway, _): &&(usize, PortId)| mesh_hops[gateway][node].unwrap_or(u32::MAX);
                reachable.iter().min_by_key(hops).map(|&(_, port)| port)
            };
            let mesh = (0..radios).filter_map(|n| Some((NodeId(n as u32), nearest(n)?)));
            let routes = wired.chain(mesh).map(|(node, port)| (Prefix::host(node.ipv4()), port));
            WiredRoutes::new(self.addresses(), routes)
        };
        (0..nodes.len()).map(table).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::{Bytes, Dur, Rate};

    fn plan(gateways: &[u32], hosts: u32, cables: &[[NodeId; 2]]) -> Plan {
        let port = port::Config {
            rate: Rate::kbps(10_000),
            delay: Dur::from_millis(40),
            queue: 50,
            queue_bytes: None,
            overhead: Bytes(0),
        };
        let cables = cables.iter().map(|&ends| Cable { ends, port }).collect();
        Plan { gateways: gateways.iter().map(|&n| NodeId(n)).collect(), hosts, cables }
    }

    #[test]
    fn mesh_nodes_are_first_sought_behind_the_nearest_gateway_and_the_first_of_equals() {
        // Radios 0 - 1 - 2 - 3 - 4, gateways 4 and 0, listed in this order; router 0 connects both to host 1.
        let [router, host] = [0, 1].map(NodeId::wired);
        let cables = [[NodeId(0), router], [router, NodeId(4)], [host, router]];
        let plan = plan(&[4, 0], 2, &cables);
        let far = |gateway: u32| (0..5u32).map(|n| Some(n.abs_diff(gateway))).collect::<Vec<_>>();
        let routes = plan.routes(&[far(4), far(0)]);
        let ways: Vec<_> = (0..5).map(|n| routes[0].port(NodeId(n).ipv4()).unwrap().0).collect();
        assert_eq!(ways, [0, 0, 1, 1, 1], "node 2 is two hops from both and belongs to the gateway listed first");
        assert_eq!(routes[1].port(NodeId(0).ipv4()), Some(PortId(0)), "the host's one wire");
        assert_eq!(routes[0].port(host.ipv4()), Some(PortId(2)));
        assert_eq!(routes[2].port(host.ipv4()), Some(PortId(0)), "a gateway knows the wired nodes");
        assert_eq!(routes[2].port(NodeId(1).ipv4()), None, "and leaves the others to the mesh");
    }
}
