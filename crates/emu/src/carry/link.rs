//! The kernels route: devices carry Ethernet frames, and each becomes one frame on the simulated air.
//!
//! The network knows packets, not Ethernet. An IPv4 packet stays one; its `dst` is the neighbour that the frame is for,
//! and `src` the sending station, whatever addresses its bytes contain, which stay unchanged. Everything else (ARP,
//! IPv6) is carried as a datagram of the same length that identifies the frame; the frame itself waits here.

use super::Refused;
use fourhop_proto::net::sizes::Sizes;
use fourhop_proto::wire::{Body, Ipv4Packet, PacketMeta, UdpDatagram, encode};
use fourhop_units::{MacAddr, NodeId};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::rc::Rc;

/// Bytes of an Ethernet header: destination, source, type.
pub(super) const HEADER: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// Frames that wait for their datagrams, per node. More than an interface queue and the MAC contain; those in excess
/// were lost at a full queue.
const WAITING: usize = 1024;

/// The non-IPv4 frames of all nodes.
#[derive(Debug)]
pub struct Link {
    /// Bytes that a datagram counts on the air in addition to its payload.
    overhead: u32,
    /// For each node: its frames in the order of transmission, and the number of the first.
    waiting: Vec<Waiting>,
}

#[derive(Clone, Debug, Default)]
struct Waiting {
    frames: VecDeque<Rc<[u8]>>,
    first: u32,
}

impl Waiting {
    fn push(&mut self, frame: &[u8]) -> u32 {
        if self.frames.len() == WAITING {
            self.frames.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.frames.push_back(frame.into());
        self.first.wrapping_add(self.frames.len() as u32 - 1)
    }

    /// A station's frames leave it in order, so those before this one are no longer on the air. This one is kept for
    /// other receivers.
    fn take(&mut self, number: u32) -> Option<Rc<[u8]>> {
        let before = number.wrapping_sub(self.first) as usize;
        if before >= self.frames.len() {
            return None;
        }
        self.frames.drain(..before);
        self.first = number;
        self.frames.front().cloned()
    }
}

impl Link {
    /// Handles `nodes` nodes with radios, in a network that counts sizes like this.
    pub fn new(nodes: usize, sizes: Sizes) -> Link {
        let overhead = match sizes {
            Sizes::Ns2 => 20,
            Sizes::Standard => 28,
        };
        Link { overhead, waiting: vec![Waiting::default(); nodes] }
    }

    pub(super) fn enter(&mut self, node: NodeId, frame: &[u8]) -> Result<Ipv4Packet, Refused> {
        let Some((header, content)) = frame.split_at_checked(HEADER) else { return Err(Refused::Malformed) };
        let (to, from) = (mac(&header[..6]), mac(&header[6..12]));
        if from != node.mac() {
            return Err(Refused::ForeignSource);
        }
        let dst = match to.node() {
            // The group bit (IEEE 802-2014 clause 8.2.2).
            _ if to.0[0] & 1 == 1 => Ipv4Addr::BROADCAST,
            Some(to) if to.index() < self.waiting.len() => to.ipv4(),
            _ => return Err(Refused::UnknownDestination),
        };
        let src = node.ipv4();
        if header[12..] == IPV4
            && let Ok(packet) = Ipv4Packet::from_bytes(content)
        {
            return Ok(Ipv4Packet { src, dst, ..packet });
        }
        let number = self.waiting[node.index()].push(frame);
        let payload = (content.len() as u32).saturating_sub(self.overhead);
        let body = Body::Udp(UdpDatagram { src_port: 0, dst_port: 0, number, payload });
        Ok(Ipv4Packet { src, dst, ttl: 1, ident: 0, dscp: 0, body, meta: PacketMeta::default() })
    }

    pub(super) fn leave(&mut self, node: NodeId, packet: &Ipv4Packet, out: &mut Vec<u8>) -> bool {
        let Some(from) = NodeId::from_ipv4(packet.src).filter(|from| from.index() < self.waiting.len()) else {
            return false;
        };
        match &packet.body {
            Body::Udp(UdpDatagram { src_port: 0, dst_port: 0, number, .. }) => {
                let frame = self.waiting[from.index()].take(*number);
                out.extend(frame.iter().flat_map(|frame| frame.iter()));
                frame.is_some()
            }
            Body::Opaque(host) => {
                let group = Ipv4Addr::from_octets([16, 17, 18, 19].map(|at| host.bytes()[at]));
                let to = if packet.is_for_all() { group_mac(group) } else { node.mac() };
                out.extend(to.0);
                out.extend(from.mac().0);
                out.extend(IPV4);
                encode::packet(packet, out);
                true
            }
            // Simulated flows also use the nodes' addresses; packets they send to a node that does not know them end
            // here.
            _ => false,
        }
    }
}

/// The Ethernet group address of an IPv4 group (RFC 1112 section 6.4).
fn group_mac(group: Ipv4Addr) -> MacAddr {
    let [_, b, c, d] = group.octets();
    if group.is_multicast() { MacAddr([0x01, 0x00, 0x5e, b & 0x7f, c, d]) } else { MacAddr::BROADCAST }
}

fn mac(bytes: &[u8]) -> MacAddr {
    let mut address = [0; 6];
    address.copy_from_slice(bytes);
    MacAddr(address)
}

/// The IPv4 packet in a frame, if it is one.
pub fn ip(frame: &[u8]) -> Option<&[u8]> {
    let (header, content) = frame.split_at_checked(HEADER)?;
    (header[12..] == IPV4 || header[12..] == IPV6).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: MacAddr, from: NodeId, kind: [u8; 2], content: &[u8]) -> Vec<u8> {
        [&to.0[..], &from.mac().0, &kind, content].concat()
    }

