//! Limits of aggregates, and the sizes of what is in them.

use crate::mac::Config;
use crate::mac::config::RateControl;
use crate::phy::Mcs;
use crate::phy::mcs::{Format, PPDU_MAX, Width};
use crate::wire::Msdu;
use fourhop_units::{Bytes, Dur};

/// How frames with an MCS are announced to stations that cannot decode them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protection {
    /// By L-SIG in their preamble alone, which every OFDM station reads.
    None,
    /// By RTS and CTS at the basic rate, whatever `rts_threshold` says.
    RtsCts,
    /// By a CTS to the station itself at the basic rate (clause 10.3.2.13).
    CtsToSelf,
    /// As `CtsToSelf` where there are stations without MCS (clause 10.27.3), else not.
    Auto,
}

/// Limits and options of aggregation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aggregation {
    /// MPDUs in an A-MPDU, at most the window of 64. 1: none is built.
    pub frames: u32,
    /// Bytes of an A-MPDU, at most 65,535 with HT, 1,048,575 later.
    pub bytes: Bytes,
    /// Longest PPDU, at most 5.484 ms.
    pub time: Dur,
    /// Bytes of an A-MSDU with its subframes' headers, at most 3,839 or 7,935 (clause 9.4.2.55.2); 0: none is built. Within an A-MPDU of
    /// HT an MPDU has at most 4,095 bytes.
    pub amsdu: Bytes,
    /// How long a reordering buffer waits for what is missing: 100 ms in Linux's mac80211 (`HT_RX_REORDER_BUF_TIMEOUT`).
    pub reorder_timeout: Dur,
    /// Protection from stations that know no MCS.
    pub protection: Protection,
}

impl Aggregation {
    /// As much as 802.11n allows, and no A-MSDU.
    pub const fn standard() -> Aggregation {
        Aggregation {
            frames: super::WINDOW as u32,
            bytes: Bytes(65_535),
            time: PPDU_MAX,
            amsdu: Bytes(0),
            reorder_timeout: Dur::from_millis(100),
            protection: Protection::None,
        }
    }

    /// The longest PSDU at `mcs`, of a PPDU no longer than `within`.
    pub(super) fn longest(&self, config: &Config, mcs: Mcs, within: Dur) -> Bytes {
        let allowed = self.bytes.min(mcs.format().longest_aggregate());
        allowed.min(mcs.longest_within(config.phy, self.time.min(PPDU_MAX).min(within)))
    }
}

impl Aggregation {
    /// The longest MPDU with an A-MSDU. What is once in an MPDU stays there, so with rate control the slowest MCS must carry it in time.
    pub(super) fn longest_amsdu(&self, config: &Config, format: Format) -> Bytes {
        let slowest = match config.rate_control {
            RateControl::Fixed => None,
            _ => format.guards().last().and_then(|&guard| Mcs::new(format, 0, 1, Width::Mhz20, guard)),
        };
        slowest
            .map_or(format.longest_mpdu(), |mcs| format.longest_mpdu().min(mcs.longest_within(config.phy, self.time)))
    }
}

/// Bytes of a compressed BlockAck with FCS: 16 of header, 2 of control, 2 of starting sequence number, 8 of bitmap (clause 9.3.1.8.2).
pub const BLOCK_ACK: Bytes = Bytes(32);
/// Bytes of a BlockAckReq with FCS (clause 9.3.1.7.2).
pub const BLOCK_ACK_REQUEST: Bytes = Bytes(24);
/// QoS Control of a data frame (clause 9.2.4.5).
pub const QOS_CONTROL: Bytes = Bytes(2);
/// Addresses and length before each MSDU of an A-MSDU (clause 9.3.2.2.2).
const SUBFRAME_HEADER: u64 = 14;
/// LLC/SNAP, of which each MSDU has one; `data_overhead` counts that of the only one.
const LLC: u64 = 8;

impl Config {
    /// Bytes of an MPDU of QoS data that carries `msdu` alone.
    pub fn mpdu_len(&self, msdu: &Msdu) -> Bytes {
        msdu.len + self.data_overhead + QOS_CONTROL
    }

    /// Bytes of an MPDU with an A-MSDU in which subframes of `content` bytes are.
    pub(super) fn amsdu_mpdu_len(&self, content: u64) -> Bytes {
        Bytes(content + self.data_overhead.get().saturating_sub(LLC) + QOS_CONTROL.get())
    }
}

/// Bytes of an A-MSDU of `before` bytes with one more subframe, which carries `msdu`: all but the last are padded to 4 (clause 9.3.2.2.2).
pub(super) fn with_subframe(before: u64, msdu: &Msdu) -> u64 {
    before.next_multiple_of(4) + SUBFRAME_HEADER + LLC + msdu.len.get()
}
