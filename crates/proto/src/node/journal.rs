//! A node's notes for a driver that records packets: each step of each of them ([`Note`]), and changes of its
//! routes.
//!
//! A node that does not record pays one test of a flag per step of a packet. A packet gets its number at its first
//! recorded step, and keeps it from node to node among the simulator's notes ([`PacketMeta`]).

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
    /// Made here, or let in from a host outside.
    Created,
    /// Made by routing, or by a module of C3TCP of what it has kept.
    Emitted,
    /// Handed to the link layer for a neighbour; `None`: for all.
    Queued(Option<Ipv4Addr>),
    /// Taken by the MAC.
    Head,
    /// Given up by the MAC or by ARP; routing has it again.
    Failed(DropReason),
    /// Come by radio from a neighbour, whose address may not be known.
    Received(Option<Ipv4Addr>),
    /// Put on a wire to that node.
    WireOut(Ipv4Addr),
    /// Come by a wire from that node.
    WireIn(Ipv4Addr),
    /// At its destination here.
    Delivered,
    /// Kept by a module of C3TCP, which makes others of what it carries.
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
    /// HELLO: a route reply that nobody asked for.
    Hello = "hello";
    /// Probe of links.
    Probe = "probe";
    /// A packet of Babel.
    Babel = "babel";
    /// Another packet of a host outside.
    Other = "other";
}

/// A step of a packet, with what the packet says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Note {
    /// Number of the packet.
    pub number: u32,
    /// Its action.
    pub step: Step,
    /// Its kind.
    pub kind: PacketKind,
    /// Internet protocol number.
    pub protocol: u8,
    /// Source address and port; the identifier of an echo request is one.
    pub src: (Ipv4Addr, u16),
    /// Destination address and port; the identifier of an echo reply is one.
    pub dst: (Ipv4Addr, u16),
    /// Sequence number of TCP; number of a datagram, ATP packet or echo; otherwise 0.
    pub seq: u32,
    /// Acknowledgement number of TCP where it counts.
    pub ack: Option<u32>,
    /// Window of TCP as in the header.
    pub window: u16,
    /// Window scale that a SYN offers.
    pub window_scale: Option<u8>,
    /// Bytes above the transport's header.
    pub payload: u32,
    /// Bytes with the IP header.
    pub len: u32,
}

impl Note {
    /// A step of `packet`.
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

/// The last recorded step has failed: the packet is lost.
pub(super) fn revise(outputs: &mut [Output], reason: DropReason) {
    if let Some(Output::Noted(Note { step, .. })) = outputs.last_mut() {
        *step = Step::Dropped(reason);
    }
}

/// Where a node writes its notes: nowhere, unless its driver records.
#[derive(Debug, Default)]
pub(super) struct Journal(Option<Numbers>);

/// Gives packets their numbers: each node has its own.
#[derive(Debug)]
struct Numbers {
    next: u32,
    step: u32,
}

impl Journal {
    /// A journal whose packets have the numbers `first`, `first + step`, ...; 0 is none.
    pub fn begin(&mut self, first: u32, step: u32) {
        debug_assert!(first > 0, "0 says that a packet has no number");
        self.0 = Some(Numbers { next: first, step });
    }

    /// Is it kept?
    #[inline(always)]
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// A packet takes a step.
    #[inline(always)]
    pub fn note(&mut self, packet: &mut Ipv4Packet, step: Step, out: &mut Vec<Output>) {
        if let Some(numbers) = &mut self.0 {
            numbers.note(packet, step, out);
        }
    }

    /// A packet goes down to the link layer.
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

    /// A route leads to `destination` over this neighbour in so many hops, or there is none any more.
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
            // Routing makes packets, too, and shows them first when they are on their way.
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
