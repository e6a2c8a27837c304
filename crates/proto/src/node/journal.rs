//! A node's notes for a driver that records packets: every step of every packet ([`Note`]), and route changes.
//!
//! A node that does not record pays one flag test per step of a packet. A packet gets its number at its first recorded
//! step, and keeps it from node to node in the simulator's metadata ([`PacketMeta`]).

use super::output::Output;
use crate::drop::DropReason;
use crate::route::NextHop;
use crate::wire::{Body, Ipv4Packet, bytes};
use core::net::Ipv4Addr;

#[cfg(doc)]
use crate::wire::PacketMeta;

/// A step of a packet at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Created here, or accepted from an outside host.
    Created,
    /// Created by routing, or by a module of C3TCP from data it has stored.
    Emitted,
    /// Handed to the link layer for a neighbour; `None`: broadcast.
    Queued(Option<Ipv4Addr>),
    /// Accepted by the MAC.
    Head,
    /// Given up by the MAC or by ARP, and returned to routing.
    Failed(DropReason),
    /// Received by radio from a neighbour, whose address may be unknown.
    Received(Option<Ipv4Addr>),
    /// Sent by wire to that node.
    WireOut(Ipv4Addr),
    /// Received by wire from that node.
    WireIn(Ipv4Addr),
    /// Arrived at its destination here.
    Delivered,
    /// Absorbed by a module of C3TCP, which creates new packets from its content.
    Absorbed,
    /// Lost here.
    Dropped(DropReason),
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal;)+) => {
        /// Description of a packet.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum PacketKind { $($(#[doc = $doc])+ $kind,)+ }

        impl PacketKind {
            /// Every kind.
            pub const ALL: &[PacketKind] = &[$(PacketKind::$kind,)+];

            /// Name in traces.
            pub const fn name(self) -> &'static str {
                match self { $(PacketKind::$kind => $name,)+ }
            }

            /// The kind of that name; [`PacketKind::Other`] if there is none.
            pub fn named(name: &str) -> PacketKind {
                Self::ALL.iter().copied().find(|kind| kind.name() == name).unwrap_or(PacketKind::Other)
            }
        }
    };
}

kinds! {
    /// TCP with payload.
    TcpData = "tcp-data";
    /// TCP without payload or one of the flags below.
    TcpAck = "tcp-ack";
    /// SYN, with or without ACK.
    TcpSyn = "tcp-syn";
    /// FIN without payload.
    TcpFin = "tcp-fin";
    /// RST.
    TcpRst = "tcp-rst";
    /// UDP.
    Udp = "udp";
    /// Data of ATP.
    AtpData = "atp-data";
    /// Feedback of ATP.
    AtpFeedback = "atp-feedback";
    /// ICMP echo request.
    EchoRequest = "echo-request";
    /// ICMP echo reply.
    EchoReply = "echo-reply";
    /// Route request.
    Rreq = "rreq";
    /// Route reply.
    Rrep = "rrep";
    /// Route error.
    Rerr = "rerr";
    /// Acknowledgement of a route reply.
    RrepAck = "rrep-ack";
    /// HELLO: an unsolicited route reply.
    Hello = "hello";
    /// Probe of links.
    Probe = "probe";
    /// A packet of Babel.
    Babel = "babel";
    /// Another packet of a host outside.
    Other = "other";
}

/// A step of a packet, with the main fields of the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Note {
    /// Number of the packet.
    pub number: u32,
    /// The step.
    pub step: Step,
    /// Its kind.
    pub kind: PacketKind,
    /// IP protocol number.
    pub protocol: u8,
    /// Source address and port; for an echo request, the identifier serves as port.
    pub src: (Ipv4Addr, u16),
    /// Destination address and port; for an echo reply, the identifier serves as port.
    pub dst: (Ipv4Addr, u16),
    /// Sequence number of TCP; number of a datagram, ATP packet or echo; otherwise 0.
    pub seq: u32,
    /// TCP acknowledgement number, if valid.
    pub ack: Option<u32>,
    /// TCP window as in the header.
    pub window: u16,
    /// Window scale offered by a SYN.
    pub window_scale: Option<u8>,
    /// Bytes after the transport header.
    pub payload: u32,
    /// Bytes including the IP header.
    pub len: u32,
}

