//! The simulated network routes, and its link layers measure for TCP (C3TCP): the module below the kernel's TCP.
//!
//! Options in MAC headers and the module know segments, not bytes. A segment of the kernel is carried as one of the
//! simulator's, of the same length; its bytes wait here. At the other end they get the time to live and the window with
//! which the segment left the module there, with matching checksums. Segments with options unknown to the simulator are
//! carried as bytes and not measured. So are packets to or from a wire: links of other kinds measure nothing
//! (docs/c3tcp.md).
//!
//! With local acknowledgements (`c3tcp.local_acks`) a module creates segments that the kernel has not sent, and cuts
//! those that it has sent: every segment is then rebuilt from the simulator's, with the [bytes of its
//! connection](super::streams). Only addresses and time to live of the kernel's IP header remain.

use super::Refused;
use super::streams::{self, Streams};
use etherparse::TcpHeader;
use fourhop_proto::wire::{Body, Ipv4Packet, PacketMeta, TcpSegment, bytes, encode};
use fourhop_units::{NodeId, Time};

/// Segments of a node that are in flight at once; earlier ones have arrived or are lost.
const WAITING: usize = 4096;
/// Length of an IPv4 header created here.
const IPV4: usize = 20;
/// Offset of the checksum in a TCP header.
const CHECKSUM: usize = 16;

/// The segments of all nodes in flight.
#[derive(Debug)]
pub struct Measured {
    nodes: Vec<Waiting>,
    /// Present if modules create segments.
    streams: Option<Streams>,
}

/// The segments of one node, each at the index given by its number.
#[derive(Clone, Debug, Default)]
struct Waiting {
    next: u16,
    places: Vec<(u16, Box<[u8]>)>,
}

impl Measured {
    /// Handles `nodes` nodes with radios, whose modules create acknowledgements or not.
    pub fn new(nodes: usize, local_acks: bool) -> Measured {
        Measured { nodes: vec![Waiting::default(); nodes], streams: local_acks.then(Streams::default) }
    }

    pub(super) fn enter(&mut self, now: Time, node: NodeId, host: &[u8]) -> Result<Ipv4Packet, Refused> {
        let packet = super::routed::enter(host)?;
        let to_radio = NodeId::from_ipv4(packet.dst).is_some_and(|to| to.index() < self.nodes.len());
        let (Some(segment), Some(waiting), true) = (bytes::segment(host), self.nodes.get_mut(node.index()), to_radio)
        else {
            return Ok(packet);
        };
        let ident = waiting.next;
        let meta = PacketMeta { created: now, ..PacketMeta::default() };
        let typed = Ipv4Packet { ident, body: Body::Tcp(segment), meta, ..packet };
        if typed.len() != packet.len() {
            return Ok(packet);
        }
        if let (Some(streams), Some(segment)) = (&mut self.streams, typed.segment()) {
            let end = packet.len() as usize;
            streams.enter(now, ends(&typed, segment), segment, &host[end - segment.payload as usize..end]);
            return Ok(typed);
        }
        let place = usize::from(ident) % WAITING;
        let kept = (ident, Box::from(&host[..packet.len() as usize]));
        match waiting.places.get_mut(place) {
            Some(old) => *old = kept,
            // The slots are filled in order before one is reused.
            None => waiting.places.push(kept),
        }
        waiting.next = ident.wrapping_add(1);
        Ok(typed)
    }

    /// Returns false if the segment is not a kernel's.
    pub(super) fn leave(&mut self, packet: &Ipv4Packet, out: &mut Vec<u8>) -> bool {
        let Some(segment) = packet.segment() else { return super::routed::leave(packet, out) };
        if let Some(streams) = &self.streams {
            return made_anew(streams, packet, segment, out);
        }
        let Some(host) = self.find(packet, segment) else { return false };
        out.extend_from_slice(host);
        bytes::set_ttl(out, packet.ttl);
        bytes::set_window(out, segment.window);
        true
    }

