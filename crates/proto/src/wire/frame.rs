//! 802.11 frames and their contents.

use super::{Category, Foreign, Ipv4Packet};
use super::{Format, Mcs};
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
    /// Target's hardware address; unknown in a request.
    pub target_mac: Option<MacAddr>,
    /// Target's protocol address.
    pub target_ip: Ipv4Addr,
}

/// Content of an MSDU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Payload {
    /// IPv4.
    Ipv4(Ipv4Packet),
    /// ARP.
    Arp(ArpMessage),
    /// A whole frame of a foreign 802.11 stack.
    Foreign(Foreign),
}

/// A packet with its next hop, as it waits in the interface queue and in the MAC.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Msdu {
    /// MAC address of the next hop, or broadcast.
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
        /// Whether it is a retransmission.
        retry: bool,
        /// With EDCA: QoS data of this category.
        qos: Option<Category>,
        /// Content.
        msdu: Msdu,
    },
    /// QoS data of 802.11n and later: an A-MPDU or a single MPDU.
    Aggregate(Box<Aggregate>),
    /// Compressed block acknowledgement (clause 9.3.1.8.2).
    BlockAck {
        /// Starting sequence number.
        start: u16,
        /// Bit n acknowledges the MPDU numbered `start` + n.
        bitmap: u64,
        /// Category of the MPDUs.
        category: Category,
    },
    /// Request for a block acknowledgement, which also states that nothing before `start` will follow (clause 9.3.1.7).
    BlockAckRequest {
        /// Starting sequence number.
        start: u16,
        /// Category of the MPDUs.
        category: Category,
    },
}

/// An MPDU of QoS data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mpdu {
    /// Sequence number; the originator counts separately for each receiver.
    pub seq: u16,
    /// Whether it is a retransmission.
    pub retry: bool,
    /// Bytes of the frame with header and FCS, without delimiter and padding.
    pub len: Bytes,
    /// Its first or only packet.
    pub first: Msdu,
    /// Further packets; if there are any, it is an A-MSDU.
    pub more: Vec<Msdu>,
}

/// The MPDUs of a PPDU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aggregate {
    /// Modulation and coding scheme.
    pub mcs: Mcs,
    /// Category of all MPDUs; best effort without EDCA.
    pub category: Category,
    /// In order of sequence number, at most 64. A single one is answered by an ACK.
    pub mpdus: Vec<Mpdu>,
}

impl Mpdu {
    /// Iterates over all packets that it carries.
    pub fn msdus(&self) -> impl Iterator<Item = &Msdu> {
        core::iter::once(&self.first).chain(&self.more)
    }
}

/// Octets of the delimiter before each MPDU of an A-MPDU; subframes other than the last are padded to a multiple of
/// this (clause 9.7.1).
pub const DELIMITER: u64 = 4;

/// Returns the size of an A-MPDU of `before` bytes after appending an MPDU of `mpdu` bytes; `before` is 0 for the
/// first.
pub const fn with_one_more(before: Bytes, mpdu: Bytes) -> Bytes {
    Bytes(before.0.next_multiple_of(DELIMITER) + DELIMITER + mpdu.0)
}

impl Aggregate {
    /// Returns the size of the PSDU. With HT, a single MPDU has no delimiter.
    pub fn len(&self) -> Bytes {
        match &self.mpdus[..] {
            [alone] if self.mcs.format() == Format::Ht => alone.len,
            several => several.iter().fold(Bytes(0), |len, mpdu| with_one_more(len, mpdu.len)),
        }
    }

    /// Always false: there is at least one MPDU.
    pub fn is_empty(&self) -> bool {
        self.mpdus.is_empty()
    }
}

/// An 802.11 frame on the air.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Receiver address.
    pub dst: MacAddr,
    /// Transmitter address; CTS and ACK do not carry it on the wire.
    pub src: MacAddr,
    /// Duration field: how long the medium stays reserved after the end of this frame, in whole microseconds.
    pub duration: Dur,
    /// Bit rate of the MAC part; for an [`Aggregate`], that of its MCS.
    pub rate: Rate,
    /// Time on the air, PLCP included.
    pub airtime: Dur,
    /// Kind and content.
    pub kind: FrameKind,
}
