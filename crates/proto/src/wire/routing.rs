//! Messages of routing protocols: one class of packets for all protocols. The layers between routing and the radio
//! distinguish the class (interface queues put it first, statistics count it separately) but never the protocol.

use super::packet::IPV4_HEADER;
use super::{AodvMessage, BabelMessage};

/// Interface of a routing message to the layers below. To add a protocol, implement this and add a row at the end.
pub trait Message {
    /// UDP port of the protocol, source and destination of its messages.
    const PORT: u16;

    /// Returns the size of the message as its protocol lays it out, without UDP and IP.
    fn size(&self) -> u32;

    /// Returns the size of the packet as counted by ns-2.35: IP included, but without a UDP header.
    fn ns2_packet_len(&self) -> u32 {
        IPV4_HEADER + self.size()
    }

    /// Appends the message's bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// Returns its name in a trace, which names a kind of packet, and its number or 0. `to_all`: sent to all neighbours
    /// rather than to one.
    fn trace_fields(&self, _to_all: bool) -> (&'static str, u32) {
        ("other", 0)
    }
}

macro_rules! messages {
    ($($(#[$doc:meta])* $protocol:ident($message:ty);)+) => {
        /// A message of a routing protocol, over UDP.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum RoutingMessage { $($(#[$doc])* $protocol($message),)+ }

        impl RoutingMessage {
            /// Returns the protocol's UDP port, source and destination of its messages.
            pub const fn port(&self) -> u16 {
                match self { $(RoutingMessage::$protocol(_) => <$message as Message>::PORT,)+ }
            }

            /// Returns the size of the message as its protocol lays it out, without UDP and IP.
            pub fn len(&self) -> u32 {
                match self { $(RoutingMessage::$protocol(message) => Message::size(message),)+ }
            }

            /// Always false: every message has a header.
            pub fn is_empty(&self) -> bool {
                false
            }

            /// Returns the size of the packet as counted by ns-2.35, IP included.
            pub fn ns2_packet_len(&self) -> u32 {
                match self { $(RoutingMessage::$protocol(message) => Message::ns2_packet_len(message),)+ }
            }

            /// Appends the message's bytes.
            pub fn encode(&self, out: &mut Vec<u8>) {
                match self { $(RoutingMessage::$protocol(message) => Message::encode(message, out),)+ }
            }

            /// Returns its fields for a trace ([`Message::trace_fields`]).
            pub fn trace_fields(&self, to_all: bool) -> (&'static str, u32) {
                match self { $(RoutingMessage::$protocol(message) => message.trace_fields(to_all),)+ }
            }
        }

        $(impl From<$message> for RoutingMessage {
            fn from(message: $message) -> RoutingMessage {
                RoutingMessage::$protocol(message)
            }
        })+
    };
}

messages! {
    /// RFC 3561.
    Aodv(AodvMessage);
    /// RFC 8966.
    Babel(BabelMessage);
}
