//! Everything in a world but its radios: the wired side, hosts attached to nodes, the trace. The outputs of nodes go
//! here.

use crate::trace::Tap;
use crate::wired::Wired;
use fourhop_proto::drop::DropReason;
use fourhop_proto::node::{Buffers, Output};
use fourhop_proto::wire::{Foreign, Ipv4Packet};
use fourhop_units::{NodeId, Time, Watt};

/// Event of another 802.11 stack's frame at a node.
#[derive(Clone, PartialEq, Debug)]
pub enum FrameEvent {
    /// The frame has been received.
    Received {
        /// The frame as sent.
        frame: Foreign,
        /// Received power.
        power: Watt,
    },
    /// The node has finished sending the frame.
    Done {
        /// The frame as sent in its last attempt.
        frame: Foreign,
        /// Whether it was given up; otherwise it was acknowledged, or it is a broadcast.
        lost: bool,
        /// Received power of the last frame at the node: the acknowledgement.
        power: Watt,
    },
}

/// Everything but the air that nodes pass packets to.
pub struct Outside {
    /// Nodes without radios, and wires.
    pub wired: Wired,
    /// Packets for attached hosts, until the driver of the world takes them.
    pub delivered: Vec<(NodeId, Ipv4Packet)>,
    /// Received power of the frame of each of them, in the same order.
    pub powers: Vec<Watt>,
    /// Received power of the last frame at each node with a radio and an attached host, indexed by node. The last frame
    /// is the right one because the layers above the radio take less time than another frame.
    pub heard: Vec<Watt>,
    /// Packets of attached hosts that were lost at IP, likewise.
    pub lost: Vec<(NodeId, Ipv4Packet, DropReason)>,
    /// Events of frames of other stacks, likewise.
    pub frames: Vec<(NodeId, FrameEvent)>,
    /// Outputs and working memory of a node.
    pub buffers: Buffers,
    /// Tap that sees frames, and packets on wires; `None` costs nothing.
    pub tap: Option<Box<dyn Tap>>,
}

impl Outside {
    /// Creates the state before any event.
    pub fn new(wired: Wired, tap: Option<Box<dyn Tap>>) -> Outside {
        Outside {
            wired,
            delivered: Vec::new(),
            powers: Vec::new(),
            heard: Vec::new(),
            lost: Vec::new(),
            frames: Vec::new(),
            buffers: Buffers::default(),
            tap,
        }
    }

    /// Passes on the outputs of `node`.
    pub fn take_outputs(&mut self, now: Time, node: NodeId) {
        let heard = &self.heard;
        let power = || heard.get(node.index()).copied().unwrap_or(Watt(0.0));
        for output in self.buffers.outputs.drain(..) {
            match output {
                Output::Deliver(packet) => {
                    self.delivered.push((node, packet));
                    self.powers.push(power());
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
                Output::Frame(frame) => {
                    self.frames.push((node, FrameEvent::Received { frame, power: power() }));
                }
                Output::Done { frame, lost } => {
                    self.frames.push((node, FrameEvent::Done { frame, lost, power: power() }));
                }
                Output::Wire { port, packet } => self.wired.send(now, node, port, packet, &mut self.tap),
            }
        }
    }

    /// Handles the event due in a slot of the wired side. Packets for gateways go to `up`.
    pub fn handle_wired_event(&mut self, now: Time, slot: usize, up: &mut Vec<(NodeId, Ipv4Packet)>) {
        if let Some(host) = self.wired.handle_event(now, slot, up, &mut self.buffers.outputs, &mut self.tap) {
            self.take_outputs(now, host);
            if let (Some(tap), Some(number)) = (&mut self.tap, host.wired_number()) {
                tap.host(now, host, &self.wired.hosts()[number]);
            }
        }
    }
}
