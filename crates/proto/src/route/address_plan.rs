//! Address plan: which addresses are nodes of the mesh, and which are behind a gateway.
//!
//! An address alone does not show this. The driver knows it from the scenario or from the device's configuration.

use crate::wire::Prefix;
use core::cmp::Reverse;
use core::net::Ipv4Addr;

/// Where addresses are. The longest matching prefix decides, and the mesh wins between equal ones; an address that
/// matches none belongs to the mesh.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AddressPlan {
    /// (prefix, whether it is behind a gateway), in order of precedence.
    prefixes: Vec<(Prefix, bool)>,
}

impl AddressPlan {
    /// Adds prefixes behind gateways.
    pub fn with_outside(self, prefixes: impl IntoIterator<Item = Prefix>) -> AddressPlan {
        self.with(prefixes, true)
    }

    /// Adds prefixes in the mesh: exceptions from shorter prefixes behind gateways, such as the whole Internet.
    pub fn with_mesh(self, prefixes: impl IntoIterator<Item = Prefix>) -> AddressPlan {
        self.with(prefixes, false)
    }

    fn with(mut self, prefixes: impl IntoIterator<Item = Prefix>, outside: bool) -> AddressPlan {
        self.prefixes.extend(prefixes.into_iter().map(|prefix| (prefix, outside)));
        self.prefixes.sort_by_key(|&(prefix, outside)| (Reverse(prefix.bits()), outside));
        self
    }

    /// Returns whether this address is reached through a gateway.
    pub fn is_outside(&self, addr: Ipv4Addr) -> bool {
        self.prefixes.iter().find(|(prefix, _)| prefix.contains(addr)).is_some_and(|&(_, outside)| outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn prefix(a: u8, b: u8, len: u8) -> Prefix {
        Prefix::new(Ipv4Addr::new(a, b, 77, 1), len).expect("at most 32 bits")
    }

    #[test]
    fn the_longest_prefix_says_where_an_address_is() {
        let [internet, lan, mesh] = [prefix(0, 0, 0), prefix(172, 16, 12), prefix(172, 20, 16)];
        let plan = AddressPlan::default().with_outside([internet]).with_mesh([lan]).with_outside([mesh]);
        let at = |b: u8| plan.is_outside(Ipv4Addr::new(172, b, 0, 1));
        assert_eq!([at(15), at(16), at(20), at(21), at(32)], [true, false, true, false, true]);
        assert!(!plan.with_mesh([mesh]).is_outside(Ipv4Addr::new(172, 20, 0, 1)), "of equal ones the mesh");
        assert!(!AddressPlan::default().is_outside(Ipv4Addr::new(192, 0, 2, 1)), "there is no gateway");
    }
}
