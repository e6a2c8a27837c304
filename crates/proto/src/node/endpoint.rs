//! The ends of flows at a node: an application with its socket.

use crate::app::{cbr::Cbr, ping::Pinger, transfer::Step, transfer::Transfer};
use crate::tcp::{self, PathHints, Socket};
use crate::wire::{Body, EchoMessage, PacketMeta, TcpSegment, UdpDatagram};
use core::net::Ipv4Addr;
use fourhop_cc::Hint;
use fourhop_units::{Bytes, Dur, Rate, Time};

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
    /// What the sender was last told about its path.
    path: Option<Path>,
    /// A receiver's notes for its acknowledgements: when the segment to be echoed was made, and how long the newest took
    /// over how many hops.
    echo: Time,
    forward: (Dur, u8),
}

/// What a node knows about the way to a flow's other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Path {
    /// Hops along the present route, if routing counts them.
    pub hops: Option<u8>,
    /// Bit rate of the interface.
    pub link_rate: Rate,
}

impl Endpoint {
    /// An endpoint to which nothing has happened.
    pub fn new(address: FlowAddress, kind: EndpointKind) -> Endpoint {
        Endpoint {
            address,
            kind,
            received: Bytes(0),
            arrived: Bytes(0),
            datagrams: 0,
            path: None,
            echo: Time::ZERO,
            forward: (Dur::ZERO, 0),
        }
    }

    /// The TCP socket, if it has one.
    pub fn socket(&self) -> Option<&Socket> {
        match &self.kind {
            EndpointKind::TcpSender(_, socket) | EndpointKind::TcpReceiver(socket) => Some(socket),
            _ => None,
        }
    }

    /// What this end wants to know of its path, if it sends TCP.
    pub fn path_hints(&self) -> Option<PathHints> {
        match &self.kind {
            EndpointKind::TcpSender(_, socket) => Some(socket.path_hints()),
            _ => None,
        }
    }

    /// The simulator's notes on a packet made here at `now`.
    pub fn notes(&self, now: Time) -> PacketMeta {
        let meta = PacketMeta { created: now, ..PacketMeta::default() };
        match &self.kind {
            EndpointKind::TcpSender(_, socket) => PacketMeta {
                hides_headers: socket.hides_headers(),
                measure_at: socket.path_hints().forward_delay_over.unwrap_or(0),
                ..meta
            },
            EndpointKind::TcpReceiver(_) => {
                let (forward, forward_hops) = self.forward;
                PacketMeta { echo: self.echo, forward, forward_hops, ..meta }
            }
            _ => meta,
        }
    }

    /// Tells congestion control what has changed about the path. A route that is gone for the moment changes nothing.
    pub(super) fn handle_path(&mut self, now: Time, path: Path, scratch: &mut Vec<tcp::Action>, out: &mut Vec<Body>) {
        let known = self.path;
        let path = Path { hops: path.hops.or(known.and_then(|known| known.hops)), ..path };
        if known == Some(path) {
            return;
        }
        self.path = Some(path);
        if let EndpointKind::TcpSender(_, socket) = &mut self.kind {
            if known.is_none_or(|known| known.link_rate != path.link_rate) {
                socket.handle_hint(now, Hint::LinkRate(path.link_rate), scratch);
            }
            if let Some(hops) = path.hops.filter(|_| known.is_none_or(|known| known.hops != path.hops)) {
                socket.handle_hint(now, Hint::HopCount(u32::from(hops)), scratch);
            }
        }
        self.perform(now, scratch, out);
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

    /// A segment for this endpoint, with the simulator's notes on its packet.
    pub(super) fn handle_segment(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        notes: &PacketMeta,
        scratch: &mut Vec<tcp::Action>,
        out: &mut Vec<Body>,
    ) {
        self.arrived += Bytes(u64::from(segment.payload));
        match &mut self.kind {
            EndpointKind::TcpSender(_, socket) => {
                if notes.forward_hops > 0 {
                    let hops = u32::from(notes.forward_hops);
                    socket.handle_hint(now, Hint::ForwardDelay { delay: notes.forward, hops }, scratch);
                }
                if socket.path_hints().round_trips && notes.echo > Time::ZERO {
                    socket.handle_hint(now, Hint::RoundTrip(now - notes.echo), scratch);
                }
                socket.handle_segment(now, segment, scratch);
            }
            EndpointKind::TcpReceiver(socket) => {
                // As ns-2's sink: the newest of the segments that RFC 7323 section 4.3 lets count.
                if socket.would_echo(segment) && notes.created >= self.echo {
                    self.echo = notes.created;
                }
                if notes.forward_hops > 0 {
                    self.forward = (notes.forward, notes.forward_hops);
                }
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
