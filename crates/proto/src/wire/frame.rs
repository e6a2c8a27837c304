//! 802.11 frames and what they carry.

use super::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Bytes, Dur, MacAddr, Rate};

/// ARP operation (RFC 826).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArpOperation {
    /// Who has `target_ip`?
    Request,
    /// `sender_ip` is at `sender_mac`.
    Reply,
}

/// An ARP message for IPv4 over 802.11 (RFC 826), 28 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArpMessage {
    /// Request or reply.
    pub operation: ArpOperation,
    /// Sender's hardware address.
    pub sender_mac: MacAddr,
    /// Sender's protocol address.
    pub sender_ip: Ipv4Addr,
    /// Target's hardware address; not known in a request.
    pub target_mac: Option<MacAddr>,
    /// Target's protocol address.
    pub target_ip: Ipv4Addr,
}

/// What an MSDU carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Payload {
    /// IPv4.
    Ipv4(Ipv4Packet),
    /// ARP.
    Arp(ArpMessage),
}

/// A packet with its next hop, as it waits in the interface queue and in the MAC.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Msdu {
    /// Receiver of the next hop, or broadcast.
    pub dst: MacAddr,
    /// Size in bytes as the MAC counts it; see `net::sizes` for why it is stored.
    pub len: Bytes,
    /// Content.
    pub payload: Payload,
}

/// Kind of an 802.11 frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// Request to send; the transmitter is in `src`.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// Data with its sequence number (IEEE 802.11-2020 clause 9.2.4.4.2, 12 bits on the wire) and content.
    Data {
        /// Sequence number of the MSDU; a retransmission keeps it.
        seq: u16,
        /// Is it a retransmission?
        retry: bool,
        /// Content.
        msdu: Msdu,
    },
}

/// An 802.11 frame on the air.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Receiver address.
    pub dst: MacAddr,
    /// Transmitter address; CTS and ACK do not carry it on the wire.
    pub src: MacAddr,
    /// Duration field: how long the medium stays reserved after the end of this frame, whole microseconds.
    pub duration: Dur,
    /// Bit rate of the MAC part.
    pub rate: Rate,
    /// Time on the air, PLCP included.
    pub airtime: Dur,
    /// Kind and content.
    pub kind: FrameKind,
}
