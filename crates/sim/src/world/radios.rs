//! Nodes with several radios: frames and timers of all radios but the first.

use super::{Transmission, World, departure_key, plan_wired, timer_key};
use crate::channel::Neighbour;
use crate::event_queue::{EventQueue, Key, Slot};
use crate::stations::Stations;
use fourhop_proto::mac::Due;
use fourhop_proto::node::Node;
use fourhop_units::{NodeId, Time};

impl World {
    /// Handles a timer of a radio that is not the first of its node.
    #[cold]
    pub(super) fn radio_timer(&mut self, slot: Slot, end: Time) {
        let (station, index) = (NodeId(slot.0), slot.0 as usize);
        let (owner, radio) = self.stations.owner(station);
        let air = self.free_air();
        let (node, ear) = (&mut self.nodes[owner.index()], &mut self.ears[index]);
        let frame = &mut self.transmissions[air as usize].frame;
        if let Some(receiver) = self.receivers.get_mut(index) {
            ear.catch_up(self.now, Some(receiver), &self.rules.medium);
        }
        let due = node.handle_timeout(self.now, radio, ear, frame, &mut self.outside.buffers);
        self.timers += u64::from(due != Due::Nothing);
        if let Some(at) = node.next_timeout(radio, ear) {
            self.queue.push(slot, timer_key(slot.0, at));
        }
        hasten_layers(&self.stations, &self.nodes, owner, &mut self.queue);
        self.take_outputs(owner);
        if self.outside.tap.is_some() {
            self.show(self.now, owner, radio);
        }
        if due == Due::Frame {
            self.begin_transmission(station, air, end);
        }
    }

    /// Handles a frame for the node received by a radio that is not its first. Returns the key at which the walk of the
    /// transmission continues.
    #[cold]
    #[inline(never)]
    pub(super) fn radio_reception(&mut self, now: Time, air: usize, at: Neighbour) -> Option<Key> {
        let Neighbour { node: station, power, .. } = at;
        let (owner, radio) = self.stations.owner(station);
        let (node, ear) = (&mut self.nodes[owner.index()], &mut self.ears[station.index()]);
        let Transmission { src, start, cursor, beyond, frame, .. } = &self.transmissions[air];
        let frame = frame.as_ref()?;
        let next = self.air.neighbours(air, *src)[*cursor as usize..*beyond as usize].first();
        let next = next.map(|next| departure_key(*start + frame.airtime + next.delay(), next.node, *src));
        node.handle_reception(now, radio, (frame, power), ear, &mut self.outside.buffers);
        let timer = node.next_timeout(radio, ear).map(|at| timer_key(station.0, at));
        self.queue.set(Slot(station.0), timer);
        hasten_layers(&self.stations, &self.nodes, owner, &mut self.queue);
        if !self.outside.buffers.outputs.is_empty() {
            self.outside.take_outputs(now, owner);
            plan_wired(&mut self.outside.wired, &mut self.queue, self.first_wired);
        }
        if self.outside.tap.is_some() {
            self.show(now, owner, radio);
        }
        next
    }
}

/// Call after an event at a node with several radios: one radio may have given the layers above another something to
/// do.
#[cold]
#[inline(never)]
pub(super) fn hasten_layers(stations: &Stations, nodes: &[Node], node: NodeId, queue: &mut EventQueue) {
    for (radio, station) in stations.of(node).enumerate() {
        if let Some(at) = nodes[node.index()].layers_timeout(radio) {
            queue.hasten(Slot(station.0), timer_key(station.0, at));
        }
    }
}
