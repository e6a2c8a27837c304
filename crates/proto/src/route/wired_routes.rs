//! Routes of a node with wired links: the outgoing port for each destination.
//!
//! The routes to hosts and networks behind gateways are given and never change. The location of a mesh node changes as
//! it moves from one gateway to another, and is not announced. Instead, a router remembers the port on which the last
//! packet from such a node arrived, and sends packets for it out of that port. This is the rule of Cellular IP (Valkó,
//! ACM CCR 29(1), 1999): upward packets set up the downward route. A handover therefore becomes known with the first
//! packet through the new gateway, as fast as the links carry it, and to exactly those routers that the peer's packets
//! pass through. Until that first packet, the given route is used.
//!
//! Leaves out: expiry of learned entries, link failures, costs.

use super::{AddressPlan, Prefix};
use core::cmp::Reverse;
use core::net::Ipv4Addr;

/// Number of a port of its node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PortId(pub u16);

/// Maximum number of routes to single addresses, given ones included, beyond which none is learned: forged sources
/// cannot fill the memory.
const MOST_ROUTES: usize = 1 << 20;

/// The table of one node. It never needs a timeout.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct WiredRoutes {
    plan: AddressPlan,
    /// Routes to single addresses, by address; those to mesh nodes follow their packets.
    hosts: Vec<(Ipv4Addr, PortId)>,
    /// Routes to networks, longest prefix first.
    networks: Vec<(Prefix, PortId)>,
}

impl WiredRoutes {
    /// Creates the table from the port that leads to each prefix. For the nodes that `plan` puts in the mesh, these are
    /// the initial ports. Of several routes to one prefix, the first counts.
    pub fn new(plan: AddressPlan, routes: impl IntoIterator<Item = (Prefix, PortId)>) -> WiredRoutes {
        let (hosts, mut networks): (Vec<_>, Vec<_>) = routes.into_iter().partition(|(prefix, _)| prefix.bits() == 32);
        let mut hosts: Vec<_> = hosts.into_iter().map(|(prefix, port)| (prefix.addr(), port)).collect();
        hosts.sort_by_key(|&(addr, _)| addr);
        hosts.dedup_by_key(|&mut (addr, _)| addr);
        networks.sort_by_key(|(prefix, _)| Reverse(prefix.bits()));
        WiredRoutes { plan, hosts, networks }
    }

    fn place(&self, addr: Ipv4Addr) -> Result<usize, usize> {
        self.hosts.binary_search_by_key(&addr, |&(other, _)| other)
    }

    /// Returns the port that leads to `dst`.
    pub fn port(&self, dst: Ipv4Addr) -> Option<PortId> {
        match self.place(dst) {
            Ok(at) => Some(self.hosts[at].1),
            Err(_) => self.networks.iter().find(|(prefix, _)| prefix.contains(dst)).map(|&(_, port)| port),
        }
    }

    /// Learns from a packet from `src` that arrived on `port`.
    pub fn handle_passage(&mut self, src: Ipv4Addr, port: PortId) {
        if self.plan.is_outside(src) {
            return;
        }
        match self.place(src) {
            Ok(at) => self.hosts[at].1 = port,
            Err(at) if self.hosts.len() < MOST_ROUTES => self.hosts.insert(at, (src, port)),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_on_their_way_up_leave_the_way_down_behind_them() {
        let [to_first, to_second, to_host] = [0, 1, 2].map(PortId);
        let [moving, staying, late, host] = [1, 2, 3, 200].map(|n| Ipv4Addr::new(172, 16, 0, n));
        let plan = AddressPlan::default().with_outside(Prefix::new(host, 25));
        let given = [(moving, to_first), (host, to_host), (staying, to_first)];
        let mut routes = WiredRoutes::new(plan, given.map(|(addr, port)| (Prefix::host(addr), port)));
        assert_eq!((routes.port(moving), routes.port(late)), (Some(to_first), None));
        routes.handle_passage(moving, to_second);
        routes.handle_passage(late, to_second);
        routes.handle_passage(host, to_first);
        assert_eq!((routes.port(moving), routes.port(staying)), (Some(to_second), Some(to_first)));
        assert_eq!(routes.port(late), Some(to_second), "nothing was known of it");
        assert_eq!(routes.port(host), Some(to_host), "ways out of the mesh are not learned");
        assert_eq!(routes.port(Ipv4Addr::new(192, 0, 2, 1)), None);
    }

    #[test]
    fn of_several_networks_the_smallest_counts_and_a_host_before_them() {
        let addr = |last: u8| Ipv4Addr::new(192, 0, 2, last);
        let prefix = |last: u8, len: u8| Prefix::new(addr(last), len).expect("at most 32 bits");
        let given = [(prefix(0, 0), 0), (prefix(0, 24), 1), (prefix(128, 25), 2), (prefix(129, 32), 3)];
        let routes = WiredRoutes::new(AddressPlan::default(), given.map(|(prefix, port)| (prefix, PortId(port))));
        let port = |addr| routes.port(addr).map(|port| port.0);
        assert_eq!([127, 128, 129].map(|last| port(addr(last))), [Some(1), Some(2), Some(3)]);
        assert_eq!(port(Ipv4Addr::new(198, 51, 100, 1)), Some(0));
    }
}