    fn find(&self, packet: &Ipv4Packet, segment: &TcpSegment) -> Option<&[u8]> {
        let waiting = self.nodes.get(NodeId::from_ipv4(packet.src)?.index())?;
        let (ident, host) = waiting.places.get(usize::from(packet.ident) % WAITING)?;
        // Simulated flows also create segments, with their own numbers.
        let known = bytes::segment(host)?;
        let ends = |segment: &TcpSegment| (segment.src_port, segment.dst_port, segment.seq, segment.payload);
        (*ident == packet.ident && ends(&known) == ends(segment)).then_some(host)
    }
}

fn ends(packet: &Ipv4Packet, segment: &TcpSegment) -> (streams::End, streams::End) {
    ((packet.src, segment.src_port), (packet.dst, segment.dst_port))
}

/// Rebuilds a segment of the simulator's with the bytes that the kernel has sent at its position.
fn made_anew(streams: &Streams, packet: &Ipv4Packet, segment: &TcpSegment, out: &mut Vec<u8>) -> bool {
    let ends = ends(packet, segment);
    if !streams.knows(ends) {
        return false;
    }
    encode::packet(packet, out);
    let start = out.len() - segment.payload as usize;
    if segment.payload > 0 && !streams.fill(ends, segment.seq, &mut out[start..]) {
        out.clear();
        return false;
    }
    let (src, dst) = (packet.src.octets(), packet.dst.octets());
    let sum = TcpHeader::from_slice(&out[IPV4..]).ok().and_then(|(header, payload)| {
        // RFC 9293 section 3.1.
        header.calc_checksum_ipv4_raw(src, dst, payload).ok()
    });
    let Some(sum) = sum else { return false };
    out[IPV4 + CHECKSUM..IPV4 + CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{PacketBuilder, SlicedPacket, TcpOptionElement, TransportSlice};

    const FROM: NodeId = NodeId(0);

    fn host(seq: u32, options: &[TcpOptionElement]) -> Vec<u8> {
        let mut out = Vec::new();
        let builder = PacketBuilder::ipv4(FROM.ipv4().octets(), NodeId(1).ipv4().octets(), 64);
        let builder = builder.tcp(4_000, 80, seq, 5_000).ack(9).options(options).unwrap();
        builder.write(&mut out, b"what the kernel sends").unwrap();
        out
    }

    fn entered(measured: &mut Measured, bytes: &[u8]) -> Ipv4Packet {
        measured.enter(Time::from_millis(7), FROM, bytes).unwrap()
    }

    #[test]
    fn a_segment_comes_out_with_the_window_and_the_time_to_live_that_it_came_with() {
        let mut measured = Measured::new(2, false);
        let times = [TcpOptionElement::Noop, TcpOptionElement::Noop, TcpOptionElement::Timestamp(1, 2)];
        let sent = host(1, &times);
        let mut packet = entered(&mut measured, &sent);
        assert_eq!((packet.len() as usize, packet.meta.created), (sent.len(), Time::from_millis(7)));
        let Body::Tcp(segment) = &mut packet.body else { panic!("{packet:?}") };
        segment.window = 77;
        packet.ttl = 61;
        let mut out = Vec::new();
        assert!(measured.leave(&packet, &mut out));
        let Some(TransportSlice::Tcp(tcp)) = SlicedPacket::from_ip(&out).unwrap().transport else { panic!("TCP") };
        assert_eq!((tcp.window_size(), out[8], tcp.payload()), (77, 61, &b"what the kernel sends"[..]));
        let sum =
            tcp.to_header().calc_checksum_ipv4_raw(FROM.ipv4().octets(), NodeId(1).ipv4().octets(), tcp.payload());
        assert_eq!(tcp.checksum(), sum.unwrap());
    }

    #[test]
    fn what_the_simulator_cannot_say_and_what_is_no_tcp_crosses_as_bytes() {
        let mut measured = Measured::new(2, false);
        let mut unknown = host(1, &[TcpOptionElement::Timestamp(1, 2), TcpOptionElement::Noop, TcpOptionElement::Noop]);
        unknown[40] = 30; // an option of MPTCP in its place
        let packet = entered(&mut measured, &unknown);
        assert!(matches!(packet.body, Body::Opaque(_)));
        let mut out = Vec::new();
        assert!(measured.leave(&packet, &mut out));
        assert_eq!(out, unknown);
    }

    #[test]
    fn segments_of_modules_are_made_of_what_the_kernel_has_sent() {
        let mut measured = Measured::new(2, true);
        let mut entered = |seq, flags: &str, content: &[u8]| {
            let mut out = Vec::new();
            let builder = PacketBuilder::ipv4(FROM.ipv4().octets(), NodeId(1).ipv4().octets(), 64);
            let builder = builder.tcp(4_000, 80, seq, 5_000);
            let builder = if flags == "S" { builder.syn() } else { builder.ack(9) };
            builder.write(&mut out, content).unwrap();
            measured.enter(Time::ZERO, FROM, &out).unwrap()
        };
        entered(99, "S", b"");
        let first = entered(100, "A", b"what the kernel ");
        let second = entered(116, "A", b"sends");
        // The module sends the end of one segment and the beginning of the other, and acknowledges to the kernel.
        let mut cut = first.clone();
        let Body::Tcp(segment) = &mut cut.body else { panic!("{cut:?}") };
        (segment.seq, segment.payload, segment.window) = (fourhop_units::Seq::from_wire(109), 10, 77);
        let mut out = Vec::new();
        assert!(measured.leave(&cut, &mut out));
        let Some(TransportSlice::Tcp(tcp)) = SlicedPacket::from_ip(&out).unwrap().transport else { panic!("TCP") };
        assert_eq!((tcp.payload(), tcp.sequence_number(), tcp.window_size()), (&b"kernel sen"[..], 109, 77));
        let sum =
            tcp.to_header().calc_checksum_ipv4_raw(FROM.ipv4().octets(), NodeId(1).ipv4().octets(), tcp.payload());
        assert_eq!(tcp.checksum(), sum.unwrap());
        let mut local = Ipv4Packet { src: second.dst, dst: second.src, ..second.clone() };
        let Body::Tcp(segment) = &mut local.body else { panic!("{local:?}") };
        (segment.src_port, segment.dst_port, segment.payload) = (80, 4_000, 0);
        out.clear();
        assert!(measured.leave(&local, &mut out) && out.len() == 40);
        let Body::Tcp(segment) = &mut local.body else { panic!("{local:?}") };
        segment.src_port = 81;
        out.clear();
        assert!(!measured.leave(&local, &mut out) && out.is_empty(), "a connection that no kernel has");
        let Body::Tcp(segment) = &mut cut.body else { panic!("{cut:?}") };
        segment.payload = 13;
        assert!(!measured.leave(&cut, &mut out) && out.is_empty(), "more than was sent");
    }

    #[test]
    fn what_leaves_the_mesh_crosses_as_bytes() {
        let mut measured = Measured::new(2, false);
        for (from, to) in [(FROM, NodeId::wired(0)), (NodeId::wired(0), FROM)] {
            let mut sent = Vec::new();
            let builder = PacketBuilder::ipv4(from.ipv4().octets(), to.ipv4().octets(), 64).tcp(4_000, 80, 1, 5_000);
            builder.write(&mut sent, b"data").unwrap();
            let packet = measured.enter(Time::ZERO, from, &sent).unwrap();
            assert!(matches!(packet.body, Body::Opaque(_)), "{packet:?}");
            let mut out = Vec::new();
            assert!(measured.leave(&packet, &mut out));
            assert_eq!(out, sent);
        }
    }

    #[test]
    fn segments_of_others_and_those_of_long_ago_are_not_found() {
        let mut measured = Measured::new(2, false);
        let first = entered(&mut measured, &host(1, &[]));
        let mut simulated = first.clone();
        let Body::Tcp(segment) = &mut simulated.body else { panic!("{simulated:?}") };
        segment.src_port = 49_152;
        assert!(!measured.leave(&simulated, &mut Vec::new()));
        for seq in 0..WAITING as u32 {
            entered(&mut measured, &host(1_000 * seq + 7, &[]));
        }
        assert!(!measured.leave(&first, &mut Vec::new()));
        assert_eq!(measured.nodes[0].places.len(), WAITING);
    }
}
