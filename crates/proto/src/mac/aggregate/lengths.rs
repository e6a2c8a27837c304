//! How long aggregates may be, and the sizes of what is in them.

use super::options::Aggregation;
use crate::mac::config::{Config, RateControl};
use crate::mac::sizes::QOS_CONTROL;
use crate::phy::Mcs;
use crate::phy::mcs::{Format, PPDU_MAX, Width};
use crate::wire::Msdu;
use fourhop_units::{Bytes, Dur};

impl Aggregation {
    /// The longest PSDU at `mcs`, of a PPDU no longer than `within`.
    pub(super) fn longest(&self, config: &Config, mcs: Mcs, within: Dur) -> Bytes {
        let allowed = self.bytes.min(mcs.format().longest_aggregate());
        allowed.min(mcs.longest_within(config.phy, self.time.min(PPDU_MAX).min(within)))
    }

    /// The longest MPDU with an A-MSDU. An MPDU keeps its MSDUs, so with rate control the slowest MCS must carry it in
    /// time.
    pub(super) fn longest_amsdu(&self, config: &Config, format: Format) -> Bytes {
        let slowest = match config.rate_control {
            RateControl::Fixed => None,
            _ => format.guards().last().and_then(|&guard| Mcs::new(format, 0, 1, Width::Mhz20, guard)),
        };
        slowest
            .map_or(format.longest_mpdu(), |mcs| format.longest_mpdu().min(mcs.longest_within(config.phy, self.time)))
    }
}

/// Addresses and length before each MSDU of an A-MSDU (clause 9.3.2.2.2).
const SUBFRAME_HEADER: u64 = 14;
/// LLC/SNAP, one per MSDU; `data_overhead` counts that of the only one.
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

/// Bytes of an A-MSDU of `before` bytes with one more subframe, which carries `msdu`: all but the last are padded to 4
/// (clause 9.3.2.2.2).
pub(super) fn with_subframe(before: u64, msdu: &Msdu) -> u64 {
    before.next_multiple_of(4) + SUBFRAME_HEADER + LLC + msdu.len.get()
}
