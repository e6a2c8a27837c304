//! Limits and options of aggregation.

use super::window::WINDOW;
use crate::phy::mcs::PPDU_MAX;
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
    /// Bytes of an A-MSDU with its subframes' headers, at most 3,839 or 7,935 (clause 9.4.2.55.2); 0: none is built.
    /// Within an A-MPDU of HT an MPDU has at most 4,095 bytes.
    pub amsdu: Bytes,
    /// How long a reordering buffer waits for what is missing: 100 ms in Linux's mac80211
    /// (`HT_RX_REORDER_BUF_TIMEOUT`).
    pub reorder_timeout: Dur,
    /// Protection from stations that know no MCS.
    pub protection: Protection,
}

impl Aggregation {
    /// As much as 802.11n allows, and no A-MSDU.
    pub const fn standard() -> Aggregation {
        Aggregation {
            frames: WINDOW as u32,
            bytes: Bytes(65_535),
            time: PPDU_MAX,
            amsdu: Bytes(0),
            reorder_timeout: Dur::from_millis(100),
            protection: Protection::None,
        }
    }
}
