//! The transports of a node, with radio or wires: the ends of its flows, and the packets they create.

use super::endpoint::{Endpoint, EndpointKind, Interface, Path};
use crate::drop::DropReason;
use crate::tcp::{self, HopSource};
use crate::wire::bytes::hops_by_ttl;
use crate::wire::{Body, EchoMessage, Ipv4Packet, PacketMeta};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// The ends of flows at one address.
///
/// Both `handle_*` calls may change `next_timeout`, and append the packets to be sent to `out`.
#[derive(Debug)]
pub struct Transports {
    addr: Ipv4Addr,
    /// Time to live of packets created here.
    ttl: u8,
    /// Interface, for transports that need its bit rate.
    interface: Interface,
    endpoints: Vec<Endpoint>,
    next_ident: u16,
    originated: u64,
    actions: Vec<tcp::Action>,
    bodies: Vec<Body>,
}

impl Transports {
    /// Creates the transports of `addr`, without flows.
    pub fn new(addr: Ipv4Addr, ttl: u8, interface: Interface) -> Transports {
        Transports {
            addr,
            ttl,
            interface,
            endpoints: Vec::new(),
            next_ident: 0,
            originated: 0,
            actions: Vec::new(),
            bodies: Vec::new(),
        }
    }

    /// Returns the address.
    pub fn addr(&self) -> Ipv4Addr {
        self.addr
    }

    /// Adds one end of a flow; returns its index.
    pub fn add(&mut self, endpoint: Endpoint) -> usize {
        self.endpoints.push(endpoint);
        self.endpoints.len() - 1
    }

    /// Returns the ends of flows.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Returns the number of packets created so far.
    pub fn originated(&self) -> u64 {
        self.originated
    }

