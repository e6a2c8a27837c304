//! The ends of flows at a node: an application with its socket.

use super::own_transport::OwnEnd;
use crate::app::ages::AgeLog;
use crate::app::end::{Counts, FlowAddress, Shared};
use crate::app::{cbr::Cbr, files::Files, ping::Pinger, sink::Sink, transfer::Step, transfer::Transfer};
use crate::tcp::{self, PathHints, RoundTrips, Socket};
use crate::wire::{Body, EchoMessage, PacketMeta, Segment, TcpSegment, UdpDatagram};
use fourhop_cc::{Hint, Transport};
use fourhop_units::{Bytes, Dur, Rate, Seq, Stream, Time};

/// The dynamic ports end at the last port (RFC 6335 section 6).
const FIRST_PORT: u16 = 49_152;

/// Whether a sender that cycles through the dynamic ports reaches `port` after `last`.
fn is_later_port(port: u16, last: u16) -> bool {
    const COUNT: u16 = u16::MAX - FIRST_PORT + 1;
    let ahead = port.wrapping_sub(last) % COUNT;
    ahead > 0 && ahead < COUNT / 2
}

/// Endpoint of a flow.
#[derive(Debug)]
pub enum EndpointKind {
    /// Sender over TCP.
    TcpSender(TcpSource, Box<Socket>),
    /// Receiver of a TCP transfer.
    TcpReceiver(Box<Socket>),
    /// An end of a transfer over an `OwnTransport`.
    Own(OwnEnd),
    /// Sender of constant bit rate UDP.
    UdpSender(Cbr),
    /// Receiver of UDP.
    UdpReceiver(Sink),
    /// Sender of echo requests.
    Pinger(Pinger),
}

/// Data source of a TCP sender.
#[derive(Debug)]
pub enum TcpSource {
    /// A transfer.
    Transfer(Transfer),
    /// Files.
    Files(Files),
}

/// How an end creates the sockets of later connections, if each file has its own.
#[derive(Debug)]
pub struct Renewal {
    /// Options of the sockets.
    pub config: tcp::Config,
    /// Their transport.
    pub transport: &'static Transport,
    /// Stream of initial sequence numbers.
    pub iss: Stream,
}

/// One end of a flow.
#[derive(Debug)]
pub struct Endpoint {
    /// The flow.
    pub address: FlowAddress,
    /// Protocol at this end.
    pub kind: EndpointKind,
    /// DSCP of outgoing packets.
    pub dscp: u8,
    /// Payload bytes received here, each counted once; unused by ping.
    pub received: Bytes,
    /// Payload bytes that arrived here, duplicates included.
    pub arrived: Bytes,
    /// UDP datagrams received, each counted once.
    pub datagrams: u64,
    /// The path hints last given to the sender.
    path: Option<Path>,
    /// A receiver's notes for its acknowledgements: when the segment to be echoed was created, and how long the newest
    /// one took over how many hops.
    echo: Time,
    forward: (Dur, u8),
    renewal: Option<Box<Renewal>>,
    /// Present with [`tcp::Config::delivery_ages`], and where [`OwnEnd`] asks for it.
    pub(super) ages: Option<Box<AgeLog>>,
    /// Counters of past connections, and the number and sum of their round trips.
    past: tcp::Stats,
    past_rtt: (u64, Dur),
}

/// The path to a flow's other end, as known to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Path {
    /// Hops of the current route, if routing counts them.
    pub hops: Option<u8>,
    pub interface: Interface,
}

/// The interface by which a node sends, with its bit rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interface {
    /// Its radio.
    Radio(Rate),
    /// Its first wire.
    Wire(Rate),
}

impl Interface {
    fn hint(self) -> Hint {
        match self {
            Interface::Radio(rate) => Hint::LinkRate(rate),
            Interface::Wire(rate) => Hint::WireRate(rate),
        }
    }
}

impl Endpoint {
    /// Creates an endpoint in its initial state.
    pub fn new(address: FlowAddress, kind: EndpointKind) -> Endpoint {
        let ages = match &kind {
            EndpointKind::TcpSender(_, socket) | EndpointKind::TcpReceiver(socket) => socket.records_ages(),
            EndpointKind::Own(end) => end.records_ages(),
            _ => false,
        };
        Endpoint {
            address,
            kind,
            dscp: 0,
            received: Bytes(0),
            arrived: Bytes(0),
            datagrams: 0,
            path: None,
            echo: Time::ZERO,
            forward: (Dur::ZERO, 0),
            renewal: None,
            ages: ages.then(Box::default),
            past: tcp::Stats::default(),
            past_rtt: (0, Dur::ZERO),
        }
    }

