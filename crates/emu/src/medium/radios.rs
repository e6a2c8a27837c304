//! The kernel's radios as nodes of the scenario.

use super::hwsim::Address;
use fourhop_units::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A radio.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Radio {
    /// Its node.
    pub node: NodeId,
    /// The channel on which it was last heard, in MHz.
    pub frequency: Option<u32>,
    /// Addresses of its interfaces.
    pub addresses: Vec<Address>,
    /// Frames that it has sent.
    pub sent: u64,
}

/// The known radios.
#[derive(Clone, Debug, Default)]
pub struct Radios {
    /// Nodes assigned to radios explicitly, rather than by number.
    given: BTreeMap<Address, NodeId>,
    nodes: u32,
    radios: BTreeMap<Address, Radio>,
    /// The radio of each node.
    of: BTreeMap<NodeId, Address>,
    /// Nodes whose radio was removed.
    free: BTreeSet<NodeId>,
}

impl Radios {
    /// No radio is known yet.
    pub fn new(nodes: usize, given: BTreeMap<Address, NodeId>) -> Radios {
        Radios { given, nodes: nodes as u32, ..Radios::default() }
    }

    /// The radio of this address, which is registered if it was unknown; `None` if it is not a node.
    pub fn meet(&mut self, address: Address) -> Option<&mut Radio> {
        if !self.radios.contains_key(&address) {
            let node = self.node(address)?;
            self.free.remove(&node);
            self.of.insert(node, address);
            let radio = Radio { node, frequency: None, addresses: Vec::new(), sent: 0 };
            self.radios.insert(address, radio);
        }
        self.radios.get_mut(&address)
    }

    fn node(&self, address: Address) -> Option<NodeId> {
        let given = self.given.get(&address).copied();
        // A node assigned to one radio is not available to another.
        let by_number = || number(address).map(NodeId).filter(|node| !self.given.values().any(|other| other == node));
        let named = given.or_else(by_number).filter(|node| node.0 < self.nodes && !self.of.contains_key(node));
        // hwsim does not reuse numbers: a radio added late takes the node of a removed one.
        named.or_else(|| number(address).filter(|&number| number >= self.nodes).and(self.free.first().copied()))
    }

    /// Removes the radio with this number. Its node becomes free for the next one.
    pub fn remove(&mut self, gone: u32) -> Option<(Address, Radio)> {
        let address = self.radios.keys().copied().find(|&address| number(address) == Some(gone))?;
        self.remove_at(address)
    }

    /// Removes all radios.
    pub fn clear(&mut self) -> Vec<(Address, Radio)> {
        let all: Vec<_> = self.radios.keys().copied().collect();
        all.into_iter().filter_map(|address| self.remove_at(address)).collect()
    }

    fn remove_at(&mut self, address: Address) -> Option<(Address, Radio)> {
        let radio = self.radios.remove(&address)?;
        self.of.remove(&radio.node);
        // A node assigned to one radio is not available to another.
        if !self.given.values().any(|&node| node == radio.node) {
            self.free.insert(radio.node);
        }
        Some((address, radio))
    }

    /// Records that an interface of a radio has this address.
    pub fn learn(&mut self, radio: Address, address: Address) {
        if let Some(radio) = self.meet(radio)
            && !radio.addresses.contains(&address)
        {
            radio.addresses.push(address);
        }
    }

    /// Removes an address of a radio.
    pub fn forget(&mut self, radio: Address, address: Address) {
        if let Some(radio) = self.radios.get_mut(&radio) {
            radio.addresses.retain(|&other| other != address);
        }
    }

    /// The node with this address on this channel.
    pub fn find(&self, address: Address, frequency: u32) -> Option<NodeId> {
        let there = |radio: &&Radio| radio.frequency == Some(frequency) && radio.addresses.contains(&address);
        self.radios.values().find(there).map(|radio| radio.node)
    }

    /// The address of a node's radio.
    pub fn of(&self, node: NodeId) -> Option<Address> {
        self.of.get(&node).copied()
    }

    /// All radios, by address.
    pub fn all(&self) -> impl Iterator<Item = (Address, &Radio)> {
        self.radios.iter().map(|(&address, radio)| (address, radio))
    }
}

/// The number of a radio, from an address assigned by hwsim: 42:00:00, two bytes, 00.
fn number(address: Address) -> Option<u32> {
    match address {
        [0x42, 0, 0, high, low, 0] => Some(u32::from(high) << 8 | u32::from(low)),
        _ => None,
    }
}

