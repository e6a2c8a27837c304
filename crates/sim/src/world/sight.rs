//! Access to a world from outside.

use super::World;
use crate::stations::Stations;
use crate::wired::Wired;
use fourhop_proto::drop::Layer;
use fourhop_proto::node::{Account, Drops, Ear, Endpoint, Layers, Node};
use fourhop_units::NodeId;

impl World {
    /// Returns the nodes, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the radios of the nodes.
    pub fn stations(&self) -> &Stations {
        &self.stations
    }

    /// Returns the nodes without radios, and the wires.
    pub fn wired(&self) -> &Wired {
        &self.outside.wired
    }

    /// Returns the endpoints of flows at a node, with or without a radio.
    pub fn endpoints(&self, node: NodeId) -> &[Endpoint] {
        match node.wired_number() {
            Some(host) => self.outside.wired.hosts()[host].endpoints(),
            None => self.nodes[node.index()].endpoints(),
        }
    }

    /// Returns the number of events handled: timers of nodes, beginnings and ends of copies of frames, arrivals of
    /// packets over wires.
    pub fn events(&self) -> u64 {
        self.timers + self.copies + self.receptions() + self.outside.wired.arrivals()
    }

    /// Returns the number of frames radiated.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the number of copies of frames that ended at a receiver.
    pub fn receptions(&self) -> u64 {
        self.copies - self.caught_up().map(|(_, on_air)| on_air).sum::<u64>()
    }

    /// Returns the ear of a station after it has evaluated everything that has ended, and the number of copies still on
    /// the air.
    fn caught_up_at(&self, index: usize) -> (Ear, u64) {
        let mut ear = self.ears[index].clone();
        let mut beside = self.receivers.get(index).cloned();
        ear.catch_up(self.now, beside.as_mut(), &self.rules.medium);
        let on_air = beside.map_or_else(|| ear.on_air(self.now), |receiver| receiver.on_air());
        (ear, on_air as u64)
    }

    fn caught_up(&self) -> impl Iterator<Item = (Ear, u64)> {
        (0..self.ears.len()).map(|index| self.caught_up_at(index))
    }

    /// Returns the losses of all nodes and wires.
    pub fn drops(&self) -> Drops {
        let mut sum = self.outside.wired.drops();
        (0..self.nodes.len()).for_each(|index| sum.add(&self.drops_at(NodeId(index as u32))));
        sum
    }

    /// Returns the losses at one node with a radio.
    pub fn drops_at(&self, node: NodeId) -> Drops {
        let mut sum = *self.nodes[node.index()].drops();
        for station in self.stations.of(node) {
            sum.add(&self.caught_up_at(station.index()).0.drops(self.now));
        }
        sum
    }

    /// Returns the balance of each layer over all nodes.
    pub fn accounts(&self) -> Layers {
        let mut sum = Layers::default();
        self.nodes.iter().for_each(|node| sum.add(&node.accounts()));
        sum.network.add(&self.outside.wired.network_account());
        sum.wire = self.outside.wired.wire_account();
        sum.radio = Account {
            taken: self.copies,
            passed: self.caught_up().map(|(ear, _)| ear.received()).sum(),
            dropped: self.drops().in_layer(Layer::Radio),
            held: self.caught_up().map(|(_, on_air)| on_air).sum(),
        };
        sum
    }
}
