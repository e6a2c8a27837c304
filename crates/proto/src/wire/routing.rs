//! Messages of routing protocols: one class of packets, whatever the protocol. The layers between routing and the radio ask
//! for the class (interface queues put it first, accounts count it apart) and never for the protocol.

use super::{AodvMessage, encode};

/// A message of a routing protocol, over UDP. Another protocol is a variant here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RoutingMessage {
    /// RFC 3561.
    Aodv(AodvMessage),
}

impl RoutingMessage {
    /// The protocol's UDP port, from and to which its messages go.
    pub const fn port(&self) -> u16 {
        match self {
            RoutingMessage::Aodv(_) => AodvMessage::PORT,
        }
    }

    /// Bytes of the message as its protocol lays it out, without UDP and IP.
    pub fn len(&self) -> u32 {
        match self {
            RoutingMessage::Aodv(message) => message.len(),
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
        }
    }

    /// Appends the message's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RoutingMessage::Aodv(message) => encode::aodv(message, out),
        }
    }
}

impl From<AodvMessage> for RoutingMessage {
    fn from(message: AodvMessage) -> RoutingMessage {
        RoutingMessage::Aodv(message)
    }
}