impl Note {
    /// Creates the note on a step of `packet`.
    pub fn of(packet: &Ipv4Packet, step: Step) -> Note {
        let mut note = Note {
            number: packet.meta.number,
            step,
            kind: PacketKind::Other,
            protocol: 0,
            src: (packet.src, 0),
            dst: (packet.dst, 0),
            seq: 0,
            ack: None,
            window: 0,
            window_scale: None,
            payload: 0,
            len: packet.len(),
        };
        match &packet.body {
            Body::Tcp(_) | Body::Measured(_) => {}
            Body::Transport(segment) => {
                note.protocol = segment.protocol();
                (note.src.1, note.dst.1) = segment.ports();
                let (kind, number, payload) = segment.trace_fields();
                (note.kind, note.seq, note.payload) = (PacketKind::named(kind), number, payload);
            }
            Body::Udp(udp) => {
                (note.kind, note.protocol) = (PacketKind::Udp, 17);
                (note.src.1, note.dst.1, note.seq, note.payload) =
                    (udp.src_port, udp.dst_port, udp.number, udp.payload);
            }
            Body::Routing(message) => {
                (note.protocol, note.src.1, note.dst.1) = (17, message.port(), message.port());
                note.payload = message.len();
                let (kind, number) = message.trace_fields(packet.is_for_all());
                (note.kind, note.seq) = (PacketKind::named(kind), number);
            }
            Body::Echo(echo) => {
                (note.protocol, note.seq, note.payload) = (1, echo.number.into(), echo.payload);
                (note.kind, note.src.1, note.dst.1) = match echo.reply {
                    false => (PacketKind::EchoRequest, echo.ident, 0),
                    true => (PacketKind::EchoReply, 0, echo.ident),
                };
            }
            Body::Opaque(opaque) => {
                note.protocol = opaque.protocol();
                if let Ok(head) = bytes::Ipv4Head::read(opaque.bytes()) {
                    (note.src.1, note.dst.1) = head.ports(opaque.bytes()).unwrap_or((0, 0));
                    note.payload = (head.total_len - head.header_len) as u32;
                    if note.protocol == 17 {
                        note.kind = PacketKind::Udp;
                        note.payload = note.payload.saturating_sub(8);
                    }
                }
            }
        }
        note.note_segment(packet);
        note
    }

    fn note_segment(&mut self, packet: &Ipv4Packet) {
        let read;
        let segment = match &packet.body {
            Body::Opaque(opaque) if self.protocol == 6 => {
                read = bytes::segment(opaque.bytes());
                read.as_ref()
            }
            _ => packet.segment(),
        };
        let Some(segment) = segment else { return };
        let flags = segment.flags;
        self.kind = match () {
            () if flags.rst => PacketKind::TcpRst,
            () if flags.syn => PacketKind::TcpSyn,
            () if segment.payload > 0 => PacketKind::TcpData,
            () if flags.fin => PacketKind::TcpFin,
            () => PacketKind::TcpAck,
        };
        self.protocol = 6;
        (self.src.1, self.dst.1) = (segment.src_port, segment.dst_port);
        (self.seq, self.payload) = (segment.seq.to_wire(), segment.payload);
        self.ack = flags.ack.then(|| segment.ack.to_wire());
        (self.window, self.window_scale) = (segment.window, segment.options.window_scale);
    }
}

/// Revises the last recorded step, which has failed: the packet is lost.
pub(super) fn revise(outputs: &mut [Output], reason: DropReason) {
    if let Some(Output::Noted(Note { step, .. })) = outputs.last_mut() {
        *step = Step::Dropped(reason);
    }
}

/// Destination of a node's notes: none, unless its driver records.
#[derive(Debug, Default)]
pub(super) struct Journal(Option<Numbers>);

/// Assigns numbers to packets; each node has its own sequence.
#[derive(Debug)]
struct Numbers {
    next: u32,
    step: u32,
}

impl Journal {
    /// Starts a journal that numbers its packets `first`, `first + step`, ...; 0 means no number.
    pub fn begin(&mut self, first: u32, step: u32) {
        debug_assert!(first > 0, "0 says that a packet has no number");
        self.0 = Some(Numbers { next: first, step });
    }

    /// Whether notes are recorded.
    #[inline(always)]
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Records a step of a packet.
    #[inline(always)]
    pub fn note(&mut self, packet: &mut Ipv4Packet, step: Step, out: &mut Vec<Output>) {
        if let Some(numbers) = &mut self.0 {
            numbers.note(packet, step, out);
        }
    }

    /// Records that a packet is passed down to the link layer.
    #[inline(always)]
    pub fn note_queued(&mut self, packet: &mut Ipv4Packet, next_hop: NextHop, out: &mut Vec<Output>) {
        if let Some(numbers) = &mut self.0 {
            let next_hop = match next_hop {
                NextHop::Unicast(next_hop) => Some(next_hop),
                NextHop::Broadcast => None,
            };
            numbers.note(packet, Step::Queued(next_hop), out);
        }
    }

    /// Records that a route leads to `destination` via this neighbour over that many hops, or that it is gone.
    pub fn route(&self, destination: Ipv4Addr, way: Option<(Ipv4Addr, u8)>, out: &mut Vec<Output>) {
        if self.is_kept() {
            out.push(Output::Route { destination, way });
        }
    }
}

impl Numbers {
    #[cold]
    fn note(&mut self, packet: &mut Ipv4Packet, step: Step, out: &mut Vec<Output>) {
        if packet.meta.number == 0 {
            packet.meta.number = self.next;
            self.next = self.next.wrapping_add(self.step);
            // Routing also creates packets, which first appear here when they are sent.
            if !matches!(step, Step::Created | Step::Emitted) {
                out.push(Output::Noted(Note::of(packet, Step::Emitted)));
            }
        }
        out.push(Output::Noted(Note::of(packet, step)));
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
