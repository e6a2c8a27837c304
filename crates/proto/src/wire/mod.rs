//! Packets, link-layer messages and 802.11 frames, as small values whose types admit only legal content.
//!
//! Payloads are only lengths here. [`encode`] turns a packet into bytes for a device or a capture file, [`decode`]
//! parses routing messages from such bytes, and [`bytes`](mod@bytes) reads and edits foreign packets and TCP segments.

mod aodv;
mod atp;
mod babel;
pub mod bytes;
mod category;
pub mod decode;
mod decode_babel;
mod ecn;
pub mod encode;
mod foreign;
mod frame;
mod mcs;
mod opaque;
pub mod options;
mod packet;
mod prefix;
mod routing;
mod segment;
mod tcp;

pub use aodv::{AodvMessage, PathCost, Probe, Rerr, Rrep, Rreq, UnreachableDestination};
pub use atp::{ATP_PROTOCOL, AtpContent, AtpData, AtpFeedback, AtpPacket, SACK_BLOCKS};
pub use babel::{BABEL_INFINITY, BabelMessage, BabelTlv, BabelUpdate, RouterId};
pub use category::{Category, PriorityMap};
pub use ecn::Ecn;
pub use foreign::{Attempt, Foreign};
pub use frame::{Aggregate, ArpMessage, ArpOperation, DELIMITER, Frame, FrameKind, Mpdu, Msdu, Payload, with_one_more};
pub use mcs::{Format, Guard, Mcs, STREAMS_MAX, Width};
pub use opaque::Opaque;
pub use packet::{Body, EchoMessage, Ipv4Packet, MeasuredSegment, PacketMeta, UdpDatagram};
pub use prefix::Prefix;
pub use routing::{Message, RoutingMessage};
pub use segment::{Segment, TransportPacket};
pub use tcp::{SackBlocks, TcpFlags, TcpOptions, TcpSegment, Timestamps};
