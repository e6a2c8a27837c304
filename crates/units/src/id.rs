//! Names of nodes and their addresses.

use core::fmt;
use core::net::Ipv4Addr;

/// A node of the network, numbered from 0 in the order of the scenario. Nodes without a radio are numbered separately,
/// from [`NodeId::FIRST_WIRED`] on, which gives them a separate subnet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct NodeId(pub u32);

/// An IEEE 802 MAC address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl NodeId {
    /// The first number of nodes without a radio. Nodes with radios have addresses in 10.0.0.0/9, the others in
    /// 10.128.0.0/9.
    pub const FIRST_WIRED: u32 = 1 << 23;

    /// The `n`th node without a radio, counted from 0.
    pub const fn wired(n: u32) -> NodeId {
        NodeId(Self::FIRST_WIRED + n)
    }

    /// Returns the number among nodes without a radio, if this is one.
    pub const fn wired_number(self) -> Option<usize> {
        match self.0.checked_sub(Self::FIRST_WIRED) {
            Some(n) => Some(n as usize),
            None => None,
        }
    }

    /// Index into an array of nodes with radios.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the locally administered unicast address 02:00 + node number.
    pub const fn mac(self) -> MacAddr {
        let n = self.0.to_be_bytes();
        MacAddr([0x02, 0x00, n[0], n[1], n[2], n[3]])
    }

    /// Returns the address in 10.0.0.0/8: node 0 is 10.0.0.1, the first node without a radio 10.128.0.1.
    pub const fn ipv4(self) -> Ipv4Addr {
        let [_, b, c, d] = (self.0 + 1).to_be_bytes();
        Ipv4Addr::new(10, b, c, d)
    }

    /// Returns the node with address `addr`, if that has the form that [`NodeId::ipv4`] returns.
    pub const fn from_ipv4(addr: Ipv4Addr) -> Option<NodeId> {
        let [a, b, c, d] = addr.octets();
        match u32::from_be_bytes([0, b, c, d]).checked_sub(1) {
            Some(n) if a == 10 => Some(NodeId(n)),
            _ => None,
        }
    }
}

impl MacAddr {
    /// All stations.
    pub const BROADCAST: MacAddr = MacAddr([0xff; 6]);

    /// Returns the node with this address, if it has the form that [`NodeId::mac`] returns.
    pub const fn node(self) -> Option<NodeId> {
        match self.0 {
            [0x02, 0x00, a, b, c, d] => Some(NodeId(u32::from_be_bytes([a, b, c, d]))),
            _ => None,
        }
    }

    /// Whether this is [`MacAddr::BROADCAST`].
    pub fn is_broadcast(self) -> bool {
        self == MacAddr::BROADCAST
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_back_to_the_node() {
        for n in [0, 1, 254, 255, 70_000] {
            assert_eq!(NodeId::from_ipv4(NodeId(n).ipv4()), Some(NodeId(n)));
            assert_eq!(NodeId(n).mac().node(), Some(NodeId(n)));
        }
        assert_eq!(NodeId(0).ipv4(), Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(NodeId::wired(2).ipv4(), Ipv4Addr::new(10, 128, 0, 3));
        let wired = NodeId::from_ipv4(Ipv4Addr::new(10, 128, 0, 3)).and_then(NodeId::wired_number);
        assert_eq!((wired, NodeId(70_000).wired_number()), (Some(2), None));
        assert_eq!(NodeId::from_ipv4(Ipv4Addr::new(192, 168, 0, 1)), None);
        assert!(MacAddr::BROADCAST.is_broadcast() && !NodeId(7).mac().is_broadcast());
    }
}
