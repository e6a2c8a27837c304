//! The radios of a network and their channels.
//!
//! A station is one radio of a node: it transmits and receives. Stations are numbered, and a station's MAC and IP
//! addresses are derived from its number. The first radio of a node has the node's number; further ones follow the last
//! node, node by node. A network with one radio per node therefore has as many stations as nodes, with the same
//! numbers.
//!
//! A frame is heard only on its channel: channels are orthogonal. Leakage into adjacent channels, and the effect of a
//! node's transmitter on its other receivers, are left out.

use crate::channel::Neighbour;
use crate::grid::insertion_sort;
use fourhop_proto::net::Addresses;
use fourhop_proto::node::OnChannel;
use fourhop_units::NodeId;
use std::collections::BTreeMap;

/// Number of a channel.
pub type ChannelNumber = u8;

/// The radios of each node, with their channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stations {
    nodes: u32,
    /// Channel of each station.
    channels: Vec<ChannelNumber>,
    /// Node of each further station, and index among its radios.
    further: Vec<(NodeId, usize)>,
    /// Index of each node's first further station in `further`; one more at the end. Empty if there are no further
    /// stations.
    begin: Vec<u32>,
}

impl Stations {
    /// One radio at each of `nodes` nodes, all on one channel.
    pub fn single(nodes: usize) -> Stations {
        Stations { nodes: nodes as u32, channels: vec![0; nodes], further: Vec::new(), begin: Vec::new() }
    }

    /// Radios on these channels at each node, in order: at least one, and no channel twice.
    pub fn new(plan: &[Vec<ChannelNumber>]) -> Stations {
        debug_assert!(plan.iter().all(|radios| !radios.is_empty()), "each node has a radio");
        let further = || plan.iter().enumerate().flat_map(|(node, radios)| (1..radios.len()).map(move |n| (node, n)));
        let mut begin = vec![0];
        begin.extend(plan.iter().scan(0, |sum, radios| {
            *sum += radios.len() as u32 - 1;
            Some(*sum)
        }));
        let first = plan.iter().map(|radios| radios[0]);
        Stations {
            nodes: plan.len() as u32,
            channels: first.chain(further().map(|(node, n)| plan[node][n])).collect(),
            further: further().map(|(node, n)| (NodeId(node as u32), n)).collect(),
            begin: if further().next().is_some() { begin } else { Vec::new() },
        }
    }

    /// Returns the number of stations.
    pub fn count(&self) -> usize {
        self.channels.len()
    }

    /// Whether any node has more than one radio.
    pub fn are_several(&self) -> bool {
        !self.further.is_empty()
    }

    /// Whether the channels let everybody hear everybody.
    pub fn share_one_channel(&self) -> bool {
        !self.are_several() && self.channels.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Returns the node of a station, and the station's index among its radios.
    pub fn owner(&self, station: NodeId) -> (NodeId, usize) {
        match station.0.checked_sub(self.nodes) {
            None => (station, 0),
            Some(place) => self.further[place as usize],
        }
    }

    /// Returns the node of a station; other numbers are returned unchanged.
    pub fn node(&self, station: NodeId) -> NodeId {
        let further = station.0.checked_sub(self.nodes).and_then(|place| self.further.get(place as usize));
        further.map_or(station, |&(node, _)| node)
    }

    /// Returns the channel of a station.
    pub fn channel(&self, station: NodeId) -> ChannelNumber {
        self.channels[station.index()]
    }

    /// Returns the channels in use, in ascending order.
    pub fn channels(&self) -> Vec<ChannelNumber> {
        let mut channels = self.channels.clone();
        channels.sort_unstable();
        channels.dedup();
        channels
    }

    /// Returns the stations of a node in the order of its radios.
    pub fn of(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let further = match self.begin.get(node.index()..node.index() + 2) {
            Some(&[from, to]) => from..to,
            _ => 0..0,
        };
        [node].into_iter().chain(further.map(|place| NodeId(self.nodes + place)))
    }

    /// Returns the station of a node on a channel.
    pub fn on(&self, node: NodeId, channel: ChannelNumber) -> Option<NodeId> {
        self.of(node).find(|&station| self.channel(station) == channel)
    }

    /// Returns the channels on which both nodes have a radio, in the order of the first node's radios.
    pub fn shared(&self, [a, b]: [NodeId; 2]) -> impl Iterator<Item = ChannelNumber> + '_ {
        self.of(a).map(|station| self.channel(station)).filter(move |&channel| self.on(b, channel).is_some())
    }