    fn datagram(dst: [u8; 4]) -> Vec<u8> {
        let mut bytes = Vec::new();
        etherparse::PacketBuilder::ipv4([10, 0, 0, 1], dst, 9).udp(1, 2).write(&mut bytes, b"hello").unwrap();
        bytes
    }

    #[test]
    fn packets_come_out_as_frames_from_their_last_sender() {
        let mut link = Link::new(3, Sizes::Standard);
        for (to, dst, mac_out) in [
            (NodeId(1).mac(), [10, 0, 0, 3], NodeId(1).mac()),
            (MacAddr::BROADCAST, [10, 127, 255, 255], MacAddr::BROADCAST),
            (MacAddr([1, 0, 0x5e, 0, 0, 0xfb]), [224, 0, 0, 251], MacAddr([1, 0, 0x5e, 0, 0, 0xfb])),
        ] {
            let sent = frame(to, NodeId(0), IPV4, &datagram(dst));
            let packet = link.enter(NodeId(0), &sent).unwrap();
            assert_eq!(packet.is_for_all(), to != NodeId(1).mac());
            assert_eq!(packet.len() as usize, sent.len() - HEADER, "as long on the air as the packet");
            let mut out = Vec::new();
            assert!(link.leave(NodeId(1), &packet, &mut out));
            assert_eq!(out, frame(mac_out, NodeId(0), IPV4, &datagram(dst)));
        }
    }

    #[test]
    fn what_is_no_ipv4_crosses_with_its_own_length() {
        for sizes in [Sizes::Standard, Sizes::Ns2] {
            let mut link = Link::new(2, sizes);
            let sent: Vec<_> = (0..5).map(|n| frame(NodeId(1).mac(), NodeId(0), [0x86, 0xdd], &[n; 60])).collect();
            let packets: Vec<_> = sent.iter().map(|frame| link.enter(NodeId(0), frame).unwrap()).collect();
            let payload = fourhop_proto::wire::Payload::Ipv4(packets[0].clone());
            assert_eq!(sizes.of(&payload).0, 60);
            // The first is lost, the third arrives twice, as a broadcast frame would.
            for arrives in [1, 2, 2, 4] {
                let mut out = Vec::new();
                assert!(link.leave(NodeId(1), &packets[arrives], &mut out));
                assert_eq!(out, sent[arrives]);
            }
            assert!(!link.leave(NodeId(1), &packets[0], &mut Vec::new()), "it was overtaken");
        }
    }

    #[test]
    fn frames_that_wait_are_bounded() {
        let mut link = Link::new(1, Sizes::Standard);
        let sent = frame(MacAddr::BROADCAST, NodeId(0), [0x86, 0xdd], &[0; 60]);
        let packets: Vec<_> = (0..3 * WAITING).map(|_| link.enter(NodeId(0), &sent).unwrap()).collect();
        assert_eq!(link.waiting[0].frames.len(), WAITING);
        assert!(!link.leave(NodeId(0), &packets[0], &mut Vec::new()));
        assert!(link.leave(NodeId(0), &packets[3 * WAITING - 1], &mut Vec::new()));
    }

    #[test]
    fn bridges_strangers_and_garbage_are_refused() {
        let mut link = Link::new(2, Sizes::Standard);
        let foreign = frame(MacAddr::BROADCAST, NodeId(1), IPV4, &datagram([10, 0, 0, 2]));
        assert_eq!(link.enter(NodeId(0), &foreign), Err(Refused::ForeignSource));
        for to in [NodeId(2).mac(), MacAddr([0, 1, 2, 3, 4, 5])] {
            assert_eq!(link.enter(NodeId(0), &frame(to, NodeId(0), IPV4, &[])), Err(Refused::UnknownDestination));
        }
        assert_eq!(link.enter(NodeId(0), &[0; 13]), Err(Refused::Malformed));
        let cut = frame(MacAddr::BROADCAST, NodeId(0), IPV4, &[0x45, 0, 0]);
        let packet = link.enter(NodeId(0), &cut).unwrap();
        let mut out = Vec::new();
        assert!(link.leave(NodeId(1), &packet, &mut out));
        assert_eq!(out, cut, "a link carries what it is given");
    }
}
