//! `[mac]`: the distributed coordination function of IEEE 802.11.

use super::Phy;
use crate::key::{Choice, Fallback::*, Kind, rate, size, time};
use crate::value::{Field, Values};
use crate::{choice, section};
use fourhop_proto::mac::{self, AnswerRate, Protection};
use fourhop_proto::phy::mcs::Format;

use fourhop_units::{Bytes, Dur, Rate};

pub use fourhop_proto::mac::BackoffDraw;

choice! {
    for AnswerRate {
        Basic = "basic", "`radio.basic_rate`, or the rate of the frame if that is lower, as in ns-2";
        Mandatory = "mandatory", "the highest mandatory rate that does not exceed the rate of the frame, as in IEEE \
            802.11";
    }
}

choice! {
    for BackoffDraw {
        BelowCw = "below-cw", "0 .. CW - 1, as ns-2 draws";
        UpToCw = "up-to-cw", "0 .. CW, as in IEEE 802.11";
    }
}

choice! {
    for Protection {
        None = "none", "preambles only";
        RtsCts = "rts-cts", "RTS and CTS at `radio.basic_rate`";
        CtsToSelf = "cts-to-self", "CTS-to-self at `radio.basic_rate`";
        Auto = "auto", "`cts-to-self` if [[nodes]] has an older `phy`, else `none`";
    }
}

choice! {
    /// Rate control of unicast data, per neighbour.
    RateControl {
        Fixed = "fixed", "always `radio.rate`, from 802.11n on `radio.mcs`";
        Arf = "arf", "down after `arf_down` consecutive missing ACKs, up after `arf_up` consecutive ACKs (Kamerman, \
            Monteban 1997)";
        Aarf = "aarf", "like `arf`, but each failed rise doubles the number of ACKs before the next (Lacage, Manshaei, \
            Turletti 2004)";
        Minstrel = "minstrel", "the rate with the best average, with trials of other rates, as in Linux \
            (docs/radios.md)";
    }
}