    /// Replaces the nodes near a station's node by their stations that hear its channel, in the order in which a frame
    /// reaches them.
    pub fn hear(&self, station: NodeId, near: &mut Vec<Neighbour>) {
        let channel = self.channel(station);
        near.retain_mut(|neighbour| match self.on(neighbour.node, channel) {
            Some(there) => {
                neighbour.node = there;
                true
            }
            None => false,
        });
        insertion_sort(near, Neighbour::order);
    }

    /// Returns the addresses of a station.
    pub fn addresses(station: NodeId) -> Addresses {
        Addresses { ip: station.ipv4(), mac: station.mac() }
    }

    /// Returns the addresses on each channel.
    pub fn by_channel(&self) -> BTreeMap<ChannelNumber, OnChannel> {
        let mut lists: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (station, &channel) in (0..).map(NodeId).zip(&self.channels) {
            lists.entry(channel).or_default().push(station.ipv4());
        }
        lists.into_iter().map(|(channel, addresses)| (channel, addresses.into())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::Watt;

    #[test]
    fn a_single_radio_has_the_number_of_its_node() {
        let stations = Stations::single(3);
        assert!(stations.share_one_channel());
        assert_eq!((stations.count(), stations.owner(NodeId(2))), (3, (NodeId(2), 0)));
        assert_eq!(stations.of(NodeId(1)).collect::<Vec<_>>(), [NodeId(1)]);
        assert_eq!(Stations::new(&[vec![0], vec![0], vec![0]]), stations);
    }

    #[test]
    fn further_radios_follow_the_last_node() {
        let stations = Stations::new(&[vec![1], vec![1, 6, 11], vec![6], vec![11, 1]]);
        assert_eq!((stations.count(), stations.channels()), (7, vec![1, 6, 11]));
        let owners: Vec<_> = (0..7).map(|station| stations.owner(NodeId(station))).map(|(n, r)| (n.0, r)).collect();
        assert_eq!(owners, [(0, 0), (1, 0), (2, 0), (3, 0), (1, 1), (1, 2), (3, 1)]);
        assert_eq!(stations.of(NodeId(1)).map(|station| station.0).collect::<Vec<_>>(), [1, 4, 5]);
        assert_eq!(stations.of(NodeId(2)).map(|station| station.0).collect::<Vec<_>>(), [2]);
        assert_eq!([1, 6, 11].map(|channel| stations.on(NodeId(3), channel)), [Some(NodeId(6)), None, Some(NodeId(3))]);
        assert_eq!(stations.shared([NodeId(1), NodeId(3)]).collect::<Vec<_>>(), [1, 11]);
        assert_eq!(stations.by_channel()[&1][..], [0, 1, 6].map(|station| NodeId(station).ipv4()));
        assert_eq!([4, 9].map(|number| stations.node(NodeId(number)).0), [1, 9], "a host stays what it is");
    }

    #[test]
    fn a_frame_is_heard_on_its_channel_alone() {
        let stations = Stations::new(&[vec![1, 6], vec![6, 1], vec![1], vec![6]]);
        let near = || (1..4).map(|node| Neighbour::new(NodeId(node), Watt(1.0), 10.0)).collect::<Vec<_>>();
        let heard = |station| {
            let mut near = near();
            stations.hear(NodeId(station), &mut near);
            near.iter().map(|neighbour| neighbour.node.0).collect::<Vec<_>>()
        };
        // Node 0 has stations 0 (channel 1) and 4 (channel 6), node 1 stations 1 (6) and 5 (1).
        assert_eq!((heard(0), heard(4)), (vec![2, 5], vec![1, 3]));
    }
}