    /// Sets the DSCP of its packets.
    pub fn with_dscp(self, dscp: u8) -> Endpoint {
        Endpoint { dscp, ..self }
    }

    /// Gives each file its own connection. Its port must not be shared with another flow.
    pub fn with_renewal(self, renewal: Renewal) -> Endpoint {
        Endpoint { renewal: Some(Box::new(renewal)), ..self }
    }

    /// Whether it accepts segments from any port of its peer, because each connection uses another.
    pub(super) fn takes_any_port(&self) -> bool {
        self.renewal.is_some() && matches!(self.kind, EndpointKind::TcpReceiver(_))
    }

    /// Returns the counters over all its TCP connections.
    pub fn stats(&self) -> tcp::Stats {
        let mut sum = self.past;
        if let Some(socket) = self.socket() {
            sum.add(&socket.stats());
        }
        sum
    }

    /// Returns the counters common to all transports.
    pub fn counts(&self) -> Counts {
        if let EndpointKind::Own(end) = &self.kind {
            return end.counts();
        }
        let stats = self.stats();
        Counts {
            sent: stats.segments_sent,
            retransmitted: stats.segments_retransmitted,
            timeouts: stats.timeouts,
            fast_retransmits: stats.fast_retransmits,
        }
    }

    /// Returns the end, if it runs an `OwnTransport`.
    pub fn own(&self) -> Option<&OwnEnd> {
        match &self.kind {
            EndpointKind::Own(end) => Some(end),
            _ => None,
        }
    }

    /// Handles a packet of an `OwnTransport`.
    pub(super) fn handle_own(&mut self, now: Time, packet: &Segment, out: &mut Vec<Body>) {
        let (kind, shared) = self.shared(out);
        if let EndpointKind::Own(end) = kind {
            end.handle_packet(now, packet, shared);
        }
    }

