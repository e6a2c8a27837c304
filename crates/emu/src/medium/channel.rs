//! One channel: the world of its radios, and the frames queued at them.

use fourhop_proto::wire::{Category, Msdu, Payload};
use fourhop_sim::batch::Control;
use fourhop_sim::world::{FrameEvent, World};
use fourhop_units::{NodeId, Time};
use std::collections::VecDeque;

/// The priority of management frames, and so of beacons.
const BEACONS: u8 = 7;

/// One channel.
pub(super) struct Channel {
    pub(super) world: World,
    /// Frames queued at each node, by access category.
    waiting: Vec<[VecDeque<Msdu>; 4]>,
    /// Deferred beacons: until when, and at which node.
    beacons: Vec<(Time, NodeId, Msdu)>,
}

impl Channel {
    /// Creates a channel with the radios of all nodes and empty queues.
    pub(super) fn new(mut world: World, nodes: usize) -> Channel {
        (0..nodes as u32).for_each(|node| world.attach(NodeId(node)));
        Channel { world, waiting: vec![Default::default(); nodes], beacons: Vec::new() }
    }

    /// Defers a beacon.
    pub(super) fn put_off(&mut self, until: Time, node: NodeId, msdu: Msdu) {
        self.beacons.push((until, node, msdu));
    }

    /// Drops queued frames, except those whose number is still known.
    pub(super) fn keep(&mut self, is_known: impl Fn(u64) -> bool) {
        let known = |msdu: &Msdu| number_of(msdu).is_some_and(&is_known);
        self.waiting.iter_mut().flatten().for_each(|queue| queue.retain(known));
        self.beacons.retain(|(.., msdu)| known(msdu));
    }

    pub(super) fn next_event(&mut self) -> Option<Time> {
        Time::earlier_of(self.world.next_event(), self.beacons.iter().map(|&(at, ..)| at).min())
    }

    /// Queues a frame at a node.
    pub(super) fn take(&mut self, node: NodeId, priority: u8, msdu: Msdu) {
        // Without EDCA there is a single queue.
        let has_categories = self.world.nodes()[node.index()].mac().has_categories();
        let category = if has_categories { Category::of_priority(priority) } else { Category::Be };
        self.waiting[node.index()][category as usize].push_back(msdu);
        self.refill(node);
    }

    /// Gives a node's radio the frames that it accepts.
    fn refill(&mut self, node: NodeId) {
        for category in Category::ALL.into_iter().rev() {
            let queue = &mut self.waiting[node.index()][category as usize];
            while !queue.is_empty() && self.world.takes_frame(node, category) {
                if let Some(msdu) = queue.pop_front() {
                    self.world.inject_frame(node, category, msdu);
                }
            }
        }
    }

    pub(super) fn advance(&mut self, end: Time, control: &Control, mut show: impl FnMut(Time, NodeId, FrameEvent)) {
        let mut free = Vec::new();
        while let Some(at) = self.next_event().filter(|&at| at <= end) {
            self.world.run_until(at, control);
            for (node, event) in self.world.drain_frames() {
                if matches!(event, FrameEvent::Done { .. }) {
                    free.push(node);
                }
                show(at, node, event);
            }
            // A radio accepts its next frame as soon as it is done with one.
            free.drain(..).for_each(|node| self.refill(node));
            while let Some(place) = self.beacons.iter().position(|&(due, ..)| due <= at) {
                let (_, node, msdu) = self.beacons.swap_remove(place);
                self.take(node, BEACONS, msdu);
            }
        }
        if end > self.world.now() {
            self.world.run_until(end, control);
        }
    }
}

fn number_of(msdu: &Msdu) -> Option<u64> {
    match &msdu.payload {
        Payload::Foreign(frame) => Some(frame.number()),
        Payload::Ipv4(_) | Payload::Arp(_) => None,
    }
}