section! {
    /// IEEE 802.11 DCF. The options cover the differences between ns-2.35 and the standard.
    Mac = "mac" of mac::Config {
        /// Slot time. 802.11g with an access point uses 9us.
        slot: Dur, time("1us", "1ms"), Computed("20us; `radio.phy` `ofdm`: 9us") => slot;
        /// Short interframe space.
        sifs: Dur, time("1us", "1ms"), Computed("10us; `radio.phy` `ofdm`: 16us") => sifs;
        /// Minimum contention window in slots.
        cw_min: u32, Kind::Int(1, 32_767), Computed("31; with OFDM 15") => cw_min;
        /// Maximum contention window in slots.
        cw_max: u32, Kind::Int(1, 32_767) => cw_max;
        /// Use four access categories (EDCA, docs/radio.md), each with its own queue, and `[edca]` instead of `cw_min`
        /// and `cw_max`.
        edca: bool, Kind::Bool, Both("false");
        /// Number of transmissions of an RTS, or of data without RTS, after which the frame is dropped.
        short_retry_limit: u32, Kind::Int(1, 255) => short_retry_limit;
        /// Number of transmissions of data after an RTS, after which the frame is dropped.
        long_retry_limit: u32, Kind::Int(1, 255) => long_retry_limit;
        /// Rate of CTS and ACK.
        answer_rate: AnswerRate, Kind::Choice(AnswerRate::CHOICES) => answer_rate;
        /// Rate control of unicast data; from 802.11n on, `fixed` or `minstrel`.
        rate_control: RateControl, Kind::Choice(RateControl::CHOICES), Both("fixed");
        /// Number of consecutive ACKs after which ARF and AARF try a higher rate.
        arf_up: u32, Kind::Int(1, 10_000), Both("10");
        /// Number of consecutive missing ACKs after which ARF and AARF choose a lower rate.
        arf_down: u32, Kind::Int(1, 255), Both("2");
        /// Number of frames at one rate after which ARF and AARF always try a higher one.
        arf_timer: u32, Kind::Int(1, 1_000_000), Both("15");
        /// Maximum number of consecutive ACKs that AARF requires.
        aarf_max: u32, Kind::Int(1, 1_000_000), Both("50");
        /// Time over which Minstrel counts deliveries before it updates its averages.
        minstrel_interval: Dur, time("1ms", "100s"), Both("50ms");
        /// Minstrel: number of packets between trials of other rates; from 802.11n on, trials are also at least two
        /// fifths of `minstrel_interval` apart.
        minstrel_gap: u32, Kind::Int(2, 10_000), Both("10");
        /// Frames longer than this use RTS; "0B": all frames.
        rts_threshold: Bytes, size("0B", "64kB") => rts_threshold;
        /// Bytes that a data frame adds to its payload.
        data_overhead: Bytes, size("0B", "1kB") => data_overhead;
        /// From 802.11n on: rate of unicast data to and from nodes of 802.11a or g (`phy` in `[[nodes]]`); with
        /// `rate_control`, the maximum.
        legacy_rate: Rate, rate("6Mbps", "54Mbps") => legacy_rate;
        /// Maximum number of MPDUs in an A-MPDU. This and the next five keys apply from 802.11n on.
        ampdu_frames: u32, Kind::Int(1, 64) => aggregation.frames;
        /// Maximum size of an A-MPDU.
        ampdu_bytes: Bytes, size("1B", "1048575B"), Computed("65535B; `radio.phy` `vht` and `he`: 1048575B")
            => aggregation.bytes;
        /// Maximum air time of an A-MPDU.
        ppdu_time: Dur, time("100us", "5484us") => aggregation.time;
        /// Maximum size of an A-MSDU, which combines several packets in one MPDU; "0B": no A-MSDUs.
        amsdu_bytes: Bytes, size("0B", "11398B") => aggregation.amsdu;
        /// Time for which a receiver waits for a missing MPDU before it delivers later ones.
        reorder_timeout: Dur, time("1ms", "10s") => aggregation.reorder_timeout;
        /// Protection of aggregates from older stations.
        protection: Protection, Kind::Choice(Protection::CHOICES) => aggregation.protection;
        /// Maximum one-way propagation delay that timeouts allow for.
        propagation_margin: Dur, time("0s", "1ms") => propagation_margin;
        /// Range of the random backoff.
        backoff_draw: BackoffDraw, Kind::Choice(BackoffDraw::CHOICES) => backoff_draw;
        /// Send a frame at once if the medium has been idle for a DIFS.
        immediate_access: bool, Kind::Bool => immediate_access;
        /// Also send no CTS during an EIFS or after a captured frame, not only during a NAV.
        cts_refused_by_eifs: bool, Kind::Bool => cts_refused_by_eifs;
        /// Reset a NAV set by an RTS if no frame follows.
        nav_reset: bool, Kind::Bool => nav_reset;
        /// Add a DIFS after an EIFS.
        eifs_then_difs: bool, Kind::Bool => eifs_then_difs;
        /// End an EIFS when a correct frame arrives.
        eifs_ended_by_good_frame: bool, Kind::Bool => eifs_ended_by_good_frame;
        /// Observe an EIFS after energy that could never be decoded.
        eifs_on_undecodable: bool, Kind::Bool => eifs_on_undecodable;
        /// A frame lost to capture keeps the medium busy for its air time and an EIFS.
        capture_nav: bool, Kind::Bool => capture_nav;
    }
}

/// Fills in values that depend on the physical layer.
pub fn complete(values: &mut Values, phy: Phy) {
    let longest = phy.format().unwrap_or(Format::Ht).longest_aggregate();
    let phy = phy.kind();
    let rows = [
        ("slot", phy.slot().to_value()),
        ("sifs", phy.sifs().to_value()),
        ("cw_min", phy.cw_min().to_value()),
        ("ampdu_bytes", longest.to_value()),
    ];
    for (key, value) in rows.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        values.entry(key).or_insert(value);
    }
}
