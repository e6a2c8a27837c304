//! The ends of flows at a node: an application with its socket.

use crate::app::{cbr::Cbr, ping::Pinger, transfer::Step, transfer::Transfer};
use crate::tcp::{self, Socket};
use crate::wire::{Body, EchoMessage, TcpSegment, UdpDatagram};
use core::net::Ipv4Addr;
use fourhop_units::{Bytes, Time};

/// Names a flow at one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowAddress {
    /// The other end.
    pub peer: Ipv4Addr,
    /// Port here; the identifier for ping.
    pub local_port: u16,
    /// Port there; not used by ping.
    pub remote_port: u16,
}

/// What runs at one end of a flow.
#[derive(Debug)]
pub enum EndpointKind {
    /// Sender of a TCP transfer.
    TcpSender(Transfer, Box<Socket>),
    /// Receiver of a TCP transfer.
    TcpReceiver(Box<Socket>),
    /// Sender of constant bit rate UDP.
    UdpSender(Cbr),
    /// Receiver of UDP.
    UdpReceiver,
    /// Sender of echo requests.
    Pinger(Pinger),
}

/// One end of a flow.
#[derive(Debug)]
pub struct Endpoint {
    /// Which flow.
    pub address: FlowAddress,
    /// What runs here.
    pub kind: EndpointKind,
    /// Payload bytes received here, each once.
    pub received: Bytes,
    /// Payload bytes that arrived here, repeated ones included.
    pub arrived: Bytes,
    /// Datagrams received, for UDP.
    pub datagrams: u64,
}

impl Endpoint {
    /// An endpoint to which nothing has happened.
    pub fn new(address: FlowAddress, kind: EndpointKind) -> Endpoint {
        Endpoint { address, kind, received: Bytes(0), arrived: Bytes(0), datagrams: 0 }
    }

    /// The TCP socket, if it has one.
    pub fn socket(&self) -> Option<&Socket> {
        match &self.kind {
            EndpointKind::TcpSender(_, socket) | EndpointKind::TcpReceiver(socket) => Some(socket),
            _ => None,
        }
    }

    /// When [`Endpoint::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        match &self.kind {
            EndpointKind::TcpSender(transfer, socket) => {
                Time::earlier_of(transfer.next_timeout(), socket.next_timeout())
            }
            EndpointKind::TcpReceiver(socket) => socket.next_timeout(),
            EndpointKind::UdpSender(cbr) => cbr.next_timeout(),
            EndpointKind::UdpReceiver => None,
            EndpointKind::Pinger(pinger) => pinger.next_timeout(),
        }
    }

    /// Does what is due at `now`. Bodies of packets for the peer go to `out`; `scratch` is reused.
    pub(super) fn handle_timeout(&mut self, now: Time, scratch: &mut Vec<tcp::Action>, out: &mut Vec<Body>) {
        let address = self.address;
        match &mut self.kind {
            EndpointKind::TcpSender(transfer, socket) => {
                match transfer.handle_timeout(now) {
                    Some(Step::Begin { bytes }) => {
                        socket.open(now, scratch);
                        socket.write(now, bytes, scratch);
                    }
                    Some(Step::End) => {
                        socket.withdraw_unsent();
                        if socket.state() == tcp::State::Established {
                            socket.close(now, scratch);
                        }
                    }
                    None => {}
                }
                socket.handle_timeout(now, scratch);
            }
            EndpointKind::TcpReceiver(socket) => socket.handle_timeout(now, scratch),
            EndpointKind::UdpSender(cbr) => {
                while let Some((number, payload)) = cbr.handle_timeout(now) {
                    out.push(Body::Udp(UdpDatagram {
                        src_port: address.local_port,
                        dst_port: address.remote_port,
                        number,
                        payload: payload.get() as u32,
                    }));
                }
            }
            EndpointKind::UdpReceiver => {}
            EndpointKind::Pinger(pinger) => {
                while let Some((number, payload)) = pinger.handle_timeout(now) {
                    let payload = payload.get() as u32;
                    out.push(Body::Echo(EchoMessage { reply: false, ident: address.local_port, number, payload }));
                }
            }
        }
        self.perform(now, scratch, out);
    }

    /// A segment for this endpoint.
    pub(super) fn handle_segment(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        scratch: &mut Vec<tcp::Action>,
        out: &mut Vec<Body>,
    ) {
        self.arrived += Bytes(u64::from(segment.payload));
        match &mut self.kind {
            EndpointKind::TcpSender(_, socket) | EndpointKind::TcpReceiver(socket) => {
                socket.handle_segment(now, segment, scratch);
            }
            _ => {}
        }
        self.perform(now, scratch, out);
    }

    /// A datagram for this endpoint.
    pub(super) fn handle_datagram(&mut self, datagram: &UdpDatagram) {
        self.datagrams += 1;
        self.arrived += Bytes(u64::from(datagram.payload));
        self.received += Bytes(u64::from(datagram.payload));
    }

    /// An echo reply for this endpoint.
    pub(super) fn handle_echo_reply(&mut self, now: Time, echo: &EchoMessage) {
        if let EndpointKind::Pinger(pinger) = &mut self.kind {
            pinger.handle_reply(now, echo.number);
        }
    }

    fn perform(&mut self, now: Time, actions: &mut Vec<tcp::Action>, out: &mut Vec<Body>) {
        let (mut connected, mut peer_closed) = (false, false);
        for action in actions.drain(..) {
            match action {
                tcp::Action::Send { segment, .. } => out.push(Body::Tcp(segment)),
                tcp::Action::Delivered { bytes } => self.received += Bytes(bytes),
                tcp::Action::Connected => connected = true,
                tcp::Action::PeerClosed => peer_closed = true,
                tcp::Action::Stored { .. } | tcp::Action::Closed | tcp::Action::Reset => {}
            }
        }
        match &mut self.kind {
            // A file is complete once written; the close waits for the connection (RFC 9293 section 3.10.4: a close in
            // SYN-SENT would end it).
            EndpointKind::TcpSender(transfer, socket) if connected && transfer.is_supplied() => {
                socket.close(now, actions);
            }
            // A receiver has nothing of its own to send: it closes when its peer has.
            EndpointKind::TcpReceiver(socket) if peer_closed => socket.close(now, actions),
            _ => return,
        }
        self.perform(now, actions, out);
    }
}
