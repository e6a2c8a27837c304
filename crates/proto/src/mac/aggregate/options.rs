//! Limits and options of aggregation.

use super::window::WINDOW;
use crate::phy::mcs::PPDU_MAX;
use fourhop_units::{Bytes, Dur};

/// Protection of frames with an MCS from stations that cannot decode them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protection {
    /// Only L-SIG in their preamble, which every OFDM station reads.
    None,
    /// RTS and CTS at the basic rate, whatever `rts_threshold` says.
    RtsCts,
    /// CTS-to-self at the basic rate (clause 10.3.2.13).
    CtsToSelf,
    /// As `CtsToSelf` if there are stations without MCS (clause 10.27.3), otherwise none.
    Auto,
}

/// Limits and options of aggregation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aggregation {
    /// MPDUs in an A-MPDU, at most the window of 64. 1: no aggregation.
    pub frames: u32,
    /// Bytes of an A-MPDU, at most 65,535 with HT, 1,048,575 with later formats.
    pub bytes: Bytes,
    /// Longest PPDU, at most 5.484 ms.
    pub time: Dur,
    /// Bytes of an A-MSDU with its subframe headers, at most 3,839 or 7,935 (clause 9.4.2.55.2); 0: no A-MSDUs. Within
    /// an A-MPDU of HT an MPDU has at most 4,095 bytes.
    pub amsdu: Bytes,
    /// How long a reordering buffer waits for missing packets: 100 ms in Linux's mac80211
    /// (`HT_RX_REORDER_BUF_TIMEOUT`).
    pub reorder_timeout: Dur,
    /// Protection from stations without MCS.
    pub protection: Protection,
}

impl Aggregation {
    /// The maximum that 802.11n allows, without A-MSDUs.
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
