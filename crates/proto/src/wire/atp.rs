//! Packets of ATP ([`crate::atp`]). The published descriptions list the contents of its header but no layout: this one
//! is ours.
//!
//! ```text
//!  0      source port     destination port       (16 bits each)
//!  4      kind  blocks    checksum               (8, 8, 16; RFC 1071, with the pseudo-header of RFC 9293 section 3.1)
//!  8      number of the packet                   (32)
//! 12      delay in microseconds                  (32)
//! 16      place in the stream                    (64; of feedback: everything before it has arrived)
//! 24      payload; of feedback instead:
//! 24      newest number     waited, microseconds (32 each)
//! 32      blocks            first, behind last   (32 each, counted from the place)
//! ```

use super::TransportPacket;
use super::bytes::checksum;
use arrayvec::ArrayVec;
use fourhop_units::{Seq, Time};

/// Maximum number of SACK blocks in feedback: 20, as in the ATP paper, where feedback is sent once per epoch instead of
/// with every packet (Sundaresan et al. 2003).
pub const SACK_BLOCKS: usize = 20;

/// IP protocol number of ATP, which has none assigned: the first of those for experiments (RFC 3692 section 2.1).
pub const ATP_PROTOCOL: u8 = 253;

/// Bytes of the header of a data packet.
pub const DATA_HEADER: u32 = 24;
/// Bytes of the header of feedback, without blocks.
const FEEDBACK_HEADER: u32 = 32;
/// Bytes per block.
const BLOCK: u32 = 8;

/// An ATP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AtpPacket {
    /// Sender's port.
    pub src_port: u16,
    /// Receiver's port.
    pub dst_port: u16,
    /// Content, by kind of packet.
    pub content: AtpContent,
}

/// Content of an ATP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AtpContent {
    /// Data.
    Data(AtpData),
    /// The receiver's feedback. Boxed, as it is large and rare.
    Feedback(Box<AtpFeedback>),
}

/// Data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtpData {
    /// Counts transmissions, so retransmitted data has a new number.
    pub number: Seq,
    /// Offset of its first byte in the stream.
    pub offset: u64,
    /// Bytes of payload; only their number matters.
    pub payload: u32,
    /// Whether feedback is requested at once, which makes it a probe.
    pub asks: bool,
    /// The largest delay of any node on the path so far, in microseconds.
    pub delay_us: u32,
    /// When it entered the queue of the current node; not on the wire.
    pub entered_queue: Time,
}

/// Feedback of a receiver to its sender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AtpFeedback {
    /// Counts feedback, so that the sender recognises late arrivals.
    pub number: Seq,
    /// Average of the delays reported by data, in microseconds: the path can take one packet in this time.
    pub delay_us: u32,
    /// Everything before this offset has arrived.
    pub complete: u64,
    /// Data [first, end) that has arrived beyond that, lowest first, as distances from `complete`.
    pub blocks: ArrayVec<(u32, u32), SACK_BLOCKS>,
    /// The newest packet number that has arrived.
    pub newest: Seq,
    /// How long ago that packet arrived, in microseconds.
    pub waited_us: u32,
}

impl TransportPacket for AtpPacket {
    const PROTOCOL: u8 = ATP_PROTOCOL;

    fn ports(&self) -> (u16, u16) {
        (self.src_port, self.dst_port)
    }

    fn size(&self) -> u32 {
        match &self.content {
            AtpContent::Data(data) => DATA_HEADER + data.payload,
            AtpContent::Feedback(feedback) => FEEDBACK_HEADER + BLOCK * feedback.blocks.len() as u32,
        }
    }

    fn encode(&self, src: [u8; 4], dst: [u8; 4], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(self.src_port.to_be_bytes());
        out.extend(self.dst_port.to_be_bytes());
        let mut common = |kind: u8, blocks: usize, number: Seq, delay_us: u32, place: u64| {
            out.extend([kind, blocks as u8, 0, 0]);
            out.extend(number.to_wire().to_be_bytes());
            out.extend(delay_us.to_be_bytes());
            out.extend(place.to_be_bytes());
        };
        match &self.content {
            AtpContent::Data(data) => {
                common(u8::from(data.asks), 0, data.number, data.delay_us, data.offset);
                out.resize(out.len() + data.payload as usize, 0);
            }
            AtpContent::Feedback(feedback) => {
                common(2, feedback.blocks.len(), feedback.number, feedback.delay_us, feedback.complete);
                out.extend(feedback.newest.to_wire().to_be_bytes());
                out.extend(feedback.waited_us.to_be_bytes());
                for (first, behind) in &feedback.blocks {
                    out.extend(first.to_be_bytes());
                    out.extend(behind.to_be_bytes());
                }
            }
        }
        let pseudo = checksum::sum(&src) + checksum::sum(&dst) + u64::from(ATP_PROTOCOL) + u64::from(self.size());
        // The checksum field itself counts as zero. Starting from the checksum of nothing, which is all ones,
        // everything is added.
        let sum = checksum::updated(u16::MAX, 0, pseudo + checksum::sum(&out[start..]));
        out[start + 6..][..2].copy_from_slice(&sum.to_be_bytes());
    }

    fn note_queued(&mut self, at: Time) {
        if let AtpContent::Data(data) = &mut self.content {
            data.entered_queue = at;
        }
    }

    fn trace_fields(&self) -> (&'static str, u32, u32) {
        match &self.content {
            AtpContent::Data(data) => ("atp-data", data.number.to_wire(), data.payload),
            AtpContent::Feedback(feedback) => ("atp-feedback", feedback.number.to_wire(), 0),
        }
    }
}
