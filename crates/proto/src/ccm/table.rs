//! The modules of a node: one per connection, found by its addresses and ports.

use super::Ccm;
use super::local_acks::{LocalAcks, Segments};
use super::window::Options;
use crate::wire::bytes::hops_by_ttl;
use crate::wire::{Body, EchoMessage, Ipv4Packet, MeasuredSegment, PacketMeta, TcpSegment};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// Most connections that a node remembers; the one silent longest is forgotten, and its window is again the peer's.
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
    local: Option<Box<Local>>,
}

/// Local acknowledgements, and fields for their packets.
#[derive(Clone, Default, Debug)]
struct Local {
    acks: LocalAcks,
    /// The newest packet of the local TCP, and of the peer, without their segments.
    made_here: Option<Ipv4Packet>,
    arrived: Option<Ipv4Packet>,
    ident: u16,
    segments: Segments,
}

/// The modules of a node, between its transports and its network layer. [`Modules::handle_outgoing`] sees each packet
/// made here, [`Modules::handle_incoming`] each packet for this node before its transport does. With local
/// acknowledgements, each of them and [`Modules::handle_timeout`] may change `next_timeout`; without, there are no
/// timers.
#[derive(Clone, Debug)]
pub struct Modules {
    options: Options,
    flows: Vec<Flow>,
    /// Packets to pass on at `next_timeout`, down and up.
    pending: Packets,
    /// When they were created.
    pending_since: Time,
    absorbed: u64,
    emitted: u64,
}

/// Packets that leave the modules.
#[derive(Clone, Default, Debug)]
pub struct Packets {
    /// For the network.
    pub down: Vec<Ipv4Packet>,
    /// For the transports.
    pub up: Vec<Ipv4Packet>,
}

impl Modules {
    /// Modules without any connection yet.
    pub fn new(options: Options) -> Modules {
        Modules {
            options,
            flows: Vec::new(),
            pending: Packets::default(),
            pending_since: Time::ZERO,
            absorbed: 0,
            emitted: 0,
        }
    }

    /// The module of a connection, if any of its packets has passed.
    pub fn of(&self, key: FlowKey) -> Option<&Ccm> {
        self.flows.iter().find(|flow| flow.key == key).map(|flow| &flow.module)
    }

    /// Packets absorbed, and packets emitted: local acknowledgements keep, drop and repeat packets.
    pub fn balance(&self) -> (u64, u64) {
        (self.absorbed, self.emitted)
    }

    /// Handles a packet generated here, on its way down. Returns false if it ends here; its results follow at
    /// `next_timeout`.
    pub fn handle_outgoing(&mut self, now: Time, packet: &mut Ipv4Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else { return true };
        let key = FlowKey { peer: packet.dst, local_port: segment.src_port, peer_port: segment.dst_port };
        let Some(flow) = self.flow(now, key) else { return true };
        let Some(local) = &mut flow.local else {
            measured(&mut flow.module, packet);
            return true;
        };
        local.made_here = Some(shell(packet));
        let limits = flow.module.limits(now);
        local.acks.handle_outgoing(now, segment.clone(), &limits, &mut local.segments);
        self.absorb(now, key);
        false
    }

    /// Handles a packet for this node, on its way up. Returns false if it ends here; its results follow at
    /// `next_timeout`.
    pub fn handle_incoming(&mut self, now: Time, packet: &mut Ipv4Packet) -> bool {
        let carried = packet.take_carried();
        let Body::Tcp(segment) = &mut packet.body else { return true };
        let key = FlowKey { peer: packet.src, local_port: segment.dst_port, peer_port: segment.src_port };
        let (hops, created) = match self.options.simulated {
            true => (packet.meta.hops, Some(packet.meta.created)),
            false => (hops_by_ttl(packet.ttl), None),
        };
        let Some(flow) = self.flow(now, key) else { return true };
        let advertised = segment.window;
        flow.module.handle_incoming(now, segment, carried.as_ref(), hops, created);
        let Some(local) = &mut flow.local else { return true };
        // Local acknowledgements control the window themselves.
        let segment = TcpSegment { window: advertised, ..segment.clone() };
        local.arrived = Some(shell(packet));
        let limits = flow.module.limits(now);
        local.acks.handle_incoming(now, segment, &limits, &mut local.segments);
        self.absorb(now, key);
        false
    }

