//! Messages of routing protocols: one class of packets, whatever the protocol. The layers between routing and the radio ask
//! for the class (interface queues put it first, accounts count it apart) and never for the protocol.

use super::packet::IPV4_HEADER;
use super::{AodvMessage, BabelMessage, encode};

/// A message of a routing protocol, over UDP. Another protocol is a variant here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RoutingMessage {
    /// RFC 3561.
    Aodv(AodvMessage),
    /// RFC 8966.
    Babel(BabelMessage),
}

impl RoutingMessage {
    /// The protocol's UDP port, from and to which its messages go.
    pub const fn port(&self) -> u16 {
        match self {
            RoutingMessage::Aodv(_) => AodvMessage::PORT,
            RoutingMessage::Babel(_) => BabelMessage::PORT,
        }
    }

    /// Bytes of the message as its protocol lays it out, without UDP and IP.
    pub fn len(&self) -> u32 {
        match self {
            RoutingMessage::Aodv(message) => message.len(),
            RoutingMessage::Babel(message) => message.len(),
        }
    }

    /// Never: every message has a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Bytes of the packet as ns-2.35 counts it, IP included.
    pub fn ns2_packet_len(&self) -> u32 {
        match self {
            RoutingMessage::Aodv(message) => message.ns2_packet_len(),
            // ns-2.35 has no Babel; it counts no UDP header.
            RoutingMessage::Babel(message) => IPV4_HEADER + message.len(),
        }
    }

    /// Appends the message's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RoutingMessage::Aodv(message) => encode::aodv(message, out),
            RoutingMessage::Babel(message) => message.encode(out),
        }
    }
}

impl From<AodvMessage> for RoutingMessage {
    fn from(message: AodvMessage) -> RoutingMessage {
        RoutingMessage::Aodv(message)
    }
}

impl From<BabelMessage> for RoutingMessage {
    fn from(message: BabelMessage) -> RoutingMessage {
        RoutingMessage::Babel(message)
    }
}
