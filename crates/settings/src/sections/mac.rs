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
        Basic = "basic", "`radio.basic_rate`, or the frame's if lower, as ns-2";
        Mandatory = "mandatory", "the highest mandatory rate up to the frame's, as IEEE 802.11";
    }
}

choice! {
    for BackoffDraw {
        BelowCw = "below-cw", "0 .. CW - 1, as ns-2 draws";
        UpToCw = "up-to-cw", "0 .. CW, as IEEE 802.11 says";
    }
}

choice! {
    for Protection {
        None = "none", "preambles alone";
        RtsCts = "rts-cts", "RTS and CTS at `radio.basic_rate`";
        CtsToSelf = "cts-to-self", "CTS to itself at `radio.basic_rate`";
        Auto = "auto", "`cts-to-self` if [[nodes]] has an older `phy`, else `none`";
    }
}

choice! {
    /// How the rate of unicast data is chosen, for each neighbour.
    RateControl {
        Fixed = "fixed", "always `radio.rate`, from 802.11n on `radio.mcs`";
        Arf = "arf", "down after `arf_down` missing ACKs in a row, up after `arf_up` ACKs (Kamerman, Monteban 1997)";
        Aarf = "aarf", "the same, but each rise that fails doubles the ACKs before the next (Lacage, Manshaei, \
            Turletti 2004)";
        Minstrel = "minstrel", "the best average, with trials of other rates, as in Linux (docs/radios.md)";
    }
}

section! {
    /// IEEE 802.11 DCF. The named options are where ns-2.35 and the standard differ.
    Mac = "mac" of mac::Config {
        /// Slot time. 802.11g under an access point has 9us.
        slot: Dur, time("1us", "1ms"), Computed("20us; `radio.phy` `ofdm`: 9us") => slot;
        /// Short interframe space.
        sifs: Dur, time("1us", "1ms"), Computed("10us; `radio.phy` `ofdm`: 16us") => sifs;
        /// Least contention window in slots.
        cw_min: u32, Kind::Int(1, 32_767), Computed("31; with OFDM 15") => cw_min;
        /// Largest contention window in slots.
        cw_max: u32, Kind::Int(1, 32_767) => cw_max;
        /// Are there four access categories (EDCA, docs/radio.md), with `[edca]` in place of `cw_min` and `cw_max` and
        /// a queue each?
        edca: bool, Kind::Bool, Both("false");
        /// Transmissions of an RTS, or of data without RTS, before it is dropped.
        short_retry_limit: u32, Kind::Int(1, 255) => short_retry_limit;
        /// Transmissions of data after RTS before it is dropped.
        long_retry_limit: u32, Kind::Int(1, 255) => long_retry_limit;
        /// Rate of CTS and ACK.
        answer_rate: AnswerRate, Kind::Choice(AnswerRate::CHOICES) => answer_rate;
        /// How the rate of unicast data is chosen; from 802.11n on `fixed` or `minstrel`.
        rate_control: RateControl, Kind::Choice(RateControl::CHOICES), Both("fixed");
        /// ACKs in a row after which ARF and AARF try a higher rate.
        arf_up: u32, Kind::Int(1, 10_000), Both("10");
        /// Missing ACKs in a row after which they take a lower one.
        arf_down: u32, Kind::Int(1, 255), Both("2");
        /// Frames at one rate after which they try a higher one in any case.
        arf_timer: u32, Kind::Int(1, 1_000_000), Both("15");
        /// Most ACKs in a row that AARF waits for.
        aarf_max: u32, Kind::Int(1, 1_000_000), Both("50");
        /// Time over which Minstrel counts what arrived before that enters its averages.
        minstrel_interval: Dur, time("1ms", "100s"), Both("50ms");
        /// Minstrel: packets between trials of other rates; from 802.11n on also at least two fifths of
        /// `minstrel_interval`.
        minstrel_gap: u32, Kind::Int(2, 10_000), Both("10");
        /// Longer frames are preceded by RTS; "0B": all.
        rts_threshold: Bytes, size("0B", "64kB") => rts_threshold;
        /// Bytes a data frame adds to what it carries.
        data_overhead: Bytes, size("0B", "1kB") => data_overhead;
        /// From 802.11n on: rate of unicast data between these and nodes of 802.11a or g (`phy` in `[[nodes]]`); with
        /// `rate_control` the highest.
        legacy_rate: Rate, rate("6Mbps", "54Mbps") => legacy_rate;
        /// Most MPDUs in an A-MPDU; this and the five keys that follow mean something from 802.11n on.
        ampdu_frames: u32, Kind::Int(1, 64) => aggregation.frames;
        /// Most bytes of an A-MPDU.
        ampdu_bytes: Bytes, size("1B", "1048575B"), Computed("65535B; `radio.phy` `vht` and `he`: 1048575B")
            => aggregation.bytes;
        /// Longest time that an A-MPDU takes on the air.
        ppdu_time: Dur, time("100us", "5484us") => aggregation.time;
        /// Most bytes of an A-MSDU, several packets in one MPDU; "0B": there are none.
        amsdu_bytes: Bytes, size("0B", "11398B") => aggregation.amsdu;
        /// How long a receiver waits for a missing MPDU before it hands up those behind it.
        reorder_timeout: Dur, time("1ms", "10s") => aggregation.reorder_timeout;
        /// Protection of aggregates from older stations.
        protection: Protection, Kind::Choice(Protection::CHOICES) => aggregation.protection;
        /// Largest propagation delay allowed for in time-outs, each way.
        propagation_margin: Dur, time("0s", "1ms") => propagation_margin;
        /// Range of the back-off draw.
        backoff_draw: BackoffDraw, Kind::Choice(BackoffDraw::CHOICES) => backoff_draw;
        /// May a frame that finds the medium idle for a DIFS be sent at once?
        immediate_access: bool, Kind::Bool => immediate_access;
        /// Is a CTS withheld also for an EIFS or after a captured frame, not only for the NAV?
        cts_refused_by_eifs: bool, Kind::Bool => cts_refused_by_eifs;
        /// Is a NAV that an RTS has set dropped when nothing follows it?
        nav_reset: bool, Kind::Bool => nav_reset;
        /// Does a DIFS follow an EIFS?
        eifs_then_difs: bool, Kind::Bool => eifs_then_difs;
        /// Does a good frame end an EIFS?
        eifs_ended_by_good_frame: bool, Kind::Bool => eifs_ended_by_good_frame;
        /// Is an EIFS observed after energy that could never be decoded?
        eifs_on_undecodable: bool, Kind::Bool => eifs_on_undecodable;
        /// Does a captured-away frame keep the medium busy for its air time and an EIFS?
        capture_nav: bool, Kind::Bool => capture_nav;
    }
}

/// Fills in what follows from the kind of physical layer.
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
