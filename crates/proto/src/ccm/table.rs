//! The modules of a node: one for each connection, found by its addresses and ports.

use super::Ccm;
use super::window::Options;
use crate::wire::{Body, Ipv4Packet, MeasuredSegment};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// Connections that a node remembers at most; the one that was silent longest is forgotten, and its window is its peer's
/// again.
const FLOWS_MAX: usize = 256;

/// A connection as this node sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowKey {
    /// The other end.
    pub peer: Ipv4Addr,
    /// Port here.
    pub local_port: u16,
    /// Port there.
    pub peer_port: u16,
}

/// A connection with its module.
#[derive(Clone, Debug)]
struct Flow {
    key: FlowKey,
    used: Time,
    module: Ccm,
}

/// The modules of a node, between its transports and its network layer. [`Modules::handle_outgoing`] sees each packet that
/// was made here, [`Modules::handle_incoming`] each packet for this node before its transport does.
#[derive(Clone, Debug)]
pub struct Modules {
    options: Options,
    flows: Vec<Flow>,
}

impl Modules {
    /// No connection yet.
    pub fn new(options: Options) -> Modules {
        Modules { options, flows: Vec::new() }
    }

    /// The module of a connection, if anything of it has passed.
    pub fn of(&self, key: FlowKey) -> Option<&Ccm> {
        self.flows.iter().find(|flow| flow.key == key).map(|flow| &flow.module)
    }

    /// A packet made here, on its way down.
    pub fn handle_outgoing(&mut self, now: Time, packet: &mut Ipv4Packet) {
        let Body::Tcp(segment) = &packet.body else { return };
        let key = FlowKey { peer: packet.dst, local_port: segment.src_port, peer_port: segment.dst_port };
        if let Some(carried) = self.module(now, key).handle_outgoing(segment) {
            packet.body = Body::Measured(Box::new(MeasuredSegment { segment: segment.clone(), carried }));
        }
    }

    /// A packet for this node, on its way up.
    pub fn handle_incoming(&mut self, now: Time, packet: &mut Ipv4Packet) {
        let carried = packet.take_carried();
        let Body::Tcp(segment) = &mut packet.body else { return };
        let key = FlowKey { peer: packet.src, local_port: segment.dst_port, peer_port: segment.src_port };
        let meta = &packet.meta;
        self.module(now, key).handle_incoming(now, segment, carried.as_ref(), meta.hops, meta.created);
    }

    fn module(&mut self, now: Time, key: FlowKey) -> &mut Ccm {
        let place = match self.flows.iter().position(|flow| flow.key == key) {
            Some(place) => place,
            None => {
                if self.flows.len() == FLOWS_MAX
                    && let Some(oldest) = (0..FLOWS_MAX).min_by_key(|&place| self.flows[place].used)
                {
                    self.flows.remove(oldest);
                }
                self.flows.push(Flow { key, used: now, module: Ccm::new(self.options) });
                self.flows.len() - 1
            }
        };
        let flow = &mut self.flows[place];
        flow.used = now;
        &mut flow.module
    }
}
