//! Limits on the length of aggregates, and the sizes of their parts.

use super::options::Aggregation;
use crate::mac::config::{Config, RateControl};
use crate::mac::sizes::QOS_CONTROL;
use crate::phy::Mcs;
use crate::phy::mcs::{Format, PPDU_MAX, Width};
use crate::wire::Msdu;
use fourhop_units::{Bytes, Dur};

impl Aggregation {
    /// Returns the longest PSDU at `mcs` whose PPDU is no longer than `within`.
    pub(super) fn longest(&self, config: &Config, mcs: Mcs, within: Dur) -> Bytes {
        let allowed = self.bytes.min(mcs.format().longest_aggregate());
        allowed.min(mcs.longest_within(config.phy, self.time.min(PPDU_MAX).min(within)))
    }

    /// Returns the longest MPDU with an A-MSDU. An MPDU keeps its MSDUs across retries, so with rate control the
    /// slowest MCS must be able to carry it in time.
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
/// LLC/SNAP, one per MSDU; `data_overhead` already counts that of a single one.
const LLC: u64 = 8;

impl Config {
    /// Returns the size of a QoS data MPDU that carries only `msdu`.
    pub fn mpdu_len(&self, msdu: &Msdu) -> Bytes {
        msdu.len + self.data_overhead + QOS_CONTROL
    }

    /// Returns the size of an MPDU with an A-MSDU whose subframes have `content` bytes.
    pub(super) fn amsdu_mpdu_len(&self, content: u64) -> Bytes {
        Bytes(content + self.data_overhead.get().saturating_sub(LLC) + QOS_CONTROL.get())
    }
}

/// Returns the size of an A-MSDU of `before` bytes after adding a subframe with `msdu`: all subframes but the last are
/// padded to a multiple of 4 (clause 9.3.2.2.2).
pub(super) fn with_subframe(before: u64, msdu: &Msdu) -> u64 {
    before.next_multiple_of(4) + SUBFRAME_HEADER + LLC + msdu.len.get()
}