    /// When [`Modules::handle_timeout`] must be called.
    pub fn next_timeout(&self) -> Option<Time> {
        let waits = !self.pending.down.is_empty() || !self.pending.up.is_empty();
        let timers = self.flows.iter().filter_map(|flow| flow.local.as_ref()?.acks.next_timeout());
        timers.chain(waits.then_some(self.pending_since)).min()
    }

    /// Does what is due at `now`; nothing if called early. Passes on pending packets.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Packets) {
        for place in 0..self.flows.len() {
            let flow = &mut self.flows[place];
            if let Some(local) = &mut flow.local {
                local.acks.handle_timeout(now, &mut local.segments);
                collect(flow, now, &mut self.pending);
            }
        }
        self.emitted += (self.pending.down.len() + self.pending.up.len()) as u64;
        out.down.append(&mut self.pending.down);
        out.up.append(&mut self.pending.up);
    }

    fn absorb(&mut self, now: Time, key: FlowKey) {
        self.absorbed += 1;
        self.pending_since = now;
        if let Some(flow) = self.flows.iter_mut().find(|flow| flow.key == key) {
            collect(flow, now, &mut self.pending);
        }
    }

    /// The flow of a connection; `None` if too many flows keep data that they have acknowledged.
    fn flow(&mut self, now: Time, key: FlowKey) -> Option<&mut Flow> {
        let place = match self.flows.iter().position(|flow| flow.key == key) {
            Some(place) => place,
            None => {
                if self.flows.len() == FLOWS_MAX {
                    let idle = (0..FLOWS_MAX).filter(|&place| !self.flows[place].holds());
                    let oldest = idle.min_by_key(|&place| self.flows[place].used)?;
                    self.flows.remove(oldest);
                }
                let local = self.options.local_acks.then(Box::default);
                self.flows.push(Flow { key, used: now, module: Ccm::new(self.options), local });
                self.flows.len() - 1
            }
        };
        let flow = &mut self.flows[place];
        flow.used = now;
        Some(flow)
    }
}

impl Flow {
    fn holds(&self) -> bool {
        self.local.as_ref().is_some_and(|local| local.acks.holds())
    }
}

/// Makes packets of the segments released by local acknowledgements.
fn collect(flow: &mut Flow, now: Time, out: &mut Packets) {
    let Some(local) = &mut flow.local else { return };
    for segment in local.segments.down.drain(..) {
        let Some(shell) = &local.made_here else { continue };
        let meta = PacketMeta { created: now, ..shell.meta };
        let mut packet = Ipv4Packet { ident: local.ident, body: Body::Tcp(segment), meta, ..shell.clone() };
        local.ident = local.ident.wrapping_add(1);
        measured(&mut flow.module, &mut packet);
        out.down.push(packet);
    }
    for segment in local.segments.up.drain(..) {
        out.up.extend(local.arrived.as_ref().map(|shell| Ipv4Packet { body: Body::Tcp(segment), ..shell.clone() }));
    }
}

/// Adds its module's options to a packet.
fn measured(module: &mut Ccm, packet: &mut Ipv4Packet) {
    if let Body::Tcp(segment) = &packet.body
        && let Some(carried) = module.handle_outgoing(segment)
    {
        packet.body = Body::Measured(Box::new(MeasuredSegment { segment: segment.clone(), carried }));
    }
}

/// A packet without its content; a packet made from it is a new one.
fn shell(packet: &Ipv4Packet) -> Ipv4Packet {
    let body = Body::Echo(EchoMessage { reply: false, ident: 0, number: 0, payload: 0 });
    Ipv4Packet { body, meta: PacketMeta { number: 0, ..packet.meta }, ..*packet }
}