/// Parses an address. A radio may also be given by the address of its first interface, 02:00:00 and so on.
///
/// # Errors
/// If it is not an address.
pub fn parse(text: &str) -> Result<Address, String> {
    let refused = || format!("found {text:?}, allowed: the address of a radio, such as 42:00:00:00:03:00");
    let mut bytes = text.split(':').map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2));
    let mut address: Address = [0; 6];
    for byte in &mut address {
        *byte = bytes.next().flatten().ok_or_else(refused)?;
    }
    // hwsim gives each radio two addresses, which differ in this bit, and identifies it by the second.
    address[0] |= 0x40;
    if bytes.next().is_none() { Ok(address) } else { Err(refused()) }
}

/// An address in readable form.
pub struct Shown(pub Address);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn radio(number: u8) -> Address {
        [0x42, 0, 0, 0, number, 0]
    }

    #[test]
    fn radios_are_nodes_by_number_or_as_it_is_said() {
        let given = BTreeMap::from([([0x46, 1, 2, 3, 4, 5], NodeId(1))]);
        let mut radios = Radios::new(3, given);
        let mut node = |address| radios.meet(address).map(|radio| radio.node.0);
        assert_eq!((node(radio(0)), node(radio(2)), node(radio(3))), (Some(0), Some(2), None));
        assert_eq!((node(radio(1)), node([0x46, 1, 2, 3, 4, 5])), (None, Some(1)), "node 1 is another radio's");
        assert_eq!((node([0x46, 1, 2, 3, 4, 6]), node(radio(2))), (None, Some(2)));
        assert_eq!((radios.of(NodeId(1)), radios.all().count()), (Some([0x46, 1, 2, 3, 4, 5]), 3));
    }

    #[test]
    fn an_address_is_found_on_the_channel_where_its_radio_was_heard() {
        let mut radios = Radios::new(2, BTreeMap::new());
        let address = [2, 0, 0, 0, 1, 0];
        radios.learn(radio(1), address);
        assert_eq!(radios.find(address, 2412), None, "nobody knows where it listens");
        radios.meet(radio(1)).unwrap().frequency = Some(2412);
        assert_eq!((radios.find(address, 2412), radios.find(address, 2437)), (Some(NodeId(1)), None));
        radios.forget(radio(1), address);
        assert_eq!(radios.find(address, 2412), None);
    }

    #[test]
    fn a_radio_that_comes_late_takes_the_place_of_one_that_went() {
        let mut radios = Radios::new(3, BTreeMap::from([([0x46, 1, 2, 3, 4, 5], NodeId(1))]));
        for address in [radio(0), radio(2), [0x46, 1, 2, 3, 4, 5]] {
            assert!(radios.meet(address).is_some());
        }
        assert_eq!(radios.meet(radio(7)), None, "all places are taken");
        radios.learn(radio(2), [2, 0, 0, 0, 2, 0]);
        radios.meet(radio(2)).unwrap().frequency = Some(2412);
        assert_eq!(radios.remove(9), None);
        assert_eq!(radios.remove(2).map(|(address, gone)| (address, gone.node)), Some((radio(2), NodeId(2))));
        assert_eq!((radios.of(NodeId(2)), radios.find([2, 0, 0, 0, 2, 0], 2412)), (None, None));
        assert_eq!(radios.meet(radio(7)).map(|radio| radio.node), Some(NodeId(2)));
        assert_eq!(radios.meet(radio(2)), None);
        assert_eq!((radios.clear().len(), radios.all().count()), (3, 0), "the module was unloaded");
        assert_eq!(radios.meet(radio(8)).map(|radio| radio.node), Some(NodeId(0)), "not the node that is given away");
        assert_eq!(radios.meet(radio(0)), None);
        assert_eq!(radios.meet([0x46, 1, 2, 3, 4, 5]).map(|radio| radio.node), Some(NodeId(1)));
    }

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let parsed = parse("02:00:00:00:0a:00").unwrap();
        assert_eq!((parsed, Shown(parsed).to_string().as_str()), (radio(10), "42:00:00:00:0a:00"));
        for text in ["", "02:00:00:00:0a", "02:00:00:00:0a:00:01", "02:00:00:00:0a:0g", "2:0:0:0:0:0"] {
            assert!(parse(text).unwrap_err().starts_with(&format!("found {text:?}, allowed: ")), "{text}");
        }
    }
}
