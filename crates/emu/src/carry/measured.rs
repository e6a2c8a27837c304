//! The simulated network routes, and its link layers measure for TCP (C3TCP): the module below the kernel's TCP.
//!
//! Options in MAC headers and the module know segments, not bytes. A segment of the kernel crosses as one of the simulator's, of
//! the same length; its bytes wait here. At the other end they get the time to live and the window with which the segment has
//! come through the module there, with the checksums that follow. What the simulator's segments cannot say in the same length
//! (options that it does not know) crosses as bytes, and is not measured. So does what goes to a wire or comes from one: links
//! of other kinds measure nothing (docs/c3tcp.md).

use super::Refused;
use fourhop_proto::wire::{Body, Ipv4Packet, PacketMeta, TcpSegment, bytes};
use fourhop_units::{NodeId, Time};

/// Segments of a node that are on their way at once; those before have arrived or are lost.
const WAITING: usize = 4096;

/// The segments of all nodes that are on their way.
#[derive(Debug)]
pub struct Measured {
    nodes: Vec<Waiting>,
}

/// Those of one node, each at the place that its number says.
#[derive(Clone, Debug, Default)]
struct Waiting {
    next: u16,
    places: Vec<(u16, Box<[u8]>)>,
}

impl Measured {
    /// For so many nodes with radios.
    pub fn new(nodes: usize) -> Measured {
        Measured { nodes: vec![Waiting::default(); nodes] }
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
        let place = usize::from(ident) % WAITING;
        let kept = (ident, Box::from(&host[..packet.len() as usize]));
        match waiting.places.get_mut(place) {
            Some(old) => *old = kept,
            // The places are filled in order before one is used again.
            None => waiting.places.push(kept),
        }
        waiting.next = ident.wrapping_add(1);
        Ok(typed)
    }

    /// False if the segment is none of a kernel's.
    pub(super) fn leave(&mut self, packet: &Ipv4Packet, out: &mut Vec<u8>) -> bool {
        let Some(segment) = packet.segment() else { return super::routed::leave(packet, out) };
        let Some(host) = self.find(packet, segment) else { return false };
        out.extend_from_slice(host);
        bytes::set_ttl(out, packet.ttl);
        bytes::set_window(out, segment.window);
        true
    }

    fn find(&self, packet: &Ipv4Packet, segment: &TcpSegment) -> Option<&[u8]> {
        let waiting = self.nodes.get(NodeId::from_ipv4(packet.src)?.index())?;
        let (ident, host) = waiting.places.get(usize::from(packet.ident) % WAITING)?;
        // Simulated flows make segments, too, with numbers of their own.
        let known = bytes::segment(host)?;
        let ends = |segment: &TcpSegment| (segment.src_port, segment.dst_port, segment.seq, segment.payload);
        (*ident == packet.ident && ends(&known) == ends(segment)).then_some(host)
    }
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
        let mut measured = Measured::new(2);
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
        let mut measured = Measured::new(2);
        let mut unknown = host(1, &[TcpOptionElement::Timestamp(1, 2), TcpOptionElement::Noop, TcpOptionElement::Noop]);
        unknown[40] = 30; // an option of MPTCP in its place
        let packet = entered(&mut measured, &unknown);
        assert!(matches!(packet.body, Body::Opaque(_)));
        let mut out = Vec::new();
        assert!(measured.leave(&packet, &mut out));
        assert_eq!(out, unknown);
    }

    #[test]
    fn what_leaves_the_mesh_crosses_as_bytes() {
        let mut measured = Measured::new(2);
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
        let mut measured = Measured::new(2);
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