    /// Returns when [`Transports::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.endpoints.iter().fold(None, |at, endpoint| Time::earlier_of(at, endpoint.next_timeout()))
    }

    /// Does what is due at `now`; nothing if called early.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Ipv4Packet>) {
        for index in 0..self.endpoints.len() {
            let endpoint = &mut self.endpoints[index];
            if endpoint.next_timeout().is_some_and(|at| at <= now) {
                endpoint.handle_timeout(now, &mut self.actions, &mut self.bodies);
                let (peer, notes, dscp) = (endpoint.address.peer, endpoint.notes(now), endpoint.dscp);
                self.originate((peer, dscp), notes, out);
            }
        }
    }

    /// Handles a packet for this address, other than a routing message; `hops_to` returns the hops of the current route
    /// to another node.
    ///
    /// # Errors
    /// If no application here listens for it.
    pub fn handle_packet(
        &mut self,
        now: Time,
        packet: &Ipv4Packet,
        hops_to: impl FnOnce(Ipv4Addr) -> Option<u8>,
        out: &mut Vec<Ipv4Packet>,
    ) -> Result<(), DropReason> {
        let peer = packet.src;
        let mut notes = PacketMeta { created: now, ..PacketMeta::default() };
        let known = match &packet.body {
            Body::Tcp(segment) => self
                .endpoint(peer, segment.dst_port, Some(segment.src_port), |kind| {
                    matches!(kind, EndpointKind::TcpSender(..) | EndpointKind::TcpReceiver(_))
                })
                .map(|index| {
                    self.report_path(now, index, packet, hops_to);
                    let endpoint = &mut self.endpoints[index];
                    endpoint.note_hops(hops_by_ttl(packet.ttl));
                    endpoint.handle_segment(now, segment, &packet.meta, &mut self.actions, &mut self.bodies);
                    notes = endpoint.notes(now);
                }),
            Body::Transport(segment) => {
                let (src_port, dst_port) = segment.ports();
                let speaks = |kind: &EndpointKind| matches!(kind, EndpointKind::Own(end) if end.speaks(segment));
                self.endpoint(peer, dst_port, Some(src_port), speaks)
                    .map(|index| self.endpoints[index].handle_own(now, segment, &mut self.bodies))
            }
            Body::Udp(datagram) => self
                .endpoint(peer, datagram.dst_port, Some(datagram.src_port), |kind| {
                    matches!(kind, EndpointKind::UdpReceiver(_))
                })
                .map(|index| self.endpoints[index].handle_datagram(datagram)),
            Body::Echo(echo) if echo.reply => self
                .endpoint(peer, echo.ident, None, |kind| matches!(kind, EndpointKind::Pinger(_)))
                .map(|index| self.endpoints[index].handle_echo_reply(now, echo)),
            Body::Echo(echo) => {
                self.bodies.push(Body::Echo(EchoMessage { reply: true, ..*echo }));
                Some(())
            }
            // C3TCP's options are removed below; packets from outside hosts are for outside hosts.
            Body::Routing(_) | Body::Measured(_) | Body::Opaque(_) => None,
        };
        // A reply has the DSCP of its packet: both directions of a flow use the same.
        self.originate((peer, packet.dscp), notes, out);
        known.ok_or(DropReason::NoListener)
    }

    /// Reports the hops of the route and the rate of the interface to a TCP sender before the segment in `packet`
    /// arrives: that is when its window can change.
    fn report_path(
        &mut self,
        now: Time,
        index: usize,
        packet: &Ipv4Packet,
        hops_to: impl FnOnce(Ipv4Addr) -> Option<u8>,
    ) {
        let endpoint = &mut self.endpoints[index];
        if let Some(hints) = endpoint.path_hints() {
            let hops = match hints.hops {
                HopSource::Routing => hops_to(endpoint.address.peer),
                HopSource::Ttl => Some(hops_by_ttl(packet.ttl)),
                HopSource::Travelled => Some(packet.meta.hops),
            };
            let path = Path { hops, interface: self.interface };
            endpoint.handle_path(now, path, &mut self.actions, &mut self.bodies);
        }
    }

    fn endpoint(
        &self,
        peer: Ipv4Addr,
        local_port: u16,
        remote_port: Option<u16>,
        kind: impl Fn(&EndpointKind) -> bool,
    ) -> Option<usize> {
        self.endpoints.iter().position(|endpoint| {
            endpoint.address.peer == peer
                && endpoint.address.local_port == local_port
                && (endpoint.takes_any_port() || remote_port.is_none_or(|port| endpoint.address.remote_port == port))
                && kind(&endpoint.kind)
        })
    }

    /// Wraps the bodies that an endpoint has created into packets.
    fn originate(&mut self, (dst, dscp): (Ipv4Addr, u8), meta: PacketMeta, out: &mut Vec<Ipv4Packet>) {
        for body in self.bodies.drain(..) {
            self.originated += 1;
            out.push(Ipv4Packet { src: self.addr, dst, ttl: self.ttl, ident: self.next_ident, dscp, body, meta });
            self.next_ident = self.next_ident.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::Renewal;
    use super::*;
    use crate::app::end::FlowAddress;
    use crate::app::{ping, ping::Pinger, sink::Sink};
    use crate::wire::UdpDatagram;
    use fourhop_cc::Transport;
    use fourhop_units::{Bytes, Dur, NodeId, Purpose, Rate, Seq, Stream};

    const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn from_peer(body: Body) -> Ipv4Packet {
        Ipv4Packet { src: PEER, dst: HERE, ttl: 64, ident: 0, dscp: 0, body, meta: PacketMeta::default() }
    }

    /// Returns one end of a flow after these bodies have arrived from its peer, in this order.
    fn after(kind: EndpointKind, bodies: impl IntoIterator<Item = Body>) -> Transports {
        let mut transports = Transports::new(HERE, 64, Interface::Radio(Rate::kbps(2000)));
        let address = FlowAddress { peer: PEER, local_port: 7, remote_port: 9 };
        transports.add(Endpoint::new(address, kind));
        let mut out = Vec::new();
        transports.handle_timeout(Time::ZERO, &mut out);
        for body in bodies {
            let packet = from_peer(body);
            assert_eq!(transports.handle_packet(Time::from_millis(1), &packet, |_| None, &mut out), Ok(()));
        }
        transports
    }

    #[test]
    fn a_datagram_that_comes_twice_arrives_twice_and_is_received_once() {
        let numbers = [0, 1, 3, 1, 2];
        let datagram = |number| Body::Udp(UdpDatagram { src_port: 9, dst_port: 7, number, payload: 100 });
        let transports = after(EndpointKind::UdpReceiver(Sink::default()), numbers.map(datagram));
        let end = &transports.endpoints()[0];
        assert_eq!((end.datagrams, end.received, end.arrived), (4, Bytes(400), Bytes(500)));
    }

    /// Two files over separate connections. The first connection's SYN was delayed somewhere and arrives once more.
    #[test]
    fn an_old_syn_does_not_end_the_connection_after_it() {
        let transport = Transport::find("newreno").expect("known");
        let config = tcp::Config::standard();
        let mut iss = Stream::new(1, NodeId(0), Purpose::LaterConnections);
        let socket = tcp::Socket::listen(config.clone(), transport, 7, Seq::from_wire(iss.bits32()));
        let mut transports = Transports::new(HERE, 64, Interface::Radio(Rate::kbps(2000)));
        let address = FlowAddress { peer: PEER, local_port: 7, remote_port: u16::MAX };
        let end = Endpoint::new(address, EndpointKind::TcpReceiver(Box::new(socket)));
        transports.add(end.with_renewal(Renewal { config: config.clone(), transport, iss }));

        let mut out = Vec::new();
        let mut syn = |port| {
            let (mut client, mut actions) =
                (tcp::Socket::new(config.clone(), transport, port, 7, Seq::from_wire(9)), vec![]);
            client.open(Time::ZERO, &mut actions);
            let Some(tcp::Action::Send { segment, .. }) = actions.pop() else { panic!("no SYN") };
            let packet = from_peer(Body::Tcp(segment));
            assert_eq!(transports.handle_packet(Time::from_millis(1), &packet, |_| None, &mut out), Ok(()));
            (transports.endpoints()[0].address.remote_port, out.drain(..).count())
        };
        assert_eq!(syn(u16::MAX), (u16::MAX, 1));
        assert_eq!(syn(49_152), (49_152, 1), "the next port");
        assert_eq!(syn(u16::MAX), (49_152, 0), "not the one before");
    }

    #[test]
    fn a_reply_that_comes_twice_arrives_twice_and_answers_once() {
        let config = ping::Config {
            start: Time::ZERO,
            stop: None,
            interval: Dur::from_secs(1),
            outstanding: None,
            payload: Bytes(56),
        };
        let reply = Body::Echo(EchoMessage { reply: true, ident: 7, number: 0, payload: 56 });
        let transports = after(EndpointKind::Pinger(Pinger::new(config)), [reply.clone(), reply]);
        let end = &transports.endpoints()[0];
        let EndpointKind::Pinger(pinger) = &end.kind else { panic!("{:?}", end.kind) };
        assert_eq!((pinger.received(), end.arrived), (1, Bytes(112)));
    }
}
