//! Choice of the channel that static routes use from one node to the next, if there are several.
//!
//! Links between the same two nodes on different channels cost the same: their radios have the same options. But the
//! choice determines how much a path interferes with itself. Each node takes the channel that the rest of the path uses
//! latest. Among channels that the rest does not use, it takes the first of the node's radios: along a chain the
//! channels alternate. The rest of the path is known, since paths are built from the destination outwards.
//!
//! Draves, Padhye and Zill ("Routing in Multi-Radio, Multi-Hop Wireless Mesh Networks", MobiCom 2004) add the time of
//! the path's busiest channel to its cost instead (WCETT). Our rule differs from WCETT: it never prefers a longer path.

use crate::stations::{ChannelNumber, Stations};
use fourhop_proto::route::ShortestPaths;
use fourhop_units::NodeId;
use std::net::Ipv4Addr;

/// The channels of every hop on every path.
#[derive(Debug)]
pub struct ChannelChoice<'a> {
    paths: &'a ShortestPaths,
    stations: &'a Stations,
    /// Channel of node `u` towards node `t` at `[t * nodes + u]`; empty if all are on one channel.
    chosen: Vec<ChannelNumber>,
    nodes: usize,
}

impl<'a> ChannelChoice<'a> {
    /// Chooses the channels for these paths among `nodes` nodes.
    pub fn new(paths: &'a ShortestPaths, stations: &'a Stations, nodes: usize) -> ChannelChoice<'a> {
        let mut choice = ChannelChoice { paths, stations, chosen: Vec::new(), nodes };
        if stations.are_several() {
            choice.chosen = vec![0; nodes * nodes];
            for to in 0..nodes {
                let mut from: Vec<_> = (0..nodes).filter(|&from| paths.next_hop(from, to).is_some()).collect();
                from.sort_by_key(|&from| paths.hops(from, to));
                from.into_iter().for_each(|from| choice.chosen[to * nodes + from] = choice.choose(from, to));
            }
        }
        choice
    }

    /// Returns the channel from `from` towards `to`; the rest of the path already has its channels.
    fn choose(&self, from: usize, to: usize) -> ChannelNumber {
        let next = self.paths.next_hop(from, to);
        let step = |&node: &usize| self.paths.next_hop(node, to);
        let ahead = || std::iter::successors(next, step).take_while(|&node| node != to);
        let free_for =
            |channel| ahead().position(|node| self.chosen[to * self.nodes + node] == channel).unwrap_or(usize::MAX);
        let ends = [from, next.unwrap_or(to)].map(|node| NodeId(node as u32));
        let shared = self.stations.shared(ends);
        // `max_by_key` returns the last of several maxima; the reversal makes that the first.
        let rated: Vec<_> = shared.map(|channel| (free_for(channel), channel)).collect();
        rated.into_iter().rev().max_by_key(|&(free, _)| free).map_or(0, |(_, channel)| channel)
    }

    /// Returns the address of the neighbour's radio to which `from` sends packets for `to`.
    pub fn next_hop(&self, from: usize, to: usize) -> Option<Ipv4Addr> {
        let next = NodeId(self.paths.next_hop(from, to)? as u32);
        let station = match self.chosen.get(to * self.nodes + from) {
            Some(&channel) => self.stations.on(next, channel)?,
            None => next,
        };
        Some(station.ipv4())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the channels along the path from the first to the last node of a chain with these radios.
    fn stations_along(plan: &[Vec<ChannelNumber>]) -> Vec<ChannelNumber> {
        let nodes = plan.len();
        let stations = Stations::new(plan);
        let beside = |n: usize| [n.checked_sub(1), Some(n + 1)].into_iter().flatten().filter(|&n| n < nodes).collect();
        let links: Vec<Vec<usize>> = (0..nodes).map(beside).collect();
        let paths = ShortestPaths::new(&links);
        let choice = ChannelChoice::new(&paths, &stations, nodes);
        let to_station = |address| NodeId::from_ipv4(address).map(|station| stations.channel(station));
        (0..nodes - 1).filter_map(|from| to_station(choice.next_hop(from, nodes - 1)?)).collect()
    }

    #[test]
    fn channels_alternate_along_a_chain() {
        assert_eq!(stations_along(&vec![vec![1, 6]; 5]), [6, 1, 6, 1]);
        assert_eq!(stations_along(&vec![vec![1, 6, 11]; 7]), [11, 6, 1, 11, 6, 1]);
        assert_eq!(stations_along(&vec![vec![1]; 4]), [1, 1, 1]);
    }

    #[test]
    fn where_there_is_one_channel_it_is_taken() {
        assert_eq!(stations_along(&[vec![6], vec![6, 1], vec![1, 6], vec![1]]), [6, 6, 1]);
    }
}
