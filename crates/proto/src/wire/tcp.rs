//! TCP segments (RFC 9293 section 3.1) with the options of RFC 7323 and RFC 2018, and one of our own.

use super::Ecn;
use arrayvec::ArrayVec;
use core::ops::Deref;
use fourhop_units::Seq;

/// SACK blocks [left, right) (RFC 2018 section 3), the most recent first; four fit if there is no other option.
///
/// Boxed if there are any, because few segments have them and every segment is moved from layer to layer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SackBlocks(Option<Box<ArrayVec<(Seq, Seq), { SackBlocks::MAX }>>>);

impl SackBlocks {
    /// Maximum number of blocks.
    pub const MAX: usize = 4;

    /// Appends a block.
    ///
    /// # Panics
    ///
    /// If there are four already.
    pub fn push(&mut self, block: (Seq, Seq)) {
        self.0.get_or_insert_default().push(block);
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

impl Deref for SackBlocks {
    type Target = [(Seq, Seq)];

    #[inline]
    fn deref(&self) -> &[(Seq, Seq)] {
        self.0.as_deref().map_or(&[], ArrayVec::as_slice)
    }
}

/// Panics if there are more than four.
impl FromIterator<(Seq, Seq)> for SackBlocks {
    fn from_iter<I: IntoIterator<Item = (Seq, Seq)>>(blocks: I) -> SackBlocks {
        let mut all = SackBlocks::default();
        blocks.into_iter().for_each(|block| all.push(block));
        all
    }
}

/// Control bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TcpFlags {
    /// Synchronise sequence numbers.
    pub syn: bool,
    /// The acknowledgement field is valid.
    pub ack: bool,
    /// No more data from the sender.
    pub fin: bool,
    /// Abort.
    pub rst: bool,
    /// Push.
    pub psh: bool,
    /// ECN-Echo (RFC 3168 section 6.1): a mark has arrived.
    pub ece: bool,
    /// Congestion window reduced: the response to ECE.
    pub cwr: bool,
}

/// RFC 7323 timestamps in units of the sender's clock (1 ms here).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// Options.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TcpOptions {
    /// Maximum segment size, on SYN only.
    pub mss: Option<u16>,
    /// Window scale shift (RFC 7323), on SYN only, at most 14.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018), on SYN only.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Duration of the wired part of the round trip in milliseconds, as measured and written by a gateway.
    pub wired_rtt: Option<u16>,
}

impl TcpOptions {
    /// Kind of the option that carries [`TcpOptions::wired_rtt`]: one of the two for experiments (RFC 4727 section
    /// 4.2).
    pub const EXPERIMENT: u8 = 253;
    /// Distinguishes our experiment from others (RFC 6994 section 3.1): "4h". Not registered with IANA.
    pub const WIRED_RTT_ID: u16 = 0x3468;
    /// Bytes of that option: kind, length, identifier, milliseconds.
    pub const WIRED_RTT_LEN: u32 = 6;
    /// Maximum size of the options in a header (RFC 9293 section 3.1).
    pub const MAX_LEN: u32 = 40;

    /// Returns the size in the header, padded to a multiple of 4 (RFC 9293: the data offset counts 32-bit words).
    pub fn len(&self) -> u32 {
        self.unpadded_len().next_multiple_of(4)
    }

    /// Returns the size of the options without padding.
    pub(super) fn unpadded_len(&self) -> u32 {
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let window_scale = if self.window_scale.is_some() { 3 } else { 0 };
        let sack_permitted = if self.sack_permitted { 2 } else { 0 };
        let timestamps = if self.timestamps.is_some() { 10 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 2 + 8 * self.sack.len() as u32 };
        let wired_rtt = if self.wired_rtt.is_some() { TcpOptions::WIRED_RTT_LEN } else { 0 };
        mss + window_scale + sack_permitted + timestamps + sack + wired_rtt
    }

    /// Returns whether there is room for [`TcpOptions::wired_rtt`] or the option is already present.
    pub fn fits_wired_rtt(&self) -> bool {
        self.wired_rtt.is_some() || self.unpadded_len() + TcpOptions::WIRED_RTT_LEN <= TcpOptions::MAX_LEN
    }

    /// Returns whether there are no options.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A segment; its payload is only a length.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TcpSegment {
    /// Sender's port.
    pub src_port: u16,
    /// Receiver's port.
    pub dst_port: u16,
    /// Sequence number of the first payload byte, or of the SYN.
    pub seq: Seq,
    /// Next byte expected; valid if `flags.ack`.
    pub ack: Seq,
    /// Control bits.
    pub flags: TcpFlags,
    /// Window field as in the header, before scaling.
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// Bytes of payload.
    pub payload: u32,
    /// ECN field of its IP header, set by TCP and changed by queues.
    pub ecn: Ecn,
}

impl TcpSegment {
    /// Returns SEG.LEN of RFC 9293 section 3.3.1: payload plus one each for SYN and FIN.
    pub fn seq_len(&self) -> u32 {
        self.payload + u32::from(self.flags.syn) + u32::from(self.flags.fin)
    }

    /// Returns the sequence number of the first payload byte.
    pub fn data_seq(&self) -> Seq {
        self.seq + u32::from(self.flags.syn)
    }

    /// Returns the size of the header with options, in bytes.
    pub fn header_len(&self) -> u32 {
        20 + self.options.len()
    }
}
