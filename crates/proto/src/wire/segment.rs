//! Packets of transports other than TCP, UDP and ICMP: one class for all transports. The layers below distinguish the
//! class but never the transport.

use super::AtpPacket;
use fourhop_units::Time;

/// Interface of a packet to IP, queues, gateways and traces. To add a transport, implement this and add a row at the
/// end.
pub trait TransportPacket {
    /// IP protocol number.
    const PROTOCOL: u8;

    /// Returns the ports of sender and receiver.
    fn ports(&self) -> (u16, u16);

    /// Returns the size of header and payload, in bytes.
    fn size(&self) -> u32;

    /// Appends the packet for these addresses, with zeros as payload.
    fn encode(&self, src: [u8; 4], dst: [u8; 4], out: &mut Vec<u8>);

    /// Notes that it enters the queue of a node.
    fn note_queued(&mut self, _at: Time) {}

    /// Returns its name in a trace, which names a kind of packet, its number or 0, and the bytes of its payload.
    fn trace_fields(&self) -> (&'static str, u32, u32) {
        ("other", 0, 0)
    }
}

macro_rules! segments {
    ($($(#[$doc:meta])* $transport:ident($packet:ty);)+) => {
        /// A packet of a transport other than TCP, UDP and ICMP.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Segment { $($(#[$doc])* $transport($packet),)+ }

        impl Segment {
            /// Returns the IP protocol number.
            pub const fn protocol(&self) -> u8 {
                match self { $(Segment::$transport(_) => <$packet as TransportPacket>::PROTOCOL,)+ }
            }

            /// Returns the ports of sender and receiver.
            pub fn ports(&self) -> (u16, u16) {
                match self { $(Segment::$transport(packet) => packet.ports(),)+ }
            }

            /// Returns the size of header and payload, in bytes.
            pub fn len(&self) -> u32 {
                match self { $(Segment::$transport(packet) => packet.size(),)+ }
            }

            /// Always false: every packet has a header.
            pub fn is_empty(&self) -> bool {
                false
            }

            /// Appends the packet for these addresses, with zeros as payload.
            pub(super) fn encode(&self, src: [u8; 4], dst: [u8; 4], out: &mut Vec<u8>) {
                match self { $(Segment::$transport(packet) => packet.encode(src, dst, out),)+ }
            }

            /// Notes that it enters the queue of a node.
            pub(crate) fn note_queued(&mut self, at: Time) {
                match self { $(Segment::$transport(packet) => packet.note_queued(at),)+ }
            }

            /// Returns its fields for a trace ([`TransportPacket::trace_fields`]).
            pub fn trace_fields(&self) -> (&'static str, u32, u32) {
                match self { $(Segment::$transport(packet) => packet.trace_fields(),)+ }
            }
        }

        $(impl From<$packet> for super::Body {
            fn from(packet: $packet) -> super::Body {
                super::Body::Transport(Segment::$transport(packet))
            }
        })+
    };
}

segments! {
    /// ATP.
    Atp(AtpPacket);
}
