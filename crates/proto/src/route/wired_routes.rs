//! Routes of a node with wired links: which of its ports leads to which node.
//!
//! The ways to other wired nodes never change and are given. Where a node with a radio is to be found changes as it moves
//! from one gateway to another; nobody announces it. Instead a router remembers from which port the last packet came that
//! such a node had sent, and sends packets for it back that way: the rule of Cellular IP (Valkó, ACM CCR
//! 29(1), 1999): packets on their way up leave the way down behind them. So the news of a handover travels with the first packet
//! through the new gateway, as fast as the links carry it and to just those routers that the other end's packets pass.
//! Before the first packet the nearest gateway is taken.
//!
//! Leaves out: prefixes (a table has a place for each node), expiry of what was learned, links that fail, costs.

use core::net::Ipv4Addr;
use fourhop_units::NodeId;

/// Number of a port among those of its node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PortId(pub u16);

/// The table of one node. No call changes a timeout: there is none.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct WiredRoutes {
    /// For each wired node; none for this one and for what cannot be reached.
    wired: Vec<Option<PortId>>,
    /// For each node with a radio.
    mesh: Vec<Option<PortId>>,
}

impl WiredRoutes {
    /// The ports that lead to each wired node and, at the start, to each node with a radio.
    pub fn new(wired: Vec<Option<PortId>>, mesh: Vec<Option<PortId>>) -> WiredRoutes {
        WiredRoutes { wired, mesh }
    }

    /// The port that leads to `dst`.
    pub fn port(&self, dst: Ipv4Addr) -> Option<PortId> {
        let node = NodeId::from_ipv4(dst)?;
        match node.wired_number() {
            Some(number) => *self.wired.get(number)?,
            None => *self.mesh.get(node.index())?,
        }
    }

    /// A packet from `src` came in by `port`.
    pub fn handle_passage(&mut self, src: Ipv4Addr, port: PortId) {
        if let Some(node) = NodeId::from_ipv4(src)
            && node.wired_number().is_none()
            && let Some(way) = self.mesh.get_mut(node.index())
        {
            *way = Some(port);
        }
    }
}

/// Is this the address of a node without a radio?
pub fn is_wired(addr: Ipv4Addr) -> bool {
    NodeId::from_ipv4(addr).is_some_and(|node| node.wired_number().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_on_their_way_up_leave_the_way_down_behind_them() {
        let [to_first, to_second, to_host] = [0, 1, 2].map(PortId);
        let mut routes = WiredRoutes::new(vec![None, Some(to_host)], vec![Some(to_first); 2]);
        let (moving, staying, host) = (NodeId(0).ipv4(), NodeId(1).ipv4(), NodeId::wired(1).ipv4());
        assert_eq!(routes.port(moving), Some(to_first));
        routes.handle_passage(moving, to_second);
        routes.handle_passage(host, to_first);
        assert_eq!((routes.port(moving), routes.port(staying)), (Some(to_second), Some(to_first)));
        assert_eq!(routes.port(host), Some(to_host), "ways to wired nodes are not learned");
        assert_eq!((routes.port(NodeId(9).ipv4()), routes.port(Ipv4Addr::new(192, 0, 2, 1))), (None, None));
    }
}