    /// Returns the protocol at this end, and the state it shares with its node.
    fn shared<'a>(&'a mut self, out: &'a mut Vec<Body>) -> (&'a mut EndpointKind, Shared<'a>) {
        let Endpoint { address, kind, received, arrived, ages, .. } = self;
        (kind, Shared { address: *address, received, arrived, ages: ages.as_deref_mut(), out })
    }

    /// Returns the mean of the round trips sampled by all its connections; `None` before the first.
    pub fn rtt_mean(&self) -> Option<Dur> {
        let (count, sum) = match self.own() {
            Some(end) => end.rtt_samples(),
            None => self.socket().map(|socket| socket.rtt_samples()).unwrap_or_default(),
        };
        let (count, sum) = (count + self.past_rtt.0, sum + self.past_rtt.1);
        (count > 0).then(|| sum / count)
    }

    /// Returns its log of byte ages, if it keeps one.
    pub fn ages(&self) -> Option<&AgeLog> {
        self.ages.as_deref()
    }

    /// Returns the files, if it sends files.
    pub fn files(&self) -> Option<&Files> {
        match &self.kind {
            EndpointKind::TcpSender(TcpSource::Files(files), _) => Some(files),
            _ => None,
        }
    }

    /// Replaces the socket for the next connection: a sender's starts from the next port, a receiver's expects
    /// `remote`.
    fn renew(&mut self, remote: Option<u16>) {
        let Some(renewal) = &mut self.renewal else { return };
        let (EndpointKind::TcpSender(_, old) | EndpointKind::TcpReceiver(old)) = &self.kind else { return };
        let (config, transport) = (renewal.config.clone(), renewal.transport);
        let iss = Seq::from_wire(renewal.iss.bits32());
        self.past.add(&old.stats());
        let (count, sum) = old.rtt_samples();
        self.past_rtt = (self.past_rtt.0 + count, self.past_rtt.1 + sum);
        (self.path, self.echo) = (None, Time::ZERO);
        if let Some(ages) = &mut self.ages {
            ages.note_renewed();
        }
        let address = &mut self.address;
        match (&mut self.kind, remote) {
            (EndpointKind::TcpSender(_, socket), _) => {
                // RFC 6335 section 6: the dynamic ports.
                address.local_port = address.local_port.checked_add(1).unwrap_or(FIRST_PORT);
                **socket = Socket::new(config, transport, address.local_port, address.remote_port, iss);
            }
            (EndpointKind::TcpReceiver(socket), Some(remote)) => {
                address.remote_port = remote;
                **socket = Socket::listen(config, transport, address.local_port, iss);
            }
            _ => {}
        }
    }

    /// Returns the TCP socket, if it has one.
    pub fn socket(&self) -> Option<&Socket> {
        match &self.kind {
            EndpointKind::TcpSender(_, socket) | EndpointKind::TcpReceiver(socket) => Some(socket),
            _ => None,
        }
    }

    /// Returns the path hints that this end needs, if it sends TCP.
    pub fn path_hints(&self) -> Option<PathHints> {
        match &self.kind {
            EndpointKind::TcpSender(_, socket) => Some(socket.path_hints()),
            _ => None,
        }
    }

    /// Returns the simulator's metadata for a packet created here at `now`.
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

    /// Notifies congestion control of path changes. A temporarily missing route changes nothing.
    pub(super) fn handle_path(&mut self, now: Time, path: Path, scratch: &mut Vec<tcp::Action>, out: &mut Vec<Body>) {
        let known = self.path;
        let path = Path { hops: path.hops.or(known.and_then(|known| known.hops)), ..path };
        if known == Some(path) {
            return;
        }
        self.path = Some(path);
        if let EndpointKind::TcpSender(_, socket) = &mut self.kind {
            if known.is_none_or(|known| known.interface != path.interface) {
                socket.handle_hint(now, path.interface.hint(), scratch);
            }
            if let Some(hops) = path.hops.filter(|_| known.is_none_or(|known| known.hops != path.hops)) {
                socket.handle_hint(now, Hint::HopCount(u32::from(hops)), scratch);
            }
        }
        self.perform(now, scratch, out);
    }

    /// Returns when `handle_timeout` has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        match &self.kind {
            EndpointKind::TcpSender(source, socket) => {
                let due = match source {
                    TcpSource::Transfer(transfer) => transfer.next_timeout(),
                    TcpSource::Files(files) => files.next_timeout(),
                };
                Time::earlier_of(due, socket.next_timeout())
            }
            EndpointKind::TcpReceiver(socket) => socket.next_timeout(),
            EndpointKind::Own(end) => end.next_timeout(),
            EndpointKind::UdpSender(cbr) => cbr.next_timeout(),
            EndpointKind::UdpReceiver(_) => None,
            EndpointKind::Pinger(pinger) => pinger.next_timeout(),
        }
    }

    /// Does what is due at `now`. Bodies of packets for the peer are appended to `out`; `scratch` is reused.
    pub(super) fn handle_timeout(&mut self, now: Time, scratch: &mut Vec<tcp::Action>, out: &mut Vec<Body>) {
        let due = |files: &Files| files.next_timeout().is_some_and(|at| at <= now);
        let renews = self.files().is_some_and(|files| files.is_fresh() && !files.is_first() && due(files));
        if renews {
            self.renew(None);
        }
        let address = self.address;
        match &mut self.kind {
            EndpointKind::TcpSender(TcpSource::Files(files), socket) => {
                let opens = files.is_first() || files.is_fresh();
                if let Some(bytes) = files.handle_timeout(now) {
                    if let Some(ages) = &mut self.ages {
                        ages.note_written(now);
                    }
                    if opens {
                        socket.open(now, scratch);
                    }
                    socket.write(now, bytes, scratch);
                }
                socket.handle_timeout(now, scratch);
            }
            EndpointKind::TcpSender(TcpSource::Transfer(transfer), socket) => {
                match transfer.handle_timeout(now) {
                    Some(Step::Begin { bytes }) => {
                        if let Some(ages) = &mut self.ages {
                            ages.note_written(now);
                        }
                        socket.open(now, scratch);
                        socket.write(now, bytes, scratch);
                    }
                    Some(Step::Go { bytes }) => {
                        if let Some(ages) = &mut self.ages {
                            ages.note_written(now);
                        }
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
            EndpointKind::Own(_) => {
                let (kind, shared) = self.shared(out);
                if let EndpointKind::Own(end) = kind {
                    end.handle_timeout(now, shared);
                }
                return;
            }
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
            EndpointKind::UdpReceiver(_) => {}
            EndpointKind::Pinger(pinger) => {
                while let Some((number, payload)) = pinger.handle_timeout(now) {
                    let payload = payload.get() as u32;
                    out.push(Body::Echo(EchoMessage { reply: false, ident: address.local_port, number, payload }));
                }
            }
        }
        self.perform(now, scratch, out);
    }

    /// Records the hops that the next segment travelled, according to its time to live.
    pub(super) fn note_hops(&mut self, hops: u8) {
        if let EndpointKind::TcpSender(_, socket) | EndpointKind::TcpReceiver(socket) = &mut self.kind {
            socket.note_hops(hops);
        }
    }

    /// Handles a segment for this endpoint, with the simulator's metadata on its packet.
    pub(super) fn handle_segment(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        notes: &PacketMeta,
        scratch: &mut Vec<tcp::Action>,
        out: &mut Vec<Body>,
    ) {
        if self.takes_any_port() && segment.src_port != self.address.remote_port {
            let opens = segment.flags.syn && !segment.flags.ack;
            if !opens || !is_later_port(segment.src_port, self.address.remote_port) {
                // From a past connection. Even its SYN may arrive a second time, long after the first, by another
                // route.
                return;
            }
            self.renew(Some(segment.src_port));
        }
        self.arrived += Bytes(u64::from(segment.payload));
        match &mut self.kind {
            EndpointKind::TcpSender(_, socket) => {
                if notes.forward_hops > 0 {
                    let hops = u32::from(notes.forward_hops);
                    socket.handle_hint(now, Hint::ForwardDelay { delay: notes.forward, hops }, scratch);
                }
                if socket.path_hints().round_trips != RoundTrips::Unknown && notes.echo > Time::ZERO {
                    socket.note_round_trip(now - notes.echo);
                }
                socket.handle_segment(now, segment, scratch);
            }
            EndpointKind::TcpReceiver(socket) => {
                // As ns-2's sink: the newest of the segments eligible under RFC 7323 section 4.3.
                let latest = socket.path_hints().round_trips == RoundTrips::Latest && segment.payload > 0;
                if latest || (socket.would_echo(segment) && notes.created >= self.echo) {
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

    /// Handles a datagram for this endpoint.
    pub(super) fn handle_datagram(&mut self, datagram: &UdpDatagram) {
        let payload = Bytes(u64::from(datagram.payload));
        self.arrived += payload;
        if let EndpointKind::UdpReceiver(sink) = &mut self.kind
            && sink.handle_datagram(datagram.number)
        {
            self.datagrams += 1;
            self.received += payload;
        }
    }

    /// Handles an echo reply for this endpoint.
    pub(super) fn handle_echo_reply(&mut self, now: Time, echo: &EchoMessage) {
        self.arrived += Bytes(u64::from(echo.payload));
        if let EndpointKind::Pinger(pinger) = &mut self.kind {
            pinger.handle_reply(now, echo.number);
        }
    }

    fn perform(&mut self, now: Time, actions: &mut Vec<tcp::Action>, out: &mut Vec<Body>) {
        let (mut connected, mut peer_closed) = (false, false);
        for action in actions.drain(..) {
            match action {
                tcp::Action::Send { segment, stream_offset } => {
                    if let Some(ages) = &mut self.ages
                        && segment.payload > 0
                    {
                        ages.note_sent(stream_offset + u64::from(segment.payload), now);
                    }
                    out.push(Body::Tcp(segment));
                }
                tcp::Action::Delivered { bytes } => {
                    self.received += Bytes(bytes);
                    if let Some(ages) = &mut self.ages {
                        ages.note_delivered(self.received.get(), now);
                    }
                }
                tcp::Action::Connected => connected = true,
                tcp::Action::PeerClosed => peer_closed = true,
                tcp::Action::Stored { .. } | tcp::Action::Closed | tcp::Action::Reset => {}
            }
        }
        match &mut self.kind {
            // A file is complete once written; the close waits for the connection (RFC 9293 section 3.10.4: a close in
            // SYN-SENT would end it).
            EndpointKind::TcpSender(TcpSource::Transfer(transfer), socket) if connected && transfer.is_supplied() => {
                socket.close(now, actions);
            }
            EndpointKind::TcpSender(TcpSource::Files(files), socket)
                if files.is_sending() && socket.unacknowledged() == 0 =>
            {
                files.handle_acknowledged(now);
                if !files.is_fresh() {
                    return;
                }
                socket.close(now, actions);
            }
            // A receiver has no data to send: it closes when its peer has.
            EndpointKind::TcpReceiver(socket) if peer_closed => socket.close(now, actions),
            _ => return,
        }
        self.perform(now, actions, out);
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
