//! Everything of a world besides its radios: the wired side, hosts that are attached to nodes, the trace. Outputs of
//! nodes go here.

use crate::trace::Tap;
use crate::wired::Wired;
use fourhop_proto::drop::DropReason;
use fourhop_proto::node::{Buffers, Output};
use fourhop_proto::wire::Ipv4Packet;
use fourhop_units::{NodeId, Time, Watt};

/// Everything that nodes hand packets to besides the air.
pub struct Outside {
    /// Nodes without radios, and wires.
    pub wired: Wired,
    /// Packets for attached hosts, until the driver of the world takes them.
    pub delivered: Vec<(NodeId, Ipv4Packet)>,
    /// The power with which the frame of each of them was received, in their order.
    pub powers: Vec<Watt>,
    /// That of the last frame for each node with a radio that has a host attached, and for those before it: the layers
    /// above the radio take less time than another frame.
    pub heard: Vec<Watt>,
    /// Packets of attached hosts that were lost at IP, likewise.
    pub lost: Vec<(NodeId, Ipv4Packet, DropReason)>,
    /// A node's output and working memory.
    pub buffers: Buffers,
    /// Sees frames and packets on wires; `None` costs nothing.
    pub tap: Option<Box<dyn Tap>>,
}

impl Outside {
    /// Nothing has happened yet.
    pub fn new(wired: Wired, tap: Option<Box<dyn Tap>>) -> Outside {
        Outside {
            wired,
            delivered: Vec::new(),
            powers: Vec::new(),
            heard: Vec::new(),
            lost: Vec::new(),
            buffers: Buffers::default(),
            tap,
        }
    }

    /// Passes on what `node` has just put out.
    pub fn take_outputs(&mut self, now: Time, node: NodeId) {
        for output in self.buffers.outputs.drain(..) {
            match output {
                Output::Deliver(packet) => {
                    self.delivered.push((node, packet));
                    self.powers.push(self.heard.get(node.index()).copied().unwrap_or(Watt(0.0)));
                }
                Output::Lost { packet, reason } => self.lost.push((node, packet, reason)),
                Output::Noted(note) => {
                    if let Some(tap) = &mut self.tap {
                        tap.noted(now, node, &note);
                    }
                }
                Output::Route { destination, way } => {
                    if let Some(tap) = &mut self.tap {
                        tap.route(now, node, destination, way);
                    }
                }
                Output::Wire { port, packet } => self.wired.send(now, node, port, packet, &mut self.tap),
            }
        }
    }

    /// Handles the event that is due in a slot of the wired side. Packets for gateways go to `up`.
    pub fn handle_wired_event(&mut self, now: Time, slot: usize, up: &mut Vec<(NodeId, Ipv4Packet)>) {
        if let Some(host) = self.wired.handle_event(now, slot, up, &mut self.buffers.outputs, &mut self.tap) {
            self.take_outputs(now, host);
            if let (Some(tap), Some(number)) = (&mut self.tap, host.wired_number()) {
                tap.host(now, host, &self.wired.hosts()[number]);
            }
        }
    }
}
