//! Sizes of frames and their parts.

use fourhop_units::Bytes;

/// Bytes of an RTS with FCS (clause 9.3.1.2).
pub const RTS: Bytes = Bytes(20);
/// Bytes of a CTS or ACK with FCS (clauses 9.3.1.3 and 9.3.1.4).
pub const CTS_OR_ACK: Bytes = Bytes(14);
/// Bytes of a compressed BlockAck with FCS: header 16, control 2, starting sequence number 2, bitmap 8, FCS (clause
/// 9.3.1.8.2).
pub const BLOCK_ACK: Bytes = Bytes(32);
/// Bytes of a BlockAckReq with FCS (clause 9.3.1.7.2).
pub const BLOCK_ACK_REQUEST: Bytes = Bytes(24);
/// QoS Control of a data frame (clause 9.2.4.5).
pub const QOS_CONTROL: Bytes = Bytes(2);
/// Packet size that Minstrel assumes for air times, as in mac80211.
pub(super) const MEAN_PACKET: Bytes = Bytes(1200);
