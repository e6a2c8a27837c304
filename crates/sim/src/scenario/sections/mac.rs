//! `[mac]`: the distributed coordination function of IEEE 802.11.

use crate::scenario::key::{Fallback::*, Kind, choice, section, size, time};
use fourhop_units::{Bytes, Dur};

choice! {
    /// Which numbers a back-off is drawn from.
    BackoffDraw {
        BelowCw = "below-cw", "0 .. CW - 1, as ns-2 draws";
        UpToCw = "up-to-cw", "0 .. CW, as IEEE 802.11 says";
    }
}

section! {
    /// IEEE 802.11 DCF. The named options are where ns-2.35 and the standard differ.
    Mac = "mac" {
        /// Slot time.
        slot: Dur, time("1us", "1ms"), Both("20us");
        /// Short interframe space.
        sifs: Dur, time("1us", "1ms"), Both("10us");
        /// Least contention window in slots.
        cw_min: u32, Kind::Int(1, 32_767), Both("31");
        /// Largest contention window in slots.
        cw_max: u32, Kind::Int(1, 32_767), Both("1023");
        /// Transmissions of an RTS, or of data without RTS, before it is dropped.
        short_retry_limit: u32, Kind::Int(1, 255), Both("7");
        /// Transmissions of data after RTS before it is dropped.
        long_retry_limit: u32, Kind::Int(1, 255), Both("4");
        /// Longer frames are preceded by RTS; "0B": all.
        rts_threshold: Bytes, size("0B", "64kB"), Both("0B");
        /// Bytes a data frame adds to what it carries.
        data_overhead: Bytes, size("0B", "1kB"), Profile("34B", "36B");
        /// Largest propagation delay allowed for in time-outs, each way.
        propagation_margin: Dur, time("0s", "1ms"), Both("2us");
        /// Range of the back-off draw.
        backoff_draw: BackoffDraw, Kind::Choice(BackoffDraw::CHOICES), Profile("below-cw", "up-to-cw");
        /// May a frame that finds the medium idle for a DIFS go at once?
        immediate_access: bool, Kind::Bool, Profile("false", "true");
        /// Is a CTS withheld also for an EIFS or after a captured frame, not only for the NAV?
        cts_refused_by_eifs: bool, Kind::Bool, Profile("true", "false");
        /// Is a NAV that an RTS has set dropped when nothing follows it?
        nav_reset: bool, Kind::Bool, Profile("false", "true");
        /// Does a DIFS follow an EIFS?
        eifs_then_difs: bool, Kind::Bool, Profile("true", "false");
        /// Does a good frame end an EIFS?
        eifs_ended_by_good_frame: bool, Kind::Bool, Profile("false", "true");
        /// Is an EIFS observed after energy that could never be decoded?
        eifs_on_undecodable: bool, Kind::Bool, Profile("true", "false");
        /// Does a captured-away frame keep the medium busy for its air time and an EIFS?
        capture_nav: bool, Kind::Bool, Profile("true", "false");
    }
}
